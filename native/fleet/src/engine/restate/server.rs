//! The engine's server as a process of ours: started, watched, started again when it dies, and ended with
//! us.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::socket::Socket;
use super::{Options, StartError};
use crate::backoff::Backoff;
use crate::guard::Ending;
use crate::log::Log;

/// The file with the key that the server signs with.
pub(super) const IDENTITY: &str = "engine-identity.pem";
/// What the server calls itself: the folder of its data.
const NODE: &str = "node";
/// Most bytes of a socket's path, with room for the longest name: systems take 103.
const FOLDER_BYTES_MAX: usize = 80;
/// How long it may take to come up. It takes less than a second where nothing else runs.
const START: Duration = Duration::from_secs(60);
/// How long it may take to end.
const END: Duration = Duration::from_secs(10);
/// How often it is looked at while it says nothing.
const LOOK: Duration = Duration::from_millis(200);
/// Pauses before it is started again.
const RESTART: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10));
/// Having run for so long it is taken to be well.
const WELL: Duration = Duration::from_secs(60);

/// What happens to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// It has ended, and is started again.
    Ended(String),
    /// It serves again.
    Back,
}

/// The server. Dropped, it ends.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    log: PathBuf,
    pid: Arc<Mutex<Option<u32>>>,
    stop: Option<oneshot::Sender<()>>,
    watch: JoinHandle<()>,
    events: mpsc::UnboundedReceiver<ServerEvent>,
}

impl Server {
    /// Starts it and waits until it serves.
    pub(super) async fn start(options: &Options) -> Result<Server, StartError> {
        let folder = options.folder.clone();
        let found = folder.as_os_str().len();
        if found > FOLDER_BYTES_MAX {
            return Err(StartError::LongPath { found, most: FOLDER_BYTES_MAX });
        }
        let log_path = folder.join("engine.log");
        let logged = Arc::new(Notify::new());
        let log = Log::open(&log_path, Arc::clone(&logged))
            .map_err(StartError::io(format!("cannot write {}", log_path.display())))?;
        let plan = Plan { options: options.clone(), log, logged };
        plan.end_an_earlier_one().await?;
        let mut child = plan.spawn()?;
        let up = plan.wait_until_up(&mut child).await;
        if let Err(why) = up {
            end(&mut child).await;
            return Err(StartError::Engine { why, log: log_path });
        }
        let pid = Arc::new(Mutex::new(child.id()));
        let (stop, stopped) = oneshot::channel();
        let (events, heard) = mpsc::unbounded_channel();
        let watch = tokio::spawn(plan.watch(child, Arc::clone(&pid), stopped, events));
        Ok(Server { folder, log: log_path, pid, stop: Some(stop), watch, events: heard })
    }

    /// Where handlers are called.
    pub(super) fn ingress(&self) -> PathBuf {
        socket(&self.folder, "ingress")
    }

    /// Where the engine is told about handlers.
    pub(super) fn admin(&self) -> PathBuf {
        socket(&self.folder, "admin")
    }

    /// Its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Its process, while there is one.
    pub fn pid(&self) -> Option<u32> {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens to it next.
    pub async fn event(&mut self) -> ServerEvent {
        match self.events.recv().await {
            Some(event) => event,
            // Only stopping it ends what watches it, and takes it away.
            None => std::future::pending().await,
        }
    }

    /// Ends it, in order.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = timeout(END * 2, &mut self.watch).await;
    }
}

/// How it is started.
struct Plan {
    options: Options,
    log: Log,
    logged: Arc<Notify>,
}

impl Plan {
    fn spawn(&self) -> Result<Child, StartError> {
        let Options { program, guard, folder, .. } = &self.options;
        let cannot = format!("cannot start {}", program.display());
        let mut command = Command::new(guard);
        command
            .args(["guard", &std::process::id().to_string(), Ending::Kill.as_str()])
            .arg(program);
        command.args(["--no-logo", "--base-dir", "engine", "--node-name", NODE]);
        command.args(["--listen-mode", "unix", "--log-disable-ansi-codes", "true"]);
        for (name, _) in std::env::vars_os() {
            // Settings of another Restate server on this machine.
            if name.to_string_lossy().starts_with("RESTATE_") {
                command.env_remove(name);
            }
        }
        command.envs(SETTINGS).env("RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE", IDENTITY);
        command.current_dir(folder).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(StartError::io(cannot))?;
        self.log.take(child.stdout.take());
        self.log.take(child.stderr.take());
        let pid = child.id().map(|pid| pid.to_string()).unwrap_or_default();
        let file = pid_file(folder);
        crate::private::write(&file, pid.as_bytes())
            .map_err(StartError::io(format!("cannot write {}", file.display())))?;
        Ok(child)
    }

    /// Ends a server that has outlived the one who started it: where the system does not end it, it
    /// still has the data.
    async fn end_an_earlier_one(&self) -> Result<(), StartError> {
        let folder = &self.options.folder;
        crate::private::create_folder(folder)
            .map_err(StartError::io(format!("cannot create {}", folder.display())))?;
        let admin = Socket::new(socket(folder, "admin"));
        if admin.get("/health").await.is_err() {
            return Ok(());
        }
        // Only the process that listens in this folder has written its number there.
        let pid = std::fs::read_to_string(pid_file(folder)).unwrap_or_default();
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Ok(()) };
        let _ = kill_process(pid, Signal::KILL);
        let until = Instant::now() + END;
        while admin.get("/health").await.is_ok() && Instant::now() < until {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Waits until it serves. It is asked when it has said something, and now and then besides.
    async fn wait_until_up(&self, child: &mut Child) -> Result<(), String> {
        let folder = &self.options.folder;
        let (admin, ingress) = (socket(folder, "admin"), socket(folder, "ingress"));
        let (admin, ingress) = (Socket::new(admin), Socket::new(ingress));
        let until = Instant::now() + START;
        loop {
            let is_up = |answer: Result<super::socket::Answered, String>| {
                answer.is_ok_and(|answer| answer.status.is_success())
            };
            if is_up(admin.get("/health").await) && is_up(ingress.get("/restate/health").await) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("it does not serve after {} s", START.as_secs()));
            }
            tokio::select! {
                ended = child.wait() => return Err(match ended {
                    Ok(status) => format!("it has ended with {status}"),
                    Err(error) => error.to_string(),
                }),
                () = self.logged.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Starts it again whenever it ends, until it is to stop.
    async fn watch(
        self,
        mut child: Child,
        pid: Arc<Mutex<Option<u32>>>,
        mut stopped: oneshot::Receiver<()>,
        events: mpsc::UnboundedSender<ServerEvent>,
    ) {
        let set_pid = |id| *pid.lock().unwrap_or_else(PoisonError::into_inner) = id;
        let mut backoff = RESTART;
        loop {
            let begun = Instant::now();
            let why = tokio::select! {
                _ = &mut stopped => {
                    end(&mut child).await;
                    return;
                }
                ended = child.wait() => match ended {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                },
            };
            set_pid(None);
            let _ = events.send(ServerEvent::Ended(why));
            if begun.elapsed() > WELL {
                backoff.reset();
            }
            loop {
                tokio::select! {
                    _ = &mut stopped => return,
                    () = tokio::time::sleep(backoff.pause()) => {}
                }
                let Ok(next) = self.spawn() else { continue };
                child = next;
                set_pid(child.id());
                tokio::select! {
                    _ = &mut stopped => {
                        end(&mut child).await;
                        return;
                    }
                    up = self.wait_until_up(&mut child) => match up {
                        Ok(()) => break,
                        Err(_) => end(&mut child).await,
                    }
                }
            }
            let _ = events.send(ServerEvent::Back);
        }
    }
}

/// What the server is set to.
const SETTINGS: [(&str, &str); 10] = [
    ("RESTATE_DISABLE_TELEMETRY", "true"),
    // A handler fails only while our side is away: however long that takes, it is called again.
    ("RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS", "unlimited"),
    ("RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL", "50ms"),
    ("RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL", "1s"),
    // One machine with some hundred runs, not a cluster.
    ("RESTATE_DEFAULT_NUM_PARTITIONS", "1"),
    ("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256 MiB"),
    // Metrics are a fifth of the work.
    ("RESTATE_TRACING_FILTER", "off"),
    ("RESTATE_DISABLE_PROMETHEUS", "true"),
    ("RESTATE_ROCKSDB_PERF_LEVEL", "disable"),
    ("RESTATE_ROCKSDB_DISABLE_STATISTICS", "true"),
];

async fn end(child: &mut Child) {
    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(pid, Signal::TERM);
    }
    if timeout(END, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}

fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join("engine").join(NODE).join(format!("{name}.sock"))
}

fn pid_file(folder: &Path) -> PathBuf {
    folder.join("engine.pid")
}
