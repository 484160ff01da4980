//! How many decisions a second, over the mix of the vectors.

mod measured;

use measured::{assert_near_goal, median, time};
use onloop_core::documents::permission::BatchLine;
use onloop_core::permission::{Call, Context, decide};

/// Decisions take no longer than this: a hundredth of what starting a hook takes.
const GOAL_US: f64 = 20.0;

fn main() {
    divan::main();
    let calls = calls();
    let once = || time(|| _ = divan::black_box(judge(&calls)));
    let all = median((0..11).map(|_| once()).collect());
    let each = all.as_secs_f64() * 1e6 / calls.len() as f64;
    println!("a decision: {each:.1} µs (goal: at most {GOAL_US})");
    assert_near_goal("microseconds of a decision", each, GOAL_US);
}

/// Calls that are already read, as a hook has them.
fn calls() -> Vec<BatchLine> {
    let read = |line: &str| BatchLine::read(line, "/srv/repo").expect("a vector is a batch line");
    lines().into_iter().map(read).collect()
}

fn judge(calls: &[BatchLine]) -> usize {
    calls.iter().map(|line| decide(&line.call, &line.context).decision as usize).sum()
}

fn lines() -> Vec<&'static str> {
    include_str!("../vectors/permissions.jsonl").lines().collect()
}

/// One iteration judges all calls.
#[divan::bench]
fn decisions(bencher: divan::Bencher<'_, '_>) {
    let calls = calls();
    let count = divan::counter::ItemsCount::new(calls.len());
    bencher.counter(count).bench(|| judge(&calls));
}

/// The same with JSON and configuration read for each line, as `permit batch` does.
#[divan::bench]
fn batch_lines(bencher: divan::Bencher<'_, '_>) {
    let lines = lines();
    bencher.counter(divan::counter::ItemsCount::new(lines.len())).bench(|| {
        let judge = |line: &&str| {
            BatchLine::read(line, "/srv/repo").map(|read| decide(&read.call, &read.context)).is_ok()
        };
        lines.iter().filter(|line| judge(line)).count()
    });
}

/// A quarter of a megabyte, the longest line that is read.
#[divan::bench]
fn longest_line(bencher: divan::Bencher<'_, '_>) {
    let call = Call::shell(&"git status; ".repeat(256 * 1024 / 12));
    let context = Context::new("/srv/repo");
    bencher.bench(|| decide(&call, &context).decision as usize);
}

/// A line that is refused for its length.
#[divan::bench]
fn megabyte_line(bencher: divan::Bencher<'_, '_>) {
    let call = Call::shell(&"git status; ".repeat(1024 * 1024 / 12));
    let context = Context::new("/srv/repo");
    bencher.bench(|| decide(&call, &context).decision as usize);
}
