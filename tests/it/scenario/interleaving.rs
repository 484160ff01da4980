//! Two programs on one record, their requests in every order.

use onloop::host::Host;
use onloop_core::program::{Exit, Program, Turn};
use onloop_tests::{Ended, SimHost};

use super::{assert_nothing_said_was_lost, machine, records, unfinished};

/// Conducts `first`, and after `pause` of its requests runs `second` to its end in between.
/// The machine's locks are real: what `first` holds, `second` waits for in vain.
fn interleave(
    machine: &mut SimHost,
    first: &[&str],
    pause: usize,
    second: &[&str],
) -> (Exit, Ended) {
    let mut program = Program::from_command_line(machine.start(first));
    let mut reply = None;
    let mut other = None;
    for number in 0.. {
        if number == pause {
            other = Some(machine.run_beside(second));
        }
        match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                return (exit, other.unwrap_or_else(|| machine.run(second)));
            }
            Turn::Request(request) => reply = Some(machine.perform(request)),
        }
    }
    unreachable!("programs end");
}

#[test]
fn a_decision_between_two_requests_of_a_run_is_never_lost() {
    // Step 2's gate is open. While the run goes on to step 3, the person changes their mind.
    let mut prepared = machine();
    prepared.run(super::RUN);
    prepared.run(&["onloop", "gate", "2", "approved"]);
    let requests = prepared.requests.len();
    prepared.run(super::RESUME);
    let length = prepared.requests.len() - requests;
    for pause in 0..length {
        let mut machine = machine();
        machine.run(super::RUN);
        machine.run(&["onloop", "gate", "2", "approved"]);
        let about = format!("after {pause} requests");
        let second = ["onloop", "gate", "2", "rejected"];
        let (_, decided) = interleave(&mut machine, super::RESUME, pause, &second);
        let record = records(&machine).remove(0);
        let log = record["events"].to_string();
        let said = machine.results().contains("gate 2: rejected (human)");
        assert_eq!(said, decided == Ended::Exit(Exit::Done), "{about}: {decided:?}");
        if said {
            assert!(log.contains("Gate Step 2: rejected (human)"), "{about}\n{log}");
            assert_eq!(record["steps"][1]["gate_result"], "rejected", "{about}");
            assert_ne!(record["status"], "completed", "{about}");
        }
        assert_nothing_said_was_lost(&machine, &about);
        assert!(unfinished(&machine).is_some(), "{about}");
    }
}
