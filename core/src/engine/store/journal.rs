//! The journal beside a large record: events that are not yet folded into it.

use super::{Store, StoreError};
use crate::documents;
use crate::effect::{Failure, FailureKind, OptionalExt};
use crate::limits;
use crate::run::Event;
use crate::time::Timestamp;

/// What is known about the journal of a record.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Its size; 0 where there is none.
    pub(super) size_bytes: u64,
    /// Whether it ends in the middle of a line; only a rewrite may follow.
    pub(super) torn: bool,
    /// There was one whose lines all stood in the record, which had this revision.
    pub(super) folded_into: Option<u64>,
}

/// Whether all of a journal stands in a record of this revision.
fn is_folded(events: &[(u64, Timestamp, Event)], revision: u64) -> bool {
    events.last().is_some_and(|(last, ..)| *last <= revision)
}

impl Store {
    /// Adds what the journal holds to the snapshot that was just read.
    pub(super) async fn replay_journal(&mut self) -> Result<(), StoreError> {
        let found = self.io.read(&self.paths.journal(), limits::RECORD_BYTES).await.optional()?;
        let Some((bytes, _)) = found else { return Ok(()) };
        let (events, understood) = documents::event::read_lines(&bytes).map_err(|bad| {
            StoreError::Unreadable(format!("{}: damaged journal: {bad}", self.paths.journal()))
        })?;
        if is_folded(&events, self.run.revision) {
            self.journal.folded_into = Some(self.run.revision);
            return Ok(());
        }
        self.journal.size_bytes = bytes.len() as u64;
        self.journal.torn = understood != bytes.len();
        let folded = self.run.revision;
        for (revision, at, event) in events.into_iter().filter(|(revision, ..)| *revision > folded)
        {
            let next = self.run.revision + 1;
            let applied = if revision == next { self.run.apply(at, &event) } else { Ok(()) };
            if revision != next || applied.is_err() {
                let journal = self.paths.journal();
                return Err(StoreError::Unreadable(format!(
                    "{journal}: revision {revision} does not follow the record"
                )));
            }
        }
        Ok(())
    }

    /// Under the record's lock: removes the journal that was read, if all of it stood in the
    /// record already. Whoever folded it had not yet come to remove it, or never did.
    ///
    /// # Errors
    ///
    /// `Conflict` when there is another journal by now, even one of the same size.
    pub(super) async fn remove_folded_journal(&mut self) -> Result<(), Failure> {
        let Some(revision) = self.journal.folded_into else { return Ok(()) };
        let path = self.paths.journal();
        if let Some((bytes, _)) = self.io.read(&path, limits::RECORD_BYTES).await.optional()? {
            let read = documents::event::read_lines(&bytes);
            if !read.is_ok_and(|(events, _)| is_folded(&events, revision)) {
                let message = format!("`{path}` was begun anew in the meantime");
                return Err(Failure::new(FailureKind::Conflict, message));
            }
            self.io.remove(&path).await?;
        }
        self.journal.folded_into = None;
        Ok(())
    }

    /// Another process that only appends leaves the record's version as it is: what it added
    /// has to be read before a rewrite may claim to contain it.
    pub(super) async fn expect_known_journal(&self) -> Result<(), Failure> {
        let path = self.paths.journal();
        let size_bytes = self.io.stat(&path).await.optional()?.map_or(0, |stat| stat.size_bytes);
        if size_bytes == self.journal.size_bytes {
            return Ok(());
        }
        let known = self.journal.size_bytes;
        Err(Failure::new(
            FailureKind::Conflict,
            format!("`{path}` has {size_bytes} bytes, {known} were expected"),
        ))
    }

    /// Adds the pending events to the journal.
    pub(super) async fn append_journal(&mut self) -> Result<(), Failure> {
        let mut lines = Vec::new();
        let before = self.run.revision - self.pending.len() as u64;
        for (index, (at, event)) in self.pending.iter().enumerate() {
            let revision = before + 1 + index as u64;
            if !documents::event::write_line(&mut lines, revision, *at, event) {
                return self.rewrite().await;
            }
        }
        let added = lines.len() as u64;
        let unchanged = (self.paths.state(), self.version.clone());
        self.io.append(&self.paths.journal(), lines, self.journal.size_bytes, unchanged).await?;
        self.journal.size_bytes += added;
        Ok(())
    }
}
