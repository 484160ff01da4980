//! Two programs on one record, their requests in every order.

use onloop::host::Host;
use onloop_core::documents;
use onloop_core::documents::ledger::{self, Origin};
use onloop_core::effect::{Exit, Request, Turn};
use onloop_core::run::Event;
use onloop_tests::{Ended, SimHost, SimProcess};

use super::{assert_nothing_said_was_lost, machine, records, unfinished};
use crate::rounds::sampled;
use crate::run::workflow;

/// Conducts `first`, and after `pause` of its requests runs `second` to its end in between.
/// The machine's locks are real: what `first` holds, `second` waits for in vain.
fn interleave(
    machine: &mut SimHost,
    first: &[&str],
    pause: usize,
    second: &[&str],
) -> (Exit, Ended) {
    let mut ended = None;
    let exit = interrupt(machine, first, pause, |machine, beside| {
        ended = Some(if beside { machine.run_beside(second) } else { machine.run(second) });
    });
    (exit, ended.expect("it ran at some time"))
}

/// Conducts `first`; after `pause` of its requests, or at its end, something else happens:
/// `meanwhile` is told whether it is beside the program.
fn interrupt(
    machine: &mut SimHost,
    first: &[&str],
    pause: usize,
    meanwhile: impl FnOnce(&mut SimHost, bool),
) -> Exit {
    let mut meanwhile = Some(meanwhile);
    let mut program = onloop_core::cli::program(machine.start(first));
    let mut reply = None;
    for number in 0.. {
        if number == pause
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile(machine, true);
        }
        match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                if let Some(meanwhile) = meanwhile {
                    meanwhile(machine, false);
                }
                return exit;
            }
            Turn::Request(request) => reply = Some(machine.perform(request)),
        }
    }
    unreachable!("programs end");
}

#[test]
fn a_decision_between_two_requests_of_a_run_is_never_lost() {
    // Step 2's gate is open. While the run continues to step 3, the person changes their mind.
    let mut prepared = machine();
    prepared.run(super::RUN);
    prepared.run(&["onloop", "gate", "2", "approved"]);
    let requests = prepared.requests.len();
    prepared.run(super::RESUME);
    let length = prepared.requests.len() - requests;
    for pause in sampled(9, 0..length) {
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

#[test]
fn of_two_decisions_about_one_gate_one_is_taken() {
    let approve = ["onloop", "approve", "w", "--no-continue"];
    let reject = ["onloop", "reject", "w", "--reason", "no"];
    for (first, second) in [(approve.as_slice(), reject.as_slice()), (&reject, &approve)] {
        for pause in sampled(7, 0..REQUESTS) {
            let mut machine = machine();
            machine.run(super::RUN);
            let (exit, ended) = interleave(&mut machine, first, pause, second);
            let about = format!("{first:?} after {pause} requests\n{}", machine.notes());
            let taken = [Ended::Exit(exit), ended].map(|ended| ended == Ended::Exit(Exit::Done));
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{about}");
            let log = records(&machine).remove(0)["events"].to_string();
            assert_eq!(log.matches("Gate Step 2: ").count(), 1, "{about}\n{log}");
        }
    }
}

/// Step 3 may start, and the record is too large to be rewritten at every transition.
fn large() -> SimHost {
    let mut machine = machine();
    machine.run(super::RUN);
    machine.run(&["onloop", "gate", "2", "approved"]);
    let mut record = records(&machine).remove(0);
    record["ballast"] = "x".repeat(onloop_core::limits::RECORD_REWRITE_BYTES).into();
    let run = documents::run::read(&serde_json::to_vec(&record).unwrap()).unwrap();
    let (bytes, head) = ledger::begin(run.last_update, &run, &Origin::Begun, None);
    let folder = format!("/state/runs/{}", run.id);
    machine.disk.put(&format!("{folder}/ledger.jsonl"), bytes);
    machine.disk.remove(&format!("{folder}/head.json")).unwrap();
    let copy = format!("/demo/.hotl/state/{}.json", run.id);
    machine.disk.put(&copy, documents::run::write_copy(&run, Some(&head)));
    machine
}

/// Programs need fewer requests than this before they end.
const REQUESTS: usize = 40;

#[test]
fn neither_an_append_nor_a_rewrite_loses_the_other() {
    let start = ["onloop", "step", "3", "start"];
    let block = ["onloop", "step", "3", "block", "--reason", "no"];
    for (first, second) in [(start.as_slice(), block.as_slice()), (&block, &start)] {
        for pause in sampled(7, 0..REQUESTS) {
            let mut machine = large();
            interleave(&mut machine, first, pause, second);
            if !machine.results().contains("blocked step 3") {
                // It waited in vain for the record's lock, and said so.
                assert!(machine.notes().contains("error: "), "{}", machine.notes());
                machine.run(&block);
            }
            // At rest the copy shows the last line of the ledger.
            let log = records(&machine).remove(0)["events"].to_string();
            let said = machine.results();
            for (result, event) in
                [("started step 3", "\"→ Step 3: "), ("blocked step 3: no", "✗ Step 3: Blocked")]
            {
                let about = format!("{first:?} after {pause} requests: {result}\n{said}\n{log}");
                assert_eq!(said.contains(result), log.contains(event), "{about}");
            }
            assert!(said.contains("blocked step 3"), "{said}");
        }
    }
}

#[test]
fn a_reader_between_a_record_and_its_next_copy_reads_again() {
    for pause in sampled(7, 0..REQUESTS) {
        let mut machine = large();
        machine.run(&["onloop", "step", "3", "start"]);
        let exit = interrupt(&mut machine, &["onloop", "next"], pause, |machine, _| {
            // The copy is written at the rejection, and lags behind after the approval.
            for words in ["gate 2 rejected", "gate 2 approved", "step 3 verify"] {
                let words: Vec<&str> = ["onloop"].into_iter().chain(words.split(' ')).collect();
                machine.run_beside(&words);
            }
        });
        assert_eq!(exit, Exit::Done, "after {pause} requests\n{}", machine.notes());
        assert!(!machine.notes().contains("damaged"), "{}", machine.notes());
        assert!(!machine.notes().contains("does not follow"), "{}", machine.notes());
    }
}

/// A run of one step, `verified` or not, whose check passes `passes` times from now on.
fn with_a_check_that_passes(passes: usize, verified: bool) -> SimHost {
    let mut machine = SimHost::new();
    let step = "- [ ] **Step 1: Go**\naction: go\nloop: false\nverify: check-it\n";
    machine.disk.put(super::FILE, workflow("", step));
    machine.on("the-agent", |_, _| SimProcess::exit(0, ""));
    machine.on("check-it", move |disk, _| {
        let times = [disk.get("/demo/times").unwrap_or_default(), b"x"].concat();
        let holds = times.len() <= passes + usize::from(verified);
        disk.put("/demo/times", times);
        SimProcess::exit(i32::from(!holds), "")
    });
    machine.run(&["onloop", "init", super::FILE]);
    machine.run(&["onloop", "step", "1", "start"]);
    if verified {
        machine.run(&["onloop", "step", "1", "verify"]);
    }
    machine
}

#[test]
fn nobody_who_comes_too_late_looks_again_at_what_another_has_ended() {
    let verify = ["onloop", "step", "1", "verify"].as_slice();
    let finalize = ["onloop", "finalize"].as_slice();
    let cases = [
        (finalize, finalize, 1, true),
        (finalize, super::RESUME, 1, true),
        (verify, super::RESUME, 2, false),
    ];
    let (mut tried, mut ended_by_the_other) = (0, 0);
    for (first, second, passes, verified) in cases {
        for pause in sampled(7, 0..REQUESTS) {
            tried += 1;
            let mut machine = with_a_check_that_passes(passes, verified);
            interleave(&mut machine, first, pause, second);
            let about = format!("{first:?}, {second:?} after {pause}\n{}", machine.notes());
            let times = machine.disk.get("/demo/times").map_or(0, <[u8]>::len);
            if super::completed(&machine) {
                assert!(times <= passes + usize::from(verified), "{times} times, {about}");
                ended_by_the_other += 1;
            }
            super::assert_unlocked(&machine, &about);
        }
    }
    assert!(3 * ended_by_the_other > tried, "{ended_by_the_other} of {tried}");
}

#[test]
fn what_comes_while_a_person_is_asked_is_taken_over_once_and_they_are_asked_again() {
    let mut machine = machine();
    machine.answer(["yes", "yes", "yes"]);
    machine.terminal.stderr = true;
    let mut program = onloop_core::cli::program(machine.start(super::RUN));
    let (mut reply, mut questions) = (None, 0);
    let exit = loop {
        match program.resume(reply.take()) {
            Turn::Exit(exit) => break exit,
            Turn::Request(request) => {
                if matches!(request, Request::Ask { .. }) {
                    questions += 1;
                    if questions == 1 {
                        // Of another length than the line before it.
                        append_beside(&mut machine, "was changed by somebody ".repeat(20));
                    }
                }
                assert!(machine.requests.len() < 2000, "it does not end\n{}", machine.notes());
                reply = Some(machine.perform(request));
            }
        }
    };
    assert_eq!((exit, questions), (Exit::Done, 3), "{}", machine.notes());
    let said = "The run has changed since the question; it continues as it is now.\n";
    assert_eq!(machine.notes().matches(said).count(), 1, "{}", machine.notes());
}

/// Another process adds an event to the only ledger.
fn append_beside(machine: &mut SimHost, what: String) {
    let mut files = machine.disk.files("/state/runs");
    files.retain(|path| path.ends_with("/ledger.jsonl"));
    let [path] = files.as_slice() else { panic!("one run: {files:?}") };
    let mut bytes = machine.disk.get(path).expect("it was listed").to_vec();
    let known = ledger::read(&bytes, None).expect("it is sound");
    let event = Event::CopyChanged { path: "/demo/copy".to_owned(), what };
    ledger::append(&mut bytes, &known.head, machine.now(), &event, None);
    machine.disk.put(path, bytes);
}
