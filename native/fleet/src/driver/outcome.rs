//! The result of a driver for its worker: a file beside its task.

use std::io::ErrorKind;
use std::path::Path;

use onloop_core::text;
use serde::{Deserialize, Serialize};

/// Name of the file in the folder of the run.
const FILE: &str = "outcome.json";
/// Most characters of a reason.
const REASON_CHARS: usize = 200;

/// The result of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// The driver has reported the state of the run.
    Released,
    /// It stopped on request.
    Stopped,
    /// A machine did not answer, so the run may continue later.
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
    /// The lease of the driver, because an earlier driver may still be ending.
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

    /// Writes the file to the folder of the run.
    pub(super) fn write(&self, folder: &Path, epoch: u64) -> std::io::Result<()> {
        let file = OutcomeFile { epoch, outcome: self.clone() };
        let bytes = serde_json::to_vec(&file).expect("an outcome has only string keys");
        crate::private::write(&folder.join(FILE), &bytes)
    }

    /// Reads the outcome of the driver with the lease `epoch`; `None`: the driver was killed before it
    /// wrote one.
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
