//! What there is on this machine, as values that every screen shows: the runs, the hands-off
//! sessions and the calls that wait, and one run in detail.
//!
//! Everything in them is for people and fit for a terminal or a page: one line where a line is
//! meant, no control characters, bounded. Times are RFC 3339 in JSON.

mod attempt;
mod graph;
mod run;
mod session;
mod spent;
mod summary;

use serde::{Serialize, Serializer};

pub use crate::cost::Sum;
pub use attempt::{AttemptView, EvaluatedCheck, attempts, joined};
pub use graph::{GraphStep, GraphView, graph};
pub use run::unreadable;
pub use run::{
    CheckView, Choice, FactsView, LoggedLine, ReviewView, RunView, StepView, TextLine, actions,
    card, check_view, choice, entry, events, facts, steps,
};
pub use session::{SessionCard, SessionFacts, SessionStatus, session, unreadable_session};
pub use spent::{Day, Spent, spent};
pub use summary::{StepSummary, SummaryView, summary};

use super::approval::PendingCall;
use super::auto_run::AutoRunDocument;
use onloop_run::NoticeKind;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;

/// Name and version of the format.
pub const SCHEMA: &str = "onloop.board/v1";

/// Everything that is known of this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// When it was looked at.
    #[serde(serialize_with = "moment")]
    pub at: Timestamp,
    /// The runs: those that wait for a person first, then the others that are not over, then those
    /// that are; of each kind the one that changed last first.
    pub runs: Vec<RunCard>,
    /// Runs that are not shown because there are more than [`limits::BOARD_RUNS`]: those that
    /// changed longest ago.
    pub left_out: usize,
    /// Hands-off sessions: those that wait for a person first, those that are over last; of each kind
    /// the one that changed last first.
    pub sessions: Vec<SessionCard>,
    /// Runs of rw-auto that are under way or were killed: the killed ones first.
    pub autos: Vec<AutoCard>,
    /// Calls of tools that wait for a person, the oldest first.
    pub calls: Vec<CallCard>,
}

words! {
    /// How a run stands.
    #[derive(Default, PartialOrd, Ord)]
    pub enum RunState {
        /// A person has to decide.
        Waits = "waits",
        /// A step failed for good.
        Blocked = "blocked",
        /// Its onloop was killed; it can be resumed.
        Interrupted = "interrupted",
        /// Nobody knows: its record cannot be read.
        #[default]
        Unreadable = "unreadable",
        /// It is worked on.
        Running = "running",
        /// No onloop drives it; it can be resumed.
        Idle = "idle",
        /// The provider of its agent does not serve it for now.
        Limited = "limited",
        /// It was stopped and can be resumed.
        Paused = "paused",
        /// Its pull request waits for checks.
        Checks = "checks",
        /// Everything is done.
        Completed = "completed",
        /// It was given up, or its work was thrown away.
        Abandoned = "abandoned",
    }
}

impl RunState {
    /// The mark that every screen shows before the words.
    pub fn mark(self) -> &'static str {
        match self {
            RunState::Waits => "⏸",
            RunState::Blocked => "✗",
            RunState::Interrupted | RunState::Idle | RunState::Paused => "■",
            RunState::Unreadable => "?",
            RunState::Running => "→",
            RunState::Limited | RunState::Checks => "⏳",
            RunState::Completed => "✓",
            RunState::Abandoned => "⊘",
        }
    }

    /// The state in words, which every screen shows.
    pub fn words(self) -> &'static str {
        match self {
            RunState::Waits => "Waiting for you",
            RunState::Blocked => "Blocked",
            RunState::Interrupted | RunState::Idle | RunState::Paused => "Interrupted",
            RunState::Unreadable => "Unreadable",
            RunState::Running => "Running",
            RunState::Limited => "Rate limited",
            RunState::Checks => "Waiting for checks",
            RunState::Completed => "Completed",
            RunState::Abandoned => "Abandoned",
        }
    }

    /// Whether it does not go on before a person did something.
    pub fn needs_person(self) -> bool {
        match self {
            RunState::Waits
            | RunState::Blocked
            | RunState::Interrupted
            | RunState::Unreadable
            | RunState::Paused => true,
            RunState::Running
            | RunState::Idle
            | RunState::Limited
            | RunState::Checks
            | RunState::Completed
            | RunState::Abandoned => false,
        }
    }

    /// Whether a person has to decide something.
    pub fn asks_person(self) -> bool {
        matches!(self, RunState::Waits)
    }

    /// Whether no process drives it although it is not finished.
    pub fn is_stopped(self) -> bool {
        matches!(self, RunState::Interrupted | RunState::Idle | RunState::Paused)
    }

    /// Whether it continues without a person.
    pub fn is_at_work(self) -> bool {
        matches!(self, RunState::Running | RunState::Limited | RunState::Checks)
    }

    /// Whether nothing more happens to its steps.
    pub fn is_over(self) -> bool {
        matches!(self, RunState::Completed | RunState::Abandoned)
    }
}

/// A run in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunCard {
    /// Its id.
    pub id: String,
    /// How it stands.
    pub state: RunState,
    /// Which kind of news it is for a person: `waits`, `blocked`, `completed`, `limit` or `budget`.
    #[serde(serialize_with = "kind")]
    pub news: Option<NoticeKind>,
    /// What is going on, as a clause; of one that cannot be read, why.
    pub now: String,
    /// Since when.
    #[serde(serialize_with = "moment_if")]
    pub since: Option<Timestamp>,
    /// What comes next, as a clause.
    pub then: Option<String>,
    /// What it builds.
    pub intent: String,
    /// The folder in which it works.
    pub folder: String,
    /// The name of the repository, or of the folder outside one.
    pub repository: String,
    /// The branch that the work is on.
    pub branch: Option<String>,
    /// Number of the step that it is at, from 1; 0 where the record cannot be read.
    pub step: u32,
    /// The name of that step.
    pub step_name: String,
    /// Every step that is worked on, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub current_steps: Vec<u32>,
    /// How many steps there are.
    pub steps: usize,
    /// How many of them are done.
    pub done: usize,
    /// `low`, `medium` or `high`.
    pub risk: &'static str,
    /// When it began.
    #[serde(serialize_with = "moment_if")]
    pub started_at: Option<Timestamp>,
    /// When its record changed last.
    #[serde(serialize_with = "moment_if")]
    pub changed_at: Option<Timestamp>,
    /// When it ended.
    #[serde(serialize_with = "moment_if")]
    pub ended_at: Option<Timestamp>,
    /// The agent of its last turn, by the name that the costs have.
    pub agent: Option<String>,
    /// Attempts of all steps.
    pub attempts: u64,
    /// Time in which it was worked on, in milliseconds.
    pub active_ms: u64,
    /// What its agents cost, in USD; `None`: one did not say.
    pub cost_usd: Option<f64>,
    /// Tokens that they used; `None`: one did not say.
    pub tokens: Option<u64>,
    /// Cost and tokens as people read them; `None`: nothing, or nobody knows.
    pub used: Option<String>,
    /// Who works on it.
    pub worker: Option<WorkerCard>,
    /// Process on this machine that drives it.
    pub driver: Option<u32>,
    /// Whether a fleet conducts it, so that it continues by itself.
    pub in_fleet: bool,
    /// What was said or done last in the present attempt.
    pub last: Option<LoggedLine>,
    /// The pull request of its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestCard>,
}

/// The pull request of a run in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PullRequestCard {
    /// Its address.
    pub url: String,
    /// `pending`, `green`, `red`, `merged` or `closed`, once onloop has followed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// The same in words, and how often it was repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// Who drives a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driving {
    /// A process on this machine.
    Here {
        /// Its number.
        process: u32,
    },
    /// A process on another machine, of which nothing is known.
    Elsewhere,
    /// Nobody.
    Nobody,
    /// Nobody any more: whoever did was killed.
    Killed,
}

/// Who works on a run at the moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerCard {
    /// `agent`, `check`, `review` or `setup`.
    pub worker: &'static str,
    /// Its process.
    pub process: u32,
    /// The agent, by its name on the command line, where that is known.
    pub agent: Option<String>,
}

/// A run of rw-auto in a list. It has no record: its workspace says what is done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AutoCard {
    /// Its name.
    pub id: String,
    /// [`RunState::Running`], or [`RunState::Interrupted`] where it was killed.
    pub state: RunState,
    /// What happens now, as a clause.
    pub now: String,
    /// The folder of its workspace.
    pub folder: String,
    /// Since when.
    #[serde(serialize_with = "moment_if")]
    pub since: Option<Timestamp>,
    /// The command that ends it, or what its child has left.
    pub stop: String,
}

/// A run of rw-auto as a list shows it.
pub fn auto_card(noted: &AutoRunDocument, state: RunState) -> AutoCard {
    let AutoRunDocument { run, folder, target, cycle, since, result_file, .. } = noted;
    let now = match (state, result_file) {
        (RunState::Interrupted, _) => {
            format!("its process is gone; it waited for {target} in cycle {cycle}")
        }
        (_, Some(_)) => format!("{target} in cycle {cycle}, which its host starts"),
        (_, None) => format!("{target} in cycle {cycle}"),
    };
    let id = text::one_line(run);
    AutoCard {
        stop: format!("onloop stop {id}"),
        id,
        state,
        now: line(&now),
        folder: text::one_line(folder),
        since: Timestamp::parse(since),
    }
}

/// A call of a tool that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallCard {
    /// Its id, for `onloop approve`.
    pub id: String,
    /// The session that made it.
    pub session: String,
    /// Where that session works.
    pub folder: String,
    /// The tool.
    pub tool: String,
    /// What it would do, with its line breaks; what hides in it is spelled out.
    pub target: String,
    /// Whether that is all of it. Nobody allows what they have not seen.
    pub complete: bool,
    /// Why nobody decided.
    pub reason: String,
    /// Since when it waits.
    #[serde(serialize_with = "moment")]
    pub since: Timestamp,
}

/// A call as a list shows it.
pub fn call(call: &PendingCall) -> CallCard {
    let target = text::visible(&call.target, &['\n', '\t']);
    CallCard {
        id: text::one_line(&call.id),
        session: text::one_line(&call.session_id),
        folder: text::one_line(&call.cwd),
        tool: line(&call.tool),
        complete: target.len() <= limits::CALL_SHOWN_BYTES,
        target: text::ellipsis(&target, limits::CALL_SHOWN_BYTES),
        reason: line(&call.reason),
        since: Timestamp::from_millis(call.since_ms),
    }
}

/// One line of bounded length.
fn line(words: &str) -> String {
    text::ellipsis(&text::one_line(words), limits::BOARD_LINE_BYTES)
}

pub(crate) fn moment<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_millis())
}

pub(crate) fn moment_if<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => moment(at, serializer),
        None => serializer.serialize_none(),
    }
}

fn kind<S: Serializer>(kind: &Option<NoticeKind>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(NoticeKind::as_str).serialize(serializer)
}
