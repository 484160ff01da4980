//! Checks and what came of them.

use super::html::escaped;
use crate::documents::board::CheckView;

/// The checks of a step as a list.
pub(super) fn check_list(checks: &[CheckView]) -> String {
    if checks.is_empty() {
        return "<p class=\"faint\">No check verifies it.</p>\n".to_owned();
    }
    let mut out = "<ul class=\"checks\">\n".to_owned();
    for check in checks {
        let reason = check.reason.as_deref();
        let (class, mark, said) = match check.result {
            "passed" => ("good", "✓", "passed"),
            "failed" => ("bad", "✗", reason.unwrap_or("failed")),
            "waits" => ("wait", "⏸", "waits for you"),
            _ => ("faint", "·", "not evaluated"),
        };
        let took = check.took_ms.map(|ms| format!(" ({:.1} s)", ms as f64 / 1000.0));
        out += &format!(
            "<li><span class=\"{class}\">{mark}</span> <code>{}</code>: {}{}",
            escaped(&check.what),
            escaped(said),
            took.unwrap_or_default()
        );
        if !check.remarks.is_empty() {
            out += "<ul>";
            for remark in &check.remarks {
                out += &format!("<li class=\"wait\">⚠ {}</li>", escaped(remark));
            }
            out += "</ul>";
        }
        out += "</li>\n";
    }
    out + "</ul>\n"
}
