//! A machine's way to the fleet's server.

use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustls::CertificateError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::Request;
use ureq::tls::TlsConfig;
use ureq::{Agent, Error, Proxy};

use crate::authority::Authority;
use crate::engine::{
    Append, Assignment, Beat, Claim, EngineError, Head, Lease, Lines, Offer, Overview, Release,
    Renewal, Submission,
};
use crate::key::{Key, Stamp};
use crate::wire::{
    self, HearRequest, Heard, LinesRequest, Nothing, Operation, TakeRequest, WantedRequest, Words,
};

/// What is said where nobody that is trusted has signed the server's certificate.
const UNTRUSTED: &str = "no authority that is trusted here has signed its certificate (ONLOOP_FLEET_CA_FILE \
    names one)";
/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take besides what was to be waited for.
const ANSWER: Duration = Duration::from_secs(30);
/// The first pause between two tries, doubled each time up to the last.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The server, as this machine reaches it. Blocking; shared by threads, each of which has its own
/// exchange with it.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    key: Key,
    agent: Agent,
}

impl Client {
    /// The server at `url`, `http://` or `https://` with host and port.
    pub fn new(url: &str, key: Key) -> Client {
        Client::trusting(url, key, None)
    }

    /// As [`Client::new`], for a server that `authority` vouches for and nobody else; `None`: somebody whom
    /// browsers trust.
    pub fn trusting(url: &str, key: Key, authority: Option<&Authority>) -> Client {
        // A server on this machine is never meant to be reached through a proxy.
        let proxy = if is_loopback(url) { None } else { Proxy::try_from_env() };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .proxy(proxy)
            .tls_config(authority.map_or_else(TlsConfig::default, Authority::tls))
            .user_agent(concat!("onloop-fleet/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Client { url: url.trim_end_matches('/').to_owned(), key, agent }
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// As [`Engine::submit`](crate::engine::Engine::submit).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn submit(&self, run: &Submission) -> Result<(), EngineError> {
        self.ask(Operation::Submit, run, Duration::ZERO)
    }

    /// As [`Engine::take`](crate::engine::Engine::take).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn take(&self, offer: &Offer, wait: Duration) -> Result<Option<Assignment>, EngineError> {
        let request = TakeRequest { offer: offer.clone(), wait_ms: wire::millis(wait) };
        self.ask(Operation::Take, &request, wait)
    }

    /// As [`Engine::renew`](crate::engine::Engine::renew).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn renew(&self, beat: &Beat) -> Result<Vec<Renewal>, EngineError> {
        self.ask(Operation::Renew, beat, Duration::ZERO)
    }

    /// As [`Engine::claim`](crate::engine::Engine::claim).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn claim(&self, claim: &Claim) -> Result<Lease, EngineError> {
        self.ask(Operation::Claim, claim, Duration::ZERO)
    }

    /// As [`Engine::release`](crate::engine::Engine::release).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn release(&self, release: &Release) -> Result<(), EngineError> {
        self.ask(Operation::Release, release, Duration::ZERO)
    }

    /// As [`Engine::append`](crate::engine::Engine::append).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn append(&self, lines: &Append) -> Result<Head, EngineError> {
        self.ask(Operation::Append, lines, Duration::ZERO)
    }

    /// As [`Engine::lines`](crate::engine::Engine::lines).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn lines(&self, run: &str, after: u64, wait: Duration) -> Result<Lines, EngineError> {
        let wait_ms = wire::millis(wait);
        let request = LinesRequest { run_id: run.to_owned(), after, wait_ms };
        self.ask(Operation::Lines, &request, wait)
    }

    /// As [`Engine::overview`](crate::engine::Engine::overview).
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn overview(&self) -> Result<Overview, EngineError> {
        self.ask(Operation::Overview, &Nothing {}, Duration::ZERO)
    }

    /// Tells whoever wants to hear it what was said last in a run.
    ///
    /// # Errors
    ///
    /// When the server does not take it.
    pub fn say(&self, words: &Words) -> Result<(), EngineError> {
        self.ask(Operation::Say, words, Duration::ZERO)
    }

    /// What was said last in a run, where that is not what was `heard`; `None`: nothing else within `wait`.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked.
    pub fn hear(
        &self,
        run: &str,
        heard: u64,
        wait: Duration,
    ) -> Result<Option<Heard>, EngineError> {
        let wait_ms = wire::millis(wait);
        let request = HearRequest { run_id: run.to_owned(), heard, wait_ms };
        self.ask(Operation::Hear, &request, wait)
    }

    /// Those of these runs that somebody wants to hear, as soon as there is one; none within `wait`.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked.
    pub fn wanted(&self, runs: &[String], wait: Duration) -> Result<Vec<String>, EngineError> {
        let request = WantedRequest { run_ids: runs.to_vec(), wait_ms: wire::millis(wait) };
        self.ask(Operation::Wanted, &request, wait)
    }

    /// Asks again while the server cannot be reached, for as long as `patience`: every operation may be
    /// repeated. `go_on` is asked before each try but the first.
    ///
    /// # Errors
    ///
    /// What the last try said.
    pub fn patiently<T>(
        &self,
        patience: Duration,
        mut go_on: impl FnMut() -> bool,
        mut ask: impl FnMut(&Client) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let end = Instant::now() + patience;
        let mut pause = PAUSE;
        loop {
            match ask(self) {
                Err(error @ EngineError::Unreachable { .. }) => {
                    if Instant::now() + pause > end {
                        return Err(error);
                    }
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(PAUSE_MAX);
                    if !go_on() {
                        return Err(error);
                    }
                }
                outcome => return outcome,
            }
        }
    }

    fn ask<T: DeserializeOwned>(
        &self,
        operation: Operation,
        request: &impl Serialize,
        wait: Duration,
    ) -> Result<T, EngineError> {
        let body = serde_json::to_vec(request).expect("requests have only string keys");
        let stamp = Stamp::new(now_ms());
        let (status, code, body) = self
            .exchange(operation, &stamp, &body, wait)
            .map_err(|error| unreachable(why(&error)))?;
        if status == 401 {
            return Err(EngineError::Denied);
        }
        if !self.key.is_of_answer(&code, &stamp.nonce, status, &body) {
            let mut why = format!("what answers at {} does not have the fleet's key", self.url);
            let _ = write!(why, " (status {status})");
            return Err(unreachable(why));
        }
        let unread = |error: serde_json::Error| unreachable(format!("its answer is none: {error}"));
        match status {
            200 => serde_json::from_slice(&body).map_err(unread),
            _ => Err(serde_json::from_slice(&body).map_err(unread)?),
        }
    }

    /// Status, code and body of the answer.
    fn exchange(
        &self,
        operation: Operation,
        stamp: &Stamp,
        body: &[u8],
        wait: Duration,
    ) -> Result<(u16, String, Vec<u8>), Error> {
        let code = self.key.of_request(stamp, "POST", operation.path(), body);
        let request = Request::post(format!("{}{}", self.url, operation.path()))
            .header("content-type", "application/json")
            .header(wire::TIME, stamp.at_ms.to_string())
            .header(wire::NONCE, &stamp.nonce)
            .header(wire::CODE, code)
            .body(body)?;
        let request = self.agent.configure_request(request);
        let mut response = self.agent.run(request.timeout_global(Some(wait + ANSWER)).build())?;
        let code = response.headers().get(wire::CODE).and_then(|code| code.to_str().ok());
        let (status, code) = (response.status().as_u16(), code.unwrap_or_default().to_owned());
        let body = response.body_mut().with_config().limit(wire::ANSWER_BYTES).read_to_vec()?;
        Ok((status, code, body))
    }
}

fn unreachable(why: String) -> EngineError {
    EngineError::Unreachable { why }
}

/// What is wrong on the way, as a clause.
fn why(error: &Error) -> String {
    let tls = match error {
        Error::Rustls(error) => Some(error),
        Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref()),
        _ => None,
    };
    if tls == Some(&rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) {
        return UNTRUSTED.to_owned();
    }
    match error {
        Error::Timeout(_) => "no answer in time".to_owned(),
        Error::HostNotFound => "its host is unknown".to_owned(),
        Error::ConnectionFailed => "no connection".to_owned(),
        Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn is_loopback(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, host)| host);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        host.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':') || rest.starts_with('/'))
    })
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
