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
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
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

impl Outcome {
    pub(super) fn try_later(reason: &str) -> Outcome {
        Outcome::TryLater { reason: shortened(reason) }
    }

    pub(super) fn failed(reason: &str) -> Outcome {
        Outcome::Failed { reason: shortened(reason) }
    }

    /// Writes the file in the folder of the run.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(self).expect("an outcome has only string keys");
        crate::private::write(&folder.join(FILE), &bytes)
    }

    /// Reads the file and removes it; `None`: the driver was killed before it wrote one.
    pub(crate) fn take(folder: &Path) -> std::io::Result<Option<Outcome>> {
        let path = folder.join(FILE);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        std::fs::remove_file(&path)?;
        Ok(Some(serde_json::from_slice(&bytes)?))
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
    fn an_outcome_is_taken_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let take = || Outcome::take(folder.path());
        assert_eq!(take().expect("nothing"), None);
        for outcome in [
            Outcome::Released,
            Outcome::Stopped,
            Outcome::try_later("no\nanswer"),
            Outcome::failed(&"x".repeat(REASON_CHARS * 2)),
        ] {
            outcome.write(folder.path()).expect("written");
            assert_eq!(take().expect("an outcome"), Some(outcome));
            assert_eq!(take().expect("nothing"), None);
        }
        std::fs::write(folder.path().join(FILE), "{}").expect("written");
        assert!(take().is_err());
    }
}
