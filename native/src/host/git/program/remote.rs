//! Remote repositories with the git program, which knows every way to reach them.

use std::path::Path;

use onloop_core::effect::BranchName;
use onloop_core::effect::{Failure, FailureKind};

use super::command::text;
use super::{Answer, GitProgram};

impl GitProgram {
    /// The commit that a branch is at in a remote repository.
    pub(crate) fn remote_branch(
        &self,
        cwd: &Path,
        remote: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        self.demand_remote(cwd, remote)?;
        let name = format!("refs/heads/{branch}");
        let listed = text(&self.answer(cwd, &["ls-remote", "--", remote, &name])?.success()?);
        // Git also lists longer names that end like this one.
        let commit = |line: &str| {
            line.split_once('\t').filter(|(_, found)| *found == name).map(|(id, _)| id.to_owned())
        };
        Ok(listed.lines().find_map(commit))
    }

    /// Pushes a branch; never by force.
    pub(crate) fn push(
        &self,
        cwd: &Path,
        remote: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        self.demand_remote(cwd, remote)?;
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        let args = ["push", "--porcelain", "--set-upstream", "--", remote, &refspec];
        let pushed = self.answer_with_hooks(cwd, &args)?;
        match pushed.exit {
            0 => Ok(()),
            _ => Err(explain_push(pushed)),
        }
    }

    /// Git would take the name of a remote that is not there for a folder.
    fn demand_remote(&self, cwd: &Path, remote: &str) -> Result<(), Failure> {
        if self.answer(cwd, &["remote", "get-url", "--", remote])?.exit == 0 {
            return Ok(());
        }
        let known = text(&self.answer(cwd, &["remote"])?.success()?);
        let known = match known.is_empty() {
            true => "none".to_owned(),
            false => known.lines().collect::<Vec<_>>().join(", "),
        };
        let message = format!("there is no remote `{remote}` (configured: {known})");
        Err(Failure::new(FailureKind::NotFound, message))
    }
}

fn explain_push(answer: Answer) -> Failure {
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let failure = answer.into_failure();
    // One line for each branch: a flag, the names, and a summary.
    let verdict = said.lines().find(|line| line.starts_with('!')).unwrap_or_default();
    let summary = verdict.rsplit('\t').next().unwrap_or_default();
    let kind = if summary.starts_with("[rejected]") {
        FailureKind::Conflict
    } else if summary.starts_with("[remote rejected]") {
        FailureKind::Denied
    } else {
        failure.kind
    };
    let message = match summary {
        "" => failure.message,
        summary => format!("{} ({summary})", failure.message),
    };
    Failure::new(kind, message)
}
