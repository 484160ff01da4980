//! What git ignores and no build makes again, or ignores by rules that are not committed. Such a rule may
//! be as new as the call that removes what it names.

use std::collections::BTreeSet;

use crate::git::hardened::{self, STATUS};
use onloop_effect::{Failure, Io};
use onloop_permission::paths::{is_output, is_remade_by_tools};

/// The ignored files and folders among `specs` whose names are not of what builds make, or for which the
/// rule, or one in a folder above, is not as committed. They are relative to `root`; folders end in a
/// slash.
///
/// # Errors
///
/// When git does not answer.
pub(crate) async fn perhaps_for_good(
    io: &Io,
    root: &str,
    specs: &[String],
) -> Result<Vec<String>, Failure> {
    let ask = async |words: &[&str], input: Option<Vec<u8>>| {
        let said = hardened::says_to_hook(io, root, words, input).await?;
        Ok::<_, Failure>(String::from_utf8_lossy(&said).into_owned())
    };
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    // Of a folder that a rule names, not what is in it.
    let ignored = ["--untracked-files=all", "--ignored=matching", "--"];
    let status = ask(&[&STATUS[..], &ignored, &specs].concat(), None).await?;
    let ignored: BTreeSet<&str> =
        status.split('\0').filter_map(|line| line.strip_prefix("!! ")).collect();
    if ignored.is_empty() {
        return Ok(Vec::new());
    }
    let list = ignored.iter().copied().collect::<Vec<_>>().join("\0");
    let sources = ask(&["check-ignore", "-v", "-z", "--stdin"], Some(list.into_bytes())).await?;
    let tracked = ask(&["ls-files", "-z", "-v", "--", RULES], None).await?;
    let tracked: BTreeSet<&str> =
        tracked.split('\0').filter_map(|line| line.strip_prefix("H ")).collect();
    let changed =
        ask(&[&STATUS[..], &["--untracked-files=no", "--", RULES]].concat(), None).await?;
    let changed: Vec<&str> =
        changed.split('\0').filter_map(|line| line.get(3..)?.strip_suffix(".gitignore")).collect();
    let fields: Vec<&str> = sources.split_terminator('\0').collect();
    let (fields, _) = fields.as_chunks::<4>();
    let committed = fields.iter().filter(|[source, _, pattern, path]| {
        let is_committed =
            tracked.contains(source) && !changed.iter().any(|folder| path.starts_with(folder));
        is_committed && is_output(path) || ignores_itself(source, pattern)
    });
    let committed: BTreeSet<&str> = committed.map(|[_, _, _, path]| *path).collect();
    Ok(ignored.difference(&committed).map(|path| (*path).to_owned()).collect())
}

/// Every file with rules in the repository.
const RULES: &str = ":(top,glob)**/.gitignore";

/// Whether a tool has made the rule together with its folder.
fn ignores_itself(source: &str, pattern: &str) -> bool {
    let folder = source.strip_suffix("/.gitignore").and_then(|folder| folder.rsplit('/').next());
    pattern == "*" && folder.is_some_and(is_remade_by_tools)
}
