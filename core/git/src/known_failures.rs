//! Known errors of git as failures that name the file and the fix.

use onloop_effect::{Failure, FailureKind};
use onloop_syntax::text::{one_line, shell_word};

/// What git says before the path of a lock, which a quote ends.
const LOCK: &str = "Unable to create '";

/// Git does not record which process made a lock.
const STALE: &str = "is there: another git is running, or a killed one left it; when no git runs in this \
                     repository, remove that file";

/// Returns the failure for `said`, the output of git in the C locale in `cwd`, if it is a known one.
pub(crate) fn recognize(said: &str, cwd: &str) -> Option<Failure> {
    if let Some(path) = lock_in(said) {
        return Some(locked(&format!("`{path}`")));
    }
    if let Some((_, rest)) = said.split_once("could not lock config file ")
        && let Some((path, _)) = rest.split_once(": File exists")
    {
        return Some(locked(&format!("`{path}.lock` in `{cwd}`")));
    }
    if said.contains("cannot lock references") {
        return Some(locked(&format!("`reftable/tables.list.lock` of the repository in `{cwd}`")));
    }
    let nameless =
        ["Please tell me who you are", "empty ident name", "unable to auto-detect email"];
    if nameless.iter().any(|words| said.contains(words)) {
        let message = format!("git in `{cwd}` does not know who commits");
        let command = "git config --global user.name NAME; git config --global user.email ADDRESS";
        let failure = Failure::new(FailureKind::Invalid, message);
        return Some(failure.with_fix("tell git", Some(command.to_owned())));
    }
    if said.contains("failed to sign the data") || said.contains("load public key") {
        let reason = said.lines().map(|line| line.trim_start_matches("error: ").trim());
        let reason = { reason }.rfind(|line| !line.is_empty()).unwrap_or_default();
        let message = format!("git in `{cwd}` cannot sign the commit: {}", one_line(reason));
        let folder = shell_word(cwd);
        return Some(Failure::new(FailureKind::Invalid, message).with_fix(
            "correct `user.signingkey`, or sign no commit of this repository",
            Some(format!("git -C {folder} config commit.gpgsign false")),
        ));
    }
    if said.lines().any(|line| line.contains("git-lfs") && line.contains("not found")) {
        let message = format!("the repository around `{cwd}` needs `git-lfs`, which is not there");
        let failure = Failure::new(FailureKind::Other, message);
        return Some(failure.with_fix("install Git LFS, then run the same command again", None));
    }
    if let Some((_, rest)) = said.split_once("detected dubious ownership") {
        let top = rest.split_once("at '").and_then(|(_, rest)| rest.split_once("'\n"));
        return Some(of_another_user(top.map_or(cwd, |(top, _)| top)));
    }
    None
}

/// The failure when `lock` is there; its owner may be dead.
pub(crate) fn locked(lock: &str) -> Failure {
    Failure::new(FailureKind::Busy, format!("{lock} {STALE}"))
}

/// Adds `left` to `failure`: the rollback failed, too.
pub(crate) fn with_rollback_error(failure: &Failure, root: &str, left: &Failure) -> Failure {
    let message = format!("{failure}; and `{root}` was left as it is: {left}");
    Failure::new(failure.kind, message)
}

/// Git does not open a repository of another user.
fn of_another_user(top: &str) -> Failure {
    let command = format!("git config --global --add safe.directory {}", shell_word(top));
    let message = format!("the repository around `{top}` belongs to another user");
    Failure::new(FailureKind::Denied, message).with_fix("if you trust it", Some(command))
}

/// Returns the path of the lock that `said` names.
pub(crate) fn lock_in(said: &str) -> Option<&str> {
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
        let no_identity = "git in `/r` does not know who commits: tell git: git config --global \
                           user.name NAME; git config --global user.email ADDRESS";
        for (said, kind, message) in [
            (
                "fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/it's.lock': File exists.",
                FailureKind::Busy,
                lock("`/r/.git/it's.lock`"),
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
                    "the repository around `/r/o'x` belongs to another user: if you trust it: git \
                     config --global --add safe.directory '/r/o'\\''x'"
                        .to_owned(),
                ),
            ),
            (
                "error: gpg failed to sign the data:\ngpg: signing failed: No secret key\n",
                FailureKind::Invalid,
                Some(
                    "git in `/r` cannot sign the commit: gpg: signing failed: No secret key: correct \
                     `user.signingkey`, or sign no commit of this repository: git -C /r config \
                     commit.gpgsign false"
                        .to_owned(),
                ),
            ),
            (
                "git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up",
                FailureKind::Other,
                Some(
                    "the repository around `/r` needs `git-lfs`, which is not there: install Git LFS, \
                     then run the same command again"
                        .to_owned(),
                ),
            ),
            ("fatal: Unable to create '/r/x.lock': Permission denied", FailureKind::Other, None),
            ("fatal: Unable to create '/r/x", FailureKind::Other, None),
            ("", FailureKind::Other, None),
        ] {
            let found = recognize(said, "/r");
            let whole = |failure: &Failure| {
                let fix = failure.fix.iter();
                let fix = fix.flat_map(|fix| [Some(fix.text.clone()), fix.command.clone()]);
                let parts = [Some(failure.message.clone())].into_iter().chain(fix);
                parts.flatten().collect::<Vec<_>>().join(": ")
            };
            assert_eq!(found.as_ref().map(whole), message, "{said}");
            assert!(found.is_none_or(|failure| failure.kind == kind), "{said}");
        }
    }
}
