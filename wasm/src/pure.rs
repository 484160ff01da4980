//! The functions that need no host. Text in, text or JSON out.
//!
//! A workflow file comes as bytes: what JavaScript encodes at once takes a fraction of the time that
//! the binding needs to copy a string unit by unit.

pub mod auto;
pub mod permission;
pub mod session;

use onloop_core::diagnostic::{Diagnostic, Severity, Span};
use onloop_core::documents;
use onloop_core::run::{self, Beginning, Place, Platform, Run, step_prompt};
use onloop_core::time::Timestamp;
use onloop_core::verb;
use onloop_core::workflow::{self, FileClass};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::utf16::Utf16;

/// Milliseconds since 1970 of an RFC 3339 time or a number of milliseconds.
#[wasm_bindgen]
pub fn parse_time(text: &str) -> Option<f64> {
    // Exact: the range of times is far below 2⁵³ milliseconds.
    Timestamp::parse(text).map(|at| at.as_millis() as f64)
}

/// Whether a file is a `workflow`, a `design` document or something else.
#[wasm_bindgen]
pub fn classify(path: &str, text: &[u8]) -> String {
    let word = match workflow::classify(path, text) {
        FileClass::Workflow => "workflow",
        FileClass::Design { .. } => "design",
        FileClass::Other => "other",
    };
    word.to_owned()
}

/// The diagnostics of a workflow file, as a JSON list. Offsets and columns count UTF-16 units.
#[wasm_bindgen]
pub fn lint(path: &str, text: &[u8]) -> String {
    let diagnostics = workflow::parse(path, text).diagnostics;
    if diagnostics.is_empty() {
        return "[]".to_owned();
    }
    let source = String::from_utf8_lossy(text);
    let utf16 = Utf16::new(&source);
    let findings = diagnostics.iter().map(|found| finding(&utf16, found));
    Value::Array(findings.collect()).to_string()
}

/// The file after every safe fix, and how many were applied: `{"text", "applied"}`.
#[wasm_bindgen]
pub fn fix(path: &str, text: &[u8]) -> String {
    let (fixed, applied) = verb::fix(path, text);
    // Fixes replace text by text at offsets between characters.
    json!({ "text": String::from_utf8_lossy(&fixed), "applied": applied }).to_string()
}

/// Where the parts of a workflow file are: `{"frontmatter", "steps"}`. Offsets and columns count
/// UTF-16 units.
#[wasm_bindgen]
pub fn outline(path: &str, text: &[u8]) -> String {
    let source = String::from_utf8_lossy(text);
    let utf16 = Utf16::new(&source);
    let place = |span: Span| utf16.placed(span);
    let outline = workflow::parse(path, text).outline;
    let steps = outline.steps.iter().map(|step| {
        json!({
            "number": step.number,
            "name": step.name,
            "title": place(step.title),
            "span": place(step.span),
        })
    });
    let steps: Vec<_> = steps.collect();
    json!({ "frontmatter": outline.frontmatter.map(place), "steps": steps }).to_string()
}

/// The fields of the format, as a JSON list.
#[wasm_bindgen]
pub fn fields() -> String {
    let fields = workflow::FIELDS.iter().map(|field| {
        json!({
            "section": field.section.as_str(),
            "name": field.name,
            "about": field.about,
            "default": field.default,
            "values": field.values,
            "types": field.types,
        })
    });
    Value::Array(fields.collect()).to_string()
}

/// The workflow as `hotl.workflow/v1`, as `onloop normalize` prints it; nothing when it has
/// errors.
#[wasm_bindgen]
pub fn normalize(path: &str, text: &[u8]) -> Option<String> {
    let plan = workflow::parse(path, text).plan?;
    Some(documents::normalized::normalize(path, &plan).to_string())
}

/// The record of a new run of a workflow. `beginning` is
/// `{id?, at_ms, auto_approve?, reverify?, review_agent?, place?: {…}}`; without an id it gets
/// the one that the command line would give it.
#[wasm_bindgen]
pub fn begin(path: &str, text: &[u8], beginning: &str) -> Result<String, JsError> {
    let parsed = workflow::parse(path, text);
    let Some(plan) = parsed.plan else {
        let errors = parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let first = errors.clone().next().map_or("", |found| &found.message);
        let more = errors.count();
        let message = format!("the workflow has {more} errors; the first: {first}");
        return Err(JsError::new(&message));
    };
    let beginning: Value = serde_json::from_str(beginning)?;
    let at = Timestamp::from_millis(whole_number(&beginning, "at_ms")?);
    let id = match beginning["id"].as_str() {
        Some(id) if run::is_run_id(id) => id.to_owned(),
        Some(id) => {
            let id = onloop_core::text::one_line(id);
            return Err(JsError::new(&format!("`{id}` cannot name a run")));
        }
        None => run::unique_id(&plan.slug, at, |_| false),
    };
    let record = Run::begin(
        &plan,
        Beginning {
            place: place(path, &beginning["place"], &plan.slug, &id),
            id,
            at,
            auto_approve: beginning["auto_approve"].as_bool().unwrap_or(false),
            reverify: beginning["reverify"].as_bool().unwrap_or(true),
            review_agent: beginning["review_agent"].as_str().map(str::to_owned),
            issue: None,
            issue_text: String::new(),
            pr_repairs: None,
        },
    );
    write(&record)
}

/// The record after an event, or why the event is refused. `event` is
/// `{"event": "step_started", "step": 1}` and its like.
#[wasm_bindgen]
pub fn apply(record: &str, at_ms: f64, event: &str) -> Result<String, JsError> {
    let mut run = read(record)?;
    let event = documents::event::read(event)
        .map_err(|error| JsError::new(&format!("the event is malformed: {error}")))?;
    // Saturates: a time that no calendar has is clamped anyway.
    run.apply(Timestamp::from_millis(at_ms as i64), &event)
        .map_err(|refusal| JsError::new(&refusal.to_string()))?;
    write(&run)
}

/// What should happen to a run now.
#[wasm_bindgen]
pub fn next(record: &str) -> Result<String, JsError> {
    Ok(documents::next::next(&read(record)?).to_string())
}

/// The summary of a run, as `onloop summary --json` prints it.
#[wasm_bindgen]
pub fn view(record: &str) -> Result<String, JsError> {
    Ok(documents::summary::summary(&read(record)?).to_string())
}

/// What the record of a run proves, as `onloop receipt --json` prints it.
#[wasm_bindgen]
pub fn receipt(record: &str) -> Result<String, JsError> {
    Ok(documents::receipt::receipt(&read(record)?).to_string())
}

/// The report of a run: Markdown.
#[wasm_bindgen]
pub fn report(record: &str) -> Result<String, JsError> {
    Ok(run::render_report(&read(record)?))
}

/// The final summary as `platform` (`claude`, `codex`, `cline`) shows it.
#[wasm_bindgen]
pub fn summary(record: &str, platform: &str) -> Result<String, JsError> {
    let platform = match platform {
        "claude" => Platform::Claude,
        "codex" => Platform::Codex,
        "cline" => Platform::Cline,
        other => {
            let other = onloop_core::text::one_line(other);
            let message =
                format!("`{other}` is no platform; expected `claude`, `codex` or `cline`");
            return Err(JsError::new(&message));
        }
    };
    Ok(run::render_summary(&read(record)?, platform))
}

/// What an agent is told to do for a step.
#[wasm_bindgen]
pub fn prompt(record: &str, step: u32) -> Result<String, JsError> {
    let run = read(record)?;
    match run.step(step) {
        Some(found) => Ok(step_prompt(&run, found)),
        None => Err(JsError::new(&format!("the run has no step {step}"))),
    }
}

/// Panics, so that tests can see what becomes of it.
#[wasm_bindgen]
pub fn panic_for_tests(message: &str) {
    panic!("{message}");
}

/// A finding as JavaScript gets it.
pub fn finding(utf16: &Utf16<'_>, found: &Diagnostic) -> Value {
    let fix = found.fix.as_ref();
    let fix = fix.map(|fix| json!({ "title": fix.title, "edits": utf16.edits(&fix.edits) }));
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut finding = utf16.placed(found.span);
    finding["code"] = json!(found.code);
    finding["severity"] = json!(severity);
    finding["message"] = json!(found.message);
    finding["help"] = json!(found.help);
    finding["fix"] = json!(fix);
    finding
}

fn place(path: &str, given: &Value, slug: &str, id: &str) -> Place {
    let text = |name: &str| given[name].as_str().map(str::to_owned);
    Place {
        workflow_path: text("workflow_path").unwrap_or_else(|| path.to_owned()),
        source_workflow_path: text("source_workflow_path"),
        source_branch: text("source_branch"),
        source_head: text("source_head"),
        branch: text("branch"),
        repo_root: text("repo_root"),
        execution_root: text("execution_root").unwrap_or_default(),
        worktree_path: text("worktree_path"),
        executor_mode: text("executor_mode").unwrap_or_else(|| "none".to_owned()),
        driver: text("driver"),
        host: text("host"),
        slug: slug.to_owned(),
        report_path: text("report_path").unwrap_or_else(|| format!(".hotl/reports/{id}.md")),
    }
}

fn whole_number(document: &Value, name: &str) -> Result<i64, JsError> {
    let expected = || JsError::new(&format!("`{name}` is missing; expected a whole number"));
    document[name].as_i64().ok_or_else(expected)
}

fn read(record: &str) -> Result<Run, JsError> {
    documents::run::read(record.as_bytes()).map_err(|error| JsError::new(&error.to_string()))
}

fn write(run: &Run) -> Result<String, JsError> {
    Ok(String::from_utf8(documents::run::write(run))?)
}
