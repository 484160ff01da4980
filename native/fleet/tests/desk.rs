//! The desk lets other machines use the engine, and nobody else.

#[path = "engine/samples.rs"]
mod samples;
#[path = "engine/scenarios.rs"]
mod scenarios;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onloop_fleet::client::Client;
use onloop_fleet::desk::Desk;
use onloop_fleet::engine::{
    Append, Assignment, Beat, Claim, Engine, EngineError, Head, Keeper, Lease, Lines, Memory,
    Offer, Overview, Release, Renewal, Submission,
};
use onloop_fleet::key::{Key, Stamp, WINDOW_MS};
use tokio::sync::watch;

/// The engine behind a desk, as a client reaches it.
struct Remote(Client);

impl Remote {
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Client) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let client = self.0.clone();
        tokio::task::spawn_blocking(move || ask(&client)).await.expect("it does not panic")
    }
}

impl Engine for Remote {
    async fn submit(&self, run: &Submission) -> Result<(), EngineError> {
        let run = run.clone();
        self.ask(move |client| client.submit(&run)).await
    }

    async fn take(&self, offer: &Offer, wait: Duration) -> Result<Option<Assignment>, EngineError> {
        let offer = offer.clone();
        self.ask(move |client| client.take(&offer, wait)).await
    }

    async fn renew(&self, beat: &Beat) -> Result<Vec<Renewal>, EngineError> {
        let beat = beat.clone();
        self.ask(move |client| client.renew(&beat)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Lease, EngineError> {
        let claim = claim.clone();
        self.ask(move |client| client.claim(&claim)).await
    }

    async fn release(&self, release: &Release) -> Result<(), EngineError> {
        let release = release.clone();
        self.ask(move |client| client.release(&release)).await
    }

    async fn append(&self, lines: &Append) -> Result<Head, EngineError> {
        let lines = lines.clone();
        self.ask(move |client| client.append(&lines)).await
    }

    async fn lines(&self, run: &str, after: u64, wait: Duration) -> Result<Lines, EngineError> {
        let run = run.to_owned();
        self.ask(move |client| client.lines(&run, after, wait)).await
    }

    async fn overview(&self) -> Result<Overview, EngineError> {
        self.ask(Client::overview).await
    }
}

/// A desk in front of a memory.
struct Served {
    key: Key,
    address: SocketAddr,
    end: watch::Sender<bool>,
}

impl Served {
    async fn start() -> Served {
        let engine = Keeper::start(Memory::new(), scenarios::settings()).await.expect("it starts");
        let key = Key::new();
        let any = "127.0.0.1:0".parse().expect("an address");
        let desk = Desk::listen(any, Arc::new(engine), key.clone()).await.expect("it listens");
        let address = desk.address().expect("an address");
        let (end, ended) = watch::channel(false);
        tokio::spawn(desk.serve(ended));
        Served { key, address, end }
    }

    fn client(&self, key: Key) -> Remote {
        Remote(Client::new(&format!("http://{}/", self.address), key))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_through_the_desk() {
    let served = Served::start().await;
    scenarios::all(&served.client(served.key.clone())).await;
    served.end.send_replace(true);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_prove_that_they_have_the_key() {
    let served = Served::start().await;
    let stranger = served.client(Key::new());
    assert_eq!(stranger.overview().await, Err(EngineError::Denied));
    let run = samples::submission("strange", "claude");
    assert_eq!(stranger.submit(&run).await, Err(EngineError::Denied));
    let known = served.client(served.key.clone());
    assert_eq!(known.overview().await.expect("an overview").runs, []);

    // Somebody else answers where the server was.
    let impostor = std::net::TcpListener::bind("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", impostor.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let (mut stream, _) = impostor.accept().expect("a connection");
        let _ = stream.read(&mut [0; 4096]);
        let body = r#"{"runs":[],"workers":[],"accounts":[]}"#;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        let _ = stream.write_all((head + body).as_bytes());
    });
    let fooled = Remote(Client::new(&url, served.key.clone())).overview().await;
    let why = fooled.expect_err("it has no key").to_string();
    assert!(why.contains("does not have the fleet's key"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_once_and_about_now() {
    let served = Served::start().await;
    let sent = |stamp: &Stamp, body: &str| {
        let code = served.key.of_request(stamp, "POST", "/v1/overview", body.as_bytes());
        request(served.address, "POST", "/v1/overview", Some((stamp, &code)), body)
    };
    let now = Stamp::new(now_ms());
    assert!(sent(&now, "{}").starts_with("HTTP/1.1 200 "));
    let again = sent(&now, "{}");
    assert!(again.starts_with("HTTP/1.1 400 ") && again.contains("came before"), "{again}");
    let old = sent(&Stamp::new(now_ms() - WINDOW_MS - 1000), "{}");
    assert!(old.starts_with("HTTP/1.1 400 ") && old.contains("the clocks"), "{old}");
    let strange = sent(&Stamp::new(now_ms()), r#"{"more": 1}"#);
    assert!(strange.starts_with("HTTP/1.1 400 ") && strange.contains("more"), "{strange}");

    // What was changed on the way is nobody's.
    let stamp = Stamp::new(now_ms());
    let code = served.key.of_request(&stamp, "POST", "/v1/overview", b"{}");
    let changed = request(served.address, "POST", "/v1/overview", Some((&stamp, &code)), "{ }");
    assert!(changed.starts_with("HTTP/1.1 401 "), "{changed}");
    let elsewhere = request(served.address, "POST", "/v1/submit", Some((&stamp, &code)), "{}");
    assert!(elsewhere.starts_with("HTTP/1.1 401 "), "{elsewhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_speaks_something_else_learns_nothing() {
    let served = Served::start().await;
    for (method, path, status) in [
        ("GET", "/", 404),
        ("GET", "/v1/overview", 405),
        ("POST", "/v1/nothing", 404),
        ("POST", "/v1/overview", 401),
    ] {
        let answer = request(served.address, method, path, None, "");
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{method} {path}: {answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{method} {path}: {answer}");
    }
    let stamp = Stamp { at_ms: 0, nonce: "short".to_owned() };
    let answer = request(served.address, "POST", "/v1/overview", Some((&stamp, "00")), "{}");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_lasts_as_long_as_it_is_given() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", nowhere.local_addr().expect("an address"));
    drop(nowhere);
    let client = Client::new(&url, Key::new());
    let tried = tokio::task::spawn_blocking(move || {
        let begun = Instant::now();
        let mut tries = 0;
        let patience = Duration::from_millis(400);
        let error = client.patiently(
            patience,
            || true,
            |client| {
                tries += 1;
                client.overview()
            },
        );
        let stopped = client.patiently(patience, || false, Client::overview);
        (error.unwrap_err(), stopped.unwrap_err(), tries, begun.elapsed())
    });
    let (error, stopped, tries, took) = tried.await.expect("it does not panic");
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error}");
    assert!(matches!(stopped, EngineError::Unreachable { .. }), "{stopped}");
    assert!((3..=5).contains(&tries), "{tries}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// What a server answers.
fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    proof: Option<(&Stamp, &str)>,
    body: &str,
) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n");
    if let Some((Stamp { at_ms, nonce }, code)) = proof {
        request +=
            &format!("onloop-time: {at_ms}\r\nonloop-nonce: {nonce}\r\nonloop-code: {code}\r\n");
    }
    request += &format!("content-length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_millis()).expect("a time")
}
