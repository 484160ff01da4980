//! Keeping the files of a checkout as a commit beside its branches, with an index of its own.
//!
//! A checkpoint is taken after every turn, so that few processes are started for it: which tracked
//! files may have changed and the tree are found in this process wherever that is sure to come out as
//! git would have it. Git reads the files themselves, since only git runs filters.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;

use git2::Index;
use onloop_core::effect::{Failure, FailureKind, KeptWork, LeftOut, LeftOutReason};
use onloop_core::time::Timestamp;

use super::super::{libgit, rollback};
use super::GitProgram;
use super::changes::Changes;
use super::command::{Aside, lines_until_nul, text, until_nul};
use super::folders::{self, Ask, Look};
use super::programs::{Programs, push_hook};
use super::tree;

/// A checkpoint to make.
pub(crate) struct NewCheckpoint<'a> {
    /// The repository, where libgit2 can open it.
    pub(crate) library: Option<&'a git2::Repository>,
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

/// What a checkpoint takes in.
#[derive(Default)]
pub(super) struct Work {
    pub(super) changes: Changes,
    left_out: Vec<LeftOut>,
    /// The index with the changes in it, not written yet; `None`: git has to take them in.
    pub(super) known: Option<Index>,
    /// What to remember of the folders once the changes are in the index.
    look: Option<Look>,
}

impl GitProgram {
    /// Keeps the files of the checkout around `cwd`.
    pub(crate) fn checkpoint(
        &self,
        cwd: &Path,
        new: &NewCheckpoint<'_>,
    ) -> Result<KeptWork, Failure> {
        let (root, common) = match new.library {
            Some(repository) => (libgit::workdir(repository)?, repository.commondir().to_owned()),
            None => {
                let layout = self.layout(cwd)?;
                (layout.root, layout.common)
            }
        };
        self.prepare_index(&root, new.index)?;
        let (programs, work) = self.trusted_work(&root, &common, new);
        let programs = programs?;
        let mut work = match work {
            Ok(work) => work,
            // An index that cannot be read is only a memory of what is in the checkout.
            Err(failure) if new.index.exists() && failure.kind == FailureKind::Other => {
                fs::remove_file(new.index).map_err(|e| rollback::failure(new.index, &e))?;
                self.prepare_index(&root, new.index)?;
                self.trusted_work(&root, &common, new).1?
            }
            Err(failure) => return Err(failure),
        };
        let tree = self.tree(&root, new, &mut work)?;
        let commit = self.commit_aside(&root, &tree, new)?;
        let args = ["update-ref", "--no-deref", new.reference, &commit];
        thread::scope(|scope| {
            let named = scope.spawn(|| self.answer_aside(&root, &args, &[], Aside::default()));
            // Meanwhile: without what it remembers, the next checkpoint finds the same changes once more.
            let pending = work.known.take().filter(|_| !work.changes.is_empty());
            if pending.is_none_or(|mut known| known.write().is_ok())
                && make_private(new.index).is_ok()
            {
                tree::note(new.index, &tree);
                self.remember_folders(&root, new.index, &mut work);
            }
            joined(named)?.success()
        })?;
        let Programs { digest, hooks, .. } = programs;
        let hook = push_hook(&hooks.unwrap_or_else(|| common.join("hooks")));
        let (programs, left_out) = (format!("{digest}+{hook}"), work.left_out);
        Ok(KeptWork { commit, tree, programs, left_out })
    }

    /// Remembers which folders git has not to be asked about the next time.
    fn remember_folders(&self, root: &Path, index: &Path, work: &mut Work) {
        // What is left out has to be named each time.
        let Some(look) = work.look.take().filter(|_| work.left_out.is_empty()) else { return };
        if *look.ask() != Ask::Nothing || !work.changes.is_empty() {
            // Without it git is asked about everything.
            let _ = self.remember(root, index, look, &work.changes);
        }
    }

    fn commit_aside(
        &self,
        root: &Path,
        tree: &str,
        new: &NewCheckpoint<'_>,
    ) -> Result<String, Failure> {
        if let Some(repository) = new.library {
            return libgit::commit_beside(repository, tree, new);
        }
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

    /// Which programs git would run, and what has changed. These questions do not wait for each other,
    /// but for git's look at tracked files: it may run a filter.
    fn trusted_work(
        &self,
        root: &Path,
        common: &Path,
        new: &NewCheckpoint<'_>,
    ) -> (Result<Programs, Failure>, Result<Work, Failure>) {
        let (expected, index) = (new.programs, new.index);
        let (programs, folders, tracked) = thread::scope(|scope| {
            let programs = scope.spawn(|| self.demand_programs(root, expected));
            let folders = scope.spawn(|| folders::before(root, index));
            let tracked = remembered(root, new);
            (joined(programs), joined(folders), tracked)
        });
        let programs = match programs {
            Ok(programs) => programs,
            Err(failure) => return (Err(failure.clone()), Err(failure)),
        };
        let rules = programs.ignore_rules(root, common);
        let look = match (&tracked, folders, rules) {
            (Some((_, index)), Some(before), Some(rules)) => before.look(index, rules),
            _ => None,
        };
        let ask = look.as_ref().map_or(&Ask::Everything, Look::ask);
        let work = thread::scope(|scope| {
            let others = scope.spawn(|| self.others(root, index, ask));
            let work = self.tracked_work(root, new, tracked);
            let (others, mut work) = (joined(others)?, work?);
            self.add_work(root, new, others, &mut work)?;
            Ok(work)
        });
        (Ok(programs), work.map(|work| Work { look, ..work }))
    }

    /// What has changed of tracked files, where git has not to look by itself.
    fn tracked_work(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        remembered: Option<(Changes, Index)>,
    ) -> Result<Work, Failure> {
        let (changes, known) = match remembered {
            Some((changes, known)) => (changes, Some(known)),
            None => {
                let aside = Aside { index: Some(new.index), ..Aside::default() };
                let args = [
                    "diff-files",
                    "--name-status",
                    "-z",
                    "--no-renames",
                    "--ignore-submodules=dirty",
                ];
                (Changes::told(self.answer_aside(root, &args, &[], aside)?)?, None)
            }
        };
        let mut work = Work { known, ..Work::default() };
        self.add_work(root, new, changes, &mut work)?;
        Ok(work)
    }

    /// Adds changes, but for what cannot be kept.
    fn add_work(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        changes: Changes,
        work: &mut Work,
    ) -> Result<(), Failure> {
        let mut changes = changes.of_the_run();
        for (path, why) in self.unkept(root, &changes.present, new.limit_bytes)? {
            changes.present.remove(&path);
            let path = String::from_utf8_lossy(&path).into_owned();
            work.left_out.push(LeftOut { path, why });
        }
        work.left_out.sort_by(|a, b| a.path.cmp(&b.path));
        if let (Some(library), Some(known)) = (new.library, work.known.take()) {
            work.known = self.take_in_few(library, root, new.index, known, &changes)?;
        }
        work.changes.extend(changes);
        Ok(())
    }

    /// Writes the changes to the index.
    pub(super) fn take_in(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        work: &mut Work,
    ) -> Result<(), Failure> {
        let known = work.known.take();
        let changes = &mut work.changes;
        if changes.is_empty() || known.is_some_and(|mut known| known.write().is_ok()) {
            return Ok(());
        }
        let aside = Aside { index: Some(new.index), ..Aside::default() };
        let list = |paths: &BTreeSet<Vec<u8>>| until_nul(paths.iter().map(Vec::as_slice));
        // First: a folder may take the place of a file, a link that of a folder, and git only removes a
        // file whose place a repository has taken.
        let is_folder = |path: &&Vec<u8>| {
            below(root, path).symlink_metadata().is_ok_and(|found| found.is_dir())
        };
        changes.gone.extend(changes.present.iter().filter(is_folder).cloned().collect::<Vec<_>>());
        if !changes.gone.is_empty() {
            let args = ["update-index", "--force-remove", "-z", "--stdin"];
            self.answer_aside(root, &args, &list(&changes.gone), aside)?.success()?;
        }
        if !changes.present.is_empty() {
            let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
            self.answer_aside(root, &args, &list(&changes.present), aside)?.success()?;
        }
        Ok(())
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
            let message = format!("nothing is known about the files in `{}`", root.display());
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
            let message = format!("nothing was changed; in the way: {}", in_the_way.join(", "));
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

/// What may have changed, and the index that was read for it; `None`: git has to look.
#[cfg(unix)]
fn remembered(root: &Path, new: &NewCheckpoint<'_>) -> Option<(Changes, Index)> {
    // An index of a repository that libgit2 does not know has another form.
    new.library.and_then(|_| super::remembered::changes(root, new.index))
}

/// Elsewhere an index remembers too little of a file.
#[cfg(not(unix))]
fn remembered(_root: &Path, _new: &NewCheckpoint<'_>) -> Option<(Changes, Index)> {
    None
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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

/// Git writes it for everybody to read; what lies in the state home is for its owner alone. An index that is
/// private is not touched: with another time it would be another file to what is noted about it.
#[cfg(unix)]
fn make_private(index: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match index.metadata()?.permissions().mode() & 0o777 {
        0o600 => Ok(()),
        _ => fs::set_permissions(index, fs::Permissions::from_mode(0o600)),
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
