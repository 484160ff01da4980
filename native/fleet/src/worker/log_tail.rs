//! The tail of an attempt's log, for people who watch from other machines.

use std::path::Path;
use std::time::SystemTime;

use onloop::host::{Files, OsFiles, Root};

use super::Worker;
use crate::engine::{Heartbeat, LOG_TAIL_BYTES, LogTail};

/// Reads the tail of a run's log.
pub(super) fn of_run(worker: &Worker, run_id: &str) -> Option<LogTail> {
    read(&worker.settings.runs().join(run_id).join("logs"), run_id)
}

/// Sends the tail once more when the driver has ended, for people who look later.
pub(super) fn send_last(worker: &Worker, run_id: &str) {
    if let Some(tail) = of_run(worker, run_id) {
        let last = Heartbeat { offer: worker.offer(), leases: Vec::new(), logs: vec![tail] };
        // The log stays on this machine, so a failure loses nothing.
        let _ = worker.client.call(&last);
    }
}

/// Reads the tail of the newest log; logs contain no secrets.
fn read(logs: &Path, run_id: &str) -> Option<LogTail> {
    let written = |entry: std::fs::DirEntry| -> Option<(SystemTime, String)> {
        let name = entry.file_name().into_string().ok()?;
        let attempt = name.strip_suffix(".log").filter(|name| is_attempt(name))?.to_owned();
        Some((entry.metadata().ok()?.modified().ok()?, attempt))
    };
    let entries = std::fs::read_dir(logs).ok()?.flatten();
    let (_, attempt) = entries.filter_map(written).max()?;
    let path = logs.join(format!("{attempt}.log")).to_string_lossy().into_owned();
    let (bytes, _) = OsFiles::new(Root::new("/")).read_tail(&path, LOG_TAIL_BYTES as u64).ok()?;
    // Replacing bytes that are not UTF-8 makes the text longer.
    let text = String::from_utf8_lossy(&bytes);
    let text = onloop_core::text::suffix(&text, LOG_TAIL_BYTES).to_owned();
    Some(LogTail { run_id: run_id.to_owned(), attempt, text })
}

/// Whether this is the name of an attempt's log: step and attempt.
pub(crate) fn is_attempt(name: &str) -> bool {
    let is_number = |part: &str| part.parse::<u32>().is_ok() && !part.starts_with('+');
    name.split_once('-').is_some_and(|(step, attempt)| is_number(step) && is_number(attempt))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_log_that_was_written_last_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &[u8]| {
            std::fs::write(folder.path().join(name), text).expect("a file");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(read(folder.path(), "run"), None);
        write("1-2.log", b"before");
        write("2-1.log", &[b"\xff".repeat(LOG_TAIL_BYTES), b"end".to_vec()].concat());
        write("2-1.stream", b"not for people");
        write("review-1.log", b"of a reviewer");
        let tail = read(folder.path(), "run").expect("a log");
        assert_eq!(tail.attempt, "2-1");
        assert!(tail.text.ends_with("end") && tail.text.len() <= LOG_TAIL_BYTES);
    }

    #[test]
    fn only_attempts_have_logs_that_travel() {
        for (name, expected) in
            [("1-2", true), ("../1-2", false), ("1-2/x", false), ("+1-2", false), ("1", false)]
        {
            assert_eq!(is_attempt(name), expected, "{name}");
        }
    }
}
