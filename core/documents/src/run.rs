//! `.hotl/state/<run-id>.json`, the record on disk. Described in `docs/state-format.md`.

mod read;
#[cfg(test)]
mod tests;
mod unknown;
mod write;

use super::checkpoint::{CheckpointDocument, checkpoint_document};
use super::document::{Generation, Lacks, document};
use super::finish::{FinishDocument, IntentDocument, finish_document, intent_document};
use super::hold::{self, HoldDocument, WorkHoldDocument};
use super::turn::{TurnDocument, WaitDocument, read_turn, read_wait, turn_document, wait_document};
use onloop_effect::{Network, Shell};
use onloop_run::*;
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::*;
pub(super) use read::{acting_of, read_limits, read_plan_step, verdict_from_parts};
use write::to_document;
pub(super) use write::{
    acting_document, check_type, limits_document, step_document, verdict_parts,
};

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
        pause_reason: Option<String> [rare],
        current_step: u32,
        total_steps: u32,
        report_path: Option<String>,
        plan_digest: String [first],
        allow: Option<Vec<String>> [rare],
        protect: Option<Vec<String>> [rare],
        commit: Option<String> [rare],
        setup: Option<Vec<String>> [rare],
        confine: Option<String> [rare],
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
        confined: Option<Vec<WorkHoldDocument>> [rare],
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
        confined: Option<HoldDocument> [rare],
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
    /// A step and its state. A large plan has thousands; what most of them lack is boxed.
    pub(super) struct StepDocument {
        number: u32,
        name: String,
        action: String,
        script: Option<Box<ScriptDocument>> [first],
        status: String,
        phase: Option<String> [first],
        attempts: u32,
        uncounted_attempts: u32 [first],
        max_iterations: u32,
        r#loop: Option<String>,
        started_at: Option<String>,
        completed_at: Option<String>,
        verify: Option<Box<CheckDocument>>,
        gate: Option<String>,
        gate_result: Option<String>,
        gate_mode: Option<String>,
        security_sensitive: bool [first],
        failure_reason: Option<String> [first],
        block_reason: Option<String>,
        last_failure: Option<Box<FailureDocument>> [first],
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
        network: Option<String>,
        url: Option<String>,
        check: Option<String>,
        prompt: Option<String>,
        path: Option<String>,
        assert: Option<Box<AssertDocument>>,
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
