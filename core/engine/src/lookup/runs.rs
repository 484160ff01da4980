//! Finding runs: those that the state home knows of this folder, the repository's worktrees and
//! what lies under its `.hotl-worktrees`; and the untrusted records that lie there.

use std::collections::BTreeSet;

use crate::run::driver_lock::is_orphaned;
use crate::run::instruction::instruction;
use crate::state::remote_owner::submitted_from;
use crate::state::store::{Paths, StateHome, Store, StoreError};
use crate::state::untrusted::{UntrustedRecord, read_untrusted};
use onloop_documents::board::{self, Driving, RunCard};
use onloop_effect::{Io, LockHolder, OptionalExt};
use onloop_run::{Run, is_run_id};
use onloop_syntax::text;

/// A run that was found.
#[derive(Debug)]
pub struct Found {
    /// The folder that it works in, or in which its record lies.
    pub root: String,
    /// Run id.
    pub id: String,
    /// Its record.
    pub(crate) record: FoundRecord,
    /// Its record says that it runs, and it has no driver.
    pub interrupted: bool,
    /// Who drives it: a live process of this machine, or one of another machine, of which nothing is
    /// known.
    pub(crate) driver: Option<LockHolder>,
}

/// The record of a run that was found.
#[derive(Debug)]
pub(crate) enum FoundRecord {
    /// Ours.
    Own(Box<Store>),
    /// Ours, and it cannot be read.
    Broken(StoreError),
    /// No ledger stands behind it, or none of this folder.
    Untrusted(Result<Box<UntrustedRecord>, StoreError>),
}

impl Found {
    /// The record, where it is ours and can be read.
    pub fn into_store(self) -> Option<Store> {
        match self.record {
            FoundRecord::Own(store) => Some(*store),
            FoundRecord::Broken(_) | FoundRecord::Untrusted(_) => None,
        }
    }

    /// The run, of any user, or why it cannot be read.
    pub fn run(&self) -> Result<&Run, &StoreError> {
        match &self.record {
            FoundRecord::Own(store) => Ok(store.run()),
            FoundRecord::Untrusted(Ok(untrusted)) => Ok(&untrusted.run),
            FoundRecord::Broken(error) | FoundRecord::Untrusted(Err(error)) => Err(error),
        }
    }

    /// Whether it is a step of another run, which shows it.
    pub fn is_fork(&self) -> bool {
        self.run().is_ok_and(|run| run.fork_of.is_some())
    }

    /// Whether no ledger here stands behind it.
    pub fn is_untrusted(&self) -> bool {
        matches!(self.record, FoundRecord::Untrusted(_))
    }

    /// The word for how the run stands.
    pub fn status(&self) -> &'static str {
        match (&self.record, self.run()) {
            (FoundRecord::Untrusted(Ok(_)), _) => "untrusted",
            (_, Ok(_)) if self.interrupted => "interrupted",
            (_, Ok(run)) => run.status.as_str(),
            (_, Err(_)) => "unreadable",
        }
    }

    /// The run as lists show it.
    pub fn card(&self) -> RunCard {
        let driving = match &self.driver {
            _ if self.interrupted => Driving::Killed,
            None => Driving::Nobody,
            Some(holder) if holder.live => Driving::Here { process: holder.process.pid },
            Some(_) => Driving::Elsewhere,
        };
        match self.run() {
            Ok(run) => board::card(run, driving),
            Err(error) => board::unreadable(&self.id, &error.to_string()),
        }
    }

    /// What to do about a damaged record, and the command; `None`: it is not damaged.
    pub fn repair(&self) -> Option<(&'static str, String)> {
        let is_damaged = matches!(self.record, FoundRecord::Broken(StoreError::Unreadable(_)));
        let advice = "fix: keep it aside and begin anew from the workflow file:";
        is_damaged.then(|| (advice, format!("onloop resume {} --rebuild FILE", self.id)))
    }

    /// What should happen to it now, as `onloop next` says it; `None`: it is none of ours, or cannot
    /// be read.
    fn next(&self) -> Option<serde_json::Value> {
        let run = self.run().ok().filter(|_| !self.is_untrusted())?;
        let next = instruction(run);
        Some(serde_json::json!({
            "action": next.action, "step": next.step, "needs_person": next.needs_person,
        }))
    }

    /// One element of `status --json`, with the keys that older locators print.
    pub fn document(&self) -> serde_json::Value {
        let state_file = Paths::copy_of(&self.root, &self.id);
        match self.run() {
            Ok(run) => serde_json::json!({
                "run_id": run.id,
                "status": self.status(),
                "current_step": run.current_step(),
                "current_steps": run.current_steps(),
                "total_steps": run.steps.len(),
                "branch": run.place.branch,
                "executor_mode": run.place.executor_mode,
                "intent": text::one_line(&run.settings.intent),
                "started_at": run.started_at.to_rfc3339(),
                "last_update": run.last_update.to_rfc3339(),
                "driven_by": self.driver.as_ref().map(driven_by),
                "outcome": run.finish.as_ref().map(|finish| finish.outcome.disposition.as_str()),
                "next": self.next(),
                "pull_request": run.pull_request,
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
                "status": self.status(),
                "error": error.to_string(),
                "state_file": state_file,
                "run_root": self.root,
            }),
        }
    }
}

/// A process that drives a run; what it is besides says whether it may be interrupted.
pub(crate) fn driven_by(LockHolder { process, live, role }: &LockHolder) -> serde_json::Value {
    serde_json::json!({ "pid": process.pid, "host": process.host, "live": live, "role": role })
}

/// Every run that can be found from the current folder, newest change first, unreadable ones
/// last. Forks belong to their runs.
pub async fn find_all(io: &Io) -> Vec<Found> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for root in roots(io).await {
        for id in own_ids(io, &root).await {
            if seen.insert(id.clone()) {
                found.extend(find_own(io, &id, Some(&root)).await);
            }
        }
        for id in copies(io, &root).await {
            let is_own = |other: &Found| match &other.record {
                FoundRecord::Own(_) => other.id == id && other.root == root,
                // Where it works is not known.
                FoundRecord::Broken(_) => other.id == id,
                FoundRecord::Untrusted(_) => false,
            };
            if found.iter().any(is_own) {
                continue;
            }
            let root = root.clone();
            let record = match read_untrusted(io, &root, &id).await {
                Err(StoreError::Missing) => continue,
                read => FoundRecord::Untrusted(read.map(Box::new)),
            };
            found.push(Found { root, id, record, interrupted: false, driver: None });
        }
    }
    found.retain(|found| !found.is_fork());
    sort(&mut found);
    found
}

/// Every run and fork of the state home, whatever its folder, in the order of [`find_all`].
pub async fn find_everywhere(io: &Io) -> Vec<Found> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let mut found = Vec::new();
    for id in ids_of(io, &home).await {
        found.extend(find_own(io, &id, None).await);
    }
    sort(&mut found);
    found
}

/// Ids of all runs of the state home, sorted.
pub(crate) async fn all_ids(io: &Io) -> Vec<String> {
    match StateHome::of(io) {
        Ok(home) => ids_of(io, &home).await,
        Err(_) => Vec::new(),
    }
}

async fn ids_of(io: &Io, home: &StateHome) -> Vec<String> {
    let names = io.list(&home.runs()).await.unwrap_or_default();
    names.into_iter().filter(|id| is_run_id(id)).collect()
}

fn sort(found: &mut [Found]) {
    let key = |found: &Found| found.run().ok().map(|run| run.last_update);
    found.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.id.cmp(&b.id)));
}

/// The run `id` of the state home; with `root` only if it works there or was started there.
async fn find_own(io: &Io, id: &str, root: Option<&str>) -> Option<Found> {
    let id = id.to_owned();
    match Store::open(io, &id).await {
        Err(StoreError::Missing) => None,
        Err(error) => {
            let root = root.unwrap_or_default().to_owned();
            let record = FoundRecord::Broken(error);
            Some(Found { root, id, record, interrupted: false, driver: None })
        }
        Ok(store) => {
            let place = &store.run().place;
            let is_here = |root: &str| {
                place.execution_root == root || place.repo_root.as_deref() == Some(root)
            };
            if let Some(root) = root
                && !is_here(root)
                && submitted_from(io, store.paths()).await.as_deref() != Some(root)
            {
                return None;
            }
            let root = place.execution_root.clone();
            let holder = match store.run().is_open() {
                false => None,
                // No driver: an agent drives it step by step, or that is unknown.
                true => io.holder(&store.paths().driver_lock()).await.ok().flatten(),
            };
            let interrupted = is_orphaned(io, store.run(), holder.as_ref());
            let driver = holder
                .filter(|holder| holder.live || holder.process.host != io.start().process.host);
            Some(Found { root, id, record: FoundRecord::Own(Box::new(store)), interrupted, driver })
        }
    }
}

/// Ids of the runs that the state home knows of the folder `root`, sorted. Those that have moved
/// away since are among them.
pub async fn own_ids(io: &Io, root: &str) -> Vec<String> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let names = io.list(&home.runs_of(root)).await.unwrap_or_default();
    names.into_iter().filter(|id| is_run_id(id)).collect()
}

/// The file of a untrusted record of run `id` that can be found from here.
pub async fn untrusted_copy(io: &Io, id: &str) -> Option<(String, String)> {
    for root in [vec![io.start().cwd.clone()], roots(io).await].concat() {
        let path = Paths::copy_of(&root, id);
        if io.stat(&path).await.is_ok() {
            return Some((root, path));
        }
    }
    None
}

/// Whether the state home has a ledger of run `id`.
pub async fn is_own(io: &Io, id: &str) -> Result<bool, StoreError> {
    let home = StateHome::of(io)?;
    Ok(io.stat(&Paths::new(&home, "", id).ledger()).await.optional()?.is_some())
}

/// Ids of the copies in one folder, sorted.
pub(crate) async fn copies(io: &Io, root: &str) -> Vec<String> {
    let names = io.list(&Paths::copies(root)).await.unwrap_or_default();
    let id = |name: &String| name.strip_suffix(".json").map(str::to_owned);
    names.iter().filter_map(id).filter(|id| is_run_id(id)).collect()
}

/// Whether the run executes the workflow file with this canonical path.
pub fn is_of(run: &Run, file: &str) -> bool {
    run.place.workflow_path == file || run.place.source_workflow_path.as_deref() == Some(file)
}

/// Folders in which runs may work, each once, the current one first.
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
