//! JSON-RPC 2.0: reads and writes messages.

use serde::de::Error;
use serde_json::{Map, Value, json};

use super::strict_json;
use crate::text::{ellipsis, one_line};

/// The `id` of a client's request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
}

impl Id {
    /// The id in a message: a whole number or a string.
    pub fn read(value: &Value) -> Option<Id> {
        match value {
            Value::Number(number) => number.as_i64().map(Id::Number),
            Value::String(text) => Some(Id::Text(text.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The id as JSON.
    pub fn to_value(&self) -> Value {
        match self {
            Id::Number(number) => Value::from(*number),
            Id::Text(text) => Value::from(text.as_str()),
        }
    }
}

/// An error that answers a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The error code of JSON-RPC or of the protocol.
    pub code: i64,
    /// For people.
    pub message: String,
    /// For programs, where the protocol defines data.
    pub data: Option<Box<Value>>,
}

impl RpcError {
    /// The line is not JSON.
    pub const PARSE: i64 = -32700;
    /// The message is not a request, or the request is not possible now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown.
    pub const NO_METHOD: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The resource is unknown or unreadable.
    pub const NO_RESOURCE: i64 = -32002;
    /// Too many requests are open.
    pub const BUSY: i64 = -32000;
    /// This server does not speak the version that the request declares.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// The client has not initialized the conversation.
    pub const NOT_INITIALIZED: i64 = -32002;
    /// The client has cancelled the request.
    pub const CANCELLED: i64 = -32800;
    /// The request is well formed and failed.
    pub const REQUEST_FAILED: i64 = -32803;

    /// An error of that code; `message` is for people.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// The same error with `data` for programs.
    pub fn with_data(self, data: Value) -> RpcError {
        RpcError { data: Some(Box::new(data)), ..self }
    }
}

/// A message of the client.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// A request, which expects an answer.
    Request {
        /// The id for the answer.
        id: Id,
        /// The method.
        method: String,
        /// Its parameters.
        params: Map<String, Value>,
    },
    /// A notification, which expects no answer.
    Notification {
        /// The method.
        method: String,
        /// Its parameters.
        params: Map<String, Value>,
    },
    /// A response to a request of the server. `None`: the client answered with an error.
    Response {
        /// The id of that request.
        id: Id,
        /// The result.
        result: Option<Value>,
    },
}

/// Reads a message.
///
/// # Errors
///
/// The error to answer with, and the id of the request.
pub fn read(message: &[u8]) -> Result<Incoming, (Option<Id>, RpcError)> {
    let parsed = std::str::from_utf8(message)
        .map_err(|_| serde_json::Error::custom("it is not UTF-8"))
        .and_then(strict_json::parse);
    let value = parsed.map_err(|why| {
        let why = ellipsis(&one_line(&why.to_string()), 200);
        (None, RpcError::new(RpcError::PARSE, format!("the message cannot be read: {why}")))
    })?;
    let Value::Object(mut members) = value else {
        return Err((None, invalid("a message must be an object")));
    };
    let id = match members.get("id") {
        None => None,
        Some(value) => match Id::read(value) {
            Some(id) => Some(id),
            None => return Err((None, invalid("`id` must be a string or an integer"))),
        },
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, invalid("`jsonrpc` must be `2.0`")));
    }
    let method = match members.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err((id, invalid("`method` must be a string"))),
        None => return response(id, &mut members),
    };
    let params = match members.remove("params") {
        // Editors write `null` for absent parameters.
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let error = RpcError::new(RpcError::INVALID_PARAMS, "`params` must be an object");
            return Err((id, error));
        }
    };
    Ok(match id {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    })
}

fn response(
    id: Option<Id>,
    members: &mut Map<String, Value>,
) -> Result<Incoming, (Option<Id>, RpcError)> {
    let id =
        id.ok_or((None, invalid("a message needs a `method`, or the `id` that it answers")))?;
    // A response without result and error is accepted: answering a response would start an endless
    // exchange.
    let result = members.remove("result").filter(|_| !members.contains_key("error"));
    Ok(Incoming::Response { id, result })
}

/// The error for a message that is not a valid request.
pub fn invalid(message: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, message)
}

/// The answer to a request.
pub fn answer(id: Option<&Id>, outcome: &Result<Value, RpcError>) -> Value {
    let id = id.map_or(Value::Null, Id::to_value);
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(RpcError { code, message, data }) => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = Value::clone(data);
            }
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

/// A request of the server.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of the server.
pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}
