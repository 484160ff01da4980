//! Ledgers that come from another machine.

use super::{Copy, Paths, StateHome, Store, StoreError, enter, prepare_folder};
use onloop_documents::ledger::{self, Ledger};
use onloop_effect::{Durability, Expect, Failure, FailureKind, Io, OptionalExt};
use onloop_run::{Decider, Event};
use onloop_syntax::limits;

/// What the state home has of a run whose ledger comes from elsewhere.
#[derive(Debug)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// Exactly what comes.
    Same,
    /// The beginning of what comes.
    Beginning,
    /// More than what comes.
    More,
    /// Something else from this line on.
    Other {
        /// Number of the first line that differs.
        line: u64,
    },
}

/// How the ledger that is here stands to another one, by their whole lines.
pub fn compare(here: &[u8], there: &[u8]) -> Known {
    let (here, there) = (whole(here), whole(there));
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    match (here.strip_prefix(there), there.strip_prefix(here)) {
        (Some([]), _) => Known::Same,
        (Some(_), _) => Known::More,
        (None, Some(_)) => Known::Beginning,
        (None, None) => {
            let same = here.iter().zip(there).take_while(|(a, b)| a == b).count();
            Known::Other { line: lines(&here[..same]) + 1 }
        }
    }
}

/// The whole lines at the beginning; behind them is what a power cut has torn.
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &bytes[..end]
}

/// Reads a ledger from elsewhere as the one of run `id`.
///
/// # Errors
///
/// Why it is none, as a clause.
pub fn read_arrival(id: &str, bytes: &[u8]) -> Result<Ledger, StoreError> {
    let unreadable = |why: String| StoreError::Unreadable(why);
    let read = ledger::read(bytes, None).map_err(|error| unreadable(error.to_string()))?;
    if read.whole_bytes != bytes.len() {
        return Err(unreadable("its last line is torn".to_owned()));
    }
    match read.run.id == id {
        true => Ok(read),
        false => {
            let other = onloop_syntax::text::one_line(&read.run.id);
            Err(unreadable(format!("it is the ledger of run `{other}`")))
        }
    }
}

impl Store {
    /// What is known here of run `id`, whose ledger `there` comes from elsewhere.
    ///
    /// # Errors
    ///
    /// Those of the state home.
    pub async fn known(io: &Io, id: &str, there: &[u8]) -> Result<Known, StoreError> {
        let path = Paths::new(&StateHome::of(io)?, "", id).ledger();
        let here = io.read(&path, limits::RECORD_BYTES).await.optional()?;
        Ok(here.map_or(Known::Nothing, |(here, _)| compare(&here, there)))
    }

    /// Takes over the ledger of run `id` that came from elsewhere and was read whole, where nothing
    /// is known here but its beginning.
    ///
    /// # Errors
    ///
    /// `Conflict` where something else is known by now.
    pub(crate) async fn receive(io: &Io, id: &str, there: &[u8]) -> Result<Store, StoreError> {
        let paths = Paths::new(&StateHome::of(io)?, "", id);
        io.lock(&paths.record_lock(), limits::LOCK_WAIT_MS).await?;
        let written = write(io, &paths.ledger(), there).await;
        let unlocked = io.unlock(&paths.record_lock()).await;
        written?;
        unlocked?;
        Store::open(io, id).await
    }

    /// The run continues in the folder `root` of the repository around `started_in`, to which `by`
    /// brought it without the checkpoints `lost`, durably.
    ///
    /// # Errors
    ///
    /// As [`Store::commit`].
    pub(crate) async fn arrive(
        mut self,
        root: &str,
        started_in: &str,
        lost: Vec<String>,
        by: Decider,
    ) -> Result<Store, StoreError> {
        for folder in [root, started_in] {
            self.home.demand_outside(&self.io, folder).await?;
        }
        prepare_folder(&self.io, root).await?;
        let event = Event::RunMoved {
            execution_root: root.to_owned(),
            checkout: true,
            started_in: Some(started_in.to_owned()),
            lost_checkpoints: lost,
        };
        self.apply_by(event, Some(by)).map_err(StoreError::Overtaken)?;
        self.paths = Paths::new(&self.home, root, &self.run.id);
        (self.copy, self.copy_sha256) = (Copy::Unseen, None);
        enter(&self.io, &self.home, &self.run).await?;
        self.commit().await?;
        Ok(self)
    }
}

async fn write(io: &Io, path: &str, there: &[u8]) -> Result<(), StoreError> {
    let expect = match io.read(path, limits::RECORD_BYTES).await.optional()? {
        None => Expect::Absent,
        Some((here, version)) => match compare(&here, there) {
            Known::Same => return Ok(()),
            Known::Beginning => Expect::Version(version),
            Known::Nothing | Known::More | Known::Other { .. } => {
                let message = format!("{path} has changed since it was looked at");
                return Err(Failure::new(FailureKind::Conflict, message).into());
            }
        },
    };
    io.write(path, there.to_vec(), expect, Durability::Durable).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledgers_are_compared_by_their_whole_lines() {
        for (here, there, expected) in [
            ("a\nb\n", "a\nb\n", "Same"),
            ("a\nb\nto", "a\nb\n", "Same"),
            ("a\n", "a\nb\n", "Beginning"),
            ("a\nb", "a\nb\n", "Beginning"),
            ("", "a\n", "Beginning"),
            ("a\nb\nc\n", "a\n", "More"),
            ("a\nb\nc\n", "a\nb\nd\n", "Other { line: 3 }"),
            ("x\n", "y\n", "Other { line: 1 }"),
            ("a\nb\n", "a\nbc\n", "Other { line: 2 }"),
        ] {
            let found = compare(here.as_bytes(), there.as_bytes());
            assert_eq!(format!("{found:?}"), expected, "{here:?} {there:?}");
        }
    }
}
