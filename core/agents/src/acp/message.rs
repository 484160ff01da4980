//! Messages of JSON-RPC 2.0, one on each line.

use serde_json::{Value, json};

/// The code of an answer to a method that onloop does not offer.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// What a line of the agent is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// The agent asks; the answer names `id`.
    Request { id: Value, method: String, params: Value },
    /// The agent tells.
    Notification { method: String, params: Value },
    /// The answer to one of our requests.
    Answer { id: Value, result: Result<Value, Value> },
}

impl Message {
    /// `None`: the line is not a message.
    pub(super) fn read(line: &str) -> Option<Message> {
        let Ok(Value::Object(mut message)) = serde_json::from_str(line) else { return None };
        let mut take = |member: &str| message.remove(member).unwrap_or(Value::Null);
        let (id, params) = (take("id"), take("params"));
        match (take("method"), id) {
            (Value::String(method), Value::Null) => Some(Message::Notification { method, params }),
            (Value::String(method), id @ (Value::Number(_) | Value::String(_))) => {
                Some(Message::Request { id, method, params })
            }
            (Value::Null, id @ Value::Number(_)) => {
                let result = match take("error") {
                    Value::Null => Ok(take("result")),
                    error => Err(error),
                };
                Some(Message::Answer { id, result })
            }
            (_, _) => None,
        }
    }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Our answer to a request of the agent.
pub(super) fn answer(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Our answer to a request for something that onloop does not offer.
pub(super) fn refusal(id: &Value, method: &str) -> String {
    let message = format!("onloop does not offer `{method}`");
    let error = json!({ "code": METHOD_NOT_FOUND, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}
