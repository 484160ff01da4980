//! Watches folders for changes: with inotify on Linux; other systems report a possible change every
//! second.

use std::time::Duration;

use onloop_core::effect::Failure;
use onloop_core::limits;

use super::{Interrupts, Root};

/// Interval of possible changes without inotify.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[cfg(target_os = "linux")]
use linux::Notices;
#[cfg(not(target_os = "linux"))]
use portable::Notices;

/// Watched folders.
#[derive(Debug)]
pub struct OsChanges {
    root: Root,
    interrupts: Interrupts,
    notices: Option<Notices>,
}

impl OsChanges {
    /// Watches no folder.
    pub fn new(root: Root, interrupts: &Interrupts) -> OsChanges {
        OsChanges { root, interrupts: interrupts.clone(), notices: None }
    }

    /// Watches these folders from now on, and no other. Returns whether one of them is new.
    ///
    /// # Errors
    ///
    /// When the system does not tell of changes, or a path is none.
    pub(crate) fn follow(&mut self, folders: &[String]) -> Result<bool, Failure> {
        let folders = folders.iter().take(limits::WATCHED_FOLDERS);
        let paths = folders.map(|folder| self.root.resolve(folder)).collect::<Result<_, _>>()?;
        let notices = match &mut self.notices {
            Some(notices) => notices,
            empty @ None => empty.insert(Notices::new()?),
        };
        Ok(notices.follow(paths))
    }
}

impl OsChanges {
    /// A descriptor that is readable after a possible change; `None`: the system has no watches.
    #[cfg(unix)]
    pub(crate) fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.notices.as_ref().and_then(Notices::fd)
    }

    /// Whether the system reports changes.
    pub(crate) fn is_told(&self) -> bool {
        #[cfg(unix)]
        return self.fd().is_some();
        #[cfg(not(unix))]
        false
    }

    /// Whether something may have changed since it was asked last.
    pub(crate) fn take(&mut self) -> bool {
        self.notices.as_mut().is_some_and(Notices::take)
    }

    /// Performs `Request::Changes`: whether something may have changed.
    pub fn changes(&mut self, folders: &[String], wait_ms: u64) -> Result<bool, Failure> {
        self.interrupts.check()?;
        let is_new = self.follow(folders)?;
        let notices = self.notices.as_mut().expect("it listens");
        notices.wait(&self.interrupts, if is_new { 0 } else { wait_ms }).map(|seen| seen || is_new)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use onloop_core::effect::Failure;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use crate::host::{Interrupts, failure};

    /// Events that count as a change.
    const CHANGES: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::MODIFY)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR);

    /// inotify watches.
    #[derive(Debug)]
    pub(super) struct Notices {
        from: OwnedFd,
        /// The watch of each folder; `None`: the folder is missing.
        watched: BTreeMap<PathBuf, Option<i32>>,
    }

    impl Notices {
        pub(super) fn new() -> Result<Notices, Failure> {
            let from = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
                .map_err(|error| failure::of(&error.into(), "cannot listen to changes"))?;
            Ok(Notices { from, watched: BTreeMap::new() })
        }

        /// Watches these folders and no other. Returns whether one of them is new.
        pub(super) fn follow(&mut self, folders: BTreeSet<PathBuf>) -> bool {
            let mut is_new = false;
            let before = std::mem::take(&mut self.watched);
            for folder in &folders {
                let number = match before.get(folder) {
                    Some(Some(number)) => Some(*number),
                    // A missing folder is tried again.
                    known => {
                        let number = inotify::add_watch(&self.from, folder, CHANGES).ok();
                        is_new |= number.is_some() || known.is_none();
                        number
                    }
                };
                self.watched.insert(folder.clone(), number);
            }
            // Two names of one folder share a watch.
            let kept: BTreeSet<i32> = self.watched.values().flatten().copied().collect();
            for number in before.into_values().flatten().filter(|number| !kept.contains(number)) {
                let _ = inotify::remove_watch(&self.from, number);
            }
            is_new
        }

        /// Waits for an event; returns whether one came.
        pub(super) fn wait(
            &mut self,
            interrupts: &Interrupts,
            wait_ms: u64,
        ) -> Result<bool, Failure> {
            let end = Instant::now().checked_add(Duration::from_millis(wait_ms));
            loop {
                interrupts.check()?;
                if self.take() {
                    return Ok(true);
                }
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    return Ok(false);
                }
                let timeout = left.and_then(|left| Timespec::try_from(left).ok());
                let (notices, interrupt) = (self.from.as_fd(), interrupts.fd());
                let mut fds =
                    [PollFd::new(&notices, PollFlags::IN), PollFd::new(&interrupt, PollFlags::IN)];
                match poll(&mut fds, timeout.as_ref()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => {
                        return Err(failure::of(&error.into(), "cannot listen to changes"));
                    }
                }
            }
        }

        pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
            Some(self.from.as_fd())
        }

        /// Reads all events; returns whether one is a change.
        pub(super) fn take(&mut self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(&self.from, &mut buffer);
            let mut is_change = false;
            while let Ok(notice) = reader.next() {
                let (number, events) = (notice.wd(), notice.events());
                if events.contains(ReadFlags::MOVE_SELF) {
                    // Another folder may get the name.
                    let _ = inotify::remove_watch(&self.from, number);
                }
                if events.contains(ReadFlags::IGNORED) {
                    // The folder is gone, or its watch was removed.
                    for known in self.watched.values_mut().filter(|known| **known == Some(number)) {
                        *known = None;
                        is_change = true;
                    }
                } else {
                    // A folder that is not watched any more may have changed before.
                    is_change |= events.contains(ReadFlags::QUEUE_OVERFLOW)
                        || self.watched.values().any(|known| *known == Some(number));
                }
            }
            is_change
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::time::Duration;

    use onloop_core::effect::Failure;

    use super::LOOK_AGAIN;
    use crate::host::Interrupts;

    /// Folders without change events.
    #[derive(Debug, Default)]
    pub(super) struct Notices(BTreeSet<PathBuf>);

    impl Notices {
        pub(super) fn new() -> Result<Notices, Failure> {
            Ok(Notices::default())
        }

        pub(super) fn follow(&mut self, folders: BTreeSet<PathBuf>) -> bool {
            let is_new = !folders.is_subset(&self.0);
            self.0 = folders;
            is_new
        }

        #[cfg(unix)]
        pub(super) fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
            None
        }

        pub(super) fn take(&mut self) -> bool {
            true
        }

        pub(super) fn wait(
            &mut self,
            interrupts: &Interrupts,
            wait_ms: u64,
        ) -> Result<bool, Failure> {
            let longest = Duration::from_millis(wait_ms);
            interrupts.sleep(longest.min(LOOK_AGAIN))?;
            Ok(longest >= LOOK_AGAIN)
        }
    }
}
