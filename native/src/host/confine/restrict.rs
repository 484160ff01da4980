//! What a child does to itself between fork and exec.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command as OsCommand;

use landlock::RulesetCreated;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use seccompiler::BpfProgram;

/// Everything that the child needs, made by its parent: it may not allocate.
pub(super) struct Restrictions {
    /// Stay open in the child.
    pub(super) inherited: Vec<OwnedFd>,
    /// Whether the child leaves the terminal, and everybody's process group.
    pub(super) own_session: bool,
    /// Whether it gives up what root may do.
    pub(super) no_capabilities: bool,
    pub(super) rules: Option<RulesetCreated>,
    pub(super) filter: BpfProgram,
}

/// Has the child of `command` restrict itself. It is not started when one of these fails.
#[expect(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn restrict(command: &mut OsCommand, restrictions: Restrictions) {
    let Restrictions { inherited, own_session, no_capabilities, mut rules, filter } = restrictions;
    let prepare = move || {
        if own_session {
            rustix::process::setsid()?;
        }
        close_on_exec()?;
        for fd in &inherited {
            debug_assert!(fd.as_raw_fd() > 2, "the three streams are somebody else's");
            fcntl_setfd(fd, FdFlags::empty())?;
        }
        if no_capabilities {
            let none = CapabilitySet::empty();
            let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
            set_capabilities(None, sets)?;
        }
        if let Some(rules) = rules.take() {
            rules.restrict_self().map_err(|_| refused())?;
        }
        seccompiler::apply_filter(&filter).map_err(|_| refused())
    };
    // SAFETY: after a fork only what is safe in a signal handler may be done. These are system
    // calls; nothing allocates, takes a lock or holds memory in its errors. The rules are closed
    // with their descriptor.
    unsafe {
        command.pre_exec(prepare);
    }
}

fn refused() -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}

/// Whatever we have inherited or opened without the mark is not for the child.
#[expect(unsafe_code, reason = "no safe form of this call is at hand")]
fn close_on_exec() -> io::Result<()> {
    let (first, last, mark) = (3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: a system call on numbers; it changes a mark and closes nothing now.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, mark) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
