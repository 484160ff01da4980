//! Whatever lies in a checkout: what is kept is the tree that git would make, and restored elsewhere
//! it is the same one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use onloop::host::git::OsGit;
use onloop_core::effect::{GitRequest, KeptWork, Outcome};
use onloop_core::time::Timestamp;
use onloop_tests::Random;

use crate::rounds::rounds;
use crate::workspace::Workspace;

const ROUNDS: u64 = 2;
/// Most changes between two checkpoints.
const CHANGES: u64 = 25;

#[test]
fn what_is_kept_can_be_restored_elsewhere() {
    for seed in 0..rounds(ROUNDS, 40 * ROUNDS) {
        one_round(seed);
    }
}

/// What is ignored also changes between these checkpoints.
#[test]
fn what_is_new_is_found_wherever_it_lies() {
    for seed in 0..rounds(ROUNDS / 2, 20 * ROUNDS) {
        let mut random = Random::new(seed);
        let workspace = begun();
        let here = workspace.path(".");
        for _ in 0..CHANGES {
            change(&mut random, &here, false);
        }
        let mut parent = None;
        for number in 0..8 {
            for _ in 0..random.below(4) {
                match random.below(4) {
                    0 => change_what_is_ignored(&mut random, &here),
                    _ => change(&mut random, &here, false),
                }
            }
            let added = added(&workspace, parent.as_deref().unwrap_or("HEAD"));
            let kept = keep(&workspace, &here, "here", number, parent);
            let differ = workspace.git_says(&["diff-tree", "-r", &kept.tree, &added]);
            assert_eq!(kept.tree, added, "seed {seed}, {number}: {differ}");
            parent = Some(kept.commit);
        }
    }
}

/// Changes a file that says what to ignore, makes a folder with nothing in it, or moves one.
fn change_what_is_ignored(random: &mut Random, root: &Path) {
    let folder = root.join(a_name(random));
    let place = if folder.is_dir() { folder } else { root.to_owned() };
    let rules = ["*.log\nignored/\n", "ignored/\n", "/b\n!x.log\n", ""];
    let rules = rules[random.below(rules.len() as u64) as usize];
    match random.below(4) {
        0 => fs::write(root.join(".git/info/exclude"), rules).unwrap(),
        1 if !place.join(".gitignore").is_dir() => {
            fs::write(place.join(".gitignore"), rules).unwrap();
        }
        2 if place != root => fs::rename(&place, root.join("moved")).unwrap_or_default(),
        _ => fs::create_dir_all(place.join("empty/inside")).unwrap_or_default(),
    }
}

/// A repository in which some files have attributes and others are ignored.
fn begun() -> Workspace {
    let workspace = Workspace::git();
    // What has such ends in the index keeps them, whatever the attributes say afterwards.
    for folder in ["", "a/", "with space/"] {
        workspace.write(&format!("{folder}x.auto"), "one\r\ntwo\r\n");
    }
    workspace.commit("ends");
    workspace.write(
        ".gitattributes",
        "*.crlf text eol=crlf\n*.lf text\n*.auto text=auto\n*.u16 working-tree-encoding=UTF-16\n",
    );
    workspace.write(".gitignore", "*.log\nignored/\n");
    workspace.commit("attributes");
    workspace
}

fn one_round(seed: u64) {
    let mut random = Random::new(seed);
    let workspace = begun();
    let (here, there) = (workspace.path("."), workspace.path("../elsewhere"));
    let path = there.to_str().expect("a plain path");
    workspace.git_says(&["worktree", "add", "--quiet", "--detach", path]);
    let mut kept: Vec<KeptWork> = Vec::new();
    for number in 0..4 {
        for _ in 0..random.below(CHANGES) {
            change(&mut random, &here, seed % 2 == 1);
        }
        let parent = kept.last().map(|kept| kept.commit.clone());
        let added = added(&workspace, parent.as_deref().unwrap_or("HEAD"));
        kept.push(keep(&workspace, &here, "here", number, parent));
        let tree = &kept[number as usize].tree;
        let differ = workspace.git_says(&["diff-tree", "-r", tree, &added]);
        assert_eq!(*tree, added, "seed {seed}, {number}: {differ}");
    }
    keep(&workspace, &there, "there", 0, None);
    for at in [3, 0, 2, 1, 3] {
        let request = GitRequest::Restore {
            cwd: path.to_owned(),
            index: index_of(&workspace, "there"),
            commit: kept[at].commit.clone(),
            paths: Vec::new(),
            programs: None,
        };
        let restored = OsGit::new().perform(&request);
        restored.unwrap_or_else(|failure| panic!("seed {seed}, {at}: {failure}"));
        let again = keep(&workspace, &there, "there", 9, None);
        assert_eq!(again.tree, kept[at].tree, "seed {seed}, {at}");
    }
}

fn index_of(workspace: &Workspace, name: &str) -> String {
    workspace.path(&format!("../index-{name}")).to_str().expect("a plain path").to_owned()
}

fn keep(
    workspace: &Workspace,
    folder: &Path,
    index: &str,
    number: u64,
    parent: Option<String>,
) -> KeptWork {
    let request = GitRequest::Checkpoint {
        cwd: folder.to_str().expect("a plain path").to_owned(),
        index: index_of(workspace, index),
        name: format!("{index}/{number}"),
        parent,
        message: "kept".to_owned(),
        at: Timestamp::EPOCH,
        limit_bytes: 1_000_000,
        programs: None,
    };
    match OsGit::new().perform(&request) {
        Ok(Outcome::Checkpoint(kept)) => {
            assert_eq!(kept.left_out, [], "everything fits");
            kept
        }
        other => panic!("{other:?}"),
    }
}

/// What git itself makes of the checkout, with an index that has only the names from `before`.
fn added(workspace: &Workspace, before: &str) -> String {
    let index = index_of(workspace, "fresh");
    let _ = fs::remove_file(&index);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(workspace.path(".")).env("GIT_INDEX_FILE", &index);
        let output = git.args(["-c", "advice.addEmbeddedRepo=false"]).args(args).output();
        let output = output.expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    };
    git(&["read-tree", before]);
    git(&["add", "--all"]);
    git(&["write-tree"])
}

/// Names that a program which splits at the wrong place would lose.
const NAMES: [&[u8]; 13] = [
    b"a",
    b"b",
    b"with space",
    b"line\nbreak",
    b"-option",
    b"quote\"d",
    "目录".as_bytes(),
    b"not utf-8 \xff",
    b"x.crlf",
    b"x.lf",
    b"x.auto",
    b"x.log",
    b"ignored",
];

fn a_name(random: &mut Random) -> &'static OsStr {
    OsStr::from_bytes(NAMES[random.below(NAMES.len() as u64) as usize])
}

/// Makes, replaces or removes something, whatever was there before. Where there are `repositories`, git is
/// asked about every file.
fn change(random: &mut Random, root: &Path, repositories: bool) {
    let mut at = root.to_owned();
    for _ in 0..random.below(3) {
        at.push(a_name(random));
    }
    at.push(a_name(random));
    // A link on the way leads somewhere else.
    let inside = at.ancestors().skip(1).take_while(|folder| *folder != root);
    for folder in inside.collect::<Vec<_>>().into_iter().rev() {
        if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(folder).unwrap();
        }
        fs::create_dir_all(folder).unwrap();
    }
    match at.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&at).unwrap(),
        Ok(_) => fs::remove_file(&at).unwrap(),
        Err(_) => {}
    }
    match random.below(10) {
        0 | 1 => {}
        2 => symlink(a_name(random), &at).unwrap(),
        3 if repositories => {
            nested(&at);
        }
        kind => {
            let end = if kind % 2 == 0 { "\n" } else { "\r\n" };
            let lines: String =
                (0..random.below(4)).map(|_| format!("{}{end}", random.below(3))).collect();
            fs::write(&at, lines).unwrap();
            if random.chance(30) {
                fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }
}

/// A repository with one commit.
fn nested(at: &Path) {
    fs::create_dir_all(at).unwrap();
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    for words in [&["init", "--quiet", "."][..], &["commit", "--quiet", "--allow-empty", "-m", "x"]]
    {
        let done = Command::new("git").current_dir(at).args(who).args(words).status().unwrap();
        assert!(done.success(), "git {words:?}");
    }
    fs::write(at.join("inside"), "x\n").unwrap();
}
