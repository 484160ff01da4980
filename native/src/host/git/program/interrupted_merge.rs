//! Merges that a killed process left half done.
//!
//! A note in the git folder exists while a merge changes files. It names the merged commit and what was
//! checked out before. The next merge of the same commit finds the note, restores the checkout and starts
//! again. A file counts as written by the killed git if its content is that of one of the commits, or the
//! first part of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};

use super::super::{NewMerge, known_failures, rollback};
use super::GitProgram;
use super::checkout_rollback::CheckoutState;
use super::checkpoint::below;
use super::command::{IsolatedOptions, lines_until_nul, shown_name, text};
use super::merge::CheckedOut;

/// Name of the note in the git folder of the checkout.
const NOTE: &str = "onloop-merge";

/// The note about a merge.
pub(super) struct MergeNote {
    path: PathBuf,
}

impl MergeNote {
    /// Writes the note before a file changes.
    pub(super) fn write(&self, before: &CheckedOut, commit: &str) -> Result<(), Failure> {
        let text = format!("{commit}\n{before}\n");
        fs::write(&self.path, text).map_err(|error| rollback::failure(&self.path, &error))
    }

    /// Removes the note once the checkout is whole.
    pub(super) fn remove(&self) {
        // A note that stays makes the next merge of the same commit look at the checkout first.
        let _ = fs::remove_file(&self.path);
    }

    /// Returns what was checked out before a killed merge of `commit`; `None`: no merge of it was
    /// killed.
    fn read(&self, commit: &str) -> Option<CheckedOut> {
        let text = fs::read_to_string(&self.path).ok()?;
        let (merged, before) = text.split_once('\n')?;
        (merged == commit).then(|| CheckedOut::parse(before.trim_end())).flatten()
    }
}

impl GitProgram {
    pub(super) fn merge_note(&self, root: &Path) -> Result<MergeNote, Failure> {
        Ok(MergeNote { path: self.git_path(root, NOTE)? })
    }

    /// Restores the checkout that a killed merge of the same commit left. Returns what was checked out
    /// before that merge.
    ///
    /// # Errors
    ///
    /// `Busy` while another git works there; `Conflict` if a person changed a file since.
    pub(super) fn recover_merge(
        &self,
        root: &Path,
        note: &MergeNote,
        merge: &NewMerge<'_>,
    ) -> Result<Option<CheckedOut>, Failure> {
        let Some(before) = note.read(merge.commit) else { return Ok(None) };
        let here = self.checked_out(root)?;
        if !here.is(merge.into) && here.to_string() != before.to_string() {
            // A person has switched to another branch since, so the checkout is theirs.
            return Ok(None);
        }
        wait_for_git(root);
        self.remove_dead_locks(root, merge)?;
        let Some(head) = self.commit(root, "HEAD")? else { return Ok(Some(before)) };
        let into = format!("refs/heads/{}", merge.into);
        let mut commits = vec![head.clone()];
        for revision in [&into, merge.commit, &before.to_string()] {
            commits.extend(self.commit(root, revision)?.filter(|found| !commits.contains(found)));
        }
        let mut paths = BTreeSet::new();
        for other in &commits[1..] {
            let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &head, other, "--"];
            let differ = self.answer(root, &args)?.success()?;
            paths.extend(lines_until_nul(&differ).map(<[u8]>::to_vec));
        }
        self.demand_written_by_git(root, &commits, &paths)?;
        self.answer(root, &["read-tree", "--reset", &head])?.success()?;
        self.answer(root, &["update-index", "-q", "--refresh"])?.yes_or_no()?;
        let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", &head];
        let tracked = self.answer(root, &args)?.success()?;
        let tracked: BTreeSet<&[u8]> = lines_until_nul(&tracked).collect();
        let (written, made) = paths.into_iter().partition(|path| tracked.contains(path.as_slice()));
        self.restore_checkout(&CheckoutState::without_index(root, written, made))?;
        Ok(Some(before))
    }

    /// Removes the locks of a killed git.
    fn remove_dead_locks(&self, root: &Path, merge: &NewMerge<'_>) -> Result<(), Failure> {
        let branch = self.layout(root)?.common.join(format!("refs/heads/{}.lock", merge.into));
        let own = ["index.lock", "HEAD.lock"].map(|name| self.git_path(root, name));
        for lock in own.into_iter().chain([Ok(branch)]) {
            let lock = lock?;
            if lock.symlink_metadata().is_err() {
                continue;
            }
            if git_works_in(root) {
                return Err(known_failures::locked(&format!("`{}`", lock.display())));
            }
            fs::remove_file(&lock).map_err(|error| rollback::failure(&lock, &error))?;
        }
        Ok(())
    }

    /// Refuses if the content of one of `paths` comes from none of `commits`.
    fn demand_written_by_git(
        &self,
        root: &Path,
        commits: &[String],
        paths: &BTreeSet<Vec<u8>>,
    ) -> Result<(), Failure> {
        let index = self.git_path(root, "onloop-merge.index")?;
        let mut other: BTreeSet<Vec<u8>> = paths.clone();
        other.retain(|path| below(root, path).is_file());
        for commit in commits {
            let differ = self.differences(root, &index, commit);
            let _ = fs::remove_file(&index);
            let differ = differ?;
            other.retain(|path| differ.contains(path));
        }
        let is_torn = |path: &[u8]| commits.iter().any(|commit| self.is_part(root, commit, path));
        other.retain(|path| !is_torn(path));
        if other.is_empty() {
            return Ok(());
        }
        let names: Vec<String> =
            other.iter().map(|path| format!("`{}`", shown_name(path))).collect();
        let message = format!(
            "an earlier merge in `{}` did not complete, and {} has content that git did not write",
            root.display(),
            names.join(", ")
        );
        let failure = Failure::new(FailureKind::Conflict, message);
        Err(failure.with_fix("move that content away, then run the same command again", None))
    }

    /// Returns the paths whose files differ from `commit`, which includes missing and untracked ones.
    fn differences(
        &self,
        root: &Path,
        index: &Path,
        commit: &str,
    ) -> Result<BTreeSet<Vec<u8>>, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        self.answer_isolated(root, &["read-tree", commit], &[], options)?.success()?;
        let args = ["update-index", "-q", "--refresh"];
        self.answer_isolated(root, &args, &[], options)?.yes_or_no()?;
        let mut differ = BTreeSet::new();
        let tracked = ["diff-files", "--name-only", "-z", "--ignore-submodules=dirty"];
        for args in [&tracked[..], &["ls-files", "--others", "-z"]] {
            let listed = self.answer_isolated(root, args, &[], options)?.success()?;
            differ.extend(lines_until_nul(&listed).map(<[u8]>::to_vec));
        }
        Ok(differ)
    }

    /// Whether the file is the first part of the file in `commit`.
    fn is_part(&self, root: &Path, commit: &str, path: &[u8]) -> bool {
        let named = format!("{commit}:{}", String::from_utf8_lossy(path));
        let args = ["cat-file", "--filters", &named];
        let Ok(whole) = self.answer(root, &args).and_then(super::Answer::success) else {
            return false;
        };
        fs::read(below(root, path)).is_ok_and(|part| whole.starts_with(&part))
    }

    /// Returns the path of a file in the git folder of the checkout.
    pub(super) fn git_path(&self, root: &Path, name: &str) -> Result<PathBuf, Failure> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", name];
        Ok(PathBuf::from(text(&self.answer(root, &args)?.success()?)))
    }
}

/// The git of a killed onloop may still be at work, and it may be about to end: waits for that. Without
/// an end the locks decide, because another git may just be open there.
fn wait_for_git(root: &Path) {
    for _ in 0..GIT_ENDS_MS / GIT_LOOK_MS {
        if !Path::new("/proc/self/comm").exists() || !git_works_in(root) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(GIT_LOOK_MS));
    }
}

/// How long a git that works in the checkout is waited for, and how often it is looked for.
const GIT_ENDS_MS: u64 = 2_000;
const GIT_LOOK_MS: u64 = 50;

/// Whether a git works in the checkout at `root`, as far as the system tells.
fn git_works_in(root: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        let process = process.path();
        let is_git = fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"git"));
        is_git && fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root))
    })
}
