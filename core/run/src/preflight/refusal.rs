//! What preflight says when it stops or asks.

use std::fmt;

use onloop_effect::{BranchName, InvalidBranchName};
use onloop_syntax::limits;
use onloop_syntax::text::{self, words};

/// Why preflight stops, and the ways out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementRefusal {
    /// Stable name of the reason.
    pub code: RefusalCode,
    /// What was found and what was expected; several lines where files are listed.
    pub what: String,
    /// The ways out, best first.
    pub how: Vec<Remedy>,
}

words! {
    /// Reasons to stop, by stable name.
    #[derive(PartialOrd, Ord)]
    pub enum RefusalCode {
        /// The pinned branch is not a branch name.
        InvalidBranch = "invalid-branch",
        /// The workflow file is not in the repository that the work would happen in.
        WorkflowOutside = "workflow-outside",
        /// A worktree or a branch is asked for, and there is no repository or commit to make it of; or there
        /// is a repository without a checkout.
        NoCheckout = "no-checkout",
        /// Git has begun a merge or the like in the checkout and not ended it.
        InProgress = "in-progress",
        /// Files that are not ours are uncommitted.
        Dirty = "dirty",
        /// A feature branch is checked out, and no option says where to work.
        FeatureBranch = "feature-branch",
        /// Host mode needs a named branch.
        HostDetached = "host-detached",
        /// The work would happen on `main` or `master`.
        ProtectedBranch = "protected-branch",
        /// Host mode is on one branch and the file wants another.
        HostBranchDiffers = "host-branch-differs",
        /// The target branch is the one checked out here.
        AlreadyHere = "already-here",
        /// The target branch is checked out in another worktree.
        CheckedOutElsewhere = "checked-out-elsewhere",
        /// The target branch exists.
        BranchExists = "branch-exists",
        /// Another branch has a name that rules the target's out.
        BranchBlocked = "branch-blocked",
        /// The target branch has a worktree where ours would be.
        WorktreeExists = "worktree-exists",
        /// Something else is where our worktree would be.
        FolderTaken = "folder-taken",
        /// The worktree to recreate holds uncommitted work.
        WorktreeDirty = "worktree-dirty",
    }
}

/// One way out: what to type or to do, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Flags for the same command, or a command of its own; empty where nothing is typed.
    pub line: String,
    /// What happens then.
    pub effect: String,
}

/// Something that a person decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementQuestion {
    /// Stable name, equal to that of the refusal without a person.
    pub code: RefusalCode,
    /// What was found.
    pub what: String,
    /// What can be answered; the last one stops.
    pub choices: Vec<PlacementChoice>,
}

/// One answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementChoice {
    /// What it means for the program.
    pub answer: PlacementAnswer,
    /// What it means for the person, and the flag that says the same.
    pub remedy: Remedy,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementAnswer {
    /// Stash what is in the way.
    Stash,
    /// Work on the branch that is checked out, in this checkout.
    Stay(BranchName),
    /// Work in a worktree of its own.
    Worktree,
    /// Work in a worktree on a branch that is yet to be named.
    CustomBranch,
    /// Continue on what is there.
    Reuse,
    /// Delete what is there.
    Recreate,
    /// Change nothing.
    Stop,
}

/// Columns of what is shown: every terminal has them.
const COLUMNS: usize = 80;

impl fmt::Display for PlacementQuestion {
    /// The question as it is put to a person, with numbered choices and a prompt at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", text::wrapped(&text::printable(&self.what), COLUMNS, 2))?;
        for (number, choice) in (1..).zip(&self.choices) {
            let (line, effect) =
                (text::one_line(&choice.remedy.line), text::one_line(&choice.remedy.effect));
            let effect = text::wrapped(&format!("  {number}  {effect}"), COLUMNS, 5);
            f.write_str(&effect)?;
            let used = effect.lines().last().map_or(0, |last| last.chars().count());
            match line.chars().count() {
                0 => writeln!(f)?,
                width if used + "  ()".len() + width <= COLUMNS => writeln!(f, "  ({line})")?,
                _ => writeln!(f, "\n     ({line})")?,
            }
        }
        write!(f, "Choice [{}]: ", self.choices.len())
    }
}

impl PlacementQuestion {
    /// The message without a person: the flag for each choice.
    pub fn into_refusal(self) -> PlacementRefusal {
        // Stopping is what happens anyway.
        let remedies = self.choices.into_iter().map(|choice| choice.remedy);
        let how = remedies.filter(|remedy| !remedy.line.is_empty()).collect();
        PlacementRefusal { code: self.code, what: self.what, how }
    }

    /// The choice that `typed` names by its number; an empty line takes the last, which stops.
    pub fn answer(&self, typed: &str) -> Option<&PlacementAnswer> {
        let typed = typed.trim();
        let number = if typed.is_empty() { self.choices.len() } else { typed.parse().ok()? };
        self.choices.get(number.checked_sub(1)?).map(|choice| &choice.answer)
    }

    /// The question about uncommitted files, of which these are submodules: git stashes nothing of them.
    pub fn with_submodules(mut self, submodules: &[String]) -> PlacementQuestion {
        let words: Vec<String> = submodules.iter().map(|path| text::shell_word(path)).collect();
        if !words.is_empty() {
            self.choices = vec![
                choice(
                    PlacementAnswer::Stop,
                    format!("git submodule update -- {}", words.join(" ")),
                    "check out the recorded commits of submodules, which git does not stash",
                ),
                choice(
                    PlacementAnswer::Stop,
                    "git commit --all",
                    "commit what is changed, first inside of submodules, then run this again",
                ),
            ];
        }
        self
    }

    pub(super) fn dirty(paths: &[&str]) -> PlacementQuestion {
        let what = format!(
            "{} not committed, and the work must not be mixed with {}:{}",
            counted_files(paths.len()),
            if paths.len() == 1 { "it" } else { "them" },
            listed(paths)
        );
        let choices = vec![
            choice(PlacementAnswer::Stash, "--stash", "stash them; `git stash pop` restores them"),
            choice(
                PlacementAnswer::Stop,
                "git stash push --include-untracked",
                "stash them yourself, then run this again",
            ),
            choice(
                PlacementAnswer::Stop,
                "git add --all && git commit",
                "commit them yourself, then run this again",
            ),
        ];
        PlacementQuestion { code: RefusalCode::Dirty, what, choices }
    }

    pub(super) fn feature_branch(current: &BranchName, derived: &BranchName) -> PlacementQuestion {
        let here = format!("--mode branch --branch {}", text::shell_word(current.as_str()));
        let choices = vec![
            choice(
                PlacementAnswer::Worktree,
                "--mode worktree",
                format!("work in a worktree of its own, on `{derived}` (recommended)"),
            ),
            choice(
                PlacementAnswer::Stay(current.clone()),
                here,
                format!("work on `{current}`, here"),
            ),
            choice(
                PlacementAnswer::CustomBranch,
                "--branch NAME",
                "work in a worktree of its own, on a branch you name",
            ),
            stop(),
        ];
        let what = format!(
            "`{current}` is checked out, and the workflow sets neither `branch:` nor `worktree:`"
        );
        PlacementQuestion { code: RefusalCode::FeatureBranch, what, choices }
    }

    pub(super) fn existing(
        code: RefusalCode,
        mut what: String,
        reusable: Reusable,
        branch: &BranchName,
    ) -> PlacementQuestion {
        let mut choices = Vec::new();
        let recreate = format!("delete it and start `{branch}` anew from this commit");
        choices.push(choice(PlacementAnswer::Recreate, "--on-existing recreate", recreate));
        match reusable {
            Reusable::Offered => choices.insert(
                0,
                choice(PlacementAnswer::Reuse, "--on-existing reuse", "continue on it as it is"),
            ),
            Reusable::OnRequest => {
                what.push_str("; `--on-existing reuse` continues on it as it is");
            }
        }
        choices.push(stop());
        PlacementQuestion { code, what, choices }
    }
}

/// Whether continuing on what exists is offered or has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reusable {
    /// It is at the same commit as this checkout.
    Offered,
    /// It has a history of its own; only `--on-existing reuse` takes it.
    OnRequest,
}

impl PlacementRefusal {
    pub(super) fn invalid_branch(name: &str, reason: &InvalidBranchName) -> PlacementRefusal {
        let name = text::ellipsis(&text::one_line(name), limits::BRANCH_NAME_BYTES);
        refusal(
            RefusalCode::InvalidBranch,
            format!("`{name}` is not a branch name: it {reason}"),
            vec![remedy("--branch NAME", "name another branch")],
        )
    }

    pub(super) fn in_progress(command: &str, root: &str) -> PlacementRefusal {
        let again = "resolve its conflicts, add the files and end it, then run this again";
        refusal(
            RefusalCode::InProgress,
            format!("a `git {command}` is in progress in `{}`", text::one_line(root)),
            vec![
                remedy(format!("git {command} --continue"), again),
                remedy(format!("git {command} --abort"), "or undo it, then run this again"),
            ],
        )
    }

    pub(super) fn workflow_outside(workflow: &str, root: &str) -> PlacementRefusal {
        let (workflow, root) = (text::one_line(workflow), text::one_line(root));
        refusal(
            RefusalCode::WorkflowOutside,
            format!("the workflow `{workflow}` is outside the repository `{root}`"),
            vec![
                remedy("cd FOLDER", "run this inside the workflow's own repository"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn workflow_elsewhere(workflow: &str, root: &str) -> PlacementRefusal {
        let (workflow, shown) = (text::one_line(workflow), text::one_line(root));
        refusal(
            RefusalCode::WorkflowOutside,
            format!(
                "the workflow `{workflow}` is in the repository `{shown}`, but this folder is not"
            ),
            vec![
                remedy(format!("cd {}", text::shell_word(root)), "run this there"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn no_checkout() -> PlacementRefusal {
        refusal(
            RefusalCode::NoCheckout,
            "this folder is in a bare repository, which has no checkout to work in".to_owned(),
            vec![
                remedy("git worktree add PATH BRANCH", "make a checkout, then run this there"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn no_repository() -> PlacementRefusal {
        refusal(
            RefusalCode::NoCheckout,
            "a worktree or a branch needs a git repository; this folder is not in one".to_owned(),
            vec![
                remedy("git init && git commit --allow-empty -m Begin", "make one"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn no_commit() -> PlacementRefusal {
        refusal(
            RefusalCode::NoCheckout,
            "a worktree or a branch needs a commit, and this repository has none".to_owned(),
            vec![
                remedy("git commit --allow-empty -m Begin", "make one"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn host_detached() -> PlacementRefusal {
        refusal(
            RefusalCode::HostDetached,
            "host mode works on the branch that is checked out, and HEAD is detached".to_owned(),
            vec![
                remedy("git switch BRANCH", "check out a branch, then run this again"),
                remedy("--mode worktree", "work in a worktree of its own"),
            ],
        )
    }

    pub(super) fn protected(branch: &BranchName) -> PlacementRefusal {
        refusal(
            RefusalCode::ProtectedBranch,
            format!("the work would happen on the protected branch `{branch}`"),
            vec![
                remedy("--mode worktree --branch NAME", "work in a worktree on another branch"),
                remedy("git switch --create NAME", "switch to a feature branch, then run again"),
                remedy("--mode none", "work where you are and leave git alone"),
            ],
        )
    }

    pub(super) fn host_branch_differs(
        pinned: &BranchName,
        current: &BranchName,
    ) -> PlacementRefusal {
        let current_word = text::shell_word(current.as_str());
        refusal(
            RefusalCode::HostBranchDiffers,
            format!(
                "host mode works on `{current}`, which is checked out, but the branch is \
                     pinned to `{pinned}`"
            ),
            vec![
                remedy(format!("--branch {current_word}"), "work on what is checked out"),
                remedy("--mode worktree", format!("work in a worktree on `{pinned}`")),
            ],
        )
    }

    pub(super) fn already_here(branch: &BranchName) -> PlacementRefusal {
        refusal(
            RefusalCode::AlreadyHere,
            format!("`{branch}` is checked out here, so no worktree can use it"),
            vec![
                remedy("--mode branch", "work on it in this checkout (`worktree: false`)"),
                remedy("--mode host", "the same, prepared by your tool (`worktree: host`)"),
                remedy("--branch NAME", "work in a worktree on another branch"),
            ],
        )
    }

    pub(super) fn checked_out_elsewhere(branch: &BranchName, at: &str) -> PlacementRefusal {
        let shown = text::one_line(at);
        refusal(
            RefusalCode::CheckedOutElsewhere,
            format!("`{branch}` is checked out at `{shown}`, so nothing else can use it"),
            vec![
                remedy("--branch NAME", "work on another branch"),
                remedy(
                    format!("cd {}", text::shell_word(at)),
                    "run this there, with `--mode host`, to continue on it",
                ),
            ],
        )
    }

    pub(super) fn branch_blocked(target: &BranchName, other: &str) -> PlacementRefusal {
        let other = text::one_line(other);
        let word = text::shell_word(&other);
        refusal(
            RefusalCode::BranchBlocked,
            format!("git cannot create branch `{target}` beside branch `{other}`"),
            vec![
                remedy("--branch NAME", "work on a branch with another name"),
                remedy(
                    format!("git branch -m {word} NEW_NAME"),
                    "rename the other branch, then run this again",
                ),
            ],
        )
    }

    pub(super) fn folder_taken(path: &str, by: &str, remove: String) -> PlacementRefusal {
        let (path, by) = (text::one_line(path), text::one_line(by));
        refusal(
            RefusalCode::FolderTaken,
            format!("the worktree's folder `{path}` is taken by {by}"),
            vec![
                remedy("--branch NAME", "work on a branch with another folder"),
                remedy(remove, "make room for it, then run this again"),
            ],
        )
    }

    /// `is_ours`: an earlier run of the workflow made the worktree.
    pub(super) fn worktree_dirty(path: &str, paths: &[&str], is_ours: bool) -> PlacementRefusal {
        let mut refused = refusal(
            RefusalCode::WorktreeDirty,
            format!(
                "recreating the worktree `{}` would lose {} not committed:{}",
                text::one_line(path),
                counted_files(paths.len()).trim_end_matches(" is").trim_end_matches(" are"),
                listed(paths)
            ),
            vec![
                remedy("--on-existing reuse", "continue there as it is"),
                remedy(
                    format!("git -C {} stash push --include-untracked", text::shell_word(path)),
                    "put them away, then run this again",
                ),
            ],
        );
        if is_ours {
            let effect = "leave `--on-existing` out; the run takes the next free name";
            refused.how.insert(0, remedy("--fresh", effect));
        }
        refused
    }
}

fn refusal(code: RefusalCode, what: String, how: Vec<Remedy>) -> PlacementRefusal {
    PlacementRefusal { code, what, how }
}

fn remedy(line: impl Into<String>, effect: impl Into<String>) -> Remedy {
    Remedy { line: line.into(), effect: effect.into() }
}

fn choice(
    answer: PlacementAnswer,
    line: impl Into<String>,
    effect: impl Into<String>,
) -> PlacementChoice {
    PlacementChoice { answer, remedy: remedy(line, effect) }
}

fn stop() -> PlacementChoice {
    choice(PlacementAnswer::Stop, "", "stop here; nothing is changed")
}

fn counted_files(count: usize) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", text::counted(count as u64, "file"))
}

/// The first paths, each on a line of its own, and how many more there are.
fn listed(paths: &[&str]) -> String {
    let shown = paths.iter().take(limits::DIRTY_FILES_LISTED);
    let mut lines: String = shown.map(|path| format!("\n  {}", text::one_line(path))).collect();
    if let Some(more @ 1..) = paths.len().checked_sub(limits::DIRTY_FILES_LISTED) {
        lines.push_str(&format!("\n  and {more} more"));
    }
    lines
}
