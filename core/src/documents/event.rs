//! Events as the journal of a large record stores them, one JSON document a line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::finish::{
    FinishDocument, IntentDocument, act_document, outcome_document, read_act, read_finish,
};
use super::run::{read_verdict, verdict_from_parts, verdict_parts};
use super::tagged;
use crate::run::{Amount, CheckResult, CheckVerdict, Decision, Event, Mode, Usage};
use crate::syntax::strict_json;
use crate::time::Timestamp;

/// The member that names an event.
const TAG: &str = "event";

/// A line of a journal has `revision` and `at_ms` before these.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventDocument {
    StepStarted { step: u32 },
    StepActed { step: u32 },
    ActionFailed { step: u32, reason: String, output: String },
    StepVerified { step: u32, results: Vec<ResultDocument> },
    StepBlocked { step: u32, reason: String },
    GateDecided { step: u32, decision: String, mode: String },
    ReviewFinished { step: Option<u32>, verdict: String, findings: String, base: Option<String> },
    VerdictAccepted {},
    ChecksRepeated { repeated: u32, failures: Vec<(u32, ResultDocument)> },
    RunPaused { reason: String },
    RunResumed {},
    TakenOver { reason: String },
    UsageReported { agents: u64, cost_usd_micros: Option<u64>, tokens: Option<u64> },
    RunFinalized {},
    FinishIntended { intent: IntentDocument, replace: bool },
    FinishRecorded { finish: FinishDocument, replace: bool },
    FinishAbandoned { reason: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct ResultDocument {
    check: u32,
    verdict: String,
    #[serde(default)]
    reason: Option<String>,
    stdout: String,
    stderr: String,
}

/// Adds the line for one event to `out`.
///
/// Returns whether it could: an event that replaces most of the record has no line, and the
/// record is rewritten instead.
pub fn write_line(out: &mut Vec<u8>, revision: u64, at: Timestamp, event: &Event) -> bool {
    let Some(event) = to_document(event) else { return false };
    let mut line = Map::new();
    line.insert("revision".to_owned(), Value::from(revision));
    line.insert("at_ms".to_owned(), Value::from(at.as_millis()));
    tagged::write(TAG, &event, &mut line);
    serde_json::to_writer(&mut *out, &line).expect("the document has only string keys");
    out.push(b'\n');
    true
}

/// Reads a journal up to its first line that is torn or unknown: revision, time and event of
/// each line, and the number of bytes understood.
pub fn read_lines(bytes: &[u8]) -> (Vec<(u64, Timestamp, Event)>, usize) {
    let mut events = Vec::new();
    let mut understood = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(body) = line.strip_suffix(b"\n") else {
            break;
        };
        let Some(event) = read_line(body) else {
            break;
        };
        events.push(event);
        understood += line.len();
    }
    (events, understood)
}

fn read_line(line: &[u8]) -> Option<(u64, Timestamp, Event)> {
    let value = strict_json::parse(std::str::from_utf8(line).ok()?).ok()?;
    let members = tagged::members(value).ok()?;
    let (revision, at_ms) = (members.get("revision")?.as_u64()?, members.get("at_ms")?.as_i64()?);
    let event = from_document(tagged::read(TAG, members).ok()?)?;
    Some((revision, Timestamp::from_millis(at_ms), event))
}

/// Reads one event: a line of a journal without revision and time, which are ignored when
/// they are there.
///
/// # Errors
///
/// What is wrong with it, as a clause.
pub fn read(json: &str) -> Result<Event, String> {
    let document = strict_json::parse(json)
        .and_then(tagged::members)
        .and_then(|members| tagged::read(TAG, members))
        .map_err(|error| format!("the event is malformed: {error}"))?;
    from_document(document).ok_or_else(|| "the event has a word that is not known".to_owned())
}

fn to_document(event: &Event) -> Option<EventDocument> {
    Some(match event.clone() {
        Event::StepStarted { step } => EventDocument::StepStarted { step },
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
            decision: decision.word().to_owned(),
            mode: mode.word().to_owned(),
        },
        Event::ReviewFinished { step, verdict, findings, base } => EventDocument::ReviewFinished {
            step,
            verdict: verdict.words().to_owned(),
            findings,
            base,
        },
        Event::VerdictAccepted => EventDocument::VerdictAccepted {},
        Event::ChecksRepeated { repeated, failures } => EventDocument::ChecksRepeated {
            repeated,
            failures: failures.iter().map(|(step, r)| (*step, result_document(r))).collect(),
        },
        Event::RunPaused { reason } => EventDocument::RunPaused { reason },
        Event::RunResumed => EventDocument::RunResumed {},
        Event::TakenOver { reason } => EventDocument::TakenOver { reason },
        Event::PlanAdopted(_) | Event::RecordRebuilt { .. } | Event::BudgetsChanged(_) => {
            return None;
        }
        Event::UsageReported(usage) => EventDocument::UsageReported {
            agents: usage.agents,
            cost_usd_micros: known(usage.cost_usd_micros),
            tokens: known(usage.tokens),
        },
        Event::RunFinalized => EventDocument::RunFinalized {},
        Event::FinishIntended { act, notes, replace } => {
            let intent = act_document(&act, None, notes.as_deref());
            EventDocument::FinishIntended { intent, replace }
        }
        Event::FinishRecorded { outcome, replace } => {
            EventDocument::FinishRecorded { finish: outcome_document(&outcome), replace }
        }
        Event::FinishAbandoned { reason } => EventDocument::FinishAbandoned { reason },
    })
}

fn known(amount: Amount) -> Option<u64> {
    match amount {
        Amount::Known(value) => Some(value),
        Amount::Unknown => None,
    }
}

fn from_document(document: EventDocument) -> Option<Event> {
    Some(match document {
        EventDocument::StepStarted { step } => Event::StepStarted { step },
        EventDocument::StepActed { step } => Event::StepActed { step },
        EventDocument::ActionFailed { step, reason, output } => {
            Event::ActionFailed { step, reason, output }
        }
        EventDocument::StepVerified { step, results } => Event::StepVerified {
            step,
            results: results.into_iter().map(read_result).collect::<Option<_>>()?,
        },
        EventDocument::StepBlocked { step, reason } => Event::StepBlocked { step, reason },
        EventDocument::GateDecided { step, decision, mode } => Event::GateDecided {
            step,
            decision: match decision.as_str() {
                "approved" => Decision::Approved,
                "rejected" => Decision::Rejected,
                _ => return None,
            },
            mode: match mode.as_str() {
                "auto" => Mode::Auto,
                "human" => Mode::Human,
                _ => return None,
            },
        },
        EventDocument::ReviewFinished { step, verdict, findings, base } => {
            Event::ReviewFinished { step, verdict: read_verdict(&verdict), findings, base }
        }
        EventDocument::VerdictAccepted {} => Event::VerdictAccepted,
        EventDocument::ChecksRepeated { repeated, failures } => Event::ChecksRepeated {
            repeated,
            failures: failures
                .into_iter()
                .map(|(step, result)| Some((step, read_result(result)?)))
                .collect::<Option<_>>()?,
        },
        EventDocument::RunPaused { reason } => Event::RunPaused { reason },
        EventDocument::RunResumed {} => Event::RunResumed,
        EventDocument::TakenOver { reason } => Event::TakenOver { reason },
        EventDocument::UsageReported { agents, cost_usd_micros, tokens } => {
            let amount = |value: Option<u64>| value.map_or(Amount::Unknown, Amount::Known);
            let (cost_usd_micros, tokens) = (amount(cost_usd_micros), amount(tokens));
            Event::UsageReported(Usage { agents, cost_usd_micros, tokens })
        }
        EventDocument::RunFinalized {} => Event::RunFinalized,
        EventDocument::FinishIntended { intent, replace } => {
            let notes = intent.notes.clone();
            Event::FinishIntended { act: read_act(intent).ok()?, notes, replace }
        }
        EventDocument::FinishRecorded { finish, replace } => {
            let outcome = read_finish(Some(finish)).ok()??.outcome;
            Event::FinishRecorded { outcome, replace }
        }
        EventDocument::FinishAbandoned { reason } => Event::FinishAbandoned { reason },
    })
}

fn result_document(result: &CheckResult) -> ResultDocument {
    let (_, verdict, reason) = verdict_parts(&result.verdict);
    ResultDocument {
        check: result.check,
        verdict: verdict.to_owned(),
        reason: reason.map(str::to_owned),
        stdout: result.stdout.clone(),
        stderr: result.stderr.clone(),
    }
}

fn read_result(document: ResultDocument) -> Option<CheckResult> {
    let verdict: CheckVerdict = verdict_from_parts(None, Some(&document.verdict), document.reason)?;
    Some(CheckResult {
        check: document.check,
        verdict,
        stdout: document.stdout,
        stderr: document.stderr,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_with_and_without_what_a_journal_adds() {
        let event = Event::GateDecided { step: 2, decision: Decision::Approved, mode: Mode::Human };
        let mut line = Vec::new();
        write_line(&mut line, 7, Timestamp::EPOCH, &event);
        assert_eq!(read(std::str::from_utf8(&line).unwrap()), Ok(event.clone()));
        let bare = r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"human"}"#;
        assert_eq!(read(bare), Ok(event));
        let table = [
            (r#"{"event":"gate_decided","step":2,"decision":"maybe","mode":"human"}"#, "not known"),
            (r#"{"event":"step_flew","step":2}"#, "unknown variant `step_flew`"),
            (r#"{"event":"step_started"}"#, "missing field `step`"),
            ("", "EOF"),
        ];
        for (json, expected) in table {
            let error = read(json).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
