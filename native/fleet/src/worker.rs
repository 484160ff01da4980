//! A worker: takes runs from the fleet and drives each in a child process.

mod active_runs;
mod args;
mod heartbeat;
mod log_tail;
mod run;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

pub use args::WorkerArgs;
pub(crate) use args::host;
pub(crate) use log_tail::is_attempt;

use tracing::{error, info, warn};

use crate::cli::{refuse, say};
use crate::client::Client;
use crate::engine::{EngineError, Offer, Take};
use active_runs::ActiveRuns;

/// Longest wait of one request for a run.
const TAKE_WAIT_MS: u64 = 20_000;
/// Pause after the server could not be reached.
const PAUSE: Duration = Duration::from_secs(1);

/// The state of a worker.
pub(crate) struct Worker {
    /// Its name, unique in the fleet.
    pub(crate) name: String,
    /// Its machine.
    pub(crate) host: String,
    /// Most runs at once.
    pub(crate) slots: u32,
    /// The repositories that it accepts.
    pub(crate) repositories: Vec<String>,
    /// The fleet's server.
    pub(crate) client: Client,
    /// Settings of its drivers.
    pub(crate) settings: run::DriverSettings,
    /// The runs that it drives.
    pub(crate) active: ActiveRuns,
}

impl Worker {
    fn offer(&self) -> Offer {
        Offer {
            worker: self.name.clone(),
            host: self.host.clone(),
            slots: self.slots,
            busy: self.active.busy(),
            repositories: self.repositories.clone(),
        }
    }
}

/// `onloop fleet worker`.
pub fn worker(args: &WorkerArgs) -> ExitCode {
    let (worker, _alone) = match args.worker() {
        Ok(worker) => worker,
        Err(refusal) => return ExitCode::from(refusal.report().code()),
    };
    let worker = Arc::new(worker);
    if let Err(error) = stop_on_signals(&worker) {
        return ExitCode::from(refuse(format!("cannot listen to signals: {error}")).code());
    }
    say(format!(
        "Worker {} on {}: {} slots; repositories: {}",
        worker.name,
        worker.host,
        worker.slots,
        worker.repositories.join(" ")
    ));
    heartbeat::begin(&worker);
    let takes = Arc::clone(&worker);
    // A request for runs can take longer than the worker may take to stop.
    std::thread::spawn(move || take_runs(&takes));
    worker.active.wait_until_stopped();
    ExitCode::SUCCESS
}

fn take_runs(worker: &Arc<Worker>) {
    let mut is_away = false;
    while worker.active.wait_for_slot(worker.slots) {
        match worker.client.call(&Take { offer: worker.offer(), wait_ms: TAKE_WAIT_MS }) {
            Ok(None) => {}
            Ok(Some(assignment)) => run::begin(worker, assignment),
            Err(error @ EngineError::Unreachable { .. }) => {
                if !is_away {
                    warn!("{error}; trying again");
                }
                is_away = true;
                worker.active.pause(PAUSE);
                continue;
            }
            Err(error) => {
                error!("{error}");
                worker.active.pause(PAUSE);
                continue;
            }
        }
        is_away = false;
    }
}

/// The first signal stops the drivers so that another worker can continue the runs. The second one
/// exits at once, and the watchdogs end the drivers.
fn stop_on_signals(worker: &Arc<Worker>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            match count {
                0 => {
                    info!(
                        "stopping: another worker continues the runs; a second signal stops at once"
                    );
                    worker.active.stop();
                }
                _ => std::process::exit(130),
            }
        }
    });
    Ok(())
}

/// Creates a folder and its ancestors.
fn make_folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("`{}`: {error}", path.display()))
}
