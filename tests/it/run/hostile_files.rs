//! Files that are no workflows, or the worst ones that still are. Nothing may change on disk.

use super::{FILE, project, run, standing, workflow};
use crate::rounds::sampled;
use crate::workspace::Workspace;

const STEP: &str =
    "- [ ] **Step 1: Go**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n";

fn with_file(content: impl AsRef<[u8]>) -> Workspace {
    let project = Workspace::git();
    project.write(FILE, content);
    project
}

/// The run is refused as an invalid file, briefly, and nothing is left behind.
#[track_caller]
fn is_invalid(what: &str, content: impl AsRef<[u8]>) -> String {
    let project = with_file(content);
    let run = project.onloop(&["run", FILE]);
    assert_eq!(run.exit, Some(2), "{what}: {:.2000}", run.stderr);
    assert!(run.stderr.len() < 200_000, "{what}: {} bytes of words", run.stderr.len());
    assert!(!run.stderr.contains('\u{1b}'), "{what}: {:?}", run.stderr);
    assert!(!run.stderr.contains("hit a bug"), "{what}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{what}");
    assert!(!project.path(".hotl").exists() && !project.path("../.hotl-worktrees").exists());
    assert_eq!(project.git_says(&["branch", "--format=%(refname:short)"]), "main");
    run.stderr
}

#[test]
fn what_is_no_workflow_is_refused() {
    is_invalid("empty", "");
    is_invalid("blank", "\n\n\n");
    is_invalid("prose", "# Notes\n\nNothing to do here.\n");
    is_invalid("no steps", workflow("", ""));
    is_invalid("binary", (0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    is_invalid("not UTF-8", [workflow("", STEP).as_bytes(), b"\xff\xfe"].concat());
    is_invalid("NUL", workflow("", STEP).replace("action: go", "action: go\0"));
    is_invalid("no frontmatter", format!("## Steps\n\n{STEP}"));
    is_invalid("endless frontmatter", format!("---\nintent: x\n{}", "a: b\n".repeat(10_000)));
    is_invalid("one long line", format!("---\nintent: {}\n", "x".repeat(3_000_000)));
}

#[test]
fn a_file_beyond_the_limit_is_refused_by_its_size() {
    let words = is_invalid("50 MB", vec![b'x'; 50 * 1024 * 1024]);
    assert!(words.contains("at most"), "{words}");
}

#[test]
#[ignore = "only with --all"]
fn nesting_is_bounded() {
    let deep = 100_000;
    is_invalid("brackets", workflow(&format!("x: {}\n", "[".repeat(deep)), STEP));
    is_invalid("braces", workflow(&format!("x: {}\n", "{a: ".repeat(deep)), STEP));
    let quotes = format!("{} quote\n", ">".repeat(60_000));
    let lists: String = (0..2_000).map(|depth| format!("{}- x\n", "  ".repeat(depth))).collect();
    for (what, prose) in [("quotes", quotes), ("lists", lists)] {
        let project = with_file(format!("{}\n{prose}", workflow("", STEP)));
        let run = project.onloop(&["run", FILE]);
        assert!(matches!(run.exit, Some(0 | 2)), "{what}: {:?} {:.500}", run.exit, run.stderr);
    }
}

#[test]
fn mistakes_are_all_named() {
    let table = [
        ("duplicate numbers", format!("{STEP}\n{STEP}"), "Step 1"),
        ("an unknown verify type", STEP.replace("verify: true", "verify:\n  type: hope"), "hope"),
        (
            "no iterations",
            STEP.replace("loop: false", "loop: until x\nmax_iterations: 0"),
            "max_iterations",
        ),
        (
            "too many iterations",
            STEP.replace("loop: false", "loop: until x\nmax_iterations: 99999999999"),
            "max_iterations",
        ),
        ("no loop", STEP.replace("loop: false\n", ""), "loop"),
        ("no action", STEP.replace("action: go\n", ""), "action"),
        ("a gate nobody knows", STEP.replace("loop: false", "loop: false\ngate: maybe"), "maybe"),
    ];
    for (what, steps, named) in table {
        let words = is_invalid(what, workflow("", &steps));
        assert!(words.contains(named), "{what}: {words}");
        assert!(words.contains(&format!("{FILE}:")) || words.contains("-->"), "{what}: {words}");
    }
}

#[test]
#[ignore = "only with --all"]
fn ten_thousand_steps_are_read_and_one_more_is_refused() {
    let steps = |count: u32| -> String {
        (1..=count)
            .map(|n| format!("- [ ] **Step {n}: S**\naction: a\nloop: false\nverify: true\n\n"))
            .collect()
    };
    let project = with_file(workflow("", &steps(10_000)));
    project.onloop(&["lint", FILE]).expect_exit(0);
    is_invalid("10,001 steps", workflow("", &steps(10_001)));
}

#[test]
fn names_may_hold_anything_and_break_nothing() {
    let long = "n".repeat(900);
    let names = [
        "a | b",
        "\"quoted\" and 'quoted'",
        "$(touch pwned) `touch pwned`",
        "back\\slash",
        "日本語 🦀",
        "<script>alert(1)</script>",
        "-- --help",
        "%s %n",
        &long,
    ];
    for name in sampled(2, names) {
        let project = Workspace::plain();
        project.write(FILE, workflow("", &STEP.replace("Go", name)));
        let run = run(&project, &["--agent-command", "printf %s \"$ONLOOP_STEP_NAME\" > name"]);
        let run = run.expect_exit(0);
        assert_eq!(project.read("name"), name);
        assert_eq!(standing(&project), "completed: done");
        assert!(!project.path("pwned").exists(), "{name}");
        let id = project.record()["run_id"].as_str().unwrap().to_owned();
        let report = project.onloop(&["report", &id]).stdout;
        let row = report.lines().find(|line| line.starts_with("|  1 ")).unwrap();
        let cells = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(cells, 5, "{row}");
        assert!(run.stderr.contains("✓ Step 1: "), "{}", run.stderr);
    }
}

#[test]
fn control_characters_never_reach_a_person() {
    let evil = "e\u{1b}[2Jvil\u{7}\u{202e}\u{9b}31m";
    let project = Workspace::plain();
    project.write(
        FILE,
        workflow(
            "",
            &STEP
                .replace("Go", evil)
                .replace("verify: true", "verify: printf '\\033[2J\\007'; false"),
        ),
    );
    let run = run(&project, &[]);
    assert!(matches!(run.exit, Some(1 | 2)), "{:?}", run);
    for said in [&run.stdout, &run.stderr] {
        for c in ['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}'] {
            assert!(!said.contains(c), "{c:?} in {said:?}");
        }
    }
    for file in ["status", "list"] {
        let said = project.onloop(&[file]).stdout;
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn a_name_of_ten_thousand_bytes_is_named_or_cut() {
    let project = Workspace::plain();
    project.write(FILE, workflow("", &STEP.replace("Go", &"n".repeat(10_240))));
    let run = run(&project, &[]).expect_exit(0);
    assert!(run.stderr.starts_with("2 warnings: see `onloop lint"), "{:.500}", run.stderr);
    let shown = run.stderr.lines().find(|line| line.starts_with("✓ Step 1: nnn")).map(str::len);
    assert!(shown < Some(2_000), "the line of a step has {shown:?} bytes");
}

#[test]
fn a_workflow_outside_of_the_repository_is_refused() {
    let project = Workspace::git();
    let outside = project.path("../outside.md");
    std::fs::write(&outside, workflow("", STEP)).unwrap();
    let run = project.onloop(&["run", "../outside.md"]).expect_exit(4);
    assert!(crate::flat(&run.stderr).contains("outside"), "{}", run.stderr);
    assert!(!project.path("../.hotl-worktrees").exists());
}

#[test]
fn what_is_not_there_or_no_file_is_refused() {
    let project = Workspace::git();
    project.onloop(&["run", "nothing.md"]).expect_exit(2);
    project.onloop(&["run", "."]).expect_exit(2);
    project.onloop(&["run", ""]).expect_exit(2);
    project.onloop(&["run"]).expect_exit(2);
    project.onloop(&["run", "/dev/zero"]).expect_exit(2);
    let project = with_file(workflow("", STEP));
    project.write("hotl-workflow-v.md", workflow("", STEP));
    let several = project.onloop(&["run"]).expect_exit(2);
    assert!(several.stderr.contains("hotl-workflow-v.md\n  hotl-workflow-w.md"), "{several:?}");
}

#[test]
fn a_read_only_folder_is_refused_in_words() {
    let project = Workspace::plain();
    project.write(FILE, workflow("", STEP));
    // Root may write anywhere; a file where the folder belongs stops everybody.
    project.write(".hotl", "in the way");
    let run = run(&project, &[]).expect_exit(4);
    assert!(crate::flat(&run.stderr).contains(".hotl"), "{}", run.stderr);
    assert_eq!(project.read(".hotl"), "in the way");
}

#[test]
fn carriage_returns_a_byte_order_mark_and_a_missing_end_change_nothing() {
    let plain = workflow("", STEP);
    for content in
        [plain.replace('\n', "\r\n"), format!("\u{feff}{plain}"), plain.trim_end().to_owned()]
    {
        let project = Workspace::plain();
        project.write(FILE, &content);
        run(&project, &[]).expect_exit(0);
        assert_eq!(project.read(FILE), content.replace("- [ ]", "- [x]"), "only the box changes");
    }
}

#[test]
fn a_ledger_that_an_agent_changed_in_the_middle_stops_the_run() {
    let project = project("", STEP);
    let line = r#"cd "$(dirname "$ONLOOP_PROMPT_FILE")/.." && sed -i 2s/a/b/ ledger.jsonl"#;
    let run = run(&project, &["--confine", "off", "--agent-command", line]).expect_exit(4);
    assert!(run.stderr.contains("damaged ledger: line 2: "), "{}", crate::flat(&run.stderr));
    assert!(!run.stderr.contains("completed"), "{}", run.stderr);
}

#[test]
fn a_damaged_ledger_is_listed_once_with_its_fix() {
    let project = Workspace::git();
    project.write(FILE, workflow("", STEP));
    project.commit("Begin");
    run(&project, &[]).expect_exit(0);
    let id = project.record()["run_id"].as_str().expect("a run has an id").to_owned();
    project.shell(&format!("sed -i 2s/seq/sex/ ../home/.state/onloop/runs/{id}/ledger.jsonl"));
    let listed = project.onloop(&["list"]).expect_exit(0);
    assert_eq!(listed.stdout.matches(&format!("? {id}")).count(), 1, "{listed:?}");
    let fix = format!(
        "    fix: keep it aside and begin anew from the workflow file:\n      \
         onloop resume {id} --rebuild FILE\n"
    );
    assert!(listed.stdout.ends_with(&fix), "{listed:?}");
}
