//! Real repositories in temporary folders.

mod checkpoints;
mod environment;
mod import;
mod merging;
mod programs;
mod shared;
mod submodules;
pub(super) mod temporary;
mod timeouts;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use onloop_core::effect::{Failure, FailureKind, GitRequest, Outcome};
use onloop_core::effect::{GitSurvey, Repository, WorktreeEntry};
use tempfile::TempDir;

use super::OsGit;

/// A folder with repositories in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: temporary::temporary_folder() }
    }

    /// A repository with one commit on `main`, made with further options of `git init`.
    fn with_commit(init: &[&str]) -> Place {
        let place = Place::new();
        place.init("repo", init);
        place.commit("repo", "file.txt", "one\n");
        place
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(relative)
    }

    fn text(&self, relative: &str) -> String {
        self.path(relative).to_str().unwrap().to_owned()
    }

    fn init(&self, relative: &str, options: &[&str]) {
        let path = self.text(relative);
        let mut args = vec!["init", "--quiet", "--initial-branch=main"];
        args.extend(options);
        args.push(&path);
        self.git(".", &args);
    }

    fn commit(&self, repo: &str, file: &str, content: &str) {
        self.write(&format!("{repo}/{file}"), content);
        self.git(repo, &["add", "--all"]);
        self.git(repo, &["commit", "--quiet", "--message", "change"]);
    }

    fn write(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn git(&self, repo: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path(repo))
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Lets requests that commit know who commits.
    fn identify(&self) {
        self.git("repo", &["config", "user.name", "A"]);
        self.git("repo", &["config", "user.email", "a@example.org"]);
    }

    fn survey(&self, cwd: &str, branch: &str) -> Option<Repository> {
        let request = GitRequest::Survey { cwd: self.text(cwd), branch: branch.to_owned() };
        match OsGit::new().perform(&request).unwrap() {
            Outcome::Survey(GitSurvey { repository }) => repository,
            other => panic!("{other:?}"),
        }
    }

    fn worktrees(&self, cwd: &str) -> Vec<WorktreeEntry> {
        match OsGit::new().perform(&GitRequest::Worktrees { cwd: self.text(cwd) }).unwrap() {
            Outcome::Worktrees { worktrees: entries } => entries,
            other => panic!("{other:?}"),
        }
    }

    fn perform(&self, request: GitRequest) -> Result<(), Failure> {
        assert_eq!(OsGit::new().perform(&request)?, Outcome::Done);
        Ok(())
    }

    fn create(&self, path: &str, branch: &str, new: bool) -> Result<(), Failure> {
        let create_at = new.then(|| self.git("repo", &["rev-parse", "HEAD"]));
        self.perform(GitRequest::CreateWorktree {
            cwd: self.text("repo"),
            path: self.text(path),
            branch: branch.to_owned(),
            create_at,
        })
    }

    fn remove(&self, path: &str) -> Result<(), Failure> {
        self.perform(GitRequest::RemoveWorktree { cwd: self.text("repo"), path: self.text(path) })
    }

    fn switch(&self, branch: &str, create: bool) -> Result<(), Failure> {
        let branch = branch.to_owned();
        self.perform(GitRequest::Switch { cwd: self.text("repo"), branch, create })
    }

    fn delete(&self, branch: &str) -> Result<(), Failure> {
        let branch = branch.to_owned();
        self.perform(GitRequest::DeleteBranch { cwd: self.text("repo"), branch })
    }

    fn branches(&self) -> String {
        self.git("repo", &["branch", "--format=%(refname:short)"])
    }

    fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }
}

/// Every kind of repository that requests have to work in alike.
const KINDS: [(&str, &[&str]); 3] = [
    ("sha1", &[]),
    ("sha256", &["--object-format=sha256"]),
    ("reftable", &["--ref-format=reftable"]),
];

#[test]
fn a_survey_tells_everything_about_a_checkout() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["branch", "hotl/x"]);
        let head = place.git("repo", &["rev-parse", "HEAD"]);
        place.write("repo/a b.txt", "");
        place.write("repo/目录/文件.txt", "");
        place.write("repo/say \"hi\".txt", "");
        place.write("repo/file.txt", "two\n");
        place.write("repo/.gitignore", "*.log\n");
        place.write("repo/x.log", "");
        fs::create_dir_all(place.path("repo/deep/er")).unwrap();
        let expected = Repository {
            root: place.text("repo"),
            main_root: place.text("repo"),
            linked: false,
            branch: Some("main".to_owned()),
            head: Some(head.clone()),
            dirty: vec![
                ".gitignore".to_owned(),
                "a b.txt".to_owned(),
                "file.txt".to_owned(),
                "say \"hi\".txt".to_owned(),
                "目录/文件.txt".to_owned(),
            ],
            target_commit: Some(head),
            target_checked_out_at: None,
            target_blocked_by: None,
        };
        assert_eq!(place.survey("repo/deep/er", "hotl/x"), Some(expected), "{kind}");
        let other = place.survey("repo", "hotl/y").unwrap();
        assert_eq!(other.target_commit, None, "{kind}");
        assert_eq!(place.survey("repo", "--output=x").unwrap().target_commit, None, "{kind}");
        for (asked, blocking) in [
            ("hotl", Some("hotl/x")),
            ("hotl/x/y/z", Some("hotl/x")),
            ("hotl/x", None),
            ("hotl/y", None),
            ("hot", None),
        ] {
            let found = place.survey("repo", asked).unwrap().target_blocked_by;
            assert_eq!(found.as_deref(), blocking, "{kind}: {asked}");
        }
    }
}

#[test]
fn renamed_and_deleted_files_are_dirty_under_both_names() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["mv", "file.txt", "moved.txt"]);
        let dirty = place.survey("repo", "x").unwrap().dirty;
        assert_eq!(dirty, ["file.txt", "moved.txt"], "{kind}");
    }
}

#[test]
fn no_repository_no_commit_and_bare_repositories_are_told_apart() {
    let place = Place::new();
    fs::create_dir(place.path("plain")).unwrap();
    assert_eq!(place.survey("plain", "x"), None);
    assert_eq!(place.worktrees("plain"), []);
    for (kind, init) in KINDS {
        let unborn = format!("unborn-{kind}");
        place.init(&unborn, init);
        let survey = place.survey(&unborn, "x").unwrap();
        assert_eq!((survey.branch.as_deref(), survey.head), (Some("main"), None), "{kind}");
        let bare = format!("bare-{kind}");
        let options: Vec<&str> = init.iter().copied().chain(["--bare"]).collect();
        place.init(&bare, &options);
        assert_eq!(place.survey(&bare, "x"), None, "{kind}");
    }
}

#[test]
fn without_git_only_a_folder_outside_of_repositories_has_an_answer() {
    let place = Place::with_commit(&[]);
    fs::create_dir_all(place.path("plain")).unwrap();
    let mut git = OsGit::with_program("no-such-git");
    let mut survey = |cwd: &str| {
        git.perform(&GitRequest::Survey { cwd: place.text(cwd), branch: "x".to_owned() })
    };
    assert_eq!(survey("plain"), Ok(Outcome::Survey(GitSurvey { repository: None })));
    let failure = survey("repo").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert_eq!(failure.message, "the program `no-such-git` is not installed");
}

#[test]
fn a_submodule_that_leads_nowhere_does_not_hide_the_repository_around_it() {
    let place = Place::with_commit(&[]);
    place.init("inner", &[]);
    place.commit("inner", "a.txt", "x\n");
    let inner = place.text("inner");
    place.git("repo", &["submodule", "--quiet", "add", &inner, "sub"]);
    place.git("repo", &["commit", "--quiet", "--message", "sub"]);
    fs::remove_dir_all(place.path("repo/.git/modules")).unwrap();
    let request = GitRequest::Survey { cwd: place.text("repo"), branch: "x".to_owned() };
    let answered = OsGit::new().perform(&request);
    assert!(
        !matches!(answered, Ok(Outcome::Survey(GitSurvey { repository: None }))),
        "{answered:?}"
    );
}

#[test]
fn a_detached_head_has_a_commit_and_no_branch() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["checkout", "--quiet", "--detach"]);
        let survey = place.survey("repo", "main").unwrap();
        assert_eq!(survey.branch, None, "{kind}");
        assert!(survey.head.is_some() && survey.head == survey.target_commit, "{kind}");
        assert_eq!(survey.target_checked_out_at, None, "{kind}");
    }
}

#[test]
fn linked_worktrees_know_their_main_checkout() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git("repo", &["worktree", "add", "--quiet", "-b", "feature/x", "../linked tree"]);
        let survey = place.survey("linked tree", "main").unwrap();
        assert!(survey.linked, "{kind}");
        assert_eq!(survey.root, place.text("linked tree"), "{kind}");
        assert_eq!(survey.main_root, place.text("repo"), "{kind}");
        assert_eq!(survey.branch.as_deref(), Some("feature/x"), "{kind}");
        assert_eq!(survey.target_checked_out_at, Some(place.text("repo")), "{kind}");
        let entry = |path: &str, branch: &str| WorktreeEntry {
            path: place.text(path),
            branch: Some(branch.to_owned()),
        };
        let all = [entry("repo", "main"), entry("linked tree", "feature/x")];
        assert_eq!(place.worktrees("repo"), all, "{kind}");
        assert_eq!(place.worktrees("linked tree"), all, "{kind}");
    }
}

#[test]
fn a_worktree_of_a_bare_repository_has_the_bare_folder_for_a_main_root() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.git(".", &["clone", "--quiet", "--bare", "repo", "bare.git"]);
        place.git("bare.git", &["worktree", "add", "--quiet", "-b", "x", "../linked"]);
        let survey = place.survey("linked", "x").unwrap();
        assert_eq!(survey.main_root, place.text("bare.git"), "{kind}");
        let all = [WorktreeEntry { path: place.text("linked"), branch: Some("x".to_owned()) }];
        assert_eq!(place.worktrees("linked"), all, "{kind}");
    }
}

#[test]
fn worktrees_come_with_their_files_and_go_without_a_trace() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.commit("repo", "目录/a b.txt", "x\n");
        let path = ".hotl-worktrees/repo/hotl-x";
        place.create(path, "hotl/x", true).unwrap();
        assert_eq!(place.read(&format!("{path}/目录/a b.txt")), "x\n", "{kind}");
        assert_eq!(place.git(path, &["status", "--porcelain"]), "", "{kind}");
        assert_eq!(place.git(path, &["branch", "--show-current"]), "hotl/x", "{kind}");
        let again = place.create(path, "hotl/x", false).unwrap_err();
        assert_eq!(again.kind, FailureKind::Exists, "{kind}");
        let second = place.create("elsewhere", "hotl/x", false).unwrap_err();
        assert!(second.message.contains("hotl/x"), "{kind}: {second}");
        assert!(!place.path("elsewhere").exists(), "{kind}");
        place.write(&format!("{path}/untracked.txt"), "lost\n");
        place.remove(path).unwrap();
        assert!(!place.path(".hotl-worktrees").exists(), "{kind}");
        assert_eq!(place.worktrees("repo").len(), 1, "{kind}");
        place.create(path, "hotl/x", false).unwrap();
        place.remove(path).unwrap();
        place.delete("hotl/x").unwrap();
        assert_eq!(place.branches(), "main", "{kind}");
        assert_eq!(place.delete("hotl/x").unwrap_err().kind, FailureKind::NotFound, "{kind}");
        assert_eq!(place.remove("repo").unwrap_err().kind, FailureKind::NotFound, "{kind}");
    }
}

#[test]
fn worktrees_in_folders_of_the_same_name_do_not_disturb_each_other() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.create("one/same", "a", true).unwrap();
        place.create("two/same", "b", true).unwrap();
        let branches: Vec<_> =
            place.worktrees("repo").into_iter().filter_map(|entry| entry.branch).collect();
        assert_eq!(branches, ["main", "a", "b"], "{kind}");
    }
}

#[test]
fn a_worktree_that_cannot_be_made_leaves_nothing_behind() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.write("blocked", "a file where a folder should be");
        let failure = place.create("blocked/sub/tree", "hotl/x", true).unwrap_err();
        assert!(failure.message.contains("blocked"), "{kind}: {failure}");
        place.git("repo", &["branch", "taken"]);
        place.create("fresh/tree", "taken", true).unwrap_err();
        // `hotl` as a branch leaves no room for branches below it.
        place.git("repo", &["branch", "hotl"]);
        place.create("fresh/tree", "hotl/x", true).unwrap_err();
        assert!(!place.path("fresh").exists(), "{kind}");
        assert_eq!(place.branches(), "hotl\nmain\ntaken", "{kind}");
        assert_eq!(place.worktrees("repo").len(), 1, "{kind}");
    }
}

#[test]
fn a_checkout_that_breaks_half_way_leaves_nothing_behind() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.commit("repo", "second.txt", "soon gone\n");
        let blob = place.git("repo", &["rev-parse", "HEAD:second.txt"]);
        let object = format!("repo/.git/objects/{}/{}", &blob[..2], &blob[2..]);
        fs::remove_file(place.path(&object)).unwrap();
        place.create(".hotl-worktrees/repo/x", "hotl/x", true).unwrap_err();
        assert!(!place.path(".hotl-worktrees").exists(), "{kind}");
        assert_eq!(place.branches(), "main", "{kind}");
        assert_eq!(place.worktrees("repo").len(), 1, "{kind}");
        let records = fs::read_dir(place.path("repo/.git/worktrees"));
        assert_eq!(records.map_or(0, Iterator::count), 0, "{kind}");
    }
}

#[test]
fn a_worktree_whose_folder_was_deleted_by_hand_is_forgotten() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.create("tree", "x", true).unwrap();
        fs::remove_dir_all(place.path("tree")).unwrap();
        assert_eq!(place.survey("repo", "x").unwrap().target_checked_out_at, None, "{kind}");
        assert_eq!(place.worktrees("repo").len(), 1, "{kind}");
        place.create("tree", "x", false).unwrap();
        assert_eq!(place.read("tree/file.txt"), "one\n", "{kind}");
    }
}

#[test]
fn a_worktree_whose_removal_was_broken_off_is_removed_by_the_next() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.create("tree", "x", true).unwrap();
        let rest = place.path(".onloop-removing-tree");
        fs::rename(place.path("tree"), &rest).unwrap();
        place.remove("tree").unwrap();
        assert!(!rest.exists(), "{kind}");
        assert_eq!(place.worktrees("repo").len(), 1, "{kind}");
        place.write(".onloop-removing-tree/left.txt", "");
        assert_eq!(place.remove("tree").unwrap_err().kind, FailureKind::NotFound, "{kind}");
        assert!(!rest.exists(), "{kind}: also where git has forgotten it");
    }
}

#[test]
fn a_locked_worktree_is_left_alone() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.create("tree", "x", true).unwrap();
        place.git("repo", &["worktree", "lock", "--reason", "on a stick", "../tree"]);
        let failure = place.remove("tree").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Busy, "{kind}");
        assert!(failure.message.contains("on a stick"), "{kind}: {failure}");
        assert!(place.path("tree/file.txt").exists(), "{kind}");
        fs::rename(place.path("tree"), place.path("unplugged")).unwrap();
        let at = place.survey("repo", "x").unwrap().target_checked_out_at;
        assert_eq!(at, Some(place.text("tree")), "{kind}");
        assert_eq!(place.create("tree", "x", false).unwrap_err().kind, FailureKind::Busy, "{kind}");
    }
}

#[test]
fn switching_creates_or_takes_a_branch() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.write("repo/open.txt", "kept\n");
        place.switch("hotl/x", true).unwrap();
        assert_eq!(place.git("repo", &["branch", "--show-current"]), "hotl/x", "{kind}");
        assert_eq!(place.read("repo/open.txt"), "kept\n", "{kind}");
        place.commit("repo", "second.txt", "x\n");
        place.switch("main", false).unwrap();
        assert!(!place.path("repo/second.txt").exists(), "{kind}");
        assert!(place.switch("hotl/x", true).is_err(), "{kind}");
        assert!(place.switch("missing", false).is_err(), "{kind}");
        place.write("repo/second.txt", "precious\n");
        assert!(place.switch("hotl/x", false).is_err(), "{kind}");
        assert_eq!(place.read("repo/second.txt"), "precious\n", "{kind}");
        assert!(place.delete("main").is_err(), "{kind}");
    }
}

#[test]
fn stashing_takes_the_named_paths_and_nothing_else() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.write("repo/file.txt", "changed\n");
        place.write("repo/new *.txt", "untracked\n");
        place.write("repo/new 1.txt", "stays: `*` is a name here, not a pattern\n");
        let request = |paths: &[&str]| GitRequest::Stash {
            cwd: place.text("repo"),
            message: "onloop: before x".to_owned(),
            paths: paths.iter().map(|&path| path.to_owned()).collect(),
        };
        place.git("repo", &["config", "user.name", "A"]);
        place.git("repo", &["config", "user.email", "a@example.org"]);
        place.perform(request(&["file.txt", "new *.txt"])).unwrap();
        assert_eq!(place.survey("repo", "x").unwrap().dirty, ["new 1.txt"], "{kind}");
        assert!(place.git("repo", &["stash", "list"]).contains("onloop: before x"), "{kind}");
        place.git("repo", &["stash", "pop", "--quiet"]);
        assert_eq!(place.read("repo/new *.txt"), "untracked\n", "{kind}");
        assert!(place.perform(request(&["missing.txt"])).is_err(), "{kind}");
    }
}

#[test]
fn names_that_git_does_not_allow_never_reach_it() {
    let place = Place::with_commit(&[]);
    for name in ["-x", "--help", "a..b", "a\u{7}", "@{-1}", "HEAD", ""] {
        for failure in [
            place.create("tree", name, true).unwrap_err(),
            place.switch(name, true).unwrap_err(),
            place.delete(name).unwrap_err(),
        ] {
            assert_eq!(failure.kind, FailureKind::Invalid, "{name:?}");
        }
    }
    assert!(!place.path("tree").exists());
}

#[test]
fn a_worktree_starts_at_a_commit_id_and_nothing_else() {
    let place = Place::with_commit(&[]);
    for create_at in ["HEAD", "--orphan", "", "main", "1234567"] {
        let failure = place.perform(GitRequest::CreateWorktree {
            cwd: place.text("repo"),
            path: place.text("tree"),
            branch: "x".to_owned(),
            create_at: Some(create_at.to_owned()),
        });
        assert_eq!(failure.unwrap_err().kind, FailureKind::Invalid, "{create_at:?}");
    }
}

#[test]
fn a_repository_of_another_user_is_denied_with_the_way_out() {
    let place = Place::with_commit(&[]);
    let repo = place.path("repo");
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&repo).unwrap());
    if owner == 0 {
        for path in [repo.join(".git"), repo.clone()] {
            std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
        }
    } else {
        // Only the superuser can give a folder away; the checkout can be where his folder is.
        place.git("repo", &["config", "core.worktree", "/"]);
    }
    let request = GitRequest::Survey { cwd: place.text("repo"), branch: "x".to_owned() };
    let failure = OsGit::new().perform(&request).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    let fix = format!("safe.directory {}", repo.display());
    let command = failure.fix.and_then(|fix| fix.command).unwrap_or_default();
    assert!(command.ends_with(&fix), "{command}");
}

#[test]
fn a_link_to_a_repository_that_is_gone_is_not_taken_for_no_repository() {
    let place = Place::new();
    place.write("tree/.git", "gitdir: /nowhere/.git/worktrees/tree\n");
    let request = GitRequest::Survey { cwd: place.text("tree"), branch: "x".to_owned() };
    let failure = OsGit::new().perform(&request).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Invalid);
}

#[test]
fn a_split_or_sparse_index_is_read() {
    for setting in ["core.splitIndex", "index.sparse"] {
        let place = Place::with_commit(&[]);
        place.commit("repo", "folder/deep.txt", "x\n");
        match setting {
            "index.sparse" => {
                place.git("repo", &["sparse-checkout", "set", "--cone", "--sparse-index", "a"]);
            }
            _ => {
                place.git("repo", &["config", setting, "true"]);
                place.git("repo", &["update-index", "--split-index"]);
            }
        }
        place.write("repo/new.txt", "");
        assert_eq!(place.survey("repo", "x").unwrap().dirty, ["new.txt"], "{setting}");
    }
}

#[test]
fn the_environment_cannot_point_to_another_repository() {
    // All tests share the variables of this process, so it starts this test as a child.
    if let Ok(cwd) = std::env::var("ONLOOP_TEST_REPOSITORY") {
        let request = GitRequest::Survey { cwd, branch: "main".to_owned() };
        return println!("{:?}", OsGit::new().perform(&request));
    }
    let place = Place::with_commit(&["--object-format=sha256"]);
    let survey = place.survey("repo", "main").unwrap();
    let other = Place::with_commit(&["--object-format=sha256"]);
    let test = std::env::current_exe().unwrap();
    let output = Command::new(test)
        .args(["--exact", "host::git::tests::the_environment_cannot_point_to_another_repository"])
        .arg("--nocapture")
        .env("ONLOOP_TEST_REPOSITORY", place.path("repo"))
        .env("GIT_DIR", other.path("repo/.git"))
        .env("GIT_WORK_TREE", other.path("repo"))
        .env("GIT_INDEX_FILE", other.path("repo/.git/index"))
        .env("GIT_CEILING_DIRECTORIES", place.path("."))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&format!("root: {:?}", survey.root)), "{said}");
}
