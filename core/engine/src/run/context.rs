//! The context that every part of driving a run shares.

use crate::run::forks::Forks;
use crate::run::options::RunOptions;
use crate::sandbox::choice::Sandbox;
use crate::state::store::{Store, StoreError};
use onloop_effect::Io;
use onloop_run::{Event, Refusal, Run, RunStatus};

/// A run that this process drives.
pub(crate) struct RunContext<'r> {
    /// The handle to the host.
    pub(crate) io: &'r Io,
    /// The record.
    pub(crate) store: &'r mut Store,
    /// The options of this process.
    pub(crate) options: &'r RunOptions,
    /// The forks of steps that work beside others.
    pub(crate) forks: Forks,
}

impl<'r> RunContext<'r> {
    /// The record as it is now.
    pub(crate) fn run(&self) -> &Run {
        self.store.run()
    }

    /// The sandbox of agents and checks.
    pub(crate) fn sandbox(&self) -> &'r Sandbox {
        &self.options.checks.sandbox
    }

    /// Pauses the run, durably; returns why the loop stops.
    pub(crate) async fn pause(&mut self, reason: &str) -> Halt {
        match self.record_pause(reason, false).await {
            Ok(()) => Halt::Stopped,
            Err(halt) => halt,
        }
    }

    /// Pauses a running run, durably; `interrupted`: because a person interrupted it.
    pub(crate) async fn record_pause(
        &mut self,
        reason: &str,
        interrupted: bool,
    ) -> Result<(), Halt> {
        if self.store.run().status == RunStatus::Running {
            self.store.apply(Event::RunPaused { reason: reason.to_owned(), interrupted })?;
        }
        self.store.commit().await?;
        Ok(())
    }
}

/// Why the loop ended.
pub(crate) enum Halt {
    /// The run is finished, blocked or paused; its record says which.
    Stopped,
    /// The person interrupted.
    Interrupted,
    /// The record has changed: what comes next is decided anew.
    Again,
    /// The host failed, or another process changed the record.
    Failed(StoreError),
    /// The record refused the event that [`Run::next`] named: an internal error, unless another
    /// process changed the record.
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
