//! `head.json` beside a ledger: which of its lines was written last, and which copy of the record.
//!
//! It may be lost at any time. One that is damaged says nothing, so that a fault in this file never
//! speaks against a ledger that is sound.

use serde::{Deserialize, Serialize};

use super::ledger::{Head, sha256};

/// What was written last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWritten {
    /// The last line of the ledger.
    #[serde(flatten)]
    pub head: Head,
    /// Digest of the copy in the worktree, where one was written.
    pub copy_sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct HeadDocument {
    #[serde(flatten)]
    last: LastWritten,
    /// SHA-256 of the values above, with a space between them.
    checksum: String,
}

/// The bytes of the file.
pub fn write(last: &LastWritten) -> Vec<u8> {
    let document = HeadDocument { last: last.clone(), checksum: checksum(last) };
    serde_json::to_vec(&document).expect("a document has only string keys")
}

/// Reads the file; `None` when it is damaged.
pub fn read(bytes: &[u8]) -> Option<LastWritten> {
    let document: HeadDocument = serde_json::from_slice(bytes).ok()?;
    (checksum(&document.last) == document.checksum).then_some(document.last)
}

fn checksum(last: &LastWritten) -> String {
    let LastWritten { head: Head { seq, sha256: line }, copy_sha256 } = last;
    sha256(format!("{seq} {line} {}", copy_sha256.as_deref().unwrap_or_default()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_says_nothing() {
        for copy_sha256 in [None, Some(sha256(b"copy"))] {
            let last = LastWritten { head: Head { seq: 12, sha256: sha256(b"line") }, copy_sha256 };
            let bytes = write(&last);
            assert_eq!(read(&bytes), Some(last.clone()));
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length]), None, "{length} bytes");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << (at % 8);
                // White space and the like may still say the same.
                let found = read(&damaged).filter(|found| *found != last);
                assert_eq!(found, None, "byte {at}");
            }
        }
        let line = sha256(b"line");
        let old = format!(r#"{{"seq":12,"sha256":"{line}","copy_sha256":null}}"#);
        assert_eq!(read(old.as_bytes()), None);
    }
}
