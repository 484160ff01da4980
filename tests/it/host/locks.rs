//! Lock files between threads, processes and the dead.

use std::process::{Command, Stdio};
use std::sync::Barrier;

use onloop_core::effect::{Failure, FailureKind, Outcome, ProcessRole, Request};

use super::World;
use crate::temporary::temporary_folder;

fn request(path: &str, wait_ms: u64, role: Option<ProcessRole>) -> Request {
    Request::Lock { path: path.to_owned(), wait_ms, private: false, role, run: None }
}

fn lock(world: &mut World, wait_ms: u64) -> Result<Outcome, Failure> {
    world.perform(request("a/run.lock", wait_ms, None))
}

fn unlock(world: &mut World) -> Result<Outcome, Failure> {
    world.perform(Request::Unlock { path: "a/run.lock".to_owned() })
}

fn place(world: &World, text: &str) {
    std::fs::create_dir_all(world.path("a")).unwrap();
    std::fs::write(world.path("a/run.lock"), text).unwrap();
}

fn holder(pid: u32, host: &str, started: &str) -> String {
    format!("{{\"pid\":{pid},\"host\":\"{host}\",\"started\":\"{started}\",\"at\":\"then\"}}\n")
}

#[test]
fn a_lock_has_one_holder_and_leaves_nothing_behind() {
    let mut world = World::new();
    lock(&mut world, 0).unwrap();
    assert_eq!(lock(&mut world, 0).unwrap_err().kind, FailureKind::Busy);
    let text = std::fs::read_to_string(world.path("a/run.lock")).unwrap();
    assert!(text.starts_with("{\"pid\":1,\"host\":\"example\""), "{text}");
    unlock(&mut world).unwrap();
    assert_eq!(std::fs::read_dir(world.path("a")).unwrap().count(), 0);
    assert_eq!(unlock(&mut world).unwrap_err().kind, FailureKind::Conflict);
}

#[test]
fn the_end_of_a_program_releases_its_locks() {
    let mut world = World::new();
    lock(&mut world, 0).unwrap();
    let path = world.path("a/run.lock");
    drop(world.host);
    assert!(!path.exists());
}

#[test]
fn only_the_provably_dead_lose_their_locks() {
    let dead = dead_pid();
    let alive = std::process::id();
    // `World` calls itself pid 1 on `example`.
    let table = [
        (holder(dead, "example", "5"), None),
        (holder(dead, "example", ""), None),
        (holder(dead, "elsewhere", "5"), Some("on `elsewhere`; if that process has ended")),
        (holder(alive, "example", ""), Some("wait for it or end it")),
        (String::new(), Some("does not name its holder")),
        ("{\"pid\":".to_owned(), Some("does not name its holder")),
        ("x".repeat(100_000), Some("does not name its holder")),
    ];
    for (text, refusal) in table {
        let mut world = World::new();
        place(&world, &text);
        let outcome = lock(&mut world, 5);
        match refusal {
            None => {
                outcome.unwrap();
                unlock(&mut world).unwrap();
                assert_eq!(std::fs::read_dir(world.path("a")).unwrap().count(), 0);
            }
            Some(words) => {
                let failure = outcome.unwrap_err();
                assert_eq!(failure.kind, FailureKind::Busy, "{failure}");
                assert!(failure.message.contains(words), "{failure}");
                assert_eq!(std::fs::read_to_string(world.path("a/run.lock")).unwrap(), text);
            }
        }
    }
}

#[test]
fn a_holder_that_only_looks_gone_keeps_its_lock() {
    // As it is seen from another pid namespace: no such pid here, but the file is in use.
    let mut world = World::new();
    place(&world, &holder(dead_pid(), "example", "5"));
    let in_use = std::fs::File::open(world.path("a/run.lock")).unwrap();
    in_use.lock().unwrap();
    assert_eq!(lock(&mut world, 5).unwrap_err().kind, FailureKind::Busy);
    drop(in_use);
    // A program that another test is just starting may hold a copy of the file until it runs.
    lock(&mut world, 10_000).unwrap();
}

#[test]
fn the_last_moment_of_a_dead_holder_is_waited_for() {
    // As a child that it was starting when it was killed holds it, or somebody who looks.
    let mut world = World::new();
    place(&world, &holder(dead_pid(), "example", "5"));
    let in_use = std::fs::File::open(world.path("a/run.lock")).unwrap();
    in_use.lock_shared().unwrap();
    let ends = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(in_use);
    });
    lock(&mut world, 0).unwrap();
    ends.join().unwrap();
}

#[test]
fn who_holds_a_lock_can_be_asked_without_taking_it() {
    let mut world = World::new();
    let held = |world: &mut World| {
        let path = "a/run.lock".to_owned();
        match world.perform(Request::Holder { path })? {
            Outcome::Holder { holder } => {
                Ok(holder.map(|holder| (holder.process.pid, holder.live)))
            }
            other => panic!("the holder is {other:?}"),
        }
    };
    assert_eq!(held(&mut world), Ok(None));
    lock(&mut world, 0).unwrap();
    assert_eq!(held(&mut world), Ok(Some((1, true))));
    unlock(&mut world).unwrap();
    let (dead, alive) = (dead_pid(), std::process::id());
    let table = [
        (holder(dead, "example", "5"), Ok(Some((dead, false)))),
        (holder(alive, "example", ""), Ok(Some((alive, true)))),
        (holder(alive, "elsewhere", ""), Ok(Some((alive, false)))),
        (String::new(), Err(FailureKind::Busy)),
    ];
    for (text, expected) in table {
        place(&world, &text);
        assert_eq!(held(&mut world).map_err(|failure: Failure| failure.kind), expected, "{text}");
        assert_eq!(std::fs::read_to_string(world.path("a/run.lock")).unwrap(), text);
    }
    // Out of sight, and in use.
    place(&world, &holder(dead, "example", "5"));
    let in_use = std::fs::File::open(world.path("a/run.lock")).unwrap();
    in_use.lock().unwrap();
    assert_eq!(held(&mut world), Ok(Some((dead, true))));
}

#[test]
fn what_is_no_file_is_neither_broken_nor_waited_for() {
    let mut world = World::new();
    std::fs::create_dir_all(world.path("a/run.lock")).unwrap();
    assert_eq!(lock(&mut world, 60_000).unwrap_err().kind, FailureKind::Invalid);
    let mut world = World::new();
    std::fs::create_dir_all(world.path("a")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("a/run.lock")).unwrap();
    assert_eq!(lock(&mut world, 60_000).unwrap_err().kind, FailureKind::Invalid);
}

#[test]
fn a_lock_that_was_taken_away_is_not_taken_back() {
    let mut world = World::new();
    lock(&mut world, 0).unwrap();
    std::fs::remove_file(world.path("a/run.lock")).unwrap();
    let other = holder(dead_pid(), "elsewhere", "5");
    place(&world, &other);
    assert_eq!(unlock(&mut world).unwrap_err().kind, FailureKind::Conflict);
    assert_eq!(std::fs::read_to_string(world.path("a/run.lock")).unwrap(), other);
}

#[test]
fn a_waiter_is_interrupted() {
    let mut world = World::new();
    place(&world, &holder(std::process::id(), "example", ""));
    world.interrupts.raise();
    assert_eq!(lock(&mut world, 60_000).unwrap_err().kind, FailureKind::Interrupted);
}

#[test]
fn of_many_who_find_a_dead_lock_one_wins_each_time() {
    for _ in 0..50 {
        let folder = temporary_folder();
        let path = folder.path().join("run.lock");
        std::fs::write(&path, holder(dead_pid(), "example", "5")).unwrap();
        let everybody_tried = Barrier::new(8);
        let winners = std::thread::scope(|scope| {
            let attempt = || {
                let mut world = World::new();
                let path = path.to_str().unwrap().to_owned();
                let won = world.perform(request(&path, 0, None)).is_ok();
                everybody_tried.wait();
                won
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(attempt)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(winners, 1);
    }
}

#[test]
#[cfg(unix)]
fn eight_processes_never_hold_it_together() {
    let folder = temporary_folder();
    let children: Vec<_> = (0..8)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_host-probe"))
                .args(["count", "run.lock", "counter", "50"])
                .current_dir(folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?}", output);
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("counter")).unwrap(), "400");
    assert!(!folder.path().join("run.lock").exists());
}

#[test]
#[cfg(unix)]
fn a_killed_holder_is_succeeded() {
    use super::signals::{first_line, probe};

    let folder = temporary_folder();
    let mut first = probe(folder.path(), &["hold", "run.lock"]);
    assert_eq!(first_line(&mut first), "held\n");
    let refused = probe(folder.path(), &["hold", "run.lock"]).wait().unwrap();
    assert_eq!(refused.code(), Some(4));
    first.kill().unwrap();
    // The dead one is a zombie until we ask how it ended; that must not keep its lock alive.
    let mut next = probe(folder.path(), &["count", "run.lock", "counter", "1"]);
    assert!(next.wait().unwrap().success());
    first.wait().unwrap();
}

/// A pid that was just in use and is no more.
fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}
