//! A fault-injection test: a real server, two workers and a repository, while processes are killed and
//! frozen, the remote is unreachable and people contradict each other. Every run must end as it ends on
//! one machine, and nothing may happen twice. The test needs the server's program, so a separate stage
//! runs it.
//!
//! A *round* is one fault at a random moment. After some rounds all faults are repaired, every run
//! finishes, and the test checks each of them. `ONLOOP_CHAOS_ROUNDS` is the number of rounds, and
//! `ONLOOP_SEED` is the seed of the faults and their times.
#![cfg(unix)]

#[path = "chaos/harm.rs"]
mod harm;
#[path = "chaos/judge.rs"]
mod judge;
#[path = "chaos/people.rs"]
mod people;
#[path = "chaos/processes.rs"]
mod processes;
#[path = "chaos/random.rs"]
mod random;
#[path = "chaos/season.rs"]
mod season;
#[path = "chaos/world.rs"]
#[allow(dead_code, reason = "what is measured needs more")]
mod world;

use std::time::Instant;

use onloop_fleet::engine::restate::LOST_LINES;

use random::Random;
use season::Season;
use world::World;

/// How long a lease holds: short, so that another worker continues soon.
const LEASE: &str = "2s";
/// Every step allows more attempts than there are interruptions. Step 2 is a loop that fails once.
const WORKFLOW: &str = "---
intent: Sell
success_criteria: sold
risk_level: low
---

## Steps

- [ ] **Step 1: Open**
action: Open the shop
loop: until it is open
max_iterations: 40
verify: test -f open.txt
gate: human

- [ ] **Step 2: Count**
action: Count twice
loop: until it is counted
max_iterations: 40
verify: test $(wc -l < till.txt) -ge 2
";
/// The agent reports if another agent of its run is alive. Its work names the attempt, and some
/// attempts take long.
const AGENT: &str = r#"log=$1
exec 9> "$log/$ONLOOP_RUN_ID.lock"
flock -n 9 || echo "TWICE $$ $ONLOOP_STEP.$ONLOOP_ATTEMPT" >> "$log/$ONLOOP_RUN_ID"
echo "begin $$ $ONLOOP_STEP.$ONLOOP_ATTEMPT" >> "$log/$ONLOOP_RUN_ID"
case $(($$ % 8)) in
  0) sleep 1.5;;
  *) sleep 0.$(($$ % 3 + 1));;
esac
case $ONLOOP_STEP in
  1) echo open > open.txt;;
  2) echo $ONLOOP_ATTEMPT >> till.txt;;
esac
echo "end $$ $ONLOOP_STEP.$ONLOOP_ATTEMPT" >> "$log/$ONLOOP_RUN_ID"
"#;
/// Rounds of `./test`, and of `./test --all`.
const ROUNDS: u64 = 10;
const ROUNDS_LONG: u64 = 100;
/// Rounds before all faults are repaired.
const ROUNDS_IN_SEASON: u64 = 10;

#[test]
fn every_run_ends_as_it_ends_on_one_machine() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number of rounds or a seed"))
    };
    let is_long = std::env::var_os("ONLOOP_TEST_ALL").is_some();
    let otherwise = if is_long { ROUNDS_LONG } else { ROUNDS };
    let rounds = number("ONLOOP_CHAOS_ROUNDS").unwrap_or(otherwise);
    let first = number("ONLOOP_SEED").unwrap_or(1);
    let mut world = World::new(LEASE, WORKFLOW, AGENT);
    let alone = judge::Alone::of(&world);
    let began = Instant::now();
    let (mut done, mut runs) = (0, 0);
    for seed in first.. {
        let count = ROUNDS_IN_SEASON.min(rounds - done);
        if count == 0 {
            break;
        }
        let season = Season::new(&mut world, Random::new(seed), format!("ONLOOP_SEED={seed}"));
        runs += season.rage(count).come_to_rest(&alone);
        done += count;
        println!("{done} rounds, {runs} runs, {:.0} s", began.elapsed().as_secs_f32());
    }
    let said = std::fs::read_to_string(world.path("up.log")).expect("what the server said");
    assert!(!said.contains(LOST_LINES), "{said}");
    world.end();
}
