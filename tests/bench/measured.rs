//! What is measured, and how.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Whether anything is measured, which `cargo bench` asks for. `cargo test --benches` runs every case
/// once, small, with the program that tests start: what is not run decays.
pub(crate) fn is_measured() -> bool {
    std::env::args().any(|word| word == "--bench")
}

/// How often or how large: `measured` where something is measured, else `tried`.
pub(crate) fn either<T>(measured: T, tried: T) -> T {
    if is_measured() { measured } else { tried }
}

/// The program as people install it: the one that tests start is linked with what only tests
/// need, and every table of that costs time at its start.
pub(crate) fn program() -> PathBuf {
    if !is_measured() {
        return env!("CARGO_BIN_EXE_onloop-under-test").into();
    }
    let cargo = std::env::var_os("CARGO").expect("a benchmark is started by Cargo");
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--release", "--package", "onloop", "--bin", "onloop"]);
    assert!(build.status().expect("Cargo is there").success(), "the program can be built");
    PathBuf::from(env!("CARGO_BIN_EXE_empty-program")).with_file_name("onloop")
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

#[allow(dead_code, reason = "not every benchmark compares two times")]
pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}

/// What this process and those that it has waited for have used of the processor, in ticks of a
/// hundredth of a second; 0 where the system does not say.
#[allow(dead_code, reason = "not every benchmark measures the processor")]
pub(crate) fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, which comes before, may contain blanks.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// How much more of the processor `one` is than `other` in each of `rounds`, both in ticks.
#[allow(dead_code, reason = "not every benchmark measures the processor")]
pub(crate) fn difference(one: u64, other: u64, rounds: usize) -> Duration {
    Duration::from_millis(one.saturating_sub(other) * 10) / u32::try_from(rounds).unwrap_or(1)
}
