//! Files that nobody should write: the parser answers, in a time that grows with their length.

use std::time::{Duration, Instant};

use onloop_core::diagnostic::{Severity, human, json, lines};
use onloop_core::{limits, workflow};
use proptest::prelude::*;

use crate::rounds::sampled;
use crate::workspace::Workspace;

const FRONT: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n";

/// No file of these tests takes a fiftieth of this on an idle machine, even in an unoptimized build;
/// with time that grows with the square of the length, half a megabyte takes many minutes.
const LONGEST: Duration = Duration::from_secs(60);

/// Size of the files that repeat one thing.
const REPEATED_BYTES: usize = limits::WORKFLOW_BYTES / 8;

/// Parses, checks what holds of every file, and returns the codes of the errors.
fn errors(bytes: &[u8]) -> Vec<&'static str> {
    let start = Instant::now();
    let parsed = workflow::parse("hotl-workflow-x.md", bytes);
    let elapsed = start.elapsed();
    assert!(elapsed < LONGEST, "{} bytes took {elapsed:?}", bytes.len());
    check_findings(bytes, &parsed);
    let errors = parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| found.code).collect()
}

fn check_findings(bytes: &[u8], parsed: &workflow::Parsed) {
    let has_errors = parsed.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert_eq!(parsed.plan.is_some(), !has_errors);
    assert!(parsed.diagnostics.len() <= limits::DIAGNOSTICS_PER_FILE + 1);
    let text = std::str::from_utf8(bytes).ok();
    for found in &parsed.diagnostics {
        let edits = found.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in edits.chain([found.span]) {
            assert!(span.start <= span.end && span.end <= bytes.len(), "{found:?}");
            if let Some(text) = text.filter(|_| found.code != "file-too-large") {
                assert!(text.is_char_boundary(span.start), "{found:?}");
                assert!(text.is_char_boundary(span.end), "{found:?}");
            }
        }
        for shown in [Some(&found.message), found.help.as_ref(), found.hotl_text.as_ref()] {
            let shown = shown.map_or("", String::as_str);
            assert!(!shown.contains(|c: char| c.is_control()), "{shown:?}");
            assert!(shown.len() < 2500, "{shown}");
        }
    }
    if let Some(plan) = &parsed.plan {
        let single_lines = plan.steps.iter().map(|step| &step.name).chain([&plan.intent]);
        for line in single_lines {
            assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        }
        let numbers: Vec<_> = plan.steps.iter().map(|step| step.number as usize).collect();
        assert_eq!(numbers, (1..=plan.steps.len()).collect::<Vec<_>>());
    }
}

fn step(number: usize, lines: &str) -> String {
    format!("- [ ] **Step {number}: a**\naction: b\nloop: false\n{lines}")
}

#[test]
fn files_that_are_no_workflow() {
    assert_eq!(errors(b""), ["missing-frontmatter", "no-steps"]);
    assert_eq!(errors(b"\n\n"), ["missing-frontmatter", "no-steps"]);
    assert_eq!(errors("\u{feff}".as_bytes()), ["missing-frontmatter", "no-steps"]);
    assert_eq!(errors(b"# Readme\n\nHello.\n"), ["missing-frontmatter", "no-steps"]);
    assert_eq!(errors(b"\x7fELF\x02\x01\x01\0\0\0"), ["not-text"]);
    assert_eq!(errors(b"\xff\xfe-\0-\0-\0"), ["not-text"]);
    assert_eq!(errors(b"---\nintent: \xc3\x28\n"), ["not-utf8"]);
    assert_eq!(errors(&vec![b'x'; 50 * 1024 * 1024]), ["file-too-large"]);
}

#[test]
fn ten_thousand_steps_and_one_more() {
    let mut file = FRONT.to_owned();
    for number in 1..=limits::WORKFLOW_STEPS {
        file.push_str(&step(number, "verify: make\n"));
    }
    assert_eq!(errors(file.as_bytes()), Vec::<&str>::new());
    file.push_str(&step(limits::WORKFLOW_STEPS + 1, ""));
    assert_eq!(errors(file.as_bytes()), ["too-many-steps"]);
}

#[test]
fn numbers_that_are_all_wrong() {
    let file = FRONT.to_owned() + &step(7, "verify: make\n").repeat(limits::WORKFLOW_STEPS);
    let codes = errors(file.as_bytes());
    assert_eq!(codes[0], "step-number");
    assert_eq!(codes.len(), limits::DIAGNOSTICS_PER_FILE + 1);
    assert_eq!(codes.last(), Some(&"too-many-findings"));
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    let deep = 100_000;
    let brackets = "[".repeat(deep);
    let file = FRONT.replace("success_criteria: b", &format!("success_criteria: {brackets}"));
    assert_eq!(
        errors(format!("{file}{}", step(1, "")).as_bytes()),
        ["frontmatter-too-large", "line-too-long"]
    );
    let fewer = "[".repeat(1000) + &"]".repeat(1000);
    let file = FRONT.replace("success_criteria: b", &format!("success_criteria: {fewer}"));
    assert_eq!(errors(format!("{file}{}", step(1, "")).as_bytes()), ["frontmatter-too-nested"]);
    for deep in [
        "> ".repeat(deep),
        "- ".repeat(deep),
        format!("verify: {}", "(".repeat(deep)),
        (0..2000).map(|depth| format!("{}- x\n", " ".repeat(depth))).collect(),
        (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
        "```\n~~~\n".repeat(deep / 2),
        "<!--".repeat(deep),
    ] {
        errors(format!("{FRONT}{}", step(1, &deep)).as_bytes());
        errors(format!("{FRONT}{}", step(1, &format!("verify:\n  {deep}"))).as_bytes());
        errors(deep.as_bytes());
    }
}

/// Each of these looks quadratic: every line opens something that never ends, or asks for a
/// look at the rest of the file.
#[test]
fn repetition_of_what_looks_expensive() {
    let endless = |line: &dyn Fn(usize) -> String| {
        let mut text = FRONT.to_owned();
        let mut at = 0;
        while text.len() < REPEATED_BYTES {
            text.push_str(&line(at));
            at += 1;
        }
        text
    };
    let lines: [&dyn Fn(usize) -> String; 12] = [
        &|at| format!("- [ ] **Step {}: a**\nverify: cat <<E{at}\n", at + 1),
        &|at| format!("- [ ] **Step {}: a**\naction: |\n  b\nloop: true\nuntil: x\n", at + 1),
        &|_| "- [ ] **Step 1: a**\n".to_owned(),
        &|_| "#### 1. a\n".to_owned(),
        &|at| format!("key{at}: value\n"),
        &|_| "verify:\n  - x\n".to_owned(),
        &|_| "  - type: shell\n".to_owned(),
        &|_| "`".to_owned(),
        &|_| "<!-- a\n".to_owned(),
        &|_| "\n".to_owned(),
        &|_| " ".to_owned(),
        &|_| "\r".to_owned(),
    ];
    for line in sampled(4, lines) {
        let text = endless(line);
        errors(text.as_bytes());
        errors(&text.as_bytes()[FRONT.len()..]);
        let in_step = text.replacen(FRONT, &format!("{FRONT}{}", step(1, "")), 1);
        errors(in_step.as_bytes());
    }
}

#[test]
#[ignore = "only with --all"]
fn ten_thousand_steps_that_all_depend_on_others_or_name_the_same_file() {
    let front = FRONT.replace("risk_level", "worktree: true\nmax_parallel: 16\nrisk_level");
    let file = |count: usize, lines: &dyn Fn(usize) -> String| {
        let steps: String = (1..=count).map(|number| step(number, &lines(number))).collect();
        errors(format!("{front}{steps}").as_bytes())
    };
    let all = |number: usize| {
        let earlier: Vec<String> = (1..number).map(|number| number.to_string()).collect();
        format!("verify: make\ndepends_on: [{}]\n", earlier.join(", "))
    };
    assert_eq!(file(800, &all), Vec::<&str>::new());
    let two_rows = |number: usize| match number {
        1..400 => "verify: make\ndepends_on: []\n".to_owned(),
        _ => all(400).replace("make", "test -s a.txt"),
    };
    assert_eq!(file(2000, &two_rows), Vec::<&str>::new());
    let same = |_| "verify: test -s a.txt\ndepends_on: []\n".to_owned();
    assert_eq!(file(limits::WORKFLOW_STEPS, &same), Vec::<&str>::new());
    let later = |number: usize| format!("verify: make\ndepends_on: [{}]\n", number + 1);
    assert_eq!(file(limits::WORKFLOW_STEPS, &later).last(), Some(&"too-many-findings"));
}

#[test]
fn frontmatter_without_end() {
    let endless = "---\nintent: a\n".to_owned() + &"key: value\n".repeat(100_000);
    let codes = errors(endless.as_bytes());
    assert!(codes.contains(&"unterminated-frontmatter"), "{codes:?}");
    let recovered = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n\n## Steps\n".to_owned();
    assert_eq!(errors((recovered + &step(1, "")).as_bytes()), ["unterminated-frontmatter"]);
}

#[test]
fn names_with_everything_in_them() {
    for name in [
        "a | b \\| c",
        "\"quotes\" 'and' `ticks`",
        "日本語 🎉",
        "esc \u{1b}[31m bell \u{7} nel \u{85} rtl \u{202e}",
        "cr \r middle",
        "** bold ** and __ more",
        "]]> --> ``` $(rm -rf /)",
    ] {
        let file = format!("{FRONT}- [ ] **Step 1: {name}**\naction: b\nloop: false\n");
        assert_eq!(errors(file.as_bytes()), Vec::<&str>::new(), "{name:?}");
    }
    let long = "x日".repeat(2560);
    let file = format!("{FRONT}- [ ] **Step 1: {long}**\naction: b\nloop: false\n");
    let parsed = workflow::parse("x.md", file.as_bytes());
    assert_eq!(parsed.diagnostics[0].code, "step-name-too-long");
    let plan = parsed.plan.expect("a long name is cut, not refused");
    assert!(plan.steps[0].name.len() <= limits::STEP_NAME_BYTES);
}

#[test]
#[ignore = "only with --all"]
fn more_checks_than_a_step_may_have() {
    let list = |count: usize| format!("verify:\n{}", "  - make x\n".repeat(count));
    let file = |count| format!("{FRONT}{}", step(1, &list(count)));
    assert_eq!(errors(file(limits::CHECKS_PER_STEP).as_bytes()), Vec::<&str>::new());
    assert_eq!(errors(file(limits::CHECKS_PER_STEP + 1).as_bytes()), ["too-many-checks"]);
    assert_eq!(errors(file(100_000).as_bytes()), ["too-many-checks"]);
}

/// Words of the format, put together at random: much closer to a workflow than random bytes.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "---\n",
        "- [ ] **Step ",
        "- [x] **Step 1: a**\n",
        "### 2. b\n",
        "1",
        "2",
        "A",
        ": name",
        "**",
        "\n",
        "\r\n",
        "  ",
        "    ",
        "\t",
        "action:",
        "loop:",
        "verify:",
        "gate:",
        "until ",
        "until:",
        " false",
        "depends_on:",
        " [1, 2]",
        "max_parallel: 2\n",
        "worktree: true\n",
        " true",
        " |\n",
        " >\n",
        "- ",
        "type:",
        "command:",
        " shell",
        " artifact",
        "path:",
        "assert:",
        "kind:",
        "value:",
        "env:",
        "A: b",
        "timeout: 5",
        "expect: fail",
        "cat <<EOF",
        "EOF\n",
        "<<'X Y'",
        "```",
        "~~~",
        "sh\n",
        "<!--",
        "-->",
        "\"",
        "'",
        "`",
        "日本",
        "\u{feff}",
        "\u{1b}[0m",
        "\u{202e}",
        "é",
        "#",
        "## ",
        "intent:",
        "success_criteria:",
        "risk_level:",
        " high",
        " low",
        "{",
        "[",
        "]",
        "token",
        "verfy:",
        "max_iterations: 3",
        "true",
        "make",
        " | wc",
        "prose here",
        "- action: x",
        "\\",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        errors(&bytes);
        let _ = workflow::classify("x.md", &bytes);
    }

    #[test]
    fn any_combination_of_words_is_answered(text in pieces()) {
        for file in [text.clone(), format!("{FRONT}{text}"), format!("{FRONT}{}", step(1, &text))] {
            errors(file.as_bytes());
            workflow::classify("x.md", file.as_bytes());
        }
    }

    #[test]
    fn findings_can_always_be_shown(text in pieces()) {
        let source = format!("{FRONT}{text}");
        let diagnostics = workflow::parse("x.md", source.as_bytes()).diagnostics;
        let shown = human::render("x.md", source.as_bytes(), &diagnostics, false, 80);
        prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        lines::render_github("x.md", source.as_bytes(), &diagnostics);
        let file = json::FileFindings { path: "x.md", source: source.as_bytes(), diagnostics: &diagnostics };
        json::render(&[file]);
        json::render_sarif(&[file], &[]);
    }

    /// A fix makes its finding go away.
    #[test]
    fn fixes_fix(text in pieces()) {
        let source = format!("{FRONT}{text}");
        let diagnostics = workflow::parse("x.md", source.as_bytes()).diagnostics;
        let count = |diagnostics: &[onloop_core::diagnostic::Diagnostic], code: &str| {
            diagnostics.iter().filter(|found| found.code == code).count()
        };
        for found in diagnostics.iter().filter(|found| found.fix.is_some()) {
            let one = std::slice::from_ref(found);
            let (fixed, applied) =
                onloop_core::diagnostic::apply_fixes(source.as_bytes(), one);
            prop_assert_eq!(applied, 1);
            let after = workflow::parse("x.md", &fixed).diagnostics;
            prop_assert!(
                count(&after, found.code) < count(&diagnostics, found.code),
                "{:?}\n{}\n---- after\n{}\n{:?}", found, source, String::from_utf8_lossy(&fixed), after
            );
        }
    }

    #[test]
    fn ticking_moves_no_byte_and_keeps_the_digest(text in pieces(), step in 1_u32..3) {
        let source = format!("{FRONT}- [ ] **Step 1: a**\naction: b\nloop: false\n{text}").into_bytes();
        let before = workflow::parse("x.md", &source);
        let checkbox = before.checkboxes.iter().find(|checkbox| checkbox.step == step);
        if let Some(checkbox) = checkbox.filter(|checkbox| !checkbox.ticked) {
            let mut ticked = source.clone();
            prop_assert_eq!(std::mem::replace(&mut ticked[checkbox.offset], b'x'), b' ');
            let after = workflow::parse("x.md", &ticked);
            prop_assert_eq!(before.plan, after.plan);
            let now = after.checkboxes.iter().find(|checkbox| checkbox.step == step);
            prop_assert_eq!(now.map(|now| now.ticked), Some(true));
        }
    }
}

/// What is said about a file quotes it.
#[test]
#[cfg(unix)]
fn a_link_that_is_named_like_a_workflow_is_not_looked_into() {
    let project = Workspace::plain();
    project.write("../home/.netrc", "password of a person\n");
    std::os::unix::fs::symlink("../home/.netrc", project.path("hotl-workflow-x.md")).unwrap();
    let run = project.onloop(&["lint"]).expect_exit(2);
    assert!(run.stderr.contains("no workflow file was found here"), "{}", run.stderr);
}
