//! The running process groups, which another thread can end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The running process groups.
#[derive(Clone, Debug, Default)]
pub struct RunningGroup(Arc<Mutex<Vec<Group>>>);

/// A running process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "there are no process groups"))]
pub(super) struct Group {
    /// The process id of its leader.
    pub(super) leader: i32,
    /// Whether it gets SIGTERM first even in a hurry: a killed git leaves its locks.
    pub(super) has_locks: bool,
}

impl RunningGroup {
    /// Ends the groups at once, except those that leave locks, and prevents new starts: the process
    /// is about to exit.
    pub fn end_for_good(&self) {
        let groups = self.guard();
        #[cfg(unix)]
        super::group::end_at_once(&groups);
        std::mem::forget(groups);
    }

    /// Starts a program with `spawn`, which also returns its group. The guard is held meanwhile, so
    /// every running program is registered.
    #[cfg(unix)]
    pub(super) fn start<T, E>(
        &self,
        spawn: impl FnOnce() -> Result<(T, Option<Group>), E>,
    ) -> Result<T, E> {
        let mut groups = self.guard();
        let (started, its_group) = spawn()?;
        groups.extend(its_group);
        Ok(started)
    }

    /// Removes the group of this leader, which is empty. Call it before waiting for the leader,
    /// because the id may be reused after that.
    #[cfg(unix)]
    pub(super) fn ended(&self, leader: rustix::process::Pid) {
        let leader = leader.as_raw_nonzero().get();
        self.guard().retain(|group| group.leader != leader);
    }

    fn guard(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
