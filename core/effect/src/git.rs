//! What programs ask of git, and what they are told.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Outcome;
use super::bytes::Bytes;
use super::scalar::millis;
use onloop_syntax::time::Timestamp;

/// A closed set of queries and changes; hosts perform them with libgit2 or the git program. Names of
/// branches, remotes and checkpoints are ones that git allows: they are judged before a host sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "git", rename_all = "snake_case")]
pub enum GitRequest {
    /// Everything preflight needs to know → [`Outcome::Survey`].
    Survey {
        /// A folder, usually inside a repository.
        cwd: String,
        /// The branch whose existence matters; empty: none does.
        branch: String,
    },
    /// Every worktree of the repository, the main one first → [`Outcome::Worktrees`]. Not a
    /// repository: an empty list.
    Worktrees {
        /// A folder inside the repository.
        cwd: String,
    },
    /// The commit at HEAD, hexadecimal → [`Outcome::Commit`].
    Head {
        /// A folder inside the repository.
        cwd: String,
    },
    /// Creates a linked worktree on `branch` → [`Outcome::Done`]. Leaves nothing behind on
    /// failure.
    CreateWorktree {
        /// A folder inside the repository.
        cwd: String,
        /// Folder of the new worktree.
        path: String,
        /// The branch to check out in it.
        branch: String,
        /// The commit to create the branch at; `None` takes the existing branch.
        create_at: Option<String>,
    },
    /// Removes a linked worktree and its folder → [`Outcome::Done`].
    RemoveWorktree {
        /// A folder inside the repository.
        cwd: String,
        /// The worktree.
        path: String,
    },
    /// Switches the checkout at `cwd` to `branch` → [`Outcome::Done`].
    Switch {
        /// A folder inside the checkout.
        cwd: String,
        /// The branch.
        branch: String,
        /// Whether to create it at HEAD first.
        create: bool,
    },
    /// Deletes a local branch that is not checked out, merged or not → [`Outcome::Done`].
    DeleteBranch {
        /// A folder inside the repository.
        cwd: String,
        /// The branch.
        branch: String,
    },
    /// The best common ancestor of a commit and a branch → [`Outcome::Commit`]; `None` where
    /// they have none, or where one of the two is not there. A commit is part of a branch
    /// when this is the commit itself.
    MergeBase {
        /// A folder inside the repository.
        cwd: String,
        /// The id of the commit.
        commit: String,
        /// The local branch.
        branch: String,
    },
    /// The commit that a branch is at in a remote repository → [`Outcome::Commit`]; `None`:
    /// it has no such branch. Asks the remote.
    RemoteBranch {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// Merges a branch into another in the checkout at `cwd`, with a merge commit whenever
    /// there is something to merge → [`Outcome::Done`]. `Conflict` names the conflicting files,
    /// and is also the answer when the branch is not at `commit` or a merge is in progress.
    /// After any failure everything is as it was before, or the message says what is not. No
    /// hook runs, as with every other request but `Push`.
    Merge {
        /// The top folder of the checkout. Afterwards `into` is checked out there if it was
        /// before or if `branch` was; otherwise the checkout stays on what it was on.
        cwd: String,
        /// The branch to merge.
        branch: String,
        /// The commit that it must be at.
        commit: String,
        /// The branch to merge it into.
        into: String,
    },
    /// Pushes a branch to the branch of the same name in a remote repository and makes that
    /// its upstream → [`Outcome::Done`]. Never forced; `Conflict` when the remote branch has
    /// commits that the local one does not. The only request that lets hooks run: what a
    /// `pre-push` hook refuses or uploads is part of every push.
    Push {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// Stashes tracked and untracked changes of `paths` → [`Outcome::Done`].
    Stash {
        /// A folder inside the checkout.
        cwd: String,
        /// Message of the stash entry.
        message: String,
        /// Paths relative to the root of the checkout.
        paths: Vec<String>,
    },
    /// Keeps the files of the checkout at `cwd`, tracked and untracked ones that are not ignored,
    /// without what is in its `.hotl`, as a commit that no branch shows → [`Outcome::Checkpoint`].
    /// Branches, HEAD, index and files of the checkout stay as they are; no hook runs, nothing is
    /// signed or fetched. Outside a repository: `NotFound`. Other programs in the configuration
    /// than expected: `Denied`.
    Checkpoint {
        /// A folder inside the checkout.
        cwd: String,
        /// The file in which the host keeps what it knows of the checkout from one checkpoint to
        /// the next; nothing there: it begins with what the checkout's own index says.
        index: String,
        /// The name of the commit below `refs/onloop/`; what has it already loses it.
        name: String,
        /// The commit before this one; `None`: the one at HEAD, if there is one.
        parent: Option<String>,
        /// The message of the commit.
        message: String,
        /// The time of the commit.
        #[serde(rename = "at_ms", with = "millis")]
        at: Timestamp,
        /// Largest file that is kept; larger ones that git would not convert are left out and named.
        limit_bytes: u64,
        /// What [`KeptWork::programs`] has to be; `None`: anything.
        programs: Option<String>,
    },
    /// Makes the files of the checkout at `cwd` those of a checkpoint → [`Outcome::Done`]. Changes
    /// and removes only files that the last checkpoint with this `index` kept; something else in
    /// the way: `Conflict`, and nothing is changed. Branches, HEAD and index of the checkout stay.
    /// Other programs in the configuration than expected: `Denied`.
    Restore {
        /// A folder inside the checkout.
        cwd: String,
        /// As in [`GitRequest::Checkpoint`].
        index: String,
        /// The commit whose files are wanted.
        commit: String,
        /// Only these files, relative to the top folder; the others stay as they are. None: all.
        paths: Vec<String>,
        /// What [`KeptWork::programs`] has to be; `None`: anything.
        programs: Option<String>,
    },
    /// What changed between two commits, as a patch for people → [`Outcome::Diff`]. Longer than
    /// `limit_bytes`: `TooLarge`.
    Diff {
        /// A folder inside the repository.
        cwd: String,
        /// The commit before.
        from: String,
        /// The commit after.
        to: String,
        /// Only how many lines of which file.
        stat: bool,
        /// Only these files, relative to the top folder; none: all.
        paths: Vec<String>,
        /// Most bytes accepted.
        limit_bytes: u64,
    },
    /// The paths that differ between two commits, relative to the root of the checkout, sorted;
    /// what is not UTF-8 in them is replaced → [`Outcome::Names`].
    ChangedPaths {
        /// A folder inside the repository.
        cwd: String,
        /// One commit.
        from: String,
        /// The other commit.
        to: String,
    },
    /// Makes the files of a checkpoint the next commit of a branch, by the identity and with the
    /// signature that git is configured with, and lets the index of the checkout at `cwd` agree with
    /// it where that has the branch checked out → [`Outcome::Commit`]. No file and no other branch
    /// changes, and no hook runs. Where the branch has these files already, its own commit is the
    /// answer. The branch is not at `head`: `Conflict`.
    CommitKept {
        /// A folder inside the checkout.
        cwd: String,
        /// A file that the host may use for itself.
        index: String,
        /// The branch.
        branch: String,
        /// The commit that it must be at.
        head: String,
        /// The checkpoint's commit.
        kept: String,
        /// Files of the checkpoint that stay out unless the branch has them already.
        without: Vec<String>,
        /// The message of the commit.
        message: String,
    },
    /// Writes beside a commit, in `refs/notes/onloop`, what there is to say about it, instead of what
    /// was said there before → [`Outcome::Done`]. No hook runs and nothing is signed.
    Note {
        /// A folder inside the repository.
        cwd: String,
        /// The commit.
        commit: String,
        /// What there is to say.
        text: String,
        /// The time of the note.
        #[serde(rename = "at_ms", with = "millis")]
        at: Timestamp,
    },
    /// Every commit below `refs/onloop/`, by name → [`Outcome::Checkpoints`]. Outside a
    /// repository: none.
    Checkpoints {
        /// A folder inside the repository.
        cwd: String,
    },
    /// Takes a checkpoint's name away, so that git may forget the commit → [`Outcome::Done`]. It
    /// names another commit by now: `Conflict`.
    ForgetCheckpoint {
        /// A folder inside the repository.
        cwd: String,
        /// Its name below `refs/onloop/`.
        name: String,
        /// The commit that it names.
        commit: String,
    },
    /// Makes a commit that holds these files and nothing else → [`Outcome::Commit`]. It is ours and
    /// not the user's, and nothing names it yet. No hook runs and nothing is signed.
    KeepFiles {
        /// A folder inside the repository.
        cwd: String,
        /// The files, in no folders; a name that comes twice: `Invalid`.
        files: Vec<KeptFile>,
        /// The commit before this one; `None`: there is none.
        parent: Option<String>,
        /// The message of the commit.
        message: String,
        /// The time of the commit.
        #[serde(rename = "at_ms", with = "millis")]
        at: Timestamp,
    },
    /// The content of one of the files that a commit of [`GitRequest::KeepFiles`] holds →
    /// [`Outcome::KeptFile`]. It holds none of that name: `NotFound`. Longer than `limit_bytes`:
    /// `TooLarge`. Nothing is fetched.
    ReadKept {
        /// A folder inside the repository.
        cwd: String,
        /// The commit.
        commit: String,
        /// The name of the file.
        name: String,
        /// Most bytes accepted.
        limit_bytes: u64,
    },
    /// Changes names below `refs/onloop/` in a remote repository, all of them or none →
    /// [`Outcome::Done`]. One of them does not name there what was expected: `Conflict`, and it is
    /// said which. Of several who expect the same one wins. Where the connection ends before the
    /// answer, the remote is asked what came of it. A `pre-push` hook runs, as with
    /// [`GitRequest::Push`].
    PushRefs {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// What changes.
        updates: Vec<RefUpdate>,
    },
    /// Brings everything below `refs/onloop/<prefix>/` of a remote repository here, under names
    /// below `refs/onloop/<prefix>/fetched/<remote>/`, where what was fetched before and is gone there
    /// goes → [`Outcome::Checkpoints`], with the names that they have at the remote below the prefix;
    /// none: the remote has nothing there. No other name here changes and no hook runs.
    FetchRefs {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// Where to look below `refs/onloop/`.
        prefix: String,
    },
}

/// A file in a commit of [`GitRequest::KeepFiles`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptFile {
    /// Its name: letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`.
    pub name: String,
    /// The content.
    pub bytes: Bytes,
}

/// What a name below `refs/onloop/` of a remote repository is to become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefUpdate {
    /// The name.
    pub name: String,
    /// The commit that it must name there now; `None`: there must be no such name.
    pub expected: Option<String>,
    /// The commit that it is to name; `None`: the name is taken away.
    pub commit: Option<String>,
}

impl GitRequest {
    /// Its bytes, in the order of its members.
    pub(super) fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            GitRequest::KeepFiles { files, .. } => {
                files.iter_mut().map(|file| &mut file.bytes).collect()
            }
            GitRequest::Survey { .. }
            | GitRequest::Worktrees { .. }
            | GitRequest::Head { .. }
            | GitRequest::CreateWorktree { .. }
            | GitRequest::RemoveWorktree { .. }
            | GitRequest::Switch { .. }
            | GitRequest::DeleteBranch { .. }
            | GitRequest::MergeBase { .. }
            | GitRequest::RemoteBranch { .. }
            | GitRequest::Merge { .. }
            | GitRequest::Push { .. }
            | GitRequest::Stash { .. }
            | GitRequest::Checkpoint { .. }
            | GitRequest::Restore { .. }
            | GitRequest::Diff { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::CommitKept { .. }
            | GitRequest::Note { .. }
            | GitRequest::Checkpoints { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. } => Vec::new(),
        }
    }

    /// What a person may be told that a host is doing where this takes long; `None`: it does not.
    pub fn doing(&self) -> Option<&'static str> {
        Some(match self {
            GitRequest::Survey { .. } => "looking at the checkout",
            GitRequest::CreateWorktree { .. } => "checking out the worktree",
            GitRequest::RemoveWorktree { .. } => "removing the worktree",
            GitRequest::Switch { .. } => "switching branches",
            GitRequest::RemoteBranch { .. } => "asking the remote",
            GitRequest::Merge { .. } => "merging",
            GitRequest::Push { .. } => "pushing",
            GitRequest::Stash { .. } => "stashing",
            GitRequest::Checkpoint { .. } => "keeping the work",
            GitRequest::Restore { .. } => "bringing files back",
            GitRequest::Diff { .. } => "comparing",
            GitRequest::CommitKept { .. } => "committing",
            GitRequest::PushRefs { .. } => "pushing the run",
            GitRequest::FetchRefs { .. } => "fetching the run",
            GitRequest::Worktrees { .. }
            | GitRequest::Head { .. }
            | GitRequest::DeleteBranch { .. }
            | GitRequest::MergeBase { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::Note { .. }
            | GitRequest::Checkpoints { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::KeepFiles { .. }
            | GitRequest::ReadKept { .. } => return None,
        })
    }
}

/// What a program wants to see of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffShown<'a> {
    /// Every line of every file.
    Patch,
    /// How many lines of which file.
    Stat,
    /// Every line of these files, named relative to the top folder of the checkout; all where none
    /// is named.
    PatchOf(&'a [String]),
    /// How many lines of which of these files; of all where none is named.
    StatOf(&'a [String]),
}

/// The files of a checkout at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWork {
    /// The commit, hexadecimal.
    pub commit: String,
    /// Its tree, hexadecimal: the same files have the same tree.
    pub tree: String,
    /// Digest, hexadecimal, of everything that the repository's own configuration names as a
    /// program to run, for a checkpoint or for bringing one back; configuration of the user and of the
    /// system does not count. Behind a plus sign: digest of the `pre-push` hook, or nothing.
    pub programs: String,
    /// Files that should have been kept and were not, sorted by path.
    pub left_out: Vec<LeftOut>,
}

/// A file that a checkpoint does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path relative to the root of the checkout; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub why: LeftOutReason,
}

/// Why a checkpoint does not have a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// It is larger than the limit.
    TooLarge,
    /// It may not be read.
    Unreadable,
    /// It is a repository without a commit, of which git keeps nothing.
    NoCommit,
}

/// A commit below `refs/onloop/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCheckpoint {
    /// Its name there.
    pub name: String,
    /// Its id, hexadecimal.
    pub commit: String,
    /// When it was made.
    #[serde(rename = "at_ms", with = "millis")]
    pub at: Timestamp,
}

/// Facts about the folder a run is started in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSurvey {
    /// `None`: not inside a repository, or a bare one.
    pub repository: Option<Repository>,
}

/// Facts about a checkout. Paths are absolute, with symbolic links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// Top folder of this checkout.
    pub root: String,
    /// Top folder of the main checkout; equal to `root` unless this one is linked. Where the
    /// main repository is bare, its own folder.
    pub main_root: String,
    /// Whether this checkout is a linked worktree.
    pub linked: bool,
    /// Name of the checked-out branch, even before its first commit; `None`: detached HEAD.
    pub branch: Option<String>,
    /// Commit at HEAD; `None`: no commit yet.
    pub head: Option<String>,
    /// Every uncommitted path, relative to `root`, unquoted, sorted; untracked files one by
    /// one, ignored files left out.
    pub dirty: Vec<String>,
    /// Commit of the branch asked about; `None`: there is no such branch, or git would not
    /// allow the name.
    pub target_commit: Option<String>,
    /// Where the branch asked about is checked out. A worktree whose folder is gone holds no
    /// branch unless it is locked.
    pub target_checked_out_at: Option<String>,
}

/// One worktree of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeEntry {
    /// Its top folder, absolute.
    pub path: String,
    /// Its branch; `None`: detached HEAD.
    pub branch: Option<String>,
}
