//! Lock files: one holder at a time, across processes, crashes and machines that share a folder.
//!
//! A lock file is written under a temporary name and renamed without replacing, so every lock names
//! its holder. The holder keeps the file open under an advisory kernel lock (`flock`) until it
//! unlocks or dies.
//!
//! **Takeover.** A lock is broken only with two proofs of death: the process that it names is gone
//! from this machine (or its pid belongs to a process with another start time), *and* the kernel
//! lock is free. The second proof covers a holder in another pid namespace, which only looks gone.
//!
//! **Shortly after death.** A child that a dead process was starting has a copy of its open files
//! until `exec`. A process that inspects a lock also takes the kernel lock for a moment. So the
//! kernel lock of a dead holder is worth a short wait, even for a caller that does not wait for a
//! live one.
//!
//! **Two breakers.** A breaker takes the kernel lock on the dead file, checks that the name still
//! refers to that file, and then renames its own lock file over it. A second breaker either does
//! not get the kernel lock, or gets it after the rename and finds another file under the name. A
//! name is only unlinked under the kernel lock of its file. The inode cannot be reused, because the
//! breaker has the file open.
//!
//! Three kinds of lock are never broken: one of another machine, an unreadable one, and one on a
//! file system without kernel locks. `Busy` says how to remove it by hand.

mod holder;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use onloop_core::effect::{
    Durability, Failure, FailureKind, LockHolder, ProcessIdentity, ProcessRole,
};
use onloop_core::time::Timestamp;

use super::files::{Readers, Temporary, create_folders, open_to_read};
use super::{Interrupts, Locks, Root, failure, paths};
use holder::Holder;

/// First pause of a waiter; each next one doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Longest pause of a waiter: most locks are held only for a read and a write.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Shortest wait for the kernel lock of a dead holder.
const DEAD_HOLDER_WAIT: Duration = Duration::from_secs(1);

/// Lock files. When it is dropped, it releases every lock that it holds.
#[derive(Debug)]
pub struct OsLocks {
    root: Root,
    identity: ProcessIdentity,
    interrupts: Interrupts,
    held: HeldLocks,
}

/// The locks that a host holds, shared with the signal handler.
#[derive(Clone, Debug, Default)]
pub struct HeldLocks(Arc<Mutex<BTreeMap<PathBuf, File>>>);

impl HeldLocks {
    fn guard(&self) -> MutexGuard<'_, BTreeMap<PathBuf, File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The descriptors of the locks of records about confined programs.
    #[cfg(unix)]
    pub(super) fn of_records(&self) -> Vec<std::os::fd::RawFd> {
        let held = self.guard();
        let held = held.iter().filter(|(path, _)| is_of_record(path));
        held.map(|(_, file)| std::os::fd::AsRawFd::as_raw_fd(file)).collect()
    }

    /// Releases all locks, except those that another process took over, and those of records: what
    /// repairs after a confined program holds them as well.
    pub fn release_all(&self) {
        for (path, file) in std::mem::take(&mut *self.guard()) {
            if !is_of_record(&path) {
                let _ = release(&path, &file);
            }
        }
    }
}

/// Whether a lock is that of a record about a confined program.
fn is_of_record(path: &Path) -> bool {
    paths::folder_of(path).ends_with("temporary")
}

/// Content and permissions of our lock file.
#[derive(Clone, Copy)]
struct NewLock {
    role: Option<ProcessRole>,
    now: Timestamp,
    readers: Readers,
}

/// Result of one attempt to take the lock.
enum Attempt {
    Taken(File),
    /// Another process holds it, or seems to.
    Held(Obstacle),
    /// The lock file changed meanwhile; the next attempt may succeed at once.
    Changed,
}

/// Why a lock cannot be taken.
enum Obstacle {
    Alive(Holder),
    /// The process is gone or invisible, but the kernel lock is held.
    LooksGone(Holder),
    OtherMachine(Holder),
    Unreadable,
    /// The process is gone, but the file system has no kernel locks for a safe takeover.
    Unbreakable(Holder),
}

impl OsLocks {
    /// Creates locks below `root` for the process `identity`.
    pub fn new(root: Root, identity: &ProcessIdentity, interrupts: &Interrupts) -> OsLocks {
        OsLocks {
            root,
            identity: identity.clone(),
            interrupts: interrupts.clone(),
            held: HeldLocks::default(),
        }
    }

    /// Returns a handle that releases the locks without the host, for a second Ctrl-C.
    pub fn held(&self) -> HeldLocks {
        self.held.clone()
    }

    fn attempt(&self, target: &Path, path: &str, ours: NewLock) -> Result<Attempt, Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "lock", path);
        match self.inspect(target).map_err(fail)? {
            Inspection::Free => {
                match self.prepare(target, ours).map_err(fail)?.publish_new(target) {
                    Ok(file) => Ok(Attempt::Taken(file)),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        Ok(Attempt::Changed)
                    }
                    Err(error) => Err(fail(error)),
                }
            }
            Inspection::Held(obstacle) => Ok(Attempt::Held(obstacle)),
            Inspection::Dead(file) => self.take_over(&file, target, ours).map_err(fail),
        }
    }

    /// Inspects the lock at `target` without changing it.
    fn inspect(&self, target: &Path) -> io::Result<Inspection> {
        let mut file = match open_to_inspect(target) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Inspection::Free),
            Err(error) => return Err(error),
        };
        let Some(holder) = Holder::read(&mut file)? else {
            return Ok(Inspection::Held(Obstacle::Unreadable));
        };
        if holder.host != self.identity.host {
            return Ok(Inspection::Held(Obstacle::OtherMachine(holder)));
        }
        if !holder.is_gone() {
            return Ok(Inspection::Held(Obstacle::Alive(holder)));
        }
        match file.try_lock() {
            Ok(()) => Ok(Inspection::Dead(file)),
            Err(TryLockError::WouldBlock) => Ok(Inspection::Held(Obstacle::LooksGone(holder))),
            Err(TryLockError::Error(_)) => Ok(Inspection::Held(Obstacle::Unbreakable(holder))),
        }
    }

    /// Replaces the lock of a dead process, whose file is open under its kernel lock.
    fn take_over(&self, dead: &File, target: &Path, ours: NewLock) -> io::Result<Attempt> {
        let ours = self.prepare(target, ours)?;
        if !is_at(dead, target)? {
            return Ok(Attempt::Changed);
        }
        ours.publish(target).map(Attempt::Taken)
    }

    /// Writes a lock file under a temporary name and takes its kernel lock.
    fn prepare(&self, target: &Path, ours: NewLock) -> io::Result<Temporary> {
        let folder = paths::folder_of(target);
        create_folders(folder, Durability::Relaxed, ours.readers)?;
        let temporary = Temporary::create(folder, None, ours.readers)?;
        // Without kernel locks the lock works, but it cannot be broken.
        let _ = temporary.file().try_lock();
        let line = Holder::of(&self.identity, ours.role, ours.now).to_line();
        temporary.file().write_all(line.as_bytes())?;
        Ok(temporary)
    }
}

enum Inspection {
    Free,
    Held(Obstacle),
    Dead(File),
}

impl Locks for OsLocks {
    fn lock(
        &mut self,
        path: &str,
        wait_ms: u64,
        private: bool,
        role: Option<ProcessRole>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let ours = NewLock { role, now, readers: Readers::of(private) };
        let target = self.root.resolve(path)?;
        if self.held.guard().contains_key(&target) {
            let message = format!("this program already holds the lock `{path}`");
            return Err(Failure::new(FailureKind::Busy, message));
        }
        let wait = Duration::from_millis(wait_ms);
        let since = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let obstacle = match self.attempt(&target, path, ours)? {
                Attempt::Taken(file) => {
                    self.held.guard().insert(target, file);
                    return Ok(());
                }
                Attempt::Changed => None,
                Attempt::Held(obstacle) => Some(obstacle),
            };
            if let Some(obstacle) = obstacle {
                let left = obstacle.longest_wait(wait).saturating_sub(since.elapsed());
                if left.is_zero() || !obstacle.may_pass() {
                    return Err(obstacle.failure(path));
                }
                self.interrupts.sleep(pause.min(left))?;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    fn unlock(&mut self, path: &str) -> Result<(), Failure> {
        let target = self.root.resolve(path)?;
        let Some(file) = self.held.guard().remove(&target) else {
            let message = format!("this program does not hold the lock `{path}`");
            return Err(Failure::new(FailureKind::Conflict, message));
        };
        match release(&target, &file) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message = format!("the lock `{path}` was taken away while it was held");
                Err(Failure::new(FailureKind::Conflict, message))
            }
            Err(error) => Err(failure::of_path(&error, "unlock", path)),
        }
    }

    fn holder(&mut self, path: &str) -> Result<Option<LockHolder>, Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "look at", path);
        let mut file = match open_to_inspect(&self.root.resolve(path)?) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        let Some(holder) = Holder::read(&mut file).map_err(fail)? else {
            return Err(Obstacle::Unreadable.failure(path));
        };
        // A shared lock lets several processes inspect at once; it ends with the file.
        let is_in_use = || matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let live = holder.host == self.identity.host && (!holder.is_gone() || is_in_use());
        Ok(Some(LockHolder { process: holder.identity(), live, role: holder.role }))
    }
}

impl Drop for OsLocks {
    fn drop(&mut self) {
        self.held.release_all();
    }
}

impl Obstacle {
    /// Returns how long a caller with the bound `wait` waits.
    fn longest_wait(&self, wait: Duration) -> Duration {
        match self {
            Obstacle::LooksGone(_) => wait.max(DEAD_HOLDER_WAIT),
            Obstacle::Alive(_)
            | Obstacle::OtherMachine(_)
            | Obstacle::Unreadable
            | Obstacle::Unbreakable(_) => wait,
        }
    }

    /// Whether waiting may help.
    fn may_pass(&self) -> bool {
        match self {
            Obstacle::Alive(_) | Obstacle::LooksGone(_) | Obstacle::OtherMachine(_) => true,
            Obstacle::Unreadable | Obstacle::Unbreakable(_) => false,
        }
    }

    fn failure(&self, path: &str) -> Failure {
        let message = match self {
            Obstacle::Alive(holder) | Obstacle::LooksGone(holder) => {
                format!("`{path}` is held by {holder}; wait for it or end it")
            }
            Obstacle::OtherMachine(holder) => format!(
                "`{path}` is held by {holder} on `{}`; if that process has ended, remove \
                 the file",
                holder.host
            ),
            Obstacle::Unreadable => format!(
                "`{path}` is damaged: it does not name its holder; if no onloop runs, remove the file"
            ),
            Obstacle::Unbreakable(holder) => format!(
                "`{path}` is held by {holder}, which is gone; its file system has no locks to \
                 take it over safely, so remove the file by hand"
            ),
        };
        Failure::new(FailureKind::Busy, message)
    }
}

/// Opens a lock file for inspection, without following a link or blocking on a pipe.
fn open_to_inspect(target: &Path) -> io::Result<File> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    if !fs::symlink_metadata(target)?.is_file() {
        return Err(no_file());
    }
    let file = open_to_read(target)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
}

/// Removes the lock file if its name still refers to `file`.
fn release(target: &Path, file: &File) -> io::Result<bool> {
    let ours = is_at(file, target)?;
    if ours {
        fs::remove_file(target)?;
    }
    Ok(ours)
}

/// Whether the name `target` refers to the open `file`.
#[cfg(unix)]
fn is_at(file: &File, target: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match fs::symlink_metadata(target) {
        Ok(named) => Ok(named.dev() == open.dev() && named.ino() == open.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Safe code cannot identify files on this system. Locks are never broken here, so an existing name
/// refers to our file.
#[cfg(not(unix))]
fn is_at(_file: &File, target: &Path) -> io::Result<bool> {
    fs::exists(target)
}

/// Reads at most `limit_bytes`, because a huge file can be in place of a lock.
fn read_start(file: &mut File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The steps of two breakers, one at a time, in the orders that could go wrong.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::host::identity;

    struct Race {
        folder: tempfile::TempDir,
        locks: OsLocks,
    }

    impl Race {
        /// A lock of a process that is gone: this very pid, started at another time.
        fn over_a_dead_lock() -> Race {
            let folder = tempfile::tempdir().unwrap();
            let mut dead = identity();
            dead.started = "1".to_owned();
            let line = Holder::of(&dead, None, Timestamp::EPOCH).to_line();
            fs::write(folder.path().join("lock"), line).unwrap();
            let interrupts = Interrupts::new().unwrap();
            let locks = OsLocks::new(Root::new(folder.path()), &identity(), &interrupts);
            Race { folder, locks }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("lock")
        }

        fn inspect(&self) -> Inspection {
            self.locks.inspect(&self.path()).unwrap()
        }

        fn take_over(&self, dead: &File) -> Attempt {
            let ours = NewLock { role: None, now: Timestamp::EPOCH, readers: Readers::Usual };
            self.locks.take_over(dead, &self.path(), ours).unwrap()
        }
    }

    #[test]
    fn while_one_breaks_the_other_is_kept_out() {
        let race = Race::over_a_dead_lock();
        let Inspection::Dead(_first) = race.inspect() else { panic!("the first sees it dead") };
        assert!(matches!(race.inspect(), Inspection::Held(Obstacle::LooksGone(_))));
    }

    #[test]
    fn who_comes_late_to_a_broken_lock_does_not_break_the_new_one() {
        let race = Race::over_a_dead_lock();
        let late = File::open(race.path()).unwrap();
        let Inspection::Dead(first) = race.inspect() else { panic!("the first sees it dead") };
        assert!(matches!(race.take_over(&first), Attempt::Taken(_)));
        drop(first);
        let new = fs::read(race.path()).unwrap();
        assert!(matches!(race.take_over(&late), Attempt::Changed));
        assert_eq!(fs::read(race.path()).unwrap(), new);
        assert_eq!(fs::read_dir(race.folder.path()).unwrap().count(), 1, "no leftovers");
    }

    #[test]
    fn a_lock_that_replaced_ours_is_not_released() {
        let race = Race::over_a_dead_lock();
        let Inspection::Dead(first) = race.inspect() else { panic!("the first sees it dead") };
        let Attempt::Taken(ours) = race.take_over(&first) else { panic!("it is ours") };
        fs::write(race.folder.path().join("other"), "theirs").unwrap();
        fs::rename(race.folder.path().join("other"), race.path()).unwrap();
        assert!(!release(&race.path(), &ours).unwrap());
        assert_eq!(fs::read(race.path()).unwrap(), b"theirs");
    }
}
