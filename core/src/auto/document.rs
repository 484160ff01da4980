//! What was found at a path that rw-auto looks at.

use super::lines;

/// A file as rw-auto sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceFile {
    /// Nothing is there.
    Missing,
    /// Text.
    Readable(String),
    /// Something is there that is no text: access denied, a folder, not UTF-8, a NUL byte,
    /// larger than [`AUTO_FILE_BYTES`](crate::limits::AUTO_FILE_BYTES). For people: why.
    Unreadable(String),
}

/// Whether a file can be used. Of `CONTEXT.md` this is all that matters: what the language
/// policy in it says is the children's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing, or nothing but white space.
    Missing,
    /// Text with something in it.
    Readable,
    /// Something that is no text.
    Unreadable,
}

impl WorkspaceFile {
    /// The content of a file that could be read.
    pub fn from_bytes(bytes: Vec<u8>) -> WorkspaceFile {
        if memchr::memchr(0, &bytes).is_some() {
            return WorkspaceFile::Unreadable("it contains a NUL byte".to_owned());
        }
        match String::from_utf8(bytes) {
            Ok(text) => WorkspaceFile::Readable(text),
            Err(_) => WorkspaceFile::Unreadable("it is not UTF-8".to_owned()),
        }
    }

    /// The text, if there is one with something in it.
    pub fn text(&self) -> Option<&str> {
        match self {
            WorkspaceFile::Readable(text) if !lines::is_blank(text) => Some(text),
            WorkspaceFile::Readable(_) | WorkspaceFile::Missing | WorkspaceFile::Unreadable(_) => {
                None
            }
        }
    }

    /// Whether the file can be used. A blank file is as good as none.
    pub fn presence(&self) -> Presence {
        match self {
            WorkspaceFile::Missing => Presence::Missing,
            WorkspaceFile::Readable(text) if lines::is_blank(text) => Presence::Missing,
            WorkspaceFile::Readable(_) => Presence::Readable,
            WorkspaceFile::Unreadable(_) => Presence::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_or_they_are_not() {
        for (bytes, expected) in [
            (&b"# Context\n"[..], Presence::Readable),
            (b"", Presence::Missing),
            (b" \r\n\t", Presence::Missing),
            ("\u{feff}\n".as_bytes(), Presence::Missing),
            (b"a\0b", Presence::Unreadable),
            (b"\xff\xfe#\0", Presence::Unreadable),
            (b"caf\xe9", Presence::Unreadable),
        ] {
            assert_eq!(WorkspaceFile::from_bytes(bytes.to_vec()).presence(), expected, "{bytes:?}");
        }
    }
}
