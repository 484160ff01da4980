//! Which addresses an agent may fetch: public ones, over the web's own schemes.

use super::paths::{goes_up, tidy};
use super::verdict::{Finding, Rule};
use onloop_syntax::syntax::file_uri;

/// Domains of this machine, of its network, or of a cloud's metadata, and public ones whose names lead
/// to any address.
const PRIVATE: [&str; 29] = [
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "nip.io",
    "sslip.io",
    "xip.io",
    "1u.ms",
    "rbndr.us",
    "rebind.network",
    "traefik.me",
    "local-ip.co",
    "localho.st",
    "kubernetes.default",
    "ts.net",
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "consul",
    "svc",
    "lan",
    "corp",
    "home",
    "home.arpa",
    "test",
    "onion",
];

/// An address without its scheme.
pub(super) fn without_scheme(address: &str) -> &str {
    address.split_once("://").map_or(address, |(_, rest)| rest)
}

/// The server of an address, with what stands before and behind its name.
pub(super) fn authority(address: &str) -> &str {
    without_scheme(address).split(['/', '?', '#']).next().unwrap_or_default()
}

/// Judges fetching `url`; `None` when it may be fetched.
pub(super) fn judge(url: &str) -> Option<Finding> {
    objection(url).map(|what| Finding::ask(Rule::Web, format!("the address {what}")))
}

/// `url` with its scheme and host in small letters, without user, and with a path in which nothing is
/// encoded and no `..` goes up; and whether the way it is written leads to the same place. `None`: programs
/// may take it for different addresses.
pub(super) fn plain(url: &str) -> Option<(String, bool)> {
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    let (scheme, rest) = url.split_once("://").filter(|_| !url.contains(is_odd))?;
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, end) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let path = file_uri::percent_decoded(path)?;
    let host = authority.rsplit('@').next().unwrap_or_default().to_lowercase();
    let (host, port) = host.split_once(':').unwrap_or((&host, ""));
    let (host, scheme) = (host.trim_end_matches('.'), scheme.to_lowercase());
    let port = match (scheme.as_str(), port) {
        (_, "") | ("http", "80") | ("https", "443") => String::new(),
        (_, port) => format!(":{port}"),
    };
    let is_plain = !authority.contains('@') && !goes_up(&path);
    let path = if path.is_empty() { path } else { tidy(&path) };
    Some((format!("{scheme}://{host}{port}{path}{end}"), is_plain))
}

fn objection(url: &str) -> Option<&'static str> {
    let url = url.trim();
    if url.len() > 8192 || url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Some("is written in an unusual way");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("has no scheme");
    };
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Some("is not one of the web");
    }
    let authority = authority(url);
    if authority.contains('@') {
        return Some("contains a user name");
    }
    if authority.starts_with('[') {
        return Some("is a number instead of a name");
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return Some("is written in an unusual way");
    }
    let host = host.trim_end_matches('.').to_lowercase();
    if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        return Some("is written in an unusual way");
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        return Some("is a number instead of a name");
    }
    if !host.contains('.') {
        return Some("is on this machine or its network");
    }
    if rest.contains('?') {
        return Some("has a query, which may carry something away");
    }
    let is_in = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let private = PRIVATE.iter().any(is_in);
    private.then_some("is on this machine or its network")
}

#[cfg(test)]
mod tests {
    use super::objection;

    #[test]
    fn only_public_web_addresses_pass() {
        for url in ["https://example.com/a#c", "http://docs.rs:80/x", "HTTPS://Example.COM"] {
            assert_eq!(objection(url), None, "{url}");
        }
        for url in [
            "https://example.com/?d=x",
            "http://169.254.169.254/latest",
            "http://127.0.0.1:8080",
            "http://localhost/x",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://example.com",
            "//example.com",
            "http://user@example.com/",
            "http://example.com@127.0.0.1/",
            "http://10.0.0.1.nip.io",
            "http://metadata.google.internal/x",
            "http://box/",
            "http://exa mple.com/",
            "javascript:alert(1)",
            "data:text/html,x",
            "http:/\\example.com",
            "",
            "http://127.1/",
            "http://localhost./",
            "https://ⓔxample.com/",
        ] {
            assert!(objection(url).is_some(), "{url}");
        }
    }
}
