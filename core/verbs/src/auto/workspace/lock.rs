//! The lock of a workspace, read and replaced without a gap between the two.

use super::{HealthCommands, Speech, Workspace};
use onloop_auto::LOCK_PATH;
use onloop_auto::documents::LockPayload;
use onloop_auto::lock::{self, LockState};
use onloop_auto::record::{LockBefore, LockSight, LockWritten};
use onloop_effect::{Durability, Expect, Failure, Io, Version};
use onloop_engine::state::auto_runs;
use onloop_engine::state::store::StateHome;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Held by a live process of ours that has to do with the lock. The lock itself goes by its
/// age, so that agents which drive themselves can keep it too; this says what no age can
/// tell: that its holder is alive. It also makes "look, then replace" one step.
const GUARD_PATH: &str = ".ai/runtime/rw-auto.guard";

pub(super) enum Guard {
    NotTried,
    Ours,
    Refused(Failure),
}

/// What was read at the lock's path.
pub(in crate::auto) enum LockFile {
    /// Nothing.
    Absent,
    /// Text, whatever it says.
    Text { content: String, modified: Option<Timestamp>, version: Version },
    /// Whatever it is, another process is alive that holds it.
    Alive,
    /// Something that cannot be read, and therefore not compared either.
    Unreadable { modified: Option<Timestamp> },
}

impl LockFile {
    /// What the record has to know of it.
    pub(super) fn sight(&self) -> LockSight {
        match self {
            LockFile::Absent => LockSight::Absent,
            LockFile::Alive => LockSight::Alive,
            LockFile::Text { content, modified, .. } => {
                LockSight::Present(lock::stamp(content, *modified))
            }
            LockFile::Unreadable { modified } => LockSight::Present(*modified),
        }
    }

    fn is_held(&self, now: Timestamp) -> bool {
        match self.sight() {
            LockSight::Absent => false,
            LockSight::Alive => true,
            LockSight::Present(stamp) => lock::state(stamp, now) == LockState::Held,
        }
    }

    /// What `run` has written, if this is its lock.
    fn payload_of(&self, run: &str) -> Option<LockPayload> {
        match self {
            LockFile::Text { content, .. } => LockPayload::of(content, run),
            LockFile::Absent | LockFile::Alive | LockFile::Unreadable { .. } => None,
        }
    }
}

impl Workspace {
    /// The workspace of a run that holds lock and guard and waits for its child.
    fn during_child(io: &Io) -> Workspace {
        let workspace = Workspace::new(io, HealthCommands::default(), Speech::Immediate);
        Workspace { guard: Guard::Ours, ..workspace }
    }

    /// Waits this long for the guard where another process of ours has it.
    pub(in crate::auto) fn waiting_for_guard(mut self, wait_ms: u64) -> Workspace {
        self.guard_wait_ms = wait_ms;
        self
    }

    /// Makes sure that no other process of ours has to do with this workspace's runs until
    /// this one ends.
    pub(in crate::auto) async fn hold_guard(&mut self) -> Result<(), Failure> {
        self.try_guard().await;
        match &self.guard {
            Guard::Refused(failure) => Err(failure.clone()),
            Guard::Ours | Guard::NotTried => Ok(()),
        }
    }

    async fn try_guard(&mut self) {
        if matches!(self.guard, Guard::Ours) {
            return;
        }
        let locked = self.io.lock(GUARD_PATH, self.guard_wait_ms).await;
        self.guard = match self.notice(locked) {
            Ok(()) => Guard::Ours,
            Err(failure) => Guard::Refused(failure),
        };
    }

    /// What is at the lock's path.
    pub(in crate::auto) async fn read_lock(&mut self) -> LockFile {
        let found = self.look_at_lock().await;
        if found.is_held(self.now()) {
            // Its age alone says that it is held, or it is our own; it may not be replaced.
            return found;
        }
        self.try_guard().await;
        match &self.guard {
            Guard::Refused(failure) if failure.is_busy() => {
                self.io.note(format!("note: {failure}")).await;
                LockFile::Alive
            }
            Guard::Ours | Guard::Refused(_) | Guard::NotTried => self.look_at_lock().await,
        }
    }

    async fn look_at_lock(&mut self) -> LockFile {
        let read = self.io.read(LOCK_PATH, limits::AUTO_LOCK_BYTES).await;
        match self.notice(read) {
            Err(failure) if failure.is_not_found() => LockFile::Absent,
            Err(_) => LockFile::Unreadable { modified: self.modified(LOCK_PATH).await },
            Ok((bytes, version)) => LockFile::Text {
                content: String::from_utf8_lossy(&bytes).into_owned(),
                modified: self.modified(LOCK_PATH).await,
                version,
            },
        }
    }

    /// Takes the lock over what was read before, if that is what the record decided about.
    pub(in crate::auto) async fn take_lock(
        &mut self,
        run: &str,
        before: LockBefore,
        over: LockFile,
    ) -> LockWritten {
        let is_as_before = match &over {
            LockFile::Absent => before == LockBefore::Nothing,
            LockFile::Text { .. } | LockFile::Unreadable { .. } => before == LockBefore::StaleLock,
            LockFile::Alive => false,
        };
        if is_as_before { self.write_lock(run, over).await } else { LockWritten::Lost }
    }

    /// Renews our lock. One that a child has swept away is taken again, and one that it has
    /// put back from history is judged by its age like any other.
    pub(in crate::auto) async fn refresh_lock(&mut self, run: &str) -> LockWritten {
        let found = self.read_lock().await;
        let is_free = found.payload_of(run).is_some() || !found.is_held(self.now());
        if is_free { self.write_lock(run, found).await } else { LockWritten::Lost }
    }

    /// Removes the lock if it is ours. A failure is only reported: nothing can be done about it.
    pub(in crate::auto) async fn release_lock(&mut self, run: &str) {
        if self.read_lock().await.payload_of(run).is_none() {
            return;
        }
        let removed = self.io.remove(LOCK_PATH).await;
        match self.notice(removed) {
            Ok(()) => {}
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => {
                let message = format!(
                    "warning: cannot remove `{LOCK_PATH}`, which keeps other runs waiting for ten minutes: {failure}"
                );
                self.io.note(message).await;
            }
        }
    }

    /// Who holds the lock, and what to do about it.
    pub(super) async fn explain_lock(&mut self) -> String {
        let found = self.look_at_lock().await;
        let noted = match StateHome::of(&self.io) {
            Ok(home) => auto_runs::look(&self.io, &home.auto_run(&self.io.start().cwd)).await,
            Err(_) => None,
        };
        let killed =
            noted.filter(|noted| noted.is_killed() && found.payload_of(noted.id()).is_some());
        match (killed, found.sight()) {
            (Some(killed), LockSight::Present(Some(stamp))) => {
                let age_ms = self.now().as_millis().saturating_sub(stamp.as_millis());
                let left_ms = lock::HELD_MS.saturating_sub(age_ms).max(0).unsigned_abs();
                format!(
                    "the process of run {0} is gone; its lock counts for another {1}, or until \
                     `onloop stop {0}` removes it",
                    killed.id(),
                    text::span(left_ms)
                )
            }
            _ => format!(
                "another rw-auto works here; wait for it, or remove `{LOCK_PATH}` if none does"
            ),
        }
    }

    async fn write_lock(&mut self, run: &str, over: LockFile) -> LockWritten {
        let now = self.now();
        let acquired_at = over.payload_of(run).and_then(|payload| payload.acquired_at());
        let line = LockPayload::new(run, acquired_at.unwrap_or(now), now).to_line();
        let expect = match over {
            LockFile::Absent => Expect::Absent,
            LockFile::Text { version, .. } => Expect::Version(version),
            LockFile::Unreadable { .. } => Expect::Any,
            LockFile::Alive => return LockWritten::Lost,
        };
        self.try_guard().await;
        if let Guard::Refused(failure) = &self.guard {
            if failure.is_busy() {
                return LockWritten::Lost;
            }
            let why = format!("cannot make sure that no other run is at work: {failure}");
            return LockWritten::Failed(why);
        }
        // A power cut releases the lock; it need not outlive that.
        let written =
            self.io.write(LOCK_PATH, line.into_bytes(), expect, Durability::Relaxed).await;
        match self.notice(written) {
            Ok(_) => LockWritten::Ours,
            Err(failure) if failure.is_exists() || failure.is_conflict() => LockWritten::Lost,
            Err(failure) => LockWritten::Failed(format!("cannot write `{LOCK_PATH}`: {failure}")),
        }
    }
}

/// A handle whose processes keep the lock fresh, however long they run. A lock that was lost
/// meanwhile is no reason to stop the child, whose work would be lost too: the run hears of it
/// when the child is done.
pub(in crate::auto) fn stamping(io: &Io, run: &str) -> Io {
    let (plain, run) = (io.clone(), run.to_owned());
    io.with_heartbeat(limits::AUTO_STAMP_EVERY_MS, move || {
        let (io, run) = (plain.clone(), run.clone());
        async move { stamp(&io, &run).await }
    })
}

/// Keeps the lock of `run` fresh.
pub(in crate::auto) async fn stamp(io: &Io, run: &str) {
    let mut workspace = Workspace::during_child(io);
    if let LockWritten::Failed(why) = workspace.refresh_lock(run).await {
        io.note(format!("warning: the lock keeps its old time: {}", text::one_line(&why))).await;
    }
}
