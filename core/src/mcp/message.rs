//! JSON-RPC 2.0: one message, taken apart.

use serde_json::{Map, Value, json};

/// What names a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    pub(super) fn read(value: &Value) -> Option<Id> {
        match value {
            Value::Number(number) => number.as_i64().map(Id::Number),
            Value::String(text) => Some(Id::Text(text.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match self {
            Id::Number(number) => Value::from(*number),
            Id::Text(text) => Value::from(text.as_str()),
        }
    }
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// What sort of error, as JSON-RPC and the protocol number them.
    pub code: i64,
    /// For people.
    pub message: String,
}

impl RpcError {
    /// The line is no JSON.
    pub const PARSE: i64 = -32700;
    /// It is no request, or none that can be made now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const NO_METHOD: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// There is no such resource.
    pub const NO_RESOURCE: i64 = -32002;
    /// Too much is open already.
    pub const BUSY: i64 = -32000;

    /// An error of that code about which `message` tells people.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }
}

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Id,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// `Err`: the client's own error.
    Response {
        id: Id,
        result: Result<Value, String>,
    },
}

/// Takes a message apart.
///
/// # Errors
///
/// The error to answer with, and to whom.
pub(super) fn read(value: Value) -> Result<Message, (Option<Id>, RpcError)> {
    let Value::Object(mut members) = value else {
        return Err((None, invalid("a message is an object")));
    };
    let id = match members.get("id") {
        None => None,
        Some(value) => match Id::read(value) {
            Some(id) => Some(id),
            None => return Err((None, invalid("an `id` is a text or a whole number"))),
        },
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, invalid("`jsonrpc` is not `2.0`")));
    }
    let method = match members.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err((id, invalid("a `method` is a text"))),
        None => return response(id, &mut members),
    };
    let params = match members.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let error = RpcError::new(RpcError::INVALID_PARAMS, "`params` is not an object");
            return Err((id, error));
        }
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

fn response(
    id: Option<Id>,
    members: &mut Map<String, Value>,
) -> Result<Message, (Option<Id>, RpcError)> {
    let id = id.ok_or((None, invalid("a message has a `method`, or it answers an `id`")))?;
    let result = match (members.remove("result"), members.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => {
            Err(error["message"].as_str().unwrap_or("an error without a message").to_owned())
        }
        // Answering an answer would never end.
        (Some(_), Some(_)) | (None, None) => Err("neither result nor error".to_owned()),
    };
    Ok(Message::Response { id, result })
}

pub(super) fn invalid(message: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, message)
}

/// The answer to a request.
pub(super) fn answer(id: Option<&Id>, outcome: &Result<Value, RpcError>) -> Value {
    let id = id.map_or(Value::Null, Id::to_value);
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => {
            let error = json!({ "code": error.code, "message": error.message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of ours.
pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}
