//! What every part of a run that this process drives works with.

use crate::run::options::Conduct;
use crate::state::store::{Store, StoreError};
use onloop_effect::Io;
use onloop_run::{Event, Refusal, RunStatus};

/// A run that this process drives.
pub(crate) struct RunContext<'r> {
    /// The handle to the host.
    pub(crate) io: &'r Io,
    /// The record.
    pub(crate) store: &'r mut Store,
    /// How the run is driven.
    pub(crate) options: &'r Conduct,
}

impl RunContext<'_> {
    /// Makes the run wait for a person, durably; why the loop ends then.
    pub(crate) async fn pause(&mut self, reason: &str) -> Halt {
        match self.record_pause(reason).await {
            Ok(()) => Halt::AtRest,
            Err(halt) => halt,
        }
    }

    /// Makes a running run wait for a person, durably.
    pub(crate) async fn record_pause(&mut self, reason: &str) -> Result<(), Halt> {
        if self.store.run().status == RunStatus::Running {
            self.store.apply(Event::RunPaused { reason: reason.to_owned() })?;
        }
        self.store.commit().await?;
        Ok(())
    }
}

/// Why the loop ended.
pub(crate) enum Halt {
    /// The run is over, blocked or paused; its record says which.
    AtRest,
    /// The person interrupted.
    Interrupted,
    /// The host or another process stood in the way.
    Failed(StoreError),
    /// The record refused what [`Run::next`](onloop_run::Run::next) named: a bug, unless another
    /// process changed it.
    Refused(Refusal),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(refusal)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Halt {
        match error {
            StoreError::Failed(failure) if failure.is_interrupted() => Halt::Interrupted,
            error @ (StoreError::Missing
            | StoreError::Unreadable(_)
            | StoreError::Failed(_)
            | StoreError::Changed { .. }
            | StoreError::Overtaken(_)) => Halt::Failed(error),
        }
    }
}
