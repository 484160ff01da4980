//! Which checks are evaluated once more after their step was done.

use super::record::{Run, is_machine_check};
use onloop_workflow::{Check, Expectation, ShellCheck};

impl Run {
    /// Whether a check of `step` is evaluated once more later. One with `expect: fail` describes how
    /// things were before, and so does `! COMMAND` where a later step makes COMMAND pass.
    pub fn is_repeated(&self, step: u32, check: &Check) -> bool {
        let Check::Shell(shell) = check else { return is_machine_check(check) };
        shell.expect == Expectation::Pass && !self.is_turned(step, shell)
    }

    /// Whether a step after `step` verifies that the command behind the `!` of `shell` passes.
    fn is_turned(&self, step: u32, shell: &ShellCheck) -> bool {
        let Some(command) = shell.negated() else { return false };
        let turns = |check: &Check| match check {
            Check::Shell(later) => {
                later.expect == Expectation::Pass
                    && later.command.trim() == command
                    && later.cwd == shell.cwd
            }
            Check::Artifact { .. } | Check::Browser { .. } | Check::HumanReview { .. } => false,
        };
        let later = self.steps.iter().filter(|record| record.step.number > step);
        later.flat_map(|record| &record.step.checks).any(turns)
    }
}
