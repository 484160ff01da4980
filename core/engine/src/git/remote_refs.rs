//! Runs that travel: their ledger and their work below `refs/onloop/<run-id>/` of a remote.

use crate::error::CommandError;
use crate::state::store::{StateHome, Store, StoreError, read_arrival};
use onloop_documents::ledger::Ledger;
use onloop_effect::{Failure, FailureKind, Io, NamedCheckpoint};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The name of the commit that holds the ledger, behind the run's id.
pub const LEDGER: &str = "ledger";
/// The name of the commit that the run's branch is at.
pub const BRANCH: &str = "branch";
/// The ledger in its commit.
pub const LEDGER_FILE: &str = "ledger.jsonl";

/// What a remote has of a run.
#[derive(Debug)]
pub struct Remote {
    /// Every commit of the run there, by its name behind the run's id.
    pub(crate) commits: Vec<NamedCheckpoint>,
    /// Its ledger, where there is one.
    pub ledger: Option<RemoteLedger>,
}

/// A ledger that a remote has.
#[derive(Debug)]
pub struct RemoteLedger {
    /// The commit that holds it; empty: no commit does.
    pub commit: String,
    /// Its whole lines.
    pub bytes: Vec<u8>,
    /// What they say.
    pub ledger: Ledger,
}

impl Remote {
    /// Asks `remote` of the repository around `cwd` for run `id`. Nothing that belongs to the run
    /// here is changed.
    ///
    /// # Errors
    ///
    /// Those of the remote; `Invalid` where its ledger is damaged or that of another run.
    pub async fn ask(io: &Io, cwd: &str, remote: &str, id: &str) -> Result<Remote, Failure> {
        let commits = io.git_fetch_refs(cwd, remote, id).await?;
        let found = commits.iter().find(|named| named.name == LEDGER);
        let ledger = match found.map(|named| named.commit.clone()) {
            None => None,
            Some(commit) => Some(RemoteLedger::read(io, cwd, remote, id, commit).await?),
        };
        Ok(Remote { commits, ledger })
    }

    /// The commit with this name behind the run's id.
    pub fn commit(&self, name: &str) -> Option<&str> {
        let named = self.commits.iter().find(|named| named.name == name);
        named.map(|named| named.commit.as_str())
    }
}

impl RemoteLedger {
    async fn read(
        io: &Io,
        cwd: &str,
        remote: &str,
        id: &str,
        commit: String,
    ) -> Result<RemoteLedger, Failure> {
        let limit = limits::RECORD_BYTES;
        let bytes = io.git_read_kept(cwd, &commit, LEDGER_FILE, limit).await?;
        match read_arrival(id, &bytes) {
            Ok(ledger) => Ok(RemoteLedger { commit, bytes, ledger }),
            Err(why) => {
                let message = format!(
                    "`refs/onloop/{id}/{LEDGER}` of `{}` ({commit}) has no sound ledger: {}",
                    text::one_line(remote),
                    text::one_line(&why.to_string())
                );
                Err(Failure::new(FailureKind::Invalid, message))
            }
        }
    }

    /// A ledger whose whole lines are here already.
    ///
    /// # Errors
    ///
    /// Why it is none of run `id`, as a clause.
    pub fn known(id: &str, bytes: Vec<u8>) -> Result<RemoteLedger, StoreError> {
        let ledger = read_arrival(id, &bytes)?;
        Ok(RemoteLedger { commit: String::new(), bytes, ledger })
    }

    /// The last line, for people.
    pub fn last_line(&self) -> u64 {
        self.ledger.head.seq
    }
}

/// The ledger of a run here, its whole lines.
///
/// # Errors
///
/// Those of the store.
pub async fn own_ledger(io: &Io, store: &Store) -> Result<Vec<u8>, StoreError> {
    let (path, size_bytes) = store.ledger_as_known();
    let (mut bytes, _) = io.read(&path, limits::RECORD_BYTES).await?;
    bytes.truncate(usize::try_from(size_bytes).unwrap_or(usize::MAX));
    Ok(bytes)
}

/// What is wrong where run `id` continued in two places: the ledger at `remote` differs from the one here from
/// `line` on.
pub fn forked(id: &str, remote: &str, line: u64, commit: &str) -> CommandError {
    CommandError::refused(format!("run `{id}` continued in two places"))
        .because(format!(
            "the ledger of `{remote}` ({commit}) differs from the one here from line {line} on; one \
             of them has to be given up"
        ))
        .fix_by("see what the other one did", format!("git show {commit}:{LEDGER_FILE}"))
}

/// Refuses a state home that agents could write to, before anything comes into it.
///
/// # Errors
///
/// `Denied`, with what to do.
pub async fn demand_home(io: &Io, root: &str) -> Result<(), Failure> {
    StateHome::of(io)?.demand_outside(io, root).await
}
