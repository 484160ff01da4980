//! The plan artifacts that profiles after the first want to see before they start the loop.

/// Files below `.ai/plans/<id>/` that must be there and not blank.
pub const REQUIRED: [&str; 2] = ["plan-summary.yaml", "task-graph.yaml"];

/// The active plan: the trimmed content of `.ai/runtime/rw-active-plan-id.txt`. It becomes
/// the name of a folder, so a path, `..` and control characters name no plan.
pub fn active_id(text: &str) -> Option<&str> {
    let id = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let harmless = |c: char| !matches!(c, '/' | '\\' | ':') && !c.is_control();
    (!id.is_empty() && id != "." && id != ".." && id.chars().all(harmless)).then_some(id)
}

/// Whether a file of the plan folder holds findings; at least one such file must be there
/// and not blank.
pub fn is_findings_name(name: &str) -> bool {
    name.strip_prefix("research_findings_").is_some_and(|rest| rest.ends_with(".yaml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_id_names_one_folder() {
        for (text, expected) in [
            ("20260224-0100-export-csv\r\n", Some("20260224-0100-export-csv")),
            ("\u{feff} plan 1 \n", Some("plan 1")),
            ("", None),
            (" \n", None),
            ("..", None),
            ("../../etc", None),
            ("a/b", None),
            ("a\\b", None),
            ("c:plan", None),
            ("a\nb", None),
        ] {
            assert_eq!(active_id(text), expected, "{text:?}");
        }
        assert!(is_findings_name("research_findings_cli.yaml"));
        assert!(is_findings_name("research_findings_.yaml"));
        assert!(!is_findings_name("research_findings_cli.yaml.bak"));
        assert!(!is_findings_name("findings_cli.yaml"));
    }
}
