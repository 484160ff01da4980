//! Records on disk: the ledger in the state home decides what a run is, one durable append for
//! each change. What lies in the worktree is made from it; see `docs/state-format.md`.

use std::collections::BTreeSet;

use copy::Copy;

use crate::run::checkboxes::{Boxes, RepairedBoxes};
use onloop_documents::head::{self, LastWritten};
use onloop_documents::ledger::{self, Head, Ledger, LedgerError, Origin, sha256};
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, FileSize, Io, OptionalExt, Progress, Version,
};
use onloop_run::{Decider, Event, Next, Refusal, Run, StepStatus, step_line};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

mod arrival;
mod copy;
mod error;
mod paths;

pub use arrival::{Known, compare, read_arrival};
pub use copy::{prepare_folder, refuse_links, refuse_state_links};
pub use error::StoreError;
pub use paths::Paths;
pub use paths::StateHome;

/// Why a decision about a record that somebody has seen is not taken.
pub const CHANGED_SINCE: &str = "the run has changed since; look at it again. Nothing is decided";

/// Most bytes at the end of a ledger in which the last decision is looked for.
const LAST_LINES_BYTES: u64 = 64 * 1024;

/// A record that this program works on.
#[derive(Debug)]
pub struct Store {
    io: Io,
    home: StateHome,
    paths: Paths,
    run: Run,
    /// The last line that is known to be in the ledger.
    head: Head,
    /// Size of the ledger's whole lines, and of the last one.
    size_bytes: u64,
    last_line_bytes: u64,
    /// Version of a ledger that ends in a torn line, which has to go before another is added.
    torn: Option<Version>,
    pending: Vec<Pending>,
    notes: Vec<String>,
    warned: BTreeSet<String>,
    copy: Copy,
    /// Digest of the copy that was written last, where that is known.
    copy_sha256: Option<String>,
    copied_at: Option<Timestamp>,
    /// Whether the run was there before this process.
    opened: bool,
    boxes: Boxes,
    revision: u32,
    /// Whether what is added counts only behind the line that is known as the last one.
    only_as_known: bool,
    /// Whether what is added counts only while this comes next.
    only_while_next: Option<Next>,
}

/// A change that is not durable yet.
#[derive(Debug)]
struct Pending {
    at: Timestamp,
    event: Event,
    by: Option<Decider>,
}

impl Store {
    /// Where everything that decides is kept.
    pub fn home(&self) -> &StateHome {
        &self.home
    }

    /// The record whose ledger is one line, to which nothing has been added.
    fn new(
        io: &Io,
        (home, paths): (StateHome, Paths),
        run: Run,
        head: Head,
        size_bytes: u64,
    ) -> Store {
        Store {
            io: io.clone(),
            home,
            paths,
            run,
            head,
            size_bytes,
            last_line_bytes: size_bytes,
            torn: None,
            pending: Vec::new(),
            notes: Vec::new(),
            warned: BTreeSet::new(),
            copy: Copy::Unseen,
            copy_sha256: None,
            copied_at: None,
            opened: false,
            boxes: Boxes::default(),
            revision: 0,
            only_as_known: false,
            only_while_next: None,
        }
    }

    /// Writes the record of a run that begins, or begins here. Fails with `Exists` when the id is
    /// taken.
    pub async fn create(
        io: &Io,
        run: Run,
        origin: &Origin,
        by: Option<&Decider>,
    ) -> Result<Store, StoreError> {
        let home = StateHome::of(io)?;
        let root = run.place.execution_root.clone();
        demand_outside_of(io, &home, &run).await?;
        let paths = Paths::new(&home, &root, &run.id);
        prepare_folder(io, paths.root()).await?;
        enter(io, &home, &run).await?;
        let (bytes, head) = ledger::begin(io.now(), &run, origin, by);
        let size_bytes = bytes.len() as u64;
        let path = paths.ledger();
        io.write(&path, bytes, Expect::Absent, Durability::Durable).await?;
        let mut store = Store::new(io, (home, paths), run, head, size_bytes);
        store.write_first_copy().await?;
        Ok(store)
    }

    /// Reads the record of run `id`.
    pub async fn open(io: &Io, id: &str) -> Result<Store, StoreError> {
        let home = StateHome::of(io)?;
        let Opened { ledger, bytes, version, last } = open_ledger(io, &home, id).await?;
        let Ledger { run, head, whole_bytes } = ledger;
        demand_outside_of(io, &home, &run).await?;
        let paths = Paths::new(&home, &run.place.execution_root, id);
        Ok(Store {
            last_line_bytes: last_line_bytes(&bytes[..whole_bytes]),
            torn: (whole_bytes < bytes.len()).then_some(version),
            copy_sha256: last.and_then(|last| last.copy_sha256),
            opened: true,
            ..Store::new(io, (home, paths), run, head, whole_bytes as u64)
        })
    }

    /// The record continues in the folder `root`, durably; the copies that it leaves behind in the
    /// old one are removed where they are there.
    pub async fn move_to(self, root: &str) -> Result<Store, StoreError> {
        self.move_record(root, false, None).await
    }

    /// The record continues in the folder `root`, to which `by` moved the whole checkout.
    pub async fn relocate(self, root: &str, by: Decider) -> Result<Store, StoreError> {
        self.move_record(root, true, Some(by)).await
    }

    async fn move_record(
        mut self,
        root: &str,
        checkout: bool,
        by: Option<Decider>,
    ) -> Result<Store, StoreError> {
        let left = self.paths.clone();
        if left.root() == root.trim_end_matches('/') {
            return Ok(self);
        }
        self.home.demand_outside(&self.io, root).await?;
        prepare_folder(&self.io, root).await?;
        let execution_root = root.trim_end_matches('/').to_owned();
        let event = Event::RunMoved {
            execution_root,
            checkout,
            started_in: None,
            lost_checkpoints: Vec::new(),
        };
        self.apply_by(event, by).map_err(StoreError::Overtaken)?;
        self.paths = Paths::new(&self.home, root, &self.run.id);
        (self.copy, self.copy_sha256) = (Copy::Unseen, None);
        enter(&self.io, &self.home, &self.run).await?;
        self.commit().await?;
        for path in [left.copy(), left.report()] {
            // A worktree that is gone has nothing to remove; what is left is a copy.
            let _ = self.io.remove(&path).await;
        }
        Ok(self)
    }

    /// The run as it is, including changes that are not committed yet.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// How often this store took over what another process had written.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    /// Whether another process has changed the record since [`Store::revision`] was `revision`,
    /// be it that this store knows of it or not yet.
    pub(crate) async fn was_changed_since(&self, revision: u32) -> Result<bool, StoreError> {
        if self.revision != revision {
            return Ok(true);
        }
        Ok(Store::open(&self.io, &self.run.id).await?.head != self.head)
    }

    /// Takes over what other processes have written since. Whether they have.
    pub(crate) async fn look_again(&mut self) -> Result<bool, StoreError> {
        let has_changed = !self.is_as_known().await?;
        if has_changed {
            self.catch_up().await?;
        }
        Ok(has_changed)
    }

    /// From now on nothing is added behind what another process has written: who decides has seen the
    /// record as it is here. A commit fails with `Conflict` then.
    pub fn only_as_known(&mut self) {
        self.only_as_known = true;
    }

    /// From now on nothing is added once another process has made something else come next: two decisions
    /// about one question are not both taken. The next commit fails with `Conflict` then.
    pub fn only_while_next(&mut self) {
        self.only_while_next = Some(self.run.next());
    }

    /// The ledger, whose growth says that another process has changed the record. `None`: the
    /// ledger ends in a torn line, so its size says nothing.
    pub(crate) fn watched_ledger(&self) -> Option<FileSize> {
        let (path, size_bytes) = self.ledger_as_known();
        self.torn.is_none().then_some(FileSize { path, size_bytes })
    }

    /// The ledger and its size, as this process knows it.
    pub(crate) fn ledger_as_known(&self) -> (String, u64) {
        (self.paths.ledger(), self.size_bytes)
    }

    /// Digest of the last line of the ledger, by which everything before it is known.
    pub fn head_sha256(&self) -> &str {
        &self.head.sha256
    }

    /// Who has decided last; `None`: nobody in the last lines of the ledger.
    pub(crate) async fn last_decision(&self) -> Option<(Decider, Event)> {
        let (tail, _) = self.io.read_tail(&self.paths.ledger(), LAST_LINES_BYTES).await.ok()?;
        ledger::last_decision(&tail)
    }

    /// Where the run keeps its files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Changes the run; durable after the next [`Store::commit`].
    pub fn apply(&mut self, event: Event) -> Result<(), Refusal> {
        self.apply_by(event, None)
    }

    /// Changes the run as `by` decided; durable after the next [`Store::commit`].
    pub fn apply_by(&mut self, event: Event, by: Option<Decider>) -> Result<(), Refusal> {
        let at = self.io.now();
        self.run.apply(at, &event)?;
        self.boxes.touch(&event);
        self.pending.push(Pending { at, event, by });
        Ok(())
    }

    /// Makes every checkbox of the workflow agree with the record.
    pub async fn repair_boxes(&mut self) -> RepairedBoxes {
        self.boxes.mirror_all(&self.io, &self.run).await
    }

    /// Makes copy, report and checkboxes agree with the record; returns the lines that say what
    /// was changed, or could not be.
    pub async fn repair_mirrors(&mut self) -> Vec<String> {
        let RepairedBoxes { changed: mut lines, warning } = self.repair_boxes().await;
        lines.extend(warning);
        let locked = self.io.lock(&self.paths.record_lock(), limits::LOCK_WAIT_MS).await;
        let written = match locked {
            Ok(()) => self.write_copies(true).await,
            Err(failure) => Err(failure.into()),
        };
        let _ = self.io.unlock(&self.paths.record_lock()).await;
        if let Err(error) = written {
            lines.push(format!("warning: the copy of the record is not written: {error}"));
        }
        lines.append(&mut self.notes);
        lines
    }

    /// Says `line` once everything applied so far is durable.
    pub fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// Makes every change durable, renders the report, then says what was to be said.
    pub async fn commit(&mut self) -> Result<(), StoreError> {
        if !self.pending.is_empty() {
            self.io.lock(&self.paths.record_lock(), limits::LOCK_WAIT_MS).await?;
            let mut written = self.write_pending(Durability::Durable).await;
            if written.is_ok() {
                self.pending.clear();
                written = self.write_copies(false).await;
            }
            let unlocked = self.io.unlock(&self.paths.record_lock()).await;
            written?;
            unlocked?;
            self.io.report_progress(progress(&self.run));
            if let Some(warning) = self.boxes.mirror_touched(&self.io, &self.run).await {
                self.notes.push(warning);
            }
        }
        for line in std::mem::take(&mut self.notes) {
            self.io.note(line).await;
        }
        Ok(())
    }

    /// Writes down every change so that it survives this process. A power cut may undo which
    /// process was started, since it ends that process, too, and nothing else. Copies follow with
    /// the next [`Store::commit`].
    pub(crate) async fn write_down(&mut self) -> Result<(), StoreError> {
        let ends_with_power = |change: &Pending| matches!(change.event, Event::WorkStarted(_));
        let durability = match self.pending.iter().all(ends_with_power) {
            true => Durability::Relaxed,
            false => Durability::Durable,
        };
        self.io.lock(&self.paths.record_lock(), limits::LOCK_WAIT_MS).await?;
        let written = self.write_pending(durability).await;
        let unlocked = self.io.unlock(&self.paths.record_lock()).await;
        written?;
        self.pending.clear();
        Ok(unlocked?)
    }

    /// Appends under the record's lock; when another process was faster, reads what it wrote and
    /// applies our events to that.
    async fn write_pending(&mut self, durability: Durability) -> Result<(), StoreError> {
        let mut is_as_known = self.is_as_known().await?;
        for _ in 0..limits::APPEND_TRIES {
            if !is_as_known {
                if self.only_as_known {
                    return Err(Failure::new(FailureKind::Conflict, CHANGED_SINCE).into());
                }
                self.catch_up().await?;
            }
            match self.append_pending(durability).await {
                // The lock is this machine's; the ledger may have writers elsewhere.
                Err(failure) if failure.is_conflict() => is_as_known = false,
                Err(failure) => return Err(failure.into()),
                Ok(()) => {
                    self.only_while_next = None;
                    return Ok(());
                }
            }
        }
        let message = format!("`{}` changes all the time", self.paths.ledger());
        Err(Failure::new(FailureKind::Conflict, message).into())
    }

    async fn append_pending(&mut self, durability: Durability) -> Result<(), Failure> {
        let mut lines = Vec::new();
        let mut head = self.head.clone();
        let mut last_line_bytes = 0;
        for Pending { at, event, by } in &self.pending {
            let before = lines.len();
            head = ledger::append(&mut lines, &head, *at, event, by.as_ref());
            last_line_bytes = (lines.len() - before) as u64;
        }
        let path = self.paths.ledger();
        let added = lines.len() as u64;
        match self.torn.take() {
            None => self.io.append(&path, lines, self.size_bytes, durability).await?,
            Some(version) => {
                // Behind half a line nothing can be added: what is whole is written anew.
                let (mut bytes, _) = self.io.read(&path, limits::RECORD_BYTES).await?;
                bytes.truncate(usize::try_from(self.size_bytes).unwrap_or(usize::MAX));
                bytes.append(&mut lines);
                let expect = Expect::Version(version);
                self.io.write(&path, bytes, expect, Durability::Durable).await?;
            }
        }
        self.head = head;
        self.size_bytes += added;
        self.last_line_bytes = last_line_bytes;
        Ok(())
    }

    /// Whether the ledger still ends with the line that this process knows as its last.
    async fn is_as_known(&self) -> Result<bool, StoreError> {
        if self.torn.is_some() {
            // It was read a moment ago; its version is compared when it is written.
            return Ok(true);
        }
        let path = self.paths.ledger();
        let Some((tail, size)) = self.io.read_tail(&path, self.last_line_bytes).await.optional()?
        else {
            return Ok(false);
        };
        let line = tail.strip_suffix(b"\n").unwrap_or_default();
        Ok(size == self.size_bytes && sha256(line) == self.head.sha256)
    }

    /// Reads the ledger once more up to the line that this process knows as its last.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] when that line or one before it is another one.
    pub(crate) async fn demand_unchanged(&self) -> Result<(), StoreError> {
        let path = self.paths.ledger();
        let Some((bytes, _)) = self.io.read(&path, limits::RECORD_BYTES).await.optional()? else {
            return Err(self.save(format!("{path} is gone")).await);
        };
        let known = usize::try_from(self.size_bytes)
            .map_or(&bytes[..], |size| bytes.get(..size).unwrap_or(&bytes));
        match ledger::chain(None, known) {
            Ok(lines) if lines.last().is_some_and(|(head, _)| *head == self.head) => Ok(()),
            Ok(_) => Err(self.save(format!("{path}: it is not the ledger that was written")).await),
            Err(error) => Err(self.save(format!("{path}: damaged ledger: {error}")).await),
        }
    }

    /// Takes over what another process appended.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] when the ledger is not one that only grew.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let path = self.paths.ledger();
        let read = match self.io.read(&path, limits::RECORD_BYTES).await.optional()? {
            None => Err(StoreError::Unreadable(format!("{path} is gone"))),
            Some((bytes, version)) => {
                read_ledger(&path, &bytes, Some(&self.head)).map(|ledger| (ledger, bytes, version))
            }
        };
        let (Ledger { run, head, whole_bytes }, bytes, version) = match read {
            Ok(read) => read,
            Err(error) => return Err(self.save(error.to_string()).await),
        };
        let moved = run.place.execution_root != self.paths.root();
        if moved {
            self.paths = Paths::new(&self.home, &run.place.execution_root, &run.id);
        }
        (self.run, self.head, self.size_bytes) = (run, head, whole_bytes as u64);
        self.last_line_bytes = last_line_bytes(&bytes[..whole_bytes]);
        self.torn = (whole_bytes < bytes.len()).then_some(version);
        self.copy = Copy::Unseen;
        let last = read_head(&self.io, &self.paths).await?;
        self.copy_sha256 = last.and_then(|last| last.copy_sha256);
        self.revision += 1;
        if self.only_while_next.as_ref().is_some_and(|next| *next != self.run.next()) {
            return Err(Failure::new(FailureKind::Conflict, CHANGED_SINCE).into());
        }
        for Pending { at, event, .. } in &self.pending {
            self.run.apply(*at, event).map_err(StoreError::Overtaken)?;
        }
        Ok(())
    }

    /// Writes everything that is known about the run to a new file beside its ledger.
    async fn save(&self, why: String) -> StoreError {
        let stamp = self.io.now().to_run_id_stamp();
        let saved = self.paths.ledger_named(&format!("saved-{stamp}"));
        let origin = Origin::Saved { from: self.paths.ledger() };
        let (bytes, _) = ledger::begin(self.io.now(), &self.run, &origin, None);
        match self.io.write(&saved, bytes, Expect::Any, Durability::Durable).await {
            Ok(_) => StoreError::Changed { why, saved },
            Err(failure) => {
                StoreError::Unreadable(format!("{why}; nothing could be saved: {failure}"))
            }
        }
    }
}

/// Refuses a state home in the checkout of the run.
async fn demand_outside_of(io: &Io, home: &StateHome, run: &Run) -> Result<(), Failure> {
    for root in run.place.roots() {
        home.demand_outside(io, root).await?;
    }
    Ok(())
}

/// Enters the run where those who look for runs of a folder find it.
async fn enter(io: &Io, home: &StateHome, run: &Run) -> Result<(), Failure> {
    for root in run.place.roots() {
        let entry = format!("{}/{}", home.runs_of(root), run.id);
        let bytes = format!("{root}\n").into_bytes();
        io.write(&entry, bytes, Expect::Any, Durability::Durable).await?;
    }
    Ok(())
}

/// What `head.json` says; it may be lost at any time.
async fn read_head(io: &Io, paths: &Paths) -> Result<Option<LastWritten>, StoreError> {
    let found = io.read(&paths.head(), limits::RECORD_BYTES).await.optional()?;
    Ok(found.and_then(|(bytes, _)| head::read(&bytes)))
}

/// A ledger that was read, with everything that is needed to continue it.
struct Opened {
    ledger: Ledger,
    bytes: Vec<u8>,
    version: Version,
    last: Option<LastWritten>,
}

async fn open_ledger(io: &Io, home: &StateHome, id: &str) -> Result<Opened, StoreError> {
    // Where it works is in the ledger.
    let paths = Paths::new(home, "", id);
    let last = read_head(io, &paths).await?;
    let path = paths.ledger();
    let found = io.read(&path, limits::RECORD_BYTES).await.optional()?;
    let (bytes, version) = found.ok_or(StoreError::Missing)?;
    let written = last.as_ref().map(|last| &last.head);
    let ledger = read_ledger(&path, &bytes, written)?;
    if ledger.run.id != id {
        let why = format!("{path} is the ledger of run `{}`", text::one_line(&ledger.run.id));
        return Err(StoreError::Unreadable(why));
    }
    Ok(Opened { ledger, bytes, version, last })
}

/// The ledger of run `id` as it is now, to read only.
pub(crate) async fn read_ledger_of(
    io: &Io,
    home: &StateHome,
    id: &str,
) -> Result<Ledger, StoreError> {
    Ok(open_ledger(io, home, id).await?.ledger)
}

/// The size of the last of whole lines, with its line break.
fn last_line_bytes(lines: &[u8]) -> u64 {
    let before = lines.strip_suffix(b"\n").unwrap_or(lines);
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (lines.len() - start) as u64
}

fn read_ledger(path: &str, bytes: &[u8], written: Option<&Head>) -> Result<Ledger, StoreError> {
    ledger::read(bytes, written).map_err(|error| match error {
        // Not damaged at all: another version has to be asked.
        LedgerError::Newer(_) | LedgerError::UnknownEvent { .. } => {
            StoreError::Failed(Failure::new(FailureKind::Unsupported, format!("{path}: {error}")))
        }
        LedgerError::Line { .. } | LedgerError::Empty | LedgerError::Cut { .. } => {
            StoreError::Unreadable(format!("{path}: damaged ledger: {error}"))
        }
    })
}

/// How far a run has come. Every attempt at a step is worth half of what is left of it.
fn progress(run: &Run) -> Progress {
    let done = run.steps.iter().filter(|record| record.status == StepStatus::Done).count();
    let open = run.steps.iter().find(|record| record.status != StepStatus::Done);
    let attempts = open.map_or(0, |record| record.attempts.min(30));
    let part = 1.0 - 0.5_f64.powi(attempts as i32);
    let current = open.or(run.steps.last());
    Progress {
        run_id: run.id.clone(),
        done: done as f64 + if open.is_some() { part } else { 0.0 },
        steps: run.steps.len(),
        words: current.map_or_else(String::new, |record| step_line(run, record)),
    }
}
