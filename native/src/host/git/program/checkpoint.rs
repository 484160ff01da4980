//! Keeping the files of a checkout as a commit beside its branches, with an index of its own.
//!
//! Git does all of it, because only git runs filters. Its index lies in the state home, so that git reads
//! only files that have changed, and no change that an agent makes to the checkout's index counts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;

use onloop_core::effect::{Failure, FailureKind, KeptWork, LeftOut, LeftOutReason};
use onloop_core::time::Timestamp;

use super::super::rollback;
use super::GitProgram;
use super::changes::Changes;
use super::command::{Aside, lines_until_nul, text, until_nul};
use super::programs::{Programs, push_hook};

/// A checkpoint to make.
pub(crate) struct NewCheckpoint<'a> {
    pub(crate) index: &'a Path,
    /// The whole name of the reference.
    pub(crate) reference: &'a str,
    pub(crate) parent: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) limit_bytes: u64,
    pub(crate) programs: Option<&'a str>,
}

/// Files to bring back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// Whose files they are.
    pub(crate) commit: &'a str,
    /// Relative to the top folder; none: all.
    pub(crate) paths: &'a [String],
}

impl GitProgram {
    /// Keeps the files of the checkout around `cwd`.
    pub(crate) fn checkpoint(
        &self,
        cwd: &Path,
        new: &NewCheckpoint<'_>,
    ) -> Result<KeptWork, Failure> {
        let layout = self.layout(cwd)?;
        let root = &layout.root;
        // First: what follows runs filters.
        let Programs { digest, hooks } = self.demand_programs(root, new.programs)?;
        self.prepare_index(root, new.index)?;
        let mut changes = match self.changes(root, new.index) {
            // An index that cannot be read is only a memory of what is in the checkout.
            Err(failure) if new.index.exists() && failure.kind == FailureKind::Other => {
                fs::remove_file(new.index).map_err(|e| rollback::failure(new.index, &e))?;
                self.prepare_index(root, new.index)?;
                self.changes(root, new.index)?
            }
            found => found?,
        };
        changes.present.extend(self.tracked_though_ignored(root)?);
        let left_out = self.take_in(root, new, changes.of_the_run())?;
        let aside = Aside { index: Some(new.index), ..Aside::default() };
        // What is missing here was missing before: a partial clone.
        let tree = self.answer_aside(root, &["write-tree", "--missing-ok"], &[], aside)?;
        let tree = text(&tree.success()?);
        make_private(new.index).map_err(|error| rollback::failure(new.index, &error))?;
        let commit = self.commit_aside(root, &tree, new)?;
        let args = ["update-ref", "--no-deref", new.reference, &commit];
        self.answer_aside(root, &args, &[], Aside::default())?.success()?;
        let hook = push_hook(&hooks.unwrap_or_else(|| layout.common.join("hooks")));
        Ok(KeptWork { commit, tree, programs: format!("{digest}+{hook}"), left_out })
    }

    fn commit_aside(
        &self,
        root: &Path,
        tree: &str,
        new: &NewCheckpoint<'_>,
    ) -> Result<String, Failure> {
        let parent = match new.parent {
            Some(parent) => Some(parent.to_owned()),
            None => self.commit(root, "HEAD")?,
        };
        let mut args = vec!["commit-tree", "--no-gpg-sign"];
        if let Some(parent) = &parent {
            args.extend(["-p", parent]);
        }
        args.extend(["-F", "-", tree]);
        let aside = Aside { committed: Some(new.at), ..Aside::default() };
        let made = self.answer_aside(root, &args, new.message.as_bytes(), aside)?;
        Ok(text(&made.success()?))
    }

    /// Makes `index` ready to be used: begins it with what the checkout's index says, and takes
    /// away the lock of a git that was killed. Nobody else uses it: whoever asks drives the run.
    fn prepare_index(&self, root: &Path, index: &Path) -> Result<(), Failure> {
        let mut lock = index.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        match fs::remove_file(&lock) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(rollback::failure(&lock, &error));
            }
            Ok(()) | Err(_) => {}
        }
        if index.exists() {
            return Ok(());
        }
        if let Some(folder) = index.parent() {
            fs::create_dir_all(folder).map_err(|error| rollback::failure(folder, &error))?;
        }
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        let own = PathBuf::from(text(&self.answer(root, &args)?.success()?));
        copy_with_time(&own, index).map_err(|error| rollback::failure(&own, &error))
    }

    /// What is different in the checkout from what `index` says. The two questions do not wait for each
    /// other.
    fn changes(&self, root: &Path, index: &Path) -> Result<Changes, Failure> {
        let aside = Aside { index: Some(index), ..Aside::default() };
        let tracked =
            ["diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty"];
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let (tracked, others) = thread::scope(|scope| {
            let others = scope.spawn(|| self.answer_aside(root, &others, &[], aside));
            let tracked = self.answer_aside(root, &tracked, &[], aside);
            (tracked, others.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let mut changes = Changes::tracked(tracked?)?;
        changes.add_untracked(others?)?;
        Ok(changes)
    }

    /// Files that the checkout's own index has although they are ignored by name: `git add --force`.
    fn tracked_though_ignored(&self, root: &Path) -> Result<Vec<Vec<u8>>, Failure> {
        let args = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
        let listed = self.answer_aside(root, &args, &[], Aside::default())?.success()?;
        let paths = lines_until_nul(&listed).map(<[u8]>::to_vec);
        // Some of them may be missing, as in a sparse checkout.
        Ok(paths.filter(|path| below(root, path).symlink_metadata().is_ok()).collect())
    }

    /// Writes the changes to the index, but for what cannot be kept, which is returned.
    fn take_in(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        mut changes: Changes,
    ) -> Result<Vec<LeftOut>, Failure> {
        let mut left_out = Vec::new();
        for (path, why) in self.unkept(root, &changes.present, new.limit_bytes)? {
            changes.present.remove(&path);
            left_out.push(LeftOut { path: String::from_utf8_lossy(&path).into_owned(), why });
        }
        let update = |words: &[&str], paths: &BTreeSet<Vec<u8>>| {
            if paths.is_empty() {
                return Ok(());
            }
            let args = [&["update-index"], words, &["-z", "--stdin"]].concat();
            let aside = Aside { index: Some(new.index), ..Aside::default() };
            let list = until_nul(paths.iter().map(Vec::as_slice));
            self.answer_aside(root, &args, &list, aside)?.success().map(drop)
        };
        // First: a folder may take the place of a file, a link that of a folder, and git only removes a
        // file whose place a repository has taken.
        let is_folder = |path: &&Vec<u8>| {
            below(root, path).symlink_metadata().is_ok_and(|found| found.is_dir())
        };
        changes.gone.extend(changes.present.iter().filter(is_folder).cloned());
        update(&["--force-remove"], &changes.gone)?;
        update(&["--add", "--remove", "--replace"], &changes.present)?;
        Ok(left_out)
    }

    fn unkept(
        &self,
        root: &Path,
        paths: &BTreeSet<Vec<u8>>,
        limit_bytes: u64,
    ) -> Result<Vec<(Vec<u8>, LeftOutReason)>, Failure> {
        let mut unkept = Vec::new();
        let mut large = Vec::new();
        for path in paths {
            let at = below(root, path);
            // What has gone since is taken out of the index.
            let Ok(found) = at.symlink_metadata() else { continue };
            if found.is_dir() {
                if !matches!(self.commit(&at, "HEAD"), Ok(Some(_))) {
                    unkept.push((path.clone(), LeftOutReason::NoCommit));
                }
            } else if found.is_symlink() {
            } else if !found.is_file() || File::open(&at).is_err() {
                unkept.push((path.clone(), LeftOutReason::Unreadable));
            } else if found.len() > limit_bytes {
                large.push(path.clone());
            }
        }
        if !large.is_empty() {
            let filtered = self.filtered(root, &large)?;
            let too_large = large.into_iter().filter(|path| !filtered.contains(path));
            unkept.extend(too_large.map(|path| (path, LeftOutReason::TooLarge)));
            unkept.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(unkept)
    }

    /// Those of `paths` of which a filter makes something else.
    fn filtered(&self, root: &Path, paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>, Failure> {
        let mut list = paths.join(&0);
        list.push(0);
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let said = self.answer_aside(root, &args, &list, Aside::default())?.success()?;
        let mut fields = said.split(|&byte| byte == 0);
        let mut filtered = BTreeSet::new();
        while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next())
        {
            if !matches!(value, b"unspecified" | b"unset") {
                filtered.insert(path.to_vec());
            }
        }
        Ok(filtered)
    }

    /// Makes the files of the checkout around `cwd` those that are wanted.
    pub(crate) fn restore(
        &self,
        cwd: &Path,
        index: &Path,
        wanted: Wanted<'_>,
        programs: Option<&str>,
    ) -> Result<(), Failure> {
        let root = self.layout(cwd)?.root;
        self.demand_programs(&root, programs)?;
        if !index.exists() {
            let message = format!("`{}` has no checkpoint yet", root.display());
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.prepare_index(&root, index)?;
        let mixed = match wanted.paths {
            [] => None,
            paths => Some(self.mixed_tree(&root, index, wanted.commit, paths)?),
        };
        let commit = mixed.as_deref().unwrap_or(wanted.commit);
        let in_the_way = self.in_the_way(&root, index, commit)?;
        if !in_the_way.is_empty() {
            let message =
                format!("nothing was changed; no checkpoint has {}", in_the_way.join(", "));
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let aside = Aside { index: Some(index), ..Aside::default() };
        let read = self.answer_aside(&root, &["read-tree", "-m", "-u", commit], &[], aside)?;
        match read.exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, read.into_failure().message)),
        }
    }

    /// A tree with the files that `index` has, but for `paths`, which are as in `commit`.
    fn mixed_tree(
        &self,
        root: &Path,
        index: &Path,
        commit: &str,
        paths: &[String],
    ) -> Result<String, Failure> {
        let mut beside = index.as_os_str().to_owned();
        beside.push(".mixed");
        let beside = PathBuf::from(beside);
        let made = (|| {
            fs::copy(index, &beside).map_err(|error| rollback::failure(index, &error))?;
            let mut args = vec!["ls-tree", "-r", "--full-tree", "-z", commit, "--"];
            args.extend(paths.iter().map(String::as_str));
            let entries = self.answer_aside(root, &args, &[], Aside::default())?.success()?;
            let aside = Aside { index: Some(&beside), ..Aside::default() };
            let gone = until_nul(paths.iter().map(String::as_bytes));
            let args = ["update-index", "--force-remove", "-z", "--stdin"];
            self.answer_aside(root, &args, &gone, aside)?.success()?;
            let args = ["update-index", "--replace", "-z", "--index-info"];
            self.answer_aside(root, &args, &entries, aside)?.success()?;
            let args = ["write-tree", "--missing-ok"];
            self.answer_aside(root, &args, &[], aside)?.success()
        })();
        let _ = fs::remove_file(&beside);
        made.map(|tree| text(&tree))
    }

    /// Files that nobody has kept, where the files of `commit` belong.
    fn in_the_way(&self, root: &Path, index: &Path, commit: &str) -> Result<Vec<String>, Failure> {
        let aside = Aside { index: Some(index), ..Aside::default() };
        let args = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", commit, "--"];
        let differ = self.answer_aside(root, &args, &[], aside)?.success()?;
        let (mut wanted, mut leaving) = (Vec::new(), BTreeSet::new());
        let mut fields = lines_until_nul(&differ);
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            match letter {
                b"D" => wanted.push(path),
                b"A" => drop(leaving.insert(path)),
                _ => {}
            }
        }
        let mut found = BTreeSet::new();
        for path in wanted {
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            for end in ends.chain([path.len()]) {
                let Ok(there) = below(root, &path[..end]).symlink_metadata() else { break };
                let kept = leaving.contains(&path[..end]);
                if !there.is_dir() {
                    if !kept {
                        found.insert(path[..end].to_vec());
                    }
                    // What is reached through a link lies elsewhere.
                    break;
                }
                if !kept && end == path.len() {
                    found.extend(self.others_in(root, index, path)?);
                }
            }
        }
        Ok(found.iter().map(|path| format!("`{}`", String::from_utf8_lossy(path))).collect())
    }

    /// Files in a folder that the index does not have, ignored ones too.
    fn others_in(&self, root: &Path, index: &Path, folder: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let folder = String::from_utf8_lossy(folder);
        let args = ["ls-files", "--others", "-z", "--", &folder];
        let aside = Aside { index: Some(index), ..Aside::default() };
        let others = self.answer_aside(root, &args, &[], aside)?.success()?;
        Ok(lines_until_nul(&others).map(<[u8]>::to_vec).collect())
    }
}

#[cfg(unix)]
pub(super) fn below(root: &Path, path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    root.join(OsStr::from_bytes(path))
}

#[cfg(not(unix))]
pub(super) fn below(root: &Path, path: &[u8]) -> PathBuf {
    root.join(&*String::from_utf8_lossy(path))
}

/// Git writes it for everybody to read; what lies in the state home is for its owner alone.
#[cfg(unix)]
fn make_private(index: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::set_permissions(index, fs::Permissions::from_mode(0o600)) {
        // Nothing was ever added.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        made => made,
    }
}

#[cfg(not(unix))]
fn make_private(_index: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Copies an index with its time: git trusts what an index says of files that are older than it.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = match fs::read(from) {
        Ok(bytes) => bytes,
        // Nothing was ever added.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let modified = fs::metadata(from)?.modified()?;
    fs::write(to, bytes)?;
    File::options().write(true).open(to)?.set_modified(modified)
}
