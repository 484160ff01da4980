//! The copy of a journal: a ledger in the state home that only grows.

use std::io;
use std::path::{Path, PathBuf};

use onloop::host::Files;
use onloop_core::documents::ledger;
use onloop_core::effect::{Durability, Expect, Failure, FailureKind};
use onloop_core::limits;

use crate::client::Client;
use crate::engine::{EngineError, Head, Lines, ReadJournal};

/// Why a copy could not be updated.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The engine returned an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The file could not be read or written.
    #[error("{0}")]
    Files(Failure),
    /// The copy differs from the journal.
    #[error("`{path}` is not a copy of the journal of run {run_id}: {why}")]
    Different {
        /// The file.
        path: String,
        /// The run.
        run_id: String,
        /// The difference, as a clause.
        why: String,
    },
    /// The machine returned an error.
    #[error("{0}")]
    Machine(#[from] io::Error),
}

impl From<Failure> for MirrorError {
    fn from(failure: Failure) -> MirrorError {
        MirrorError::Files(failure)
    }
}

/// The copy of one run's journal.
#[derive(Clone, Debug)]
pub struct Mirror {
    run_id: String,
    path: String,
}

impl Mirror {
    /// Names the copy of run `run_id` below the folder of all runs.
    pub fn new(runs: &str, run_id: &str) -> Mirror {
        Mirror { run_id: run_id.to_owned(), path: format!("{runs}/{run_id}/ledger.jsonl") }
    }

    /// Returns the path of the copy.
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// Returns the folder of the run.
    pub fn folder(&self) -> PathBuf {
        self.path().parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Returns the last line of the copy and the size of its whole lines. A torn line may follow them.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its last line is not a ledger line.
    pub fn head(&self, files: &mut dyn Files) -> Result<(Option<Head>, u64), MirrorError> {
        let bytes = match files.read(&self.path, limits::RECORD_BYTES) {
            Ok((bytes, _)) => bytes,
            Err(failure) if failure.is_not_found() => return Ok((None, 0)),
            Err(failure) => return Err(failure.into()),
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole == 0 {
            return Ok((None, 0));
        }
        let head =
            last_line(&bytes[..whole]).ok_or_else(|| self.different("it has no last line"))?;
        Ok((Some(head), whole as u64))
    }

    /// Appends new lines of the journal to the copy, durably; returns the status of the run.
    ///
    /// # Errors
    ///
    /// [`MirrorError::Different`] if the journal does not have all lines of the copy.
    pub fn pull(&self, files: &mut dyn Files, client: &Client) -> Result<Lines, MirrorError> {
        let (head, size) = self.head(files)?;
        let after = head.as_ref().map_or(0, |head| head.seq);
        let lines = client.call(&ReadJournal { after, ..ReadJournal::now(&self.run_id) })?;
        self.take(files, head.as_ref(), size, &lines)?;
        Ok(lines)
    }

    fn take(
        &self,
        files: &mut dyn Files,
        head: Option<&Head>,
        size: u64,
        lines: &Lines,
    ) -> Result<(), MirrorError> {
        let there = lines.view.head.as_ref();
        if lines.lines.is_empty() {
            return match (head, there) {
                (Some(here), Some(there)) if here.seq == there.seq && here != there => {
                    Err(self.different(&format!("line {} is another", here.seq)))
                }
                (Some(here), there) if there.is_none_or(|there| there.seq < here.seq) => {
                    Err(self.different(&format!("the journal has no line {}", here.seq)))
                }
                _ => self.cut(files, size),
            };
        }
        ledger::chain(head.map(of_engine).as_ref(), lines.lines.as_bytes())
            .map_err(|error| self.different(&error.to_string()))?;
        self.cut(files, size)?;
        match size {
            0 => {
                let bytes = lines.lines.as_bytes();
                files.write(&self.path, bytes, &Expect::Any, Durability::Durable, true)?;
            }
            _ => {
                files.append(
                    &self.path,
                    lines.lines.as_bytes(),
                    size,
                    Durability::Durable,
                    true,
                )?;
            }
        }
        Ok(())
    }

    /// Removes a line that a power cut has torn.
    fn cut(&self, files: &mut dyn Files, size: u64) -> Result<(), MirrorError> {
        match files.stat(&self.path) {
            Ok(stat) if stat.size_bytes > size => {}
            Ok(_) => return Ok(()),
            Err(failure) if failure.kind == FailureKind::NotFound => return Ok(()),
            Err(failure) => return Err(failure.into()),
        }
        let (mut bytes, version) = files.read(&self.path, limits::RECORD_BYTES)?;
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        files.write(&self.path, &bytes, &Expect::Version(version), Durability::Durable, true)?;
        Ok(())
    }

    fn different(&self, why: &str) -> MirrorError {
        let (path, run_id) = (self.path.clone(), self.run_id.clone());
        MirrorError::Different { path, run_id, why: why.to_owned() }
    }
}

/// Returns the number and the digest of the last line.
pub(super) fn last_line(lines: &[u8]) -> Option<Head> {
    let body = lines.strip_suffix(b"\n")?;
    let start = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = &body[start..];
    let seq = serde_json::from_slice::<Numbered>(line).ok()?.seq;
    Some(Head { seq, sha256: ledger::sha256(line) })
}

#[derive(serde::Deserialize)]
struct Numbered {
    seq: u64,
}

fn of_engine(head: &Head) -> ledger::Head {
    ledger::Head { seq: head.seq, sha256: head.sha256.clone() }
}
