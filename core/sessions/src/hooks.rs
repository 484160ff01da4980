//! What agent hosts send to their hooks and what they accept as an answer.
//!
//! Each host has a module with a reader and a writer for its own documents. Beyond the events
//! and answers below they share only what is the same to the byte: documents of different hosts
//! look alike and mean different things, and what denies a call in one host lets another one
//! run the tool.
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

use std::borrow::Cow;

use serde_json::{Value, json};

use onloop_permission::{Call, Decision};
use onloop_syntax::syntax::strict_json;
use onloop_syntax::text::words;

words! {
    /// A program that runs agents and calls hooks.
    pub enum Host {
        /// Claude Code.
        Claude = "claude",
        /// Codex CLI.
        Codex = "codex",
        /// Cursor.
        Cursor = "cursor",
        /// VS Code with Copilot.
        VsCode = "vscode",
        /// opencode, through our own plugin.
        OpenCode = "opencode",
        /// Cline.
        Cline = "cline",
        /// Copilot CLI.
        Copilot = "copilot",
    }
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

    /// Parses what the host sends to a hook on standard input.
    ///
    /// # Errors
    ///
    /// When it is not a document of this host, or lacks what its event must have. Answer with
    /// [`Host::refusal`] then.
    pub fn read(self, input: &[u8]) -> Result<HookInput, MalformedInput> {
        let text = String::from_utf8_lossy(input);
        let is_utf8 = matches!(text, Cow::Borrowed(_));
        let document = strict_json::parse_lossy(&text).map_err(|error| match is_utf8 {
            true => MalformedInput::NotJson { member: None, error: error.to_string() },
            false => MalformedInput::NotUtf8,
        })?;
        let read = self.of_document(&document)?;
        // A call that is not the one that was sent is not judged.
        match read.event.answer_form() {
            AnswerForm::ToolCall | AnswerForm::PermissionRequest if !is_utf8 => {
                Err(MalformedInput::NotUtf8)
            }
            _ => Ok(read),
        }
    }

    fn of_document(self, document: &Value) -> Result<HookInput, MalformedInput> {
        if !document.is_object() {
            return Err(MalformedInput::NotAnObject);
        }
        match self {
            Host::Claude => claude::read(document),
            Host::Codex => codex::read(document),
            Host::Cursor => cursor::read(document),
            Host::VsCode => vscode::read(document),
            Host::OpenCode => opencode::read(document),
            Host::Cline => cline::read(document),
            Host::Copilot => copilot::read(document),
        }
    }

    /// The answer to an event that [`Host::read`] refuses: that of the event where it is known, else
    /// [`Host::safe_answer`].
    pub fn refusal(self, input: &[u8], reason: &str) -> String {
        let ask = HookAnswer::Decided(Decision::Ask, reason.to_owned());
        match self.refused_form(input) {
            None | Some(AnswerForm::ToolCall) => self.safe_answer(reason),
            // A person is about to be asked.
            Some(form @ AnswerForm::PermissionRequest) => self.write(form, &ask),
            Some(form) => self.write(form, &HookAnswer::SystemMessage(reason.to_owned())),
        }
    }

    /// The form of the answer to an event that cannot be read whole; `None`: it is not known.
    pub fn refused_form(self, input: &[u8]) -> Option<AnswerForm> {
        const NAMES: [&str; 4] = ["hook_event_name", "hookEventName", "hookName", "event"];
        let text = String::from_utf8_lossy(input);
        let document = match strict_json::parse_lossy(&text) {
            Ok(document) => document,
            // What shows the event without its name may be in the part that is missing.
            Err(_) => strict_json::parse_cut_off(&text)
                .filter(|document| NAMES.iter().any(|name| filled(document, name).is_some()))?,
        };
        self.of_document(&document).ok().map(|read| read.event.answer_form())
    }

    /// What the hook prints on standard output to give `answer` in the form that its event
    /// takes. Empty when there is nothing to say, or the host has no words for it.
    pub fn write(self, form: AnswerForm, answer: &HookAnswer) -> String {
        let asked = match answer {
            // No other host can defer a call.
            HookAnswer::Deferred(why) if self != Host::Claude => {
                Some(HookAnswer::Decided(Decision::Ask, why.clone()))
            }
            HookAnswer::Rewritten { why, .. } if !self.rewrites() => {
                Some(HookAnswer::Decided(Decision::Ask, why.clone()))
            }
            HookAnswer::Deferred(_)
            | HookAnswer::Rewritten { .. }
            | HookAnswer::Nothing
            | HookAnswer::Decided(..)
            | HookAnswer::Continue(_)
            | HookAnswer::AdditionalContext(_)
            | HookAnswer::SystemMessage(_) => None,
        };
        let answer = asked.as_ref().unwrap_or(answer);
        let document = match self {
            Host::Claude => claude::write(form, answer),
            Host::Codex => codex::write(form, answer),
            Host::Cursor => cursor::write(form, answer),
            Host::VsCode => vscode::write(form, answer),
            Host::OpenCode => opencode::write(form, answer),
            Host::Cline => cline::write(form, answer),
            Host::Copilot => copilot::write(form, answer),
        };
        document.map_or_else(String::new, |document| format!("{document}\n"))
    }

    /// Whether a hook can have the host make another call instead.
    pub fn rewrites(self) -> bool {
        match self {
            Host::Claude | Host::OpenCode => true,
            // Codex refuses such an answer and has a sandbox of its own; of the others nothing is known.
            Host::Codex | Host::Cursor | Host::VsCode | Host::Cline | Host::Copilot => false,
        }
    }

    /// Whether the client shows a message after a person sends a prompt.
    pub fn tells_at_prompts(self) -> bool {
        match self {
            Host::Claude | Host::Codex | Host::VsCode | Host::OpenCode => true,
            Host::Cursor | Host::Cline | Host::Copilot => false,
        }
    }

    /// The answer when nothing is known, not even the event. If it was a tool call, the host
    /// does not run it; for every other event the host ignores this answer.
    pub fn safe_answer(self, reason: &str) -> String {
        let answer = match self {
            // Their way to ask stops a call if no person is present.
            Host::Claude | Host::VsCode => HookAnswer::Decided(Decision::Ask, reason.to_owned()),
            // Here asking lets the call run: always, or in one of the host's modes.
            Host::Codex | Host::Cursor | Host::OpenCode | Host::Cline | Host::Copilot => {
                HookAnswer::Decided(Decision::Deny, reason.to_owned())
            }
        };
        self.write(AnswerForm::ToolCall, &answer)
    }

    /// How long the host waits for a hook whose entry sets no timeout of its own.
    pub fn default_timeout_ms(self) -> u64 {
        match self {
            Host::Claude | Host::Codex | Host::OpenCode => 600_000,
            Host::Cursor => 60_000,
            Host::VsCode | Host::Cline | Host::Copilot => 30_000,
        }
    }

    /// How a person opens session `id` again: a command in backticks, or the name of the chat.
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

/// The message about a name that no client has.
pub fn unknown_host(name: &str) -> String {
    let near = onloop_workflow::suggest::nearest(name, Host::WORDS);
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let name = onloop_syntax::text::ellipsis(&onloop_syntax::text::one_line(name), 64);
    format!("`{name}` is not a known client{near}")
}

/// Why the input of a hook cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedInput {
    /// It is not UTF-8.
    #[error("the input is not UTF-8")]
    NotUtf8,
    /// It is not JSON, or a member that holds JSON as a string does not; `error` is the
    /// parser's message.
    #[error(
        "{} is not JSON: {}",
        .member.map_or("the input".to_owned(), |member| format!("`{member}`")),
        onloop_syntax::text::one_line(.error)
    )]
    NotJson {
        /// The member; `None` for the whole input.
        member: Option<&'static str>,
        /// Where and why parsing stopped.
        error: String,
    },
    /// It is JSON, but not an object.
    #[error("the input is not a JSON object")]
    NotAnObject,
    /// A member that the event requires is missing or blank.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Nothing in it tells which event it is about.
    #[error("it is not an event of this host")]
    UnknownEvent,
}

words! {
    /// How a host decides about the calls that no hook decides.
    #[derive(Default)]
    pub enum PermissionMode {
        /// By its rules, and else by asking the person.
        #[default]
        Default = "default",
        /// As by default, and edits of files are allowed.
        AcceptEdits = "acceptEdits",
        /// The agent plans: what changes something is refused.
        Plan = "plan",
        /// A model decides.
        Auto = "auto",
        /// What the person would be asked about is refused.
        DontAsk = "dontAsk",
        /// Everything that no rule denies is allowed.
        BypassPermissions = "bypassPermissions",
    }
}

impl Host {
    /// Whether the host runs commands in a sandbox of its own, by the end of its transcript.
    pub fn is_sandboxed(self, transcript: &[u8]) -> bool {
        self == Host::Codex && codex::is_sandboxed(transcript)
    }
}

impl PermissionMode {
    /// Whether a question is left to the person at the host.
    pub fn asks_a_person(self) -> bool {
        match self {
            PermissionMode::Default | PermissionMode::AcceptEdits | PermissionMode::Plan => true,
            PermissionMode::Auto | PermissionMode::DontAsk | PermissionMode::BypassPermissions => {
                false
            }
        }
    }
}

/// What a host tells its hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookInput {
    /// The host's name for the session, unchecked.
    pub session: Option<String>,
    /// Absolute folder in which the agent works, where the host says so.
    pub cwd: Option<String>,
    /// Absolute folder that the host has open and the agent works for, where the host says so.
    pub project: Option<String>,
    /// File with the conversation, where the host says so.
    pub transcript: Option<String>,
    /// The host's name for the call of a tool that the event is about, the same for every hook that
    /// it asks; only where a run may start the host.
    pub call_id: Option<String>,
    /// How the host decides, where it says so. A mode that is not known counts as the default.
    pub mode: PermissionMode,
    /// What happened.
    pub event: HookEvent,
}

/// Something that happens in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum HookEvent {
    /// A prompt is about to be sent to the agent.
    Prompt {
        /// Its text.
        text: String,
        /// The host's id of it.
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
        /// Its output, as text.
        output: String,
    },
    /// The agent wants to stop.
    Stop(StopInput),
    /// The conversation was compacted, or is about to be: what was said at its beginning is gone.
    Compacted,
    /// The agent's turn has ended because the model's service refused it.
    StopFailed(StopFailure),
    /// An event about which we have no opinion.
    #[default]
    Other,
}

/// What a host says when its agent wants to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopInput {
    /// What the agent said last.
    pub message: Option<String>,
    /// The agent was interrupted or failed, so it must not be continued.
    pub broken_off: bool,
    /// The agent's answer was cut at the limit of its length.
    pub is_cut: bool,
    /// Background tasks of the agent that still run.
    pub tasks: Vec<BackgroundTask>,
}

/// A task that an agent has started in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask {
    /// The host's id of it.
    pub id: String,
    /// What it does: its command, else its description.
    pub about: String,
}

/// What a host says when the model's service has refused its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopFailure {
    /// The host's word for what it was.
    pub error: Option<String>,
    /// What it showed.
    pub message: Option<String>,
}

/// The form that an answer takes: hosts accept other members for each kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// For [`HookEvent::Prompt`].
    Prompt,
    /// For [`HookEvent::ToolCall`].
    ToolCall,
    /// For [`HookEvent::PermissionRequest`].
    PermissionRequest,
    /// For [`HookEvent::Stop`].
    Stop,
    /// For [`HookEvent::Compacted`].
    Compacted,
    /// For every other event, where only a message to the person is possible.
    Other,
}

impl HookEvent {
    /// The form in which it is answered.
    pub fn answer_form(&self) -> AnswerForm {
        match self {
            HookEvent::Prompt { .. } => AnswerForm::Prompt,
            HookEvent::ToolCall(_) => AnswerForm::ToolCall,
            HookEvent::PermissionRequest(_) => AnswerForm::PermissionRequest,
            HookEvent::Stop(_) => AnswerForm::Stop,
            HookEvent::Compacted => AnswerForm::Compacted,
            HookEvent::ToolDone { .. } | HookEvent::StopFailed(_) | HookEvent::Other => {
                AnswerForm::Other
            }
        }
    }
}

/// What we answer. Each host's writer turns it into the host's own document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// No opinion.
    Nothing,
    /// A decision about a tool call, and its reason.
    Decided(Decision, String),
    /// The call is allowed with another input.
    Rewritten {
        /// All of it.
        input: Value,
        /// Why, on one line.
        why: String,
    },
    /// The tool call is deferred until a person answers, and the host exits meanwhile; the reason.
    Deferred(String),
    /// The agent does not stop but continues with this prompt.
    Continue(String),
    /// A message for the person at the host.
    SystemMessage(String),
    /// What the agent has to know besides what is left of the conversation.
    AdditionalContext(String),
}

/// Members that tell an event whose document does not name it, and the event. Rows with more members
/// come first.
type EventSigns = [(&'static [&'static str], &'static str)];

/// The events of Claude Code and Codex that take an answer.
const EVENT_SIGNS: &EventSigns = &[
    (&["tool_name", "tool_response"], "PostToolUse"),
    (&["tool_name"], "PreToolUse"),
    (&["prompt"], "UserPromptSubmit"),
    (&["stop_hook_active"], "Stop"),
];

/// The name of the event, from the first of the members `keys` that is there, else from the members
/// in `signs`.
///
/// # Errors
///
/// When the name is not text, or nothing tells the event.
fn event_name<'d>(
    document: &'d Value,
    keys: &[&'static str],
    signs: &EventSigns,
) -> Result<&'d str, MalformedInput> {
    let is_there = |key: &str| !document[key].is_null();
    match keys.iter().find(|key| is_there(key)).map(|key| &document[*key]) {
        Some(Value::String(name)) if !name.trim().is_empty() => {
            // Another case is no other event: a host takes silence about a call for yes.
            let mut known = signs.iter().map(|(_, event)| *event).chain(["PermissionRequest"]);
            let meant = known.find(|event| event.eq_ignore_ascii_case(name));
            return Ok(meant.unwrap_or(name));
        }
        Some(Value::String(_)) | None => {}
        Some(_) => return Err(MalformedInput::UnknownEvent),
    }
    let found = signs.iter().find(|(members, _)| members.iter().all(|key| is_there(key)));
    found.map(|(_, event)| *event).ok_or(MalformedInput::Missing(keys[0]))
}

/// A member that is a string.
fn text(document: &Value, key: &str) -> Option<String> {
    document[key].as_str().map(str::to_owned)
}

/// A member that is a string and not blank.
fn filled(document: &Value, key: &str) -> Option<String> {
    text(document, key).filter(|text| !text.trim().is_empty())
}

/// The same, of a member that the event must have.
fn required(document: &Value, key: &'static str) -> Result<String, MalformedInput> {
    filled(document, key).ok_or(MalformedInput::Missing(key))
}

/// JSON that some versions of a host send as a string.
fn embedded(document: &Value, key: &'static str) -> Result<Value, MalformedInput> {
    match &document[key] {
        Value::String(text) => strict_json::parse_lossy(text).map_err(|error| {
            MalformedInput::NotJson { member: Some(key), error: error.to_string() }
        }),
        other => Ok(other.clone()),
    }
}

/// The tool call in `tool_name` and `tool_input`. Whatever the input is, it is judged.
fn call(document: &Value) -> Result<Call, MalformedInput> {
    let tool = required(document, "tool_name")?;
    Ok(Call { tool, input: document["tool_input"].clone() })
}

/// What a tool returned, as text: a string, an object's `stdout` or `output`, or its JSON.
fn output(response: &Value) -> String {
    let parts = [response.as_str(), response["stdout"].as_str(), response["output"].as_str()];
    match parts.into_iter().flatten().next() {
        Some(text) => text.to_owned(),
        None if response.is_null() => String::new(),
        None => response.to_string(),
    }
}

/// The decision of Claude Code, Codex and VS Code before a tool is used.
fn pre_tool_use(word: &str, why: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": reason(why),
        }
    })
}

/// What Claude Code and Codex add to a conversation that begins again after it was compacted.
fn session_start(text: &str) -> Value {
    json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text }
    })
}

/// Whether a session of Claude Code or Codex starts because its conversation was compacted.
fn is_compacted(document: &Value) -> bool {
    document["source"] == "compact"
}

/// The input of Claude Code and Codex with `event`, unless it is one of a sub-agent that would be taken for
/// one of the conversation, whose name it bears: its prompt comes from an agent, and its end is no stop.
fn of_conversation(document: &Value, event: HookEvent) -> HookInput {
    let event = match event {
        HookEvent::Prompt { .. } | HookEvent::Stop(_) | HookEvent::Compacted
            if filled(document, "agent_id").is_some() =>
        {
            HookEvent::Other
        }
        event => event,
    };
    let mode = filled(document, "permission_mode").and_then(|mode| mode.parse().ok());
    HookInput {
        session: filled(document, "session_id"),
        cwd: filled(document, "cwd"),
        transcript: filled(document, "transcript_path"),
        call_id: filled(document, "tool_use_id"),
        mode: mode.unwrap_or_default(),
        event,
        ..HookInput::default()
    }
}

/// The decision of Claude Code and Codex about a permission dialog. They have no "ask" here: a
/// person is about to be asked anyway.
fn permission_request(decision: Decision, why: &str) -> Option<Value> {
    let decision = match decision {
        Decision::Allow => json!({ "behavior": "allow" }),
        Decision::Deny => json!({ "behavior": "deny", "message": reason(why) }),
        Decision::Ask => return None,
    };
    Some(json!({
        "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision }
    }))
}

/// Reasons end up in prompts, dialogs and logs: one line of bounded length.
fn reason(reason: &str) -> String {
    const REASON_BYTES: usize = 2000;
    let line = onloop_syntax::text::ellipsis(&onloop_syntax::text::one_line(reason), REASON_BYTES);
    if line.is_empty() { "onloop gives no reason".to_owned() } else { line }
}

#[cfg(test)]
mod tests;
