//! Steps that work side by side on a simulated machine, which fails while any of their drivers works.

use onloop_core::effect::{Exit, Request};
use onloop_tests::parallel::{ParallelLife, ParallelPlan, ParallelTrace, live};
use onloop_tests::{Ended, Kill, Moment, PowerLoss};

use crate::rounds::{rounds, sampled};

/// A machine on which every agent succeeds.
fn calm(plan: &ParallelPlan) -> ParallelLife {
    let mut life = ParallelLife::new(plan.clone(), 7);
    life.calm();
    life
}

/// How many requests a run makes, with those of all its drivers.
fn length(plan: &ParallelPlan) -> usize {
    let mut life = calm(plan);
    let ended = life.drive().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(ended, Ended::Exit(Exit::Done), "{}", life.said());
    let length = life.host.request_count();
    life.complete().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(life.host.launched.len(), plan.all.len() - 2, "{}", life.said());
    length
}

/// The ways in which a driver ends in the middle of its work.
const WAYS: usize = 5;

fn end_one(life: &mut ParallelLife, at_request: usize, way: usize) {
    let (after, within) = (Moment::After, Moment::Within);
    let power = |moment, lose_relaxed| PowerLoss { at_request, moment, lose_relaxed };
    let kill = |moment, leaves_processes| Kill { at_request, moment, leaves_processes };
    match way {
        0 => life.host.lose_power(power(after, true)),
        1 => life.host.lose_power(power(within, false)),
        2 => life.host.kill(kill(after, false)),
        3 => life.host.kill(kill(within, true)),
        _ => life.host.interrupt_at(at_request),
    }
}

/// Ends a driver at each of `rounds` requests, one way after the other, and then continues the run.
fn survives(plan: &ParallelPlan, rounds: usize) {
    let length = length(plan);
    assert!(length > 500, "the run is long enough to be interesting: {length}");
    for round in 0..rounds {
        let (at_request, way) = (round * length / rounds, round % WAYS);
        let mut life = calm(plan);
        end_one(&mut life, at_request, way);
        let lived = life.drive().and_then(|_| life.complete());
        lived.unwrap_or_else(|why| panic!("request {at_request}, way {way}: {why}"));
    }
}

#[test]
fn every_driver_may_end_at_any_request() {
    survives(&ParallelPlan::diamond(2, 2, false), rounds(11, 4999) as usize);
}

#[test]
fn every_driver_may_end_at_any_request_while_steps_conflict() {
    survives(&ParallelPlan::diamond(2, 2, true), rounds(6, 4999) as usize);
}

/// Ends the driver of the run at the first request after something was said, and continues the run.
fn survives_after(words: &str) {
    let plan = ParallelPlan::diamond(2, 2, false);
    let mut undisturbed = calm(&plan);
    undisturbed.drive().unwrap_or_else(|why| panic!("{why}"));
    let requests = &undisturbed.host.requests;
    let said = requests.iter().position(|request| format!("{request:?}").contains(words));
    let at_request = said.unwrap_or_else(|| panic!("no request has `{words}`"));
    for way in sampled(2, 0..WAYS) {
        let mut life = calm(&plan);
        end_one(&mut life, at_request, way);
        let lived = life.drive().and_then(|_| life.complete());
        lived.unwrap_or_else(|why| panic!("{words}, way {way}: {why}"));
    }
}

#[test]
fn a_driver_that_ends_between_a_verification_and_its_checkpoint_leaves_no_work_out() {
    survives_after("Checkpoint 1-1 of w-20260320T094640Z (verified)");
}

#[test]
fn a_driver_that_ends_before_it_records_a_fork_leaves_no_worktree() {
    // The name of the worktree, in the request that makes it.
    survives_after("/w-20260320T094640Z.step-3\", branch: ");
}

#[test]
fn an_interrupt_while_the_driver_of_a_step_begins_ends_the_run() {
    let plan = ParallelPlan::diamond(2, 2, false);
    let mut undisturbed = calm(&plan);
    undisturbed.let_first_run_alone(u64::MAX / 2);
    undisturbed.host.interrupt_at(2_000);
    undisturbed.drive().unwrap_or_else(|why| panic!("{why}"));
    let requests = &undisturbed.host.requests;
    let launches: Vec<usize> = (0..requests.len())
        .filter(|at| matches!(requests[*at], Request::Launch(_)))
        .take(2)
        .collect();
    assert_eq!(launches.len(), 2, "both steps begin");
    let interrupts = launches.into_iter().flat_map(|at| (0..5).map(move |after| (at, after)));
    for (launch, after) in sampled(3, interrupts) {
        let mut life = calm(&plan);
        let at_request = launch + after;
        life.let_first_run_alone(at_request as u64 + 40);
        life.host.interrupt_at(at_request);
        let ended = life.drive().unwrap_or_else(|why| panic!("request {at_request}: {why}"));
        let about = format!("{after} requests after the launch: {}", life.said());
        assert_eq!(ended, Ended::Exit(Exit::Interrupted), "{about}");
        life.complete().unwrap_or_else(|why| panic!("request {at_request}: {why}"));
    }
}

#[test]
fn random_lives_lose_nothing_and_do_nothing_twice() {
    let first = std::env::var("ONLOOP_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let count = rounds(10, 600);
    let mut all = ParallelTrace::default();
    for seed in first..first + count {
        let one = live(seed).unwrap_or_else(|why| panic!("{why}"));
        all.drivers += one.drivers;
        all.merges += one.merges;
        all.drops += one.drops;
        all.conflicts += one.conflicts;
        all.undone += one.undone;
        all.again += one.again;
        all.adopted += one.adopted;
        all.raised += one.raised;
    }
    println!("{count} lives: {all:?}");
    let often = [all.drivers, all.merges, all.conflicts, all.undone, all.adopted];
    assert!(count < 10 || !often.contains(&0), "{all:?}");
    assert!(count < 300 || (all.again > 0 && all.raised > 0), "{all:?}");
}

#[test]
fn a_life_is_lived_the_same_way_again() {
    assert_eq!(live(3), live(3));
}
