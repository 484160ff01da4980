//! A step of a record in the form in which files have it: with its state, and each check with its
//! last result.

use std::num::NonZeroU32;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::document::DocumentError;
use onloop_effect::Network;
use onloop_run::*;
use onloop_syntax::form::is_default;
use onloop_syntax::limits;
use onloop_syntax::text::{UnknownWord, words};
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Check, Gate, Loop, Script, Step};

/// A step and its state. A large plan has thousands; what most of them lack is boxed.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredStep {
    /// Follows from the place in the list, for readers.
    number: u32,
    name: String,
    action: String,
    script: Option<Box<Script>>,
    status: StepWord,
    phase: Option<Phase>,
    attempts: u32,
    uncounted_attempts: u32,
    max_iterations: u32,
    r#loop: String,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    verify: Option<StoredVerify>,
    gate: Option<Gate>,
    gate_result: Option<GateDecision>,
    gate_mode: Option<Mode>,
    security_sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_on: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "is_default")]
    baseline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_passed: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    may_change: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<Stale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fork: Option<Box<Fork>>,
    failure_reason: Option<String>,
    block_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocked_by: Option<StoredBlock>,
    last_failure: Option<Box<LastFailure>>,
}

words! {
    /// Where a step stands.
    enum StepWord {
        Pending = "pending",
        InProgress = "in_progress",
        Done = "done",
        Failed = "failed",
        Blocked = "blocked",
    }
}

/// What blocks a step, beside the words for it.
#[derive(Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum StoredBlock {
    HumanReview { prompt: String },
    ReviewRejected,
    Other,
}

/// What verifies a step: one check, or several as `multi`.
#[derive(Serialize)]
#[serde(untagged)]
enum StoredVerify {
    One(Box<StoredCheck>),
    Several(StoredChecks),
}

#[derive(Serialize, Deserialize)]
struct StoredChecks {
    r#type: String,
    checks: Vec<StoredCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
}

/// A check, and what came of it where it was evaluated.
#[derive(Serialize, Deserialize)]
struct StoredCheck {
    #[serde(flatten)]
    check: Check,
    /// What a `browser` check is about, for readers.
    #[serde(rename = "command", skip_deserializing, skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    /// When it was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
}

words! {
    /// Whether a check holds.
    pub(crate) enum VerdictWord {
        Passed = "passed",
        Failed = "failed",
        NeedsHuman = "needs_human",
        CannotEvaluate = "cannot_evaluate",
    }
}

impl<'de> Deserialize<'de> for StoredVerify {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StoredVerify, D::Error> {
        let value = Value::deserialize(from)?;
        let read = match value["type"] == MULTI {
            true => StoredChecks::deserialize(value).map(StoredVerify::Several),
            false => Box::<StoredCheck>::deserialize(value).map(StoredVerify::One),
        };
        read.map_err(D::Error::custom)
    }
}

/// The `type` of several checks.
const MULTI: &str = "multi";

impl StoredStep {
    pub(super) fn of(record: &StepRecord) -> StoredStep {
        let step = &record.step;
        let (status, phase, failure_reason, block_reason) = match &record.status {
            StepStatus::Pending => (StepWord::Pending, None, None, None),
            StepStatus::InProgress(phase) => (StepWord::InProgress, Some(*phase), None, None),
            StepStatus::Done => (StepWord::Done, None, None, None),
            StepStatus::Failed { reason } => (StepWord::Failed, None, Some(reason.clone()), None),
            StepStatus::Blocked(reason) => (StepWord::Blocked, None, None, Some(reason.text())),
        };
        let blocked_by = match &record.status {
            StepStatus::Blocked(BlockReason::HumanReview { prompt }) => {
                Some(StoredBlock::HumanReview { prompt: prompt.clone() })
            }
            StepStatus::Blocked(BlockReason::ReviewRejected) => Some(StoredBlock::ReviewRejected),
            StepStatus::Blocked(BlockReason::Other(_)) => Some(StoredBlock::Other),
            StepStatus::Pending
            | StepStatus::InProgress(_)
            | StepStatus::Done
            | StepStatus::Failed { .. } => None,
        };
        StoredStep {
            number: step.number,
            name: step.name.clone(),
            action: step.action.clone(),
            script: step.script.clone().map(Box::new),
            status,
            phase,
            attempts: record.attempts,
            uncounted_attempts: record.uncounted,
            max_iterations: match &step.repeat {
                Loop::Never => limits::DEFAULT_ITERATIONS,
                Loop::Until { limit, .. } => limit.get(),
            },
            r#loop: step.repeat.text(),
            started_at: record.started_at,
            completed_at: record.completed_at,
            verify: StoredVerify::of(record),
            gate: step.gate,
            gate_result: record.gate.map(|gate| gate.decision),
            gate_mode: record.gate.map(|gate| gate.mode),
            security_sensitive: step.sensitive,
            depends_on: step.depends_on.clone(),
            baseline: step.baseline,
            baseline_passed: record.baseline.clone(),
            may_change: step.may_change.clone(),
            network: step.network.clone(),
            model: step.model.clone(),
            stale: record.stale,
            fork: record.fork.clone().map(Box::new),
            failure_reason,
            block_reason,
            blocked_by,
            last_failure: record.last_failure.clone().map(Box::new),
        }
    }

    /// The step with this number.
    pub(super) fn into_record(self, number: u32) -> Result<StepRecord, DocumentError> {
        let bad = |name: &str, what: String| {
            DocumentError::member(format!("steps[{}].{name}", number.saturating_sub(1)), what)
        };
        let repeat = read_loop(&self.r#loop, self.max_iterations)
            .map_err(|error| bad("loop", error.to_string()))?;
        let (checks, results) = match self.verify {
            Some(verify) => verify.into_checks().map_err(|what| bad("verify", what.to_owned()))?,
            None => (Vec::new(), Vec::new()),
        };
        let gate = match (self.gate_result, self.gate_mode) {
            (None, None) => None,
            (Some(decision), Some(mode)) => Some(GateRecord { decision, mode }),
            (None, Some(_)) => {
                return Err(bad("gate_result", "it is null beside a `gate_mode`".to_owned()));
            }
            (Some(_), None) => {
                return Err(bad("gate_mode", "it is null beside a `gate_result`".to_owned()));
            }
        };
        let needed = |value: Option<String>, name: &str| {
            value.ok_or_else(|| bad(name, "it is null, expected a text".to_owned()))
        };
        Ok(StepRecord {
            step: Step {
                number,
                name: self.name,
                action: self.action,
                script: self.script.map(|script| *script),
                repeat,
                checks,
                gate: self.gate,
                depends_on: self.depends_on,
                baseline: self.baseline,
                may_change: self.may_change,
                network: self.network,
                model: self.model,
                sensitive: self.security_sensitive,
            },
            status: match self.status {
                StepWord::Pending => StepStatus::Pending,
                StepWord::InProgress => {
                    let missing = || bad("phase", "it is null, expected a word".to_owned());
                    StepStatus::InProgress(self.phase.ok_or_else(missing)?)
                }
                StepWord::Done => StepStatus::Done,
                StepWord::Failed => {
                    StepStatus::Failed { reason: needed(self.failure_reason, "failure_reason")? }
                }
                StepWord::Blocked => {
                    let reason = needed(self.block_reason, "block_reason")?;
                    let missing = || bad("blocked_by", "it is missing".to_owned());
                    StepStatus::Blocked(match self.blocked_by.ok_or_else(missing)? {
                        StoredBlock::HumanReview { prompt } => BlockReason::HumanReview { prompt },
                        StoredBlock::ReviewRejected => BlockReason::ReviewRejected,
                        StoredBlock::Other => BlockReason::Other(reason),
                    })
                }
            },
            attempts: self.attempts,
            uncounted: self.uncounted_attempts,
            started_at: self.started_at,
            completed_at: self.completed_at,
            results,
            last_failure: self.last_failure.map(|failure| *failure),
            gate,
            baseline: self.baseline_passed,
            stale: self.stale,
            fork: self.fork.map(|fork| *fork),
        })
    }
}

fn read_loop(word: &str, max_iterations: u32) -> Result<Loop, UnknownWord> {
    let limit = NonZeroU32::new(max_iterations)
        .or(NonZeroU32::new(limits::DEFAULT_ITERATIONS))
        .unwrap_or(NonZeroU32::MIN);
    match word.strip_prefix("until") {
        Some(condition) => Ok(Loop::Until { condition: condition.trim().to_owned(), limit }),
        None if word == "false" => Ok(Loop::Never),
        None => Err(UnknownWord::new(word, vec!["false", "until …"])),
    }
}

impl StoredVerify {
    fn of(record: &StepRecord) -> Option<StoredVerify> {
        let result = |index: usize| record.results.iter().find(|r| r.check as usize == index);
        let stored = |(index, check)| StoredCheck::of(check, result(index));
        let checks = record.step.checks.as_slice();
        match checks {
            [] => None,
            [check] => Some(StoredVerify::One(Box::new(stored((0, check))))),
            checks => Some(StoredVerify::Several(StoredChecks {
                r#type: MULTI.to_owned(),
                checks: checks.iter().enumerate().map(stored).collect(),
                passed: match record.status {
                    StepStatus::Done => Some(true),
                    StepStatus::Failed { .. } => Some(false),
                    StepStatus::Pending | StepStatus::InProgress(_) | StepStatus::Blocked(_) => {
                        None
                    }
                },
            })),
        }
    }

    /// The checks, and the results of those that were evaluated.
    fn into_checks(self) -> Result<(Vec<Check>, Vec<CheckResult>), &'static str> {
        let stored = match self {
            StoredVerify::One(check) => vec![*check],
            StoredVerify::Several(several) => several.checks,
        };
        let (mut checks, mut results) = (Vec::new(), Vec::new());
        for (index, stored) in (0..).zip(stored) {
            results.extend(stored.result(index)?);
            checks.push(stored.check);
        }
        Ok((checks, results))
    }
}

impl StoredCheck {
    fn of(check: &Check, result: Option<&CheckResult>) -> StoredCheck {
        let parts = result.map(|result| verdict_parts(&result.verdict));
        StoredCheck {
            check: check.clone(),
            page: match check {
                Check::Browser { url, check } => Some(format!("browser: {url} - {check}")),
                Check::Shell(_) | Check::HumanReview { .. } | Check::Artifact { .. } => None,
            },
            passed: parts.and_then(|(_, passed, _)| passed),
            verdict: parts.map(|(word, ..)| word),
            reason: parts.and_then(|(.., reason)| reason).map(str::to_owned),
            stdout: result.map(|result| result.stdout.clone()),
            stderr: result.map(|result| result.stderr.clone()),
            at: result.and_then(|result| result.at),
        }
    }

    /// What came of it as the check at the place `check`.
    fn result(&self, check: u32) -> Result<Option<CheckResult>, &'static str> {
        let Some(word) = self.verdict else {
            let is_result = self.passed.is_some() || self.stdout.is_some() || self.stderr.is_some();
            return if is_result { Err("missing field `verdict`") } else { Ok(None) };
        };
        let reason = || self.reason.clone().ok_or("missing field `reason`");
        let verdict = match word {
            VerdictWord::Passed => CheckVerdict::Passed,
            VerdictWord::Failed => CheckVerdict::Failed { reason: reason()? },
            VerdictWord::NeedsHuman => CheckVerdict::NeedsHuman { prompt: reason()? },
            VerdictWord::CannotEvaluate => CheckVerdict::CannotEvaluate { reason: reason()? },
        };
        match (self.passed, verdict_parts(&verdict).1) {
            (None, Some(_)) => return Err("missing field `passed`"),
            (passed, expected) if passed != expected => {
                return Err("`passed` does not fit the verdict");
            }
            _ => {}
        }
        Ok(Some(CheckResult {
            check,
            verdict,
            stdout: self.stdout.clone().ok_or("missing field `stdout`")?,
            stderr: self.stderr.clone().ok_or("missing field `stderr`")?,
            measured: None,
            at: self.at,
            warnings: Vec::new(),
            inputs: None,
        }))
    }
}

/// The parts under which a verdict is stored: `verdict`, `passed`, `reason`.
pub(crate) fn verdict_parts(verdict: &CheckVerdict) -> (VerdictWord, Option<bool>, Option<&str>) {
    match verdict {
        CheckVerdict::Passed => (VerdictWord::Passed, Some(true), None),
        CheckVerdict::Failed { reason } => (VerdictWord::Failed, Some(false), Some(reason)),
        CheckVerdict::NeedsHuman { prompt } => (VerdictWord::NeedsHuman, None, Some(prompt)),
        CheckVerdict::CannotEvaluate { reason } => {
            (VerdictWord::CannotEvaluate, None, Some(reason))
        }
    }
}

/// The word for what verifies a step.
pub(crate) fn check_type(checks: &[Check]) -> Option<&'static str> {
    Some(match checks {
        [] => return None,
        [Check::Shell(_)] => "shell",
        [Check::Browser { .. }] => "browser",
        [Check::HumanReview { .. }] => "human-review",
        [Check::Artifact { .. }] => "artifact",
        _ => MULTI,
    })
}
