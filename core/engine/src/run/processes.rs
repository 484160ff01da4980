//! Processes that work for a run. Which ones they are is in the ledger before anybody waits for
//! them, so that a later process can end what a killed one has left. Only where the host says that its
//! ledger is far away, what is over soon is there with what it has done.

use crate::error::CommandError;
use crate::run::private_git::{self, PrivateFolder};
use crate::sandbox::choice::Sandbox;
use crate::sandbox::confinement::{Confined, make_folder};
use crate::sandbox::network::NetworkRequest;
use crate::state::store::{Store, StoreError};
use onloop_agents::confine::{ClientPlace, Needs, provider_names, refused_line};
use onloop_documents::ledger::sha256;
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, Io, Network, OutputAction, ProcessEnd, ProcessGroup,
    ProcessSpec, ProcessStatus,
};
use onloop_run::{Acting, Event, Run, Worker};
use onloop_syntax::{limits, text};

/// The variable that marks what works for a run.
const WORK_VARIABLE: &str = "ONLOOP_WORK";

/// What is to work for a run, and how.
pub(crate) struct Work<'w> {
    /// Who works.
    pub(crate) worker: Worker,
    /// Number of the step.
    pub(crate) step: u32,
    /// How it is confined.
    pub(crate) sandbox: &'w Sandbox,
    /// The network that its check asks for.
    pub(crate) network: Option<Network>,
    /// What it needs besides where it is.
    pub(crate) needs: Needs,
    /// The checkout that it works in; `None`: that of the run.
    pub(crate) folder: Option<&'w str>,
}

impl<'w> Work<'w> {
    /// Work that needs nothing besides, with the network of its step.
    pub(crate) fn new(worker: Worker, step: u32, sandbox: &'w Sandbox) -> Work<'w> {
        Work { worker, step, sandbox, network: None, needs: Needs::default(), folder: None }
    }
}

/// What a known client needs of its own to work in `folder`; nothing for other names. Where it has
/// never been used, what it then makes is made for it.
pub(crate) async fn own_needs(io: &Io, sandbox: &Sandbox, client: &str, folder: &str) -> Needs {
    if sandbox.mechanism().is_none() {
        return Needs::default();
    }
    let home = io.env("HOME").filter(|home| home.starts_with('/'));
    let place = ClientPlace::of(client, home, |name| io.env(name), folder);
    for folder in place.folders() {
        make_folder(io, &folder).await;
    }
    let files = place.files().into_iter().map(|path| (path, Vec::new()));
    let objects = place.file().into_iter().map(|path| (path.to_owned(), b"{}\n".to_vec()));
    for (path, content) in files.chain(objects) {
        // What cannot be made is missed by the client, which says so.
        let _ = io.write_private(&path, content, Expect::Absent, Durability::Relaxed).await;
    }
    let mut entries = Vec::new();
    for folder in place.listed() {
        let names = io.list(&folder).await.unwrap_or_default().into_iter();
        let names = names.take(limits::CLIENT_ENTRIES_LOOKED_AT);
        entries.extend(names.map(|name| format!("{folder}/{name}")));
    }
    let provider = provider_names(Some(client), |name| io.env(name));
    Needs { provider, ..place.needs(&entries) }
}

/// Why it is not known how a process ended.
#[derive(Debug)]
pub(crate) enum WorkError {
    /// It could not be started or followed.
    Process(Failure),
    /// It could not be recorded which processes work; they have been ended.
    Record(StoreError),
}

impl From<Failure> for WorkError {
    fn from(failure: Failure) -> WorkError {
        WorkError::Process(failure)
    }
}

/// Runs a process that works for the run.
pub(crate) async fn run_recorded(
    io: &Io,
    store: &mut Store,
    work: Work<'_>,
    spec: ProcessSpec,
) -> Result<ProcessEnd, WorkError> {
    let private = private_git::ready(io, store, &work).await;
    let (spec, acting, confined) = made_ready(io, store, &work, spec, &private).await?;
    let on_start = async |group, runs| match runs {
        true => record(store, acting(group)).await,
        // Whatever comes of it takes it along.
        false => apply(store, acting(group)),
    };
    let ended = io.process_told(spec, io.start().quick_ms, on_start).await;
    if let Some(confined) = confined {
        note_refused(io, ended.as_ref().ok()).await;
        let said = |end: &ProcessEnd| format!("{}\n{}", end.stderr.text(), end.stdout.text());
        let failed = ended.as_ref().ok().filter(|end| end.status != ProcessStatus::Exited(0));
        leave(io, confined, failed.map(said)).await;
    }
    if ended.as_ref().is_ok_and(|end| end.status != ProcessStatus::Interrupted) {
        private_git::import(io, store, work.sandbox, &private).await?;
    }
    demand_own_ledger(store, &work).await?;
    ended
}

/// As [`run_recorded`]; `on_lines` is handed what it writes to standard
/// output as it comes, and nothing every [`limits::TURN_LOOK_MS`] while it is silent. `None`:
/// `on_lines` had it ended.
pub(crate) async fn follow_recorded(
    io: &Io,
    store: &mut Store,
    work: Work<'_>,
    spec: ProcessSpec,
    on_lines: impl AsyncFnMut(&[u8]) -> OutputAction,
) -> Result<Option<ProcessEnd>, WorkError> {
    let private = private_git::ready(io, store, &work).await;
    let (spec, acting, confined) = made_ready(io, store, &work, spec, &private).await?;
    let on_start = async |group| record(store, acting(group)).await;
    let ended = io.process_followed(spec, limits::TURN_LOOK_MS, on_start, on_lines).await;
    if let Some(confined) = confined {
        // Its standard output tells of everything that it did.
        let said = |end: &ProcessEnd| end.stderr.text();
        let end = ended.as_ref().ok().and_then(Option::as_ref);
        note_refused(io, end).await;
        let failed = end.filter(|end| end.status != ProcessStatus::Exited(0));
        leave(io, confined, failed.map(said)).await;
    }
    let is_over = |end: &Option<ProcessEnd>| {
        end.as_ref().is_none_or(|end| end.status != ProcessStatus::Interrupted)
    };
    if ended.as_ref().is_ok_and(is_over) {
        private_git::import(io, store, work.sandbox, &private).await?;
    }
    demand_own_ledger(store, &work).await?;
    ended
}

/// Refuses a ledger that a process which could write it has changed.
async fn demand_own_ledger(store: &Store, work: &Work<'_>) -> Result<(), WorkError> {
    match work.sandbox.mechanism() {
        Some(_) => Ok(()),
        None => store.demand_unchanged().await.map_err(WorkError::Record),
    }
}

/// Says which names a confined process was refused.
async fn note_refused(io: &Io, end: Option<&ProcessEnd>) {
    if let Some(line) = end.and_then(|end| refused_line(&end.refused)) {
        io.note(format!("note: {line}")).await;
    }
}

/// Says what a confined process that failed did not find, and removes its temporary files.
async fn leave(io: &Io, confined: Confined, failed: Option<String>) {
    if let Some(said) = failed
        && let Some(hint) = confined.hint(io, &said).await
    {
        io.note(hint).await;
    }
    confined.remove(io).await;
}

/// `spec` with the mark of the run and confined, and what is recorded once it has a group.
async fn made_ready(
    io: &Io,
    store: &Store,
    work: &Work<'_>,
    spec: ProcessSpec,
    private: &PrivateFolder,
) -> Result<(ProcessSpec, impl FnOnce(ProcessGroup) -> Acting + use<>, Option<Confined>), Failure> {
    let folder = work.folder.unwrap_or(&store.run().place.execution_root);
    let asked = work.network.clone();
    let network = NetworkRequest::of_work(store.run(), (work.worker, work.step), asked);
    let extent = (network, &work.needs);
    let spec = marked(io, &store.run().id, spec);
    let ready = work.sandbox.put_in_force(io, folder, spec, extent, private.seen()).await?;
    let (spec, sandbox, confined) = ready;
    let (worker, step, host) = (work.worker, work.step, io.start().process.host.clone());
    let acting = move |group| Acting { worker, step, group, host, sandbox: Some(sandbox) };
    Ok((spec, acting, confined))
}

async fn record(store: &mut Store, acting: Acting) -> Result<(), WorkError> {
    apply(store, acting)?;
    store.write_down().await.map_err(WorkError::Record)
}

fn apply(store: &mut Store, acting: Acting) -> Result<(), WorkError> {
    let applied = store.apply(Event::WorkStarted(acting)).map_err(StoreError::Overtaken);
    applied.map_err(WorkError::Record)
}

/// Ends what is left of the work of an onloop that was killed: two would work in one place.
pub async fn end_survivors(io: &Io, run: &Run) -> Result<(), CommandError> {
    let Some(Acting { worker, step, group, host, sandbox: _ }) = run.acting.clone() else {
        return Ok(());
    };
    let whose = match worker {
        Worker::Agent => format!("the agent of step {step}"),
        Worker::Check => format!("a check of step {step}"),
        Worker::Review => format!("the review after step {step}"),
        Worker::SetUp => "`setup`".to_owned(),
    };
    end_group(io, &whose, group, &host, Some(mark(io, &run.id))).await
}

/// `ONLOOP_WORK=…`, which everything that works for a run, or for what else `run_id` names, has in its
/// environment. Tools of agents have sessions of their own; this mark finds what is left of them.
pub fn mark(io: &Io, run_id: &str) -> String {
    let home = io.start().state_home().unwrap_or_default();
    format!("{WORK_VARIABLE}={}", sha256(format!("{home}\n{run_id}").as_bytes()))
}

/// `spec`, with the mark of the run or of what else `run_id` names.
pub fn marked(io: &Io, run_id: &str, mut spec: ProcessSpec) -> ProcessSpec {
    if let Some((name, value)) = mark(io, run_id).split_once('=') {
        spec.env_set.insert(name.to_owned(), value.to_owned());
    }
    spec
}

/// Ends what is left of a process group whose onloop was killed; `whose` it was is said.
///
/// # Errors
///
/// Something of it still runs.
pub async fn end_group(
    io: &Io,
    whose: &str,
    group: ProcessGroup,
    host: &str,
    mark: Option<String>,
) -> Result<(), CommandError> {
    let pid = group.pid;
    match io.end_group(group, host, mark).await {
        Ok(0) => {}
        Ok(survivors) => {
            let count = text::counted(u64::from(survivors), "process");
            io.note(format!("Ended {count} that {whose} had left when it was interrupted.")).await;
        }
        Err(failure) if failure.kind == FailureKind::Unsupported => {
            let host = text::one_line(host);
            io.note(format!(
                "warning: whether {whose} (process group {pid} on {host}) still runs is not \
                 known: {failure}"
            ))
            .await;
        }
        Err(failure) => {
            let what = format!("{whose} still runs and could not be ended");
            let fix = format!("end process group {pid}, then try again");
            return Err(CommandError::from(failure).context(what).fix(fix));
        }
    }
    Ok(())
}
