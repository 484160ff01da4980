//! Files that a call throws away and that git can bring back.

use std::collections::BTreeSet;

use crate::git::hardened;
use onloop_effect::Io;
use onloop_permission::{Call, Context, recoverable};
use onloop_syntax::limits;

/// Adds to `context` the files that keep `call` from being allowed, if git has all of them. Whether it
/// does.
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context) -> bool {
    let files = recoverable(call, context);
    let Some(root) = context.places.root.clone() else { return false };
    if files.is_empty() || files.len() > limits::RESOLVED_PATHS {
        return false;
    }
    let are_there = are_unchanged(io, &root, &files).await;
    if are_there {
        context.places.unchanged = files;
    }
    are_there
}

/// Whether git tracks each of these files and has it as it is on disk, committed. What git cannot
/// say counts as changed.
async fn are_unchanged(io: &Io, root: &str, files: &BTreeSet<String>) -> bool {
    let ask = async |words: &[&str]| {
        let files = files.iter().map(String::as_str);
        // A name is a name, whatever is in it.
        let words: Vec<&str> = ["--literal-pathspecs"]
            .iter()
            .chain(words)
            .copied()
            .chain(["--"])
            .chain(files)
            .collect();
        hardened::says(io, root, &words, None, limits::HOOK_GIT_TIMEOUT_MS).await.ok()
    };
    // `H` is a file without a mark that lets git look away.
    let Some(tracked) = ask(&["ls-files", "-z", "-v"]).await else { return false };
    let tracked: BTreeSet<String> = String::from_utf8_lossy(&tracked)
        .split('\0')
        .filter_map(|line| line.strip_prefix("H "))
        .map(|name| format!("{}/{name}", root.trim_end_matches('/')))
        .collect();
    if tracked != *files {
        return false;
    }
    let changes = ask(&["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=none"]);
    changes.await.is_some_and(|changes| changes.is_empty())
}
