//! The worker that `onloop fleet up` starts as a child process.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use onloop_core::confine::HIDDEN_VARIABLE;
use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use crate::backoff::Backoff;
use crate::guard::Ending;
use crate::hidden;
use crate::log::Log;
use crate::supervisor::{Supervised, Supervisor, send_signal};

/// How a worker is started.
#[derive(Clone, Debug)]
pub(crate) struct WorkerOptions {
    /// This program.
    pub(crate) program: PathBuf,
    /// Address of the fleet's server.
    pub(crate) url: String,
    /// The file with the fleet's key.
    pub(crate) key: PathBuf,
    /// Folder for clones.
    pub(crate) repos: PathBuf,
    /// The engine's data, which is hidden from agents.
    pub(crate) data: PathBuf,
    /// Repositories that the worker accepts.
    pub(crate) allow: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) slots: Option<u32>,
    /// Path of the log.
    pub(crate) log: PathBuf,
}

/// Starts a worker, and again whenever it ends.
pub(crate) fn start(options: WorkerOptions) -> io::Result<Supervisor> {
    let log = Log::open(&options.log, Arc::new(Notify::new()))?;
    let process = WorkerProcess { options, log };
    let child = process.spawn()?;
    Ok(Supervisor::new(process, child))
}

struct WorkerProcess {
    options: WorkerOptions,
    log: Log,
}

impl Supervised for WorkerProcess {
    const RESTART: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));

    fn spawn(&self) -> io::Result<Child> {
        let WorkerOptions { program, url, key, repos, data, allow, name, slots, .. } =
            &self.options;
        let mut command = Command::new(program);
        command.args(["guard", &std::process::id().to_string(), Ending::Term.as_str()]);
        command.arg(program).args(["worker", "--server", url, "--repos"]).arg(repos);
        for repository in allow {
            command.args(["--allow", repository]);
        }
        if let Some(name) = name {
            command.args(["--name", name]);
        }
        if let Some(slots) = slots {
            command.args(["--slots", &slots.to_string()]);
        }
        command.env(crate::config::KEY_VARIABLE, key);
        command.env(HIDDEN_VARIABLE, hidden::with([data.as_path()]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C reaches only this process, which then ends the worker in order.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        self.log.copy(child.stdout.take());
        self.log.copy(child.stderr.take());
        Ok(child)
    }

    /// A worker is ready as soon as it runs.
    async fn wait_until_ready(&self, _: &mut Child) -> Result<(), String> {
        Ok(())
    }

    /// The worker returns its runs before it ends.
    async fn end(&self, child: &mut Child) {
        send_signal(child, Signal::INT);
        let _ = child.wait().await;
    }
}
