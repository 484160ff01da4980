//! Ctrl-C, power cuts and two programs that want the same run.

use rustix::process::{Pid, Signal, kill_process};

use super::{begin, command_below, output_of, project, run, standing, wait_until};
use crate::workspace::{Run, Workspace};

/// The second step waits for a file when it is acted on for the first time.
fn waiting() -> Workspace {
    project(
        "",
        "- [ ] **Step 1: First**\naction: go\nloop: false\nverify: test -e first\n\
         ```sh\necho x >> first\n```\n\n\
         - [ ] **Step 2: Second**\naction: go\nloop: false\nverify: echo x >> verified; test -e second\n\
         ```sh\necho $$ > pid\necho x >> acted\n\
         while ! test -e go; do sleep 0.05; done\ntouch second\n```\n",
    )
}

fn interrupted(project: &Workspace, signal: Signal) -> Run {
    let child = begin(project, &["run", "--mode", "none"]);
    // The shell opens the file before it writes the line.
    let acted = || std::fs::read(project.path("acted")).is_ok_and(|bytes| bytes.ends_with(b"\n"));
    wait_until("the agent acts", acted);
    kill_process(Pid::from_child(&child), signal).unwrap();
    output_of(child)
}

#[test]
fn an_interrupt_saves_and_the_printed_command_verifies_before_it_acts() {
    for signal in [Signal::INT, Signal::TERM] {
        let project = waiting();
        let stopped = interrupted(&project, signal).expect_exit(130);
        super::agents::assert_gone(&project, "pid");
        assert_eq!(standing(&project), "paused: done, in_progress");
        assert!(stopped.stderr.contains("Report: "), "{}", stopped.stderr);
        project.write("second", "");
        project.shell(&command_below(&stopped, "Continue")).expect_exit(0);
        assert_eq!(standing(&project), "completed: done, done");
        assert_eq!(project.read("acted"), "x\n", "what holds is not done again");
    }
}

#[test]
fn a_verb_on_an_interrupted_run_says_that_it_is_paused() {
    let project = waiting();
    interrupted(&project, Signal::INT).expect_exit(130);
    let refused = project.onloop(&["step", "2", "verify"]).expect_exit(1).stderr;
    let why = "error: the run is `paused`, and a step can be verified only while";
    assert!(crate::flat(&refused).starts_with(why), "{refused}");
    assert!(refused.contains("onloop next --run-id "), "{refused}");
}

#[test]
fn a_driven_run_is_named_with_its_driver_and_without_a_command_that_is_refused() {
    let project = waiting();
    let child = begin(&project, &["run", "--mode", "none"]);
    wait_until("the agent acts", || project.path("acted").exists());
    let id = project.kept_ids().remove(0);
    let status = project.onloop(&["status", &id]).expect_exit(0).stderr;
    let driven =
        format!("\nProcess {} drives this run. Watch it:\n  onloop watch {id}\n", child.id());
    assert_eq!(status, driven);
    project.write("go", "");
    output_of(child).expect_exit(0);
}

#[test]
fn a_resumed_run_keeps_its_agent_and_options() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e done\n";
    let project = project("", steps);
    let agent = "echo it\\'s >> acted; while ! test -e go; do sleep 0.05; done; touch done";
    let options = ["--agent-command", agent, "--verify-timeout", "5m"];
    let child = begin(&project, &[&["run", "--mode", "none"][..], &options].concat());
    let acted = || std::fs::read(project.path("acted")).is_ok_and(|bytes| bytes.ends_with(b"\n"));
    wait_until("the agent acts", acted);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    output_of(child).expect_exit(130);
    project.write("go", "");
    let resumed = project.onloop(&["resume"]).expect_exit(0);
    let said = &resumed.stderr;
    assert!(said.contains("\n  Options: --agent-command 'echo it"), "{said}");
    assert!(said.contains(" --verify-timeout 5m\n"), "{said}");
    assert_eq!(project.read("acted"), "it's\nit's\n");
}

#[test]
fn an_interrupted_step_that_does_not_hold_is_done_again_without_losing_an_attempt() {
    let project = waiting();
    interrupted(&project, Signal::INT).expect_exit(130);
    project.write("go", "");
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("acted"), "x\nx\n");
    assert_eq!(project.read("first"), "x\n");
}

#[test]
fn a_killed_program_is_resumed_by_verifying_first() {
    let project = waiting();
    let killed = interrupted(&project, Signal::KILL);
    assert_eq!(killed.exit, None);
    assert_eq!(standing(&project), "running: done, in_progress");
    // The script was killed with it, where the system can do that.
    super::agents::assert_gone(&project, "pid");
    assert!(!project.path("verified").exists());
    project.write("go", "");
    let status = project.onloop(&["status"]).expect_exit(0);
    assert!(status.stdout.contains("  Interrupted, "), "{status:?}");
    let resumed = project.onloop(&["resume"]).expect_exit(0);
    assert!(resumed.stderr.contains("Resumed run"), "{}", resumed.stderr);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("acted"), "x\nx\n", "verified first, and done again");
}

#[test]
fn a_step_that_no_check_can_judge_is_asked_about() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\ngate: auto\n\
                 ```sh\necho x >> acted; while ! test -e go; do sleep 0.05; done\n```\n";
    for (choice, turns) in [("mark it as done", "x\n"), ("Run it again", "x\nx\n")] {
        let project = project("", steps);
        interrupted(&project, Signal::INT).expect_exit(130);
        let asked = project.onloop(&["resume"]).expect_exit(3);
        let listed = project.onloop(&["approve"]).expect_exit(0).stdout;
        assert!(listed.contains(" --interrupted redo\n"), "{listed}");
        assert!(!listed.contains("onloop approve"), "nothing can be approved: {listed}");
        project.write("go", "");
        project.shell(&command_below(&asked, choice)).expect_exit(0);
        assert_eq!(standing(&project), "completed: done");
        assert_eq!(project.read("acted"), turns, "{choice}");
    }
}

#[test]
fn one_run_is_driven_by_one_program() {
    let project = waiting();
    let child = begin(&project, &["run", "--mode", "none"]);
    wait_until("the agent acts", || project.path("acted").exists());
    let second = project.onloop(&["resume"]).expect_exit(4);
    assert!(
        crate::flat(&second.stderr).contains("another onloop works on run"),
        "{}",
        second.stderr
    );
    assert!(second.stdout.is_empty());
    project.write("go", "");
    output_of(child).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("acted"), "x\n");
}

#[test]
fn of_two_that_resume_at_once_one_goes_on() {
    let project = waiting();
    interrupted(&project, Signal::INT).expect_exit(130);
    std::fs::remove_file(project.path("acted")).unwrap();
    let children: Vec<_> = (0..2).map(|_| begin(&project, &["resume"])).collect();
    wait_until("one of them acts", || project.path("acted").exists());
    let children: Vec<_> = {
        let mut children = children;
        // The one that lost ends while the other still waits.
        wait_until("the other one is refused", || {
            children.iter_mut().any(|child| child.try_wait().unwrap().is_some())
        });
        children
    };
    project.write("go", "");
    let mut exits: Vec<_> = children.into_iter().map(|child| output_of(child).exit).collect();
    exits.sort_unstable();
    assert_eq!(exits, [Some(0), Some(4)]);
    assert_eq!(project.read("acted"), "x\n");
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn an_unfinished_run_is_never_passed_over() {
    let project = waiting();
    interrupted(&project, Signal::INT).expect_exit(130);
    let refused = run(&project, &[]).expect_exit(3);
    assert_eq!(project.records().len(), 1);
    let fresh = command_below(&refused, "or start anew");
    assert_eq!(fresh, "onloop run --fresh --mode none");
    project.write("go", "");
    project.shell(&fresh).expect_exit(0);
    assert_eq!(project.records().len(), 2);
    let still = run(&project, &[]).expect_exit(3);
    project.shell(&command_below(&still, "resume it")).expect_exit(0);
    assert!(project.records().iter().all(|run| run["status"] == "completed"));
}

#[test]
fn a_blocked_run_is_mended_and_verified_before_anybody_acts() {
    let project = project(
        "",
        "- [ ] **Step 1: Only**\naction: go\nloop: until it holds\nmax_iterations: 2\n\
         verify: test -e mended\n```sh\necho x >> acted\n```\n",
    );
    let blocked = run(&project, &[]).expect_exit(1);
    assert_eq!(project.read("acted"), "x\nx\n");
    let again = project.shell(&command_below(&blocked, "then continue")).expect_exit(1);
    assert_eq!(project.read("acted"), "x\nx\nx\nx\n", "as many attempts as at first");
    assert!(!again.stderr.contains("3/2"), "{}", again.stderr);
    project.write("mended", "");
    project.shell(&command_below(&again, "then continue")).expect_exit(0);
    assert_eq!(project.read("acted"), "x\nx\nx\nx\n");
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn an_attempt_that_was_cut_short_moves_the_limit_and_its_number_is_not_given_again() {
    let project = project(
        "",
        "- [ ] **Step 1: Try**\naction: go\nloop: until it is there\nmax_iterations: 3\n\
         verify: test -e there\n",
    );
    // The first attempt waits to be cut short, the second fails, the third does it.
    project.write(
        "agent.sh",
        "cat > prompt.$ONLOOP_ATTEMPT\necho x >> acted\ncase $ONLOOP_ATTEMPT in\n\
         1) while ! test -e go; do sleep 0.05; done ;;\n3) touch there ;;\nesac\n",
    );
    let words = ["run", "--mode", "none", "--verbose", "--agent-command", "sh agent.sh"];
    let child = begin(&project, &words);
    let acted = || std::fs::read(project.path("acted")).is_ok_and(|bytes| bytes.ends_with(b"\n"));
    wait_until("the agent acts", acted);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    output_of(child).expect_exit(130);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let stopped = project.onloop(&["status", &id]).stdout;
    assert!(stopped.contains("\nNow: a person has interrupted it (for "), "{stopped}");
    assert!(!stopped.contains("Who: "), "{stopped}");
    project.write("go", "");
    let words = ["resume", "--verbose", "--agent-command", "sh agent.sh"];
    let resumed = project.onloop(&words).expect_exit(0);
    let status = project.onloop(&["status", &id]).stdout;
    let report = project.onloop(&["report", &id]).stdout;
    assert!(resumed.stderr.contains("(attempt 3/4)"), "{resumed:?}");
    assert!(project.read("prompt.3").contains("## Attempt 3 of 4"));
    assert!(report.contains("Retrying (3/4)"), "{report}");
    for text in [&resumed.stderr, &status, &report, &project.read("prompt.3")] {
        for wrong in ["/3", "4/4", "of 3", "4 of 4"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
}
