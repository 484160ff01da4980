//! What there is to warn about a check that passed: a person may want to know it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something to warn about the result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// The run changed a file that the check names.
    CheckChanged(ChangedFile),
    /// Whether it did is not known.
    CheckUnseen {
        /// Why, on one line.
        reason: String,
    },
    /// The check passed before the agent had done anything.
    PassedBefore,
}

/// A file that was there when the run began and is another now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path relative to the top folder of the checkout; on one line.
    pub path: String,
    /// The steps in which it changed, ascending; none: it is not known in which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// How many lines of it changed; `None`: it is no text, or too much of it changed.
    #[serde(flatten)]
    pub lines: Option<ChangedLines>,
}

/// How many lines changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedLines {
    /// Lines that were not there before.
    pub added: u64,
    /// Lines that are not there any more.
    pub removed: u64,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::CheckChanged(ChangedFile { path, steps, lines }) => {
                write!(f, "{path}, which it names, was changed")?;
                let steps: Vec<String> = steps.iter().map(u32::to_string).collect();
                match steps.as_slice() {
                    [] => {}
                    [step] => write!(f, " in step {step}")?,
                    [before @ .., last] => write!(f, " in steps {} and {last}", before.join(", "))?,
                }
                match lines {
                    Some(ChangedLines { added, removed }) => write!(f, " (+{added} -{removed})"),
                    None => Ok(()),
                }
            }
            Warning::CheckUnseen { reason } => {
                write!(f, "whether files that it names were changed is not known: {reason}")
            }
            Warning::PassedBefore => f.write_str(
                "it passed before the agent ran, so it does not show that the step was done",
            ),
        }
    }
}

/// What there is to warn about one check of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckWarnings {
    /// Number of the step, from 1.
    pub step: u32,
    /// Which of its checks, from 0.
    pub check: u32,
    /// All of it.
    pub warnings: Vec<Warning>,
}

/// Counts the lines of a patch of one file, as git writes one for people; `None`: it shows none.
pub fn changed_lines(patch: &str) -> Option<ChangedLines> {
    let mut lines = patch.lines().skip_while(|line| !line.starts_with("@@ ")).peekable();
    lines.peek()?;
    let mut counted = ChangedLines::default();
    for line in lines {
        match line.as_bytes().first() {
            Some(b'+') => counted.added += 1,
            Some(b'-') => counted.removed += 1,
            Some(_) | None => {}
        }
    }
    Some(counted)
}

/// Whether a patch of one file, as git writes one for people, begins the file.
pub fn begins_file(patch: &str) -> bool {
    let head = patch.lines().take_while(|line| !line.starts_with("@@ "));
    head.skip(1).any(|line| line.starts_with("new file mode "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_says_what_changed_and_when() {
        let lines = Some(ChangedLines { added: 1, removed: 12 });
        let table = [
            (vec![1], lines, "ci/check.sh, which it names, was changed in step 1 (+1 -12)"),
            (vec![1, 3, 4], None, "ci/check.sh, which it names, was changed in steps 1, 3 and 4"),
            (vec![], lines, "ci/check.sh, which it names, was changed (+1 -12)"),
        ];
        for (steps, lines, expected) in table {
            let path = "ci/check.sh".to_owned();
            let warning = Warning::CheckChanged(ChangedFile { path, steps, lines });
            assert_eq!(warning.to_string(), expected);
        }
    }

    #[test]
    fn lines_of_a_patch_are_counted_and_not_those_of_its_head() {
        let patch = "diff --git a/c b/c\nindex 1..2 100644\n--- a/c\n+++ b/c\n@@ -1,3 +1,2 @@\n \
                     same\n--- gone\n-gone\n++++ new\n";
        let expected = ChangedLines { added: 1, removed: 2 };
        assert_eq!(changed_lines(patch), Some(expected));
        assert_eq!(changed_lines("diff --git a/c b/c\nBinary files a/c and b/c differ\n"), None);
        assert_eq!(changed_lines(""), None);
        assert!(!begins_file(patch));
        assert!(begins_file("diff --git a/c b/c\nnew file mode 100755\nindex 0..1\n"));
        assert!(!begins_file("diff --git a/c b/c\n@@ -1 +1 @@\n-old\n+new file mode 100755\n"));
    }
}
