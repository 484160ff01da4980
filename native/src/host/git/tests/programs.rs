//! Programs that a repository names: filters have to run, hooks and monitors must not.

use super::*;

/// A repository whose files are stored in upper case and checked out in lower case, by a
/// filter that only the git program runs.
pub(super) fn with_filter() -> Place {
    let place = Place::new();
    place.init("repo", &[]);
    place.write("upper.sh", "#!/bin/sh\ntr a-z A-Z\n");
    place.write("lower.sh", "#!/bin/sh\ntr A-Z a-z\n");
    for (key, script) in [("filter.case.clean", "upper.sh"), ("filter.case.smudge", "lower.sh")] {
        let command = format!("sh '{}'", place.text(script));
        place.git("repo", &["config", key, &command]);
    }
    place.git("repo", &["config", "filter.case.required", "true"]);
    place.write("repo/sub/.gitattributes", "*.dat filter=case\n");
    place.commit("repo", "sub/big.dat", "content\n");
    place
}

#[test]
fn filters_are_applied_to_checkouts_and_to_the_state_of_files() {
    let place = with_filter();
    assert_eq!(place.git("repo", &["cat-file", "blob", "HEAD:sub/big.dat"]), "CONTENT");
    // A new modification time makes git compare the content.
    place.write("repo/sub/big.dat", "content\n");
    assert_eq!(place.survey("repo", "x").unwrap().dirty, Vec::<String>::new());
    place.create("tree", "x", true).unwrap();
    assert_eq!(place.read("tree/sub/big.dat"), "content\n");
    place.switch("y", true).unwrap();
    place.commit("repo", "sub/second.dat", "more\n");
    place.switch("main", false).unwrap();
    place.switch("y", false).unwrap();
    assert_eq!(place.read("repo/sub/second.dat"), "more\n");
}

#[test]
fn a_filter_that_fails_leaves_nothing_behind() {
    let place = with_filter();
    place.write("lower.sh", "exit 1\n");
    place.create(".hotl-worktrees/repo/x", "hotl/x", true).unwrap_err();
    assert!(!place.path(".hotl-worktrees").exists());
    assert_eq!(place.branches(), "main");
    assert_eq!(place.worktrees("repo").len(), 1);
}

#[test]
fn hooks_and_file_system_monitors_of_the_repository_do_not_run() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let trap = format!("#!/bin/sh\ntouch '{}'\n", place.text("sprung"));
        for hook in ["post-checkout", "reference-transaction", "pre-commit", "monitor"] {
            let path = format!("repo/.git/hooks/{hook}");
            place.write(&path, &trap);
            let mut permissions = fs::metadata(place.path(&path)).unwrap().permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
            fs::set_permissions(place.path(&path), permissions).unwrap();
        }
        let monitor = place.text("repo/.git/hooks/monitor");
        place.git("repo", &["config", "core.fsmonitor", &monitor]);
        place.git("repo", &["status"]);
        fs::remove_file(place.path("sprung")).expect("the trap works");
        place.survey("repo", "x").unwrap();
        place.create("tree", "x", true).unwrap();
        place.switch("y", true).unwrap();
        place.switch("main", false).unwrap();
        place.remove("tree").unwrap();
        place.delete("x").unwrap();
        place.write("repo/file.txt", "changed\n");
        let cwd = place.text("repo");
        let (message, paths) = ("m".to_owned(), vec!["file.txt".to_owned()]);
        place.perform(GitRequest::Stash { cwd, message, paths }).unwrap();
        assert!(!place.path("sprung").exists(), "{kind}");
    }
}

#[test]
fn a_key_that_was_added_is_named_with_its_file_and_the_command_that_removes_it() {
    let place = Place::with_commit(&[]);
    let checkpoint = |programs: Option<String>| GitRequest::Checkpoint {
        cwd: place.text("repo"),
        index: place.text("state/index"),
        name: "r/0".to_owned(),
        parent: None,
        message: "kept\n".to_owned(),
        at: onloop_core::time::Timestamp::from_millis(0),
        limit_bytes: 1000,
        programs,
    };
    let kept = OsGit::new().perform(&checkpoint(None)).unwrap();
    let Outcome::Checkpoint(kept) = kept else { panic!("{kept:?}") };
    place.git("repo", &["config", "include.path", "in c"]);
    place.write("repo/.git/in c", "[gpg]\nprogram = /tmp/evil\n");
    place.git("repo", &["config", "extensions.worktreeConfig", "true"]);
    place.git("repo", &["config", "--worktree", "core.sshCommand", "/tmp/evil"]);
    place.git("repo", &["config", "merge.x.driver", "/tmp/evil"]);
    let again = checkpoint(Some(kept.programs));
    let failure = OsGit::new().perform(&again).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
    for (key, file) in [
        ("gpg.program", "in c"),
        ("core.sshcommand", "config.worktree"),
        ("merge.x.driver", "config"),
    ] {
        let file = place.text(&format!("repo/.git/{file}"));
        assert!(failure.message.contains(&format!("`{key}` in `{file}`")), "{failure}");
    }
    let commands = failure.fix.unwrap().command.unwrap();
    assert!(Command::new("sh").arg("-c").arg(&commands).status().unwrap().success(), "{commands}");
    OsGit::new().perform(&again).unwrap();
}
