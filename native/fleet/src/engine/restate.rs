//! [Restate](https://restate.dev) as the engine: a server of its own, started by us, whose durable objects
//! keep the runs. It listens on sockets in the data folder only, and calls our handlers on the loopback
//! interface with a signature that they check.

mod find;
mod identity;
mod objects;
mod server;
mod socket;

use std::path::{Path, PathBuf};

use futures_util::future::try_join_all;
use hyper::StatusCode;
use hyper::body::Bytes;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::http_server::HttpServer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{
    Append, Appended, EngineError, Keeper, Records, Release, RunRecord, Settings, Submission,
};
use identity::Identity;
use objects::{Expire, FLEET, FleetObject, GiveLease, Read, RunObject, Submit};
use socket::Socket;

pub use find::{Missing, find};
pub use server::{Server, ServerEvent};

/// How many runs are asked after at once at the start.
const ASKED_AT_ONCE: usize = 16;

/// How an engine is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's program.
    pub program: PathBuf,
    /// This program, which starts the server so that it ends with us.
    pub guard: PathBuf,
    /// Where everything is kept.
    pub folder: PathBuf,
    /// How leases and accounts are bounded.
    pub settings: Settings,
}

/// Why an engine cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Something cannot be read, written or started.
    #[error("{what}: {error}")]
    Io {
        /// What.
        what: String,
        /// Why.
        error: std::io::Error,
    },
    /// The path of the data folder is longer than names of sockets may be.
    #[error(
        "the data folder's path has {found} bytes, expected up to {most}: choose a shorter one with `--data`"
    )]
    LongPath {
        /// Its bytes.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// The file with the engine's key has something else in it.
    #[error("{} is not a key as it was written: move it away, a new one is made", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
    },
    /// It does not come up.
    #[error("the engine does not start: {why}; its log is {}", log.display())]
    Engine {
        /// Why, as a clause.
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
    /// The handlers are served until it is dropped.
    _handlers: oneshot::Sender<()>,
}

/// Starts the server and the engine on it.
///
/// # Errors
///
/// Why it does not start; nothing is left running then.
pub async fn start(options: Options) -> Result<(Keeper<Restate>, Server), StartError> {
    let identity = identity(&options.folder)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(StartError::io("cannot listen for the engine"))?;
    let address = listener.local_addr().map_err(StartError::io("cannot listen for the engine"))?;
    let endpoint = Endpoint::builder()
        .bind(RunObject)
        .bind(FleetObject)
        .identity_key(&identity.public())
        .expect("a public key as the engine writes them")
        .build();
    let (handlers, ended) = oneshot::channel();
    tokio::spawn(HttpServer::new(endpoint).serve_with_cancel(listener, ended));
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
) -> Result<Keeper<Restate>, String> {
    register(&Socket::new(server.admin()), handlers_at).await?;
    let restate = Restate { ingress: Socket::new(server.ingress()), _handlers: handlers };
    Keeper::start(restate, settings).await.map_err(|error| error.to_string())
}

/// Tells the engine where our handlers are. What is under way is told, too: it was begun by handlers that
/// listened elsewhere.
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

/// The key of the engine in `folder`, made when there is none.
fn identity(folder: &Path) -> Result<Identity, StartError> {
    let path = folder.join(server::IDENTITY);
    match std::fs::read_to_string(&path) {
        Ok(pem) => Identity::from_pem(&pem).ok_or(StartError::Identity { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let identity = Identity::from_seed(crate::private::random());
            crate::private::write(&path, identity.to_pem().as_bytes())
                .map_err(StartError::io(format!("cannot write {}", path.display())))?;
            Ok(identity)
        }
        Err(error) => Err(StartError::io(format!("cannot read {}", path.display()))(error)),
    }
}

impl Restate {
    /// What a handler says of a run.
    async fn run<T: DeserializeOwned>(
        &self,
        run_id: &str,
        handler: &str,
        argument: &impl Serialize,
    ) -> Result<T, EngineError> {
        // It becomes a part of a path.
        if !onloop_core::run::is_run_id(run_id) {
            return Err(EngineError::NotFound { run_id: run_id.to_owned() });
        }
        let argument = serde_json::to_vec(argument).map_err(unreachable)?;
        self.call(&format!("/Run/{run_id}/{handler}"), argument.into()).await?
    }

    async fn call<T: DeserializeOwned>(
        &self,
        target: &str,
        argument: Bytes,
    ) -> Result<T, EngineError> {
        let answer = self.ingress.post(target, argument).await.map_err(unreachable)?;
        if answer.status != StatusCode::OK {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(unreachable(format!("the engine says {}: {body}", answer.status)));
        }
        serde_json::from_slice(&answer.body).map_err(unreachable)
    }
}

fn unreachable(why: impl std::fmt::Display) -> EngineError {
    EngineError::Unreachable { why: onloop_core::text::one_line(&why.to_string()) }
}

impl Records for Restate {
    async fn submit(&self, run: &Submission, now_ms: u64) -> Result<RunRecord, EngineError> {
        // Refused here, it takes no room there.
        RunRecord::begin(run, now_ms)?;
        self.run(&run.run_id, "submit", &Submit { run: run.clone(), now_ms }).await
    }

    async fn lease(
        &self,
        run_id: &str,
        holder: &str,
    ) -> Result<(RunRecord, Submission), EngineError> {
        self.run(run_id, "lease", &GiveLease { holder: holder.to_owned() }).await
    }

    async fn expire(&self, run_id: &str, epoch: u64) -> Result<RunRecord, EngineError> {
        self.run(run_id, "expire", &Expire { epoch }).await
    }

    async fn release(&self, release: &Release) -> Result<RunRecord, EngineError> {
        self.run(&release.run_id, "release", release).await
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        super::record::Chained::of(append)?;
        self.run(&append.run_id, "append", append).await
    }

    async fn read(&self, run_id: &str, after: u64) -> Result<(String, RunRecord), EngineError> {
        self.run(run_id, "read", &Read { after }).await
    }

    async fn settle(&self, run_id: &str) -> Result<RunRecord, EngineError> {
        if !onloop_core::run::is_run_id(run_id) {
            return Err(EngineError::NotFound { run_id: run_id.to_owned() });
        }
        self.call(&format!("/Run/{run_id}/settle"), Bytes::new()).await?
    }

    async fn all(&self) -> Result<Vec<RunRecord>, EngineError> {
        let noted: Vec<RunRecord> = self.call(&format!("/Fleet/{FLEET}/all"), Bytes::new()).await?;
        let (mut records, open): (Vec<_>, Vec<_>) =
            noted.into_iter().partition(RunRecord::is_finished);
        // Those that are not finished may have come further since they were noted.
        for some in open.chunks(ASKED_AT_ONCE) {
            let asked = some.iter().map(|record| self.settle(&record.run_id));
            records.extend(try_join_all(asked).await?);
        }
        Ok(records)
    }
}
