//! Draws the model.

mod run;

use std::borrow::Cow;

use onloop_core::documents::board::{AutoCard, RunCard, RunState};
use onloop_core::effect::Redaction;
use onloop_core::text;
use onloop_core::time::Timestamp;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) use crate::host::cut;

use super::model::{Dialog, Model, Place, Row, Typing};

/// The smallest usable terminal.
const SMALLEST: (u16, u16) = (30, 8);

/// The narrowest terminal that has room for a run beside the list.
pub(super) const WIDE: u16 = 120;

/// Colors or emphasis, and the secrets that are not shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) is_coloured: bool,
    pub(super) secrets: &'a Redaction,
}

impl Look<'_> {
    /// Redacts `text`. Redact before cutting or wrapping, because a part of a secret is not
    /// recognized.
    fn words(self, text: &str) -> Cow<'_, str> {
        self.secrets.text(text)
    }

    fn colour(self, colour: Color) -> Style {
        if self.is_coloured { Style::new().fg(colour) } else { Style::new() }
    }

    fn state(self, state: RunState) -> Style {
        match state {
            RunState::Waits => self.colour(Color::Yellow).add_modifier(Modifier::BOLD),
            RunState::Blocked | RunState::Interrupted | RunState::Unreadable => {
                self.colour(Color::Red)
            }
            RunState::Running | RunState::Limited | RunState::Checks => self.colour(Color::Cyan),
            RunState::Completed => self.colour(Color::Green),
            RunState::Idle | RunState::Paused | RunState::Abandoned => Style::new(),
        }
    }
}

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, look: Look<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let words = format!("too small: onloop watch needs {}x{}", SMALLEST.0, SMALLEST.1);
        frame.render_widget(Paragraph::new(words).wrap(Wrap { trim: true }), area);
        return;
    }
    let [top, body, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
            .areas(area);
    frame.render_widget(title(model, top.width), top);
    match &model.place {
        _ if model.is_beside() => {
            let left = (area.width * 2 / 5).min(90);
            let [left, right] =
                Layout::horizontal([Constraint::Length(left), Constraint::Min(1)]).areas(body);
            let border = Block::new().borders(Borders::LEFT);
            let inside = border.inner(right);
            frame.render_widget(border, right);
            list(frame, model, look, left);
            beside(frame, model, look, inside);
        }
        Place::List => list(frame, model, look, body),
        Place::Run { pane, scroll, .. } => run::draw(frame, model, look, body, *pane, *scroll),
    }
    frame.render_widget(foot(model, look, bottom.width), bottom);
    if let Some(dialog) = &model.dialog {
        show_dialog(frame, dialog, look, body);
    }
}

fn title(model: &Model, width: u16) -> Line<'static> {
    let autos = model.board.autos.iter().map(|auto| auto.state);
    let states: Vec<RunState> =
        model.board.runs.iter().map(|card| card.state).chain(autos).collect();
    let count =
        |wanted: fn(RunState) -> bool| states.iter().filter(|state| wanted(**state)).count();
    let wait = count(RunState::asks_person);
    let blocked = count(|state| state == RunState::Blocked);
    let interrupted = count(RunState::is_stopped);
    let finished = count(RunState::is_over);
    let running = count(RunState::is_at_work);
    let calls = model.board.calls.len();
    let need = if wait == 1 { "needs" } else { "need" };
    let mut words = format!(" onloop watch · {wait} {need} you");
    for (count, word) in [(blocked, "blocked"), (interrupted, "interrupted")] {
        if count > 0 {
            words += &format!(" · {count} {word}");
        }
    }
    words += &format!(" · {running} running · {finished} finished");
    if calls > 0 {
        words += &format!(" · {} waiting", text::counted(calls as u64, "call"));
    }
    Line::styled(fit(&words, width.into(), true), Modifier::REVERSED)
}

fn foot(model: &Model, look: Look<'_>, width: u16) -> Line<'static> {
    let width = usize::from(width);
    if let Some(message) = &model.message {
        let style = look.colour(Color::Yellow).add_modifier(Modifier::BOLD);
        let words = format!(" {}", text::one_line(message));
        return Line::styled(cut(&look.words(&words), width), style);
    }
    Line::styled(cut(&format!(" {}", model.keys().join(" · ")), width), Modifier::DIM)
}

/// What the list has selected, in full.
fn beside(frame: &mut Frame<'_>, model: &Model, look: Look<'_>, area: Rect) {
    if let Some((_, pane, scroll)) = model.shown_run() {
        return run::draw(frame, model, look, area, pane, scroll);
    }
    let board = &model.board;
    let words = match &model.selected {
        Some(Row::Call(id)) => board.calls.iter().find(|call| call.id == *id).map(|call| {
            format!(
                "An agent wants to use {}\n\n{}\n\nIn {}\nWhy it waits: {}\n\nAllow it once:\n  \
                 onloop approve {id}\nDeny it:\n  onloop approve {id} --deny",
                call.tool, call.target, call.folder, call.reason
            )
        }),
        Some(Row::Session { id, folder }) => {
            let card = board.sessions.iter().find(|card| card.id == *id && card.folder == *folder);
            card.map(|card| {
                let decisions = card.decisions.iter();
                let decisions: String = decisions
                    .map(|line| format!("\n{} {}", line.at.to_rfc3339(), line.text))
                    .collect();
                format!("Session {id}: {}\n{}\nIn {folder}\n{decisions}", card.goal, card.now)
            })
        }
        Some(Row::Auto(id)) => board.autos.iter().find(|card| card.id == *id).map(|card| {
            let AutoCard { now, folder, stop, .. } = card;
            format!("rw-auto {id}: {now}\n\nIn {folder}\n\nEnd it:\n  {stop}")
        }),
        Some(Row::Run(_)) | None => None,
    };
    let width = usize::from(area.width).saturating_sub(1);
    let lines: Vec<Line<'_>> = words
        .iter()
        .flat_map(|words| words.lines())
        .flat_map(|line| rows(&look.words(line), width))
        .map(|row| Line::raw(format!(" {row}")))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn list(frame: &mut Frame<'_>, model: &Model, look: Look<'_>, area: Rect) {
    let rows = model.rows();
    if rows.is_empty() {
        let words = "\n  Nothing here yet.\n\n  `onloop run FILE` starts a run; it then shows here, \
                     wherever it works.";
        frame.render_widget(Paragraph::new(words).wrap(Wrap { trim: false }), area);
        return;
    }
    let height = usize::from(area.height);
    let selected = model.selected_index().unwrap_or_default();
    // The selected row and the next one stay visible.
    let first =
        selected.saturating_sub(height.saturating_sub(2)).min(rows.len().saturating_sub(height));
    let width = usize::from(area.width);
    let lines: Vec<Line<'_>> = rows
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(at, row)| {
            let line = row_line(model, look, row, width, at == selected);
            if at == selected { line.patch_style(Modifier::REVERSED) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn row_line(model: &Model, look: Look<'_>, row: &Row, width: usize, chosen: bool) -> Line<'static> {
    let mark = if chosen { ">" } else { " " };
    match row {
        Row::Run(id) => match model.board.runs.iter().find(|card| card.id == *id) {
            Some(card) => card_line(card, model.now, look, (width, model.is_beside()), mark),
            None => Line::default(),
        },
        Row::Call(id) => {
            let call = model.board.calls.iter().find(|call| call.id == *id);
            let what = call.map(|call| (call.tool.clone(), call.target.clone(), call.since));
            let Some((tool, target, since)) = what else { return Line::default() };
            let age = age(Some(since), model.now);
            let words = format!("{tool}: {}", text::one_line(&target));
            let cells =
                Cells { mark, symbol: "?", name: "call", middle: "", words: &words, age: &age };
            cells.line((width, model.is_beside()), look.state(RunState::Waits), look)
        }
        Row::Auto(id) => {
            let card = model.board.autos.iter().find(|card| card.id == *id);
            let Some(card) = card else { return Line::default() };
            let (age, words) =
                (age(card.since, model.now), format!("{} in {}", card.now, card.folder));
            let symbol = card.state.mark();
            let cells =
                Cells { mark, symbol, name: "rw-auto", middle: "", words: &words, age: &age };
            cells.line((width, model.is_beside()), look.state(card.state), look)
        }
        Row::Session { id, folder } => {
            let of = |card: &&onloop_core::documents::board::SessionCard| {
                card.id == *id && card.folder == *folder
            };
            let Some(card) = model.board.sessions.iter().find(of) else { return Line::default() };
            let words = match (card.now.as_str(), &card.last) {
                ("", Some(last)) => format!("{}: {}", card.goal, last.text),
                ("", None) => format!("{} {} in {}", card.goal, card.status, card.folder),
                (now, _) => format!("{} {}: {now}", card.goal, card.activity.as_str()),
            };
            let age = age(card.changed_at, model.now);
            let name = format!("session {id}");
            let times = format!("{}×", card.continued);
            let cells =
                Cells { mark, symbol: "~", name: &name, middle: &times, words: &words, age: &age };
            cells.line((width, model.is_beside()), Style::new(), look)
        }
    }
}

fn card_line(
    card: &RunCard,
    now: Timestamp,
    look: Look<'_>,
    (width, is_beside): (usize, bool),
    mark: &str,
) -> Line<'static> {
    let step = match card.steps {
        0 => String::new(),
        steps => format!("{}/{steps}", card.step),
    };
    let words = match (&card.last, card.state) {
        (Some(last), RunState::Running) => last.text.clone(),
        (_, _) => card.now.clone(),
    };
    let words = match card.repository.as_str() {
        "" => words,
        repository if is_beside => repository.to_owned(),
        repository => format!("{repository}: {words}"),
    };
    let age = age(card.since.or(card.changed_at), now);
    let cells = Cells {
        mark,
        symbol: card.state.mark(),
        name: if card.intent.is_empty() { &card.id } else { &card.intent },
        middle: &step,
        words: &words,
        age: &age,
    };
    cells.line((width, is_beside), look.state(card.state), look)
}

/// The parts of a row.
struct Cells<'a> {
    mark: &'a str,
    symbol: &'a str,
    name: &'a str,
    middle: &'a str,
    words: &'a str,
    age: &'a str,
}

impl Cells<'_> {
    fn line(
        &self,
        (width, is_beside): (usize, bool),
        style: Style,
        look: Look<'_>,
    ) -> Line<'static> {
        // Names get a third of the width; the activity gets the rest. Beside a run the list names things.
        let name = match is_beside {
            true => width.saturating_sub(2 + 3 + 1 + 6 + 4 + 12),
            false => (width / 3).clamp(10, 40),
        };
        let fixed = 2 + 3 + name + 1 + 6 + 4;
        let words = width.saturating_sub(fixed);
        Line::from(vec![
            Span::raw(format!("{}{} ", self.mark, fit(self.symbol, 2, true))),
            Span::raw(format!("{} ", fit(&look.words(self.name), name, true))),
            Span::raw(format!("{} ", fit(self.middle, 5, true))),
            Span::styled(fit(&look.words(self.words), words, true), style),
            Span::raw(format!(" {}", fit(self.age, 4, false))),
        ])
    }
}

/// A duration in four columns.
pub(super) fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    let Some(since) = since else { return String::new() };
    let minutes = now.millis_since(since) / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        1440..=143_999 => format!("{}d", minutes / 1440),
        _ => ">99d".to_owned(),
    }
}

/// Wraps a line, at blanks if possible.
pub(super) fn rows(line: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for c in line.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > columns.max(2) {
            let broken_at = row.rfind(' ').filter(|at| !row[..*at].trim().is_empty());
            let rest = broken_at.map_or_else(String::new, |at| row.split_off(at + 1));
            used = rest.width();
            rows.push(std::mem::replace(&mut row, rest));
        }
        row.push(c);
        used += width;
    }
    rows.push(row);
    rows
}

/// Fits `text` to an exact width, aligned left or right.
fn fit(text: &str, columns: usize, left: bool) -> String {
    let shown = cut(text, columns);
    let blanks = " ".repeat(columns.saturating_sub(shown.width()));
    if left { shown + &blanks } else { blanks + &shown }
}

const HELP: &str = "\
↑ ↓ PgUp PgDn   choose, or scroll
Enter           open a run
1 to 5, Tab     gate, steps, log, diff, events
a               approve the gate (asks; at high risk for the step's name)
x               reject: with a reason it is done again, else the run ends
d               what changed, page by page
s               stop a run or a session (asks); r resumes a run
Esc             back to the list
q Ctrl-C        leave; runs continue
Ctrl-Z          suspend

Any key closes this.";

fn show_dialog(frame: &mut Frame<'_>, dialog: &Dialog, look: Look<'_>, area: Rect) {
    let (title, words) = match dialog {
        Dialog::Help => (" Keys ", HELP.to_owned()),
        Dialog::Confirm { question, .. } => (" Sure? ", format!("{question}\n\ny yes · n no")),
        Dialog::Typing { about: Typing::Name { name }, step, text, .. } => (
            " The risk is high ",
            format!(
                "To approve step {step}, type its name: {name}\n\n> {text}▏\n\nEnter done · Esc leave it"
            ),
        ),
        Dialog::Typing { about: Typing::Reason, step, text, .. } => (
            " Reject ",
            format!(
                "What is step {step} to do otherwise? It is done again with that. Nothing typed: \
                 the run ends.\n\n> {text}▏\n\nEnter done · Esc leave it"
            ),
        ),
    };
    let width = area.width.saturating_sub(2).min(76);
    let inside = usize::from(width.saturating_sub(2));
    let lines: Vec<Line<'_>> =
        words.lines().flat_map(|line| rows(&look.words(line), inside)).map(Line::raw).collect();
    let needed = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
    let height = needed.min(area.height);
    let at = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, at);
    // The end of the typed text stays visible.
    let hidden = needed - height;
    let scroll = if matches!(dialog, Dialog::Typing { .. }) { hidden } else { 0 };
    let paragraph = Paragraph::new(lines).scroll((scroll, 0));
    frame.render_widget(paragraph.block(Block::bordered().title(title)), at);
}
