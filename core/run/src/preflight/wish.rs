//! What the author of the workflow and the person at the command line want.

use std::collections::BTreeSet;

use super::refusal::PlacementRefusal;
use onloop_effect::BranchName;
use onloop_syntax::text::words;
use onloop_workflow::{Isolation, Plan};

words! {
    /// How the work is kept apart from everything else.
    #[derive(clap::ValueEnum)]
    pub enum IsolationMode {
        /// A linked worktree of its own.
        Worktree = "worktree",
        /// A branch of its own in the current checkout.
        Branch = "branch",
        /// The checkout and branch as the host tool prepared them.
        Host = "host",
        /// The current folder; git is left alone.
        None = "none",
    }
}

impl From<Isolation> for IsolationMode {
    fn from(isolation: Isolation) -> IsolationMode {
        match isolation {
            Isolation::Worktree => IsolationMode::Worktree,
            Isolation::Branch => IsolationMode::Branch,
            Isolation::Host => IsolationMode::Host,
        }
    }
}

/// What to do with a branch or worktree that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnExisting {
    /// Stop and say so.
    Stop,
    /// Continue on it as it is.
    Reuse,
    /// Delete it and create it anew from HEAD.
    Recreate,
}

/// What the command line says about preflight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreflightFlags {
    /// `--mode`; goes before `worktree:` in the file.
    pub mode: Option<IsolationMode>,
    /// `--branch`; goes before `branch:` in the file.
    pub branch: Option<String>,
    /// `--stash`: the explicit approval to stash what is in the way.
    pub stash: bool,
    /// `--on-existing`; left out, a person is asked.
    pub on_existing: Option<OnExisting>,
    /// Branches of earlier runs, which a new run does not use again.
    pub earlier: BTreeSet<String>,
    /// Slug of a task, whose workflow file has a number in its name where that name was taken.
    pub slug: Option<String>,
    /// The caller has settled what becomes of uncommitted files, and has said it.
    pub changes_settled: bool,
}

/// What file and command line want together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementWish {
    /// Pinned isolation.
    pub mode: Option<IsolationMode>,
    /// Whether the command line asks for a worktree or for a branch.
    pub explicit: bool,
    /// Pinned branch.
    pub pinned: Option<BranchName>,
    /// Branch of a workflow without a pinned one.
    pub derived: BranchName,
    /// The derived branch before it was numbered, and its number.
    first: BranchName,
    number: u64,
    /// Files that are not ours may be uncommitted and stay so.
    pub dirty_allowed: bool,
    /// Files that are not ours may be stashed.
    pub stash: bool,
    /// What to do with a branch or worktree that is already there; `None`: ask.
    pub on_existing: Option<OnExisting>,
    /// Branches of earlier runs, which a new run does not use again.
    pub earlier: BTreeSet<String>,
    /// The caller has settled what becomes of uncommitted files, and has said it.
    pub changes_settled: bool,
    /// Whether a person can be asked.
    pub attended: bool,
    /// Whether a line of `setup` is about submodules, so that those of a worktree may be empty before.
    pub sets_up_submodules: bool,
    /// The workflow file: absolute, symbolic links resolved.
    pub workflow: String,
}

impl PlacementWish {
    /// What `plan` and `flags` want for the workflow file at the absolute path `workflow`.
    ///
    /// Refused when `--branch` is not a name that git accepts. The caller sets `attended`.
    pub fn new(
        plan: &Plan,
        flags: &PreflightFlags,
        workflow: String,
    ) -> Result<PlacementWish, PlacementRefusal> {
        let pinned = match &flags.branch {
            None => plan.branch.clone(),
            Some(name) => Some(
                name.parse().map_err(|reason| PlacementRefusal::invalid_branch(name, &reason))?,
            ),
        };
        let derived = BranchName::for_slug(flags.slug.as_ref().unwrap_or(&plan.slug));
        Ok(PlacementWish {
            mode: flags.mode.or(plan.isolation.map(IsolationMode::from)),
            explicit: flags.branch.is_some()
                || matches!(flags.mode, Some(IsolationMode::Worktree | IsolationMode::Branch)),
            pinned,
            first: derived.clone(),
            derived,
            number: 1,
            dirty_allowed: plan.dirty_allowed,
            stash: flags.stash,
            on_existing: flags.on_existing,
            earlier: flags.earlier.clone(),
            changes_settled: flags.changes_settled,
            attended: false,
            sets_up_submodules: plan.setup.iter().any(|line| line.contains("submodule")),
            workflow,
        })
    }

    /// The branch the work should be on, unless the mode says that it is the current one.
    pub fn target(&self) -> &BranchName {
        self.pinned.as_ref().unwrap_or(&self.derived)
    }

    /// Takes the next name (`hotl/x-2`) for a derived branch that exists, if an earlier run has it. Returns whether it did. A branch that somebody pinned, and a choice about what
    /// exists, stay.
    pub fn skip_earlier(&mut self) -> bool {
        let is_settled = self.pinned.is_some() || self.on_existing.is_some();
        // Once a name is numbered, any free number will do.
        if is_settled || !(self.number > 1 || self.has_earlier()) {
            return false;
        }
        self.number += 1;
        self.derived = self.first.numbered(self.number);
        true
    }

    /// Whether an earlier run has the target branch.
    pub(super) fn has_earlier(&self) -> bool {
        self.earlier.contains(self.target().as_str())
    }

    /// Says that the derived branch was numbered, and why.
    pub(super) fn numbered_name(&self) -> Option<String> {
        (self.number > 1).then(|| {
            format!("an earlier run has `{}`; this one works on `{}`", self.first, self.derived)
        })
    }
}
