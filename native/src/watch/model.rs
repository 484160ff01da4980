//! The state of the screen and the effect of each key: pure, so that tests need no terminal.

use onloop_core::documents::board::{AttemptView, Board, Choice, RunCard, RunState, RunView};
use onloop_core::time::Timestamp;
use onloop_core::verb::DisplayedDecision;

/// A pressed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Tab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl and a letter.
    Control(char),
}

/// An effect that the model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Leave.
    Quit,
    /// Suspend this process.
    Suspend,
    /// Record a decision about a step, with the record that the person saw.
    Decide { run: String, step: u32, decision: DisplayedDecision, seen: String },
    /// Show the diff.
    Diff { run: String },
    /// Interrupt the driver of a run.
    StopRun { run: String },
    /// Stop the continuations of a session.
    StopSession { id: String, folder: String },
    /// Resume a run in the background.
    Resume { run: String },
    /// Open this run.
    Open { run: String },
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Run(String),
    Session {
        id: String,
        folder: String,
    },
    Call(String),
    /// A run of rw-auto.
    Auto(String),
}

/// What part of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    /// The facts of its gate.
    Gate,
    Steps,
    Log,
    /// What no person has approved yet.
    Diff,
    Events,
}

impl Pane {
    pub(super) const ALL: [Pane; 5] =
        [Pane::Gate, Pane::Steps, Pane::Log, Pane::Diff, Pane::Events];

    pub(super) fn title(self) -> &'static str {
        match self {
            Pane::Gate => "1 Gate",
            Pane::Steps => "2 Steps",
            Pane::Log => "3 Log",
            Pane::Diff => "4 Diff",
            Pane::Events => "5 Events",
        }
    }
}

/// The open view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The list of everything.
    List,
    /// One run.
    Run { id: String, pane: Pane, scroll: Scroll },
}

/// Scroll position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scroll {
    /// Lines from the top.
    Top(usize),
    /// At the end, also when it grows.
    End,
}

/// A question before an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dialog {
    Help,
    /// `y` does it.
    Confirm {
        question: String,
        action: Action,
    },
    /// A line is typed.
    Typing {
        about: Typing,
        run: String,
        step: u32,
        seen: String,
        text: String,
    },
}

/// The purpose of a typed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    /// The name of the step, to approve it where the risk is high.
    Name { name: String },
    /// The reason of a rejection.
    Reason,
}

/// Longest line that can be typed, in characters.
const TYPED_CHARS: usize = 2000;
/// Lines that a page key moves by.
const PAGE: usize = 10;

/// What is read of a run for one pane.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The attempts at the step that it is at, for the steps.
    pub(super) attempts: Vec<AttemptView>,
    /// The lines of the change, or why there are none.
    pub(super) diff: Vec<String>,
}

/// The state that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) board: Board,
    /// The shown run, if any.
    pub(super) view: Option<RunView>,
    /// What its shown pane needs besides.
    pub(super) evidence: Evidence,
    /// Whether there is room for a run beside the list.
    pub(super) is_wide: bool,
    pub(super) place: Place,
    /// The only run to show, if one was named.
    pub(super) only: Option<String>,
    pub(super) selected: Option<Row>,
    pub(super) dialog: Option<Dialog>,
    /// The last message, until the next key.
    pub(super) message: Option<String>,
    pub(super) now: Timestamp,
}

impl Model {
    pub(super) fn new(board: Board, only: Option<String>) -> Model {
        let place = match &only {
            Some(id) => run_place(id.clone(), None),
            None => Place::List,
        };
        let now = board.at;
        let mut model = Model {
            board,
            view: None,
            evidence: Evidence::default(),
            is_wide: false,
            place,
            only,
            selected: None,
            dialog: None,
            message: None,
            now,
        };
        model.keep_selection(0);
        model
    }

    /// Takes a new state of the machine.
    pub(super) fn take(&mut self, board: Board) {
        let at = self.selected_index().unwrap_or_default();
        self.now = board.at;
        self.board = board;
        self.keep_selection(at);
    }

    /// Returns the open run.
    pub(super) fn open_run(&self) -> Option<&str> {
        match &self.place {
            Place::Run { id, .. } => Some(id),
            Place::List => None,
        }
    }

    /// Whether the list has a run beside it.
    pub(super) fn is_beside(&self) -> bool {
        self.is_wide && self.only.is_none() && !self.rows().is_empty()
    }

    /// Returns the run that is shown, its pane and its place in it: the open one, or with room the
    /// selected one.
    pub(super) fn shown_run(&self) -> Option<(&str, Pane, Scroll)> {
        match (&self.place, &self.selected) {
            (Place::Run { id, pane, scroll }, _) => Some((id, *pane, *scroll)),
            (Place::List, Some(Row::Run(id))) if self.is_wide => {
                let pane = first_pane(self.card());
                Some((id, pane, first_scroll(pane)))
            }
            (Place::List, _) => None,
        }
    }

    /// Returns the rows of the list: what needs a person first, the most urgent at the top.
    pub(super) fn rows(&self) -> Vec<Row> {
        let board = &self.board;
        let calls = board.calls.iter().map(|call| Row::Call(call.id.clone()));
        let runs = |needs_person: bool| {
            let cards = board.runs.iter();
            let wanted = cards.filter(move |card| card.state.needs_person() == needs_person);
            wanted.map(|card| Row::Run(card.id.clone()))
        };
        let sessions = |needs_person: bool| {
            let cards = board.sessions.iter();
            let wanted = cards.filter(move |card| card.activity.needs_person() == needs_person);
            wanted.map(|card| Row::Session { id: card.id.clone(), folder: card.folder.clone() })
        };
        let autos = |needs_person: bool| {
            let cards = board.autos.iter();
            let wanted = cards.filter(move |card| card.state.needs_person() == needs_person);
            wanted.map(|card| Row::Auto(card.id.clone()))
        };
        let rows = |needs_person: bool| {
            runs(needs_person).chain(autos(needs_person)).chain(sessions(needs_person))
        };
        calls.chain(rows(true)).chain(rows(false)).collect()
    }

    pub(super) fn selected_index(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.rows().iter().position(|row| row == selected)
    }

    /// Keeps the same row selected when it moves; if it has gone, the row in its place.
    fn keep_selection(&mut self, at: usize) {
        if self.selected_index().is_none() {
            let rows = self.rows();
            self.selected = rows.get(at.min(rows.len().saturating_sub(1))).cloned();
        }
    }

    /// Returns the run that keys apply to.
    pub(super) fn card(&self) -> Option<&RunCard> {
        let id = match (&self.place, &self.selected) {
            (Place::Run { id, .. }, _) => id,
            (Place::List, Some(Row::Run(id))) => id,
            (Place::List, _) => return None,
        };
        let listed = || self.board.runs.iter().find(|card| card.id == *id);
        self.view.as_ref().map(|view| &view.card).filter(|card| card.id == *id).or_else(listed)
    }

    /// Returns the question about the open run.
    fn choice(&self) -> Option<&Choice> {
        self.view.as_ref().and_then(|view| view.choice.as_ref()).filter(|choice| choice.is_gate)
    }

    /// Returns the run and the step that wait for a decision, and the shown record.
    fn asked(&self) -> Option<(String, u32, String)> {
        let (view, step) = (self.view.as_ref()?, self.choice()?.step?);
        Some((view.card.id.clone(), step, view.seen.clone()))
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: Key) -> Option<Action> {
        self.message = None;
        match key {
            Key::Control('c') => return Some(Action::Quit),
            Key::Control('z') => return Some(Action::Suspend),
            _ => {}
        }
        match self.dialog.take() {
            Some(dialog) => self.press_in(dialog, key),
            None => self.press_at(key),
        }
    }

    fn press_in(&mut self, dialog: Dialog, key: Key) -> Option<Action> {
        match dialog {
            Dialog::Help => None,
            Dialog::Confirm { action, .. } => match key {
                Key::Char('y' | 'Y') => Some(action),
                _ => {
                    self.message = Some("Nothing was done.".to_owned());
                    None
                }
            },
            Dialog::Typing { about, run, step, seen, mut text } => {
                match key {
                    Key::Escape => {
                        self.message = Some("Nothing was decided.".to_owned());
                        return None;
                    }
                    Key::Enter => {
                        let decision = match about {
                            Typing::Name { .. } => DisplayedDecision::Approve { typed: text },
                            Typing::Reason if text.trim().is_empty() => DisplayedDecision::Reject,
                            Typing::Reason => DisplayedDecision::Redo { reason: text },
                        };
                        return Some(Action::Decide { run, step, decision, seen });
                    }
                    Key::Backspace => drop(text.pop()),
                    Key::Control('u') => text.clear(),
                    Key::Char(typed) if text.chars().count() < TYPED_CHARS => text.push(typed),
                    _ => {}
                }
                self.dialog = Some(Dialog::Typing { about, run, step, seen, text });
                None
            }
        }
    }

    fn press_at(&mut self, key: Key) -> Option<Action> {
        match key {
            Key::Char('?') => self.dialog = Some(Dialog::Help),
            Key::Char('q') => return Some(Action::Quit),
            Key::Escape | Key::Backspace | Key::Char('h') => self.back(),
            Key::Enter | Key::Char('l') => return self.enter(),
            Key::Up | Key::Char('k') => self.step_by(-1),
            Key::Down | Key::Char('j') => self.step_by(1),
            Key::PageUp => self.step_by(-(PAGE as isize)),
            Key::PageDown | Key::Char(' ') => self.step_by(PAGE as isize),
            Key::Home | Key::Char('g') => self.step_by(isize::MIN),
            Key::End | Key::Char('G') => self.step_by(isize::MAX),
            Key::Tab => self.show(None),
            Key::Char(digit @ '1'..='5') => {
                self.show(Some(Pane::ALL[digit as usize - '1' as usize]));
            }
            Key::Char('a' | 'x') if self.open_run().is_none() => {
                // A person must see what they decide about.
                return self.enter();
            }
            Key::Char('a') => self.approve(),
            Key::Char('x') => self.reject(),
            Key::Char('d') => return self.card().map(|card| Action::Diff { run: card.id.clone() }),
            Key::Char('s') => self.stop(),
            Key::Char('r') => self.resume(),
            _ => {}
        }
        None
    }

    /// Returns to the list; the watch of one run has no list.
    fn back(&mut self) {
        if self.only.is_none() {
            self.place = Place::List;
        }
    }

    fn enter(&mut self) -> Option<Action> {
        match (&self.place, &self.selected) {
            (Place::List, Some(Row::Run(id))) => {
                let id = id.clone();
                self.place = run_place(id.clone(), self.card());
                Some(Action::Open { run: id })
            }
            (Place::List, Some(Row::Call(id))) => {
                self.message = Some(format!("Answer it with: onloop approve {id}"));
                None
            }
            (Place::List, Some(Row::Auto(id))) => {
                let card = self.board.autos.iter().find(|card| card.id == *id);
                self.message = card.map(|card| format!("End it with: {}", card.stop));
                None
            }
            (Place::List, Some(Row::Session { .. }) | None) | (Place::Run { .. }, _) => None,
        }
    }

    fn step_by(&mut self, by: isize) {
        match &mut self.place {
            Place::List => {
                let rows = self.rows();
                let last = rows.len().saturating_sub(1);
                let at = self.selected_index().unwrap_or_default().saturating_add_signed(by);
                self.selected = rows.get(at.min(last)).cloned();
            }
            Place::Run { scroll, pane, .. } => {
                let lines =
                    self.view.as_ref().map_or(0, |view| length(view, &self.evidence, *pane));
                let at = match *scroll {
                    Scroll::Top(at) => at.min(lines),
                    Scroll::End => lines,
                };
                let to = at.saturating_add_signed(by);
                *scroll = if to >= lines { Scroll::End } else { Scroll::Top(to) };
            }
        }
    }

    /// Shows a pane of the run; `None`: the next one.
    fn show(&mut self, wanted: Option<Pane>) {
        if let Place::Run { pane, scroll, .. } = &mut self.place {
            let next = (*pane as usize + 1) % Pane::ALL.len();
            *pane = wanted.unwrap_or(Pane::ALL[next]);
            *scroll = first_scroll(*pane);
        }
    }

    fn approve(&mut self) {
        let Some((run, step, seen)) = self.asked() else { return self.nothing_to_decide() };
        let type_name = self.choice().and_then(|choice| choice.type_name.clone());
        self.dialog = Some(match type_name {
            Some(name) => {
                let (about, text) = (Typing::Name { name }, String::new());
                Dialog::Typing { about, run, step, seen, text }
            }
            None => Dialog::Confirm {
                question: format!("Approve step {step}?"),
                action: Action::Decide {
                    run,
                    step,
                    decision: DisplayedDecision::Approve { typed: String::new() },
                    seen,
                },
            },
        });
    }

    fn reject(&mut self) {
        let Some((run, step, seen)) = self.asked() else { return self.nothing_to_decide() };
        let (about, text) = (Typing::Reason, String::new());
        self.dialog = Some(Dialog::Typing { about, run, step, seen, text });
    }

    fn nothing_to_decide(&mut self) {
        let commands = self.view.as_ref().map(|view| view.commands.as_slice()).unwrap_or_default();
        let waits = self.card().is_some_and(|card| card.state == RunState::Waits);
        self.message = Some(match commands {
            [command, ..] if waits => format!("No gate. What fits: {command}"),
            _ => "No gate waits for you here.".to_owned(),
        });
    }

    fn stop(&mut self) {
        let (question, action) = match (self.card(), &self.selected) {
            (Some(card), _) if card.driver.is_some() => (
                format!("Stop {}? It can be resumed.", card.id),
                Action::StopRun { run: card.id.clone() },
            ),
            (None, Some(Row::Session { id, folder })) => (
                format!("Send the agent of session {id} on no more?"),
                Action::StopSession { id: id.clone(), folder: folder.clone() },
            ),
            (Some(_) | None, _) => {
                self.message = Some("No process on this machine drives it.".to_owned());
                return;
            }
        };
        self.dialog = Some(Dialog::Confirm { question, action });
    }

    fn resume(&mut self) {
        let Some(card) = self.card() else { return };
        match why_not_resumed(card) {
            Some(why) => self.message = Some(why.to_owned()),
            None => {
                let question = format!("Resume {} in the background?", card.id);
                let action = Action::Resume { run: card.id.clone() };
                self.dialog = Some(Dialog::Confirm { question, action });
            }
        }
    }

    /// The keys that do something now, with what they do.
    pub(super) fn keys(&self) -> Vec<&'static str> {
        let (card, is_open) = (self.card(), self.open_run().is_some());
        let has_command = matches!(self.selected, Some(Row::Call(_) | Row::Auto(_)));
        let is_session = !is_open && matches!(self.selected, Some(Row::Session { .. }));
        let stops = is_session || card.is_some_and(|card| card.driver.is_some());
        let resumes = card.is_some_and(|card| why_not_resumed(card).is_none());
        let keys = [
            (!is_open && self.selected.is_some(), "↑↓ choose"),
            (!is_open && (card.is_some() || has_command), "Enter open"),
            (is_open && self.choice().is_some(), "a approve"),
            (is_open && self.choice().is_some(), "x reject"),
            (card.is_some(), "d diff"),
            (stops, "s stop"),
            (resumes, "r resume"),
            (is_open, "Tab"),
            (is_open && self.only.is_none(), "Esc back"),
            (true, "? help"),
            (true, "q quit"),
        ];
        keys.into_iter().filter_map(|(fits, words)| fits.then_some(words)).collect()
    }
}

/// Why a run cannot be resumed now; `None`: it can.
fn why_not_resumed(card: &RunCard) -> Option<&'static str> {
    match card.state {
        _ if card.driver.is_some() => Some("It is driven already."),
        RunState::Completed | RunState::Abandoned => Some("It is over."),
        RunState::Unreadable => Some("Its record cannot be read."),
        RunState::Waits => Some("It waits for a decision: a approves, x rejects."),
        _ if card.in_fleet => Some("A fleet works on it; `onloop resume` brings it home."),
        RunState::Blocked
        | RunState::Interrupted
        | RunState::Running
        | RunState::Idle
        | RunState::Limited
        | RunState::Checks
        | RunState::Paused => None,
    }
}

fn run_place(id: String, card: Option<&RunCard>) -> Place {
    let pane = first_pane(card);
    Place::Run { id, pane, scroll: first_scroll(pane) }
}

/// What a person looks for first.
fn first_pane(card: Option<&RunCard>) -> Pane {
    match card.map(|card| card.state) {
        Some(RunState::Running) => Pane::Log,
        Some(RunState::Waits) | None => Pane::Gate,
        Some(_) => Pane::Steps,
    }
}

fn first_scroll(pane: Pane) -> Scroll {
    match pane {
        Pane::Gate | Pane::Steps | Pane::Diff => Scroll::Top(0),
        Pane::Log | Pane::Events => Scroll::End,
    }
}

/// How many lines there are to scroll through, about.
fn length(view: &RunView, evidence: &Evidence, pane: Pane) -> usize {
    match pane {
        Pane::Diff => evidence.diff.len(),
        Pane::Gate => view.facts.as_ref().map_or(0, |facts| facts.text.lines().count()),
        Pane::Steps => {
            let output = evidence.attempts.last().map_or(0, |attempt| {
                attempt.checks.iter().map(|check| check.output.lines().count()).sum()
            });
            output + view.steps.iter().map(|step| 2 + step.checks.len()).sum::<usize>()
        }
        Pane::Log => view.log.len(),
        Pane::Events => view.events.len(),
    }
}
