//! `.worktreeinclude`: which of the files that git ignores a fresh worktree gets a copy of.
//!
//! Its patterns are those of `.gitignore`. A file is copied when one of them matches it and git
//! ignores it as well, so that nothing that git tracks is ever copied. Git itself answers both
//! questions, because only git reads such patterns exactly as git does.

use std::collections::BTreeSet;

use crate::git::hardened;
use onloop_effect::{Failure, FailureKind, FileKind, Io, OptionalExt};
use onloop_syntax::limits;

/// Name of the file, at the top of a checkout.
pub(crate) const FILE: &str = ".worktreeinclude";

/// What a worktree gets.
#[derive(Debug, Default)]
pub(crate) struct Included {
    /// Plain files, relative to the checkout, sorted.
    pub(crate) files: Vec<String>,
    /// What the patterns name besides: links and the like, which are not copied.
    pub(crate) left_out: Vec<String>,
}

/// What `.worktreeinclude` of the checkout `root` names; nothing where there is none. Only reads.
///
/// # Errors
///
/// `TooLarge` beyond [`limits::SETUP_FILES`]; git is not there, or refuses.
pub(crate) async fn included(io: &Io, root: &str) -> Result<Included, Failure> {
    let file = io.stat(&format!("{root}/{FILE}")).await.optional()?;
    if file.is_none_or(|stat| stat.kind != FileKind::File) {
        return Ok(Included::default());
    }
    let named = ["ls-files", "-z", "--others", "--ignored"];
    let from = format!("--exclude-from={FILE}");
    let named = git(io, root, &[&named[..], &[from.as_str()]].concat(), None).await?;
    if named.is_empty() {
        return Ok(Included::default());
    }
    let ignored = git(io, root, &["check-ignore", "-z", "--stdin"], Some(named)).await?;
    // A name that is no text cannot be asked for.
    let paths = ignored.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
    let paths: BTreeSet<&str> = paths.filter(|path| may_be_copied(path)).collect();
    if paths.len() > limits::SETUP_FILES {
        let message = format!(
            "{FILE} names {} files, more than the {} that are copied; what a command makes belongs \
             to `setup`",
            paths.len(),
            limits::SETUP_FILES
        );
        return Err(Failure::new(FailureKind::TooLarge, message));
    }
    let mut included = Included::default();
    for path in paths {
        match io.stat(&format!("{root}/{path}")).await?.kind {
            FileKind::File => included.files.push(path.to_owned()),
            FileKind::Link | FileKind::Folder | FileKind::Other => {
                included.left_out.push(path.to_owned());
            }
        }
    }
    Ok(included)
}

/// Whether a path stays in the checkout and is neither git's nor ours.
fn may_be_copied(path: &str) -> bool {
    let is_ours = path.starts_with(".hotl/") || path.starts_with(".hotl-worktrees/");
    let mut parts = path.split('/');
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    !is_ours && !path.contains('\\') && parts.all(is_plain)
}

/// What git says about the names that it is given.
async fn git(
    io: &Io,
    root: &str,
    words: &[&str],
    input: Option<Vec<u8>>,
) -> Result<Vec<u8>, Failure> {
    let said = hardened::says(io, root, words, input, limits::CHECKPOINT_TIMEOUT_MS).await;
    said.map_err(|failure| {
        if failure.kind != FailureKind::TooLarge {
            return failure;
        }
        let message = format!("{FILE} names more files than are copied");
        Failure::new(FailureKind::TooLarge, message)
    })
}

#[cfg(test)]
mod tests {
    use super::may_be_copied;

    #[test]
    fn only_what_stays_in_the_checkout_is_copied() {
        for path in [".env", "a/b.txt", "a b/日本", "..env", ".gitx/a"] {
            assert!(may_be_copied(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            ".git/config",
            "a/.git/hooks/x",
            "a/.GIT/x",
            ".hotl/state/x.json",
            ".hotl-worktrees/a/b",
            "a\\b",
        ] {
            assert!(!may_be_copied(path), "{path}");
        }
    }
}
