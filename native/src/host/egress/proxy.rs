//! The outer half: accepts connections of the confined program.

use std::io::{self, IoSliceMut, PipeReader};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use onloop_core::effect::Network;
use onloop_core::limits::PROXY_CONNECTIONS;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::connection::Connection;
use super::destination::Destinations;
use super::enter::DESCRIPTORS;
use crate::host::readiness::{self, Want};

/// Stack of a thread of one connection.
const STACK_BYTES: usize = 256 * 1024;

/// What the threads share.
pub(super) struct Proxy {
    pub(super) destinations: Arc<Destinations>,
    /// Ends when the confined program has ended.
    pub(super) stop: PipeReader,
    /// Connections under way.
    open: Mutex<usize>,
    one_ended: Condvar,
}

impl Proxy {
    /// Accepts on the sockets that come through `socket`, until `stop` ends.
    pub(super) fn start(
        socket: OwnedFd,
        stop: PipeReader,
        destinations: Arc<Destinations>,
    ) -> io::Result<()> {
        let proxy = Proxy { destinations, stop, open: Mutex::new(0), one_ended: Condvar::new() };
        let accept = move || {
            let listeners = receive(&socket);
            drop(socket);
            Arc::new(proxy).accept(&listeners);
        };
        thread::Builder::new().stack_size(STACK_BYTES).spawn(accept).map(drop)
    }

    fn accept(self: Arc<Proxy>, listeners: &[(u16, TcpListener)]) {
        let mut files: Vec<(BorrowedFd<'_>, Want)> = vec![(self.stop.as_fd(), Want::Input)];
        files.extend(listeners.iter().map(|(_, listener)| (listener.as_fd(), Want::Input)));
        while !listeners.is_empty() {
            let Some(ready) = readiness::wait(&files, None) else { continue };
            if ready[0] {
                return;
            }
            let waiting = listeners.iter().zip(&ready[1..]).filter(|(_, ready)| **ready);
            for ((port, listener), _) in waiting {
                let Ok((client, _)) = listener.accept() else { continue };
                let port = Some(*port).filter(|port| *port != Network::PROXY.1);
                self.clone().serve(Connection { client, port });
            }
        }
    }

    /// Serves a connection in a thread of its own, once there is room.
    fn serve(self: Arc<Proxy>, connection: Connection) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |open: &mut usize| *open >= PROXY_CONNECTIONS;
        let mut open =
            self.one_ended.wait_while(open, full).unwrap_or_else(PoisonError::into_inner);
        *open += 1;
        drop(open);
        let shared = self.clone();
        let serve = move || {
            connection.serve(&shared);
            shared.ended();
        };
        if thread::Builder::new().stack_size(STACK_BYTES).spawn(serve).is_err() {
            self.ended();
        }
    }

    fn ended(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.one_ended.notify_one();
    }
}

/// Receives listening sockets with their ports until the other end is closed.
fn receive(socket: &OwnedFd) -> Vec<(u16, TcpListener)> {
    let mut listeners = Vec::new();
    loop {
        let mut numbers = [0; 2 * DESCRIPTORS];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(&mut numbers)];
        let bytes = match recvmsg(socket, slices, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) if message.bytes > 0 => message.bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Ok(_) | Err(_) => return listeners,
        };
        let ports =
            numbers[..bytes].chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let sockets = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
            _ => None,
        });
        listeners.extend(ports.zip(sockets.flatten().map(TcpListener::from)));
    }
}
