//! A program does not outlive us, however we end: on Linux the kernel kills it with us.

#[cfg(not(target_os = "linux"))]
pub(super) fn end_with_us(_command: &mut std::process::Command) {}

/// Has the kernel kill the program when we are gone. What the program itself has started stays;
/// see [`survivors`](super::survivors).
///
/// The kernel watches the thread that starts the program, and not the process. The main thread
/// lives as long as the process; for others, which an embedder may end at any time, nothing is
/// asked for.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn end_with_us(command: &mut std::process::Command) {
    use std::io;
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let us = getpid();
    if rustix::thread::gettid() != us {
        return;
    }
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // We may have ended just before: then nobody would send the signal.
        if getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    // SAFETY: after a fork only what is safe in a signal handler may be done. These are two
    // system calls, which neither allocate nor take locks, and errors that hold no memory.
    unsafe {
        command.pre_exec(prepare);
    }
}
