//! `.hotl/state/<run-id>.json`, the record on disk. Described in `docs/state-format.md`.

mod read;
#[cfg(test)]
mod tests;
mod unknown;

use super::checkpoint::{CheckpointDocument, checkpoint_document};
use super::document::{Generation, Lacks, document};
use super::finish::{FinishDocument, IntentDocument, finish_document, intent_document};
use super::turn::{TurnDocument, WaitDocument, read_turn, read_wait, turn_document, wait_document};
use crate::effect::Shell;
use crate::limits;
use crate::money::Money;
use crate::run::*;
use crate::text;
use crate::time::Timestamp;
use crate::workflow::*;
pub(super) use read::{acting_of, read_limits, read_plan_step, verdict_from_parts};

/// Name and version of the format. A higher version is refused; a record without one was
/// written by an older generation.
pub const SCHEMA: &str = "onloop.run/v1";

/// The last line of a ledger, by which everything before it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the line, from 1.
    pub seq: u64,
    /// SHA-256 of the line without its line break, in lower case hexadecimal.
    pub sha256: String,
}

document! {
    /// The record of a run.
    pub(super) struct RunDocument {
        schema: String [optional],
        run_id: String,
        workflow_path: String,
        source_workflow_path: Option<String> [first],
        source_branch: Option<String> [first],
        source_head: Option<String> [first],
        workflow_slug: Option<String> [first],
        intent: String,
        success_criteria: String,
        risk_level: String,
        auto_approve: bool,
        branch: Option<String>,
        repo_root: Option<String> [first],
        execution_root: Option<String> [first],
        worktree_path: Option<String> [first],
        executor_mode: Option<String> [first],
        driver: Option<String> [first],
        host: Option<String> [first],
        budgets: BudgetsDocument [first],
        revision: u64 [first],
        started_at: String,
        last_update: String,
        completed_at: Option<String>,
        status: String,
        current_step: u32,
        total_steps: u32,
        report_path: Option<String>,
        plan_digest: String [first],
        allow: Option<Vec<String>> [rare],
        protect: Option<Vec<String>> [rare],
        commit: Option<String> [rare],
        setup: Option<Vec<String>> [rare],
        set_up: Option<SetUpDocument> [rare],
        written: Option<WrittenDocument> [optional],
        options: OptionsDocument [first],
        reviews: ReviewsDocument [first],
        reverified: bool [first],
        finish: Option<FinishDocument> [present],
        finish_intent: Option<IntentDocument> [present],
        turns: Option<Vec<TurnDocument>> [rare],
        waits: Option<Vec<WaitDocument>> [rare],
        acting: Option<ActingDocument> [optional],
        finished_commit: Option<String> [optional],
        checkpoints: Vec<CheckpointDocument> [optional],
        ledger: Option<LedgerDocument> [optional],
        steps: Vec<StepDocument>,
        events: Vec<EventDocument> [first],
    }
}

document! {
    /// The line of the ledger that a copy shows.
    pub(super) struct LedgerDocument {
        seq: u64,
        sha256: String,
    }
}

document! {
    /// What made a fresh worktree ready.
    pub(super) struct SetUpDocument {
        copied: u64,
        commands: u64,
    }
}

document! {
    /// Processes that work for a run.
    pub(super) struct ActingDocument {
        worker: String [optional],
        step: u32,
        pid: u32,
        started: String,
        boot: String,
        host: String,
    }
}

document! {
    /// Limits of a run.
    pub(super) struct BudgetsDocument {
        limits: LimitsDocument,
        observed: ObservedDocument,
    }
}

document! {
    /// Limits of a run; `null` is unlimited.
    pub(super) struct LimitsDocument {
        total_attempts: Option<u64>,
        agents: Option<u64>,
        cost_usd: Option<f64>,
        tokens: Option<u64> [rare],
        elapsed_minutes: Option<u64>,
    }
}

document! {
    sparse;
    /// What the workflow file says about what a person can change for one run.
    pub(super) struct WrittenDocument {
        auto_approve: Option<bool>,
        limits: Option<LimitsDocument>,
    }
}

document! {
    /// What was used; `null` where an agent did not say.
    pub(super) struct ObservedDocument {
        agents: u64 [first],
        cost_usd: Option<f64> [first],
        tokens: Option<u64> [first],
        active_ms: u64 [first],
        unknown_usage: Vec<String> [first],
    }
}

document! {
    /// How the run is to be conducted.
    pub(super) struct OptionsDocument {
        progress_verbose: bool,
        report_full: bool,
        no_reverify: bool,
        review_agent: Option<String>,
    }
}

document! {
    /// Reviews by an agent.
    pub(super) struct ReviewsDocument {
        base: Option<String>,
        reviewed_step: u32,
        finally_reviewed: bool,
        standing: Option<StandingDocument>,
        last: Option<StandingDocument> [rare],
    }
}

document! {
    /// A verdict that holds the run up.
    pub(super) struct StandingDocument {
        step: Option<u32>,
        verdict: String,
        findings: String,
    }
}

document! {
    /// A step and its state.
    pub(super) struct StepDocument {
        number: u32,
        name: String,
        action: String,
        script: Option<ScriptDocument> [first],
        status: String,
        phase: Option<String> [first],
        attempts: u32,
        forgiven_attempts: u32 [first],
        max_iterations: u32,
        r#loop: Option<String>,
        started_at: Option<String>,
        completed_at: Option<String>,
        verify: Option<CheckDocument>,
        gate: Option<String>,
        gate_result: Option<String>,
        gate_mode: Option<String>,
        security_sensitive: bool [first],
        failure_reason: Option<String> [first],
        block_reason: Option<String>,
        last_failure: Option<FailureDocument> [first],
    }
}

document! {
    /// What a failed attempt failed with.
    pub(super) struct FailureDocument {
        reason: String,
        output: String,
    }
}

document! {
    /// A step's own script.
    pub(super) struct ScriptDocument {
        shell: String,
        text: String,
    }
}

document! {
    sparse;
    /// A check and its last result; `multi` holds several.
    pub(super) struct CheckDocument {
        r#type: Option<String>,
        command: Option<String>,
        expect: Option<String>,
        timeout_ms: Option<u64>,
        cwd: Option<String>,
        env: Option<Vec<(String, String)>>,
        shell: Option<String>,
        url: Option<String>,
        check: Option<String>,
        prompt: Option<String>,
        path: Option<String>,
        assert: Option<AssertDocument>,
        checks: Option<Vec<CheckDocument>>,
        passed: Option<bool>,
        verdict: Option<String>,
        reason: Option<String>,
        stdout: Option<String>,
        stderr: Option<String>,
    }
}

document! {
    sparse;
    /// What must hold of an artifact.
    pub(super) struct AssertDocument {
        kind: String,
        value: Option<String>,
    }
}

document! {
    sparse;
    /// One line of the event log.
    pub(super) struct EventDocument {
        at: String,
        event: String,
        step: Option<u32>,
        text: String,
        detail: Option<String>,
    }
}

/// Why bytes are not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Not a JSON document of this shape.
    Damaged(String),
    /// Written by a newer onloop.
    Newer(String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Damaged(why) => write!(f, "damaged record: {why}"),
            ReadError::Newer(schema) => write!(
                f,
                "the record has the format `{schema}`, this onloop knows `{SCHEMA}`: upgrade onloop"
            ),
        }
    }
}

/// The record as JSON, ending with a line break.
pub fn write(run: &Run) -> Vec<u8> {
    write_copy(run, None)
}

/// The record as JSON with the member `ledger`, which names the line of the ledger that it shows.
pub fn write_copy(run: &Run, head: Option<&Head>) -> Vec<u8> {
    let mut document = document_of(run);
    document.ledger = head.map(|head| LedgerDocument {
        seq: head.seq,
        sha256: head.sha256.clone(),
        ..LedgerDocument::default()
    });
    // Two-space indentation: people read and compare these files.
    let mut bytes =
        serde_json::to_vec_pretty(&document).expect("the document has only string keys");
    bytes.push(b'\n');
    bytes
}

/// The record as the document that the first line of a ledger holds.
pub(super) fn document_of(run: &Run) -> RunDocument {
    let mut document = to_document(run);
    unknown::restore(&mut document, &run.unknown_inside);
    document
}

/// The line of the ledger that a copy says it shows.
///
/// # Errors
///
/// [`ReadError::Damaged`] when the bytes are no such document.
pub fn copy_head(bytes: &[u8]) -> Result<Option<Head>, ReadError> {
    let document: RunDocument =
        serde_json::from_slice(bytes).map_err(|error| ReadError::Damaged(error.to_string()))?;
    Ok(document.ledger.map(|ledger| Head { seq: ledger.seq, sha256: ledger.sha256 }))
}

/// Reads a record of this or any older generation.
///
/// # Errors
///
/// [`ReadError::Damaged`] with position when the bytes are no record, [`ReadError::Newer`]
/// when a later version of onloop wrote them.
pub fn read(bytes: &[u8]) -> Result<Run, ReadError> {
    let document =
        serde_json::from_slice(bytes).map_err(|error| ReadError::Damaged(error.to_string()))?;
    run_of(document)
}

/// The run that a document describes; errors as [`read`].
pub(super) fn run_of(mut document: RunDocument) -> Result<Run, ReadError> {
    let generation = match (document.schema.as_str(), &document.written) {
        (SCHEMA, Some(_)) => Generation::Present,
        (SCHEMA, None) => Generation::First,
        // No older program knew of digests.
        ("", _) if !document.plan_digest.is_empty() => {
            return Err(damaged("`schema` is missing"));
        }
        ("", _) => Generation::Older,
        (newer, _) => return Err(ReadError::Newer(text::one_line(newer))),
    };
    if let Some(path) = unknown::missing(&mut document, generation) {
        return Err(damaged(format!("`{path}` is missing")));
    }
    let unknown_inside = unknown::gather(&mut document);
    let record = Record { unknown_inside, ..read::from_document(document, generation)? };
    Run::restore(record).map_err(|error| damaged(error.to_string()))
}

fn damaged(what: impl Into<String>) -> ReadError {
    ReadError::Damaged(what.into())
}

fn to_document(run: &Run) -> RunDocument {
    let place = run.place.clone();
    let terms = &run.terms;
    RunDocument {
        schema: SCHEMA.to_owned(),
        run_id: run.id.clone(),
        workflow_path: place.workflow_path,
        source_workflow_path: place.source_workflow_path,
        source_branch: place.source_branch,
        source_head: place.source_head,
        workflow_slug: Some(place.slug),
        intent: terms.intent.clone(),
        success_criteria: terms.success_criteria.clone(),
        risk_level: terms.risk.as_str().to_owned(),
        auto_approve: terms.auto_approve,
        branch: place.branch,
        repo_root: place.repo_root,
        execution_root: Some(place.execution_root),
        worktree_path: place.worktree_path,
        executor_mode: Some(place.executor_mode),
        driver: place.driver,
        host: place.host,
        budgets: budgets_document(run),
        revision: run.revision,
        started_at: run.started_at.to_rfc3339(),
        last_update: run.last_update.to_rfc3339(),
        completed_at: run.completed_at.map(Timestamp::to_rfc3339),
        status: run.status.as_str().to_owned(),
        current_step: run.current_step(),
        total_steps: run.steps.len() as u32,
        report_path: Some(place.report_path),
        plan_digest: terms.plan_digest.clone(),
        allow: (!terms.allow.is_empty()).then(|| terms.allow.clone()),
        protect: (!terms.protect.is_empty()).then(|| terms.protect.clone()),
        commit: (terms.commit != CommitWhen::End).then(|| terms.commit.as_str().to_owned()),
        setup: (!terms.setup.is_empty()).then(|| terms.setup.clone()),
        set_up: run.set_up.map(set_up_document),
        written: Some(terms.written.as_ref().map(written_document).unwrap_or_default()),
        options: OptionsDocument {
            progress_verbose: terms.progress_verbose,
            report_full: terms.report_full,
            no_reverify: !terms.reverify,
            review_agent: terms.review_agent.clone(),
            ..OptionsDocument::default()
        },
        reviews: reviews_document(&run.reviews),
        reverified: run.reverified,
        finish: run.finish.as_ref().map(finish_document),
        finish_intent: run.finish_intent.as_ref().map(intent_document),
        turns: (!run.turns.is_empty()).then(|| run.turns.iter().map(turn_document).collect()),
        waits: (!run.waits.is_empty()).then(|| run.waits.iter().map(wait_document).collect()),
        acting: run.acting.as_ref().map(acting_document),
        finished_commit: run.finished_commit.clone(),
        checkpoints: run.checkpoints.iter().map(checkpoint_document).collect(),
        ledger: None,
        steps: run.steps.iter().map(step_document).collect(),
        events: run.events.iter().map(event_document).collect(),
        unknown: run.unknown.clone(),
        lacks: Lacks::default(),
    }
}

fn set_up_document(done: SetUp) -> SetUpDocument {
    let SetUp { copied, commands } = done;
    SetUpDocument { copied, commands, ..SetUpDocument::default() }
}

pub(super) fn acting_document(acting: &Acting) -> ActingDocument {
    ActingDocument {
        worker: acting.worker.as_str().to_owned(),
        step: acting.step,
        pid: acting.group.pid,
        started: acting.group.started.clone(),
        boot: acting.group.boot.clone(),
        host: acting.host.clone(),
        ..ActingDocument::default()
    }
}

pub(super) fn limits_document(limits: &Budgets) -> LimitsDocument {
    LimitsDocument {
        total_attempts: limits.total_attempts,
        agents: limits.agents,
        cost_usd: limits.cost.map(Money::usd),
        tokens: limits.tokens,
        elapsed_minutes: limits.elapsed_minutes,
        ..LimitsDocument::default()
    }
}

fn written_document(written: &Written) -> WrittenDocument {
    WrittenDocument {
        auto_approve: Some(written.auto_approve),
        limits: Some(limits_document(&written.budgets))
            .filter(|limits| *limits != LimitsDocument::default()),
        ..WrittenDocument::default()
    }
}

fn budgets_document(run: &Run) -> BudgetsDocument {
    let (limits, usage) = (&run.terms.budgets, &run.usage);
    let mut unknown_usage = Vec::new();
    if usage.cost == Amount::Unknown {
        unknown_usage.push("cost_usd".to_owned());
    }
    if usage.tokens == Amount::Unknown {
        unknown_usage.push("tokens".to_owned());
    }
    BudgetsDocument {
        limits: limits_document(limits),
        observed: ObservedDocument {
            agents: usage.agents,
            cost_usd: usage.cost.known().map(Money::usd),
            tokens: usage.tokens.known(),
            active_ms: run.active_ms,
            unknown_usage,
            ..ObservedDocument::default()
        },
        ..BudgetsDocument::default()
    }
}

fn reviews_document(reviews: &Reviews) -> ReviewsDocument {
    ReviewsDocument {
        base: reviews.base.clone(),
        reviewed_step: reviews.reviewed_step,
        finally_reviewed: reviews.finally_reviewed,
        standing: reviews.standing.as_ref().map(standing_document),
        last: reviews.last.as_ref().map(standing_document),
        ..ReviewsDocument::default()
    }
}

fn standing_document(standing: &StandingVerdict) -> StandingDocument {
    StandingDocument {
        step: standing.step,
        verdict: standing.verdict.as_str().to_owned(),
        findings: standing.findings.clone(),
        ..StandingDocument::default()
    }
}

fn event_document(entry: &LogEntry) -> EventDocument {
    EventDocument {
        at: entry.at.to_rfc3339(),
        event: entry.event.clone(),
        step: entry.step,
        text: entry.text.clone(),
        detail: Some(entry.detail.clone()).filter(|detail| !detail.is_empty()),
        ..EventDocument::default()
    }
}

pub(super) fn step_document(record: &StepRecord) -> StepDocument {
    let step = &record.step;
    let (phase, failure_reason, block_reason) = match &record.status {
        StepStatus::Pending | StepStatus::Done => (None, None, None),
        StepStatus::InProgress(phase) => (Some(phase.as_str().to_owned()), None, None),
        StepStatus::Failed { reason } => (None, Some(reason.clone()), None),
        StepStatus::Blocked(reason) => (None, None, Some(reason.text())),
    };
    StepDocument {
        number: step.number,
        name: step.name.clone(),
        action: step.action.clone(),
        script: step.script.as_ref().map(|script| ScriptDocument {
            shell: script.shell.as_str().to_owned(),
            text: script.text.clone(),
            ..ScriptDocument::default()
        }),
        status: record.status.as_str().to_owned(),
        phase,
        attempts: record.attempts,
        forgiven_attempts: record.forgiven,
        max_iterations: match &step.repeat {
            Loop::Never => limits::DEFAULT_ITERATIONS,
            Loop::Until { limit, .. } => limit.get(),
        },
        r#loop: Some(step.repeat.text()),
        started_at: record.started_at.map(Timestamp::to_rfc3339),
        completed_at: record.completed_at.map(Timestamp::to_rfc3339),
        verify: verify_document(&step.checks, record),
        gate: step.gate.map(|gate| gate.as_str().to_owned()),
        gate_result: record.gate.map(|gate| gate.decision.as_str().to_owned()),
        gate_mode: record.gate.map(|gate| gate.mode.as_str().to_owned()),
        security_sensitive: step.sensitive,
        failure_reason,
        block_reason,
        last_failure: record.last_failure.as_ref().map(|failure| FailureDocument {
            reason: failure.reason.clone(),
            output: failure.output.clone(),
            ..FailureDocument::default()
        }),
        unknown: record.unknown.clone(),
        lacks: Lacks::default(),
    }
}

fn verify_document(checks: &[Check], record: &StepRecord) -> Option<CheckDocument> {
    let result = |index: usize| record.results.iter().find(|r| r.check as usize == index);
    match checks {
        [] => None,
        [check] => Some(check_document(check, result(0))),
        checks => {
            let items: Vec<CheckDocument> = checks
                .iter()
                .enumerate()
                .map(|(index, check)| check_document(check, result(index)))
                .collect();
            let passed = match record.status {
                StepStatus::Done => Some(true),
                StepStatus::Failed { .. } => Some(false),
                StepStatus::Pending | StepStatus::InProgress(_) | StepStatus::Blocked(_) => None,
            };
            Some(CheckDocument {
                r#type: Some("multi".to_owned()),
                checks: Some(items),
                passed,
                ..CheckDocument::default()
            })
        }
    }
}

/// The word for what verifies a step.
pub(super) fn check_type(checks: &[Check]) -> Option<&'static str> {
    Some(match checks {
        [] => return None,
        [Check::Shell(_)] => "shell",
        [Check::Browser { .. }] => "browser",
        [Check::HumanReview { .. }] => "human-review",
        [Check::Artifact { .. }] => "artifact",
        _ => "multi",
    })
}

fn check_document(check: &Check, result: Option<&CheckResult>) -> CheckDocument {
    let some = |text: &str| Some(text.to_owned());
    let mut document = match check {
        Check::Shell(shell) => CheckDocument {
            r#type: some("shell"),
            command: Some(shell.command.clone()),
            expect: matches!(shell.expect, Expectation::Fail).then(|| "fail".to_owned()),
            timeout_ms: shell.timeout_ms,
            cwd: shell.cwd.clone(),
            env: (!shell.env.is_empty()).then(|| shell.env.clone()),
            shell: (shell.shell != Shell::Bash).then(|| shell.shell.as_str().to_owned()),
            ..CheckDocument::default()
        },
        Check::Browser { url, check } => CheckDocument {
            r#type: some("browser"),
            command: Some(format!("browser: {url} - {check}")),
            url: Some(url.clone()),
            check: Some(check.clone()),
            ..CheckDocument::default()
        },
        Check::HumanReview { prompt } => CheckDocument {
            r#type: some("human-review"),
            prompt: Some(prompt.clone()),
            ..CheckDocument::default()
        },
        Check::Artifact { path, assertion } => CheckDocument {
            r#type: some("artifact"),
            path: Some(path.clone()),
            assert: Some(assert_document(assertion)),
            ..CheckDocument::default()
        },
    };
    if let Some(result) = result {
        let (passed, verdict, reason) = verdict_parts(&result.verdict);
        document.passed = passed;
        document.verdict = some(verdict);
        document.reason = reason.map(str::to_owned);
        document.stdout = Some(result.stdout.clone());
        document.stderr = Some(result.stderr.clone());
    }
    document
}

/// The parts under which a verdict is stored: `passed`, `verdict`, `reason`.
pub(super) fn verdict_parts(verdict: &CheckVerdict) -> (Option<bool>, &'static str, Option<&str>) {
    match verdict {
        CheckVerdict::Passed => (Some(true), "passed", None),
        CheckVerdict::Failed { reason } => (Some(false), "failed", Some(reason)),
        CheckVerdict::NeedsHuman { prompt } => (None, "needs_human", Some(prompt)),
        CheckVerdict::CannotEvaluate { reason } => (None, "cannot_evaluate", Some(reason)),
    }
}

fn assert_document(assertion: &Assertion) -> AssertDocument {
    let (kind, value) = match assertion {
        Assertion::Exists => ("exists", None),
        Assertion::Contains(text) => ("contains", Some(text.clone())),
        Assertion::MatchesGlob(glob) => ("matches-glob", Some(glob.clone())),
    };
    AssertDocument { kind: kind.to_owned(), value, ..AssertDocument::default() }
}
