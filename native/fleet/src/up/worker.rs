//! The worker that `onloop fleet up` starts, as a process of its own that is started again when it dies.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onloop_core::confine::HIDDEN_VARIABLE;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::backoff::Backoff;
use crate::guard::Ending;
use crate::hidden;
use crate::log::Log;

/// Pauses before it is started again.
const RESTART: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));
/// Having run for so long it is taken to be well.
const WELL: Duration = Duration::from_secs(60);

/// How a worker is started.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// This program.
    pub(crate) program: PathBuf,
    pub(crate) url: String,
    /// The file with the fleet's key.
    pub(crate) key: PathBuf,
    pub(crate) repos: PathBuf,
    /// What the engine keeps: no agent may see it.
    pub(crate) data: PathBuf,
    pub(crate) allow: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) slots: Option<u32>,
    pub(crate) log: PathBuf,
}

/// What happens to a worker.
#[derive(Clone, Debug)]
pub(crate) enum WorkerEvent {
    /// It has ended, and is started again.
    Ended {
        /// Why.
        why: String,
        /// Where it says more.
        log: PathBuf,
    },
}

/// A worker.
pub(crate) struct Worker {
    stop: Option<oneshot::Sender<()>>,
    watch: JoinHandle<()>,
    events: mpsc::UnboundedReceiver<WorkerEvent>,
}

impl Worker {
    /// Starts a worker, and again whenever it ends.
    pub(crate) fn start(plan: Plan) -> Worker {
        let (stop, stopped) = oneshot::channel();
        let (tell, events) = mpsc::unbounded_channel();
        Worker { stop: Some(stop), watch: tokio::spawn(watch(plan, stopped, tell)), events }
    }

    /// What happens to it next.
    pub(crate) async fn event(&mut self) -> WorkerEvent {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// Asks it to end, and waits until it has. What it works on it hands back first.
    pub(crate) async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = (&mut self.watch).await;
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Its process ends with the task that watches it.
        self.watch.abort();
    }
}

impl Plan {
    fn spawn(&self, log: Option<&Log>) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(["guard", &std::process::id().to_string(), Ending::Term.as_str()]);
        command.arg(&self.program).args(["worker", "--server", &self.url, "--repos"]);
        command.arg(&self.repos);
        for repository in &self.allow {
            command.args(["--allow", repository]);
        }
        if let Some(name) = &self.name {
            command.args(["--name", name]);
        }
        if let Some(slots) = self.slots {
            command.args(["--slots", &slots.to_string()]);
        }
        command.env(crate::config::KEY_VARIABLE, &self.key);
        command.env(HIDDEN_VARIABLE, hidden::with([self.data.as_path()]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for us, who end it in order.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        if let Some(log) = log {
            log.take(child.stdout.take());
            log.take(child.stderr.take());
        }
        Ok(child)
    }
}

async fn watch(
    plan: Plan,
    mut stopped: oneshot::Receiver<()>,
    tell: mpsc::UnboundedSender<WorkerEvent>,
) {
    let log = Log::open(&plan.log, Arc::new(Notify::new())).ok();
    let mut backoff = RESTART;
    loop {
        let begun = Instant::now();
        let why = match plan.spawn(log.as_ref()) {
            Err(error) => error.to_string(),
            Ok(mut child) => tokio::select! {
                ended = child.wait() => match ended {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                },
                _ = &mut stopped => {
                    interrupt(&child);
                    let _ = child.wait().await;
                    return;
                }
            },
        };
        let _ = tell.send(WorkerEvent::Ended { why, log: plan.log.clone() });
        if begun.elapsed() > WELL {
            backoff.reset();
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => {}
            _ = &mut stopped => return,
        }
    }
}

fn interrupt(child: &Child) {
    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(pid, Signal::INT);
    }
}
