//! What extensions exchange with sessions that go on by themselves: the configuration, a stop and
//! what comes of it, the events of agent hosts and the answers to them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::handsoff::config::{Config, CustomWorkflow};
use crate::handsoff::transcript::{self, Evidence};
use crate::handsoff::{HostCap, Stop};
use crate::hooks::{Answer, Event, Input, Kind};
use crate::permission::{Call, Decision};

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
    /// Reads one.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a clause.
    pub fn read(json: &str) -> Result<StopDocument, String> {
        serde_json::from_str(json).map_err(|error| format!("the stop is malformed: {error}"))
    }

    /// What is known. What is said in so many words goes before what the transcript shows.
    pub fn stop(&self) -> Stop {
        let shown = match &self.transcript {
            Some(transcript) => transcript::read(transcript.tail.as_bytes(), transcript.whole),
            None => Evidence::default(),
        };
        Stop {
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
                place: shown.place,
            },
            run_revision: None,
        }
    }
}

/// What a host says to its hooks, in one form for all hosts.
pub fn hook_input(input: &Input) -> Value {
    let with_call = |event: &str, call: &Call| json!({ "event": event, "tool": call.tool, "input": call.input });
    let mut document = match &input.event {
        Event::Prompt { text, id, typed } => {
            json!({ "event": "prompt", "text": text, "id": id, "typed": typed })
        }
        Event::ToolCall(call) => with_call("tool-call", call),
        Event::PermissionRequest(call) => with_call("permission-request", call),
        Event::ToolDone { call, output } => {
            let mut document = with_call("tool-done", call);
            document["output"] = json!(output);
            document
        }
        Event::Stop(stop) => {
            json!({ "event": "stop", "message": stop.message, "broken_off": stop.broken_off })
        }
        Event::Other => json!({ "event": "other" }),
    };
    document["session"] = json!(input.session);
    document["cwd"] = json!(input.cwd);
    document["transcript"] = json!(input.transcript);
    document
}

/// The form of the answer to an event of that name.
pub fn kind_of(event: &str) -> Option<Kind> {
    Some(match event {
        "prompt" => Kind::Prompt,
        "tool-call" => Kind::ToolCall,
        "permission-request" => Kind::PermissionRequest,
        "stop" => Kind::Stop,
        "tool-done" | "other" => Kind::Other,
        _ => return None,
    })
}

/// Reads what should be said to a host: `{"decision", "reason"}`, `{"go_on"}`, `{"tell"}` or `{}`.
///
/// # Errors
///
/// What was found and what was expected.
pub fn read_answer(json: &str) -> Result<Answer, String> {
    let members: BTreeMap<String, String> =
        serde_json::from_str(json).map_err(|error| format!("the answer is malformed: {error}"))?;
    let members: Vec<(&str, &str)> =
        members.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    match members[..] {
        [] => Ok(Answer::Nothing),
        [("decision", word)] => decided(word, ""),
        [("decision", word), ("reason", reason)] => decided(word, reason),
        [("go_on", prompt)] => Ok(Answer::Continue(prompt.to_owned())),
        [("tell", message)] => Ok(Answer::Tell(message.to_owned())),
        _ => Err("an answer is one of `decision` with its `reason`, `go_on` and `tell`".to_owned()),
    }
}

fn decided(word: &str, reason: &str) -> Result<Answer, String> {
    let reason = reason.to_owned();
    match word {
        "allow" => Ok(Answer::Decided(Decision::Allow, reason)),
        "ask" => Ok(Answer::Decided(Decision::Ask, reason)),
        "deny" => Ok(Answer::Decided(Decision::Deny, reason)),
        "defer" => Ok(Answer::Deferred(reason)),
        other => {
            let other = crate::text::one_line(other);
            Err(format!("found decision `{other}`, expected `allow`, `ask`, `deny` or `defer`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::Host;

    #[test]
    fn an_answer_is_one_thing() {
        let decided = |decision, reason: &str| Ok(Answer::Decided(decision, reason.to_owned()));
        let table = [
            ("{}", Ok(Answer::Nothing)),
            (r#"{"decision": "allow"}"#, decided(Decision::Allow, "")),
            (r#"{"decision": "ask", "reason": "why"}"#, decided(Decision::Ask, "why")),
            (r#"{"decision": "deny", "reason": "no"}"#, decided(Decision::Deny, "no")),
            (r#"{"decision": "defer"}"#, Ok(Answer::Deferred(String::new()))),
            (r#"{"go_on": "Go on."}"#, Ok(Answer::Continue("Go on.".to_owned()))),
            (r#"{"tell": "It rains."}"#, Ok(Answer::Tell("It rains.".to_owned()))),
            (r#"{"decision": "yes"}"#, Err("found decision `yes`, expected")),
            (r#"{"decision": "deny", "tell": "x"}"#, Err("an answer is one of")),
            (r#"{"reason": "x"}"#, Err("an answer is one of")),
            (r#"{"allow": true}"#, Err("the answer is malformed")),
            (r#"{"allow": "yes"}"#, Err("an answer is one of")),
            ("[]", Err("the answer is malformed")),
        ];
        for (json, expected) in table {
            match (read_answer(json), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{json}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
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
            r#"{"hook_event_name": "SessionStart"}"#,
        ];
        let names = inputs.map(|input| {
            let input = Host::Claude.read(input.as_bytes()).unwrap();
            let name = hook_input(&input)["event"].as_str().unwrap().to_owned();
            assert_eq!(kind_of(&name), Some(input.event.kind()), "{name}");
            name
        });
        let expected = ["prompt", "tool-call", "permission-request", "tool-done", "stop", "other"];
        assert_eq!(names, expected);
        assert_eq!(kind_of("PreToolUse"), None);
    }

    #[test]
    fn words_go_before_the_transcript() {
        let stop = |json: &str| StopDocument::read(json).map(|document| document.stop());
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
