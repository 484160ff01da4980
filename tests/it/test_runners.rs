//! Real output of test runners, and what is read in it.
//!
//! Each file in `tests/runners` has a head (runner and version, command, exit code, what is expected) and
//! the output. `documented` as the version says that the output is from the runner's manual or source.

use onloop_core::run::{RunnerReport, runner_report};

/// A sample without its output.
struct Sample<'s> {
    command: &'s str,
    exit: &'s str,
    says: &'s str,
    output: &'s str,
}

fn sample(text: &str) -> Sample<'_> {
    let (head, output) = text.split_once("---\n").expect("a head ends with ---");
    let value = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no {name} in {head}"))
    };
    Sample { command: value("command"), exit: value("exit"), says: value("says"), output }
}

/// What a report says, in the words of the samples.
fn words(report: &RunnerReport) -> String {
    match report {
        RunnerReport { misuse: Some(_), .. } => "misused".to_owned(),
        RunnerReport { ran: Some(0), .. } => "no tests ran".to_owned(),
        RunnerReport { passed: Some(passed), .. } if *passed > 0 => format!("passed {passed}"),
        RunnerReport { ran: Some(_), .. } => "ran".to_owned(),
        RunnerReport { ran: None, .. } => "nothing".to_owned(),
    }
}

#[test]
fn the_output_of_every_runner_is_understood() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/runners");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the samples")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    assert!(names.len() > 60, "samples are missing: {}", names.len());
    let mut wrong = Vec::new();
    for path in names {
        let text = std::fs::read_to_string(&path).expect("a text");
        let Sample { command, exit, says, output } = sample(&text);
        let report = runner_report(command, &[output]);
        let found = words(&report);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if found != says {
            wrong.push(format!("{name}: expected {says}, found {found}"));
        }
        if exit == "0" && report.failed > 0 || name.contains("-failed") && report.failed == 0 {
            wrong.push(format!("{name}: {} failures", report.failed));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_of_suites_are_not_counted_as_tests() {
    let jest = "FAIL ./sum.test.js\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total";
    let go = "--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)\nFAIL\nFAIL\texample.com/m\t0.01s";
    assert_eq!(runner_report("npm test", &[jest]).counted, Some((2, 1)));
    assert_eq!(runner_report("go test -v", &[go]).counted, None);
    assert_eq!(
        runner_report("pytest", &["== 1 failed, 3 passed, 2 skipped in 0.1s =="]).counted,
        Some((4, 3))
    );
}
