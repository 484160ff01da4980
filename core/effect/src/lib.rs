//! The vocabulary between programs and hosts, and the program itself.
//!
//! There is no async runtime. A [`Program`] is polled by [`Program::resume`], which returns
//! the next [`Request`] or the [`Exit`]. Every request is a place where the machine may lose
//! power, so a program stores before it acts and acts before it speaks.
#![forbid(unsafe_code)]

mod branch;
mod bytes;
mod confine;
mod exit;
mod failure;
mod git;
mod git_names;
mod http;
mod io;
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
pub use confine::{Confinement, Mechanism, Network, Reach, is_within};
pub use exit::Exit;
pub use failure::{Failure, FailureKind, OptionalExt};
pub use git::{
    DiffShown, GitRequest, GitSurvey, KeptFile, KeptWork, LeftOut, LeftOutReason, NamedCheckpoint,
    RefUpdate, Repository, WorktreeEntry,
};
pub use http::{HttpAnswer, HttpMethod, HttpSpec, is_safe_address};
pub use io::Io;
pub use io::Watched;
pub use process::{Capture, Command, ProcessEnd, ProcessGroup, ProcessSpec, ProcessStatus};
pub use redact::{RedactedStream, Redaction};
pub use request::*;
pub use serve::{CallAnswer, ServeRequest, WebCall};
pub use shell::Shell;
pub use start::{ProcessIdentity, ProcessRole, Start, Terminal};
pub use state_home::state_home;

use serde::Serialize;

use onloop_syntax::time::Timestamp;

/// A verb in progress.
pub struct Program {
    future: Pin<Box<dyn Future<Output = Exit>>>,
    slot: Rc<RefCell<Slot>>,
}

/// What a program wants from its host next.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "a turn is moved once and taken apart at once")]
pub enum Turn {
    /// Perform this, then resume with the reply.
    Request(Request),
    /// The program has ended; it must not be resumed again.
    Exit(Exit),
}

/// Where request and reply wait while the other side runs.
#[derive(Debug)]
struct Slot {
    exchange: Exchange,
    now: Timestamp,
    progress: Option<Progress>,
}

/// The state of the one exchange that can be open.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for each program")]
enum Exchange {
    /// The program is computing.
    None,
    /// The program has asked, and the host has not been told.
    Asked(Request),
    /// The host performs the request.
    Performing,
    /// The host has answered, and the program has not seen it.
    Answered(Result<Outcome, Failure>),
}

/// The progress of the run that a program conducts.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The id of the run.
    pub run_id: String,
    /// Completed steps, plus a fraction for the current one.
    pub done: f64,
    /// Number of steps.
    pub steps: usize,
    /// What is happening now, on one line.
    pub words: String,
}

impl Program {
    /// A program made of `body`, which gets the handle through which it asks for effects.
    pub fn new<F, B>(start: Start, body: B) -> Program
    where
        F: Future<Output = Exit> + 'static,
        B: FnOnce(Io) -> F,
    {
        let slot = Rc::new(RefCell::new(Slot {
            exchange: Exchange::None,
            now: start.now,
            progress: None,
        }));
        let future = Box::pin(body(Io::new(slot.clone(), start)));
        Program { future, slot }
    }

    /// Hands over the reply to the last request (`None` the first time) and runs up to the
    /// next one.
    ///
    /// # Panics
    ///
    /// When called after [`Turn::Exit`], without the reply to the last request or with a reply
    /// when none is due; and when the program awaits anything but its host.
    pub fn resume(&mut self, reply: Option<Reply>) -> Turn {
        if let Some(reply) = reply {
            let mut slot = self.slot.borrow_mut();
            assert!(
                matches!(slot.exchange, Exchange::Performing),
                "the host answered although the program had asked for nothing"
            );
            slot.now = reply.at;
            slot.exchange = Exchange::Answered(reply.outcome);
        }
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(exit) => Turn::Exit(exit),
            Poll::Pending => {
                let exchange = &mut self.slot.borrow_mut().exchange;
                match std::mem::replace(exchange, Exchange::Performing) {
                    Exchange::Asked(request) => Turn::Request(request),
                    Exchange::None | Exchange::Performing | Exchange::Answered(_) => {
                        panic!("the program waits for something that is not its host's reply")
                    }
                }
            }
        }
    }
}

impl Program {
    /// The latest progress, if it has changed since the last call. What it reports is already
    /// durable.
    pub fn take_progress(&mut self) -> Option<Progress> {
        self.slot.borrow_mut().progress.take()
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("slot", &self.slot).finish_non_exhaustive()
    }
}
