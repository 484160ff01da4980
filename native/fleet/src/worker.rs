//! A worker: takes runs from the fleet and drives them here, each by a process of its own.

mod active_runs;
mod args;
mod heartbeat;
mod log_tail;
mod ref_packer;
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
use ref_packer::RefPacker;

/// How long the server may think about what there is to do.
const TAKE_WAIT_MS: u64 = 20_000;
/// Pause after the server could not be reached.
const PAUSE: Duration = Duration::from_secs(1);

/// What a worker knows of itself.
pub(crate) struct Worker {
    /// Its name in the fleet.
    pub(crate) name: String,
    /// Its machine.
    pub(crate) host: String,
    /// How many runs it works on at once.
    pub(crate) slots: u32,
    /// The repositories that it may work on.
    pub(crate) repositories: Vec<String>,
    /// The fleet's server.
    pub(crate) client: Client,
    /// What a driver is told besides its run.
    pub(crate) settings: run::DriverSettings,
    /// What it works on.
    pub(crate) active: ActiveRuns,
    /// What it has finished.
    pub(crate) ref_packer: RefPacker,
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
        Err(refusal) => {
            say(format!("error: {}", refusal.why));
            return ExitCode::from(refusal.exit);
        }
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
    // The server may think about what there is to do for longer than anybody waits for our end.
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

/// The first signal lets what is worked on stop where it can go on elsewhere; the second ends everything
/// at once, as the guards see that their worker is gone.
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

/// Whether `path` is a folder that this program can make and write to.
fn make_folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("`{}`: {error}", path.display()))
}
