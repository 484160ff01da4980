//! Linked worktrees with the git program.

use onloop_effect::{BranchName, Failure, FailureKind};

use crate::Step;
use crate::command::{Answer, GitProgram};
use crate::paths::join;
use crate::requests::utf8;

/// A worktree that the repository has registered.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    /// Its top folder; symbolic links resolved where it exists.
    pub(crate) path: String,
    /// Its branch.
    pub(crate) branch: Option<String>,
    /// The reason it is locked for; empty where none was given.
    locked: Option<String>,
    /// Whether the folder is there.
    present: bool,
}

/// A worktree to create.
pub(crate) struct NewWorktree<'a> {
    pub(crate) path: &'a str,
    pub(crate) branch: &'a BranchName,
    pub(crate) create_at: Option<&'a str>,
}

impl Registered {
    /// A worktree whose folder is gone still holds its branch while it is locked: the folder
    /// may be on a disk that is not mounted.
    pub(crate) fn holds_its_branch(&self) -> bool {
        self.present || self.locked.is_some()
    }

    /// Refuses to touch a locked worktree.
    fn unlocked(&self) -> Result<(), Failure> {
        let Some(reason) = &self.locked else { return Ok(()) };
        let shown = &self.path;
        let reason = if reason.is_empty() { "no reason given" } else { reason };
        Err(Failure::new(
            FailureKind::Busy,
            format!("the worktree `{shown}` is locked ({reason}); `git worktree unlock` frees it"),
        ))
    }
}

impl GitProgram {
    /// Returns every registered worktree, the main checkout first unless the repository is bare.
    pub(crate) async fn registered(&self, cwd: &str) -> Result<Vec<Registered>, Failure> {
        self.registered_around(cwd, None).await
    }

    /// Does the same with the main checkout's top folder, if that is known already.
    pub(crate) async fn registered_around(
        &self,
        cwd: &str,
        main_root: Option<&str>,
    ) -> Result<Vec<Registered>, Failure> {
        let args = ["worktree", "list", "--porcelain", "-z"];
        let listed = async || {
            let answer = self.answer(cwd, &args).await?;
            if answer.exit == USAGE {
                self.demand_recent(cwd).await?;
            }
            answer.success()
        };
        let output = self.until_written(listed).await?;
        let mut all: Vec<Registered> = Vec::new();
        let mut bare = false;
        for attribute in output.split(|&byte| byte == 0) {
            let attribute = String::from_utf8_lossy(attribute);
            let (key, value) = attribute.split_once(' ').unwrap_or((&attribute, ""));
            let current = all.last_mut();
            match (key, current) {
                ("worktree", _) => all.push(Registered {
                    path: self.resolved(value).await,
                    branch: None,
                    locked: None,
                    present: self.target_of(&join(value, ".git")).await.is_some(),
                }),
                ("branch", Some(entry)) => {
                    entry.branch = value.strip_prefix("refs/heads/").map(str::to_owned);
                }
                ("locked", Some(entry)) => entry.locked = Some(value.to_owned()),
                ("bare", Some(_)) => bare = true,
                // Commits, and lines of later versions.
                (_, _) => {}
            }
        }
        match all.first_mut() {
            // Git names a submodule's repository here, not its checkout.
            Some(main) if !bare => {
                main.path = match main_root {
                    Some(root) => root.to_owned(),
                    None => self.main_root(&self.layout(cwd).await?).await?,
                };
                main.present = true;
            }
            Some(_) => drop(all.remove(0)),
            None => {}
        }
        Ok(all)
    }

    /// Creates a worktree, or nothing at all.
    pub(crate) async fn create_worktree(
        &self,
        cwd: &str,
        new: &NewWorktree<'_>,
    ) -> Result<(), Failure> {
        let path = utf8(new.path)?;
        for stale in self.registered(cwd).await? {
            let same_branch = stale.branch.as_deref() == Some(new.branch.as_str());
            if (stale.path == new.path || same_branch) && !stale.present {
                stale.unlocked()?;
                self.forget(cwd, &stale.path).await?;
            }
        }
        let branch = format!("refs/heads/{}", new.branch);
        let is_new = new.create_at.is_some() && self.commit(cwd, &branch).await?.is_none();
        let parents = self.make_parents(new.path).await?;
        if let Err(failure) = self.add_worktree(cwd, new, &path).await {
            let undisturbed = self.undisturbed();
            let _ = self.done(Step::RemoveTree { path: new.path.to_owned() }).await;
            let _ = undisturbed.forget(cwd, new.path).await;
            if is_new {
                let _ = undisturbed.delete_branch(cwd, new.branch).await;
            }
            self.remove_folders(&parents).await;
            return Err(failure);
        }
        Ok(())
    }

    async fn add_worktree(
        &self,
        cwd: &str,
        new: &NewWorktree<'_>,
        path: &str,
    ) -> Result<(), Failure> {
        if let Some(commit) = new.create_at {
            // On its own, `worktree add -b` leaves its branch behind when the checkout fails.
            let args = ["branch", "--quiet", "--no-track", "--", new.branch.as_str(), commit];
            self.answer(cwd, &args).await?.success()?;
        }
        let args = ["worktree", "add", "--quiet", "--", path, new.branch.as_str()];
        // Git reads the other records before it writes its own.
        let add = async || self.act(cwd, &args).await.and_then(Answer::success).map(drop);
        self.until_written(add).await
    }

    /// Removes a linked worktree with everything in it.
    pub(crate) async fn remove_worktree(&self, cwd: &str, path: &str) -> Result<(), Failure> {
        let wanted = self.resolved(path).await;
        let registered = self.registered(cwd).await?;
        let main = self.main_root(&self.layout(cwd).await?).await?;
        let found = registered.iter().find(|entry| entry.path == wanted && entry.path != main);
        let Some(entry) = found else {
            let message = format!("`{path}` is not a linked worktree of this repository");
            return Err(Failure::new(FailureKind::NotFound, message));
        };
        entry.unlocked()?;
        if entry.present {
            self.remove_folder(&wanted).await?;
        }
        self.forget(cwd, &wanted).await
    }

    async fn forget(&self, cwd: &str, path: &str) -> Result<(), Failure> {
        let path = utf8(path)?;
        let args = ["worktree", "remove", "--force", "--", &path];
        let remove = async || self.answer(cwd, &args).await?.success().map(drop);
        self.until_written(remove).await
    }

    /// Repeats what reads the records of all worktrees. Git fails while another process, such as the
    /// person's own `git worktree add`, has written a part of one.
    async fn until_written<T>(
        &self,
        ask: impl AsyncFn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        for _ in 1..RECORD_TRIES {
            match ask().await {
                Err(failure) if is_half_written(&failure.message) => {
                    self.done(Step::Pause { duration_ms: RECORD_PAUSE_MS }).await?;
                }
                answered => return answered,
            }
        }
        ask().await
    }
}

/// Exit code of git for an option that it does not know.
const USAGE: i32 = 129;

/// How often git is asked again while another git writes the record of a worktree, and the pause
/// between.
const RECORD_TRIES: u32 = 20;
const RECORD_PAUSE_MS: u64 = 50;

/// Whether git could not read a file of a worktree's record that is not complete yet.
fn is_half_written(said: &str) -> bool {
    let of_a_record = |file: &str| said.contains("/worktrees/") && said.contains(file);
    said.contains("failed to read")
        && ["/commondir", "/gitdir", "/HEAD"].into_iter().any(of_a_record)
}

#[cfg(test)]
mod tests {
    use onloop_effect::{GitRequest, Outcome};

    use crate::{CommandEnd, Step, StepReply, Surroundings, Task, TaskTurn};

    /// Lists worktrees where git says this so many times before it answers. Returns the outcome and
    /// the number of pauses.
    fn list(said: &str, times: u32) -> (Option<Outcome>, u32) {
        let request = GitRequest::Worktrees { cwd: "/r".to_owned() };
        let mut task = Task::new(request, Surroundings::default());
        let (mut asked, mut pauses, mut reply) = (0, 0, None);
        loop {
            reply = match task.resume(reply.take()) {
                TaskTurn::End(outcome) => return (outcome.ok(), pauses),
                TaskTurn::Step(Step::Run { .. }) => {
                    asked += 1;
                    let (exit, stderr) = if asked <= times { (128, said) } else { (0, "") };
                    let (stdout, stderr) = ("".into(), stderr.into());
                    let ends = vec![CommandEnd::Exited { exit, stdout, stderr }];
                    Some(Ok(StepReply::Ended { ends }))
                }
                TaskTurn::Step(Step::Pause { .. }) => {
                    pauses += 1;
                    Some(Ok(StepReply::Done))
                }
                TaskTurn::Step(Step::Look { paths, .. }) => {
                    Some(Ok(StepReply::Found { found: vec![None; paths.len()] }))
                }
                TaskTurn::Step(Step::FindLink { .. }) => Some(Ok(StepReply::Path { path: None })),
                TaskTurn::Step(step) => panic!("{step:?}"),
            };
        }
    }

    #[test]
    fn a_record_that_another_git_writes_is_read_again() {
        let none = Some(Outcome::Worktrees { worktrees: Vec::new() });
        let said = "fatal: failed to read .git/worktrees/x/commondir: Success";
        assert_eq!(list(said, 2), (none, 2));
        assert_eq!(list(said, 99), (None, 19));
        let other = "fatal: failed to read /r/x: Success";
        assert_eq!(list(other, 1), (None, 0), "another error is not repeated");
    }
}
