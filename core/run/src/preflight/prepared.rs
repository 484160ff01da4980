//! What a run knows about the place it works in.

use super::wish::IsolationMode;

/// Where a run works and where it came from. Paths are absolute, with symbolic links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// How the work is kept apart; [`IsolationMode::None`] also where there is no git history.
    pub mode: IsolationMode,
    /// The branch the work is on; where git is not used, the name it would have had. `None`
    /// when git was to be left alone.
    pub branch: Option<String>,
    /// Top folder of the checkout that preflight started in.
    pub repo_root: Option<String>,
    /// Folder that everything of the run happens in.
    pub execution_root: String,
    /// The workflow file below `execution_root`.
    pub workflow_path: String,
    /// The workflow file that was asked for.
    pub source_workflow_path: String,
    /// Branch that was checked out at the start; `None`: detached HEAD, or no git.
    pub source_branch: Option<String>,
    /// Commit that was checked out at the start.
    pub source_head: Option<String>,
    /// The linked worktree made or reused for the run.
    pub worktree_path: Option<String>,
}
