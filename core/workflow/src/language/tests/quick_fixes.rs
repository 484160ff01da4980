//! Changes that findings offer.

use super::*;

/// The titles of the quick fixes for the finding `code`. Each one removes that finding when applied.
#[track_caller]
fn fixed(file: &str, code: &str) -> Vec<String> {
    let parsed = read(file);
    let count = |parsed: &Parsed| parsed.diagnostics.iter().filter(|d| d.code == code).count();
    let finding = parsed.diagnostics.iter().find(|found| found.code == code);
    let finding =
        finding.unwrap_or_else(|| panic!("no {code} in {file}\n{:?}", parsed.diagnostics));
    let fixes = quick_fixes(Reading::new(file, &parsed), finding);
    for fix in &fixes {
        let after = applied(file, &fix.edits);
        assert_ne!(after, file, "{}", fix.title);
        let again = read(&after);
        assert!(count(&again) < count(&parsed), "{code}: {}\n{after}", fix.title);
    }
    fixes.into_iter().map(|fix| fix.title).collect()
}

#[test]
fn findings_with_an_obvious_change_offer_it() {
    let high = FRONT.replace("low", "high");
    let step = |lines: &str| format!("{FRONT}- [ ] **Step 1: A**\naction: a\n{lines}\n");
    let shell = |line: &str| {
        step(&format!("loop: false\nverify:\n  type: shell\n  command: make\n  {line}"))
    };
    let artifact = |lines: &str| {
        step(&format!("loop: false\nverify:\n  type: artifact\n  path: a\n  {lines}"))
    };
    let body = &step("loop: false")[FRONT.len()..];
    let front = |lines: &str| FRONT.replace("risk_level: low\n", lines) + body;
    let with = |line: &str| front(&format!("risk_level: low\n{line}\n"));
    let table: &[(&str, String, &str)] = &[
        ("missing-frontmatter", body.to_owned(), "add frontmatter"),
        (
            "unterminated-frontmatter",
            step("loop: false").replacen("---\n\n", "", 1),
            "end the frontmatter after its last key",
        ),
        (
            "missing-key",
            front(""),
            "add `risk_level: low`|add `risk_level: medium`|add `risk_level: high`",
        ),
        ("frontmatter-line", with("hello"), "turn the line into a comment"),
        ("unknown-key", with("owner: me"), "turn the line into a comment"),
        ("unknown-key", with("comit: end"), "rename it to `commit`"),
        ("duplicate-key", with("intent: b"), "remove `intent`"),
        ("empty-key", with("branch:"), "remove `branch`"),
        ("invalid-key-value", with("commit: always"), "write `end`|write `step`|write `never`"),
        ("duplicate-field", step("loop: false\nloop: false"), "remove `loop`"),
        ("unknown-field", step("loop: false\nowner: me\n  and you"), "remove `owner`"),
        (
            "unused-max-iterations",
            step("loop: false\nmax_iterations: 2"),
            "remove `max_iterations`",
        ),
        ("empty-verify", step("loop: false\nverify:"), "remove `verify`"),
        ("invalid-gate", step("loop: false\ngate: boss"), "write `human`|write `auto`"),
        ("invalid-loop", step("loop: sometimes"), "write `false`"),
        ("until-without-verify", step("loop: until ok"), "write `false`"),
        (
            "invalid-max-iterations",
            step("loop: until ok\nverify: make\nmax_iterations: many"),
            "write `3`",
        ),
        (
            "text-after-step-name",
            step("loop: false").replace("A**", "A** (later)"),
            "move the text into the name",
        ),
        (
            "hidden-character",
            step("loop: false\nverify: make\u{200b} test"),
            "remove the invisible characters",
        ),
        (
            "security-without-gate",
            format!("{high}- [ ] **Step 1: A**\naction: the password\nloop: false"),
            "add `gate: human`",
        ),
        (
            "security-without-gate",
            format!("{high}- [ ] **Step 1: A**\naction: the password\ngate: auto\nloop: false\n"),
            "write `human`",
        ),
        ("invalid-check-value", shell("expect: maybe"), "write `pass`|write `fail`"),
        ("foreign-check-field", shell("url: http://a"), "remove `url`"),
        ("unknown-check-field", shell("owner: me"), "turn the line into a comment"),
        (
            "unknown-check-type",
            step("loop: false\nverify:\n  type: robot\n  command: make"),
            "write `shell`|write `browser`|write `human-review`|write `artifact`",
        ),
        (
            "unknown-assert-kind",
            artifact("assert:\n    kind: bigger\n    value: b"),
            "write `exists`|write `contains`|write `matches-glob`",
        ),
        (
            "unused-assert-value",
            artifact("assert:\n    kind: exists\n    value: b"),
            "remove `value`",
        ),
        ("flattened-assert", artifact("assert:\n  kind: exists"), "indent it below `assert`"),
        (
            "glob-with-folder",
            artifact("assert:\n    kind: matches-glob\n    value: \"**/*.md\""),
            "write `*.md`",
        ),
        (
            "prose-verify",
            step("loop: false\nverify: The dashboard looks right and nothing is broken."),
            "ask a person instead",
        ),
        (
            "windows-command",
            step("loop: false\nverify: Get-ChildItem -Path out"),
            "run it with pwsh",
        ),
        ("windows-command", step("loop: false\nverify: gradlew.bat test"), "run it with cmd"),
        (
            "last-line-decides",
            step("loop: false\nverify: |\n  npm run lint\n  npm test"),
            "begin with `set -e`",
        ),
        ("invalid-depends-on", graph("", "depends_on: [9, 1]"), "remove `9`"),
        ("invalid-depends-on", graph("", "depends_on: [1, 9 ]"), "remove `9`"),
        ("invalid-depends-on", graph("", "depends_on: [9]"), "remove `9`"),
        ("invalid-depends-on", graph("", "depends_on:\n  - 9 # no\n  - 1\n"), "remove `9`"),
        ("invalid-depends-on", graph("", "depends_on: 1"), "write `[1]`"),
        (
            "parallel-without-worktree",
            graph("", "").replace("worktree: true", "worktree: host"),
            "write `true`",
        ),
        (
            "parallel-without-worktree",
            graph("", "").replace("worktree: true\n", ""),
            "add `worktree: true`",
        ),
        (
            "unused-max-parallel",
            graph("", "").replace("depends_on: []\n", ""),
            "remove `max_parallel`",
        ),
        ("unneeded-step", graph("", ""), "let step 4 depend on step 1"),
        (
            "unneeded-step",
            graph("depends_on: [2]", "depends_on: [2]"),
            "let step 4 depend on steps 1 and 3",
        ),
        (
            "shared-file",
            graph("depends_on: [1]\nmay_change: [a.txt]", "depends_on: [2]\nmay_change: [a.txt]"),
            "let step 4 depend on step 3",
        ),
        (
            "url-without-scheme",
            step("loop: false\nverify:\n  type: browser\n  url: localhost:3000\n  check: red"),
            "begin with `http://`",
        ),
    ];
    for (code, file, expected) in table {
        assert_eq!(fixed(file, code).join("|"), *expected, "{code}");
    }
}

#[test]
fn a_finding_names_what_it_contradicts() {
    let high = FRONT.replace("low", "high");
    let table = [
        (
            format!("{FRONT}- [ ] **Step 1: A**\naction: a\naction: b\nloop: false\n"),
            "duplicate-field",
            "action",
        ),
        (
            format!("{FRONT}- [ ] **Step 1: A**\naction: token\nloop: false\n")
                .replace("low", "high"),
            "security-without-gate",
            "risk_level: high",
        ),
        (
            format!("{high}- [ ] **Step 1: A**\naction: a\nloop: false\nmax_iterations: 2\n"),
            "unused-max-iterations",
            "loop: false",
        ),
        (three_steps().replace("**Step 2", "**Step 1"), "duplicate-step-number", "1"),
    ];
    for (file, code, expected) in table {
        let parsed = read(&file);
        let finding = parsed.diagnostics.iter().find(|found| found.code == code).expect(code);
        let related = related(Reading::new(&file, &parsed), finding);
        let texts: Vec<_> = related.iter().map(|(span, _)| &file[span.start..span.end]).collect();
        assert_eq!(texts, [expected], "{code}");
        assert!(related[0].0.start < finding.span.start || code == "security-without-gate");
    }
}
