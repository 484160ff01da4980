//! Commits the files of a checkout beside its branches, with an index of its own.
//!
//! The git program does all of it, because only it runs filters. The index is in the state home:
//! git reads only changed files, and an agent cannot change it.

use std::collections::BTreeSet;

use onloop_effect::{Failure, FailureKind, KeptWork, LeftOut, LeftOutReason, OptionalExt};
use onloop_syntax::text::{name_bytes, name_text};
use onloop_syntax::time::Timestamp;

use crate::changes::Changes;
use crate::command::{
    GitProgram, IsolatedOptions, lines_until_nul, list_of, shown_name, text, until_nul,
};
use crate::paths::{below, is_utf8};
use crate::programs::Programs;
use crate::{FoundKind, Step};

/// A checkpoint to make.
pub(crate) struct NewCheckpoint<'a> {
    pub(crate) index: &'a str,
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

/// Files that a checkpoint cannot contain, by path.
type Unkept = Vec<(Vec<u8>, LeftOutReason)>;

impl GitProgram {
    /// Makes a checkpoint of the checkout around `cwd`.
    pub(crate) async fn checkpoint(
        &self,
        cwd: &str,
        new: &NewCheckpoint<'_>,
    ) -> Result<KeptWork, Failure> {
        let layout = self.layout(cwd).await?;
        let root = &layout.root;
        // This comes first, because the rest runs filters.
        let Programs { digest, hooks } = self.demand_programs(root, new.programs).await?;
        self.prepare_index(root, new.index).await?;
        let mut changes = match self.changes(root, new.index).await {
            // A damaged index is only a cache of the checkout.
            Err(failure)
                if failure.kind == FailureKind::Other && self.is_there(new.index).await =>
            {
                self.done(Step::RemoveFile { path: new.index.to_owned() }).await?;
                self.prepare_index(root, new.index).await?;
                self.changes(root, new.index).await?
            }
            found => found?,
        };
        changes.present.extend(self.tracked_though_ignored(root).await?);
        let left_out = self.add_to_index(root, new, changes.of_the_run()).await?;
        let options = IsolatedOptions { index: Some(new.index), ..IsolatedOptions::default() };
        // An object can be missing in a partial clone.
        let tree =
            self.answer_isolated(root, &["write-tree", "--missing-ok"], &[], options).await?;
        let tree = text(&tree.success()?);
        // Git creates it readable for all users.
        self.done(Step::MakePrivate { path: new.index.to_owned() }).await?;
        let commit = self.commit_tree(root, &tree, new).await?;
        let args = ["update-ref", "--no-deref", new.reference, &commit];
        self.answer_isolated(root, &args, &[], IsolatedOptions::default()).await?.success()?;
        let hooks = hooks.unwrap_or_else(|| format!("{}/hooks", layout.common));
        let hook = self.push_hook(&hooks).await;
        Ok(KeptWork { commit, tree, programs: format!("{digest}+{hook}"), left_out })
    }

    async fn commit_tree(
        &self,
        root: &str,
        tree: &str,
        new: &NewCheckpoint<'_>,
    ) -> Result<String, Failure> {
        let parent = match new.parent {
            Some(parent) => Some(parent.to_owned()),
            None => self.commit(root, "HEAD").await?,
        };
        let mut args = vec!["commit-tree", "--no-gpg-sign"];
        if let Some(parent) = &parent {
            args.extend(["-p", parent]);
        }
        args.extend(["-F", "-", tree]);
        let options = IsolatedOptions { committed: Some(new.at), ..IsolatedOptions::default() };
        let made = self.answer_isolated(root, &args, new.message.as_bytes(), options).await?;
        Ok(text(&made.success()?))
    }

    /// Prepares `index`: it starts as a copy of the checkout's, and a lock of a killed git is
    /// removed. Only the driver of the run uses it.
    async fn prepare_index(&self, root: &str, index: &str) -> Result<(), Failure> {
        let lock = format!("{index}.lock");
        self.done(Step::RemoveFile { path: lock }).await.optional()?;
        if self.target_of(index).await.is_some() {
            return Ok(());
        }
        // Git trusts entries of files that are older than the index, so the copy has the same time.
        let (from, to) = (self.git_path(root, "index").await?, index.to_owned());
        // Nothing was ever added where there is none.
        self.done(Step::Copy { from, to }).await.optional().map(drop)
    }

    /// Compares the checkout with `index`. The two commands run in parallel.
    async fn changes(&self, root: &str, index: &str) -> Result<Changes, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let tracked =
            ["diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty"];
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let [tracked, others] = self.answer_both(root, [&tracked, &others], options).await?;
        let mut changes = Changes::tracked(tracked)?;
        changes.add_untracked(others)?;
        Ok(changes)
    }

    /// Returns ignored files that the checkout's index contains because of `git add --force`.
    async fn tracked_though_ignored(&self, root: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let args = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
        let listed =
            self.answer_isolated(root, &args, &[], IsolatedOptions::default()).await?.success()?;
        let found =
            self.look(lines_until_nul(&listed).map(|path| below(root, path)).collect()).await;
        // Some of them may be missing, as in a sparse checkout.
        let there = lines_until_nul(&listed).zip(found).filter(|(_, found)| found.is_some());
        Ok(there.map(|(path, _)| path.to_vec()).collect())
    }

    /// Writes the changes to the index, but for what cannot be kept, which is returned.
    async fn add_to_index(
        &self,
        root: &str,
        new: &NewCheckpoint<'_>,
        mut changes: Changes,
    ) -> Result<Vec<LeftOut>, Failure> {
        let mut left_out = Vec::new();
        let (unkept, folders) = self.unkept(root, &changes.present, new.limit_bytes).await?;
        for (path, why) in unkept {
            changes.present.remove(&path);
            left_out.push(LeftOut { path: name_text(&path), why });
        }
        let update = async |words: &[&str], paths: &BTreeSet<Vec<u8>>| {
            if paths.is_empty() {
                return Ok(());
            }
            let args = [&["update-index"], words, &["-z", "--stdin"]].concat();
            let options = IsolatedOptions { index: Some(new.index), ..IsolatedOptions::default() };
            let list = until_nul(paths.iter().map(Vec::as_slice));
            self.answer_isolated(root, &args, &list, options).await?.success().map(drop)
        };
        // Removals come first: a folder can replace a file, or a link a folder. Git removes a file
        // on its own only if a repository replaced it.
        changes.gone.extend(folders.into_iter().filter(|path| changes.present.contains(path)));
        update(&["--force-remove"], &changes.gone).await?;
        update(&["--add", "--remove", "--replace"], &changes.present).await?;
        Ok(left_out)
    }

    /// Returns what cannot be kept of `paths`, and which of them are folders.
    async fn unkept(
        &self,
        root: &str,
        paths: &BTreeSet<Vec<u8>>,
        limit_bytes: u64,
    ) -> Result<(Unkept, Vec<Vec<u8>>), Failure> {
        let (mut unkept, mut large, mut folders) = (Vec::new(), Vec::new(), Vec::new());
        let found = self.look_and_open(paths.iter().map(|path| below(root, path)).collect()).await;
        for (path, found) in paths.iter().zip(found) {
            // A file that has gone is removed from the index.
            let Some(found) = found else { continue };
            match found.kind {
                FoundKind::Folder => {
                    let head = self.commit(&below(root, path), "HEAD").await;
                    if !matches!(head, Ok(Some(_))) {
                        unkept.push((path.clone(), LeftOutReason::NoCommit));
                    }
                    folders.push(path.clone());
                }
                FoundKind::Link => {}
                FoundKind::File if found.opens && found.size_bytes > limit_bytes => {
                    large.push(path.clone());
                }
                FoundKind::File if found.opens => {}
                FoundKind::File | FoundKind::Other => {
                    unkept.push((path.clone(), LeftOutReason::Unreadable));
                }
            }
        }
        if !large.is_empty() {
            let filtered = self.filtered(root, &large).await?;
            let too_large = large.into_iter().filter(|path| !filtered.contains(path));
            unkept.extend(too_large.map(|path| (path, LeftOutReason::TooLarge)));
            unkept.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok((unkept, folders))
    }

    /// Returns those of `paths` that a filter changes.
    async fn filtered(&self, root: &str, paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>, Failure> {
        let mut list = paths.join(&0);
        list.push(0);
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let said = self
            .answer_isolated(root, &args, &list, IsolatedOptions::default())
            .await?
            .success()?;
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
    pub(crate) async fn restore(
        &self,
        cwd: &str,
        index: &str,
        wanted: Wanted<'_>,
        programs: Option<&str>,
    ) -> Result<(), Failure> {
        let root = self.layout(cwd).await?.root;
        self.demand_programs(&root, programs).await?;
        if self.target_of(index).await.is_none() {
            let message = format!("`{root}` has no checkpoint yet");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.prepare_index(&root, index).await?;
        let mixed = match wanted.paths {
            [] => None,
            paths => Some(self.mixed_tree(&root, index, wanted.commit, paths).await?),
        };
        let commit = mixed.as_deref().unwrap_or(wanted.commit);
        let in_the_way = self.in_the_way(&root, index, commit).await?;
        if !in_the_way.is_empty() {
            let message =
                format!("nothing was changed; no checkpoint has {}", in_the_way.join(", "));
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let read =
            self.answer_isolated(&root, &["read-tree", "-m", "-u", commit], &[], options).await?;
        match read.exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, read.into_failure().message)),
        }
    }

    /// Returns a tree with the files of `index`, and with `paths` from `commit`.
    async fn mixed_tree(
        &self,
        root: &str,
        index: &str,
        commit: &str,
        paths: &[String],
    ) -> Result<String, Failure> {
        let beside = format!("{index}.mixed");
        let made = async {
            self.done(Step::Copy { from: index.to_owned(), to: beside.clone() }).await?;
            let entries = self.entries_of(root, &["-r", commit], paths).await?;
            let options = IsolatedOptions { index: Some(&beside), ..IsolatedOptions::default() };
            let gone = list_of(paths);
            let args = ["update-index", "--force-remove", "-z", "--stdin"];
            self.answer_isolated(root, &args, &gone, options).await?.success()?;
            let args = ["update-index", "--replace", "-z", "--index-info"];
            self.answer_isolated(root, &args, &entries, options).await?.success()?;
            let args = ["write-tree", "--missing-ok"];
            self.answer_isolated(root, &args, &[], options).await?.success()
        }
        .await;
        self.forget_file(&beside).await;
        made.map(|tree| text(&tree))
    }

    /// Returns the entries of a tree at these paths; `words` is the tree behind its options.
    pub(crate) async fn entries_of(
        &self,
        root: &str,
        words: &[&str],
        paths: &[String],
    ) -> Result<Vec<u8>, Failure> {
        // Not every host can pass a name that is not UTF-8, so the whole tree is looked through.
        let is_text = paths.iter().all(|path| is_utf8(path));
        let named = IsolatedOptions {
            paths: if is_text { paths } else { &[] },
            ..IsolatedOptions::default()
        };
        let whole: &[&str] = if is_text { &[] } else { &["-r"] };
        let args = [&["ls-tree", "--full-tree", "-z"], whole, words, &["--"]].concat();
        let listed = self.answer_isolated(root, &args, &[], named).await?.success()?;
        if is_text {
            return Ok(listed);
        }
        let wanted: BTreeSet<_> = paths.iter().map(|path| name_bytes(path)).collect();
        let is_wanted = |entry: &&[u8]| {
            let path = entry.rsplit(|byte| *byte == b'\t').next().unwrap_or_default();
            wanted.contains(path)
        };
        Ok(until_nul(lines_until_nul(&listed).filter(is_wanted)))
    }

    /// Returns files without a checkpoint at paths that `commit` needs.
    async fn in_the_way(
        &self,
        root: &str,
        index: &str,
        commit: &str,
    ) -> Result<Vec<String>, Failure> {
        let options = IsolatedOptions { index: Some(index), ..IsolatedOptions::default() };
        let args = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", commit, "--"];
        let differ = self.answer_isolated(root, &args, &[], options).await?.success()?;
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
            let ends: Vec<usize> = ends.chain([path.len()]).collect();
            let at = self.look(ends.iter().map(|end| below(root, &path[..*end])).collect()).await;
            for (end, there) in ends.into_iter().zip(at) {
                let Some(there) = there else { break };
                let kept = leaving.contains(&path[..end]);
                if !there.is_folder() {
                    if !kept {
                        found.insert(path[..end].to_vec());
                    }
                    // A link leads out of the checkout.
                    break;
                }
                if !kept && end == path.len() {
                    found.extend(self.others_in(root, index, path).await?);
                }
            }
        }
        Ok(found.iter().map(|path| format!("`{}`", shown_name(path))).collect())
    }

    /// Returns files in a folder that are not in the index, also ignored ones.
    async fn others_in(
        &self,
        root: &str,
        index: &str,
        folder: &[u8],
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let args = ["ls-files", "--others", "-z", "--"];
        let paths = &[name_text(folder)];
        let options = IsolatedOptions { index: Some(index), paths, ..IsolatedOptions::default() };
        let others = self.answer_isolated(root, &args, &[], options).await?.success()?;
        Ok(lines_until_nul(&others).map(<[u8]>::to_vec).collect())
    }
}
