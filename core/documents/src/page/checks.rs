//! Checks and what came of them.

use super::html::{class_of, escaped, mark};
use crate::board::CheckView;

/// The checks of a step as a list.
pub(super) fn check_list(checks: &[CheckView]) -> String {
    if checks.is_empty() {
        return "<p class=\"faint\">No check verifies it.</p>\n".to_owned();
    }
    let mut out = "<ul class=\"checks\">\n".to_owned();
    for check in checks {
        let reason = check.reason.as_deref();
        let (symbol, said) = match check.result {
            "passed" => ("✓", "passed"),
            "failed" => ("✗", reason.unwrap_or("failed")),
            "waits" => ("⏸", "waits for you"),
            _ => ("·", "not evaluated"),
        };
        let at = check.at.map(|at| format!(", <time>{}</time>", escaped(&at.to_rfc3339())));
        let took = check.took_ms.map(|ms| format!(" ({:.1} s)", ms as f64 / 1000.0));
        out += &format!(
            "<li><span class=\"{}\">{}</span> <code>{}</code>: {}{}{}",
            class_of(symbol),
            mark(symbol),
            escaped(&check.what),
            escaped(said),
            took.unwrap_or_default(),
            at.unwrap_or_default()
        );
        if !check.warnings.is_empty() || check.opened.is_some() {
            out += "<ul>";
            for warning in &check.warnings {
                out += &format!("<li class=\"wait\">⚠ {}</li>", escaped(warning));
            }
            if let Some(opened) = &check.opened {
                out += &format!("<li>{}</li>", escaped(opened));
            }
            out += "</ul>";
        }
        out += "</li>\n";
    }
    out + "</ul>\n"
}
