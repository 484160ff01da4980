//! What preflight knows about the repository. Gathered by the host in one request.

/// Facts about the folder a run is started in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitSurvey {
    /// `None`: not inside a repository, or a bare one.
    pub repository: Option<Repository>,
}

/// Facts about a checkout. Paths are absolute, with symbolic links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Top folder of this checkout.
    pub root: String,
    /// Top folder of the main checkout; equal to `root` unless this one is linked. Where the
    /// main repository is bare, its own folder.
    pub main_root: String,
    /// Whether this checkout is a linked worktree.
    pub linked: bool,
    /// Name of the checked-out branch, also before its first commit; `None`: detached HEAD.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Its top folder, absolute.
    pub path: String,
    /// Its branch; `None`: detached HEAD.
    pub branch: Option<String>,
}

/// What is in the folder where a worktree for the target branch would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    #[default]
    Free,
    /// A worktree of this repository.
    Worktree {
        /// Its branch; `None`: detached HEAD.
        branch: Option<String>,
        /// Its uncommitted paths, relative to it.
        dirty: Vec<String>,
    },
    /// Something that this repository does not know.
    Foreign,
}

/// Everything that [`decide`](super::decide) looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The repository, asked about the target branch.
    pub survey: GitSurvey,
    /// The folder where a worktree for the target branch would be.
    pub place: Place,
    /// Where there is no repository here: top folder of the one that has the workflow file.
    pub elsewhere: Option<String>,
}
