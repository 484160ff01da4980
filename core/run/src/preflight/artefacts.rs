//! Which uncommitted files are ours and therefore no reason to stop.

/// The paths of `dirty` that belong to somebody else: not workflow files, designs, plans or
/// run records, nothing in `.ai/`, and not the workflow being run. Paths are relative to the checkout.
pub fn foreign_paths<'a>(dirty: &'a [String], workflow: &str) -> Vec<&'a str> {
    let foreign = |path: &&str| *path != workflow && !is_artefact(path);
    dirty.iter().map(String::as_str).filter(foreign).collect()
}

fn is_artefact(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |suffix: &str| path.ends_with(suffix);
    (name.starts_with("hotl-workflow-") && ends(".md"))
        || (path.starts_with("docs/plans/")
            && (ends("-workflow.md") || ends("-design.md") || ends("-plan.md")))
        || (path.starts_with("docs/designs/") && ends(".md"))
        || path == ".hotl"
        || path.starts_with(".hotl/")
        || path.starts_with(SESSIONS)
        || path.starts_with(AUTO_FOLDER)
}

/// Files of hands-off sessions, which change while an agent works.
const SESSIONS: &str = ".tmp/hooked-sessions/";

/// Plans, tasks and the task table of rw-auto, which change while it runs workflows.
const AUTO_FOLDER: &str = ".ai/";

/// The paths of `dirty` that are gone for good when their worktree is removed: what belongs
/// to somebody else, and plans that may exist nowhere else.
pub(super) fn unsaved_paths<'a>(dirty: &'a [String], workflow: &str) -> Vec<&'a str> {
    let unsaved =
        |path: &&str| *path != workflow && (path.starts_with(AUTO_FOLDER) || !is_artefact(path));
    dirty.iter().map(String::as_str).filter(unsaved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_told_from_others() {
        for (path, foreign) in [
            ("hotl-workflow-add-auth.md", false),
            ("hotl-workflow-with blanks.md", false),
            ("hotl-workflow-登录.md", false),
            ("hotl-workflow-\"quoted\".md", false),
            ("docs/hotl-workflow-x.md", false),
            ("docs/plans/2026-01-02-x-workflow.md", false),
            ("docs/plans/my plan-workflow.md", false),
            ("docs/plans/old/2026-01-02-x-workflow.md", false),
            ("docs/plans/2026-01-02-x-design.md", false),
            ("docs/plans/2026-01-02-x-plan.md", false),
            ("docs/designs/設計.md", false),
            (".hotl", false),
            (".hotl/", false),
            (".hotl/state/x.json", false),
            (".tmp/hooked-sessions/s1.json", false),
            (".tmp/notes.md", true),
            ("custom/folder/job.md", false),
            (".ai/PROGRESS.md", false),
            (".ai/workflows/TASK-01.md", false),
            (".ai", true),
            ("src/.ai/PROGRESS.md", true),
            ("docs/plans/notes.md", true),
            ("docs/designs/picture.png", true),
            ("my-workflow.md", true),
            ("hotl-workflow-x.txt", true),
            ("hotl-workflow-x.md/file", true),
            ("src/.hotl/state/x.json", true),
            (".hotlx", true),
            ("src/lib.rs", true),
        ] {
            let dirty = [path.to_owned()];
            let found = foreign_paths(&dirty, "custom/folder/job.md");
            assert_eq!(!found.is_empty(), foreign, "{path}");
            let unsaved = !unsaved_paths(&dirty, "custom/folder/job.md").is_empty();
            assert_eq!(unsaved, foreign || path.starts_with(".ai/"), "{path}");
        }
    }
}
