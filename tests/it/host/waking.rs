//! Programs that are left running while their caller does something else.

use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind, Outcome, ProcessSpec, ProcessStatus, Request};

use super::{World, assert_dies, line};

/// Woken as soon as possible.
fn woken(text: &str) -> ProcessSpec {
    ProcessSpec { wake_after_ms: Some(1), ..line(text) }
}

fn wait(world: &mut World, wake_after_ms: Option<u64>) -> Result<Outcome, Failure> {
    world.perform(Request::Wait { wake_after_ms, wake_on_input: false, activity: None })
}

fn start(world: &mut World, spec: ProcessSpec) {
    let started = world.perform(Request::Process(spec));
    assert_eq!(started, Ok(Outcome::Running));
}

#[test]
fn nothing_is_lost_however_often_the_caller_is_woken() {
    let mut world = World::new();
    let text = "cat; for n in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.02; done; echo end";
    let stdin = vec![b'x'; 300_000];
    start(
        &mut world,
        ProcessSpec {
            stdin: Some(stdin.into()),
            stream_to: Some("all.log".to_owned()),
            ..woken(text)
        },
    );
    let mut wakes = 0;
    let end = loop {
        match wait(&mut world, Some(1)).unwrap() {
            Outcome::Running => wakes += 1,
            Outcome::Process(end) => break end,
            other => panic!("{other:?}"),
        }
    };
    assert!(wakes > 3, "woken {wakes} times");
    assert_eq!(end.status, ProcessStatus::Exited(0));
    assert_eq!(end.stdout.total_bytes, 800_004);
    assert_eq!(end.stdout.tail.last_chunk(), Some(b"end\n"));
    let logged = std::fs::metadata(world.path("all.log")).unwrap().len();
    assert_eq!(logged, 800_004);
    assert!(end.duration_ms >= 100, "{} ms", end.duration_ms);
}

#[test]
fn an_interrupt_waits_for_the_next_turn() {
    let mut world = World::new();
    start(&mut world, woken("exec sleep 1000"));
    world.interrupts.raise();
    let written = world.perform(Request::Write {
        path: "saved".to_owned(),
        bytes: Vec::new().into(),
        expect: onloop_core::effect::Expect::Absent,
        durability: onloop_core::effect::Durability::Relaxed,
        private: false,
    });
    assert!(written.is_ok(), "{written:?}");
    match wait(&mut world, Some(60_000)) {
        Ok(Outcome::Process(end)) => assert_eq!(end.status, ProcessStatus::Interrupted),
        other => panic!("{other:?}"),
    }
    let failure = wait(&mut world, None).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
}

#[test]
fn what_is_left_running_ends_with_its_host() {
    let mut world = World::new();
    let stubborn = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done";
    start(&mut world, woken(stubborn));
    let path = world.path("pid");
    let pid = loop {
        match std::fs::read_to_string(&path) {
            Ok(pid) if pid.ends_with('\n') => break pid,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let World { host, folder, .. } = world;
    drop(host);
    assert_dies(pid.trim());
    drop(folder);
}
