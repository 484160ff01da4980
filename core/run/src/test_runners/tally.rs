//! What the lines of a runner's output add up to.

use onloop_syntax::text;

use super::table::Says;
use super::{Found, RunnerReport};

/// Bytes that are kept of a line.
const LINE_BYTES: usize = 200;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    report: RunnerReport,
    /// Tests that were skipped and that a runner counts among those that ran.
    skipped: u64,
    /// Tests that ran according to lines with a letter for each.
    dots: u64,
    /// Those of lines that only pytest writes.
    progress: u64,
    /// Groups of tests that failed.
    failed_groups: u64,
    /// Whether all that were counted have passed.
    all_passed: bool,
    /// Points of the Test Anything Protocol, which may be suites.
    points: u64,
    /// Points that are whole files of `node --test`, in which no test may have run.
    files: u64,
    /// Whether `node --test` says how many tests ran, apart from its points.
    has_node_counts: bool,
    /// Packages of Go that passed, with or without a test that ran.
    packages: u64,
    /// Whether a test of Go was skipped. Then those that ran have a line as well.
    has_skip_line: bool,
}

impl Tally {
    /// Adds what a line says.
    pub(super) fn add(&mut self, says: Says, found: &Found<'_>, command: &str, line: &str) {
        self.report.failed = self.report.failed.saturating_add(found.failed);
        match says {
            Says::Failures => {}
            Says::Counts => self.count(found),
            Says::NodeCounts => {
                self.has_node_counts = true;
                self.count(found);
            }
            Says::AllPassed => {
                self.all_passed = true;
                self.skipped = self.skipped.saturating_add(found.skipped);
            }
            Says::Point => self.points += 1,
            Says::File => (self.points, self.files) = (self.points + 1, self.files + 1),
            Says::Package => self.packages += 1,
            Says::Dots => self.dots = self.dots.saturating_add(found.dots),
            Says::Progress => {
                self.progress = self.progress.saturating_add(found.dots);
                self.ran(0);
            }
            Says::OneRan => self.ran(1),
            Says::OneFailed => {
                self.ran(1);
                self.report.failed += 1;
            }
            Says::GroupFailed => {
                self.ran(1);
                self.failed_groups += 1;
            }
            Says::OnePassed => {
                self.ran(1);
                self.passed(1);
            }
            Says::OneSkipped => self.has_skip_line = true,
            Says::NoTests => self.ran(0),
            Says::Misused if found.name.is_none_or(|name| name.is_in(command)) => {
                let misuse = &mut self.report.misuse;
                misuse.get_or_insert_with(|| text::ellipsis(line, LINE_BYTES));
            }
            Says::Misused => {}
        }
    }

    fn ran(&mut self, count: u64) {
        self.report.ran = Some(self.report.ran.unwrap_or(0).saturating_add(count));
    }

    fn passed(&mut self, count: u64) {
        self.report.passed = Some(self.report.passed.unwrap_or(0).saturating_add(count));
    }

    fn count(&mut self, found: &Found<'_>) {
        let newly = found.passed.unwrap_or(0);
        let (ran, passed) = self.report.counted.unwrap_or_default();
        let ran = ran.saturating_add(found.ran).saturating_add(newly);
        self.report.counted =
            Some((ran.saturating_sub(found.skipped), passed.saturating_add(newly)));
        self.skipped = self.skipped.saturating_add(found.skipped);
        self.ran(found.ran.saturating_add(newly));
        if found.passed.is_some() {
            self.passed(newly);
        }
    }

    /// What it comes to.
    pub(super) fn report(mut self) -> RunnerReport {
        if !self.has_node_counts && self.points > 0 {
            self.ran(self.points);
        }
        if self.packages > 0 || self.has_skip_line {
            self.ran(if self.has_skip_line { 0 } else { self.packages });
        }
        if self.report.ran == Some(0) {
            self.ran(self.progress);
        }
        let mut report = self.report;
        if report.failed == 0 {
            report.failed = self.failed_groups;
        }
        if self.has_node_counts && self.files > 0 {
            let without = |count: u64| count.checked_sub(self.files).filter(|left| *left > 0);
            // A file without tests passes whatever it does: nothing is known of it.
            report.ran = report.ran.and_then(without);
            report.passed = report.passed.and_then(without);
            report.counted = None;
            report.only_files = report.ran.is_none();
        }
        report.ran = report.ran.and_then(|ran| match ran.saturating_sub(self.skipped) {
            0 if self.skipped > 0 && self.dots > 0 => Some(ran.min(self.dots)),
            // Python skips parts of tests, and classes that it does not count.
            0 if self.skipped > ran => None,
            left => Some(left),
        });
        if self.all_passed && report.passed.is_none() && report.counted.is_some_and(|c| c.0 > 0) {
            report.passed = report.ran;
            report.counted = report.ran.map(|ran| (ran, ran));
        }
        report
    }
}
