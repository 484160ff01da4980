//! Reports which files were opened while a program ran, with inotify.
//!
//! A watch belongs to a file and not to its name, so it also sees programs in a mount namespace, and
//! other names of the file. Each watch ends with its first event: the queue cannot overflow however
//! often a file is opened, and nobody has to read it meanwhile.

#[cfg(target_os = "linux")]
pub(super) use linux::Observer;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::Observer;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use onloop_core::limits::OBSERVED_FILES;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::fs::{
        AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, statfs, utimensat,
    };
    use rustix::io::Errno;

    use crate::host::Root;

    /// The file system that shows one file as several, of which only one is watched.
    const OVERLAY: u64 = 0x794c_7630;

    /// Watches for the first opening of each file.
    pub(in super::super) struct Observer {
        from: OwnedFd,
        /// The paths of each watch.
        watched: BTreeMap<i32, Vec<String>>,
    }

    impl Observer {
        /// Renews the first `renew` of `files`, and watches all of them from now on; `None` where the
        /// system cannot watch all of them.
        pub(in super::super) fn of(root: &Root, files: &[String], renew: u64) -> Option<Observer> {
            if files.is_empty() || files.len() > OBSERVED_FILES {
                return None;
            }
            let from = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let (mut watched, mut folders) = (BTreeMap::<i32, Vec<String>>::new(), BTreeSet::new());
            for file in files {
                let path = root.resolve(file).ok()?;
                let number = watch(&from, &path, &mut folders)?;
                watched.entry(number).or_default().push(file.clone());
            }
            let renewed = usize::try_from(renew).unwrap_or(usize::MAX).min(files.len());
            renew_all(files[..renewed].iter().filter_map(|file| root.resolve(file).ok()));
            Some(Observer { from, watched })
        }

        /// The paths that were opened since; `None` if events were lost.
        pub(in super::super) fn opened(mut self) -> Option<Vec<String>> {
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut reader = Reader::new(&self.from, &mut buffer);
            let mut opened = Vec::new();
            loop {
                match reader.next() {
                    Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => return None,
                    Ok(event) if event.events().contains(ReadFlags::OPEN) => {
                        opened.extend(self.watched.remove(&event.wd()).unwrap_or_default());
                    }
                    // The end of a watch.
                    Ok(_) => {}
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    Err(_) => return None,
                }
            }
            opened.sort();
            Some(opened)
        }
    }

    /// Gives plain files the present time. What compares whole seconds, as Python does, sees that only
    /// in a later one.
    fn renew_all(paths: impl Iterator<Item = PathBuf>) {
        let changed = |path: PathBuf| {
            let of = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
            Some((path, of.modified().ok()?))
        };
        let plain: Vec<(PathBuf, SystemTime)> = paths.filter_map(changed).collect();
        let second = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = second(SystemTime::now());
        if plain.iter().any(|(_, time)| second(*time).as_secs() == now.as_secs()) {
            std::thread::sleep(
                Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()),
            );
        }
        let present = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let same = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: same, last_modification: present };
        for (path, _) in plain {
            // A file of another owner keeps its time, and what a cache hides of it stays hidden.
            let _ = utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }

    /// Watches a path, or the nearest folder above it that is there. `folders` are those that are
    /// known to be on a suitable file system.
    fn watch(from: &OwnedFd, path: &Path, folders: &mut BTreeSet<PathBuf>) -> Option<i32> {
        for path in path.ancestors() {
            match inotify::add_watch(from, path, WatchFlags::OPEN | WatchFlags::ONESHOT) {
                Ok(number) => {
                    let folder = path.parent().unwrap_or(path);
                    if !folders.contains(folder) {
                        let kind = statfs(path).ok()?.f_type;
                        if u64::try_from(kind).ok()? == OVERLAY {
                            return None;
                        }
                        folders.insert(folder.to_owned());
                    }
                    return Some(number);
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use crate::host::Root;

    /// Systems without events for openings.
    pub(in super::super) enum Observer {}

    impl Observer {
        pub(in super::super) fn of(_: &Root, _files: &[String], _renew: u64) -> Option<Observer> {
            None
        }

        pub(in super::super) fn opened(self) -> Option<Vec<String>> {
            match self {}
        }
    }
}
