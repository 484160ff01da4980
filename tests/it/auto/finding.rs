//! Where rw-auto works, who plays its children, and what it says that nobody has asked for.

use crate::workspace::{Run, Workspace};

const PENDING: &str = "## Task Status\n| TASK-01 | x | pending | - |\n";
const SETTLED: &str = "## Task Status\n| TASK-01 | x | completed | abc |\n";

fn workspace(progress: &str) -> Workspace {
    let project = Workspace::git();
    project.write(".ai/CONTEXT.md", "# Context\n");
    project.write(".ai/PROGRESS.md", progress);
    project.write("deep/er/a.txt", "");
    project
}

/// Exit code, results, and the words for people without their line breaks.
fn said(run: &Run) -> (i32, &str, String) {
    (run.exit.expect("it ended by itself"), &run.stdout, crate::flat(&run.stderr))
}

#[test]
fn the_workspace_is_found_from_a_folder_in_it() {
    let project = workspace(PENDING);
    let child = "cat > /dev/null; pwd > pwd.txt; echo NEXT_COMMAND=done";
    let run = project.onloop_at("deep/er", &["auto", "--agent-command", child]);
    let root = project.path("").canonicalize().unwrap();
    let root = root.to_str().unwrap().trim_end_matches('/');
    let stderr = format!(
        "note: works in `{root}`, where `.ai` is note: the child said that it is done, and was \
         believed; `.ai/PROGRESS.md` has rows that are not completed: TASK-01 (pending)"
    );
    let stdout = "AUTO_CYCLE=1\nAUTO_ROUTE_TARGET=rw-loop\nNEXT_COMMAND=done\n";
    assert_eq!(said(&run), (0, stdout, stderr));
    assert_eq!(project.read("pwd.txt").trim(), root);
    // Whoever starts the children is told a path that is right from where they are.
    let begun = project.onloop_at("deep", &["auto", "begin", ""]).expect_exit(0);
    let last: serde_json::Value =
        serde_json::from_str(begun.stdout.lines().last().unwrap()).unwrap();
    let file = last["dispatch"]["result_file"].as_str().unwrap();
    assert!(file.starts_with(&format!("{root}/.ai/runtime/logs/")), "{file}");
    let listed = project.onloop(&["list"]).expect_exit(0).stdout;
    assert!(
        listed.contains("  Running, ") && listed.contains("    rw-loop in cycle 1\n"),
        "{listed}"
    );
    std::fs::write(file, "NEXT_COMMAND=done\n").unwrap();
    let ended = project.onloop_at("deep", &["auto", "resume", file]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    assert_eq!(project.onloop(&["list"]).expect_exit(0).stdout, "");
    // A run that was given up is not resumed.
    project.onloop_at("deep", &["auto", "begin", ""]).expect_exit(0);
    project.onloop(&["stop", "rw"]).expect_exit(0);
    assert_eq!(project.onloop(&["list"]).expect_exit(0).stdout, "");
    project.onloop_at("deep", &["auto", "resume"]).expect_exit(2);
    // Another workspace below the first one is one.
    project.write("deep/.ai/CONTEXT.md", "# Context\n");
    let routed = project.onloop_at("deep/er", &["auto", "route"]);
    assert!(routed.stderr.contains("/deep`, where `.ai` is"), "{}", routed.stderr);
}

#[test]
fn an_agent_that_is_missing_is_found_out_before_anything_is_begun() {
    let project = workspace(PENDING).with_env("PATH", "/nowhere");
    let unsupported = "RW_ENV_UNSUPPORTED\nNEXT_COMMAND=rw-auto\n";
    let missing = "error: the agent `codex` is not on PATH\n  fix: install it, or name another one \
                   with --agent\n";
    let run = project.onloop(&["auto", "--agent", "codex"]);
    assert_eq!(said(&run), (23, unsupported, crate::flat(missing)));
    let nobody =
        "note: no agent was found on PATH; give `--agent NAME` or `--agent-command LINE`\n";
    assert_eq!(said(&project.onloop(&["auto"])), (23, unsupported, crate::flat(nobody)));
}

#[test]
fn the_first_agent_on_path_plays_both() {
    use std::os::unix::fs::PermissionsExt;

    let project = workspace(PENDING);
    project.write("../bin/claude", "#!/bin/sh\nexit 3\n");
    let program = project.path("../bin/claude");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = program.parent().unwrap().to_str().unwrap().to_owned();
    let run = project.with_env("PATH", &path).onloop(&["auto"]);
    assert_eq!(run.exit, Some(20), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("note: using `claude` for rw-planner and rw-loop\n"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.ends_with("AUTO_SUBAGENT_RESULT_INVALID\nNEXT_COMMAND=rw-auto\n"));
}

#[test]
fn an_answer_without_a_next_command_is_named_with_its_log() {
    let project = workspace(SETTLED);
    let run = project.onloop(&["auto", "--agent-command", "cat > /dev/null; echo hello"]);
    assert_eq!(run.exit, Some(20), "{}", run.stderr);
    let note = "note: what the child said is in `.ai/runtime/logs/";
    assert!(crate::flat(&run.stderr).contains(note), "{}", run.stderr);
}

#[test]
fn what_is_dropped_is_said() {
    let project = workspace(SETTLED);
    let child = "cat > /dev/null; echo NEXT_COMMAND=done";
    let run = project.onloop(&["auto", "--agent-command", child, "--", "add a greeting"]);
    let note = "note: `add a greeting` is not planned now: the table has tasks, and they come first. \
                To plan it, start rw-planner with it, or write a feature file with `Status: \
                READY_FOR_PLAN`";
    let stdout = "AUTO_CYCLE=1\nAUTO_ROUTE_TARGET=rw-loop\nNEXT_COMMAND=done\n";
    assert_eq!(said(&run), (0, stdout, note.to_owned()));
    let review = "cat > /dev/null; printf 'FEATURE_REVIEW_REQUIRED\\nFEATURE_FILE=.ai/features/F.md\\n\
                  NEXT_COMMAND=rw-planner\\n'";
    let run = project.onloop(&["auto", "--agent-command", review]);
    let next = "note: do what the hint says with `.ai/features/F.md`; then `onloop auto` continues";
    assert_eq!((run.exit, crate::flat(&run.stderr).as_str()), (Some(10), next));
}

#[test]
fn a_route_is_that_of_a_run_wherever_its_options_stand() {
    let project = workspace(PENDING);
    let target = |arguments: &[&str]| {
        let run = project.onloop(&[&["auto"], arguments].concat());
        let line = run.stdout.lines().find_map(|line| line.strip_prefix("AUTO_ROUTE_TARGET="));
        line.unwrap_or_else(|| panic!("{run:?}")).to_owned()
    };
    assert_eq!(target(&["route", "a summary"]), "rw-loop");
    assert_eq!(target(&["route", "--profile", "v1", "a summary"]), "rw-loop");
    assert_eq!(target(&["--profile", "v1", "route", "a summary"]), "rw-loop");
    assert_eq!(target(&["route", "--profile", "v3", "a summary"]), "rw-planner");
    let counting = ["--agent-command", "echo x >> called; echo NEXT_COMMAND=done"];
    for flags in [&["--hitl"][..], &["--max-cycles=2"], &["--max-cycles", "2", "--no-hitl"]] {
        assert_eq!(target(&[flags, &["route"]].concat()), "rw-loop");
        assert_eq!(target(&[flags, &counting, &["route"]].concat()), "rw-loop");
    }
    assert!(!project.path("called").exists());
}

#[test]
fn a_stop_says_why_on_standard_error() {
    let project = workspace("# Progress\n");
    let none = project.onloop(&["auto", "begin", "--no-subagents", "x"]);
    assert_eq!(none.exit, Some(23));
    assert!(none.stderr.starts_with("note: this host starts no child agents"), "{}", none.stderr);
    let undecided = project.onloop(&["auto", "--agent-command", "true"]);
    assert_eq!(undecided.exit, Some(14));
    assert!(undecided.stderr.contains("`.ai/PROGRESS.md` has no tasks"), "{}", undecided.stderr);
    project.write(".ai/PAUSE.md", "");
    let paused = project.onloop(&["auto", "--agent-command", "true"]);
    assert!(paused.stderr.contains("`.ai/PAUSE.md` stops every run"), "{}", paused.stderr);
    project.write(".ai/PROGRESS.md", b"# Progress\n\xff\n");
    let corrupt = project.onloop(&["auto", "--agent-command", "true"]);
    assert_eq!(corrupt.stdout, "TARGET_ROOT_INVALID\nNEXT_COMMAND=rw-planner\n");
    assert!(
        corrupt.stderr.contains("`.ai/PROGRESS.md` cannot be read: line 2 is not UTF-8"),
        "{}",
        corrupt.stderr
    );
}
