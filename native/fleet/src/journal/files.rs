//! Files, with journals where ledgers are.

use std::time::Duration;

use onloop::host::Files;
use onloop_core::effect::{Durability, Expect, Failure, FailureKind, Stat, Version};

use super::locks::Leases;
use super::mirror::{Mirror, last_line};
use super::{RETRY_TIMEOUT, Writer, failure, of_mirror, run_of};
use crate::client::Client;
use crate::engine::{Append, EngineError, Head};

/// Longest time that a driver retries an unreachable server. Its lease ends earlier, and then the
/// watchdog ends the driver.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) struct JournalledFiles {
    inner: Box<dyn Files>,
    runs: String,
    client: Client,
    writer: Writer,
    leases: Leases,
    /// The ledger that was appended to last: its run, its size and its last line.
    known: Option<(String, u64, Head)>,
}

impl JournalledFiles {
    pub(super) fn new(
        inner: Box<dyn Files>,
        runs: String,
        client: Client,
        writer: Writer,
        leases: Leases,
    ) -> JournalledFiles {
        JournalledFiles { inner, runs, client, writer, leases, known: None }
    }

    /// Returns the run whose ledger is the file `path`.
    fn journal_of(&mut self, path: &str) -> Option<String> {
        let id = run_of(&self.runs, path, "ledger.jsonl")?;
        let marker = format!("{}/{id}/fleet.json", self.runs);
        self.inner.stat(&marker).is_ok().then(|| id.to_owned())
    }

    /// Appends `lines` to the journal of a run after the line `after`; returns the last line.
    fn journal(&mut self, id: &str, after: Option<Head>, lines: &[u8]) -> Result<Head, Failure> {
        let text = String::from_utf8(lines.to_vec())
            .map_err(|_| Failure::new(FailureKind::Invalid, "a line of the ledger is not UTF-8"))?;
        let (epoch, timeout) = match &self.writer {
            Writer::Driver { lease, pusher } if lease.run_id == id => {
                if let Some(pusher) = pusher {
                    pusher.deliver(&text)?;
                }
                (Some(lease.epoch), DRIVER_TIMEOUT)
            }
            Writer::Driver { .. } => (None, RETRY_TIMEOUT),
            Writer::Person { .. } => (self.leases.epoch(id), RETRY_TIMEOUT),
        };
        let append = Append { run_id: id.to_owned(), epoch, after, lines: text };
        match self.client.call_within(timeout, &append) {
            Ok(head) => Ok(head),
            Err(error @ EngineError::Conflict { .. }) => {
                self.known = None;
                let mirror = Mirror::new(&self.runs, id);
                mirror.pull(self.inner.as_mut(), &self.client).map_err(of_mirror)?;
                Err(failure(&error))
            }
            Err(error) => Err(failure(&error)),
        }
    }

    /// Returns the last line of the copy at `path`, which must have this size.
    fn head_at(&mut self, id: &str, path: &str, size: u64) -> Result<Option<Head>, Failure> {
        if let Some((known, known_size, head)) = &self.known
            && known == path
            && *known_size == size
        {
            return Ok(Some(head.clone()));
        }
        let mirror = Mirror::new(&self.runs, id);
        let (head, whole) = mirror.head(self.inner.as_mut()).map_err(of_mirror)?;
        if whole != size {
            let message = format!("`{path}` has {whole} bytes, expected {size}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        Ok(head)
    }
}

impl Files for JournalledFiles {
    fn read(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, Version), Failure> {
        self.inner.read(path, limit_bytes)
    }

    fn read_tail(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, u64), Failure> {
        self.inner.read_tail(path, limit_bytes)
    }

    fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect: &Expect,
        durability: Durability,
        private: bool,
    ) -> Result<Version, Failure> {
        let Some(id) = self.journal_of(path) else {
            return self.inner.write(path, bytes, expect, durability, private);
        };
        if *expect != Expect::Absent {
            let message = format!(
                "`{path}` is a copy of a fleet's journal, which only grows; bring the run home first: \
                 onloop resume {id}"
            );
            return Err(Failure::new(FailureKind::Unsupported, message));
        }
        if self.inner.stat(path).is_ok() {
            return Err(Failure::new(FailureKind::Exists, format!("`{path}` exists")));
        }
        let head = self.journal(&id, None, bytes)?;
        let version = self.inner.write(path, bytes, expect, durability, private)?;
        self.known = Some((path.to_owned(), bytes.len() as u64, head));
        Ok(version)
    }

    fn append(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect_len_bytes: u64,
        durability: Durability,
        private: bool,
    ) -> Result<(), Failure> {
        let Some(id) = self.journal_of(path) else {
            return self.inner.append(path, bytes, expect_len_bytes, durability, private);
        };
        let after = self.head_at(&id, path, expect_len_bytes)?;
        let head = self.journal(&id, after, bytes)?;
        debug_assert_eq!(last_line(bytes).as_ref(), Some(&head), "the journal ends with our line");
        // The journal has the line, so a copy that loses it in a power cut gets it again.
        self.inner.append(path, bytes, expect_len_bytes, Durability::Relaxed, private)?;
        self.known = Some((path.to_owned(), expect_len_bytes + bytes.len() as u64, head));
        Ok(())
    }

    fn patch(&mut self, path: &str, offset: u64, old: &[u8], new: &[u8]) -> Result<(), Failure> {
        self.inner.patch(path, offset, old, new)
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        self.inner.remove(path)
    }

    fn list(&mut self, path: &str) -> Result<Vec<String>, Failure> {
        self.inner.list(path)
    }

    fn stat(&mut self, path: &str) -> Result<Stat, Failure> {
        self.inner.stat(path)
    }

    fn canonical(&mut self, path: &str) -> Result<String, Failure> {
        self.inner.canonical(path)
    }

    fn durability_warning(&mut self) -> Option<String> {
        self.inner.durability_warning()
    }
}
