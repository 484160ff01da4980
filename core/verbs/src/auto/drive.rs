//! The loop around the record: does what comes next until a child has to be started.

use super::workspace::Workspace;
use onloop_auto::record::{Auto, AutoEnding, AutoEvent, AutoNext, Dispatch};

/// Where a run cannot continue by itself.
pub(super) enum AutoHalt {
    /// A child has to be started; the run waits for it.
    Child(Box<Auto>, Dispatch),
    /// The run is over.
    Over(AutoEnding),
}

/// Continues until a child has to be started or the run is finished.
pub(super) async fn advance(workspace: &mut Workspace, mut auto: Auto) -> AutoHalt {
    let mut probed = None;
    loop {
        let is_releasing = auto.next() == AutoNext::ReleaseLock;
        let run = auto.assignment().run.as_str();
        let event = match auto.next() {
            AutoNext::Dispatch(dispatch) => {
                let dispatch = dispatch.clone();
                return AutoHalt::Child(Box::new(auto), dispatch);
            }
            AutoNext::Stop(ending) => return AutoHalt::Over(ending),
            AutoNext::CheckHealth(step) => {
                AutoEvent::HealthChecked(workspace.check_health(step).await)
            }
            AutoNext::Probe => {
                let (probe, lock) = workspace.probe().await;
                probed = lock;
                AutoEvent::Probed(probe)
            }
            AutoNext::TakeLock(before) => {
                let over = match probed.take() {
                    Some(lock) => lock,
                    None => workspace.read_lock().await,
                };
                AutoEvent::LockWritten(workspace.take_lock(run, before, over).await)
            }
            AutoNext::RefreshLock => AutoEvent::LockWritten(workspace.refresh_lock(run).await),
            AutoNext::Observe => workspace.observe(auto.assignment().profile).await,
            AutoNext::Inspect => workspace.inspect().await,
            AutoNext::ReleaseLock => {
                workspace.release_lock(run).await;
                AutoEvent::LockReleased
            }
        };
        // A run that is releasing its lock is ending anyway.
        let is_aborted = workspace.is_interrupted() && !is_releasing;
        auto = take(workspace, &auto, if is_aborted { AutoEvent::Aborted } else { event }).await;
    }
}

/// Lets the record take an event that answers what it asked, and prints what it yields.
pub(super) async fn take(workspace: &mut Workspace, auto: &Auto, event: AutoEvent) -> Auto {
    let transition =
        auto.apply(workspace.now(), event).expect("the event answers what the record asked");
    workspace.say(&transition).await;
    transition.auto
}
