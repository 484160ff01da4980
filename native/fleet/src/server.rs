//! The fleet's API server: the operations of the engine over HTTP/1, with JSON in and out.
//!
//! A caller authenticates itself with the fleet's key as a bearer token. Without it a caller learns only that
//! there is a server. Requests that are too long or too slow are cut off.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::engine::{
    Append, Claim, Engine, EngineError, Heartbeat, Operation, ReadJournal, ReadLog, ReadOverview,
    Release, Storage, Submission, Take,
};
use crate::key::Key;

/// Largest request.
const REQUEST_BYTES: usize = 24 * 1024 * 1024;
/// Most connections at once; a worker has a few.
const CONNECTIONS: usize = 1024;
/// Longest time for a request to arrive.
const ARRIVE: Duration = Duration::from_secs(30);
/// Longest time for open connections to finish at the end.
const END: Duration = Duration::from_secs(5);

/// A listening server.
pub struct Server<S> {
    listener: TcpListener,
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    engine: Engine<S>,
    key: Key,
}

impl<S: Storage> Server<S> {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub async fn listen(
        address: SocketAddr,
        engine: Engine<S>,
        key: Key,
    ) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind(address).await?;
        Ok(Server { listener, shared: Arc::new(Shared { engine, key }) })
    }

    /// Returns the address at which it listens.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` is set, and then gives open requests a moment to finish.
    pub async fn serve(self, mut end: watch::Receiver<bool>) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let permit = Arc::clone(&room).acquire_owned().await;
            let stream = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = end.wait_for(|end| *end) => break,
            };
            // A connection that has failed does not stop the server.
            let Ok((stream, _)) = stream else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            while connections.try_join_next().is_some() {}
            let (shared, end) = (Arc::clone(&self.shared), end.clone());
            connections.spawn(async move {
                let _permit = permit;
                serve_connection(shared, stream, end).await;
            });
        }
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = timeout(END, all).await;
    }
}

async fn serve_connection<S: Storage>(
    shared: Arc<Shared<S>>,
    stream: TcpStream,
    mut end: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVE)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = async {
        let _ = end.wait_for(|end| *end).await;
    };
    tokio::select! {
        // The caller notices a connection that ends early.
        _ = connection.as_mut() => {}
        () = ended => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(END, connection).await;
        }
    }
}

impl<S: Storage> Shared<S> {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        // The body of an unauthorized request is never read.
        if !self.is_authorized(request.headers()) {
            return unauthorized();
        }
        if request.method() != Method::POST {
            return plain(StatusCode::METHOD_NOT_ALLOWED);
        }
        let path = request.uri().path().to_owned();
        let body = Limited::new(request.into_body(), REQUEST_BYTES).collect();
        let outcome = match timeout(ARRIVE, body).await {
            Ok(Ok(body)) => self.perform(&path, &body.to_bytes()).await,
            Ok(Err(_)) => Err(EngineError::Invalid {
                why: format!("the request is cut off or longer than {REQUEST_BYTES} bytes"),
            }),
            Err(_) => Err(EngineError::Invalid {
                why: format!("the request took longer than {} s to arrive", ARRIVE.as_secs()),
            }),
        };
        let (status, body) = match outcome {
            Ok(Some(body)) => (StatusCode::OK, body),
            Ok(None) => return plain(StatusCode::NOT_FOUND),
            Err(error) => (status(&error), json(&error)),
        };
        let mut response = Response::new(Full::new(body.into()));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        value.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|it| self.key.is(it))
    }

    /// Performs the operation at `path`; `None`: there is no such operation.
    async fn perform(&self, path: &str, body: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        match path {
            Submission::PATH => self.call::<Submission>(body).await,
            Take::PATH => self.call::<Take>(body).await,
            Heartbeat::PATH => self.call::<Heartbeat>(body).await,
            Claim::PATH => self.call::<Claim>(body).await,
            Release::PATH => self.call::<Release>(body).await,
            Append::PATH => self.call::<Append>(body).await,
            ReadJournal::PATH => self.call::<ReadJournal>(body).await,
            ReadOverview::PATH => self.call::<ReadOverview>(body).await,
            ReadLog::PATH => self.call::<ReadLog>(body).await,
            _ => Ok(None),
        }
    }

    async fn call<O: Operation>(&self, body: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        let operation: O = serde_json::from_slice(body).map_err(|error| EngineError::Invalid {
            why: format!("the request does not have the form of this version ({error})"),
        })?;
        Ok(Some(json(&self.engine.call(&operation).await?)))
    }
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = status;
    response
}

fn unauthorized() -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn status(error: &EngineError) -> StatusCode {
    match error {
        EngineError::Invalid { .. } => StatusCode::BAD_REQUEST,
        EngineError::Denied => StatusCode::UNAUTHORIZED,
        EngineError::NotFound { .. } => StatusCode::NOT_FOUND,
        EngineError::Exists { .. }
        | EngineError::Busy { .. }
        | EngineError::Fenced { .. }
        | EngineError::Conflict { .. } => StatusCode::CONFLICT,
        EngineError::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        EngineError::Unreachable { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("answers have only string keys")
}
