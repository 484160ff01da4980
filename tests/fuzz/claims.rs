//! What holds for any bytes. Panics when it does not; shared by the fuzz targets and by the
//! tests that mutate saved files.

use onloop_core::documents;
use onloop_core::documents::ledger;
use onloop_core::effect::{
    Failure, FailureKind, Outcome, Reply, Request, Say, Start, Turn, Version,
};
use onloop_core::hooks::{AnswerForm, Host};
use onloop_core::run::{Platform, render_report, render_summary};
use onloop_core::time::Timestamp;
use onloop_core::workflow;
use serde_json::Value;

/// A parser never fails, points into the file, and accepts exactly what has no error.
pub(crate) fn workflow(bytes: &[u8]) {
    let parsed = workflow::parse("hotl-workflow-w.md", bytes);
    let is_error = |found: &onloop_core::diagnostic::Diagnostic| {
        found.severity == onloop_core::diagnostic::Severity::Error
    };
    assert_eq!(parsed.plan.is_none(), parsed.diagnostics.iter().any(is_error));
    for found in &parsed.diagnostics {
        let span = found.span;
        assert!(span.start <= span.end && span.end <= bytes.len(), "{found:?}");
    }
    for found in &parsed.checkboxes {
        let mark = bytes.get(found.offset).expect("a box is in the file");
        assert!(b" xX".contains(mark), "{mark}");
        assert_eq!(found.ticked, *mark != b' ');
    }
    if let Some(plan) = parsed.plan {
        assert!(!plan.steps.is_empty());
        let again = workflow::parse("hotl-workflow-w.md", bytes);
        assert_eq!(again.plan.as_ref().map(|again| &again.digest), Some(&plan.digest));
    }
}

/// What is read is written in a form that reads as the same, and everything made from it can
/// be made.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(run) = documents::run::read(bytes) else { return };
    let _ = run.next();
    render_report(&run);
    for platform in [Platform::Codex, Platform::Claude, Platform::Cline] {
        render_summary(&run, platform);
    }
    let written = documents::run::write(&run);
    let again = documents::run::read(&written).expect("what was written can be read");
    let twice = documents::run::write(&again);
    assert!(written == twice, "a second rewrite differs");
}

/// An event that is read is written as a line that reads as the same.
pub(crate) fn events(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let read = |line| documents::event::read(std::str::from_utf8(line).ok()?).ok();
    for event in lines.filter_map(read) {
        let mut line = Vec::new();
        let before = ledger::Head { seq: 1, sha256: String::new() };
        ledger::append(&mut line, &before, Timestamp::EPOCH, &event, None);
        let line = std::str::from_utf8(&line).expect("JSON is UTF-8");
        assert_eq!(documents::event::read(line), Ok(event));
    }
}

/// The first byte chooses the host, from `A` on in the order of their list.
pub(crate) fn host_and_input(bytes: &[u8]) -> (Host, &[u8]) {
    let (&choice, input) = bytes.split_first().unwrap_or((&b'A', &[]));
    (Host::ALL[usize::from(choice.wrapping_sub(b'A')) % Host::ALL.len()], input)
}

/// Any input of a hook gets the answer of its host: none, or one whole document of a known
/// form, and a permission only for a call that was understood.
pub(crate) fn hook(bytes: &[u8]) {
    let (host, input) = host_and_input(bytes);
    let said = answer_of_hook(host, input);
    let read = host.read(input);
    let form = read.as_ref().ok().map(|input| input.event.answer_form());
    if said.is_empty() {
        let silent = match (host, form.or_else(|| host.refused_form(input))) {
            // An event that nobody knows is never met with silence.
            (_, None) => false,
            // Here silence is the answer for everything but a refusal.
            (Host::Codex, Some(_)) => true,
            (Host::Cline, Some(_)) => false,
            (Host::Cursor, Some(form)) => {
                !matches!(form, AnswerForm::ToolCall | AnswerForm::Prompt)
            }
            (_, Some(form)) => form != AnswerForm::ToolCall,
        };
        assert!(silent, "{host:?} heard nothing about {read:?}");
        return;
    }
    let document = said.strip_suffix('\n').expect("a line");
    let document: Value = serde_json::from_str(document).expect("one whole document");
    let shape = shape(host, &document).unwrap_or_else(|| panic!("{host:?} knows no {document}"));
    if form.is_none() {
        assert_ne!(shape, "allow", "{host:?} {document}");
        let is_call = matches!(host.refused_form(input), None | Some(AnswerForm::ToolCall));
        assert!(!is_call || matches!(shape, "deny" | "ask"), "{host:?} {document}");
    }
    assert!(host != Host::Codex || shape != "ask", "{document}");
}

/// Whatever a client sends, it hears whole messages, one answer for each request at most, and
/// the conversation ends when its input does.
pub(crate) fn mcp(bytes: &[u8]) {
    let mut program = onloop_core::cli::program(Start::example(["onloop", "mcp"]));
    let (mut reply, mut input, mut said) = (None, Some(bytes.to_vec()), String::new());
    loop {
        let request = match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                assert_eq!(exit.code(), 0);
                break;
            }
            Turn::Request(request) => request,
        };
        let outcome = match request {
            Request::ReadInput { .. } => {
                Ok(Outcome::Input { bytes: input.take().unwrap_or_default().into() })
            }
            Request::Say(Say::Result(text)) => {
                said.push_str(&text);
                Ok(Outcome::Done)
            }
            Request::Canonical { path } => Ok(Outcome::Path { path }),
            Request::Process(_) | Request::Write { .. } => {
                panic!("nothing is there to run or to change")
            }
            _ => Err(Failure::new(FailureKind::NotFound, "no such file or folder")),
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome });
    }
    assert!(said.is_empty() || said.ends_with('\n'));
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).expect("one whole document a line");
        for message in line.as_array().map_or(std::slice::from_ref(&line), Vec::as_slice) {
            assert_eq!(message["jsonrpc"], "2.0");
            let kinds = ["result", "error", "method"];
            let found = kinds.iter().filter(|kind| message.get(**kind).is_some()).count();
            assert_eq!(found, 1, "{message}");
        }
    }
}

/// Runs the whole program against a machine with nothing on it.
fn answer_of_hook(host: Host, input: &[u8]) -> String {
    let mut program = onloop_core::cli::program(Start::example(["onloop", "hook", host.as_str()]));
    let (mut reply, mut input, mut said) = (None, Some(input.to_vec()), String::new());
    loop {
        let request = match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                assert_eq!(exit.code(), 0);
                return said;
            }
            Turn::Request(request) => request,
        };
        let missing = || Err(Failure::new(FailureKind::NotFound, "no such file or folder"));
        let outcome = match request {
            Request::ReadInput { .. } => Ok(Outcome::Input { bytes: input.take().unwrap_or_default().into() }),
            Request::Say(Say::Result(text)) => {
                assert!(said.is_empty(), "a hook speaks once");
                said = text;
                Ok(Outcome::Done)
            }
            Request::Write { .. } => Ok(Outcome::Written { version: Version("1".to_owned()) }),
            Request::Lock { .. } | Request::Unlock { .. } | Request::Say(Say::Note(_)) => {
                Ok(Outcome::Done)
            }
            Request::Canonical { path } if path == "/demo" => Ok(Outcome::Path { path }),
            // A call that waited and is decided now.
            Request::Remove { path } if path.contains("/approvals/pending/") => missing(),
            Request::Read { .. }
            | Request::ReadTail { .. }
            | Request::Stat { .. }
            | Request::List { .. }
            | Request::Canonical { .. }
            // No model is installed there.
            | Request::Process(_) => missing(),
            other => panic!("a hook has no need of {other:?}"),
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome });
    }
}

/// What a document says to its host; `None`: the host would not understand it.
fn shape(host: Host, document: &Value) -> Option<&'static str> {
    match host {
        Host::Claude | Host::Codex | Host::VsCode => {
            if document["systemMessage"].is_string() {
                return members(document, &["systemMessage"]).map(|()| "tell");
            }
            if document["decision"] == "block" && host != Host::VsCode {
                let reasoned = document["reason"].as_str().is_some_and(|text| !text.is_empty());
                return members(document, &["decision", "reason"])
                    .filter(|()| reasoned)
                    .map(|()| "block");
            }
            members(document, &["hookSpecificOutput"])?;
            let said = &document["hookSpecificOutput"];
            match said["hookEventName"].as_str()? {
                "PreToolUse" => {
                    let known = ["hookEventName", "permissionDecision", "permissionDecisionReason"];
                    members(said, &known)?;
                    said["permissionDecisionReason"].as_str().filter(|text| !text.is_empty())?;
                    word(&said["permissionDecision"])
                }
                "PermissionRequest" => {
                    members(said, &["hookEventName", "decision"])?;
                    members(&said["decision"], &["behavior", "message"])?;
                    word(&said["decision"]["behavior"]).filter(|word| *word != "ask")
                }
                "Stop" if host == Host::VsCode => {
                    members(said, &["hookEventName", "decision", "reason"])?;
                    word(&said["decision"])
                }
                _ => None,
            }
        }
        Host::Cursor => {
            if document["continue"] == true {
                return members(document, &["continue"]).map(|()| "continue");
            }
            if document["followup_message"].is_string() {
                return members(document, &["followup_message"]).map(|()| "block");
            }
            members(document, &["permission", "user_message", "agent_message"])?;
            word(&document["permission"])
        }
        Host::OpenCode => {
            if document["continue"] == true {
                return members(document, &["continue", "prompt"]).map(|()| "block");
            }
            if document["message"].is_string() {
                return members(document, &["message"]).map(|()| "tell");
            }
            members(document, &["decision", "reason"])?;
            word(&document["decision"])
        }
        Host::Cline => shape_for_cline(document),
        Host::Copilot => shape_for_copilot(document),
    }
}

fn shape_for_cline(document: &Value) -> Option<&'static str> {
    if document["cancel"] == false {
        return members(document, &["cancel"]).map(|()| "continue");
    }
    members(document, &["cancel", "errorMessage"])?;
    document["errorMessage"].as_str().map(|_| "deny")
}

fn shape_for_copilot(document: &Value) -> Option<&'static str> {
    if document["decision"] == "block" {
        return members(document, &["decision", "reason"]).map(|()| "block");
    }
    members(document, &["permissionDecision", "permissionDecisionReason"])?;
    word(&document["permissionDecision"])
}

/// Nothing but these members.
fn members(value: &Value, allowed: &[&str]) -> Option<()> {
    value.as_object()?.keys().all(|key| allowed.contains(&key.as_str())).then_some(())
}

fn word(value: &Value) -> Option<&'static str> {
    ["allow", "ask", "deny", "block"].into_iter().find(|word| value.as_str() == Some(word))
}
