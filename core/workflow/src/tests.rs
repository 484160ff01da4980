//! The findings of files, as tables of text. Each finding is one line: `error missing-loop "the
//! text it points at"`.

mod depends_on;
mod steps;
mod verify;

use std::fmt::Write as _;

use super::*;
use onloop_effect::BranchName;
use onloop_syntax::diagnostic::{Severity, apply_fixes};
use onloop_syntax::money::Money;

/// Frontmatter without findings.
const FRONT: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n";

/// The findings about a file but `unchecked-step`, which has a table of its own: most files here
/// have no check.
fn findings(file: &str) -> String {
    let found = all_findings(file);
    let other = found.lines().filter(|line| !line.contains(" unchecked-step "));
    other.map(|line| format!("{line}\n")).collect()
}

fn all_findings(file: &str) -> String {
    let parsed = parse("hotl-workflow-x.md", file.as_bytes());
    let errors = parsed.diagnostics.iter().any(|found| found.severity == Severity::Error);
    assert_eq!(parsed.plan.is_none(), errors, "a plan exactly when there is no error: {file}");
    let mut out = String::new();
    for found in &parsed.diagnostics {
        let severity = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let text = &file[found.span.start..found.span.end];
        writeln!(out, "{severity} {} {text:?}", found.code).unwrap();
    }
    out
}

fn plan(file: &str) -> Plan {
    let parsed = parse("hotl-workflow-x.md", file.as_bytes());
    parsed.plan.unwrap_or_else(|| panic!("{:#?}\n{file}", parsed.diagnostics))
}

/// A file with one step of the given lines.
fn step_file(lines: &str) -> String {
    format!("{FRONT}- [ ] **Step 1: One**\n{lines}")
}

/// The checks of a step whose `verify` is `text`.
fn checks(text: &str) -> Vec<Check> {
    plan(&step_file(&format!("action: do\nloop: false\nverify:{text}\n")))
        .into_parts()
        .steps
        .remove(0)
        .checks
}

#[test]
fn a_command_of_comments_is_no_command() {
    for (command, nothing) in
        [("", true), ("# a\n\n  # b", true), ("true # a", false), ("# a\ntrue", false)]
    {
        assert_eq!(command::does_nothing(command), nothing, "{command}");
    }
}

fn shell(command: &str) -> Check {
    Check::Shell(ShellCheck::new(command))
}

/// Every row: lines of a step, and the findings.
fn step_table(rows: &[(&str, &str)]) {
    for (lines, expected) in rows {
        assert_eq!(findings(&step_file(lines)), *expected, "\n{lines}");
    }
}

/// Every row: text after `verify:`, and the findings.
fn verify_table(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        let file = step_file(&format!("action: do\nloop: false\nverify:{text}\n"));
        assert_eq!(findings(&file), *expected, "\n{file}");
    }
}

#[test]
fn a_whole_file_becomes_a_plan() {
    let file = "\u{feff}---\r\nintent: Add X: do Y # now\r\nsuccess_criteria:\r\n  - first: thing\r\n  \
        - \"second\"\r\nrisk_level: High # note\r\nauto_approve: true\r\nbranch: feat/x   # mine\r\n\
        worktree: host\r\ndirty_worktree: allow\r\nprogress: verbose\r\nreport_detail: full\r\n\
        max_total_attempts: 9\r\nmax_agents: 2\r\nmax_cost_usd: 1.25\r\nmax_elapsed_minutes: 30\r\n\
        max_tokens: 1000\r\nallow:\r\n  - make test\r\n  - npm run *\r\n\
        setup: |\r\n  npm ci\r\n\r\n  touch \"a b\" # c\r\n---\r\n\r\n## Steps\r\n\r\n- [x] **Step 1: 認証 | \"q\"**\r\naction: Do: it\r\nloop: until tests pass\r\n\
        max_iterations: 5\r\nverify: ! make \"a\"\r\ngate: human\r\n\r\n### 2. Legacy\r\naction: b\r\n\
        loop: false";
    let plan = plan(file);
    assert_eq!(plan.slug, "x");
    assert_eq!(plan.intent, "Add X: do Y # now");
    assert_eq!(plan.success_criteria, "first: thing\nsecond");
    assert_eq!(plan.risk, Risk::High);
    assert!(plan.auto_approve && plan.progress_verbose && plan.report_full && plan.dirty_allowed);
    assert_eq!(plan.branch.as_ref().map(BranchName::as_str), Some("feat/x"));
    assert_eq!(plan.isolation, Some(Isolation::Host));
    let budgets = Budgets {
        total_attempts: Some(9),
        agents: Some(2),
        cost: Some(Money::from_micros(1_250_000)),
        tokens: Some(1000),
        elapsed_minutes: Some(30),
    };
    assert_eq!(plan.budgets, budgets);
    assert_eq!(plan.allow, ["make test", "npm run *"]);
    assert_eq!(plan.setup, ["npm ci", "touch \"a b\" # c"]);
    let [one, two] = plan.steps.as_slice() else { panic!("two steps") };
    assert_eq!((one.number, one.name.as_str()), (1, "認証 | \"q\""));
    assert_eq!(one.action, "Do: it");
    let limit = NonZeroU32::new(5).unwrap();
    assert_eq!(one.repeat, Loop::Until { condition: "tests pass".to_owned(), limit });
    assert_eq!(one.checks, [shell("! make \"a\"")]);
    assert_eq!(one.gate, Some(Gate::Human));
    assert_eq!((two.name.as_str(), two.repeat.clone(), two.gate), ("Legacy", Loop::Never, None));
}

#[test]
fn frontmatter() {
    const STEP: &str = "- [ ] **Step 1: One**\naction: do\nloop: false\n";
    let table = [
        ("", "error missing-frontmatter \"- [ ] **Step 1: One**\"\n"),
        ("# Title\n---\nintent: a\n---\n", "error missing-frontmatter \"# Title\"\n"),
        (
            "---\n---\n",
            "error missing-key \"---\"\nerror missing-key \"---\"\nerror missing-key \"---\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n\n",
            "error unterminated-frontmatter \"---\"\n",
        ),
        ("---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n...\n", ""),
        ("--- \nintent: a\nsuccess_criteria: b\nrisk_level: LOW\n---\t\n", ""),
        (
            "---\nintent:\nsuccess_criteria: b\nrisk_level: low\n---\n",
            "error empty-key \"intent\"\n",
        ),
        (
            "---\nintent: a\nintent: b\nsuccess_criteria: b\nrisk_level: low\n---\n",
            "error duplicate-key \"intent\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: extreme\n---\n",
            "error invalid-key-value \"extreme\"\n",
        ),
        ("---\nintent: a\nsuccess_criteria: b\nrisk_level: \"low\"\nauto_approve: True\n---\n", ""),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low (mostly)\n---\n",
            "warning ignored-text \"(mostly)\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nauto_approve: yes\n---\n",
            "error invalid-key-value \"yes\"\n",
        ),
        ("---\nintent: Show progress: percent\nsuccess_criteria: b\nrisk_level: low\n---\n", ""),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nprogress: loud\n---\n",
            "error invalid-key-value \"loud\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nbranch: a b..c\n---\n",
            "error invalid-key-value \"a b..c\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nmax_agents: -1\n---\n",
            "error invalid-key-value \"-1\"\n",
        ),
        (
            "---\nintent: a\nsuccess-criteria: b\nsuccess_criteria: c\nrisk_level: low\n---\n",
            "warning unknown-key \"success-criteria\"\n",
        ),
        (
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nowner: me\n---\n",
            "warning unknown-key \"owner\"\n",
        ),
        (
            "---\nintent: a\nwrapped prose\nsuccess_criteria: b\nrisk_level: low\n---\n",
            "warning frontmatter-line \"wrapped prose\"\n",
        ),
        ("---\nintent: \"a\nsuccess_criteria: [a, b\nrisk_level: low\n---\n", ""),
        (
            "---\nintent: \"a\\q\"\nsuccess_criteria: b\nrisk_level: low\n---\n",
            "warning unreadable-quotes \"\\\"a\\\\q\\\"\"\n",
        ),
        ("---\n# comment\nintent: a\n\nsuccess_criteria:\n- b\n- c\nrisk_level: low\n---\n", ""),
    ];
    let lists = [
        ("protect: {a: 1}", "error invalid-key-value \"{a: 1}\"\n"),
        ("protect:\n  a: 1\n  b: 2", "error invalid-key-value \"a: 1\\n  b: 2\"\n"),
        ("protect: [a, {b: 1}]", "error invalid-key-value \"[a, {b: 1}]\"\n"),
        ("protect: \"{src,tests}/**\"", "error invalid-key-value \"\\\"{src,tests}/**\\\"\"\n"),
        ("allow: {make: true}", "error invalid-key-value \"{make: true}\"\n"),
        ("setup: { make; }", ""),
        ("setup: curl -H 'A: b' u", ""),
        ("protect: [\"{{slug}}/tests/**\", ci]", ""),
        ("protect:\n- ci/**\n- a.txt", ""),
    ];
    for (line, expected) in lists {
        let front = format!("---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n{line}\n---\n");
        assert_eq!(findings(&format!("{front}{STEP}")), expected, "\n{line}");
    }
    for (front, expected) in table {
        assert_eq!(findings(&format!("{front}{STEP}")), expected, "\n{front}");
    }
}

#[test]
fn a_value_that_is_nothing_but_a_comment_has_a_place_in_the_file() {
    for value in ["## Steps", "#", " # low", "## Steps\n- [ ] o", "|\n  # low", "\n  # low"] {
        for key in ["risk_level", "auto_approve", "worktree", "max_agents", "branch"] {
            let file = format!("---\nintent: i\n{key}:{value}\n---\n");
            for found in parse("w.md", file.as_bytes()).diagnostics {
                let (start, end) = (found.span.start, found.span.end);
                assert!(start <= end && end <= file.len(), "{file:?}: {found:?}");
            }
        }
    }
}

#[test]
fn frontmatter_values_in_every_style() {
    let table = [
        ("plain", "plain"),
        ("Add X: do Y", "Add X: do Y"),
        ("\"a: \\\"b\\\"\"", "a: \"b\""),
        ("'it''s'", "it's"),
        ("|\n  one\n  two", "one\ntwo"),
        (">\n  one\n  two\n\n  three", "one two\nthree"),
        (">-\n  one", "one"),
        ("one\n  two\n  three", "one two three"),
        ("\n  - one\n  - two", "one\ntwo"),
        ("\n- one: x\n  more\n- 'two'", "one: x more\ntwo"),
        ("[one, \"two\"]", "one\ntwo"),
        ("[one", "[one"),
        ("# not a comment", "# not a comment"),
        ("日本語", "日本語"),
    ];
    for (value, expected) in table {
        let file = format!(
            "---\nintent: a\nsuccess_criteria: {value}\nrisk_level: low\n---\n### 1. x\naction: y\nloop: false\n"
        );
        assert_eq!(plan(&file).success_criteria, expected, "{value}");
    }
}

#[test]
fn steps_and_their_headers() {
    const BODY: &str = "action: do\nloop: false\n";
    let table = [
        ("", "error no-steps \"\"\n"),
        ("## Steps\n", "error no-steps \"\"\n"),
        ("1. Do this\n2. Do that\n", "error no-steps \"\"\n"),
        ("#### 1. One\nBODY", "error step-header \"#### 1. One\"\n"),
        ("### Step 1: One\nBODY", "error step-header \"### Step 1: One\"\n"),
        ("* [ ] **Step 1: One**\nBODY", "error step-header \"* [ ] **Step 1: One**\"\n"),
        (
            "  - [ ] **Step 1: One**\n  BODY",
            "error step-header \"- [ ] **Step 1: One**\"\nwarning mixed-indentation \"loop: false\"\n",
        ),
        ("- [~] **Step 1: One**\nBODY", "error step-header \"- [~] **Step 1: One**\"\n"),
        ("- [] **Step 1: One**\nBODY", "error step-header \"- [] **Step 1: One**\"\n"),
        ("- [x ] **Step 1: One**\nBODY", "error step-header \"- [x ] **Step 1: One**\"\n"),
        ("- [✓] **Step 1: One**\nBODY", "error step-header \"- [✓] **Step 1: One**\"\n"),
        ("- [ ] **Step 1:** One\nBODY", "error step-header \"- [ ] **Step 1:** One\"\n"),
        ("- [ ] **Step 1: One** (soon)\nBODY", "warning text-after-step-name \"(soon)\"\n"),
        ("- [ ] **Step 1: **\nBODY", "error step-name-empty \"- [ ] **Step 1: **\"\n"),
        ("- [ ] **Step A1: One**\nBODY", "error step-number \"A1\"\n"),
        ("- [ ] **Step 0: One**\nBODY", "error step-number \"0\"\n"),
        ("- [ ] **Step 2: One**\nBODY", "error step-number \"2\"\n"),
        ("- [ ] **Step 4294967296: One**\nBODY", "error step-number \"4294967296\"\n"),
        (
            "- [ ] **Step 1: One**\nBODY- [ ] **Step 1: Two**\nBODY",
            "error duplicate-step-number \"1\"\n",
        ),
        (
            "- [ ] **Step 1: A**\nBODY- [ ] **Step 3: B**\nBODY- [ ] **Step 4: C**\nBODY",
            "error step-number \"3\"\n",
        ),
        (
            "- [ ] **Step 2: A**\nBODY- [ ] **Step 1: B**\nBODY",
            "error step-number \"2\"\nerror step-number \"1\"\n",
        ),
        (
            "- [ ] **Step 2: A**\nBODY- [ ] **Step 1: B**\nBODY- [ ] **Step 3: C**\nBODY",
            "error step-number \"2\"\nerror step-number \"1\"\n",
        ),
        ("### Phase 1: x\n\n- [ ] **Step 1: One**\nBODY\n### Notes\n- a\n", ""),
        ("#### 1. prose\n\ntext\n\n- [ ] **Step 1: One**\nBODY", ""),
        ("<!--\n- [ ] **Step 1: No**\n-->\n- [ ] **Step 1: One**\nBODY", ""),
        ("```\n- [ ] **Step 1: No**\n```\n- [ ] **Step 1: One**\nBODY", ""),
        ("```\n- [ ] **Step 1: No**\n", "error unterminated-fence \"```\"\nerror no-steps \"\"\n"),
        (
            "<!-- x\n- [ ] **Step 1: No**\n",
            "error unterminated-comment \"<!-- x\"\nerror no-steps \"\"\n",
        ),
        ("- [ ] **Step 1: One**\nBODY---\n\n## Notes\n\n---\nintent: again\n", ""),
        ("gate: human\n- [ ] **Step 1: One**\nBODY", "warning field-outside-step \"gate\"\n"),
    ];
    for (text, expected) in table {
        let file = format!("{FRONT}{}", text.replace("BODY", BODY));
        assert_eq!(findings(&file), expected, "\n{file}");
    }
}

#[test]
fn fields_of_a_step() {
    step_table(&[
        ("", "error missing-action \"One\"\nerror missing-loop \"One\"\n"),
        ("action: do\nloop: false\n", ""),
        ("action: do\n\nloop: false\n\nverify: make\n\ngate: auto\n", ""),
        ("  action: do\n  loop: false\n  verify: make\n", ""),
        ("Action: do\nLoop: False\nGATE: Human\n", ""),
        ("action:\nloop: false\n", "error missing-action \"action\"\n"),
        ("action: do\n", "error missing-loop \"One\"\n"),
        ("action: do\nloop: true\n", "error invalid-loop \"true\"\n"),
        ("action: do\nloop: 3\n", "error invalid-loop \"3\"\n"),
        ("action: do\nloop: until\nverify: make\n", "error invalid-loop \"until\"\n"),
        ("action: do\nloop: until done\n", "error until-without-verify \"until done\"\n"),
        ("action: do\nloop: until: done\nverify: make\n", ""),
        ("action: do\nloop: \"until done\"\nverify: make\n", ""),
        ("action: do\nloop: 'false'\nverify: make\n", ""),
        ("action: do\nuntil: done\nverify: make\n", "error invalid-loop \"until\"\n"),
        ("action: do\nloop: true\nuntil: done\nverify: make\n", "error invalid-loop \"until\"\n"),
        (
            "action: do\nloop: false # once\nmax_iterations: 3\n",
            "warning unused-max-iterations \"max_iterations\"\n",
        ),
        ("action: do\nloop: until x\nmax_iterations: 5  # note\nverify: make\n", ""),
        (
            "action: do\nloop: until x\nmax_iterations: 0\nverify: make\n",
            "error invalid-max-iterations \"0\"\n",
        ),
        (
            "action: do\nloop: until x\nmax_iterations: 1001\nverify: make\n",
            "error invalid-max-iterations \"1001\"\n",
        ),
        (
            "action: do\nloop: until x\nmax_iterations: many\nverify: make\n",
            "error invalid-max-iterations \"many\"\n",
        ),
        (
            "action: do\nloop: until x\nmax_iterations:\nverify: make\n",
            "error invalid-max-iterations \"max_iterations\"\n",
        ),
        ("action: do\nloop: false\ngate: true\n", "error invalid-gate \"true\"\n"),
        ("action: do\nloop: false\ngate: human # note\n", ""),
        ("action: do\nloop: false\ngate:\n", "error invalid-gate \"gate\"\n"),
        ("action: do\naction: again\nloop: false\n", "error duplicate-field \"action\"\n"),
        ("action: do\nloop: false\nverfy: make\n", "error misspelt-field \"verfy:\"\n"),
        (
            "action: do\nloop: false\nmax\\_iterations: 3\n",
            "error misspelt-field \"max\\\\_iterations:\"\n",
        ),
        (
            "- action: do\n- loop: false\n",
            "error missing-action \"One\"\nerror missing-loop \"One\"\nerror misspelt-field \"- action:\"\nerror misspelt-field \"- loop:\"\n",
        ),
        (
            "action: do\n**loop**: false\n",
            "error missing-loop \"One\"\nerror misspelt-field \"**loop**:\"\n",
        ),
        ("action: do\nloop: false\nowner: me\n", "warning unknown-field \"owner\"\n"),
        (
            "action: do\nloop: false\nSome prose.\nMore.\n",
            "warning prose-in-step \"Some prose.\"\n",
        ),
        (
            "action: do\nloop: false\nverify: make\n  gate: human\n",
            "error indented-field \"gate: human\"\n",
        ),
        (
            "action: do\n  loop: false\n",
            "error missing-loop \"One\"\nwarning indented-key-in-text \"loop: false\"\n",
        ),
        ("action: do\nloop: false\n  more\n", "error invalid-loop \"false\\n  more\"\n"),
        (
            "action: do\nloop: false\ngate: human\n  more\n",
            "error unexpected-lines \"human\\n  more\"\nerror invalid-gate \"human\\n  more\"\n",
        ),
        ("action: \"do it\"\nloop: false\n", ""),
        ("  action: do\nloop: false\n", "warning mixed-indentation \"loop: false\"\n"),
        (
            "action: do\nloop: false\n```sh\na\n```\n```bash\nb\n```\n",
            "error several-scripts \"```bash\"\n",
        ),
        ("action: do\nloop: false\n```python\na\n```\n", "warning prose-in-step \"```python\"\n"),
        (
            "action: |\n  ```\n  a\nloop: false\n",
            "error missing-loop \"One\"\nerror unterminated-fence \"```\"\n",
        ),
    ]);
}

#[test]
fn actions_of_many_lines() {
    let table = [
        ("action: one\n  - two\n    three\n\n  four\nloop: false\n", "one\n- two\n  three\n\nfour"),
        ("action: |\n  one\n\n    two\nloop: false\n", "one\n\n  two"),
        ("action: >\n  one\n  two\nloop: false\n", "one two"),
        ("action:\n  one\n  two\nloop: false\n", "one\ntwo"),
        (
            "action: |\n  ```\n- [ ] **Step 9: no**\ngate: human\n  ```\nloop: false\n",
            "```\n- [ ] **Step 9: no**\ngate: human\n```",
        ),
        (
            "action: write\n```json\n{\"a\": 1}\n```\nloop: false\n",
            "write\n```json\n{\"a\": 1}\n```",
        ),
        ("  action: |\n    one\n  loop: false\n", "one"),
        ("action: use <<EOF\nloop: false\n", "use <<EOF"),
        ("action: | pipes are text\nloop: false\n", "| pipes are text"),
        ("action: a\u{1b}[31mb\u{202e}\tc\nloop: false\n", "ab\tc"),
        ("action: \"say \\\"hi\\\"\"\nloop: false\n", "say \"hi\""),
        ("action: \"a\" and \"b\"\nloop: false\n", "\"a\" and \"b\""),
    ];
    for (lines, expected) in table {
        assert_eq!(plan(&step_file(lines)).steps[0].action, expected, "\n{lines}");
    }
}

#[test]
fn scripts() {
    let script = |lines: &str| plan(&step_file(lines)).into_parts().steps.remove(0).script;
    let table = [
        ("action: do\nloop: false\n```sh\necho 1\n\n  x\n```\n", Shell::Sh, "echo 1\n\n  x\n"),
        (
            "action: do\n```bash title=x\ngate: human\n```\nloop: false\n",
            Shell::Bash,
            "gate: human\n",
        ),
        ("  action: do\n  loop: false\n  ~~~sh\n  echo\n  ~~~\n", Shell::Sh, "echo\n"),
        ("action: do\nloop: false\nverify: make\n\n```sh\n```\n", Shell::Sh, ""),
    ];
    for (lines, shell, text) in table {
        let text = text.to_owned();
        assert_eq!(script(lines), Some(Script { shell, text }), "\n{lines}");
    }
    assert_eq!(script("action: |\n  do\n  ```sh\n  x\n  ```\nloop: false\n"), None);
    assert_eq!(script("action: do\n  ```sh\n  x\n  ```\nloop: false\n"), None);
}

#[test]
fn a_step_needs_a_check_or_a_person() {
    let warned = "warning unchecked-step \"One\"\n";
    let table = [
        ("loop: false\n", warned),
        ("loop: false\ngate: auto\n", warned),
        ("loop: false\ngate: human\n", ""),
        ("loop: false\nverify: make\n", ""),
        ("loop: until it works\n", "error until-without-verify \"until it works\"\n"),
    ];
    for (lines, expected) in table {
        assert_eq!(all_findings(&step_file(&format!("action: do\n{lines}"))), expected, "{lines}");
    }
    let demanding = FRONT.replace("risk_level", "require_checks: true\nrisk_level");
    let file = format!("{demanding}- [ ] **Step 1: One**\naction: do\nloop: false\n");
    assert_eq!(all_findings(&file), "error unchecked-step \"One\"\n");
    let vacuous = file + "verify: make || true\n";
    assert_eq!(
        all_findings(&vacuous),
        "error unchecked-step \"One\"\nwarning vacuous-verify \"make || true\"\n"
    );
    assert_eq!(
        all_findings(&(vacuous + "gate: human\n")),
        "warning vacuous-verify \"make || true\"\n"
    );
}

#[test]
fn security_needs_a_gate_only_at_high_risk() {
    let file = |risk: &str, action: &str, gate: &str| {
        format!(
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: {risk}\n---\n\
             - [ ] **Step 1: One**\naction: {action}\nloop: false\n{gate}"
        )
    };
    let missing = "error security-without-gate \"One\"\n";
    assert_eq!(findings(&file("high", "rotate the tokens", "")), missing);
    assert_eq!(findings(&file("high", "rotate the tokens", "gate: auto\n")), missing);
    assert_eq!(findings(&file("high", "rotate the tokens", "gate: human\n")), "");
    assert_eq!(findings(&file("high", "the author typed", "")), "");
    assert_eq!(findings(&file("medium", "rotate the tokens", "")), "");
    assert_eq!(
        findings(&file("high", "key features", "")),
        "warning security-without-gate \"One\"\n"
    );
    assert!(plan(&file("low", "rotate the tokens", "")).steps[0].sensitive);
    assert!(plan(&file("low", "x", "verify: test -f auth.py\n")).steps[0].sensitive);
    assert!(!plan(&file("low", "the author typed", "")).steps[0].sensitive);
}

#[test]
fn ticking_does_not_change_the_digest_and_editing_does() {
    let file = format!(
        "{FRONT}- [ ] **Step 1: One**\naction: do\nloop: false\n- [x] **Step 2: Two**\naction: do\nloop: false\n"
    );
    let digest = |file: &str| plan(file).into_parts().digest;
    let ticked = file.replace("- [ ] ", "- [x] ");
    assert_eq!(digest(&file), digest(&ticked));
    assert_eq!(digest(&file), digest(&file.replace("- [x] ", "- [X] ")));
    assert_ne!(digest(&file), digest(&file.replace("action: do", "action: dx")));
    let in_text =
        format!("{FRONT}- [ ] **Step 1: One**\naction: |\n  - [ ] **Step 2: no**\nloop: false\n");
    assert_ne!(digest(&in_text), digest(&in_text.replace("  - [ ]", "  - [x]")));
}

#[test]
fn every_fix_removes_its_finding() {
    let bodies = [
        "* [ ] **Step 1: One**\naction: do\nloop: true\nverify: \"make\"\n",
        "- [ ] **Step A: One**\naction: do\nloop: never\ngate: required\n- [ ] **Step A: Two**\naction: do\n",
        "- [ ] **Step 7:** One\n  action: \"do\"\n  loop: true\n  until: done\n  verfy: make\n",
        "- [ ] **Step 1: One**\nuntil: done\naction: do\nverify:\n  command: make\n  timeout: 90\n",
        "- [ ] **Step 1: One**\naction: do\nverify: make\n  gate: human\n  loop: false",
        "- [ ] **Step 1: One**\naction: do\nloop: until\nverify:\n  type: human-reviw\n  check: x\n",
        "- [ ] **Step 1: One**\naction: do\nloop: 'until x'\nverify:\n  - type: artifact\n    path: x\n    assert: exists\n",
        "- [ ] **Step 1: One**\r\naction: do",
        "- [ ] **Step 1: One**",
        "- [x] **Step 1: One**\n  ```sh\n- [x] **Step 1: One**\n---\n",
    ];
    for body in bodies {
        let file = format!(
            "---\nintnet: a\nintent: b\nsuccess_criteria: b\nrisk_level: low x\n---\n{body}"
        );
        let mut source = file.clone().into_bytes();
        for round in 0.. {
            let parsed = parse("x.md", &source);
            let (next, count) = apply_fixes(&source, &parsed.diagnostics);
            if count == 0 {
                break;
            }
            assert!(round < 10, "the fixes do not come to an end: {file}");
            for found in parsed.diagnostics.iter().filter(|found| found.fix.is_some()) {
                let (alone, _) = apply_fixes(&source, std::slice::from_ref(found));
                let same = |other: &&Diagnostic| other.code == found.code;
                let count =
                    |source: &[u8]| parse("x.md", source).diagnostics.iter().filter(same).count();
                let text = String::from_utf8_lossy(&alone);
                assert!(count(&alone) < count(&source), "{}\n{text}", found.code);
            }
            source = next;
        }
        let left = parse("x.md", &source).diagnostics;
        assert!(left.iter().all(|found| found.fix.is_none()), "{left:#?}");
    }
}

#[test]
fn fixes_keep_the_line_breaks_of_the_file() {
    let file = step_file(
        "action: do\nverify:\n  - path: x\n    assert: exists\n  - command: make\n    timeout: 5s\n",
    );
    let mut source = file.replace('\n', "\r\n").into_bytes();
    for _ in 0..4 {
        source = apply_fixes(&source, &parse("x.md", &source).diagnostics).0;
    }
    let fixed = String::from_utf8(source).unwrap();
    assert!(fixed.contains("loop: false\r\n") && fixed.contains("type: shell\r\n"), "{fixed}");
    assert_eq!(fixed.matches('\n').count(), fixed.matches("\r\n").count(), "{fixed:?}");
    assert_eq!(findings(&fixed), "");
}

#[test]
fn the_outline_says_where_frontmatter_and_steps_are_even_when_they_are_wrong() {
    let file = "---\nintent: a\n---\nprose\n- [ ] **Step 1: One**\naction: do\n\n### 7. Two\n\n\
        ```\n### 3. No\n```\n\n## Notes\nmore\n- [x] **Step 9: Last**\n";
    let outline = parse("hotl-workflow-x.md", file.as_bytes()).outline;
    let text = |span: Span| &file[span.start..span.end];
    assert_eq!(outline.frontmatter.map(text), Some("intent: a\n"));
    let steps: Vec<_> = outline
        .steps
        .iter()
        .map(|step| (step.number, step.name.as_str(), text(step.title), text(step.span)))
        .collect();
    assert_eq!(
        steps,
        [
            (1, "One", "One", "- [ ] **Step 1: One**\naction: do\n\n"),
            (2, "Two", "Two", "### 7. Two\n\n```\n### 3. No\n```\n\n"),
            (3, "Last", "Last", "- [x] **Step 9: Last**\n"),
        ]
    );
    assert_eq!(parse("x.md", b"no workflow").outline, Outline::default());
}
