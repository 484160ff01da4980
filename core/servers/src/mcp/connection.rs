//! The messages of one client: one conversation, or stateless requests.

mod method;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::completion::Completion;
use super::resource::Resource;
use super::subscription::Subscriptions;
use super::terms::{ClientSettings, Freshness, LogLevel, Protocol, dressed, renumbered};
use super::tool::{InputError, Tool, ToolCall};
use method::Judged;
use onloop_syntax::limits;
use onloop_syntax::syntax::json_rpc::{self as message, Id, Incoming, RpcError, invalid};
use onloop_syntax::text::one_line;

/// What follows from a line of the client.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is moved once and taken apart at once")]
pub enum Reaction {
    /// To be sent to the client.
    Send(Value),
    /// To be carried out, and answered with [`Connection::finish`].
    Perform {
        /// The request.
        id: Id,
        /// What is wanted.
        work: ClientRequest,
        /// The token for progress notifications.
        progress: Option<Value>,
        /// What the client declared.
        client: ClientSettings,
    },
    /// The client no longer wants an answer to this request.
    Cancel(Id),
    /// The client answers a request of ours, or says that it cannot.
    Answered(ServerRequest, ClientAnswer),
}

/// A request of the client that cannot be answered from memory.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few at a time")]
pub enum ClientRequest {
    /// Call a tool. An error is for the model that wrote the input.
    CallTool(Tool, Result<ToolCall, InputError>),
    /// List the resources.
    ListResources,
    /// Read a resource.
    Read(Resource),
    /// Complete what a person types.
    Complete(Completion),
    /// Continue a call that has asked a person something.
    Continue {
        /// The state that was handed out with the question.
        state: String,
        /// The call, which must be the same one.
        call: ToolCall,
        /// What the person said; `None`: the client says nothing about it.
        answer: Option<ClientAnswer>,
    },
}

impl ClientRequest {
    fn freshness(&self) -> Freshness {
        match self {
            ClientRequest::ListResources | ClientRequest::Read(_) => Freshness::Stale,
            ClientRequest::CallTool(..)
            | ClientRequest::Complete(_)
            | ClientRequest::Continue { .. } => Freshness::Unknown,
        }
    }
}

/// The `id` of a request of ours to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerRequest(pub u64);

/// What the client answers to a request of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAnswer {
    /// A person's answer.
    Words(String),
    /// The person declined, or gave no usable answer.
    NoAnswer,
    /// Where the client works: addresses of folders.
    Roots(Vec<String>),
}

/// What we asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerRequestKind {
    Person,
    Roots,
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Agreed {
    elicits: bool,
    has_roots: bool,
    log: Option<LogLevel>,
}

/// A request of the client that was not answered yet.
#[derive(Debug)]
struct Open {
    protocol: Protocol,
    freshness: Freshness,
}

/// One conversation with a client.
#[derive(Debug, Default)]
pub struct Connection {
    agreed: Option<Agreed>,
    /// The client's open requests.
    open: BTreeMap<Id, Open>,
    questions: BTreeMap<ServerRequest, ServerRequestKind>,
    subscriptions: Subscriptions,
    count: u64,
}

impl Connection {
    /// Takes a line of the client, without its line break. `None` if nothing follows from it.
    pub fn receive(&mut self, line: &[u8]) -> Option<Reaction> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        match message::read(line) {
            Ok(Incoming::Request { id, method, params }) => {
                Some(self.request(id, &method, &params))
            }
            Ok(Incoming::Notification { method, params }) => self.notified(&method, &params),
            Ok(Incoming::Response { id, result }) => self.answered(&id, result),
            Err((id, error)) => Some(Reaction::Send(message::answer(id.as_ref(), &Err(error)))),
        }
    }

    /// Takes a line that was too long to be kept.
    pub fn receive_too_long(&mut self) -> Reaction {
        let message = format!("a message is longer than {} bytes", limits::MCP_LINE_BYTES);
        refused(RpcError::new(RpcError::PARSE, message))
    }

    /// The message that answers a request; `None` if the client no longer waits for it.
    pub fn finish(&mut self, id: &Id, outcome: Result<Value, RpcError>) -> Option<Value> {
        let Open { protocol, freshness } = self.open.remove(id)?;
        Some(message::answer(Some(id), &for_protocol(outcome, protocol, freshness)))
    }

    /// The runs whose changes the client subscribes to.
    pub fn watched_runs(&self) -> BTreeSet<String> {
        self.subscriptions.runs()
    }

    /// Whether the client subscribes to the list of runs.
    pub fn watches_list(&self) -> bool {
        self.subscriptions.wants_list()
    }

    /// What is sent when a run has changed.
    pub fn run_changed(&self, run_id: &str) -> Vec<Value> {
        self.subscriptions.updated(run_id)
    }

    /// What is sent when a run has come or gone.
    pub fn list_changed(&self) -> Vec<Value> {
        self.subscriptions.list_changed(self.agreed.is_some())
    }

    /// The messages that end the open streams.
    pub fn end_streams(&mut self) -> Vec<Value> {
        let ended = self.subscriptions.close().into_iter();
        ended
            .map(|(id, result)| {
                message::answer(Some(&id), &Ok(dressed(result, Freshness::Unknown)))
            })
            .collect()
    }

    /// Whether the client was asked where it works and has not answered.
    pub fn waits_for_roots(&self) -> bool {
        self.questions.values().any(|kind| *kind == ServerRequestKind::Roots)
    }

    /// Does not wait for that any more; an answer that comes late is ignored.
    pub fn stop_waiting_for_roots(&mut self) {
        self.questions.retain(|_, kind| *kind != ServerRequestKind::Roots);
    }

    /// Asks a person through the client. `choices` are all that can be answered; none: any
    /// text.
    pub fn ask(&mut self, words: &str, choices: &[String]) -> (ServerRequest, Value) {
        self.question(ServerRequestKind::Person, ELICIT, form(words, choices))
    }

    /// Forgets a question and tells the client so.
    pub fn withdraw(&mut self, question: ServerRequest) -> Option<Value> {
        self.questions.remove(&question)?;
        let params = json!({ "requestId": question.0, "reason": "no answer is needed any more" });
        Some(message::notification("notifications/cancelled", params))
    }

    /// How far a request has come, of `total` where that is known, as a message.
    pub fn progress(&self, token: &Value, done: f64, total: Option<f64>, words: &str) -> Value {
        let mut params = json!({ "progressToken": token, "progress": done });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        params["message"] = json!(words);
        message::notification("notifications/progress", params)
    }

    /// What is said meanwhile, as a message.
    pub fn log(&self, level: LogLevel, words: &str) -> Value {
        let params = json!({ "level": level.as_str(), "logger": "onloop", "data": words });
        message::notification("notifications/message", params)
    }

    fn request(&mut self, id: Id, method: &str, params: &Map<String, Value>) -> Reaction {
        if self.open.contains_key(&id) || self.subscriptions.has_stream(&id) {
            // An answer with this id would be taken for the answer to the other request.
            return refused(invalid("a request with this `id` is still open"));
        }
        let client = match ClientSettings::declared(method, params) {
            Ok(Some(client)) => client,
            Ok(None) => self.client(),
            Err(error) => return Reaction::Send(message::answer(Some(&id), &Err(error))),
        };
        let outcome = match self.judge(&id, method, params, client) {
            Ok(Judged::Answer(result, freshness)) => {
                for_protocol(Ok(result), client.protocol, freshness)
            }
            // Its answer comes when it ends.
            Ok(Judged::Listens(acknowledged)) => return Reaction::Send(acknowledged),
            Ok(Judged::ClientRequest(work)) if self.open.len() < limits::MCP_CALLS => {
                let (protocol, freshness) = (client.protocol, work.freshness());
                self.open.insert(id.clone(), Open { protocol, freshness });
                let token = params.get("_meta").map(|meta| &meta["progressToken"]);
                let progress = token.filter(|token| token.is_string() || token.is_i64()).cloned();
                return Reaction::Perform { id, work, progress, client };
            }
            Ok(Judged::ClientRequest(_)) => {
                let message = format!("{} requests are open already", limits::MCP_CALLS);
                Err(RpcError::new(RpcError::BUSY, message))
            }
            Err(error) => Err(renumbered(error, client.protocol)),
        };
        Reaction::Send(message::answer(Some(&id), &outcome))
    }

    /// What the client of a conversation declared.
    fn client(&self) -> ClientSettings {
        let agreed = self.agreed.unwrap_or_default();
        ClientSettings {
            protocol: Protocol::Conversation,
            elicits: agreed.elicits,
            log: agreed.log,
        }
    }

    fn notified(&mut self, method: &str, params: &Map<String, Value>) -> Option<Reaction> {
        match method {
            "notifications/initialized" | "notifications/roots/list_changed"
                if self.agreed.is_some_and(|agreed| agreed.has_roots)
                    && !self.waits_for_roots() =>
            {
                let (_, request) = self.question(ServerRequestKind::Roots, "roots/list", json!({}));
                Some(Reaction::Send(request))
            }
            "notifications/cancelled" => {
                let id = params.get("requestId").and_then(Id::read)?;
                self.subscriptions.cancel(&id);
                self.open.remove(&id).map(|_| Reaction::Cancel(id))
            }
            // A notification is never answered, not even when its method is unknown.
            _ => None,
        }
    }

    fn question(
        &mut self,
        kind: ServerRequestKind,
        method: &str,
        params: Value,
    ) -> (ServerRequest, Value) {
        self.count += 1;
        let question = ServerRequest(self.count);
        self.questions.insert(question, kind);
        (question, message::request(question.0, method, params))
    }

    fn answered(&mut self, id: &Id, result: Option<Value>) -> Option<Reaction> {
        let Id::Number(number) = id else { return None };
        let question = ServerRequest(u64::try_from(*number).ok()?);
        let answer = match self.questions.remove(&question)? {
            ServerRequestKind::Person => words(result),
            ServerRequestKind::Roots => ClientAnswer::Roots(roots(&result.unwrap_or_default())),
        };
        Some(Reaction::Answered(question, answer))
    }
}

const ELICIT: &str = "elicitation/create";

/// What a client shows to a person.
fn form(words: &str, choices: &[String]) -> Value {
    let mut answer = json!({ "type": "string", "title": "Answer" });
    let mut schema = json!({ "type": "object" });
    if !choices.is_empty() {
        answer["enum"] = json!(choices);
        schema["required"] = json!(["answer"]);
    }
    schema["properties"] = json!({ "answer": answer });
    json!({ "message": words, "requestedSchema": schema })
}

/// The result with which a call of the stateless protocol asks a person: the client calls again with
/// `state` and what was answered.
pub fn input_required(state: &str, words: &str, choices: &[String]) -> Value {
    let mut params = form(words, choices);
    params["mode"] = json!("form");
    json!({
        "resultType": "input_required",
        "inputRequests": { ANSWER: { "method": ELICIT, "params": params } },
        "requestState": state,
    })
}

/// The name of what we ask for in a result.
const ANSWER: &str = "answer";

fn for_protocol(
    outcome: Result<Value, RpcError>,
    protocol: Protocol,
    freshness: Freshness,
) -> Result<Value, RpcError> {
    match protocol {
        Protocol::Conversation => outcome,
        Protocol::Stateless => outcome
            .map(|result| dressed(result, freshness))
            .map_err(|error| renumbered(error, protocol)),
    }
}

fn refused(error: RpcError) -> Reaction {
    Reaction::Send(message::answer(None, &Err(error)))
}

/// Declining a question and closing it say the same about what was asked: nothing.
fn words(result: Option<Value>) -> ClientAnswer {
    let Some(result) = result.filter(|result| result["action"] == "accept") else {
        return ClientAnswer::NoAnswer;
    };
    match &result["content"]["answer"] {
        Value::String(words) if words.len() <= limits::MCP_ANSWER_BYTES => {
            ClientAnswer::Words(one_line(words))
        }
        Value::Null => ClientAnswer::Words(String::new()),
        Value::String(_)
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_) => ClientAnswer::NoAnswer,
    }
}

fn roots(result: &Value) -> Vec<String> {
    let roots = result["roots"].as_array().into_iter().flatten();
    let uris = roots.filter_map(|root| root["uri"].as_str()).map(str::to_owned);
    uris.take(limits::MCP_ROOTS).collect()
}
