//! Files stay short enough to be read in one sitting; clippy measures functions.

use crate::sources::SourceFile;

/// A file of more lines is warned about.
const WARNING_FILE_LINES: usize = 600;
/// A file of more lines is refused.
const REFUSE_FILE_LINES: usize = 900;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Worth a second look.
    pub(crate) warnings: Vec<String>,
    /// Must change.
    pub(crate) faults: Vec<String>,
}

/// Measures every file.
pub(crate) fn check(files: &[SourceFile]) -> Found {
    let mut found = Found::default();
    for file in files {
        let lines = file.text.lines().count();
        if lines > REFUSE_FILE_LINES {
            found.faults.push(format!("{}: {lines} lines; split it", file.path));
        } else if lines > WARNING_FILE_LINES {
            found.warnings.push(format!("{}: {lines} lines", file.path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: String) -> Found {
        check(&[SourceFile { path: "a.rs".to_owned(), text }])
    }

    #[test]
    fn long_files_are_remarked_upon_and_longer_ones_refused() {
        assert_eq!(found("\n".repeat(600)), Found::default());
        assert_eq!(found("\n".repeat(601)).warnings, ["a.rs: 601 lines"]);
        assert_eq!(found("\n".repeat(900)).faults, [""; 0]);
        assert_eq!(found("\n".repeat(901)).faults, ["a.rs: 901 lines; split it"]);
    }
}
