//! Exit codes.

use serde::{Serialize, Serializer};

use crate::Failure;

/// Exit codes; `docs/exit-codes.md` is generated from their documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, passed, allowed.
    Done,
    /// 1: the work failed: a check failed, a run ended blocked or rejected.
    Failed,
    /// 2: usage, an unknown name, or an invalid file; nothing was changed.
    Usage,
    /// 3: paused for a human; resumable.
    Paused,
    /// 4: the host refused: preflight, git, files, a lock. The message says what to do.
    Refused,
    /// 70: a bug in onloop.
    Bug,
    /// 130: interrupted; the record is saved.
    Interrupted,
    /// A verb with its own table of exit codes: an rw-auto run, see `docs/auto.md`.
    Custom(u8),
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Exit {
        if failure.is_interrupted() { Exit::Interrupted } else { Exit::Refused }
    }
}

impl Serialize for Exit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.code().serialize(serializer)
    }
}

impl Exit {
    /// The number that a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Paused => 3,
            Exit::Refused => 4,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
            Exit::Custom(code) => code,
        }
    }
}
