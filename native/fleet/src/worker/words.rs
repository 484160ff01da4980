//! What agents say here, for whoever watches their runs elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use onloop::host::{Files, OsFiles, Root};

use super::Worker;
use crate::wire::{WORDS_BYTES, Words};

/// How long the server may think about whether somebody wants to hear something. Runs that begin meanwhile
/// are asked about after that.
const ASK: Duration = Duration::from_secs(5);
/// Between two looks at what is said while somebody listens.
const LOOK: Duration = Duration::from_secs(1);
/// Words that have not changed are said again after this long: the server may have forgotten them.
const AGAIN: Duration = Duration::from_secs(30);

/// Says what is wanted until the process ends.
pub(super) fn begin(worker: &Arc<Worker>) {
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        let mut said = BTreeMap::new();
        loop {
            worker.table.wait_for_work();
            let runs: Vec<String> =
                worker.table.leases().into_iter().map(|lease| lease.run_id).collect();
            match worker.calls.wanted(&runs, ASK) {
                Ok(wanted) if wanted.is_empty() => said.clear(),
                Ok(wanted) => {
                    said.retain(|run, _| wanted.contains(run));
                    wanted.iter().for_each(|run| say_news(&worker, &mut said, run));
                    std::thread::sleep(LOOK);
                }
                Err(_) => std::thread::sleep(ASK),
            }
        }
    });
}

/// Says what was said last in a run, before it is left. Whoever looks at it later finds that.
pub(super) fn say_last(worker: &Worker, run_id: &str) {
    if let Some(words) = last_words(&logs_of(worker, run_id), run_id) {
        // It is only for looking at.
        let _ = worker.calls.say(&words);
    }
}

fn say_news(worker: &Worker, said: &mut BTreeMap<String, (Words, Instant)>, run_id: &str) {
    let Some(words) = last_words(&logs_of(worker, run_id), run_id) else { return };
    let is_known = |(before, at): &(Words, Instant)| *before == words && at.elapsed() < AGAIN;
    if !said.get(run_id).is_some_and(is_known) && worker.calls.say(&words).is_ok() {
        said.insert(run_id.to_owned(), (words, Instant::now()));
    }
}

fn logs_of(worker: &Worker, run_id: &str) -> PathBuf {
    worker.places.runs().join(run_id).join("logs")
}

/// The end of the log that was written to last; logs are kept without secrets.
fn last_words(logs: &Path, run_id: &str) -> Option<Words> {
    let written = |entry: std::fs::DirEntry| -> Option<(SystemTime, String)> {
        let name = entry.file_name().into_string().ok()?;
        let attempt = name.strip_suffix(".log").filter(|name| is_attempt(name))?.to_owned();
        Some((entry.metadata().ok()?.modified().ok()?, attempt))
    };
    let entries = std::fs::read_dir(logs).ok()?.flatten();
    let (_, attempt) = entries.filter_map(written).max()?;
    let path = logs.join(format!("{attempt}.log")).to_string_lossy().into_owned();
    let limit = WORDS_BYTES as u64;
    let (bytes, _) = OsFiles::new(Root::new("/")).read_tail(&path, limit).ok()?;
    // What is no UTF-8 is longer when it is replaced.
    let text = String::from_utf8_lossy(&bytes);
    let text = onloop_core::text::suffix(&text, WORDS_BYTES).to_owned();
    Some(Words { run_id: run_id.to_owned(), attempt, text })
}

/// Whether a log is called so that has what an agent said: step and attempt.
pub(crate) fn is_attempt(name: &str) -> bool {
    let is_number = |part: &str| part.parse::<u32>().is_ok() && !part.starts_with('+');
    name.split_once('-').is_some_and(|(step, attempt)| is_number(step) && is_number(attempt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_that_was_written_to_last_is_the_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &[u8]| {
            std::fs::write(folder.path().join(name), text).expect("a file");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(last_words(folder.path(), "run"), None);
        write("1-2.log", b"before");
        write("2-1.log", &[b"\xff".repeat(WORDS_BYTES), b"end".to_vec()].concat());
        write("2-1.stream", b"not for people");
        write("review-1.log", b"of somebody else");
        let words = last_words(folder.path(), "run").expect("words");
        assert_eq!(words.attempt, "2-1");
        assert!(words.text.ends_with("end") && words.text.len() <= WORDS_BYTES);
    }

    #[test]
    fn only_attempts_have_words() {
        for (name, expected) in
            [("1-2", true), ("../1-2", false), ("1-2/x", false), ("+1-2", false), ("1", false)]
        {
            assert_eq!(is_attempt(name), expected, "{name}");
        }
    }
}
