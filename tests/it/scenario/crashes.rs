//! The power goes at every request of a whole run, before, within and after it.

use onloop_tests::{Ended, Moment, PowerLoss};

use super::{
    assert_finished_well, assert_nothing_said_was_lost, carry_on, completed, length_of_a_run,
    machine, records, unfinished, waiting_for,
};

/// Lives through a whole run in which the power goes during request `at_request`.
fn with_a_power_cut(loss: PowerLoss) {
    let about = format!("{loss:?}");
    let mut machine = machine();
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
    // A cut after the last transition leaves mirrors behind; looking repairs none of them, so
    // only what the record says counts there.
    assert_nothing_said_was_lost(&machine, &about);
    let finished = records(&machine).iter().any(|r| r["status"] == "completed");
    assert!(finished, "{about}");
}

#[test]
fn a_run_survives_a_power_cut_at_every_moment() {
    let length = length_of_a_run();
    assert!(length > 100, "the run is long enough to be interesting: {length}");
    for at_request in 0..length {
        // Before a request is after the one before it.
        for lose_relaxed in [false, true] {
            with_a_power_cut(PowerLoss { at_request, moment: Moment::After, lose_relaxed });
        }
    }
}

#[test]
fn an_undisturbed_run_finishes_well() {
    let mut machine = machine();
    carry_on(&mut machine);
    assert_finished_well(&machine, "undisturbed");
    assert_nothing_said_was_lost(&machine, "undisturbed");
}
