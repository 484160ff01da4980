//! Findings about real files, as people and programs get them.

use onloop_syntax::diagnostic::json::FileFindings;
use onloop_syntax::diagnostic::{Diagnostic, human, json};
use onloop_syntax::text;
use onloop_workflow as workflow;
use serde_json::json;

const FILE: &str = "---\nintent: Add rate limits\nsuccess_criteria: tests pass\nrisk: low\n---\n\n\
    - [ ] **Step 1: Write tests**\naction: Write them\nloop: true\nverify: git status\n";

#[test]
fn the_source_line_carries_the_carets() {
    let parsed = workflow::parse("a.md", FILE.as_bytes());
    let rendered = human::render("a.md", FILE.as_bytes(), &parsed.diagnostics, false, 80);
    assert_eq!(rendered, GOLDEN, "\n{rendered}");
}

#[test]
fn nothing_from_the_file_reaches_the_terminal_unfiltered() {
    let file = "\u{1b}[31m\u{9b}31m\u{202e}---\r\n- [ ] **Step 1: \u{1b}]0;x\u{7}\u{85}**\n";
    let parsed = workflow::parse("\u{1b}[2Ja.md", file.as_bytes());
    assert!(!parsed.diagnostics.is_empty());
    let rendered = human::render("\u{1b}[2Ja.md", file.as_bytes(), &parsed.diagnostics, false, 80);
    assert_eq!(text::printable(&rendered), rendered);
}

#[test]
fn a_finding_on_many_lines_is_shown_once() {
    let step = "- [ ] **Step 1: A**\naction: do\nverify: 'true'\n";
    let file =
        format!("---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n{}", step.repeat(3));
    let parsed = workflow::parse("a.md", file.as_bytes());
    let rendered = human::render("a.md", file.as_bytes(), &parsed.diagnostics, false, 80);
    let times = |text: &str| rendered.matches(text).count();
    assert_eq!(times("error[missing-loop]"), 1, "{rendered}");
    assert_eq!(times("warning[vacuous-verify]"), 1, "{rendered}");
    assert_eq!(times("= note: the same on lines 9, 12\n"), 1, "{rendered}");
    assert_eq!(times("= note: the same on lines 11, 14\n"), 2, "{rendered}");
}

const GOLDEN: &str = include_str!("rendered_diagnostics.golden.txt");

const NARROW: &str = "- [ ] **Step 1: 日本**\naction: a\n";

fn findings(diagnostics: &[Diagnostic]) -> [FileFindings<'_>; 1] {
    [FileFindings { path: "a b.md", source: NARROW.as_bytes(), diagnostics }]
}

#[test]
fn json_has_bytes_and_characters() {
    let parsed = workflow::parse("a b.md", NARROW.as_bytes());
    let document = json::render(&findings(&parsed.diagnostics));
    assert_eq!(document["errors"], 2);
    let finding = &document["files"][0]["diagnostics"][1];
    let expected = json!({
        "code": "missing-loop", "severity": "error", "message": "the step has no `loop`",
        "help": "add `loop: false` for one attempt, or `loop: until <condition>`",
        "start": 16, "end": 22, "line": 1, "column": 17, "end_line": 1, "end_column": 19,
        "fix": {
            "title": "add `loop: false`",
            "edits": [{ "start": 35, "end": 35, "text": "loop: false\n" }],
        },
    });
    assert_eq!(*finding, expected);
}

#[test]
fn sarif_names_rule_place_and_fix() {
    let parsed = workflow::parse("a b.md", NARROW.as_bytes());
    let rules: Vec<_> = workflow::RULES.iter().map(|rule| (rule.code, rule.summary)).collect();
    let document = json::render_sarif(&findings(&parsed.diagnostics), &rules);
    let run = &document["runs"][0];
    let result = &run["results"][1];
    assert_eq!(result["ruleId"], "missing-loop");
    let index = result["ruleIndex"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "missing-loop");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.md");
    assert_eq!(place["region"]["startColumn"], 17);
    let change = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["deletedRegion"]["startLine"], 3);
    assert_eq!(change["insertedContent"]["text"], "loop: false\n");
}
