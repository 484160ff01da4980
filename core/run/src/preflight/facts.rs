//! What preflight knows about the repository. Gathered by the host in one request.

use onloop_effect::GitSurvey;

/// What is in the folder where a worktree for the target branch would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetFolder {
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
    Occupied,
}

/// Everything that [`decide`](super::decide) looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The repository, asked about the target branch.
    pub survey: GitSurvey,
    /// The folder where a worktree for the target branch would be.
    pub place: TargetFolder,
    /// Where there is no checkout here: top folder of the one that has the workflow file.
    pub elsewhere: Option<String>,
    /// Whether there is a repository here, but no checkout of it.
    pub bare: bool,
    /// The command of git that has begun something in the checkout and not ended it.
    pub operation: Option<&'static str>,
    /// The folder for worktrees of this repository; `None`: the usual one beside the main checkout.
    pub worktrees: Option<String>,
}
