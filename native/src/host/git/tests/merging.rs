//! Work that goes into another branch, and to another repository.

use super::*;

fn merge(place: &Place, branch: &str, into: &str) -> Result<(), Failure> {
    let commit = place.git("repo", &["rev-parse", branch]);
    place.identify();
    let (branch, into) = (branch.to_owned(), into.to_owned());
    place.perform(GitRequest::Merge { cwd: place.text("repo"), branch, commit, into })
}

#[test]
fn a_merge_is_made_where_the_person_is_not_disturbed() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["switch", "--quiet", "--create", "hotl/x"]);
        place.commit("repo", "work.txt", "work\n");
        place.git("repo", &["tag", "hotl/x", "main"]);
        place.git("repo", &["switch", "--quiet", "--create", "third", "main"]);
        place.identify();
        let tip = place.git("repo", &["rev-parse", "refs/heads/hotl/x"]);
        let request = GitRequest::Merge {
            cwd: place.text("repo"),
            branch: "hotl/x".to_owned(),
            commit: tip.clone(),
            into: "main".to_owned(),
        };
        place.perform(request.clone()).unwrap();
        assert_eq!(place.git("repo", &["branch", "--show-current"]), "third", "{kind}");
        assert_eq!(place.git("repo", &["rev-parse", "main^2"]), tip, "{kind}: no fast-forward");
        let subject = place.git("repo", &["log", "-1", "--format=%s", "main"]);
        assert_eq!(subject, "Merge branch 'hotl/x'", "{kind}");
        // Again there is nothing to merge, and nothing happens.
        let head = place.git("repo", &["rev-parse", "main"]);
        place.perform(request).unwrap();
        assert_eq!(place.git("repo", &["rev-parse", "main"]), head, "{kind}");
    }
}

#[test]
fn a_merge_that_conflicts_leaves_everything_as_it_was() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["switch", "--quiet", "--create", "x"]);
        place.commit("repo", "file.txt", "theirs\n");
        place.commit("repo", "目录/a b.txt", "theirs\n");
        place.git("repo", &["switch", "--quiet", "main"]);
        place.commit("repo", "file.txt", "ours\n");
        place.commit("repo", "目录/a b.txt", "ours\n");
        place.git("repo", &["switch", "--quiet", "--detach"]);
        place.write("repo/untracked.txt", "mine\n");
        let before = place.git("repo", &["for-each-ref"]);
        let failure = merge(&place, "x", "main").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Conflict, "{kind}: {failure}");
        let expected = "`x` and `main` changed the same lines of `file.txt`, `目录/a b.txt`";
        assert_eq!(failure.message, expected, "{kind}");
        assert_eq!(place.git("repo", &["for-each-ref"]), before, "{kind}");
        assert_eq!(place.git("repo", &["branch", "--show-current"]), "", "{kind}");
        assert_eq!(place.git("repo", &["status", "--porcelain"]), "?? untracked.txt", "{kind}");
    }
}

#[test]
fn a_branch_that_moved_or_a_merge_under_way_is_not_merged() {
    let place = Place::with_commit(&[]);
    place.git("repo", &["branch", "x"]);
    let old = place.git("repo", &["rev-parse", "x"]);
    place.git("repo", &["switch", "--quiet", "x"]);
    place.commit("repo", "file.txt", "two\n");
    place.git("repo", &["switch", "--quiet", "main"]);
    let request = |commit: String| GitRequest::Merge {
        cwd: place.text("repo"),
        branch: "x".to_owned(),
        commit,
        into: "main".to_owned(),
    };
    let failure = place.perform(request(old)).unwrap_err();
    assert!(failure.message.starts_with("branch `x` is at "), "{failure}");
    place.git("repo", &["merge", "--quiet", "--no-ff", "--no-commit", "x"]);
    let failure = place.perform(request(place.git("repo", &["rev-parse", "x"]))).unwrap_err();
    assert!(failure.message.contains("in the middle of a merge"), "{failure}");
    assert!(place.path("repo/.git/MERGE_HEAD").exists(), "it is somebody else's merge");
}

#[test]
fn a_merge_base_says_whether_a_commit_is_part_of_a_branch() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let first = place.git("repo", &["rev-parse", "HEAD"]);
        place.git("repo", &["switch", "--quiet", "--create", "x"]);
        place.commit("repo", "file.txt", "two\n");
        let second = place.git("repo", &["rev-parse", "HEAD"]);
        let unknown = "0123456789".repeat(first.len() / 10 + 1)[..first.len()].to_owned();
        for (commit, branch, base) in [
            (&first, "x", Some(&first)),
            (&second, "x", Some(&second)),
            (&second, "main", Some(&first)),
            (&second, "nowhere", None),
            (&unknown, "main", None),
        ] {
            let (cwd, branch) = (place.text("repo"), branch.to_owned());
            let request = GitRequest::MergeBase { cwd, commit: commit.clone(), branch };
            let found = OsGit::new().perform(&request).unwrap();
            assert_eq!(found, Outcome::Commit { commit: base.cloned() }, "{kind}");
        }
    }
}

#[test]
fn a_push_sets_the_upstream_never_forces_and_asks_the_hook() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let push = |branch: &str| {
            let (remote, branch) = ("origin".to_owned(), branch.to_owned());
            place.perform(GitRequest::Push { cwd: place.text("repo"), remote, branch })
        };
        let remote_branch = |branch: &str| {
            let (remote, branch) = ("origin".to_owned(), branch.to_owned());
            let cwd = place.text("repo");
            match OsGit::new().perform(&GitRequest::RemoteBranch { cwd, remote, branch }).unwrap() {
                Outcome::Commit { commit } => commit,
                other => panic!("{other:?}"),
            }
        };
        let missing = push("main").unwrap_err();
        assert_eq!(missing.kind, FailureKind::NotFound, "{kind}: {missing}");
        let options: Vec<&str> = init.iter().copied().chain(["--bare"]).collect();
        place.init("remote.git", &options);
        place.git("repo", &["remote", "add", "origin", "../remote.git"]);
        place.git("repo", &["branch", "hotl/x"]);
        assert_eq!(remote_branch("hotl/x"), None, "{kind}");
        push("hotl/x").unwrap();
        let tip = place.git("repo", &["rev-parse", "hotl/x"]);
        assert_eq!(remote_branch("hotl/x"), Some(tip), "{kind}");
        assert_eq!(remote_branch("x"), None, "{kind}: a longer name is another branch");
        let upstream = place.git("repo", &["rev-parse", "--abbrev-ref", "hotl/x@{upstream}"]);
        assert_eq!(upstream, "origin/hotl/x", "{kind}");
        place.git("repo", &["switch", "--quiet", "hotl/x"]);
        place.git("repo", &["commit", "--quiet", "--amend", "--message", "another"]);
        let rejected = push("hotl/x").unwrap_err();
        assert_eq!(rejected.kind, FailureKind::Conflict, "{kind}: {rejected}");
        assert_eq!(push("--mirror").unwrap_err().kind, FailureKind::Invalid, "{kind}");
    }
}

#[cfg(unix)]
#[test]
fn a_hook_may_refuse_a_push() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_commit(&[]);
    place.init("remote.git", &["--bare"]);
    place.git("repo", &["remote", "add", "origin", "../remote.git"]);
    place.write("repo/.git/hooks/pre-push", "#!/bin/sh\necho no secrets >&2\nexit 1\n");
    let hook = place.path("repo/.git/hooks/pre-push");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (remote, branch) = ("origin".to_owned(), "main".to_owned());
    let push = GitRequest::Push { cwd: place.text("repo"), remote, branch };
    let failure = place.perform(push).unwrap_err();
    assert!(failure.message.contains("no secrets"), "{failure}");
    assert_eq!(place.git("remote.git", &["for-each-ref"]), "");
}

/// A repository in which a merge of `x` into `main` was killed: its note and its locks are there, one
/// file is new, one has only its first part, one is gone. Returns the commit of `x`.
fn killed_merge(place: &Place) -> String {
    place.commit("repo", "gone.txt", "old\n");
    place.commit("repo", "part.txt", "old\n");
    place.git("repo", &["switch", "--quiet", "--create", "x"]);
    for (file, content) in [
        ("file.txt", "new\n"),
        ("gone.txt", "new\n"),
        ("part.txt", "a new text\n"),
        ("b/new.txt", "n\n"),
    ] {
        place.commit("repo", file, content);
    }
    let tip = place.git("repo", &["rev-parse", "x"]);
    place.git("repo", &["switch", "--quiet", "main"]);
    place.write("repo/.git/onloop-merge", &format!("{tip}\nrefs/heads/main\n"));
    place.write("repo/file.txt", "new\n");
    place.write("repo/part.txt", "a new");
    place.write("repo/b/new.txt", "n\n");
    fs::remove_file(place.path("repo/gone.txt")).unwrap();
    for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        place.write(&format!("repo/.git/{lock}"), "");
    }
    tip
}

#[test]
fn a_killed_merge_is_made_by_the_next_one() {
    let place = Place::with_commit(&[]);
    let tip = killed_merge(&place);
    merge(&place, "x", "main").unwrap();
    assert_eq!(place.git("repo", &["rev-parse", "main^2"]), tip);
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(place.path("repo/part.txt")).unwrap(), "a new text\n");
    assert!(!place.path("repo/.git/onloop-merge").exists());
}

#[test]
fn a_merge_that_was_killed_on_its_way_back_ends_where_the_person_was() {
    let place = Place::with_commit(&[]);
    place.git("repo", &["switch", "--quiet", "--create", "third"]);
    place.commit("repo", "third.txt", "third\n");
    place.git("repo", &["switch", "--quiet", "--create", "x", "main"]);
    place.commit("repo", "file.txt", "new\n");
    let tip = place.git("repo", &["rev-parse", "x"]);
    place.git("repo", &["switch", "--quiet", "main"]);
    place.git("repo", &["merge", "--quiet", "--no-ff", "x"]);
    place.write("repo/.git/onloop-merge", &format!("{tip}\nrefs/heads/third\n"));
    place.write("repo/third.txt", "thi");
    place.write("repo/.git/index.lock", "");
    merge(&place, "x", "main").unwrap();
    assert_eq!(place.git("repo", &["branch", "--show-current"]), "third");
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(place.path("repo/file.txt")).unwrap(), "one\n");
}

#[test]
fn a_file_that_a_person_changed_after_a_killed_merge_is_kept() {
    let place = Place::with_commit(&[]);
    killed_merge(&place);
    place.write("repo/file.txt", "mine\n");
    let failure = merge(&place, "x", "main").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict);
    assert!(failure.message.contains("and `file.txt` has content that git did not"), "{failure}");
    assert_eq!(fs::read_to_string(place.path("repo/file.txt")).unwrap(), "mine\n");
    place.git("repo", &["checkout", "--quiet", "HEAD", "--", "file.txt"]);
    merge(&place, "x", "main").unwrap();
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_git_does_not_track_is_not_overwritten() {
    let place = Place::with_commit(&[]);
    place.commit("repo", ".gitignore", "secret.txt\n");
    place.git("repo", &["switch", "--quiet", "--create", "x"]);
    place.write("repo/secret.txt", "theirs\n");
    place.git("repo", &["add", "--force", "secret.txt"]);
    place.commit("repo", "file.txt", "two\n");
    place.git("repo", &["switch", "--quiet", "main"]);
    place.write("repo/secret.txt", "mine\n");
    let failure = merge(&place, "x", "main").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict);
    assert!(failure.message.contains("git does not track `secret.txt`"), "{failure}");
    assert_eq!(fs::read_to_string(place.path("repo/secret.txt")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(place.path("repo/file.txt")).unwrap(), "one\n");
    fs::rename(place.path("repo/secret.txt"), place.path("secret.txt")).unwrap();
    merge(&place, "x", "main").unwrap();
    assert_eq!(fs::read_to_string(place.path("repo/secret.txt")).unwrap(), "theirs\n");
}

fn recover(place: &Place) -> Result<(), Failure> {
    place.perform(GitRequest::RecoverMerge {
        cwd: place.text("repo"),
        branch: "x".to_owned(),
        commit: place.git("repo", &["rev-parse", "x"]),
        into: "main".to_owned(),
    })
}

#[test]
fn a_killed_merge_can_be_undone_and_what_it_left_after_its_commit_is_removed() {
    let place = Place::with_commit(&[]);
    recover(&{
        let place = Place::with_commit(&[]);
        place.git("repo", &["branch", "x"]);
        place
    })
    .expect("without a killed merge nothing happens");
    killed_merge(&place);
    let main = place.git("repo", &["rev-parse", "main"]);
    recover(&place).unwrap();
    assert_eq!(place.git("repo", &["rev-parse", "main"]), main, "nothing is merged");
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
    assert!(!place.path("repo/.git/onloop-merge").exists());
    assert!(!place.path("repo/.git/index.lock").exists());
    // Killed after the commit, before git forgot the merge.
    let tip = place.git("repo", &["rev-parse", "x"]);
    place.git("repo", &["merge", "--quiet", "--no-ff", "x"]);
    place.write("repo/.git/MERGE_HEAD", &format!("{tip}\n"));
    place.write("repo/.git/MERGE_MSG", "Merge branch 'x'\n");
    place.write("repo/.git/onloop-merge", &format!("{tip}\nrefs/heads/main\n"));
    recover(&place).unwrap();
    assert!(place.git("repo", &["status"]).contains("nothing to commit, working tree clean"));
    for left in ["MERGE_HEAD", "MERGE_MSG", "onloop-merge"] {
        assert!(!place.path(&format!("repo/.git/{left}")).exists(), "{left}");
    }
}

#[test]
fn a_merge_whose_git_still_works_is_left_to_it() {
    let place = Place::with_commit(&[]);
    killed_merge(&place);
    let hook = "alias.wait=!sleep 3";
    let mut git = Command::new("git")
        .current_dir(place.path("repo"))
        .args(["-c", hook, "wait"])
        .spawn()
        .unwrap();
    let failure = recover(&place).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Busy, "{failure}");
    assert!(failure.message.contains("index.lock"), "{failure}");
    git.wait().unwrap();
    recover(&place).unwrap();
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
}
