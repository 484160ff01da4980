//! The work of a run, pushed as commits under `refs/onloop/` of the repository's remote. Every push
//! also moves the lease there, so that the remote refuses a worker without the lease.

mod pusher;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use onloop::host::Git;
use onloop_core::documents::ledger;
use onloop_core::effect::{
    Bytes, Failure, FailureKind, GitRequest, KeptFile, NamedCheckpoint, Outcome, RefUpdate,
};
use onloop_core::run::{Checkpoint, CheckpointKind};
use serde::{Deserialize, Serialize};

pub use pusher::Pusher;

use crate::engine::Lease;
use crate::git::git;
use crate::queue_state::now;

/// Name of the lease below `refs/onloop/<run-id>/`.
const LEASE: &str = "lease";
/// Name of the commit of the run's branch.
const BRANCH: &str = "branch";
/// The file in the lease's commit.
const LEASE_FILE: &str = "lease.json";
/// Largest such file that is read.
const LEASE_BYTES: u64 = 16 * 1024;
/// Part of a ledger line that records a checkpoint.
const TAKEN: &str = "\"checkpoint_taken\"";
/// Part of a ledger line that ends a run.
const OVER: &str = "\"run_finalized\"";
/// Number of pending refs from which a push is urgent.
const MANY: usize = 32;
/// How often the lease is taken again while another worker moves it.
const TRIES: u32 = 4;

/// The content of the lease in the remote.
#[derive(Debug, Serialize, Deserialize)]
struct LeaseFile {
    epoch: u64,
    holder: String,
}

/// The work of one run that waits for its push.
pub struct Outbox {
    git: Box<dyn Git>,
    /// A checkout of the repository.
    cwd: String,
    remote: String,
    lease: Lease,
    /// The commit of the lease in the remote.
    at: Option<String>,
    /// The prepared commit that the lease moves to next.
    next: Option<String>,
    /// Recorded commits that the remote does not have yet, by name.
    later: BTreeMap<String, String>,
    /// The commits of the run in the remote, by name.
    there: BTreeMap<String, String>,
    /// The branch of the run, once it has one.
    branch: Option<String>,
    /// The workflow file in the checkout; onloop ticks its boxes after verified work.
    workflow: String,
    /// The commit of the checkpoint that was recorded last.
    last: Option<String>,
    /// The commit of the last checkpoint that was pushed.
    brought: Option<String>,
    /// A turn has ended: its work is pushed while its checks run.
    is_urgent: bool,
    /// Another worker has the lease: it is not taken back.
    is_lost: bool,
}

/// The run of an [`Outbox`], its checkout and its lease.
#[derive(Debug)]
pub struct OutboxSource<'t> {
    /// A checkout of the repository.
    pub cwd: &'t str,
    /// Name of the repository's remote.
    pub remote: &'t str,
    /// The permission to drive it.
    pub lease: Lease,
    /// Path of the workflow in the checkout.
    pub workflow: &'t str,
    /// The commit at which the branch of a new run begins.
    pub base: Option<String>,
}

impl Outbox {
    /// Fetches the refs of the run and replaces the lease in the remote. It also pushes the base commit
    /// of a new run, so that the next driver finds it.
    ///
    /// # Errors
    ///
    /// `Denied` if the remote has a later lease; those of git.
    pub fn take(git: Box<dyn Git>, source: OutboxSource<'_>) -> Result<Outbox, Failure> {
        let OutboxSource { cwd, remote, lease, workflow, base } = source;
        let mut outbox = Outbox {
            git,
            cwd: cwd.to_owned(),
            remote: remote.to_owned(),
            lease,
            at: None,
            next: None,
            later: BTreeMap::new(),
            there: BTreeMap::new(),
            branch: None,
            workflow: workflow.to_owned(),
            last: None,
            brought: None,
            is_urgent: false,
            is_lost: false,
        };
        let branch = base.map(|commit| (BRANCH.to_owned(), commit));
        for _ in 0..TRIES {
            outbox.fetch()?;
            match outbox.push(branch.as_slice()) {
                Err(failure) if failure.is_conflict() => {}
                pushed => return pushed.map(|()| outbox),
            }
        }
        Err(outbox.lost())
    }

    /// Also pushes the run's branch from now on.
    pub fn add_branch(&mut self, branch: String) {
        self.branch = Some(branch);
    }

    /// Queues recorded checkpoints that only this machine has, because an earlier driver ended before
    /// its push.
    pub fn recall(&mut self, recorded: &[Checkpoint]) {
        for Checkpoint { moment, commit, .. } in recorded {
            let has = |words: &[&str]| git(Path::new(&self.cwd), words).is_ok();
            let is_there = match self.there.get(&moment.name()) {
                None => false,
                // The branch can be ahead of the record.
                Some(later) => {
                    later == commit || has(&["merge-base", "--is-ancestor", commit, later])
                }
            };
            if !is_there && has(&["cat-file", "-e", &format!("{commit}^{{commit}}")]) {
                self.later.insert(moment.name(), commit.clone());
            }
        }
    }

    /// Pushes the checkpoints in these lines of a ledger. Checkpoints without a verified step, and
    /// those that differ from the remote only in ticked boxes, wait for the next push.
    ///
    /// # Errors
    ///
    /// `Denied` if the lease has been lost; those of git.
    pub fn deliver(&mut self, lines: &str) -> Result<(), Failure> {
        if self.branch.is_none() {
            self.branch = lines.lines().next().and_then(branch_of);
        }
        let taken: Vec<Checkpoint> = lines.lines().filter_map(checkpoint_of).collect();
        // No driver continues a finished run, so its work cannot wait for another push.
        let mut is_due = lines.contains(OVER);
        for Checkpoint { moment, commit, .. } in taken {
            is_due |= match moment.kind() {
                // Without it, only a turn that has not ended is lost.
                CheckpointKind::Started => false,
                CheckpointKind::Acted => {
                    self.is_urgent = true;
                    false
                }
                CheckpointKind::Verified => !self.is_there_but_for_boxes(&commit),
                CheckpointKind::Begun | CheckpointKind::Undone => true,
            };
            self.last = Some(commit.clone());
            self.later.insert(moment.name(), commit);
        }
        if is_due { self.settle() } else { Ok(()) }
    }

    /// Whether the remote has the same branch and the same files, apart from ticked boxes.
    fn is_there_but_for_boxes(&mut self, commit: &str) -> bool {
        let is_moved = |branch: &String| self.tip(branch) != self.there.get(BRANCH).cloned();
        if self.branch.as_ref().is_some_and(is_moved) {
            return false;
        }
        let Some(brought) = self.brought.clone() else { return false };
        let (cwd, to) = (self.cwd.clone(), commit.to_owned());
        match self.git.git(&GitRequest::ChangedPaths { cwd, from: brought, to }) {
            Ok(Outcome::Names { names }) => names.iter().all(|name| *name == self.workflow),
            // An error means that it is pushed.
            Ok(_) | Err(_) => false,
        }
    }

    /// Whether to push now. Work that differs only in ticked boxes waits, unless many refs are pending.
    pub fn is_urgent(&mut self) -> bool {
        if self.is_urgent
            && self.later.len() < MANY
            && let Some(last) = self.last.clone()
        {
            self.is_urgent = !self.is_there_but_for_boxes(&last);
        }
        self.is_urgent
    }

    /// Whether a commit waits for its push.
    pub fn is_pending(&self) -> bool {
        !self.later.is_empty()
    }

    /// Pushes everything that is pending.
    ///
    /// # Errors
    ///
    /// As [`Outbox::deliver`]; commits that were not pushed stay pending.
    pub fn settle(&mut self) -> Result<(), Failure> {
        self.is_urgent = false;
        if self.later.is_empty() {
            return Ok(());
        }
        let mut commits: Vec<_> = self.later.clone().into_iter().collect();
        if let Some(branch) = &self.branch {
            commits.extend(self.tip(branch).map(|commit| (BRANCH.to_owned(), commit)));
        }
        let mut pushed = self.push(&commits);
        let is_conflict =
            |pushed: &Result<(), Failure>| pushed.as_ref().is_err_and(Failure::is_conflict);
        // An earlier push of this outbox may have succeeded without an answer.
        if is_conflict(&pushed) && self.fetch()? == Some(self.lease.epoch) {
            pushed = self.push(&commits);
        }
        if is_conflict(&pushed) {
            return Err(self.lost());
        }
        pushed?;
        self.brought = self.last.clone();
        self.later.clear();
        Ok(())
    }

    /// Prepares the lease commit of the next push.
    pub fn prepare(&mut self) {
        if self.next.is_none() {
            // If this fails, the push repeats it and reports the cause.
            self.next = self.make_mark().ok();
        }
    }

    /// Pushes commits under their names together with the lease: all refs change or none.
    fn push(&mut self, commits: &[(String, String)]) -> Result<(), Failure> {
        if self.is_lost {
            return Err(self.lost());
        }
        let moved = match self.next.take() {
            Some(made) => made,
            None => self.make_mark()?,
        };
        let run_id = &self.lease.run_id;
        let name = |name: &str| format!("{run_id}/{name}");
        let mut updates = vec![RefUpdate {
            name: name(LEASE),
            expected: self.at.clone(),
            commit: Some(moved.clone()),
        }];
        let is_new = |(at, commit): &&(String, String)| self.there.get(at) != Some(commit);
        for (at, commit) in commits.iter().filter(is_new) {
            updates.push(RefUpdate {
                name: name(at),
                expected: self.there.get(at).cloned(),
                commit: Some(commit.clone()),
            });
        }
        let (cwd, remote) = (self.cwd.clone(), self.remote.clone());
        self.git.git(&GitRequest::PushRefs { cwd, remote, updates })?;
        self.there.extend(commits.iter().cloned());
        self.at = Some(moved);
        Ok(())
    }

    /// Returns the next commit of the lease. Its parent is the previous one, because some servers
    /// accept only fast-forward pushes.
    fn make_mark(&mut self) -> Result<String, Failure> {
        let Lease { run_id, epoch, holder, lasts_ms: _ } = &self.lease;
        let file = LeaseFile { epoch: *epoch, holder: holder.clone() };
        let bytes = serde_json::to_vec(&file).expect("a lease has only string keys");
        let keep = GitRequest::KeepFiles {
            cwd: self.cwd.clone(),
            files: vec![KeptFile { name: LEASE_FILE.to_owned(), bytes: Bytes::from(bytes) }],
            name: None,
            parent: self.at.clone(),
            message: format!("Lease {epoch} of run {run_id}\n"),
            at: now(),
        };
        match self.git.git(&keep)? {
            Outcome::Commit { commit: Some(commit) } => Ok(commit),
            _ => Err(Failure::new(FailureKind::Other, "git made no commit of the lease")),
        }
    }

    /// Returns the commit of a branch.
    fn tip(&self, branch: &str) -> Option<String> {
        let name = format!("refs/heads/{branch}");
        // Reading a loose ref is faster than starting git.
        let loose = std::fs::read_to_string(Path::new(&self.cwd).join(".git").join(&name));
        let is_id =
            |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let loose = loose.ok().map(|text| text.trim_end().to_owned()).filter(|text| is_id(text));
        let ask = || git(Path::new(&self.cwd), &["rev-parse", "--verify", "--quiet", &name]).ok();
        loose.or_else(ask)
    }

    /// Fetches the refs of the run; returns the number of the lease in the remote, if it can be read.
    fn fetch(&mut self) -> Result<Option<u64>, Failure> {
        let (cwd, remote) = (self.cwd.clone(), self.remote.clone());
        let prefix = self.lease.run_id.clone();
        let Outcome::Checkpoints { checkpoints } =
            self.git.git(&GitRequest::FetchRefs { cwd, remote, prefix })?
        else {
            return Err(Failure::new(FailureKind::Other, "git did not say what it fetched"));
        };
        let named = |NamedCheckpoint { name, commit, at: _ }: NamedCheckpoint| (name, commit);
        self.there = checkpoints.into_iter().map(named).collect();
        self.at = self.there.remove(LEASE);
        let Some(at) = self.at.clone() else { return Ok(None) };
        match self.read(&at).map(|LeaseFile { epoch, .. }| epoch) {
            Some(epoch) if epoch > self.lease.epoch => Err(self.lost()),
            found => Ok(found),
        }
    }

    fn read(&mut self, commit: &str) -> Option<LeaseFile> {
        let request = GitRequest::ReadKept {
            cwd: self.cwd.clone(),
            commit: commit.to_owned(),
            name: LEASE_FILE.to_owned(),
            limit_bytes: LEASE_BYTES,
        };
        match self.git.git(&request) {
            Ok(Outcome::KeptFile { bytes }) => serde_json::from_slice(&bytes).ok(),
            Ok(_) | Err(_) => None,
        }
    }

    fn lost(&mut self) -> Failure {
        self.is_lost = true;
        let Lease { run_id, epoch, .. } = &self.lease;
        let message = format!(
            "the lease {epoch} of run {run_id} is no longer the last one in `{}`; another worker has \
             the run",
            self.remote
        );
        Failure::new(FailureKind::Denied, message)
    }
}

/// Returns the branch of the run from the first line of a ledger.
fn branch_of(line: &str) -> Option<String> {
    let first: FirstLine = serde_json::from_str(line).ok()?;
    first.record.branch
}

#[derive(Deserialize)]
struct FirstLine {
    record: FirstRecord,
}

#[derive(Deserialize)]
struct FirstRecord {
    branch: Option<String>,
}

/// Returns the checkpoint that a line of a ledger records.
fn checkpoint_of(line: &str) -> Option<Checkpoint> {
    // A search is faster than parsing lines about other things.
    line.contains(TAKEN).then(|| ledger::checkpoint_of(line))?
}

/// Whether lines of a ledger may record a checkpoint, the branch, or the end of the run.
fn is_about_work(lines: &str) -> bool {
    [TAKEN, "\"record\"", OVER].iter().any(|word| lines.contains(word))
}
