//! [Restate](https://restate.dev) as the storage: a child process whose durable objects contain the
//! runs. It listens only on sockets in the data folder. It signs its calls of our handlers on the
//! loopback interface.

mod find;
mod handlers;
mod journal;
mod objects;
mod run_locks;
mod server;
mod socket;
mod storage;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;
use onloop_core::documents::envelope::PrivateKey;
use restate_sdk::endpoint::Endpoint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{Change, Engine, EngineError, RunRecord, Settings, Submission};
use journal::{FleetObject, JournalObject};
use objects::{Read, RunObject};
use run_locks::RunLocks;
use socket::Socket;

pub use find::{Missing, find};
pub use server::Server;

/// Runs that are read at once at the start.
const ASKED_AT_ONCE: usize = 16;

/// Longest time until a `Journal` has what its `Run` has sent, which takes milliseconds.
const ARRIVE: Duration = Duration::from_secs(5);
const ARRIVE_LOOK: Duration = Duration::from_millis(5);
/// The error when the engine did not store lines that it had confirmed.
pub const LOST_LINES: &str = "the engine has lost lines that it had confirmed";

/// How an engine is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program of the server.
    pub program: PathBuf,
    /// This program, which starts the server so that both end together.
    pub guard: PathBuf,
    /// The data folder.
    pub folder: PathBuf,
    /// Bounds of leases and accounts.
    pub settings: Settings,
}

/// Why an engine cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A file or a process failed.
    #[error("{what}: {error}")]
    Io {
        /// The failed action.
        what: String,
        /// The error.
        error: std::io::Error,
    },
    /// The path of the data folder is too long for a socket's path.
    #[error(
        "the data folder's path has {found} bytes, expected up to {most}: choose a shorter one with `--data`"
    )]
    LongPath {
        /// Its length in bytes.
        found: usize,
        /// The longest length in bytes.
        most: usize,
    },
    /// The file with the engine's key contains something else.
    #[error("{} is not a key as it was written: move it away, a new one is made", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
    },
    /// The server does not start.
    #[error("the engine does not start: {why}; its log is {}", log.display())]
    Engine {
        /// The reason, as a clause.
        why: String,
        /// Its log.
        log: PathBuf,
    },
}

impl StartError {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> StartError {
        let what = what.into();
        move |error| StartError::Io { what, error }
    }
}

/// Runs in Restate's durable objects.
pub struct Restate {
    ingress: Socket,
    locks: RunLocks,
    /// The handlers are served until this is dropped.
    _handlers: oneshot::Sender<()>,
}

/// Starts the server and the engine on it.
///
/// # Errors
///
/// Why it does not start; then nothing is left running.
pub async fn start(options: Options) -> Result<(Engine<Restate>, Server), StartError> {
    let identity = identity(&options.folder)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(StartError::io("cannot listen for the engine"))?;
    let address = listener.local_addr().map_err(StartError::io("cannot listen for the engine"))?;
    let endpoint = Endpoint::builder()
        .bind(RunObject)
        .bind(JournalObject)
        .bind(FleetObject)
        .identity_key(&restate_form(&identity))
        .expect("a public key as the engine writes them")
        .build();
    let (handlers, ended) = oneshot::channel();
    tokio::spawn(handlers::serve(endpoint, listener, ended));
    let server = Server::start(&options).await?;
    let started = begin(&server, &format!("http://{address}"), handlers, options.settings).await;
    match started {
        Ok(keeper) => Ok((keeper, server)),
        Err(why) => {
            let log = server.log().to_owned();
            server.stop().await;
            Err(StartError::Engine { why, log })
        }
    }
}

async fn begin(
    server: &Server,
    handlers_at: &str,
    handlers: oneshot::Sender<()>,
    settings: Settings,
) -> Result<Engine<Restate>, String> {
    register(&Socket::new(server.admin()), handlers_at).await?;
    let ingress = Socket::new(server.ingress());
    let restate = Restate { ingress, locks: RunLocks::default(), _handlers: handlers };
    Engine::start(restate, settings).await.map_err(|error| error.to_string())
}

/// Registers the address of our handlers, also for calls that handlers at an earlier address began.
async fn register(admin: &Socket, uri: &str) -> Result<(), String> {
    let known = admin.get("/deployments").await?;
    let known: Value = serde_json::from_slice(&known.body).map_err(|error| error.to_string())?;
    let deployments = known["deployments"].as_array().cloned().unwrap_or_default();
    let ids: Vec<&str> = deployments.iter().filter_map(|one| one["id"].as_str()).collect();
    let mut answers = Vec::new();
    for id in &ids {
        let body = json!({ "uri": uri, "overwrite": true }).to_string();
        answers.push(admin.patch(&format!("/deployments/{id}"), body.into()).await?);
    }
    if ids.is_empty() {
        let body = json!({ "uri": uri, "force": true }).to_string();
        answers.push(admin.post("/deployments", body.into()).await?);
    }
    match answers.into_iter().find(|answer| !answer.status.is_success()) {
        None => Ok(()),
        Some(refused) => {
            let body = String::from_utf8_lossy(&refused.body);
            Err(format!("it does not take our handlers: {} {body}", refused.status))
        }
    }
}

/// The public key with which our handlers know calls of the engine, as Restate writes it.
fn restate_form(key: &PrivateKey) -> String {
    format!("publickeyv1_{}", bs58::encode(key.public().as_bytes()).into_string())
}

/// Reads the engine's key in `folder`, or creates it. The engine signs its calls of our handlers with
/// it, so that no other program of this machine can call them.
fn identity(folder: &Path) -> Result<PrivateKey, StartError> {
    let path = folder.join(server::IDENTITY);
    match std::fs::read_to_string(&path) {
        Ok(pem) => PrivateKey::from_pem(&pem).map_err(|_| StartError::Identity { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let identity = PrivateKey::from_seed(crate::private::random());
            crate::private::write(&path, identity.to_pem().as_bytes())
                .map_err(StartError::io(format!("cannot write {}", path.display())))?;
            Ok(identity)
        }
        Err(error) => Err(StartError::io(format!("cannot read {}", path.display()))(error)),
    }
}

impl Restate {
    /// Calls a handler of a `Run`.
    async fn run<T: DeserializeOwned>(
        &self,
        run_id: &str,
        handler: &str,
        argument: &impl Serialize,
    ) -> Result<T, EngineError> {
        self.call(&target("Run", run_id, handler)?, bytes(argument)).await?
    }

    /// Changes the record of a run while no other call about the run is open.
    async fn change(&self, run_id: &str, change: &Change) -> Result<RunRecord, EngineError> {
        let mut known = self.locks.of(run_id).await;
        let before = known.take();
        let record: RunRecord = self.run(run_id, "change", change).await?;
        if before.is_some_and(|before| before.head != record.head) {
            return Err(EngineError::Internal { why: format!("run {run_id}: {LOST_LINES}") });
        }
        *known = (!record.is_finished()).then(|| record.clone());
        Ok(record)
    }

    /// Returns the submission, once the `Journal` has it.
    async fn submitted(&self, run_id: &str) -> Result<Submission, EngineError> {
        let target = target("Journal", run_id, "submission")?;
        let until = Instant::now() + ARRIVE;
        loop {
            if let Some(submission) = self.call(&target, Bytes::new()).await? {
                return Ok(submission);
            }
            wait_for_arrival(until).await?;
        }
    }

    /// Returns the lines between two numbers, once the `Journal` has them.
    async fn earlier_lines(
        &self,
        run_id: &str,
        after: u64,
        last: u64,
    ) -> Result<String, EngineError> {
        let target = target("Journal", run_id, "read")?;
        let count = usize::try_from(last.saturating_sub(after)).unwrap_or(usize::MAX);
        let until = Instant::now() + ARRIVE;
        loop {
            let lines: Vec<String> = self.call(&target, bytes(&Read { after })).await?;
            if let Some(lines) = lines.get(..count) {
                return Ok(joined(lines));
            }
            wait_for_arrival(until).await?;
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        target: &str,
        argument: Bytes,
    ) -> Result<T, EngineError> {
        let body = self.post(target, argument, StatusCode::OK).await?;
        serde_json::from_slice(&body).map_err(unreachable)
    }

    /// Queues a call of a handler durably, and does not wait for its result.
    async fn send(&self, target: &str, argument: Bytes) -> Result<(), EngineError> {
        self.post(&format!("{target}/send"), argument, StatusCode::ACCEPTED).await.map(drop)
    }

    async fn post(
        &self,
        target: &str,
        argument: Bytes,
        expected: StatusCode,
    ) -> Result<Bytes, EngineError> {
        let answer = self.ingress.post(target, argument).await.map_err(unreachable)?;
        if answer.status == expected {
            return Ok(answer.body);
        }
        let body = String::from_utf8_lossy(&answer.body);
        Err(unreachable(format!("the engine says {}: {body}", answer.status)))
    }
}

async fn wait_for_arrival(until: Instant) -> Result<(), EngineError> {
    if Instant::now() > until {
        return Err(unreachable("the engine has not yet kept what it has taken"));
    }
    tokio::time::sleep(ARRIVE_LOOK).await;
    Ok(())
}

/// Returns the path of a handler. The id of the run is a part of it.
fn target(object: &str, run_id: &str, handler: &str) -> Result<String, EngineError> {
    match onloop_core::run::is_run_id(run_id) {
        true => Ok(format!("/{object}/{run_id}/{handler}")),
        false => Err(EngineError::NotFound { run_id: run_id.to_owned() }),
    }
}

fn bytes(argument: &impl Serialize) -> Bytes {
    serde_json::to_vec(argument).expect("arguments have only string keys").into()
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

fn unreachable(why: impl std::fmt::Display) -> EngineError {
    EngineError::Unreachable { why: onloop_core::text::one_line(&why.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_key_has_the_form_that_restate_reads() {
        // Another implementation derived this key from the same seed.
        let expected = "publickeyv1_GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB";
        assert_eq!(restate_form(&PrivateKey::from_seed([7; 32])), expected);
    }
}
