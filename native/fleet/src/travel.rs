//! The work travels as commits under `refs/onloop/` of the repository's remote, and the lease of whoever
//! works is there, too: every push moves it, so that git itself refuses one that comes too late.

use std::collections::BTreeMap;
use std::path::Path;

use onloop::host::Git;
use onloop_core::documents::ledger;
use onloop_core::effect::{
    Bytes, Failure, FailureKind, GitRequest, KeptFile, NamedCheckpoint, Outcome, RefUpdate,
};
use serde::{Deserialize, Serialize};

use crate::engine::Lease;
use crate::git::git;
use crate::rest::now;

/// Name of the lease below `refs/onloop/<run-id>/`.
const LEASE: &str = "lease";
/// Name of the commit that the run's branch is at.
const BRANCH: &str = "branch";
/// The file in the lease's commit.
const LEASE_FILE: &str = "lease.json";
/// Largest such file that is read.
const LEASE_BYTES: u64 = 16 * 1024;
/// How often the lease is taken anew where somebody moves it at the same time.
const TRIES: u32 = 4;

/// What the lease in the remote says.
#[derive(Debug, Serialize, Deserialize)]
struct LeaseFile {
    epoch: u64,
    holder: String,
}

/// The work of one run on its way to the remote.
pub struct Luggage {
    git: Box<dyn Git>,
    /// A checkout of the repository.
    cwd: String,
    remote: String,
    lease: Lease,
    /// The commit that the lease is at in the remote.
    at: Option<String>,
    /// What the remote has of the run, by its name below the run's.
    there: BTreeMap<String, String>,
    /// The branch of the run, once it has one.
    branch: Option<String>,
}

impl Luggage {
    /// Fetches what the remote has of the run and puts `lease` there in the place of an earlier one.
    ///
    /// # Errors
    ///
    /// `Denied` where a later lease is there; those of git.
    pub fn take(
        git: Box<dyn Git>,
        cwd: &str,
        remote: &str,
        lease: Lease,
    ) -> Result<Luggage, Failure> {
        let mut luggage = Luggage {
            git,
            cwd: cwd.to_owned(),
            remote: remote.to_owned(),
            lease,
            at: None,
            there: BTreeMap::new(),
            branch: None,
        };
        for _ in 0..TRIES {
            luggage.fetch()?;
            match luggage.push(Vec::new()) {
                Err(failure) if failure.is_conflict() => {}
                pushed => return pushed.map(|()| luggage),
            }
        }
        Err(luggage.lost())
    }

    /// Brings the run's branch along from now on, too.
    pub fn bring_branch(&mut self, branch: String) {
        self.branch = Some(branch);
    }

    /// Brings the checkpoints that these lines of a ledger speak of to the remote.
    ///
    /// # Errors
    ///
    /// `Denied` where the lease has been lost; those of git.
    pub fn deliver(&mut self, lines: &str) -> Result<(), Failure> {
        if self.branch.is_none() {
            self.branch = lines.lines().next().and_then(branch_of);
        }
        let mut taken: Vec<_> = lines.lines().filter_map(checkpoint_of).collect();
        if taken.is_empty() {
            return Ok(());
        }
        if let Some(branch) = &self.branch {
            let name = format!("refs/heads/{branch}");
            let tip = git(Path::new(&self.cwd), &["rev-parse", "--verify", "--quiet", &name]);
            taken.extend(tip.ok().map(|commit| (BRANCH.to_owned(), commit)));
        }
        match self.push(taken) {
            Err(failure) if failure.is_conflict() => Err(self.lost()),
            pushed => pushed,
        }
    }

    /// Pushes commits under their names, and moves the lease, all or nothing.
    fn push(&mut self, commits: Vec<(String, String)>) -> Result<(), Failure> {
        let Lease { run_id, epoch, holder, lasts_ms: _ } = &self.lease;
        let file = LeaseFile { epoch: *epoch, holder: holder.clone() };
        let bytes = serde_json::to_vec(&file).expect("a lease has only string keys");
        let keep = GitRequest::KeepFiles {
            cwd: self.cwd.clone(),
            files: vec![KeptFile { name: LEASE_FILE.to_owned(), bytes: Bytes::from(bytes) }],
            parent: self.at.clone(),
            message: format!("Lease {epoch} of run {run_id}"),
            at: now(),
        };
        let Outcome::Commit { commit: Some(moved) } = self.git.git(&keep)? else {
            return Err(Failure::new(FailureKind::Other, "git made no commit of the lease"));
        };
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
        self.there.extend(commits);
        self.at = Some(moved);
        Ok(())
    }

    fn fetch(&mut self) -> Result<(), Failure> {
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
        let Some(at) = self.at.clone() else { return Ok(()) };
        match self.read(&at) {
            Some(LeaseFile { epoch, .. }) if epoch > self.lease.epoch => Err(self.lost()),
            Some(_) | None => Ok(()),
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

    fn lost(&self) -> Failure {
        let Lease { run_id, epoch, .. } = &self.lease;
        let message = format!(
            "the lease {epoch} of run {run_id} is not the last one in `{}` any more; somebody else \
             works on the run",
            self.remote
        );
        Failure::new(FailureKind::Denied, message)
    }
}

/// What the first line of a ledger says about the run's branch.
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

/// Name and commit of the checkpoint that a line of a ledger speaks of.
fn checkpoint_of(line: &str) -> Option<(String, String)> {
    // Most lines are about something else, and few are worth reading twice.
    let checkpoint =
        line.contains("\"checkpoint_taken\"").then(|| ledger::checkpoint_of(line))??;
    Some((checkpoint.moment.name(), checkpoint.commit))
}
