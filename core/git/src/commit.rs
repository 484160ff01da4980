//! Commits a checkpoint as the next commit of a branch.

use onloop_effect::{BranchName, Failure, FailureKind};
use std::collections::BTreeSet;

use crate::command::{GitProgram, IsolatedOptions, lines_until_nul, list_of, text, until_nul};

/// A commit to make from a checkpoint.
pub(crate) struct NewCommit<'a> {
    pub(crate) index: &'a str,
    pub(crate) branch: &'a BranchName,
    pub(crate) head: &'a str,
    pub(crate) kept: &'a str,
    pub(crate) without: &'a [String],
    pub(crate) message: &'a str,
}

impl GitProgram {
    /// Makes the commit and updates the index of the checkout around `cwd`.
    pub(crate) async fn commit_kept(
        &self,
        cwd: &str,
        new: &NewCommit<'_>,
    ) -> Result<String, Failure> {
        let root = self.layout(cwd).await?.root;
        let branch = format!("refs/heads/{}", new.branch);
        let found = self.commit(&root, &branch).await?;
        if found.as_deref() != Some(new.head) {
            let (name, expected) = (new.branch, new.head);
            let found = found.unwrap_or_else(|| "nothing".to_owned());
            let message = format!("branch `{name}` is at {found}, expected {expected}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.demand_unlocked(&root, &[&branch]).await?;
        self.demand_intact(&root, new.kept, None).await?;
        let tree = self.tree_to_commit(&root, new).await?;
        let args = ["rev-parse", "--verify", &format!("{}^{{tree}}", new.head)];
        let before = text(&self.answer(&root, &args).await?.success()?);
        let commit = match tree == before {
            true => new.head.to_owned(),
            false => self.commit_by_user(&root, &tree, new).await?,
        };
        // The index comes first: everything in an index ahead of its branch can be committed again.
        // An index behind it would show the commit as reverted.
        let checked_out =
            self.answer(&root, &["symbolic-ref", "--quiet", "HEAD"]).await?.yes_or_no()?;
        if checked_out.is_some_and(|name| text(&name) == branch) {
            self.answer(&root, &["read-tree", "--reset", &commit]).await?.success()?;
            // The answer lists the differing files.
            self.answer(&root, &["update-index", "-q", "--refresh"]).await?.yes_or_no()?;
        }
        if commit != new.head {
            let args = ["update-ref", "-m", "commit: onloop finish", &branch, &commit, new.head];
            self.answer(&root, &args).await?.success()?;
        }
        Ok(commit)
    }

    /// Returns the tree of the checkpoint without the excluded files.
    async fn tree_to_commit(&self, root: &str, new: &NewCommit<'_>) -> Result<String, Failure> {
        let index = format!("{}.commit", new.index);
        let options = IsolatedOptions { index: Some(&index), ..IsolatedOptions::default() };
        let made = async {
            self.answer_isolated(root, &["read-tree", new.kept], &[], options).await?.success()?;
            let there = match new.without {
                [] => Vec::new(),
                [_, ..] => self.entries_of(root, &["--name-only", new.head], new.without).await?,
            };
            let there: BTreeSet<&[u8]> = lines_until_nul(&there).collect();
            let without = list_of(new.without);
            let list = until_nul(lines_until_nul(&without).filter(|path| !there.contains(path)));
            if !list.is_empty() {
                let args = ["update-index", "--force-remove", "-z", "--stdin"];
                self.answer_isolated(root, &args, &list, options).await?.success()?;
            }
            let args = ["write-tree", "--missing-ok"];
            self.answer_isolated(root, &args, &[], options).await?.success()
        }
        .await;
        self.forget_file(&index).await;
        made.map(|tree| text(&tree))
    }

    /// Commits like `git commit`, without hooks.
    async fn commit_by_user(
        &self,
        root: &str,
        tree: &str,
        new: &NewCommit<'_>,
    ) -> Result<String, Failure> {
        let signs =
            self.answer(root, &["config", "--type=bool", "commit.gpgSign"]).await?.yes_or_no()?;
        let signs = signs.is_some_and(|signs| text(&signs) == "true");
        let sign = if signs { "--gpg-sign" } else { "--no-gpg-sign" };
        let args = ["commit-tree", sign, "-p", new.head, "-F", "-", tree];
        Ok(text(&self.answer_to(root, &args, new.message.as_bytes()).await?.success()?))
    }
}
