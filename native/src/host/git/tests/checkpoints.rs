//! Checkpoints: everything that git would keep, and nothing of the checkout touched.

use std::os::unix::fs::{PermissionsExt, symlink};

use onloop_core::effect::{KeptWork, LeftOut, LeftOutReason};
use onloop_core::text::name_bytes;
use onloop_core::time::Timestamp;

use super::*;

const LIMIT_BYTES: u64 = 1000;

impl Place {
    fn keep(&self, cwd: &str, name: &str, parent: Option<&str>) -> Result<KeptWork, Failure> {
        self.keep_with(cwd, name, parent, None)
    }

    fn keep_with(
        &self,
        cwd: &str,
        name: &str,
        parent: Option<&str>,
        programs: Option<&str>,
    ) -> Result<KeptWork, Failure> {
        let request = GitRequest::Checkpoint {
            cwd: self.text(cwd),
            index: self.text(&format!("state-{}/index", cwd.replace('/', "-"))),
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            message: "kept\n".to_owned(),
            at: Timestamp::from_millis(1_774_000_000_000),
            limit_bytes: LIMIT_BYTES,
            programs: programs.map(str::to_owned),
        };
        match OsGit::new().perform(&request)? {
            Outcome::Checkpoint(kept) => Ok(kept),
            other => panic!("{other:?}"),
        }
    }

    fn restore(&self, cwd: &str, commit: &str) -> Result<(), Failure> {
        self.perform(GitRequest::Restore {
            cwd: self.text(cwd),
            index: self.text(&format!("state-{}/index", cwd.replace('/', "-"))),
            commit: commit.to_owned(),
            paths: Vec::new(),
            programs: None,
        })
    }

    /// The names in a tree, each with its mode.
    fn listed(&self, tree: &str) -> Vec<String> {
        let list = self.git("repo", &["ls-tree", "-r", "--format=%(objectmode) %(path)", tree]);
        list.lines().map(str::to_owned).collect()
    }

    /// What must be the same before and after a checkpoint.
    fn untouched(&self) -> String {
        let git = |args: &[&str]| self.git("repo", args);
        [
            git(&["for-each-ref", "refs/heads", "refs/stash"]),
            git(&["rev-parse", "HEAD"]),
            git(&["reflog"]),
            git(&["ls-files", "--stage", "--debug"]),
            git(&["--no-optional-locks", "status", "--porcelain", "--ignored"]),
        ]
        .join("\n--\n")
    }
}

#[test]
fn what_is_in_the_checkout_is_kept_and_nothing_is_touched() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.commit("repo", "gone.txt", "x\n");
        place.write("repo/.gitignore", "*.log\n");
        place.write("repo/x.log", "");
        place.write("repo/.hotl/state/x.json", "{}");
        place.write("repo/file.txt", "two\n");
        place.write("repo/sub/new file.txt", "new\n");
        place.write("repo/run.sh", "#!/bin/sh\n");
        fs::set_permissions(place.path("repo/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("nowhere", place.path("repo/link")).unwrap();
        fs::remove_file(place.path("repo/gone.txt")).unwrap();
        place.write("repo/staged.txt", "staged\n");
        place.git("repo", &["add", "staged.txt"]);
        let before = place.untouched();
        let kept = place.keep("repo", "r/0", None).unwrap();
        assert_eq!(place.untouched(), before, "{kind}");
        assert_eq!(
            place.listed(&kept.tree),
            [
                "100644 .gitignore",
                "100644 file.txt",
                "120000 link",
                "100755 run.sh",
                "100644 staged.txt",
                "100644 sub/new file.txt",
            ],
            "{kind}"
        );
        assert_eq!(kept.left_out, [], "{kind}");
        let git = |args: &[&str]| place.git("repo", args);
        assert_eq!(git(&["rev-parse", "refs/onloop/r/0^{commit}"]), kept.commit, "{kind}");
        assert_eq!(git(&["rev-parse", "refs/onloop/r/0^{tree}"]), kept.tree, "{kind}");
        assert_eq!(git(&["rev-parse", "refs/onloop/r/0^"]), git(&["rev-parse", "HEAD"]), "{kind}");
        assert_eq!(
            git(&["log", "-1", "--format=%an %ae %ct %B", &kept.commit]),
            "onloop onloop@localhost 1774000000 kept",
            "{kind}"
        );
        // The library and the program find the same changes.
        let request = GitRequest::ChangedPaths {
            cwd: place.text("repo"),
            from: git(&["rev-parse", "HEAD"]),
            to: kept.commit.clone(),
        };
        let names = [
            ".gitignore",
            "file.txt",
            "gone.txt",
            "link",
            "run.sh",
            "staged.txt",
            "sub/new file.txt",
        ];
        let expected = Ok(Outcome::Names { names: names.map(str::to_owned).to_vec() });
        assert_eq!(OsGit::new().perform(&request), expected, "{kind}");
        // The next one follows it; the same files have the same tree.
        let again = place.keep("repo", "r/1-1", Some(&kept.commit)).unwrap();
        assert_eq!((&again.tree, &again.programs), (&kept.tree, &kept.programs), "{kind}");
        assert_eq!(git(&["rev-parse", "refs/onloop/r/1-1^"]), kept.commit, "{kind}");
        place.restore("repo", &git(&["rev-parse", "HEAD"])).unwrap();
        assert_eq!(place.read("repo/file.txt"), "one\n", "{kind}");
        assert_eq!(place.read("repo/gone.txt"), "x\n", "{kind}");
        assert!(!place.path("repo/sub").exists() && !place.path("repo/.gitignore").exists());
        assert_eq!(place.read("repo/.hotl/state/x.json"), "{}", "{kind}");
        place.restore("repo", &kept.commit).unwrap();
        assert_eq!(place.keep("repo", "r/2-1", None).unwrap().tree, kept.tree, "{kind}");
    }
}

#[test]
fn a_tracked_file_is_kept_though_its_name_is_ignored() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.commit("repo", ".gitignore", "dist/\n*.log\n");
        let first = place.keep("repo", "r/0", None).unwrap();
        for name in ["committed.js", "staged.js", "ignored.js"] {
            place.write(&format!("repo/dist/{name}"), "1\n");
        }
        place.git("repo", &["add", "--force", "dist/committed.js"]);
        place.git("repo", &["commit", "--quiet", "--message", "dist"]);
        place.git("repo", &["add", "--force", "dist/staged.js"]);
        let second = place.keep("repo", "r/1-1", Some(&first.commit)).unwrap();
        let kept = |name: &str| format!("100644 dist/{name}");
        let expected = [kept("committed.js"), kept("staged.js")];
        assert_eq!(place.listed(&second.tree)[1..3], expected, "{kind}");
        place.write("repo/dist/committed.js", "2\n");
        fs::remove_file(place.path("repo/dist/staged.js")).unwrap();
        let third = place.keep("repo", "r/2-1", Some(&second.commit)).unwrap();
        let args = ["diff-tree", "-r", "--name-status", &second.commit, &third.commit];
        let changed = "M\tdist/committed.js\nD\tdist/staged.js";
        assert_eq!(place.git("repo", &args), changed, "{kind}");
        place.restore("repo", &second.commit).unwrap();
        assert_eq!(place.read("repo/dist/committed.js"), "1\n", "{kind}");
    }
}

#[test]
fn an_unborn_branch_and_a_folder_below_the_top_are_kept_whole() {
    for (kind, init) in KINDS {
        let place = Place::new();
        place.init("repo", init);
        place.write("repo/a.txt", "a\n");
        place.write("repo/sub/b.txt", "b\n");
        let kept = place.keep("repo/sub", "r/0", None).unwrap();
        assert_eq!(place.listed(&kept.tree), ["100644 a.txt", "100644 sub/b.txt"], "{kind}");
        let outside = place.path("outside");
        fs::create_dir(outside).unwrap();
        assert_eq!(place.keep("outside", "r/0", None).unwrap_err().kind, FailureKind::NotFound);
        for name in ["", "../x", "a b", "r/-1.lock", "HEAD"] {
            let failure = place.keep("repo", name, None).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Invalid, "{name}: {failure}");
        }
    }
}

#[test]
fn sparse_and_split_indexes_and_the_users_flags_are_understood() {
    let settings: [&[&[&str]]; 3] = [
        &[&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]],
        &[&["config", "core.splitIndex", "true"], &["update-index", "--split-index"]],
        &[&["config", "core.untrackedCache", "true"], &["update-index", "--untracked-cache"]],
    ];
    for commands in settings {
        let place = Place::with_commit(&[]);
        for path in ["repo/in/a.txt", "repo/out/b.txt", "repo/out/deep/c.txt"] {
            place.write(path, "x\n");
        }
        place.commit("repo", "in/d.txt", "x\n");
        for command in commands {
            place.git("repo", command);
        }
        place.write("repo/in/a.txt", "changed\n");
        place.write("repo/in/new.txt", "new\n");
        let kept = place.keep("repo", "r/0", None).unwrap();
        let head = place.git("repo", &["rev-parse", "HEAD"]);
        let changed = place.git("repo", &["diff-tree", "-r", "--name-status", &head, &kept.commit]);
        assert_eq!(changed, "M\tin/a.txt\nA\tin/new.txt", "{commands:?}");
        place.write("repo/in/a.txt", "CHANGED\n");
        let again = place.keep("repo", "r/1-1", Some(&kept.commit)).unwrap();
        let args = ["diff-tree", "-r", "--name-status", &kept.commit, &again.commit];
        assert_eq!(place.git("repo", &args), "M\tin/a.txt", "{commands:?}");
    }
}

#[test]
fn what_an_agent_tells_its_index_hides_no_change() {
    let place = Place::with_commit(&[]);
    let kept = place.keep("repo", "r/0", None).unwrap();
    place.git("repo", &["update-index", "--assume-unchanged", "file.txt"]);
    place.git("repo", &["config", "core.trustctime", "false"]);
    place.git("repo", &["config", "core.ignoreStat", "true"]);
    place.git("repo", &["config", "core.logAllRefUpdates", "always"]);
    let time = fs::metadata(place.path("repo/file.txt")).unwrap().modified().unwrap();
    place.write("repo/file.txt", "owe\n");
    let file = fs::File::options().write(true).open(place.path("repo/file.txt")).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
    let again = place.keep("repo", "r/1-1", Some(&kept.commit)).unwrap();
    assert_ne!(again.tree, kept.tree);
    assert!(!place.path("repo/.git/logs/refs/onloop").exists());
}

#[test]
fn files_that_cannot_be_kept_are_named() {
    let place = with_large_filter();
    let large = "x".repeat(LIMIT_BYTES as usize + 1);
    place.write("repo/large.bin", &large);
    place.write("repo/sub/large.dat", &large);
    place.init("repo/empty", &[]);
    place.init("repo/nested", &[]);
    place.commit("repo/nested", "inside.txt", "x\n");
    std::os::unix::net::UnixListener::bind(place.path("repo/socket")).unwrap();
    fs::remove_file(place.path("repo/file.txt")).unwrap();
    std::os::unix::net::UnixListener::bind(place.path("repo/file.txt")).unwrap();
    let kept = place.keep("repo", "r/0", None).unwrap();
    let left = |path: &str, why| LeftOut { path: path.to_owned(), why };
    assert_eq!(
        kept.left_out,
        [
            left("empty", LeftOutReason::NoCommit),
            left("file.txt", LeftOutReason::Unreadable),
            left("large.bin", LeftOutReason::TooLarge),
        ]
    );
    assert_eq!(
        place.listed(&kept.tree),
        ["100644 file.txt", "160000 nested", "100644 sub/.gitattributes", "100644 sub/large.dat"]
    );
    assert_eq!(place.git("repo", &["show", &format!("{}:sub/large.dat", kept.commit)]), "1001");
}

/// A repository of whose `.dat` files only the length is stored, as Git LFS does.
fn with_large_filter() -> Place {
    let place = Place::with_commit(&[]);
    place.git("repo", &["config", "filter.length.clean", "wc -c"]);
    place.commit("repo", "sub/.gitattributes", "*.dat filter=length\n");
    place
}

#[test]
fn nothing_that_the_repository_names_runs_but_the_filters_it_began_with() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let trap = format!("touch '{}'", place.text("sprung"));
        for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"] {
            let path = format!("repo/.git/hooks/{hook}");
            place.write(&path, &format!("#!/bin/sh\n{trap}\n"));
            fs::set_permissions(place.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let first = place.keep("repo", "r/0", None).unwrap();
        for (key, value) in [
            ("core.fsmonitor", trap.as_str()),
            ("commit.gpgSign", "true"),
            ("diff.external", &trap),
            ("diff.trap.textconv", &trap),
            ("core.pager", &trap),
        ] {
            place.git("repo", &["config", key, value]);
        }
        place.write("repo/.gitattributes", "* diff=trap\n");
        place.write("repo/file.txt", "two\n");
        let keep = |name: &str| place.keep_with("repo", name, None, Some(&first.programs));
        let second = keep("r/1-1").unwrap();
        place.restore("repo", &first.commit).unwrap();
        let request = GitRequest::Diff {
            cwd: place.text("repo"),
            from: first.commit.clone(),
            to: second.commit.clone(),
            stat: false,
            paths: Vec::new(),
            limit_bytes: 10_000,
        };
        let Ok(Outcome::Diff { bytes }) = OsGit::new().perform(&request) else { panic!("{kind}") };
        let patch = String::from_utf8_lossy(&bytes).into_owned();
        assert!(patch.contains("-one\n+two\n"), "{kind}: {patch}");
        let short = GitRequest::Diff {
            cwd: place.text("repo"),
            from: first.commit.clone(),
            to: second.commit.clone(),
            stat: true,
            paths: Vec::new(),
            limit_bytes: 10,
        };
        assert_eq!(OsGit::new().perform(&short).unwrap_err().kind, FailureKind::TooLarge);
        place.git("repo", &["config", "filter.trap.clean", &trap]);
        place.write("repo/.gitattributes", "* filter=trap\n");
        let failure = keep("r/2-1").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{kind}");
        assert!(failure.message.contains("(`filter.trap.clean` in `"), "{failure}");
        assert!(!place.path("sprung").exists(), "{kind}");
    }
}

#[test]
fn a_file_without_a_checkpoint_stays() {
    let place = Place::with_commit(&[]);
    place.write("repo/a/b.txt", "b\n");
    place.write("repo/plain", "p\n");
    let first = place.keep("repo", "r/0", None).unwrap();
    fs::remove_file(place.path("repo/plain")).unwrap();
    fs::remove_dir_all(place.path("repo/a")).unwrap();
    place.write("repo/.gitignore", "*.log\n/a\nprivate/\n");
    place.write("repo/plain/kept.txt", "k\n");
    let second = place.keep("repo", "r/1-1", Some(&first.commit)).unwrap();
    place.write("repo/a", "an ignored file\n");
    place.write("repo/plain/private/x", "an ignored file\n");
    let failure = place.restore("repo", &first.commit).unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Conflict, "nothing was changed; no checkpoint has `a`, `plain/private/x`")
    );
    assert_eq!(place.read("repo/plain/kept.txt"), "k\n");
    fs::remove_file(place.path("repo/a")).unwrap();
    fs::remove_dir_all(place.path("repo/plain/private")).unwrap();
    // A process writes after the checkpoint.
    place.write("repo/plain/kept.txt", "changed in between\n");
    assert_eq!(place.restore("repo", &first.commit).unwrap_err().kind, FailureKind::Conflict);
    assert_eq!(place.read("repo/plain/kept.txt"), "changed in between\n");
    let third = place.keep("repo", "r/2-1", Some(&second.commit)).unwrap();
    place.restore("repo", &first.commit).unwrap();
    assert_eq!(
        (place.read("repo/plain"), place.read("repo/a/b.txt")),
        ("p\n".into(), "b\n".into())
    );
    place.restore("repo", &third.commit).unwrap();
    assert_eq!(place.read("repo/plain/kept.txt"), "changed in between\n");
}

#[test]
fn a_killed_git_leaves_nothing_that_holds_up_the_next() {
    let place = Place::with_commit(&[]);
    let first = place.keep("repo", "r/0", None).unwrap();
    place.write("state-repo/index.lock", "");
    place.write("repo/file.txt", "two\n");
    let second = place.keep("repo", "r/1-1", Some(&first.commit)).unwrap();
    place.write("state-repo/index", "damaged");
    let third = place.keep("repo", "r/1-1", Some(&second.commit)).unwrap();
    assert_eq!(third.tree, second.tree);
}

#[test]
fn checkpoints_are_listed_and_forgotten_by_what_they_name() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let kept = place.keep("repo", "r/0", None).unwrap();
        let list =
            || match OsGit::new().perform(&GitRequest::Checkpoints { cwd: place.text("repo") }) {
                Ok(Outcome::Checkpoints { checkpoints }) => checkpoints,
                other => panic!("{other:?}"),
            };
        let [one] = list().try_into().unwrap();
        assert_eq!((one.name.as_str(), one.commit.as_str()), ("r/0", kept.commit.as_str()));
        assert_eq!(one.at, Timestamp::from_millis(1_774_000_000_000));
        let forget = |commit: &str| {
            let (cwd, name) = (place.text("repo"), "r/0".to_owned());
            place.perform(GitRequest::ForgetCheckpoint { cwd, name, commit: commit.to_owned() })
        };
        let head = place.git("repo", &["rev-parse", "HEAD"]);
        assert_eq!(forget(&head).unwrap_err().kind, FailureKind::Conflict, "{kind}");
        forget(&kept.commit).unwrap();
        assert_eq!(forget(&kept.commit).unwrap_err().kind, FailureKind::NotFound, "{kind}");
        assert_eq!(list(), [], "{kind}");
    }
}

#[test]
fn a_name_that_is_not_utf8_is_named_compared_and_brought_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::with_commit(&[]);
    let files = ["\u{10feff}", "other"].map(|name| place.path(&format!("repo/ci/{name}x.yml")));
    let raw = place.path("repo/ci").join(OsStr::from_bytes(b"\xffx.yml"));
    fs::create_dir_all(place.path("repo/ci")).unwrap();
    let write = |content: &str| {
        for path in files.iter().chain([&raw]) {
            fs::write(path, content).unwrap();
        }
    };
    write("old\n");
    let before = place.keep("repo", "r/1", None).unwrap();
    write("new\n");
    let after = place.keep("repo", "r/2", None).unwrap();
    let request = GitRequest::ChangedPaths {
        cwd: place.text("repo"),
        from: before.commit.clone(),
        to: after.commit.clone(),
    };
    let Outcome::Names { names } = OsGit::new().perform(&request).unwrap() else { panic!() };
    assert_eq!(names.len(), 3, "{names:?}");
    let raw_name = names.iter().find(|name| *name_bytes(name) == b"ci/\xffx.yml"[..]).unwrap();
    let paths = vec![raw_name.clone()];
    let diff = GitRequest::Diff {
        cwd: place.text("repo"),
        from: before.commit.clone(),
        to: after.commit,
        stat: true,
        paths: paths.clone(),
        limit_bytes: 10_000,
    };
    let Outcome::Diff { bytes } = OsGit::new().perform(&diff).unwrap() else { panic!() };
    let stat = String::from_utf8(Vec::from(bytes)).unwrap();
    assert!(stat.contains("ci/\\377x.yml") && stat.contains("1 file changed"), "{stat}");
    place
        .perform(GitRequest::Restore {
            cwd: place.text("repo"),
            index: place.text("state-repo/index"),
            commit: before.commit,
            paths,
            programs: None,
        })
        .unwrap();
    assert_eq!(fs::read_to_string(&raw).unwrap(), "old\n");
    for path in &files {
        assert_eq!(fs::read_to_string(path).unwrap(), "new\n", "{path:?}");
    }
    assert!(place.survey("repo", "").unwrap().dirty.contains(raw_name));
}
