//! Events as JSON documents: the members of a line of the ledger, and the journals that earlier
//! versions kept beside large records.

mod convert;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::checkpoint::CheckpointDocument;
use super::document::DocumentError;
use super::finish::{FinishDocument, IntentDocument};
use super::result::{CheckRemarksDocument, ResultDocument};
use super::run::{ActingDocument, LimitsDocument, StepDocument};
use super::tagged;
use super::turn::{TurnDocument, WaitDocument};
use convert::{from_document, to_document};
use onloop_run::Event;
use onloop_syntax::syntax::strict_json;
use onloop_syntax::time::Timestamp;

/// The member that names an event.
pub(super) const TAG: &str = "event";

/// The names of [`EventDocument`].
const NAMES: [&str; 35] = [
    "step_started",
    "agent_started",
    "check_started",
    "review_started",
    "setup_started",
    "worktree_set_up",
    "agent_ended",
    "agent_waits",
    "step_acted",
    "action_failed",
    "step_verified",
    "step_blocked",
    "gate_decided",
    "step_redone",
    "step_reopened",
    "review_finished",
    "verdict_accepted",
    "checks_repeated",
    "run_paused",
    "run_resumed",
    "taken_over",
    "usage_reported",
    "run_finalized",
    "run_abandoned",
    "run_moved",
    "copy_changed",
    "checkpoint_taken",
    "checkpoint_missed",
    "work_restored",
    "plan_adopted",
    "record_rebuilt",
    "budgets_changed",
    "finish_intended",
    "finish_recorded",
    "finish_abandoned",
];

/// Whether this onloop knows an event of this name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// A line of a journal has `revision` and `at_ms` before these.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventDocument {
    StepStarted {
        step: u32,
    },
    AgentStarted(ActingDocument),
    CheckStarted(ActingDocument),
    ReviewStarted(ActingDocument),
    SetupStarted(ActingDocument),
    WorktreeSetUp {
        copied: u64,
        commands: u64,
    },
    AgentEnded(TurnDocument),
    AgentWaits(WaitDocument),
    StepActed {
        step: u32,
    },
    ActionFailed {
        step: u32,
        reason: String,
        output: String,
    },
    StepVerified {
        step: u32,
        results: Vec<ResultDocument>,
    },
    StepBlocked {
        step: u32,
        reason: String,
    },
    GateDecided {
        step: u32,
        decision: String,
        mode: String,
    },
    StepRedone {
        step: u32,
        reason: String,
    },
    StepReopened {
        step: u32,
        reason: String,
    },
    ReviewFinished {
        #[serde(deserialize_with = "given")]
        step: Option<u32>,
        verdict: String,
        findings: String,
        #[serde(deserialize_with = "given")]
        base: Option<String>,
    },
    VerdictAccepted {},
    ChecksRepeated {
        repeated: u32,
        failures: Vec<(u32, ResultDocument)>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<CheckRemarksDocument>,
    },
    RunPaused {
        reason: String,
    },
    RunResumed {},
    TakenOver {
        reason: String,
    },
    UsageReported {
        agents: u64,
        #[serde(deserialize_with = "given")]
        cost_usd_micros: Option<u64>,
        #[serde(deserialize_with = "given")]
        tokens: Option<u64>,
    },
    RunFinalized {},
    RunAbandoned {
        reason: String,
    },
    RunMoved {
        execution_root: String,
        checkout: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        started_in: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost_checkpoints: Vec<String>,
    },
    CopyChanged {
        path: String,
        what: String,
    },
    CheckpointTaken(CheckpointDocument),
    CheckpointMissed {
        kind: String,
        #[serde(default)]
        step: Option<u32>,
        #[serde(default)]
        attempt: Option<u32>,
        reason: String,
    },
    WorkRestored {
        to: String,
    },
    PlanAdopted {
        intent: String,
        success_criteria: String,
        risk_level: String,
        auto_approve: bool,
        limits: LimitsDocument,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allow: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        protect: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        setup: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confine: Option<String>,
        plan_digest: String,
        steps: Vec<StepDocument>,
    },
    RecordRebuilt {
        ticked: Vec<u32>,
    },
    BudgetsChanged {
        limits: LimitsDocument,
    },
    FinishIntended {
        intent: IntentDocument,
        replace: bool,
    },
    FinishRecorded {
        finish: FinishDocument,
        replace: bool,
    },
    FinishAbandoned {
        reason: String,
    },
}

/// A member that may be `null`, but not missing: serde takes the one for the other by itself.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(value)
}

/// Adds the members of an event, its name as `event` first.
pub(super) fn write_members(event: &Event, members: &mut Map<String, Value>) {
    tagged::write(TAG, &to_document(event), members);
}

/// The event that these members tell; other members are ignored.
pub(super) fn read_members(members: Map<String, Value>) -> Result<Event, DocumentError> {
    from_document(tagged::read(TAG, members)?)
}

/// An event of a journal: the revision that it leads to, and when it happened.
pub type JournalEntry = (u64, Timestamp, Event);

/// A complete line of a journal that does not describe an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: DocumentError,
}

impl std::fmt::Display for BadLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// Revision, time and event of each line of a journal, and the number of bytes that these lines
/// have. A last line without a line break was torn by a power cut and is left out.
///
/// # Errors
///
/// The first complete line that does not describe an event.
pub fn read_lines(bytes: &[u8]) -> Result<(Vec<JournalEntry>, usize), BadLine> {
    let mut events = Vec::new();
    let mut understood = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(body) = line.strip_suffix(b"\n") else { break };
        let event = read_line(body).map_err(|why| BadLine { line: events.len() + 1, why })?;
        events.push(event);
        understood += line.len();
    }
    Ok((events, understood))
}

fn read_line(line: &[u8]) -> Result<JournalEntry, DocumentError> {
    let text = std::str::from_utf8(line).map_err(|_| DocumentError::NotUtf8)?;
    let members = strict_json::parse(text).and_then(tagged::members)?;
    let bad = |member, expected: &str| {
        DocumentError::member(member, format!("is missing or not {expected}"))
    };
    let revision = members.get("revision").and_then(Value::as_u64);
    let revision = revision.ok_or_else(|| bad("revision", "a number from 0"))?;
    let at_ms = members.get("at_ms").and_then(Value::as_i64);
    let at_ms = at_ms.ok_or_else(|| bad("at_ms", "a whole number"))?;
    Ok((revision, Timestamp::from_millis(at_ms), read_members(members)?))
}

/// Reads one event: a line of a journal without revision and time, which are ignored when
/// they are there.
///
/// # Errors
///
/// The text is not a JSON object, or does not describe an event.
pub fn read(json: &str) -> Result<Event, DocumentError> {
    read_members(strict_json::parse(json).and_then(tagged::members)?)
}
