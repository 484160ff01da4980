//! Tests which refs an outbox pushes, and when.

use super::*;
use onloop::host::git::OsGit;

/// A checkout with the remote `shop.git`, and its commit.
struct Shop {
    folder: tempfile::TempDir,
    base: String,
}

impl Shop {
    fn new() -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("here")).expect("a folder");
        git(folder.path(), &["init", "--quiet", "--bare", "shop.git"]).expect("git");
        let mut shop = Shop { folder, base: String::new() };
        shop.run(&["init", "--quiet", "--initial-branch=main"]);
        shop.base = shop.commit("Begin");
        let there = shop.path("shop.git");
        shop.run(&["remote", "add", "origin", &there.to_string_lossy()]);
        shop
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, words: &[&str]) -> String {
        git(&self.path("here"), words).expect("git")
    }

    fn commit(&self, message: &str) -> String {
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", message];
        self.run(&[&who[..], &commit].concat());
        self.run(&["rev-parse", "HEAD"])
    }

    fn take(&self, epoch: u64, base: Option<String>) -> Result<Outbox, Failure> {
        take(&self.path("here"), epoch, base)
    }

    /// Commits a change of a file.
    fn change(&self, name: &str) -> String {
        let file = self.path("here").join(name);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        std::fs::write(file, text + "More\n").expect("a file");
        self.run(&["add", name]);
        self.commit("Change")
    }

    /// Returns the commit of a ref of the run in the remote.
    fn there(&self, name: &str) -> Option<String> {
        let name = format!("refs/onloop/run/{name}");
        git(&self.path("shop.git"), &["rev-parse", "--verify", "--quiet", &name]).ok()
    }
}

fn take(here: &Path, epoch: u64, base: Option<String>) -> Result<Outbox, Failure> {
    let (run_id, holder) = ("run".to_owned(), "desk".to_owned());
    let lease = Lease { run_id, epoch, holder, lasts_ms: 1000 };
    let (cwd, workflow) = (&*here.to_string_lossy(), "plan.md");
    let source = OutboxSource { cwd, remote: "origin", lease, workflow, base };
    Outbox::take(Box::new(OsGit::new()), source)
}

fn line(kind: &str, commit: &str) -> String {
    format!(
        r#"{{"event":"checkpoint_taken","kind":"{kind}","step":1,"attempt":1,"commit":"{commit}","tree":"{commit}","programs":"p+","complete":true}}"#
    )
}

#[test]
fn a_lease_brings_where_the_branch_begins() {
    let shop = Shop::new();
    shop.take(2, Some(shop.base.clone())).expect("the lease");
    assert_eq!(shop.there("branch"), Some(shop.base.clone()));
    let late = shop.take(1, None).map(drop).expect_err("a later lease is there");
    assert_eq!(late.kind, FailureKind::Denied);
}

#[test]
fn work_that_nobody_has_brought_comes_with_what_is_found_good() {
    let shop = Shop::new();
    let mut outbox = shop.take(1, None).expect("the lease");
    let (acted, verified) = (shop.change("till.txt"), shop.change("till.txt"));
    outbox.deliver(&line("acted", &acted)).expect("it waits");
    assert_eq!((outbox.is_pending(), shop.there("1-1")), (true, None));
    outbox.deliver(&line("verified", &verified)).expect("it is brought");
    assert_eq!((outbox.is_pending(), shop.there("1-1")), (false, Some(verified.clone())));
    // The driver after a crash pushes what the previous one left.
    let mut next = shop.take(2, None).expect("the lease");
    let checkpoint = |kind, commit: &str| checkpoint_of(&line(kind, commit)).expect("a line");
    let unknown = checkpoint("verified", &"0".repeat(40));
    next.recall(&[checkpoint("acted", &acted), checkpoint("verified", &verified), unknown]);
    assert!(!next.is_pending(), "what is there has come further, and what is not here cannot come");
    let later = shop.change("till.txt");
    next.recall(&[checkpoint("acted", &later)]);
    next.settle().expect("it is brought");
    assert_eq!(shop.there("1-1"), Some(later));
    let late = outbox.deliver(&line("verified", &acted)).expect_err("the lease is lost");
    assert_eq!(late.kind, FailureKind::Denied);
}

#[test]
fn a_push_whose_answer_never_came_is_known_as_our_own() {
    let shop = Shop::new();
    let mut outbox = shop.take(1, None).expect("the lease");
    let (acted, verified) = (shop.change("till.txt"), shop.change("till.txt"));
    // The push succeeded, and its answer was lost.
    let before = (outbox.at.clone(), outbox.there.clone());
    outbox.deliver(&line("acted", &acted)).expect("it waits");
    outbox.settle().expect("it is brought");
    (outbox.at, outbox.there) = before;
    outbox.deliver(&line("verified", &verified)).expect("it is brought");
    assert_eq!(shop.there("1-1"), Some(verified));
    // Another holder has removed the lease.
    let shared = shop.path("shop.git");
    git(&shared, &["update-ref", "-d", "refs/onloop/run/lease"]).expect("git");
    let gone = outbox.deliver(&line("verified", &acted)).expect_err("it is not ours");
    assert_eq!((gone.kind, shop.there("lease")), (FailureKind::Denied, None));
}

#[test]
fn what_is_there_but_for_its_boxes_is_not_waited_for() {
    let shop = Shop::new();
    let mut outbox = shop.take(1, None).expect("the lease");
    outbox.add_branch("main".to_owned());
    let acted = shop.change("till.txt");
    outbox.deliver(&line("acted", &acted)).expect("it waits");
    assert!(outbox.is_urgent(), "its checks run now");
    outbox.settle().expect("it is brought");
    // Boxes are ticked in the checkout, without a branch.
    shop.run(&["checkout", "--quiet", "--detach"]);
    let ticked = shop.change("plan.md");
    outbox.deliver(&line("verified", &ticked)).expect("it waits");
    assert_eq!((outbox.is_pending(), outbox.is_urgent()), (true, false));
    assert_eq!(shop.there("1-1"), Some(acted));
    outbox.deliver(r#"{"event":"run_finalized"}"#).expect("it is brought");
    assert_eq!((outbox.is_pending(), shop.there("1-1")), (false, Some(ticked)));
    // The remote does not have a file that a check has made.
    let made = shop.change("built.txt");
    outbox.deliver(&line("verified", &made)).expect("it is brought");
    assert_eq!(shop.there("1-1"), Some(made.clone()));
    // It does not have a change of the branch either.
    shop.run(&["branch", "--force", "main", &made]);
    outbox.deliver(&line("verified", &shop.change("plan.md"))).expect("it is brought");
    assert_eq!((outbox.is_pending(), shop.there("branch")), (false, Some(made)));
}

#[test]
fn a_turn_that_changes_nothing_is_brought_in_time() {
    let shop = Shop::new();
    let mut outbox = shop.take(1, None).expect("the lease");
    let acted = |step: usize, commit: &str| {
        line("acted", commit).replace(r#""step":1"#, &format!(r#""step":{step}"#))
    };
    // The remote has no work of the run to compare with.
    outbox.deliver(&acted(1, &shop.change("till.txt"))).expect("it waits");
    assert!(outbox.is_urgent());
    outbox.settle().expect("it is brought");
    for step in 2..=MANY {
        outbox.deliver(&acted(step, &shop.change("plan.md"))).expect("it waits");
        assert_eq!((outbox.is_pending(), outbox.is_urgent()), (true, false), "step {step}");
    }
    outbox.deliver(&acted(MANY + 1, &shop.change("plan.md"))).expect("it waits");
    assert!(outbox.is_urgent(), "so many names");
    outbox.settle().expect("it is brought");
    assert!(!outbox.is_pending() && shop.there("2-1").is_some());
    outbox.deliver(&acted(MANY + 2, &shop.change("till.txt"))).expect("it waits");
    assert!(outbox.is_urgent(), "this one has changed something");
}

#[test]
fn checks_that_take_long_are_not_waited_for() {
    let shop = Shop::new();
    let here = shop.path("here");
    let pusher = Pusher::start(move || take(&here, 1, None)).expect("the lease");
    let acted = shop.change("till.txt");
    pusher.deliver(&line("acted", &acted)).expect("it is taken");
    let asked = std::time::Instant::now();
    while shop.there("1-1").as_ref() != Some(&acted) {
        assert!(asked.elapsed().as_secs() < 60, "it is never brought");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // After another worker took the lease, a waiting caller gets the error.
    shop.take(2, None).expect("the lease");
    pusher.deliver(&line("acted", &shop.base)).expect("it is taken");
    let late = pusher.settle().expect_err("the lease is lost");
    assert_eq!(late.kind, FailureKind::Denied);
}
