//! Waits until files, also terminals, can be read or written.
//!
//! Apple's `poll(2)` does not support terminals. There `select(2)` is used, which does not support
//! large descriptors.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The awaited event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Something to read, or its end.
    Input,
    /// Room to write.
    Room,
}

/// Returns which files are ready, after `longest` at most. `None`: a signal came or the state is
/// unknown; try again.
pub(super) fn wait(
    files: &[(BorrowedFd<'_>, Want)],
    longest: Option<Duration>,
) -> Option<Vec<bool>> {
    #[cfg(target_vendor = "apple")]
    if let Some(ready) = selecting::wait(files, longest) {
        return ready;
    }
    polled(files, longest)
}

fn polled(files: &[(BorrowedFd<'_>, Want)], longest: Option<Duration>) -> Option<Vec<bool>> {
    let flags = |want| match want {
        Want::Input => PollFlags::IN,
        Want::Room => PollFlags::OUT,
    };
    let mut fds: Vec<PollFd<'_>> =
        files.iter().map(|&(fd, want)| PollFd::from_borrowed_fd(fd, flags(want))).collect();
    let timeout = longest.and_then(|longest| Timespec::try_from(longest).ok());
    poll(&mut fds, timeout.as_ref()).ok()?;
    Some(fds.iter().map(|fd| !fd.revents().is_empty()).collect())
}

/// Tested wherever the tests run.
#[cfg(any(target_vendor = "apple", test))]
mod selecting {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, BorrowedFd};
    use std::ptr::null_mut;
    use std::time::Duration;

    use super::Want;

    /// Longest wait at a time: callers look again.
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    /// The same as [`super::wait`]; outside `None`: a file has a number that is too large.
    #[expect(unsafe_code, reason = "no safe form of these calls exists")]
    pub(super) fn wait(
        files: &[(BorrowedFd<'_>, Want)],
        longest: Option<Duration>,
    ) -> Option<Option<Vec<bool>>> {
        let numbers: Vec<i32> = files.iter().map(|(fd, _)| fd.as_raw_fd()).collect();
        let is_small = |number: &i32| usize::try_from(*number).is_ok_and(|n| n < libc::FD_SETSIZE);
        if !numbers.iter().all(is_small) {
            return None;
        }
        // SAFETY: a set of zeros is an empty one.
        let mut sets: [libc::fd_set; 2] = unsafe { MaybeUninit::zeroed().assume_init() };
        let set_of = |want: Want| usize::from(want == Want::Room);
        for (number, (_, want)) in numbers.iter().zip(files) {
            // SAFETY: the number is one of an open file and below the size of a set.
            unsafe { libc::FD_SET(*number, &raw mut sets[set_of(*want)]) };
        }
        let mut time = longest.map(|longest| libc::timeval {
            tv_sec: longest.min(LONGEST).as_secs() as _,
            tv_usec: longest.subsec_micros() as _,
        });
        let timeout = time.as_mut().map_or(null_mut(), |time| &raw mut *time);
        let count = numbers.iter().max().map_or(0, |largest| largest + 1);
        let [input, room] = &mut sets;
        // SAFETY: sets and time live until the call returns.
        let found = unsafe { libc::select(count, input, room, null_mut(), timeout) };
        if found < 0 {
            return Some(None);
        }
        let is_ready = |(number, (_, want)): (&i32, &(BorrowedFd<'_>, Want))| {
            // SAFETY: as above.
            unsafe { libc::FD_ISSET(*number, &raw const sets[set_of(*want)]) }
        };
        Some(Some(numbers.iter().zip(files).map(is_ready).collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    type Wait = fn(&[(BorrowedFd<'_>, Want)], Option<Duration>) -> Option<Vec<bool>>;

    #[test]
    fn both_ways_tell_what_is_ready() {
        let ways: [Wait; 2] =
            [polled, |files, longest| selecting::wait(files, longest).expect("small numbers")];
        for wait in ways {
            let (input, output) = std::io::pipe().unwrap();
            let (other, _open) = std::io::pipe().unwrap();
            let (gone, _) = std::io::pipe().unwrap();
            let files = [
                (input.as_fd(), Want::Input),
                (other.as_fd(), Want::Input),
                (output.as_fd(), Want::Room),
                (gone.as_fd(), Want::Input),
            ];
            assert_eq!(wait(&files, Some(Duration::ZERO)), Some(vec![false, false, true, true]));
            (&output).write_all(b"x").unwrap();
            let found = wait(&files, Some(Duration::from_secs(60)));
            assert_eq!(found, Some(vec![true, false, true, true]));
        }
    }
}
