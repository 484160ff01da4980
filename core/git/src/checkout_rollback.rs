//! Changes the files of a checkout completely or not at all.
//!
//! A git command that a timeout or an interrupt ends has written some files and neither index nor
//! HEAD, or everything but HEAD. The paths that it may write are known before it starts. Git
//! refuses to overwrite changes, so git has the old content of each of them.

use std::collections::{BTreeMap, BTreeSet};

use onloop_effect::{Failure, FailureKind, OptionalExt};

use crate::command::{Answer, GitProgram, SIGNALLED, lines_until_nul, shown_name, until_nul};
use crate::paths::{below, parent};
use crate::{Step, known_failures};

/// A checkout before git changes files in it.
pub(crate) struct CheckoutState {
    root: String,
    /// The branch at HEAD and the commit there.
    head: (Option<String>, Option<String>),
    /// The path and the content of its index; `None`: there is none.
    index: String,
    indexed: Option<Vec<u8>>,
    /// Existing files that git may write or remove.
    written: BTreeSet<Vec<u8>>,
    /// Missing files that git may create.
    made: BTreeSet<Vec<u8>>,
    /// Files outside the index that git would overwrite.
    untracked: BTreeSet<Vec<u8>>,
}

impl GitProgram {
    /// Runs a git command that changes the files of `root` to those of `revision`, or to a merge
    /// with it. If the command is ended early, the checkout is restored. HEAD moves last: if it has
    /// moved, the command is done.
    pub(crate) async fn change_files(
        &self,
        root: &str,
        args: &[&str],
        revision: &str,
    ) -> Result<Answer, Failure> {
        let before = self.checkout_state(root, revision).await?;
        self.demand_nothing_overwritten(root, revision, &before.untracked).await?;
        let failure = match self.act(root, args).await {
            // Another process killed git.
            Ok(answer) if answer.exit == SIGNALLED => answer.into_failure(),
            Err(failure) if was_ended_early(&failure) => failure,
            answered => return answered,
        };
        let undisturbed = self.undisturbed();
        match undisturbed.head_of(root).await {
            Ok(head) if head != before.head => return Ok(Answer::done(root)),
            Ok(_) | Err(_) => {}
        }
        match undisturbed.restore_checkout(&before).await {
            Ok(()) => Err(failure),
            Err(left) => Err(known_failures::with_rollback_error(&failure, root, &left)),
        }
    }

    /// Refuses to overwrite files that git does not track with others: of ignored ones, git would not
    /// even say so.
    async fn demand_nothing_overwritten(
        &self,
        root: &str,
        revision: &str,
        untracked: &BTreeSet<Vec<u8>>,
    ) -> Result<(), Failure> {
        let mut names = Vec::new();
        for path in untracked {
            let named = format!("{revision}:{}", String::from_utf8_lossy(path));
            let wanted = self.answer(root, &["cat-file", "--filters", &named]).await;
            let (wanted, here) =
                (wanted.and_then(Answer::success), self.read(&below(root, path)).await);
            if wanted.is_err() || wanted.ok() != here.ok() {
                names.push(format!("`{}`", shown_name(path)));
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let message =
            format!("git does not track {} in `{root}` and would overwrite it", names.join(", "));
        let failure = Failure::new(FailureKind::Conflict, message);
        Err(failure.with_fix("move it away, then run the same command again", None))
    }

    async fn head_of(&self, root: &str) -> Result<(Option<String>, Option<String>), Failure> {
        Ok((self.head_branch(root).await?, self.commit(root, "HEAD").await?))
    }

    async fn checkout_state(&self, root: &str, revision: &str) -> Result<CheckoutState, Failure> {
        let index = self.git_path(root, "index").await?;
        let indexed = self.read(&index).await.optional()?;
        let mut before = CheckoutState {
            root: root.to_owned(),
            head: self.head_of(root).await?,
            index,
            indexed,
            written: BTreeSet::new(),
            made: BTreeSet::new(),
            untracked: BTreeSet::new(),
        };
        if before.head.1.is_none() {
            return Ok(before);
        }
        let args =
            ["diff-tree", "-r", "-z", "--name-status", "--no-renames", "HEAD", revision, "--"];
        let differ = self.answer(root, &args).await?.success()?;
        // Git does not touch files with uncommitted changes, so they need no restore.
        let args = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"];
        let changed = self.answer(root, &args).await?.success()?;
        let changed: BTreeSet<&[u8]> =
            lines_until_nul(&changed).filter_map(|entry| entry.get(3..)).collect();
        let mut fields = lines_until_nul(&differ);
        let mut added = Vec::new();
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            match letter {
                _ if changed.contains(path) => {}
                b"A" => added.push(path),
                _ => drop(before.written.insert(path.to_vec())),
            }
        }
        let paths: Vec<String> = added.iter().map(|path| below(root, path)).collect();
        let there = self.look(paths.clone()).await.into_iter().zip(self.follow(paths).await);
        for (path, (found, leads_to)) in added.into_iter().zip(there) {
            match found {
                None => drop(before.made.insert(path.to_vec())),
                // Of a folder, git keeps what it does not track.
                Some(_) if leads_to.is_some_and(|found| found.is_folder()) => {}
                Some(_) => drop(before.untracked.insert(path.to_vec())),
            }
        }
        Ok(before)
    }

    pub(crate) async fn restore_checkout(&self, before: &CheckoutState) -> Result<(), Failure> {
        self.restore_index(before).await?;
        // Forgets the merge without touching files.
        self.answer(&before.root, &["merge", "--quit"]).await?.success()?;
        for path in &before.made {
            self.remove_made(&before.root, path).await?;
        }
        let args = ["ls-files", "--stage", "-z"];
        let staged = self.answer(&before.root, &args).await?.success()?;
        let known: BTreeMap<&[u8], &[u8]> = lines_until_nul(&staged)
            .filter_map(|entry| {
                let tab = entry.iter().position(|byte| *byte == b'\t')?;
                Some((&entry[tab + 1..], &entry[..tab]))
            })
            .collect();
        // A nested repository is never touched.
        let is_file = |path: &&Vec<u8>| {
            known.get(path.as_slice()).is_some_and(|entry| !entry.starts_with(b"160000"))
        };
        let paths: Vec<&Vec<u8>> = before.written.iter().filter(is_file).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let list = until_nul(paths.into_iter().map(Vec::as_slice));
        let args = ["checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"];
        self.act_on(&before.root, &args, &list).await?.success().map(drop)
    }

    /// Restores the index under git's own lock.
    async fn restore_index(&self, before: &CheckoutState) -> Result<(), Failure> {
        let Some(indexed) = &before.indexed else { return Ok(()) };
        if self.read(&before.index).await.is_ok_and(|now| now == *indexed) {
            return Ok(());
        }
        let lock = format!("{}.lock", before.index);
        let (path, bytes) = (before.index.clone(), indexed.clone().into());
        match self.done(Step::Replace { path, lock: lock.clone(), bytes }).await {
            Err(failure) if failure.is_exists() => {
                Err(known_failures::locked(&format!("`{lock}`")))
            }
            replaced => replaced,
        }
    }

    /// Removes a file that git created, and its new folders.
    async fn remove_made(&self, root: &str, path: &[u8]) -> Result<(), Failure> {
        let file = below(root, path);
        match self.done(Step::RemoveFile { path: file.clone() }).await {
            Ok(()) => {}
            Err(failure) if failure.is_not_found() => return Ok(()),
            // Git was not going to create a folder, and not in a file.
            Err(failure) => match self.target_of(&file).await {
                Some(found) if !found.is_folder() => return Err(failure),
                Some(_) | None => return Ok(()),
            },
        }
        let mut folder = parent(&file);
        while let Some(path) = folder.filter(|folder| *folder != root) {
            if self.done(Step::RemoveFolder { path: path.to_owned() }).await.is_err() {
                break;
            }
            folder = parent(path);
        }
        Ok(())
    }
}

impl CheckoutState {
    /// A checkout whose index is restored already.
    pub(crate) fn without_index(
        root: &str,
        written: BTreeSet<Vec<u8>>,
        made: BTreeSet<Vec<u8>>,
    ) -> CheckoutState {
        CheckoutState {
            root: root.to_owned(),
            head: (None, None),
            index: String::new(),
            indexed: None,
            written,
            made,
            untracked: BTreeSet::new(),
        }
    }
}

/// Whether git was ended early.
pub(crate) fn was_ended_early(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Interrupted | FailureKind::Unknown | FailureKind::Other)
}
