//! Nights on the simulated machine; see `onloop_tests::night`. A failing one prints its seed, which
//! `ONLOOP_SEED` lives through again.

use onloop_tests::night::{NightTrace, night};

use crate::rounds::rounds;

#[test]
fn in_the_morning_every_session_is_done_or_says_why_it_waits() {
    let first = std::env::var("ONLOOP_SEED").ok();
    let first: u64 = first.map_or(0, |seed| seed.parse().expect("ONLOOP_SEED is a number"));
    let count = rounds(12, 200);
    let mut all = NightTrace::default();
    for seed in first..first + count {
        let one = night(seed).unwrap_or_else(|why| panic!("{why}"));
        all.hooks += one.hooks;
        all.questions += one.questions;
        all.deferred += one.deferred;
        all.woken += one.woken;
        all.reboots += one.reboots;
        all.done += one.done;
        all.waiting += one.waiting;
    }
    println!("{count} nights: {all:?}");
    let NightTrace { hooks, questions, deferred, woken, reboots, done, waiting } = all;
    let seen = [hooks, questions, deferred, woken, reboots, done, waiting];
    assert!(count < 12 || seen.iter().all(|count| *count > 0), "{all:?}");
}

#[test]
fn a_night_is_lived_the_same_way_again() {
    assert_eq!(night(3), night(3));
}
