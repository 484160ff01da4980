//! A file of the workspace, as rw-auto reads it.

use super::lines;

/// What was found at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceFile {
    /// Nothing is there.
    Missing,
    /// Text.
    Readable(String),
    /// Something is there that cannot be read as text: access is denied, it is a folder, it is
    /// not UTF-8, has a NUL byte, or is larger than
    /// [`AUTO_FILE_BYTES`](onloop_syntax::limits::AUTO_FILE_BYTES). For people: why.
    Unreadable(String),
}

/// Whether a file can be used. Nothing more matters of `CONTEXT.md`: only the children
/// follow what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing, or only white space.
    Missing,
    /// Text with something in it.
    Readable,
    /// Something that cannot be read as text.
    Unreadable,
}

impl WorkspaceFile {
    /// The content of a file that could be read.
    pub fn from_bytes(bytes: Vec<u8>) -> WorkspaceFile {
        let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..at]).count();
        if let Some(at) = memchr::memchr(0, &bytes) {
            return WorkspaceFile::Unreadable(format!("line {} has a NUL byte", line(at)));
        }
        if let Err(error) = std::str::from_utf8(&bytes) {
            let line = line(error.valid_up_to());
            return WorkspaceFile::Unreadable(format!("line {line} is not UTF-8"));
        }
        WorkspaceFile::Readable(String::from_utf8(bytes).expect("it was looked at"))
    }

    /// The text, unless there is none or it is blank.
    pub fn text(&self) -> Option<&str> {
        match self {
            WorkspaceFile::Readable(text) if !lines::is_blank(text) => Some(text),
            WorkspaceFile::Readable(_) | WorkspaceFile::Missing | WorkspaceFile::Unreadable(_) => {
                None
            }
        }
    }

    /// Whether the file can be used. A blank file counts as missing.
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
    fn what_cannot_be_read_names_its_line() {
        for (bytes, expected) in
            [(&b"a\nb\0"[..], "line 2 has a NUL byte"), (b"a\n\ncaf\xe9\n", "line 3 is not UTF-8")]
        {
            let read = WorkspaceFile::from_bytes(bytes.to_vec());
            assert_eq!(read, WorkspaceFile::Unreadable(expected.to_owned()));
        }
    }

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
