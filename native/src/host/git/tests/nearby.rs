//! Pushes to a folder of this machine, with and without `git push`.

use std::os::unix::fs::PermissionsExt;

use onloop_core::effect::RefUpdate;

use super::shared::{there, update, with_hub};
use super::*;

/// A place whose hub notes for each push whether `git push` was spared, and somebody who pushes there.
struct Pusher {
    place: Place,
    git: OsGit,
    count: u32,
}

impl Pusher {
    fn new() -> Pusher {
        let place = with_hub(&[]);
        // This is how onloop asks for it.
        let note = "git config --get receive.advertiseAtomic >> spared || echo no >> spared";
        hook(&place, "hub.git/hooks/pre-receive", &format!("#!/bin/sh\n{note}\n"));
        let mut pusher = Pusher { place, git: OsGit::new(), count: 0 };
        let head = pusher.place.git("repo", &["rev-parse", "HEAD"]);
        assert!(!pusher.pushes(&[update("r/branch", None, &head)]), "nothing is known of it yet");
        pusher
    }

    fn push(&mut self, updates: &[RefUpdate]) -> Result<(), Failure> {
        let (cwd, remote) = (self.place.text("repo"), "origin".to_owned());
        let request = GitRequest::PushRefs { cwd, remote, updates: updates.to_vec() };
        self.git.perform(&request).map(drop)
    }

    /// Whether a push that works was spared `git push`.
    fn pushes(&mut self, updates: &[RefUpdate]) -> bool {
        let _ = fs::remove_file(self.place.path("hub.git/spared"));
        self.push(updates).unwrap();
        self.place.read("hub.git/spared") == "true\n"
    }

    /// A commit on top of HEAD with these files changed, which HEAD moves to.
    fn commit(&mut self, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            self.place.write(&format!("repo/{name}"), text);
        }
        self.count += 1;
        self.place.commit("repo", "count", &self.count.to_string());
        self.place.git("repo", &["rev-parse", "HEAD"])
    }

    /// A new name for a new commit: whether `git push` was spared.
    fn pushes_new(&mut self) -> bool {
        let commit = self.commit(&[]);
        let name = format!("r/new-{}", self.count);
        self.pushes(&[update(&name, None, &commit)])
    }

    fn configure(&self, words: &[&str]) {
        self.place.git("repo", &[&["config"], words].concat());
    }
}

fn hook(place: &Place, path: &str, text: &str) {
    place.write(path, text);
    fs::set_permissions(place.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_pushed_is_there_whole() {
    let mut pusher = Pusher::new();
    let one = pusher.commit(&[("a/b/c.txt", "1\n"), ("a/d.txt", "1\n"), ("e.txt", "1\n")]);
    assert!(pusher.pushes(&[update("r/lease", None, &one), update("r/1-1", None, &one)]));
    // Changed, moved, removed, a file in the place of a folder, and several commits at once.
    pusher.commit(&[("a/b/c.txt", "2\n"), ("f/b/c.txt", "1\n")]);
    fs::remove_dir_all(pusher.place.path("repo/a")).unwrap();
    let two = pusher.commit(&[("a", "no folder\n")]);
    assert!(pusher.pushes(&[update("r/lease", Some(&one), &two), update("r/2-1", None, &two)]));
    // Back to a tree that is there.
    pusher.place.git("repo", &["revert", "--no-edit", "HEAD"]);
    let three = pusher.place.git("repo", &["rev-parse", "HEAD"]);
    assert!(pusher.pushes(&[update("r/lease", Some(&two), &three)]));
    pusher.place.git("hub.git", &["fsck", "--full", "--strict", "--connectivity-only"]);
    for commit in [&one, &two, &three] {
        let whole = ["archive", "--format=tar", commit];
        assert_eq!(pusher.place.git("hub.git", &whole), pusher.place.git("repo", &whole));
    }
}

#[test]
fn all_names_change_or_none_and_it_is_said_why() {
    let mut pusher = Pusher::new();
    let one = pusher.commit(&[]);
    assert!(pusher.pushes(&[update("r/a", None, &one), update("r/b", None, &one)]));
    let before = there(&pusher.place);
    let two = pusher.commit(&[]);
    let updates = [update("r/a", Some(&one), &two), update("r/b", Some(&two), &two)];
    let failure = pusher.push(&updates).unwrap_err();
    let expected = format!("`refs/onloop/r/b` of `origin` names {one}, expected {two}: ");
    assert!(failure.message.starts_with(&expected), "{failure}");
    assert_eq!(failure.kind, FailureKind::Conflict);
    assert_eq!(there(&pusher.place), before);
    // A hub that has been told to take one name after the other is not asked for that here.
    pusher.place.git("hub.git", &["config", "receive.advertiseAtomic", "false"]);
    assert!(pusher.push(&updates).is_err());
    assert_eq!(there(&pusher.place), before);
    pusher.place.git("hub.git", &["config", "--unset", "receive.advertiseAtomic"]);
    // What the hub refuses is said with its words.
    hook(&pusher.place, "hub.git/hooks/update", "#!/bin/sh\necho not today\nexit 1\n");
    let failure = pusher.push(&[update("r/a", Some(&one), &two)]).unwrap_err();
    assert!(failure.message.contains("origin: not today"), "{failure}");
    assert_eq!(there(&pusher.place), before);
}

#[test]
fn what_only_git_push_heeds_is_left_to_it() {
    let mut pusher = Pusher::new();
    assert!(pusher.pushes_new());
    // It sees what leaves.
    hook(&pusher.place, "repo/.git/hooks/pre-push", "#!/bin/sh\ncat > ../seen\n");
    assert!(!pusher.pushes_new());
    assert!(pusher.place.read("seen").contains("refs/onloop/r/new-"));
    fs::remove_file(pusher.place.path("repo/.git/hooks/pre-push")).unwrap();
    assert!(pusher.pushes_new());
    let (hub, hooks) = (pusher.place.text("hub.git"), pusher.place.text("hooks"));
    for words in [
        &["core.hooksPath", &hooks][..],
        &["remote.origin.receivepack", "git receive-pack"],
        &[&format!("url.{hub}.pushInsteadOf"), &hub],
        &["protocol.file.allow", "always"],
    ] {
        pusher.configure(words);
        assert!(!pusher.pushes_new(), "{words:?}");
        pusher.configure(&["--unset", words[0]]);
        // What is there may have to be learnt again.
        assert!(pusher.pushes_new() || pusher.pushes_new(), "{words:?}");
    }
    // So is a name that goes, and what is much.
    let head = pusher.place.git("repo", &["rev-parse", "HEAD"]);
    assert!(pusher.pushes(&[update("r/gone", None, &head)]));
    let gone = RefUpdate { name: "r/gone".to_owned(), expected: Some(head), commit: None };
    assert!(!pusher.pushes(&[gone]));
    let many: Vec<String> = (0..100).map(|number| format!("many/{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let commit = pusher.commit(&many);
    assert!(!pusher.pushes(&[update("r/many", None, &commit)]));
    let large = "x".repeat(4 * 1024 * 1024);
    let commit = pusher.commit(&[("large", &large)]);
    assert!(!pusher.pushes(&[update("r/large", None, &commit)]));
    assert!(pusher.pushes_new());
}

#[test]
fn a_hub_that_has_lost_what_it_had_gets_it_again() {
    let mut pusher = Pusher::new();
    let (one, tree) = (pusher.commit(&[]), "HEAD^{tree}");
    assert!(pusher.pushes(&[update("r/a", None, &one)]));
    // Its names are gone, and what no name leads to.
    for name in ["r/a", "r/branch"] {
        pusher.place.git("hub.git", &["update-ref", "-d", &format!("refs/onloop/{name}")]);
    }
    pusher.place.git("hub.git", &["prune", "--expire=now"]);
    let two = pusher.commit(&[]);
    assert!(!pusher.pushes(&[update("r/a", None, &two)]));
    pusher.place.git("hub.git", &["fsck", "--full", "--strict"]);
    let here = pusher.place.git("repo", &["rev-parse", tree]);
    assert_eq!(pusher.place.git("hub.git", &["rev-parse", &format!("{two}^{{tree}}")]), here);
}

#[test]
fn a_report_that_never_came_is_asked_for() {
    let mut pusher = Pusher::new();
    let one = pusher.commit(&[]);
    hook(&pusher.place, "hub.git/hooks/post-receive", "#!/bin/sh\nkill -9 $PPID\n");
    pusher.push(&[update("r/a", None, &one)]).unwrap();
    assert!(there(&pusher.place).contains(&format!("refs/onloop/r/a {one}")));
}
