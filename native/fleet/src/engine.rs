//! The fleet's engine: it performs the [operations](Operation) of the server over a durable
//! [storage](Storage).
//!
//! The engine stores three things of a run. Its journal *is* the ledger; files on machines are copies
//! of it. A lease says who may drive the run, and its number only grows. The state says whether a
//! worker should drive the run now. The engine never runs an agent: an engine that repeats a call after
//! a time-out would start the agent twice.

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
    /// Address of the repository as git takes it; workers compare it with their allow-lists.
    pub repository: String,
    /// The commit at which the work begins, hexadecimal. The repository contains it, or its ref
    /// `refs/onloop/<run-id>/base` names it. `None`: the repository's HEAD.
    pub base: Option<String>,
    /// The branch that was checked out; `None`: the repository's default branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// Path of the workflow file, relative to the top folder of the repository.
    pub workflow: String,
    /// Content of the workflow file.
    pub text: String,
    /// Further options of `onloop run`, each a word.
    pub options: Vec<String>,
    /// The agents, the first choice first; limits of accounts apply to them.
    pub agents: Vec<String>,
    /// The user that submits it.
    pub user: Option<String>,
    /// The machine that submits it.
    pub host: String,
    /// Time of the submission, in milliseconds since 1970.
    pub at_ms: u64,
}

#[cfg(test)]
impl Submission {
    /// A submission for `repository` with defaults.
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

/// What a worker offers to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Its name, unique in the fleet.
    pub worker: String,
    /// Its machine.
    pub host: String,
    /// Most runs that it drives at once.
    pub slots: u32,
    /// Runs that it drives now.
    pub busy: u32,
    /// The repositories that it accepts; a `*` at the end stands for any rest of the path.
    pub repositories: Vec<String>,
}

/// A run for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// The permission to drive it.
    pub lease: Lease,
    /// The submission.
    pub submission: Submission,
    /// The last line of its journal; `None`: the journal is empty.
    pub head: Option<Head>,
}

/// The permission to drive a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The run.
    pub run_id: String,
    /// Grows with each lease of the run; a holder with a smaller number has lost it.
    pub epoch: u64,
    /// The holder: a worker's name, or a person's machine.
    pub holder: String,
    /// How long it holds from the moment of the request, in milliseconds.
    pub lasts_ms: u64,
}

/// The answer to the renewal of one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// The run.
    pub run_id: String,
    /// The lease.
    pub epoch: u64,
    /// The status of the lease.
    pub status: LeaseStatus,
    /// Whether a person watches the run, so that the worker sends the end of its log.
    pub is_watched: bool,
}

/// The status of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseStatus {
    /// It holds for another [`Lease::lasts_ms`].
    Held,
    /// It holds, and another machine wants the run: stop as for Ctrl-C and release it.
    Recalled,
    /// Another lease has replaced it: end the driver at once.
    Lost,
}

/// What a run without a lease waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueState {
    /// A worker.
    Ready,
    /// A person's decision; it continues when the journal grows.
    NeedsPerson {
        /// The decision, on one line.
        reason: String,
    },
    /// The end of a provider's rate limit.
    RateLimited {
        /// The end, in milliseconds since 1970.
        at_ms: u64,
        /// The agent as submissions name it; no run of it starts before that time.
        agent: String,
    },
    /// The next try, after a transient failure such as a remote that did not answer.
    Retry {
        /// Time of the next attempt, in milliseconds since 1970.
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
    /// SHA-256 of the line without its line break, hexadecimal.
    pub sha256: String,
}

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunView {
    /// Its id.
    pub run_id: String,
    /// Its repository.
    pub repository: String,
    /// File name of its workflow.
    pub workflow: String,
    /// The user that submitted it.
    pub user: Option<String>,
    /// Time of the submission, in milliseconds since 1970.
    pub at_ms: u64,
    /// The holder of its lease, if there is one.
    pub holder: Option<String>,
    /// What it waits for while it has no lease.
    pub state: QueueState,
    /// The last line of its journal.
    pub head: Option<Head>,
}

/// The status of the whole fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overview {
    /// The runs, the newest first.
    pub runs: Vec<RunView>,
    /// The workers, by name.
    pub workers: Vec<WorkerView>,
    /// Agents that are rate-limited or have a limit of parallel runs.
    pub accounts: Vec<AccountView>,
}

/// The status of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerView {
    /// Its last offer.
    pub offer: Offer,
    /// Time of that offer, in milliseconds since 1970.
    pub seen_ms: u64,
}

/// The account of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountView {
    /// The agent.
    pub agent: String,
    /// Most runs at once; `None`: no limit.
    pub parallel: Option<u32>,
    /// Runs that use it now.
    pub busy: u32,
    /// End of the rate limit, in milliseconds since 1970; `None`: there is none.
    pub until_ms: Option<u64>,
}

/// Why an engine refuses an operation.
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
        /// The holder.
        holder: String,
    },
    /// The lease has been lost.
    #[error("the lease {epoch} of run {run_id} has ended; {holder} has the run now")]
    Fenced {
        /// The run.
        run_id: String,
        /// The lease that has ended.
        epoch: u64,
        /// The present holder.
        holder: String,
    },
    /// The journal has another end.
    #[error("the journal of run {run_id} has new lines")]
    Conflict {
        /// The run.
        run_id: String,
        /// Its last line.
        head: Option<Head>,
    },
    /// The request is invalid.
    #[error("the fleet refuses the request: {why}")]
    Invalid {
        /// Why, as a clause.
        why: String,
    },
    /// The store lost data that it had confirmed.
    #[error("internal error: {why}")]
    Internal {
        /// What happened, as a clause.
        why: String,
    },
    /// The key is not that of the fleet.
    #[error("the fleet's server does not accept this key")]
    Denied,
    /// The server or its engine cannot be reached; a retry may succeed.
    #[error("the fleet's server cannot be reached: {why}")]
    Unreachable {
        /// Why, as a clause.
        why: String,
    },
}
