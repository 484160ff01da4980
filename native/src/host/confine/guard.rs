//! Puts files back also where this process is killed.
//!
//! A client ends a command that takes too long together with all of its descendants. So a copy of this
//! process waits outside of that tree: in a session of its own, as a child of the first process of the
//! system.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use rustix::process::{
    Pid, WaitOptions, chdir, child_subreaper, set_child_subreaper, setsid, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::read_only::Snapshot;

/// Signals that may be meant for this process and must not end the copy.
const SIGNALS: [libc::c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// How long the last processes of a sandbox may outlive it.
const LINGER: Duration = Duration::from_millis(100);

/// A copy of this process that waits. It ends when this is dropped, and repairs if this process ends
/// before.
pub(super) struct Guard(PipeWriter);

impl Guard {
    /// Starts the copy, which repairs what `snapshot` has. `sandbox` can be read to its end when the
    /// confined program has ended. It keeps the locks `records` as long as it is there.
    pub(super) fn start(
        snapshot: &Snapshot,
        sandbox: Option<BorrowedFd<'_>>,
        records: &[RawFd],
    ) -> io::Result<Guard> {
        let (ended, guard) = io::pipe()?;
        // This process may adopt orphans, but not the copy.
        let adopts = child_subreaper()?;
        set_child_subreaper(None)?;
        let Some(between) = fork()? else {
            // Its parent ends, so that the copy is no descendant of this process.
            match setsid().map_err(io::Error::from).and_then(|_| fork()) {
                Ok(None) => wait(snapshot, ended, sandbox, records),
                Ok(Some(_)) => exit(0),
                Err(_) => exit(1),
            }
        };
        let started = waitpid(Some(between), WaitOptions::empty());
        set_child_subreaper(adopts)?;
        match started? {
            Some((_, status)) if status.exit_status() == Some(0) => Ok(Guard(guard)),
            _ => Err(io::Error::other("no process can be started that puts files back")),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A copy that was killed needs no answer.
        let _ = self.0.write(&[1]);
    }
}

/// Waits for the end of the process that this one is a copy of, and of the sandbox.
fn wait(
    snapshot: &Snapshot,
    mut ended: PipeReader,
    sandbox: Option<BorrowedFd<'_>>,
    records: &[RawFd],
) -> ! {
    let sandbox = sandbox.and_then(|sandbox| sandbox.try_clone_to_owned().ok());
    let own = [Some(ended.as_raw_fd()), sandbox.as_ref().map(AsRawFd::as_raw_fd)];
    leave(own.into_iter().flatten().chain(records.iter().copied()));
    let said = loop {
        match ended.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            said => break said,
        }
    };
    if matches!(said, Ok(0)) {
        if let Some(sandbox) = sandbox {
            let _ = File::from(sandbox).read_to_end(&mut Vec::new());
        }
        // No one is left to tell.
        let _ = snapshot.repair();
        std::thread::sleep(LINGER);
        let _ = snapshot.repair();
    }
    exit(0)
}

/// Gives up what was inherited and others may wait for: streams, locks, the folder, but not `kept`.
#[expect(unsafe_code, reason = "no safe form of these calls exists")]
fn leave(kept: impl Iterator<Item = RawFd>) {
    for signal in SIGNALS {
        // SAFETY: it replaces a handler by none.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = chdir("/");
    let mut kept: Vec<u32> = kept.filter_map(|fd| fd.try_into().ok()).collect();
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = dup2_stdin(&nothing);
        let _ = dup2_stdout(&nothing);
        let _ = dup2_stderr(&nothing);
    }
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept {
        close(first, fd - 1);
        first = fd + 1;
    }
    close(first, u32::MAX);
}

#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn close(first: u32, last: u32) {
    if first <= last {
        // SAFETY: nothing in this process uses these descriptors any more.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    }
}

/// A copy of this process with this thread alone; `None` in the copy.
#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the copy takes no lock that another thread may hold but that of the allocator, which the C
    // library releases in it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Ends a copy without what this process does at its end.
#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn exit(code: libc::c_int) -> ! {
    // SAFETY: it takes a number.
    unsafe { libc::_exit(code) }
}
