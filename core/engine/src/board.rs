//! Everything that is known of this machine, for screens: its runs, hands-off sessions and calls
//! that wait.
//!
//! A [`ChangeWatcher`] remembers between two looks what it has read. A ledger is read again only when its
//! size or time has changed, and of one that has grown only what was added; so a look at many runs
//! of which one is worked on costs a look at each folder.

mod log;
mod page;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use log::KnownLog;
pub use log::fork_of_attempt;
pub(crate) use log::place_of;
pub use page::{DiffOf, RunPart, common};
use sessions::{KnownSessions, Surrounding};

use crate::approval::pending;
use crate::run::driver_lock::driving;
use crate::run::forks::together;
use crate::run::gate::facts;
use crate::run::instruction::instruction;
use crate::run::options::remembered_options;
use crate::state::auto_runs::{self, AutoRun};
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, StateHome, read_ledger_of};
use onloop_documents::board::{
    self, AttemptView, Board, Driving, RunCard, RunState, RunView, Spent, TextLine,
};
use onloop_documents::ledger::{self, Ledger};
use onloop_effect::{Io, Stat};
use onloop_run::{Run, UnderWay, is_run_id};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Somebody who looks again and again.
#[derive(Debug, Default)]
pub struct ChangeWatcher {
    runs: BTreeMap<String, Known>,
    sessions: KnownSessions,
    /// Where something can change that a look would show.
    folders: Vec<String>,
}

/// What separates the turn of a step from the one in which an agent resolved the conflicts of its merge.
const SECOND_TURN: &str = "--- Another turn: the conflicts of the merge ---";

/// A text that an attempt leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptText {
    /// What its agent said and did.
    Log,
    /// What its agent was told.
    Prompt,
}

/// A run that was looked at.
#[derive(Debug)]
struct Known {
    seen: FileStamp,
    read: Result<Box<Ledger>, String>,
    log: KnownLog,
    /// The agent that the run was started with; read once.
    agent: Option<Option<String>>,
    /// Whether a fleet conducts it; asked once for each change of its ledger.
    in_fleet: Option<bool>,
    /// What there is to know about the step that waits, as of the line of the ledger with this
    /// digest.
    facts: Option<(String, board::FactsView)>,
    card: RunCard,
}

impl Known {
    /// Whether it is a step of another run, which shows it.
    fn is_fork(&self) -> bool {
        self.read.as_ref().is_ok_and(|ledger| ledger.run.fork_of.is_some())
    }
}

/// What tells one content of a file from the next without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    size_bytes: u64,
    modified: Timestamp,
}

impl From<&Stat> for FileStamp {
    fn from(stat: &Stat) -> FileStamp {
        FileStamp { size_bytes: stat.size_bytes, modified: stat.modified }
    }
}

impl ChangeWatcher {
    /// Looks at this machine.
    pub async fn look(&mut self, io: &Io) -> Board {
        let mut runs = Vec::new();
        let mut left_out = 0;
        self.folders.clear();
        if let Ok(home) = StateHome::of(io) {
            self.folders.push(home.runs());
            let mut ledgers = ledgers(io, &home).await;
            left_out = ledgers.len().saturating_sub(limits::BOARD_RUNS);
            ledgers.truncate(limits::BOARD_RUNS);
            let is_there: BTreeSet<&String> = ledgers.iter().map(|(id, _)| id).collect();
            self.runs.retain(|id, _| is_there.contains(id));
            let mut forks: Vec<RunCard> = Vec::new();
            for (id, stamp) in &ledgers {
                let known = self.refreshed(io, &home, id, *stamp).await;
                match known.is_fork() {
                    false => runs.push(known.card.clone()),
                    // Its run shows what it says.
                    true if !known.card.state.is_over() => forks.push(known.card.clone()),
                    true => {}
                }
            }
            for card in runs.iter().chain(&forks) {
                self.folders.extend(folders_of(&home, card));
            }
        }
        runs.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.id.cmp(&b.id)));
        let calls = pending::list(io).await.unwrap_or_default().calls;
        let around = Surrounding { runs: &runs, calls: &calls };
        let sessions = self.sessions.look(io, self.roots(), around).await;
        self.folders.extend(self.sessions.folders());
        self.folders.push(pending::folder(io));
        if let Ok(home) = StateHome::of(io) {
            self.folders.push(home.auto_runs());
        }
        let mut autos: Vec<_> = auto_runs::all(io).await.iter().map(AutoRun::card).collect();
        autos.sort_by_key(|auto| auto.state);
        let waits = calls.iter().filter(|call| call.answer.is_none()).map(board::call);
        Board {
            schema: board::SCHEMA,
            at: io.now(),
            runs,
            left_out,
            sessions,
            autos,
            calls: waits.collect(),
        }
    }

    /// The folders in which something changes when another look would show something else, as of the
    /// last look.
    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    /// The record of a run that was looked at; `None`: it cannot be read.
    pub fn record(&self, id: &str) -> Option<&Run> {
        self.runs.get(id)?.read.as_ref().ok().map(|ledger| &ledger.run)
    }

    /// What the agents of the runs have cost that were looked at.
    pub fn spent(&self) -> Spent {
        let readable = self.runs.values().filter_map(|known| known.read.as_ref().ok());
        let runs: Vec<&Run> = readable.map(|ledger| &ledger.run).collect();
        board::spent(&runs)
    }

    /// Looks at one run; `None`: there is none of this name.
    pub async fn run(&mut self, io: &Io, id: &str) -> Option<RunView> {
        let home = StateHome::of(io).ok().filter(|_| is_run_id(id))?;
        let stat = io.stat(&Paths::new(&home, "", id).ledger()).await.ok()?;
        let known = self.refreshed(io, &home, id, FileStamp::from(&stat)).await;
        let Ok(ledger) = &known.read else {
            return Some(bare(known.card.clone()));
        };
        let run = &ledger.run;
        let choice = board::choice(run);
        let step = choice.as_ref().and_then(|choice| choice.step.filter(|_| choice.is_gate));
        let is_known =
            known.facts.as_ref().is_some_and(|(digest, _)| *digest == ledger.head.sha256);
        if let Some(step) = step.filter(|_| !is_known) {
            let found = facts(io, run, step).await.map(|found| board::facts(&found));
            known.facts = found.map(|found| (ledger.head.sha256.clone(), found));
        }
        let all = (UnderWay::Attempts, UnderWay::Nothing);
        let whole = Box::pin(together(io, run, all)).await;
        let whole = whole.as_ref().unwrap_or(run);
        let paths = Paths::new(&home, &run.place.execution_root, id);
        Some(RunView {
            card: known.card.clone(),
            steps: match known.card.state.is_stopped() {
                true => board::steps(&whole.stopped()),
                false => board::steps(whole),
            },
            graph: board::graph(run),
            facts: step.and(known.facts.as_ref()).map(|(_, facts)| facts.clone()),
            choice,
            actions: board::actions(run, &known.card),
            log: log::lines(io, &home, run).await,
            events: board::events(run, limits::BOARD_EVENTS),
            commands: match known.card.state {
                // Its driver does what comes next.
                RunState::Running => Vec::new(),
                _ => instruction(run).commands,
            },
            workflow: text::one_line(&run.place.workflow_path),
            report: text::one_line(&paths.report()),
            seen: ledger.head.sha256.clone(),
        })
    }

    /// The forks that a run has had, as far as they can be read.
    pub async fn forks(&self, io: &Io, run: &Run) -> Vec<Run> {
        let Ok(home) = StateHome::of(io) else { return Vec::new() };
        let mut forks = Vec::new();
        for id in run.fork_ids() {
            forks.extend(read_ledger_of(io, &home, &id).await.ok().map(|ledger| ledger.run));
        }
        forks
    }

    /// The attempts at a step of a run that was looked at, oldest first.
    pub async fn attempts(&self, io: &Io, id: &str, step: u32) -> Vec<AttemptView> {
        let (Some(run), Ok(home)) = (self.record(id), StateHome::of(io)) else { return Vec::new() };
        let mut forks = Vec::new();
        for id in run.forks_of(step) {
            if let Ok(fork) = read_ledger_of(io, &home, &id).await {
                forks.push(attempts_of(io, &home, &fork.run, step).await);
            }
        }
        board::joined(run, step, forks, attempts_of(io, &home, run, step).await)
    }

    /// The end of a text that an attempt at a step left, such as `2-1`: of its log, or its prompt.
    async fn text(
        &self,
        io: &Io,
        id: &str,
        (attempt, kind): (&str, AttemptText),
        limit_bytes: u64,
    ) -> Vec<TextLine> {
        let (Some(run), Ok(home)) = (self.record(id), StateHome::of(io)) else { return Vec::new() };
        let text = async |paths: Paths, attempt: &str| {
            let (path, times) = match kind {
                AttemptText::Log => (paths.log(attempt), Some(paths.log_times(attempt))),
                AttemptText::Prompt => (paths.prompt(attempt), None),
            };
            let (mut lines, is_cut) =
                log::timed_tail(io, &path, times.as_deref(), limit_bytes).await;
            if is_cut {
                let text =
                    format!("--- Only the end; the whole text is in {} ---", text::one_line(&path));
                lines.insert(0, TextLine { at: None, text });
            }
            lines
        };
        let mut lines = match log::fork_with(io, &home, run, attempt).await {
            Some((fork, name)) => text(Paths::new(&home, "", &fork.id), &name).await,
            None => Vec::new(),
        };
        let own = text(Paths::new(&home, &run.place.execution_root, &run.id), attempt).await;
        if !lines.is_empty() && !own.is_empty() {
            let heading = |text: &str| TextLine { at: None, text: text.to_owned() };
            lines.extend([heading(""), heading(SECOND_TURN), heading("")]);
        }
        lines.extend(own);
        lines
    }

    /// Reads again what has changed of a run.
    async fn refreshed(
        &mut self,
        io: &Io,
        home: &StateHome,
        id: &str,
        stamp: FileStamp,
    ) -> &mut Known {
        let before = self.runs.remove(id);
        let mut known = match before {
            Some(known) if known.seen == stamp => known,
            before => reread(io, home, id, stamp, before).await,
        };
        known.look(io, home).await;
        self.runs.entry(id.to_owned()).or_insert(known)
    }

    /// Folders in which runs work or were started.
    fn roots(&self) -> BTreeSet<String> {
        let readable = self.runs.values().filter_map(|known| known.read.as_ref().ok());
        readable.flat_map(|ledger| ledger.run.place.roots().map(str::to_owned)).collect()
    }
}

impl Known {
    /// Brings up to date what is not in the ledger: who drives it, and what was said last.
    async fn look(&mut self, io: &Io, home: &StateHome) {
        let Ok(ledger) = &self.read else { return };
        let run = &ledger.run;
        if !run.is_open() {
            self.card = board::card(run, Driving::Nobody);
            return;
        }
        let paths = Paths::new(home, &run.place.execution_root, &run.id);
        let holder = io.holder(&paths.driver_lock()).await.ok().flatten();
        let mut card = board::card(run, driving(io, run, holder.as_ref()));
        card.in_fleet = match self.in_fleet {
            Some(known) => known,
            None => *self.in_fleet.insert(is_fleets(io, &paths).await),
        };
        if card.state == RunState::Running {
            card.last = self.log.last(io, home, run).await;
        }
        if card.agent.is_none() {
            if self.agent.is_none() {
                let options = remembered_options(io, &paths).await;
                self.agent = Some(options.and_then(|options| options.agent.agent));
            }
            card.agent = self.agent.clone().flatten();
        }
        if let Some(worker) = card.worker.as_mut().filter(|worker| worker.agent.is_none()) {
            worker.agent = card.agent.clone();
        }
        self.card = card;
    }
}

/// The attempts at a step that a run has recorded itself.
async fn attempts_of(io: &Io, home: &StateHome, run: &Run, step: u32) -> Vec<AttemptView> {
    let ledger = io.read(&Paths::new(home, "", &run.id).ledger(), limits::RECORD_BYTES).await;
    ledger.map_or_else(|_| Vec::new(), |(bytes, _)| board::attempts(run, step, &bytes))
}

/// Every ledger of the state home, the one that changed last first.
async fn ledgers(io: &Io, home: &StateHome) -> Vec<(String, FileStamp)> {
    let mut found = Vec::new();
    for id in io.list(&home.runs()).await.unwrap_or_default() {
        if !is_run_id(&id) {
            continue;
        }
        // What has no ledger was removed, or never began.
        if let Ok(stat) = io.stat(&Paths::new(home, "", &id).ledger()).await {
            found.push((id, FileStamp::from(&stat)));
        }
    }
    found.sort_by(|(a, at), (b, bt)| bt.modified.cmp(&at.modified).then_with(|| a.cmp(b)));
    found
}

async fn reread(
    io: &Io,
    home: &StateHome,
    id: &str,
    stamp: FileStamp,
    before: Option<Known>,
) -> Known {
    let (grown, log, agent) = match before {
        Some(Known { read: Ok(ledger), log, agent, .. }) => {
            (grown(io, home, ledger, stamp).await, log, agent)
        }
        Some(_) | None => (None, KnownLog::default(), None),
    };
    let read = match grown {
        Some(ledger) => Ok(ledger),
        None => match read_ledger_of(io, home, id).await {
            Ok(ledger) => Ok(Box::new(ledger)),
            Err(error) => Err(error.to_string()),
        },
    };
    let card = match &read {
        Ok(ledger) => board::card(&ledger.run, Driving::Nobody),
        Err(why) => board::unreadable(id, why),
    };
    Known { seen: stamp, read, log, agent, in_fleet: None, facts: None, card }
}

/// The ledger with what was added to it since it was read; `None`: it has to be read anew.
async fn grown(
    io: &Io,
    home: &StateHome,
    mut ledger: Box<Ledger>,
    stamp: FileStamp,
) -> Option<Box<Ledger>> {
    let added = stamp.size_bytes.checked_sub(ledger.whole_bytes as u64).filter(|n| *n > 0)?;
    let path = Paths::new(home, "", &ledger.run.id).ledger();
    let (tail, size) = io.read_tail(&path, added).await.ok()?;
    (size == stamp.size_bytes).then_some(())?;
    ledger::extend(&mut ledger, &tail).ok()?;
    Some(ledger)
}

/// Waiting runs first, then running ones, then finished ones; the latest of each first.
fn order(card: &RunCard) -> (bool, bool, std::cmp::Reverse<Option<Timestamp>>) {
    (card.state.is_over(), !card.state.needs_person(), std::cmp::Reverse(card.changed_at))
}

fn folders_of(home: &StateHome, card: &RunCard) -> Vec<String> {
    let folder = format!("{}/{}", home.runs(), card.id);
    let logs = (card.state == RunState::Running).then(|| format!("{folder}/logs"));
    std::iter::once(folder).chain(logs).collect()
}

/// A run whose record cannot be read.
fn bare(card: RunCard) -> RunView {
    RunView { card, ..RunView::default() }
}
