//! Measures the cost of a fleet: a step compared to the same step on one machine, a thousand short
//! runs, and a hundred waiting runs. It needs the server's program and prints figures, for a quiet
//! machine and a release build:
//!
//! cargo test --release -p onloop-fleet --test measure -- --nocapture --test-threads 1
#![cfg(unix)]

#[path = "chaos/processes.rs"]
#[allow(dead_code, reason = "nothing is broken here")]
mod processes;
#[path = "chaos/world.rs"]
#[allow(dead_code, reason = "nothing is broken here")]
mod world;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use onloop_core::time::Timestamp;
use onloop_fleet::engine::{QueueState, ReadJournal, ReadOverview, Submission};
use processes::Kind;
use serde_json::Value;
use world::{WORKFLOW, World};

const LEASE: &str = "30s";
/// The agent and the check of each step do nothing, so that only the overhead counts.
const AGENT: &str = "exit 0";
const CHECK: &str = "true";
/// Pause between two readings of all runs: a thousand runs are half a megabyte.
const LOOK: Duration = Duration::from_millis(500);
/// Steps of the run whose steps are measured.
const STEPS: u32 = 20;
/// Repetitions of the run on the fleet and on this machine, in turns.
const TIMES: u32 = 5;

fn number(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn agent() -> String {
    std::env::var("ONLOOP_MEASURE_AGENT").unwrap_or_else(|_| AGENT.to_owned())
}

fn check() -> String {
    std::env::var("ONLOOP_MEASURE_CHECK").unwrap_or_else(|_| CHECK.to_owned())
}

fn workflow(steps: u32, gate: bool) -> String {
    let mut text =
        "---\nintent: Sell\nsuccess_criteria: sold\nrisk_level: low\n---\n\n## Steps\n".to_owned();
    let check = check();
    for step in 1..=steps {
        let gate = if gate { "gate: human\n" } else { "" };
        text += &format!(
            "\n- [ ] **Step {step}: Look**\naction: Look\nloop: false\nverify: {check}\n{gate}"
        );
    }
    text
}

#[test]
fn a_step_beyond_the_same_step_on_one_machine() {
    let mut world = World::new(LEASE, &workflow(STEPS, false), &agent());
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for time in 0..number("ONLOOP_MEASURE_TIMES", TIMES) {
        here.push(Steps::of(&world.run_alone(&format!("alone-{time}"))));
        let (id, words) = world.next_run();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(world.types("ada", &words).wait().expect("it ends").success());
        wait_until_over(&world, 1, |run| run == id);
        let lines = world.ask(|client| client.call(&ReadJournal::now(&id))).lines;
        there.push(Steps::of(lines.as_bytes()));
    }
    let best = |all: &[Steps]| all.iter().map(|one| one.each_ms).fold(f64::INFINITY, f64::min);
    let (alone, fleet) = (best(&here), best(&there));
    println!(
        "a step: {alone:.1} ms on one machine, {fleet:.1} ms on the fleet; {:.1} ms more (goal: at most 20)",
        fleet - alone
    );
    let (alone, fleet) = (Steps::until(&here), Steps::until(&there));
    for (event, there) in &fleet {
        let here = alone.get(event).copied().unwrap_or_default();
        println!("  until {event}: {here:.1} ms on one machine, {there:.1} ms on the fleet");
    }
    world.end();
}

/// Durations in the steps of a run, from its ledger.
struct Steps {
    each_ms: f64,
    /// Time from the previous event to each event, averaged over the steps.
    until: BTreeMap<String, f64>,
}

impl Steps {
    fn of(ledger: &[u8]) -> Steps {
        let lines = ledger.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Vec<Value> =
            lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect();
        let at = |line: &Value| {
            let at = line["at"].as_str().and_then(Timestamp::parse).expect("a time");
            at.as_millis() as f64
        };
        let is_step = |line: &&Value| line["event"] == "step_started";
        let starts: Vec<f64> = lines.iter().filter(is_step).map(at).collect();
        let (first, last) = (starts[0], starts[starts.len() - 1]);
        let mut until: BTreeMap<String, f64> = BTreeMap::new();
        for pair in lines.windows(2).filter(|pair| at(&pair[1]) > first && at(&pair[1]) <= last) {
            let kind = pair[1]["kind"].as_str().unwrap_or_default();
            let name = format!("{} {kind}", pair[1]["event"].as_str().unwrap_or_default());
            *until.entry(name.trim().to_owned()).or_default() += at(&pair[1]) - at(&pair[0]);
        }
        let steps = (starts.len() - 1) as f64;
        until.values_mut().for_each(|sum| *sum /= steps);
        Steps { each_ms: (last - first) / steps, until }
    }

    /// Returns the shortest time of each event.
    fn until(all: &[Steps]) -> BTreeMap<String, f64> {
        let mut shortest: BTreeMap<String, f64> = BTreeMap::new();
        for (event, ms) in all.iter().flat_map(|one| &one.until) {
            let known = shortest.entry(event.clone()).or_insert(*ms);
            *known = ms.min(*known);
        }
        shortest
    }
}

#[test]
fn many_short_runs_take_as_long_as_they_are_many() {
    let world = World::new(LEASE, &workflow(1, false), &agent());
    let all = number("ONLOOP_MEASURE_RUNS", 1000);
    let mut before = 0;
    for part in [all / 10, all] {
        let began = Instant::now();
        for run in before..part {
            submit(&world, &format!("short-{run}"));
        }
        let submitted = began.elapsed();
        wait_until_over(&world, (part - before) as usize, |run| {
            run.strip_prefix("short-")
                .is_some_and(|at| at.parse().is_ok_and(|at: u32| at >= before))
        });
        let took = began.elapsed().as_secs_f64();
        let count = f64::from(part - before);
        println!(
            "{count} runs of a step on two workers: {took:.1} s, {:.2} a second; submitted in {:.1} s",
            count / took,
            submitted.as_secs_f64()
        );
        before = part;
    }
    world.wait_for_quiet(|kind| matches!(kind, Kind::Up | Kind::Engine | Kind::Worker));
    world.end();
}

#[test]
fn runs_that_wait_have_no_process() {
    let world = World::new(LEASE, &workflow(1, true), &agent());
    let count = number("ONLOOP_MEASURE_GATES", 100);
    for run in 0..count {
        submit(&world, &format!("gate-{run}"));
    }
    wait(&world, count as usize, |_| true, |rest| matches!(rest, QueueState::NeedsPerson { .. }));
    world.wait_for_quiet(|kind| matches!(kind, Kind::Up | Kind::Engine | Kind::Worker));
    let left = world.processes();
    println!("{count} runs wait at gates; processes: {}", left.len());
    for process in &left {
        println!("  {:?}: {}", process.kind, memory(process.pid.as_raw_nonzero().get()));
    }
    assert_eq!(left.len(), 4, "{left:#?}");
    world.end();
}

fn memory(pid: i32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}

fn submit(world: &World, id: &str) {
    let submission = Submission {
        run_id: id.to_owned(),
        repository: world.path("shop.git").to_string_lossy().into_owned(),
        base: None,
        branch: None,
        workflow: WORKFLOW.to_owned(),
        text: std::fs::read_to_string(world.path("shop").join(WORKFLOW)).expect("the workflow"),
        options: ["--confine", "off", "--agent-command", &agent()].map(str::to_owned).to_vec(),
        agents: vec!["command".to_owned()],
        user: Some("ada".to_owned()),
        host: "desk".to_owned(),
        at_ms: 0,
    };
    world.ask(|client| client.call(&submission));
}

fn wait_until_over(world: &World, count: usize, which: impl Fn(&str) -> bool) {
    wait(
        world,
        count,
        which,
        |rest| matches!(rest, QueueState::Finished { status: how } if how == "completed"),
    );
}

fn wait(
    world: &World,
    count: usize,
    which: impl Fn(&str) -> bool,
    wanted: impl Fn(&QueueState) -> bool,
) {
    let mut last = (0, Instant::now());
    loop {
        let overview = world.ask(|client| client.call(&ReadOverview {}));
        let runs = overview.runs.iter().filter(|run| which(&run.run_id));
        let there = runs.filter(|run| run.holder.is_none() && wanted(&run.state)).count();
        if there == count {
            return;
        }
        if there > last.0 {
            last = (there, Instant::now());
        }
        assert!(last.1.elapsed() < world::LONG, "{there} of {count}\n{}", world.logs(&[]));
        std::thread::sleep(LOOK);
    }
}
