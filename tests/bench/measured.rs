//! What is measured, and how.
#![allow(dead_code, reason = "each benchmark uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How many times its goal a figure may be before its benchmark fails: other programs keep the
/// processor busy, and the disk decides about some figures.
const MARGIN: f64 = 5.0;

/// Fails when a figure is far beyond its goal.
#[track_caller]
pub(crate) fn assert_near_goal(name: &str, figure: f64, goal: f64) {
    assert!(
        figure <= goal * MARGIN,
        "{name}: {figure:.3}, {MARGIN} times the goal of {goal} at most"
    );
}

/// The program as people install it. The one that tests start is linked with what only tests need,
/// which costs time at its start.
pub(crate) fn program() -> PathBuf {
    let cargo = std::env::var_os("CARGO").expect("a benchmark is started by Cargo");
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--release", "--package", "onloop", "--bin", "onloop"]);
    assert!(build.status().expect("Cargo is there").success(), "the program can be built");
    installed(&Path::new(EMPTY).with_file_name("onloop"))
}

/// What starting any process costs at least.
pub(crate) fn empty_program() -> PathBuf {
    installed(Path::new(EMPTY))
}

const EMPTY: &str = env!("CARGO_BIN_EXE_empty-program");

/// A copy, which is what an installation makes. Linux keeps what a linker wrote in small pieces, of
/// which a program maps each by itself until the file is read from the disk again: a third of the
/// start of a large one.
fn installed(program: &Path) -> PathBuf {
    let copy = program.with_extension("installed");
    // Written anew: one that still runs cannot be overwritten.
    let _ = std::fs::remove_file(&copy);
    std::fs::copy(program, &copy).expect("the target folder is writable");
    copy
}

pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}

/// What this process and those that it has waited for have used of the processor, in ticks of a
/// hundredth of a second; 0 where the system does not say.
pub(crate) fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, which comes before, may contain blanks.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// How much more of the processor `one` is than `other` in each of `rounds`, both in ticks.
pub(crate) fn difference(one: u64, other: u64, rounds: usize) -> Duration {
    Duration::from_millis(one.saturating_sub(other) * 10) / u32::try_from(rounds).unwrap_or(1)
}
