//! Connections: each carries one call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming as Arriving;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use onloop_core::effect::{CallAnswer, WebCall};
use onloop_core::limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::body::AnswerBody;
use super::{Answered, Calls, Incoming};

const ARRIVAL: Duration = Duration::from_millis(limits::WEB_ARRIVAL_MS);
const ANSWER: Duration = Duration::from_millis(limits::WEB_ANSWER_MS);
/// Pause after a failure to accept, such as for want of descriptors.
const RECOVER: Duration = Duration::from_millis(100);

/// State of a connection.
#[derive(Default)]
struct Connection {
    /// Ends it; known as soon as it runs.
    handle: OnceLock<AbortHandle>,
    /// Its answer stays open without a time limit.
    is_open: AtomicBool,
}

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, calls: Calls) {
    let room = Arc::new(Semaphore::new(limits::WEB_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(RECOVER).await;
            continue;
        };
        // One too many is closed at once.
        let Ok(permit) = room.clone().try_acquire_owned() else { continue };
        let connection = Arc::new(Connection::default());
        let (calls, known) = (calls.clone(), connection.clone());
        let task = tokio::spawn(async move {
            carry(stream, connection, calls).await;
            drop(permit);
        });
        // The task has not run yet: there is one thread, and it is here.
        let _ = known.handle.set(task.abort_handle());
    }
}

/// Carries one call and its answer, within bounds of time unless the answer stays open.
async fn carry(stream: TcpStream, connection: Arc<Connection>, calls: Calls) {
    let known = connection.clone();
    let service = service_fn(move |request| {
        let (known, calls) = (known.clone(), calls.clone());
        async move { converse(request, &known, &calls).await }
    });
    let serving = http1::Builder::new()
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .max_buf_size(limits::WEB_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    // Arrival, the wait for the answer, and the time to read it.
    let in_time = timeout(2 * ARRIVAL + 2 * ANSWER, serving.as_mut()).await;
    if in_time.is_err() && connection.is_open.load(Ordering::Relaxed) {
        // Only the browser cares about a broken connection.
        let _ = serving.await;
    }
}

async fn converse(
    request: Request<Arriving>,
    connection: &Connection,
    calls: &Calls,
) -> Result<Response<AnswerBody>, hyper::http::Error> {
    let call = match read(request).await {
        Ok(call) => call,
        Err(status) => return plain(status),
    };
    let Some(handle) = connection.handle.get().cloned() else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let (reply, answered) = oneshot::channel();
    if !calls.hand_over(Incoming { call, reply, connection: handle }) {
        return plain(StatusCode::SERVICE_UNAVAILABLE);
    }
    match timeout(ANSWER, answered).await {
        Ok(Ok(Answered { answer, rest })) => {
            connection.is_open.store(rest.is_some(), Ordering::Relaxed);
            let CallAnswer { status, headers, body, open: _ } = answer;
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(AnswerBody::new(body.into(), rest))
        }
        Ok(Err(_)) | Err(_) => plain(StatusCode::GATEWAY_TIMEOUT),
    }
}

/// Returns the call, or the status of a rejection.
async fn read(request: Request<Arriving>) -> Result<WebCall, StatusCode> {
    let (head, body) = request.into_parts();
    let target = head.uri.path_and_query().map_or("", |target| target.as_str()).to_owned();
    // Cookies of other programs on this machine may contain any bytes.
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let collected = timeout(ARRIVAL, Limited::new(body, limits::WEB_BODY_BYTES).collect()).await;
    let collected = collected.map_err(|_| StatusCode::REQUEST_TIMEOUT)?;
    let body = collected.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?.to_bytes().to_vec();
    Ok(WebCall {
        call: 0,
        method: head.method.as_str().to_owned(),
        target,
        headers: headers.collect(),
        body: body.into(),
    })
}

fn plain(status: StatusCode) -> Result<Response<AnswerBody>, hyper::http::Error> {
    let words = format!("{status}\n").into_bytes();
    Response::builder()
        .status(status)
        .header("content-type", "text/plain; charset=utf-8")
        .header("cache-control", "no-store")
        .body(AnswerBody::new(words, None))
}
