//! The conversation with an agent: what onloop sends, and what it makes of what comes.
//!
//! One request of ours is under way at a time: `initialize`, then a session, then its model, then the
//! prompt. What does not fit is counted and noted; too much of it ends the turn.

mod permission;
mod updates;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use permission::OpenRequest;

use super::StreamEvent;
use super::call::{JudgedTool, ToolCall};
use super::message::{METHOD_NOT_FOUND, Message, request};
use super::mode;
use super::model::{self, ModelChoice};
use crate::lines::{StreamLine, StreamLines};
use onloop_syntax::money::Money;
use onloop_syntax::tokens::Tokens;
use onloop_syntax::{limits, text};

/// The version of the protocol.
const PROTOCOL: u64 = 1;
const RESUME: &str = "session/resume";
const LOAD: &str = "session/load";
/// Longest id of a session.
const SESSION_BYTES: usize = 200;
/// Bytes of the id of a call; what is longer is cut.
const CALL_ID_BYTES: usize = 200;

/// What a turn is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcpSettings {
    /// The folder of the agent, absolute.
    pub cwd: String,
    /// The prompt.
    pub prompt: String,
    /// The conversation to continue; `None` begins one.
    pub session: Option<String>,
    /// The model; `None`: the agent's own.
    pub model: Option<String>,
}

/// What a host does for the conversation, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum AcpAction {
    /// Write this line to the agent.
    Send(String),
    /// Write this line to the stream about the turn.
    Tell(String),
    /// Have this judged, and pass the verdict to [`AcpDialog::judged`].
    Judge(PermissionRequest),
    /// End the agent: the turn is over, well or not.
    End {
        /// Whether the agent says that it ended as it should.
        is_well: bool,
    },
}

/// A call that the agent asks about.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionRequest {
    /// Names the request among those that are open.
    pub key: u64,
    /// What is judged: the call is allowed if each of them is. Never empty.
    pub parts: Vec<JudgedTool>,
}

/// The verdict on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpVerdict {
    /// Whether it may run.
    pub is_allowed: bool,
    /// Why.
    pub reason: String,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initialize,
    Session(&'static str),
    Mode,
    Model(&'static str),
    Prompt,
    Over,
}

impl Phase {
    fn method(self) -> &'static str {
        match self {
            Phase::Initialize => "initialize",
            Phase::Session(method) | Phase::Model(method) => method,
            Phase::Mode => "session/set_mode",
            Phase::Prompt => "session/prompt",
            Phase::Over => "nothing",
        }
    }
}

/// A conversation with an agent for one turn.
#[derive(Clone, Debug)]
pub struct AcpDialog {
    settings: AcpSettings,
    lines: StreamLines,
    phase: Phase,
    /// Id of our request that is under way.
    request: u64,
    session: Option<String>,
    /// What is set in the session before the prompt, the last one first.
    settings_due: Vec<(Phase, Value)>,
    version: Option<String>,
    /// Whether the agent loads sessions.
    loads: bool,
    /// Calls that have begun and not ended.
    calls: BTreeMap<String, ToolCall>,
    asked: BTreeMap<u64, OpenRequest>,
    /// Requests and notes of the agent so far.
    requests: usize,
    faults: usize,
    bytes: u64,
    /// The message that the model writes.
    message: Option<String>,
    /// Cost of the conversation when the prompt was sent; `None`: unknown.
    cost_before: Option<Money>,
    actions: Vec<AcpAction>,
}

impl AcpDialog {
    /// A conversation that begins, and what is done first.
    pub fn begin(settings: AcpSettings, onloop_version: &str) -> (AcpDialog, Vec<AcpAction>) {
        let cost_before = settings.session.is_none().then_some(Money::ZERO);
        let mut dialog = AcpDialog {
            settings,
            lines: StreamLines::default(),
            phase: Phase::Initialize,
            request: 0,
            session: None,
            settings_due: Vec::new(),
            version: None,
            loads: false,
            calls: BTreeMap::new(),
            asked: BTreeMap::new(),
            requests: 0,
            faults: 0,
            bytes: 0,
            message: None,
            cost_before,
            actions: Vec::new(),
        };
        // Without files and terminals of ours the agent uses its own tools, inside the sandbox.
        let params = json!({
            "protocolVersion": PROTOCOL,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
            },
            "clientInfo": { "name": "onloop", "title": "onloop", "version": onloop_version },
        });
        dialog.ask(Phase::Initialize, &params);
        let actions = dialog.take();
        (dialog, actions)
    }

    /// Takes what the agent wrote.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<AcpAction> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        for line in self.lines.push(bytes) {
            if self.phase == Phase::Over {
                break;
            }
            self.line(&line);
        }
        if self.bytes > limits::ACP_BYTES && self.phase != Phase::Over {
            let most = limits::ACP_BYTES >> 20;
            self.fail(format!("the agent wrote more than {most} MiB in one turn"), None);
        }
        self.take()
    }

    /// Takes the verdict on the request `key`. A verdict that comes too late does nothing.
    pub fn judged(&mut self, key: u64, verdict: &AcpVerdict) -> Vec<AcpAction> {
        if self.phase == Phase::Prompt
            && let Some(open) = self.asked.remove(&key)
        {
            self.answer_permission(open, verdict);
        }
        self.take()
    }

    /// How long the answer that is waited for may take; `None`: as long as the turn.
    pub fn wait_ms(&self) -> Option<u64> {
        match self.phase {
            Phase::Initialize | Phase::Session(_) | Phase::Mode | Phase::Model(_) => {
                Some(limits::ACP_ANSWER_MS)
            }
            Phase::Prompt | Phase::Over => None,
        }
    }

    /// The method whose answer is waited for.
    pub fn waits_for(&self) -> &'static str {
        self.phase.method()
    }

    /// The agent did not answer in time.
    pub fn late(&mut self) -> Vec<AcpAction> {
        if self.wait_ms().is_some() {
            let longest = text::span(limits::ACP_ANSWER_MS);
            self.fail(
                format!("the agent did not answer `{}` in {longest}", self.waits_for()),
                None,
            );
        }
        self.take()
    }

    /// The agent closed its output, or ended: `how`, as a clause.
    pub fn closed(&mut self, how: &str) -> Vec<AcpAction> {
        if self.phase != Phase::Over {
            let method = self.waits_for();
            self.fail(format!("{how} before it answered `{method}`"), None);
        }
        self.take()
    }

    fn take(&mut self) -> Vec<AcpAction> {
        std::mem::take(&mut self.actions)
    }

    fn tell(&mut self, event: &StreamEvent) {
        self.actions.push(AcpAction::Tell(event.line()));
    }

    /// Sends our next request.
    fn ask(&mut self, phase: Phase, params: &Value) {
        self.request += 1;
        self.phase = phase;
        self.actions.push(AcpAction::Send(request(self.request, phase.method(), params)));
    }

    fn end(&mut self, event: &StreamEvent) {
        self.tell(event);
        self.phase = Phase::Over;
        self.asked.clear();
        self.actions.push(AcpAction::End { is_well: *event == StreamEvent::End });
    }

    fn fail(&mut self, message: String, status: Option<u64>) {
        self.end(&StreamEvent::Error { message, status });
    }

    /// Notes something that does not fit the protocol.
    fn fault(&mut self, what: &str) {
        self.faults += 1;
        if self.faults > limits::ACP_FAULTS {
            self.fail(format!("the agent does not keep to the protocol: {what}"), None);
        } else {
            self.tell(&StreamEvent::Note { text: what.to_owned() });
        }
    }

    fn line(&mut self, line: &StreamLine) {
        let line = match line {
            StreamLine::Whole(line) if line.trim().is_empty() => return,
            StreamLine::Whole(line) => line,
            StreamLine::TooLong { bytes } => {
                return self.fault(&format!("a line of {bytes} bytes was not read"));
            }
        };
        match Message::read(line) {
            None => self.fault(&format!("not a message: {}", text::ellipsis(line, 200))),
            Some(Message::Request { id, method, params }) => self.requested(id, &method, &params),
            Some(Message::Notification { method, params }) if method == "session/update" => {
                self.updated(&params);
            }
            Some(Message::Notification { .. }) => {}
            Some(Message::Answer { id, result }) if id == self.request => self.answered(result),
            Some(Message::Answer { id, .. }) => {
                self.fault(&format!("an answer to no request of ours: id {id}"));
            }
        }
    }

    fn answered(&mut self, result: Result<Value, Value>) {
        let method = self.waits_for();
        let answer = match result {
            Ok(answer) => answer,
            // Some agents announce that they resume, and do not.
            Err(error) if method == RESUME && error["code"] == METHOD_NOT_FOUND && self.loads => {
                return self.open(LOAD);
            }
            Err(error) => return self.refused(method, &error),
        };
        match self.phase {
            Phase::Initialize => self.initialized(&answer),
            Phase::Session(_) => self.opened(&answer),
            Phase::Mode | Phase::Model(_) => self.prepare(),
            Phase::Prompt => self.ended(&answer),
            Phase::Over => {}
        }
    }

    /// The agent answered with an error.
    fn refused(&mut self, method: &str, error: &Value) {
        let code = error["code"].as_i64().unwrap_or_default();
        let status = match code {
            // The protocol's own code for a missing login.
            -32000 => Some(401),
            code => u64::try_from(code).ok().filter(|code| (400..600).contains(code)),
        };
        let words = error["message"].as_str().unwrap_or("an error without a message");
        let data = &error["data"];
        let more = ["details", "message"].iter().find_map(|member| data[*member].as_str());
        let more = more.or(data.as_str()).filter(|more| *more != words);
        let more = more.map_or_else(String::new, |more| format!(" ({more})"));
        self.fail(format!("{words}{more}, in answer to `{method}`"), status);
    }

    fn initialized(&mut self, answer: &Value) {
        let version = &answer["protocolVersion"];
        if *version != PROTOCOL {
            let why =
                format!("the agent speaks version {version} of the protocol, onloop {PROTOCOL}");
            return self.fail(why, None);
        }
        let info = &answer["agentInfo"];
        let title = info["title"].as_str().or(info["name"].as_str());
        let version = info["version"].as_str();
        self.version = match (title, version) {
            (Some(title), Some(version)) => Some(format!("{title} {version}")),
            (title, version) => title.or(version).map(str::to_owned),
        };
        let abilities = &answer["agentCapabilities"];
        // Resuming replays nothing, so it comes first.
        self.loads = abilities["loadSession"] == true;
        let method = match &self.settings.session {
            None => "session/new",
            Some(_) if abilities["sessionCapabilities"]["resume"].is_object() => RESUME,
            Some(_) if self.loads => LOAD,
            Some(_) => {
                return self.fail("the agent cannot continue a conversation".to_owned(), None);
            }
        };
        self.session = self.settings.session.clone();
        self.open(method);
    }

    /// Opens the session by this method.
    fn open(&mut self, method: &'static str) {
        let mut params = json!({ "cwd": self.settings.cwd, "mcpServers": [] });
        if let Some(session) = &self.settings.session {
            params["sessionId"] = json!(session);
        }
        self.ask(Phase::Session(method), &params);
    }

    fn opened(&mut self, answer: &Value) {
        let named = answer["sessionId"].as_str().filter(|id| {
            (1..=SESSION_BYTES).contains(&id.len()) && !id.chars().any(char::is_control)
        });
        let Some(session) = self.session.clone().or(named.map(str::to_owned)) else {
            return self.fail("the agent did not name its session".to_owned(), None);
        };
        self.session = Some(session.clone());
        let wanted = self.settings.model.clone();
        let model = wanted.clone().or_else(|| model::current(answer));
        let version = self.version.clone();
        let choice = wanted.map_or(ModelChoice::Current, |wanted| model::choose(answer, &wanted));
        match choice {
            ModelChoice::Missing(why) => return self.fail(why, None),
            ModelChoice::Current => {}
            ModelChoice::Set(method, params) => {
                self.settings_due.push((Phase::Model(method), params))
            }
        }
        // First of all, because a model may have modes of its own.
        if let Some(mode) = mode::asking(answer) {
            self.settings_due.push((Phase::Mode, json!({ "modeId": mode })));
        }
        self.tell(&StreamEvent::Session { session, model, version });
        self.prepare();
    }

    /// Sets what is left to be set in the session, then sends the prompt.
    fn prepare(&mut self) {
        match self.settings_due.pop() {
            None => self.prompt(),
            Some((phase, mut params)) => {
                params["sessionId"] = json!(self.session);
                self.ask(phase, &params);
            }
        }
    }

    fn prompt(&mut self) {
        let params = json!({
            "sessionId": self.session,
            "prompt": [{ "type": "text", "text": self.settings.prompt }],
        });
        self.ask(Phase::Prompt, &params);
    }

    fn ended(&mut self, answer: &Value) {
        if let Some(tokens) = tokens(answer) {
            self.tell(&StreamEvent::Used { tokens });
        }
        let why = match answer["stopReason"].as_str() {
            Some("end_turn") => return self.end(&StreamEvent::End),
            Some("max_tokens") => "the answer reached the limit of its length".to_owned(),
            Some("max_turn_requests") => "the agent made as many requests as it may".to_owned(),
            Some("refusal") => "the agent refused to continue".to_owned(),
            Some("cancelled") => "the agent was cancelled".to_owned(),
            other => {
                format!("the turn ended for the reason {}", other.unwrap_or("that is missing"))
            }
        };
        self.fail(why, None);
    }
}

/// The tokens of a turn: as the protocol has them, else as Gemini CLI does.
fn tokens(answer: &Value) -> Option<Tokens> {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let usage = &answer["usage"];
    if usage["inputTokens"].is_u64() {
        let cached = number(&usage["cachedReadTokens"]);
        let read =
            number(&usage["inputTokens"]).saturating_add(number(&usage["cachedWriteTokens"]));
        return Some(Tokens {
            input: read.saturating_add(cached),
            cached_input: cached,
            output: number(&usage["outputTokens"]).saturating_add(number(&usage["thoughtTokens"])),
        });
    }
    let count = &answer["_meta"]["quota"]["token_count"];
    count["input_tokens"].is_u64().then(|| Tokens {
        input: number(&count["input_tokens"]),
        cached_input: 0,
        output: number(&count["output_tokens"]),
    })
}
