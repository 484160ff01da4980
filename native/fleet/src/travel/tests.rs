//! What comes to a remote, and when.

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
        shop.run(&["init", "--quiet"]);
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

    fn take(&self, epoch: u64, base: Option<String>) -> Result<Luggage, Failure> {
        take(&self.path("here"), epoch, base)
    }

    /// What the remote has under a name of the run.
    fn there(&self, name: &str) -> Option<String> {
        let name = format!("refs/onloop/run/{name}");
        git(&self.path("shop.git"), &["rev-parse", "--verify", "--quiet", &name]).ok()
    }
}

fn take(here: &Path, epoch: u64, base: Option<String>) -> Result<Luggage, Failure> {
    let (run_id, holder) = ("run".to_owned(), "desk".to_owned());
    let lease = Lease { run_id, epoch, holder, lasts_ms: 1000 };
    Luggage::take(Box::new(OsGit::new()), &here.to_string_lossy(), "origin", lease, base)
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
fn work_that_nobody_has_judged_waits_for_what_is_found_good() {
    let shop = Shop::new();
    let mut luggage = shop.take(1, None).expect("the lease");
    let (acted, verified) = (shop.commit("Acted"), shop.commit("Verified"));
    luggage.deliver(&line("acted", &acted)).expect("it waits");
    assert_eq!((luggage.owes(), shop.there("1-1")), (true, None));
    luggage.deliver(&line("verified", &verified)).expect("it is brought");
    assert_eq!((luggage.owes(), shop.there("1-1")), (false, Some(verified.clone())));
    // Whoever comes after a death brings what is here and was not brought.
    let mut next = shop.take(2, None).expect("the lease");
    let checkpoint = |kind, commit: &str| checkpoint_of(&line(kind, commit)).expect("a line");
    let unknown = checkpoint("verified", &"0".repeat(40));
    next.recall(&[checkpoint("acted", &acted), checkpoint("verified", &verified), unknown]);
    assert!(!next.owes(), "what is there has come further, and what is not here cannot come");
    let later = shop.commit("Later");
    next.recall(&[checkpoint("acted", &later)]);
    next.settle().expect("it is brought");
    assert_eq!(shop.there("1-1"), Some(later));
    let late = luggage.deliver(&line("verified", &acted)).expect_err("the lease is lost");
    assert_eq!(late.kind, FailureKind::Denied);
}

#[test]
fn a_push_whose_answer_never_came_is_known_as_our_own() {
    let shop = Shop::new();
    let mut luggage = shop.take(1, None).expect("the lease");
    let (acted, verified) = (shop.commit("Acted"), shop.commit("Verified"));
    // It came there, and whoever pushed it was not told.
    let before = (luggage.at.clone(), luggage.there.clone());
    luggage.deliver(&line("acted", &acted)).expect("it waits");
    luggage.settle().expect("it is brought");
    (luggage.at, luggage.there) = before;
    luggage.deliver(&line("verified", &verified)).expect("it is brought");
    assert_eq!(shop.there("1-1"), Some(verified));
    // A lease that is not there any more is nobody's.
    let shared = shop.path("shop.git");
    git(&shared, &["update-ref", "-d", "refs/onloop/run/lease"]).expect("git");
    let gone = luggage.deliver(&line("verified", &acted)).expect_err("it is not ours");
    assert_eq!((gone.kind, shop.there("lease")), (FailureKind::Denied, None));
}

#[test]
fn checks_that_take_long_are_not_waited_for() {
    let shop = Shop::new();
    let here = shop.path("here");
    let courier = Courier::hire(move || take(&here, 1, None)).expect("the lease");
    let acted = shop.commit("Acted");
    courier.deliver(&line("acted", &acted)).expect("it is taken");
    let asked = std::time::Instant::now();
    while shop.there("1-1").as_ref() != Some(&acted) {
        assert!(asked.elapsed().as_secs() < 60, "it is never brought");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Where somebody else has the lease, whoever waits is told.
    shop.take(2, None).expect("the lease");
    courier.deliver(&line("acted", &shop.base)).expect("it is taken");
    let late = courier.settle().expect_err("the lease is lost");
    assert_eq!(late.kind, FailureKind::Denied);
}
