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
    let seed = seed.map_or(0, |seed| seed.parse().expect("ONLOOP_SEED is a number"));
    let cases = cases.into_iter().collect();
    if is_long() { cases } else { every_nth(every, seed, cases) }
}

fn every_nth<T>(every: usize, seed: usize, cases: Vec<T>) -> Vec<T> {
    let first = seed % every.min(cases.len());
    cases.into_iter().skip(first).step_by(every).collect()
}

#[test]
fn a_sample_is_never_empty_and_has_each_value_of_an_inner_loop() {
    for seed in 0..10 {
        assert_eq!(every_nth(3, seed, vec!['a', 'b']).len(), 1, "{seed}");
        let all = (0..20).flat_map(|at| (0..4).map(move |way| (at, way))).collect();
        let mut ways: Vec<i32> = every_nth(9, seed, all).into_iter().map(|(_, way)| way).collect();
        assert_eq!(ways.len() / 4, 2, "{seed}: {ways:?}");
        ways.sort_unstable();
        ways.dedup();
        assert_eq!(ways, [0, 1, 2, 3], "{seed}");
    }
}

/// Whether `./test --all` runs this test.
pub(crate) fn is_long() -> bool {
    std::env::var_os("ONLOOP_TEST_ALL").is_some()
}
