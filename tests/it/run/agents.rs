//! What an agent is given, and what becomes of how it ends.

use super::{FILE, decide_and_resume, project, run, standing};
use crate::workspace::Workspace;

const UNTIL_TWO: &str = "\
- [ ] **Step 1: Count | \"quoted\" `x`**
action: |
  Make it two.
  Then stop.
loop: until it is two
max_iterations: 3
verify: sh check.sh
";

#[test]
fn a_retry_is_told_what_failed() {
    let project = project("", UNTIL_TWO);
    project.write("check.sh", "echo 'it is one, not two' >&2\ntest \"$(cat n)\" = 2\n");
    // The agent counts its attempts and keeps what it was told, by either way.
    project.write(
        "agent.sh",
        "echo $ONLOOP_ATTEMPT > n\ncat > stdin.$ONLOOP_ATTEMPT\n\
         cp \"$ONLOOP_PROMPT_FILE\" file.$ONLOOP_ATTEMPT\n\
         env | grep '^ONLOOP_' | sort > env.$ONLOOP_ATTEMPT\necho acting\n",
    );
    let run = run(&project, &["--agent-command", "sh agent.sh"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    let first = project.read("stdin.1");
    assert!(first.contains("Make it two.\nThen stop."), "{first}");
    assert!(!first.contains("it is one"), "{first}");
    let second = project.read("stdin.2");
    assert!(second.contains("it is one, not two"), "{second}");
    assert!(second.contains("exit code 1"), "{second}");
    assert_eq!(second, project.read("file.2"));
    let record = project.record();
    let id = record["run_id"].as_str().unwrap();
    let env = project.read("env.2");
    for expected in [
        format!("ONLOOP_RUN_ID={id}\n"),
        "ONLOOP_STEP=1\n".to_owned(),
        "ONLOOP_ATTEMPT=2\n".to_owned(),
        "ONLOOP_STEP_NAME=Count | \"quoted\" `x`\n".to_owned(),
        format!("ONLOOP_WORKFLOW={}\n", project.path(FILE).display()),
        "ONLOOP_PROMPT_FILE=".to_owned(),
    ] {
        assert!(env.contains(&expected), "{expected} in {env}");
    }
    assert_eq!(std::fs::read_to_string(project.kept(id, "logs/1-2.log")).unwrap(), "acting\n");
    assert!(run.stderr.contains("↻ Step 1: Count | \"quoted\" `x` (attempt 2/3)"), "{run:?}");
    assert!(run.stderr.contains("(2 attempts)"), "{run:?}");
}

#[test]
fn an_agent_that_is_not_there_is_a_failed_attempt() {
    let project = project("", UNTIL_TWO);
    let run = run(&project, &["--agent-command", "no-such-agent"]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: blocked");
    assert_eq!(project.record()["steps"][0]["attempts"], 3);
    assert!(run.stderr.contains("exit code 127"), "{}", run.stderr);
    assert!(run.stderr.contains("no-such-agent"), "{}", run.stderr);
}

#[test]
fn an_agent_that_fails_is_not_verified() {
    let project = project("", UNTIL_TWO);
    project.write("check.sh", "touch verified");
    run(&project, &["--agent-command", "echo no luck; exit 3"]).expect_exit(1);
    assert!(!project.path("verified").exists());
    let failure = project.record()["steps"][0]["last_failure"].to_string();
    assert!(failure.contains("exit code 3") && failure.contains("no luck"), "{failure}");
}

#[test]
fn an_agent_has_limited_time_and_leaves_nobody_behind() {
    let agent = "sleep 600 & echo $! > pid; trap '' TERM; sleep 600";
    // The second limit is for a machine too busy to start the agent within the first.
    let worked = [("1s", "1 s"), ("20s", "20 s")].into_iter().find_map(|(limit, said)| {
        let project = project("", &UNTIL_TWO.replace("3", "1"));
        let words = ["--agent-timeout", limit, "--agent-command", agent];
        let run = run(&project, &words).expect_exit(1);
        assert!(run.stderr.contains(&format!("timed out after {said}")), "{}", run.stderr);
        project.path("pid").exists().then_some(project)
    });
    assert_gone(&worked.expect("the agent was started"), "pid");
}

/// The process whose number is in `file` does not run any more.
pub(super) fn assert_gone(project: &Workspace, file: &str) {
    let stat = format!("/proc/{}/stat", project.read(file).trim());
    super::wait_until("the process is gone", || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        matches!(state, None | Some('Z' | 'X'))
    });
}

#[test]
fn resume_brings_the_same_agent_back() {
    let steps = format!("{UNTIL_TWO}\n{}", UNTIL_TWO.replace("Step 1", "Step 2"));
    let project =
        project("", &steps.replace("max_iterations: 3\n", "max_iterations: 3\ngate: human\n"));
    project.write("check.sh", "test -e \"it's\"");
    let agent = "touch \"it's\"; cat >/dev/null; echo x >> turns";
    let paused = run(&project, &["--agent-command", agent]).expect_exit(3);
    assert_eq!(standing(&project), "paused: done, pending");
    let paused = decide_and_resume(&project, &paused, "Approve and continue").expect_exit(3);
    assert_eq!(standing(&project), "paused: done, done");
    decide_and_resume(&project, &paused, "Approve and continue").expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("turns"), "x\nx\n");
}

#[test]
fn a_name_that_is_no_agent_is_a_usage_error_before_anything_happens() {
    let project = project("", UNTIL_TWO);
    let run = run(&project, &["--agent", "hal"]).expect_exit(2);
    assert!(crate::flat(&run.stderr).contains("`hal`"), "{}", run.stderr);
    let run = super::run(&project, &["--agent", "you"]).expect_exit(2);
    assert!(crate::flat(&run.stderr).contains("terminal"), "{}", run.stderr);
    assert!(!project.path(".hotl").exists());
}

#[test]
fn an_agent_that_edits_the_workflow_does_not_change_what_is_verified() {
    let project = project("", UNTIL_TWO);
    project.write("check.sh", "exit 1");
    let agent = format!("sed -i 's/^verify:.*/verify: true/; s/- .x. /- [x] /' {FILE}");
    let run = run(&project, &["--agent-command", &agent]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: blocked");
    assert!(run.stderr.contains("Still failing after 3 attempts"), "{}", run.stderr);
}

#[test]
fn an_agent_that_is_missing_is_refused_before_anything_changes() {
    let project = Workspace::git().with_env("PATH", "/usr/bin:/bin");
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e ../go\n";
    project.write(FILE, super::workflow("", steps));
    for words in [&["run", "--agent", "claude"][..], &["run", "--agent", "claude", "--simulate"]] {
        let run = project.onloop(words).expect_exit(2);
        let said = run.stdout + &run.stderr;
        assert!(said.contains("`claude` is not on PATH"), "{words:?}: {said}");
    }
    assert!(project.kept_ids().is_empty() && !project.path("../.hotl-worktrees").exists());
    assert_eq!(project.git_says(&["branch", "--format=%(refname:short)"]).trim(), "main");
    project.onloop(&["run", "--agent-command", "true"]).expect_exit(1);
    let id = project.kept_ids().remove(0);
    let ledger = || std::fs::read(project.kept(&id, "ledger.jsonl")).unwrap();
    let before = ledger();
    let copy = project.worktree("hotl/w").join(FILE);
    std::fs::write(copy, super::workflow("", &steps.replace("../go", "."))).unwrap();
    for words in [&["resume", "--agent", "claude"][..], &["resume", "--adopt", "--agent", "claude"]]
    {
        project.onloop(words).expect_exit(2);
        assert!(ledger() == before, "{words:?}");
    }
    project.onloop(&["resume", "--adopt"]).expect_exit(0);
}
