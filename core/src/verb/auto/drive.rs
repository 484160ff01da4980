//! The loop around the record: does what comes next until a child has to be started.

use super::workspace::Workspace;
use super::world::{LockFile, LockRefused, World, inspect, observe};
use crate::auto::PROGRESS_PATH;
use crate::auto::document::Presence;
use crate::auto::lock::{self, LockState};
use crate::auto::record::{
    Auto, Dispatch, Ending, Event, LockBefore, LockSight, LockWritten, Next, Probe,
};
use crate::documents::auto::LockPayload;
use crate::effect::Io;
use crate::limits;
use crate::text;

/// Where a run cannot go on by itself.
pub(super) enum Halt {
    /// A child has to be started; the run waits for it.
    Child(Box<Auto>, Dispatch),
    /// The run is over.
    Over(Ending),
}

/// Goes on until a child has to be started or the run is over.
pub(super) async fn advance<W: World>(world: &mut W, mut auto: Auto) -> Halt {
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
            Next::CheckHealth(step) => Event::HealthChecked(world.check_health(step).await),
            Next::Probe => {
                let (probe, lock) = probe(world).await;
                probed = lock;
                Event::Probed(probe)
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

async fn probe<W: World>(world: &mut W) -> (Probe, Option<LockFile<W::Version>>) {
    match world.document(PROGRESS_PATH).await.presence() {
        Presence::Unreadable => (Probe::ProgressUnreadable, None),
        Presence::Missing | Presence::Readable => {
            let lock = world.read_lock().await;
            (Probe::Lock(sight(&lock)), Some(lock))
        }
    }
}

fn sight<V>(lock: &LockFile<V>) -> LockSight {
    match lock {
        LockFile::Absent => LockSight::Absent,
        LockFile::Alive => LockSight::Alive,
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
    let is_as_before = match &over {
        LockFile::Absent => before == LockBefore::Nothing,
        LockFile::Text { .. } | LockFile::Unreadable { .. } => before == LockBefore::StaleLock,
        LockFile::Alive => false,
    };
    if is_as_before { write_lock(world, run, over).await } else { LockWritten::Lost }
}

/// Renews our lock. One that a child has swept away is taken again, and one that it has put
/// back from history is judged by its age like any other.
pub(super) async fn refresh_lock<W: World>(world: &mut W, run: &str) -> LockWritten {
    let found = world.read_lock().await;
    let is_free = match sight(&found) {
        LockSight::Absent => true,
        LockSight::Alive => false,
        LockSight::Present(stamp) => {
            is_ours(&found, run) || lock::state(stamp, world.now()) == LockState::Stale
        }
    };
    if is_free { write_lock(world, run, found).await } else { LockWritten::Lost }
}

/// A handle whose processes keep the lock fresh, however long they run. A lock that was lost
/// meanwhile is no reason to break off the child, whose work would be lost too: the run hears
/// of it when the child is done.
pub(super) fn stamping(io: &Io, run: &str) -> Io {
    let (plain, run) = (io.clone(), run.to_owned());
    io.with_pulse(limits::AUTO_STAMP_EVERY_MS, move || {
        let (io, run) = (plain.clone(), run.clone());
        async move {
            let mut workspace = Workspace::during_child(&io);
            if let LockWritten::Failed(why) = refresh_lock(&mut workspace, &run).await {
                io.note(format!("warning: the lock keeps its old time: {}", text::one_line(&why)))
                    .await;
            }
        }
    })
}

fn is_ours<V>(lock: &LockFile<V>, run: &str) -> bool {
    match lock {
        LockFile::Text { content, .. } => lock::is_ours(content, run),
        LockFile::Absent | LockFile::Alive | LockFile::Unreadable { .. } => false,
    }
}

async fn write_lock<W: World>(world: &mut W, run: &str, over: LockFile<W::Version>) -> LockWritten {
    let now = world.now();
    let ours = match &over {
        LockFile::Text { content, .. } => LockPayload::parse(content).filter(|p| p.run == run),
        LockFile::Absent | LockFile::Alive | LockFile::Unreadable { .. } => None,
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
    let found = world.read_lock().await;
    if is_ours(&found, run) {
        world.remove_lock().await;
    }
}
