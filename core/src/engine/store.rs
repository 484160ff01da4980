//! Records on disk: one read when a verb starts, one durable write when something changed.
//!
//! A record up to [`limits::RECORD_REWRITE_BYTES`] is rewritten whole, so that whoever reads
//! the file sees the truth. A larger one is journalled in between: rewriting it at every
//! transition would make a long run quadratic. See `docs/decisions`.

use journal::Journal;

use crate::documents;
use crate::documents::run::ReadError;
use crate::effect::{
    Durability, Expect, Failure, FailureKind, FileKind, Io, OptionalExt, Progress, Version,
};
use crate::engine::boxes::Boxes;
use crate::limits;
use crate::run::{Event, Refusal, Run, RunStatus, StepStatus, render_report, step_line};
use crate::time::Timestamp;

mod journal;

/// A report of a large run is rendered at most this often while the run goes on.
const REPORT_INTERVAL_MS: u64 = 250;

/// A record that this program works on.
#[derive(Debug)]
pub struct Store {
    io: Io,
    paths: Paths,
    run: Run,
    version: Version,
    snapshot_bytes: usize,
    journal: Journal,
    pending: Vec<(Timestamp, Event)>,
    notes: Vec<String>,
    report_at: Option<Timestamp>,
    boxes: Boxes,
    merges: u32,
}

/// Where a run keeps its files, below its execution root.
#[derive(Clone, Debug)]
pub struct Paths {
    root: String,
    id: String,
}

impl Paths {
    /// The files of run `id` in the execution root `root`.
    pub fn new(root: &str, id: &str) -> Paths {
        Paths { root: root.trim_end_matches('/').to_owned(), id: id.to_owned() }
    }

    /// The folder of all records.
    pub fn state_folder(root: &str) -> String {
        format!("{}/.hotl/state", root.trim_end_matches('/'))
    }

    /// The record.
    pub fn state(&self) -> String {
        format!("{}/.hotl/state/{}.json", self.root, self.id)
    }

    /// Events since the record was last rewritten.
    pub fn journal(&self) -> String {
        format!("{}/.hotl/state/{}.journal", self.root, self.id)
    }

    /// The report.
    pub fn report(&self) -> String {
        format!("{}/.hotl/reports/{}.md", self.root, self.id)
    }

    /// Held while the record is read, changed and written.
    pub fn record_lock(&self) -> String {
        format!("{}/.hotl/locks/{}.lock", self.root, self.id)
    }

    /// Held while something is done with the work of a run of the repository whose main
    /// checkout is `root`: two merges at once would switch branches under each other.
    pub fn finish_lock(root: &str) -> String {
        format!("{}/.hotl/locks/finish.lock", root.trim_end_matches('/'))
    }

    /// Held as long as a process drives the run.
    pub fn driver_lock(&self) -> String {
        format!("{}/.hotl/locks/{}.driver.lock", self.root, self.id)
    }

    /// Output of one attempt.
    pub fn log(&self, name: &str) -> String {
        format!("{}/.hotl/logs/{}/{name}.log", self.root, self.id)
    }

    /// Prompt of one attempt.
    pub fn prompt(&self, name: &str) -> String {
        format!("{}/.hotl/prompts/{}/{name}.md", self.root, self.id)
    }

    /// What the agent of one attempt says it used; beside its prompt, in a folder that exists.
    pub fn usage(&self, name: &str) -> String {
        format!("{}/.hotl/prompts/{}/{name}.usage.json", self.root, self.id)
    }

    /// Something a person looks at.
    pub fn evidence(&self, name: &str) -> String {
        format!("{}/.hotl/evidence/{}/{name}", self.root, self.id)
    }
}

/// Why a record could not be opened or changed.
#[derive(Debug)]
pub enum StoreError {
    /// There is no such record.
    Missing,
    /// The bytes are no record, or one of a newer onloop.
    Unreadable(String),
    /// The host could not do it.
    Failed(Failure),
    /// Another process changed the record, and what was to be added no longer fits.
    Overtaken(Refusal),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Missing => f.write_str("there is no such record"),
            StoreError::Unreadable(why) => f.write_str(why),
            StoreError::Failed(failure) => write!(f, "{failure}"),
            StoreError::Overtaken(refusal) => {
                write!(f, "another process changed the run in the meantime: {refusal}")
            }
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        StoreError::Failed(failure)
    }
}

impl Store {
    /// Writes the record of a run that begins. Fails with `Exists` when the id is taken.
    pub async fn create(io: &Io, run: Run) -> Result<Store, StoreError> {
        let paths = Paths::new(&run.place.execution_root, &run.id);
        prepare_folder(io, &paths.root).await?;
        Store::write_first(io, paths, run, Expect::Absent).await
    }

    /// Goes on with the record in another execution root. It is durable there when this
    /// returns; what is left behind is a copy that nobody changes any more.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`] when there is a record of the same run that is newer.
    pub async fn move_to(self, root: &str) -> Result<Store, StoreError> {
        let paths = Paths::new(root, &self.run.id);
        if paths.root == self.paths.root {
            return Ok(self);
        }
        let mut run = self.run;
        run.move_to(&paths.root);
        prepare_folder(&self.io, &paths.root).await?;
        let expect = match Store::open(&self.io, root, &run.id).await {
            Err(StoreError::Missing) => Expect::Absent,
            Err(error) => return Err(error),
            Ok(theirs) if theirs.run.revision <= run.revision => Expect::Version(theirs.version),
            Ok(theirs) => {
                let path = theirs.paths.state();
                let why = format!("{path} is a newer record of the same run");
                return Err(StoreError::Unreadable(why));
            }
        };
        let store = Store::write_first(&self.io, paths, run, expect).await?;
        store.io.remove(&store.paths.journal()).await.optional()?;
        Ok(store)
    }

    async fn write_first(
        io: &Io,
        paths: Paths,
        run: Run,
        expect: Expect,
    ) -> Result<Store, StoreError> {
        let bytes = documents::run::write(&run);
        let snapshot_bytes = bytes.len();
        let version = io.write(&paths.state(), bytes, expect, Durability::Durable).await?;
        let mut store = Store {
            io: io.clone(),
            paths,
            run,
            version,
            snapshot_bytes,
            journal: Journal::default(),
            pending: Vec::new(),
            notes: Vec::new(),
            report_at: None,
            boxes: Boxes::default(),
            merges: 0,
        };
        store.write_report(true).await?;
        Ok(store)
    }

    /// Reads the record of run `id` in the execution root `root`.
    pub async fn open(io: &Io, root: &str, id: &str) -> Result<Store, StoreError> {
        let paths = Paths::new(root, id);
        refuse_links(io, &paths.root).await?;
        // Readers take no lock: between a large record and its journal, another process may
        // fold the one into the other and begin a journal that does not fit what was read.
        let mut before = None;
        loop {
            let (mut store, replayed) = Store::read(io, &paths, id).await?;
            match replayed {
                Ok(()) => {
                    // Relative paths and moved checkouts: the record works where it lies.
                    store.run.found_at(&store.paths.root);
                    return Ok(store);
                }
                Err(StoreError::Unreadable(_)) if before.as_ref() != Some(&store.version) => {
                    before = Some(store.version);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// One look at the record and its journal; the inner result is about the journal.
    async fn read(
        io: &Io,
        paths: &Paths,
        id: &str,
    ) -> Result<(Store, Result<(), StoreError>), StoreError> {
        let found = io.read(&paths.state(), limits::RECORD_BYTES).await.optional()?;
        let (bytes, version) = found.ok_or(StoreError::Missing)?;
        let run = documents::run::read(&bytes).map_err(|error| {
            let why = format!("{}: {error}", paths.state());
            match error {
                ReadError::Damaged(_) => StoreError::Unreadable(why),
                // Not damaged at all: another version has to be asked.
                ReadError::Newer(_) => {
                    StoreError::Failed(Failure::new(FailureKind::Unsupported, why))
                }
            }
        })?;
        let mut store = Store {
            io: io.clone(),
            paths: paths.clone(),
            run,
            version,
            snapshot_bytes: bytes.len(),
            journal: Journal::default(),
            pending: Vec::new(),
            notes: Vec::new(),
            report_at: None,
            boxes: Boxes::default(),
            merges: 0,
        };
        if store.run.id != id {
            let why = format!("{} is the record of run `{}`", store.paths.state(), store.run.id);
            return Err(StoreError::Unreadable(why));
        }
        let replayed = match store.snapshot_bytes > limits::RECORD_REWRITE_BYTES {
            true => store.replay_journal().await,
            false => Ok(()),
        };
        Ok((store, replayed))
    }

    /// The run as it is, including changes that are not committed yet.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// How often this store took over what another process had written.
    pub(crate) fn merges(&self) -> u32 {
        self.merges
    }

    /// Whether another process has changed the record since [`Store::merges`] was `merges`,
    /// be it that this store knows of it or not yet.
    pub(crate) async fn was_changed_since(&self, merges: u32) -> Result<bool, StoreError> {
        if self.merges != merges {
            return Ok(true);
        }
        let there = Store::open(&self.io, &self.paths.root, &self.paths.id).await?;
        Ok(there.run.revision != self.run.revision - self.pending.len() as u64)
    }

    /// Where the run keeps its files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Changes the run; durable after the next [`Store::commit`].
    pub fn apply(&mut self, event: Event) -> Result<(), Refusal> {
        let at = self.io.now();
        self.run.apply(at, &event)?;
        self.boxes.touch(&event);
        self.pending.push((at, event));
        Ok(())
    }

    /// Makes every checkbox of the workflow agree with the record; returns the lines that say
    /// what was changed.
    pub async fn repair_boxes(&mut self) -> Vec<String> {
        self.boxes.mirror_all(&self.io, &self.run).await
    }

    /// Renders the report anew and makes the checkboxes agree with the record; returns the
    /// lines that say what was changed, or could not be.
    pub(crate) async fn repair_mirrors(&mut self) -> Vec<String> {
        let mut lines = self.repair_boxes().await;
        if let Err(error) = self.write_report(true).await {
            lines.push(format!("warning: the report could not be written: {error}"));
        }
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
            let written = self.write_pending().await;
            let unlocked = self.io.unlock(&self.paths.record_lock()).await;
            written?;
            unlocked?;
            self.pending.clear();
            self.io.report_progress(progress(&self.run));
            let at_rest = self.run.status != RunStatus::Running;
            self.write_report(at_rest).await?;
            if let Some(warning) = self.boxes.mirror_touched(&self.io, &self.run).await {
                self.notes.push(warning);
            }
        }
        for line in std::mem::take(&mut self.notes) {
            self.io.note(line).await;
        }
        Ok(())
    }

    /// Writes under the record lock; when another process was faster, reads what it wrote and
    /// applies our events to that, once.
    async fn write_pending(&mut self) -> Result<(), StoreError> {
        match self.write_once().await {
            Err(failure) if failure.is_conflict() => {}
            Err(failure) => return Err(failure.into()),
            Ok(()) => return Ok(()),
        }
        let theirs = Box::pin(Store::open(&self.io, &self.paths.root, &self.paths.id)).await?;
        self.run = theirs.run;
        self.version = theirs.version;
        self.snapshot_bytes = theirs.snapshot_bytes;
        self.journal = theirs.journal;
        self.merges += 1;
        for (at, event) in &self.pending {
            self.run.apply(*at, event).map_err(StoreError::Overtaken)?;
        }
        Ok(self.write_once().await?)
    }

    async fn write_once(&mut self) -> Result<(), Failure> {
        let large = self.snapshot_bytes > limits::RECORD_REWRITE_BYTES;
        let at_rest = self.run.status != RunStatus::Running;
        let grown = self.journal.size_bytes > self.snapshot_bytes as u64;
        if large {
            self.remove_folded_journal().await?;
        }
        if large && !at_rest && !grown && !self.journal.torn {
            return self.append_journal().await;
        }
        self.rewrite().await
    }

    async fn rewrite(&mut self) -> Result<(), Failure> {
        if self.snapshot_bytes > limits::RECORD_REWRITE_BYTES {
            self.expect_known_journal().await?;
        }
        let bytes = documents::run::write(&self.run);
        let snapshot_bytes = bytes.len();
        let expect = Expect::Version(self.version.clone());
        self.version =
            self.io.write(&self.paths.state(), bytes, expect, Durability::Durable).await?;
        // Only now: beside a small record nobody looks for a journal.
        self.snapshot_bytes = snapshot_bytes;
        if self.journal.size_bytes > 0 {
            // Its lines are in the snapshot now; if this fails the next writer removes it.
            let _ = self.io.remove(&self.paths.journal()).await;
            self.journal = Journal::default();
        }
        Ok(())
    }

    async fn write_report(&mut self, at_rest: bool) -> Result<(), StoreError> {
        let large = self.snapshot_bytes > limits::RECORD_REWRITE_BYTES;
        let recent =
            self.report_at.is_some_and(|at| self.io.now().millis_since(at) < REPORT_INTERVAL_MS);
        if large && recent && !at_rest {
            return Ok(());
        }
        let bytes = render_report(&self.run).into_bytes();
        self.io.write(&self.paths.report(), bytes, Expect::Any, Durability::Relaxed).await?;
        self.report_at = Some(self.io.now());
        Ok(())
    }
}

/// How far a run has come. Every attempt at a step is worth half of what is left of it.
fn progress(run: &Run) -> Progress {
    let done = run.steps.iter().filter(|record| record.status == StepStatus::Done).count();
    let open = run.steps.iter().find(|record| record.status != StepStatus::Done);
    let attempts = open.map_or(0, |record| record.attempts.min(30));
    let part = 1.0 - 0.5_f64.powi(attempts as i32);
    let current = open.or(run.steps.last());
    Progress {
        done: done as f64 + if open.is_some() { part } else { 0.0 },
        steps: run.steps.len(),
        words: current.map_or_else(String::new, step_line),
    }
}

/// The folders that we write to.
const FOLDERS: [&str; 8] = [
    ".hotl",
    ".hotl/state",
    ".hotl/locks",
    ".hotl/reports",
    ".hotl/logs",
    ".hotl/prompts",
    ".hotl/evidence",
    ".hotl/usage",
];
/// Makes a folder ready for records. Whoever runs `git add -A` there must not commit them.
pub(crate) async fn prepare_folder(io: &Io, root: &str) -> Result<(), Failure> {
    refuse_links(io, root).await?;
    let ignore = format!("{root}/.hotl/.gitignore");
    match io.write(&ignore, b"*\n".to_vec(), Expect::Absent, Durability::Relaxed).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_exists() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// A repository may contain a link where our files belong, so that we write somewhere else.
pub(crate) async fn refuse_links(io: &Io, root: &str) -> Result<(), Failure> {
    let root = root.trim_end_matches('/');
    for folder in FOLDERS {
        let path = format!("{root}/{folder}");
        let found = io.stat(&path).await.optional()?;
        if found.is_some_and(|stat| stat.kind != FileKind::Folder) {
            let message =
                format!("`{path}` is not a folder; onloop does not write through links: remove it");
            return Err(Failure::new(FailureKind::Invalid, message));
        }
    }
    Ok(())
}
