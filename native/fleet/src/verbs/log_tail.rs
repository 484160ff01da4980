//! Logs of runs on other machines, as files on this machine while a person watches.

use onloop::host::{Files, OsFiles, Root};
use onloop_core::effect::{Durability, Expect};

use super::tracked::TrackedRun;
use super::{LOOK_MS, PAUSE};
use crate::client::Client;
use crate::engine::{LogTail, ReadLog};
use crate::worker::is_attempt;

/// Copies the end of one run's log until the process ends.
pub(super) fn follow(runs: &str, mark: TrackedRun, client: &Client) {
    let (runs, client) = (runs.to_owned(), client.clone());
    std::thread::spawn(move || {
        let mut read = ReadLog { run_id: mark.run_id.clone(), seen: 0, wait_ms: LOOK_MS };
        while !mark.is_over(&runs) {
            match client.call(&read) {
                Ok(None) => {}
                Ok(Some(latest)) => {
                    read.seen = latest.number;
                    write(&runs, &mark, &latest.tail);
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    });
}

fn write(runs: &str, mark: &TrackedRun, tail: &LogTail) {
    // The server must not choose the file that is written.
    if tail.run_id != mark.run_id || !is_attempt(&tail.attempt) {
        return;
    }
    let path = format!("{runs}/{}/logs/{}.log", mark.run_id, tail.attempt);
    let bytes = tail.text.as_bytes();
    // The copy is only shown, so a failure has no consequences.
    let _ =
        OsFiles::new(Root::new("/")).write(&path, bytes, &Expect::Any, Durability::Relaxed, true);
}
