//! What an onloop that was killed has left running, and what the next one does about it.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::agents::assert_gone;
use super::{begin, output_of, project, standing, wait_until};
use crate::workspace::{Run, Workspace};

/// A line that leaves a process behind which outlives the death of its parent, says which one it
/// is, and waits. A second time it only ends.
const LEAVING: &str = "test -e pid && exit; trap '' TERM; sh -c 'echo $$ > pid.new; mv pid.new pid; \
                       exec sleep 1000' & wait";

/// Starts onloop, kills it once there is a process that it would leave, and looks that it is left.
fn killed(project: &Workspace, arguments: &[&str]) {
    let child = begin(project, arguments);
    wait_until("there is something to leave", || project.path("pid").exists());
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    // Its pipes stay open in what is left, so nobody waits for their end.
    let mut child = child;
    child.wait().expect("it was killed");
    let pid = project.read("pid").trim().to_owned();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    assert!(stat.is_ok_and(|stat| !stat.contains(") Z ")), "a grandchild outlives a kill");
}

fn resumed(project: &Workspace, arguments: &[&str]) -> Run {
    let run = output_of(begin(project, arguments));
    assert_gone(project, "pid");
    run
}

#[test]
fn what_an_agent_left_is_ended_before_its_work_is_verified() {
    let steps = format!(
        "- [ ] **Step 1: Work**\naction: go\nloop: false\nverify: true\n```sh\n{LEAVING}\n```\n"
    );
    let project = project("", &steps);
    killed(&project, &["run", "--mode", "none"]);
    let run = resumed(&project, &["resume"]).expect_exit(0);
    let ended = "Ended 1 process that the agent of step 1 had left when it was interrupted.\n";
    assert!(run.stderr.starts_with(ended), "{}", run.stderr);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn what_a_check_left_is_ended_before_it_is_repeated() {
    let project = project(
        "",
        "- [ ] **Step 1: Work**\naction: go\nloop: false\nverify: sh check.sh\n```sh\ntrue\n```\n",
    );
    project.write("check.sh", LEAVING);
    killed(&project, &["run", "--mode", "none"]);
    let run = resumed(&project, &["resume"]).expect_exit(0);
    let ended = "Ended 1 process that a check of step 1 had left when it was interrupted.\n";
    assert!(run.stderr.starts_with(ended), "{}", run.stderr);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn what_a_check_left_is_ended_where_an_agent_drives_step_by_step() {
    let project =
        project("", "- [ ] **Step 1: Work**\naction: go\nloop: false\nverify: sh check.sh\n");
    project.write("check.sh", LEAVING);
    project.onloop(&["init", super::FILE]).expect_exit(0);
    project.onloop(&["step", "1", "start"]).expect_exit(0);
    killed(&project, &["step", "1", "verify"]);
    let run = resumed(&project, &["step", "1", "verify"]).expect_exit(0);
    let ended = "Ended 1 process that a check of step 1 had left when it was interrupted.\n";
    assert!(run.stderr.starts_with(ended), "{}", run.stderr);
}

const AUTO: [&str; 4] = ["auto", "--agent-command", "sh agent.sh", "a feature"];

/// The only run in a list.
fn only_entry(project: &Workspace, words: &[&str]) -> Value {
    let list: Value = serde_json::from_str(&project.onloop(words).expect_exit(0).stdout).unwrap();
    let [entry] = list.as_array().unwrap().as_slice() else { panic!("not one: {list}") };
    entry.clone()
}

/// A workspace of rw-auto whose run was killed while its child worked.
fn killed_auto() -> Workspace {
    let project = Workspace::plain();
    project.write(".ai/CONTEXT.md", "# Context\n");
    project.write(".ai/PROGRESS.md", "## Task Status\n| Task | Title | Status | Commit |\n");
    project.write("agent.sh", format!("cat > /dev/null\n({LEAVING})\necho NEXT_COMMAND=done\n"));
    killed(&project, &AUTO);
    project
}

#[test]
fn what_a_child_of_rw_auto_left_is_ended_by_the_next_run_although_the_lock_is_held() {
    let project = killed_auto();
    let run = resumed(&project, &AUTO).expect_exit(12);
    let ended = "Ended 3 processes that the child of a killed rw-auto had left when it was \
                 interrupted.\n";
    assert!(run.stderr.contains(ended), "{}", run.stderr);
    let why = crate::flat(&run.stderr);
    assert!(why.contains(" is gone; its lock counts for another "), "{why}");
    let list = project.onloop(&["status"]).expect_exit(0).stdout;
    assert!(list.contains("  Interrupted, "), "it is still to be done: {list}");
    std::fs::remove_file(project.path(".ai/runtime/rw-auto.lock")).unwrap();
    project.onloop(&AUTO).expect_exit(0);
    let list = project.onloop(&["status"]).expect_exit(0);
    assert!(list.stdout.is_empty(), "it is done: {}", list.stdout);
}

#[test]
fn a_killed_rw_auto_is_in_the_overview_and_stop_ends_what_it_left() {
    let project = killed_auto();
    let list = project.onloop(&["list"]).expect_exit(0).stdout;
    let id = list.split(' ').nth(1).expect("a name").to_owned();
    let expected = format!("■ {id}  Interrupted, just now\n    rw-planner in cycle 1\n");
    assert!(list.starts_with(&expected) && id.starts_with("rw-"), "{list}");
    assert!(list.contains(&format!("`onloop stop {id}`")), "{list}");
    let entry = only_entry(&project, &["list", "--json"]);
    assert_eq!((&entry["run_id"], &entry["kind"]), (&id.as_str().into(), &"rw-auto".into()));
    assert_eq!((&entry["status"], &entry["driven_by"]), (&"interrupted".into(), &Value::Null));
    let shown = project.onloop(&["status", &id, "--json"]).expect_exit(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), entry);
    // The verbs for runs of a workflow say which one is for this.
    for words in [&["resume", &id][..], &["next", "--run-id", &id], &["stop"], &["next"]] {
        let refused = project.onloop(words).expect_exit(4).stderr;
        assert!(refused.contains(&format!("onloop stop {id}\n")), "{words:?}: {refused}");
    }
    let stopped = project.onloop(&["stop", &id]).expect_exit(0);
    assert_eq!(stopped.stdout, format!("run {id} is stopped\n"));
    assert!(!project.path(".ai/runtime/rw-auto.lock").exists(), "the next one need not wait");
    assert_gone(&project, "pid");
    assert!(project.onloop(&["list"]).expect_exit(0).stdout.is_empty());
}

#[test]
fn a_running_rw_auto_is_in_the_overview_and_stop_interrupts_it() {
    let project = Workspace::plain();
    project.write(".ai/CONTEXT.md", "# Context\n");
    project.write(".ai/PROGRESS.md", "## Task Status\n| Task | Title | Status | Commit |\n");
    project.write("agent.sh", "cat > /dev/null\n: > began\nexec sleep 1000\n");
    let child = begin(&project, &AUTO);
    wait_until("the child works", || project.path("began").exists());
    let list = project.onloop(&["status"]).expect_exit(0).stdout;
    let id = list.split(' ').nth(1).expect("a name").to_owned();
    assert!(list.starts_with(&format!("→ {id}  Running, just now\n")), "{list}");
    let entry = only_entry(&project, &["status", "--json"]);
    assert_eq!(
        (&entry["status"], &entry["intent"]),
        (&"running".into(), &"rw-planner in cycle 1".into())
    );
    assert_eq!(entry["driven_by"]["pid"], child.id());
    project.onloop(&["stop", &id]).expect_exit(0);
    let run = output_of(child).expect_exit(130);
    assert!(run.stdout.ends_with("NEXT_COMMAND=rw-auto\n"), "{}", run.stdout);
}
