//! A file descriptor that becomes readable when a child has ended, leaving it to be waited
//! for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The end of one child.
#[derive(Debug)]
pub(super) struct EndNotice(OwnedFd);

impl EndNotice {
    /// For a child of ours that has not been waited for.
    pub(super) fn of(child: Pid) -> io::Result<EndNotice> {
        #[cfg(target_os = "linux")]
        if let Ok(fd) = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()) {
            return Ok(EndNotice(fd));
        }
        EndNotice::by_thread(child)
    }

    /// Systems and sandboxes without pidfds: a thread waits, and closes a pipe.
    fn by_thread(child: Pid) -> io::Result<EndNotice> {
        let (reader, writer) = io::pipe()?;
        let wait = move || {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(child), ended), Err(Errno::INTR)) {}
            drop(writer);
        };
        std::thread::Builder::new().name("child".to_owned()).spawn(wait)?;
        Ok(EndNotice(reader.into()))
    }
}

impl AsFd for EndNotice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    #[test]
    fn both_ways_notice_the_end_and_leave_the_child_to_be_waited_for() {
        for notice in [EndNotice::of, EndNotice::by_thread] {
            let mut child =
                std::process::Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
            let pid = Pid::from_child(&child);
            let notice = notice(pid).unwrap();
            let timeout = Timespec { tv_sec: 10, tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&notice, PollFlags::IN)], Some(&timeout)).unwrap();
            assert_eq!(ready, 1);
            assert_eq!(child.wait().unwrap().code(), Some(7));
        }
    }
}
