//! The power goes at every request of a whole run, before, within and after it.

use onloop_core::effect::{Exit, Request};
use onloop_tests::{Ended, Moment, PowerLoss, SimHost, SimProcess};

use super::quick::quick_machine;
use super::{
    assert_finished_well, assert_nothing_said_was_lost, carry_on, completed, length_of_a_run,
    machine, records, unfinished, waiting_for,
};
use crate::rounds::sampled;
use crate::run::workflow;

/// Lives through a whole run in which the power goes during request `at_request`.
fn with_a_power_cut(loss: PowerLoss, mut machine: SimHost) {
    let about = format!("{loss:?}, {} ms", machine.quick_ms);
    machine.lose_power(loss);
    for program in 0.. {
        assert!(program < 12, "{about}: the power never went");
        let ended = match unfinished(&machine) {
            None if completed(&machine) => break,
            None => machine.run(super::RUN),
            Some(record) => match waiting_for(&record) {
                Some(step) => machine.run(&["onloop", "gate", &step.to_string(), "approved"]),
                None => machine.run(super::RESUME),
            },
        };
        if ended == Ended::PowerCut {
            break;
        }
    }
    // What the disk kept is whole, and nothing that was said is missing in it.
    assert_nothing_said_was_lost(&machine, &about);
    for record in records(&machine) {
        if record["status"] == "completed" {
            assert_eq!(super::essence(&record), super::undisturbed(), "{about}");
        }
    }
    carry_on(&mut machine);
    // A cut after the last transition leaves report and boxes behind; who asks for more of a
    // finished run gets them mended.
    let record = records(&machine).into_iter().find(|record| record["status"] == "completed");
    let record = record.unwrap_or_else(|| panic!("{about}: nothing was completed"));
    let id = record["run_id"].as_str().expect("a run has an id");
    assert_eq!(machine.run(&["onloop", "resume", id]), Ended::Exit(Exit::Done), "{about}");
    assert_finished_well(&machine, &about);
    assert_nothing_said_was_lost(&machine, &about);
}

#[test]
fn a_run_survives_a_power_cut_at_every_moment() {
    for machine in [machine, quick_machine] {
        let length = length_of_a_run(machine());
        assert!(length > 100, "the run is long enough to be interesting: {length}");
        // Before a request is after the one before it.
        let losses = (0..length).flat_map(|at_request| {
            [false, true].map(|lose_relaxed| PowerLoss {
                at_request,
                moment: Moment::After,
                lose_relaxed,
            })
        });
        for loss in sampled(29, losses) {
            with_a_power_cut(loss, machine());
        }
    }
}

/// Decisions start drivers, which do nothing here.
fn machine_that_continues() -> SimHost {
    let mut machine = machine();
    machine.env.insert("ONLOOP_CONTINUE".to_owned(), "auto".to_owned());
    machine.on("/opt/onloop resume", |_, _| SimProcess::exit(0, ""));
    machine
}

#[test]
fn a_power_cut_while_a_driver_is_started_loses_no_decision() {
    let mut undisturbed = machine_that_continues();
    carry_on(&mut undisturbed);
    assert_eq!(undisturbed.launched.len(), 2, "{:?}", undisturbed.launched);
    let is_launch = |request: &Request| matches!(request, Request::Launch(_));
    let launches: Vec<usize> =
        (0..).zip(&undisturbed.requests).filter(|(_, r)| is_launch(r)).map(|(at, _)| at).collect();
    let losses = launches.into_iter().flat_map(|launch| launch - 3..launch + 3);
    let losses = losses
        .flat_map(|at_request| [Moment::Before, Moment::After].map(|moment| (at_request, moment)));
    for (at_request, moment) in sampled(5, losses) {
        let loss = PowerLoss { at_request, moment, lose_relaxed: true };
        with_a_power_cut(loss, machine_that_continues());
    }
}

#[test]
fn an_undisturbed_run_finishes_well() {
    let mut machine = machine();
    carry_on(&mut machine);
    assert_finished_well(&machine, "undisturbed");
    assert_nothing_said_was_lost(&machine, "undisturbed");
    super::assert_unlocked(&machine, "undisturbed");
}

/// A machine whose record is too large to be rewritten at each transition.
fn machine_with_a_large_record() -> SimHost {
    let action = "Think about it. ".repeat(900);
    let step = |number: u32| {
        format!("- [ ] **Step {number}: Go**\naction: {action}\nloop: false\nverify: check-it\n\n")
    };
    let mut machine = SimHost::new();
    machine.disk.put(super::FILE, workflow("", &(1..=10).map(step).collect::<String>()));
    machine.on("the-agent", |_, _| SimProcess::exit(0, ""));
    machine.on("check-it", |_, _| SimProcess::exit(0, ""));
    machine
}

#[test]
fn a_ledger_that_is_torn_anywhere_is_continued() {
    let mut undisturbed = machine_with_a_large_record();
    undisturbed.run(super::RUN);
    assert!(completed(&undisturbed), "{}", undisturbed.notes());
    let is_append = |request: &Request| matches!(request, Request::Append { .. });
    let appends = undisturbed.requests.iter().filter(|request| is_append(request)).count();
    assert!(appends >= 10, "a line for each change: {appends}");
    let numbered = undisturbed.requests.iter().enumerate();
    let losses = numbered.filter(|(_, request)| is_append(request)).flat_map(|(at_request, _)| {
        [Moment::Before, Moment::Within, Moment::After].map(|moment| PowerLoss {
            at_request,
            moment,
            lose_relaxed: true,
        })
    });
    for loss in sampled(13, losses) {
        let mut machine = machine_with_a_large_record();
        let about = format!("{loss:?}");
        machine.lose_power(loss);
        assert_eq!(machine.run(super::RUN), Ended::PowerCut, "{about}");
        if !completed(&machine) {
            let ended = machine.run(super::RESUME);
            assert_eq!(ended, Ended::Exit(Exit::Done), "{about}\n{}", machine.notes());
        }
        assert!(completed(&machine), "{about}\n{}", machine.notes());
        assert_nothing_said_was_lost(&machine, &about);
    }
}
