//! The ordinary verbs of `onloop` for runs of the fleet, with journals in place of ledgers.

mod follow;
mod log_tail;
mod queued;
mod resume;
mod tracked;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use onloop::host::{Interrupts, Locks, OsFiles, OsLocks, Root};
use onloop_core::effect::{ProcessIdentity, Start};
use onloop_core::{cli, limits};

pub(crate) use tracked::{TrackedRun, tracked_runs};

use crate::client::Client;
use crate::config::FleetConfig;
use crate::engine::{EngineError, ReadJournal};
use crate::journal::{Mirror, MirrorError, Writer, on_journal};
use crate::queue_state;
use crate::worker::host;
use follow::Follower;

/// Verbs that compare work.
const COMPARING: [&str; 6] = ["approve", "diff", "gate", "reject", "watch", "web"];
/// Verbs that agents call often for a run of this machine. They ask the server only about a run that
/// they name.
const NAMING: [&str; 6] = ["step", "finalize", "finish", "undo", "relocate", "adopt"];
/// Verbs that run until the person closes them.
const LASTING: [&str; 2] = ["watch", "web"];
/// Longest wait of one request for new lines.
const LOOK_MS: u64 = 20_000;
/// Pause after the server could not be reached.
const PAUSE: Duration = Duration::from_secs(2);

/// Runs `onloop` on a machine with a fleet.
pub fn onloop() -> ExitCode {
    let argv: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let Ok(config) = FleetConfig::find(None) else { return onloop::main() };
    let client = config.client();
    if argv.get(1).is_some_and(|verb| verb == "resume")
        && let Some(mark) = resume::meant(&argv, &config.url, &client)
    {
        return match resume::bring(&mark, &client) {
            Ok(()) => resume::go_on(&argv),
            Err(refusal) => ExitCode::from(refusal.report().code()),
        };
    }
    if argv.get(1).is_some_and(|verb| verb == "abandon")
        && let Some(exit) = queued::give_up(&argv, &config.url, &client)
            .unwrap_or_else(|refusal| Some(refusal.report()))
    {
        return ExitCode::from(exit.code());
    }
    if let Some(exit) = queued::show(&argv, &config.url, &client) {
        return ExitCode::from(exit.code());
    }
    let exit = onloop::main_on(
        |mut start| {
            start.argv = argv;
            cli::program(start)
        },
        |start, host| {
            let Some(runs) = runs_of(start) else { return host };
            tracked::discover(&start.argv, &runs, &config.url, &client);
            bring_up_to_date(start, &runs, &client);
            let writer = Writer::Person { holder: holder() };
            on_journal(host, &runs, client.clone(), writer)
        },
    );
    ExitCode::from(exit.code())
}

/// Returns the folder of all runs.
pub(crate) fn runs_of(start: &Start) -> Option<String> {
    start.state_home().map(|home| format!("{home}/runs"))
}

/// Returns the name of this machine as holder of leases.
fn holder() -> String {
    let user = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    match user {
        Some(user) => format!("{user}@{}", host()),
        None => host(),
    }
}

/// Updates the local copies: of the run that the command line names, else of all unfinished runs. A
/// verb that stays open keeps them up to date.
fn bring_up_to_date(start: &Start, runs: &str, client: &Client) {
    let marks = tracked_runs(runs);
    let named: Vec<_> =
        marks.iter().filter(|mark| start.argv.contains(&mark.run_id)).cloned().collect();
    let is_about_all = named.is_empty();
    let is_one_of =
        |verbs: &[&str]| start.argv.get(1).is_some_and(|verb| verbs.contains(&verb.as_str()));
    let meant = match named.is_empty() && !is_one_of(&NAMING) {
        true => marks,
        false => named,
    };
    let mut told = false;
    for mark in meant.iter().filter(|mark| !mark.is_over(runs)) {
        match pull(runs, mark, client, 0, &start.process) {
            Ok(()) => {}
            Err(MirrorError::Engine(error @ EngineError::Unreachable { .. })) => {
                if !std::mem::replace(&mut told, true) {
                    eprintln!(
                        "warning: {error}\n  The runs of the fleet are shown as this machine knows them."
                    );
                }
            }
            Err(error) => eprintln!("warning: run {}: {error}", mark.run_id),
        }
    }
    if is_one_of(&COMPARING) {
        meant.iter().for_each(TrackedRun::fetch);
    }
    if is_one_of(&LASTING) {
        let watching = Follower {
            runs: runs.to_owned(),
            client: client.clone(),
            process: start.process.clone(),
        };
        let known: BTreeSet<String> = meant.iter().map(|mark| mark.run_id.clone()).collect();
        meant.into_iter().for_each(|mark| watching.begin(mark));
        if is_about_all {
            watching.notice(known);
        }
    }
}

/// Copies new lines of the journal, if there are any within `wait_ms`.
fn pull(
    runs: &str,
    mark: &TrackedRun,
    client: &Client,
    wait_ms: u64,
    process: &ProcessIdentity,
) -> Result<(), MirrorError> {
    let mut files = OsFiles::new(Root::new("/"));
    let mirror = Mirror::new(runs, &mark.run_id);
    let (head, _) = mirror.head(&mut files)?;
    let after = head.map_or(0, |head| head.seq);
    let read = ReadJournal { run_id: mark.run_id.clone(), after, wait_ms };
    if client.call(&read)?.lines.is_empty() {
        return Ok(());
    }
    let mut locks = OsLocks::new(Root::new("/"), process, &Interrupts::new()?);
    let lock = format!("{runs}/{}/record.lock", mark.run_id);
    locks.lock(&lock, limits::LOCK_WAIT_MS, true, None, queue_state::now())?;
    // Another process may have copied them by now.
    let pulled = mirror.pull(&mut files, client);
    locks.unlock(&lock)?;
    pulled.map(|_| ())
}
