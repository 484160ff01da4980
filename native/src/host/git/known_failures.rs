//! Known errors of git as failures that name the file and the fix.

use std::path::Path;

use onloop_core::effect::{Failure, FailureKind};

use super::{discovery, no_repository};

/// What git says before the path of a lock, which a quote ends.
const LOCK: &str = "Unable to create '";

/// Git does not record which process made a lock.
const STALE: &str = "is there: another git is running, or a killed one left it; when no git runs in this \
                     repository, remove that file";

/// Returns the failure for `said`, the output of git in the C locale in `cwd`, if it is a known one.
pub(super) fn recognize(said: &str, cwd: &Path) -> Option<Failure> {
    if let Some(path) = lock_in(said) {
        return Some(locked(&format!("`{path}`")));
    }
    if let Some(rest) = said.strip_prefix("fatal: not a git repository") {
        // With a path it can be about a submodule.
        return (!rest.starts_with(':') || leads_nowhere(cwd)).then(|| no_repository(cwd));
    }
    let around = cwd.display();
    if let Some((_, rest)) = said.split_once("could not lock config file ")
        && let Some((path, _)) = rest.split_once(": File exists")
    {
        return Some(locked(&format!("`{path}.lock` in `{around}`")));
    }
    if said.contains("cannot lock references") {
        return Some(locked(&format!(
            "`reftable/tables.list.lock` of the repository in `{around}`"
        )));
    }
    let nameless =
        ["Please tell me who you are", "empty ident name", "unable to auto-detect email"];
    if nameless.iter().any(|words| said.contains(words)) {
        let message = format!(
            "git in `{around}` does not know who commits; tell it: git config --global user.name \
             NAME, git config --global user.email ADDRESS"
        );
        return Some(Failure::new(FailureKind::Invalid, message));
    }
    if let Some((_, rest)) = said.split_once("detected dubious ownership") {
        let top = rest.split_once("at '").and_then(|(_, rest)| rest.split_once("'\n"));
        return Some(of_another_user(top.map_or(cwd, |(top, _)| Path::new(top))));
    }
    None
}

/// Whether the nearest `.git` around `cwd` is a file that points to a folder which is not there.
fn leads_nowhere(cwd: &Path) -> bool {
    let Some(link) = discovery::git_entry(cwd).filter(|entry| entry.is_file()) else {
        return false;
    };
    let text = std::fs::read_to_string(&link).unwrap_or_default();
    let target = text.strip_prefix("gitdir:").map(str::trim);
    target.is_some_and(|target| !link.with_file_name(target).exists())
}

/// The failure when `lock` is there; its owner may be dead.
pub(super) fn locked(lock: &str) -> Failure {
    Failure::new(FailureKind::Busy, format!("{lock} {STALE}"))
}

/// Adds `left` to `failure`: the rollback failed, too.
pub(super) fn with_rollback_error(failure: &Failure, root: &Path, left: &Failure) -> Failure {
    let message = format!("{failure}; and `{}` was left as it is: {left}", root.display());
    Failure::new(failure.kind, message)
}

/// Git does not open a repository of another user.
fn of_another_user(top: &Path) -> Failure {
    let message = format!(
        "the repository around `{0}` belongs to another user; if you trust it: git config \
         --global --add safe.directory {0}",
        top.display()
    );
    Failure::new(FailureKind::Denied, message)
}

/// Returns the path of the lock that `said` names.
pub(super) fn lock_in(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once(LOCK)?;
    // The path may contain a quote, so its end is searched.
    let end = rest.find(".lock'")? + ".lock".len();
    rest[end..].starts_with("': File exists").then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_a_person_can_fix_names_the_fix() {
        let lock = |path: &str| Some(format!("{path} {STALE}"));
        let no_identity = "git in `/r` does not know who commits; tell it: git config --global \
                      user.name NAME, git config --global user.email ADDRESS";
        for (said, kind, message) in [
            (
                "fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/it's.lock': File exists.",
                FailureKind::Busy,
                lock("`/r/.git/it's.lock`"),
            ),
            (
                "fatal: not a git repository (or any of the parent directories): .git",
                FailureKind::NotFound,
                Some("`/r` is not inside a git repository".to_owned()),
            ),
            ("fatal: not a git repository: sub/../.git/modules/sub", FailureKind::Other, None),
            (
                "error: could not lock config file .git/config: File exists\nfatal: x",
                FailureKind::Busy,
                lock("`.git/config.lock` in `/r`"),
            ),
            (
                "fatal: update_ref failed for ref 'x': cannot lock references",
                FailureKind::Busy,
                lock("`reftable/tables.list.lock` of the repository in `/r`"),
            ),
            ("*** Please tell me who you are.", FailureKind::Invalid, Some(no_identity.to_owned())),
            (
                "fatal: detected dubious ownership in repository at '/r/o'x'\nTo add",
                FailureKind::Denied,
                Some(
                    "the repository around `/r/o'x` belongs to another user; if you trust it: git \
                     config --global --add safe.directory /r/o'x"
                        .to_owned(),
                ),
            ),
            ("fatal: Unable to create '/r/x.lock': Permission denied", FailureKind::Other, None),
            ("fatal: Unable to create '/r/x", FailureKind::Other, None),
            ("", FailureKind::Other, None),
        ] {
            let found = recognize(said, Path::new("/r"));
            assert_eq!(found.as_ref().map(|failure| failure.message.clone()), message, "{said}");
            assert!(found.is_none_or(|failure| failure.kind == kind), "{said}");
        }
    }
}
