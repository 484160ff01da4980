//! The fleet's server: the engine for other machines, and what agents say. HTTP/1, one operation for each of
//! the engine's.
//!
//! Who has the fleet's key is known by the code of each request; nobody else learns more than that there is
//! a server. What is too long, too slow or too many is cut off.

mod patience;
mod words;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::engine::{Engine, EngineError};
use crate::key::{Key, Nonces, NoncesError, Stamp};
use crate::wire::{self, LinesRequest, Nothing, Operation, REQUEST_BYTES, TakeRequest};
use patience::Patient;
use words::Relay;

/// Most connections at once: each worker has a handful.
const CONNECTIONS: usize = 1024;
/// How long a request may take to arrive.
const ARRIVE: Duration = Duration::from_secs(30);
/// How long connections have to end when the server does.
const END: Duration = Duration::from_secs(5);

/// A server that listens.
pub struct Desk<E> {
    listener: TcpListener,
    shared: Arc<Shared<E>>,
}

struct Shared<E> {
    engine: Arc<E>,
    key: Key,
    nonces: Mutex<Nonces>,
    words: Relay,
}

impl<E: Engine> Desk<E> {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub async fn listen(address: SocketAddr, engine: Arc<E>, key: Key) -> std::io::Result<Desk<E>> {
        let listener = TcpListener::bind(address).await?;
        let (nonces, words) = (Mutex::default(), Relay::default());
        Ok(Desk { listener, shared: Arc::new(Shared { engine, key, nonces, words }) })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` is told. What is under way then has a moment to end.
    pub async fn serve(self, mut end: watch::Receiver<bool>) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let permit = Arc::clone(&room).acquire_owned().await;
            let stream = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = end.wait_for(|end| *end) => break,
            };
            // A connection that has ended already is no reason to stop; neither is one too many, which
            // waits for others to end.
            let Ok((stream, _)) = stream else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            while connections.try_join_next().is_some() {}
            let (shared, end) = (Arc::clone(&self.shared), end.clone());
            connections.spawn(async move {
                let _permit = permit;
                serve_connection(shared, Patient::new(stream), end).await;
            });
        }
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = timeout(END, all).await;
    }
}

async fn serve_connection<E: Engine>(
    shared: Arc<Shared<E>>,
    stream: Patient,
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
        // Whoever ends a connection in the middle knows it.
        _ = connection.as_mut() => {}
        () = ended => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(END, connection).await;
        }
    }
}

/// What a request says before its body.
struct Asked {
    operation: Operation,
    stamp: Stamp,
    code: String,
}

impl<E: Engine> Shared<E> {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let asked = match asked(request.method(), request.uri().path(), request.headers()) {
            Ok(asked) => asked,
            Err(status) => return plain(status),
        };
        let body = Limited::new(request.into_body(), REQUEST_BYTES).collect();
        let outcome = match timeout(ARRIVE, body).await {
            Ok(Ok(body)) => self.perform(&asked, &body.to_bytes()).await,
            Ok(Err(_)) => Err(EngineError::Invalid {
                why: format!("the request is cut off or longer than {REQUEST_BYTES} bytes"),
            }),
            Err(_) => Err(EngineError::Invalid {
                why: format!("the request took longer than {} s to arrive", ARRIVE.as_secs()),
            }),
        };
        let (status, body) = match outcome {
            Ok(body) => (200, body),
            Err(error) => (wire::status(&error), json(&error)),
        };
        let code = self.key.of_answer(&asked.stamp.nonce, status, &body);
        let mut response = Response::new(Full::new(body.into()));
        *response.status_mut() = StatusCode::from_u16(status).expect("a status of ours is one");
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(wire::CODE, HeaderValue::try_from(code).expect("digits are a header"));
        response
    }

    async fn perform(&self, asked: &Asked, body: &[u8]) -> Result<Vec<u8>, EngineError> {
        let Asked { operation, stamp, code } = asked;
        if !self.key.is_of_request(code, stamp, "POST", operation.path(), body) {
            return Err(EngineError::Denied);
        }
        let taken = {
            let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
            nonces.take(stamp, now_ms())
        };
        let refused = |why: &str| Err(EngineError::Invalid { why: why.to_owned() });
        match taken {
            Ok(()) => {}
            Err(NoncesError::Clock) => {
                return refused(
                    "the clocks of this machine and of the fleet's server are more than 5 minutes \
                     apart; set them",
                );
            }
            Err(NoncesError::Replay) => return refused("this very request came before"),
            Err(NoncesError::Full) => {
                let why = "it has more requests than it can remember; ask again later".to_owned();
                return Err(EngineError::Unreachable { why });
            }
        }
        let engine = &*self.engine;
        match operation {
            Operation::Submit => engine.submit(&read(body)?).await.map(|()| json(&())),
            Operation::Take => {
                let TakeRequest { offer, wait_ms } = read(body)?;
                let taken = engine.take(&offer, Duration::from_millis(wait_ms)).await;
                taken.map(|taken| json(&taken))
            }
            Operation::Renew => engine.renew(&read(body)?).await.map(|renewals| json(&renewals)),
            Operation::Claim => engine.claim(&read(body)?).await.map(|lease| json(&lease)),
            Operation::Release => engine.release(&read(body)?).await.map(|()| json(&())),
            Operation::Append => engine.append(&read(body)?).await.map(|head| json(&head)),
            Operation::Lines => {
                let LinesRequest { run_id, after, wait_ms } = read(body)?;
                let wait = Duration::from_millis(wait_ms);
                engine.lines(&run_id, after, wait).await.map(|lines| json(&lines))
            }
            Operation::Overview => {
                let Nothing {} = read(body)?;
                engine.overview().await.map(|overview| json(&overview))
            }
            Operation::Say => self.words.say(read(body)?).map(|()| json(&())),
            Operation::Hear => Ok(json(&self.words.hear(&read(body)?).await)),
            Operation::Wanted => Ok(json(&self.words.wanted(&read(body)?).await)),
        }
    }
}

/// What is asked, or the status for somebody who speaks something else.
fn asked(method: &Method, path: &str, headers: &HeaderMap) -> Result<Asked, StatusCode> {
    let operation = Operation::of(path).ok_or(StatusCode::NOT_FOUND)?;
    if method != Method::POST {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let unsigned = StatusCode::UNAUTHORIZED;
    let at_ms = header(wire::TIME).and_then(|at| at.parse().ok()).ok_or(unsigned)?;
    let nonce = header(wire::NONCE).ok_or(unsigned)?.to_owned();
    let stamp = Stamp { at_ms, nonce };
    let code = header(wire::CODE).filter(|_| stamp.is_sound()).ok_or(unsigned)?.to_owned();
    Ok(Asked { operation, stamp, code })
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = status;
    response
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| EngineError::Invalid {
        why: format!("it does not have the form that this version expects ({error})"),
    })
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("answers have only string keys")
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
