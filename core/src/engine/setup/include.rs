//! `.worktreeinclude`: which of the files that git ignores a fresh worktree gets a copy of.
//!
//! Its patterns are those of `.gitignore`. A file is copied when one of them matches it and git
//! ignores it as well, so that nothing that git tracks is ever copied. Git itself answers both
//! questions: nobody else reads such patterns as it does.

use std::collections::BTreeSet;

use crate::effect::{Capture, OptionalExt, ProcessSpec, ProcessStatus};
use crate::effect::{Failure, FailureKind, FileKind, Io};
use crate::engine::verify::private_names;
use crate::limits;

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

/// What git says, with everything in the repository's configuration switched off that would run a
/// program or write.
async fn git(
    io: &Io,
    root: &str,
    words: &[&str],
    input: Option<Vec<u8>>,
) -> Result<Vec<u8>, Failure> {
    let calm = ["git", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];
    let mut spec = ProcessSpec::argv(calm.into_iter().chain(words.iter().copied()))
        .in_folder(root)
        .without_env(private_names(io))
        .with_env([("GIT_OPTIONAL_LOCKS", "0")])
        .timeout_ms(limits::CHECKPOINT_TIMEOUT_MS);
    spec.capture_bytes = limits::SETUP_LIST_BYTES;
    if let Some(input) = input {
        spec = spec.with_stdin(input);
    }
    let end = io.process(spec).await?;
    let failed = |what: String| Err(Failure::new(FailureKind::Other, what));
    match end.status {
        // 1: none of these paths is ignored.
        ProcessStatus::Exited(0 | 1) if end.stdout.omitted_bytes() > 0 => {
            let message = format!("{FILE} names more files than are copied");
            Err(Failure::new(FailureKind::TooLarge, message))
        }
        ProcessStatus::Exited(0) => Ok(whole(&end.stdout)),
        ProcessStatus::Exited(1) if words[0] == "check-ignore" => Ok(whole(&end.stdout)),
        ProcessStatus::Interrupted => Err(Failure::new(FailureKind::Interrupted, "interrupted")),
        ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) => {
            failed(format!("git says: {}", end.stderr.text().trim_end()))
        }
        ProcessStatus::TimedOut => failed("git took too long".to_owned()),
    }
}

fn whole(output: &Capture) -> Vec<u8> {
    [&output.head[..], &output.tail[..]].concat()
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
