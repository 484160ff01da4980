//! What is made from the ledger for readers in the worktree: the copy of the record and the
//! report. They are written after the ledger and never read back for a decision; an agent can
//! write there, too.

use super::{Store, StoreError};
use onloop_documents::head::{self, LastWritten};
use onloop_documents::ledger::{self, sha256};
use onloop_documents::run::{copy_head, write_copy};
use onloop_effect::{Durability, Expect, Failure, FailureKind, FileKind, Io, OptionalExt, Version};
use onloop_run::{Event, RunStatus, render_report};
use onloop_syntax::limits;

/// Copy, report and head of a large run are written at most this often while the run is running.
const COPY_INTERVAL_MS: u64 = 250;

/// What is known about the copy.
#[derive(Debug)]
pub(super) enum Copy {
    /// This process has written it last.
    Written(Version),
    /// Another process may have.
    Unseen,
}

/// What was found in the place of the copy.
enum Found {
    /// What onloop wrote, now or before a crash.
    Ours(Expect),
    /// Something else, said as a clause.
    Changed(&'static str, Expect),
}

impl Store {
    /// Writes copy and report where they are due, or in any case if `always`; a copy that
    /// somebody changed is restored, recorded and said.
    pub(super) async fn write_copies(&mut self, always: bool) -> Result<(), StoreError> {
        let now = self.io.now();
        let at_rest = self.run.status != RunStatus::Running;
        let large = self.size_bytes > limits::RECORD_REWRITE_BYTES as u64;
        if large && !at_rest && !always {
            match self.copied_at {
                // Which line is the last this process knows by itself.
                Some(at) if now.millis_since(at) < COPY_INTERVAL_MS => return Ok(()),
                // A process that makes one change and ends leaves the copy to the next.
                None if self.opened => {
                    self.copied_at = Some(now);
                    return self.write_head().await;
                }
                Some(_) | None => {}
            }
        }
        if let Err(failure) = self.place_is_safe().await {
            if self.works_elsewhere(&failure).await {
                return self.write_head().await;
            }
            self.warn(format!("warning: the copy of the record is not written: {failure}"));
            return self.write_head().await;
        }
        let written = self.write_copy().await;
        self.write_head().await?;
        match written {
            Ok(()) => {}
            Err(StoreError::Failed(failure)) => {
                self.warn(format!("warning: the copy of the record is not written: {failure}"));
            }
            Err(error) => return Err(error),
        }
        self.copied_at = Some(now);
        let report = render_report(&self.run).into_bytes();
        let path = self.paths.report();
        if let Err(failure) = self.io.write(&path, report, Expect::Any, Durability::Relaxed).await {
            self.warn(format!("warning: the report could not be written: {failure}"));
        }
        Ok(())
    }

    /// Writes copy, report and head of a run that begins here, over whatever lies there.
    pub(super) async fn write_first_copy(&mut self) -> Result<(), StoreError> {
        let bytes = write_copy(&self.run, Some(&self.head));
        self.copy_sha256 = Some(sha256(&bytes));
        let path = self.paths.copy();
        // Durable this once: later, a copy that is missing was removed by somebody.
        let version = self.io.write(&path, bytes, Expect::Any, Durability::Durable).await?;
        self.copy = Copy::Written(version);
        self.write_copies(true).await
    }

    /// A worktree that was removed is not made anew, and no link is followed.
    async fn place_is_safe(&self) -> Result<(), Failure> {
        let root = self.paths.root();
        if self.io.stat(root).await.optional()?.is_none() {
            let message = format!("`{root}` is gone; nothing recorded is lost");
            return Err(Failure::new(FailureKind::NotFound, message));
        }
        refuse_state_links(&self.io, root).await
    }

    /// Whether the place is not here because a fleet's worker has it on another machine.
    async fn works_elsewhere(&self, failure: &Failure) -> bool {
        failure.is_not_found() && self.io.stat(&self.paths.fleet()).await.is_ok()
    }

    fn warn(&mut self, line: String) {
        if self.warned.insert(line.clone()) {
            self.notes.push(line);
        }
    }

    async fn write_copy(&mut self) -> Result<(), StoreError> {
        let mut found = match &self.copy {
            Copy::Written(version) => Found::Ours(Expect::Version(version.clone())),
            Copy::Unseen => self.look_at_copy().await?,
        };
        for _ in 0..3 {
            let expect = match found {
                Found::Ours(expect) => expect,
                Found::Changed(what, expect) => {
                    self.record_change(what).await?;
                    prepare_folder(&self.io, self.paths.root()).await?;
                    expect
                }
            };
            let bytes = write_copy(&self.run, Some(&self.head));
            let digest = sha256(&bytes);
            let path = self.paths.copy();
            match self.io.write(&path, bytes, expect, Durability::Relaxed).await {
                Ok(version) => {
                    self.copy = Copy::Written(version);
                    self.copy_sha256 = Some(digest);
                    return Ok(());
                }
                Err(failure) if failure.is_conflict() || failure.is_exists() => {
                    found = self.look_at_copy().await?;
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        let message = format!("`{}` changes all the time", self.paths.copy());
        Err(Failure::new(FailureKind::Conflict, message).into())
    }

    async fn look_at_copy(&self) -> Result<Found, StoreError> {
        let path = self.paths.copy();
        let Some((bytes, version)) = self.io.read(&path, limits::RECORD_BYTES).await.optional()?
        else {
            return Ok(match self.copy_sha256 {
                Some(_) => Found::Changed("was removed", Expect::Absent),
                None => Found::Ours(Expect::Absent),
            });
        };
        let expect = Expect::Version(version);
        if self.copy_sha256.as_deref() == Some(&sha256(&bytes)) || self.is_older(&bytes).await? {
            return Ok(Found::Ours(expect));
        }
        Ok(Found::Changed("was changed by something other than onloop", expect))
    }

    /// Whether the bytes are the copy as it was at some line of the ledger: the power went, or the
    /// process was killed, before the next one was written.
    async fn is_older(&self, bytes: &[u8]) -> Result<bool, StoreError> {
        let Ok(Some(claimed)) = copy_head(bytes) else { return Ok(false) };
        if claimed.seq > self.head.seq {
            return Ok(false);
        }
        let (ledger, _) = self.io.read(&self.paths.ledger(), limits::RECORD_BYTES).await?;
        let Ok(then) = ledger::read_until(&ledger, claimed.seq, None) else { return Ok(false) };
        Ok(write_copy(&then.run, Some(&then.head)) == bytes)
    }

    /// Adds the event that says so to the ledger, whose lock is held.
    async fn record_change(&mut self, what: &str) -> Result<(), StoreError> {
        let path = self.paths.copy();
        self.notes.push(format!("warning: {path} {what}; onloop restored this copy"));
        let event = Event::CopyChanged { path, what: what.to_owned() };
        let at = self.io.now();
        let mut run = self.run.clone();
        run.apply(at, &event).map_err(StoreError::Overtaken)?;
        let mut line = Vec::new();
        let head = ledger::append(&mut line, &self.head, at, &event, None);
        let bytes = line.len() as u64;
        self.io.append(&self.paths.ledger(), line, self.size_bytes, Durability::Durable).await?;
        (self.run, self.head) = (run, head);
        self.size_bytes += bytes;
        self.last_line_bytes = bytes;
        Ok(())
    }

    /// Remembers which line was written last: what is missing from the ledger after that was cut.
    async fn write_head(&mut self) -> Result<(), StoreError> {
        let (head, copy_sha256) = (self.head.clone(), self.copy_sha256.clone());
        let bytes = head::write(&LastWritten { head, copy_sha256 });
        self.io.write(&self.paths.head(), bytes, Expect::Any, Durability::Relaxed).await?;
        Ok(())
    }
}

/// The folders below the checkout that onloop writes to.
const FOLDERS: [&str; 2] = [".hotl/state", ".hotl/reports"];

/// Prepares a folder for copies. `git add -A` there must not commit them.
pub async fn prepare_folder(io: &Io, root: &str) -> Result<(), Failure> {
    refuse_state_links(io, root).await?;
    let ignore = format!("{root}/.hotl/.gitignore");
    match io.write(&ignore, b"*\n".to_vec(), Expect::Absent, Durability::Relaxed).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_exists() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Refuses links in the place of the folders that onloop writes to below `root`.
pub async fn refuse_state_links(io: &Io, root: &str) -> Result<(), Failure> {
    for folder in FOLDERS {
        refuse_links(io, root.trim_end_matches('/'), folder).await?;
    }
    Ok(())
}

/// Refuses a folder below `root` that leads through a symbolic link. A commit can contain such a link,
/// and writing through it would leave the checkout.
pub async fn refuse_links(io: &Io, root: &str, folder: &str) -> Result<(), Failure> {
    let mut path = root.to_owned();
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        path = format!("{path}/{name}");
        match io.stat(&path).await.optional()? {
            None => return Ok(()),
            Some(stat) if stat.kind == FileKind::Folder => {}
            Some(_) => {
                let message = format!(
                    "`{path}` is not a folder; onloop does not write through links: remove it"
                );
                return Err(Failure::new(FailureKind::Invalid, message));
            }
        }
    }
    Ok(())
}
