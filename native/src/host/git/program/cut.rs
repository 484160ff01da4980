//! Changing the files of a checkout completely, or not at all.
//!
//! Git does so by itself as long as nobody ends it. When its time is over, or a person interrupts,
//! it has written some of the files and neither index nor HEAD, or all but HEAD. What it was going
//! to touch is known beforehand, and no file of it had anything in it that git does not have:
//! otherwise git would have refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};

use super::super::{rollback, trouble};
use super::checkpoint::below;
use super::command::{lines_until_nul, text, until_nul};
use super::{Answer, GitProgram};

/// The exit code of git that somebody else has ended with a signal.
const SIGNALLED: i32 = -1;

/// A checkout before git changes files in it.
pub(super) struct Before {
    root: PathBuf,
    /// The branch at HEAD and the commit there.
    head: (Option<String>, Option<String>),
    /// Where its index is, and what that says; `None`: there is none.
    index: PathBuf,
    indexed: Option<Vec<u8>>,
    /// Files that git may write or remove, as they are now.
    written: BTreeSet<Vec<u8>>,
    /// Files that git may make.
    made: BTreeSet<Vec<u8>>,
}

impl GitProgram {
    /// Lets git make the files of the checkout at `root` those of `revision`, or of a merge with
    /// it. When it is ended before its end, everything is made as it was before. HEAD moves last:
    /// where it has, all is done.
    pub(super) fn change_files(
        &self,
        root: &Path,
        args: &[&str],
        revision: &str,
    ) -> Result<Answer, Failure> {
        let before = self.before(root, revision)?;
        let failure = match self.act(root, args) {
            // Somebody else ended it.
            Ok(answer) if answer.exit == SIGNALLED => answer.into_failure(),
            Err(failure) if is_cut(&failure) => failure,
            answered => return answered,
        };
        let undisturbed = self.undisturbed();
        match undisturbed.head_of(root) {
            Ok(head) if head != before.head => return Ok(Answer::done(root)),
            Ok(_) | Err(_) => {}
        }
        match undisturbed.put_back(&before) {
            Ok(()) => Err(failure),
            Err(left) => Err(trouble::left(&failure, root, &left)),
        }
    }

    fn head_of(&self, root: &Path) -> Result<(Option<String>, Option<String>), Failure> {
        Ok((self.head_branch(root)?, self.commit(root, "HEAD")?))
    }

    fn before(&self, root: &Path, revision: &str) -> Result<Before, Failure> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        let index = PathBuf::from(text(&self.answer(root, &args)?.success()?));
        let indexed = match fs::read(&index) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(rollback::failure(&index, &error)),
        };
        let mut before = Before {
            root: root.to_owned(),
            head: self.head_of(root)?,
            index,
            indexed,
            written: BTreeSet::new(),
            made: BTreeSet::new(),
        };
        if before.head.1.is_none() {
            return Ok(before);
        }
        let args =
            ["diff-tree", "-r", "-z", "--name-status", "--no-renames", "HEAD", revision, "--"];
        let differ = self.answer(root, &args)?.success()?;
        // Files that somebody changed are not touched by git, so that nothing has to be put back.
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
                b"A" => {}
                _ => drop(before.written.insert(path.to_vec())),
            }
        }
        Ok(before)
    }

    fn put_back(&self, before: &Before) -> Result<(), Failure> {
        before.put_index_back()?;
        // What git was merging is forgotten without a look at files.
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
        // A repository inside the checkout is never touched.
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

impl Before {
    /// Under git's own lock.
    fn put_index_back(&self) -> Result<(), Failure> {
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
            std::io::ErrorKind::AlreadyExists => trouble::locked(&format!("`{}`", lock.display())),
            _ => {
                let _ = fs::remove_file(&lock);
                rollback::failure(&lock, &error)
            }
        })
    }
}

/// Removes a file that was not there before, and the folders that were made for it.
fn remove(root: &Path, path: &[u8]) -> Result<(), Failure> {
    let file = below(root, path);
    match fs::remove_file(&file) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        // A folder is not what git was going to make.
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

/// Whether git was ended before its end.
pub(super) fn is_cut(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Interrupted | FailureKind::Other)
}
