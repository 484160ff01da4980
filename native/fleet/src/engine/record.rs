//! The record of a run and its transitions. The functions are pure, so that every storage has the same
//! rules.

use onloop_core::documents::ledger;
use onloop_core::documents::ledger::Head as LedgerHead;
use onloop_core::run::is_run_id;
use onloop_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Append, EngineError, Head, QueueState, RunView, Submission};

/// Most bytes of a submission. A workflow can have 4 MiB.
pub(crate) const SUBMISSION_BYTES: usize = 5 * 1024 * 1024;
/// Most bytes of the lines of one append. The first line contains the plan.
pub(crate) const APPEND_BYTES: usize = 8 * 1024 * 1024;
/// Most bytes of a name, such as that of a worker, an agent or a machine.
const NAME_BYTES: usize = 512;

/// The durable state of a run. Its submission and its lines are stored beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Its id.
    pub run_id: String,
    /// SHA-256 of the submission, hexadecimal.
    pub digest: String,
    /// The repository of the submission.
    pub repository: String,
    /// File name of its workflow.
    pub workflow: String,
    /// The user that submitted it.
    pub user: Option<String>,
    /// Time of the submission by the submitter's clock, in milliseconds since 1970.
    pub at_ms: u64,
    /// The agents, the first choice first.
    pub agents: Vec<String>,
    /// Time when the server accepted it, in milliseconds since 1970: the oldest run is taken first.
    pub queued_ms: u64,
    /// Grows with each change.
    pub version: u64,
    /// Number of the last lease; 0: there was none.
    pub epoch: u64,
    /// The holder of that lease; `None`: it has ended.
    pub holder: Option<String>,
    /// What it waits for while it has no lease.
    pub state: QueueState,
    /// The last line of its journal.
    pub head: Option<Head>,
    /// A person has decided something that the holder of the lease may not have read.
    pub decided: bool,
    /// The last rate limit in its journal.
    pub unserved: Option<Unserved>,
}

/// A rate limit of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unserved {
    /// The agent.
    pub agent: String,
    /// The end, in milliseconds since 1970.
    pub until_ms: u64,
}

/// The result of an append.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Appended {
    /// The last appended line.
    pub head: Head,
    /// The record afterwards.
    pub record: RunRecord,
}

/// Lines that chain.
pub(crate) struct Chained<'a> {
    lines: Vec<(LedgerHead, &'a str)>,
}

/// What to do with lines that chain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AppendCheck {
    /// Append the lines from this index on; there may be none.
    New(usize),
    /// The journal has them if the line with this number equals their last line.
    Compare(u64),
}

impl RunRecord {
    /// Returns the record of a new run.
    ///
    /// # Errors
    ///
    /// [`EngineError::Invalid`].
    pub(crate) fn begin(run: &Submission, queued_ms: u64) -> Result<RunRecord, EngineError> {
        validate(run)?;
        Ok(RunRecord {
            run_id: run.run_id.clone(),
            digest: digest(run),
            repository: run.repository.clone(),
            workflow: run.workflow.clone(),
            user: run.user.clone(),
            at_ms: run.at_ms,
            agents: run.agents.clone(),
            queued_ms,
            version: 1,
            epoch: 0,
            holder: None,
            state: QueueState::Ready,
            head: None,
            decided: false,
            unserved: None,
        })
    }

    /// Accepts a repeated submission of an existing run.
    ///
    /// # Errors
    ///
    /// [`EngineError::Exists`] if the submissions differ.
    pub(crate) fn demand_same(&self, run: &Submission) -> Result<(), EngineError> {
        if self.digest == digest(run) {
            return Ok(());
        }
        Err(EngineError::Exists { run_id: run.run_id.clone() })
    }

    /// Begins the next lease.
    ///
    /// # Errors
    ///
    /// [`EngineError::Busy`] while a lease holds.
    pub(crate) fn lease(&mut self, holder: &str) -> Result<(), EngineError> {
        if let Some(holder) = &self.holder {
            let (run_id, holder) = (self.run_id.clone(), holder.clone());
            return Err(EngineError::Busy { run_id, holder });
        }
        self.epoch += 1;
        self.holder = Some(holder.to_owned());
        self.decided = false;
        self.version += 1;
        Ok(())
    }

    /// Ends the lease `epoch`. `state` is the holder's report; `None`: the holder has sent no heartbeat
    /// for too long.
    pub(crate) fn end_lease(&mut self, epoch: u64, state: Option<QueueState>) {
        if self.holder.is_none() || self.epoch != epoch {
            return;
        }
        self.holder = None;
        self.version += 1;
        match state {
            // The decision may have come after the holder's last look.
            Some(QueueState::NeedsPerson { .. }) if self.decided => self.state = QueueState::Ready,
            Some(state) => self.state = state,
            // The journal contains what the holder has done.
            None if matches!(
                self.state,
                QueueState::Finished { .. } | QueueState::Local { .. }
            ) => {}
            None => self.state = QueueState::Ready,
        }
    }

    /// Decides what to do with an append.
    ///
    /// # Errors
    ///
    /// [`EngineError::Conflict`], [`EngineError::Fenced`].
    pub(crate) fn check_append(
        &self,
        append: &Append,
        chained: &Chained<'_>,
    ) -> Result<AppendCheck, EngineError> {
        let new_from = match &self.head {
            head if *head == append.after => Some(0),
            Some(head) => chained.lines.iter().position(|(at, _)| same(at, head)).map(|at| at + 1),
            None => None,
        };
        match new_from {
            Some(from) if from == chained.lines.len() => Ok(AppendCheck::New(from)),
            Some(from) => self.demand(append).map(|()| AppendCheck::New(from)),
            // Each line contains the digest of the one before, so the last one implies all.
            None => match (&self.head, chained.last()) {
                (Some(head), last) if last.seq < head.seq => Ok(AppendCheck::Compare(last.seq)),
                (_, _) => Err(self.conflict()),
            },
        }
    }

    fn demand(&self, append: &Append) -> Result<(), EngineError> {
        match append.epoch {
            Some(epoch) if self.holder.is_none() || self.epoch != epoch => {
                let holder = self.holder.clone().unwrap_or_else(|| "no worker".to_owned());
                Err(EngineError::Fenced { run_id: self.run_id.clone(), epoch, holder })
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn conflict(&self) -> EngineError {
        EngineError::Conflict { run_id: self.run_id.clone(), head: self.head.clone() }
    }

    /// Appends lines that [`RunRecord::check_append`] has accepted.
    pub(crate) fn take_lines(&mut self, append: &Append, chained: &Chained<'_>, from: usize) {
        let Some(lines) = chained.lines.get(from..).filter(|lines| !lines.is_empty()) else {
            return;
        };
        self.head = Some(chained.last());
        self.version += 1;
        self.unserved =
            lines.iter().rev().find_map(|(_, line)| unserved(line)).or(self.unserved.take());
        self.decided = append.epoch.is_none();
        if self.decided
            && self.holder.is_none()
            && matches!(self.state, QueueState::NeedsPerson { .. })
        {
            self.state = QueueState::Ready;
        }
    }

    /// Returns the record for a restored run, with a later version than before.
    pub(crate) fn again(&self) -> RunRecord {
        RunRecord { version: self.version + 1, ..self.clone() }
    }

    /// Whether no worker takes the run again.
    pub(crate) fn is_finished(&self) -> bool {
        self.holder.is_none()
            && matches!(self.state, QueueState::Finished { .. } | QueueState::Local { .. })
    }

    /// Returns the status of the run for callers.
    pub(crate) fn view(&self) -> RunView {
        RunView {
            run_id: self.run_id.clone(),
            repository: self.repository.clone(),
            workflow: self.workflow.clone(),
            user: self.user.clone(),
            at_ms: self.at_ms,
            holder: self.holder.clone(),
            state: self.state.clone(),
            head: self.head.clone(),
        }
    }
}

impl<'a> Chained<'a> {
    /// Reads the lines of an append.
    ///
    /// # Errors
    ///
    /// [`EngineError::Invalid`] if they do not chain.
    pub(crate) fn of(append: &'a Append) -> Result<Chained<'a>, EngineError> {
        if append.lines.len() > APPEND_BYTES {
            let found = append.lines.len();
            return Err(invalid(format!("{found} bytes of lines, expected up to {APPEND_BYTES}")));
        }
        let before = append.after.as_ref();
        let before = before.map(|head| LedgerHead { seq: head.seq, sha256: head.sha256.clone() });
        let lines = ledger::chain(before.as_ref(), append.lines.as_bytes())
            .map_err(|error| invalid(format!("the lines do not chain: {error}")))?;
        Ok(Chained { lines })
    }

    /// Returns their number.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the last one.
    pub(crate) fn last(&self) -> Head {
        let (head, _) = self.lines.last().expect("lines that chain are at least one");
        Head { seq: head.seq, sha256: head.sha256.clone() }
    }

    /// Whether the last one equals `line`, which has no line break.
    pub(crate) fn ends_with(&self, line: &str) -> bool {
        self.lines.last().is_some_and(|(_, last)| *last == line)
    }

    /// Returns the lines from the index `from` on with their numbers, without line breaks.
    pub(crate) fn from(&self, from: usize) -> impl Iterator<Item = (u64, &'a str)> {
        self.lines.iter().skip(from).map(|(head, line)| (head.seq, *line))
    }
}

fn same(one: &LedgerHead, other: &Head) -> bool {
    one.seq == other.seq && one.sha256 == other.sha256
}

/// Returns the rate limit that a line records.
fn unserved(line: &str) -> Option<Unserved> {
    // A search is faster than parsing lines about other things.
    if !line.contains("\"agent_waits\"") {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    let member = |name: &str| line.get(name).and_then(Value::as_str);
    if member("event") != Some("agent_waits") {
        return None;
    }
    let until = Timestamp::parse(member("until")?)?;
    let agent = member("agent")?.to_owned();
    Some(Unserved { agent, until_ms: until.as_millis().try_into().ok()? })
}

fn digest(run: &Submission) -> String {
    ledger::sha256(&serde_json::to_vec(run).expect("a submission has only string keys"))
}

pub(crate) fn invalid(why: impl Into<String>) -> EngineError {
    EngineError::Invalid { why: why.into() }
}

fn validate(run: &Submission) -> Result<(), EngineError> {
    if !is_run_id(&run.run_id) {
        return Err(invalid("the run id is not valid; expected letters, digits, `.`, `_` and `-`"));
    }
    let words = run.options.iter().chain(&run.agents).chain(&run.base).chain(&run.user);
    let bytes: usize = words.map(String::len).sum();
    let bytes = bytes + run.text.len() + run.repository.len() + run.workflow.len();
    if bytes > SUBMISSION_BYTES {
        return Err(invalid(format!("{bytes} bytes, expected up to {SUBMISSION_BYTES}")));
    }
    validate_name("the machine", &run.host)?;
    if run.repository.trim().is_empty() {
        return Err(invalid("no repository is named"));
    }
    Ok(())
}

/// Refuses an invalid name.
pub(crate) fn validate_name(what: &str, name: &str) -> Result<(), EngineError> {
    if name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control) {
        let expected = format!("expected 1 to {NAME_BYTES} bytes without control characters");
        return Err(invalid(format!("the name of {what} is not valid; {expected}")));
    }
    Ok(())
}
