//! What a prompt starts.

use onloop_core::handsoff::command::detect;
use serde_json::json;
use wasm_bindgen::prelude::*;

/// The workflow whose command a prompt begins with: `{"workflow", "issue_no", "pr_no"}`, or
/// nothing.
#[wasm_bindgen]
pub fn started_by(prompt: &str) -> Option<String> {
    let started = detect(prompt, &[])?;
    let document = json!({
        "workflow": started.workflow,
        "issue_no": started.issue_no,
        "pr_no": started.pr_no,
    });
    Some(document.to_string())
}
