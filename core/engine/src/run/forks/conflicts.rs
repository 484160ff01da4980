//! What git could not decide in the merge of a fork, and whether it stands yet.

use std::collections::BTreeSet;

use crate::git::hardened::says;
use crate::run::context::RunContext;
use crate::run::forks::merge::side_names;
use onloop_effect::Io;
use onloop_run::{CheckpointKind, Conflict, Fork, ForkState, Run};
use onloop_syntax::limits;

/// The conflicts in what `git merge-tree -z --name-only` says after the tree: paths, an empty one, and
/// messages, each with its own paths, its kind and its text.
pub(super) fn conflicts_of<'t>(mut parts: impl Iterator<Item = &'t str>) -> Vec<Conflict> {
    let mut unnamed: Vec<String> =
        parts.by_ref().take_while(|path| !path.is_empty()).map(str::to_owned).collect();
    unnamed.dedup();
    let mut conflicts = Vec::new();
    while let Some(count) = parts.next().and_then(|count| count.parse().ok()) {
        let paths: Vec<String> = parts.by_ref().take(count).map(str::to_owned).collect();
        let kind = parts.next().unwrap_or_default();
        let what = parts.next().unwrap_or_default().trim_end().trim_end_matches('.').to_owned();
        if kind.starts_with("CONFLICT") {
            unnamed.retain(|path| !paths.contains(path));
            match conflicts.iter_mut().find(|known: &&mut Conflict| known.paths == paths) {
                Some(known) => known.what += &format!("; {what}"),
                None => conflicts.push(Conflict { paths, what }),
            }
        }
    }
    conflicts.extend(unnamed.into_iter().map(|path| {
        let what = format!("Merge conflict in {path}");
        Conflict { paths: vec![path], what }
    }));
    conflicts
}

/// Why the merge of a step does not hold: conflicts of which a file still has both sides, or no file was
/// changed since. A person who has continued the step may leave the files as git left them.
pub(crate) async fn unresolved(cx: &RunContext<'_>, step: u32) -> Option<String> {
    let (io, run) = (cx.io, cx.run());
    let record = run.step(step)?;
    let is_in_checkout = |fork: &&Fork| {
        matches!(fork.state, ForkState::Merging | ForkState::Merged) && !fork.conflicts.is_empty()
    };
    let fork = record.fork.as_ref().filter(is_in_checkout)?;
    let top = run.place.worktree_path.as_ref()?;
    let untouched = match fork.open_conflicts() {
        [] => Vec::new(),
        open => untouched(io, run, fork, open).await,
    };
    let mut left = Vec::new();
    for conflict in &fork.conflicts {
        if untouched.contains(&conflict) || has_sides_in(io, top, conflict).await {
            left.push(conflict.what.as_str());
        }
    }
    let (first, more) = left.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let [others, own] = side_names(run, step);
    Some(format!(
        "the conflict with other steps is not resolved: {first}{more}; the work of the other steps is \
         `{others}`, that of step {step} `{own}`"
    ))
}

/// The conflicts of which no file has changed between the merge and the end of the last turn.
async fn untouched<'f>(io: &Io, run: &Run, fork: &Fork, open: &'f [Conflict]) -> Vec<&'f Conflict> {
    let now = run.last_checkpoint().filter(|taken| taken.moment.kind() == CheckpointKind::Acted);
    let (Some(merged), Some(now), Some(top)) = (&fork.merged, now, &run.place.worktree_path) else {
        return open.iter().collect();
    };
    let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", merged, &now.commit];
    let Ok(said) = says(io, top, &words, None, limits::GIT_ACT_TIMEOUT_MS).await else {
        return open.iter().collect();
    };
    let said = String::from_utf8_lossy(&said);
    let changed: BTreeSet<&str> = said.split('\0').collect();
    let is_untouched =
        |conflict: &&Conflict| !conflict.paths.iter().any(|path| changed.contains(path.as_str()));
    open.iter().filter(is_untouched).collect()
}

/// Whether a file of a conflict has both sides. One that is not there has none.
async fn has_sides_in(io: &Io, top: &str, conflict: &Conflict) -> bool {
    for path in &conflict.paths {
        let read = io.read(&format!("{top}/{path}"), limits::CHECKPOINT_FILE_BYTES).await;
        if read.is_ok_and(|(bytes, _)| has_both_sides(&bytes)) {
            return true;
        }
    }
    false
}

/// Whether a file has the lines with which git marks a conflict.
fn has_both_sides(bytes: &[u8]) -> bool {
    let has = |mark: &[u8]| {
        bytes.split(|byte| *byte == b'\n').any(|line| {
            line.starts_with(mark) && matches!(line.get(mark.len()), None | Some(b' ' | b'\r'))
        })
    };
    has(b"<<<<<<<") && has(b"=======") && has(b">>>>>>>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conflict_that_git_names_is_known() {
        let said = "a\0a\0b\0c\0\x001\0d\0Auto-merging\0Auto-merging d\n\x002\0a\0b\0CONFLICT (x)\0no.\n\0\
                    2\0a\0b\0CONFLICT (y)\0nor\n\0";
        let conflicts = conflicts_of(said.split('\0'));
        let named = |paths: &[&str], what: &str| Conflict {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            what: what.to_owned(),
        };
        assert_eq!(
            conflicts,
            [named(&["a", "b"], "no; nor"), named(&["c"], "Merge conflict in c")]
        );
        assert_eq!(conflicts_of("".split('\0')), []);
    }

    #[test]
    fn a_conflict_is_known_by_its_three_marks() {
        assert!(has_both_sides(b"a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"));
        assert!(has_both_sides(b"<<<<<<< o\r\n=======\r\n>>>>>>> t\r\n"));
        for fine in ["Title\n=======\n", "<<<<<<<<\n========\n>>>>>>>>\n", "", "a <<<<<<< b\n"] {
            assert!(!has_both_sides(fine.as_bytes()), "{fine}");
        }
    }
}
