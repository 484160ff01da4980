//! Finding records: here, in the repository's worktrees and under its `.hotl-worktrees`.

use std::collections::BTreeSet;

use crate::effect::Io;
use crate::engine::store::{Paths, Store, StoreError};
use crate::run::{Run, is_run_id};

/// A record that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Execution root in which it lies.
    pub(crate) root: String,
    /// Run id, taken from the file's name.
    pub(crate) id: String,
    /// Its record, or why it cannot be read.
    pub(crate) store: Result<Store, StoreError>,
}

impl Found {
    /// The run, or why it cannot be read.
    pub(crate) fn run(&self) -> Result<&Run, &StoreError> {
        self.store.as_ref().map(Store::run)
    }

    /// One element of `status --json`, with the keys that older locators print.
    pub(crate) fn document(&self) -> serde_json::Value {
        let state_file = Paths::new(&self.root, &self.id).state();
        match self.run() {
            Ok(run) => serde_json::json!({
                "run_id": run.id,
                "status": run.status.as_str(),
                "current_step": run.current_step(),
                "total_steps": run.steps.len(),
                "branch": run.place.branch,
                "executor_mode": run.place.executor_mode,
                "last_update": run.last_update.to_rfc3339(),
                "workflow_path": run.place.workflow_path,
                "source_workflow_path": run.place.source_workflow_path,
                "repo_root": run.place.repo_root,
                "execution_root": run.place.execution_root,
                "worktree_path": run.place.worktree_path,
                "report_path": run.place.report_path,
                "state_file": state_file,
                "run_root": self.root,
            }),
            Err(error) => serde_json::json!({
                "run_id": self.id,
                "status": "unreadable",
                "error": error.to_string(),
                "state_file": state_file,
                "run_root": self.root,
            }),
        }
    }
}

/// Every record that can be found from the current folder, newest change first, unreadable
/// ones last.
pub(crate) async fn find_all(io: &Io) -> Vec<Found> {
    let mut found = Vec::new();
    for root in roots(io).await {
        for id in ids(io, &root).await {
            let store = Store::open(io, &root, &id).await;
            found.push(Found { root: root.clone(), id, store });
        }
    }
    let key = |found: &Found| found.run().ok().map(|run| run.last_update);
    found.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.id.cmp(&b.id)));
    found
}

/// The folder that holds the record of run `id`.
pub(crate) async fn root_of(io: &Io, id: &str) -> Option<String> {
    // The current folder first: in most cases nothing else has to be asked.
    for root in [vec![io.start().cwd.clone()], roots(io).await].concat() {
        if io.stat(&Paths::new(&root, id).state()).await.is_ok() {
            return Some(root);
        }
    }
    None
}

/// Every folder that holds a record of run `id`: two while the record moves out of a worktree
/// that is to be removed.
pub(crate) async fn roots_of(io: &Io, id: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in roots(io).await {
        if io.stat(&Paths::new(&root, id).state()).await.is_ok() {
            found.push(root);
        }
    }
    found
}

/// Ids of the records in one folder, sorted.
pub(crate) async fn ids(io: &Io, root: &str) -> Vec<String> {
    let names = io.list(&Paths::state_folder(root)).await.unwrap_or_default();
    let id = |name: &String| name.strip_suffix(".json").map(str::to_owned);
    names.iter().filter_map(id).filter(|id| is_run_id(id)).collect()
}

/// Whether the run executes the workflow file with this canonical path.
pub(crate) fn is_of(run: &Run, file: &str) -> bool {
    run.place.workflow_path == file || run.place.source_workflow_path.as_deref() == Some(file)
}

/// Folders that may hold records, each once, the current one first.
async fn roots(io: &Io) -> Vec<String> {
    let cwd = io.start().cwd.clone();
    let mut roots = vec![io.canonical(&cwd).await.unwrap_or(cwd)];
    let worktrees = io.git_worktrees(&roots[0]).await.unwrap_or_default();
    if let Some(main) = worktrees.first() {
        let (parent, name) = main.path.rsplit_once('/').unwrap_or(("", &main.path));
        let folder = format!("{parent}/.hotl-worktrees/{name}");
        // What cannot be listed may still be a registered worktree below.
        let names = io.list(&folder).await.unwrap_or_default();
        roots.extend(names.iter().map(|name| format!("{folder}/{name}")));
    }
    roots.extend(worktrees.into_iter().map(|worktree| worktree.path));
    let mut seen = BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}
