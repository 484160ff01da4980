//! What agent hosts send to their hooks and what they accept as an answer.
//!
//! Each host has a module with one reader and one writer for exactly its own documents. They
//! share nothing but the events and answers below, because the documents look alike and mean
//! different things: what is a refusal for one host lets another one run the tool.
//!
//! Hosts also fail in different directions. [`Host::safe_answer`] is what a host understands
//! as "do not run it" for any event that could be a tool call; everything that goes wrong
//! ends there.

mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod opencode;
mod vscode;

use serde_json::Value;

use crate::permission::{Call, Decision};
use crate::syntax::strict_json;

/// A program that runs agents and calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// VS Code with Copilot.
    VsCode,
    /// opencode, through our own plugin.
    OpenCode,
    /// Cline.
    Cline,
    /// Copilot CLI.
    Copilot,
}

impl Host {
    /// The name that people know.
    pub fn title(self) -> &'static str {
        match self {
            Host::Claude => "Claude Code",
            Host::Codex => "Codex",
            Host::Cursor => "Cursor",
            Host::VsCode => "VS Code",
            Host::OpenCode => "opencode",
            Host::Cline => "Cline",
            Host::Copilot => "Copilot CLI",
        }
    }

    /// Every host.
    pub const ALL: [Host; 7] = [
        Host::Claude,
        Host::Codex,
        Host::Cursor,
        Host::VsCode,
        Host::OpenCode,
        Host::Cline,
        Host::Copilot,
    ];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Host::Claude => "claude",
            Host::Codex => "codex",
            Host::Cursor => "cursor",
            Host::VsCode => "vscode",
            Host::OpenCode => "opencode",
            Host::Cline => "cline",
            Host::Copilot => "copilot",
        }
    }

    /// The host of that name.
    pub fn from_word(word: &str) -> Option<Host> {
        Host::ALL.into_iter().find(|host| host.word() == word)
    }

    /// Understands the input of a hook.
    ///
    /// # Errors
    ///
    /// Why it cannot be understood, on one line.
    pub fn read(self, input: &[u8]) -> Result<Input, String> {
        let text = std::str::from_utf8(input).map_err(|_| "the input is not UTF-8".to_owned())?;
        let document = strict_json::parse(text)
            .map_err(|error| format!("the input is not JSON: {}", crate::text::one_line(&error)))?;
        if !document.is_object() {
            return Err("the input is not a JSON object".to_owned());
        }
        match self {
            Host::Claude => claude::read(&document),
            Host::Codex => codex::read(&document),
            Host::Cursor => cursor::read(&document),
            Host::VsCode => vscode::read(&document),
            Host::OpenCode => opencode::read(&document),
            Host::Cline => cline::read(&document),
            Host::Copilot => copilot::read(&document),
        }
    }

    /// The bytes that say `answer` to an event of `kind`; empty: no opinion.
    pub fn write(self, kind: &Kind, answer: &Answer) -> String {
        let asked = match answer {
            // No other host can put a call off.
            Answer::Deferred(why) if self != Host::Claude => {
                Some(Answer::Decided(Decision::Ask, why.clone()))
            }
            Answer::Deferred(_)
            | Answer::Nothing
            | Answer::Decided(..)
            | Answer::Continue(_)
            | Answer::Tell(_) => None,
        };
        let answer = asked.as_ref().unwrap_or(answer);
        let document = match self {
            Host::Claude => claude::write(kind, answer),
            Host::Codex => codex::write(kind, answer),
            Host::Cursor => cursor::write(kind, answer),
            Host::VsCode => vscode::write(kind, answer),
            Host::OpenCode => opencode::write(kind, answer),
            Host::Cline => cline::write(kind, answer),
            Host::Copilot => copilot::write(kind, answer),
        };
        document.map_or_else(String::new, |document| format!("{document}\n"))
    }

    /// The answer when nothing is known, not even the event: a tool call is not run, and
    /// every other event ignores it.
    pub fn safe_answer(self, reason: &str) -> String {
        let answer = match self {
            // Their form of asking stops a call where nobody is there to be asked.
            Host::Claude | Host::VsCode => Answer::Decided(Decision::Ask, reason.to_owned()),
            // Here asking lets the call run: always, or in one of the host's modes.
            Host::Codex | Host::Cursor | Host::OpenCode | Host::Cline | Host::Copilot => {
                Answer::Decided(Decision::Deny, reason.to_owned())
            }
        };
        self.write(&Kind::ToolCall, &answer)
    }

    /// How long the host waits for a hook unless its entry says otherwise.
    pub fn patience_ms(self) -> u64 {
        match self {
            Host::Claude | Host::Codex | Host::OpenCode => 600_000,
            Host::Cursor => 60_000,
            Host::VsCode | Host::Cline | Host::Copilot => 30_000,
        }
    }

    /// The command with which a person opens session `id` again.
    pub fn resume_command(self, id: &str) -> String {
        match self {
            Host::Claude => format!("`claude -r {id}`"),
            Host::Codex => format!("`codex resume {id}`"),
            Host::OpenCode => format!("`opencode -s {id}`"),
            Host::Copilot => format!("`copilot --resume {id}`"),
            Host::Cursor | Host::VsCode | Host::Cline => format!("the chat of session {id}"),
        }
    }
}

/// What happened, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The host's name for the session, unchecked.
    pub session: Option<String>,
    /// Absolute folder in which the agent works, where the host says so.
    pub cwd: Option<String>,
    /// File with the conversation, where the host says so.
    pub transcript: Option<String>,
    /// What happened.
    pub event: Event,
}

/// Something that happens in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A prompt is about to be sent to the agent.
    Prompt {
        /// Its text.
        text: String,
        /// The host's own number of it.
        id: Option<String>,
        /// Whether a person wrote it, as far as the host says.
        typed: bool,
    },
    /// The agent wants to use a tool.
    ToolCall(Call),
    /// The host is about to ask a person about a tool call.
    PermissionRequest(Call),
    /// A tool was used.
    ToolDone {
        /// The call.
        call: Call,
        /// What came of it, as text.
        output: String,
    },
    /// The agent wants to stop.
    Stop(StopInput),
    /// An event about which we have no opinion.
    Other,
}

/// What a host says when its agent wants to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopInput {
    /// What the agent said last.
    pub message: Option<String>,
    /// The agent was interrupted, or failed: it must not be sent on.
    pub broken_off: bool,
}

/// The form that an answer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To [`Event::Prompt`].
    Prompt,
    /// To [`Event::ToolCall`].
    ToolCall,
    /// To [`Event::PermissionRequest`].
    PermissionRequest,
    /// To [`Event::Stop`].
    Stop,
    /// To everything else.
    Other,
}

impl Event {
    /// The form of the answer.
    pub fn kind(&self) -> Kind {
        match self {
            Event::Prompt { .. } => Kind::Prompt,
            Event::ToolCall(_) => Kind::ToolCall,
            Event::PermissionRequest(_) => Kind::PermissionRequest,
            Event::Stop(_) => Kind::Stop,
            Event::ToolDone { .. } | Event::Other => Kind::Other,
        }
    }
}

/// What we have to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// About a tool call, with the reason.
    Decided(Decision, String),
    /// The tool call waits for a person, and the host ends meanwhile; why.
    Deferred(String),
    /// The agent goes on with this prompt.
    Continue(String),
    /// The person should know this.
    Tell(String),
}

/// A member that is a text.
fn text(document: &Value, key: &str) -> Option<String> {
    document[key].as_str().map(str::to_owned)
}

/// A member that is a text with something in it.
fn filled(document: &Value, key: &str) -> Option<String> {
    text(document, key).filter(|text| !text.trim().is_empty())
}

/// The tool call in `tool_name` and `tool_input`. Whatever the input is, it is judged; a call
/// without a name is not one.
fn call(document: &Value) -> Result<Call, String> {
    let tool = filled(document, "tool_name").ok_or("`tool_name` is missing")?;
    Ok(Call { tool, input: document["tool_input"].clone() })
}

/// What a tool answered, as text: a text, an object's `stdout` or `output`, or its JSON.
fn output(response: &Value) -> String {
    let parts = [response.as_str(), response["stdout"].as_str(), response["output"].as_str()];
    match parts.into_iter().flatten().next() {
        Some(text) => text.to_owned(),
        None if response.is_null() => String::new(),
        None => response.to_string(),
    }
}

/// Reasons end up in prompts, dialogs and logs: one line, not too long.
fn reason(reason: &str) -> String {
    const REASON_BYTES: usize = 2000;
    let line = crate::text::ellipsis(&crate::text::one_line(reason), REASON_BYTES);
    if line.is_empty() { "onloop gives no reason".to_owned() } else { line }
}

#[cfg(test)]
mod tests;
