//! Where a run works.

use serde::{Deserialize, Serialize};

/// Where the plan came from and where the work happens. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The workflow file in the execution root; its checkboxes are ticked.
    pub workflow_path: String,
    /// The workflow file that the run was started with.
    pub source_workflow_path: Option<String>,
    /// Branch that was checked out when the run was started.
    pub source_branch: Option<String>,
    /// Commit that was checked out when the run was started.
    pub source_head: Option<String>,
    /// Branch the work happens on.
    pub branch: Option<String>,
    /// Top folder of the repository's checkout the run was started in.
    pub repo_root: Option<String>,
    /// Folder in which agents and checks run.
    pub execution_root: String,
    /// The worktree made for this run.
    pub worktree_path: Option<String>,
    /// `worktree`, `branch`, `host` or `none`, or what an older record says.
    pub executor_mode: String,
    /// Kind of program that drives the run, where it said so.
    pub driver: Option<String>,
    /// Agent host in which it runs, where it said so.
    pub host: Option<String>,
    /// Name derived from the workflow file's name.
    #[serde(rename = "workflow_slug")]
    pub slug: String,
    /// The report, relative to the execution root unless an older record says otherwise.
    pub report_path: String,
}

impl Place {
    /// The execution root relative to the top folder of its checkout, with a slash behind it; empty
    /// where they are the same.
    pub fn prefix(&self) -> String {
        let top = self.worktree_path.as_ref().or(self.repo_root.as_ref());
        let below = top.and_then(|top| self.execution_root.strip_prefix(top.as_str()));
        match below.map(|below| below.trim_matches('/')) {
            None | Some("") => String::new(),
            Some(below) => format!("{below}/"),
        }
    }

    /// The folder in which it works, then the checkout that it was started in where that is another.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        let started_in = self.repo_root.as_deref().filter(|root| *root != self.execution_root);
        std::iter::once(self.execution_root.as_str()).chain(started_in)
    }
}
