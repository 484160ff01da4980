//! Restate's server as a child process: started, restarted when it dies, and ended with this process.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::socket::{Answered, Socket};
use super::{Options, StartError};
use crate::backoff::Backoff;
use crate::guard::Ending;
use crate::log::Log;
use crate::supervisor::{ProcessEvent, Supervised, Supervisor, send_signal};

/// The file with the key that the server signs with.
pub(super) const IDENTITY: &str = "engine-identity.pem";
/// Name of the server: the folder of its data.
const NODE: &str = "node";
/// Most bytes of the data folder's path: systems allow 103 for a socket's path.
const FOLDER_BYTES_MAX: usize = 80;
/// Longest time for a start, which takes less than a second on an idle machine.
const START: Duration = Duration::from_secs(60);
/// Longest time between the request to end and the end.
const END: Duration = Duration::from_secs(10);
/// Pause between two health checks while the server logs nothing.
const HEALTH_PAUSE: Duration = Duration::from_millis(200);

/// The server. When it is dropped, the process ends.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    log: PathBuf,
    process: Supervisor,
}

impl Server {
    /// Starts the server and waits until it serves.
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
        let process = RestateProcess { options: options.clone(), log, logged };
        process.end_previous().await?;
        let cannot = format!("cannot start {}", options.program.display());
        let mut child = process.spawn().map_err(StartError::io(cannot))?;
        if let Err(why) = process.wait_until_ready(&mut child).await {
            process.end(&mut child).await;
            return Err(StartError::Engine { why, log: log_path });
        }
        Ok(Server { folder, log: log_path, process: Supervisor::new(process, child) })
    }

    /// Returns the socket on which handlers are called.
    pub(super) fn ingress(&self) -> PathBuf {
        socket(&self.folder, "ingress")
    }

    /// Returns the socket on which handlers are registered.
    pub(super) fn admin(&self) -> PathBuf {
        socket(&self.folder, "admin")
    }

    /// Returns the path of the log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Returns the id of the process while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Waits for the next event of the process.
    pub async fn event(&mut self) -> ProcessEvent {
        self.process.event().await
    }

    /// Ends the server.
    pub async fn stop(mut self) {
        let _ = timeout(END * 2, self.process.stop()).await;
    }
}

/// How the process is started.
struct RestateProcess {
    options: Options,
    log: Log,
    /// Notified after each part of the log.
    logged: Arc<Notify>,
}

impl RestateProcess {
    /// Ends a server of an earlier process: on a system that does not end it with its parent, it still
    /// has the data open.
    async fn end_previous(&self) -> Result<(), StartError> {
        let folder = &self.options.folder;
        crate::private::create_folder(folder)
            .map_err(StartError::io(format!("cannot create {}", folder.display())))?;
        let admin = Socket::new(socket(folder, "admin"));
        if admin.get("/health").await.is_err() {
            return Ok(());
        }
        // Only the process that listens in this folder has written its id there.
        let pid = std::fs::read_to_string(pid_file(folder)).unwrap_or_default();
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Ok(()) };
        let _ = kill_process(pid, Signal::KILL);
        let until = Instant::now() + END;
        while admin.get("/health").await.is_ok() && Instant::now() < until {
            tokio::time::sleep(HEALTH_PAUSE).await;
        }
        Ok(())
    }
}

impl Supervised for RestateProcess {
    const RESTART: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10));

    fn spawn(&self) -> io::Result<Child> {
        let Options { program, guard, folder, .. } = &self.options;
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
        let mut child = command.spawn()?;
        self.log.copy(child.stdout.take());
        self.log.copy(child.stderr.take());
        let pid = child.id().map(|pid| pid.to_string()).unwrap_or_default();
        crate::private::write(&pid_file(folder), pid.as_bytes())?;
        Ok(child)
    }

    /// Checks the server's health after each part of its log and after a pause.
    async fn wait_until_ready(&self, child: &mut Child) -> Result<(), String> {
        let folder = &self.options.folder;
        let (admin, ingress) = (socket(folder, "admin"), socket(folder, "ingress"));
        let (admin, ingress) = (Socket::new(admin), Socket::new(ingress));
        let is_healthy = |answer: Result<Answered, String>| {
            answer.is_ok_and(|answer| answer.status.is_success())
        };
        let until = Instant::now() + START;
        loop {
            if is_healthy(admin.get("/health").await)
                && is_healthy(ingress.get("/restate/health").await)
            {
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
                () = tokio::time::sleep(HEALTH_PAUSE) => {}
            }
        }
    }

    async fn end(&self, child: &mut Child) {
        send_signal(child, Signal::TERM);
        if timeout(END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

/// Environment of the server.
const SETTINGS: [(&str, &str); 10] = [
    ("RESTATE_DISABLE_TELEMETRY", "true"),
    // A handler fails only while our endpoint is down, so a call is retried until it succeeds.
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

fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join("engine").join(NODE).join(format!("{name}.sock"))
}

fn pid_file(folder: &Path) -> PathBuf {
    folder.join("engine.pid")
}
