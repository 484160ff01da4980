//! Questions to git about a checkout, and small changes of it. Needs git 2.36 or newer.

use onloop_effect::{BranchName, Failure, FailureKind, Repository};
use onloop_syntax::text::{name_text, one_line};

use crate::command::{Answer, GitProgram, lines_until_nul, list_of, text};
use crate::known_failures;
use crate::paths::{file_name, join, parent};
use crate::requests::utf8;
use crate::worktree::Registered;

/// The oldest git that knows every option.
const OLDEST: (u32, u32) = (2, 36);

/// Where the parts of a checkout are.
pub(crate) struct Layout {
    /// Its top folder.
    pub(crate) root: String,
    /// What all worktrees of the repository share.
    pub(crate) common: String,
    /// Whether it is a linked worktree.
    pub(crate) linked: bool,
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
    pub(crate) async fn survey(
        &self,
        cwd: &str,
        branch: Option<&BranchName>,
    ) -> Result<Option<Repository>, Failure> {
        let Some(layout) = self.checkout(cwd).await? else { return Ok(None) };
        let target = match branch {
            Some(branch) => self.target(cwd, branch).await?,
            None => Target::default(),
        };
        let main_root = self.main_root(&layout).await?;
        let registered = self.registered_around(cwd, Some(&main_root)).await?;
        let holder = branch.and_then(|branch| {
            registered.iter().find(|entry| {
                entry.branch.as_deref() == Some(branch.as_str()) && entry.holds_its_branch()
            })
        });
        let Status { branch, head, dirty } = self.status(&layout.root).await?;
        Ok(Some(Repository {
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
    async fn target(&self, cwd: &str, branch: &BranchName) -> Result<Target, Failure> {
        let first = branch.as_str().split('/').next().unwrap_or_default();
        let names = format!("refs/heads/{first}");
        let words = ["for-each-ref", "--format=%(objectname) %(refname:strip=2)", &names];
        let listed = text(&self.answer(cwd, &words).await?.success()?);
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
    pub(crate) async fn commit(
        &self,
        cwd: &str,
        revision: &str,
    ) -> Result<Option<String>, Failure> {
        let revision = format!("{revision}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let found = self.answer(cwd, &args).await?;
        Ok(found.yes_or_no()?.map(|id| text(&id)))
    }

    pub(crate) async fn head_branch(&self, cwd: &str) -> Result<Option<String>, Failure> {
        let name = self.answer(cwd, &["symbolic-ref", "--quiet", "HEAD"]).await?.yes_or_no()?;
        let name = name.map(|name| text(&name));
        Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// Where the parts of the checkout around `cwd` are; `None`: a repository is there, and no checkout.
    async fn checkout(&self, cwd: &str) -> Result<Option<Layout>, Failure> {
        let args = [
            "rev-parse",
            "--is-inside-work-tree",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ];
        let found = self.answer(cwd, &args).await?;
        if text(&found.stdout) == "false" {
            return Ok(None);
        }
        let output = text(&found.success()?);
        let lines: Vec<&str> = output.lines().skip(1).collect();
        match lines[..] {
            [root, own, common] => {
                let (root, own) = (self.resolved(root).await, self.resolved(own).await);
                let common = self.resolved(common).await;
                Ok(Some(Layout { root, linked: own != common, common }))
            }
            _ => {
                self.demand_recent(cwd).await?;
                let message = format!("a path around `{cwd}` contains a line break");
                Err(Failure::new(FailureKind::Invalid, message))
            }
        }
    }

    pub(crate) async fn layout(&self, cwd: &str) -> Result<Layout, Failure> {
        self.checkout(cwd).await?.ok_or_else(|| {
            let message = format!("`{cwd}` is not inside a checkout");
            Failure::new(FailureKind::Invalid, message)
        })
    }

    /// Top folder of the main checkout; of a bare repository, its own folder.
    pub(crate) async fn main_root(&self, layout: &Layout) -> Result<String, Failure> {
        if !layout.linked {
            return Ok(layout.root.clone());
        }
        let common = layout.common.clone();
        // Asked from inside the common folder, git knows a checkout that is configured
        // elsewhere (a submodule's) but not the usual one around it.
        let configured = self.answer(&common, &["config", "--path", "core.worktree"]).await?;
        if let Some(path) = configured.yes_or_no()? {
            return Ok(self.resolved(&join(&common, &text(&path))).await);
        }
        match (file_name(&common), parent(&common)) {
            (Some(".git"), Some(parent)) if !self.is_bare(&common).await? => Ok(parent.to_owned()),
            (Some(_) | None, Some(_) | None) => Ok(common),
        }
    }

    /// Refuses a git that is too old; asked once its output is not understood.
    pub(crate) async fn demand_recent(&self, cwd: &str) -> Result<(), Failure> {
        let said = text(&self.answer(cwd, &["--version"]).await?.success()?);
        let version = said.strip_prefix("git version ").unwrap_or_default();
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) if (major, minor) < OLDEST => Err(Failure::new(
                FailureKind::Unsupported,
                format!("{said} is too old: git {}.{} or newer is needed", OLDEST.0, OLDEST.1),
            )),
            _ => Ok(()),
        }
    }

    async fn is_bare(&self, common: &str) -> Result<bool, Failure> {
        let bare =
            self.answer(common, &["config", "--type=bool", "core.bare"]).await?.yes_or_no()?;
        Ok(bare.is_some_and(|bare| text(&bare) == "true"))
    }

    /// What is checked out in `root`, and which files differ from it.
    async fn status(&self, root: &str) -> Result<Status, Failure> {
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
        let output = self.answer(root, &args).await?.success()?;
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
                        status.branch = self.head_branch(root).await?;
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

    pub(crate) async fn switch(
        &self,
        cwd: &str,
        branch: &BranchName,
        create: bool,
    ) -> Result<(), Failure> {
        let mut args = vec!["switch", "--quiet", "--no-guess", "--no-recurse-submodules"];
        if create {
            args.push("--create");
        }
        args.push(branch.as_str());
        self.demand_unlocked(cwd, &["HEAD"]).await?;
        if create {
            // No file changes.
            return self.act(cwd, &args).await?.success().map(drop);
        }
        let root = self.layout(cwd).await?.root;
        let tip = format!("refs/heads/{branch}");
        if self.commit(&root, &tip).await?.is_none() {
            // Git says so.
            return self.answer(&root, &args).await?.success().map(drop);
        }
        self.change_files(&root, &args, &tip).await?.success().map(drop)
    }

    /// Refuses to begin what would change files first and then find the index or one of
    /// `references` locked.
    pub(crate) async fn demand_unlocked(
        &self,
        cwd: &str,
        references: &[&str],
    ) -> Result<(), Failure> {
        let lock = self.git_path(cwd, "index.lock").await?;
        if self.is_there(&lock).await {
            return Err(known_failures::locked(&format!("`{lock}`")));
        }
        for reference in references {
            // Making it what it is changes nothing, and takes every lock that a change takes.
            if let Some(commit) = self.commit(cwd, reference).await? {
                self.answer(cwd, &["update-ref", reference, &commit, &commit]).await?.success()?;
            }
        }
        Ok(())
    }

    pub(crate) async fn delete_branch(
        &self,
        cwd: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        if self.commit(cwd, &format!("refs/heads/{branch}")).await?.is_none() {
            let message = format!("there is no branch `{branch}` in `{cwd}`");
            return Err(Failure::new(FailureKind::NotFound, message));
        }
        let holds = |entry: &Registered| {
            entry.branch.as_deref() == Some(branch.as_str()) && entry.holds_its_branch()
        };
        if let Some(holder) = self.registered(cwd).await?.iter().find(|entry| holds(entry)) {
            let message = format!("branch `{branch}` is checked out at `{}`", utf8(&holder.path)?);
            return Err(Failure::new(FailureKind::Busy, message));
        }
        let args = ["branch", "--quiet", "--delete", "--force", "--", branch.as_str()];
        self.answer(cwd, &args).await?.success().map(drop)
    }

    pub(crate) async fn stash(
        &self,
        cwd: &str,
        message: &str,
        paths: &[String],
    ) -> Result<(), Failure> {
        let root = self.layout(cwd).await?.root;
        let before = self.commit(&root, "refs/stash").await?;
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
        if let Err(failure) = self.act_on(&root, &args, &list).await.and_then(Answer::success) {
            // The stash is made before files are touched.
            return match self.undisturbed().commit(&root, "refs/stash").await {
                Ok(now) if now == before => Err(failure),
                Ok(_) | Err(_) => {
                    let message = format!("{failure}; `git stash pop` brings back what it did");
                    Err(Failure::new(failure.kind, message))
                }
            };
        }
        if self.commit(&root, "refs/stash").await? == before {
            let message = format!("git found nothing to stash in `{root}`");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        let dirty = self.status(&root).await?.dirty;
        match paths.iter().find(|path| dirty.contains(path)) {
            None => Ok(()),
            Some(path) => Err(Failure::new(
                FailureKind::Conflict,
                format!(
                    "git could not stash `{}` in `{root}`; `git stash pop` brings back what it did",
                    one_line(path)
                ),
            )),
        }
    }
}
