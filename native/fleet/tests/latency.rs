//! Measures the calls of one step, from a client through the API server to Restate and back. It needs
//! the server's program, and prints figures.
#![cfg(unix)]

#[path = "engine/program.rs"]
mod program;
#[allow(dead_code, reason = "other programs need more")]
#[path = "engine/samples.rs"]
mod samples;

use std::time::{Duration, Instant};

use onloop_fleet::client::Client;
use onloop_fleet::engine::restate::{Options, start};
use onloop_fleet::engine::{Offer, QueueState, Settings};
use onloop_fleet::key::Key;
use onloop_fleet::server::Server;
use tokio::sync::watch;

/// Repetitions of each measurement.
const ROUNDS: usize = 200;
/// Appends of a step.
const APPENDS: usize = 5;
/// The delay of Nagle's algorithm, which must not occur. Otherwise the time depends on the disk and on
/// other processes.
const HELD_BACK: Duration = Duration::from_millis(40);

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_recorded_in_milliseconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = program::program();
    let guard = env!("CARGO_BIN_EXE_onloop-fleet").into();
    let folder = folder.path().to_owned();
    let options = Options { program, guard, folder, settings: Settings::default() };
    let (engine, server) = start(options).await.unwrap_or_else(|error| panic!("{error}"));
    let pid = server.pid().expect("a server");
    let key = Key::new();
    let address = "127.0.0.1:0".parse().expect("an address");
    let api = Server::listen(address, engine, key.clone()).await.expect("it listens");
    let url = format!("http://{}", api.address().expect("an address"));
    let (end, ended) = watch::channel(false);
    let serving = tokio::spawn(api.serve(ended));

    let before = (cpu_ms(pid), cpu_ms(std::process::id()));
    let measured = tokio::task::spawn_blocking(move || measure(&Client::new(&url, key, None)));
    let appends = measured.await.expect("measured");
    let operations = ROUNDS * (APPENDS + 3);
    let each = |ms: u64| ms as f64 / operations as f64;
    println!(
        "work of an operation: {:.1} ms in the server, {:.1} ms here",
        each(cpu_ms(pid) - before.0),
        each(cpu_ms(std::process::id()) - before.1)
    );
    println!("memory of the server: {}", memory(pid));
    end.send_replace(true);
    serving.await.expect("it ends");
    server.stop().await;
    assert!(appends < HELD_BACK, "{appends:?}");
}

fn measure(client: &Client) -> Duration {
    let offer = samples::offer("worker", &["*"]);
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut timed = |which: usize, begun: Instant| times[which].push(begun.elapsed());
    for round in 0..ROUNDS {
        let run_id = format!("run-{round}");
        let begun = Instant::now();
        client.call(&samples::submission(&run_id, "claude")).expect("a new run");
        timed(0, begun);
        let begun = Instant::now();
        let lease = take(client, &offer);
        timed(1, begun);
        let mut head = None;
        for _ in 0..APPENDS {
            let (next, line) = samples::lines(head.as_ref(), 1);
            let append = samples::append(&run_id, Some(lease), head.as_ref(), &line);
            let begun = Instant::now();
            head = Some(client.call(&append).expect("added"));
            timed(2, begun);
            assert_eq!(head, Some(next));
        }
        let over = QueueState::Finished { status: "completed".to_owned() };
        let begun = Instant::now();
        client.call(&samples::release(&run_id, lease, over)).expect("released");
        timed(3, begun);
    }
    for (name, times) in ["submit", "take", "append", "release"].iter().zip(&mut times) {
        times.sort_unstable();
        let at = |part: usize| times[(times.len() - 1) * part / 100];
        println!("{name}: median {:?}, 90 % {:?}, most {:?}", at(50), at(90), at(100));
    }
    times[2][times[2].len() / 2]
}

fn take(client: &Client, offer: &Offer) -> u64 {
    client
        .call(&samples::taking(offer, Duration::from_secs(5)))
        .expect("taken")
        .expect("a run")
        .lease
        .epoch
}

/// Returns the CPU time of a process.
fn cpu_ms(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
    (ticks(12) + ticks(13)) * 1000 / rustix::param::clock_ticks_per_second()
}

fn memory(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
