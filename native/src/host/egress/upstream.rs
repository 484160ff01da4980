//! The proxy through which onloop itself reaches other servers.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use onloop_core::limits::{PROXY_CONNECT_MS, PROXY_HEADER_BYTES};
use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

/// A proxy of the environment that speaks HTTP.
pub(super) struct Upstream(Proxy);

impl Upstream {
    /// The proxy that the environment of this process names.
    pub(super) fn of_environment() -> Option<Upstream> {
        Proxy::try_from_env().filter(|proxy| proxy.protocol() == ProxyProtocol::Http).map(Upstream)
    }

    /// Whether a server is reached through it.
    pub(super) fn serves(&self, name: &str) -> bool {
        let host = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
        format!("http://{host}/").parse::<Uri>().is_ok_and(|uri| !self.0.is_no_proxy(&uri))
    }

    /// Connects to a server. The proxy resolves its name.
    pub(super) fn connect(&self, name: &str, port: u16) -> io::Result<TcpStream> {
        let limit = Duration::from_millis(PROXY_CONNECT_MS);
        let no_address = || io::Error::from(io::ErrorKind::AddrNotAvailable);
        let mut addresses = (self.0.host(), self.0.port()).to_socket_addrs()?;
        let address = addresses.next().ok_or_else(no_address)?;
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_nodelay(true)?;
        let host = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
        let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(user) = self.0.username() {
            let password = self.0.password().unwrap_or_default();
            let login = base64(format!("{user}:{password}").as_bytes());
            request += &format!("Proxy-Authorization: Basic {login}\r\n");
        }
        request += "\r\n";
        stream.write_all(request.as_bytes())?;
        let mut header = Vec::new();
        // Byte by byte: what follows belongs to the server.
        while !header.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            header.push(byte[0]);
            if header.len() > PROXY_HEADER_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        let line = String::from_utf8_lossy(&header);
        let status = line.split(' ').nth(1).unwrap_or_default();
        match status {
            "200" => Ok(stream),
            status => Err(io::Error::other(format!("the proxy of this machine says {status}"))),
        }
    }
}

/// The text of bytes in base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_u32, |number, at| {
            number << 8 | u32::from(three.get(at).copied().unwrap_or_default())
        });
        for digit in 0..4 {
            let value = number >> (18 - 6 * digit) & 63;
            let is_there = digit <= three.len();
            text.push(if is_there { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn base64_has_its_three_endings() {
        let table =
            [("", ""), ("M", "TQ=="), ("Ma", "TWE="), ("Man", "TWFu"), ("u:p~é", "dTpwfsOp")];
        for (text, expected) in table {
            assert_eq!(base64(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_server_is_reached_through_the_proxy_of_this_machine() {
        for (answer, is_reached) in [("200 OK", true), ("407 No", false)] {
            let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = proxy.local_addr().unwrap().port();
            let serving = thread::spawn(move || {
                let (mut client, _) = proxy.accept().unwrap();
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    client.read_exact(&mut byte).unwrap();
                    asked.push(byte[0]);
                }
                client.write_all(format!("HTTP/1.1 {answer}\r\n\r\nhello").as_bytes()).unwrap();
                String::from_utf8(asked).unwrap()
            });
            let upstream = Upstream(Proxy::new(&format!("http://u:p@127.0.0.1:{port}")).unwrap());
            assert!(upstream.serves("a.example"));
            let connected = upstream.connect("a.example", 443);
            assert_eq!(connected.is_ok(), is_reached);
            if let Ok(mut server) = connected {
                let mut said = String::new();
                server.read_to_string(&mut said).unwrap();
                assert_eq!(said, "hello");
            }
            assert_eq!(
                serving.join().unwrap(),
                "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\
                 Proxy-Authorization: Basic dTpw\r\n\r\n"
            );
        }
    }
}
