//! What `resume` refuses, and the explicit words with which a person insists.

use super::OnDisk;
use crate::run::{FILE, command_below, decide_and_resume, project, run, standing, workflow};
use crate::workspace::Workspace;

/// The first step waits for a person after it was done; both count their turns.
fn steps(second_check: &str) -> String {
    format!(
        "- [ ] **Step 1: First**\naction: go\nloop: false\nverify: test -e first\ngate: human\n\
         ```sh\necho x >> first\n```\n\n\
         - [ ] **Step 2: Second**\naction: go\nloop: false\nverify: {second_check}\n\
         ```sh\necho x >> second\n```\n"
    )
}

fn paused() -> (Workspace, String) {
    let project = project("", &steps("test -e second"));
    run(&project, &[]).expect_exit(3);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    (project, id)
}

fn edited() -> (Workspace, String) {
    let (project, id) = paused();
    project.write(FILE, workflow("", &steps("echo edited >> checked; test -e second")));
    (project, id)
}

#[test]
fn an_edited_workflow_is_shown_and_refused() {
    let (project, id) = edited();
    let state = OnDisk::of(&project).copy;
    let before = std::fs::read(&state).unwrap();
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    assert!(refused.stderr.contains("~ Step 2: Second (verify changed)"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("Step 1"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&state).unwrap(), before, "nothing was changed");
    assert_eq!(
        command_below(&refused, "start anew with it"),
        format!("onloop run {} --fresh", project.path(FILE).display())
    );
}

#[test]
fn adopting_keeps_finished_steps_and_uses_the_edited_rest() {
    let (project, id) = edited();
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    let adopt = command_below(&refused, "use the edited file");
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.shell(&adopt).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("first"), "x\n", "the finished step was kept");
    assert!(project.read("checked").starts_with("edited\n"), "the edited check was used");
}

#[test]
fn an_edit_of_the_terms_counts_only_when_it_is_adopted() {
    let (project, id) = paused();
    let plain = project.read(FILE);
    let edited =
        plain.replace("risk_level:", "auto_approve: true\nmax_total_attempts: 9\nrisk_level:");
    assert_ne!(edited, plain);
    project.write(FILE, edited);
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    for term in ["auto_approve changed", "budgets changed"] {
        assert!(refused.stderr.contains(term), "{}", refused.stderr);
    }
    assert_eq!(standing(&project), "paused: done, pending");
    project.shell(&command_below(&refused, "use the edited file")).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.record()["auto_approve"], true);
    assert_eq!(project.record()["budgets"]["limits"]["total_attempts"], 9);
}

#[test]
fn what_a_person_said_for_a_run_is_no_edit_and_survives_one() {
    let (project, id) = paused();
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.write(FILE, workflow("", &steps("test -e second && test -e never")));
    let raise = ["resume", &id, "--adopt", "--raise", "max_total_attempts=7"];
    project.onloop(&raise).expect_exit(1);
    project.write(FILE, workflow("", &steps("test -e second")));
    project.onloop(&["resume", &id, "--adopt"]).expect_exit(0);
    assert_eq!(project.record()["budgets"]["limits"]["total_attempts"], 7);
}

#[test]
fn a_file_that_has_errors_is_not_adopted() {
    let (project, id) = paused();
    project.write(FILE, workflow("", "- [ ] **Step 1: First**\naction: go\nverify: true\n"));
    project.onloop(&["resume", &id]).expect_exit(4);
    let refused = project.onloop(&["resume", &id, "--adopt"]).expect_exit(2);
    assert!(crate::flat(&refused.stderr).contains("has errors now"), "{}", refused.stderr);
    assert_eq!(standing(&project), "paused: done, pending");
}

#[test]
fn an_edit_of_words_that_no_run_uses_is_no_difference() {
    let (project, id) = paused();
    let text = project.read(FILE).replace("## Steps", "Some words about it.\n\n## Steps");
    project.write(FILE, text);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let resumed = project.onloop(&["resume", &id]).expect_exit(0);
    assert!(resumed.stderr.contains("nothing that the run uses"), "{}", resumed.stderr);
}

#[test]
fn a_run_is_taken_over_only_with_a_reason() {
    let (project, id) = paused();
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    // Of a process on another machine nobody here can say whether it is dead.
    let elsewhere = r#"{"pid":4242,"host":"elsewhere","started":"1","at":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(project.kept(&id, "driver.lock"), format!("{elsewhere}\n")).unwrap();
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    assert!(refused.stderr.contains("elsewhere"), "{}", refused.stderr);
    project.onloop(&["resume", &id, "--take-over"]).expect_exit(2);
    assert_eq!(standing(&project), "running: done, pending");
    project.shell(&command_below(&refused, "over:")).expect_exit(0);
    let log = project.record()["events"].to_string();
    assert!(log.contains("Taken over: machine lost"), "{log}");
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn a_damaged_record_is_named_and_left_alone_until_it_is_rebuilt() {
    for keep in [0, 1, 400, 2000] {
        let (project, id) = paused();
        let state = OnDisk::of(&project).ledger;
        let mut bytes = std::fs::read(&state).unwrap();
        bytes.truncate(keep.min(bytes.len() - 3));
        std::fs::write(&state, &bytes).unwrap();
        let refused = project.onloop(&["resume", &id]).expect_exit(4);
        assert!(refused.stderr.contains(&*state.to_string_lossy()), "{}", refused.stderr);
        assert!(refused.stderr.contains("--rebuild"), "{}", refused.stderr);
        for verb in [&["step", "2", "start"][..], &["gate", "1", "approved"], &["finalize"]] {
            let refused = project.onloop(&[verb, &["--run-id", &id]].concat()).expect_exit(1);
            assert!(
                crate::flat(&refused.stderr).contains("damaged"),
                "{verb:?}: {}",
                refused.stderr
            );
        }
        assert_eq!(std::fs::read(&state).unwrap(), bytes, "nothing was changed");
        let rebuilt = project.onloop(&["resume", &id, "--rebuild", FILE]).expect_exit(3);
        assert_eq!(standing(&project), "paused: done, pending");
        assert_eq!(project.read("first"), "x\n", "what holds is not done again");
        let aside = rebuilt.stderr.lines().find_map(|line| line.split(" is kept as ").nth(1));
        let aside = aside.unwrap_or_else(|| panic!("{}", rebuilt.stderr));
        assert_eq!(std::fs::read(aside).unwrap(), bytes);
        decide_and_resume(&project, &rebuilt, "Approve and continue").expect_exit(0);
        assert_eq!(standing(&project), "completed: done, done");
    }
}

#[test]
fn a_record_that_can_be_read_is_not_rebuilt() {
    let (project, id) = paused();
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let said = project.onloop(&["resume", &id, "--rebuild", FILE]).expect_exit(2).stderr;
    assert!(said.contains("can be read, so there is nothing"), "{said}");
    let log = project.record()["events"].to_string();
    assert!(!log.contains("rebuilt"), "{log}");
}
