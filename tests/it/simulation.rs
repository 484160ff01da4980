//! Random lives; see `onloop_tests::model`. A failing one prints its seed, and
//! `cargo run -p onloop-tests --bin simulate -- --seed N` lives it again.

use std::time::{Duration, Instant};

use onloop_tests::model::{follow, history, live};

use crate::rounds::{is_long, sampled};

/// Seconds for random lives: a slow machine sees fewer of them instead of more waiting.
const SECONDS: u64 = 4;
const SECONDS_LONG: u64 = 300;
/// Lives within which everything that is asserted has happened, whatever time they take.
const ENOUGH: u64 = 2000;

#[test]
fn whatever_happens_nothing_is_lost_and_every_run_can_be_finished() {
    let started = Instant::now();
    let budget = Duration::from_secs(if is_long() { SECONDS_LONG } else { SECONDS });
    let (mut lives, mut cuts, mut kills, mut large, mut meddled, mut clean) = (0, 0, 0, 0, 0, 0);
    while started.elapsed() < budget || [cuts, kills, large, meddled, clean].contains(&0) {
        let counts = [cuts, kills, large, meddled, clean];
        assert!(started.elapsed() < budget || lives < ENOUGH, "{counts:?}");
        let trace = live(lives).unwrap_or_else(|why| panic!("{why}"));
        lives += 1;
        cuts += trace.power_cuts;
        kills += trace.kills;
        meddled += trace.meddled;
        large += u32::from(trace.large);
        clean += u32::from(trace.clean);
    }
    println!(
        "{lives} lives, {large} large, {cuts} power cuts, {kills} kills, {meddled} forged copies, \
         {clean} clean checkouts"
    );
}

#[test]
fn a_seed_is_lived_the_same_way_again() {
    for seed in sampled(3, [1, 2, 3]) {
        assert!(history(seed) == history(seed), "seed {seed}");
    }
}

/// Each of these is named in some life, or the lives have not shown it.
const NAMED: [&str; 14] = [
    "start: onloop step N start",
    "act: onloop step N verify",
    "act: onloop resume ID",
    "verify: onloop step N verify",
    "approve: onloop gate N approved --mode auto",
    "block: onloop step N block --reason",
    "ask-gate: onloop gate N",
    "ask-review: onloop gate N",
    "ask-budget: onloop resume ID --raise",
    "ask-interrupted: onloop resume ID --interrupted redo",
    "ask-interrupted: onloop resume ID --interrupted done",
    "repeat-checks: onloop finalize",
    "repeat-checks: onloop resume ID",
    "blocked: onloop",
];

#[test]
fn each_command_that_next_names_is_accepted_and_changes_the_run() {
    let started = Instant::now();
    let budget = Duration::from_secs(if is_long() { SECONDS_LONG } else { SECONDS });
    let mut missing = NAMED.to_vec();
    let mut lives = 0;
    while started.elapsed() < budget || !missing.is_empty() {
        assert!(started.elapsed() < budget || lives < ENOUGH, "never named: {missing:?}");
        let named = follow(lives).unwrap_or_else(|why| panic!("{why}"));
        missing.retain(|wanted| !named.iter().any(|line| line.starts_with(wanted)));
        lives += 1;
    }
    println!("{lives} lives");
}
