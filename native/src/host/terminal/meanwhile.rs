//! The status line while the host itself works: git checks out a large tree, makes a checkpoint, or
//! talks to a remote.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use onloop_core::effect::WorkLine;

use super::status::StatusLine;
use crate::host::Progress;

/// Shorter work is not shown.
const SILENT: Duration = Duration::from_secs(1);
/// The same for a plain line, which stays.
const SILENT_LINES: Duration = Duration::from_secs(2);
/// How often a status line moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows the status until it is dropped.
#[derive(Debug)]
pub struct Meanwhile(Option<(Sender<()>, JoinHandle<()>)>);

impl Meanwhile {
    /// Says nothing.
    pub(crate) fn silent() -> Meanwhile {
        Meanwhile(None)
    }

    /// A status line for each of these programs.
    pub(super) fn beside(working: Vec<WorkLine>) -> Meanwhile {
        Meanwhile::begin(move |wait| {
            let mut lines = StatusLine::all(&working);
            while wait(TICK) {
                lines.iter_mut().for_each(Progress::tick);
            }
        })
    }

    /// A status line with `words` where `live`, else one plain line.
    pub(super) fn new(words: &'static str, live: bool) -> Meanwhile {
        Meanwhile::begin(move |wait| {
            let silent = if live { SILENT } else { SILENT_LINES };
            if !wait(silent) {
                return;
            }
            if !live {
                // A closed standard error is not an error.
                let _ = writeln!(io::stderr().lock(), "  {words} …");
                return;
            }
            let mut line = StatusLine::new(words, silent);
            while wait(TICK) {
                line.tick();
            }
        })
    }

    /// Does `work` beside the host. What it gets waits, and says whether the host still works.
    fn begin(work: impl FnOnce(&dyn Fn(Duration) -> bool) + Send + 'static) -> Meanwhile {
        let (stop, stopped) = channel::<()>();
        let wait = move |how_long| stopped.recv_timeout(how_long) == Err(RecvTimeoutError::Timeout);
        let thread = std::thread::Builder::new().name("meanwhile".to_owned());
        let thread = thread.spawn(move || work(&wait));
        Meanwhile(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // The line disappears before other output.
            let _ = thread.join();
        }
    }
}
