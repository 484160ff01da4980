//! What extensions exchange with sessions that go on by themselves: the configuration, a stop and
//! what comes of it, the events of agent hosts and the answers to them.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use onloop_permission::Call;
use onloop_sessions::handsoff::config::{Config, CustomWorkflow};
use onloop_sessions::handsoff::transcript::{self, Evidence};
use onloop_sessions::handsoff::{HostCap, StopFacts};
use onloop_sessions::hooks::{AnswerForm, HookAnswer, HookEvent, HookInput};

/// A configuration with its notes. The bot's token is not a part of it.
pub fn config(config: &Config) -> Value {
    let supervisor = &config.supervisor;
    let telegram = config.telegram.as_ref().map(|telegram| {
        json!({
            "chat_id": telegram.chat_id,
            "timeout_ms": telegram.timeout_ms,
            "poll_interval_ms": telegram.poll_interval_ms,
            "allowed_user_ids": telegram.allowed_user_ids,
        })
    });
    let workflow = |own: &CustomWorkflow| json!({ "command": own.command, "name": own.name, "prompt_file": own.prompt_file });
    json!({
        "enabled": config.enabled,
        "max_continuations": config.max_continuations,
        "auto_permission": config.auto_permission,
        "debug": config.debug,
        "supervisor": {
            "provider": supervisor.provider.as_str(),
            "model": supervisor.model,
            "flags": supervisor.flags,
        },
        "telegram": telegram,
        "workflows": config.workflows.iter().map(workflow).collect::<Vec<_>>(),
        "notes": config.notes,
    })
}

/// A command of the user's own and its workflow.
#[derive(Clone, Debug, Deserialize)]
pub struct OwnWorkflow {
    /// What a prompt begins with; `/` and a word.
    pub command: String,
    /// Its name in session files.
    pub name: String,
}

/// An agent wants to stop, and what is known about that.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopDocument {
    max_continuations: u32,
    #[serde(default)]
    host_cap: Option<CapDocument>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    tools: Option<bool>,
    #[serde(default)]
    api_error: Option<String>,
    #[serde(default)]
    transcript: Option<TranscriptDocument>,
    /// The session's file, as the agent is told it.
    pub file: String,
    /// How a person opens the session again.
    pub resume: String,
    /// The cached plan.
    #[serde(default)]
    pub plan: Option<PlanDocument>,
    /// Replaces the text that comes with the workflow.
    #[serde(default)]
    pub template: Option<String>,
    /// The record of the run that the session may drive.
    #[serde(default)]
    pub run: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CapDocument {
    InARow(u32),
    Total(u32),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscriptDocument {
    tail: String,
    whole: bool,
}

/// Path and text of a cached plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDocument {
    /// Where it lies.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl StopDocument {
    /// Parses the JSON document.
    ///
    /// # Errors
    ///
    /// When a member is missing, unknown or not of its type.
    pub fn read(json: &str) -> Result<StopDocument, MalformedStop> {
        serde_json::from_str(json).map_err(|error| MalformedStop(error.to_string()))
    }

    /// What is known about the stop. Members of the document take precedence over what the
    /// transcript shows.
    pub fn stop(&self) -> StopFacts {
        let shown = match &self.transcript {
            Some(transcript) => transcript::read(transcript.tail.as_bytes(), transcript.whole),
            None => Evidence::default(),
        };
        StopFacts {
            configured: self.max_continuations,
            cap: match self.host_cap {
                None => HostCap::None,
                Some(CapDocument::InARow(cap)) => HostCap::InARow(cap),
                Some(CapDocument::Total(cap)) => HostCap::Total(cap),
            },
            evidence: Evidence {
                message: self.message.clone().or(shown.message),
                tools: self.tools.or(shown.tools),
                api_error: self.api_error.clone().or(shown.api_error),
                ..shown
            },
            run_revision: None,
        }
    }
}

/// A stop that is not a document of that form; the parser's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stop is malformed: {0}")]
pub struct MalformedStop(String);

/// What a host tells its hooks, in one form for all hosts.
pub fn hook_input(input: &HookInput) -> Value {
    let with_call = |event: &str, call: &Call| json!({ "event": event, "tool": call.tool, "input": call.input });
    let mut document = match &input.event {
        HookEvent::Prompt { text, id, typed } => {
            json!({ "event": "prompt", "text": text, "id": id, "typed": typed })
        }
        HookEvent::ToolCall(call) => with_call("tool-call", call),
        HookEvent::PermissionRequest(call) => with_call("permission-request", call),
        HookEvent::ToolDone { call, output } => {
            let mut document = with_call("tool-done", call);
            document["output"] = json!(output);
            document
        }
        HookEvent::Stop(stop) => {
            json!({ "event": "stop", "message": stop.message, "broken_off": stop.broken_off })
        }
        HookEvent::Compacted => json!({ "event": "compacted" }),
        // The answer to it is an exit code, which this form has no word for.
        HookEvent::StopFailed(_) | HookEvent::Other => json!({ "event": "other" }),
    };
    document["session"] = json!(input.session);
    document["cwd"] = json!(input.cwd);
    document["transcript"] = json!(input.transcript);
    document
}

/// The form of the answer to an event that [`hook_input`] calls `event`.
pub fn answer_form_of(event: &str) -> Option<AnswerForm> {
    Some(match event {
        "prompt" => AnswerForm::Prompt,
        "tool-call" => AnswerForm::ToolCall,
        "permission-request" => AnswerForm::PermissionRequest,
        "stop" => AnswerForm::Stop,
        "compacted" => AnswerForm::Compacted,
        "tool-done" | "other" => AnswerForm::Other,
        _ => return None,
    })
}

/// Why an answer to a hook cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedAnswer {
    /// It is not a JSON object of strings; the parser's message.
    #[error("the answer is malformed: {0}")]
    NotJson(String),
    /// Its members do not belong together, or are not known.
    #[error(
        "an answer is one of `decision` with its `reason`, `continue`, `system_message` and `additional_context`"
    )]
    UnknownMembers,
    /// The value of `decision`.
    #[error(
        "found decision `{}`, expected `allow`, `ask`, `deny` or `defer`",
        onloop_syntax::text::one_line(.0)
    )]
    UnknownDecision(String),
}

/// Reads the answer to a host: `{"decision", "reason"}`, `{"continue"}`, `{"system_message"}`, `{"additional_context"}` or
/// `{}`.
///
/// # Errors
///
/// When it is none of these.
pub fn read_answer(json: &str) -> Result<HookAnswer, MalformedAnswer> {
    let members: BTreeMap<String, String> =
        serde_json::from_str(json).map_err(|error| MalformedAnswer::NotJson(error.to_string()))?;
    let members: Vec<(&str, &str)> =
        members.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    match members[..] {
        [] => Ok(HookAnswer::Nothing),
        [("decision", word)] => decided(word, ""),
        [("decision", word), ("reason", reason)] => decided(word, reason),
        [("continue", prompt)] => Ok(HookAnswer::Continue(prompt.to_owned())),
        [("system_message", message)] => Ok(HookAnswer::SystemMessage(message.to_owned())),
        [("additional_context", text)] => Ok(HookAnswer::AdditionalContext(text.to_owned())),
        _ => Err(MalformedAnswer::UnknownMembers),
    }
}

fn decided(word: &str, reason: &str) -> Result<HookAnswer, MalformedAnswer> {
    let reason = reason.to_owned();
    match word.parse() {
        Ok(decision) => Ok(HookAnswer::Decided(decision, reason)),
        Err(_) if word == "defer" => Ok(HookAnswer::Deferred(reason)),
        Err(_) => Err(MalformedAnswer::UnknownDecision(word.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_permission::Decision;
    use onloop_sessions::hooks::Host;

    #[test]
    fn an_answer_is_one_thing() {
        let decided = |decision, reason: &str| Ok(HookAnswer::Decided(decision, reason.to_owned()));
        let table = [
            ("{}", Ok(HookAnswer::Nothing)),
            (r#"{"decision": "allow"}"#, decided(Decision::Allow, "")),
            (r#"{"decision": "ask", "reason": "why"}"#, decided(Decision::Ask, "why")),
            (r#"{"decision": "deny", "reason": "no"}"#, decided(Decision::Deny, "no")),
            (r#"{"decision": "defer"}"#, Ok(HookAnswer::Deferred(String::new()))),
            (r#"{"continue": "Go on."}"#, Ok(HookAnswer::Continue("Go on.".to_owned()))),
            (
                r#"{"system_message": "It rains."}"#,
                Ok(HookAnswer::SystemMessage("It rains.".to_owned())),
            ),
            (
                r#"{"additional_context": "Plan."}"#,
                Ok(HookAnswer::AdditionalContext("Plan.".to_owned())),
            ),
            (r#"{"decision": "yes"}"#, Err("found decision `yes`, expected")),
            (r#"{"decision": "deny", "system_message": "x"}"#, Err("an answer is one of")),
            (r#"{"reason": "x"}"#, Err("an answer is one of")),
            (r#"{"allow": true}"#, Err("the answer is malformed")),
            (r#"{"allow": "yes"}"#, Err("an answer is one of")),
            ("[]", Err("the answer is malformed")),
        ];
        for (json, expected) in table {
            match (read_answer(json), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{json}"),
                (Err(found), Err(expected)) => {
                    assert!(found.to_string().contains(expected), "{found}")
                }
                (found, expected) => panic!("{json}: {found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn every_event_has_a_name_whose_answer_has_its_form() {
        let inputs = [
            r#"{"hook_event_name": "UserPromptSubmit", "prompt": "hi", "session_id": "s1"}"#,
            r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}"#,
            r#"{"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {}}"#,
            r#"{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}}"#,
            r#"{"hook_event_name": "Stop"}"#,
            r#"{"hook_event_name": "SessionStart", "source": "compact"}"#,
            r#"{"hook_event_name": "SessionStart", "source": "startup"}"#,
        ];
        let names = inputs.map(|input| {
            let input = Host::Claude.read(input.as_bytes()).unwrap();
            let name = hook_input(&input)["event"].as_str().unwrap().to_owned();
            assert_eq!(answer_form_of(&name), Some(input.event.answer_form()), "{name}");
            name
        });
        let expected = [
            "prompt",
            "tool-call",
            "permission-request",
            "tool-done",
            "stop",
            "compacted",
            "other",
        ];
        assert_eq!(names, expected);
        assert_eq!(answer_form_of("PreToolUse"), None);
    }

    #[test]
    fn words_go_before_the_transcript() {
        let stop = |json: &str| {
            let document = StopDocument::read(json).map_err(|error| error.to_string())?;
            Ok::<_, String>(document.stop())
        };
        let with =
            |more: &str| format!(r#"{{"max_continuations": 3, "file": "f", "resume": "r"{more}}}"#);
        let transcript = r#", "transcript": {"tail": "{\"type\": \"assistant\", \"message\": {\"content\": [{\"type\": \"text\", \"text\": \"Done.\"}]}}\n", "whole": true}"#;
        let found = stop(&with(transcript)).unwrap();
        assert_eq!(found.evidence.message.as_deref(), Some("Done."));
        let found = stop(&with(&format!(r#"{transcript}, "message": "Said.""#))).unwrap();
        assert_eq!(found.evidence.message.as_deref(), Some("Said."));
        let found = stop(&with(r#", "host_cap": {"in_a_row": 8}"#)).unwrap();
        assert_eq!((found.configured, found.cap), (3, HostCap::InARow(8)));
        assert!(stop("{}").unwrap_err().contains("missing field `max_continuations`"));
        assert!(stop(&with(r#", "host_cap": {"ever": 8}"#)).unwrap_err().contains("unknown"));
    }
}
