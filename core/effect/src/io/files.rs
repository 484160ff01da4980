//! Requests about files, folders and locks.

use super::{Io, answer};
use crate::Failure;
use crate::files::*;
use crate::request::*;

impl Io {
    /// [`Request::Read`].
    pub async fn read(&self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, Version), Failure> {
        let request = Request::Read { path: path.to_owned(), limit_bytes };
        answer!(self.request(request), Outcome::File { bytes, version } => (bytes.into(), version))
    }

    /// [`Request::ReadTail`]: the last bytes, and the size of the whole file.
    pub async fn read_tail(&self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, u64), Failure> {
        let request = Request::ReadTail { path: path.to_owned(), limit_bytes };
        answer!(self.request(request), Outcome::Tail { bytes, size_bytes } => (bytes.into(), size_bytes))
    }

    /// [`Request::Write`].
    pub async fn write(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Version, Failure> {
        self.write_as(path, bytes, expect, durability, false).await
    }

    /// [`Request::Write`] of a file that only its owner may read, in any folder.
    pub async fn write_private(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Version, Failure> {
        self.write_as(path, bytes, expect, durability, true).await
    }

    async fn write_as(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        durability: Durability,
        private: bool,
    ) -> Result<Version, Failure> {
        let (path, bytes) = (path.to_owned(), bytes.into());
        let request = Request::Write { path, bytes, expect, durability, private };
        answer!(self.request(request), Outcome::Written { version } => version)
    }

    /// [`Request::Append`].
    pub async fn append(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect_len_bytes: u64,
        durability: Durability,
    ) -> Result<(), Failure> {
        let (path, bytes) = (path.to_owned(), bytes.into());
        self.done(Request::Append { path, bytes, expect_len_bytes, durability, private: false })
            .await
    }

    /// [`Request::Patch`].
    pub async fn patch(
        &self,
        path: &str,
        offset_bytes: u64,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Failure> {
        let (old, new) = (old.to_vec().into(), new.to_vec().into());
        self.done(Request::Patch { path: path.to_owned(), offset_bytes, old, new }).await
    }

    /// [`Request::Remove`].
    pub async fn remove(&self, path: &str) -> Result<(), Failure> {
        self.done(Request::Remove { path: path.to_owned() }).await
    }

    /// [`Request::List`].
    pub async fn list(&self, path: &str) -> Result<Vec<String>, Failure> {
        let request = Request::List { path: path.to_owned() };
        answer!(self.request(request), Outcome::Names { names } => names)
    }

    /// [`Request::Stat`].
    pub async fn stat(&self, path: &str) -> Result<Stat, Failure> {
        let request = Request::Stat { path: path.to_owned() };
        answer!(self.request(request), Outcome::Stat(stat) => stat)
    }

    /// [`Request::Changes`]: whether something may have changed.
    pub async fn changes(&self, folders: Vec<String>, wait_ms: u64) -> Result<bool, Failure> {
        self.changes_beside(folders, wait_ms, Vec::new()).await
    }

    /// As [`Io::changes`]; a terminal shows what works meanwhile.
    pub async fn changes_beside(
        &self,
        folders: Vec<String>,
        wait_ms: u64,
        working: Vec<WorkLine>,
    ) -> Result<bool, Failure> {
        let request = Request::Changes { folders, wait_ms, working };
        answer!(self.request(request), Outcome::Changed { changed } => changed)
    }

    /// [`Request::Canonical`].
    pub async fn canonical(&self, path: &str) -> Result<String, Failure> {
        let request = Request::Canonical { path: path.to_owned() };
        answer!(self.request(request), Outcome::Path { path } => path)
    }

    /// As [`Io::canonical`], asked once for each path.
    pub async fn canonical_once(&self, path: &str) -> Result<String, Failure> {
        let known = self.canonical.borrow().get(path).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.canonical(path).await?;
        self.canonical.borrow_mut().insert(path.to_owned(), found.clone());
        Ok(found)
    }

    /// [`Request::Lock`].
    pub async fn lock(&self, path: &str, wait_ms: u64) -> Result<(), Failure> {
        let (path, role) = (path.to_owned(), self.start().role);
        self.done(Request::Lock { path, wait_ms, private: false, role, run: None }).await
    }

    /// [`Request::Lock`], for the process that drives a run.
    pub async fn lock_to_drive(&self, path: &str, run: &str) -> Result<(), Failure> {
        let (path, role, run) = (path.to_owned(), self.start().role, Some(run.to_owned()));
        self.done(Request::Lock { path, wait_ms: 0, private: false, role, run }).await
    }

    /// [`Request::Unlock`].
    pub async fn unlock(&self, path: &str) -> Result<(), Failure> {
        self.done(Request::Unlock { path: path.to_owned() }).await
    }

    /// [`Request::Holder`].
    pub async fn holder(&self, path: &str) -> Result<Option<LockHolder>, Failure> {
        let request = Request::Holder { path: path.to_owned() };
        answer!(self.request(request), Outcome::Holder { holder } => holder)
    }
}
