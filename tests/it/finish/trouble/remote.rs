//! Other repositories that do not answer, or do not take what they get.

use super::{OPEN, open, text};
use crate::finish::Finished;
use crate::rounds::sampled;
use crate::workspace::Workspace;

/// A completed run whose repository has the remote `origin`, a bare repository beside it.
fn with_remote() -> Finished {
    let run = open();
    add_remote(&run.workspace);
    run
}

pub(super) fn add_remote(workspace: &Workspace) {
    workspace.git_says(&["init", "--quiet", "--bare", "../remote.git"]);
    workspace.git_says(&["remote", "add", "origin", "../remote.git"]);
}

pub(super) fn hook(workspace: &Workspace, path: &str, script: &str) {
    workspace.write(path, format!("#!/bin/sh\n{script}\n"));
    workspace.shell(&format!("chmod +x {path}")).expect_exit(0);
}

pub(super) fn published(run: &Finished) -> bool {
    !run.workspace.git_says(&["ls-remote", "origin", "refs/heads/hotl/x"]).is_empty()
}

#[test]
fn a_push_that_is_refused_says_by_whom_and_why() {
    let not = "error: `hotl/x` was not published cause: ";
    let cases = [
        (
            "../remote.git/hooks/pre-receive",
            "echo 'no secrets, see policy 7' >&2; exit 1",
            "`origin` refused `hotl/x` (pre-receive hook declined)\n  origin: no secrets, see \
             policy 7\n"
                .to_owned(),
        ),
        (
            "../remote.git/hooks/update",
            "echo \"GH006: Protected branch update failed for $1.\" >&2; exit 1",
            "`origin` refused `hotl/x` (hook declined)\n  origin: GH006: Protected branch update \
             failed for refs/heads/hotl/x.\n  origin: error: hook declined to update \
             refs/heads/hotl/x\n"
                .to_owned(),
        ),
        (".git/hooks/pre-push", "echo 'wait until Monday' >&2; exit 1", String::new()),
    ];
    for (path, script, why) in sampled(3, cases) {
        let workspace = Workspace::git();
        add_remote(&workspace);
        hook(&workspace, path, script);
        let run = Finished::begun(workspace, "worktree", OPEN, 0);
        let own = format!(
            "the hook `{}` refused it\n  wait until Monday\nfix: do what the hook says, then run the \
             same command again\n",
            text(&run.workspace, ".git/hooks/pre-push")
        );
        let why = if why.is_empty() { own } else { why };
        let expected = format!("{not}{}", crate::flat(&why));
        assert_eq!(crate::flat(&run.refused(&["publish"])), expected, "{path}");
        assert!(!published(&run), "{path}");
        assert_eq!(run.workspace.record()["finish"], serde_json::Value::Null, "{path}");
        hook(&run.workspace, path, script.split(';').next().unwrap_or_default());
        if path.starts_with("..") {
            assert_eq!(run.done(&["publish"])["disposition"], "published", "{path}");
        }
    }
}

#[test]
fn nothing_is_forced_over_what_others_have_pushed() {
    let run = with_remote();
    let workspace = &run.workspace;
    workspace.git_says(&["commit", "--quiet", "--allow-empty", "--message", "Other"]);
    workspace.git_says(&["push", "--quiet", "origin", "main:hotl/x"]);
    workspace.git_says(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let before = workspace.git_says(&["ls-remote", "origin"]);
    let said = run.refused(&["publish"]);
    assert_eq!(
        crate::flat(&said),
        "error: `hotl/x` was not published cause: `origin` has commits on `hotl/x` that are not here \
         (non-fast-forward), and nothing is forced; see them: git fetch origin hotl/x, git log \
         FETCH_HEAD"
    );
    assert_eq!(workspace.git_says(&["ls-remote", "origin"]), before);
}

#[test]
#[ignore = "only with --all"]
fn a_remote_that_is_not_there_is_named() {
    let run = open();
    let root = run.workspace.path("").canonicalize().unwrap();
    let not = "error: could not ask `origin` for `hotl/x`; nothing was published cause: ";
    assert_eq!(
        crate::flat(&run.refused(&["publish"])),
        format!(
            "{not}there is no remote `origin` in `{}` (configured: none); add it: git remote add \
             origin ADDRESS",
            root.display()
        )
    );
    run.workspace.git_says(&["remote", "add", "origin", "../nowhere.git"]);
    assert_eq!(
        crate::flat(&run.refused(&["publish"])),
        format!(
            "{not}`origin` does not answer: '../nowhere.git' does not appear to be a git repository"
        )
    );
}

#[test]
#[ignore = "only with --all"]
fn whoever_has_taken_the_branch_has_it_whatever_else_went_wrong() {
    let run = with_remote();
    // The upstream is written after the push.
    run.workspace.write(".git/config.lock", "");
    let finish = run.done(&["publish"]);
    assert_eq!(finish["disposition"], "published");
    assert!(published(&run));
}

#[test]
#[ignore = "only with --all"]
fn a_shallow_clone_works_and_what_it_lacks_is_named() {
    let source = Workspace::git();
    source.git_says(&["commit", "--quiet", "--allow-empty", "--message", "Second"]);
    source.git_says(&["switch", "--quiet", "--create", "release", "HEAD~1"]);
    source.git_says(&["commit", "--quiet", "--allow-empty", "--message", "Release"]);
    source.git_says(&["switch", "--quiet", "main"]);
    let address = format!("file://{}", text(&source, ""));
    let workspace = Workspace::plain();
    let clone = ["clone", "--quiet", "--depth=1", "--no-single-branch", &address, "."];
    workspace.git_says(&clone);
    workspace.identify();
    workspace.git_says(&["branch", "--quiet", "release", "origin/release"]);
    let run = Finished::begun(workspace, "worktree", OPEN, 0);
    let workspace = &run.workspace;
    assert_eq!(
        crate::flat(&run.refused(&["merge", "--target-branch", "release"])),
        "error: `release` and `hotl/x` have no commit in common here fix: in a shallow clone, fetch \
         the rest: git fetch --unshallow"
    );
    workspace.git_says(&["init", "--quiet", "--bare", "../other.git"]);
    workspace.git_says(&["remote", "add", "other", "../other.git"]);
    assert_eq!(
        crate::flat(&run.refused(&["publish", "--remote", "other"])),
        "error: `hotl/x` was not published cause: `other` refused `hotl/x` (shallow update not \
         allowed); this clone is shallow, so run: git fetch --unshallow"
    );
    assert_eq!(run.done(&["publish"])["disposition"], "published");
    assert_eq!(run.done(&["merge", "--force"])["disposition"], "merged");
    assert_eq!(workspace.git_says(&["show", "main:work.txt"]), "done");
}
