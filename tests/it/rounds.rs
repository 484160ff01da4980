//! How long tests with random input run, and how much of a product others go through.

/// How often a test with random input repeats: `ONLOOP_ROUNDS`, else `many` under `./test --all`, else
/// `few`.
pub(crate) fn rounds(few: u64, many: u64) -> u64 {
    match std::env::var("ONLOOP_ROUNDS") {
        Ok(given) => given.parse().expect("ONLOOP_ROUNDS is a number"),
        Err(_) if is_long() => many,
        Err(_) => few,
    }
}

/// The same for the cases of a property.
pub(crate) fn cases(few: u32, many: u32) -> u32 {
    if is_long() { many } else { few }
}

/// Cases of a product, such as every request with every way to fail: all under `./test --all`, else
/// one in `every`. `ONLOOP_SEED` says with which one it begins.
///
/// Where `every` shares no divisor with the length of an inner loop, the cases that are taken have each
/// of its values.
pub(crate) fn sampled<T>(every: usize, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let seed = std::env::var("ONLOOP_SEED").ok();
    let seed: usize = seed.map_or(0, |seed| seed.parse().expect("ONLOOP_SEED is a number"));
    let cases = cases.into_iter();
    let taken: Vec<T> =
        if is_long() { cases.collect() } else { cases.skip(seed % every).step_by(every).collect() };
    assert!(!taken.is_empty(), "one in {every} of fewer cases");
    taken
}

/// Whether `./test --all` runs this test.
pub(crate) fn is_long() -> bool {
    std::env::var_os("ONLOOP_TEST_ALL").is_some()
}
