//! Failures: why an effect did not happen.

use serde::{Deserialize, Serialize};

/// An effect that did not happen, or whose outcome is unknown. Programs branch on `kind`; people
/// read `message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The message of the operating system or git, and its subject.
    pub message: String,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<FailureFix>>,
}

/// What a person can do about a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureFix {
    /// An instruction, in lower case.
    pub text: String,
    /// The command that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Kinds of failure that programs distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The subject does not exist.
    NotFound,
    /// Something exists that must not.
    Exists,
    /// The state differs from the expected one.
    Conflict,
    /// Not permitted, or a read-only file system.
    Denied,
    /// No space left, or a quota is used up.
    Full,
    /// Larger than the limit.
    TooLarge,
    /// A file where a folder was expected, or the reverse; not UTF-8; an impossible path.
    Invalid,
    /// Another process holds it.
    Busy,
    /// The other side is gone: a person, a server or a reader.
    Closed,
    /// The person pressed Ctrl-C.
    Interrupted,
    /// This host cannot do it.
    Unsupported,
    /// The outcome is unknown: it may have happened, in part or as a whole, or a power cut may undo
    /// it. Check before trying again.
    Unknown,
    /// Anything else.
    Other,
}

impl Failure {
    /// A failure of `kind`; `message` explains it to people.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), fix: None }
    }

    /// The person pressed Ctrl-C.
    pub fn interrupted() -> Failure {
        Failure::new(FailureKind::Interrupted, "interrupted")
    }

    /// The failure with what a person can do about it.
    pub fn with_fix(self, text: &str, command: Option<String>) -> Failure {
        Failure { fix: Some(Box::new(FailureFix { text: text.to_owned(), command })), ..self }
    }

    /// The subject does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind == FailureKind::NotFound
    }

    /// Something exists that must not.
    pub fn is_exists(&self) -> bool {
        self.kind == FailureKind::Exists
    }

    /// The state differs from the expected one: another process was faster.
    pub fn is_conflict(&self) -> bool {
        self.kind == FailureKind::Conflict
    }

    /// Another process holds the lock.
    pub fn is_busy(&self) -> bool {
        self.kind == FailureKind::Busy
    }

    /// The other side is gone.
    pub fn is_closed(&self) -> bool {
        self.kind == FailureKind::Closed
    }

    /// The person pressed Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.kind == FailureKind::Interrupted
    }

    /// The outcome is unknown.
    pub fn is_unknown(&self) -> bool {
        self.kind == FailureKind::Unknown
    }
}

/// For callers that expect a file to be missing.
pub trait OptionalExt<T> {
    /// `None` if the subject does not exist.
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
