//! Pages for a browser: those of `onloop web`, and the report of a run as one file that loads nothing.
//!
//! One script draws both from facts, which are JSON. What is shown comes from workflow files, agents and
//! repositories: it stays text, and a policy forbids foreign scripts and requests, should that have a hole.

mod report;
pub mod web;

use serde_json::Value;

use onloop_syntax::text;

pub use report::report_page;

/// `text` as text between tags and inside of quoted attributes, without what could steer a terminal
/// into which a page is copied, or hide meaning.
fn escaped(text: &str) -> String {
    let text = text::printable(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// Leaves out the members that are null: the script reads them as missing.
pub fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
