//! The way out of a sandbox whose network is a list of names.
//!
//! A confined program has a network namespace with nothing but a loopback device. This program,
//! started in it before the confined one ([`enter`]), opens listening sockets there, passes them to
//! onloop through a socket pair and becomes the confined program. So the sockets belong to the
//! namespace and onloop accepts on them: no process and no socket of onloop stays inside.
//!
//! One listening socket is a [`proxy`] for HTTP, CONNECT and SOCKS 5. onloop decides by the name,
//! resolves it and connects. The others stand for [`ports`] of this machine.

mod connection;
mod destination;
mod enter;
mod ports;
mod proxy;
mod relay;
mod request;
mod upstream;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use onloop_core::effect::{Network, RefusedName};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

pub(crate) use enter::{enter, is_entry};

use destination::Destinations;
use proxy::Proxy;

/// The proxy of one confined program. It ends when this is dropped.
pub(super) struct Egress {
    destinations: Arc<Destinations>,
    /// Its end ends every thread.
    _running: io::PipeWriter,
}

/// What starts before the confined program.
pub(super) struct Entry {
    /// The program and its first arguments; those of the confined program follow.
    pub(super) words: Vec<OsString>,
    /// Descriptors that it needs.
    pub(super) inherited: Vec<OwnedFd>,
}

impl Egress {
    /// Starts the proxy for a program with `network`, which is a list.
    ///
    /// # Errors
    ///
    /// This process is not one of onloop's programs, or the system has no descriptor or thread left.
    pub(super) fn start(network: &Network) -> io::Result<(Egress, Entry)> {
        let program = enter::program()?;
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let ports = ports::of(network);
        let words = enter::words(&program, &theirs, &ports.open);
        let destinations = Arc::new(Destinations::new(network.clone(), ports.reserved));
        let (stop, running) = io::pipe()?;
        Proxy::start(ours, stop, destinations.clone())?;
        let entry = Entry { words, inherited: vec![program.into(), theirs] };
        Ok((Egress { destinations, _running: running }, entry))
    }

    /// The names that were refused so far.
    pub(super) fn refused(&self) -> Vec<RefusedName> {
        self.destinations.refused()
    }
}

/// A path that leads to an open file, also where the file itself is hidden.
fn by_descriptor(file: &File) -> OsString {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
