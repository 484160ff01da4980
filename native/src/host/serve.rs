//! A server for browsers on this machine, through `hyper`.
//!
//! One thread accepts, reads and writes; the program gets whole calls and returns whole answers. A
//! connection carries one call, so every connection ends. A slow client is disconnected and blocks
//! no other.
//!
//! A wait for a call also ends on interrupts and on changes in folders.

mod body;
mod connection;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use onloop_core::effect::{CallAnswer, Failure, FailureKind, WebCall};
use onloop_core::limits;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::wake_pipe::WakePipe;
use super::{Interrupts, LOOK_AGAIN, OsChanges, Root, failure};

/// The queue of calls for the program.
#[derive(Clone)]
pub(super) struct Calls {
    queue: SyncSender<Incoming>,
    wake: Arc<WakePipe>,
}

impl Calls {
    /// Whether there was room for one more.
    fn hand_over(&self, incoming: Incoming) -> bool {
        let is_taken = self.queue.try_send(incoming).is_ok();
        self.wake.raise();
        is_taken
    }
}

/// A call for the program.
pub(super) struct Incoming {
    call: WebCall,
    reply: oneshot::Sender<Answered>,
    /// Ends the connection.
    connection: AbortHandle,
}

/// An answer for the browser.
pub(super) struct Answered {
    answer: CallAnswer,
    /// The rest of an open answer.
    rest: Option<mpsc::Receiver<Vec<u8>>>,
}

/// An answer that is open.
struct Stream {
    parts: mpsc::Sender<Vec<u8>>,
    connection: AbortHandle,
}

/// The server of one program. Nothing is set up before the first request.
pub struct OsServe {
    interrupts: Interrupts,
    changes: OsChanges,
    /// A possible change that was not reported yet.
    is_changed: bool,
    server: Option<Server>,
}

struct Server {
    calls: Receiver<Incoming>,
    /// Raised when a call has come.
    wake: Arc<WakePipe>,
    waiting: BTreeMap<u64, (oneshot::Sender<Answered>, AbortHandle)>,
    streams: BTreeMap<u64, Stream>,
    last: u64,
    /// The thread ends with it.
    _running: oneshot::Sender<()>,
}

impl OsServe {
    /// Creates a server that does not listen yet.
    pub fn new(root: Root, interrupts: &Interrupts) -> OsServe {
        let changes = OsChanges::new(root, interrupts);
        OsServe { interrupts: interrupts.clone(), changes, is_changed: false, server: None }
    }

    fn server(&mut self) -> Result<&mut Server, Failure> {
        self.server
            .as_mut()
            .ok_or_else(|| Failure::new(FailureKind::NotFound, "this program is not listening yet"))
    }

    /// Performs `ServeRequest::Listen`: the port, and an unpredictable secret.
    pub fn listen(&mut self, port: u16) -> Result<(u16, Vec<u8>), Failure> {
        if self.server.is_some() {
            return Err(Failure::new(FailureKind::Exists, "this program is a server already"));
        }
        let what = format!("cannot listen on port {port} of 127.0.0.1");
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    Failure::new(FailureKind::Busy, format!("{what}: another program does"))
                }
                _ => failure::of(&error, &what),
            })?;
        listener.set_nonblocking(true).map_err(|error| failure::of(&error, &what))?;
        let port = listener.local_addr().map_err(|error| failure::of(&error, &what))?.port();
        let mut secret = vec![0; 32];
        getrandom::fill(&mut secret).map_err(|error| {
            Failure::new(FailureKind::Other, format!("the system gives no random bytes: {error}"))
        })?;
        let (queue, calls) = sync_channel(limits::WEB_CALLS);
        let wake = Arc::new(WakePipe::new().map_err(|error| failure::of(&error, &what))?);
        let (running, stopped) = oneshot::channel();
        start(listener, Calls { queue, wake: wake.clone() }, stopped)
            .map_err(|error| failure::of(&error, &what))?;
        let (waiting, streams) = Default::default();
        self.server = Some(Server { calls, wake, waiting, streams, last: 0, _running: running });
        Ok((port, secret))
    }

    /// Performs `ServeRequest::Next`; `None`: no call before the time was over or a folder changed.
    pub fn next(
        &mut self,
        wait_ms: Option<u64>,
        folders: &[String],
    ) -> Result<Option<WebCall>, Failure> {
        let until = wait_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        let hears = !folders.is_empty();
        // Without watches a change is checked at the deadline. A new folder stays new while calls
        // come first.
        self.is_changed |= hears && self.changes.follow(folders).unwrap_or(false);
        let notices_by = (hears && !self.changes.is_told()).then(|| Instant::now() + LOOK_AGAIN);
        loop {
            self.interrupts.check()?;
            if let Some(call) = self.server()?.called()? {
                return Ok(Some(call));
            }
            let now = Instant::now();
            if hears {
                self.is_changed |= match notices_by {
                    Some(notices_by) => notices_by <= now,
                    None => self.changes.take(),
                };
                if std::mem::take(&mut self.is_changed) {
                    return Ok(None);
                }
            }
            let left = [until, notices_by].into_iter().flatten().min();
            let left = left.map(|until| until.saturating_duration_since(now));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            self.pause(left, hears);
        }
    }

    /// Performs `ServeRequest::Answer`.
    pub fn answer(&mut self, call: u64, answer: CallAnswer) -> Result<(), Failure> {
        let server = self.server()?;
        let (reply, connection) = server.waiting.remove(&call).ok_or_else(|| {
            Failure::new(FailureKind::NotFound, format!("no call {call} waits for an answer"))
        })?;
        let mut rest = None;
        if answer.open {
            let (parts, receiver) = mpsc::channel(limits::WEB_PARTS);
            server.streams.insert(call, Stream { parts, connection });
            rest = Some(receiver);
        }
        // A browser that has gone needs no answer.
        let _ = reply.send(Answered { answer, rest });
        Ok(())
    }

    /// Performs `ServeRequest::Push`.
    pub fn push(&mut self, call: u64, bytes: Vec<u8>) -> Result<(), Failure> {
        let streams = &mut self.server()?.streams;
        let closed = || {
            Failure::new(
                FailureKind::Closed,
                format!("the browser of call {call} has disconnected or reads too slowly"),
            )
        };
        let stream = streams.get(&call).ok_or_else(closed)?;
        if bytes.is_empty() {
            streams.remove(&call);
            return Ok(());
        }
        if stream.parts.try_send(bytes).is_ok() {
            return Ok(());
        }
        stream.connection.abort();
        streams.remove(&call);
        Err(closed())
    }
}

impl OsServe {
    /// Returns after `longest`, a call, an interrupt or, if wanted, a change; also without a
    /// reason.
    #[cfg(unix)]
    fn pause(&self, longest: Option<Duration>, hears: bool) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let interrupt = self.interrupts.fd();
        let called = self.server.as_ref().map(|server| server.wake.fd());
        let changed = self.changes.fd().filter(|_| hears);
        let fds = [Some(interrupt), called, changed];
        let mut fds: Vec<PollFd<'_>> =
            fds.iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let timeout = longest.and_then(|longest| Timespec::try_from(longest).ok());
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// As above, on a system that can only wait for time.
    #[cfg(not(unix))]
    fn pause(&self, longest: Option<Duration>, _hears: bool) {
        const TURN: Duration = Duration::from_millis(20);
        thread::sleep(longest.unwrap_or(TURN).min(TURN));
    }
}

impl Server {
    /// The next call, if one has come.
    fn called(&mut self) -> Result<Option<WebCall>, Failure> {
        // The flag is cleared first: a call in between raises it again.
        self.wake.take();
        match self.calls.try_recv() {
            Ok(incoming) => Ok(Some(self.take(incoming))),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                Err(Failure::new(FailureKind::Closed, "the server has stopped"))
            }
        }
    }

    fn take(&mut self, Incoming { mut call, reply, connection }: Incoming) -> WebCall {
        // A disconnected browser may still be answered, but its entry is dropped.
        if self.waiting.len() >= limits::WEB_CALLS {
            self.waiting.retain(|_, (reply, _)| !reply.is_closed());
        }
        self.streams.retain(|_, stream| !stream.parts.is_closed());
        self.last += 1;
        call.call = self.last;
        self.waiting.insert(self.last, (reply, connection));
        call
    }
}

impl std::fmt::Debug for OsServe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OsServe").finish_non_exhaustive()
    }
}

/// Accepts connections in a thread of its own until `stopped` is dropped.
fn start(
    listener: TcpListener,
    calls: Calls,
    stopped: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wake = calls.wake.clone();
    thread::Builder::new().name("web".to_owned()).spawn(move || {
        runtime.block_on(async {
            // Fails only without a runtime.
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            let accepting = tokio::spawn(connection::accept(listener, calls));
            let _ = stopped.await;
            accepting.abort();
        });
        drop(runtime);
        wake.raise();
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
