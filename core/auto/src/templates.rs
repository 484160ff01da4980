//! The files that a new workspace starts with.

use super::{CONTEXT_PATH, PROGRESS_PATH, RUNTIME_FOLDER};

/// Path and content of every file that a new workspace starts with.
pub const FILES: [(&str, &str); 4] = [
    (CONTEXT_PATH, include_str!("templates/context.md")),
    (PROGRESS_PATH, include_str!("templates/progress.md")),
    (".ai/features/FEATURE-TEMPLATE.md", include_str!("templates/feature.md")),
    (".ai/tasks/TASK-TEMPLATE.md", include_str!("templates/task.md")),
];

/// `.gitignore` with a line that keeps runtime files out of commits; `None` where one is
/// already there. The lock, above all, must not be committed: a checkout would bring it back.
pub fn ignoring_runtime_files(gitignore: &str) -> Option<String> {
    let covers = |line: &str| {
        let line = line.trim_end().trim_start_matches('/').trim_end_matches('/');
        line == RUNTIME_FOLDER || line == ".ai"
    };
    if gitignore.lines().any(covers) {
        return None;
    }
    let end = if gitignore.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if gitignore.is_empty() || gitignore.ends_with('\n') { "" } else { end };
    Some(format!("{gitignore}{gap}{RUNTIME_FOLDER}/{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature;
    use crate::progress::{TaskTable, Tasks};
    use crate::workspace_file::{Presence, WorkspaceFile};

    #[test]
    fn a_new_workspace_has_nothing_to_do() {
        for (path, text) in FILES {
            let document = WorkspaceFile::Readable(text.to_owned());
            assert_eq!(document.presence(), Presence::Readable, "{path}");
            assert!(!feature::is_ready(text), "{path}");
            assert_eq!(TaskTable::parse(text).tasks(), Tasks::None, "{path}");
        }
    }

    #[test]
    fn the_ignore_line_is_added_once_and_nothing_else_changes() {
        for (before, after) in [
            ("", Some(".ai/runtime/\n")),
            ("target\n", Some("target\n.ai/runtime/\n")),
            ("target", Some("target\n.ai/runtime/\n")),
            ("target\r\n", Some("target\r\n.ai/runtime/\r\n")),
            (".ai/runtime/*.txt\n", Some(".ai/runtime/*.txt\n.ai/runtime/\n")),
            ("# .ai/runtime/\n", Some("# .ai/runtime/\n.ai/runtime/\n")),
            (".ai/runtime/\n", None),
            ("/.ai/runtime\r\nx", None),
            (".ai\n", None),
        ] {
            assert_eq!(ignoring_runtime_files(before).as_deref(), after, "{before:?}");
        }
    }
}
