//! What a run did to single files, and in which step.

use std::collections::{BTreeMap, BTreeSet};

use onloop_effect::{DiffShown, Io};
use onloop_run::Run;
use onloop_syntax::limits;

/// The patch of each file; missing where git shows none or it is too large. The first
/// [`limits::CHECK_INPUTS`] files are asked for at once, files that need it alone.
pub(super) async fn patches(
    io: &Io,
    run: &Run,
    ends: (&str, &str),
    paths: &[String],
) -> BTreeMap<String, String> {
    let paths = &paths[..paths.len().min(limits::CHECK_INPUTS)];
    let mut found = BTreeMap::new();
    if paths.len() > 1 {
        let all = patch(io, run, ends, paths).await.unwrap_or_default();
        for block in blocks(&all) {
            let head = block.lines().next().unwrap_or_default();
            let of = |path: &&String| head == format!("diff --git a/{path} b/{path}");
            if let Some(path) = paths.iter().find(of) {
                // A file that became a link has two blocks.
                *found.entry(path.clone()).or_insert_with(String::new) += block;
            }
        }
    }
    for path in paths {
        if !found.contains_key(path) {
            let alone = patch(io, run, ends, std::slice::from_ref(path)).await;
            found.extend(alone.map(|patch| (path.clone(), patch)));
        }
    }
    found
}

async fn patch(io: &Io, run: &Run, ends: (&str, &str), paths: &[String]) -> Option<String> {
    let (root, shown) = (&run.place.execution_root, DiffShown::PatchOf(paths));
    let patch = io.git_diff(root, ends, shown, limits::CHANGED_CHECK_BYTES).await.ok()?;
    Some(String::from_utf8_lossy(&patch).into_owned())
}

/// The parts of a patch, one for each file. A line of a file never begins like that.
fn blocks(patch: &str) -> impl Iterator<Item = &str> {
    let starts = patch.match_indices("diff --git ").map(|(at, _)| at);
    let starts: Vec<usize> =
        starts.filter(|at| *at == 0 || patch.as_bytes()[at - 1] == b'\n').collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([patch.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &patch[start..end])
}

/// Which files changed in which step, by the checkpoints on both sides.
pub(super) async fn paths_by_step(io: &Io, run: &Run) -> BTreeMap<u32, BTreeSet<String>> {
    let mut by_step: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for pair in run.checkpoints.windows(2).rev().take(limits::CHANGED_CHECK_CHECKPOINTS) {
        let [before, after] = pair else { continue };
        let Some(step) = after.moment.step().filter(|_| before.tree != after.tree) else {
            continue;
        };
        let root = &run.place.execution_root;
        let paths = io.git_changed_paths(root, &before.commit, &after.commit).await;
        by_step.entry(step).or_default().extend(paths.unwrap_or_default());
    }
    by_step
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn a_patch_is_cut_at_its_files_and_not_at_what_they_contain() {
        let (a, b) = (
            "diff --git a/a b/a\n@@ -1 +1 @@\n-x\n+diff --git a/b b/b\n",
            "diff --git a/b b/b\nnew file mode 100644\n",
        );
        let patch = format!("{a}{b}");
        assert_eq!(blocks(&patch).collect::<Vec<_>>(), [a, b]);
        assert_eq!(blocks("").count(), 0);
    }
}
