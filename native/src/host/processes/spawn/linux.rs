//! Starts a program without a fork.
//!
//! The standard library forks if a child has work before `exec`. A fork copies the page tables, and
//! each later write to a page faults once: a third of the time of a run with thousands of steps. A
//! child that shares our memory, while its parent thread waits, has a constant cost. It must not
//! allocate, lock or free. `posix_spawn` works this way, but supports neither restrictions nor a
//! parent-death signal.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::Command as OsCommand;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use onloop_core::effect::ProcessSpec;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, setpgid, setsid,
    waitpid,
};

use super::image::Image;
use crate::host::confine::Restrictions;
use crate::host::processes::child::{Child, Place};

/// Stack of the child, whose calls are shallow.
const STACK_BYTES: usize = 256 * 1024;
/// Guard below the stack: an overflow ends the child instead of changing our memory.
const GUARD_BYTES: usize = 64 * 1024;
/// Numbers of signals on Linux, from 1.
const SIGNALS: c_int = 64;

/// Starts `command` with the streams of `spec`; the kernel ends it with this process, unless its
/// role forbids it.
///
/// The kernel watches the starting thread, not the process. The main thread lives as long as the
/// process. Programs of other threads, which an embedder can end, get no parent-death signal.
///
/// # Errors
///
/// Errors of the kernel about the program, its folder, a restriction or a process.
pub(in crate::host::processes) fn spawn(
    command: &mut OsCommand,
    spec: &ProcessSpec,
    place: Place,
    restrictions: Option<&Restrictions>,
) -> io::Result<Child> {
    let image = Image::of(command, restrictions.is_some_and(Restrictions::empty_environment))?;
    let mut child = Child { pid: getpid(), stdin: None, stdout: None, stderr: None };
    let theirs = if spec.interactive { Vec::new() } else { child.pipes(spec.stdin.is_some())? };
    let us = getpid();
    let beginning = Beginning {
        image: &image,
        streams: &theirs,
        place,
        restrictions,
        ends_with: (place != Place::OwnSessionForGood && rustix::thread::gettid() == us)
            .then_some(us),
        failure: AtomicI32::new(0),
    };
    child.pid = beginning.clone_us()?;
    Ok(child)
}

impl Child {
    /// Creates the streams and returns the child's ends.
    fn pipes(&mut self, fed: bool) -> io::Result<Vec<OwnedFd>> {
        let input = if fed {
            let (reader, writer) = io::pipe()?;
            self.stdin = Some(OwnedFd::from(writer).into());
            above_the_three(reader)?
        } else {
            above_the_three(File::open("/dev/null")?)?
        };
        let (reader, output) = io::pipe()?;
        self.stdout = Some(OwnedFd::from(reader).into());
        let (reader, errors) = io::pipe()?;
        self.stderr = Some(OwnedFd::from(reader).into());
        Ok(vec![input, above_the_three(output)?, above_the_three(errors)?])
    }
}

/// A source of the first three descriptors must not be one of them.
fn above_the_three(fd: impl Into<OwnedFd>) -> io::Result<OwnedFd> {
    let fd = fd.into();
    match fd.as_raw_fd() {
        0..3 => Ok(fcntl_dupfd_cloexec(fd, 3)?),
        _ => Ok(fd),
    }
}

/// The work of a child before `exec`.
struct Beginning<'b> {
    image: &'b Image,
    /// All three streams, or none if the child uses ours.
    streams: &'b [OwnedFd],
    place: Place,
    restrictions: Option<&'b Restrictions>,
    ends_with: Option<Pid>,
    /// The error for which the child has ended.
    failure: AtomicI32,
}

impl Beginning<'_> {
    /// Starts the child and returns after its `exec`.
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn clone_us(&self) -> io::Result<Pid> {
        let stack = Stack::new()?;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // Our signal handlers must not run in the child, which shares our memory.
        let blocked = SignalsBlocked::all()?;
        let argument = ptr::from_ref(self).cast_mut().cast::<c_void>();
        // SAFETY: the stack is the child's own, and `self` outlives the child's use of it, because
        // this thread continues only after the child's `exec` or end.
        let pid = unsafe { libc::clone(begin, stack.top(), flags, argument) };
        let cloned = if pid == -1 { Err(io::Error::last_os_error()) } else { Ok(pid) };
        drop(blocked);
        let pid = Pid::from_raw(cloned?).ok_or(Errno::SRCH)?;
        match self.failure.load(Ordering::Relaxed) {
            0 => Ok(pid),
            number => {
                while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(Errno::INTR)) {}
                Err(io::Error::from_raw_os_error(number))
            }
        }
    }

    /// Runs in the child; returns only if `exec` fails.
    fn run(&self) -> io::Error {
        match self.prepare() {
            Ok(()) => self.image.execute(),
            Err(error) => error,
        }
    }

    fn prepare(&self) -> io::Result<()> {
        forget_handlers();
        match self.place {
            Place::OurGroup => {}
            Place::OwnGroup => setpgid(None, None)?,
            Place::OwnSession | Place::OwnSessionForGood => drop(setsid()?),
        }
        for (number, stream) in (0..).zip(self.streams) {
            put_at(stream.as_fd(), number)?;
        }
        self.image.enter_folder()?;
        if let Some(restrictions) = self.restrictions {
            restrictions.apply()?;
        }
        if let Some(us) = self.ends_with {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // If the parent has ended already, the signal does not come.
            if getppid() != Some(us) {
                return Err(Errno::INTR.into());
            }
        }
        unblock_signals();
        Ok(())
    }
}

/// Entry point of the child.
#[expect(unsafe_code, reason = "its argument comes through the kernel")]
extern "C" fn begin(argument: *mut c_void) -> c_int {
    // SAFETY: it is the `Beginning` that was given to `clone`, which lives until this ends.
    let beginning = unsafe { &*argument.cast::<Beginning<'_>>() };
    let error = beginning.run();
    beginning.failure.store(error.raw_os_error().unwrap_or(libc::EIO), Ordering::Relaxed);
    // SAFETY: ends the child at once, without anything that ends this program.
    unsafe { libc::_exit(127) }
}

/// Resets our signal handlers to the default. Ignored signals stay ignored, except SIGPIPE, which
/// the standard library ignores for us only.
#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn forget_handlers() {
    for number in 1..=SIGNALS {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: there is room for the answer, which is used only when it was given.
        let handled = unsafe {
            libc::sigaction(number, ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init_ref().sa_sigaction != libc::SIG_IGN
                && action.assume_init_ref().sa_sigaction != libc::SIG_DFL
        };
        if handled || number == libc::SIGPIPE {
            // SAFETY: the handlers of the child are its own, also while its memory is ours.
            unsafe {
                libc::signal(number, libc::SIG_DFL);
            }
        }
    }
}

#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn put_at(stream: BorrowedFd<'_>, number: c_int) -> io::Result<()> {
    // SAFETY: the descriptors of the child are its own, also while its memory is ours.
    match unsafe { libc::dup2(stream.as_raw_fd(), number) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[expect(unsafe_code, reason = "no safe form of this call exists")]
fn unblock_signals() {
    let mut none = MaybeUninit::uninit();
    // SAFETY: the set is made before it is used.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Blocks all signals in this thread until it is dropped.
struct SignalsBlocked(libc::sigset_t);

impl SignalsBlocked {
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn all() -> io::Result<SignalsBlocked> {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the first set is made before it is used, the second is there when the call has
        // succeeded.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            match libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) {
                0 => Ok(SignalsBlocked(before.assume_init())),
                number => Err(io::Error::from_raw_os_error(number)),
            }
        }
    }
}

impl Drop for SignalsBlocked {
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn drop(&mut self) {
        // SAFETY: the set is the one that this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut());
        }
    }
}

/// Stack of the child, above a guard that is not accessible.
struct Stack(*mut c_void);

impl Stack {
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn new() -> io::Result<Stack> {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE,
        );
        // SAFETY: new memory, wherever the kernel wants it.
        let memory =
            unsafe { libc::mmap(ptr::null_mut(), GUARD_BYTES + STACK_BYTES, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Stack(memory);
        // SAFETY: the lower part of the new mapping, which is not in use yet.
        match unsafe { libc::mprotect(memory, GUARD_BYTES, libc::PROT_NONE) } {
            0 => Ok(stack),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Where it begins: stacks grow downwards.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(GUARD_BYTES + STACK_BYTES)
    }
}

impl Drop for Stack {
    #[expect(unsafe_code, reason = "no safe form of this call exists")]
    fn drop(&mut self) {
        // SAFETY: `new` made it, and the child that ran on it has ended or called `exec`.
        unsafe {
            libc::munmap(self.0, GUARD_BYTES + STACK_BYTES);
        }
    }
}
