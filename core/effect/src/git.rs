//! Requests to git and their outcomes.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Outcome;
use super::bytes::Bytes;
use super::scalar::millis;
#[cfg(doc)]
use onloop_syntax::text::name_text;
use onloop_syntax::time::Timestamp;

/// A closed set of queries and changes. Hosts perform them with the git program. Names
/// of branches, remotes and checkpoints are valid git names: core refuses
/// others before a host sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "git", rename_all = "snake_case")]
pub enum GitRequest {
    /// The facts that preflight needs → [`Outcome::Survey`].
    Survey {
        /// A folder, usually inside a repository.
        cwd: String,
        /// The branch whose existence matters; empty: no branch.
        branch: String,
    },
    /// Every worktree of the repository, the main one first → [`Outcome::Worktrees`]. Outside a
    /// repository the list is empty.
    Worktrees {
        /// A folder inside the repository.
        cwd: String,
    },
    /// The commit at HEAD, hexadecimal → [`Outcome::Commit`].
    Head {
        /// A folder inside the repository.
        cwd: String,
    },
    /// Creates a linked worktree on `branch` → [`Outcome::Done`]. A failure leaves nothing behind.
    CreateWorktree {
        /// A folder inside the repository.
        cwd: String,
        /// Folder of the new worktree.
        path: String,
        /// The branch to check out in it.
        branch: String,
        /// The commit at which to create the branch; `None` takes the existing branch.
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
    /// The best common ancestor of a commit and a branch → [`Outcome::Commit`]; `None` without one,
    /// or if the commit or the branch is missing. The commit itself: the branch contains it.
    MergeBase {
        /// A folder inside the repository.
        cwd: String,
        /// The id of the commit.
        commit: String,
        /// The local branch.
        branch: String,
    },
    /// The commit of a branch in a remote repository → [`Outcome::Commit`]; `None` without such a
    /// branch. Asks the remote.
    RemoteBranch {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// Merges a branch into another in the checkout at `cwd`, with a merge commit whenever there is
    /// something to merge → [`Outcome::Done`]. `Conflict` names the conflicting files, and also
    /// answers if the branch is not at `commit` or a merge is in progress. A failure restores the
    /// state before, or its message names the difference. No hook runs, as with every request
    /// except the pushes.
    Merge {
        /// The top folder of the checkout. Afterwards `into` is checked out there if `into` or
        /// `branch` was checked out before; otherwise the checkout keeps its branch.
        cwd: String,
        /// The branch to merge.
        branch: String,
        /// The expected commit of the branch.
        commit: String,
        /// The target branch.
        into: String,
    },
    /// Restores what a killed [`GitRequest::Merge`] with the same members left in the checkout at
    /// `cwd`; without one nothing happens → [`Outcome::Done`]. `Conflict` if a person changed a
    /// file since; `Busy` while a git works there.
    RecoverMerge {
        /// The top folder of the checkout.
        cwd: String,
        /// The branch that was merged.
        branch: String,
        /// Its commit.
        commit: String,
        /// The target branch.
        into: String,
    },
    /// Pushes a branch to the branch of the same name in a remote repository and makes that its
    /// upstream → [`Outcome::Done`]. The push is never forced; `Conflict` if the remote branch has
    /// commits that the local one lacks. The repository's `pre-push` hook runs and can refuse.
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
    /// Stores the files of the checkout at `cwd` in a commit that no branch contains →
    /// [`Outcome::Checkpoint`]. It contains tracked and untracked files, without ignored ones and
    /// without `.hotl`. Branches, HEAD, index and files of the checkout stay. No hook runs, and git
    /// signs and fetches nothing. Outside a repository: `NotFound`. If the configuration names
    /// other programs than expected: `Denied`.
    Checkpoint {
        /// A folder inside the checkout.
        cwd: String,
        /// The index file that the host keeps between checkpoints. If it is missing, the host
        /// begins with the checkout's own index.
        index: String,
        /// The name of the commit below `refs/onloop/`. A commit that has this name loses it.
        name: String,
        /// The parent commit; `None`: the commit at HEAD, if there is one.
        parent: Option<String>,
        /// The message of the commit.
        message: String,
        /// The time of the commit.
        #[serde(rename = "at_ms", with = "millis")]
        at: Timestamp,
        /// Largest file to store. Larger files that git does not convert are left out and named.
        limit_bytes: u64,
        /// The expected value of [`KeptWork::programs`]; `None`: any value.
        programs: Option<String>,
    },
    /// Makes the files of the checkout at `cwd` those of a checkpoint → [`Outcome::Done`]. Changes
    /// and removes only files of the last checkpoint with this `index`. If another file blocks the
    /// way: `Conflict`, and nothing changes. Branches, HEAD and index of the checkout stay. If the
    /// configuration names other programs than expected: `Denied`.
    Restore {
        /// A folder inside the checkout.
        cwd: String,
        /// As in [`GitRequest::Checkpoint`].
        index: String,
        /// The commit whose files to restore.
        commit: String,
        /// Only these files, relative to the top folder; the others stay. Empty: all.
        paths: Vec<String>,
        /// The expected value of [`KeptWork::programs`]; `None`: any value.
        programs: Option<String>,
    },
    /// The difference between two commits, as a patch for people → [`Outcome::Diff`]. Longer than
    /// `limit_bytes`: `TooLarge`.
    Diff {
        /// A folder inside the repository.
        cwd: String,
        /// The old commit.
        from: String,
        /// The new commit.
        to: String,
        /// Whether to return only the number of changed lines of each file.
        stat: bool,
        /// Only these files, relative to the top folder; empty: all.
        paths: Vec<String>,
        /// Most bytes accepted.
        limit_bytes: u64,
    },
    /// The paths that differ between two commits, relative to the root of the checkout, sorted →
    /// [`Outcome::Names`]. A name that is not UTF-8 is written as [`name_text`] does, here and in
    /// every other list of files; requests take it so.
    ChangedPaths {
        /// A folder inside the repository.
        cwd: String,
        /// One commit.
        from: String,
        /// The other commit.
        to: String,
    },
    /// Makes the files of a checkpoint the next commit of a branch → [`Outcome::Commit`]. Identity
    /// and signature are those that git is configured with. If the checkout at `cwd` has the branch
    /// checked out, its index follows. No file and no other branch changes, and no hook runs. If
    /// the branch has these files already, the answer is its commit. If the branch is not at
    /// `head`: `Conflict`.
    CommitKept {
        /// A folder inside the checkout.
        cwd: String,
        /// An index file for the host's own use.
        index: String,
        /// The branch.
        branch: String,
        /// The expected commit of the branch.
        head: String,
        /// The checkpoint's commit.
        kept: String,
        /// Files of the checkpoint to leave out, unless the branch has them already.
        without: Vec<String>,
        /// The message of the commit.
        message: String,
    },
    /// Takes commits from a pack that an untrusted git wrote, and moves a branch to the last of them
    /// → [`Outcome::Done`]. Git checks every object and that none is missing; a pack with a fault
    /// changes nothing: `Conflict`. If the checkout at `cwd` has the branch checked out, its index
    /// becomes `tree`. No file and no other branch changes, and no hook runs. If the branch is at
    /// `commit` already, only the index follows. If it is at neither `commit` nor `head`:
    /// `Conflict`.
    ImportPack {
        /// The top folder of the checkout.
        cwd: String,
        /// The pack: a plain file of at most `IMPORT_PACK_BYTES`, or `TooLarge`.
        pack: String,
        /// The branch.
        branch: String,
        /// The expected commit of the branch.
        head: String,
        /// The new commit of the branch.
        commit: String,
        /// The tree of the index.
        tree: String,
    },
    /// Writes the note of a commit in `refs/notes/onloop`, in place of an earlier note →
    /// [`Outcome::Done`]. No hook runs and git signs nothing.
    Note {
        /// A folder inside the repository.
        cwd: String,
        /// The commit.
        commit: String,
        /// The note.
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
    /// Removes the name of a checkpoint, so that git may collect the commit → [`Outcome::Done`]. If
    /// the name points to another commit: `Conflict`.
    ForgetCheckpoint {
        /// A folder inside the repository.
        cwd: String,
        /// Its name below `refs/onloop/`.
        name: String,
        /// The commit that it names.
        commit: String,
    },
    /// Makes a commit that contains exactly these files → [`Outcome::Commit`]. Its author is
    /// onloop. No hook runs and git signs nothing.
    KeepFiles {
        /// A folder inside the repository.
        cwd: String,
        /// The files, not in folders. A duplicate name: `Invalid`.
        files: Vec<KeptFile>,
        /// The name of the commit below `refs/onloop/`. A commit that has this name loses it.
        /// `None`: no name points to it yet.
        name: Option<String>,
        /// The parent commit; `None`: no parent.
        parent: Option<String>,
        /// The message of the commit.
        message: String,
        /// The time of the commit.
        #[serde(rename = "at_ms", with = "millis")]
        at: Timestamp,
    },
    /// The content of a file in a commit of [`GitRequest::KeepFiles`] → [`Outcome::KeptFile`]. No
    /// such file: `NotFound`. Longer than `limit_bytes`: `TooLarge`. Git fetches nothing.
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
    /// [`Outcome::Done`]. If a name does not point to the expected commit: `Conflict`, and the
    /// message says which. Of several callers with the same expectation one wins. If the connection
    /// ends before the answer, the host asks the remote for the result. A `pre-push` hook runs, as
    /// with [`GitRequest::Push`].
    PushRefs {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// The changes.
        updates: Vec<RefUpdate>,
    },
    /// Fetches everything below `refs/onloop/<prefix>/` of a remote repository into
    /// `refs/onloop/<prefix>/fetched/<remote>/` → [`Outcome::Checkpoints`]. Names that the remote
    /// no longer has are removed there. The answer has the names at the remote, without the prefix;
    /// it is empty if the remote has none. No other name changes and no hook runs.
    FetchRefs {
        /// A folder inside the repository.
        cwd: String,
        /// Name of a configured remote.
        remote: String,
        /// The prefix below `refs/onloop/`.
        prefix: String,
    },
}

/// A file in a commit of [`GitRequest::KeepFiles`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its name: letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`.
    pub name: String,
    /// The content.
    pub bytes: Bytes,
}

/// A change of one name below `refs/onloop/` in a remote repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefUpdate {
    /// The name.
    pub name: String,
    /// The commit that the name must point to; `None`: the name must not exist.
    pub expected: Option<String>,
    /// The new commit; `None`: remove the name.
    pub commit: Option<String>,
}

impl GitRequest {
    /// Its bytes, in the order of its members.
    pub fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
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
            | GitRequest::RecoverMerge { .. }
            | GitRequest::Push { .. }
            | GitRequest::Stash { .. }
            | GitRequest::Checkpoint { .. }
            | GitRequest::Restore { .. }
            | GitRequest::Diff { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::CommitKept { .. }
            | GitRequest::ImportPack { .. }
            | GitRequest::Note { .. }
            | GitRequest::Checkpoints { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. } => Vec::new(),
        }
    }

    /// The activity to show people if the host takes long; `None`: the request is quick.
    pub fn doing(&self) -> Option<&'static str> {
        Some(match self {
            GitRequest::Survey { .. } => "looking at the checkout",
            GitRequest::CreateWorktree { .. } => "checking out the worktree",
            GitRequest::RemoveWorktree { .. } => "removing the worktree",
            GitRequest::Switch { .. } => "switching branches",
            GitRequest::RemoteBranch { .. } => "asking the remote",
            GitRequest::Merge { .. } => "merging",
            GitRequest::RecoverMerge { .. } => "looking at an interrupted merge",
            GitRequest::Push { .. } => "pushing",
            GitRequest::Stash { .. } => "stashing",
            GitRequest::Checkpoint { .. } => "keeping the work",
            GitRequest::Restore { .. } => "bringing files back",
            GitRequest::Diff { .. } => "comparing",
            GitRequest::CommitKept { .. } => "committing",
            GitRequest::ImportPack { .. } => "importing commits",
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

/// The form of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffShown<'a> {
    /// Every line of every file.
    Patch,
    /// The number of changed lines of each file.
    Stat,
    /// Every line of these files, named relative to the top folder of the checkout; empty: all
    /// files.
    PatchOf(&'a [String]),
    /// The number of changed lines of each of these files; empty: all files.
    StatOf(&'a [String]),
}

/// The files of a checkout at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWork {
    /// The commit, hexadecimal.
    pub commit: String,
    /// Its tree, hexadecimal: equal files have equal trees.
    pub tree: String,
    /// Digest, hexadecimal, of every program that the repository's own configuration names for
    /// making or restoring a checkpoint. The user's and the system's configuration do not count.
    /// After a plus sign: digest of the `pre-push` hook, or nothing.
    pub programs: String,
    /// Files that belong in the checkpoint and are missing, sorted by path.
    pub left_out: Vec<LeftOut>,
}

/// A file that is missing in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path relative to the root of the checkout, written as [`name_text`] does.
    pub path: String,
    /// The reason.
    pub why: LeftOutReason,
}

/// Why a file is missing in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// It is larger than the limit.
    TooLarge,
    /// onloop may not read it.
    Unreadable,
    /// It is a repository without a commit, which git cannot store.
    NoCommit,
}

/// A commit below `refs/onloop/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCheckpoint {
    /// Its name there.
    pub name: String,
    /// Its id, hexadecimal.
    pub commit: String,
    /// The time of the commit.
    #[serde(rename = "at_ms", with = "millis")]
    pub at: Timestamp,
}

/// Facts about the folder in which a run starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSurvey {
    /// `None`: outside a repository, or in a bare one.
    pub repository: Option<Repository>,
}

/// Facts about a checkout. Paths are absolute, with symbolic links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// Top folder of this checkout.
    pub root: String,
    /// Top folder of the main checkout; equal to `root` unless this checkout is linked. For a bare
    /// main repository, its own folder.
    pub main_root: String,
    /// Whether this checkout is a linked worktree.
    pub linked: bool,
    /// Name of the checked-out branch, even before its first commit; `None`: detached HEAD.
    pub branch: Option<String>,
    /// Commit at HEAD; `None`: no commit yet.
    pub head: Option<String>,
    /// Every uncommitted path, relative to `root`, unquoted, sorted. Untracked files are named one
    /// by one, ignored files are left out.
    pub dirty: Vec<String>,
    /// Commit of the requested branch; `None`: it does not exist, or git refuses the name.
    pub target_commit: Option<String>,
    /// The checkout of the requested branch. A worktree whose folder is gone holds no branch unless
    /// it is locked.
    pub target_checked_out_at: Option<String>,
    /// A branch beside which git cannot create the requested one, because one name is a leading part of
    /// the other.
    pub target_blocked_by: Option<String>,
}

/// One worktree of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeEntry {
    /// Its top folder, absolute.
    pub path: String,
    /// Its branch; `None`: detached HEAD.
    pub branch: Option<String>,
}
