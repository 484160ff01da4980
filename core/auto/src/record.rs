//! The record of one rw-auto run: what has happened, and what happens next.
//!
//! [`Auto::next`] says what to do, [`Auto::apply`] takes what came of it and yields the lines
//! to print. A host prints them before it does what comes next; that is how the lock is
//! released between the right two lines.

use super::arguments::Arguments;
use super::child::{ChildAnswer, ChildOutcome};
use super::progress::Tasks;
use super::route::{Profile, Target};
use super::token::{NextCommand, Token};
use super::workspace_file::Presence;
use onloop_syntax::form::given;
use onloop_syntax::time::Timestamp;
use serde::{Deserialize, Serialize};

mod ending;
mod transition;

pub use ending::AutoEnding;

/// What a run is asked to do. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Names this run in its lock; no other run has the same.
    pub run: String,
    /// The argument as it was given.
    pub argument: String,
    /// Which generation of the rules applies.
    pub profile: Profile,
    /// Where to depart from the original's rules.
    pub options: Options,
    /// Whether this host can start children.
    pub can_dispatch: bool,
}

/// Departures from the original, all off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// What to do when a cycle repeats the one before it.
    pub stall: OnStall,
    /// How long a summary counts.
    pub summary: SummaryUse,
    /// By whose rules [`Profile::Route`] says a route; `None`: those of v3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes_by: Option<Profile>,
}

/// What to do when two cycles in a row saw the same files, started the same child and were
/// told the same next command: the rest of the cycles will do so too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStall {
    /// Continue until the cycles are used up.
    #[default]
    Continue,
    /// Stop as after an invalid result.
    Stop,
}

/// How long a summary counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryUse {
    /// In every cycle, so that profile v3 never reaches the loop.
    #[default]
    EveryCycle,
    /// Until the planner has been given it.
    Once,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auto {
    /// What the run works on, and under which rules.
    #[serde(flatten)]
    pub assignment: Assignment,
    /// What the argument of the assignment says; it is not stored.
    #[serde(skip)]
    pub arguments: Arguments,
    /// The summary that a person gave was not passed on yet.
    pub summary_left: bool,
    /// How the cycle before ended, if there was one.
    #[serde(deserialize_with = "given")]
    pub previous: Option<CycleEnd>,
    /// Where the run stands.
    pub phase: AutoPhase,
}

/// How a cycle began and ended, to tell whether the next one repeats it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleEnd {
    /// Digest of the files that decide the next cycle.
    pub fingerprint: String,
    /// Which agent ran.
    pub target: Target,
    /// What that agent said comes next.
    pub next: NextCommand,
}

/// What a run does, between two answers of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", content = "at", rename_all = "snake_case")]
pub enum AutoPhase {
    /// It checks the environment.
    Health(HealthStep),
    /// It looks whether another run has the lock.
    Probing,
    /// It takes the lock, which stood like this before.
    Taking(LockBefore),
    /// It renews the lock before a cycle.
    Refreshing {
        /// Counted from 1.
        cycle: u8,
    },
    /// It reads the files that decide which agent runs.
    Observing {
        /// Counted from 1.
        cycle: u8,
    },
    /// An agent runs.
    Waiting(Dispatch),
    /// It reads what the agent left.
    Inspecting {
        /// What the agent was started with.
        dispatch: Dispatch,
        /// What it answered.
        answer: ChildAnswer,
    },
    /// It gives the lock back before it ends.
    Releasing(AutoEnding),
    /// It has ended.
    Stopped(AutoEnding),
}

/// The two halves of the health check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthStep {
    /// Check.
    Check,
    /// Repair what the check found, and check again.
    Repair,
}

/// What must be at the lock's path when it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockBefore {
    /// Nothing.
    Nothing,
    /// The stale lock that was probed, unchanged.
    StaleLock,
}

/// A child to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The cycle, from 1.
    pub cycle: u8,
    /// Which child.
    pub target: Target,
    /// Its argument: the summary for the planner, flags for the loop.
    pub argument: String,
    /// Whether the child has to create a file that every further cycle needs.
    pub is_recovery: bool,
    /// Digest of the files that routing depends on, before the child.
    pub fingerprint: String,
}

/// What should happen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoNext<'a> {
    /// Check the workspace's health → [`AutoEvent::HealthChecked`].
    CheckHealth(HealthStep),
    /// Look at progress file and lock → [`AutoEvent::Probed`].
    Probe,
    /// Write our lock → [`AutoEvent::LockWritten`].
    TakeLock(LockBefore),
    /// Write a new stamp into our lock → [`AutoEvent::LockWritten`]. A lock that has vanished is
    /// taken again; one that another run holds is lost.
    RefreshLock,
    /// Look at everything that routing depends on → [`AutoEvent::Observed`].
    Observe,
    /// Start a child and wait for it → [`AutoEvent::ChildFinished`].
    Dispatch(&'a Dispatch),
    /// Look whether there is a context now, and which feature is the latest
    /// → [`AutoEvent::Inspected`].
    Inspect,
    /// Remove the lock if it is still ours → [`AutoEvent::LockReleased`].
    ReleaseLock,
    /// Nothing; the run is over.
    Stop(AutoEnding),
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoEvent {
    /// A health check was made.
    HealthChecked(Health),
    /// Progress file and lock were looked at.
    Probed(Probe),
    /// The lock was written, or not.
    LockWritten(LockWritten),
    /// The workspace was looked at.
    Observed(Snapshot),
    /// The child of a cycle came back.
    ChildFinished {
        /// The cycle that started it.
        cycle: u8,
        /// How it came back.
        outcome: ChildOutcome,
    },
    /// The workspace was looked at after a child.
    Inspected {
        /// The context file.
        context: Presence,
        /// Path of the latest feature file.
        latest_feature: Option<String>,
    },
    /// The lock was removed, or left alone because it was not ours, or would not go.
    LockReleased,
    /// The host is shutting down.
    Aborted,
}

/// What a health check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing is wrong, perhaps after the repair.
    Passed,
    /// Something is wrong.
    Failed,
    /// There is nothing to check with.
    Unavailable,
}

impl Health {
    /// What the word after `AI_HEALTH_STATUS=` means. Any word that we do not know is a
    /// failure, so that success has to be said.
    pub fn from_word(word: &str) -> Health {
        match word.to_ascii_uppercase().as_str() {
            "PASS" | "FIXED" => Health::Passed,
            "UNAVAILABLE" => Health::Unavailable,
            _ => Health::Failed,
        }
    }
}

/// What was found before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A progress file that cannot be read as text. The lock does not matter then.
    ProgressUnreadable,
    /// A progress file that is text or missing, and this lock.
    Lock(LockSight),
}

/// What is at the lock's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockSight {
    /// Nothing.
    Absent,
    /// A lock, last known to be held at this time; `None` if unknown.
    Present(Option<Timestamp>),
    /// Whatever the lock says, the process of another run that holds it is alive.
    Alive,
}

/// What came of writing the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockWritten {
    /// It is ours.
    Ours,
    /// Another run has it.
    Lost,
    /// It cannot be written. For people: why.
    Failed(String),
}

/// What the workspace looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `PAUSE.md` exists.
    pub paused: bool,
    /// The context file.
    pub context: Presence,
    /// The task table; `None` where the progress file is not readable.
    pub tasks: Option<Tasks>,
    /// At least one feature is `READY_FOR_PLAN`.
    pub ready_feature: bool,
    /// The active plan has its artifacts. Only profiles that ask for them look.
    pub artifacts: bool,
    /// Digest of the files that routing depends on.
    pub fingerprint: String,
}

/// What a transition yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The record after it.
    pub auto: Auto,
    /// Lines of the token stream, to be printed before what comes next is done.
    pub tokens: Vec<Token>,
    /// What people may want to know; not part of the token stream.
    pub note: Option<String>,
}

/// An event that does not answer what [`Auto::next`] asks for. It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedEvent(pub AutoEvent);

impl AutoPhase {
    /// The cycle that the run is in, from 1, where it is in one.
    pub fn cycle(&self) -> Option<u8> {
        match self {
            AutoPhase::Refreshing { cycle } | AutoPhase::Observing { cycle } => Some(*cycle),
            AutoPhase::Waiting(dispatch) | AutoPhase::Inspecting { dispatch, .. } => {
                Some(dispatch.cycle)
            }
            AutoPhase::Health(_)
            | AutoPhase::Probing
            | AutoPhase::Taking(_)
            | AutoPhase::Releasing(_)
            | AutoPhase::Stopped(_) => None,
        }
    }
}

impl Auto {
    /// A run that has done nothing yet.
    pub fn begin(assignment: Assignment) -> Auto {
        let arguments = Arguments::parse(&assignment.argument);
        let phase = if assignment.profile.checks_health() {
            AutoPhase::Health(HealthStep::Check)
        } else {
            AutoPhase::Probing
        };
        let summary_left = !arguments.summary.is_empty();
        Auto { assignment, arguments, summary_left, previous: None, phase }
    }

    /// What the run was asked to do.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// How the run ends, once that is decided.
    pub fn ending(&self) -> Option<AutoEnding> {
        match &self.phase {
            AutoPhase::Releasing(ending) | AutoPhase::Stopped(ending) => Some(*ending),
            AutoPhase::Health(_)
            | AutoPhase::Probing
            | AutoPhase::Taking(_)
            | AutoPhase::Refreshing { .. }
            | AutoPhase::Observing { .. }
            | AutoPhase::Waiting(_)
            | AutoPhase::Inspecting { .. } => None,
        }
    }

    /// What should happen now.
    pub fn next(&self) -> AutoNext<'_> {
        match &self.phase {
            AutoPhase::Health(step) => AutoNext::CheckHealth(*step),
            AutoPhase::Probing => AutoNext::Probe,
            AutoPhase::Taking(before) => AutoNext::TakeLock(*before),
            AutoPhase::Refreshing { .. } => AutoNext::RefreshLock,
            AutoPhase::Observing { .. } => AutoNext::Observe,
            AutoPhase::Waiting(dispatch) => AutoNext::Dispatch(dispatch),
            AutoPhase::Inspecting { .. } => AutoNext::Inspect,
            AutoPhase::Releasing(_) => AutoNext::ReleaseLock,
            AutoPhase::Stopped(ending) => AutoNext::Stop(*ending),
        }
    }
}
