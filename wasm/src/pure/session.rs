//! Agent sessions that continue on their own, and the messages of agent hosts.
//!
//! A session is the text of its file; its id is the name of that file, and comes beside it.

use onloop_core::documents;
use onloop_core::documents::handsoff::{OwnWorkflow, StopDocument};
use onloop_core::engine::run::instruction::instruction;
use onloop_core::handsoff::command::{Started, detect};
use onloop_core::handsoff::config::Config;
use onloop_core::handsoff::prompt::{self, PromptFacts, RunAdvice};
use onloop_core::handsoff::{
    Prompt, Session, SessionEnding, SessionId, SessionState, StopFacts, StopVerdict,
};
use onloop_core::hooks::{Host, unknown_host};
use onloop_core::run::Run;
use onloop_core::time::Timestamp;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// The workflow whose command a prompt begins with: `{"workflow", "issue_no", "pr_no"}`, or
/// nothing. `own` is a list of `{"command", "name"}`.
#[wasm_bindgen]
pub fn started_by(prompt: &str, own: &str) -> Result<Option<String>, JsError> {
    let Some(started) = detected(prompt, own)? else { return Ok(None) };
    let document = json!({
        "workflow": started.workflow,
        "issue_no": started.issue_no,
        "pr_no": started.pr_no,
    });
    Ok(Some(document.to_string()))
}

fn detected(prompt: &str, own: &str) -> Result<Option<Started>, JsError> {
    let own: Vec<OwnWorkflow> = serde_json::from_str(own)?;
    let own: Vec<(&str, &str)> =
        own.iter().map(|own| (own.command.as_str(), own.name.as_str())).collect();
    Ok(detect(prompt, &own))
}

/// The session that a prompt starts, or nothing.
#[wasm_bindgen]
pub fn session_begin(
    id: &str,
    prompt: &str,
    at_ms: f64,
    own: &str,
) -> Result<Option<String>, JsError> {
    let Some(started) = detected(prompt, own)? else { return Ok(None) };
    write(&Session::begin(session_id(id)?, started, at(at_ms))).map(Some)
}

/// The session after somebody has typed something that starts no workflow.
#[wasm_bindgen]
pub fn session_prompted(
    id: &str,
    session: &str,
    at_ms: f64,
    text: &str,
    prompt_id: Option<String>,
) -> Result<String, JsError> {
    let mut session = read(id, session)?;
    session.prompted(at(at_ms), Prompt { text, id: prompt_id.as_deref() });
    write(&session)
}

/// The agent wants to stop: `{"session", "said", …}`.
#[wasm_bindgen]
pub fn session_stopped(id: &str, session: &str, at_ms: f64, stop: &str) -> Result<String, JsError> {
    let mut session = read(id, session)?;
    let document = StopDocument::read(stop)?;
    let run = match &document.run {
        Some(record) => Some(super::read(record)?),
        None => None,
    };
    let mut said = match run {
        Some(run) if !run.is_over() && session.works_on(&run) => {
            by_record(&mut session, at(at_ms), &document, &run)
        }
        // Only the record of its run can send it on.
        Some(_) | None if session.workflow == Session::RUN => nothing(),
        Some(_) | None => by_workflow(&mut session, at(at_ms), &document),
    };
    said["session"] = json!(write(&session)?);
    Ok(said.to_string())
}

fn nothing() -> Value {
    json!({ "said": "nothing" })
}

fn by_workflow(session: &mut Session, at: Timestamp, document: &StopDocument) -> Value {
    settled(session, at, document, &document.stop(), |session, facts| {
        prompt::continuation(session, facts, document.template.as_deref())
    })
}

fn by_record(session: &mut Session, at: Timestamp, document: &StopDocument, run: &Run) -> Value {
    let next = instruction(run);
    let body = match prompt::run_advice(run, next.action, next.command()) {
        RunAdvice::Continue(body) => body,
        RunAdvice::Message(message) => return json!({ "said": "message", "message": message }),
        RunAdvice::Over => return nothing(),
    };
    session.drive(run, at);
    let stop = StopFacts { run_revision: Some(run.revision), ..document.stop() };
    settled(session, at, document, &stop, |session, facts| {
        prompt::framed(session, facts, &prompt::run_title(run), &body)
    })
}

fn settled(
    session: &mut Session,
    at: Timestamp,
    document: &StopDocument,
    stop: &StopFacts,
    render: impl FnOnce(&Session, PromptFacts<'_>) -> String,
) -> Value {
    match session.stopped(at, stop) {
        StopVerdict::Rest => nothing(),
        StopVerdict::End(why) => json!({ "said": "over", "reason": why.to_string() }),
        StopVerdict::Continue { number, maximum } => {
            let StopDocument { file, resume, plan, .. } = document;
            let plan = plan.as_ref().map(|plan| (plan.path.as_str(), plan.text.as_str()));
            let prompt = render(session, PromptFacts { number, maximum, file, resume, plan });
            session.sent_on(&prompt);
            json!({ "said": "continue", "prompt": prompt, "number": number, "maximum": maximum })
        }
    }
}

/// The session after somebody has ended it with `done`, `error` or `stopped`.
#[wasm_bindgen]
pub fn session_end(
    id: &str,
    session: &str,
    at_ms: f64,
    ending: &str,
    reason: Option<String>,
) -> Result<String, JsError> {
    let mut session = read(id, session)?;
    let ending = match SessionState::from(ending) {
        SessionState::Ended(
            ending @ (SessionEnding::Done | SessionEnding::Error | SessionEnding::Stopped),
        ) => ending,
        SessionState::Ended(SessionEnding::Completed | SessionEnding::Failed)
        | SessionState::Open(_) => {
            let ending = onloop_core::text::one_line(ending);
            let known = "`done`, `error` or `stopped`";
            return Err(JsError::new(&format!("found ending `{ending}`, expected {known}")));
        }
    };
    session.end(at(at_ms), ending, reason.as_deref());
    write(&session)
}

/// The session as `onloop session show --json` prints it.
#[wasm_bindgen]
pub fn session_view(id: &str, session: &str, file: &str) -> Result<String, JsError> {
    Ok(documents::session::shown(&read(id, session)?, file).to_string())
}

/// What `.agentize.local.yaml` in `folder` says, with what is odd in it. `variables` is an object
/// of environment variables, which go before the file.
#[wasm_bindgen]
pub fn read_config(yaml: &str, folder: &str, variables: &str) -> Result<String, JsError> {
    let variables: Value = serde_json::from_str(variables)?;
    let variable = |name: &str| variables[name].as_str().filter(|value| !value.is_empty());
    let config = Config::read(yaml, folder).with_environment(variable);
    Ok(documents::handsoff::config(&config).to_string())
}

/// What a host says to a hook: `{"event", "session", "cwd", "transcript", …}`.
#[wasm_bindgen]
pub fn hook_event(host: &str, input: &str) -> Result<String, JsError> {
    let host = known_host(host)?;
    let input = host.read(input.as_bytes()).map_err(|why| {
        JsError::new(&format!("{why}; `{}` writes such as {}", host.as_str(), example(host)))
    })?;
    Ok(documents::handsoff::hook_input(&input).to_string())
}

/// What a host writes to its hook before its agent lists a folder, for whoever has written something
/// else.
fn example(host: Host) -> &'static str {
    match host {
        Host::Claude | Host::Codex => {
            r#"{"hook_event_name": "PreToolUse", "session_id": "7f3a", "cwd": "/srv/repo", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#
        }
        Host::Cursor => {
            r#"{"hook_event_name": "beforeShellExecution", "conversation_id": "7f3a", "cwd": "/srv/repo", "command": "ls"}"#
        }
        Host::VsCode => {
            r#"{"hookEventName": "PreToolUse", "sessionId": "7f3a", "cwd": "/srv/repo", "tool_name": "runInTerminal", "tool_input": {"command": "ls"}}"#
        }
        Host::OpenCode => {
            r#"{"event": "tool.execute.before", "session_id": "7f3a", "cwd": "/srv/repo", "tool": "bash", "input": {"command": "ls"}}"#
        }
        Host::Cline => {
            r#"{"hookName": "PreToolUse", "taskId": "7f3a", "workspaceRoots": ["/srv/repo"], "preToolUse": {"toolName": "execute_command", "parameters": {"command": "ls"}}}"#
        }
        Host::Copilot => {
            r#"{"sessionId": "7f3a", "timestamp": 0, "cwd": "/srv/repo", "toolName": "bash", "toolArgs": "{\"command\": \"ls\"}"}"#
        }
    }
}

/// What a hook prints to say `answer` to an event of that name; empty: it has no opinion.
#[wasm_bindgen]
pub fn hook_answer(host: &str, event: &str, answer: &str) -> Result<String, JsError> {
    let host = known_host(host)?;
    let Some(form) = documents::handsoff::answer_form_of(event) else {
        let event = onloop_core::text::one_line(event);
        return Err(JsError::new(&format!("`{event}` is not an event of a hook")));
    };
    let answer = documents::handsoff::read_answer(answer)?;
    Ok(host.write(form, &answer))
}

fn known_host(word: &str) -> Result<Host, JsError> {
    word.parse().map_err(|_| JsError::new(&unknown_host(word)))
}

/// Saturates: a time that no calendar has is clamped anyway.
fn at(at_ms: f64) -> Timestamp {
    Timestamp::from_millis(at_ms as i64)
}

fn session_id(id: &str) -> Result<SessionId, JsError> {
    SessionId::new(id).ok_or_else(|| {
        let id = onloop_core::text::one_line(id);
        JsError::new(&format!("`{id}` cannot name a session"))
    })
}

fn read(id: &str, session: &str) -> Result<Session, JsError> {
    let read = documents::session::read(session_id(id)?, session.as_bytes(), None);
    read.map_err(|why| JsError::new(&format!("the session cannot be read: {why}")))
}

fn write(session: &Session) -> Result<String, JsError> {
    Ok(String::from_utf8(documents::session::write(session))?)
}

#[cfg(test)]
mod tests {
    use onloop_core::hooks::HookEvent;

    use super::*;

    #[test]
    fn every_example_is_a_call_in_a_session_and_a_folder() {
        for host in Host::ALL {
            let input = host.read(example(host).as_bytes()).expect("an example can be read");
            assert!(
                matches!(input.event, HookEvent::ToolCall(_)),
                "{}: {:?}",
                host.as_str(),
                input.event
            );
            assert_eq!(input.session.as_deref(), Some("7f3a"), "{}", host.as_str());
            assert_eq!(input.cwd.as_deref(), Some("/srv/repo"), "{}", host.as_str());
        }
    }
}
