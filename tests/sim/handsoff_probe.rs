//! What hooks use of hands-off mode, as verbs of a process of its own: asking about a call,
//! putting one off, fetching its answer, asking a supervisor.

use std::process::ExitCode;

use onloop_core::effect::{Exit, Io, Program};
use onloop_core::engine::approval::{Escalation, Resolution, escalate, pending};
use onloop_core::engine::session::supervisor::{self, Supervision};
use onloop_core::engine::state::config;
use onloop_core::handsoff::approval::message::whole;
use serde_json::json;

fn main() -> ExitCode {
    onloop::main_with(|start| Program::new(start, probe))
}

async fn probe(io: Io) -> Exit {
    let words: Vec<String> = io.start().argv.iter().skip(1).cloned().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = match words[..] {
        ["escalate", session, target, time_left_ms] => {
            let escalation = Escalation {
                session_id: session.to_owned(),
                cwd: io.start().cwd.clone(),
                tool: "Bash".to_owned(),
                target_text: whole(&json!({ "command": target })),
                reason: "no rule decides".to_owned(),
                context: String::new(),
                only_a_person: false,
                time_left_ms: time_left_ms.parse().unwrap_or(0),
                call_id: Some(pending::call_id(session, "Bash", &json!({ "command": target }))),
                defers: io.env("DEFERS").is_some(),
            };
            let loaded = config::load(&io, &io.start().cwd).await;
            match escalate(&io, &loaded.config, &escalation).await {
                Resolution::Allow(_) => "allow".to_owned(),
                Resolution::Deny { why, .. } => format!("deny: {why}"),
                Resolution::NoAnswer(why) => format!("no answer: {why}"),
            }
        }
        ["defer", session, command] => {
            let input = json!({ "command": command });
            let call = pending::Deferred {
                session_id: session,
                cwd: &io.start().cwd.clone(),
                tool: "Bash",
                input: &input,
                target_text: &whole(&input),
                reason: "no rule decides",
            };
            match pending::defer(&io, &call).await {
                Ok(id) => id,
                Err(failure) => format!("{:?}", failure.kind),
            }
        }
        ["consume", session, command] => {
            let input = json!({ "command": command });
            match pending::consume(&io, session, "Bash", &input).await {
                Ok(Some(waited)) => waited.choice.as_str().to_owned(),
                Ok(None) => "nothing".to_owned(),
                Err(failure) => format!("{:?}", failure.kind),
            }
        }
        ["supervise", conversation] => {
            let loaded = config::load(&io, &io.start().cwd).await;
            let about = Supervision {
                session: "s1",
                cwd: &io.start().cwd.clone(),
                workflow: "issue-to-impl",
                number: 2,
                most: 8,
                own_prompt: "go on",
                conversation,
                time_left_ms: 60_000,
            };
            let said = supervisor::prompt(&io, &loaded.config, &about).await;
            said.unwrap_or_else(|| "nothing".to_owned())
        }
        _ => return Exit::Usage,
    };
    io.result(format!("{said}\n")).await;
    Exit::Done
}
