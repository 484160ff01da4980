//! Merges with the git program, completely or not at all.

use std::fmt;
use std::path::Path;

use onloop_core::effect::BranchName;
use onloop_core::effect::{Failure, FailureKind};

use super::super::{NewMerge, known_failures};
use super::checkout_rollback::was_ended_early;
use super::command::{lines_until_nul, shown_name, text};
use super::{Answer, GitProgram};

/// What is checked out before a merge.
pub(super) enum CheckedOut {
    Branch(BranchName),
    Commit(String),
}

impl GitProgram {
    /// Returns the best common ancestor of a commit and a branch.
    pub(crate) fn merge_base(
        &self,
        cwd: &Path,
        commit: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        let branch = format!("refs/heads/{branch}");
        if self.commit(cwd, commit)?.is_none() || self.commit(cwd, &branch)?.is_none() {
            return Ok(None);
        }
        let base = self.answer(cwd, &["merge-base", commit, &branch])?.yes_or_no()?;
        Ok(base.map(|base| text(&base)))
    }

    /// Merges, and restores the checkout if the merge fails. A merge that was killed is restored
    /// first.
    pub(crate) fn merge(&self, cwd: &Path, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let root = self.layout(cwd)?.root;
        let shown = root.display();
        let tip = format!("refs/heads/{}", merge.branch);
        let found = self.commit(&root, &tip)?;
        if found.as_deref() != Some(merge.commit) {
            let found = found.unwrap_or_else(|| "nothing".to_owned());
            let (branch, expected) = (merge.branch, merge.commit);
            let message = format!("branch `{branch}` is at {found}, expected {expected}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let into = format!("refs/heads/{}", merge.into);
        self.demand_intact(&root, merge.commit, Some(&into))?;
        let note = self.merge_note(&root)?;
        let recovered = self.recover_merge(&root, &note, merge)?;
        if self.commit(&root, "MERGE_HEAD")?.is_some() {
            let message =
                format!("`{shown}` is in the middle of a merge; `git merge --abort` ends it");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.demand_unlocked(&root, &["HEAD", &into])?;
        let before = match recovered {
            Some(before) => before,
            None => self.checked_out(&root)?,
        };
        note.write(&before, merge.commit)?;
        let merged = self.merge_from(&root, merge, &before);
        // Whether everything was restored after git was ended early is looked at by the next merge.
        if !merged.as_ref().is_err_and(was_ended_early) {
            note.remove();
        }
        merged
    }

    /// Restores the checkout that a killed merge of the same commit left.
    pub(crate) fn undo_killed_merge(
        &self,
        cwd: &Path,
        merge: &NewMerge<'_>,
    ) -> Result<(), Failure> {
        let root = self.layout(cwd)?.root;
        let note = self.merge_note(&root)?;
        let Some(before) = self.recover_merge(&root, &note, merge)? else { return Ok(()) };
        let base = self.merge_base(&root, merge.commit, merge.into)?;
        let stays = before.is(merge.branch) && base.as_deref() == Some(merge.commit);
        let here = self.checked_out(&root)?;
        if !stays && here.to_string() != before.to_string() {
            self.switch_back(&root, &before)?;
        }
        note.remove();
        Ok(())
    }

    fn merge_from(
        &self,
        root: &Path,
        merge: &NewMerge<'_>,
        before: &CheckedOut,
    ) -> Result<(), Failure> {
        let shown = root.display();
        if !self.checked_out(root)?.is(merge.into) {
            self.switch(root, merge.into, false)?;
        }
        if let Err(failure) = self.merge_here(root, merge) {
            // An interrupted merge is undone, too.
            let undisturbed = self.undisturbed();
            let undone = undisturbed.abort_merge(root).and_then(|()| match before.is(merge.into) {
                true => Ok(()),
                false => undisturbed.switch_back(root, before),
            });
            return Err(match undone {
                Ok(()) => failure,
                Err(left) => known_failures::with_rollback_error(&failure, root, &left),
            });
        }
        // A checkout of the merged branch stays on the target, to continue from the result.
        if before.is(merge.into) || before.is(merge.branch) {
            return Ok(());
        }
        self.switch_back(root, before).map_err(|left| {
            let (branch, into) = (merge.branch, merge.into);
            let message =
                format!("`{branch}` is in `{into}` now, and `{shown}` stays on `{into}`: {left}");
            Failure::new(left.kind, message)
        })
    }

    /// Merges into what is checked out.
    fn merge_here(&self, root: &Path, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let tip = format!("refs/heads/{}", merge.branch);
        let message = message(merge.branch, merge.into);
        let args = ["merge", "--quiet", "--no-ff", "-m", &message, "--", &tip];
        let merged = self.change_files(root, &args, &tip)?;
        match merged.exit {
            0 => Ok(()),
            _ => Err(self.undisturbed().explain_merge(root, merge, merged)?),
        }
    }

    pub(super) fn checked_out(&self, root: &Path) -> Result<CheckedOut, Failure> {
        let branch = self.head_branch(root)?.and_then(|name| name.parse::<BranchName>().ok());
        match (branch, self.commit(root, "HEAD")?) {
            (Some(branch), _) => Ok(CheckedOut::Branch(branch)),
            (None, Some(commit)) => Ok(CheckedOut::Commit(commit)),
            (None, None) => {
                let message = format!("`{}` has no commit checked out", root.display());
                Err(Failure::new(FailureKind::Invalid, message))
            }
        }
    }

    fn switch_back(&self, root: &Path, before: &CheckedOut) -> Result<(), Failure> {
        match before {
            CheckedOut::Branch(branch) => self.switch(root, branch, false),
            CheckedOut::Commit(commit) => {
                let args = ["switch", "--quiet", "--no-recurse-submodules", "--detach", commit];
                self.change_files(root, &args, commit)?.success().map(drop)
            }
        }
    }

    /// Names the conflicting files; called before the merge is aborted.
    fn explain_merge(
        &self,
        root: &Path,
        merge: &NewMerge<'_>,
        answer: Answer,
    ) -> Result<Failure, Failure> {
        let args = ["diff", "--name-only", "--diff-filter=U", "-z"];
        let unmerged = self.answer(root, &args)?.success()?;
        let files: Vec<String> =
            lines_until_nul(&unmerged).map(|path| format!("`{}`", shown_name(path))).collect();
        if files.is_empty() {
            return Ok(answer.into_failure());
        }
        let (branch, into, files) = (merge.branch, merge.into, files.join(", "));
        let message = format!("`{branch}` and `{into}` changed the same lines of {files}");
        Ok(Failure::new(FailureKind::Conflict, message))
    }

    fn abort_merge(&self, root: &Path) -> Result<(), Failure> {
        if self.commit(root, "MERGE_HEAD")?.is_none() {
            return Ok(());
        }
        self.act(root, &["merge", "--abort"])?.success().map(drop)
    }
}

impl CheckedOut {
    /// Parses what [`CheckedOut`] displays.
    pub(super) fn parse(text: &str) -> Option<CheckedOut> {
        match text.strip_prefix("refs/heads/") {
            Some(name) => name.parse().ok().map(CheckedOut::Branch),
            None => Some(CheckedOut::Commit(text.to_owned())),
        }
    }

    pub(super) fn is(&self, branch: &BranchName) -> bool {
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
