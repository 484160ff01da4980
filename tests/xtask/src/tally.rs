//! How many tests ran and what came of them.

use std::ops::Add;

/// A count of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl Tally {
    /// Reads the line with which a Rust test binary closes, or one of those with which Node's
    /// test runner does; `None` for every other line.
    pub(crate) fn of_line(line: &str) -> Option<Tally> {
        Tally::of_rust(line).or_else(|| Tally::of_node(line))
    }

    /// A run without a test shows nothing. With `--all`, nor does a test that did not run.
    pub(crate) fn judged(self, is_long: bool) -> Result<Tally, String> {
        if self.passed == 0 {
            return Err("no test was run".to_owned());
        }
        if is_long && self.ignored > 0 {
            return Err(format!("{} tests were not run; run or remove them", self.ignored));
        }
        Ok(self)
    }

    /// `, 3 only with --all`, where tests were left out.
    pub(crate) fn left_out(self) -> String {
        if self.ignored == 0 {
            return String::new();
        }
        format!(", {} only with --all", self.ignored)
    }

    /// `# pass 12`; failures and skipped tests have lines of their own.
    fn of_node(line: &str) -> Option<Tally> {
        let (word, number) = line.trim_end().strip_prefix("# ")?.split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "pass" => Some(Tally { passed: number, ..Tally::default() }),
            "fail" | "cancelled" => Some(Tally { failed: number, ..Tally::default() }),
            "skipped" | "todo" => Some(Tally { ignored: number, ..Tally::default() }),
            _ => None,
        }
    }

    fn of_rust(line: &str) -> Option<Tally> {
        let counts = line.trim().strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut tally = Tally::default();
        for part in counts.split(';') {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let slot = match word {
                "passed" => &mut tally.passed,
                "failed" => &mut tally.failed,
                "ignored" => &mut tally.ignored,
                _ => continue,
            };
            *slot = number.parse().ok()?;
        }
        Some(tally)
    }
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn a_test_is_left_out_only_without_all() {
        let tally = |passed, ignored| Tally { passed, ignored, ..Tally::default() };
        for is_long in [false, true] {
            assert!(tally(2, 0).judged(is_long).is_ok());
            assert!(tally(0, 0).judged(is_long).is_err());
            assert!(tally(0, 1).judged(is_long).is_err());
            assert_eq!(tally(2, 1).judged(is_long).is_err(), is_long);
        }
        assert_eq!(tally(2, 1).left_out(), ", 1 only with --all");
        assert_eq!(tally(2, 0).left_out(), "");
    }

    #[test]
    fn the_closing_lines_of_test_runners_are_counted_and_no_others() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; \
                  finished in 0.00s\n";
        assert_eq!(Tally::of_line(ok), Some(Tally { passed: 12, failed: 0, ignored: 1 }));
        let failed = "test result: FAILED. 2 passed; 5 failed; 0 ignored; 0 measured";
        assert_eq!(Tally::of_line(failed), Some(Tally { passed: 2, failed: 5, ignored: 0 }));
        let node = [
            ("# pass 7\n", Tally { passed: 7, ..Tally::default() }),
            ("# fail 1", Tally { failed: 1, ..Tally::default() }),
            ("# skipped 2", Tally { ignored: 2, ..Tally::default() }),
        ];
        for (line, tally) in node {
            assert_eq!(Tally::of_line(line), Some(tally), "{line}");
        }
        for line in ["# tests 9", "# Subtest: pass 3", "# pass", "  # pass 3", "# pass many"] {
            assert_eq!(Tally::of_line(line), None, "{line}");
        }
        for line in ["running 3 tests", "test a ... ok", "test result: soon", "12 passed; 0 failed"]
        {
            assert_eq!(Tally::of_line(line), None, "{line}");
        }
    }
}
