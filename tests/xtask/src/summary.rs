//! What is left to read when the build is over.

use std::time::Duration;

use crate::tally::Tally;

/// One stage that ended.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) elapsed: Duration,
    pub(crate) tests: Tally,
    pub(crate) outcome: Outcome,
    /// The names of the tests that failed, and what ended a test binary early.
    pub(crate) failures: Vec<String>,
}

/// What came of a stage.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// The first line of why.
    Failed(String),
    /// A stage that it needs failed.
    NotRun,
}

impl Outcome {
    /// One word for it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed(_) => "FAILED",
            Outcome::NotRun => "not run",
        }
    }
}

impl Entry {
    /// A stage that did not run.
    pub(crate) fn skipped(name: &'static str) -> Entry {
        let (elapsed, tests) = (Duration::ZERO, Tally::default());
        Entry { name, elapsed, tests, outcome: Outcome::NotRun, failures: Vec::new() }
    }
}

/// The table of stages, the tests that failed, and the number of tests in the last line. Stages run side by side, so that
/// `elapsed` is less than the sum of their times.
pub(crate) fn render(entries: &[Entry], elapsed: Duration) -> String {
    let mut text = format!("\n{:<12} {:>12} {:>7}  result\n", "stage", "time", "tests");
    let mut tests = Tally::default();
    for entry in entries {
        let count = entry.tests.passed + entry.tests.failed;
        let count = if count == 0 { "-".to_owned() } else { count.to_string() };
        let time = match entry.outcome {
            Outcome::Passed | Outcome::Failed(_) => duration(entry.elapsed),
            Outcome::NotRun => "-".to_owned(),
        };
        let why = match &entry.outcome {
            Outcome::Failed(why) => format!(": {why}"),
            Outcome::Passed | Outcome::NotRun => String::new(),
        };
        let word = entry.outcome.word();
        text.push_str(&format!("{:<12} {time:>12} {count:>7}  {word}{why}\n", entry.name));
        tests = tests + entry.tests;
    }
    text.push_str(&format!("{:<12} {:>12}\n", "total", duration(elapsed)));
    for entry in entries.iter().filter(|entry| !entry.failures.is_empty()) {
        text.push_str(&format!("\nfailed in {}:\n", entry.name));
        for failure in &entry.failures {
            text.push_str(&format!("  {failure}\n"));
        }
    }
    if tests != Tally::default() {
        let (passed, failed, left_out) = (tests.passed, tests.failed, tests.left_out());
        text.push_str(&format!("\ntests: {passed} passed, {failed} failed{left_out}\n"));
    }
    text
}

/// `0.4 s`, `59.9 s`, `2 min 05 s`.
pub(crate) fn duration(elapsed: Duration) -> String {
    let tenths = (elapsed.as_millis() + 50) / 100;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (elapsed.as_millis() + 500) / 1000;
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_at_a_glance() {
        let table = [
            (0, "0.0 s"),
            (449, "0.4 s"),
            (450, "0.5 s"),
            (59_949, "59.9 s"),
            (59_950, "1 min 00 s"),
            (125_400, "2 min 05 s"),
            (3_600_000, "60 min 00 s"),
        ];
        for (millis, shown) in table {
            assert_eq!(duration(Duration::from_millis(millis)), shown, "{millis} ms");
        }
    }

    #[test]
    fn the_summary_shows_what_failed_and_what_did_not_run() {
        let entries = [
            Entry {
                name: "test",
                elapsed: Duration::from_millis(1500),
                tests: Tally { passed: 3, failed: 1, ignored: 2 },
                outcome: Outcome::Failed("failed: cargo test".to_owned()),
                failures: vec!["a::b".to_owned()],
            },
            Entry::skipped("docs"),
        ];
        let expected = "
stage                time   tests  result
test                1.5 s       4  FAILED: failed: cargo test
docs                    -       -  not run
total               2.5 s

failed in test:
  a::b

tests: 3 passed, 1 failed, 2 only with --all
";
        assert_eq!(render(&entries, Duration::from_millis(2500)), expected);
    }
}
