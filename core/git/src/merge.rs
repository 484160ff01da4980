//! Merges with the git program, completely or not at all.

use std::fmt;

use onloop_effect::{BranchName, Failure, FailureKind};

use crate::checkout_rollback::was_ended_early;
use crate::command::{Answer, GitProgram, lines_until_nul, shown_name, text};
use crate::known_failures;

/// A merge to make.
pub(crate) struct NewMerge<'a> {
    pub(crate) branch: &'a BranchName,
    pub(crate) commit: &'a str,
    pub(crate) into: &'a BranchName,
}

/// What is checked out before a merge.
pub(crate) enum CheckedOut {
    Branch(BranchName),
    Commit(String),
}

impl GitProgram {
    /// Returns the best common ancestor of a commit and a branch.
    pub(crate) async fn merge_base(
        &self,
        cwd: &str,
        commit: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        let branch = format!("refs/heads/{branch}");
        if self.commit(cwd, commit).await?.is_none() || self.commit(cwd, &branch).await?.is_none() {
            return Ok(None);
        }
        let base = self.answer(cwd, &["merge-base", commit, &branch]).await?.yes_or_no()?;
        Ok(base.map(|base| text(&base)))
    }

    /// Merges, and restores the checkout if the merge fails. A merge that was killed is restored
    /// first.
    pub(crate) async fn merge(&self, cwd: &str, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let root = self.layout(cwd).await?.root;
        let tip = format!("refs/heads/{}", merge.branch);
        let found = self.commit(&root, &tip).await?;
        if found.as_deref() != Some(merge.commit) {
            let found = found.unwrap_or_else(|| "nothing".to_owned());
            let (branch, expected) = (merge.branch, merge.commit);
            let message = format!("branch `{branch}` is at {found}, expected {expected}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let into = format!("refs/heads/{}", merge.into);
        self.demand_intact(&root, merge.commit, Some(&into)).await?;
        let note = self.merge_note(&root).await?;
        let recovered = self.recover_merge(&root, &note, merge).await?;
        if self.commit(&root, "MERGE_HEAD").await?.is_some() {
            let message =
                format!("`{root}` is in the middle of a merge; `git merge --abort` ends it");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.demand_unlocked(&root, &["HEAD", &into]).await?;
        let before = match recovered {
            Some(before) => before,
            None => self.checked_out(&root).await?,
        };
        self.write_note(&note, &before, merge.commit).await?;
        let merged = self.merge_from(&root, merge, &before).await;
        // Whether everything was restored after git was ended early is looked at by the next merge.
        if !merged.as_ref().is_err_and(was_ended_early) {
            // A note that stays makes the next merge of the same commit look at the checkout first.
            self.forget_file(&note).await;
        }
        merged
    }

    /// Restores the checkout that a killed merge of the same commit left.
    pub(crate) async fn undo_killed_merge(
        &self,
        cwd: &str,
        merge: &NewMerge<'_>,
    ) -> Result<(), Failure> {
        let root = self.layout(cwd).await?.root;
        let note = self.merge_note(&root).await?;
        let Some(before) = self.recover_merge(&root, &note, merge).await? else { return Ok(()) };
        let base = self.merge_base(&root, merge.commit, merge.into).await?;
        let stays = before.is(merge.branch) && base.as_deref() == Some(merge.commit);
        let here = self.checked_out(&root).await?;
        if !stays && here.to_string() != before.to_string() {
            self.switch_back(&root, &before).await?;
        }
        self.forget_file(&note).await;
        Ok(())
    }

    async fn merge_from(
        &self,
        root: &str,
        merge: &NewMerge<'_>,
        before: &CheckedOut,
    ) -> Result<(), Failure> {
        if !self.checked_out(root).await?.is(merge.into) {
            self.switch(root, merge.into, false).await?;
        }
        if let Err(failure) = self.merge_here(root, merge).await {
            // An interrupted merge is undone, too.
            let undisturbed = self.undisturbed();
            let undone = match undisturbed.abort_merge(root).await {
                Ok(()) if !before.is(merge.into) => undisturbed.switch_back(root, before).await,
                aborted => aborted,
            };
            return Err(match undone {
                Ok(()) => failure,
                Err(left) => known_failures::with_rollback_error(&failure, root, &left),
            });
        }
        // A checkout of the merged branch stays on the target, to continue from the result.
        if before.is(merge.into) || before.is(merge.branch) {
            return Ok(());
        }
        self.switch_back(root, before).await.map_err(|left| {
            let (branch, into) = (merge.branch, merge.into);
            let message =
                format!("`{branch}` is in `{into}` now, and `{root}` stays on `{into}`: {left}");
            Failure::new(left.kind, message)
        })
    }

    /// Merges into what is checked out.
    async fn merge_here(&self, root: &str, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let tip = format!("refs/heads/{}", merge.branch);
        let message = message(merge.branch, merge.into);
        let args = ["merge", "--quiet", "--no-ff", "-m", &message, "--", &tip];
        let merged = self.change_files(root, &args, &tip).await?;
        match merged.exit {
            0 => Ok(()),
            _ => Err(self.undisturbed().explain_merge(root, merge, merged).await?),
        }
    }

    pub(crate) async fn checked_out(&self, root: &str) -> Result<CheckedOut, Failure> {
        let branch = self.head_branch(root).await?.and_then(|name| name.parse::<BranchName>().ok());
        match (branch, self.commit(root, "HEAD").await?) {
            (Some(branch), _) => Ok(CheckedOut::Branch(branch)),
            (None, Some(commit)) => Ok(CheckedOut::Commit(commit)),
            (None, None) => {
                let message = format!("`{root}` has no commit checked out");
                Err(Failure::new(FailureKind::Invalid, message))
            }
        }
    }

    async fn switch_back(&self, root: &str, before: &CheckedOut) -> Result<(), Failure> {
        match before {
            CheckedOut::Branch(branch) => self.switch(root, branch, false).await,
            CheckedOut::Commit(commit) => {
                let args = ["switch", "--quiet", "--no-recurse-submodules", "--detach", commit];
                self.change_files(root, &args, commit).await?.success().map(drop)
            }
        }
    }

    /// Names the conflicting files; called before the merge is aborted.
    async fn explain_merge(
        &self,
        root: &str,
        merge: &NewMerge<'_>,
        answer: Answer,
    ) -> Result<Failure, Failure> {
        let args = ["diff", "--name-only", "--diff-filter=U", "-z"];
        let unmerged = self.answer(root, &args).await?.success()?;
        let files: Vec<String> =
            lines_until_nul(&unmerged).map(|path| format!("`{}`", shown_name(path))).collect();
        if files.is_empty() {
            return Ok(answer.into_failure());
        }
        let (branch, into, files) = (merge.branch, merge.into, files.join(", "));
        let message = format!("`{branch}` and `{into}` changed the same lines of {files}");
        Ok(Failure::new(FailureKind::Conflict, message))
    }

    async fn abort_merge(&self, root: &str) -> Result<(), Failure> {
        if self.commit(root, "MERGE_HEAD").await?.is_none() {
            return Ok(());
        }
        self.act(root, &["merge", "--abort"]).await?.success().map(drop)
    }
}

impl CheckedOut {
    /// Parses what [`CheckedOut`] displays.
    pub(crate) fn parse(text: &str) -> Option<CheckedOut> {
        match text.strip_prefix("refs/heads/") {
            Some(name) => name.parse().ok().map(CheckedOut::Branch),
            None => Some(CheckedOut::Commit(text.to_owned())),
        }
    }

    pub(crate) fn is(&self, branch: &BranchName) -> bool {
        match self {
            CheckedOut::Branch(name) => name == branch,
            CheckedOut::Commit(_) => false,
        }
    }
}

impl fmt::Display for CheckedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckedOut::Branch(branch) => write!(f, "refs/heads/{branch}"),
            CheckedOut::Commit(commit) => f.write_str(commit),
        }
    }
}

/// As git writes it for the short name of a branch.
fn message(branch: &BranchName, into: &BranchName) -> String {
    match into.to_string().as_str() {
        "main" | "master" => format!("Merge branch '{branch}'"),
        into => format!("Merge branch '{branch}' into {into}"),
    }
}
