//! Servers, through `ureq`.
//!
//! Each exchange runs in its own thread, so that Ctrl-C ends the wait at once.
//! A thread that is left behind ends with its timeout, or with the process.

mod names;

#[cfg(target_os = "linux")]
pub(super) use names::without_modules_of_the_system;

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind, HttpAnswer, HttpMethod, HttpSpec};
use ureq::http::Request;
use ureq::{Agent, Error, Proxy};

use super::{Interrupts, failure};

/// How often an interrupt is checked for while waiting for an answer.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Servers on the network. Nothing is set up before the first request.
#[derive(Debug)]
pub struct OsHttp {
    interrupts: Interrupts,
    agent: Option<Agent>,
}

impl OsHttp {
    /// Servers as this process reaches them: through the proxy that the environment names.
    pub fn new(interrupts: &Interrupts) -> OsHttp {
        OsHttp { interrupts: interrupts.clone(), agent: None }
    }

    /// Performs `Request::Http`.
    pub fn http(&mut self, spec: HttpSpec) -> Result<HttpAnswer, Failure> {
        self.interrupts.check()?;
        let Some(origin) = spec.origin().map(str::to_owned) else {
            let message = "the URL does not name a server; expected `http://` or `https://`";
            return Err(Failure::new(FailureKind::Invalid, message));
        };
        let agent = self.agent.get_or_insert_with(agent).clone();
        let (answered, answer) = sync_channel(1);
        let conversation = move || {
            let failed = |error: Error| failure_of(&error, &spec, &origin);
            // The caller of an interrupted request has gone.
            let _ = answered.send(converse(&agent, &spec, &origin).map_err(failed));
        };
        thread::Builder::new()
            .spawn(conversation)
            .map_err(|error| failure::of(&error, "cannot start a thread for a request"))?;
        loop {
            match answer.recv_timeout(LOOK_EVERY) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => self.interrupts.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "the connection ended without an answer";
                    return Err(Failure::new(FailureKind::Other, message));
                }
            }
        }
    }
}

fn agent() -> Agent {
    names::without_modules_of_the_system();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("onloop/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

fn converse(agent: &Agent, spec: &HttpSpec, origin: &str) -> Result<HttpAnswer, Error> {
    let mut request = Request::builder().method(spec.method.as_str()).uri(&spec.url);
    for (name, value) in &spec.headers {
        request = request.header(name, value);
    }
    let timeout = Some(Duration::from_millis(spec.timeout_ms));
    // A server on this machine is never meant to be reached through a proxy.
    let proxy = if is_loopback(origin) { None } else { Proxy::try_from_env() };
    let body = match (&spec.body, spec.method) {
        (Some(body), _) => Some(&**body),
        (None, HttpMethod::Post) => Some(&[][..]),
        (None, HttpMethod::Get) => None,
    };
    let mut response = match body {
        Some(body) => {
            let request = agent.configure_request(request.body(body)?);
            agent.run(request.timeout_global(timeout).proxy(proxy).build())?
        }
        None => {
            let request = agent.configure_request(request.body(())?);
            agent.run(request.timeout_global(timeout).proxy(proxy).build())?
        }
    };
    let status = response.status().as_u16();
    // The library refuses what is as large as its limit.
    let limit = spec.limit_bytes.saturating_add(1);
    let body = response.body_mut().with_config().limit(limit).read_to_vec()?;
    Ok(HttpAnswer { status, body: body.into() })
}

fn is_loopback(origin: &str) -> bool {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        host.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// What went wrong, without the URL: it may contain a token.
fn failure_of(error: &Error, spec: &HttpSpec, origin: &str) -> Failure {
    let (kind, why) = match error {
        Error::Timeout(_) => {
            (FailureKind::Closed, format!("no answer within {} ms", spec.timeout_ms))
        }
        Error::HostNotFound => (FailureKind::Closed, "the host is unknown".to_owned()),
        Error::ConnectionFailed => (FailureKind::Closed, "no connection".to_owned()),
        Error::BodyExceedsLimit(_) => {
            (FailureKind::TooLarge, format!("the answer has more than {} bytes", spec.limit_bytes))
        }
        Error::LargeResponseHeader(..) => {
            (FailureKind::TooLarge, "the answer's header is too large".to_owned())
        }
        Error::Io(error) => (kind_of(error), failure::reason(error)),
        Error::Http(_) | Error::BadUri(_) => {
            (FailureKind::Invalid, "the request is not valid HTTP".to_owned())
        }
        Error::InvalidProxyUrl => {
            (FailureKind::Invalid, "the proxy in the environment is not a URL".to_owned())
        }
        other => (FailureKind::Other, spec.scrubbed(&other.to_string())),
    };
    Failure::new(kind, format!("cannot reach `{origin}`: {why}"))
}

fn kind_of(error: &std::io::Error) -> FailureKind {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::TimedOut
        | ErrorKind::UnexpectedEof => FailureKind::Closed,
        _ => failure::kind(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_asked_without_a_proxy() {
        for origin in ["http://127.0.0.1:80", "https://localhost", "http://[::1]:9"] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in ["http://127.0.0.1.example", "https://localhosts:1", "https://example"] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }

    #[test]
    fn errors_do_not_name_the_address() {
        let spec = HttpSpec {
            method: HttpMethod::Get,
            url: "https://api.example/bot1:t0ps3cret/x".to_owned(),
            headers: Vec::new(),
            body: None,
            timeout_ms: 7,
            limit_bytes: 5,
        };
        let table = [
            (Error::BadUri(spec.url.clone()), FailureKind::Invalid),
            (Error::HostNotFound, FailureKind::Closed),
            (Error::Tls("t0ps3cret"), FailureKind::Other),
            (Error::BodyExceedsLimit(5), FailureKind::TooLarge),
            (Error::Io(std::io::ErrorKind::ConnectionRefused.into()), FailureKind::Closed),
        ];
        for (error, kind) in table {
            let failure = failure_of(&error, &spec, "https://api.example");
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(!failure.message.contains("t0ps3cret"), "{failure:?}");
            assert!(failure.message.starts_with("cannot reach `https://api.example`: "));
        }
    }
}
