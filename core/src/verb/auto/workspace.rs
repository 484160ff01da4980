//! The real workspace, through the host.

use super::world::{LockFile, LockRefused, World};
use crate::auto::LOCK_PATH;
use crate::auto::document::Document;
use crate::auto::lock::{self, LockState};
use crate::auto::record::{Health, HealthStep, Next, Step};
use crate::documents::auto as document;
use crate::effect::{
    Durability, Expect, Failure, FailureKind, Io, ProcessSpec, ProcessStatus, Shell, Version,
};
use crate::limits;
use crate::text;
use crate::time::Timestamp;

/// Held by a live process of ours that has to do with the lock. The lock itself goes by its
/// age, so that agents which drive themselves can keep it too; this says what no age can
/// tell: that its holder is alive. It also makes "look, then replace" one step.
const GUARD_PATH: &str = ".ai/runtime/rw-auto.guard";

/// Lines for `sh -c` that check and repair a workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct HealthCommands {
    pub(super) check: Option<String>,
    pub(super) repair: Option<String>,
}

/// The workspace in the current folder.
pub(super) struct Workspace {
    io: Io,
    health: HealthCommands,
    guard: Guard,
    guard_wait_ms: u64,
    is_interrupted: bool,
    speech: Speech,
}

/// When the lines of a dispatch are printed.
pub(super) enum Speech {
    /// At once.
    Immediate,
    /// Once [`Workspace::speak`] is called, because something has to be stored first.
    Held(String),
}

enum Guard {
    NotTried,
    Ours,
    Refused(Failure),
}

impl Workspace {
    pub(super) fn new(io: &Io, health: HealthCommands, speech: Speech) -> Workspace {
        Workspace {
            io: io.clone(),
            health,
            guard: Guard::NotTried,
            guard_wait_ms: 0,
            is_interrupted: false,
            speech,
        }
    }

    /// The workspace as a run sees it that holds lock and guard and waits for its child.
    pub(super) fn during_child(io: &Io) -> Workspace {
        let workspace = Workspace::new(io, HealthCommands::default(), Speech::Immediate);
        Workspace { guard: Guard::Ours, ..workspace }
    }

    /// Waits for other processes of ours that have to do with the lock for a moment.
    pub(super) fn with_patience(mut self, wait_ms: u64) -> Workspace {
        self.guard_wait_ms = wait_ms;
        self
    }

    /// Makes sure that no other process of ours has to do with this workspace's runs until
    /// this one ends.
    pub(super) async fn hold_guard(&mut self) -> Result<(), Failure> {
        self.try_guard().await;
        match &self.guard {
            Guard::Refused(failure) => Err(failure.clone()),
            Guard::Ours | Guard::NotTried => Ok(()),
        }
    }

    /// Prints what was held back.
    pub(super) async fn speak(&mut self) {
        if let Speech::Held(text) = &mut self.speech {
            let text = std::mem::take(text);
            if !text.is_empty() {
                self.io.result(text).await;
            }
        }
    }

    /// Notices Ctrl-C in a failure, whatever was asked for.
    fn notice<T>(&mut self, reply: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &reply {
            self.is_interrupted |= failure.kind == FailureKind::Interrupted;
        }
        reply
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

    async fn look_at_lock(&mut self) -> LockFile<Version> {
        let read = self.io.read(LOCK_PATH, limits::AUTO_LOCK_BYTES).await;
        match self.notice(read) {
            Err(failure) if failure.kind == FailureKind::NotFound => LockFile::Absent,
            Err(_) => LockFile::Unreadable { modified: self.modified(LOCK_PATH).await },
            Ok((bytes, version)) => LockFile::Text {
                content: String::from_utf8_lossy(&bytes).into_owned(),
                modified: self.modified(LOCK_PATH).await,
                version,
            },
        }
    }

    async fn run_health(&mut self, line: &str) -> Health {
        let spec = ProcessSpec::shell(Shell::Sh, line)
            .in_folder(&self.io.start().cwd)
            .label("health check");
        let ended = self.io.process(spec).await;
        let end = match self.notice(ended) {
            Ok(end) => end,
            Err(failure) => {
                self.io.note(format!("warning: no health check: {failure}")).await;
                return Health::Unavailable;
            }
        };
        match end.status {
            ProcessStatus::Interrupted => {
                self.is_interrupted = true;
                Health::Unavailable
            }
            // The shell found nothing to run.
            ProcessStatus::Exited(126 | 127) => Health::Unavailable,
            ProcessStatus::Exited(0) => said_health(&end.stdout.text()).unwrap_or(Health::Passed),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
                Health::Failed
            }
        }
    }
}

/// What the last `AI_HEALTH_STATUS=` line of a health check says.
fn said_health(output: &str) -> Option<Health> {
    let said = output.lines().rev().find_map(|line| line.strip_prefix("AI_HEALTH_STATUS="));
    said.map(|word| document::health(word.trim()))
}

impl World for Workspace {
    type Version = Version;

    fn now(&self) -> Timestamp {
        self.io.now()
    }

    fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    async fn exists(&mut self, path: &str) -> bool {
        let stat = self.io.stat(path).await;
        match self.notice(stat) {
            Ok(_) => true,
            // Whatever cannot be looked at may be there.
            Err(failure) => failure.kind != FailureKind::NotFound,
        }
    }

    async fn document(&mut self, path: &str) -> Document {
        let read = self.io.read(path, limits::AUTO_FILE_BYTES).await;
        match self.notice(read) {
            Ok((bytes, _)) => Document::from_bytes(bytes),
            Err(failure) if failure.kind == FailureKind::NotFound => Document::Missing,
            Err(failure) => Document::Unreadable(failure.message),
        }
    }

    async fn names(&mut self, folder: &str) -> Vec<String> {
        let listed = self.io.list(folder).await;
        self.notice(listed).unwrap_or_default()
    }

    async fn modified(&mut self, path: &str) -> Option<Timestamp> {
        let stat = self.io.stat(path).await;
        self.notice(stat).ok().map(|stat| stat.modified)
    }

    async fn check_health(&mut self, step: HealthStep) -> Health {
        let line = match step {
            HealthStep::Check => self.health.check.clone(),
            HealthStep::Repair => self.health.repair.clone(),
        };
        match line {
            Some(line) => self.run_health(&line).await,
            None => Health::Unavailable,
        }
    }

    async fn read_lock(&mut self) -> LockFile<Version> {
        let found = self.look_at_lock().await;
        if is_fresh(&found, self.now()) {
            // Its age alone says that it is held, or it is our own; nobody may replace it.
            return found;
        }
        self.try_guard().await;
        match &self.guard {
            Guard::Refused(failure) if failure.kind == FailureKind::Busy => {
                self.io.note(format!("note: {failure}")).await;
                LockFile::Alive
            }
            Guard::Ours | Guard::Refused(_) | Guard::NotTried => self.look_at_lock().await,
        }
    }

    async fn write_lock(
        &mut self,
        content: String,
        over: LockFile<Version>,
    ) -> Result<(), LockRefused> {
        let expect = match over {
            LockFile::Absent => Expect::Absent,
            LockFile::Text { version, .. } => Expect::Version(version),
            LockFile::Unreadable { .. } => Expect::Any,
            LockFile::Alive => return Err(LockRefused::Changed),
        };
        self.try_guard().await;
        if let Guard::Refused(failure) = &self.guard {
            return Err(match failure.kind {
                FailureKind::Busy => LockRefused::Changed,
                _ => LockRefused::Failed(format!(
                    "cannot make sure that no other run is at work: {failure}"
                )),
            });
        }
        // Whoever loses power has let go; a lock need not outlive that.
        let bytes = content.into_bytes();
        let written = self.io.write(LOCK_PATH, bytes, expect, Durability::Relaxed).await;
        match self.notice(written) {
            Ok(_) => Ok(()),
            Err(failure) => Err(match failure.kind {
                FailureKind::Exists | FailureKind::Conflict => LockRefused::Changed,
                _ => LockRefused::Failed(format!("cannot write `{LOCK_PATH}`: {failure}")),
            }),
        }
    }

    async fn remove_lock(&mut self) {
        let removed = self.io.remove(LOCK_PATH).await;
        match self.notice(removed) {
            Ok(()) => {}
            Err(failure) if failure.kind == FailureKind::NotFound => {}
            Err(failure) => {
                let message = format!(
                    "warning: cannot remove `{LOCK_PATH}`, which keeps other runs waiting for ten minutes: {failure}"
                );
                self.io.note(message).await;
            }
        }
    }

    async fn say(&mut self, step: &Step) {
        let lines: String = step.tokens.iter().map(|token| format!("{token}\n")).collect();
        match (&mut self.speech, step.auto.next()) {
            (Speech::Held(held), Next::Dispatch(_)) => held.push_str(&lines),
            _ if lines.is_empty() => {}
            _ => self.io.result(lines).await,
        }
        if let Some(remark) = &step.remark {
            self.io.note(format!("note: {}", text::one_line(remark))).await;
        }
    }
}

fn is_fresh(lock: &LockFile<Version>, now: Timestamp) -> bool {
    let stamp = match lock {
        LockFile::Text { content, modified, .. } => lock::stamp(content, *modified),
        LockFile::Unreadable { modified } => *modified,
        LockFile::Absent | LockFile::Alive => None,
    };
    lock::state(stamp, now) == LockState::Held
}
