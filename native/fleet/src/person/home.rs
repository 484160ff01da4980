//! `onloop resume` of a fleet's run brings it home: its lease, its record and its work come here, and the
//! fleet has nothing to do with it any more.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use onloop::host::{OsFiles, Root};
use onloop_core::documents::fleet_run::FleetRun;
use onloop_core::effect::{Exit, Io, Start};
use onloop_core::engine::error::verb_program;
use onloop_core::text;
use onloop_core::verb::{only_for_a_person, settle};

use super::{Mark, holder, marked, marks, runs_of};
use crate::calls::{Calls, patiently};
use crate::clone::{self, REMOTE};
use crate::engine::{Claim, EngineError, Lease, Release, Rest};
use crate::journal::{Mirror, Writer, on_journal};
use crate::submit;

/// How long whoever works on it has for stopping.
const STOP_PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks at whether it has.
const STOP_PAUSE: Duration = Duration::from_millis(250);
/// How long a server is waited for that cannot be reached.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The fleet's run that the command line means.
pub(super) fn meant(argv: &[String], server: &str, calls: &dyn Calls) -> Option<Mark> {
    let runs = runs_here()?;
    marks::learn(argv, &runs, server, calls);
    let marks = marked(&runs);
    marks.into_iter().find(|mark| argv.contains(&mark.run_id))
}

/// Brings the run here; afterwards it is a run of this machine alone.
pub(super) fn bring(mark: &Mark, calls: &Arc<dyn Calls>) -> Result<(), Exit> {
    demand_person("bringing a run home")?;
    let root = root_of(mark, calls.as_ref())?;
    eprintln!("Bringing run {} home to {root}", mark.run_id);
    let lease = match claim(mark, calls.as_ref()) {
        Ok(lease) => lease,
        Err(error) => return Err(refuse(&error.to_string())),
    };
    if let Err(error) = std::env::set_current_dir(&root) {
        return Err(refuse(&format!("`{root}`: {error}")));
    }
    let exit = settle_here(mark, calls, &lease);
    let rest = match exit {
        Exit::Done => Rest::Home { host: holder() },
        _ => Rest::Ready,
    };
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, rest };
    patiently(PATIENCE, || calls.release(&release)).map_err(|error| refuse(&error.to_string()))?;
    if exit != Exit::Done {
        return Err(exit);
    }
    let runs = runs_here().ok_or_else(|| refuse("there is no state home"))?;
    let marker = Path::new(&runs).join(&mark.run_id).join("fleet.json");
    std::fs::remove_file(&marker)
        .map_err(|error| refuse(&format!("`{}`: {error}", marker.display())))
}

/// The ordinary verb, now that the run is here.
pub(super) fn go_on(argv: &[String]) -> ExitCode {
    let error = match std::env::current_exe() {
        Ok(program) => Command::new(program).args(argv.iter().skip(1)).exec(),
        Err(error) => error,
    };
    ExitCode::from(refuse(&format!("`onloop` could not be started: {error}")).code())
}

/// The folder of all runs of this machine.
fn runs_here() -> Option<String> {
    let env = std::env::vars_os();
    let env =
        env.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let cwd = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
    runs_of(&Start { env: env.collect(), cwd, ..Start::example(["onloop"]) })
}

/// The checkout that the run comes home to.
fn root_of(mark: &Mark, calls: &dyn Calls) -> Result<String, Exit> {
    if let Some(root) = &mark.run.root {
        return Ok(root.clone());
    }
    let id = &mark.run_id;
    let found = patiently(PATIENCE, || calls.lines(id, 0, Duration::ZERO));
    let repository = found.map_err(|error| refuse(&error.to_string()))?.view.repository;
    let here = std::env::current_dir().unwrap_or_default();
    let Some(root) = clone::checkout_of(&here, &repository) else {
        let repository = text::one_line(&repository);
        return Err(refuse(&format!(
            "run {id} works on {repository}, and here is no checkout of it; type this in one whose remote \
             `{REMOTE}` is that"
        )));
    };
    let root = root.to_string_lossy().into_owned();
    submit::remember(id, FleetRun { root: Some(root.clone()), ..mark.run.clone() })?;
    Ok(root)
}

/// Gets the lease of the run; whoever has it is asked to stop.
pub(super) fn claim(mark: &Mark, calls: &dyn Calls) -> Result<Lease, EngineError> {
    let claim = Claim { run_id: mark.run_id.clone(), holder: holder(), recall: true };
    let began = Instant::now();
    let mut told = false;
    loop {
        match patiently(PATIENCE, || calls.claim(&claim)) {
            Err(EngineError::Busy { holder, .. }) if began.elapsed() < STOP_PATIENCE => {
                if !std::mem::replace(&mut told, true) {
                    eprintln!("  {holder} works on it and was asked to stop");
                }
                std::thread::sleep(STOP_PAUSE);
            }
            claimed => return claimed,
        }
    }
}

/// The program that makes the checkout and records the move, on the run's journal.
fn settle_here(mark: &Mark, calls: &Arc<dyn Calls>, lease: &Lease) -> Exit {
    let (id, remote) = (mark.run_id.clone(), mark.run.remote.clone());
    let (for_host, lease) = (Arc::clone(calls), lease.clone());
    onloop::main_on(
        |start| verb_program(start, async move |io: Io| settle(&io, &id, &remote).await),
        |start, host| {
            let Some(runs) = runs_of(start) else { return host };
            let mut files = OsFiles::new(Root::new("/"));
            let mirror = Mirror::new(&runs, &mark.run_id);
            if let Err(error) = mirror.pull(&mut files, for_host.as_ref(), Duration::ZERO) {
                eprintln!("warning: run {}: {error}", mark.run_id);
            }
            let writer = Writer::Driver { lease, courier: None };
            on_journal(host, &runs, for_host, writer)
        },
    )
}

/// Refuses an agent in its turn, before anything is asked of the server.
pub(super) fn demand_person(what: &'static str) -> Result<(), Exit> {
    let demand = async move |io: Io| {
        only_for_a_person(&io, what).await?;
        Ok(Exit::Done)
    };
    match onloop::main_on(|start| verb_program(start, demand), |_, host| host) {
        Exit::Done => Ok(()),
        exit => Err(exit),
    }
}

pub(super) fn refuse(why: &str) -> Exit {
    eprintln!("error: {why}");
    Exit::Refused
}
