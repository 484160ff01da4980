//! A hook answers even when everything else fails: an agent host that gets no answer runs the
//! tool.

use std::io::Write;

use onloop_core::verb::{answer_of_a_broken_hook, called_as_hook};

/// The command line, with whatever is not UTF-8 in it replaced.
pub(crate) fn argv() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Whether this process was called as a hook.
pub(crate) fn is_one() -> bool {
    called_as_hook(&argv()).is_some()
}

/// Refuses in the form of the host that called. Returns whether a hook was called at all.
///
/// A hook's program answers once, at its end, so nothing has been printed when it fails.
pub(crate) fn answer() -> bool {
    match answer_of_a_broken_hook(&argv()) {
        Some(answer) => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush()).is_ok()
        }
        None => false,
    }
}
