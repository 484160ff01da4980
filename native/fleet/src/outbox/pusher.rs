//! A thread that pushes work to the remote. It pushes the changes of a turn while the checks run. Work
//! that differs only in ticked boxes waits for the next push or a short time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind};

use super::{Outbox, is_about_work};

/// How long work waits that differs only in ticked boxes: an earlier end of the turn saves its push.
const GRACE: Duration = Duration::from_millis(200);

/// A handle of the thread.
#[derive(Clone)]
pub struct Pusher {
    jobs: Sender<Job>,
}

/// Lines whose checkpoints are pushed; `None`: everything that is pending.
struct Job {
    lines: Option<String>,
    done: Sender<Result<(), Failure>>,
}

impl Pusher {
    /// Starts the thread with the outbox that `make` returns.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    pub fn start(
        pack: impl FnOnce() -> Result<Outbox, Failure> + Send + 'static,
    ) -> Result<Pusher, Failure> {
        let (jobs, orders) = channel();
        let (packed, is_packed) = channel();
        thread::spawn(move || match pack() {
            Ok(outbox) => {
                let _ = packed.send(Ok(()));
                attend(outbox, &orders);
            }
            Err(failure) => {
                let _ = packed.send(Err(failure));
            }
        });
        is_packed.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(Pusher { jobs })
    }

    /// Does the same as [`Outbox::deliver`].
    ///
    /// # Errors
    ///
    /// Those of this push and of an earlier one that was not waited for.
    pub fn deliver(&self, lines: &str) -> Result<(), Failure> {
        // Lines without work do not wait for an open push.
        if is_about_work(lines) { self.send(Some(lines.to_owned())) } else { Ok(()) }
    }

    /// Does the same as [`Outbox::settle`].
    ///
    /// # Errors
    ///
    /// Those of [`Outbox::settle`].
    pub fn settle(&self) -> Result<(), Failure> {
        self.send(None)
    }

    fn send(&self, lines: Option<String>) -> Result<(), Failure> {
        let (done, is_done) = channel();
        self.jobs.send(Job { lines, done }).map_err(|_| gone())?;
        is_done.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn attend(mut outbox: Outbox, orders: &Receiver<Job>) {
    // A failed push is repeated for a caller that waits, which gets the error.
    let mut has_failed = false;
    loop {
        outbox.prepare();
        let order = match outbox.is_pending() && !has_failed {
            true if outbox.is_urgent() => Err(RecvTimeoutError::Timeout),
            true => orders.recv_timeout(GRACE),
            false => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match order {
            Ok(Job { lines, done }) => {
                let brought = match lines {
                    Some(lines) => outbox.deliver(&lines),
                    None => outbox.settle(),
                };
                has_failed = brought.is_err();
                let _ = done.send(brought);
            }
            Err(RecvTimeoutError::Timeout) => has_failed = outbox.settle().is_err(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Closed, "the thread that pushes the work has ended")
}
