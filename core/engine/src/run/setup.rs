//! Making a fresh worktree ready, once, before the first step: files that git ignores are copied
//! from the checkout that the run was started in, and the lines of `setup` are run.

mod include;

use include::Included;
pub(crate) use include::{FILE, included};

use crate::error::CommandError;
use crate::run::checks::{private_names, recorded};
use crate::run::processes::{Work, WorkError, run_recorded};
use crate::sandbox::choice::Sandbox;
use crate::state::store::{Store, StoreError, refuse_links};
use onloop_agents::confine::refused_line;
use onloop_effect::{Durability, Expect, Shell};
use onloop_effect::{Failure, FileKind, Io, ProcessSpec, ProcessStatus};
use onloop_run::{Event, Run, SetUp, Worker};
use onloop_syntax::limits;
use onloop_syntax::text;

/// How making a worktree ready came out.
pub enum Readiness {
    /// It is ready, or there was nothing to do.
    Ready,
    /// It is not, and why.
    Failed(CommandError),
    /// The person interrupted.
    Interrupted,
}

/// Makes the worktree of a run ready where that has not been done. What is half done when the power
/// goes is done again: only the event at the end says that it is done.
///
/// # Errors
///
/// When it cannot be recorded which processes work; they have been ended.
pub async fn make_ready(
    io: &Io,
    store: &mut Store,
    sandbox: &Sandbox,
) -> Result<Readiness, StoreError> {
    let Some((from, to)) = due(store.run()) else { return Ok(Readiness::Ready) };
    let included = match included(io, &from).await {
        Ok(included) => included,
        Err(failure) => return Ok(gone_wrong(FILE, failure)),
    };
    let lines = store.run().settings.setup.clone();
    if lines.is_empty() && included.files.is_empty() {
        return Ok(Readiness::Ready);
    }
    store.commit().await?;
    let fresh = Fresh { from: &from, to: &to, worker: Worker::SetUp };
    let done = match fresh.prepare(io, store, &included, sandbox).await? {
        Ok(done) => done,
        Err(unready) => return Ok(unready),
    };
    store.apply(Event::WorktreeSetUp(done)).map_err(StoreError::Overtaken)?;
    let (files, commands) =
        (text::counted(done.copied, "file"), text::counted(done.commands, "command"));
    store.note(format!("✓ Setup: {files} copied, {commands} run"));
    store.commit().await?;
    Ok(Readiness::Ready)
}

/// Makes a clean checkout ready as the worktree of the run was; nothing is recorded of it. Files are
/// copied from the checkout that the agent does not work in; `None`: it works in that of the user.
///
/// # Errors
///
/// As [`make_ready`].
pub(crate) async fn prepare_clean(
    io: &Io,
    store: &mut Store,
    (from, to): (Option<&str>, &str),
    sandbox: &Sandbox,
) -> Result<Readiness, StoreError> {
    let included = match from {
        Some(from) => included(io, from).await,
        None => Ok(Included::default()),
    };
    let included = match included {
        Ok(included) => included,
        Err(failure) => return Ok(gone_wrong(FILE, failure)),
    };
    let fresh = Fresh { from: from.unwrap_or(to), to, worker: Worker::Check };
    Ok(fresh
        .prepare(io, store, &included, sandbox)
        .await?
        .map_or_else(|unready| unready, |_| Readiness::Ready))
}

/// A checkout that is made ready.
struct Fresh<'a> {
    /// The checkout that files are copied from.
    from: &'a str,
    to: &'a str,
    worker: Worker,
}

impl Fresh<'_> {
    /// Copies files and runs the lines of `setup`.
    async fn prepare(
        &self,
        io: &Io,
        store: &mut Store,
        included: &Included,
        sandbox: &Sandbox,
    ) -> Result<Result<SetUp, Readiness>, StoreError> {
        let copied = match copy(io, self.from, self.to, &included.files).await {
            Ok(copied) => copied,
            Err(failure) => return Ok(Err(gone_wrong("the files to copy", failure))),
        };
        let left_out = included.left_out.iter().chain(&copied.left_out);
        for link in left_out.take(limits::SETUP_FILES_NAMED) {
            store.note(format!("    not copied: {} is not a plain file", text::one_line(link)));
        }
        let lines = store.run().settings.setup.clone();
        for (number, line) in (1..).zip(&lines) {
            match self.run_line(io, store, (number, line), sandbox).await? {
                Readiness::Ready => {}
                unready @ (Readiness::Failed(_) | Readiness::Interrupted) => {
                    return Ok(Err(unready));
                }
            }
        }
        Ok(Ok(SetUp { copied: copied.files, commands: lines.len() as u64 }))
    }

    async fn run_line(
        &self,
        io: &Io,
        store: &mut Store,
        (number, line): (u32, &str),
        sandbox: &Sandbox,
    ) -> Result<Readiness, StoreError> {
        let shown = text::ellipsis(&text::one_line(line), 200);
        store.note(format!("→ Setup: {shown}"));
        let log = store.paths().log(&format!("setup-{number}"));
        let spec = ProcessSpec::shell(Shell::Bash, line)
            .in_folder(self.to)
            .without_env(private_names(io))
            .timeout_ms(limits::SETUP_TIMEOUT_MS)
            .label(format!("Setup: {shown}"))
            .stream_to(log.clone());
        let work = Work { folder: Some(self.to), ..Work::new(self.worker, 1, sandbox) };
        let end = match run_recorded(io, store, work, spec).await {
            Ok(end) => end,
            Err(WorkError::Process(failure)) => return Ok(gone_wrong(&shown, failure)),
            Err(WorkError::Record(error)) => return Err(error),
        };
        let how = match end.status {
            ProcessStatus::Exited(0) => return Ok(Readiness::Ready),
            ProcessStatus::Interrupted => return Ok(Readiness::Interrupted),
            ProcessStatus::Exited(code) => format!("exit code {code}"),
            ProcessStatus::Signalled(signal) => format!("killed by signal {signal}"),
            ProcessStatus::TimedOut => {
                format!("timed out after {} minutes", limits::SETUP_TIMEOUT_MS / 60_000)
            }
        };
        let refused = refused_line(&end.refused).map_or(String::new(), |line| format!("\n{line}"));
        let output = format!("{}\n{}{refused}", recorded(&end.stdout), recorded(&end.stderr));
        let output = io.redacted(&text::printable(&output));
        let end = text::quoted_end(&output, limits::FAILURE_LINES, "in the log");
        let error = CommandError::failed(format!("setup failed: `{shown}`: {how}"))
            .listing(end.lines().map(|line| line.trim_start().to_owned()))
            .fix(format!("fix it, then continue; failed commands run again. The log is {log}"));
        Ok(Readiness::Failed(error))
    }
}

/// Whether a run is one whose worktree has to be made ready before its next step.
pub fn is_due(run: &Run) -> bool {
    due(run).is_some()
}

/// The checkout that files are copied from and the worktree that is made ready; `None` where there
/// is none of its own, or it is ready, or an older onloop began without making it so.
fn due(run: &Run) -> Option<(String, String)> {
    let to = run.place.worktree_path.clone()?;
    let from = run.place.repo_root.clone()?;
    let has_begun = run.steps.iter().any(|record| record.attempts > 0);
    let is_due = run.set_up.is_none() && (!has_begun || !run.settings.setup.is_empty());
    (is_due && from != to).then_some((from, to))
}

fn gone_wrong(what: &str, failure: Failure) -> Readiness {
    if failure.is_interrupted() {
        return Readiness::Interrupted;
    }
    let why = format!("setup failed: {what}: {}", text::one_line(&failure.message));
    Readiness::Failed(CommandError::failed(why))
}

/// What was copied.
#[derive(Default)]
struct Copied {
    files: u64,
    left_out: Vec<String>,
}

/// Copies plain files that are not there yet. The copies are for their owner alone: most of these
/// files hold secrets.
async fn copy(io: &Io, from: &str, to: &str, files: &[String]) -> Result<Copied, Failure> {
    let (mut copied, mut programs) = (Copied::default(), Vec::new());
    for file in files {
        let source = format!("{from}/{file}");
        let stat = io.stat(&source).await?;
        if stat.kind != FileKind::File {
            copied.left_out.push(file.clone());
            continue;
        }
        refuse_links(io, to, file.rsplit_once('/').map_or("", |(folder, _)| folder)).await?;
        let (bytes, _) = io.read(&source, limits::SETUP_FILE_BYTES).await?;
        let target = format!("{to}/{file}");
        match io.write_private(&target, bytes, Expect::Absent, Durability::Relaxed).await {
            Ok(_) => copied.files += 1,
            // The commit has something of that name, or a setup that was cut short has copied it.
            Err(failure) if failure.is_exists() => {}
            Err(failure) => return Err(failure),
        }
        // Through a link of the commit another file would be made executable.
        if stat.executable && io.stat(&target).await?.kind == FileKind::File {
            programs.push(format!("./{file}"));
        }
    }
    for some in programs.chunks(100) {
        let words = ["chmod", "u+x"].map(str::to_owned).into_iter().chain(some.iter().cloned());
        let spec = ProcessSpec::argv(words).in_folder(to).without_env(private_names(io));
        io.process(spec).await?;
    }
    Ok(copied)
}
