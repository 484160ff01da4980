//! Files that are ours alone, in folders that hosts read.

use super::EditError;

/// A file of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFile {
    /// Where, absolute.
    pub path: String,
    /// What is in it.
    pub content: String,
    /// The host runs it as a program.
    pub executable: bool,
    /// A text that every version of this file contains and no other file does.
    pub sign: String,
}

impl OwnFile {
    /// A file that is read and not run.
    pub(super) fn text(path: String, content: String, sign: impl Into<String>) -> OwnFile {
        OwnFile { path, content, executable: false, sign: sign.into() }
    }

    /// The file in place of what is there.
    pub(super) fn written(&self, found: Option<&str>) -> Result<String, EditError> {
        match found {
            Some(found) if !self.is_ours(found) => Err(EditError::OtherFile),
            Some(_) | None => Ok(self.content.clone()),
        }
    }

    /// Whether we wrote what is there.
    pub fn is_ours(&self, found: &str) -> bool {
        found.contains(&self.sign)
    }
}
