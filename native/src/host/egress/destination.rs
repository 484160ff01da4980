//! Which servers a confined program reaches, and the connections to them.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use onloop_core::effect::{Network, RefusedName, RefusedReason, host_name, is_loopback_name};
use onloop_core::limits::{PROXY_CONNECT_MS, PROXY_REFUSED_NAMES};
use onloop_core::text;

use super::upstream::Upstream;
use crate::host::{failure, http};

/// Longest text of a name that is not one.
const SHOWN_BYTES: usize = 100;

/// Finds the addresses of a name.
type Resolve = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// The servers that one confined program reaches.
pub(super) struct Destinations {
    network: Network,
    /// Ports of this machine that it never reaches.
    reserved: BTreeSet<u16>,
    upstream: Option<Upstream>,
    resolve: Resolve,
    refused: Mutex<Vec<RefusedName>>,
}

/// Why there is no connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoConnection {
    /// It is not allowed.
    Refused(RefusedName),
    /// The name has no address.
    Unknown(String),
    /// The server does not answer.
    Failed(String),
}

impl Destinations {
    pub(super) fn new(network: Network, reserved: BTreeSet<u16>) -> Destinations {
        let (upstream, refused) = (Upstream::of_environment(), Mutex::default());
        Destinations { network, reserved, upstream, resolve, refused }
    }

    /// The names that were refused.
    pub(super) fn refused(&self) -> Vec<RefusedName> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connects to a host as a client writes it. Only names of the list are resolved.
    pub(super) fn connect(&self, host: &str, port: u16) -> Result<TcpStream, NoConnection> {
        let Some(name) = host_name(host) else {
            let shown = text::ellipsis(&text::one_line(host), SHOWN_BYTES);
            return Err(self.refuse(shown, RefusedReason::NotListed));
        };
        let is_here = is_loopback_name(&name);
        let shown = if is_here { format!("localhost:{port}") } else { name.clone() };
        if !self.network.allows(&name, port) {
            return Err(self.refuse(shown, RefusedReason::NotListed));
        }
        if is_here {
            if self.reserved.contains(&port) {
                return Err(self.refuse(shown, RefusedReason::ReservedPort));
            }
            let addresses = ["127.0.0.1", "::1"].map(|host| (host, port).to_socket_addrs());
            let addresses: Vec<SocketAddr> = addresses.into_iter().flatten().flatten().collect();
            return connect_to(&shown, &addresses);
        }
        if let Some(upstream) = self.upstream.as_ref().filter(|upstream| upstream.serves(&name)) {
            let failed = |error: io::Error| NoConnection::Failed(failed(&name, &error));
            return upstream.connect(&name, port).map_err(failed);
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            return connect_to(&name, &[(address, port).into()]);
        }
        let found = (self.resolve)(&name, port).map_err(|error| {
            NoConnection::Unknown(format!("no address of `{name}`: {}", failure::reason(&error)))
        })?;
        let addresses: Vec<SocketAddr> =
            found.iter().copied().filter(|address| self.is_open(address)).collect();
        if addresses.is_empty() && !found.is_empty() {
            return Err(self.refuse(shown, RefusedReason::LocalAddress));
        }
        connect_to(&name, &addresses)
    }

    /// Whether an address that a listed name has may be connected to.
    fn is_open(&self, address: &SocketAddr) -> bool {
        let port = address.port();
        match address.ip().to_canonical() {
            ip if ip.is_loopback() || ip.is_unspecified() => {
                self.network.allows("localhost", port) && !self.reserved.contains(&port)
            }
            IpAddr::V4(ip) => !ip.is_link_local() && !ip.is_broadcast() && !ip.is_multicast(),
            IpAddr::V6(ip) => !ip.is_unicast_link_local() && !ip.is_multicast(),
        }
    }

    fn refuse(&self, name: String, reason: RefusedReason) -> NoConnection {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = refused.len() < PROXY_REFUSED_NAMES;
        let known = refused.iter_mut().find(|known| known.name == name && known.reason == reason);
        match known {
            Some(known) => known.count = known.count.saturating_add(1),
            None if has_room => {
                refused.push(RefusedName { name: name.clone(), reason, count: 1 });
            }
            None => {}
        }
        NoConnection::Refused(RefusedName { name, reason, count: 1 })
    }
}

fn resolve(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    http::without_modules_of_the_system();
    (name, port).to_socket_addrs().map(Iterator::collect)
}

/// Connects to the first address that answers.
fn connect_to(name: &str, addresses: &[SocketAddr]) -> Result<TcpStream, NoConnection> {
    let end = Instant::now() + Duration::from_millis(PROXY_CONNECT_MS);
    let mut why = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(address, left) {
            Ok(server) => {
                // It costs time only.
                let _ = server.set_nodelay(true);
                return Ok(server);
            }
            Err(error) => why = error,
        }
    }
    Err(NoConnection::Failed(failed(name, &why)))
}

fn failed(name: &str, error: &io::Error) -> String {
    format!("cannot reach `{name}`: {}", failure::reason(error))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn addresses(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let texts: &[&str] = match name {
            "here.example" => &["127.0.0.1"],
            "any.example" => &["0.0.0.0"],
            "mapped.example" => &["::ffff:127.0.0.1"],
            "link.example" => &["169.254.169.254", "fe80::1"],
            "mixed.example" => &["169.254.169.254", "127.0.0.1"],
            "nowhere.example" => return Err(io::ErrorKind::NotFound.into()),
            other => panic!("`{other}` was resolved"),
        };
        Ok(texts.iter().map(|text| (text.parse::<IpAddr>().unwrap(), port).into()).collect())
    }

    fn destinations(network: &str, reserved: &[u16]) -> Destinations {
        Destinations {
            network: network.parse().unwrap(),
            reserved: reserved.iter().copied().collect(),
            upstream: None,
            resolve: addresses,
            refused: Mutex::default(),
        }
    }

    fn reached(destinations: &Destinations, host: &str, port: u16) -> String {
        match destinations.connect(host, port) {
            Ok(_) => "reached".to_owned(),
            Err(NoConnection::Refused(refused)) => format!("{:?}", refused.reason),
            Err(NoConnection::Unknown(_)) => "Unknown".to_owned(),
            Err(NoConnection::Failed(why)) => why,
        }
    }

    #[test]
    fn addresses_of_this_machine_need_its_own_name() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let by_name = destinations(
            "*.example.com,here.example,any.example,mapped.example,link.example,mixed.example,nowhere.example",
            &[],
        );
        for (host, expected) in [
            ("here.example", "LocalAddress"),
            ("any.example", "LocalAddress"),
            ("mapped.example", "LocalAddress"),
            ("link.example", "LocalAddress"),
            ("mixed.example", "LocalAddress"),
            ("nowhere.example", "Unknown"),
            // Not resolved: the question itself would be an answer to somebody.
            ("secret.evil.example", "NotListed"),
            ("localhost", "NotListed"),
            ("127.0.0.1", "NotListed"),
            ("127.1", "NotListed"),
            ("2130706433", "NotListed"),
            ("[::1]", "NotListed"),
            ("169.254.169.254", "NotListed"),
        ] {
            assert_eq!(reached(&by_name, host, port), expected, "{host}");
        }
        let with_localhost =
            destinations("@localhost,here.example,link.example,mixed.example", &[]);
        for (host, expected) in [
            ("here.example", "reached"),
            ("mixed.example", "reached"),
            ("link.example", "LocalAddress"),
            ("localhost", "reached"),
            ("127.0.0.1", "reached"),
            ("0.0.0.0", "reached"),
            ("any.localhost", "reached"),
        ] {
            assert_eq!(reached(&with_localhost, host, port), expected, "{host}");
        }
        let one = destinations(&format!("localhost:{port},here.example"), &[]);
        assert_eq!(reached(&one, "here.example", port), "reached");
        assert_eq!(reached(&one, "localhost", port.wrapping_add(1)), "NotListed");
        let reserved = destinations("@localhost,here.example", &[port]);
        assert_eq!(reached(&reserved, "localhost", port), "ReservedPort");
        assert_eq!(reached(&reserved, "here.example", port), "LocalAddress");
        let literal = destinations("127.0.0.2.example,10.255.255.255", &[]);
        assert_eq!(reached(&literal, "10.255.255.254", port), "NotListed");
    }

    #[test]
    fn refusals_are_counted_and_bounded() {
        let destinations = destinations("a.example", &[]);
        for _ in 0..3 {
            assert!(destinations.connect("evil.example", 443).is_err());
        }
        assert!(destinations.connect("a b\u{1b}", 443).is_err());
        assert!(destinations.connect("127.0.0.1", 80).is_err());
        let refused: Vec<(String, u32)> =
            destinations.refused().into_iter().map(|of| (of.name, of.count)).collect();
        let expected = [("evil.example", 3), ("a b", 1), ("localhost:80", 1)];
        assert_eq!(refused, expected.map(|(name, count)| (name.to_owned(), count)));
        for number in 0..2 * PROXY_REFUSED_NAMES {
            assert!(destinations.connect(&format!("e{number}.example"), 443).is_err());
        }
        assert_eq!(destinations.refused().len(), PROXY_REFUSED_NAMES);
    }
}
