//! Drivers in the background: what starts one, what it does, and what ends it.

use serde_json::Value;
use std::fs::File;

use super::{FILE, run, standing, wait_until, workflow};
use crate::workspace::{Run, Workspace, program};

/// A gate, then a step that lasts until the file `go` exists.
const GATED: &str = "- [ ] **Step 1: First**\naction: go\nloop: false\nverify: true\ngate: human\n\
                     ```sh\ntrue\n```\n\n\
                     - [ ] **Step 2: Last**\naction: go\nloop: false\nverify: test -e done\n\
                     ```sh\nuntil test -e go; do sleep 0.02; done; echo x >> done\n```\n";

/// A run that waits at its gate, without a terminal, and its id.
fn waiting() -> (Workspace, String) {
    let project = Workspace::plain().with_env("ONLOOP_CONTINUE", "auto");
    project.write(FILE, workflow("", GATED));
    run(&project, &[]).expect_exit(3);
    let id = project.kept_ids().pop().expect("there is a run");
    (project, id)
}

fn completes(project: &Workspace) {
    wait_until("the run completes", || standing(project) == "completed: done, done");
}

fn log(project: &Workspace, id: &str) -> String {
    std::fs::read_to_string(project.kept(id, "driver.log")).unwrap_or_default()
}

/// The process that drives the run.
fn driver(project: &Workspace, id: &str) -> Option<u64> {
    let lock = std::fs::read_to_string(project.kept(id, "driver.lock")).ok()?;
    serde_json::from_str::<Value>(&lock).ok()?["pid"].as_u64()
}

#[track_caller]
fn says(run: &Run, words: &str) {
    assert!(run.stderr.contains(words), "{words}\n{}", run.stderr);
}

#[test]
fn a_driver_that_lacks_secret_variables_of_the_one_before_is_told() {
    let project = Workspace::plain()
        .with_env("ONLOOP_CONTINUE", "auto")
        .with_env("SHOP_API_KEY", "sk-0123456789abcdef");
    project.write(FILE, workflow("", GATED));
    run(&project, &[]).expect_exit(3);
    let id = project.kept_ids().pop().expect("there is a run");
    let options = std::fs::read_to_string(project.kept(&id, "options")).unwrap();
    assert!(options.contains("SHOP_API_KEY") && !options.contains("0123456789"), "{options}");
    let project = project.with_env("SHOP_API_KEY", "");
    let approved = project.onloop(&["approve", &id]).expect_exit(0);
    says(&approved, "had variables that are not set here:\n  SHOP_API_KEY\n");
    project.write("go", "");
    completes(&project);
}

#[test]
fn an_approval_continues_the_run_by_itself() {
    let (project, id) = waiting();
    let listed = project.onloop(&["approve"]).expect_exit(0).stdout;
    let (name, _) = id.rsplit_once('-').expect("an id has a time");
    assert!(listed.contains(&format!("{name}  Waiting for you, ")), "{listed}");
    assert!(listed.contains(&format!("\n      onloop approve {name}\n")), "{listed}");
    let approved = project.onloop(&["approve", name]).expect_exit(0);
    assert_eq!(approved.stdout, "gate 1: approved (human)\n");
    says(&approved, "The run continues in the background.\n");
    says(&approved, &format!("\n  onloop stop {id}\n"));
    let status = project.onloop(&["status", &id]).expect_exit(0).stdout;
    assert!(crate::flat(&status).contains("drives it in the background"), "{status}");
    assert!(status.contains(&format!("\nLog: {}\n", project.kept(&id, "driver.log").display())));
    // Another driver is refused, or ends silently where nobody reads what it says.
    let busy = project.onloop(&["resume", &id, "--agent", "script"]).expect_exit(4);
    says(&busy, &format!("or stop it:\n    onloop stop {id}\n"));
    let second = project.onloop(&["resume", &id, "--background"]).expect_exit(0);
    assert_eq!((second.stdout, second.stderr), (String::new(), String::new()));
    // One without options shows what the driver does, and ends as the run does.
    let said = project.path("../home/said");
    let mut follower = project
        .command_at("", program())
        .args(["resume", &id])
        .stderr(File::create(&said).expect("its folder is there"))
        .spawn()
        .expect("the program starts");
    let shown = || std::fs::read_to_string(&said).unwrap_or_default();
    wait_until("it follows", || shown().contains("Ctrl-C leaves it running"));
    project.write("go", "");
    assert!(follower.wait().expect("it ends").success(), "{}", shown());
    assert!(shown().contains("✓ Step 2: Last") && shown().contains("Run completed"), "{}", shown());
    completes(&project);
    wait_until("the driver has ended", || driver(&project, &id).is_none());
    let log = log(&project, &id);
    assert!(log.contains("✓ Step 2: Last") && log.contains("Options: --agent script"), "{log}");
    assert_eq!(project.read("done"), "x\n", "nothing was done twice");
}

#[test]
#[cfg(target_os = "linux")]
fn a_driver_in_the_background_has_a_session_of_its_own() {
    let (project, id) = waiting();
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let pid = driver(&project, &id).expect("it drives");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let (_, fields) = stat.rsplit_once(") ").expect("a program has a name");
    assert_eq!(fields.split(' ').nth(3), Some(pid.to_string().as_str()), "{stat}");
    let parent = fields.split(' ').nth(1);
    assert_ne!(parent, Some(std::process::id().to_string().as_str()), "its starter has ended");
    project.write("go", "");
    completes(&project);
}

#[test]
fn a_stopped_run_can_be_resumed() {
    let (project, id) = waiting();
    project.onloop(&["approve", &id]).expect_exit(0);
    let stopped = project.onloop(&["stop"]).expect_exit(0);
    assert_eq!(stopped.stdout, format!("run {id} is stopped\n"));
    says(&stopped, &format!("onloop resume {id}\n"));
    assert_eq!(driver(&project, &id), None);
    let said = log(&project, &id);
    assert!(said.contains("Interrupted; the record is saved."), "{said}");
    let none = project.onloop(&["stop", &id]).expect_exit(4);
    says(&none, "no process on this machine drives run");
    project.write("go", "");
    project.onloop(&["resume"]).expect_exit(0);
    completes(&project);
}

#[test]
fn a_step_that_is_sent_back_is_done_again_in_the_background() {
    let (project, id) = waiting();
    project.write("go", "");
    let rejected = project.onloop(&["reject", &id, "--redo", "--reason", "again"]).expect_exit(0);
    says(&rejected, "The run continues in the background.\n");
    wait_until("it waits again", || standing(&project) == "paused: done, pending");
    wait_until("the driver has ended", || driver(&project, &id).is_none());
    let said = log(&project, &id);
    assert!(said.contains("✓ Step 1: First"), "{said}");
    let ended = project.onloop(&["reject", &id, "--reason", "not needed"]).expect_exit(0);
    assert_eq!(ended.stdout, "gate 1: rejected (human)\n");
    assert!(standing(&project).starts_with("abandoned: "), "{}", standing(&project));
    let over = project.onloop(&["approve", &id]);
    assert_ne!(over.exit, Some(0), "{}", over.stdout);
}

#[test]
fn where_no_driver_may_be_started_the_command_is_printed() {
    let cases = [
        ("--no-continue", ("A", ""), "Continue the run:\n"),
        ("--", ("CI", "true"), "Continue the run (`CI` is set):\n"),
        ("--", ("ONLOOP_CONTINUE", "never"), "Continue the run (`run.continue: never`):\n"),
        ("--", ("ONLOOP_CONTINUE", "nevr"), "Continue the run (`run.continue: never`):\n"),
    ];
    for (option, (name, value), said) in cases {
        let (project, id) = waiting();
        let project = project.with_env(name, value);
        let approved = project.onloop(&["approve", option, &id]).expect_exit(0);
        says(&approved, &format!("{said}  onloop resume {id}\n"));
        assert_eq!(driver(&project, &id), None);
        assert_eq!(log(&project, &id), "");
    }
}

#[test]
fn a_run_begins_in_the_background() {
    let project = Workspace::plain().with_env("ONLOOP_CONTINUE", "auto");
    project.write(FILE, workflow("", &GATED.replace("gate: human\n", "")));
    let begun = run(&project, &["--detach"]).expect_exit(0);
    let id = project.kept_ids().pop().expect("there is a run");
    assert_eq!(begun.stdout, format!("{id}\n"));
    project.write("go", "");
    completes(&project);
    let refused = run(&project.with_env("CI", "true"), &["--detach", "--fresh"]).expect_exit(4);
    says(&refused, "the run cannot be driven in the background: `CI` is set");
}
