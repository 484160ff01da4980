//! What git is asked about after which change.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use onloop_core::effect::LeftOutReason;
use onloop_core::time::Timestamp;

use super::super::super::tests::surroundings::temporary_folder;
use super::super::checkpoint::NewCheckpoint;
use super::*;

/// A checkout whose work is kept again and again.
struct Kept {
    git: GitProgram,
    library: git2::Repository,
    _folder: tempfile::TempDir,
    root: PathBuf,
    index: PathBuf,
}

impl Kept {
    fn new() -> Kept {
        let folder = temporary_folder();
        let root = folder.path().join("checkout");
        let library = git2::Repository::init(&root).unwrap();
        let kept = Kept {
            git: GitProgram::new("git".into()),
            library,
            root,
            index: folder.path().join("index"),
            _folder: folder,
        };
        kept.write(".gitignore", "ignored/\n*.log\n");
        for path in ["top", "a/one", "a/.gitignore", "a/deep/two", "b/three", "ignored/four"] {
            kept.write(path, path);
        }
        fs::create_dir_all(kept.root.join("empty")).unwrap();
        // The folders that are new and empty are looked into after the first time.
        for _ in 0..3 {
            kept.keep();
        }
        kept
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn keep(&self) -> Vec<(String, LeftOutReason)> {
        settle();
        let new = NewCheckpoint {
            library: Some(&self.library),
            index: &self.index,
            reference: "refs/onloop/run/1-1",
            parent: None,
            message: "kept\n",
            at: Timestamp::EPOCH,
            limit_bytes: 1000,
            programs: None,
        };
        let kept = self.git.checkpoint(&self.root, &new).unwrap();
        kept.left_out.into_iter().map(|left| (left.path, left.why)).collect()
    }

    /// What the next checkpoint would ask.
    fn asked(&self) -> Ask {
        settle();
        let programs = self.git.demand_programs(&self.root, None).unwrap();
        let rules = programs.ignore_rules(&self.root, &self.root.join(".git")).unwrap();
        let index = Index::open(&self.index).unwrap();
        let look = before(&self.root, &self.index).and_then(|before| before.look(&index, rules));
        look.unwrap().ask
    }
}

/// Lets times become old enough to be believed.
fn settle() {
    thread::sleep(Duration::from_millis(60));
}

fn below(folders: &[&str]) -> Ask {
    Ask::Below(folders.iter().map(|&folder| folder.to_owned()).collect())
}

#[test]
fn git_is_asked_about_folders_that_have_changed() {
    let kept = Kept::new();
    let set_back = |path: &Path| {
        let then = SystemTime::now() - Duration::from_secs(1000);
        fs::File::open(path).unwrap().set_modified(then).unwrap();
    };
    type Change<'c> = &'c dyn Fn(&Kept);
    let table: [(&str, Change<'_>, Ask); 13] = [
        ("nothing", &|_| {}, Ask::Nothing),
        ("a file is changed in its place", &|kept| kept.write("a/one", "1"), Ask::Nothing),
        ("a new file", &|kept| kept.write("a/new", "1"), below(&["a"])),
        ("a new file deeper", &|kept| kept.write("a/deep/new", "1"), below(&["a/deep"])),
        (
            "a file in a folder that was empty",
            &|kept| kept.write("empty/x", "1"),
            below(&["empty"]),
        ),
        ("a new file at the top", &|kept| kept.write("new", "1"), Ask::Everything),
        ("a new folder", &|kept| kept.write("b/c/d/new", "1"), below(&["b"])),
        ("something in what is ignored", &|kept| kept.write("ignored/x/y", "1"), Ask::Nothing),
        (
            "other rules in the same place",
            &|kept| kept.write("a/.gitignore", "!*.log\n"),
            below(&["a"]),
        ),
        (
            "rules of the repository",
            &|kept| kept.write(".git/info/exclude", "*.tmp\n"),
            Ask::Everything,
        ),
        (
            "the configuration",
            &|kept| kept.library.config().unwrap().set_bool("core.ignoreCase", true).unwrap(),
            Ask::Everything,
        ),
        (
            "a folder whose time was set back",
            &|kept| {
                kept.write("b/hidden", "1");
                set_back(&kept.root.join("b"));
            },
            below(&["b"]),
        ),
        (
            "another folder in its place",
            &|kept| {
                fs::rename(kept.root.join("a/deep"), kept.root.join("b/was-deep")).unwrap();
                kept.write("a/deep/two", "a/deep/two");
            },
            below(&["a", "a/deep", "b"]),
        ),
    ];
    for (what, change, expected) in table {
        change(&kept);
        assert_eq!(kept.asked(), expected, "{what}");
        // A folder that is new is looked into once it has files in the index.
        for _ in 0..4 {
            assert_eq!(kept.keep(), [], "{what}");
        }
        for _ in 0..2 {
            assert_eq!(kept.asked(), Ask::Nothing, "after {what}");
            assert_eq!(kept.keep(), [], "{what}");
        }
    }
}

#[test]
fn what_is_left_out_is_named_each_time() {
    let kept = Kept::new();
    kept.write("a/large", &"x".repeat(1001));
    for _ in 0..3 {
        assert_eq!(kept.keep(), [("a/large".to_owned(), LeftOutReason::TooLarge)]);
    }
    kept.write("a/large", "small");
    assert_eq!(kept.keep(), []);
}

#[test]
fn a_folder_that_cannot_be_read_makes_git_look_everywhere() {
    use std::os::unix::fs::PermissionsExt;
    let kept = Kept::new();
    let mode = |mode| {
        let folder = kept.root.join("a");
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o000);
    let is_barred = fs::read_dir(kept.root.join("a")).is_err();
    settle();
    let seen = before(&kept.root, &kept.index).unwrap();
    assert_eq!(seen.remembered.is_none(), is_barred, "the administrator may read everything");
    mode(0o755);
}

#[test]
fn what_is_remembered_counts_for_its_index_and_whole() {
    let kept = Kept::new();
    let remembered = beside(&kept.index, ".folders");
    let sound = fs::read(&remembered).unwrap();
    assert!(Folders::read(&kept.index).is_some());
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        fs::write(&remembered, &damaged).unwrap();
        assert!(Folders::read(&kept.index).is_none(), "byte {at}");
        fs::write(&remembered, &sound[..at]).unwrap();
        assert!(Folders::read(&kept.index).is_none(), "{at} bytes");
    }
    fs::write(&remembered, &sound).unwrap();
    let index = fs::read(&kept.index).unwrap();
    fs::remove_file(&kept.index).unwrap();
    fs::write(&kept.index, index).unwrap();
    assert!(Folders::read(&kept.index).is_none(), "another file with the same bytes");
}
