//! What the agents of the fleet's runs say, as logs of this machine for as long as somebody looks.

use std::sync::Arc;

use onloop::host::{Files, OsFiles, Root};
use onloop_core::effect::{Durability, Expect};

use super::marks::Mark;
use super::{LOOK, PAUSE};
use crate::calls::Calls;
use crate::wire::Words;
use crate::worker::is_attempt;

/// Writes what is said in one run to its logs here until the process ends.
pub(super) fn listen(runs: &str, mark: Mark, calls: &Arc<dyn Calls>) {
    let (runs, calls) = (runs.to_owned(), Arc::clone(calls));
    std::thread::spawn(move || {
        let mut heard = 0;
        while !mark.is_over(&runs) {
            match calls.hear(&mark.run_id, heard, LOOK) {
                Ok(None) => {}
                Ok(Some(news)) => {
                    heard = news.number;
                    write(&runs, &mark, &news.words);
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    });
}

fn write(runs: &str, mark: &Mark, words: &Words) {
    // What a server says does not decide where something is written.
    if words.run_id != mark.run_id || !is_attempt(&words.attempt) {
        return;
    }
    let path = format!("{runs}/{}/logs/{}.log", mark.run_id, words.attempt);
    let bytes = words.text.as_bytes();
    // It is only for looking at.
    let _ =
        OsFiles::new(Root::new("/")).write(&path, bytes, &Expect::Any, Durability::Relaxed, true);
}
