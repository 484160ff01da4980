//! Runs the tests of all storages on Restate, also with kills of its server. They need the server's
//! program, so a separate stage runs them.
#![cfg(unix)]

#[path = "engine/archive.rs"]
mod archive;
#[path = "engine/program.rs"]
mod program;
#[path = "engine/samples.rs"]
mod samples;
#[path = "engine/scenarios.rs"]
mod scenarios;

use std::path::Path;
use std::time::Duration;

use onloop_fleet::engine::restate::{self, Options, Restate, Server, start};
use onloop_fleet::engine::{Engine, EngineError, QueueState, ReadJournal, ReadOverview, Settings};
use onloop_fleet::supervisor::ProcessEvent;

async fn engine(folder: &Path) -> (Engine<Restate>, Server) {
    engine_with(folder, scenarios::settings()).await
}

async fn engine_with(folder: &Path, settings: Settings) -> (Engine<Restate>, Server) {
    let program = program::program();
    let options = Options {
        program,
        guard: env!("CARGO_BIN_EXE_onloop-fleet").into(),
        folder: folder.to_owned(),
        settings,
    };
    start(options).await.unwrap_or_else(|error: restate::StartError| panic!("{error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn restate_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let (engine, server) = engine(folder.path()).await;
    scenarios::all(&engine).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_restate_has_answered_is_there_after_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let (keeper, mut server) = engine(folder.path()).await;
    let run = samples::submission("killed", "claude");
    keeper.call(&run).await.expect("a new run");
    let offer = samples::offer("worker", &["*"]);
    let lease = keeper
        .call(&samples::taking(&offer, Duration::ZERO))
        .await
        .expect("taken")
        .expect("a run")
        .lease;
    let (first, one) = samples::lines(None, 1);
    let append = samples::append("killed", Some(lease.epoch), None, &one);
    keeper.call(&append).await.expect("added");

    // The server is killed and restarts.
    kill(server.pid().expect("a server"));
    assert!(matches!(server.event().await, ProcessEvent::Ended(_)));
    let (second, two) = samples::lines(Some(&first), 1);
    let append = samples::append("killed", None, Some(&first), &two);
    let away = keeper.call(&append).await;
    assert!(matches!(away, Err(EngineError::Unreachable { .. })), "{away:?}");
    assert_eq!(server.event().await, ProcessEvent::Restarted);
    assert_eq!(keeper.call(&append).await, Ok(second.clone()));

    // The whole server restarts: a lease ends and its run is taken again, and a finished run stays
    // finished.
    let over = samples::submission("over", "claude");
    keeper.call(&over).await.expect("a new run");
    let other = keeper
        .call(&samples::taking(&offer, Duration::from_secs(5)))
        .await
        .expect("taken")
        .expect("a run");
    let how = QueueState::Finished { status: "completed".to_owned() };
    keeper
        .call(&samples::release(&other.lease.run_id, other.lease.epoch, how))
        .await
        .expect("over");
    kill(server.pid().expect("a server"));
    drop((keeper, server));
    let (keeper, server) = engine(folder.path()).await;
    let overview = keeper.call(&ReadOverview {}).await.expect("an overview");
    let rests: Vec<_> = overview.runs.iter().map(|run| (run.run_id.as_str(), &run.state)).collect();
    let over = QueueState::Finished { status: "completed".to_owned() };
    let expected = if other.lease.run_id == "over" {
        [("over", &over), ("killed", &QueueState::Ready)]
    } else {
        [("over", &QueueState::Ready), ("killed", &over)]
    };
    assert_eq!(rests, expected);
    let again = keeper
        .call(&samples::taking(&offer, Duration::from_secs(20)))
        .await
        .expect("taken")
        .expect("a run");
    assert_ne!(again.lease.run_id, other.lease.run_id);
    assert_eq!(keeper.call(&ReadJournal::now("killed")).await.expect("lines").lines, one + &two);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restate_archives_what_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("archive");
    let (engine, server) = engine_with(folder.path(), archive::settings(&files)).await;
    archive::all(&engine, &files).await;
    server.stop().await;
}

/// Kills while runs are archived and restored: each run is in one place, unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn what_moves_to_the_archive_is_not_lost_by_kills() {
    const RUNS: usize = 24;
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("archive");
    let (keeper, server) = engine(folder.path()).await;
    let names: Vec<String> = (0..RUNS).map(|run| format!("run-{run}")).collect();
    let count = |run: usize| if run % 3 == 0 { 150 } else { run + 1 };
    for (run, name) in names.iter().enumerate() {
        let over = QueueState::Finished { status: "completed".to_owned() };
        archive::run(&keeper, name, &[1, count(run) - 1][..count(run).min(2)], over).await;
    }
    drop(keeper);
    server.stop().await;
    let mut moved = 0;
    let mut rounds = 0;
    while moved < RUNS {
        let (keeper, server) = engine_with(folder.path(), archive::settings(&files)).await;
        rounds += 1;
        tokio::time::sleep(Duration::from_millis(40 + 13 * (rounds % 7))).await;
        // Some kills hit only the engine's process, others the whole server.
        kill(server.pid().expect("a server"));
        for (run, name) in names.iter().enumerate() {
            let read = loop {
                match keeper.call(&ReadJournal::now(name)).await {
                    Err(EngineError::Unreachable { .. }) => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    read => break read.unwrap_or_else(|error| panic!("{name}: {error}")),
                }
            };
            assert_eq!(read.lines, samples::lines(None, count(run)).1, "{name}");
        }
        moved = RUNS - keeper.call(&ReadOverview {}).await.expect("an overview").runs.len();
        server.pid().into_iter().for_each(kill);
        drop((keeper, server));
        assert!(rounds < 200, "{moved} of {RUNS} have moved");
    }
    assert!(rounds > 1, "nothing was killed while they moved");
    let (keeper, server) = engine(folder.path()).await;
    assert_eq!(
        keeper.call(&ReadOverview {}).await.expect("an overview").runs,
        [],
        "the engine keeps nothing"
    );
    server.stop().await;
}

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is killed");
}
