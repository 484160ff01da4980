//! Remote repositories, through the git program.

use onloop_effect::{BranchName, Failure, FailureKind};

use crate::command::{Answer, GitProgram, text};
use crate::known_failures;
use crate::paths::is_absolute;
use crate::shared::KnownRemote;

impl GitProgram {
    /// The commit that a branch is at in a remote repository.
    pub(crate) async fn remote_branch(
        &self,
        cwd: &str,
        remote: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        self.demand_remote(cwd, remote).await?;
        let name = format!("refs/heads/{branch}");
        let asked = self.answer(cwd, &["ls-remote", "--", remote, &name]).await?;
        if asked.exit != 0 {
            return Err(unreachable(remote, asked));
        }
        let listed = text(&asked.stdout);
        // Git also lists longer names that end like this one.
        let commit = |line: &str| {
            line.split_once('\t').filter(|(_, found)| *found == name).map(|(id, _)| id.to_owned())
        };
        Ok(listed.lines().find_map(commit))
    }

    /// Pushes a branch; never by force.
    pub(crate) async fn push(
        &self,
        cwd: &str,
        remote: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        self.demand_remote(cwd, remote).await?;
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        if let Some(commit) = self.commit(cwd, &format!("refs/heads/{branch}")).await? {
            self.demand_intact(cwd, &commit, None).await?;
        }
        let args = ["push", "--porcelain", "--set-upstream", "--", remote, &refspec];
        let pushed = self.act_with_hooks(cwd, &args).await?;
        match pushed.exit {
            0 => Ok(()),
            _ => Err(match self.refused_by_hook(cwd, &pushed).await? {
                Some(refusal) => refusal,
                None => unpushed(remote, branch, pushed),
            }),
        }
    }

    /// When the `pre-push` hook refuses, git prints only that the push failed.
    pub(crate) async fn refused_by_hook(
        &self,
        cwd: &str,
        pushed: &Answer,
    ) -> Result<Option<Failure>, Failure> {
        let said = pushed.said();
        let own = |line: &str| line.starts_with("error: failed to push some refs");
        let others = ["fatal: ", "error: src refspec"];
        let by_git = others.iter().any(|words| said.contains(words)) || !said.lines().any(own);
        if by_git || pushed.stdout.contains(&b'!') {
            return Ok(None);
        }
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "hooks/pre-push"];
        let hook = text(&self.answer_with_hooks(cwd, &args).await?.success()?);
        if self.target_of(&hook).await.is_none() {
            return Ok(None);
        }
        let mut message = format!("the hook `{hook}` refused it");
        for line in said.lines().filter(|line| !own(line)).take(WARNINGS) {
            message += &format!("\n{line}");
        }
        let failure = Failure::new(FailureKind::Denied, message);
        let fix = "do what the hook says, then run the same command again";
        Ok(Some(failure.with_fix(fix, None)))
    }

    /// Returns a configured remote.
    pub(crate) async fn known_remote<'n>(
        &self,
        cwd: &str,
        name: &'n str,
    ) -> Result<KnownRemote<'n>, Failure> {
        let addresses = self.demand_remote(cwd, name).await?;
        // One of several addresses can be remote, and a setting can replace the receiving program.
        let is_path = is_absolute(&addresses) && !addresses.contains('\n');
        let setting = format!("remote.{name}.receivepack");
        let is_folder = is_path
            && self.answer(cwd, &["config", "--get-all", &setting]).await?.yes_or_no()?.is_none();
        Ok(KnownRemote { name, is_folder })
    }

    /// Returns the addresses to which a remote is pushed, a line each. Git would take the name of a
    /// missing remote for a folder.
    async fn demand_remote(&self, cwd: &str, remote: &str) -> Result<String, Failure> {
        let asked =
            self.answer(cwd, &["remote", "get-url", "--push", "--all", "--", remote]).await?;
        if asked.exit == 0 {
            return Ok(text(&asked.stdout));
        }
        let known = text(&self.answer(cwd, &["remote"]).await?.success()?);
        let known = match known.is_empty() {
            true => "none".to_owned(),
            false => known.lines().collect::<Vec<_>>().join(", "),
        };
        let message = format!(
            "there is no remote `{remote}` in `{cwd}` (configured: {known}); add it: git remote add \
             {remote} ADDRESS"
        );
        Err(Failure::new(FailureKind::NotFound, message))
    }
}

/// Most lines of the remote's output in a message.
const WARNINGS: usize = 10;

/// Explains why a branch was not pushed. Git prints one line for each branch: a flag, the names,
/// and a summary.
fn unpushed(remote: &str, branch: &BranchName, answer: Answer) -> Failure {
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    let verdict = stdout.lines().find(|line| line.starts_with('!')).unwrap_or_default();
    let summary = verdict.rsplit('\t').next().unwrap_or_default();
    let reason =
        summary.split_once('(').map_or(summary, |(_, reason)| reason.trim_end_matches(')'));
    let said = answer.said();
    if summary.starts_with("[rejected]") {
        let message = format!(
            "`{remote}` has commits on `{branch}` that are not here ({reason}), and nothing is \
             forced; see them: git fetch {remote} {branch}, git log FETCH_HEAD"
        );
        return Failure::new(FailureKind::Conflict, message);
    }
    if summary.starts_with("[remote rejected]") {
        let theirs = said.lines().filter_map(|line| line.strip_prefix("remote: "));
        let theirs = theirs.map(str::trim_end).filter(|line| !line.is_empty());
        let mut message = format!("`{remote}` refused `{branch}` ({reason})");
        if reason == "shallow update not allowed" {
            message += "; this clone is shallow, so run: git fetch --unshallow";
        }
        for line in theirs.take(WARNINGS) {
            message += &format!("\n{remote}: {line}");
        }
        return Failure::new(FailureKind::Denied, message);
    }
    unanswered(remote, answer)
}

/// Explains why refs were not changed in the remote.
pub(crate) fn unpushed_refs(remote: &str, answer: Answer) -> Failure {
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut summaries = stdout.lines().filter(|line| line.starts_with('!'));
    // A ref that fails only with another one explains nothing.
    let why = |line: &&str| !line.ends_with("(atomic push failed)");
    let Some(verdict) = summaries.find(why) else { return unanswered(remote, answer) };
    let summary = verdict.rsplit('\t').next().unwrap_or_default();
    let said = answer.said();
    // A lock blocks every later push.
    let lock = known_failures::lock_in(&said)
        .map(|path| known_failures::locked(&format!("`{path}`")).message);
    let reason = lock.as_deref().unwrap_or(summary);
    let mut message = format!("`{remote}` did not take it: {reason}");
    let theirs = said.lines().filter_map(|line| line.strip_prefix("remote: "));
    let theirs = theirs.map(str::trim_end).filter(|line| !line.is_empty());
    for line in theirs.take(WARNINGS) {
        message += &format!("\n{remote}: {line}");
    }
    Failure::new(FailureKind::Denied, message)
}

/// Explains why a remote refused.
pub(crate) fn unanswered(remote: &str, answer: Answer) -> Failure {
    let said = answer.said();
    if said.contains("Could not read from remote repository") || said.contains("unable to access") {
        return unreachable(remote, answer);
    }
    answer.into_failure()
}

/// Explains why a remote did not answer.
fn unreachable(remote: &str, answer: Answer) -> Failure {
    let said = answer.said();
    let why = said.lines().find_map(|line| line.strip_prefix("fatal: "));
    match why {
        Some(why) => {
            let message = format!("`{remote}` does not answer: {why}");
            Failure::new(FailureKind::Closed, message)
        }
        None => answer.into_failure(),
    }
}
