//! Bytes inside a request or an outcome.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Content of a file, a stream or a body. In a document it is the position of an attachment of the
/// [`Message`](super::wire::Message), which carries the bytes.
#[derive(Clone, Default)]
pub struct Bytes {
    content: Vec<u8>,
    /// Valid only while a message is written or read.
    position: usize,
}

impl Bytes {
    /// Moves the content to the end of `attachments`.
    pub(super) fn detach(&mut self, attachments: &mut Vec<Vec<u8>>) {
        self.position = attachments.len();
        attachments.push(std::mem::take(&mut self.content));
    }

    /// Takes the content out of the attachment that the document names; `None` without such an
    /// attachment.
    pub(super) fn attach(&mut self, attachments: &mut [Vec<u8>]) -> Option<()> {
        self.content = std::mem::take(attachments.get_mut(self.position)?);
        Some(())
    }

    /// The position that the document names.
    pub(super) fn position(&self) -> usize {
        self.position
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.content
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(content: Vec<u8>) -> Bytes {
        Bytes { content, position: 0 }
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Bytes {
        text.as_bytes().to_vec().into()
    }
}

impl<const N: usize> PartialEq<[u8; N]> for Bytes {
    fn eq(&self, other: &[u8; N]) -> bool {
        self.content == other
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Vec<u8> {
        bytes.content
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.content == other.content
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.content.fmt(f)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.position.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        Ok(Bytes { content: Vec::new(), position: usize::deserialize(deserializer)? })
    }
}
