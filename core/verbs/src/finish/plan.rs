//! From what is asked and where the work is to what will be done, or why it will not.

use super::scene::{MainCheckout, Scene, TargetBranch};
use super::{DispositionWord, FinishArgs, FinishError, refuse};
use onloop_effect::BranchName;
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
    pub(super) fn read(args: &FinishArgs) -> Result<Wish, FinishError> {
        let disposition = match args.disposition {
            DispositionWord::Keep => Disposition::Kept,
            DispositionWord::Merge => Disposition::Merged,
            DispositionWord::Publish => Disposition::Published,
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
            return refuse(format!("--pr-url must be an http or https address, got: {url}"));
        }
        Ok(Wish {
            disposition,
            target: args.target_branch.clone(),
            remote: args.remote.clone(),
            create_pr: args.create_pr,
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
            Disposition::Merged => {
                FinishAct::Merge { commit: String::new(), target: String::new() }
            }
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

    /// What stands against it wherever the work is.
    pub(super) fn objection(&self) -> Option<String> {
        (self.disposition == Disposition::Discarded && !self.confirmed)
            .then(|| "Discard is destructive. Re-run with --confirm discard.".to_owned())
    }
}

/// Whether `text` is an address that a browser opens, on one line and without blanks.
pub(super) fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty())
        && text.len() <= 2048
        && text.chars().all(|c| c.is_ascii_graphic())
}

fn demand_name(flag: &str, name: &str) -> Result<(), FinishError> {
    match name.parse::<BranchName>() {
        Ok(_) => Ok(()),
        Err(why) => {
            let name = text::ellipsis(&text::one_line(name), 200);
            refuse(format!("{flag}: `{name}` is not a name that git accepts: it {why}"))
        }
    }
}

/// Why nothing but keeping is possible.
pub(super) fn no_branch(run: &Run) -> String {
    let id = &run.id;
    format!(
        "Run {id} has no branch in a git repository; only keeping it is possible:\n  \
             onloop finish {id} keep"
    )
}

/// What will be done; otherwise why not.
pub(super) fn plan(
    run: &Run,
    scene: &Scene,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, FinishError> {
    match wish.disposition {
        Disposition::Merged => plan_merge(scene, wish, target),
        Disposition::Published => plan_publish(scene, wish, target),
        Disposition::Discarded => plan_discard(run, scene, target),
        Disposition::Kept => refuse("Keeping the work changes nothing".to_owned()),
    }
}

fn plan_merge(
    scene: &Scene,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, FinishError> {
    let commit = demand_commit(scene)?;
    let target = demand_target(scene, target)?;
    let main = demand_main(scene, wish.disposition)?;
    if let Some(at) = target.checked_out_at.as_ref().filter(|at| **at != main.root) {
        let name = &target.name;
        return refuse(format!(
            "Target branch {name} is checked out at {at}; merge it there by hand, or free it \
             first"
        ));
    }
    if let Some(objection) = in_the_way(scene).or(worktree_objection(scene, wish.disposition)) {
        return refuse(objection);
    }
    Ok(FinishAct::Merge { commit, target: target.name.clone() })
}

fn plan_publish(
    scene: &Scene,
    wish: &Wish,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, FinishError> {
    let commit = demand_commit(scene)?;
    // Without a pull request the target is only something to remember.
    let named = wish.target.clone();
    let pull_request = match (wish.create_pr, &wish.pr_url) {
        (true, _) => PullRequest::Create { target: demand_target(scene, target)?.name.clone() },
        (false, Some(url)) => PullRequest::Existing { url: url.clone(), target: named },
        (false, None) => PullRequest::NotAsked { target: named },
    };
    Ok(FinishAct::Publish { commit, remote: wish.remote.clone(), pull_request })
}

fn plan_discard(
    run: &Run,
    scene: &Scene,
    target: Option<&TargetBranch>,
) -> Result<FinishAct, FinishError> {
    let branch = &scene.branch;
    if !scene.owns_branch {
        return refuse(format!(
            "Branch {branch} was not made for this run; nothing was discarded. Undo its commits \
             yourself, or keep it:\n  onloop finish {} keep",
            run.id
        ));
    }
    let main = demand_main(scene, Disposition::Discarded)?;
    if scene.is_shared() {
        // Uncommitted files of a shared checkout may be anybody's.
        if let Some(objection) = dirty_main(main) {
            return refuse(objection);
        }
        demand_target(scene, target)?;
    }
    let own = [scene.worktree.as_ref().map(|worktree| &worktree.path), Some(&main.root)];
    let elsewhere = scene.held_at.as_ref().filter(|at| !own.contains(&Some(at)));
    let held = elsewhere.map(|at| held(branch, at));
    match held.or(worktree_objection(scene, Disposition::Discarded)) {
        Some(objection) => refuse(objection),
        None => Ok(FinishAct::Discard { commit: scene.commit.clone() }),
    }
}

/// Why git would not delete a branch.
pub(super) fn held(branch: &str, at: &str) -> String {
    let folder = text::shell_word(at);
    format!("Branch {branch} is checked out at {at}; free it: git -C {folder} switch --detach")
}

fn demand_commit(scene: &Scene) -> Result<String, FinishError> {
    let missing =
        || FinishError::Refused(format!("Execution branch does not exist: {}", scene.branch));
    scene.commit.clone().ok_or_else(missing)
}

pub(super) fn demand_target<'a>(
    scene: &Scene,
    target: Option<&'a TargetBranch>,
) -> Result<&'a TargetBranch, FinishError> {
    match target {
        None => refuse(match &scene.began_detached {
            None => "No target branch was found; name one with --target-branch B".to_owned(),
            Some(head) => format!(
                "The run began at commit {head}, on no branch; name the branch that takes it in \
                 with --target-branch B"
            ),
        }),
        Some(target) if target.name == scene.branch => {
            refuse(format!("Target branch must differ from the execution branch: {}", target.name))
        }
        Some(target) if !target.exists => {
            refuse(format!("Target branch does not exist: {}", target.name))
        }
        Some(target) => Ok(target),
    }
}

fn demand_main(scene: &Scene, disposition: Disposition) -> Result<&MainCheckout, FinishError> {
    scene.main.as_ref().ok_or_else(|| {
        let verb = disposition.imperative();
        FinishError::Refused(format!(
            "The repository is bare: there is no checkout in which to {verb} and to keep the \
             record; use keep or publish"
        ))
    })
}

/// Why the main checkout cannot take the branch in. Where the run works there itself, what is not
/// committed is its work.
pub(super) fn in_the_way(scene: &Scene) -> Option<String> {
    let main = scene.main.as_ref().filter(|_| !scene.is_shared())?;
    dirty_main(main)
}

/// Why branches cannot be switched or merged in the main checkout.
pub(super) fn dirty_main(main: &MainCheckout) -> Option<String> {
    let what = format!("Uncommitted files in {} block this.", main.root);
    (!main.dirty.is_empty()).then(|| listed(&what, &main.dirty))
}

/// Why the run's worktree cannot be removed.
pub(super) fn worktree_objection(scene: &Scene, disposition: Disposition) -> Option<String> {
    let removes = match disposition {
        Disposition::Merged | Disposition::Discarded => true,
        Disposition::Kept | Disposition::Published => false,
    };
    let worktree = scene.worktree.as_ref().filter(|_| removes)?;
    let path = &worktree.path;
    if !worktree.others.is_empty() {
        let what = format!("Other runs that have not ended work in {path}:");
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
    let what = format!("Repositories inside the worktree {path} would be lost; move them away:");
    Some(listed(&what, &nested))
}

/// A list of file names, which may be anything.
pub(super) fn listed(what: &str, names: &[String]) -> String {
    let mut out = what.to_owned();
    for name in names.iter().take(limits::DIRTY_FILES_LISTED) {
        out += &format!("\n  {}", text::one_line(name));
    }
    match names.len().saturating_sub(limits::DIRTY_FILES_LISTED) {
        0 => out,
        more => out + &format!("\n  … and {more} more"),
    }
}

#[cfg(test)]
mod tests;
