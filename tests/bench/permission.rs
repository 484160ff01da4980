//! How many decisions a second, over the mix of the vectors.

use onloop_core::documents::permission::BatchLine;
use onloop_core::permission::{Call, Context, decide};

fn main() {
    divan::main();
}

fn lines() -> Vec<&'static str> {
    include_str!("../vectors/permissions.jsonl").lines().collect()
}

/// Calls that are already read, as a hook has them: one iteration judges them all.
#[divan::bench]
fn decisions(bencher: divan::Bencher<'_, '_>) {
    let read = |line: &str| BatchLine::read(line, "/srv/repo").expect("a vector is a batch line");
    let calls: Vec<BatchLine> = lines().into_iter().map(read).collect();
    bencher.counter(divan::counter::ItemsCount::new(calls.len())).bench(|| {
        calls.iter().map(|line| decide(&line.call, &line.context).decision as usize).sum::<usize>()
    });
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
