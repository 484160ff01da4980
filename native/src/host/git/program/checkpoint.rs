//! Commits the files of a checkout beside its branches, with an index of its own.
//!
//! The git program does all of it, because only it runs filters. The index is in the state home:
//! git reads only changed files, and an agent cannot change it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;

use onloop_core::effect::{Failure, FailureKind, KeptWork, LeftOut, LeftOutReason};
use onloop_core::text::name_text;
use onloop_core::time::Timestamp;

use super::super::rollback;
use super::GitProgram;
use super::changes::Changes;
use super::command::{
    IsolatedOptions, lines_until_nul, list_of, os_name, shown_name, text, until_nul,
};
use super::programs::{Programs, push_hook};

/// A checkpoint to make.
pub(crate) struct NewCheckpoint<'a> {
    pub(crate) index: &'a Path,
    /// The full name of the ref.
    pub(crate) reference: &'a str,
    pub(crate) parent: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) limit_bytes: u64,
    pub(crate) programs: Option<&'a str>,
}

/// Files to restore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The commit that contains them.
    pub(crate) commit: &'a str,
    /// Paths relative to the top folder; empty: all.
    pub(crate) paths: &'a [String],
}

impl GitProgram {
    /// Makes a checkpoint of the checkout around `cwd`.
    pub(crate) fn checkpoint(
        &self,
        cwd: &Path,
        new: &NewCheckpoint<'_>,
    ) -> Result<KeptWork, Failure> {
        let layout = self.layout(cwd)?;
        let root = &layout.root;
        // This comes first, because the rest runs filters.
        let Programs { digest, hooks } = self.demand_programs(root, new.programs)?;
        self.prepare_index(root, new.index)?;
        let mut changes = match self.changes(root, new.index) {
            // A damaged index is only a cache of the checkout.
            Err(failure) if new.index.exists() && failure.kind == FailureKind::Other => {
                fs::remove_file(new.index).map_err(|e| rollback::failure(new.index, &e))?;
                self.prepare_index(root, new.index)?;
                self.changes(root, new.index)?
            }
            found => found?,
        };
        changes.present.extend(self.tracked_though_ignored(root)?);
        let left_out = self.add_to_index(root, new, changes.of_the_run())?;
        let options = IsolatedOptions { index: Some(new.index), ..IsolatedOptions::default() };
        // An object can be missing in a partial clone.
        let tree = self.answer_isolated(root, &["write-tree", "--missing-ok"], &[], options)?;
        let tree = text(&tree.success()?);
        make_private(new.index).map_err(|error| rollback::failure(new.index, &error))?;
        let commit = self.commit_tree(root, &tree, new)?;
        let args = ["update-ref", "--no-deref", new.reference, &commit];
        self.answer_isolated(root, &args, &[], IsolatedOptions::default())?.success()?;
        let hook = push_hook(&hooks.unwrap_or_else(|| layout.common.join("hooks")));
        Ok(KeptWork { commit, tree, programs: format!("{digest}+{hook}"), left_out })
    }

    fn commit_tree(
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
        let options = IsolatedOptions { committed: Some(new.at), ..IsolatedOptions::default() };
        let made = self.answer_isolated(root, &args, new.message.as_bytes(), options)?;
        Ok(text(&made.success()?))
    }

    /// Prepares `index`: it starts as a copy of the checkout's, and a lock of a killed git is
    /// removed. Only the driver of the run uses it.
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
        let own = self.git_path(root, "index")?;
        copy_with_time(&own, index).map_err(|error| rollback::failure(&own, &error))
    }

    /// Compares the checkout with `index`. The two commands run in parallel.
    fn changes(&self, root: &Path, index: &Path) -> Result<Changes, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let tracked =
            ["diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty"];
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let (tracked, others) = thread::scope(|scope| {
            let others = scope.spawn(|| self.answer_isolated(root, &others, &[], options));
            let tracked = self.answer_isolated(root, &tracked, &[], options);
            (tracked, others.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let mut changes = Changes::tracked(tracked?)?;
        changes.add_untracked(others?)?;
        Ok(changes)
    }

    /// Returns ignored files that the checkout's index contains because of `git add --force`.
    fn tracked_though_ignored(&self, root: &Path) -> Result<Vec<Vec<u8>>, Failure> {
        let args = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
        let listed =
            self.answer_isolated(root, &args, &[], IsolatedOptions::default())?.success()?;
        let paths = lines_until_nul(&listed).map(<[u8]>::to_vec);
        // Some of them may be missing, as in a sparse checkout.
        Ok(paths.filter(|path| below(root, path).symlink_metadata().is_ok()).collect())
    }

    /// Writes the changes to the index, but for what cannot be kept, which is returned.
    fn add_to_index(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        mut changes: Changes,
    ) -> Result<Vec<LeftOut>, Failure> {
        let mut left_out = Vec::new();
        for (path, why) in self.unkept(root, &changes.present, new.limit_bytes)? {
            changes.present.remove(&path);
            left_out.push(LeftOut { path: name_text(&path), why });
        }
        let update = |words: &[&str], paths: &BTreeSet<Vec<u8>>| {
            if paths.is_empty() {
                return Ok(());
            }
            let args = [&["update-index"], words, &["-z", "--stdin"]].concat();
            let options = IsolatedOptions { index: Some(new.index), ..IsolatedOptions::default() };
            let list = until_nul(paths.iter().map(Vec::as_slice));
            self.answer_isolated(root, &args, &list, options)?.success().map(drop)
        };
        // Removals come first: a folder can replace a file, or a link a folder. Git removes a file
        // on its own only if a repository replaced it.
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
            // A file that has gone is removed from the index.
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

    /// Returns those of `paths` that a filter changes.
    fn filtered(&self, root: &Path, paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>, Failure> {
        let mut list = paths.join(&0);
        list.push(0);
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let said =
            self.answer_isolated(root, &args, &list, IsolatedOptions::default())?.success()?;
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

    /// Restores files of the checkout around `cwd`.
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
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let read = self.answer_isolated(&root, &["read-tree", "-m", "-u", commit], &[], options)?;
        match read.exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, read.into_failure().message)),
        }
    }

    /// Returns a tree with the files of `index`, and with `paths` from `commit`.
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
            let args = ["ls-tree", "-r", "--full-tree", "-z", commit, "--"];
            let named = IsolatedOptions { paths, ..IsolatedOptions::default() };
            let entries = self.answer_isolated(root, &args, &[], named)?.success()?;
            let options = IsolatedOptions { index: Some(&beside), ..IsolatedOptions::default() };
            let gone = list_of(paths);
            let args = ["update-index", "--force-remove", "-z", "--stdin"];
            self.answer_isolated(root, &args, &gone, options)?.success()?;
            let args = ["update-index", "--replace", "-z", "--index-info"];
            self.answer_isolated(root, &args, &entries, options)?.success()?;
            let args = ["write-tree", "--missing-ok"];
            self.answer_isolated(root, &args, &[], options)?.success()
        })();
        let _ = fs::remove_file(&beside);
        made.map(|tree| text(&tree))
    }

    /// Returns files without a checkpoint at paths that `commit` needs.
    fn in_the_way(&self, root: &Path, index: &Path, commit: &str) -> Result<Vec<String>, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let args = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", commit, "--"];
        let differ = self.answer_isolated(root, &args, &[], options)?.success()?;
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
                    // A link leads out of the checkout.
                    break;
                }
                if !kept && end == path.len() {
                    found.extend(self.others_in(root, index, path)?);
                }
            }
        }
        Ok(found.iter().map(|path| format!("`{}`", shown_name(path))).collect())
    }

    /// Returns files in a folder that are not in the index, also ignored ones.
    fn others_in(&self, root: &Path, index: &Path, folder: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let args = ["ls-files", "--others", "-z", "--"];
        let paths = &[name_text(folder)];
        let options = IsolatedOptions { index: Some(index), paths, ..IsolatedOptions::default() };
        let others = self.answer_isolated(root, &args, &[], options)?.success()?;
        Ok(lines_until_nul(&others).map(<[u8]>::to_vec).collect())
    }
}

pub(super) fn below(root: &Path, path: &[u8]) -> PathBuf {
    root.join(os_name(path))
}

/// Makes the index private, because git creates it readable for all users.
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

/// Copies an index with its modification time: git trusts entries of files that are older than the
/// index.
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
