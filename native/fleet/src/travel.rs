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
/// Whose commits they are.
const AS_ONLOOP: [&str; 4] = ["-c", "user.name=onloop", "-c", "user.email=onloop@localhost"];
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
    /// What the commits of this lease hold, once there is one.
    tree: Option<String>,
    /// What the remote has of the run, by its name below the run's.
    there: BTreeMap<String, String>,
    /// The branch of the run, once it has one.
    branch: Option<String>,
}

impl Luggage {
    /// Fetches what the remote has of the run and puts `lease` there in the place of an earlier one. With it
    /// goes where the branch of a run that has not begun will begin, `base`: whoever goes on with the run
    /// finds that there, even if its first line is all that was ever recorded.
    ///
    /// # Errors
    ///
    /// `Denied` where a later lease is there; those of git.
    pub fn take(
        git: Box<dyn Git>,
        cwd: &str,
        remote: &str,
        lease: Lease,
        base: Option<String>,
    ) -> Result<Luggage, Failure> {
        let mut luggage = Luggage {
            git,
            cwd: cwd.to_owned(),
            remote: remote.to_owned(),
            lease,
            at: None,
            tree: None,
            there: BTreeMap::new(),
            branch: None,
        };
        for _ in 0..TRIES {
            luggage.fetch()?;
            let branch = base.iter().map(|commit| (BRANCH.to_owned(), commit.clone()));
            match luggage.push(branch.collect()) {
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
            taken.extend(self.tip(branch).map(|commit| (BRANCH.to_owned(), commit)));
        }
        match self.push(taken) {
            Err(failure) if failure.is_conflict() => Err(self.lost()),
            pushed => pushed,
        }
    }

    /// Pushes commits under their names, and moves the lease, all or nothing.
    fn push(&mut self, commits: Vec<(String, String)>) -> Result<(), Failure> {
        let moved = self.make_mark()?;
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
        self.there.extend(commits);
        self.at = Some(moved);
        Ok(())
    }

    /// The commit that the lease moves to; each is made from the one before, since there are servers that
    /// take nothing else.
    fn make_mark(&mut self) -> Result<String, Failure> {
        let Lease { run_id, epoch, holder, lasts_ms: _ } = &self.lease;
        let message = format!("Lease {epoch} of run {run_id}");
        if let (Some(tree), Some(at)) = (&self.tree, &self.at) {
            let words = ["commit-tree", "--no-gpg-sign", "-p", at, "-m", &message, tree];
            let made = git(Path::new(&self.cwd), &[&AS_ONLOOP[..], &words].concat());
            return made.map_err(|error| Failure::new(FailureKind::Other, error.to_string()));
        }
        let file = LeaseFile { epoch: *epoch, holder: holder.clone() };
        let bytes = serde_json::to_vec(&file).expect("a lease has only string keys");
        let keep = GitRequest::KeepFiles {
            cwd: self.cwd.clone(),
            files: vec![KeptFile { name: LEASE_FILE.to_owned(), bytes: Bytes::from(bytes) }],
            parent: self.at.clone(),
            message,
            at: now(),
        };
        let Outcome::Commit { commit: Some(commit) } = self.git.git(&keep)? else {
            return Err(Failure::new(FailureKind::Other, "git made no commit of the lease"));
        };
        // All of them say the same.
        let tree = format!("{commit}^{{tree}}");
        self.tree = git(Path::new(&self.cwd), &["rev-parse", "--verify", "--quiet", &tree]).ok();
        Ok(commit)
    }

    /// The commit that a branch is at.
    fn tip(&self, branch: &str) -> Option<String> {
        let name = format!("refs/heads/{branch}");
        // Nearly always it lies there, and starting git takes longer than everything else here.
        let loose = std::fs::read_to_string(Path::new(&self.cwd).join(".git").join(&name));
        let is_id =
            |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let loose = loose.ok().map(|text| text.trim_end().to_owned()).filter(|text| is_id(text));
        let ask = || git(Path::new(&self.cwd), &["rev-parse", "--verify", "--quiet", &name]).ok();
        loose.or_else(ask)
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

#[cfg(test)]
mod tests {
    use super::*;
    use onloop::host::git::OsGit;

    #[test]
    fn a_lease_brings_where_the_branch_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let here = path("here");
        std::fs::create_dir_all(&here).expect("a folder");
        git(folder.path(), &["init", "--quiet", "--bare", "shop.git"]).expect("git");
        let run = |words: &[&str]| git(&here, words).expect("git");
        run(&["init", "--quiet"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        run(&[&who[..], &["commit", "--quiet", "--allow-empty", "--message", "Begin"]].concat());
        run(&["remote", "add", "origin", &path("shop.git").to_string_lossy()]);
        let base = run(&["rev-parse", "HEAD"]);
        let take = |epoch: u64, base: Option<String>| {
            let (run_id, holder) = ("run".to_owned(), "desk".to_owned());
            let lease = Lease { run_id, epoch, holder, lasts_ms: 1000 };
            let cwd = here.to_string_lossy().into_owned();
            Luggage::take(Box::new(OsGit::new()), &cwd, "origin", lease, base)
        };
        take(2, Some(base.clone())).expect("the lease");
        let there = git(&path("shop.git"), &["rev-parse", "refs/onloop/run/branch"]);
        assert_eq!(there.expect("a branch"), base);
        let late = take(1, None).map(drop).expect_err("a later lease is there");
        assert_eq!(late.kind, FailureKind::Denied);
    }
}
