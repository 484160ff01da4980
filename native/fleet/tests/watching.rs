//! A person who watches a fleet run sees the log of its agent.
#![cfg(unix)]

#[allow(dead_code, reason = "other programs need more")]
mod fleet;

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fleet::{Fleet, LONG};
use onloop_fleet::engine::{QueueState, ReadLog};

const STEPS: &str = "- [ ] **Step 1: Open the door**\naction: Write door.txt\nloop: false\nverify: test -f door.txt\ngate: human\n";

/// A person who watches all runs.
struct Follower(Child);

impl Follower {
    fn begin(fleet: &Fleet) -> Follower {
        let mut web = fleet.command("state", "shop", &["web"]);
        Follower(web.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("onloop web"))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until `look` returns a value.
fn until<T>(fleet: &Fleet, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LONG, "no {what}\n{}", fleet.logs());
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn a_run_that_nobody_has_begun_is_shown_as_that() {
    let fleet = Fleet::new(Duration::from_secs(6));
    let run = fleet.submit(STEPS, "true");
    let status = fleet.onloop(&["status", &run]);
    assert!(status.status.success(), "{}", fleet.all(&status));
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    let shop = fleet.path("shop.git");
    let expected = format!(
        "· {run}\n    hotl-workflow-sell.md in {}\n    waiting for a worker\n",
        shop.display()
    );
    assert_eq!(said, expected);
    let report = fleet.onloop(&["report", &run]);
    assert_eq!(report.status.code(), Some(4), "{}", fleet.all(&report));
    let said = String::from_utf8_lossy(&report.stderr).into_owned();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("no worker has begun it yet"), "{said}");
}

#[test]
fn what_an_agent_says_is_heard_while_it_works_and_at_its_gate() {
    let mut fleet = Fleet::new(Duration::from_secs(6));
    // The agent continues after the test has read its output.
    let heard = fleet.path("heard");
    let agent = format!(
        "echo I look at the door; until test -e {}; do sleep 0.1; done; echo open > door.txt; echo It \
         is open",
        heard.display()
    );
    // The watcher also shows runs that are submitted later.
    let early = Follower::begin(&fleet);
    let first = fleet.submit(STEPS, "touch door.txt; echo at once");
    fleet.start_worker("one");
    let log_of = |run: &str| fleet.path(&format!("state/runs/{run}/logs/1-1.log"));
    let contains = |run: &str, words: &str| {
        let text = fs::read_to_string(log_of(run)).unwrap_or_default();
        text.contains(words).then_some(text)
    };
    until(&fleet, "words of a run that came later", || contains(&first, "at once"));
    drop(early);
    let run = fleet.submit_with(STEPS, &agent, &["--confine", "off"]);
    let watching = Follower::begin(&fleet);
    let text = until(&fleet, "words", || contains(&run, "I look at the door"));
    assert!(!text.contains("It is open"), "{text}");
    fs::write(&heard, "").expect("a file");
    until(&fleet, "last words", || contains(&run, "It is open"));
    drop(watching);
    fleet.wait(&run, |view| {
        matches!(view.state, QueueState::NeedsPerson { .. }) && view.holder.is_none()
    });
    // A later watcher gets the last output, although no agent works.
    let read = ReadLog { run_id: run.clone(), seen: 0, wait_ms: 0 };
    let last = fleet.client().call(&read).expect("an answer").expect("a log").tail;
    assert_eq!((last.attempt.as_str(), last.run_id.as_str()), ("1-1", run.as_str()));
    assert!(last.text.contains("It is open"), "{last:?}");
}
