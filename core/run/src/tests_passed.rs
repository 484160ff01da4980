//! How many tests a check has seen pass, where its command is a runner of tests that says so.
//!
//! The words come from a command of the repository, so they are shown and decide nothing.

use super::event::CheckVerdict;
use super::record::{StepRecord, StepStatus};

/// Plausible maximum of tests; a larger number is rejected.
const MOST: u64 = 10_000_000;

/// How many tests passed in the checks of a step that is done; `None` where none of its commands is a
/// runner of tests that is known here.
pub fn tests_passed(record: &StepRecord) -> Option<u64> {
    if record.status != StepStatus::Done {
        return None;
    }
    let passed = record.results.iter().filter(|result| result.verdict == CheckVerdict::Passed);
    let counts = passed.filter_map(|result| {
        // Most runners report on one of them, and no runner on both.
        counted(&result.stdout).or_else(|| counted(&result.stderr))
    });
    counts.reduce(u64::saturating_add).filter(|count| (1..=MOST).contains(count))
}

/// What a runner says in `output`. Of several that speak in one output, the first known one counts.
fn counted(output: &str) -> Option<u64> {
    let runners: [fn(&str) -> Option<u64>; 6] = [cargo, nextest, javascript, pytest, node, go];
    let sum = |runner: &fn(&str) -> Option<u64>| {
        output.lines().filter_map(runner).reduce(u64::saturating_add)
    };
    runners.iter().find_map(sum)
}

/// `test result: ok. 12 passed; 0 failed; …`, once for each binary.
fn cargo(line: &str) -> Option<u64> {
    before(line.trim().strip_prefix("test result: ok.")?, "passed;")
}

/// `Summary [ 0.5s] 12 tests run: 12 passed, 0 skipped`.
fn nextest(line: &str) -> Option<u64> {
    let (_, run) = line.trim().strip_prefix("Summary [")?.split_once(" run: ")?;
    before(run, "passed")
}

/// `Tests:       1 skipped, 12 passed, 13 total` of Jest, `Tests  12 passed (12)` of Vitest.
fn javascript(line: &str) -> Option<u64> {
    let rest = line.trim().strip_prefix("Tests")?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.starts_with(' ').then(|| before(rest, "passed"))?
}

/// `==== 12 passed, 1 skipped in 0.12s ====`, or without the signs around it.
fn pytest(line: &str) -> Option<u64> {
    let line = line.trim().trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    let is_time = time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('s');
    let is_count = |part: &str| {
        let (count, word) = part.trim().split_once(' ')?;
        count.parse::<u64>().ok()?;
        (!word.contains(' ')).then_some(())
    };
    let are_counts = counts.split(',').all(|part| is_count(part).is_some());
    (is_time && are_counts).then(|| before(counts, "passed"))?
}

/// `# pass 12` of TAP, `ℹ pass 12` of what Node shows to people.
fn node(line: &str) -> Option<u64> {
    let line = line.trim();
    let rest = line.strip_prefix("# pass ").or_else(|| line.strip_prefix("ℹ pass "))?;
    rest.trim().parse().ok()
}

/// `--- PASS: TestX (0.00s)`, once for each test, with `-v`.
fn go(line: &str) -> Option<u64> {
    line.trim_start().starts_with("--- PASS: ").then_some(1)
}

/// The number before a word.
fn before(text: &str, word: &str) -> Option<u64> {
    let mut last = None;
    for part in text.split([' ', ',']).filter(|part| !part.is_empty()) {
        if part == word {
            return last;
        }
        last = part.parse().ok();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_say_how_many_tests_passed() {
        let table = [
            (
                "running 3 tests\n...\n\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; \
              0 filtered out; finished in 0.01s\n\ntest result: ok. 9 passed; 0 failed; 0 ignored; \
              0 measured; 0 filtered out; finished in 0.02s\n",
                Some(12),
            ),
            ("     Summary [   0.512s] 12 tests run: 11 passed (1 slow), 2 skipped\n", Some(11)),
            ("===== 12 passed, 1 skipped in 0.12s =====\n", Some(12)),
            ("..............\n14 passed in 1.02s\n", Some(14)),
            ("== 2 failed, 3 passed, 1 warning in 61.02s (0:01:01) ==", Some(3)),
            (
                "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 12 passed, 13 total\n",
                Some(12),
            ),
            (" Test Files  2 passed (2)\n      Tests  7 passed (7)\n", Some(7)),
            ("# tests 4\n# suites 0\n# pass 4\n# fail 0\n", Some(4)),
            ("ℹ tests 4\nℹ pass 4\nℹ fail 0\n", Some(4)),
            (
                "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\nPASS\nok  \tx\t0.1s\n",
                Some(2),
            ),
            ("test result: FAILED. 1 passed; 2 failed; 0 ignored", None),
            ("ok  \tx\t0.1s\n", None),
            ("he passed in 3 seconds\nTestsuite 3 passed\nall 5 passed in the end\n", None),
            ("", None),
        ];
        for (output, expected) in table {
            assert_eq!(counted(output), expected, "{output}");
        }
    }
}
