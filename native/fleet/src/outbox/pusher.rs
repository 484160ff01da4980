//! Whoever brings the work to the remote, beside the program. What a turn has changed goes while its checks run.
//! What is there already but for ticked boxes is not waited for: what checks have found good, as a rule, and what a
//! turn leaves that has changed nothing. It goes with what the next turn changes, or after a moment in which nothing
//! else was to go.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind};

use super::{Outbox, is_about_work};

/// How long work waits that is there but for its boxes. A turn that is over sooner spares it its own way.
const GRACE: Duration = Duration::from_millis(200);

/// The work of one run, with somebody who brings it.
#[derive(Clone)]
pub struct Pusher {
    jobs: Sender<Job>,
}

/// Lines whose checkpoints are to be brought; none: everything that waits.
struct Job {
    lines: Option<String>,
    done: Sender<Result<(), Failure>>,
}

impl Pusher {
    /// Takes the outbox that `pack` makes, and brings it from then on.
    ///
    /// # Errors
    ///
    /// Those of `pack`.
    pub fn hire(
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

    /// As [`Outbox::deliver`].
    ///
    /// # Errors
    ///
    /// Those of it, also for what was to be brought before.
    pub fn deliver(&self, lines: &str) -> Result<(), Failure> {
        // Whoever has nothing to bring does not wait for what is on its way.
        if is_about_work(lines) { self.send(Some(lines.to_owned())) } else { Ok(()) }
    }

    /// As [`Outbox::settle`].
    ///
    /// # Errors
    ///
    /// Those of it.
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
    // What did not work is tried again when somebody waits for it, and is told why.
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
    Failure::new(FailureKind::Closed, "nobody brings the work to the remote any more")
}
