//! The process groups that run at the moment, within reach of whoever has to end them from
//! another thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The process groups that run at the moment, if any.
#[derive(Clone, Debug, Default)]
pub struct RunningGroup(Arc<Mutex<Vec<Group>>>);

/// A process group that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "there are no process groups"))]
pub(super) struct Group {
    /// Its number: the process id of the program that leads it.
    pub(super) leader: i32,
    /// Whether it is asked to end before it is killed even when we have no time: what is killed
    /// leaves its locks.
    pub(super) has_locks: bool,
}

impl RunningGroup {
    /// Ends what runs, without a grace period for what leaves nothing behind, and lets nothing
    /// start any more: the process is about to exit.
    pub fn end_for_good(&self) {
        let groups = self.guard();
        #[cfg(unix)]
        super::group::end_at_once(&groups);
        std::mem::forget(groups);
    }

    /// Starts a program with `spawn`, which also returns its group. Holding the guard meanwhile
    /// leaves no moment in which the program runs and nobody knows it.
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

    /// The group of this leader is empty. To be called before its leader is waited for, because
    /// from then on the number may belong to somebody else.
    #[cfg(unix)]
    pub(super) fn ended(&self, leader: rustix::process::Pid) {
        let leader = leader.as_raw_nonzero().get();
        self.guard().retain(|group| group.leader != leader);
    }

    fn guard(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
