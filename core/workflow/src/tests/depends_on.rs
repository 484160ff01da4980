//! The steps that a step needs, and how many run at the same time.

use super::*;

/// A file of steps, each with the lines of `steps` at its end.
fn file(front: &str, steps: &[&str]) -> String {
    let mut file = FRONT.replacen("risk_level", &format!("{front}risk_level"), 1);
    for (number, lines) in (1..).zip(steps) {
        file += &format!(
            "- [ ] **Step {number}: A**\naction: do\nloop: false\nverify: make test\n{lines}\n"
        );
    }
    file
}

#[test]
fn a_step_needs_the_steps_that_it_lists_or_the_one_before() {
    for (written, expected) in [
        ("", vec![3]),
        ("depends_on: []", vec![]),
        ("depends_on: [2, 1]  # both", vec![1, 2]),
        ("depends_on: [\"3\", ]", vec![3]),
        ("depends_on:\n  - 3 # tests\n\n  - 1", vec![1, 3]),
        ("depends_on: [1,\n  2]", vec![1, 2]),
    ] {
        let file = file("", &["", "", "", written]);
        let parsed = parse("hotl-workflow-a.md", file.as_bytes());
        assert!(parsed.diagnostics.is_empty(), "{file}: {:?}", parsed.diagnostics);
        let plan = parsed.plan.expect("a plan");
        assert_eq!(plan.steps[0].depends_on(), [0; 0]);
        assert_eq!(plan.steps[3].depends_on(), expected, "{file}");
        assert_eq!(plan.steps[3].depends_on.is_some(), !written.is_empty(), "{file}");
    }
}

#[test]
fn what_is_not_an_earlier_step_is_an_error_where_it_is_written() {
    for (written, at, message, fixed) in [
        ("depends_on:", "depends_on", "`depends_on` is ``; expected a list of earlier steps", None),
        ("depends_on: 1, 2 # x", "1, 2", "`depends_on` is `1, 2`; expected a list", Some("[1, 2]")),
        ("depends_on: none", "none", "expected a list of earlier steps", Some("[]")),
        ("depends_on: tests", "tests", "`depends_on` is `tests`; expected a list", None),
        ("depends_on: [1, two]", "two", "`depends_on` is `two`; expected a list", None),
        ("depends_on: [-1]", "-1", "`depends_on` is `-1`", None),
        ("depends_on: [+1]", "+1", "`depends_on` is `+1`", None),
        ("depends_on: [99999999999]", "99999999999", "`depends_on` is `99999999999`", None),
        ("depends_on: [0]", "0", "there is no step 0", None),
        ("depends_on: [1, 7]", "7", "there is no step 7", None),
        ("depends_on: [3]", "3", "the step depends on itself", None),
        ("depends_on:\n  - 1\n  - 4", "4", "step 4 comes after this one", None),
        ("depends_on: [2, 1, 2]", "2", "step 2 is listed twice", None),
    ] {
        let file = file("", &["", "", written, ""]);
        let parsed = parse("hotl-workflow-a.md", file.as_bytes());
        let [found] = parsed.diagnostics.as_slice() else {
            panic!("{written}: {:?}", parsed.diagnostics);
        };
        assert_eq!(found.code, "invalid-depends-on", "{written}");
        assert!(found.message.contains(message), "{written}: {}", found.message);
        let expected =
            file.find(written).expect("the line") + written.rfind(at).expect("the place");
        assert_eq!(found.span.start, expected, "{written}");
        assert_eq!(&file[found.span.start..found.span.end], at, "{written}");
        let fix = found.fix.as_ref().map(|fix| fix.edits[0].text.as_str());
        assert_eq!(fix, fixed, "{written}");
        assert!(parsed.plan.is_none());
    }
}

#[test]
fn at_most_sixteen_steps_run_at_the_same_time() {
    for (front, expected) in [("", 1), ("max_parallel: 1\n", 1), ("max_parallel: 16 # all\n", 16)] {
        let front = format!("worktree: true\n{front}");
        let parsed = parse("hotl-workflow-a.md", file(&front, &["", ""]).as_bytes());
        assert_eq!(parsed.plan.expect("a plan").max_parallel, expected, "{front}");
    }
    for value in ["0", "17", "-1", "many", "1.5"] {
        let front = format!("worktree: true\nmax_parallel: {value}\n");
        let found = parse("hotl-workflow-a.md", file(&front, &["", ""]).as_bytes()).diagnostics;
        assert_eq!(found[0].code, "invalid-key-value", "{value}");
        let expected = "expected a whole number from 1 to 16";
        assert!(found[0].message.contains(expected), "{}", found[0].message);
    }
}

/// The findings of a file that runs at most three steps at the same time.
fn parallel(steps: &[&str]) -> String {
    findings(&file("worktree: true\nmax_parallel: 3\n", steps))
}

#[test]
fn steps_at_the_same_time_need_worktrees() {
    let both = ["", "depends_on: []"];
    for (front, expected) in [
        ("max_parallel: 2\n", "error parallel-without-worktree \"max_parallel: 2\"\n"),
        (
            "worktree: host\nmax_parallel: 2\n",
            "error parallel-without-worktree \"max_parallel: 2\"\n",
        ),
        (
            "worktree: false\nmax_parallel: 2\n",
            "error parallel-without-worktree \"max_parallel: 2\"\n",
        ),
        ("worktree: maybe\nmax_parallel: 2\n", "error invalid-key-value \"maybe\"\n"),
        ("worktree: false\nmax_parallel: 1\n", ""),
        ("worktree: false\n", ""),
        ("max_parallel: 2\nworktree: true\n", ""),
    ] {
        assert_eq!(findings(&file(front, &both)), expected, "{front}");
    }
    let written = file("max_parallel: 2 # both\n", &both);
    let found = parse("", written.as_bytes()).diagnostics;
    let fixed = String::from_utf8(apply_fixes(written.as_bytes(), &found).0).expect("text");
    assert!(fixed.contains("\nmax_parallel: 2 # both\nworktree: true\nrisk_level"), "{fixed}");
    assert_eq!(findings(&fixed), "");
}

#[test]
fn a_bound_on_steps_that_cannot_run_at_the_same_time_has_no_effect() {
    let unused = "warning unused-max-parallel \"max_parallel\"\n";
    for (steps, expected) in [
        (&[""][..], unused),
        (&["", "depends_on: [1]", "depends_on: [1, 2]"], unused),
        (&["", "depends_on: []"], ""),
    ] {
        assert_eq!(parallel(steps), expected, "{steps:?}");
    }
    assert_eq!(findings(&file("", &["", "depends_on: []"])), "", "one after the other");
}

#[test]
fn a_last_step_that_checks_others_waits_for_every_step() {
    let early = "warning unneeded-step \"A\"\n";
    for (steps, expected) in [
        (&["", "depends_on: []", "depends_on: []", ""][..], early),
        (&["", "depends_on: []", "depends_on: [1]"], early),
        (&["", "depends_on: []", "depends_on: [1, 2]"], ""),
        (&["", "depends_on: [1]", "depends_on: [1]", "depends_on: [2, 3]"], ""),
        (&["", "", "depends_on: [1]", "depends_on: [3]"], early),
        (&["", "depends_on: []", "depends_on: []"], ""),
    ] {
        assert_eq!(parallel(steps), expected, "{steps:?}");
    }
    let many = [&[""][..], &["depends_on: []"; 7], &[""]].concat();
    let file = file("worktree: true\nmax_parallel: 3\n", &many);
    let found = parse("", file.as_bytes()).diagnostics;
    let expected = "step 9, the last one, does not wait for steps 1, 2, 3, 4 and 5, and 2 more";
    assert_eq!(found[0].message, expected);
}

#[test]
fn steps_at_the_same_time_name_different_files() {
    let step = |number: u32, lines: &str| {
        format!("- [ ] **Step {number}: S{number}**\naction: do\nloop: false\n{lines}\n")
    };
    let file = |one: &str, other: &str| {
        let front = FRONT.replacen("risk_level", "worktree: true\nmax_parallel: 2\nrisk_level", 1);
        let other = step(2, &format!("depends_on: []\n{other}"));
        format!(
            "{front}{}{other}{}",
            step(1, one),
            step(3, "depends_on: [1, 2]\nverify: make test")
        )
    };
    for (one, other, shared) in [
        ("verify: grep -q a docs/a.md", "verify: test -s ./docs/a.md", true),
        ("verify: pytest tests/test_a.py", "may_change: [tests/test_a.py]\nverify: make", true),
        ("verify: cd pkg && grep -q a b.txt", "verify: grep -q b pkg/b.txt", true),
        (
            "verify:\n  type: artifact\n  path: out.txt\n  assert:\n    kind: exists",
            "verify: grep -q a out.txt",
            true,
        ),
        ("verify: cd one && test -s a.txt", "verify: cd two && test -s a.txt", false),
        ("verify: make test", "verify: make test", false),
        ("verify: sh ci/check.sh docs", "verify: sh ci/check.sh code", false),
        ("verify: npx tsc -p tsconfig.json", "verify: npx tsc -p tsconfig.json", false),
        (
            "verify: curl -f http://localhost/a.html",
            "verify: curl -f http://localhost/a.html",
            false,
        ),
        ("verify: make\nmay_change: [tests/**]", "verify: make\nmay_change: [tests/**]", false),
    ] {
        let expected = if shared { "warning shared-file \"S2\"\n" } else { "" };
        assert_eq!(findings(&file(one, other)), expected, "{one} / {other}");
    }
    let one = file("verify: test -s a.txt", "verify: test -s a.txt");
    assert_eq!(findings(&one.replacen("max_parallel: 2\n", "", 1)), "", "one after the other");
}
