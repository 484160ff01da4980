//! Whether a tool call may run.

use onloop_core::documents::permission::{BatchLine, TrustList, explanation, verdict};
use onloop_core::permission;
use wasm_bindgen::prelude::*;

/// The decision about a call: `{"decision", "rule", "reason"}`. `call` is a line of
/// `onloop permit batch`; `cwd` is required, because here is no current folder.
#[wasm_bindgen]
pub fn decide(call: &str) -> Result<String, JsError> {
    let BatchLine { call, context, .. } = read(call)?;
    Ok(verdict(&permission::decide(&call, &context)).to_string())
}

/// The decision with everything that led to it, as `onloop permit explain --json` prints it.
#[wasm_bindgen]
pub fn explain(call: &str) -> Result<String, JsError> {
    let BatchLine { call, context, .. } = read(call)?;
    let ruling = permission::explain(&call, &context);
    Ok(explanation(&ruling, context.rules.notes()).to_string())
}

/// Whether a list of trusted project files has exactly this content.
#[wasm_bindgen]
pub fn is_trusted(list: &str, content: &str) -> bool {
    TrustList::read(list.as_bytes()).contains(content.as_bytes())
}

/// The list with this content, or without it.
#[wasm_bindgen]
pub fn set_trusted(list: &str, content: &str, trusted: bool) -> Result<String, JsError> {
    let mut list = TrustList::read(list.as_bytes());
    if trusted {
        list.add(content.as_bytes());
    } else {
        list.remove(content.as_bytes());
    }
    Ok(String::from_utf8(list.write())?)
}

fn read(call: &str) -> Result<BatchLine, JsError> {
    // The parser refuses an empty folder, because it is not absolute.
    BatchLine::read(call, "").map_err(|error| JsError::new(&error.fault.to_string()))
}
