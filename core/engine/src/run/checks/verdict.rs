//! What the end of a check's command means: whether it passed, and whether it failed because of
//! the code.

use std::iter;

use super::seconds;
use onloop_effect::ProcessStatus;
use onloop_run::{CheckVerdict, RunnerReport, Warning, runner_report};
use onloop_workflow::runner::test_runners;
use onloop_workflow::{Expectation, ShellCheck};

/// How the command of a check ended and what it wrote.
pub(super) struct CommandEnd<'e> {
    pub(super) status: ProcessStatus,
    /// The exit code with which a sandbox says `status`, a signal, if a command may end with it as well.
    pub(super) code: Option<i32>,
    pub(super) stdout: &'e str,
    pub(super) stderr: &'e str,
    /// The time that it had.
    pub(super) timeout_ms: u64,
}

/// The verdict on a check whose command has ended; `None`: a person interrupted it.
pub(super) fn verdict(check: &ShellCheck, end: &CommandEnd<'_>) -> Option<CheckVerdict> {
    let report = runner_report(&check.command, &[end.stdout, end.stderr]);
    let no_tests = report.ran_none() && !check.allow_no_tests;
    let refusal = match (end.status, check.expect) {
        (ProcessStatus::Interrupted, _) => return None,
        (ProcessStatus::TimedOut, expect) => {
            Some(unanswered(expect, format!("timed out after {}", seconds(end.timeout_ms))))
        }
        (ProcessStatus::Signalled(signal), expect) => {
            let what = match end.code {
                Some(code) => format!("exit code {code} (or killed by signal {signal})"),
                None => format!("killed by signal {signal}"),
            };
            Some(unanswered(expect, what))
        }
        (ProcessStatus::Exited(0), Expectation::Pass) if check.is_negated() => {
            another_reason(&report, no_tests)
        }
        (ProcessStatus::Exited(0), Expectation::Pass) => no_tests.then(|| NO_TESTS.to_owned()),
        (ProcessStatus::Exited(code), Expectation::Pass) => {
            let why = if no_tests { format!(": {NO_TESTS}") } else { String::new() };
            Some(format!("exit code {code}{why}"))
        }
        (ProcessStatus::Exited(0), Expectation::Fail) => {
            Some("exit code 0, but the command was expected to fail".to_owned())
        }
        // A command that cannot be run has not said no.
        (ProcessStatus::Exited(code @ (126 | 127)), Expectation::Fail) => {
            let what = format!("exit code {code}, the command could not be run");
            Some(unanswered(Expectation::Fail, what))
        }
        (ProcessStatus::Exited(125), Expectation::Fail)
            if starts_another(&check.command, &["timeout", "env"]) =>
        {
            let what = "exit code 125, `timeout` or `env` could not start the command";
            Some(unanswered(Expectation::Fail, what.to_owned()))
        }
        (ProcessStatus::Exited(124), Expectation::Fail)
            if starts_another(&check.command, &["timeout"]) =>
        {
            Some(unanswered(Expectation::Fail, "`timeout` ended it".to_owned()))
        }
        (ProcessStatus::Exited(_), Expectation::Fail) => another_reason(&report, no_tests),
    };
    Some(refusal.map_or(CheckVerdict::Passed, |reason| CheckVerdict::Failed { reason }))
}

/// What to warn about a check that passed, by its command and its output.
pub(super) fn warnings(check: &ShellCheck, end: &CommandEnd<'_>) -> Vec<Warning> {
    let should_succeed = check.expect == Expectation::Pass && !check.is_negated();
    if !should_succeed || end.status != ProcessStatus::Exited(0) {
        return Vec::new();
    }
    let report = runner_report(&check.command, &[end.stdout, end.stderr]);
    let mut found = Vec::new();
    found.extend(check.vacuous().map(|reason| Warning::FailuresIgnored { reason }));
    if report.failed > 0 {
        found.push(Warning::FailuresReported { failed: report.failed });
    }
    found.extend(uncounted(check, end, &report));
    found
}

/// The warning that the test runner did not get to its summary, which says how many tests ran.
fn uncounted(check: &ShellCheck, end: &CommandEnd<'_>, report: &RunnerReport) -> Option<Warning> {
    if check.allow_no_tests || report.ran.is_some() {
        return None;
    }
    // npm, pnpm and the like say first which command the script has.
    let scripts = end.stdout.lines().filter_map(|line| line.strip_prefix("> ")).take(10);
    let runners = iter::once(check.command.as_str()).chain(scripts).flat_map(test_runners);
    let name = runners.map(|runner| runner.name).next();
    let name = name.or_else(|| report.only_files.then_some("node --test"))?;
    Some(Warning::NoTestCount { runner: name.to_owned() })
}

/// Whether a command line starts a program through one of `programs`, which end with codes of their own.
fn starts_another(command: &str, programs: &[&str]) -> bool {
    let name = |word: &str| word.rsplit('/').next().is_some_and(|name| programs.contains(&name));
    command.split_whitespace().any(name)
}

const NO_TESTS: &str = "no tests ran";

/// Why a command that had to fail has failed, unless the code is why.
fn another_reason(report: &RunnerReport, no_tests: bool) -> Option<String> {
    let misuse = report.misuse.clone();
    let what = if no_tests { Some(NO_TESTS.to_owned()) } else { misuse };
    what.map(|what| unanswered(Expectation::Fail, what))
}

/// `what`, which is no answer to whether the code fails the check.
fn unanswered(expect: Expectation, what: String) -> String {
    match expect {
        Expectation::Pass => what,
        Expectation::Fail => format!("failed for another reason than the code: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(check: &ShellCheck, status: ProcessStatus, stdout: &str) -> String {
        let end = CommandEnd { status, code: None, stdout, stderr: "", timeout_ms: 5000 };
        match verdict(check, &end) {
            Some(CheckVerdict::Passed) => "passed".to_owned(),
            Some(CheckVerdict::Failed { reason }) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_check_passes_and_fails_for_the_right_reason() {
        use Expectation::{Fail, Pass};
        use ProcessStatus::{Exited, Signalled, TimedOut};
        const NONE: &str = "test result: ok. 0 passed; 0 failed; 0 ignored; finished in 0.00s";
        const SOME: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; finished in 0.00s";
        const NO_RULE: &str = "make: *** No rule to make target 'test'.  Stop.";
        const OTHER: &str = "failed for another reason than the code: ";
        let table = [
            ("cargo test", Pass, Exited(0), SOME, "passed".to_owned()),
            ("cargo test nope", Pass, Exited(0), NONE, "no tests ran".to_owned()),
            ("cargo test", Pass, Exited(101), "", "exit code 101".to_owned()),
            (
                "pytest",
                Pass,
                Exited(5),
                "no tests ran in 0.01s",
                "exit code 5: no tests ran".to_owned(),
            ),
            ("make", Pass, TimedOut, "", "timed out after 5 s".to_owned()),
            ("make test", Fail, Exited(2), "FAIL", "passed".to_owned()),
            (
                "make test",
                Fail,
                Exited(2),
                NO_RULE,
                format!("{OTHER}make: *** No rule to make target 'test'. Stop."),
            ),
            (
                "! make test",
                Pass,
                Exited(0),
                NO_RULE,
                format!("{OTHER}make: *** No rule to make target 'test'. Stop."),
            ),
            ("! make test", Pass, Exited(0), "FAIL", "passed".to_owned()),
            (
                "pytest -k new",
                Fail,
                Exited(5),
                "3 deselected in 0.01s",
                format!("{OTHER}no tests ran"),
            ),
            ("pytest", Fail, Exited(1), "1 error in 0.05s", "passed".to_owned()),
            (
                "nope",
                Fail,
                Exited(127),
                "",
                format!("{OTHER}exit code 127, the command could not be run"),
            ),
            ("timeout 1 make", Fail, Exited(124), "", format!("{OTHER}`timeout` ended it")),
            ("./check", Fail, Exited(124), "", "passed".to_owned()),
            (
                "env --nope make",
                Fail,
                Exited(125),
                "",
                format!("{OTHER}exit code 125, `timeout` or `env` could not start the command"),
            ),
            ("./check", Fail, Exited(125), "", "passed".to_owned()),
            ("cargo test --no-run", Pass, Exited(0), "", "no tests ran".to_owned()),
            (
                "make lint",
                Fail,
                Exited(2),
                "make: *** [Makefile:4: lint] Error 127",
                format!("{OTHER}make: *** [Makefile:4: lint] Error 127"),
            ),
            ("make", Fail, TimedOut, "", format!("{OTHER}timed out after 5 s")),
            ("make", Fail, Signalled(9), "", format!("{OTHER}killed by signal 9")),
            (
                "make",
                Fail,
                Exited(0),
                "",
                "exit code 0, but the command was expected to fail".to_owned(),
            ),
        ];
        for (command, expect, status, output, expected) in table {
            let check = ShellCheck { expect, ..ShellCheck::new(command) };
            assert_eq!(judged(&check, status, output), expected, "{command} {status:?} {output}");
        }
        let allowed = ShellCheck { allow_no_tests: true, ..ShellCheck::new("cargo test") };
        assert_eq!(judged(&allowed, Exited(0), NONE), "passed");
        let check = ShellCheck::new("git diff --nope");
        let status = Signalled(1);
        let end = CommandEnd { status, code: Some(129), stdout: "", stderr: "", timeout_ms: 5000 };
        let reason = "exit code 129 (or killed by signal 1)".to_owned();
        assert_eq!(verdict(&check, &end), Some(CheckVerdict::Failed { reason }));
    }

    #[test]
    fn a_runner_that_ends_before_its_summary_is_warned_about() {
        let table = [
            ("python3 -m pytest", 0, "test session starts", Some("pytest")),
            ("python3 -m pytest", 0, "== 2 passed in 0.01s ==", None),
            ("python3 -m pytest", 1, "", None),
            ("! pytest", 0, "", None),
            ("go test ./...", 0, "ok  \texample.com/x\t0.002s", None),
            ("npm test", 0, "", None),
            ("npm test", 0, "> x@1.0.0 test\n> jest\n", Some("jest")),
            ("sh t.sh", 0, "ok 1 - /p/a.test.js\n# pass 1", Some("node --test")),
            ("sh t.sh", 0, "ok 1 - adds\n# pass 1", None),
        ];
        for (command, code, stdout, expected) in table {
            let status = ProcessStatus::Exited(code);
            let end = CommandEnd { status, code: None, stdout, stderr: "", timeout_ms: 5000 };
            let expected: Vec<Warning> = expected
                .map(|runner| Warning::NoTestCount { runner: runner.to_owned() })
                .into_iter()
                .collect();
            assert_eq!(warnings(&ShellCheck::new(command), &end), expected, "{command} {code}");
        }
    }

    #[test]
    fn a_check_that_hides_failures_is_warned_about() {
        let table = [
            ("sh ci.sh", 0, "Tests: 2 failed, 1 passed, 3 total", vec![failures(2)]),
            ("sh ci.sh", 1, "Tests: 2 failed, 1 passed, 3 total", vec![]),
            ("! sh ci.sh", 0, "Tests: 2 failed, 1 passed, 3 total", vec![]),
            ("npm test | grep tests", 0, "# pass 1\n# fail 1", vec![failures(1)]),
            ("sh ci.sh", 0, "# pass 1\n# fail 0\n# todo 1", vec![]),
            ("go test ./... & wait $!", 0, "FAIL\texample.com/x [build failed]", vec![failures(1)]),
            ("pytest", 0, "2 passed, 1 xfailed in 0.1s", vec![]),
            (
                "sh ci.sh",
                0,
                "Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)",
                vec![failures(2)],
            ),
            ("make || true", 0, "", vec![vacuous("it cannot fail: its last part always succeeds")]),
            (
                "make lint\nmake test",
                0,
                "",
                vec![vacuous("only its last line decides whether it passes")],
            ),
        ];
        for (command, code, stdout, expected) in table {
            let status = ProcessStatus::Exited(code);
            let end = CommandEnd { status, code: None, stdout, stderr: "", timeout_ms: 5000 };
            assert_eq!(warnings(&ShellCheck::new(command), &end), expected, "{command} {code}");
        }
        let fails = ShellCheck { expect: Expectation::Fail, ..ShellCheck::new("sh ci.sh") };
        let status = ProcessStatus::Exited(1);
        let end =
            CommandEnd { status, code: None, stdout: "1 failing", stderr: "", timeout_ms: 5000 };
        assert_eq!(warnings(&fails, &end), []);
    }

    fn failures(failed: u64) -> Warning {
        Warning::FailuresReported { failed }
    }

    fn vacuous(reason: &str) -> Warning {
        Warning::FailuresIgnored { reason: reason.to_owned() }
    }
}
