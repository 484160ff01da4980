//! What a fleet needs of a durable engine, and the words for it. Everything else in this crate knows
//! the engine by this alone, so that another one can take its place.
//!
//! The engine keeps three things of a run: its journal, which *is* the ledger (files on machines are
//! copies of it), who may drive it (a lease with a number that only grows), and whether somebody should
//! drive it now. It never runs an agent and never waits for one: an act that is repeated by an engine
//! after a time-out would be an agent that works twice.

mod archive;
mod board;
mod keeper;
mod memory;
mod record;
mod records;

pub mod restate;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use archive::{Archive, ArchivedRun};
pub use board::Limits;
pub(crate) use board::covers;
pub use keeper::{Keeper, Settings};
pub use memory::Memory;
pub use record::{Appended, RunRecord};
pub use records::Records;

/// A durable engine. Each call is atomic and durable once it has answered, and may be repeated by
/// whoever did not get the answer: a repetition answers as the first did.
pub trait Engine: Send + Sync + 'static {
    /// Takes a run that nobody works on yet.
    ///
    /// # Errors
    ///
    /// [`EngineError::Exists`] where the id is taken by another submission.
    fn submit(&self, run: &Submission) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// A run for a worker, with a new lease; `None`: nothing that it may take within `wait`.
    fn take(
        &self,
        offer: &Offer,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Assignment>, EngineError>> + Send;

    /// Extends the leases of a worker; what of them still holds, and what the holder is asked to do.
    fn renew(&self, beat: &Beat) -> impl Future<Output = Result<Vec<Renewal>, EngineError>> + Send;

    /// The lease of one run, for somebody who is not a worker (a person's verb that must be alone).
    ///
    /// # Errors
    ///
    /// [`EngineError::Busy`] names the holder whose lease has not ended. With [`Claim::recall`] that
    /// one is asked to stop; ask again.
    fn claim(&self, claim: &Claim) -> impl Future<Output = Result<Lease, EngineError>> + Send;

    /// Ends a lease and says how the run stands; whether it goes on is decided by that. Of a lease that
    /// has ended already: nothing changes.
    fn release(&self, release: &Release) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Adds lines to the journal of a run, behind the line that the writer knows as the last one. Lines
    /// that do not chain are refused. Lines that are there already are taken as this call's own.
    ///
    /// # Errors
    ///
    /// [`EngineError::Conflict`] where the journal ends elsewhere; [`EngineError::Fenced`] where the
    /// lease is not the present one.
    fn append(&self, lines: &Append) -> impl Future<Output = Result<Head, EngineError>> + Send;

    /// The journal behind line `after`; waits up to `wait` until there is something, or the run stands
    /// otherwise.
    fn lines(
        &self,
        run: &str,
        after: u64,
        wait: Duration,
    ) -> impl Future<Output = Result<Lines, EngineError>> + Send;

    /// How everything stands: runs, the newest first, and workers.
    fn overview(&self) -> impl Future<Output = Result<Overview, EngineError>> + Send;
}

/// A run that somebody submits.
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
    /// The repositories that it may work on; a last `*` stands for any rest.
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
    /// Grows with each lease of the run; whoever has a smaller one has lost it.
    pub epoch: u64,
    /// Who has it: a worker's name, or a person's machine.
    pub holder: String,
    /// How long it holds from the moment at which it was asked for, in milliseconds.
    pub lasts_ms: u64,
}

/// A sign of life of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    /// What it can take at the moment.
    pub offer: Offer,
    /// What it works on: run and epoch.
    pub leases: Vec<(String, u64)>,
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
    pub standing: Standing,
}

/// How a lease stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It holds for another [`Lease::lasts_ms`].
    Held,
    /// It holds, and somebody wants the run: stop as for Ctrl-C and release it.
    Recalled,
    /// Another lease has taken its place: end everything at once, nothing counts any more.
    Lost,
}

/// A wish for a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The run.
    pub run_id: String,
    /// Who wants it: a name that nobody else uses, since whoever has the lease and asks again, such as
    /// for want of the answer, is given it again.
    pub holder: String,
    /// Ask whoever has it to stop.
    pub recall: bool,
}

/// The end of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The run.
    pub run_id: String,
    /// The lease.
    pub epoch: u64,
    /// How the run stands.
    pub rest: Rest,
}

/// How a run stands that nobody drives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rest {
    /// It should go on as soon as somebody can.
    Ready,
    /// A person has to decide something; it goes on when the journal grows.
    Waits {
        /// What for, on one line.
        what: String,
    },
    /// An agent is not served before a moment; it goes on then.
    Until {
        /// The moment, in milliseconds since 1970.
        at_ms: u64,
        /// The agent, as submissions name it: no run of it is begun before that moment.
        agent: String,
    },
    /// Something around it failed, such as a remote that did not answer; it is tried again then.
    Again {
        /// The moment, in milliseconds since 1970.
        at_ms: u64,
        /// What failed and where, on one line.
        what: String,
    },
    /// It is over: `completed` or `abandoned`.
    Over {
        /// How.
        how: String,
    },
    /// It goes on at somebody's own machine, and is no matter of the fleet any more.
    Home {
        /// The machine.
        host: String,
    },
}

/// Lines for a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The run.
    pub run_id: String,
    /// The lease of whoever drives it; `None`: a person's decision, which counts behind the line that
    /// the person has seen.
    pub epoch: Option<u64>,
    /// The last line that the writer knows; `None`: there is none.
    pub after: Option<Head>,
    /// Whole lines, each with its line break.
    pub lines: String,
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

/// A part of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// What was asked for; empty: nothing yet.
    pub lines: String,
    /// How the run stands.
    pub view: RunView,
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
    /// Who has the lease, while somebody has it.
    pub holder: Option<String>,
    /// How it stands while nobody has it.
    pub rest: Rest,
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
    #[error("run {run_id} exists already")]
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
    /// Somebody else drives it.
    #[error("{holder} drives run {run_id}")]
    Busy {
        /// The run.
        run_id: String,
        /// Who.
        holder: String,
    },
    /// The lease has been lost.
    #[error("the lease {epoch} of run {run_id} has ended; {holder} has the run")]
    Fenced {
        /// The run.
        run_id: String,
        /// The lease that has ended.
        epoch: u64,
        /// Who has it now.
        holder: String,
    },
    /// The journal ends elsewhere.
    #[error("the journal of run {run_id} has gone on to another line")]
    Conflict {
        /// The run.
        run_id: String,
        /// Its last line.
        head: Option<Head>,
    },
    /// What was asked for makes no sense.
    #[error("the fleet refuses this: {why}")]
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
    #[error("the fleet's server does not know this key")]
    Denied,
    /// The server cannot be reached, or the engine behind it; asking again may help.
    #[error("the fleet's server cannot be reached: {why}")]
    Unreachable {
        /// Why, as a clause.
        why: String,
    },
}
