//! `onloop resume` of a fleet run: it moves lease, ledger and work to this machine, and the fleet does
//! not touch the run again.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use onloop::host::{OsFiles, Root};
use onloop_core::documents::fleet_run::FleetRun;
use onloop_core::effect::{Exit, Io, Start};
use onloop_core::engine::error::verb_program;
use onloop_core::text;
use onloop_core::verb::{only_for_a_person, settle};

use super::{TrackedRun, holder, runs_of, tracked, tracked_runs};
use crate::cli::{Refusal, refuse};
use crate::client::Client;
use crate::clone::{self, REMOTE};
use crate::engine::{Claim, EngineError, Lease, QueueState, ReadJournal, Release};
use crate::journal::{Mirror, Writer, on_journal};
use crate::submit;

/// Longest time for a worker to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(90);
/// Pause between two checks whether it has stopped.
const STOP_PAUSE: Duration = Duration::from_millis(250);
/// Longest time that an unreachable server is retried.
pub(super) const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the fleet run that the command line names.
pub(super) fn meant(argv: &[String], server: &str, client: &Client) -> Option<TrackedRun> {
    let runs = runs_here()?;
    tracked::discover(argv, &runs, server, client);
    let tracked_runs = tracked_runs(&runs);
    tracked_runs.into_iter().find(|mark| argv.contains(&mark.run_id))
}

/// Moves the run here; afterwards only this machine has it.
pub(super) fn bring(mark: &TrackedRun, client: &Client) -> Result<(), Refusal> {
    demand_person("bringing a run home")?;
    let root = root_of(mark, client)?;
    eprintln!("Moving run {} to {root}", mark.run_id);
    let lease = claim(mark, client)?;
    std::env::set_current_dir(&root)
        .map_err(|error| Refusal::refused(format!("`{root}`: {error}")))?;
    let exit = settle_here(mark, client, &lease);
    let state = match exit {
        Exit::Done => QueueState::Local { host: holder() },
        _ => QueueState::Ready,
    };
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, state };
    client.call_within(RETRY_TIMEOUT, &release)?;
    if exit != Exit::Done {
        return Err(Refusal::ended(exit));
    }
    let runs = runs_here().ok_or_else(|| Refusal::refused("there is no state home"))?;
    let marker = Path::new(&runs).join(&mark.run_id).join("fleet.json");
    std::fs::remove_file(&marker)
        .map_err(|error| Refusal::refused(format!("`{}`: {error}", marker.display())))
}

/// Runs the ordinary verb on the moved run.
pub(super) fn go_on(argv: &[String]) -> ExitCode {
    let error = match std::env::current_exe() {
        Ok(program) => Command::new(program).args(argv.iter().skip(1)).exec(),
        Err(error) => error,
    };
    ExitCode::from(refuse(format!("`onloop` could not be started: {error}")).code())
}

/// Returns the folder of all runs of this machine.
fn runs_here() -> Option<String> {
    let env = std::env::vars_os();
    let env =
        env.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let cwd = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
    runs_of(&Start { env: env.collect(), cwd, ..Start::example(["onloop"]) })
}

/// Returns the checkout that the run moves to.
fn root_of(mark: &TrackedRun, client: &Client) -> Result<String, Refusal> {
    if let Some(root) = &mark.run.root {
        return Ok(root.clone());
    }
    let id = &mark.run_id;
    let repository = client.call_within(RETRY_TIMEOUT, &ReadJournal::now(id))?.view.repository;
    let here = std::env::current_dir().unwrap_or_default();
    let Some(root) = clone::checkout_of(&here, &repository) else {
        let repository = text::one_line(&repository);
        return Err(Refusal::refused(format!(
            "run {id} works on {repository}, and this folder is not a checkout of it\n  fix: run this in a \
             checkout whose remote `{REMOTE}` is {repository}"
        )));
    };
    let root = root.to_string_lossy().into_owned();
    submit::remember(id, FleetRun { root: Some(root.clone()), ..mark.run.clone() })?;
    Ok(root)
}

/// Claims the lease of the run and asks the present holder to stop.
pub(super) fn claim(mark: &TrackedRun, client: &Client) -> Result<Lease, EngineError> {
    let claim = Claim { run_id: mark.run_id.clone(), holder: holder(), recall: true };
    let began = Instant::now();
    let mut told = false;
    loop {
        match client.call_within(RETRY_TIMEOUT, &claim) {
            Err(EngineError::Busy { holder, .. }) if began.elapsed() < STOP_TIMEOUT => {
                if !std::mem::replace(&mut told, true) {
                    eprintln!("  Waiting for {holder} to stop");
                }
                std::thread::sleep(STOP_PAUSE);
            }
            claimed => return claimed,
        }
    }
}

/// Runs the program that creates the checkout and records the move in the journal.
fn settle_here(mark: &TrackedRun, client: &Client, lease: &Lease) -> Exit {
    let (id, remote) = (mark.run_id.clone(), mark.run.remote.clone());
    let (for_host, lease) = (client.clone(), lease.clone());
    onloop::main_on(
        |start| verb_program(start, async move |io: Io| settle(&io, &id, &remote).await),
        |start, host| {
            let Some(runs) = runs_of(start) else { return host };
            let mut files = OsFiles::new(Root::new("/"));
            let mirror = Mirror::new(&runs, &mark.run_id);
            if let Err(error) = mirror.pull(&mut files, &for_host) {
                eprintln!("warning: run {}: {error}", mark.run_id);
            }
            let writer = Writer::Driver { lease, pusher: None };
            on_journal(host, &runs, for_host, writer)
        },
    )
}

/// Refuses an agent in its turn, before any request to the server.
pub(super) fn demand_person(what: &'static str) -> Result<(), Refusal> {
    let demand = async move |io: Io| {
        only_for_a_person(&io, what).await?;
        Ok(Exit::Done)
    };
    match onloop::main_on(|start| verb_program(start, demand), |_, host| host) {
        Exit::Done => Ok(()),
        exit => Err(Refusal::ended(exit)),
    }
}
