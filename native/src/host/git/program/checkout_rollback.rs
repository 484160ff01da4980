//! Changes the files of a checkout completely or not at all.
//!
//! A git command that a timeout or an interrupt ends has written some files and neither index nor
//! HEAD, or everything but HEAD. The paths that it may write are known before it starts. Git
//! refuses to overwrite changes, so git has the old content of each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};

use super::super::{known_failures, rollback};
use super::checkpoint::below;
use super::command::{SIGNALLED, lines_until_nul, shown_name, until_nul};
use super::{Answer, GitProgram};

/// A checkout before git changes files in it.
pub(super) struct CheckoutState {
    root: PathBuf,
    /// The branch at HEAD and the commit there.
    head: (Option<String>, Option<String>),
    /// The path and the content of its index; `None`: there is none.
    index: PathBuf,
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
    pub(super) fn change_files(
        &self,
        root: &Path,
        args: &[&str],
        revision: &str,
    ) -> Result<Answer, Failure> {
        let before = self.checkout_state(root, revision)?;
        self.demand_nothing_overwritten(root, revision, &before.untracked)?;
        let failure = match self.act(root, args) {
            // Another process killed git.
            Ok(answer) if answer.exit == SIGNALLED => answer.into_failure(),
            Err(failure) if was_ended_early(&failure) => failure,
            answered => return answered,
        };
        let undisturbed = self.undisturbed();
        match undisturbed.head_of(root) {
            Ok(head) if head != before.head => return Ok(Answer::done(root)),
            Ok(_) | Err(_) => {}
        }
        match undisturbed.restore_checkout(&before) {
            Ok(()) => Err(failure),
            Err(left) => Err(known_failures::with_rollback_error(&failure, root, &left)),
        }
    }

    /// Refuses to overwrite files that git does not track with others: of ignored ones, git would not
    /// even say so.
    fn demand_nothing_overwritten(
        &self,
        root: &Path,
        revision: &str,
        untracked: &BTreeSet<Vec<u8>>,
    ) -> Result<(), Failure> {
        let is_same = |path: &[u8]| {
            let named = format!("{revision}:{}", String::from_utf8_lossy(path));
            let wanted = self.answer(root, &["cat-file", "--filters", &named]);
            let wanted = wanted.and_then(Answer::success);
            wanted.is_ok_and(|wanted| fs::read(below(root, path)).is_ok_and(|here| here == wanted))
        };
        let names: Vec<String> = untracked
            .iter()
            .filter(|path| !is_same(path))
            .map(|path| format!("`{}`", shown_name(path)))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let message = format!(
            "git does not track {} in `{}` and would overwrite it",
            names.join(", "),
            root.display()
        );
        let failure = Failure::new(FailureKind::Conflict, message);
        Err(failure.with_fix("move it away, then run the same command again", None))
    }

    fn head_of(&self, root: &Path) -> Result<(Option<String>, Option<String>), Failure> {
        Ok((self.head_branch(root)?, self.commit(root, "HEAD")?))
    }

    fn checkout_state(&self, root: &Path, revision: &str) -> Result<CheckoutState, Failure> {
        let index = self.git_path(root, "index")?;
        let indexed = match fs::read(&index) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(rollback::failure(&index, &error)),
        };
        let mut before = CheckoutState {
            root: root.to_owned(),
            head: self.head_of(root)?,
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
        let differ = self.answer(root, &args)?.success()?;
        // Git does not touch files with uncommitted changes, so they need no restore.
        let args = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"];
        let changed = self.answer(root, &args)?.success()?;
        let changed: BTreeSet<&[u8]> =
            lines_until_nul(&changed).filter_map(|entry| entry.get(3..)).collect();
        let mut fields = lines_until_nul(&differ);
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            if changed.contains(path) {
                continue;
            }
            match letter {
                b"A" if below(root, path).symlink_metadata().is_err() => {
                    before.made.insert(path.to_vec());
                }
                // Of a folder, git keeps what it does not track.
                b"A" if below(root, path).is_dir() => {}
                b"A" => drop(before.untracked.insert(path.to_vec())),
                _ => drop(before.written.insert(path.to_vec())),
            }
        }
        Ok(before)
    }

    pub(super) fn restore_checkout(&self, before: &CheckoutState) -> Result<(), Failure> {
        before.restore_index()?;
        // Forgets the merge without touching files.
        self.answer(&before.root, &["merge", "--quit"])?.success()?;
        for path in &before.made {
            remove(&before.root, path)?;
        }
        let args = ["ls-files", "--stage", "-z"];
        let staged = self.answer(&before.root, &args)?.success()?;
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
        self.act_on(&before.root, &args, &list)?.success().map(drop)
    }
}

impl CheckoutState {
    /// A checkout whose index is restored already.
    pub(super) fn without_index(
        root: &Path,
        written: BTreeSet<Vec<u8>>,
        made: BTreeSet<Vec<u8>>,
    ) -> CheckoutState {
        CheckoutState {
            root: root.to_owned(),
            head: (None, None),
            index: PathBuf::new(),
            indexed: None,
            written,
            made,
            untracked: BTreeSet::new(),
        }
    }

    /// Restores the index under git's own lock.
    fn restore_index(&self) -> Result<(), Failure> {
        let now = fs::read(&self.index).ok();
        let Some(indexed) = self.indexed.as_ref().filter(|indexed| now.as_ref() != Some(indexed))
        else {
            return Ok(());
        };
        let mut lock = self.index.clone().into_os_string();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let written = File::create_new(&lock)
            .and_then(|mut file| {
                file.write_all(indexed)?;
                if let Ok(found) = fs::metadata(&self.index) {
                    file.set_permissions(found.permissions())?;
                }
                file.sync_all()
            })
            .and_then(|()| fs::rename(&lock, &self.index));
        written.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                known_failures::locked(&format!("`{}`", lock.display()))
            }
            _ => {
                let _ = fs::remove_file(&lock);
                rollback::failure(&lock, &error)
            }
        })
    }
}

/// Removes a file that git created, and its new folders.
fn remove(root: &Path, path: &[u8]) -> Result<(), Failure> {
    let file = below(root, path);
    match fs::remove_file(&file) {
        Ok(()) => {}
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(());
        }
        // Git was not going to create a folder.
        Err(_) if file.is_dir() => return Ok(()),
        Err(error) => return Err(rollback::failure(&file, &error)),
    }
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether git was ended early.
pub(super) fn was_ended_early(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Interrupted | FailureKind::Unknown | FailureKind::Other)
}
