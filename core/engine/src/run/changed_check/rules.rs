//! Files that programs of a check take their rules from, in the checkout of a run.

use onloop_effect::{DiffShown, FileKind, Io};
use onloop_run::{FileChange, Run};
use onloop_syntax::limits;
use onloop_workflow::implied::{Implied, RuleForm};

/// Two commits, and the paths that differ between them.
#[derive(Clone, Copy)]
pub(crate) struct Between<'a> {
    /// The earlier commit.
    pub(crate) from: &'a str,
    /// The later commit.
    pub(crate) to: &'a str,
    /// Whether a path, seen from the execution root, differs.
    pub(crate) differs: &'a dyn Fn(&str) -> bool,
}

/// Whether a file that was begun is one more from which a program takes its rules, because there
/// was another before. The first one is what somebody was asked to make.
pub(crate) async fn joins_others(
    io: &Io,
    run: &Run,
    between: Between<'_>,
    implied: &[Implied],
    path: &str,
) -> bool {
    let groups = implied.iter().filter(|implied| implied.paths.contains(path));
    for other in groups.flat_map(|implied| &implied.paths).filter(|other| *other != path) {
        if was_there(io, run, between, other).await {
            return true;
        }
    }
    false
}

async fn was_there(io: &Io, run: &Run, between: Between<'_>, path: &str) -> bool {
    let root = &run.place.execution_root;
    if !(between.differs)(path) {
        return io.stat(&format!("{root}/{path}")).await.is_ok_and(|s| s.kind == FileKind::File);
    }
    let from_top = [format!("{}{path}", run.place.prefix())];
    let (ends, shown) = ((between.from, between.to), DiffShown::PatchOf(&from_top));
    let patch = io.git_diff(root, ends, shown, limits::CHANGED_CHECK_BYTES).await;
    // What is too large to be shown was not begun as a file of rules either.
    patch.is_ok_and(|patch| {
        FileChange::of_patch(&String::from_utf8_lossy(&patch)) != FileChange::Created
    })
}

/// What is run according to the rules that are there: the path of each file, and its lines.
pub(crate) async fn rules_there(io: &Io, run: &Run, implied: &[Implied]) -> Vec<(String, String)> {
    let root = &run.place.execution_root;
    let mut found: Vec<(String, String)> = Vec::new();
    for path in implied.iter().flat_map(|implied| &implied.paths) {
        if found.len() >= limits::CHANGED_CHECK_FILES {
            break;
        }
        let Some(rules) = RuleForm::of(path) else { continue };
        if found.iter().any(|(known, _)| known == path) {
            continue;
        }
        let Ok((bytes, _)) = io.read(&format!("{root}/{path}"), limits::CHANGED_CHECK_BYTES).await
        else {
            continue;
        };
        found.push((path.clone(), rules.lines(&String::from_utf8_lossy(&bytes))));
    }
    found
}
