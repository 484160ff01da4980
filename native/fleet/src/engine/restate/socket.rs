//! HTTP over a Unix socket. The engine listens only there, so only the owner of the data folder can
//! call it.

use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Longest time for an answer. The engine answers in milliseconds unless its disk is stuck.
const ANSWER: Duration = Duration::from_secs(20);

/// A peer with one open connection.
pub(super) struct Socket {
    path: PathBuf,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// An answer.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Socket {
    pub(super) fn new(path: PathBuf) -> Socket {
        Socket { path, connection: Mutex::new(None) }
    }

    pub(super) async fn get(&self, target: &str) -> Result<Answered, String> {
        self.exchange(Method::GET, target, Bytes::new()).await
    }

    pub(super) async fn post(&self, target: &str, body: Bytes) -> Result<Answered, String> {
        self.exchange(Method::POST, target, body).await
    }

    pub(super) async fn patch(&self, target: &str, body: Bytes) -> Result<Answered, String> {
        self.exchange(Method::PATCH, target, body).await
    }

    async fn exchange(
        &self,
        method: Method,
        target: &str,
        body: Bytes,
    ) -> Result<Answered, String> {
        let silent = || format!("the engine did not answer within {} s", ANSWER.as_secs());
        let mut connection = timeout(ANSWER, self.connection()).await.map_err(|_| silent())??;
        let request = request(method, target, body)?;
        let answer = async {
            let response = connection.send_request(request).await?;
            let status = response.status();
            let body = response.into_body().collect().await?.to_bytes();
            Ok(Answered { status, body })
        };
        let answer = timeout(ANSWER, answer).await.map_err(|_| silent())?;
        answer.map_err(|error: hyper::Error| format!("the engine has gone away: {error}"))
    }

    /// Returns the open connection, or a new one.
    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, String> {
        let mut kept = self.connection.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(connection.clone());
        }
        *kept = None;
        let not_there = |why: String| format!("the engine is not there: {why}");
        let stream =
            UnixStream::connect(&self.path).await.map_err(|error| not_there(error.to_string()))?;
        let (sender, driver) = handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|error| not_there(error.to_string()))?;
        // The task ends with the connection, and its open requests fail.
        tokio::spawn(driver);
        *kept = Some(sender.clone());
        Ok(sender)
    }
}

fn request(method: Method, target: &str, body: Bytes) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::builder().method(method).uri(format!("http://engine{target}"));
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    request.body(Full::new(body)).map_err(|error| error.to_string())
}
