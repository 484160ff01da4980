//! Names in a remote repository that several machines change.

use std::thread;

use onloop_core::effect::{KeptFile, RefUpdate};
use onloop_core::time::Timestamp;

use super::*;

/// A repository with a bare one, `hub.git`, as its remote.
fn with_hub(init: &[&str]) -> Place {
    let place = Place::with_commit(init);
    let hub = place.text("hub.git");
    place.git(".", &[&["init", "--quiet", "--bare"], init, &[&hub]].concat());
    place.git("repo", &["remote", "add", "origin", &hub]);
    place
}

/// A commit that holds `text` as its only file.
fn keep(place: &Place, text: &str) -> String {
    let request = GitRequest::KeepFiles {
        cwd: place.text("repo"),
        files: vec![KeptFile { name: "ledger.jsonl".to_owned(), bytes: text.into() }],
        name: None,
        parent: None,
        message: "Ledger\n".to_owned(),
        at: Timestamp::from_millis(1_774_000_000_000),
    };
    match OsGit::new().perform(&request) {
        Ok(Outcome::Commit { commit: Some(commit) }) => commit,
        other => panic!("{other:?}"),
    }
}

fn update(name: &str, expected: Option<&String>, commit: &str) -> RefUpdate {
    let commit = Some(commit.to_owned());
    RefUpdate { name: name.to_owned(), expected: expected.cloned(), commit }
}

fn push(place: &Place, updates: Vec<RefUpdate>) -> Result<(), Failure> {
    let (cwd, remote) = (place.text("repo"), "origin".to_owned());
    place.perform(GitRequest::PushRefs { cwd, remote, updates })
}

fn there(place: &Place) -> String {
    place.git("hub.git", &["for-each-ref", "--format=%(refname) %(objectname)"])
}

#[test]
fn the_library_and_the_program_make_the_same_commit() {
    for (kind, init) in KINDS {
        let place = with_hub(init);
        let file = |name: &str, text: &str| KeptFile { name: name.to_owned(), bytes: text.into() };
        let request = GitRequest::KeepFiles {
            cwd: place.text("repo"),
            files: vec![file("lease.json", "{}"), file("a", ""), file("ledger.jsonl", "1\r\n")],
            name: Some("sessions/s1/1".to_owned()),
            parent: Some(place.git("repo", &["rev-parse", "HEAD"])),
            message: "Lease\n".to_owned(),
            at: Timestamp::from_millis(1_774_000_000_999),
        };
        let named = || {
            place.git("repo", &["for-each-ref", "--format=%(objectname)", "refs/onloop/sessions"])
        };
        let made = OsGit::new().perform(&request).unwrap();
        let Outcome::Commit { commit: Some(commit) } = made else { panic!("{made:?}") };
        assert_eq!(named(), commit, "{kind}");
        let listed = place.git("repo", &["ls-tree", "--format=%(objectmode) %(path)", &commit]);
        assert_eq!(listed, "100644 a\n100644 lease.json\n100644 ledger.jsonl", "{kind}");
    }
}

#[test]
fn of_many_who_expect_the_same_one_wins() {
    for (kind, init) in KINDS {
        let place = with_hub(init);
        let commits: Vec<String> = (0..8).map(|n| keep(&place, &format!("{n}\n"))).collect();
        let place = &place;
        let results: Vec<Result<(), Failure>> = thread::scope(|scope| {
            let race = |commit: &String| {
                let commit = commit.clone();
                scope.spawn(move || push(place, vec![update("r/l", None, &commit)]))
            };
            let racers: Vec<_> = commits.iter().map(race).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let won: Vec<&String> =
            commits.iter().zip(&results).filter(|(_, r)| r.is_ok()).map(|(c, _)| c).collect();
        assert_eq!(won.len(), 1, "{kind}: {results:?}");
        assert_eq!(there(place), format!("refs/onloop/r/l {}", won[0]), "{kind}");
        for failure in results.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(failure.kind, FailureKind::Conflict, "{kind}: {failure}");
        }
    }
}

#[test]
fn all_names_change_or_none() {
    let place = with_hub(&[]);
    let (one, two) = (keep(&place, "1\n"), keep(&place, "2\n"));
    push(&place, vec![update("r/a", None, &one), update("r/b", None, &one)]).unwrap();
    let before = there(&place);
    let updates = vec![update("r/a", Some(&one), &two), update("r/b", Some(&two), &two)];
    let failure = push(&place, updates).unwrap_err();
    let expected = format!("`refs/onloop/r/b` of `origin` names {one}, expected {two}: ");
    assert!(failure.message.starts_with(&expected), "{failure}");
    assert_eq!(there(&place), before);
}

#[cfg(unix)]
#[test]
fn a_repository_on_this_machine_is_not_asked_about_other_runs() {
    use std::os::unix::fs::PermissionsExt;
    let place = with_hub(&[]);
    let one = keep(&place, "1\n");
    push(&place, vec![update("r/a", None, &one)]).unwrap();
    let seen = place.path("seen");
    place.write(
        "hub.git/hooks/update",
        &format!(
            "#!/bin/sh\nfor name in receive.hideRefs core.alternateRefsCommand receive.autoGC; do git config \
             --get-all $name; done > '{}' || true\n",
            seen.display()
        ),
    );
    let hook = place.path("hub.git/hooks/update");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let two = keep(&place, "2\n");
    push(&place, vec![update("r/a", Some(&one), &two), update("r/b", None, &one)]).unwrap();
    assert_eq!(place.read("seen"), "refs/onloop\n!refs/onloop/r\ntrue\nfalse\n");
    // What a shell would read as something else goes without.
    push(&place, vec![update("r$(x)/a", None, &one)]).unwrap();
    assert_eq!(place.read("seen"), "");
    assert!(there(&place).contains("refs/onloop/r$(x)/a"));
    // Neither is a git told anything that somebody has chosen, or that may be elsewhere.
    let more = place.text("more.git");
    place.git(".", &["init", "--quiet", "--bare", &more]);
    let hub = place.text("hub.git");
    for (count, (words, is_told)) in [
        (&["config", "remote.origin.receivepack", "git receive-pack"][..], false),
        (&["config", "--unset", "remote.origin.receivepack"], true),
        (&["remote", "set-url", "--add", "--push", "origin", &hub], true),
        (&["remote", "set-url", "--add", "--push", "origin", &more], false),
    ]
    .into_iter()
    .enumerate()
    {
        place.git("repo", words);
        push(&place, vec![update(&format!("r/{count}"), None, &one)]).unwrap();
        assert_eq!(!place.read("seen").is_empty(), is_told, "{words:?}");
    }
}

#[test]
fn a_lock_that_somebody_has_left_there_is_named() {
    let place = with_hub(&[]);
    let one = keep(&place, "1\n");
    place.write("hub.git/refs/onloop/r/a.lock", "");
    let failure = push(&place, vec![update("r/a", None, &one)]).unwrap_err();
    let lock = format!("{}/./refs/onloop/r/a.lock", place.text("hub.git"));
    let first = format!(
        "`origin` did not take it: `{lock}` is there: another git is running, or a killed one \
         left it; when no git runs in this repository, remove that file"
    );
    assert_eq!(failure.message.lines().next(), Some(first.as_str()));
    assert_eq!(failure.kind, FailureKind::Denied);
    fs::remove_file(place.path("hub.git/refs/onloop/r/a.lock")).unwrap();
    push(&place, vec![update("r/a", None, &one)]).unwrap();
}

#[cfg(unix)]
#[test]
fn a_connection_that_ends_after_the_deed_is_a_deed() {
    use std::os::unix::fs::PermissionsExt;
    let place = with_hub(&[]);
    let one = keep(&place, "1\n");
    place.write("hub.git/hooks/post-receive", "#!/bin/sh\nkill -9 $PPID\n");
    let hook = place.path("hub.git/hooks/post-receive");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    push(&place, vec![update("r/a", None, &one)]).unwrap();
    assert_eq!(there(&place), format!("refs/onloop/r/a {one}"));
    // What the remote itself refuses is said with its words.
    fs::rename(&hook, place.path("hub.git/hooks/pre-receive")).unwrap();
    place.write("hub.git/hooks/pre-receive", "#!/bin/sh\necho not today\nexit 1\n");
    let failure = push(&place, vec![update("r/b", None, &one)]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
    assert!(failure.message.contains("origin: not today"), "{failure}");
    // And a hook here, which sees what is about to leave.
    place.write("repo/.git/hooks/pre-push", "#!/bin/sh\ncat >&2\nexit 1\n");
    let hook = place.path("repo/.git/hooks/pre-push");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let failure = push(&place, vec![update("r/b", None, &one)]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
    assert!(failure.message.contains("refs/onloop/r/b"), "{failure}");
}

#[test]
fn invalid_names_do_not_reach_git() {
    let place = with_hub(&[]);
    let one = keep(&place, "1\n");
    let cwd = || place.text("repo");
    let file = |name: &str| KeptFile { name: name.to_owned(), bytes: "x".into() };
    let keeping = |name: &str| GitRequest::KeepFiles {
        cwd: cwd(),
        files: vec![file(name)],
        name: None,
        parent: None,
        message: "m".to_owned(),
        at: Timestamp::EPOCH,
    };
    let fetching = |remote: &str, prefix: &str| GitRequest::FetchRefs {
        cwd: cwd(),
        remote: remote.to_owned(),
        prefix: prefix.to_owned(),
    };
    let pushing = |name: &str, commit: &str| GitRequest::PushRefs {
        cwd: cwd(),
        remote: "origin".to_owned(),
        updates: vec![update(name, None, commit)],
    };
    for request in [
        keeping("../x"),
        keeping("a\tb"),
        keeping(".git"),
        keeping(""),
        fetching("--upload-pack=x", "r"),
        fetching("origin", "*"),
        fetching("origin", "r/../.."),
        pushing("r:refs/heads/main", &one),
        pushing("r", "HEAD"),
        pushing("r", "--exec=x"),
    ] {
        let failure = OsGit::new().perform(&request).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{request:?}: {failure}");
    }
    assert_eq!(there(&place), "");
}
