//! How many tests a check has seen pass, where its command is a runner of tests that says so.
//!
//! The words come from a command of the repository, so they are shown and decide nothing.

use super::event::CheckVerdict;
use super::record::{StepRecord, StepStatus};
use super::test_runners::passed_tests;

/// How many tests passed in the checks of a step that is done; `None` where none of its commands is a
/// runner of tests that is known here.
pub fn tests_passed(record: &StepRecord) -> Option<u64> {
    if record.status != StepStatus::Done {
        return None;
    }
    let passed = record.results.iter().filter(|result| result.verdict == CheckVerdict::Passed);
    let counts = passed.filter_map(|result| passed_tests(&[&result.stdout, &result.stderr]));
    counts.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::passed_tests;

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
            assert_eq!(passed_tests(&[output]), expected, "{output}");
        }
    }
}
