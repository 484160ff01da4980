//! One connection of the confined program.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use onloop_core::confine::refused_line;
use onloop_core::limits::PROXY_CONNECT_MS;

use super::destination::NoConnection;
use super::proxy::Proxy;
use super::relay::relay;
use super::request::{Asked, Protocol, Unreadable};

/// A connection that was accepted.
pub(super) struct Connection {
    pub(super) client: TcpStream,
    /// The port of this machine that it is for; `None`: it says what it wants.
    pub(super) port: Option<u16>,
}

impl Connection {
    /// Serves it to its end. What goes wrong is the client's to hear.
    pub(super) fn serve(mut self, proxy: &Proxy) {
        let limit = Some(Duration::from_millis(PROXY_CONNECT_MS));
        let ready = self.client.set_read_timeout(limit);
        let ready = ready.and_then(|()| self.client.set_write_timeout(limit));
        let ready = ready.and_then(|()| self.client.set_nodelay(true));
        if ready.is_err() {
            return;
        }
        let (server, sent) = match self.port {
            Some(port) => match proxy.destinations.connect("localhost", port) {
                Ok(server) => (server, Vec::new()),
                Err(_) => return,
            },
            None => match self.ask(proxy) {
                Some(found) => found,
                None => return self.end(),
            },
        };
        let _ = relay(&self.client, &server, sent, &proxy.stop);
    }

    /// Reads what the client wants, connects and says so. Returns the server, and what it is to be
    /// sent first.
    fn ask(&mut self, proxy: &Proxy) -> Option<(TcpStream, Vec<u8>)> {
        let asked = match Asked::read(&mut self.client) {
            Ok(asked) => asked,
            Err(unreadable) => {
                let _ = self.client.write_all(&unreadable.answer());
                return None;
            }
        };
        let answer = match proxy.destinations.connect(&asked.host, asked.port) {
            Ok(server) => {
                self.client.write_all(asked.protocol.connected()).ok()?;
                return Some((server, asked.first));
            }
            Err(failed) => answer(asked.protocol, &failed),
        };
        let _ = self.client.write_all(&answer);
        None
    }

    /// Ends a connection so that the client reads the answer, although something that it sent may
    /// not have been read.
    fn end(mut self) {
        let _ = self.client.shutdown(Shutdown::Write);
        let _ = self.client.set_read_timeout(Some(Duration::from_millis(200)));
        let _ = io::copy(&mut Read::by_ref(&mut self.client).take(64 * 1024), &mut io::sink());
    }
}

fn answer(protocol: Protocol, failed: &NoConnection) -> Vec<u8> {
    match (protocol, failed) {
        (Protocol::Socks, NoConnection::Refused(_)) => socks(2),
        (Protocol::Socks, NoConnection::Unknown(_)) => socks(4),
        (Protocol::Socks, NoConnection::Failed(_)) => socks(5),
        (Protocol::Connect | Protocol::Http, NoConnection::Refused(refused)) => {
            let line = refused_line(std::slice::from_ref(refused)).unwrap_or_default();
            http("403 Forbidden", &format!("onloop: {line}"))
        }
        (_, NoConnection::Unknown(why) | NoConnection::Failed(why)) => {
            http("502 Bad Gateway", &format!("onloop: {why}"))
        }
    }
}

/// The answer of SOCKS 5 with this code.
pub(super) fn socks(code: u8) -> Vec<u8> {
    vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// An answer of HTTP with a line of text.
pub(super) fn http(status: &str, line: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{line}\n",
        line.len() + 1
    )
    .into_bytes()
}

impl Unreadable {
    fn answer(&self) -> Vec<u8> {
        match self {
            Unreadable::Socks(code) => socks(*code),
            Unreadable::NoMethod => vec![5, 0xff],
            Unreadable::TooLarge => {
                http("431 Request Header Fields Too Large", "onloop: the header is too large")
            }
            Unreadable::Http(why) => http("400 Bad Request", &format!("onloop: {why}")),
            Unreadable::Ended => Vec::new(),
        }
    }
}
