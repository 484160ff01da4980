//! A request to a server, and its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
use onloop_syntax::text::words;

/// A request to a server. Its `Debug` output and messages show only its origin: URL, headers and
/// body may contain secrets.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct HttpSpec {
    /// The method.
    pub method: HttpMethod,
    /// The address: `http://` or `https://`.
    pub url: String,
    /// Names and values, in addition to those that the host sets.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Bytes>,
    /// Longest time until the whole answer has arrived, then `Closed`.
    pub timeout_ms: u64,
    /// Largest accepted body; larger: `TooLarge`.
    pub limit_bytes: u64,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Reads.
    Get,
    /// Sends a body.
    Post,
}

words! { impl pub HttpMethod { Get = "GET", Post = "POST", } }

/// A server's answer with any status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpAnswer {
    /// Status; hosts do not follow redirects.
    pub status: u16,
    /// The body.
    pub body: Bytes,
}

impl HttpSpec {
    /// Scheme, host and port: the part of the URL that may be shown. `None`: the URL does not name
    /// a server.
    pub fn origin(&self) -> Option<&str> {
        origin(&self.url)
    }

    /// `message` without this URL and without any part of it beyond the origin.
    pub fn scrubbed(&self, message: &str) -> String {
        let rest = self.origin().map_or("", |origin| &self.url[origin.len()..]);
        let mut message = message.replace(&self.url, "<URL>");
        for part in rest.split(['/', '?', '&', '=', ':']).filter(|part| part.len() >= 8) {
            message = message.replace(part, "<part of the URL>");
        }
        message
    }
}

impl fmt::Debug for HttpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSpec")
            .field("method", &self.method)
            .field("origin", &self.origin())
            .finish_non_exhaustive()
    }
}

/// Whether eavesdroppers cannot read a request to `url`: it uses HTTPS, or stays on this machine.
pub fn is_safe_address(url: &str) -> bool {
    let Some(origin) = origin(url) else { return false };
    let here = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    let is_here = here.iter().any(|here| {
        origin.strip_prefix(here).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    });
    origin.starts_with("https://") || is_here
}

/// Scheme, host and port of a URL that contains no user name and password.
fn origin(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let fits = !host.is_empty() && host.bytes().all(is_plain);
    fits.then(|| &url[..url.len() - rest.len() + host.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(url: &str) -> HttpSpec {
        HttpSpec {
            method: HttpMethod::Get,
            url: url.to_owned(),
            headers: vec![("authorization".to_owned(), "tok3n".to_owned())],
            body: Some(b"tok3n".to_vec().into()),
            timeout_ms: 1,
            limit_bytes: 1,
        }
    }

    #[test]
    fn only_the_origin_is_shown() {
        let spec = spec("https://api.example:8443/bot1:tok3ntok3n/send?x=tok3ntok3n");
        assert_eq!(spec.origin(), Some("https://api.example:8443"));
        assert!(!format!("{spec:?}").contains("tok3n"), "{spec:?}");
        for message in [
            format!("cannot reach {}", spec.url),
            "no route /bot1:tok3ntok3n/send".to_owned(),
            "tok3ntok3n?".to_owned(),
        ] {
            let scrubbed = spec.scrubbed(&message);
            assert!(!scrubbed.contains("tok3n"), "{scrubbed}");
        }
    }

    #[test]
    fn nothing_is_sent_where_others_can_read_it() {
        let table = [
            ("https://hooks.example/T1/B2", true),
            ("http://127.0.0.1:8080/x", true),
            ("http://localhost", true),
            ("http://[::1]:9/x", true),
            ("http://localhost.evil.example/x", false),
            ("http://127.0.0.1@evil.example/x", false),
            ("http://ntfy.example/x", false),
            ("https://me:pw@hooks.example/x", false),
            ("ftp://127.0.0.1/x", false),
            ("", false),
        ];
        for (url, safe) in table {
            assert_eq!(is_safe_address(url), safe, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_has_no_origin() {
        for url in ["", "file:///etc/passwd", "https://", "https:///x", "http://me:pw@host/", "x"] {
            assert_eq!(spec(url).origin(), None, "{url}");
        }
        assert_eq!(spec("http://[::1]:80?x").origin(), Some("http://[::1]:80"));
    }
}
