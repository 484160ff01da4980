//! Restrictions that a child applies to itself before `exec`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use seccompiler::BpfProgram;

/// The restrictions, prepared by the parent: the child shares its memory and must not allocate.
pub(in crate::host) struct Restrictions {
    /// Descriptors that stay open in the child.
    pub(super) inherited: Vec<OwnedFd>,
    /// Whether the child begins with no variable of ours.
    pub(super) empty_environment: bool,
    /// Whether it drops all capabilities.
    pub(super) no_capabilities: bool,
    /// A ruleset of Landlock.
    pub(super) rules: Option<OwnedFd>,
    pub(super) filter: BpfProgram,
}

impl Restrictions {
    /// Whether the program begins with no variable of ours.
    pub(in crate::host) fn empty_environment(&self) -> bool {
        self.empty_environment
    }

    /// Restricts this process, a child that shares its parent's memory: only system calls, without
    /// allocations or locks.
    ///
    /// # Errors
    ///
    /// The first restriction that the kernel refuses; the program must not be started then.
    pub(in crate::host) fn apply(&self) -> io::Result<()> {
        close_on_exec()?;
        for fd in &self.inherited {
            debug_assert!(fd.as_raw_fd() > 2, "the three streams are somebody else's");
            fcntl_setfd(fd, FdFlags::empty())?;
        }
        if self.no_capabilities {
            let none = CapabilitySet::empty();
            let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
            set_capabilities(None, sets)?;
        }
        if let Some(rules) = &self.rules {
            restrict_self(rules)?;
        }
        seccompiler::apply_filter(&self.filter)
            .map_err(|_| io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// Applies the rules to this process. The ruleset stays open for the parent.
#[expect(unsafe_code, reason = "the crate's form of this call closes what is our parent's")]
fn restrict_self(rules: &OwnedFd) -> io::Result<()> {
    set_no_new_privs(true)?;
    // SAFETY: a system call on numbers.
    match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes all other descriptors at `exec`.
#[expect(unsafe_code, reason = "no safe form of this call is at hand")]
fn close_on_exec() -> io::Result<()> {
    let (first, last, mark) = (3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: a system call on numbers; it changes a mark and closes nothing now.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, mark) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
