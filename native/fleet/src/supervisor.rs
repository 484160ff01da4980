//! A process of the fleet's server that is restarted when it ends.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::backoff::Backoff;

/// A process that has run for so long is stable: the pauses before its restarts are short again.
const STABLE: Duration = Duration::from_secs(60);

/// How to start and end one process.
pub(crate) trait Supervised: Send + Sync + 'static {
    /// Pauses before a restart.
    const RESTART: Backoff;

    /// Starts the process.
    fn spawn(&self) -> io::Result<Child>;

    /// Waits until the process serves; returns why it does not.
    fn wait_until_ready(
        &self,
        child: &mut Child,
    ) -> impl Future<Output = Result<(), String>> + Send;

    /// Ends the process and waits until it has ended.
    fn end(&self, child: &mut Child) -> impl Future<Output = ()> + Send;
}

/// What happens to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It has ended with this reason, and will be restarted.
    Ended(String),
    /// It serves again.
    Restarted,
}

/// Restarts a process until it is stopped. When it is dropped, the process ends.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pid: Arc<Mutex<Option<u32>>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    events: mpsc::UnboundedReceiver<ProcessEvent>,
}

impl Supervisor {
    /// Supervises `child`, which `process` has started.
    pub(crate) fn new(process: impl Supervised, child: Child) -> Supervisor {
        let pid = Arc::new(Mutex::new(child.id()));
        let (stop, stopped) = oneshot::channel();
        let (sender, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(supervise(process, child, Arc::clone(&pid), stopped, sender));
        Supervisor { pid, stop: Some(stop), task, events }
    }

    /// Returns the id of the process while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next event.
    pub(crate) async fn event(&mut self) -> ProcessEvent {
        match self.events.recv().await {
            Some(event) => event,
            // The task ends only after `stop`.
            None => std::future::pending().await,
        }
    }

    /// Ends the process and waits until it has ended.
    pub(crate) async fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = (&mut self.task).await;
    }

    /// Kills the process at once.
    pub(crate) fn kill(self) {
        self.task.abort();
    }
}

/// Sends `signal` to a child that has not been waited for.
pub(crate) fn send_signal(child: &Child, signal: Signal) {
    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(pid, signal);
    }
}

async fn supervise<P: Supervised>(
    process: P,
    mut child: Child,
    pid: Arc<Mutex<Option<u32>>>,
    mut stopped: oneshot::Receiver<()>,
    events: mpsc::UnboundedSender<ProcessEvent>,
) {
    let mut backoff = P::RESTART;
    loop {
        let began = Instant::now();
        let ended = tokio::select! {
            ended = child.wait() => ended,
            _ = &mut stopped => return process.end(&mut child).await,
        };
        *pid.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let why = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
        let _ = events.send(ProcessEvent::Ended(why));
        if began.elapsed() > STABLE {
            backoff.reset();
        }
        loop {
            tokio::select! {
                () = tokio::time::sleep(backoff.pause()) => {}
                _ = &mut stopped => return,
            }
            let Ok(next) = process.spawn() else { continue };
            child = next;
            *pid.lock().unwrap_or_else(PoisonError::into_inner) = child.id();
            let is_ready = tokio::select! {
                ready = process.wait_until_ready(&mut child) => Some(ready.is_ok()),
                _ = &mut stopped => None,
            };
            match is_ready {
                Some(true) => break,
                Some(false) => process.end(&mut child).await,
                None => return process.end(&mut child).await,
            }
        }
        let _ = events.send(ProcessEvent::Restarted);
    }
}
