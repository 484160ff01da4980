//! What there is to warn about a check that passed: a person may want to know it.

use std::fmt;

use serde::{Deserialize, Serialize};

use onloop_syntax::form::is_default;
use onloop_syntax::text::{self, words};

/// Something to warn about the result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// The run changed a file that decides what the check checks.
    CheckChanged(ChangedFile),
    /// Whether it did is not known.
    CheckUnseen {
        /// Why, on one line.
        reason: String,
    },
    /// The check passed before the agent had done anything.
    PassedBefore,
    /// Its test runner ended without the lines in which it says how many tests ran.
    NoTestCount {
        /// The runner.
        runner: String,
    },
    /// Its test runner said that tests failed, and the check passed.
    FailuresReported {
        /// How many.
        failed: u64,
    },
    /// Failures of its command, or of a part of it, do not fail the check.
    FailuresIgnored {
        /// Which, on one line.
        reason: String,
    },
}

impl Warning {
    /// The changed file that it is about.
    pub fn changed_file(&self) -> Option<&ChangedFile> {
        match self {
            Warning::CheckChanged(file) => Some(file),
            Warning::CheckUnseen { .. }
            | Warning::PassedBefore
            | Warning::NoTestCount { .. }
            | Warning::FailuresReported { .. }
            | Warning::FailuresIgnored { .. } => None,
        }
    }
}

/// A file that was there when the run began and is another now, or is new, or is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path relative to the top folder of the checkout; on one line.
    pub path: String,
    /// How it is known that the check depends on it.
    pub found: FoundBy,
    /// What the run did to it.
    pub change: FileChange,
    /// Whether it is new and hides a module or a tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hides: bool,
    /// Whether every step that changed it was told to, by `may_change`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expected: bool,
    /// The steps in which it changed, ascending; none: it is not known in which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// How many lines of it changed; `None`: it is no text, or too much of it changed.
    #[serde(flatten)]
    pub lines: Option<ChangedLines>,
}

words! {
    /// How it is known that a check depends on a file.
    pub enum FoundBy {
        /// The file was opened while the check ran.
        Opened = "opened",
        /// The check names it, or a program of the check takes its rules from it.
        Named = "named",
    }
}

words! {
    /// What a run did to a file.
    pub enum FileChange {
        /// It is another now.
        Changed = "changed",
        /// It is new.
        Created = "created",
        /// It is gone.
        Removed = "removed",
    }
}

impl FileChange {
    /// What a patch of one file, as git writes one for people, does to the file.
    pub fn of_patch(patch: &str) -> FileChange {
        // A file that became a link, or the other way round, is removed and created.
        if patch.contains("\ndiff --git ") {
            return FileChange::Changed;
        }
        let head = patch.lines().take_while(|line| !line.starts_with("@@ ")).skip(1);
        let mut found = head.filter_map(|line| match line {
            _ if line.starts_with("new file mode ") => Some(FileChange::Created),
            _ if line.starts_with("deleted file mode ") => Some(FileChange::Removed),
            _ => None,
        });
        found.next().unwrap_or(FileChange::Changed)
    }
}

/// The files that a check opened and that the run changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedInputs {
    /// The first of them, at most [`limits::CHECK_INPUTS`](onloop_syntax::limits::CHECK_INPUTS).
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
}

impl fmt::Display for ChangedInputs {
    /// `src/a.rs (step 1), src/b.rs (steps 1 and 2) and 3 more`, for the end of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let shown = self.files.iter().take(SHOWN).map(|file| match file.steps.as_slice() {
            [] => file.path.clone(),
            steps => format!("{} ({})", file.path, step_words(steps)),
        });
        f.write_str(&shown.collect::<Vec<_>>().join(", "))?;
        match self.files.len().saturating_sub(SHOWN) as u64 + self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// `step 1`, `steps 1 and 3`.
fn step_words(steps: &[u32]) -> String {
    let words: Vec<String> = steps.iter().map(u32::to_string).collect();
    match words.as_slice() {
        [before @ .., last] if !before.is_empty() => {
            format!("steps {} and {last}", before.join(", "))
        }
        words => format!("step {}", words.concat()),
    }
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
            Warning::CheckChanged(file) => {
                let how = match (file.found, file.change) {
                    (FoundBy::Named, _) => "the check names",
                    (FoundBy::Opened, FileChange::Removed) => "the check reads the folder of",
                    (FoundBy::Opened, _) => "the check opened",
                };
                write!(f, "{how} {}, {}", file.path, file.change.as_str())?;
                if !file.steps.is_empty() {
                    write!(f, " in {}", step_words(&file.steps))?;
                }
                if let Some(ChangedLines { added, removed }) = file.lines {
                    write!(f, " (+{added} -{removed})")?;
                }
                match file.hides {
                    true => f.write_str("; it hides a module or tool of that name"),
                    false => Ok(()),
                }
            }
            Warning::CheckUnseen { reason } => {
                write!(f, "whether files that it depends on were changed is not known: {reason}")
            }
            Warning::PassedBefore => f.write_str(
                "it passed before the agent ran, so it does not show that the step was done",
            ),
            Warning::NoTestCount { runner } => {
                write!(f, "`{runner}` ended without saying how many tests ran")
            }
            Warning::FailuresReported { failed } => {
                let failures = text::counted(*failed, "failure");
                write!(f, "its test runner reported {failures}, and the check passed")
            }
            Warning::FailuresIgnored { reason } => f.write_str(reason),
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
    /// As [`CheckResult::inputs`](super::event::CheckResult::inputs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<ChangedInputs>,
}

/// Counts the lines of a patch of one file, as git writes one for people; `None`: it shows none.
pub fn changed_lines(patch: &str) -> Option<ChangedLines> {
    let mut counted: Option<ChangedLines> = None;
    let mut in_head = true;
    for line in patch.lines() {
        match line.as_bytes().first() {
            Some(b'@') => {
                in_head = false;
                counted.get_or_insert_default();
            }
            Some(b'd') => in_head = true,
            Some(b'+') if !in_head => counted.get_or_insert_default().added += 1,
            Some(b'-') if !in_head => counted.get_or_insert_default().removed += 1,
            Some(_) | None => {}
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_says_what_changed_and_when() {
        use FileChange::{Changed, Created, Removed};
        use FoundBy::{Named, Opened};
        let lines = Some(ChangedLines { added: 1, removed: 12 });
        let table = [
            (
                Named,
                Changed,
                vec![1],
                lines,
                "the check names ci/check.sh, changed in step 1 (+1 -12)",
            ),
            (
                Named,
                Changed,
                vec![1, 3, 4],
                None,
                "the check names ci/check.sh, changed in steps 1, 3 and 4",
            ),
            (Opened, Changed, vec![], lines, "the check opened ci/check.sh, changed (+1 -12)"),
            (Opened, Created, vec![2], None, "the check opened ci/check.sh, created in step 2"),
            (
                Opened,
                Removed,
                vec![2, 3],
                None,
                "the check reads the folder of ci/check.sh, removed in steps 2 and 3",
            ),
        ];
        for (found, change, steps, lines, expected) in table {
            let file = ChangedFile { found, change, steps, lines, ..file("ci/check.sh") };
            let warning = Warning::CheckChanged(file);
            assert_eq!(warning.to_string(), expected);
        }
        let hides = ChangedFile { hides: true, change: Created, ..file("json.py") };
        assert_eq!(
            Warning::CheckChanged(hides).to_string(),
            "the check opened json.py, created; it hides a module or tool of that name"
        );
    }

    fn file(path: &str) -> ChangedFile {
        ChangedFile {
            path: path.to_owned(),
            found: FoundBy::Opened,
            change: FileChange::Changed,
            hides: false,
            expected: false,
            steps: Vec::new(),
            lines: None,
        }
    }

    #[test]
    fn a_list_of_inputs_is_short_where_people_read_it() {
        let mut inputs = ChangedInputs { files: vec![file("a.rs")], more: 0 };
        assert_eq!(inputs.to_string(), "a.rs");
        inputs.files[0].steps = vec![1, 2];
        inputs.files.extend(["b", "c", "d", "e", "f"].map(file));
        inputs.more = 7;
        assert_eq!(inputs.to_string(), "a.rs (steps 1 and 2), b, c, d, e and 8 more");
    }

    #[test]
    fn lines_of_a_patch_are_counted_and_not_those_of_its_head() {
        let patch = "diff --git a/c b/c\nindex 1..2 100644\n--- a/c\n+++ b/c\n@@ -1,3 +1,2 @@\n \
                     same\n--- gone\n-gone\n++++ new\n";
        let expected = ChangedLines { added: 1, removed: 2 };
        assert_eq!(changed_lines(patch), Some(expected));
        assert_eq!(changed_lines("diff --git a/c b/c\nBinary files a/c and b/c differ\n"), None);
        assert_eq!(changed_lines(""), None);
        assert_eq!(FileChange::of_patch(patch), FileChange::Changed);
        let created = "diff --git a/c b/c\nnew file mode 100755\nindex 0..1\n";
        assert_eq!(FileChange::of_patch(created), FileChange::Created);
        let removed = "diff --git a/c b/c\ndeleted file mode 100644\nindex 1..0\n";
        assert_eq!(FileChange::of_patch(removed), FileChange::Removed);
        let linked = "diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n\
                      @@ -1 +0,0 @@\n-x\ndiff --git a/c b/c\nnew file mode 120000\n--- /dev/null\n\
                      +++ b/c\n@@ -0,0 +1 @@\n+../x\n\\ No newline at end of file\n";
        assert_eq!(FileChange::of_patch(linked), FileChange::Changed);
        let expected = ChangedLines { added: 1, removed: 1 };
        assert_eq!(changed_lines(linked), Some(expected));
        let quoted = "diff --git a/c b/c\n@@ -1 +1 @@\n-old\n+new file mode 100755\n";
        assert_eq!(FileChange::of_patch(quoted), FileChange::Changed);
    }
}
