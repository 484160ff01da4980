//! From what is asked and where the work is to what will be done, or why it will not.

use super::context::{FinishContext, MainCheckout, TargetBranch};
use super::verified::in_progress;
use super::{DispositionWord, FinishArgs};
use crate::forge::is_web_address;
use onloop_effect::BranchName;
use onloop_engine::error::CommandError;
use onloop_run::{Disposition, FinishAct, PullRequest, Run};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::CommitWhen;

/// What is asked for, checked as far as that is possible without looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) disposition: Disposition,
    pub(super) target: Option<String>,
    pub(super) remote: String,
    pub(super) create_pr: bool,
    pub(super) pr_url: Option<String>,
    pub(super) notes: Option<String>,
    pub(super) confirmed: bool,
    pub(super) force: bool,
    pub(super) commit: Option<CommitWhen>,
    pub(super) message: Option<String>,
}

impl Wish {
    /// Reads the command line; otherwise what is wrong with it.
    pub(super) fn read(args: &FinishArgs) -> Result<Wish, CommandError> {
        let disposition = match args.disposition {
            DispositionWord::Keep => Disposition::Kept,
            DispositionWord::Merge => Disposition::Merged,
            DispositionWord::Pr | DispositionWord::Publish => Disposition::Published,
            DispositionWord::Discard => Disposition::Discarded,
        };
        if let Some(name) = &args.target_branch {
            demand_name("--target-branch", name)?;
        }
        demand_name("--remote", &args.remote)?;
        if let Some(url) = &args.pr_url
            && !is_web_address(url)
        {
            let url = text::ellipsis(&text::one_line(url), 200);
            let what = format!("--pr-url must be an http or https address, got: {url}");
            return Err(CommandError::failed(what));
        }
        Ok(Wish {
            disposition,
            target: args.target_branch.clone(),
            remote: args.remote.clone(),
            create_pr: args.create_pr
                || (args.disposition == DispositionWord::Pr && args.pr_url.is_none()),
            pr_url: args.pr_url.clone(),
            notes: args.notes.as_deref().map(text::one_line).filter(|notes| !notes.is_empty()),
            confirmed: args.confirm.as_deref() == Some("discard"),
            force: args.force,
            commit: args.commit.map(CommitWhen::from),
            message: args.message.clone().filter(|message| !message.trim().is_empty()),
        })
    }

    /// An act of the same kind, for asking the record whether it would accept one.
    pub(super) fn rehearsed(&self) -> FinishAct {
        match self.disposition {
            Disposition::Kept | Disposition::Discarded => FinishAct::Discard { commit: None },
            Disposition::Merged => FinishAct::Merge {
                commit: String::new(),
                target: String::new(),
                pull_request: None,
            },
            Disposition::Published => FinishAct::Publish {
                commit: String::new(),
                remote: String::new(),
                pull_request: PullRequest::NotAsked { target: None },
            },
        }
    }

    /// Whether this is the pull request that is asked for.
    pub(super) fn asks_for(&self, pull_request: &PullRequest) -> bool {
        let target = self.target.as_deref();
        match pull_request {
            PullRequest::NotAsked { target: theirs } => {
                !self.create_pr && self.pr_url.is_none() && theirs.as_deref() == target
            }
            PullRequest::Create { target: theirs } => {
                self.create_pr && target.is_none_or(|target| target == theirs)
            }
            PullRequest::Existing { url, target: theirs } => {
                self.pr_url.as_ref() == Some(url) && theirs.as_deref() == target
            }
        }
    }

    /// Whether the work goes somewhere else, so that all of it is needed.
    pub(super) fn hands_on(&self) -> bool {
        matches!(self.disposition, Disposition::Merged | Disposition::Published)
    }

    /// Whether this is a merge that the record has already.
    pub(super) fn is_done(&self, run: &Run) -> bool {
        let outcome = run.finish.as_ref().map(|finish| &finish.outcome);
        let is_same = outcome.is_some_and(|outcome| {
            let target = outcome.target_branch.as_deref();
            outcome.disposition == Disposition::Merged
                && (self.target.is_none() || self.target.as_deref() == target)
        });
        let is_asked = self.disposition == Disposition::Merged && !self.force;
        is_same && is_asked && run.finish_intent.is_none()
    }

    /// What stands against it wherever the work is.
    pub(super) fn objection(&self) -> Option<CommandError> {
        (self.disposition == Disposition::Discarded && !self.confirmed).then(|| {
            CommandError::failed("discarding the work is destructive")
                .fix("run this again with --confirm discard")
        })
    }
}

fn demand_name(flag: &str, name: &str) -> Result<(), CommandError> {
    match name.parse::<BranchName>() {
        Ok(_) => Ok(()),
        Err(why) => {
            let name = text::ellipsis(&text::one_line(name), 200);
            let what = format!("{flag}: `{name}` is not a name that git accepts: it {why}");
            Err(CommandError::failed(what))
        }
    }
}

/// Why nothing but keeping is possible.
pub(super) fn no_branch(run: &Run) -> CommandError {
    let id = &run.id;
    let error = CommandError::failed(format!("run `{id}` has no branch in a git repository"));
    // What git does not take for a repository any more was one when the run began.
    let place = &run.place;
    let began_in = place.repo_root.as_ref().filter(|_| place.executor_mode == "branch");
    not_a_checkout_now(began_in, error)
        .fix_by("keep it, which is all that is possible", format!("onloop finish {id} keep"))
}

/// What will be done; otherwise why not.
pub(super) fn plan(
    run: &Run,
    context: &FinishContext,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, CommandError> {
    match wish.disposition {
        Disposition::Merged => plan_merge(run, context, wish, target),
        Disposition::Published => plan_publish(run, context, wish, target),
        Disposition::Discarded => plan_discard(run, context, target),
        Disposition::Kept => Err(CommandError::failed("keeping the work changes nothing")),
    }
}

fn plan_merge(
    run: &Run,
    context: &FinishContext,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, CommandError> {
    let commit = demand_commit(run, context)?;
    let target = demand_target(run, context, target)?;
    let main = demand_main(context, wish.disposition)?;
    if let Some(at) = target.checked_out_at.as_ref().filter(|at| **at != main.root) {
        let name = &target.name;
        return Err(CommandError::failed(format!(
            "target branch `{name}` is checked out at `{at}`"
        ))
        .fix("merge it there by hand, or free it first"));
    }
    if let Some(objection) = in_the_way(context).or(worktree_objection(context, wish.disposition)) {
        return Err(objection);
    }
    Ok(FinishAct::Merge { commit, target: target.name.clone(), pull_request: None })
}

fn plan_publish(
    run: &Run,
    context: &FinishContext,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, CommandError> {
    let commit = demand_commit(run, context)?;
    // Without a pull request the target is only something to remember.
    let named = wish.target.clone();
    let pull_request = match (wish.create_pr, &wish.pr_url) {
        (true, _) => {
            PullRequest::Create { target: demand_target(run, context, target)?.name.clone() }
        }
        (false, Some(url)) => PullRequest::Existing { url: url.clone(), target: named },
        (false, None) => PullRequest::NotAsked { target: named },
    };
    Ok(FinishAct::Publish { commit, remote: wish.remote.clone(), pull_request })
}

fn plan_discard(
    run: &Run,
    context: &FinishContext,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, CommandError> {
    let branch = &context.branch;
    if !context.owns_branch {
        let what = format!("branch `{branch}` was not made for this run; nothing was discarded");
        return Err(CommandError::failed(what)
            .fix("undo its commits yourself")
            .fix_by("or keep it", format!("onloop finish {} keep", run.id)));
    }
    let main = demand_main(context, Disposition::Discarded)?;
    if context.is_shared() {
        // Uncommitted files of a shared checkout may be anybody's.
        if let Some(objection) = dirty_main(main) {
            return Err(objection);
        }
        demand_target(run, context, target)?;
    }
    let own = [context.worktree.as_ref().map(|worktree| &worktree.path), Some(&main.root)];
    let elsewhere = context.checked_out_at.as_ref().filter(|at| !own.contains(&Some(at)));
    let in_use = elsewhere.map(|at| branch_in_use(branch, at));
    match in_use.or(worktree_objection(context, Disposition::Discarded)) {
        Some(objection) => Err(objection),
        None => Ok(FinishAct::Discard { commit: context.commit.clone() }),
    }
}

/// Why git would not delete a branch.
pub(super) fn branch_in_use(branch: &str, at: &str) -> CommandError {
    let folder = text::shell_word(at);
    CommandError::failed(format!("branch `{branch}` is checked out at `{at}`"))
        .fix_by("free it", format!("git -C {folder} switch --detach"))
}

fn demand_commit(run: &Run, context: &FinishContext) -> Result<String, CommandError> {
    context.commit.clone().ok_or_else(|| missing_branch(run, context))
}

/// What is wrong where the run's branch is gone. From where the run began, the same command commits
/// what the verified checkpoint has.
pub(super) fn missing_branch(run: &Run, context: &FinishContext) -> CommandError {
    let branch = &context.branch;
    let error = CommandError::failed(format!("execution branch `{branch}` does not exist"));
    let verified = run.verified_checkpoint().map(|verified| &verified.commit);
    match verified.and(run.place.source_head.as_ref().or(verified)) {
        None => error.fix_by("see which branches there are", "git branch --all"),
        Some(commit) => {
            let (folder, word) = (text::shell_word(&context.home), text::shell_word(branch));
            error
                .because("the checkpoints still have the verified work")
                .fix_by("bring it back", format!("git -C {folder} branch {word} {commit}"))
                .fix("then run the same command again")
        }
    }
}

/// Adds why git finds no checkout where the run was started in one: the agent can have said so to git.
fn not_a_checkout_now(root: Option<&String>, error: CommandError) -> CommandError {
    let Some(root) = root else { return error };
    let folder = text::shell_word(root);
    let mut error = error
        .because(format!(
            "the run began in the checkout `{root}`, and git takes it for none now: `core.bare` or \
             `core.worktree` was set there"
        ))
        .fix_by(
            "see which one, and where",
            format!("git -C {folder} config --show-origin --get-regexp '^core.(bare|worktree)$'"),
        );
    for key in ["core.bare", "core.worktree"] {
        let command = format!("git -C {folder} config --unset-all {key}");
        error = error.fix_by(format!("remove `{key}`, if you did not set it"), command);
    }
    error
}

pub(super) fn demand_target<'a>(
    run: &Run,
    context: &FinishContext,
    target: Option<&'a TargetBranch>,
) -> Result<&'a TargetBranch, CommandError> {
    match target {
        None if !context.owns_branch => {
            let branch = &context.branch;
            Err(CommandError::failed(format!("the work is on `{branch}` already"))
                .because("the run worked on that branch itself, so there is nothing to merge")
                .fix_by("record that it stays there", format!("onloop finish {} keep", run.id))
                .fix("or name another branch that takes it in with --target-branch B"))
        }
        None => {
            let error = CommandError::failed("no target branch was found");
            let error = match &context.began_detached {
                None => error,
                Some(head) => {
                    error.because(format!("the run began at commit {head}, on no branch"))
                }
            };
            Err(error.fix("name the branch that takes it in with --target-branch B"))
        }
        Some(target) if target.name == context.branch => Err(CommandError::failed(format!(
            "target branch must differ from the execution branch: `{}`",
            target.name
        ))),
        Some(target) if !target.exists => {
            Err(CommandError::failed(format!("target branch `{}` does not exist", target.name)))
        }
        Some(target) => Ok(target),
    }
}

fn demand_main(
    context: &FinishContext,
    disposition: Disposition,
) -> Result<&MainCheckout, CommandError> {
    context.main.as_ref().ok_or_else(|| {
        let verb = disposition.imperative();
        let error = CommandError::failed(format!(
            "the repository is bare: there is no checkout in which to {verb} and to keep the record"
        ));
        not_a_checkout_now(context.lost_main.as_ref(), error).fix("use keep or publish")
    })
}

/// Why the main checkout cannot take the branch in. Where the run works there itself, what is not
/// committed is its work.
pub(super) fn in_the_way(context: &FinishContext) -> Option<CommandError> {
    let main = context.main.as_ref().filter(|_| !context.is_shared())?;
    dirty_main(main)
}

/// Why branches cannot be switched or merged in the main checkout.
pub(super) fn dirty_main(main: &MainCheckout) -> Option<CommandError> {
    let what = format!("uncommitted files in `{}` block this", main.root);
    if main.dirty.is_empty() {
        return None;
    }
    if let Some(operation) = main.operation {
        return Some(in_progress(&main.root, operation));
    }
    let error = listed(&what, &main.dirty);
    // More of them than are listed are somebody's work in progress.
    if main.dirty.len() > limits::DIRTY_FILES_LISTED {
        return Some(error.fix("commit them or move them away, then run the same command again"));
    }
    let files: Vec<String> = main.dirty.iter().map(|path| text::shell_word(path)).collect();
    let (root, files) = (text::shell_word(&main.root), files.join(" "));
    Some(
        error
            .fix_by(
                "commit them or put them aside (`git stash pop` brings them back)",
                format!("git -C {root} stash push --include-untracked -- {files}"),
            )
            .fix("then run the same command again"),
    )
}

/// Why the run's worktree cannot be removed.
pub(super) fn worktree_objection(
    context: &FinishContext,
    disposition: Disposition,
) -> Option<CommandError> {
    let removes = match disposition {
        Disposition::Merged | Disposition::Discarded => true,
        Disposition::Kept | Disposition::Published => false,
    };
    let worktree = context.worktree.as_ref().filter(|_| removes)?;
    let path = &worktree.path;
    if !worktree.others.is_empty() {
        let what = format!("other runs that have not ended work in `{path}`");
        return Some(listed(&what, &worktree.others));
    }
    if disposition == Disposition::Discarded {
        return None;
    }
    // Of a repository inside another one git keeps nothing but which commit it is at.
    let nested = |name: &&String| name.ends_with('/');
    let nested: Vec<String> = worktree.dirty.iter().filter(nested).cloned().collect();
    if nested.is_empty() {
        return None;
    }
    let what = format!("repositories inside the worktree `{path}` would be lost");
    Some(listed(&what, &nested).fix("move them away"))
}

/// An error about files, whose names may be anything.
pub(super) fn listed(what: &str, names: &[String]) -> CommandError {
    let shown = names.iter().take(limits::DIRTY_FILES_LISTED).map(|name| text::one_line(name));
    let error = CommandError::failed(what).listing(shown);
    match names.len().saturating_sub(limits::DIRTY_FILES_LISTED) {
        0 => error,
        more => error.listing([format!("… and {more} more")]),
    }
}

#[cfg(test)]
mod tests;
