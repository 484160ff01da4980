//! `onloop fleet up` while its processes are killed. The tests need the server's program, so a separate
//! stage runs them.
#![cfg(unix)]

#[path = "engine/program.rs"]
mod program;
#[allow(dead_code, reason = "other programs need more")]
#[path = "engine/samples.rs"]
mod samples;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use onloop_fleet::client::Client;
use onloop_fleet::engine::{Claim, EngineError, QueueState, ReadJournal};
use onloop_fleet::key::Key;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Longer than everything that is waited for.
const LONG: Duration = Duration::from_secs(60);

/// A fleet on this machine.
struct Up {
    child: Child,
    client: Client,
    engine: Pid,
}

impl Up {
    fn start(home: &Path) -> Up {
        let program = program::program();
        let fleet = home.join("fleet");
        let server = fleet.join("server.json");
        let _ = std::fs::remove_file(&server);
        let child = Command::new(env!("CARGO_BIN_EXE_onloop-fleet"))
            .args(["up", "--no-worker", "--listen", "127.0.0.1:0", "--lease", "2s"])
            .arg("--server-program")
            .arg(program)
            .env("ONLOOP_STATE_HOME", home)
            .env_remove("ONLOOP_FLEET_SERVER")
            .env_remove("ONLOOP_FLEET_KEY_FILE")
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        until("it is up", || server.exists());
        let document = std::fs::read_to_string(&server).expect("it says where it is");
        let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        let key = Key::read(&fleet.join("fleet.key")).expect("a key");
        let client = Client::new(document["url"].as_str().expect("an address"), key, None);
        Up { child, client, engine: engine(home).expect("an engine") }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process")).expect("a process")
    }

    fn persistently<T>(&self, mut ask: impl FnMut(&Client) -> Result<T, EngineError>) -> T {
        self.client.retry_within(LONG, || ask(&self.client)).expect("it is reached in the end")
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_was_answered_is_there_after_every_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let up = Up::start(home);
    let offer = samples::offer("worker", &["*"]);
    let waiting = samples::submission("waiting", "claude");
    up.client.call(&waiting).expect("a new run");
    let lease = up
        .client
        .call(&samples::taking(&offer, Duration::ZERO))
        .expect("taken")
        .expect("a run")
        .lease;
    let (first, one) = samples::lines(None, 1);
    up.client.call(&samples::append("waiting", Some(lease.epoch), None, &one)).expect("added");

    // The engine is killed during a request for a run and an append.
    kill_process(up.engine, Signal::KILL).expect("killed");
    let (second, two) = samples::lines(Some(&first), 1);
    let append = samples::append("waiting", Some(lease.epoch), Some(&first), &two);
    assert_eq!(up.persistently(|client| client.call(&append)), second);
    let rest = QueueState::NeedsPerson { reason: "a person".to_owned() };
    let release = samples::release("waiting", lease.epoch, rest.clone());
    up.persistently(|client| client.call(&release));
    until("another engine", || engine(home).is_some_and(|pid| pid != up.engine));
    let second_engine = engine(home).expect("an engine");

    // The server is killed, and its engine must end too.
    let working = samples::submission("working", "claude");
    up.persistently(|client| client.call(&working));
    let working = up
        .persistently(|client| client.call(&samples::taking(&offer, Duration::ZERO)))
        .expect("a run")
        .lease;
    kill_process(up.pid(), Signal::KILL).expect("killed");
    drop(up);
    until("the engine is gone", || test_kill_process(second_engine).is_err());

    let mut up = Up::start(home);
    let view = up.client.call(&ReadJournal::now("waiting")).expect("lines");
    assert_eq!((view.lines, view.view.state, view.view.holder), (one + &two, rest, None));
    // The lease of the other run is not renewed, so the run is taken again.
    let begun = Instant::now();
    let again = up.client.call(&samples::taking(&offer, LONG)).expect("taken").expect("a run");
    assert_eq!((again.lease.run_id.as_str(), again.lease.epoch), ("working", working.epoch + 1));
    assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
    let (_, late) = samples::lines(None, 1);
    let late = samples::append("working", Some(working.epoch), None, &late);
    let fenced = up.client.call(&late);
    assert!(matches!(fenced, Err(EngineError::Fenced { .. })), "{fenced:?}");

    kill_process(up.pid(), Signal::TERM).expect("told");
    assert!(up.child.wait().expect("it ends").success());
    assert!(test_kill_process(up.engine).is_err(), "its engine has ended");
}

#[test]
fn each_line_is_added_once_while_the_engine_is_killed_again_and_again() {
    const WRITERS: usize = 4;
    const LINES: usize = 40;
    const KILLS: usize = 4;
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let up = Up::start(home);
    let is_over = AtomicBool::new(false);
    let kills = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let up = &up;
                scope.spawn(move || {
                    let run_id = format!("run-{writer}");
                    let run = samples::submission(&run_id, "claude");
                    up.persistently(|client| client.call(&run));
                    let holder = format!("writer-{writer}");
                    let claim = Claim { run_id: run_id.clone(), holder, recall: false };
                    let mut head = None;
                    for _ in 0..LINES {
                        let (next, line) = samples::lines(head.as_ref(), 1);
                        // A lease that ends while the engine is down is requested again.
                        head = Some(loop {
                            let lease = up.persistently(|client| client.call(&claim));
                            let append =
                                samples::append(&run_id, Some(lease.epoch), head.as_ref(), &line);
                            let added = up.client.call_within(LONG, &append);
                            match added {
                                Ok(head) => break head,
                                Err(EngineError::Fenced { .. }) => {}
                                Err(error) => panic!("{error}"),
                            }
                        });
                        assert_eq!(head, Some(next));
                    }
                })
            })
            .collect();
        let is_over = &is_over;
        let killer = scope.spawn(move || {
            let mut kills = 0;
            let mut last = None;
            while kills < KILLS && !is_over.load(Ordering::Relaxed) {
                let found = engine(home).filter(|pid| last != Some(*pid));
                match found.filter(|pid| kill_process(*pid, Signal::KILL).is_ok()) {
                    Some(pid) => {
                        last = Some(pid);
                        kills += 1;
                        std::thread::sleep(Duration::from_millis(700));
                    }
                    None => std::thread::sleep(Duration::from_millis(20)),
                }
            }
            kills
        });
        for writer in writers {
            writer.join().expect("it wrote all of its lines");
        }
        is_over.store(true, Ordering::Relaxed);
        killer.join().expect("it killed")
    });
    assert!(kills > 0, "nobody was killed");
    let (_, expected) = samples::lines(None, LINES);
    for writer in 0..WRITERS {
        let run_id = format!("run-{writer}");
        let read = up.persistently(|client| client.call(&ReadJournal::now(&run_id)));
        assert_eq!(read.lines, expected, "{run_id} after {kills} kills");
    }
}

/// Returns the process of the engine.
fn engine(home: &Path) -> Option<Pid> {
    let pid = std::fs::read_to_string(home.join("fleet/data/engine.pid")).ok()?;
    Pid::from_raw(pid.trim().parse().ok()?)
}

fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
