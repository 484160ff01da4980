//! Why an effect did not happen.

use serde::{Deserialize, Serialize};

/// An effect that did not happen, or of which nobody knows whether it did. Programs branch on
/// `kind`; people read `message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// What the operating system or git said, and about what.
    pub message: String,
}

/// Kinds of failure that programs distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Nothing is there.
    NotFound,
    /// Something is there that should not be.
    Exists,
    /// Something else is there than expected.
    Conflict,
    /// Not permitted, or a read-only file system.
    Denied,
    /// No space left, or a quota is used up.
    Full,
    /// Larger than the limit.
    TooLarge,
    /// A file where a folder was expected, or the reverse; not UTF-8; an impossible path.
    Invalid,
    /// Somebody else holds it.
    Busy,
    /// Nobody is there to answer.
    Closed,
    /// The person interrupted (Ctrl-C).
    Interrupted,
    /// This host cannot do it.
    Unsupported,
    /// It may have happened, in part or as a whole, or be undone by a power cut. Look before it is
    /// done again.
    Unknown,
    /// Anything else.
    Other,
}

impl Failure {
    /// A failure of `kind`; `message` explains it to people.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }

    /// Nothing is there.
    pub fn is_not_found(&self) -> bool {
        self.kind == FailureKind::NotFound
    }

    /// Something is there that should not be.
    pub fn is_exists(&self) -> bool {
        self.kind == FailureKind::Exists
    }

    /// Something else is there than expected: another process was faster.
    pub fn is_conflict(&self) -> bool {
        self.kind == FailureKind::Conflict
    }

    /// Somebody else holds the lock.
    pub fn is_busy(&self) -> bool {
        self.kind == FailureKind::Busy
    }

    /// Nobody is there to answer.
    pub fn is_closed(&self) -> bool {
        self.kind == FailureKind::Closed
    }

    /// The person pressed Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.kind == FailureKind::Interrupted
    }
}

/// For callers that expect a file to be missing.
pub trait OptionalExt<T> {
    /// `None` where nothing is there.
    ///
    /// # Errors
    ///
    /// Every failure but [`FailureKind::NotFound`].
    fn optional(self) -> Result<Option<T>, Failure>;
}

impl<T> OptionalExt<T> for Result<T, Failure> {
    fn optional(self) -> Result<Option<T>, Failure> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
