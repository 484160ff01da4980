//! The API server offers the engine to other machines and refuses callers without the key.

#[path = "engine/samples.rs"]
mod samples;
#[path = "engine/scenarios.rs"]
mod scenarios;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use onloop_fleet::client::Client;
use onloop_fleet::engine::{Engine, EngineError, Memory, Operation, ReadOverview};
use onloop_fleet::key::Key;
use onloop_fleet::server::Server;
use samples::Service;
use tokio::sync::watch;

/// The engine behind a server, called by a client.
struct Remote(Client);

impl Service for Remote {
    async fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, EngineError> {
        let (client, operation) = (self.0.clone(), operation.clone());
        let called = tokio::task::spawn_blocking(move || client.call(&operation));
        called.await.expect("it does not panic")
    }
}

/// A server over an engine in memory.
struct Served {
    key: Key,
    address: SocketAddr,
    end: watch::Sender<bool>,
}

impl Served {
    async fn start() -> Served {
        let engine = Engine::start(Memory::new(), scenarios::settings()).await.expect("it starts");
        let key = Key::new();
        let any = "127.0.0.1:0".parse().expect("an address");
        let server = Server::listen(any, engine, key.clone()).await.expect("it listens");
        let address = server.address().expect("an address");
        let (end, ended) = watch::channel(false);
        tokio::spawn(server.serve(ended));
        Served { key, address, end }
    }

    fn client(&self, key: Key) -> Remote {
        Remote(Client::new(&format!("http://{}/", self.address), key, None))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_through_the_server() {
    let served = Served::start().await;
    scenarios::all(&served.client(served.key.clone())).await;
    served.end.send_replace(true);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_caller_with_the_key_is_served() {
    let served = Served::start().await;
    let stranger = served.client(Key::new());
    assert_eq!(stranger.call(&ReadOverview {}).await, Err(EngineError::Denied));
    let run = samples::submission("strange", "claude");
    assert_eq!(stranger.call(&run).await, Err(EngineError::Denied));
    let known = served.client(served.key.clone());
    assert_eq!(known.call(&ReadOverview {}).await.expect("an overview").runs, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_learns_nothing() {
    let served = Served::start().await;
    for authorization in ["", "authorization: Bearer 00\r\n", "authorization: Basic 00\r\n"] {
        for (method, path) in [("GET", "/"), ("POST", "/v1/nothing"), ("POST", "/v1/overview")] {
            let answer = request(served.address, method, path, authorization, "{}");
            assert!(answer.starts_with("HTTP/1.1 401 "), "{method} {path}: {answer}");
            assert!(answer.ends_with("\r\n\r\n"), "{method} {path}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_request_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start().await;
    let file = folder.path().join("fleet.key");
    served.key.write(&file).expect("written");
    let key = std::fs::read_to_string(&file).expect("the key");
    let authorization = format!("authorization: Bearer {}\r\n", key.trim());
    for (method, path, body, status, what) in [
        ("POST", "/v1/overview", "{}", 200, "accounts"),
        ("GET", "/v1/overview", "", 405, ""),
        ("POST", "/v1/nothing", "{}", 404, ""),
        ("POST", "/v1/overview", r#"{"more": 1}"#, 400, "more"),
    ] {
        let answer = request(served.address, method, path, &authorization, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {answer}");
        assert!(answer.contains(what), "{method} {path}: {answer}");
    }
}

#[test]
fn a_server_that_is_away_is_asked_again_within_the_limit() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", nowhere.local_addr().expect("an address"));
    drop(nowhere);
    let client = Client::new(&url, Key::new(), None);
    let begun = Instant::now();
    let error = client.call_within(Duration::from_millis(400), &ReadOverview {}).unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error}");
    let took = begun.elapsed();
    // Each pause is twice as long as the one before, so that the last try is in the second half.
    assert!(took > Duration::from_millis(150) && took < Duration::from_secs(5), "{took:?}");
}

/// Sends a request; returns the answer.
fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    authorization: &str,
    body: &str,
) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: fleet\r\nconnection: close\r\n");
    request += &format!("{authorization}content-length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
