//! Random lives; see `onloop_tests::model`. A failing one prints its seed, and
//! `cargo run -p onloop-tests --bin simulate -- --seed N` lives it again.

use std::time::{Duration, Instant};

use onloop_tests::model::{history, live};

/// For a fixed time, so that a slow machine sees fewer lives instead of more waiting.
const BUDGET: Duration = Duration::from_secs(10);

#[test]
fn whatever_happens_nothing_is_lost_and_every_run_can_be_finished() {
    let started = Instant::now();
    let (mut lives, mut cuts, mut kills, mut large, mut meddled) = (0, 0, 0, 0, 0);
    for seed in 0..2000 {
        if started.elapsed() > BUDGET {
            break;
        }
        let trace = live(seed).unwrap_or_else(|why| panic!("{why}"));
        lives += 1;
        cuts += trace.power_cuts;
        kills += trace.kills;
        meddled += trace.meddled;
        large += u32::from(trace.large);
    }
    println!(
        "{lives} lives, {large} large, {cuts} power cuts, {kills} kills, {meddled} forged copies"
    );
    assert!(
        lives > 3 && large > 0 && cuts > 0 && kills > 0 && meddled > 0,
        "{lives} lives, {large} large"
    );
}

#[test]
fn a_seed_is_lived_the_same_way_again() {
    for seed in [1, 2, 3] {
        assert!(history(seed) == history(seed), "seed {seed}");
    }
}
