//! Children that take longer than a lock is believed.

use onloop::host::Host;
use onloop_core::auto::LOCK_PATH;
use onloop_core::auto::lock::{self, LockState};
use onloop_core::effect::{Exit, Outcome, Program, Request, Turn};
use onloop_tests::{Ended, Moment, PowerLoss, SimHost, SimProcess};

use crate::rounds::sampled;

const AUTO: &[&str] = &["onloop", "auto", "--agent-command", "the-agent"];
const HALF_AN_HOUR_MS: u64 = 30 * 60 * 1000;
const HELD: u8 = 12;

/// A workspace whose loop takes half an hour and then says that all is done.
fn machine() -> SimHost {
    let mut host = SimHost::new();
    host.disk.put(".ai/CONTEXT.md", "# Context\n");
    host.disk.put(".ai/PROGRESS.md", "## Task Status\n| TASK-01 | x | pending | - |\n");
    host.on("the-agent", |_, _| SimProcess {
        duration_ms: HALF_AN_HOUR_MS,
        ..SimProcess::exit(0, "NEXT_COMMAND=done\n")
    });
    host
}

/// What somebody who goes by age alone makes of the lock.
fn lock_by_age(host: &SimHost) -> LockState {
    let text = host.disk.get(LOCK_PATH).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    lock::state(text.and_then(|text| lock::stamp(&text, None)), host.now())
}

fn code(ended: Ended) -> u8 {
    match ended {
        Ended::Exit(exit) => exit.code(),
        Ended::PowerCut | Ended::Killed => panic!("the power was to stay"),
    }
}

#[test]
fn the_lock_of_a_long_child_is_held_throughout() {
    let mut host = machine();
    let mut program = onloop_core::cli::program(host.start(AUTO));
    let mut reply = None;
    let mut looks = 0;
    let exit = loop {
        let request = match program.resume(reply.take()) {
            Turn::Exit(exit) => break exit,
            Turn::Request(request) => request,
        };
        let is_turn = matches!(request, Request::Process(_) | Request::Wait { .. });
        let answer = host.perform(request);
        if is_turn && answer.outcome == Ok(Outcome::Running) {
            // The moment before the next stamp, when the present one is oldest.
            assert_eq!(lock_by_age(&host), LockState::Held);
            assert_eq!(code(host.run_beside(AUTO)), HELD);
            looks += 1;
        }
        reply = Some(answer);
    };
    assert_eq!(exit.code(), 0);
    assert_eq!(looks, 9, "every three minutes");
    assert!(host.disk.get(LOCK_PATH).is_none(), "released");
}

#[test]
fn a_power_cut_at_any_moment_of_a_long_child_is_survived() {
    let mut whole = machine();
    assert_eq!(code(whole.run(AUTO)), 0);
    let is_process = |request: &Request| matches!(request, Request::Process(_));
    let first = whole.requests.iter().position(is_process).expect("a child");
    let losses = (first..whole.requests.len()).flat_map(|at_request| {
        [(Moment::Before, true), (Moment::Before, false), (Moment::After, false)]
            .map(|(moment, lose_relaxed)| PowerLoss { at_request, moment, lose_relaxed })
    });
    for loss in sampled(4, losses) {
        let about = format!("{:?} {loss:?}", whole.requests[loss.at_request]);
        let mut host = machine();
        host.lose_power(loss);
        assert_eq!(host.run(AUTO), Ended::PowerCut, "{about}");
        let has_lock = host.disk.get(LOCK_PATH).is_some();
        let next = code(host.run(AUTO));
        assert_eq!(next, if has_lock { HELD } else { 0 }, "{about}");
        let sleeper = Program::new(host.start(&["sleep"]), |io| async move {
            io.sleep(600_000).await.map_or(Exit::Failed, |()| Exit::Done)
        });
        assert_eq!(host.run_program(sleeper), Ended::Exit(Exit::Done));
        assert_eq!(code(host.run(AUTO)), 0, "{about}");
    }
}

#[test]
fn a_lock_taken_over_during_a_child_is_left_alone() {
    let mut host = machine();
    let now = host.now().to_rfc3339();
    let foreign = format!("{{\"owner\":\"someone\",\"acquired_at\":\"{now}\"}}");
    let taken = foreign.clone();
    host.on("the-agent", move |disk, _| {
        disk.put(LOCK_PATH, &taken);
        SimProcess { duration_ms: 5 * 60 * 1000, ..SimProcess::exit(0, "NEXT_COMMAND=rw-loop\n") }
    });
    assert_eq!(code(host.run(AUTO)), HELD);
    assert_eq!(host.disk.get(LOCK_PATH), Some(foreign.as_bytes()));
}
