//! Files that a call throws away and that git can bring back.

use std::collections::BTreeSet;

use crate::git::hardened::{self, STATUS};
use crate::git::{ignored, inner_repositories};
use onloop_effect::Io;
use onloop_permission::{Call, Context, recoverable};
use onloop_syntax::limits;

/// Adds to `context` the files and folders that keep `call` from being allowed, if git has all of them.
/// Whether it does.
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context) -> bool {
    let lost = recoverable(call, context);
    let Some(root) = context.places.root.clone() else { return false };
    if lost.is_empty() || lost.len() > limits::RESOLVED_PATHS {
        return false;
    }
    let (folders, files): (BTreeSet<String>, BTreeSet<String>) =
        lost.iter().cloned().partition(|path| path.ends_with('/'));
    // git names no files that were there, and are not, in answer to a pattern.
    if files.iter().any(|path| path.contains("**/")) {
        return false;
    }
    for folder in &folders {
        if !is_kept(io, &root, folder).await {
            return false;
        }
    }
    let are_there = files.is_empty() || are_unchanged(io, &root, &files).await;
    if are_there {
        context.places.unchanged = lost;
    }
    are_there
}

/// Whether git ignores everything in a folder that it does not have as it is on disk, committed, by rules
/// that are committed, too, and all that is of a build by its name.
async fn is_kept(io: &Io, root: &str, folder: &str) -> bool {
    let Some(inside) = folder.strip_prefix(root).map(|inside| inside.trim_matches('/')) else {
        return false;
    };
    if inner_repositories::around(io, root, &format!("{inside}/")).await.is_some() {
        return false;
    }
    // A name is a name, but for folders at any depth.
    let spec = match inside.contains("**") {
        true if inside.replace("**", "").contains(['*', '?', '[', '\\']) => return false,
        true => format!(":(top,glob){inside}/**"),
        false => format!(":(top,literal){inside}"),
    };
    let ask = async |words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(["--", spec.as_str()]).collect();
        hardened::text(io, root, &words).await.ok()
    };
    let Some(tracked) = ask(&TRACKED).await else { return false };
    if !tracked.split('\0').filter(|line| !line.is_empty()).all(|line| plain_file(line).is_some()) {
        return false;
    }
    let changes = ask(&[&STATUS[..], &["--untracked-files=all"]].concat()).await;
    changes.is_some_and(|changes| changes.is_empty())
        && ignored::perhaps_for_good(io, root, &[spec]).await.is_ok_and(|found| found.is_empty())
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
        hardened::text(io, root, &words).await.ok()
    };
    let Some(tracked) = ask(&TRACKED).await else { return false };
    let tracked: BTreeSet<String> = tracked
        .split('\0')
        .filter_map(plain_file)
        .map(|name| format!("{}/{name}", root.trim_end_matches('/')))
        .collect();
    if tracked != *files {
        return false;
    }
    ask(&STATUS).await.is_some_and(|changes| changes.is_empty())
}

/// What git tracks, each with its marks and its mode.
const TRACKED: [&str; 4] = ["ls-files", "-z", "-v", "--stage"];

/// The name of a file in a line of [`TRACKED`]. `None`: a repository inside, or a mark lets git look away
/// from changes.
fn plain_file(line: &str) -> Option<&str> {
    let (facts, name) = line.strip_prefix("H ")?.split_once('\t')?;
    (!facts.starts_with("160000 ")).then_some(name)
}
