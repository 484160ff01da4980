//! Requests that the machine refuses: a full disk, a folder that is read-only, broken git,
//! interrupts. The run stops, and goes on when that is mended.

use onloop_core::effect::{Exit, FailureKind, Request};
use onloop_tests::Ended;

use crate::rounds::sampled;

use super::{
    RUN, assert_finished_well, assert_nothing_said_was_lost, broken_git, carry_on, completed,
    length_of_a_run, machine, records,
};

fn is_write(request: &Request) -> bool {
    matches!(request, Request::Write { .. } | Request::Append { .. } | Request::Patch { .. })
}

#[test]
fn a_disk_that_is_full_at_any_write_loses_nothing() {
    for kind in [FailureKind::Full, FailureKind::Denied] {
        for refused in sampled(21, 0..length_of_a_run(machine())) {
            let mut machine = machine();
            let mut reached = false;
            machine.refuse(move |number, request| {
                (number >= refused && number < refused + 2 && is_write(request)).then_some(kind)
            });
            let about = format!("{kind:?} at {refused}");
            let mut last = Ended::Exit(Exit::Done);
            while machine.requests.len() <= refused && !completed(&machine) {
                last = next_program(&mut machine);
                reached = true;
            }
            let allowed = [Exit::Done, Exit::Paused, Exit::Failed, Exit::Refused];
            assert!(allowed.map(Ended::Exit).contains(&last), "{about}: {last:?}");
            assert!(reached);
            assert_nothing_said_was_lost(&machine, &about);
            mend_and_finish(&mut machine, &about);
        }
    }
}

fn next_program(machine: &mut onloop_tests::SimHost) -> Ended {
    match super::unfinished(machine) {
        None => machine.run(RUN),
        Some(record) => match super::waiting_for(&record) {
            Some(step) => machine.run(&["onloop", "gate", &step.to_string(), "approved"]),
            None => machine.run(super::RESUME),
        },
    }
}

/// Goes on, also when a prompt that could not be written has used up an attempt.
fn mend_and_finish(machine: &mut onloop_tests::SimHost, about: &str) {
    for _ in 0..12 {
        if completed(machine) {
            break;
        }
        let ended = next_program(machine);
        assert!(matches!(ended, Ended::Exit(_)), "{about}");
    }
    assert!(completed(machine), "{about}: never finished\n{}", machine.notes());
    for record in records(machine) {
        if record["status"] == "completed" {
            assert_eq!(super::essence(&record), super::undisturbed(), "{about}");
        }
    }
    assert_nothing_said_was_lost(machine, about);
}

#[test]
fn a_record_that_cannot_be_written_stops_the_run_before_it_acts() {
    for kind in [FailureKind::Full, FailureKind::Denied] {
        let mut machine = machine();
        machine.refuse(move |_, request| match request {
            Request::Write { path, .. } if path.contains("/state/") => Some(kind),
            _ => None,
        });
        assert_eq!(machine.run(RUN), Ended::Exit(Exit::Refused));
        assert!(machine.disk.get("/demo/built").is_none(), "{kind:?}: the agent has acted");
        assert!(crate::flat(&machine.notes()).contains("record"), "{}", machine.notes());
        assert_eq!(machine.results(), "");
    }
}

#[test]
fn a_full_disk_in_the_middle_says_how_to_go_on() {
    let mut machine = machine();
    let mut writes = 0;
    machine.refuse(move |_, request| {
        let state =
            matches!(request, Request::Append { path, .. } if path.ends_with("ledger.jsonl"));
        writes += usize::from(state);
        (state && writes == 3).then_some(FailureKind::Full)
    });
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Refused));
    let notes = machine.notes();
    assert!(crate::flat(&notes).contains("make room on the disk"), "{notes}");
    assert!(notes.contains("onloop resume w-"), "{notes}");
    carry_on(&mut machine);
    assert_finished_well(&machine, "after the disk was full");
}

#[test]
fn a_read_only_folder_is_refused_before_anything_happens() {
    let mut machine = machine();
    machine.disk.make_read_only("/demo");
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Refused));
    assert!(crate::flat(&machine.notes()).contains("read-only"), "{}", machine.notes());
    assert_eq!(machine.disk.files("/demo"), ["/demo/hotl-workflow-w.md"]);
}

#[test]
fn a_workflow_that_cannot_be_changed_does_not_stop_the_run() {
    let mut machine = machine();
    machine.disk.make_read_only(super::FILE);
    carry_on(&mut machine);
    assert!(completed(&machine));
    assert!(machine.notes().contains("checkboxes are not kept"), "{}", machine.notes());
}

#[test]
fn a_box_that_cannot_be_put_right_is_said_when_the_run_goes_on() {
    let mut machine = machine();
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused));
    // Somebody unticks the first step, whose box nothing touches again.
    let unticked = machine.disk.text(super::FILE).replacen("- [x]", "- [ ]", 1);
    machine.disk.put(super::FILE, unticked);
    machine.disk.make_read_only(super::FILE);
    machine.said.clear();
    assert_eq!(machine.run(super::RESUME), Ended::Exit(Exit::Paused));
    let warning = "warning: the workflow's checkboxes are not kept: ";
    assert_eq!(crate::flat(&machine.notes()).matches(warning).count(), 1, "{}", machine.notes());
}

#[test]
fn broken_git_is_refused_in_words_and_not_needed_without_it() {
    let mut machine = machine();
    machine.on_git(broken_git);
    let run = ["onloop", "run", "--agent-command", "the-agent"];
    assert_eq!(machine.run(&run), Ended::Exit(Exit::Refused));
    assert!(crate::flat(&machine.notes()).contains("git is broken"), "{}", machine.notes());
    assert_eq!(machine.disk.files("/demo"), ["/demo/hotl-workflow-w.md"]);
    carry_on(&mut machine);
    assert_finished_well(&machine, "without git");
}

#[test]
fn an_interrupt_at_any_moment_is_saved_or_finished() {
    for at in sampled(17, 0..length_of_a_run(machine())) {
        let mut machine = machine();
        machine.interrupt_at(at);
        let about = format!("interrupted at {at}");
        for _ in 0..12 {
            if completed(&machine) {
                break;
            }
            let ended = next_program(&mut machine);
            let expected = [Exit::Done, Exit::Paused, Exit::Interrupted].map(Ended::Exit);
            assert!(expected.contains(&ended), "{about}: {ended:?}\n{}", machine.notes());
        }
        assert_finished_well(&machine, &about);
        assert_nothing_said_was_lost(&machine, &about);
        super::assert_unlocked(&machine, &about);
    }
}
