//! The inner half: opens the listening sockets of a sandbox and becomes the confined program.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use onloop_core::effect::Network;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::by_descriptor;

/// The argument that asks for this.
const WORD: &str = "--enter-network";
/// Descriptors in one message; the kernel takes at most 253.
pub(super) const DESCRIPTORS: usize = 100;
/// Whether this process is a program of onloop, which understands [`WORD`].
static IS_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Opens this program, to be started in a sandbox where its file may be hidden.
pub(super) fn program() -> io::Result<File> {
    if !IS_PROGRAM.load(Ordering::Relaxed) {
        let message = "this program does not call `enter_sandbox`, so that it cannot start inside";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    File::open("/proc/self/exe")
}

/// Returns the words that start `program` before the confined program.
pub(super) fn words(program: &File, socket: &OwnedFd, ports: &[u16]) -> Vec<OsString> {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    vec![
        by_descriptor(program),
        WORD.into(),
        program.as_raw_fd().to_string().into(),
        socket.as_raw_fd().to_string().into(),
        ports.join(",").into(),
    ]
}

/// Whether this process was started to enter a sandbox. Notes that it is a program of onloop.
pub(crate) fn is_entry() -> bool {
    IS_PROGRAM.store(true, Ordering::Relaxed);
    std::env::args_os().nth(1).is_some_and(|word| word == WORD)
}

/// Opens the sockets, passes them on and becomes the confined program; returns why it cannot.
pub(crate) fn enter() -> String {
    let mut words = std::env::args_os().skip(2);
    let mut number = || words.next()?.to_str()?.parse::<i32>().ok().filter(|number| *number > 2);
    let (Some(program), Some(socket)) = (number(), number()) else {
        return format!("`{WORD}` is how onloop starts itself");
    };
    let ports = words.next().unwrap_or_default();
    let (program, socket) = (taken(program), taken(socket));
    drop(program);
    let listed = ports.to_str().unwrap_or_default().split(',').filter_map(|port| port.parse().ok());
    if let Err(error) = pass_sockets(&socket, listed) {
        return format!("cannot open the network of the sandbox: {error}");
    }
    drop(socket);
    let Some(confined) = words.next() else { return format!("`{WORD}` has no program to start") };
    let error = Command::new(&confined).args(words).exec();
    format!("cannot run `{}`: {error}", confined.display())
}

/// Takes over a descriptor that this process has inherited.
#[expect(unsafe_code, reason = "only the parent of this process knows the number")]
fn taken(number: i32) -> OwnedFd {
    // SAFETY: the parent passes each number once, and nothing else of this process uses it.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Listens at the proxy's port and at `ports`, and sends the sockets. A port that cannot be opened is
/// left out: those below 1024 need a privilege, and IPv6 may be switched off.
fn pass_sockets(socket: &OwnedFd, ports: impl Iterator<Item = u16>) -> io::Result<()> {
    let mut opened = vec![(Network::PROXY.1, TcpListener::bind(Network::PROXY)?)];
    for port in ports {
        for host in ["127.0.0.1", "::1"] {
            if let Ok(listener) = TcpListener::bind((host, port)) {
                opened.push((port, listener));
            }
        }
    }
    for some in opened.chunks(DESCRIPTORS) {
        let numbers: Vec<u8> = some.iter().flat_map(|(port, _)| port.to_le_bytes()).collect();
        let descriptors: Vec<BorrowedFd<'_>> =
            some.iter().map(|(_, socket)| socket.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(socket, &[IoSlice::new(&numbers)], &mut control, SendFlags::empty())?;
    }
    Ok(())
}
