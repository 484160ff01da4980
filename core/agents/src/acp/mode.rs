//! The mode of a session in which the agent asks before it uses a tool.
//!
//! The protocol leaves the names of modes to the agents. Some begin in one in which they, or another
//! model, decide themselves, so that our rules would never be asked. Only a mode of the first table is
//! left, and only for one of the second: what a person has chosen is never loosened.

use serde_json::Value;

/// Modes that decide without asking: of Claude Code's adapter, Gemini CLI, Qwen Code and goose. Those of
/// Codex' adapter are not among them: each has a check of its own that the others lack.
const DECIDES: [&str; 9] = [
    "acceptEdits",
    "auto",
    "auto-edit",
    "autoEdit",
    "auto_edit",
    "bypassPermissions",
    "dontAsk",
    "smart_approve",
    "yolo",
];
/// Modes that ask, of the same agents.
const ASKS: [&str; 2] = ["default", "approve"];

/// The mode that makes the agent of this session ask; `None`: it does, or it has none.
pub(super) fn asking(session: &Value) -> Option<&'static str> {
    let modes = &session["modes"];
    let current = modes["currentModeId"].as_str()?;
    let offers = |id: &&str| {
        let mut offered = modes["availableModes"].as_array().into_iter().flatten();
        offered.any(|mode| mode["id"] == *id)
    };
    DECIDES.contains(&current).then(|| ASKS.into_iter().find(offers))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_mode_is_left_only_for_one_that_asks_more() {
        let table: [(&str, &[&str], Option<&str>); 8] = [
            (
                "auto",
                &["default", "acceptEdits", "plan", "auto", "bypassPermissions"],
                Some("default"),
            ),
            ("agent", &["read-only", "workspace-write", "agent"], None),
            ("auto", &["auto", "approve", "chat"], Some("approve")),
            ("default", &["default", "yolo"], None),
            ("plan", &["default", "plan"], None),
            ("read-only", &["read-only", "workspace-write"], None),
            ("build", &["build", "plan"], None),
            ("agent", &["agent", "ask"], None),
        ];
        for (current, offered, expected) in table {
            let offered: Vec<Value> = offered.iter().map(|id| json!({ "id": id })).collect();
            let modes = json!({ "currentModeId": current, "availableModes": offered });
            assert_eq!(asking(&json!({ "modes": modes })), expected, "{current}");
        }
        for session in [json!({}), json!({ "modes": { "currentModeId": "auto" } }), json!(null)] {
            assert_eq!(asking(&session), None, "{session}");
        }
    }
}
