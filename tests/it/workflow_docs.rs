//! The format's documentation: its examples lint, and it names every rule.

use onloop_core::diagnostic::Severity;
use onloop_core::workflow::{self, Section};

const DOCS: &str = include_str!("../../docs/workflow-format.md");

/// Fenced blocks whose info string is `markdown …`: the words behind it and the text.
fn examples() -> Vec<(String, String)> {
    let mut examples = Vec::new();
    let mut lines = DOCS.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("````markdown") else {
            continue;
        };
        let text: String = lines
            .by_ref()
            .take_while(|line| *line != "````")
            .map(|line| format!("{line}\n"))
            .collect();
        examples.push((info.trim().to_owned(), text));
    }
    examples
}

/// `file` is a whole workflow, `step` the lines of one step, `body` steps without frontmatter;
/// codes behind it are the findings that the example shows.
#[test]
fn every_example_has_the_findings_it_names() {
    let examples = examples();
    assert!(examples.len() >= 10, "only {} examples", examples.len());
    const FRONT: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n";
    for (info, text) in examples {
        let mut words = info.split_whitespace();
        let file = match words.next() {
            Some("file") => text.clone(),
            Some("body") => format!("{FRONT}{text}"),
            Some("step") => format!("{FRONT}- [ ] **Step 1: Example**\n{text}"),
            other => panic!("an example is a file, a body or a step, not {other:?}:\n{text}"),
        };
        let expected: Vec<_> = words.collect();
        let parsed = workflow::parse("hotl-workflow-x.md", file.as_bytes());
        let found: Vec<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(found, expected, "\n{file}\n{:#?}", parsed.diagnostics);
    }
}

#[test]
fn every_rule_is_in_the_table() {
    for rule in workflow::RULES {
        let severity = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let row = format!("| `{}` | {severity} | {} |", rule.code, rule.summary);
        assert!(DOCS.contains(&row), "docs/workflow-format.md lacks the row\n{row}");
    }
}

#[test]
fn every_field_is_in_a_table() {
    for field in workflow::FIELDS {
        let row = match field.section {
            Section::Frontmatter => {
                format!("| `{}` | {} | {}", field.name, field.about, field.default)
            }
            Section::Step => format!("| `{}` | {} |", field.name, field.about),
            Section::Check if field.types == ["shell"] => {
                format!("| `{}` | {} | {}", field.name, field.about, field.default)
            }
            // These have no table; the examples show them.
            Section::Check | Section::Assert => format!("{}:", field.name),
        };
        assert!(DOCS.contains(&row), "docs/workflow-format.md lacks the row\n{row}");
    }
}
