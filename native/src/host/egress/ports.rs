//! The ports of this machine that a confined program finds on its own loopback device.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use onloop_core::effect::{Network, NetworkName};
use onloop_core::limits::PROXY_PORTS;

/// Ports of container engines and of what manages them: who has them may do anything. Their owner is
/// another user, so that the process behind them cannot be seen.
const ENGINES: [u16; 7] = [2375, 2376, 2377, 4243, 6443, 10250, 16443];

/// Programs whose ports a confined program never reaches.
const OWNERS: [&str; 11] = [
    "onloop",
    "hotl-rt",
    "onloop-fleet",
    "restate-server",
    "dockerd",
    "containerd",
    "podman",
    "buildkitd",
    "crio",
    "k3s",
    "kubelet",
];

/// The ports of this machine for one confined program.
pub(super) struct Ports {
    /// At which something listens, or is expected to.
    pub(super) open: Vec<u16>,
    /// Which are never reached.
    pub(super) reserved: BTreeSet<u16>,
}

/// Returns the ports that `network` asks for, as they are now.
pub(super) fn of(network: &Network) -> Ports {
    let names: &[NetworkName] = match network {
        Network::Names(names) => names,
        Network::All | Network::Loopback | Network::None => &[],
    };
    let listed = names.iter().filter_map(|name| match name {
        NetworkName::Port(port) => Some(*port),
        NetworkName::Provider
        | NetworkName::Registries
        | NetworkName::Localhost
        | NetworkName::Host(_)
        | NetworkName::Below(_) => None,
    });
    let mut open: BTreeSet<u16> = listed.collect();
    if open.is_empty() && !names.contains(&NetworkName::Localhost) {
        return Ports { open: Vec::new(), reserved: BTreeSet::new() };
    }
    let listening = listening();
    let mut reserved = owned(&listening);
    reserved.extend(ENGINES);
    if names.contains(&NetworkName::Localhost) {
        let room = PROXY_PORTS.saturating_sub(open.len());
        open.extend(listening.values().copied().collect::<BTreeSet<u16>>().into_iter().take(room));
    }
    // The proxy itself is there.
    open.remove(&Network::PROXY.1);
    Ports { open: open.into_iter().collect(), reserved }
}

/// The sockets that listen at a loopback address or at every address, and their ports.
fn listening() -> BTreeMap<u64, u16> {
    let mut found = BTreeMap::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let table = fs::read_to_string(path).unwrap_or_default();
        found.extend(table.lines().skip(1).filter_map(in_line));
    }
    found
}

/// The socket and the port in a line of the table, if it listens.
fn in_line(line: &str) -> Option<(u64, u16)> {
    const LISTENS: &str = "0A";
    let mut columns = line.split_whitespace();
    let (address, port) = columns.nth(1)?.split_once(':')?;
    let is_here = address.bytes().all(|byte| byte == b'0')
        // 127.0.0.0/8 and ::1, in the byte order of x86 and ARM.
        || (address.len() == 8 && address.ends_with("7F"))
        || address == "00000000000000000000000001000000"
        || (address.starts_with("0000000000000000FFFF0000") && address.ends_with("7F"));
    let state = columns.nth(1)?;
    let socket = columns.nth(5)?.parse().ok()?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (is_here && state == LISTENS).then_some((socket, port))
}

/// The ports among `listening` of programs whose ports are never reached.
fn owned(listening: &BTreeMap<u64, u16>) -> BTreeSet<u16> {
    let mut owned = BTreeSet::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_number = process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if !is_number || !is_owner(&process.path()) {
            continue;
        }
        for file in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            let target = fs::read_link(file.path()).unwrap_or_default();
            let number = target.to_str().and_then(|target| {
                target.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
            });
            owned.extend(number.and_then(|number| listening.get(&number)));
        }
    }
    owned
}

/// Whether a process is one of the [`OWNERS`]: by its program, or by what an interpreter runs.
fn is_owner(process: &Path) -> bool {
    let is_named = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| OWNERS.contains(&stem))
    };
    if fs::read_link(process.join("exe")).is_ok_and(|program| is_named(&program)) {
        return true;
    }
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    words.split('\0').take(3).any(|word| is_named(Path::new(word)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn listening_ports_of_this_machine_are_found() {
        let v4 = TcpListener::bind("127.0.0.1:0").unwrap();
        let any = TcpListener::bind("0.0.0.0:0").unwrap();
        let ports = [&v4, &any].map(|listener| listener.local_addr().unwrap().port());
        let found: BTreeSet<u16> = listening().into_values().collect();
        assert!(ports.iter().all(|port| found.contains(port)), "{ports:?} {found:?}");
        drop(v4);
        assert!(!listening().values().any(|port| *port == ports[0]));
    }

    #[test]
    fn a_line_of_the_table_is_read() {
        let line = |address: &str, state: &str| {
            let line = format!(
                "   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000 \
                 0 4711 1 0000000000000000 100 0 0 10 0"
            );
            in_line(&line)
        };
        assert_eq!(line("0100007F:1F90", "0A"), Some((4711, 8080)));
        assert_eq!(line("00000000:1F90", "0A"), Some((4711, 8080)));
        assert_eq!(line("00000000000000000000000001000000:0050", "0A"), Some((4711, 80)));
        assert_eq!(line("0100007F:1F90", "01"), None);
        assert_eq!(line("0A00000A:1F90", "0A"), None);
        assert_eq!(in_line("  sl  local_address"), None);
    }

    #[test]
    fn only_what_is_asked_for_is_open() {
        let here = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let of = |text: &str| of(&text.parse().unwrap());
        assert_eq!(of("a.example").open, Vec::<u16>::new());
        assert_eq!(of(&format!("localhost:{here},localhost:3128")).open, [here]);
        assert!(of("@localhost").reserved.contains(&2375));
    }
}
