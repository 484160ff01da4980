//! What hosts do with git, once for all of them.
//!
//! A [`Task`] answers one [`GitRequest`]. It performs nothing: it asks its host for a [`Step`], which
//! is a git command or something small about files, until it has the outcome.
//!
//! Git can hang in a hook, a filter, a remote or a credential helper. So each command has a time
//! limit, a person can interrupt it, and the task undoes what it left half done.
//!
//! The configuration of a repository is untrusted. Hooks and the file system monitor are off.
//! Filters stay on, because without them the files would be wrong. The `pre-push` hook runs when a
//! person asks for a push: it guards what leaves the machine, and it uploads large files. The
//! environment cannot point git at another repository.
#![forbid(unsafe_code)]

mod changes;
mod checkout_rollback;
mod checkpoint;
mod command;
mod commit;
mod discovery;
mod files;
mod import;
mod integrity;
mod interrupted_merge;
mod known_failures;
mod merge;
mod paths;
mod program;
mod programs;
mod references;
mod remote;
mod requests;
mod rollback;
mod settings;
mod shared;
mod step;
pub mod wire;
mod worktree;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use onloop_effect::{Exchange, Failure, GitRequest, Outcome, rooted};
use serde::Deserialize;

use command::GitProgram;
pub use step::{CommandEnd, Found, FoundKind, GitCommand, Step, StepReply};

/// Where a task works.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Surroundings {
    /// The folder that relative paths of the request start from.
    pub cwd: String,
    /// The variables of the host's environment that [`Surroundings::needs`].
    pub env: BTreeMap<String, String>,
    /// Longest time of each command; `None`: as long as each may take.
    pub longest_ms: Option<u64>,
}

impl Surroundings {
    /// Whether a task looks at this variable.
    pub fn needs(name: &str) -> bool {
        matches!(name, "HOME" | "PATH") || name.starts_with("GIT_")
    }
}

/// A request to git in progress.
pub struct Task {
    future: Pin<Box<dyn Future<Output = Result<Outcome, Failure>>>>,
    slot: Slot,
}

/// What a task wants next.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a turn is moved once and taken apart at once")]
pub enum TaskTurn {
    /// Do this, then resume with its reply.
    Step(Step),
    /// The outcome; do not resume the task again. After an `Interrupted` failure every command has
    /// ended, and the host clears the interrupt.
    End(Result<Outcome, Failure>),
}

/// Holds the step or the reply while the other side runs.
pub(crate) type Slot = Rc<RefCell<Exchange<Step, Result<StepReply, Failure>>>>;

impl Task {
    /// Answers a request.
    pub fn new(request: GitRequest, surroundings: Surroundings) -> Task {
        let request = rooted::rooted_git(request, &surroundings.cwd);
        Task::start(surroundings, async move |program| requests::outcome(&program, &request).await)
    }

    /// Returns every branch, tag and remote branch of a git folder, as a line of an id and a name →
    /// [`Outcome::KeptFile`].
    pub fn reference_lines(git_folder: String, surroundings: Surroundings) -> Task {
        Task::start(surroundings, async move |program| {
            let bytes = program.reference_lines(&git_folder).await?.into();
            Ok(Outcome::KeptFile { bytes })
        })
    }

    /// Returns what the file `HEAD` of a git folder says, wherever the repository keeps its refs →
    /// [`Outcome::KeptFile`].
    pub fn head_line(git_folder: String, surroundings: Surroundings) -> Task {
        Task::start(surroundings, async move |program| {
            let bytes = program.head_line(&git_folder).await?.into();
            Ok(Outcome::KeptFile { bytes })
        })
    }

    fn start<B>(surroundings: Surroundings, body: B) -> Task
    where
        B: AsyncFnOnce(GitProgram) -> Result<Outcome, Failure> + 'static,
    {
        let slot = Rc::new(RefCell::new(Exchange::Computing));
        let program = GitProgram::new(slot.clone(), surroundings);
        Task { future: Box::pin(async move { body(program).await }), slot }
    }

    /// Passes the reply to the last step (`None` the first time) and runs to the next one.
    ///
    /// # Panics
    ///
    /// After [`TaskTurn::End`], without the reply to the last step, or with one to another step.
    pub fn resume(&mut self, reply: Option<Result<StepReply, Failure>>) -> TaskTurn {
        if let Some(reply) = reply {
            self.slot.borrow_mut().answer(reply);
        }
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => TaskTurn::End(outcome),
            Poll::Pending => TaskTurn::Step(self.slot.borrow_mut().take()),
        }
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("slot", &self.slot).finish_non_exhaustive()
    }
}
