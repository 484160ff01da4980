//! A client of the fleet's API server.

use std::time::Duration;

use rustls::CertificateError;
use ureq::http::{Request, StatusCode};
use ureq::tls::TlsConfig;
use ureq::{Agent, Error, Proxy};

use crate::authority::Authority;
use crate::backoff::{Backoff, retry};
use crate::engine::{EngineError, Operation};
use crate::key::Key;

/// The cause when the server's certificate has no trusted signature.
const UNTRUSTED: &str = "no authority that is trusted here has signed its certificate (ONLOOP_FLEET_CA_FILE \
    names one)";
/// Most bytes of an answer.
const ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Longest time for a connection to be established.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest time for an answer, besides the wait that the operation contains.
const ANSWER: Duration = Duration::from_secs(30);
/// Pauses between two attempts to reach the server.
const RETRY: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

/// A client of the fleet's server. Calls block, and threads share a client.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    key: Key,
    agent: Agent,
}

impl Client {
    /// Returns a client of the server at `url`. `authority` must have signed the server's certificate;
    /// without one, an authority that browsers trust must have.
    pub fn new(url: &str, key: Key, authority: Option<&Authority>) -> Client {
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

    /// Returns the address of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Calls an operation of the server.
    ///
    /// # Errors
    ///
    /// Those of the engine; [`EngineError::Unreachable`] if the server does not answer.
    pub fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, EngineError> {
        let (status, body) = self.exchange(operation).map_err(|error| unreachable(why(&error)))?;
        if status == StatusCode::UNAUTHORIZED {
            return Err(EngineError::Denied);
        }
        let unread = |error| {
            unreachable(format!("what answers there is not a fleet's server ({status}): {error}"))
        };
        match status {
            StatusCode::OK => serde_json::from_slice(&body).map_err(unread),
            _ => Err(serde_json::from_slice(&body).map_err(unread)?),
        }
    }

    /// Calls an operation and retries for up to `limit` while the server cannot be reached.
    ///
    /// # Errors
    ///
    /// Those of the last attempt.
    pub fn call_within<O: Operation>(
        &self,
        limit: Duration,
        operation: &O,
    ) -> Result<O::Answer, EngineError> {
        self.retry_within(limit, || self.call(operation))
    }

    /// Repeats `attempt` for up to `limit` while the server cannot be reached.
    ///
    /// # Errors
    ///
    /// Those of the last attempt.
    pub fn retry_within<T>(
        &self,
        limit: Duration,
        attempt: impl FnMut() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        retry(limit, RETRY, |error| matches!(error, EngineError::Unreachable { .. }), attempt)
    }

    fn exchange<O: Operation>(&self, operation: &O) -> Result<(StatusCode, Vec<u8>), Error> {
        let body = serde_json::to_vec(operation).expect("requests have only string keys");
        let request = Request::post(format!("{}{}", self.url, O::PATH))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.key.text()))
            .body(body)?;
        let request = self.agent.configure_request(request);
        let limit = operation.wait() + ANSWER;
        let mut response = self.agent.run(request.timeout_global(Some(limit)).build())?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec()?;
        Ok((status, body))
    }
}

/// Whether a URL names this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let uri = url.parse::<ureq::http::Uri>().ok();
    let host = uri.as_ref().and_then(|uri| uri.host()).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn unreachable(why: String) -> EngineError {
    EngineError::Unreachable { why }
}

/// Describes a transport error as a clause.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for url in [
            "http://127.0.0.1:9400",
            "http://127.8.9.1",
            "http://localhost:1/",
            "http://[::1]:9400",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://127.0.0.1:1@example.org",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org:9400",
            "http://192.168.1.2:9400",
            "http://[::2]",
            "nothing",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
