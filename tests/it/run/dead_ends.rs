//! States from which other runtimes know no way on. Ours all have one.

use super::{command_below, project, run, standing, workflow};
use crate::workspace::Workspace;

fn failing(limit: &str) -> Workspace {
    project(
        "",
        &format!(
            "- [ ] **Step 1: Only**\naction: go\nloop: {limit}\nverify: test -e fixed\n\
             ```sh\ntrue\n```\n"
        ),
    )
}

#[test]
fn a_blocked_run_runs_again() {
    let project = failing("false");
    let blocked = run(&project, &[]).expect_exit(1);
    project.write("fixed", "");
    project.shell(&command_below(&blocked, "then continue")).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn a_step_that_somebody_blocked_goes_on() {
    let project = failing("false");
    run(&project, &[]).expect_exit(1);
    project.onloop(&["step", "1", "block", "--reason", "waiting for the vendor"]).expect_exit(0);
    project.write("fixed", "");
    project.onloop(&["resume"]).expect_exit(0);
}

#[test]
fn a_person_has_a_blocked_step_tried_again_and_tells_its_agent_why() {
    let project =
        project("", "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e fixed\n");
    let agent = ["--agent-command", "cat > prompt; test -e open || exit 0; touch fixed"];
    let blocked = run(&project, &agent).expect_exit(1);
    let id = project.record()["run_id"].as_str().expect("a run has an id").to_owned();
    let reopen = command_below(&blocked, "with a note for the agent");
    assert_eq!(reopen, format!("onloop step 1 reopen --reason TEXT --run-id {id}"));
    let next = project.onloop(&["next"]).expect_exit(0);
    assert_eq!(
        next.stdout,
        format!(
            "blocked (step 1)\nonloop resume {id}\n{reopen}\nonloop abandon {id} --reason TEXT\n"
        )
    );
    let missing = project.onloop(&["step", "1", "reopen"]).expect_exit(1);
    assert_eq!(missing.stderr, "error: --reason is required for reopen\n");
    let reason = "look for the file `open`";
    let reopened = project.onloop(&["step", "1", "reopen", "--reason", reason]).expect_exit(0);
    assert_eq!(reopened.stdout, "reopened step 1\n");
    let again = format!("This tries it again:\n  onloop resume {id}\n");
    assert_eq!(reopened.stderr, again);
    let again = project.onloop(&["step", "1", "reopen", "--reason", "x"]).expect_exit(1);
    let first = again.stderr.lines().next();
    assert_eq!(first, Some("error: step 1 is `pending`, expected `failed` or `blocked`"));
    project.write("open", "");
    project.onloop(&["resume"]).expect_exit(0);
    let prompt = project.read("prompt");
    assert!(prompt.contains(&format!("a person has it tried again: {reason}")), "{prompt}");
    let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).expect("it is there");
    let line = ledger.lines().find(|line| line.contains("step_reopened")).expect("it is recorded");
    assert!(line.contains(r#""channel":"command""#), "{line}");
}

/// A run that an agent drives by verbs, its id, and an agent on PATH that leaves a file when it is
/// started.
fn by_verbs(front: &str) -> (Workspace, String) {
    let step = "- [ ] **Step 1: Only**\naction: go\nloop: until it is fixed\nmax_iterations: 9\n\
                verify: test -e fixed\n";
    let project = project(front, step);
    project.write("../bin/claude", "#!/bin/sh\ncat > /dev/null\ntouch started\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    let id = project.onloop(&["init", super::FILE]).expect_exit(0).stdout.trim().to_owned();
    (project, id)
}

/// The commands that `next` names.
fn named(project: &Workspace) -> Vec<String> {
    let next = project.onloop(&["next"]).expect_exit(0).stdout;
    next.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn no_agent_is_started_for_a_run_that_an_agent_drives_by_verbs() {
    let (project, id) = by_verbs("max_total_attempts: 1\n");
    let start = format!("onloop step 1 start --run-id {id}");
    let status = project.onloop(&["status", &id]).expect_exit(0).stderr;
    let continues = format!("continues with:\n  onloop next --run-id {id}\n");
    assert!(status.ends_with(&continues), "{status}");
    project.shell(&start).expect_exit(0);
    project.onloop(&["step", "1", "verify"]).expect_exit(1);
    let raise = format!("onloop resume {id} --raise max_total_attempts=unlimited");
    assert_eq!(named(&project), [raise.as_str()]);
    let json = project.onloop(&["next", "--json"]).expect_exit(0).stdout;
    assert!(json.contains("\"command\": null") && json.contains(&raise), "{json}");
    let given = project.shell(&raise).expect_exit(3);
    assert!(given.stderr.contains("no agent was started"), "{}", given.stderr);
    assert_eq!(named(&project), [start.as_str()]);
    project.shell(&start).expect_exit(0);
    project.onloop(&["step", "1", "block", "--reason", "why"]).expect_exit(0);
    let status = project.onloop(&["status", &id]).expect_exit(0).stderr;
    assert!(!status.contains("onloop resume"), "{status}");
    let reopened = project.onloop(&["step", "1", "reopen", "--reason", "ok"]).expect_exit(0);
    let again = format!("This tries it again:\n  onloop next --run-id {id}\n");
    assert_eq!(reopened.stderr, again);
    project.onloop(&["resume"]).expect_exit(3);
    project.shell(&start).expect_exit(0);
    assert!(!project.path("started").exists());
    project.onloop(&["resume", "--agent", "claude"]).expect_exit(1);
    assert!(project.path("started").exists());
}

#[test]
fn an_agent_that_drives_by_verbs_hears_of_an_edited_workflow_and_a_person_adopts_it() {
    let (project, id) = by_verbs("");
    let edited = project.read(super::FILE).replace("test -e fixed", "true");
    project.write(super::FILE, edited);
    let warning = "warning: the workflow file was edited since the run began";
    for words in [&["next"][..], &["step", "1", "start"]] {
        let said = project.onloop(words).expect_exit(0).stderr;
        assert!(said.starts_with(warning) && said.contains("--adopt"), "{said}");
    }
    project.onloop(&["resume", &id]).expect_exit(4);
    project.onloop(&["resume", &id, "--adopt"]).expect_exit(3);
    // The step whose check has changed begins anew.
    assert!(project.onloop(&["step", "1", "start"]).expect_exit(0).stderr.is_empty());
    project.onloop(&["step", "1", "verify"]).expect_exit(0);
    assert!(!project.path("started").exists());
}

#[test]
fn a_failed_step_at_its_limit_does_not_leave_the_run_running() {
    let project = failing("until it is fixed\nmax_iterations: 2");
    let blocked = run(&project, &[]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: blocked");
    let reason = "Still failing after 2 attempts: verify failed: exit code 1";
    assert!(blocked.stderr.contains(reason), "{}", blocked.stderr);
}

#[test]
fn a_retry_without_a_start_cannot_go_round_for_ever() {
    let project = project(
        "",
        "- [ ] **Step 1: Gate**\naction: go\nloop: false\ngate: human\n```sh\ntrue\n```\n\n\
         - [ ] **Step 2: Only**\naction: go\nloop: until it holds\nmax_iterations: 2\nverify: false\n",
    );
    run(&project, &["--agent", "script"]).expect_exit(3);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let drive = |words: &[&str]| project.onloop(&[&["step", "2"], words].concat()).exit;
    assert_eq!(drive(&["start"]), Some(0));
    assert_eq!(drive(&["verify"]), Some(1));
    for _ in 0..3 {
        assert_eq!(drive(&["retry"]), Some(0), "asking for a retry counts nothing");
        assert_eq!(drive(&["verify"]), Some(1), "nothing is in progress");
    }
    assert_eq!(drive(&["start"]), Some(0));
    assert_eq!(drive(&["verify"]), Some(1));
    assert_eq!(drive(&["retry"]), Some(1));
    assert_eq!(drive(&["start"]), Some(1));
    assert_eq!(project.record()["steps"][1]["attempts"], 2);
}

#[test]
fn a_step_that_does_not_loop_is_not_retried() {
    let project = project(
        "",
        "- [ ] **Step 1: Gate**\naction: go\nloop: false\ngate: human\n```sh\ntrue\n```\n\n\
         - [ ] **Step 2: Only**\naction: go\nloop: false\nverify: false\n",
    );
    run(&project, &["--agent", "script"]).expect_exit(3);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["step", "2", "start"]).expect_exit(0);
    project.onloop(&["step", "2", "verify"]).expect_exit(1);
    project.onloop(&["step", "2", "retry"]).expect_exit(1);
}

#[test]
fn the_next_step_waits_for_the_gate_before_it() {
    let project = project(
        "",
        "- [ ] **Step 1: Gate**\naction: go\nloop: false\ngate: human\n```sh\ntrue\n```\n\n\
         - [ ] **Step 2: Only**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n",
    );
    run(&project, &[]).expect_exit(3);
    project.onloop(&["step", "2", "start"]).expect_exit(1);
    assert_eq!(standing(&project), "paused: done, pending");
}

#[test]
fn a_finished_run_does_not_stand_in_the_way_of_the_next() {
    let project = failing("false");
    project.write("fixed", "");
    run(&project, &[]).expect_exit(0);
    run(&project, &[]).expect_exit(0);
    std::fs::remove_file(project.path("fixed")).unwrap();
    run(&project, &[]).expect_exit(1);
    let next = project.onloop(&["next"]).expect_exit(0);
    assert!(next.stdout.starts_with("blocked (step 1)"), "{}", next.stdout);
}

#[test]
fn an_unknown_name_is_a_usage_error_in_every_verb() {
    let project = failing("false");
    let verbs: [&[&str]; 18] = [
        &["run", "gone"],
        &["resume", "gone"],
        &["lint", "gone.md"],
        &["status", "gone"],
        &["next", "--run-id", "gone"],
        &["report", "gone"],
        &["diff", "gone"],
        &["receipt", "gone"],
        &["summary", "gone"],
        &["approve", "gone"],
        &["reject", "gone", "--reason", "no"],
        &["stop", "gone"],
        &["undo", "gone", "1"],
        &["finish", "gone", "merge"],
        &["abandon", "gone", "--reason", "no"],
        &["relocate", "gone", "--to", "."],
        &["session", "show", "gone"],
        &["plan", "--from-run", "gone"],
    ];
    for words in verbs {
        let said = project.onloop(words).expect_exit(2).stderr;
        assert!(said.starts_with("error: ") && said.contains("gone"), "{words:?}: {said}");
    }
    let said = project.onloop(&["plan", "--from", "gone", "--no-agent"]).expect_exit(2).stderr;
    assert!(said.starts_with("error: `gone` was not found\n  fix: "), "{said}");
    std::fs::create_dir(project.path("plans")).unwrap();
    let said = project.onloop(&["lint", "plans/"]).expect_exit(2).stderr;
    let fix = "\n  fix: name the workflow files in it:\n    onloop lint plans/*.md\n";
    assert!(said.ends_with(fix) && said.matches("plans/").count() == 2, "{said}");
    // Callers of the step-by-step verbs know one code for everything that goes wrong.
    let steps: [&[&str]; 3] = [&["step", "1", "start"], &["gate", "1", "approved"], &["finalize"]];
    for words in steps {
        project.onloop(&[words, &["--run-id", "gone"]].concat()).expect_exit(1);
    }
}

/// As [`failing`], in a repository.
fn failing_in_git() -> Workspace {
    let project = Workspace::git();
    let step = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e fixed\n\
                ```sh\ntrue\n```\n";
    project.write(super::FILE, workflow("", step));
    project.commit("Begin");
    project
}

#[test]
fn the_work_of_an_abandoned_run_is_discarded_by_the_command_that_is_named() {
    let project = failing_in_git();
    project.onloop(&["run"]).expect_exit(1);
    project.onloop(&["abandon", "--reason", "x"]).expect_exit(0);
    let id = project.record()["run_id"].as_str().expect("a run has an id").to_owned();
    let discard = format!("onloop finish {id} discard --confirm discard");
    let named = |words: &[&str], exit| {
        let said = project.onloop(words).expect_exit(exit).stderr;
        assert!(said.ends_with(&format!(":\n    {discard}\n")), "{said}");
    };
    named(&["resume"], 4);
    named(&["finish", &id, "merge"], 1);
    let again = project.onloop(&["abandon", &id, "--reason", "x"]).expect_exit(1).stderr;
    let expected = format!(
        "error: the run is `abandoned` and cannot be abandoned now\n  cause: run {id} is \
         abandoned\n  fix: see what it did:\n    onloop report {id}\n"
    );
    assert_eq!(again, expected);
    project.shell(&discard).expect_exit(0);
}

#[test]
fn a_command_that_is_named_repeats_no_option() {
    let project = failing_in_git();
    let branch = project.git_says(&["branch", "--show-current"]);
    let words = ["run", "--mode=branch", "--branch", &branch, "--agent-command", "true"];
    let said = project.onloop(&words).expect_exit(4).stderr;
    let expected = "\n    onloop run --mode worktree --branch NAME --agent-command true\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_agent_that_is_not_in_the_worktree_is_named_with_the_place_where_it_was_looked_for() {
    let project = failing("false");
    let said = run(&project, &["--agent-command", "./agent.sh"]).expect_exit(1).stderr;
    let expected = "`./agent.sh` is looked up in the worktree, which has only committed files";
    assert!(crate::flat(&said).contains(expected), "{said}");
    let empty = project.onloop(&["run", "--fresh", "--agent-command", ""]).expect_exit(2).stderr;
    assert!(empty.starts_with("error: --agent-command is empty"), "{empty}");
}
