//! Ctrl-C and similar signals, delivered exactly once to a waiting request.
//!
//! A signal raises the interrupt; the next request that waits (a process, a question, a sleep, a
//! lock) takes it. Requests that do not wait are never interrupted, so a program can always save
//! its state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, FailureKind};

use super::failure;
use super::wake_pipe::WakePipe;

/// A pending interrupt, shared by everything that waits.
#[derive(Clone, Debug)]
pub struct Interrupts {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pending: WakePipe,
    terminal: Mutex<TerminalOwner>,
    first_wait: Mutex<Preparation>,
}

/// Preparation that is run before the first request that waits.
#[derive(Default)]
struct Preparation(Option<Prepare>);

type Prepare = Box<dyn FnOnce(&Interrupts) -> std::io::Result<()> + Send>;

impl std::fmt::Debug for Preparation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "to be done" } else { "nothing to do" })
    }
}

/// The receiver of Ctrl-C.
#[derive(Clone, Copy, Debug)]
enum TerminalOwner {
    /// Ours.
    Us,
    /// An interactive program's.
    Program,
    /// Ours again since then.
    UsSince(Instant),
}

/// A key so soon after the end of an interactive program was meant for that program.
const HANDOVER: Duration = Duration::from_millis(200);

impl TerminalOwner {
    #[cfg_attr(not(unix), allow(dead_code, reason = "nobody listens to signals"))]
    fn is_program(self) -> bool {
        match self {
            TerminalOwner::Us => false,
            TerminalOwner::Program => true,
            TerminalOwner::UsSince(then) => then.elapsed() < HANDOVER,
        }
    }
}

impl Interrupts {
    /// Nothing pending, and no signal handler installed.
    ///
    /// # Errors
    ///
    /// When the process has no file descriptors left.
    pub fn new() -> std::io::Result<Interrupts> {
        let shared = Shared {
            pending: WakePipe::new()?,
            terminal: Mutex::new(TerminalOwner::Us),
            first_wait: Mutex::default(),
        };
        Ok(Interrupts { shared: Arc::new(shared) })
    }

    /// Interrupts what waits, or the next thing that will.
    pub fn raise(&self) {
        self.shared.pending.raise();
    }

    /// Takes a pending interrupt.
    pub(super) fn take(&self) -> bool {
        self.shared.pending.take()
    }

    /// Whether an interrupt is pending; it stays so.
    pub(super) fn is_pending(&self) -> bool {
        self.shared.pending.is_raised()
    }

    /// Runs `prepare` before the first request that waits, and never when there is none.
    pub(crate) fn before_first_wait(
        &self,
        prepare: impl FnOnce(&Interrupts) -> std::io::Result<()> + Send + 'static,
    ) {
        self.preparation().0 = Some(Box::new(prepare));
    }

    fn preparation(&self) -> MutexGuard<'_, Preparation> {
        self.shared.first_wait.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a pending interrupt as a failure, before something that would wait.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.prepare()?;
        if self.take() { Err(interrupted()) } else { Ok(()) }
    }

    /// Runs the preparation before a wait.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        let prepare = self.preparation().0.take();
        if let Some(prepare) = prepare {
            prepare(self).map_err(|error| failure::of(&error, "cannot listen to signals"))?;
        }
        Ok(())
    }

    /// Waits for `duration`.
    pub(super) fn sleep(&self, duration: Duration) -> Result<(), Failure> {
        let end = Instant::now().checked_add(duration);
        loop {
            self.check()?;
            let left = match end {
                Some(end) => end.saturating_duration_since(Instant::now()),
                None => Duration::MAX,
            };
            if left.is_zero() {
                return Ok(());
            }
            self.wait(left);
        }
    }

    fn give_terminal_to(&self, owner: TerminalOwner) {
        *self.shared.terminal.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }

    /// Lends the terminal to an interactive program until the guard is dropped.
    pub(super) fn lend_terminal(&self) -> TerminalLent {
        self.give_terminal_to(TerminalOwner::Program);
        TerminalLent(self.clone())
    }
}

/// While it lives, Ctrl-C belongs to the interactive program.
#[derive(Debug)]
pub(super) struct TerminalLent(Interrupts);

impl Drop for TerminalLent {
    fn drop(&mut self) {
        self.0.give_terminal_to(TerminalOwner::UsSince(Instant::now()));
    }
}

/// The failure of a request that was interrupted before or while it waited.
pub(super) fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted")
}

#[cfg(unix)]
mod unix {
    use std::os::fd::BorrowedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::{Duration, Instant, Interrupts};

    /// A second signal within this time means "now": nothing is saved any more.
    const IMPATIENCE: Duration = Duration::from_secs(1);

    impl Interrupts {
        /// Readable while an interrupt is pending; for `poll`.
        pub(crate) fn fd(&self) -> BorrowedFd<'_> {
            self.shared.pending.fd()
        }

        /// Returns after `longest`, or earlier when an interrupt is pending, or for no
        /// reason at all.
        pub(super) fn wait(&self, longest: Duration) {
            let fd = self.fd();
            let timeout = Timespec::try_from(longest).ok();
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout.as_ref());
        }

        /// Listens to SIGINT, SIGTERM and SIGHUP from now on. A second one within a second
        /// calls `abandon` and ends the process with exit code 130.
        ///
        /// Signals that were ignored when the process started stay ignored: that is how
        /// `nohup` and background jobs ask for it.
        ///
        /// # Errors
        ///
        /// When the system refuses the handlers or the thread that waits for them.
        pub fn listen(&self, abandon: impl Fn() + Send + 'static) -> std::io::Result<()> {
            let wanted =
                [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
            let mut signals = Signals::new(wanted)?;
            let interrupts = self.clone();
            let listen = move || {
                let mut last: Option<Instant> = None;
                for signal in signals.forever() {
                    let owner =
                        interrupts.shared.terminal.lock().map_or_else(|e| *e.into_inner(), |o| *o);
                    if signal == SIGINT && owner.is_program() {
                        continue;
                    }
                    if last.is_some_and(|last| last.elapsed() < IMPATIENCE) {
                        abandon();
                        std::process::exit(130);
                    }
                    last = Some(Instant::now());
                    interrupts.raise();
                }
            };
            std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
            Ok(())
        }
    }

    /// Whether a signal is ignored at this moment.
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn is_ignored(signal: i32) -> bool {
        let mut present = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call changes nothing and writes the present one, of
        // which every bit pattern is a value.
        let present = unsafe {
            if libc::sigaction(signal, std::ptr::null(), present.as_mut_ptr()) != 0 {
                return false;
            }
            present.assume_init()
        };
        present.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
impl Interrupts {
    /// Nothing can raise an interrupt from outside on this system, so waiting is sleeping.
    fn wait(&self, longest: Duration) {
        std::thread::sleep(longest);
    }

    /// Ctrl-C ends the process with the system's default action. Durable state stays, as after a
    /// power cut.
    ///
    /// # Errors
    ///
    /// Never on this system.
    pub fn listen(&self, _abandon: impl Fn() + Send + 'static) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_c_belongs_to_an_interactive_program_until_a_moment_after_its_end() {
        let long_ago = Instant::now().checked_sub(2 * HANDOVER).unwrap();
        let table = [
            (TerminalOwner::Us, false),
            (TerminalOwner::Program, true),
            (TerminalOwner::UsSince(Instant::now()), true),
            (TerminalOwner::UsSince(long_ago), false),
        ];
        for (owner, expected) in table {
            assert_eq!(owner.is_program(), expected, "{owner:?}");
        }
    }

    #[test]
    fn an_interrupt_is_delivered_once_however_often_it_was_raised() {
        let interrupts = Interrupts::new().unwrap();
        assert!(interrupts.check().is_ok());
        interrupts.raise();
        interrupts.raise();
        let failure = interrupts.sleep(Duration::from_secs(60)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Interrupted);
        assert!(interrupts.sleep(Duration::from_millis(1)).is_ok());
    }

    #[test]
    fn what_is_prepared_for_the_first_wait_is_done_once_and_then_only() {
        let interrupts = Interrupts::new().unwrap();
        let done = Arc::new(Mutex::new(0));
        let count = done.clone();
        interrupts.before_first_wait(move |_| {
            *count.lock().unwrap() += 1;
            Ok(())
        });
        interrupts.raise();
        assert!(interrupts.take());
        assert_eq!(*done.lock().unwrap(), 0);
        interrupts.check().unwrap();
        interrupts.sleep(Duration::from_millis(1)).unwrap();
        assert_eq!(*done.lock().unwrap(), 1);
    }

    #[test]
    fn who_cannot_prepare_does_not_wait() {
        let interrupts = Interrupts::new().unwrap();
        interrupts.before_first_wait(|_| Err(std::io::Error::other("no threads left")));
        let failure = interrupts.check().unwrap_err();
        assert_eq!(failure.message, "cannot listen to signals: no threads left");
    }

    #[test]
    fn a_sleeper_is_woken() {
        let interrupts = Interrupts::new().unwrap();
        let other = interrupts.clone();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::MAX));
        interrupts.raise();
        assert_eq!(sleeper.join().unwrap().unwrap_err().kind, FailureKind::Interrupted);
    }
}
