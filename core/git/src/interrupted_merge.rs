//! Merges that a killed process left half done.
//!
//! A note in the git folder exists while a merge changes files. It names the merged commit and what was
//! checked out before. The next merge of the same commit finds the note, restores the checkout and starts
//! again. A file counts as written by the killed git if its content is that of one of the commits, or the
//! first part of it.

use std::collections::BTreeSet;

use onloop_effect::{Failure, FailureKind};

use crate::checkout_rollback::CheckoutState;
use crate::command::{Answer, GitProgram, IsolatedOptions, lines_until_nul, shown_name, text};
use crate::files::answer;
use crate::merge::{CheckedOut, NewMerge};
use crate::paths::{below, join};
use crate::{Step, StepReply, known_failures};

/// Name of the note in the git folder of the checkout.
const NOTE: &str = "onloop-merge";

impl GitProgram {
    /// The path of the note about a merge.
    pub(crate) async fn merge_note(&self, root: &str) -> Result<String, Failure> {
        self.git_path(root, NOTE).await
    }

    /// Writes the note before a file changes.
    pub(crate) async fn write_note(
        &self,
        note: &str,
        before: &CheckedOut,
        commit: &str,
    ) -> Result<(), Failure> {
        let bytes = format!("{commit}\n{before}\n").into_bytes().into();
        self.done(Step::Write { path: note.to_owned(), bytes }).await
    }

    /// Returns what was checked out before a killed merge of `commit`; `None`: no merge of it was
    /// killed.
    async fn read_note(&self, note: &str, commit: &str) -> Option<CheckedOut> {
        let text = self.read_text(note).await?;
        let (merged, before) = text.split_once('\n')?;
        (merged == commit).then(|| CheckedOut::parse(before.trim_end())).flatten()
    }

    /// Restores the checkout that a killed merge of the same commit left. Returns what was checked out
    /// before that merge.
    ///
    /// # Errors
    ///
    /// `Busy` while another git works there; `Conflict` if a person changed a file since.
    pub(crate) async fn recover_merge(
        &self,
        root: &str,
        note: &str,
        merge: &NewMerge<'_>,
    ) -> Result<Option<CheckedOut>, Failure> {
        let Some(before) = self.read_note(note, merge.commit).await else { return Ok(None) };
        let here = self.checked_out(root).await?;
        if !here.is(merge.into) && here.to_string() != before.to_string() {
            // A person has switched to another branch since, so the checkout is theirs.
            return Ok(None);
        }
        self.wait_for_git(root).await?;
        self.remove_dead_locks(root, merge).await?;
        let Some(head) = self.commit(root, "HEAD").await? else { return Ok(Some(before)) };
        let into = format!("refs/heads/{}", merge.into);
        let mut commits = vec![head.clone()];
        for revision in [&into, merge.commit, &before.to_string()] {
            let found = self.commit(root, revision).await?;
            commits.extend(found.filter(|found| !commits.contains(found)));
        }
        let mut paths = BTreeSet::new();
        for other in &commits[1..] {
            let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &head, other, "--"];
            let differ = self.answer(root, &args).await?.success()?;
            paths.extend(lines_until_nul(&differ).map(<[u8]>::to_vec));
        }
        self.demand_written_by_git(root, &commits, &paths).await?;
        self.answer(root, &["read-tree", "--reset", &head]).await?.success()?;
        self.answer(root, &["update-index", "-q", "--refresh"]).await?.yes_or_no()?;
        let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", &head];
        let tracked = self.answer(root, &args).await?.success()?;
        let tracked: BTreeSet<&[u8]> = lines_until_nul(&tracked).collect();
        let (written, made) = paths.into_iter().partition(|path| tracked.contains(path.as_slice()));
        self.restore_checkout(&CheckoutState::without_index(root, written, made)).await?;
        Ok(Some(before))
    }

    /// Removes the locks of a killed git.
    async fn remove_dead_locks(&self, root: &str, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let common = self.layout(root).await?.common;
        let branch = join(&common, &format!("refs/heads/{}.lock", merge.into));
        let index = self.git_path(root, "index.lock").await?;
        let head = self.git_path(root, "HEAD.lock").await?;
        for lock in [index, head, branch] {
            if !self.is_there(&lock).await {
                continue;
            }
            if self.git_works_in(root).await?.unwrap_or(true) {
                return Err(known_failures::locked(&format!("`{lock}`")));
            }
            self.done(Step::RemoveFile { path: lock }).await?;
        }
        Ok(())
    }

    /// Refuses if the content of one of `paths` comes from none of `commits`.
    async fn demand_written_by_git(
        &self,
        root: &str,
        commits: &[String],
        paths: &BTreeSet<Vec<u8>>,
    ) -> Result<(), Failure> {
        let index = self.git_path(root, "onloop-merge.index").await?;
        let found = self.follow(paths.iter().map(|path| below(root, path)).collect()).await;
        let files =
            paths.iter().zip(found).filter(|(_, found)| found.is_some_and(|it| it.is_file()));
        let mut other: BTreeSet<Vec<u8>> = files.map(|(path, _)| path.clone()).collect();
        for commit in commits {
            let differ = self.differences(root, &index, commit).await;
            self.forget_file(&index).await;
            let differ = differ?;
            other.retain(|path| differ.contains(path));
        }
        let mut names = Vec::new();
        for path in &other {
            if !self.is_part(root, commits, path).await {
                names.push(format!("`{}`", shown_name(path)));
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let message = format!(
            "an earlier merge in `{root}` did not complete, and {} has content that git did not write",
            names.join(", ")
        );
        let failure = Failure::new(FailureKind::Conflict, message);
        Err(failure.with_fix("move that content away, then run the same command again", None))
    }

    /// Returns the paths whose files differ from `commit`, which includes missing and untracked ones.
    async fn differences(
        &self,
        root: &str,
        index: &str,
        commit: &str,
    ) -> Result<BTreeSet<Vec<u8>>, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        self.answer_isolated(root, &["read-tree", commit], &[], options).await?.success()?;
        let args = ["update-index", "-q", "--refresh"];
        self.answer_isolated(root, &args, &[], options).await?.yes_or_no()?;
        let mut differ = BTreeSet::new();
        let tracked = ["diff-files", "--name-only", "-z", "--ignore-submodules=dirty"];
        for args in [&tracked[..], &["ls-files", "--others", "-z"]] {
            let listed = self.answer_isolated(root, args, &[], options).await?.success()?;
            differ.extend(lines_until_nul(&listed).map(<[u8]>::to_vec));
        }
        Ok(differ)
    }

    /// Whether the file is the first part of the file in one of `commits`.
    async fn is_part(&self, root: &str, commits: &[String], path: &[u8]) -> bool {
        let Ok(part) = self.read(&below(root, path)).await else { return false };
        for commit in commits {
            let named = format!("{commit}:{}", String::from_utf8_lossy(path));
            let whole = self.answer(root, &["cat-file", "--filters", &named]).await;
            if whole.and_then(Answer::success).is_ok_and(|whole| whole.starts_with(&part)) {
                return true;
            }
        }
        false
    }

    /// Returns the path of a file in the git folder of the checkout.
    pub(crate) async fn git_path(&self, root: &str, name: &str) -> Result<String, Failure> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", name];
        Ok(text(&self.answer(root, &args).await?.success()?))
    }
    /// The git of a killed onloop may still be at work, and it may be about to end: waits for that.
    /// Without an end the locks decide, because another git may just be open there.
    async fn wait_for_git(&self, root: &str) -> Result<(), Failure> {
        for _ in 0..GIT_ENDS_MS / GIT_LOOK_MS {
            if self.git_works_in(root).await? != Some(true) {
                break;
            }
            self.done(Step::Pause { duration_ms: GIT_LOOK_MS }).await?;
        }
        Ok(())
    }

    /// Whether a git works in the checkout at `root`, as far as the system tells.
    async fn git_works_in(&self, root: &str) -> Result<Option<bool>, Failure> {
        let step = Step::GitWorksIn { folder: root.to_owned() };
        answer!(self.ask(step).await, StepReply::Works { works } => works)
    }
}

/// How long a git that works in the checkout is waited for, and how often it is looked for.
const GIT_ENDS_MS: u64 = 2_000;
const GIT_LOOK_MS: u64 = 50;
