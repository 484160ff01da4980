//! What a driver tells its worker when it ends: a file beside its task.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use onloop::host::{Meanwhile, Progress, Terminal};
use onloop_core::effect::{Failure, InputUnit, Say};
use onloop_core::text;
use serde::{Deserialize, Serialize};

/// Name of the file in the folder of the run.
const FILE: &str = "outcome.json";
/// Most characters of a reason.
const REASON_CHARS: usize = 200;

/// How a driver ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// It has told the server how the run stands.
    Released,
    /// It stopped because it was asked to.
    Stopped,
    /// A machine did not answer; the run may continue later.
    TryLater {
        /// What failed, on one line.
        reason: String,
    },
    /// A person has to look at the run.
    Failed {
        /// What failed, on one line.
        reason: String,
    },
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeFile {
    /// The lease of the driver: a driver before it may still be ending.
    epoch: u64,
    outcome: Outcome,
}

impl Outcome {
    pub(super) fn try_later(reason: &str) -> Outcome {
        Outcome::TryLater { reason: shortened(reason) }
    }

    pub(super) fn failed(reason: &str) -> Outcome {
        Outcome::Failed { reason: shortened(reason) }
    }

    /// Writes the file in the folder of the run.
    pub(super) fn write(&self, folder: &Path, epoch: u64) -> std::io::Result<()> {
        let file = OutcomeFile { epoch, outcome: self.clone() };
        let bytes = serde_json::to_vec(&file).expect("an outcome has only string keys");
        crate::private::write(&folder.join(FILE), &bytes)
    }

    /// Reads the outcome of the driver with the lease `epoch`; `None`: it was killed before it wrote one.
    pub(crate) fn read(folder: &Path, epoch: u64) -> std::io::Result<Option<Outcome>> {
        let bytes = match std::fs::read(folder.join(FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let file: OutcomeFile = serde_json::from_slice(&bytes)?;
        Ok((file.epoch == epoch).then_some(file.outcome))
    }
}

fn shortened(reason: &str) -> String {
    text::ellipsis(&text::one_line(reason), REASON_CHARS)
}

/// The last note that the program wrote for people: where it fails, that note says why.
#[derive(Clone, Debug, Default)]
pub(super) struct LastNote(Arc<Mutex<Option<String>>>);

impl LastNote {
    pub(super) fn remember(&self, note: &str) {
        let plain = anstream::adapter::strip_str(note).to_string();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(plain);
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A terminal that remembers the last note.
pub(super) struct NotingTerminal {
    pub(super) inner: Box<dyn Terminal>,
    pub(super) last: LastNote,
}

impl Terminal for NotingTerminal {
    fn say(&mut self, say: &Say) -> Result<(), Failure> {
        if let Say::Note(note) = say {
            self.last.remember(note);
        }
        self.inner.say(say)
    }

    fn ask(&mut self, question: &str) -> Result<String, Failure> {
        self.inner.ask(question)
    }

    fn read_input(
        &mut self,
        limit_bytes: u64,
        wait_ms: Option<u64>,
        unit: InputUnit,
    ) -> Result<Option<Vec<u8>>, Failure> {
        self.inner.read_input(limit_bytes, wait_ms, unit)
    }

    fn meanwhile(&mut self, words: &'static str) -> Meanwhile {
        self.inner.meanwhile(words)
    }

    fn progress(&mut self, label: Option<&str>, elapsed: Duration) -> Box<dyn Progress + '_> {
        self.inner.progress(label, elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_belongs_to_one_lease() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |epoch| Outcome::read(folder.path(), epoch);
        assert_eq!(read(1).expect("nothing"), None);
        for outcome in [
            Outcome::Released,
            Outcome::Stopped,
            Outcome::try_later("no\nanswer"),
            Outcome::failed(&"x".repeat(REASON_CHARS * 2)),
        ] {
            outcome.write(folder.path(), 1).expect("written");
            assert_eq!(read(1).expect("an outcome"), Some(outcome));
            assert_eq!(read(2).expect("nothing"), None, "that was an earlier driver's");
        }
        std::fs::write(folder.path().join(FILE), "{}").expect("written");
        assert!(read(1).is_err());
    }
}
