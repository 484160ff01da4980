//! Lending the terminal to an interactive program and getting it back as it was.

use std::io;

use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use crate::host::Interrupts;
use crate::host::interrupts::TerminalLent;

/// While it lives an interactive program has the terminal. It runs in our own process group,
/// so the terminal's signals reach it and job control stops and continues both of us
/// together; we leave Ctrl-C to it.
pub(super) struct Lent {
    modes: Option<Termios>,
    _interrupts: TerminalLent,
}

impl Lent {
    pub(super) fn to_program(interrupts: &Interrupts) -> Lent {
        Lent { modes: tcgetattr(io::stdin()).ok(), _interrupts: interrupts.lend_terminal() }
    }
}

impl Drop for Lent {
    /// A program that was killed leaves the terminal without echo or line editing. Setting
    /// modes from the background would stop us, so that is left to the shell.
    fn drop(&mut self) {
        let in_foreground = tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp());
        if let Some(modes) = self.modes.as_ref().filter(|_| in_foreground) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, modes);
        }
    }
}
