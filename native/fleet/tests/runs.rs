//! Runs on a fleet, by real workers in real repositories.
#![cfg(unix)]

mod fleet;

use std::time::Duration;

use fleet::Fleet;
use onloop_core::documents::ledger;
use onloop_fleet::engine::Rest;

const ONE_STEP: &str = "- [ ] **Step 1: Open the door**\naction: Write door.txt\nloop: false\nverify: test -f door.txt\n";

#[test]
fn a_run_is_completed_and_its_work_is_in_the_remote() {
    let mut fleet = Fleet::new(Duration::from_secs(6));
    let run = fleet.submit(ONE_STEP, "echo open > door.txt");
    fleet.start_worker("one");
    fleet.wait(&run, |view| matches!(view.rest, Rest::Over { .. }) && view.holder.is_none());
    let lines = fleet.client().lines(&run, 0, Duration::ZERO).expect("lines").lines;
    let read = ledger::read(lines.as_bytes(), None).expect("a sound ledger");
    assert_eq!(read.run.status.as_str(), "completed");
    let shown = fleet.git("shop.git", &["show", &format!("refs/onloop/{run}/1-1:door.txt")]);
    assert_eq!(shown, "open");
    let status = fleet.onloop(&["status", &run]);
    assert!(status.status.success(), "{}", fleet.all(&status));
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(said.contains("completed"), "{said}");
}
