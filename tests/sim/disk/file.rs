//! One file: what is in it, and what of that a power cut leaves.

use onloop_core::effect::{Durability, Version};
use onloop_core::time::Timestamp;

/// A file. It is changed in place: a ledger gets a line hundreds of times in a life, and is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    bytes: Vec<u8>,
    durable: Durable,
    version: u64,
    modified: Timestamp,
    pub(super) executable: bool,
}

/// What a power cut brings back.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Durable {
    /// The file as it is.
    Whole,
    /// What it held when it was last durable; `None`: it was not there.
    Former(Option<Vec<u8>>),
}

impl File {
    pub(super) fn new(
        bytes: &[u8],
        durability: Durability,
        version: u64,
        modified: Timestamp,
    ) -> File {
        let durable = match durability {
            Durability::Durable => Durable::Whole,
            Durability::Relaxed => Durable::Former(None),
        };
        File { bytes: bytes.to_vec(), durable, version, modified, executable: false }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn version(&self) -> Version {
        Version(format!("v{}", self.version))
    }

    pub(super) fn modified(&self) -> Timestamp {
        self.modified
    }

    pub(super) fn rewrite(
        &mut self,
        bytes: &[u8],
        durability: Durability,
        version: u64,
        modified: Timestamp,
    ) -> Version {
        self.change(durability, version, modified);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.version()
    }

    pub(super) fn append(
        &mut self,
        bytes: &[u8],
        durability: Durability,
        version: u64,
        modified: Timestamp,
    ) {
        self.change(durability, version, modified);
        self.bytes.extend_from_slice(bytes);
    }

    /// Replaces as many bytes from `start` on as `new` has.
    pub(super) fn patch(&mut self, start: usize, new: &[u8], version: u64, modified: Timestamp) {
        self.change(Durability::Relaxed, version, modified);
        self.bytes[start..start + new.len()].copy_from_slice(new);
    }

    /// The power goes; `false`: the file is not there any more.
    pub(super) fn lose_relaxed(&mut self) -> bool {
        match std::mem::replace(&mut self.durable, Durable::Whole) {
            Durable::Whole => true,
            Durable::Former(Some(bytes)) => {
                self.bytes = bytes;
                true
            }
            Durable::Former(None) => false,
        }
    }

    /// Another content is about to be written.
    fn change(&mut self, durability: Durability, version: u64, modified: Timestamp) {
        match (durability, &self.durable) {
            (Durability::Durable, _) => self.durable = Durable::Whole,
            (Durability::Relaxed, Durable::Whole) => {
                self.durable = Durable::Former(Some(self.bytes.clone()));
            }
            (Durability::Relaxed, Durable::Former(_)) => {}
        }
        self.version = version;
        self.modified = modified;
    }
}
