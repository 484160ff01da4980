//! Processes that work for a run. Which ones they are is in the ledger before anybody waits for
//! them, so that a later process can end what a killed one has left.

use crate::documents::ledger::sha256;
use crate::effect::{
    Exit, Failure, FailureKind, Io, ProcessEnd, ProcessGroup, ProcessSpec, Watched,
};
use crate::engine::store::{Store, StoreError};
use crate::run::{Acting, Event, Run, Worker};
use crate::{limits, text};

/// The variable that marks what works for a run.
const WORK_VARIABLE: &str = "ONLOOP_WORK";

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

/// Runs a process that works on `step`.
pub(crate) async fn run_recorded(
    io: &Io,
    store: &mut Store,
    worker: Worker,
    step: u32,
    spec: ProcessSpec,
) -> Result<ProcessEnd, WorkError> {
    let (host, spec) = (io.start().process.host.clone(), marked(io, store, spec));
    let on_start = async |group| record(store, Acting { worker, step, group, host }).await;
    io.process_announced(spec, on_start).await
}

/// As [`run_recorded`], for the agent of `step`; `on_lines` is handed what it writes to standard
/// output as it comes, and nothing every [`limits::TURN_LOOK_MS`] while it is silent. `None`:
/// `on_lines` had it ended.
pub(crate) async fn follow_recorded(
    io: &Io,
    store: &mut Store,
    step: u32,
    spec: ProcessSpec,
    on_lines: impl AsyncFnMut(&[u8]) -> Watched,
) -> Result<Option<ProcessEnd>, WorkError> {
    let (worker, host) = (Worker::Agent, io.start().process.host.clone());
    let spec = marked(io, store, spec);
    let on_start = async |group| record(store, Acting { worker, step, group, host }).await;
    io.process_followed(spec, limits::TURN_LOOK_MS, on_start, on_lines).await
}

async fn record(store: &mut Store, acting: Acting) -> Result<(), WorkError> {
    let recorded = match store.apply(Event::WorkStarted(acting)) {
        Ok(()) => store.write_down().await,
        Err(refusal) => Err(StoreError::Overtaken(refusal)),
    };
    recorded.map_err(WorkError::Record)
}

/// Ends what is left of the work of an onloop that was killed: two would work in one place.
pub(crate) async fn end_survivors(io: &Io, run: &Run) -> Result<(), Exit> {
    let Some(Acting { worker, step, group, host }) = run.acting.clone() else { return Ok(()) };
    let whose = match worker {
        Worker::Agent => format!("the agent of step {step}"),
        Worker::Check => format!("a check of step {step}"),
        Worker::Review => format!("the review after step {step}"),
        Worker::SetUp => "`setup`".to_owned(),
    };
    end_group(io, &whose, group, &host, Some(mark(io, &run.id))).await
}

/// `ONLOOP_WORK=…`, which everything that works for a run finds in its environment. Tools of
/// agents have sessions of their own; whoever looks for what is left of them finds them by this.
fn mark(io: &Io, run_id: &str) -> String {
    let home = io.start().state_home().unwrap_or_default();
    format!("{WORK_VARIABLE}={}", sha256(format!("{home}\n{run_id}").as_bytes()))
}

/// `spec`, with the mark of the run.
fn marked(io: &Io, store: &Store, mut spec: ProcessSpec) -> ProcessSpec {
    if let Some((name, value)) = mark(io, &store.run().id).split_once('=') {
        spec.env_set.insert(name.to_owned(), value.to_owned());
    }
    spec
}

/// Ends what is left of a process group whose onloop was killed; `whose` it was is said.
///
/// # Errors
///
/// [`Exit::Refused`] when something of it still runs; it has been explained.
pub(crate) async fn end_group(
    io: &Io,
    whose: &str,
    group: ProcessGroup,
    host: &str,
    mark: Option<String>,
) -> Result<(), Exit> {
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
            io.note(format!(
                "error: {whose} still runs and could not be ended: {failure}\n  End process group \
                 {pid}, then try again."
            ))
            .await;
            return Err(Exit::Refused);
        }
    }
    Ok(())
}
