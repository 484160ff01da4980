//! Known errors of git as failures that name the file and the fix.

use std::path::Path;

use onloop_core::effect::{Failure, FailureKind};

/// Texts of git and libgit2 before the path of a lock, which a quote ends.
const LOCKS: [&str; 2] = ["Unable to create '", "failed to lock file '"];

/// Git does not record which process made a lock.
const STALE: &str = "is there: another git is running, or a killed one left it; when no git runs in this \
                     repository, remove that file";

/// Returns the failure for `said`, if a person can fix it. `said` is the output of git in the C
/// locale, or of libgit2, in `cwd`.
pub(super) fn recognize(said: &str, cwd: &Path) -> Option<Failure> {
    if let Some(path) = lock_in(said) {
        return Some(locked(&format!("`{path}`")));
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
    LOCKS.iter().find_map(|words| {
        let (_, rest) = said.split_once(words)?;
        // The path may contain a quote, so its end is searched.
        let end = rest.find(".lock'")? + ".lock".len();
        let is_there = rest[end..].starts_with("': File exists") || words.starts_with("failed");
        is_there.then(|| &rest[..end])
    })
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
                "failed to lock file '/r/.git/HEAD.lock' for writing: ",
                FailureKind::Busy,
                lock("`/r/.git/HEAD.lock`"),
            ),
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
