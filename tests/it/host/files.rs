//! What only a real file system shows.

use onloop_core::effect::{Durability, Expect, FailureKind, Outcome, Request, Version};

use super::World;
use crate::temporary::temporary_folder;

fn write(path: &str, text: &str, expect: Expect) -> Request {
    Request::Write {
        path: path.to_owned(),
        bytes: text.into(),
        expect,
        durability: Durability::Durable,
        private: false,
    }
}

fn read(world: &mut World, path: &str) -> (String, Version) {
    match world.perform(Request::Read { path: path.to_owned(), limit_bytes: 1000 }) {
        Ok(Outcome::File { bytes, version }) => (String::from_utf8(bytes.into()).unwrap(), version),
        other => panic!("`{path}` was read as {other:?}"),
    }
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_a_failed_write_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let mut world = World::new();
    world.perform(write("run.sh", "one", Expect::Absent)).unwrap();
    let mode = std::fs::Permissions::from_mode(0o750);
    std::fs::set_permissions(world.path("run.sh"), mode).unwrap();
    world.perform(write("run.sh", "two", Expect::Any)).unwrap();
    let metadata = std::fs::metadata(world.path("run.sh")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o750);
    let stale = Expect::Version(Version("stale".to_owned()));
    for expect in [Expect::Absent, stale] {
        world.perform(write("run.sh", "three", expect)).unwrap_err();
    }
    assert_eq!(read(&mut world, "run.sh").0, "two");
    assert_eq!(std::fs::read_dir(world.folder.path()).unwrap().count(), 1);
}

#[test]
fn somebody_elses_change_of_any_kind_makes_a_version_stale() {
    type Change = fn(&std::path::Path);
    let changes: [Change; 4] = [
        |path| std::fs::write(path, "other").unwrap(),
        |path| {
            std::fs::write(path.with_extension("new"), "text!").unwrap();
            std::fs::rename(path.with_extension("new"), path).unwrap();
        },
        |path| {
            let file = std::fs::File::options().append(true).open(path).unwrap();
            std::io::Write::write_all(&mut &file, b"more").unwrap();
        },
        |path| std::fs::remove_file(path).unwrap(),
    ];
    for change in changes {
        let mut world = World::new();
        world.perform(write("a", "text!", Expect::Absent)).unwrap();
        // File systems count time in ticks of some milliseconds; an older file is not in this one.
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        let file = std::fs::File::options().write(true).open(world.path("a")).unwrap();
        file.set_modified(earlier).unwrap();
        let (_, version) = read(&mut world, "a");
        change(&world.path("a"));
        let outcome = world.perform(write("a", "mine", Expect::Version(version)));
        assert_eq!(outcome.unwrap_err().kind, FailureKind::Conflict);
    }
}

#[test]
fn of_many_who_create_a_file_one_wins() {
    let folder = temporary_folder();
    let path = folder.path().join("once");
    let created = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let request = write(path.to_str().unwrap(), &n.to_string(), Expect::Absent);
                scope.spawn(move || World::new().perform(request).is_ok())
            })
            .collect();
        threads.into_iter().filter(|_| true).map(|t| t.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(created, 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn pipes_devices_and_links_are_refused_without_waiting() {
    let mut world = World::new();
    let fifo = world.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::fs::write(world.path("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("secret", world.path("link")).unwrap();
    let requests = [
        Request::Read { path: "fifo".to_owned(), limit_bytes: 10 },
        Request::Read { path: "/dev/zero".to_owned(), limit_bytes: 10 },
        write("fifo", "x", Expect::Any),
        Request::Append {
            path: "fifo".to_owned(),
            bytes: vec![1].into(),
            expect_len_bytes: 0,
            durability: Durability::Durable,
            private: false,
        },
        write("link", "x", Expect::Any),
        Request::Append {
            path: "link".to_owned(),
            bytes: vec![1].into(),
            expect_len_bytes: 6,
            durability: Durability::Durable,
            private: false,
        },
        Request::Append {
            path: "link".to_owned(),
            bytes: vec![1].into(),
            expect_len_bytes: 0,
            durability: Durability::Durable,
            private: false,
        },
        Request::Patch {
            path: "link".to_owned(),
            offset_bytes: 0,
            old: "s".into(),
            new: "x".into(),
        },
    ];
    for request in requests {
        let failure = world.perform(request.clone()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{request:?}: {failure}");
    }
    assert_eq!(std::fs::read_to_string(world.path("secret")).unwrap(), "secret");
    assert_eq!(read(&mut world, "link").0, "secret");
}

#[test]
fn removing_a_folder_does_not_follow_links_out_of_it() {
    let mut world = World::new();
    std::fs::create_dir_all(world.path("keep")).unwrap();
    std::fs::write(world.path("keep/file"), "kept").unwrap();
    std::fs::create_dir_all(world.path("tree/deep")).unwrap();
    std::os::unix::fs::symlink(world.path("keep"), world.path("tree/deep/link")).unwrap();
    world.perform(Request::Remove { path: "tree".to_owned() }).unwrap();
    assert!(!world.path("tree").exists());
    assert_eq!(std::fs::read_to_string(world.path("keep/file")).unwrap(), "kept");
    std::os::unix::fs::symlink(world.path("keep"), world.path("link")).unwrap();
    world.perform(Request::Remove { path: "link".to_owned() }).unwrap();
    assert!(world.path("keep/file").exists());
}

#[test]
fn the_ground_is_never_removed() {
    let mut world = World::new();
    for path in [".", "/", "..", "a/../.."] {
        let failure = world.perform(Request::Remove { path: path.to_owned() }).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{path}: {failure}");
    }
    assert!(world.folder.path().is_dir());
}

#[test]
fn absurd_paths_are_failures() {
    let mut world = World::new();
    let deep = "a/".repeat(100_000);
    let long = "x".repeat(300);
    for path in ["", "a\0b", deep.as_str(), long.as_str()] {
        let failure = world.perform(write(path, "x", Expect::Any)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{}", failure.kind as u8);
    }
    // As long as names can be: the temporary file needs a name too.
    world.perform(write(&"y".repeat(255), "x", Expect::Any)).unwrap();
}

#[test]
fn the_state_home_is_for_its_owner_alone_whatever_the_mask() {
    use std::os::unix::fs::PermissionsExt;
    for mask in ["0000", "0377"] {
        let folder = temporary_folder();
        let line = format!("umask {mask}; exec \"$0\" count \"$@\"");
        let counted = std::process::Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_host-probe")])
            .args(["home/runs/a/lock", "home/runs/a/counter", "2"])
            .env("ONLOOP_STATE_HOME", "home")
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(counted.success(), "{mask}");
        let table = [
            ("home", 0o700),
            ("home/runs", 0o700),
            ("home/runs/a", 0o700),
            ("home/runs/a/counter", 0o600),
        ];
        for (path, expected) in table {
            let mode = std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, expected, "{path} with mask {mask}");
        }
    }
}
