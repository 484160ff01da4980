//! What requests and outcomes say of files.

use serde::{Deserialize, Serialize, Serializer};

use super::scalar::millis;
use onloop_syntax::time::Timestamp;

/// A file and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileSize {
    /// The file.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
}

/// The expected state of a path before a write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Any.
    Any,
    /// Absent; otherwise the failure is `Exists`.
    Absent,
    /// The version of an earlier reply; otherwise the failure is `Conflict`.
    Version(Version),
}

/// Names one content of one file at one time. Opaque; the host makes and compares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version(pub String);

/// Whether a write must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The host syncs file and folder before the reply.
    Durable,
    /// A power cut may restore the old file: for documents that onloop can render again, or that a
    /// power cut invalidates.
    Relaxed,
}

impl Serialize for Durability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self == Durability::Durable).serialize(serializer)
    }
}

/// Facts about a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// File, folder or something else.
    pub kind: FileKind,
    /// Size in bytes; 0 for folders.
    pub size_bytes: u64,
    /// The time of the last content change.
    #[serde(rename = "modified_ms", with = "millis")]
    pub modified: Timestamp,
    /// Whether the file is executable.
    pub executable: bool,
    /// Whether a user other than this one and the system's own accounts owns it. Unknown, and
    /// `false`, on Windows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, a device or a pipe.
    Other,
}
