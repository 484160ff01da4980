//! JSON-RPC messages as tests write them.

use onloop_syntax::syntax::json_rpc::{notification, request};
use serde_json::Value;

/// A message that tests write in short: `ID METHOD PARAMS` for a request, `- METHOD PARAMS` for a
/// notification, anything else as it is.
pub(crate) fn written_short(said: &str) -> String {
    let mut words = said.splitn(3, ' ');
    let (id, method) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let params = words.next().and_then(|params| serde_json::from_str::<Value>(params).ok());
    match (id.parse::<u64>(), params) {
        (Ok(id), Some(params)) => request(id, method, params).to_string(),
        (Err(_), Some(params)) if id == "-" => notification(method, params).to_string(),
        _ => said.to_owned(),
    }
}
