//! How long tests with random input run.

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

/// Whether `./test --all` runs this test.
pub(crate) fn is_long() -> bool {
    std::env::var_os("ONLOOP_TEST_ALL").is_some()
}
