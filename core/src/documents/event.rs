//! Events as JSON documents: the members of a line of the ledger, and the journals that earlier
//! versions kept beside large records.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::checkpoint::{
    CheckpointDocument, checkpoint_document, moment_parts, read_checkpoint, read_moment,
};
use super::document::{DocumentError, Generation, Lacks};
use super::finish::{
    FinishDocument, IntentDocument, act_document, outcome_document, read_act, read_outcome,
};
use super::result::{
    CheckRemarksDocument, ResultDocument, check_remarks_document, read_check_remarks, read_result,
    result_document,
};
use super::run::{
    ActingDocument, LimitsDocument, StepDocument, acting_document, acting_of, limits_document,
    read_limits, read_plan_step, step_document,
};
use super::tagged;
use super::turn::{TurnDocument, WaitDocument, read_turn, read_wait, turn_document, wait_document};
use crate::money::Money;
use crate::run::{Adoption, Amount, Event, SetUp, StepRecord, Usage, Worker, Written};
use crate::syntax::strict_json;
use crate::text::UnknownWord;
use crate::time::Timestamp;
use crate::workflow::{Budgets, CommitWhen};

/// The member that names an event.
pub(super) const TAG: &str = "event";

/// The names of [`EventDocument`].
const NAMES: [&str; 34] = [
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
        remarks: Vec<CheckRemarksDocument>,
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

fn to_document(event: &Event) -> EventDocument {
    match event.clone() {
        Event::StepStarted { step } => EventDocument::StepStarted { step },
        Event::WorkStarted(acting) => {
            let document = acting_document(&acting);
            match acting.worker {
                Worker::Agent => EventDocument::AgentStarted(document),
                Worker::Check => EventDocument::CheckStarted(document),
                Worker::Review => EventDocument::ReviewStarted(document),
                Worker::SetUp => EventDocument::SetupStarted(document),
            }
        }
        Event::WorktreeSetUp(SetUp { copied, commands }) => {
            EventDocument::WorktreeSetUp { copied, commands }
        }
        Event::AgentEnded(turn) => EventDocument::AgentEnded(turn_document(&turn)),
        Event::AgentWaits(wait) => EventDocument::AgentWaits(wait_document(&wait)),
        Event::StepActed { step } => EventDocument::StepActed { step },
        Event::ActionFailed { step, reason, output } => {
            EventDocument::ActionFailed { step, reason, output }
        }
        Event::StepVerified { step, results } => EventDocument::StepVerified {
            step,
            results: results.iter().map(result_document).collect(),
        },
        Event::StepBlocked { step, reason } => EventDocument::StepBlocked { step, reason },
        Event::GateDecided { step, decision, mode } => EventDocument::GateDecided {
            step,
            decision: decision.as_str().to_owned(),
            mode: mode.as_str().to_owned(),
        },
        Event::StepRedone { step, reason } => EventDocument::StepRedone { step, reason },
        Event::ReviewFinished { step, verdict, findings, base } => EventDocument::ReviewFinished {
            step,
            verdict: verdict.as_str().to_owned(),
            findings,
            base,
        },
        Event::VerdictAccepted => EventDocument::VerdictAccepted {},
        Event::ChecksRepeated { repeated, failures, remarks } => EventDocument::ChecksRepeated {
            repeated,
            failures: failures.iter().map(|(step, r)| (*step, result_document(r))).collect(),
            remarks: remarks.iter().map(check_remarks_document).collect(),
        },
        Event::RunPaused { reason } => EventDocument::RunPaused { reason },
        Event::RunResumed => EventDocument::RunResumed {},
        Event::TakenOver { reason } => EventDocument::TakenOver { reason },
        Event::PlanAdopted(adoption) => EventDocument::PlanAdopted {
            intent: adoption.intent,
            success_criteria: adoption.success_criteria,
            risk_level: adoption.risk.as_str().to_owned(),
            auto_approve: adoption.written.auto_approve,
            limits: limits_document(&adoption.written.budgets),
            allow: adoption.allow,
            protect: adoption.protect,
            commit: (adoption.commit != CommitWhen::End)
                .then(|| adoption.commit.as_str().to_owned()),
            setup: adoption.setup,
            plan_digest: adoption.digest,
            steps: adoption
                .steps
                .into_iter()
                .map(|step| step_document(&StepRecord::pending(step)))
                .collect(),
        },
        Event::RecordRebuilt { ticked } => EventDocument::RecordRebuilt { ticked },
        Event::BudgetsChanged(budgets) => {
            EventDocument::BudgetsChanged { limits: limits_document(&budgets) }
        }
        Event::UsageReported(usage) => EventDocument::UsageReported {
            agents: usage.agents,
            cost_usd_micros: usage.cost.known().map(Money::micros),
            tokens: usage.tokens.known(),
        },
        Event::RunFinalized => EventDocument::RunFinalized {},
        Event::RunAbandoned { reason } => EventDocument::RunAbandoned { reason },
        Event::RunMoved { execution_root, checkout } => {
            EventDocument::RunMoved { execution_root, checkout }
        }
        Event::CopyChanged { path, what } => EventDocument::CopyChanged { path, what },
        Event::CheckpointTaken(checkpoint) => {
            EventDocument::CheckpointTaken(checkpoint_document(&checkpoint))
        }
        Event::CheckpointMissed { moment, reason } => {
            let (kind, step, attempt) = moment_parts(moment);
            EventDocument::CheckpointMissed { kind: kind.to_owned(), step, attempt, reason }
        }
        Event::WorkRestored { to } => EventDocument::WorkRestored { to },
        Event::FinishIntended { act, notes, replace } => {
            let intent = act_document(&act, None, notes.as_deref());
            EventDocument::FinishIntended { intent, replace }
        }
        Event::FinishRecorded { outcome, replace } => {
            EventDocument::FinishRecorded { finish: outcome_document(&outcome), replace }
        }
        Event::FinishAbandoned { reason } => EventDocument::FinishAbandoned { reason },
    }
}

fn work_started(worker: Worker, document: ActingDocument) -> Result<Event, DocumentError> {
    demand("acting", document.lacks)?;
    Ok(Event::WorkStarted(acting_of(worker, document)))
}

fn from_document(document: EventDocument) -> Result<Event, DocumentError> {
    Ok(match document {
        EventDocument::StepStarted { step } => Event::StepStarted { step },
        EventDocument::AgentStarted(acting) => work_started(Worker::Agent, acting)?,
        EventDocument::CheckStarted(acting) => work_started(Worker::Check, acting)?,
        EventDocument::ReviewStarted(acting) => work_started(Worker::Review, acting)?,
        EventDocument::SetupStarted(acting) => work_started(Worker::SetUp, acting)?,
        EventDocument::WorktreeSetUp { copied, commands } => {
            Event::WorktreeSetUp(SetUp { copied, commands })
        }
        EventDocument::AgentEnded(turn) => {
            demand("turn", turn.lacks)?;
            Event::AgentEnded(read_turn(turn))
        }
        EventDocument::AgentWaits(wait) => {
            demand("wait", wait.lacks)?;
            Event::AgentWaits(read_wait(wait)?)
        }
        EventDocument::StepActed { step } => Event::StepActed { step },
        EventDocument::ActionFailed { step, reason, output } => {
            Event::ActionFailed { step, reason, output }
        }
        EventDocument::StepVerified { step, results } => Event::StepVerified {
            step,
            results: results.into_iter().map(read_result).collect::<Result<_, _>>()?,
        },
        EventDocument::StepBlocked { step, reason } => Event::StepBlocked { step, reason },
        EventDocument::GateDecided { step, decision, mode } => Event::GateDecided {
            step,
            decision: word("decision", &decision)?,
            mode: word("mode", &mode)?,
        },
        EventDocument::StepRedone { step, reason } => Event::StepRedone { step, reason },
        EventDocument::ReviewFinished { step, verdict, findings, base } => {
            Event::ReviewFinished { step, verdict: word("verdict", &verdict)?, findings, base }
        }
        EventDocument::VerdictAccepted {} => Event::VerdictAccepted,
        EventDocument::ChecksRepeated { repeated, failures, remarks } => Event::ChecksRepeated {
            remarks: remarks.into_iter().map(read_check_remarks).collect::<Result<_, _>>()?,
            repeated,
            failures: failures
                .into_iter()
                .map(|(step, result)| read_result(result).map(|result| (step, result)))
                .collect::<Result<_, _>>()?,
        },
        EventDocument::RunPaused { reason } => Event::RunPaused { reason },
        EventDocument::RunResumed {} => Event::RunResumed,
        EventDocument::TakenOver { reason } => Event::TakenOver { reason },
        EventDocument::UsageReported { agents, cost_usd_micros, tokens } => {
            let cost = cost_usd_micros.map(Money::from_micros);
            Event::UsageReported(Usage {
                agents,
                cost: cost.map_or(Amount::Unknown, Amount::Known),
                tokens: tokens.map_or(Amount::Unknown, Amount::Known),
            })
        }
        EventDocument::RunFinalized {} => Event::RunFinalized,
        EventDocument::RunAbandoned { reason } => Event::RunAbandoned { reason },
        EventDocument::RunMoved { execution_root, checkout } => {
            Event::RunMoved { execution_root, checkout }
        }
        EventDocument::CopyChanged { path, what } => Event::CopyChanged { path, what },
        EventDocument::CheckpointTaken(document) => {
            demand("checkpoint", document.lacks)?;
            Event::CheckpointTaken(read_checkpoint(document)?)
        }
        EventDocument::CheckpointMissed { kind, step, attempt, reason } => {
            Event::CheckpointMissed { moment: read_moment(&kind, step, attempt)?, reason }
        }
        EventDocument::WorkRestored { to } => Event::WorkRestored { to },
        EventDocument::PlanAdopted {
            intent,
            success_criteria,
            risk_level,
            auto_approve,
            limits,
            allow,
            protect,
            commit,
            setup,
            plan_digest,
            steps,
        } => Event::PlanAdopted(Box::new(Adoption {
            intent,
            success_criteria,
            risk: risk_level.parse().map_err(|_| {
                let what = format!("is {risk_level:?}, expected low, medium or high");
                DocumentError::member("risk_level", what)
            })?,
            written: Written { auto_approve, budgets: limits_of(&limits)? },
            allow,
            protect,
            commit: match commit {
                Some(when) => word("commit", &when)?,
                None => CommitWhen::default(),
            },
            setup,
            steps: steps
                .into_iter()
                .enumerate()
                .map(|step| {
                    read_plan_step(step).map_err(|error| DocumentError::member("steps", error))
                })
                .collect::<Result<_, _>>()?,
            digest: plan_digest,
        })),
        EventDocument::RecordRebuilt { ticked } => Event::RecordRebuilt { ticked },
        EventDocument::BudgetsChanged { limits } => Event::BudgetsChanged(limits_of(&limits)?),
        EventDocument::FinishIntended { intent, replace } => {
            demand("intent", intent.lacks)?;
            let notes = intent.notes.clone();
            Event::FinishIntended { act: read_act(intent)?, notes, replace }
        }
        EventDocument::FinishRecorded { finish, replace } => {
            demand("finish", finish.lacks)?;
            Event::FinishRecorded { outcome: read_outcome(finish)?, replace }
        }
        EventDocument::FinishAbandoned { reason } => Event::FinishAbandoned { reason },
    })
}

fn limits_of(limits: &LimitsDocument) -> Result<Budgets, DocumentError> {
    read_limits(limits).map_err(|error| DocumentError::member("limits", error))
}

fn word<T: FromStr<Err = UnknownWord>>(member: &str, word: &str) -> Result<T, DocumentError> {
    word.parse().map_err(|error| DocumentError::member(member, error))
}

fn demand(place: &str, lacks: Lacks) -> Result<(), DocumentError> {
    match lacks.of(Generation::Present) {
        Some(member) => Err(DocumentError::member(format!("{place}.{member}"), "is missing")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{GateDecision, Mode};

    /// A line as versions wrote it that kept a journal.
    fn journal_line(revision: u64, event: &Event) -> String {
        let mut line = Map::new();
        line.insert("revision".to_owned(), Value::from(revision));
        line.insert("at_ms".to_owned(), Value::from(0));
        write_members(event, &mut line);
        Value::Object(line).to_string() + "\n"
    }

    #[test]
    fn an_event_is_read_with_and_without_what_a_journal_adds() {
        let event =
            Event::GateDecided { step: 2, decision: GateDecision::Approved, mode: Mode::Human };
        assert_eq!(read(&journal_line(7, &event)), Ok(event.clone()));
        let bare = r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"human"}"#;
        assert_eq!(read(bare), Ok(event));
        let table = [
            (
                r#"{"event":"gate_decided","step":2,"decision":"maybe","mode":"human"}"#,
                "`decision` is \"maybe\", expected `approved` or `rejected`",
            ),
            (
                r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"me"}"#,
                "`mode` is \"me\", expected `auto` or `human`",
            ),
            (r#"{"event":"step_started"}"#, "missing field `step`"),
            (
                r#"{"event":"review_finished","verdict":"READY","findings":"","base":null}"#,
                "missing field `step`",
            ),
            (
                r#"{"event":"usage_reported","agents":1,"tokens":1}"#,
                "missing field `cost_usd_micros`",
            ),
            (
                r#"{"event":"finish_recorded","finish":{"disposition":"kept"},"replace":false}"#,
                "`finish.recorded_at` is missing",
            ),
            ("", "EOF while parsing a value at line 1 column 0"),
        ];
        for (json, expected) in table {
            assert_eq!(read(json).unwrap_err().to_string(), expected);
        }
        let error = read(r#"{"event":"step_flew","step":2}"#).unwrap_err().to_string();
        assert!(error.starts_with("unknown variant `step_flew`, expected"), "{error}");
    }

    #[test]
    fn the_names_of_events_are_those_that_are_read() {
        let members = [(TAG.to_owned(), Value::from("?"))].into_iter().collect();
        let error = read_members(members).unwrap_err().to_string();
        let names = NAMES.map(|name| format!("`{name}`")).join(", ");
        assert_eq!(error, format!("unknown variant `?`, expected one of {names}"));
    }

    #[test]
    fn only_the_last_line_may_be_torn() {
        let lines = (1..=3).map(|revision| journal_line(revision, &Event::RunResumed));
        let journal = lines.collect::<String>().into_bytes();
        let whole = journal.len();
        let (events, understood) = read_lines(&journal).unwrap();
        assert_eq!((events.len(), understood), (3, whole));
        let torn = [&journal[..], b"{\"revision\":4,\"at"].concat();
        assert_eq!(read_lines(&torn), Ok((events, whole)));
        let lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
        let table: [(&[u8], &str); 5] = [
            (b"\n", "EOF while parsing a value at line 1 column 0"),
            (b"[]\n", "it is not a JSON object"),
            (
                b"{\"at_ms\":0,\"event\":\"run_resumed\"}\n",
                "`revision` is missing or not a number from 0",
            ),
            (
                b"{\"revision\":2,\"event\":\"run_resumed\"}\n",
                "`at_ms` is missing or not a whole number",
            ),
            (b"\xff\n", "it is not UTF-8"),
        ];
        for (line, why) in table {
            let error = read_lines(&[lines[0], line, lines[2]].concat()).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {why}"));
        }
    }
}
