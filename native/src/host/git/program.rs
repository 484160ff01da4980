//! The git program. Needs git 2.36 or newer.

mod changes;
mod checkout_rollback;
mod checkpoint;
mod command;
mod commit;
mod import;
mod integrity;
mod interrupted_merge;
mod merge;
mod programs;
mod references;
mod remote;
mod shared;
mod worktree;

use std::path::{Path, PathBuf};

use onloop_core::effect;
use onloop_core::effect::BranchName;
use onloop_core::effect::{Failure, FailureKind};
use onloop_core::text::{name_text, one_line};

use super::{Registered, known_failures, resolved, utf8};

pub(super) use checkpoint::{NewCheckpoint, Wanted};
pub(super) use command::GitProgram;
use command::{Answer, lines_until_nul, list_of, text};
pub(super) use commit::NewCommit;
pub(super) use import::NewImport;
pub(super) use references::CHECKPOINTS;
pub(super) use shared::NewFiles;

/// Where the parts of a checkout are.
struct Layout {
    /// Its top folder.
    root: PathBuf,
    /// What all worktrees of the repository share.
    common: PathBuf,
    /// Whether it is a linked worktree.
    linked: bool,
}

/// A branch that is asked about.
#[derive(Default)]
struct Target {
    /// Its commit, if it is there.
    commit: Option<String>,
    /// A branch whose name is a leading part of its name, or has it as one.
    blocked_by: Option<String>,
}

/// What is checked out, and what was changed.
#[derive(Default)]
struct Status {
    /// The branch at HEAD, even before its first commit.
    branch: Option<String>,
    /// The commit at HEAD.
    head: Option<String>,
    /// Changed and untracked files.
    dirty: Vec<String>,
}

impl GitProgram {
    /// Everything preflight needs to know; `None`: not inside a checkout.
    pub(super) fn survey(
        &self,
        cwd: &Path,
        branch: Option<&BranchName>,
    ) -> Result<Option<effect::Repository>, Failure> {
        let Some(layout) = self.checkout(cwd)? else { return Ok(None) };
        let target = match branch {
            Some(branch) => self.target(cwd, branch)?,
            None => Target::default(),
        };
        let main_root = self.main_root(&layout)?;
        let registered = self.registered_around(cwd, || Ok(main_root.clone()))?;
        let holder = branch.and_then(|branch| {
            registered.iter().find(|entry| {
                entry.branch.as_deref() == Some(branch.as_str()) && entry.holds_its_branch()
            })
        });
        let Status { branch, head, dirty } = self.status(&layout.root)?;
        Ok(Some(effect::Repository {
            linked: layout.linked,
            main_root: utf8(&main_root)?,
            branch,
            head,
            dirty,
            target_commit: target.commit,
            target_checked_out_at: holder.map(|entry| utf8(&entry.path)).transpose()?,
            target_blocked_by: target.blocked_by,
            root: utf8(&layout.root)?,
        }))
    }

    /// A branch, and what keeps it from being made. All names with its first part are one question.
    fn target(&self, cwd: &Path, branch: &BranchName) -> Result<Target, Failure> {
        let first = branch.as_str().split('/').next().unwrap_or_default();
        let names = format!("refs/heads/{first}");
        let words = ["for-each-ref", "--format=%(objectname) %(refname:strip=2)", &names];
        let listed = text(&self.answer(cwd, &words)?.success()?);
        let known: Vec<(&str, &str)> =
            listed.lines().filter_map(|line| line.split_once(' ')).collect();
        let find = |is: &dyn Fn(&str) -> bool| known.iter().find(|(_, name)| is(name));
        if let Some((commit, _)) = find(&|name| name == branch.as_str()) {
            return Ok(Target { commit: Some((*commit).to_owned()), blocked_by: None });
        }
        let below = format!("{branch}/");
        let mut above = branch.leading_parts();
        let blocking = above
            .find_map(|part| find(&|name| name == part))
            .or_else(|| find(&|name| name.starts_with(&below)));
        Ok(Target { commit: None, blocked_by: blocking.map(|(_, name)| (*name).to_owned()) })
    }

    /// The commit that `revision` names, if there is one.
    pub(super) fn commit(&self, cwd: &Path, revision: &str) -> Result<Option<String>, Failure> {
        let revision = format!("{revision}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let found = self.answer(cwd, &args)?;
        Ok(found.yes_or_no()?.map(|id| text(&id)))
    }

    fn head_branch(&self, cwd: &Path) -> Result<Option<String>, Failure> {
        let name = self.answer(cwd, &["symbolic-ref", "--quiet", "HEAD"])?.yes_or_no()?;
        let name = name.map(|name| text(&name));
        Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// Where the parts of the checkout around `cwd` are; `None`: a repository is there, and no checkout.
    fn checkout(&self, cwd: &Path) -> Result<Option<Layout>, Failure> {
        let args = [
            "rev-parse",
            "--is-inside-work-tree",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ];
        let found = self.answer(cwd, &args)?;
        if text(&found.stdout) == "false" {
            return Ok(None);
        }
        let output = text(&found.success()?);
        let lines = output.lines().skip(1);
        let lines: Vec<PathBuf> = lines.map(|line| resolved(Path::new(line))).collect();
        match <[PathBuf; 3]>::try_from(lines) {
            Ok([root, own, common]) => Ok(Some(Layout { root, linked: own != common, common })),
            Err(_) => {
                let message = format!("a path around `{}` contains a line break", cwd.display());
                Err(Failure::new(FailureKind::Invalid, message))
            }
        }
    }

    fn layout(&self, cwd: &Path) -> Result<Layout, Failure> {
        self.checkout(cwd)?.ok_or_else(|| {
            let message = format!("`{}` is not inside a checkout", cwd.display());
            Failure::new(FailureKind::Invalid, message)
        })
    }

    /// Top folder of the main checkout; of a bare repository, its own folder.
    fn main_root(&self, layout: &Layout) -> Result<PathBuf, Failure> {
        if !layout.linked {
            return Ok(layout.root.clone());
        }
        let common = layout.common.clone();
        // Asked from inside the common folder, git knows a checkout that is configured
        // elsewhere (a submodule's) but not the usual one around it.
        let configured = self.answer(&common, &["config", "--path", "core.worktree"])?;
        if let Some(path) = configured.yes_or_no()? {
            return Ok(resolved(&common.join(text(&path))));
        }
        match (common.file_name(), common.parent()) {
            (Some(name), Some(parent)) if name == ".git" && !self.is_bare(&common)? => {
                Ok(parent.to_owned())
            }
            (Some(_) | None, Some(_) | None) => Ok(common),
        }
    }

    fn is_bare(&self, common: &Path) -> Result<bool, Failure> {
        let bare = self.answer(common, &["config", "--type=bool", "core.bare"])?.yes_or_no()?;
        Ok(bare.is_some_and(|bare| text(&bare) == "true"))
    }

    /// What is checked out in `root`, and which files differ from it.
    fn status(&self, root: &Path) -> Result<Status, Failure> {
        // Inside a submodule git would start the filters of its configuration, which an agent may write.
        let args = [
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=dirty",
        ];
        let output = self.answer(root, &args)?.success()?;
        let mut status = Status::default();
        for entry in lines_until_nul(&output).map(name_text) {
            let (kind, rest) = entry.split_once(' ').unwrap_or((&entry, ""));
            // The words before the path: states, modes and ids.
            let before = match kind {
                "#" => match rest.split_once(' ') {
                    Some(("branch.oid", id)) if id != "(initial)" => {
                        status.head = Some(id.to_owned());
                        continue;
                    }
                    // A branch can have that name, too.
                    Some(("branch.head", "(detached)")) => {
                        status.branch = self.head_branch(root)?;
                        continue;
                    }
                    Some(("branch.head", name)) => {
                        status.branch = Some(name.to_owned());
                        continue;
                    }
                    _ => continue,
                },
                "1" => 7,
                "u" => 9,
                _ => 0,
            };
            status.dirty.extend(rest.splitn(before + 1, ' ').nth(before).map(str::to_owned));
        }
        status.dirty.sort();
        status.dirty.dedup();
        Ok(status)
    }

    pub(super) fn switch(
        &self,
        cwd: &Path,
        branch: &BranchName,
        create: bool,
    ) -> Result<(), Failure> {
        let mut args = vec!["switch", "--quiet", "--no-guess", "--no-recurse-submodules"];
        if create {
            args.push("--create");
        }
        args.push(branch.as_str());
        self.demand_unlocked(cwd, &["HEAD"])?;
        if create {
            // No file changes.
            return self.act(cwd, &args)?.success().map(drop);
        }
        let root = self.layout(cwd)?.root;
        let tip = format!("refs/heads/{branch}");
        if self.commit(&root, &tip)?.is_none() {
            // Git says so.
            return self.answer(&root, &args)?.success().map(drop);
        }
        self.change_files(&root, &args, &tip)?.success().map(drop)
    }

    /// Refuses to begin what would change files first and then find the index or one of
    /// `references` locked.
    fn demand_unlocked(&self, cwd: &Path, references: &[&str]) -> Result<(), Failure> {
        let lock = self.git_path(cwd, "index.lock")?;
        if lock.symlink_metadata().is_ok() {
            return Err(known_failures::locked(&format!("`{}`", lock.display())));
        }
        for reference in references {
            // Making it what it is changes nothing, and takes every lock that a change takes.
            if let Some(commit) = self.commit(cwd, reference)? {
                self.answer(cwd, &["update-ref", reference, &commit, &commit])?.success()?;
            }
        }
        Ok(())
    }

    pub(super) fn delete_branch(&self, cwd: &Path, branch: &BranchName) -> Result<(), Failure> {
        if self.commit(cwd, &format!("refs/heads/{branch}"))?.is_none() {
            let message = format!("there is no branch `{branch}` in `{}`", cwd.display());
            return Err(Failure::new(FailureKind::NotFound, message));
        }
        let holds = |entry: &Registered| {
            entry.branch.as_deref() == Some(branch.as_str()) && entry.holds_its_branch()
        };
        if let Some(holder) = self.registered(cwd)?.iter().find(|entry| holds(entry)) {
            let message = format!("branch `{branch}` is checked out at `{}`", utf8(&holder.path)?);
            return Err(Failure::new(FailureKind::Busy, message));
        }
        let args = ["branch", "--quiet", "--delete", "--force", "--", branch.as_str()];
        self.answer(cwd, &args)?.success().map(drop)
    }

    pub(super) fn stash(&self, cwd: &Path, message: &str, paths: &[String]) -> Result<(), Failure> {
        let root = self.layout(cwd)?.root;
        let before = self.commit(&root, "refs/stash")?;
        let list = list_of(paths);
        let args = [
            "stash",
            "push",
            "--quiet",
            "--include-untracked",
            "--message",
            message,
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        if let Err(failure) = self.act_on(&root, &args, &list).and_then(Answer::success) {
            // The stash is made before files are touched.
            return match self.undisturbed().commit(&root, "refs/stash") {
                Ok(now) if now == before => Err(failure),
                Ok(_) | Err(_) => {
                    let message = format!("{failure}; `git stash pop` brings back what it did");
                    Err(Failure::new(failure.kind, message))
                }
            };
        }
        if self.commit(&root, "refs/stash")? == before {
            let message = format!("git found nothing to stash in `{}`", root.display());
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let dirty = self.status(&root)?.dirty;
        match paths.iter().find(|path| dirty.contains(path)) {
            None => Ok(()),
            Some(path) => Err(Failure::new(
                FailureKind::Conflict,
                format!(
                    "git could not stash `{}` in `{}`; `git stash pop` brings back what it did",
                    one_line(path),
                    root.display()
                ),
            )),
        }
    }
}

impl Answer {
    /// Standard output of a command that had to succeed.
    fn success(self) -> Result<Vec<u8>, Failure> {
        match self.exit {
            0 => Ok(self.stdout),
            _ => Err(self.into_failure()),
        }
    }

    /// Standard output; `None` where git answers "no": exit code 1 without a message.
    fn yes_or_no(self) -> Result<Option<Vec<u8>>, Failure> {
        match self.exit {
            0 => Ok(Some(self.stdout)),
            1 => Ok(None),
            _ => Err(self.into_failure()),
        }
    }
}
