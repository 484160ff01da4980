//! Validation of the names in git requests, before a host sees them.

use super::{BranchName, Failure, FailureKind, GitRequest, KeptFile};
use onloop_syntax::{limits, text};

impl GitRequest {
    /// Refuses names that git does not allow or could mistake for something else, so that hosts
    /// need no checks. A survey accepts any name: it reports that no such branch exists.
    pub(crate) fn validate_names(&mut self) -> Result<(), Failure> {
        match self {
            GitRequest::Survey { branch, .. } => {
                if branch.parse::<BranchName>().is_err() {
                    branch.clear();
                }
                Ok(())
            }
            GitRequest::CreateWorktree { branch, .. }
            | GitRequest::Switch { branch, .. }
            | GitRequest::DeleteBranch { branch, .. }
            | GitRequest::MergeBase { branch, .. }
            | GitRequest::ImportPack { branch, .. }
            | GitRequest::CommitKept { branch, .. } => validate(branch, "a branch name"),
            GitRequest::RemoteBranch { remote, branch, .. }
            | GitRequest::Push { remote, branch, .. } => {
                // Git has the same rules for remotes; an address is not a name.
                validate(remote, "the name of a remote")?;
                validate(branch, "a branch name")
            }
            GitRequest::Merge { branch, into, .. }
            | GitRequest::RecoverMerge { branch, into, .. } => {
                validate(branch, "a branch name")?;
                validate(into, "a branch name")
            }
            // Git has the same rules for all references.
            GitRequest::Checkpoint { name, .. } | GitRequest::ForgetCheckpoint { name, .. } => {
                validate(name, "the name of a checkpoint")
            }
            GitRequest::PushRefs { remote, updates, .. } => {
                validate(remote, "the name of a remote")?;
                updates
                    .iter()
                    .try_for_each(|update| validate(&update.name, "the name of a checkpoint"))
            }
            GitRequest::FetchRefs { remote, prefix, .. } => {
                validate(remote, "the name of a remote")?;
                validate(prefix, "the name of a checkpoint")
            }
            GitRequest::KeepFiles { files, name, .. } => {
                if let Some(name) = name {
                    validate(name, "the name of a checkpoint")?;
                }
                judge_files(files)
            }
            GitRequest::ReadKept { name, .. } => judge_file(name),
            GitRequest::Worktrees { .. }
            | GitRequest::Head { .. }
            | GitRequest::RemoveWorktree { .. }
            | GitRequest::Stash { .. }
            | GitRequest::Restore { .. }
            | GitRequest::Diff { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::Note { .. }
            | GitRequest::Checkpoints { .. } => Ok(()),
        }
    }
}

fn validate(name: &str, what: &str) -> Result<(), Failure> {
    name.parse::<BranchName>().map(drop).map_err(|reason| {
        let name = name.escape_debug();
        Failure::new(FailureKind::Invalid, format!("`{name}` is not {what}: it {reason}"))
    })
}

fn judge_files(files: &[KeptFile]) -> Result<(), Failure> {
    for (at, KeptFile { name, .. }) in files.iter().enumerate() {
        judge_file(name)?;
        if files[..at].iter().any(|before| before.name == *name) {
            let message = format!("two files are called `{name}`, expected one of each name");
            return Err(Failure::new(FailureKind::Invalid, message));
        }
    }
    Ok(())
}

/// Whether `name` is valid in every file system and is not a path, an option or a pattern.
fn judge_file(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_plain = !name.is_empty() && name.len() <= limits::BRANCH_NAME_BYTES;
    if is_plain && name.chars().all(plain) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    let name = text::ellipsis(&name.escape_debug().to_string(), 80);
    let message = format!(
        "`{name}` is not the name of a kept file: expected letters, digits, `.`, `_` and `-`, not \
         beginning with `.` or `-`"
    );
    Err(Failure::new(FailureKind::Invalid, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exit, Program, RefUpdate, Request, Start, Turn};
    use onloop_syntax::time::Timestamp;

    #[test]
    fn no_host_is_asked_about_a_name_that_git_does_not_allow() {
        let text = |text: &str| text.to_owned();
        let cwd = || text("/r");
        let update = |name: &str| RefUpdate { name: text(name), expected: None, commit: None };
        let file = |name: &str| KeptFile { name: text(name), bytes: "".into() };
        for (request, message) in [
            (
                GitRequest::Switch { cwd: cwd(), branch: text("-f"), create: false },
                "`-f` is not a branch name: it starts with `-`",
            ),
            (
                GitRequest::Push { cwd: cwd(), remote: text("https://x"), branch: text("b") },
                "`https://x` is not the name of a remote: it contains `:`",
            ),
            (
                GitRequest::Push { cwd: cwd(), remote: text("origin"), branch: text("a\u{202e}") },
                "`a\\u{202e}` is not a branch name: it contains `\\u{202e}`",
            ),
            (
                GitRequest::ForgetCheckpoint { cwd: cwd(), name: text("a..b"), commit: text("c") },
                "`a..b` is not the name of a checkpoint: it contains `..`",
            ),
            (
                GitRequest::PushRefs {
                    cwd: cwd(),
                    remote: text("origin"),
                    updates: ["run/ledger", "run/--exec=x y"].map(update).to_vec(),
                },
                "`run/--exec=x y` is not the name of a checkpoint: it contains ` `",
            ),
            (
                GitRequest::FetchRefs { cwd: cwd(), remote: text("-x"), prefix: text("run") },
                "`-x` is not the name of a remote: it starts with `-`",
            ),
            (
                GitRequest::FetchRefs { cwd: cwd(), remote: text("origin"), prefix: text("run/*") },
                "`run/*` is not the name of a checkpoint: it contains `*`",
            ),
            (
                GitRequest::KeepFiles {
                    cwd: cwd(),
                    files: ["a", "a"].map(file).to_vec(),
                    name: None,
                    parent: None,
                    message: text("m"),
                    at: Timestamp::EPOCH,
                },
                "two files are called `a`, expected one of each name",
            ),
            (
                GitRequest::KeepFiles {
                    cwd: cwd(),
                    files: vec![file("a")],
                    name: Some(text("sessions/-x y")),
                    parent: None,
                    message: text("m"),
                    at: Timestamp::EPOCH,
                },
                "`sessions/-x y` is not the name of a checkpoint: it contains ` `",
            ),
            (
                GitRequest::ReadKept {
                    cwd: cwd(),
                    commit: text("c"),
                    name: text("../x"),
                    limit_bytes: 1,
                },
                "`../x` is not the name of a kept file: expected letters, digits, `.`, `_` and `-`, \
                 not beginning with `.` or `-`",
            ),
        ] {
            let mut program = Program::new(Start::example(["onloop"]), |io| async move {
                let failure = io.git(request).await.unwrap_err();
                assert_eq!(failure, Failure::new(FailureKind::Invalid, message));
                Exit::Done
            });
            assert!(matches!(program.resume(None), Turn::Exit(Exit::Done)), "{message}");
        }
    }

    #[test]
    fn a_survey_about_such_a_name_is_about_no_branch() {
        for (asked, branch) in [("--output=x", ""), ("hotl/x", "hotl/x")] {
            let mut program = Program::new(Start::example(["onloop"]), move |io| async move {
                let _ = io.git_survey("/r", asked).await;
                Exit::Done
            });
            let (cwd, branch) = ("/r".to_owned(), branch.to_owned());
            match program.resume(None) {
                Turn::Request(request) => {
                    assert_eq!(request, Request::Git(GitRequest::Survey { cwd, branch }));
                }
                Turn::Exit(exit) => panic!("{exit:?}"),
            }
        }
    }
}
