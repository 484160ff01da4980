//! The fleet's engine: it performs the [operations](Operation) of the server over a durable
//! [storage](Storage).
//!
//! The engine keeps three things of a run. Its journal *is* the ledger; files on machines are copies of it.
//! A lease says who may drive the run; its number only grows. The state says whether a worker should drive
//! the run now. The engine never runs an agent: an engine that repeats a call after a time-out would start
//! the agent twice.

mod archive;
mod log_relay;
mod memory;
mod operations;
mod record;
mod schedule;
mod service;
mod storage;

pub mod restate;

use serde::{Deserialize, Serialize};

pub use archive::{Archive, ArchivedRun};
pub use log_relay::{LOG_TAIL_BYTES, LogTail, NumberedLogTail};
pub use memory::Memory;
pub use operations::{
    Append, Claim, Heartbeat, Lines, Operation, ReadJournal, ReadLog, ReadOverview, Release, Take,
};
pub use record::{Appended, RunRecord};
pub use schedule::Limits;
pub use service::{Engine, Settings};
pub use storage::{Change, Storage};

/// A run that a person submits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Its id, chosen by the submitter.
    pub run_id: String,
    /// Where the repository is, as git takes it: what workers compare with what they may work on.
    pub repository: String,
    /// The commit at which the work begins, hexadecimal; it is in the repository, or under
    /// `refs/onloop/<run-id>/base` there. `None`: the repository's HEAD.
    pub base: Option<String>,
    /// The branch that was checked out there; `None`: the repository's default branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// Path of the workflow file, relative to the top folder of the repository.
    pub workflow: String,
    /// Its content.
    pub text: String,
    /// Further options of `onloop run`, each a word.
    pub options: Vec<String>,
    /// Who acts, the first choice first: what bounds of accounts are about.
    pub agents: Vec<String>,
    /// Who submits it.
    pub user: Option<String>,
    /// The machine it is submitted from.
    pub host: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

#[cfg(test)]
impl Submission {
    /// The run `run` of a repository, with nothing else said.
    pub(crate) fn sample(repository: &str) -> Submission {
        Submission {
            run_id: "run".to_owned(),
            repository: repository.to_owned(),
            base: None,
            branch: None,
            workflow: "hotl-workflow-sell.md".to_owned(),
            text: String::new(),
            options: Vec::new(),
            agents: Vec::new(),
            user: None,
            host: "desk".to_owned(),
            at_ms: 0,
        }
    }
}

/// What a worker can take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Its name, unique in the fleet.
    pub worker: String,
    /// Its machine.
    pub host: String,
    /// How many runs it works on at once.
    pub slots: u32,
    /// How many it works on now.
    pub busy: u32,
    /// The repositories that it may work on; a last `*` stands for any rest of the path.
    pub repositories: Vec<String>,
}

/// A run to work on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// The permission to drive it.
    pub lease: Lease,
    /// What was submitted.
    pub submission: Submission,
    /// The last line of its journal; `None`: there is none yet.
    pub head: Option<Head>,
}

/// The permission to drive a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The run.
    pub run_id: String,
    /// Grows with each lease of the run; the holder of a smaller one has lost it.
    pub epoch: u64,
    /// Who has it: a worker's name, or a person's machine.
    pub holder: String,
    /// How long it holds from the moment at which it was asked for, in milliseconds.
    pub lasts_ms: u64,
}

/// What came of extending one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// The run.
    pub run_id: String,
    /// The lease.
    pub epoch: u64,
    /// How it stands.
    pub status: LeaseStatus,
    /// Whether a person watches the run, so that the worker sends the end of its log.
    pub is_watched: bool,
}

/// How a lease stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseStatus {
    /// It holds for another [`Lease::lasts_ms`].
    Held,
    /// It holds, and another machine wants the run: stop as for Ctrl-C and release it.
    Recalled,
    /// Another lease has taken its place: end everything at once, nothing counts any more.
    Lost,
}

/// What a run without a lease waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueState {
    /// A worker that takes it.
    Ready,
    /// A person's decision; it continues when the journal grows.
    NeedsPerson {
        /// What for, on one line.
        reason: String,
    },
    /// The end of a provider's rate limit.
    RateLimited {
        /// The moment, in milliseconds since 1970.
        at_ms: u64,
        /// The agent, as submissions name it: no run of it is begun before that moment.
        agent: String,
    },
    /// The next try, after a transient failure such as a remote that did not answer.
    Retry {
        /// The moment, in milliseconds since 1970.
        at_ms: u64,
        /// What failed and where, on one line.
        reason: String,
    },
    /// Nothing: it is finished.
    Finished {
        /// `completed` or `abandoned`.
        status: String,
    },
    /// Nothing: a person has moved it to their machine, and the fleet does not touch it again.
    Local {
        /// The machine.
        host: String,
    },
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Its number, from 1.
    pub seq: u64,
    /// Its digest without its line break, hexadecimal.
    pub sha256: String,
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunView {
    /// Its id.
    pub run_id: String,
    /// Its repository.
    pub repository: String,
    /// File name of its workflow.
    pub workflow: String,
    /// Who submitted it.
    pub user: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The holder of its lease, while there is one.
    pub holder: Option<String>,
    /// What it waits for without a lease.
    pub state: QueueState,
    /// The last line of its journal.
    pub head: Option<Head>,
}

/// How everything stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overview {
    /// The runs, the newest first.
    pub runs: Vec<RunView>,
    /// The workers, by name.
    pub workers: Vec<WorkerView>,
    /// Agents whose provider does not serve them at the moment, and how many may work at once.
    pub accounts: Vec<AccountView>,
}

/// How a worker stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerView {
    /// What it said last.
    pub offer: Offer,
    /// When, in milliseconds since 1970.
    pub seen_ms: u64,
}

/// What the fleet knows of an agent's account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountView {
    /// The agent.
    pub agent: String,
    /// How many runs may have it at once; `None`: any number.
    pub parallel: Option<u32>,
    /// How many have it now.
    pub busy: u32,
    /// When it is served again, in milliseconds since 1970; `None`: now.
    pub until_ms: Option<u64>,
}

/// Why an engine does not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case", deny_unknown_fields)]
pub enum EngineError {
    /// The id is taken.
    #[error("run {run_id} exists already, with another content")]
    Exists {
        /// The id.
        run_id: String,
    },
    /// No such run.
    #[error("the fleet has no run {run_id}")]
    NotFound {
        /// The id.
        run_id: String,
    },
    /// Another holder has its lease.
    #[error("{holder} drives run {run_id}")]
    Busy {
        /// The run.
        run_id: String,
        /// Who.
        holder: String,
    },
    /// The lease has been lost.
    #[error("the lease {epoch} of run {run_id} has ended; {holder} has the run now")]
    Fenced {
        /// The run.
        run_id: String,
        /// The lease that has ended.
        epoch: u64,
        /// Who has it now.
        holder: String,
    },
    /// The journal ends elsewhere.
    #[error("the journal of run {run_id} has new lines")]
    Conflict {
        /// The run.
        run_id: String,
        /// Its last line.
        head: Option<Head>,
    },
    /// What was asked for makes no sense.
    #[error("the fleet refuses the request: {why}")]
    Invalid {
        /// Why, as a clause.
        why: String,
    },
    /// The store did not keep what it had confirmed.
    #[error("internal error: {why}")]
    Internal {
        /// What happened, as a clause.
        why: String,
    },
    /// The key is not the fleet's.
    #[error("the fleet's server does not accept this key")]
    Denied,
    /// The server cannot be reached, or the engine behind it; asking again may help.
    #[error("the fleet's server cannot be reached: {why}")]
    Unreachable {
        /// Why, as a clause.
        why: String,
    },
}
