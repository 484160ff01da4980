//! The loop around the record: does what comes next until a child has to be started.

use super::workspace::Workspace;
use crate::auto::record::{Auto, AutoEnding, Dispatch, Event, Next};

/// Where a run cannot go on by itself.
pub(super) enum Halt {
    /// A child has to be started; the run waits for it.
    Child(Box<Auto>, Dispatch),
    /// The run is over.
    Over(AutoEnding),
}

/// Goes on until a child has to be started or the run is over.
pub(super) async fn advance(workspace: &mut Workspace, mut auto: Auto) -> Halt {
    let mut probed = None;
    loop {
        let is_releasing = auto.next() == Next::ReleaseLock;
        let run = auto.assignment().run.as_str();
        let event = match auto.next() {
            Next::Dispatch(dispatch) => {
                let dispatch = dispatch.clone();
                return Halt::Child(Box::new(auto), dispatch);
            }
            Next::Stop(ending) => return Halt::Over(ending),
            Next::CheckHealth(step) => Event::HealthChecked(workspace.check_health(step).await),
            Next::Probe => {
                let (probe, lock) = workspace.probe().await;
                probed = lock;
                Event::Probed(probe)
            }
            Next::TakeLock(before) => {
                let over = match probed.take() {
                    Some(lock) => lock,
                    None => workspace.read_lock().await,
                };
                Event::LockWritten(workspace.take_lock(run, before, over).await)
            }
            Next::RefreshLock => Event::LockWritten(workspace.refresh_lock(run).await),
            Next::Observe => workspace.observe(auto.assignment().profile).await,
            Next::Inspect => workspace.inspect().await,
            Next::ReleaseLock => {
                workspace.release_lock(run).await;
                Event::LockReleased
            }
        };
        // A run that is releasing its lock is ending anyway.
        let is_aborted = workspace.is_interrupted() && !is_releasing;
        auto = take(workspace, &auto, if is_aborted { Event::Aborted } else { event }).await;
    }
}

/// Lets the record take an event that answers what it asked, and prints what it yields.
pub(super) async fn take(workspace: &mut Workspace, auto: &Auto, event: Event) -> Auto {
    let transition =
        auto.apply(workspace.now(), event).expect("the event answers what the record asked");
    workspace.say(&transition).await;
    transition.auto
}
