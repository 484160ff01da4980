//! The process group that runs at the moment, within reach of whoever has to end it from
//! another thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The process group that runs at the moment, if any.
#[derive(Clone, Debug, Default)]
pub struct RunningGroup(Arc<Mutex<Option<i32>>>);

impl RunningGroup {
    /// Kills what runs, without a grace period, and lets nothing start any more: the process is
    /// about to exit.
    pub fn end_for_good(&self) {
        let group = self.guard();
        #[cfg(unix)]
        if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
            super::group::kill_now(group);
        }
        std::mem::forget(group);
    }

    /// Starts a program with `spawn`, which also returns its group. Holding the guard meanwhile
    /// leaves no moment in which the program runs and nobody knows it.
    #[cfg(unix)]
    pub(super) fn start<T, E>(
        &self,
        spawn: impl FnOnce() -> Result<(T, Option<rustix::process::Pid>), E>,
    ) -> Result<T, E> {
        let mut group = self.guard();
        let (started, its_group) = spawn()?;
        *group = its_group.map(|pid| pid.as_raw_nonzero().get());
        Ok(started)
    }

    /// The group is empty. To be called before its leader is waited for, because from then
    /// on the number may belong to somebody else.
    #[cfg(unix)]
    pub(super) fn ended(&self) {
        *self.guard() = None;
    }

    fn guard(&self) -> MutexGuard<'_, Option<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
