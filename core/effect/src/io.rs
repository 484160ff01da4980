//! The handle through which a program asks its host for effects.

mod files;
mod git;
mod process;
mod serve;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

pub use self::process::Watched;
use crate::request::*;
use crate::rooted::{absolute, rooted};
use crate::start::Start;
use crate::state_home::PrivateFolder;
use crate::{Exchange, Failure, FailureKind, HttpAnswer, HttpSpec, Progress, Redaction, Slot};
use onloop_syntax::time::Timestamp;

/// Asks the host. Every method is one [`Request`]; awaiting it is awaiting the reply.
#[derive(Clone, Debug)]
pub struct Io {
    slot: Rc<RefCell<Slot>>,
    start: Rc<Start>,
    redaction: Rc<Redaction>,
    private: Rc<PrivateFolder>,
    pulse: Option<Pulse>,
    results: Results,
    /// The folder that relative paths are taken from, where that is not the one that the program was
    /// started in.
    folder: Option<Rc<str>>,
}

/// Something to do repeatedly while a process runs.
#[derive(Clone)]
struct Pulse {
    every_ms: u64,
    beat: Rc<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>,
}

impl std::fmt::Debug for Pulse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pulse").field("every_ms", &self.every_ms).finish_non_exhaustive()
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Results {
    /// To standard output.
    Output,
    /// To the notes for people: the caller prints its own results.
    Notes,
}

/// What the only outcomes that fit a request say. A host that replies with another kind is broken;
/// that is a failure, not a panic, because hosts are written by others too.
macro_rules! answer {
    ($reply:expr, $outcome:pat => $answer:expr) => {
        match $reply.await? {
            $outcome => Ok($answer),
            other => Err($crate::io::unexpected(&other)),
        }
    };
}
use answer;

fn unexpected(outcome: &Outcome) -> Failure {
    Failure::new(FailureKind::Other, format!("the host answered with {outcome:?}"))
}

impl Io {
    pub(super) fn new(slot: Rc<RefCell<Slot>>, start: Start) -> Io {
        let redaction = Rc::new(Redaction::new(&start.env));
        let private = Rc::new(PrivateFolder::of(&start));
        let start = Rc::new(start);
        Io { slot, start, redaction, private, pulse: None, results: Results::Output, folder: None }
    }

    /// A handle that performs `beat` every `every_ms` while one of its processes runs. A beat
    /// may ask for anything that takes no time; see `ProcessSpec::wake_after_ms`.
    pub fn with_pulse<B, F>(&self, every_ms: u64, beat: B) -> Io
    where
        B: Fn() -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let pulse = Pulse { every_ms, beat: Rc::new(move || Box::pin(beat())) };
        Io { pulse: Some(pulse), ..self.clone() }
    }

    /// A handle that says results as notes, for a verb that is called by another one.
    pub fn with_results_as_notes(&self) -> Io {
        Io { results: Results::Notes, ..self.clone() }
    }

    /// A handle of a program that was started in `folder`, which is absolute.
    pub fn in_folder(&self, folder: &str) -> Io {
        let start = Start { cwd: folder.to_owned(), ..(*self.start).clone() };
        Io { start: Rc::new(start), folder: Some(folder.into()), ..self.clone() }
    }

    /// A path of ours as whoever has started the program can use it: theirs is another folder.
    pub fn told_path(&self, path: &str) -> String {
        self.folder.as_ref().map_or_else(|| path.to_owned(), |folder| absolute(folder, path))
    }

    /// What the program was started with.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// An environment variable that is set and not empty.
    pub fn env(&self, name: &str) -> Option<&str> {
        self.start.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The whole environment.
    pub fn env_all(&self) -> &BTreeMap<String, String> {
        &self.start.env
    }

    /// `text` without the values of secret environment variables. What processes say, what is
    /// shown and what a person answers comes without them; this is for everything else that is
    /// stored or sent.
    pub fn redacted(&self, text: &str) -> String {
        self.redaction.text(text).into_owned()
    }

    /// Time of the last reply.
    pub fn now(&self) -> Timestamp {
        self.slot.borrow().now
    }

    /// Reports how far a run has come to whoever drives the program.
    pub fn report_progress(&self, progress: Progress) {
        self.slot.borrow_mut().progress = Some(progress);
    }

    /// Asks for any effect. What it creates in the state home is for its owner alone.
    ///
    /// # Panics
    ///
    /// When the program has not had the reply to an earlier request: there is one at a time.
    pub async fn request(&self, mut request: Request) -> Result<Outcome, Failure> {
        if let Some(folder) = &self.folder {
            request = rooted(request, folder);
        }
        request.keep_private(|path| self.private.contains(path));
        if let Request::Git(request) = &mut request {
            request.judge_names()?;
        }
        let mut request = Some(request);
        poll_fn(|_| {
            let exchange = &mut self.slot.borrow_mut().exchange;
            if let Some(request) = request.take() {
                assert!(
                    matches!(exchange, Exchange::None),
                    "the program asked for an effect before it had the reply to another one"
                );
                *exchange = Exchange::Asked(request);
                return Poll::Pending;
            }
            match std::mem::replace(exchange, Exchange::None) {
                Exchange::Answered(reply) => Poll::Ready(reply),
                waiting @ (Exchange::None | Exchange::Asked(_) | Exchange::Performing) => {
                    *exchange = waiting;
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// A request that is answered by its success alone.
    async fn done(&self, request: Request) -> Result<(), Failure> {
        answer!(self.request(request), Outcome::Done => ())
    }

    /// [`Request::Http`].
    pub async fn http(&self, spec: HttpSpec) -> Result<HttpAnswer, Failure> {
        answer!(self.request(Request::Http(spec)), Outcome::Http(answer) => answer)
    }

    /// [`Request::Ask`], with any text as the answer.
    pub async fn ask(&self, question: impl Into<String>) -> Result<String, Failure> {
        self.put_question(question.into(), Vec::new()).await
    }

    /// [`Request::Ask`]; the question ends with these choices, as in `(yes/no)`.
    pub async fn ask_choice(&self, question: &str, choices: &[&str]) -> Result<String, Failure> {
        let question = format!("{question} ({}) ", choices.join("/"));
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        self.put_question(question, choices).await
    }

    async fn put_question(
        &self,
        question: String,
        choices: Vec<String>,
    ) -> Result<String, Failure> {
        let request = Request::Ask { question: self.redacted(&question), choices };
        let answer: Result<String, Failure> =
            answer!(self.request(request), Outcome::Answer { answer } => answer);
        answer.map(|answer| self.redacted(&answer))
    }

    /// [`Request::ReadInput`], without a time limit.
    pub async fn read_input(&self, limit_bytes: u64) -> Result<Vec<u8>, Failure> {
        let request = Request::ReadInput { limit_bytes, wait_ms: None, unit: InputUnit::Lines };
        answer!(self.request(request), Outcome::Input { bytes } => bytes.into())
    }

    /// [`Request::Sleep`].
    pub async fn sleep(&self, duration_ms: u64) -> Result<(), Failure> {
        self.done(Request::Sleep { duration_ms }).await
    }

    /// [`Say::Result`]. A reader that went away does not make the work fail.
    pub async fn result(&self, text: impl Into<String>) {
        match self.results {
            Results::Output => {
                let text = self.redacted(&text.into());
                let _ = self.done(Request::Say(Say::Result(text))).await;
            }
            Results::Notes => self.note(text).await,
        }
    }

    /// [`Say::Note`], with a line break at its end.
    pub async fn note(&self, text: impl Into<String>) {
        let mut text = self.redacted(&text.into());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = self.done(Request::Say(Say::Note(text))).await;
    }
}
