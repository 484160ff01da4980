//! The loop around the record: does what comes next until a child has to be started.

use super::world::{LockFile, LockRefused, World, inspect, observe, progress_presence};
use crate::auto::lock::{self, LockState};
use crate::auto::record::{Auto, Event, LockBefore, LockSight, LockWritten, Next};
use crate::wire::auto::LockPayload;

/// Goes on until a child has to be started or the run is over.
pub(super) async fn advance<W: World>(world: &mut W, mut auto: Auto) -> Auto {
    let mut probed = None;
    loop {
        let is_releasing = auto.next() == Next::ReleaseLock;
        let run = auto.assignment().run.as_str();
        let event = match auto.next() {
            Next::Dispatch(_) | Next::Stop(_) => return auto,
            Next::CheckHealth(step) => Event::HealthChecked(world.check_health(step).await),
            Next::Probe => {
                let progress = progress_presence(world).await;
                let lock = world.read_lock().await;
                let event = Event::Probed { progress, lock: sight(&lock) };
                probed = Some(lock);
                event
            }
            Next::TakeLock(before) => {
                let over = match probed.take() {
                    Some(lock) => lock,
                    None => world.read_lock().await,
                };
                Event::LockWritten(take_lock(world, run, before, over).await)
            }
            Next::RefreshLock => Event::LockWritten(refresh_lock(world, run).await),
            Next::Observe => observe(world, auto.assignment().profile).await,
            Next::Inspect => inspect(world).await,
            Next::ReleaseLock => {
                release_lock(world, run).await;
                Event::LockReleased
            }
        };
        // A run that is letting go is ending anyway.
        let event = if world.is_interrupted() && !is_releasing { Event::Aborted } else { event };
        auto = take(world, &auto, event).await;
    }
}

/// Lets the record take an event that answers what it asked, and prints what it yields.
pub(super) async fn take<W: World>(world: &mut W, auto: &Auto, event: Event) -> Auto {
    let step = auto.apply(world.now(), event).expect("the event answers what the record asked");
    world.say(&step).await;
    step.auto
}

fn sight<V>(lock: &LockFile<V>) -> LockSight {
    match lock {
        LockFile::Absent => LockSight::Absent,
        LockFile::Text { content, modified, .. } => {
            LockSight::Present(lock::stamp(content, *modified))
        }
        LockFile::Unreadable { modified } => LockSight::Present(*modified),
    }
}

async fn take_lock<W: World>(
    world: &mut W,
    run: &str,
    before: LockBefore,
    over: LockFile<W::Version>,
) -> LockWritten {
    match (before, &over) {
        (LockBefore::Nothing, LockFile::Absent)
        | (LockBefore::StaleLock, LockFile::Text { .. } | LockFile::Unreadable { .. }) => {
            write_lock(world, run, over).await
        }
        (LockBefore::Nothing, LockFile::Text { .. } | LockFile::Unreadable { .. })
        | (LockBefore::StaleLock, LockFile::Absent) => LockWritten::Lost,
    }
}

/// Renews our lock. One that a child has swept away is taken again, and one that it has put
/// back from history is judged by its age like any other.
async fn refresh_lock<W: World>(world: &mut W, run: &str) -> LockWritten {
    let found = world.read_lock().await;
    let is_ours = match &found {
        LockFile::Absent => true,
        LockFile::Text { content, .. } => lock::is_ours(content, run),
        LockFile::Unreadable { .. } => false,
    };
    let is_free = is_ours
        || match sight(&found) {
            LockSight::Absent => true,
            LockSight::Present(stamp) => lock::state(stamp, world.now()) == LockState::Stale,
        };
    if is_free { write_lock(world, run, found).await } else { LockWritten::Lost }
}

async fn write_lock<W: World>(world: &mut W, run: &str, over: LockFile<W::Version>) -> LockWritten {
    let now = world.now();
    let ours = match &over {
        LockFile::Text { content, .. } => LockPayload::parse(content).filter(|p| p.run == run),
        LockFile::Absent | LockFile::Unreadable { .. } => None,
    };
    let acquired_at = ours.and_then(|payload| payload.acquired_at()).unwrap_or(now);
    let content = LockPayload::new(run, acquired_at, now).to_line();
    match world.write_lock(content, over).await {
        Ok(()) => LockWritten::Ours,
        Err(LockRefused::Changed) => LockWritten::Lost,
        Err(LockRefused::Failed(why)) => LockWritten::Failed(why),
    }
}

async fn release_lock<W: World>(world: &mut W, run: &str) {
    if let LockFile::Text { content, .. } = world.read_lock().await {
        if lock::is_ours(&content, run) {
            world.remove_lock().await;
        }
    }
}
