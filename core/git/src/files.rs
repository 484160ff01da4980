//! The steps of a task about files.

use std::future::poll_fn;

use onloop_effect::Failure;

use crate::command::GitProgram;
use crate::{Found, FoundKind, Step, StepReply};

/// Takes the value out of the reply that a step has.
macro_rules! answer {
    ($reply:expr, $pattern:pat => $value:expr) => {
        match $reply {
            Ok($pattern) => Ok($value),
            Ok(other) => panic!("the host answered {other:?} to another step"),
            Err(failure) => Err(failure),
        }
    };
}
pub(crate) use answer;

impl GitProgram {
    /// Asks the host for a step.
    pub(crate) async fn ask(&self, step: Step) -> Result<StepReply, Failure> {
        self.slot.borrow_mut().ask(step);
        poll_fn(|_| self.slot.borrow_mut().poll()).await
    }

    /// A step without a value.
    pub(crate) async fn done(&self, step: Step) -> Result<(), Failure> {
        answer!(self.ask(step).await, StepReply::Done => ())
    }

    async fn found(&self, paths: Vec<String>, follow: bool, open: bool) -> Vec<Option<Found>> {
        if paths.is_empty() {
            return Vec::new();
        }
        let count = paths.len();
        let step = Step::Look { paths, follow, open };
        let found = answer!(self.ask(step).await, StepReply::Found { found } => found);
        found.unwrap_or_else(|_| vec![None; count])
    }

    /// What is at paths; a final link is not followed.
    pub(crate) async fn look(&self, paths: Vec<String>) -> Vec<Option<Found>> {
        self.found(paths, false, false).await
    }

    /// Does the same, and says which files can be opened.
    pub(crate) async fn look_and_open(&self, paths: Vec<String>) -> Vec<Option<Found>> {
        self.found(paths, false, true).await
    }

    /// What is at paths, or where links there lead.
    pub(crate) async fn follow(&self, paths: Vec<String>) -> Vec<Option<Found>> {
        self.found(paths, true, false).await
    }

    /// What is at one path, or where a link there leads.
    pub(crate) async fn target_of(&self, path: &str) -> Option<Found> {
        self.follow(vec![path.to_owned()]).await.pop().flatten()
    }

    /// Whether something is at a path, be it a link that leads nowhere.
    pub(crate) async fn is_there(&self, path: &str) -> bool {
        self.look(vec![path.to_owned()]).await.pop().flatten().is_some()
    }

    /// The content of a plain file.
    pub(crate) async fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let step = Step::Read { path: path.to_owned(), first_bytes: None, untrusted: false };
        answer!(self.ask(step).await, StepReply::Content { bytes } => bytes.into())
    }

    /// The text of a plain file, if it can be read.
    pub(crate) async fn read_text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.read(path).await.ok()?).ok()
    }

    /// Removes a file; whether it was there does not matter.
    pub(crate) async fn forget_file(&self, path: &str) {
        let _ = self.done(Step::RemoveFile { path: path.to_owned() }).await;
    }

    /// The path with every link resolved, where it exists.
    pub(crate) async fn resolved(&self, path: &str) -> String {
        let step = Step::Canonical { path: path.to_owned() };
        let found = answer!(self.ask(step).await, StepReply::Path { path } => path);
        found.ok().flatten().unwrap_or_else(|| path.to_owned())
    }
}

impl Found {
    pub(crate) fn is_file(&self) -> bool {
        self.kind == FoundKind::File
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FoundKind::Folder
    }
}
