//! Locks: the lock of a fleet run's driver is its lease.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use onloop::host::{Locks, OsFiles, Root};
use onloop_core::effect::{Failure, LockHolder, ProcessIdentity, ProcessRole};
use onloop_core::limits;
use onloop_core::time::Timestamp;

use super::mirror::Mirror;
use super::{RETRY_TIMEOUT, failure, of_mirror, run_of};
use crate::client::Client;
use crate::engine::{Claim, EngineError, Lease, ReadJournal, Release};
use crate::queue_state;

/// Longest time that a person waits for a worker to stop.
const RECALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two checks whether it has stopped.
const RECALL_PAUSE: Duration = Duration::from_millis(250);

/// The leases of this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases(Arc<Mutex<BTreeMap<String, Lease>>>);

impl Leases {
    /// Returns the number of the lease of a run, if this process has it.
    pub(super) fn epoch(&self, run: &str) -> Option<u64> {
        self.map(|leases| leases.get(run).map(|lease| lease.epoch))
    }

    fn map<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Lease>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) struct JournalledLocks {
    inner: Box<dyn Locks>,
    runs: String,
    client: Client,
    holder: String,
    leases: Leases,
}

impl JournalledLocks {
    pub(super) fn new(
        inner: Box<dyn Locks>,
        runs: String,
        client: Client,
        holder: String,
        leases: Leases,
    ) -> JournalledLocks {
        JournalledLocks { inner, runs, client, holder, leases }
    }

    /// Returns the fleet run whose driver lock is at `path`.
    fn driven(&self, path: &str) -> Option<String> {
        let id = run_of(&self.runs, path, "driver.lock")?;
        let marker = format!("{}/{id}/fleet.json", self.runs);
        std::path::Path::new(&marker).exists().then(|| id.to_owned())
    }

    /// Claims the lease of a run and asks its holder to stop.
    fn claim(&self, run: &str) -> Result<Lease, Failure> {
        let claim = Claim { run_id: run.to_owned(), holder: self.holder.clone(), recall: true };
        let began = Instant::now();
        loop {
            match self.client.call_within(RETRY_TIMEOUT, &claim) {
                Err(EngineError::Busy { .. }) if began.elapsed() < RECALL_TIMEOUT => {
                    std::thread::sleep(RECALL_PAUSE);
                }
                claimed => return claimed.map_err(|error| failure(&error)),
            }
        }
    }

    /// Copies the lines that the previous driver recorded before it stopped.
    fn catch_up(&mut self, run: &str, now: Timestamp) -> Result<(), Failure> {
        let record = format!("{}/{run}/record.lock", self.runs);
        self.inner.lock(&record, limits::LOCK_WAIT_MS, true, None, now)?;
        let mut files = OsFiles::new(Root::new("/"));
        let mirror = Mirror::new(&self.runs, run);
        let pulled = mirror.pull(&mut files, &self.client);
        self.inner.unlock(&record)?;
        pulled.map(|_| ()).map_err(of_mirror)
    }

    fn give_back(&self, run: &str) {
        let Some(lease) = self.leases.map(|leases| leases.remove(run)) else { return };
        let state = queue_state::of_copy(&self.runs, run);
        let release = Release { run_id: run.to_owned(), epoch: lease.epoch, state };
        // A lease that is not returned ends by itself.
        let _ = self.client.call_within(RETRY_TIMEOUT, &release);
    }
}

impl Drop for JournalledLocks {
    fn drop(&mut self) {
        let runs: Vec<String> = self.leases.map(|leases| leases.keys().cloned().collect());
        runs.iter().for_each(|run| self.give_back(run));
    }
}

impl Locks for JournalledLocks {
    fn lock(
        &mut self,
        path: &str,
        wait_ms: u64,
        private: bool,
        role: Option<ProcessRole>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.inner.lock(path, wait_ms, private, role, now)?;
        let Some(run) = self.driven(path) else { return Ok(()) };
        let claimed = self.claim(&run).and_then(|lease| self.catch_up(&run, now).map(|()| lease));
        match claimed {
            Ok(lease) => {
                self.leases.map(|leases| leases.insert(run, lease));
                Ok(())
            }
            Err(failure) => {
                let _ = self.inner.unlock(path);
                Err(failure)
            }
        }
    }

    fn unlock(&mut self, path: &str) -> Result<(), Failure> {
        if let Some(run) = self.driven(path) {
            self.give_back(&run);
        }
        self.inner.unlock(path)
    }

    fn holder(&mut self, path: &str) -> Result<Option<LockHolder>, Failure> {
        let here = self.inner.holder(path)?;
        let Some(run) = self.driven(path).filter(|_| here.is_none()) else { return Ok(here) };
        // If the server does not answer, the holder is unknown.
        let read = ReadJournal { after: u64::MAX, ..ReadJournal::now(&run) };
        let lines = self.client.call(&read).ok();
        let holder = lines.and_then(|lines| lines.view.holder);
        Ok(holder.map(|holder| LockHolder {
            process: ProcessIdentity {
                pid: 0,
                host: format!("{holder} (fleet)"),
                started: String::new(),
            },
            live: false,
            role: None,
        }))
    }
}
