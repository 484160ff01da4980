//! Results of checks as events store them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::DocumentError;
use super::run::{verdict_from_parts, verdict_parts};
use onloop_run::{
    ChangedFile, ChangedLines, CheckResult, CheckWarnings, Measured, Warning, WarningKind,
};
use onloop_syntax::text::UnknownWord;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResultDocument {
    check: u32,
    verdict: String,
    #[serde(default)]
    reason: Option<String>,
    stdout: String,
    stderr: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningDocument>,
}

/// What there is to warn about one check that was repeated.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CheckRemarksDocument {
    step: u32,
    check: u32,
    warnings: Vec<WarningDocument>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WarningDocument {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    steps: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn result_document(result: &CheckResult) -> ResultDocument {
    let (_, verdict, reason) = verdict_parts(&result.verdict);
    ResultDocument {
        check: result.check,
        verdict: verdict.to_owned(),
        reason: reason.map(str::to_owned),
        stdout: result.stdout.clone(),
        stderr: result.stderr.clone(),
        exit_code: result.measured.and_then(|measured| measured.exit_code),
        duration_ms: result.measured.map(|measured| measured.duration_ms),
        warnings: result.warnings.iter().map(warning_document).collect(),
    }
}

pub(super) fn read_result(document: ResultDocument) -> Result<CheckResult, DocumentError> {
    let verdict = verdict_from_parts(&document.verdict, document.reason)
        .map_err(|error| DocumentError::member("verdict", error))?;
    let exit_code = document.exit_code;
    let measured = document.duration_ms.map(|duration_ms| Measured { exit_code, duration_ms });
    Ok(CheckResult {
        check: document.check,
        verdict,
        stdout: document.stdout,
        stderr: document.stderr,
        measured,
        warnings: read_warnings(document.warnings)?,
    })
}

pub(super) fn check_warnings_document(remarked: &CheckWarnings) -> CheckRemarksDocument {
    let warnings = remarked.warnings.iter().map(warning_document).collect();
    CheckRemarksDocument { step: remarked.step, check: remarked.check, warnings }
}

pub(super) fn read_check_warnings(
    document: CheckRemarksDocument,
) -> Result<CheckWarnings, DocumentError> {
    let CheckRemarksDocument { step, check, warnings } = document;
    Ok(CheckWarnings { step, check, warnings: read_warnings(warnings)? })
}

fn warning_document(warning: &Warning) -> WarningDocument {
    let (mut path, mut steps, mut changed, mut why) = (None, Vec::new(), None, None);
    match warning {
        Warning::CheckChanged(file) => {
            path = Some(file.path.clone());
            steps.clone_from(&file.steps);
            changed = file.lines;
        }
        Warning::CheckUnseen { reason } => why = Some(reason.clone()),
    }
    WarningDocument {
        kind: warning.kind().as_str().to_owned(),
        path,
        steps,
        added: changed.map(|lines| lines.added),
        removed: changed.map(|lines| lines.removed),
        reason: why,
    }
}

fn read_warnings(documents: Vec<WarningDocument>) -> Result<Vec<Warning>, DocumentError> {
    documents.into_iter().map(read_warning).collect()
}

fn read_warning(document: WarningDocument) -> Result<Warning, DocumentError> {
    let WarningDocument { kind, path, steps, added, removed, reason } = document;
    let kind: WarningKind =
        kind.parse().map_err(|error: UnknownWord| DocumentError::member("warnings.kind", error))?;
    let needed = |value: Option<String>, name: &str| {
        value.ok_or_else(|| DocumentError::member(format!("warnings.{name}"), "is missing"))
    };
    Ok(match kind {
        WarningKind::CheckChanged => {
            let lines = added.zip(removed).map(|(added, removed)| ChangedLines { added, removed });
            Warning::CheckChanged(ChangedFile { path: needed(path, "path")?, steps, lines })
        }
        WarningKind::CheckUnseen => Warning::CheckUnseen { reason: needed(reason, "reason")? },
    })
}

/// The warnings about the checks of a step, as summaries and receipts show them.
pub(super) fn remarks_value(results: &[CheckResult]) -> Value {
    let remarked = results.iter().flat_map(|result| {
        result.warnings.iter().map(|warning| {
            let mut shown = serde_json::to_value(warning_document(warning))
                .expect("its members are texts and numbers");
            shown["check"] = json!(result.check + 1);
            shown["text"] = json!(warning.to_string());
            shown
        })
    });
    remarked.collect()
}
