//! The vocabulary between programs and hosts, and the program itself.
//!
//! There is no async runtime. [`Program::resume`] polls a [`Program`] and returns its next
//! [`Request`] or its [`Exit`]. The machine may lose power at every request, so a program stores
//! before it acts and acts before it speaks.
#![forbid(unsafe_code)]

mod branch;
mod bytes;
mod confine;
mod exchange;
mod exit;
mod failure;
mod files;
mod git;
mod git_names;
mod http;
mod io;
mod network;
mod process;
mod redact;
mod request;
pub mod rooted;
mod scalar;
mod serve;
mod shell;
mod start;
mod state_home;
pub mod trace;
pub mod wire;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

pub use branch::{BranchName, InvalidBranchName};
pub use bytes::Bytes;
pub use confine::{Confinement, Mechanism, PrivateGit, Reach, is_of_system, is_within};
pub use exchange::Exchange;
pub use exit::Exit;
pub use failure::{Failure, FailureFix, FailureKind, OptionalExt};
pub use files::*;
pub use git::{
    DiffShown, GitRequest, GitSurvey, KeptFile, KeptWork, LeftOut, LeftOutReason, NamedCheckpoint,
    RefUpdate, Repository, WorktreeEntry,
};
pub use http::{HttpAnswer, HttpMethod, HttpSpec, is_safe_address};
pub use io::Io;
pub use io::OutputAction;
pub use network::{InvalidNetwork, Network, NetworkName, host_name, is_loopback_name};
pub use process::{
    Capture, Command, ProcessEnd, ProcessGroup, ProcessSpec, ProcessStatus, RefusedName,
    RefusedReason,
};
pub use redact::{RedactedStream, Redaction, has_redaction, names_with_secrets, secret_names};
pub use request::*;
pub use serve::{CallAnswer, ServeRequest, WebCall};
pub use shell::{OperatingSystem, Shell};
pub use start::{ProcessIdentity, ProcessRole, Start, Terminal};
pub use state_home::state_home;

use serde::Serialize;

use onloop_syntax::time::Timestamp;

/// A verb in progress.
pub struct Program {
    future: Pin<Box<dyn Future<Output = Exit>>>,
    slot: Rc<RefCell<Slot>>,
}

/// A program's next request, or its exit.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "a turn is moved once and taken apart at once")]
pub enum Turn {
    /// Perform this request, then resume with its reply.
    Request(Request),
    /// The program has ended; do not resume it again.
    Exit(Exit),
}

/// Holds the request or the reply while the other side runs.
#[derive(Debug)]
struct Slot {
    exchange: Exchange<Request, Result<Outcome, Failure>>,
    now: Timestamp,
    progress: Option<Progress>,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The id of the run.
    pub run_id: String,
    /// Completed steps, plus a fraction for the current one.
    pub done: f64,
    /// Number of steps.
    pub steps: usize,
    /// The current activity, on one line.
    pub words: String,
}

impl Program {
    /// A program with this `body`, which gets the handle for its requests.
    pub fn new<F, B>(start: Start, body: B) -> Program
    where
        F: Future<Output = Exit> + 'static,
        B: FnOnce(Io) -> F,
    {
        let slot = Rc::new(RefCell::new(Slot {
            exchange: Exchange::Computing,
            now: start.now,
            progress: None,
        }));
        let future = Box::pin(body(Io::new(slot.clone(), start)));
        Program { future, slot }
    }

    /// Passes the reply to the last request (`None` the first time) and runs to the next one.
    ///
    /// # Panics
    ///
    /// After [`Turn::Exit`], without the reply to the last request, with a reply that is not due,
    /// or if the program awaits anything except its host.
    pub fn resume(&mut self, reply: Option<Reply>) -> Turn {
        if let Some(reply) = reply {
            let mut slot = self.slot.borrow_mut();
            slot.exchange.answer(reply.outcome);
            slot.now = reply.at;
        }
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(exit) => Turn::Exit(exit),
            Poll::Pending => Turn::Request(self.slot.borrow_mut().exchange.take()),
        }
    }
}

impl Program {
    /// The latest progress, if it changed since the last call. The record of that progress is
    /// already durable.
    pub fn take_progress(&mut self) -> Option<Progress> {
        self.slot.borrow_mut().progress.take()
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("slot", &self.slot).finish_non_exhaustive()
    }
}
