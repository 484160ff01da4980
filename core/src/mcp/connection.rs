//! One conversation with a client.

use std::collections::BTreeMap;

use serde::de::Error;
use serde_json::{Map, Value, json};

use super::resource::Resource;
use super::tool::{InputError, Tool, ToolCall};
use super::{VERSIONS, answer, resource};
use crate::limits;
use crate::syntax::json_rpc::{self as message, Id, Incoming, RpcError, invalid};
use crate::syntax::strict_json;
use crate::text::{ellipsis, one_line};

/// What is to be done about a line of the client.
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
        /// The token with which the client wants to be told about progress.
        progress: Option<Value>,
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
}

/// The `id` of a request of ours to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerRequest(pub u64);

/// What the client answers to a request of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAnswer {
    /// A person's answer.
    Words(String),
    /// Nobody answered.
    Nobody,
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
    version: &'static str,
    elicits: bool,
    has_roots: bool,
}

/// Requests that came together and are answered together.
#[derive(Debug, Default)]
struct Batch {
    open: usize,
    answers: Vec<Value>,
}

/// One conversation with a client.
#[derive(Debug, Default)]
pub struct Connection {
    agreed: Option<Agreed>,
    /// The client's open requests, and the batch that each came in.
    open: BTreeMap<Id, Option<u64>>,
    batches: BTreeMap<u64, Batch>,
    questions: BTreeMap<ServerRequest, ServerRequestKind>,
    count: u64,
}

impl Connection {
    /// Takes a line of the client, without its line break.
    pub fn receive(&mut self, line: &[u8]) -> Vec<Reaction> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Vec::new();
        }
        let parsed = std::str::from_utf8(line)
            .map_err(|_| serde_json::Error::custom("it is not UTF-8"))
            .and_then(strict_json::parse);
        match parsed {
            Ok(Value::Array(messages)) => self.receive_batch(messages),
            Ok(value) => self.receive_one(value, None),
            Err(why) => vec![refused(RpcError::new(
                RpcError::PARSE,
                format!(
                    "the message cannot be read: {}",
                    ellipsis(&one_line(&why.to_string()), 200)
                ),
            ))],
        }
    }

    /// Takes a line that was too long to be kept.
    pub fn receive_too_long(&mut self) -> Reaction {
        let message = format!("a message is longer than {} bytes", limits::MCP_LINE_BYTES);
        refused(RpcError::new(RpcError::PARSE, message))
    }

    /// The message that answers a request; nothing when nobody waits for it any more, or when
    /// others of its batch are still open.
    pub fn finish(&mut self, id: &Id, outcome: &Result<Value, RpcError>) -> Option<Value> {
        let batch = self.open.remove(id)?;
        self.deliver(batch, Some(message::answer(Some(id), outcome)))
    }

    /// Whether people can be asked through the client.
    pub fn elicits(&self) -> bool {
        self.agreed.is_some_and(|agreed| agreed.elicits)
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
    pub fn ask(&mut self, words: &str, choices: &[&str]) -> (ServerRequest, Value) {
        let mut answer = json!({ "type": "string", "title": "Answer" });
        let mut schema = json!({ "type": "object" });
        if !choices.is_empty() {
            answer["enum"] = json!(choices);
            schema["required"] = json!(["answer"]);
        }
        schema["properties"] = json!({ "answer": answer });
        let params = json!({ "message": words, "requestedSchema": schema });
        self.question(ServerRequestKind::Person, "elicitation/create", params)
    }

    /// Forgets a question and tells the client so.
    pub fn withdraw(&mut self, question: ServerRequest) -> Option<Value> {
        self.questions.remove(&question)?;
        let params = json!({ "requestId": question.0, "reason": "no answer is needed any more" });
        Some(message::notification("notifications/cancelled", params))
    }

    /// How far a request has come, of `total`, as a message.
    pub fn progress(&self, token: &Value, progress: f64, total: f64, words: &str) -> Value {
        let params = json!({
            "progressToken": token, "progress": progress, "total": total, "message": words,
        });
        message::notification("notifications/progress", params)
    }

    fn receive_batch(&mut self, messages: Vec<Value>) -> Vec<Reaction> {
        // The only version that has them.
        if self.agreed.is_none_or(|agreed| agreed.version != "2025-03-26") {
            let error = invalid("batches are part of version 2025-03-26 only");
            return vec![refused(error)];
        }
        if messages.is_empty() || messages.len() > limits::MCP_BATCH {
            let message = format!("a batch has 1 to {} messages", limits::MCP_BATCH);
            return vec![refused(invalid(&message))];
        }
        self.count += 1;
        let number = self.count;
        // Stays open until all of its messages have been looked at.
        self.batches.insert(number, Batch { open: 1, answers: Vec::new() });
        let mut acts = Vec::new();
        for message in messages {
            acts.extend(self.receive_one(message, Some(number)));
        }
        acts.extend(self.deliver(Some(number), None).map(Reaction::Send));
        acts
    }

    /// Takes note of an answer, and returns what is to be sent now.
    fn deliver(&mut self, batch: Option<u64>, answer: Option<Value>) -> Option<Value> {
        let Some(number) = batch else { return answer };
        let batch = self.batches.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.open -= 1;
        if batch.open > 0 {
            return None;
        }
        let answers = self.batches.remove(&number)?.answers;
        (!answers.is_empty()).then_some(Value::Array(answers))
    }

    fn receive_one(&mut self, value: Value, batch: Option<u64>) -> Vec<Reaction> {
        match message::read(value) {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(id, &method, &params, batch).into_iter().collect()
            }
            Ok(Incoming::Notification { method, params }) => self.notified(&method, &params),
            Ok(Incoming::Response { id, result }) => {
                self.answered(&id, result).into_iter().collect()
            }
            Err((id, error)) => {
                let answer = message::answer(id.as_ref(), &Err(error));
                self.answer_now(batch, answer).into_iter().collect()
            }
        }
    }

    fn answer_now(&mut self, batch: Option<u64>, answer: Value) -> Option<Reaction> {
        if let Some(batch) = batch.and_then(|number| self.batches.get_mut(&number)) {
            batch.answers.push(answer);
            return None;
        }
        Some(Reaction::Send(answer))
    }

    fn request(
        &mut self,
        id: Id,
        method: &str,
        params: &Map<String, Value>,
        batch: Option<u64>,
    ) -> Option<Reaction> {
        if self.open.contains_key(&id) {
            // An answer with this id would be taken for the answer to the other request.
            let error = invalid("a request with this `id` is still open");
            return self.answer_now(batch, message::answer(None, &Err(error)));
        }
        match self.judge(method, params, batch) {
            Ok(Judged::Answer(result)) => {
                self.answer_now(batch, message::answer(Some(&id), &Ok(result)))
            }
            Ok(Judged::ClientRequest(work)) if self.open.len() < limits::MCP_CALLS => {
                if let Some(batch) = batch.and_then(|number| self.batches.get_mut(&number)) {
                    batch.open += 1;
                }
                self.open.insert(id.clone(), batch);
                let token = params.get("_meta").map(|meta| &meta["progressToken"]);
                let progress = token.filter(|token| token.is_string() || token.is_i64()).cloned();
                Some(Reaction::Perform { id, work, progress })
            }
            Ok(Judged::ClientRequest(_)) => {
                let message = format!("{} requests are open already", limits::MCP_CALLS);
                let error = Err(RpcError::new(RpcError::BUSY, message));
                self.answer_now(batch, message::answer(Some(&id), &error))
            }
            Err(error) => self.answer_now(batch, message::answer(Some(&id), &Err(error))),
        }
    }

    fn judge(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        batch: Option<u64>,
    ) -> Result<Judged, RpcError> {
        let known = [
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        ];
        if self.agreed.is_none() && known.contains(&method) {
            return Err(invalid("`initialize` comes first"));
        }
        match method {
            "ping" => Ok(Judged::Answer(json!({}))),
            "initialize" if batch.is_some() => Err(invalid("`initialize` comes alone")),
            "initialize" => self.initialize(params).map(Judged::Answer),
            "tools/list" => {
                no_cursor(params)?;
                let describe = |tool: &Tool| tool.describe(&answer::schema());
                let tools: Vec<Value> = Tool::ALL.iter().map(describe).collect();
                Ok(Judged::Answer(json!({ "tools": tools })))
            }
            "tools/call" => call(params).map(Judged::ClientRequest),
            "resources/list" => {
                no_cursor(params).map(|()| Judged::ClientRequest(ClientRequest::ListResources))
            }
            "resources/templates/list" => {
                no_cursor(params)?;
                Ok(Judged::Answer(resource::templates()))
            }
            "resources/read" => {
                let uri = params.get("uri").and_then(Value::as_str).ok_or_else(|| {
                    RpcError::new(RpcError::INVALID_PARAMS, "`uri` must be a string")
                })?;
                Resource::read(uri)
                    .map(|resource| Judged::ClientRequest(ClientRequest::Read(resource)))
            }
            other => {
                let other = ellipsis(&one_line(other), 100);
                Err(RpcError::new(RpcError::NO_METHOD, format!("there is no method `{other}`")))
            }
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, RpcError> {
        if self.agreed.is_some() {
            return Err(invalid("`initialize` was answered before"));
        }
        let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
            let message = "`protocolVersion` must be a string";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
        };
        let version =
            VERSIONS.into_iter().find(|version| *version == wanted).unwrap_or(VERSIONS[0]);
        let capability = |name: &str| params.get("capabilities").and_then(|all| all.get(name));
        // Nothing said about how means by a form.
        let has_form = |elicitation: &Value| {
            elicitation.as_object().is_some_and(|how| how.is_empty() || how.contains_key("form"))
        };
        self.agreed = Some(Agreed {
            version,
            // Dates in this form are in the order of their texts.
            elicits: version >= "2025-06-18" && capability("elicitation").is_some_and(has_form),
            has_roots: capability("roots").is_some_and(Value::is_object),
        });
        Ok(json!({
            "protocolVersion": version,
            "capabilities": { "resources": {}, "tools": {} },
            "serverInfo": {
                "name": "onloop", "title": "onloop", "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": INSTRUCTIONS,
        }))
    }

    fn notified(&mut self, method: &str, params: &Map<String, Value>) -> Vec<Reaction> {
        match method {
            "notifications/initialized" | "notifications/roots/list_changed"
                if self.agreed.is_some_and(|agreed| agreed.has_roots)
                    && !self.waits_for_roots() =>
            {
                let (_, request) = self.question(ServerRequestKind::Roots, "roots/list", json!({}));
                vec![Reaction::Send(request)]
            }
            "notifications/cancelled" => {
                let Some(id) = params.get("requestId").and_then(Id::read) else {
                    return Vec::new();
                };
                let Some(batch) = self.open.remove(&id) else { return Vec::new() };
                let mut acts = vec![Reaction::Cancel(id)];
                acts.extend(self.deliver(batch, None).map(Reaction::Send));
                acts
            }
            // A notification is never answered, not even when its method is unknown.
            _ => Vec::new(),
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

/// What we have to say to the model behind the client.
const INSTRUCTIONS: &str = "onloop runs workflow files step by step: it verifies every step \
itself, repeats what fails within limits, and keeps the record. Look with `status` and `next`; \
let `run` do the work, or act yourself and report with `step`. Gates for people are decided by a \
person, never by you: when a run waits at one, tell the person what it waits for.";

#[allow(clippy::large_enum_variant, reason = "one lives for the time of one message")]
enum Judged {
    Answer(Value),
    ClientRequest(ClientRequest),
}

fn refused(error: RpcError) -> Reaction {
    Reaction::Send(message::answer(None, &Err(error)))
}

/// Everything fits on one page, so nobody got a cursor from us.
fn no_cursor(params: &Map<String, Value>) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => {
            Err(RpcError::new(RpcError::INVALID_PARAMS, "unknown `cursor`; there is one page only"))
        }
    }
}

fn call(params: &Map<String, Value>) -> Result<ClientRequest, RpcError> {
    let invalid = |message: String| RpcError::new(RpcError::INVALID_PARAMS, message);
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let Ok(tool) = name.parse::<Tool>() else {
        return Err(invalid(format!("there is no tool `{}`", ellipsis(&one_line(name), 100))));
    };
    let asked = match params.get("arguments") {
        None | Some(Value::Null) => tool.read(&Map::new()),
        Some(Value::Object(arguments)) => tool.read(arguments),
        Some(_) => return Err(invalid("`arguments` must be an object".to_owned())),
    };
    Ok(ClientRequest::CallTool(tool, asked))
}

/// Declining a question and closing it say the same about what was asked: nothing.
fn words(result: Option<Value>) -> ClientAnswer {
    let Some(result) = result.filter(|result| result["action"] == "accept") else {
        return ClientAnswer::Nobody;
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
        | Value::Object(_) => ClientAnswer::Nobody,
    }
}

fn roots(result: &Value) -> Vec<String> {
    let roots = result["roots"].as_array().into_iter().flatten();
    let uris = roots.filter_map(|root| root["uri"].as_str()).map(str::to_owned);
    uris.take(limits::MCP_ROOTS).collect()
}
