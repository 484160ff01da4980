//! What a client asks of the proxy: HTTP with an absolute address, CONNECT, or SOCKS 5.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use onloop_core::limits::{PROXY_CONNECT_MS, PROXY_HEADER_BYTES};

/// A request for a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) protocol: Protocol,
    /// The host as written.
    pub(super) host: String,
    pub(super) port: u16,
    /// What the server is sent first.
    pub(super) first: Vec<u8>,
}

/// How a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// HTTP with an absolute address.
    Http,
    /// HTTP's CONNECT.
    Connect,
    /// SOCKS 5.
    Socks,
}

/// Why there is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The client has gone or is silent.
    Ended,
    /// The header has more than [`PROXY_HEADER_BYTES`].
    TooLarge,
    /// It is not HTTP, or not for a proxy.
    Http(&'static str),
    /// It is not a request of SOCKS for a connection.
    Socks(u8),
    /// The client knows no way to log in that the proxy knows.
    NoMethod,
}

impl Protocol {
    /// What the client is sent once the server is connected.
    pub(super) fn connected(self) -> &'static [u8] {
        match self {
            Protocol::Http => b"",
            Protocol::Connect => b"HTTP/1.1 200 Connection established\r\n\r\n",
            Protocol::Socks => &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        }
    }
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// [`Unreadable`], which has an answer for the client.
    pub(super) fn read<C: Read + Write>(client: &mut C) -> Result<Asked, Unreadable> {
        let mut bytes = vec![0];
        client.read_exact(&mut bytes).map_err(|_| Unreadable::Ended)?;
        if bytes[0] == 5 {
            return socks(client);
        }
        let until = Instant::now() + Duration::from_millis(PROXY_CONNECT_MS);
        let end = loop {
            let from = bytes.len().saturating_sub(3);
            let mut more = [0; 4096];
            let read = client.read(&mut more).ok();
            let read = read.filter(|read| *read > 0 && Instant::now() < until);
            bytes.extend_from_slice(&more[..read.ok_or(Unreadable::Ended)?]);
            let found = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n");
            match found {
                Some(at) if from + at <= PROXY_HEADER_BYTES => break from + at,
                None if bytes.len() <= PROXY_HEADER_BYTES => {}
                Some(_) | None => return Err(Unreadable::TooLarge),
            }
        };
        http(&bytes[..end], &bytes[end + 4..])
    }
}

/// A request of HTTP; `rest` are the first bytes behind its header.
fn http(header: &[u8], rest: &[u8]) -> Result<Asked, Unreadable> {
    let wrong = Unreadable::Http;
    let text = std::str::from_utf8(header).map_err(|_| wrong("the header is not UTF-8"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong("the first line is not one of HTTP"));
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || text.contains('\0') {
        return Err(wrong("the first line is not one of HTTP"));
    }
    if method == "CONNECT" {
        let (host, port) = place(target, None).ok_or(wrong("CONNECT takes `host:port`"))?;
        return Ok(Asked { protocol: Protocol::Connect, host, port, first: rest.to_vec() });
    }
    let scheme = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let Some(address) = scheme.map(|scheme| &target[scheme.len()..]) else {
        return Err(wrong("a proxy is asked with `http://host/` or CONNECT"));
    };
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let (authority, path) = address.split_at(end);
    let (host, port) = place(authority, Some(80)).ok_or(wrong("the address has no host"))?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut first = format!("{method} {slash}{path} {version}\r\nHost: {authority}\r\n");
    for line in lines {
        // A line that continues the one before could hide a header.
        let (name, _) = line
            .split_once(':')
            .filter(|(name, _)| !name.is_empty() && !name.contains([' ', '\t', '\n', '\r']))
            .ok_or(wrong("a line of the header is not `name: value`"))?;
        if line.contains(['\n', '\r']) {
            return Err(wrong("a line of the header is not `name: value`"));
        }
        const OWN: [&str; 5] =
            ["host", "connection", "proxy-connection", "proxy-authorization", "keep-alive"];
        if !OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            first += line;
            first += "\r\n";
        }
    }
    // A second request of the same connection may be for another host.
    first += "Connection: close\r\n\r\n";
    let mut first = first.into_bytes();
    first.extend_from_slice(rest);
    Ok(Asked { protocol: Protocol::Http, host, port, first })
}

/// Host and port of an address without a user in it.
fn place(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        Some(_) | None => (authority, default?),
    };
    let is_plain = !host.is_empty() && !host.contains(['@', '\\', '%']) && port != 0;
    is_plain.then(|| (host.to_owned(), port))
}

/// A request of SOCKS 5 whose first byte was read.
fn socks<C: Read + Write>(client: &mut C) -> Result<Asked, Unreadable> {
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        client.read_exact(&mut bytes).map(|()| bytes).map_err(|_| Unreadable::Ended)
    };
    let count = take(1)?[0];
    if !take(usize::from(count))?.contains(&0) {
        return Err(Unreadable::NoMethod);
    }
    client.write_all(&[5, 0]).map_err(|_| Unreadable::Ended)?;
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        client.read_exact(&mut bytes).map(|()| bytes).map_err(|_| Unreadable::Ended)
    };
    let head = take(4)?;
    let host = match (head[0], head[1], head[3]) {
        (5, 1, 1) => {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&take(4)?);
            Ipv4Addr::from(bytes).to_string()
        }
        (5, 1, 3) => {
            let length = take(1)?[0];
            String::from_utf8(take(usize::from(length))?).map_err(|_| Unreadable::Socks(1))?
        }
        (5, 1, 4) => {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&take(16)?);
            Ipv6Addr::from(bytes).to_string()
        }
        (5, 1, _) => return Err(Unreadable::Socks(8)),
        (5, _, _) => return Err(Unreadable::Socks(7)),
        (_, _, _) => return Err(Unreadable::Socks(1)),
    };
    let port = take(2)?;
    let port = u16::from_be_bytes([port[0], port[1]]);
    Ok(Asked { protocol: Protocol::Socks, host, port, first: Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A client that has sent something.
    struct Client<'b> {
        sent: &'b [u8],
        heard: Vec<u8>,
    }

    impl Read for Client<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.sent.read(to)
        }
    }

    impl Write for Client<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.heard.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn read(sent: &[u8]) -> (Result<Asked, Unreadable>, Vec<u8>) {
        let mut client = Client { sent, heard: Vec::new() };
        let asked = Asked::read(&mut client);
        (asked, client.heard)
    }

    #[test]
    fn requests_are_read_in_three_forms() {
        let asked = |sent: &[u8]| {
            let asked = read(sent).0.unwrap();
            let first = String::from_utf8(asked.first).unwrap();
            (asked.protocol, asked.host, asked.port, first)
        };
        let host = "a.example".to_owned();
        let none = String::new();
        let sent = b"CONNECT a.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\nhello";
        assert_eq!(asked(sent), (Protocol::Connect, host.clone(), 443, "hello".to_owned()));
        let sent = b"GET HTTP://a.example/x?y#z HTTP/1.1\r\nHost: evil.example\r\nA: b\r\n\
                     Proxy-Connection: keep-alive\r\n\r\nbody";
        let first = "GET /x?y HTTP/1.1\r\nHost: a.example\r\nA: b\r\nConnection: close\r\n\r\nbody";
        assert_eq!(asked(sent), (Protocol::Http, host.clone(), 80, first.to_owned()));
        let sent = b"GET http://a.example:8080?q HTTP/1.0\r\n\r\n";
        let first = "GET /?q HTTP/1.0\r\nHost: a.example:8080\r\nConnection: close\r\n\r\n";
        assert_eq!(asked(sent), (Protocol::Http, host.clone(), 8080, first.to_owned()));
        let sent = b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n";
        assert_eq!(asked(sent), (Protocol::Connect, "[::1]".to_owned(), 443, none.clone()));
        let sent = b"\x05\x01\x00\x05\x01\x00\x03\x09a.example\x01\xbb";
        assert_eq!(asked(sent), (Protocol::Socks, host, 443, none.clone()));
        let sent = b"\x05\x02\x02\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50";
        assert_eq!(asked(sent), (Protocol::Socks, "127.0.0.1".to_owned(), 80, none));
        assert_eq!(read(sent).1, [5, 0]);
    }

    #[test]
    fn anything_else_is_no_request() {
        let text = |text: &str| read(text.as_bytes()).0.unwrap_err();
        for sent in [
            "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "GET http://u@a.example/x HTTP/1.1\r\n\r\n",
            "GET http://a.example:0/x HTTP/1.1\r\n\r\n",
            "GET http://a.example:99999/x HTTP/1.1\r\n\r\n",
            "GET http://a.example/x HTTP/1.1 \r\n\r\n",
            "GET http://a.example/x\r\n\r\n",
            "GET http://a.example/x HTTP/1.1\r\nA: b\r\n Host: c\r\n\r\n",
            "GET http://a.example/x HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
            "GET http://a.example/x HTTP/1.1\r\nHost : c\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "CONNECT a.example:443 HTTP/2\r\n\r\n",
        ] {
            assert!(matches!(text(sent), Unreadable::Http(_)), "{sent}: {:?}", text(sent));
        }
        assert_eq!(text(""), Unreadable::Ended);
        assert_eq!(text("GET http://a.example/ HTTP/1.1\r\n"), Unreadable::Ended);
        let long =
            format!("GET http://a/ HTTP/1.1\r\nA: {}\r\n\r\n", "b".repeat(PROXY_HEADER_BYTES));
        assert_eq!(text(&long), Unreadable::TooLarge);
        let endless = format!("GET {}", "b".repeat(2 * PROXY_HEADER_BYTES));
        assert_eq!(text(&endless), Unreadable::TooLarge);
        let socks = |sent: &[u8]| read(sent).0.unwrap_err();
        assert_eq!(socks(b"\x05\x01\x02"), Unreadable::NoMethod);
        assert_eq!(
            socks(b"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50"),
            Unreadable::Socks(7)
        );
        assert_eq!(socks(b"\x05\x01\x00\x05\x01\x00\x09"), Unreadable::Socks(8));
        assert_eq!(socks(b"\x05\x01\x00\x05\x01"), Unreadable::Ended);
    }
}
