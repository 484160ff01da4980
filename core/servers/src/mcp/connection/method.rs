//! The methods of the protocol.

use serde_json::{Map, Value, json};

use super::{ANSWER, Agreed, ClientRequest, Connection, words};
use crate::mcp::completion::{Completion, CompletionTarget, completed};
use crate::mcp::prompt::{self, ServedPrompt};
use crate::mcp::resource::{self, Resource};
use crate::mcp::terms::{
    ClientSettings, Freshness, LogLevel, Protocol, STATELESS_VERSION, capabilities, elicits,
    server_info,
};
use crate::mcp::tool::Tool;
use crate::mcp::{VERSIONS, output};
use onloop_syntax::syntax::json_rpc::{Id, RpcError, invalid};
use onloop_syntax::text::{ellipsis, one_line};

/// What we have to say to the model behind the client.
const INSTRUCTIONS: &str = "onloop runs workflow files step by step: it verifies every step \
itself, repeats what fails within limits, and keeps the record. Look with `status` and `next`; \
let `run` do the work, or `begin` a run, act yourself and report with `step`. Use `background` for \
what takes long. Gates for people are decided by a person, never by you: when a run waits at \
one, tell the person what it waits for.";

#[allow(clippy::large_enum_variant, reason = "one lives for the time of one message")]
pub(super) enum Judged {
    Answer(Value, Freshness),
    ClientRequest(ClientRequest),
    /// A stream was opened; this says so.
    Listens(Value),
}

fn fixed(result: Value) -> Result<Judged, RpcError> {
    Ok(Judged::Answer(result, Freshness::Fixed))
}

fn plain(result: Value) -> Result<Judged, RpcError> {
    Ok(Judged::Answer(result, Freshness::Unknown))
}

impl Connection {
    pub(super) fn judge(
        &mut self,
        id: &Id,
        method: &str,
        params: &Map<String, Value>,
        client: ClientSettings,
    ) -> Result<Judged, RpcError> {
        match client.protocol {
            Protocol::Stateless => match method {
                "server/discover" => fixed(discovered()),
                "subscriptions/listen" => {
                    self.subscriptions.listen(id, params).map(Judged::Listens)
                }
                _ => shared(method, params),
            },
            Protocol::Conversation => self.judge_conversation(method, params),
        }
    }

    fn judge_conversation(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Judged, RpcError> {
        match method {
            "ping" => return plain(json!({})),
            "initialize" => return plain(self.initialize(params)?),
            _ if self.agreed.is_none() && is_known(method) => {
                let message = format!(
                    "`initialize` comes first, or `_meta` says that the request is one of version \
                     {STATELESS_VERSION}"
                );
                return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
            }
            "logging/setLevel" => {
                let level = LogLevel::read("level", params.get("level").unwrap_or(&Value::Null))?;
                if let Some(agreed) = &mut self.agreed {
                    agreed.log = Some(level);
                }
            }
            "resources/subscribe" => self.subscriptions.subscribe(addressed(params)?)?,
            "resources/unsubscribe" => self.subscriptions.unsubscribe(&addressed(params)?),
            _ => return shared(method, params),
        }
        plain(json!({}))
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
        let nothing = json!({});
        let declared = params.get("capabilities").unwrap_or(&nothing);
        self.agreed = Some(Agreed {
            elicits: elicits(declared),
            has_roots: declared["roots"].is_object(),
            log: None,
        });
        Ok(json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }
}

/// Methods that a conversation has after its beginning.
fn is_known(method: &str) -> bool {
    const PREFIXES: [&str; 5] = ["tools/", "resources/", "prompts/", "completion/", "logging/"];
    PREFIXES.iter().any(|prefix| method.starts_with(prefix))
}

/// What `server/discover` answers.
fn discovered() -> Value {
    json!({
        "supportedVersions": [STATELESS_VERSION],
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
    })
}

/// Methods that both protocols have.
fn shared(method: &str, params: &Map<String, Value>) -> Result<Judged, RpcError> {
    match method {
        "tools/list" => {
            no_cursor(params)?;
            let describe = |tool: &Tool| tool.describe(&output::schema(*tool));
            fixed(json!({ "tools": Tool::ALL.iter().map(describe).collect::<Vec<_>>() }))
        }
        "tools/call" => call(params).map(Judged::ClientRequest),
        "prompts/list" => {
            no_cursor(params)?;
            fixed(prompt::listed())
        }
        "prompts/get" => plain(ServedPrompt::get(params)?),
        "completion/complete" => match Completion::read(params)? {
            CompletionTarget::Runs(completion) => {
                Ok(Judged::ClientRequest(ClientRequest::Complete(completion)))
            }
            CompletionTarget::Nothing => plain(completed(&[])),
        },
        "resources/list" => {
            no_cursor(params).map(|()| Judged::ClientRequest(ClientRequest::ListResources))
        }
        "resources/templates/list" => {
            no_cursor(params)?;
            fixed(resource::templates())
        }
        "resources/read" => Ok(Judged::ClientRequest(ClientRequest::Read(addressed(params)?))),
        other => {
            let other = ellipsis(&one_line(other), 100);
            Err(RpcError::new(RpcError::NO_METHOD, format!("there is no method `{other}`")))
        }
    }
}

fn addressed(params: &Map<String, Value>) -> Result<Resource, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri =
        uri.ok_or_else(|| RpcError::new(RpcError::INVALID_PARAMS, "`uri` must be a string"))?;
    Resource::read(uri)
}

/// Everything fits on one page, so no client got a cursor from us.
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
    let state = match params.get("requestState") {
        None | Some(Value::Null) => return Ok(ClientRequest::CallTool(tool, asked)),
        Some(Value::String(state)) => state.clone(),
        Some(_) => return Err(invalid("`requestState` must be a string".to_owned())),
    };
    match asked {
        Ok(call) => {
            let answers = params.get("inputResponses").and_then(Value::as_object);
            let answer = answers.and_then(|answers| answers.get(ANSWER)).cloned();
            Ok(ClientRequest::Continue {
                state,
                call,
                answer: answer.map(|said| words(Some(said))),
            })
        }
        Err(why) => Ok(ClientRequest::CallTool(tool, Err(why))),
    }
}
