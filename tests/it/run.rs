//! `onloop run` and everything after it, as a person meets it: the real program, real files,
//! real processes, and real git where it matters.

mod adopting;
mod agents;
mod background;
mod checks;
mod dead_ends;
mod deciders;
mod gates;
mod hostile_files;
mod interruptions;
mod looking;
mod old_name;
mod places;
mod progress;
mod repeated_checks;
mod reviews;
mod secrets;
mod setup;
mod silent_passes;
mod simulate;
mod starting;
mod survivors;
mod templates;
pub(crate) mod terminal;
mod untrusted;
mod watching;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::workspace::{Run, Watchdog, Workspace, program};

/// The workflow file of these tests.
pub(crate) const FILE: &str = "hotl-workflow-w.md";

/// A workflow with these further frontmatter lines and these steps. The risk is low unless
/// the lines say otherwise.
pub(crate) fn workflow(front: &str, steps: &str) -> String {
    let risk = if front.contains("risk_level:") { "" } else { "risk_level: low\n" };
    format!(
        "---\nintent: Try it\nsuccess_criteria: It works\n{risk}{front}---\n\n## Steps\n\n{steps}"
    )
}

/// A folder without git that holds a workflow.
pub(crate) fn project(front: &str, steps: &str) -> Workspace {
    let project = Workspace::plain();
    project.write(FILE, workflow(front, steps));
    project
}

/// Runs the workflow where it lies.
pub(crate) fn run(project: &Workspace, arguments: &[&str]) -> Run {
    project.onloop(&[&["run", "--mode", "none"], arguments].concat())
}

/// The command that was printed below the line that contains `heading`.
#[track_caller]
pub(crate) fn command_below(run: &Run, heading: &str) -> String {
    let mut lines = run.stderr.lines().skip_while(|line| !line.contains(heading)).skip(1);
    let line = lines.next().unwrap_or_else(|| panic!("no `{heading}`: {}", run.stderr));
    assert!(line.trim_start().starts_with("onloop "), "not a command: {line}");
    line.trim().to_owned()
}

/// Types the command below the line that contains `heading`, and then resumes the run, as where no
/// driver may be started in the background.
#[track_caller]
pub(crate) fn decide_and_resume(project: &Workspace, said: &Run, heading: &str) -> Run {
    project.shell(&command_below(said, heading)).expect_exit(0);
    project.onloop(&["resume"])
}

/// `status` of the run and of its steps, such as `blocked: done, failed`.
pub(crate) fn standing(project: &Workspace) -> String {
    let record = project.record();
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let steps = record["steps"].as_array().expect("a run has steps");
    let steps: Vec<String> = steps.iter().map(|step| word(&step["status"])).collect();
    format!("{}: {}", word(&record["status"]), steps.join(", "))
}

/// `onloop` in the background, with its output piped.
pub(crate) fn begin(project: &Workspace, arguments: &[&str]) -> Child {
    let mut command = project.command_at(".", program());
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program is there")
}

/// Waits until `holds`; an endless wait is a failure.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a background `onloop` and gives what it said.
pub(crate) fn output_of(child: Child) -> Run {
    let _watchdog = Watchdog::over(child.id());
    child.wait_with_output().expect("the program ends").into()
}
