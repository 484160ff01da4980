//! The handle through which a program asks its host for effects.

mod files;
mod git;
mod process;
mod serve;
#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;

pub use self::process::OutputAction;
use crate::files::*;
use crate::request::*;
use crate::rooted::{absolute, rooted};
use crate::start::Start;
use crate::state_home::PrivateFolder;
use crate::{Failure, FailureKind, HttpAnswer, HttpSpec, ProcessRole, Progress, Redaction, Slot};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The handle of a program to its host. Every method is one [`Request`] and awaits its reply.
#[derive(Clone, Debug)]
pub struct Io {
    slot: Rc<RefCell<Slot>>,
    start: Rc<Start>,
    redaction: Rc<Redaction>,
    private: Rc<PrivateFolder>,
    heartbeat: Option<Heartbeat>,
    results: Results,
    /// The base of relative paths, if it is not the folder in which the program was started.
    folder: Option<Rc<str>>,
    /// `PATH` of its processes, if it is not that of the program.
    path: Option<SearchPath>,
    /// What [`Io::canonical_once`] has found.
    canonical: Rc<RefCell<BTreeMap<String, String>>>,
}

/// An action that repeats while a process runs.
#[derive(Clone)]
struct Heartbeat {
    every_ms: u64,
    beat: Rc<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>,
}

impl std::fmt::Debug for Heartbeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heartbeat").field("every_ms", &self.every_ms).finish_non_exhaustive()
    }
}

type FindPath = dyn Fn(Io) -> Pin<Box<dyn Future<Output = Option<String>>>>;

/// `PATH` for processes, which is found out when the first one starts.
#[derive(Clone)]
struct SearchPath {
    find: Rc<FindPath>,
    found: Rc<OnceCell<Option<String>>>,
}

impl std::fmt::Debug for SearchPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchPath").field("found", &self.found).finish_non_exhaustive()
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

/// The value in the outcome that fits a request. A host that replies with another outcome is
/// broken. That is a failure, not a panic, because third parties write hosts.
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
        Io {
            slot,
            start,
            redaction,
            private,
            heartbeat: None,
            results: Results::Output,
            folder: None,
            path: None,
            canonical: Rc::default(),
        }
    }

    /// A handle that performs `beat` every `every_ms` while one of its processes runs. A beat may
    /// make requests that take no time; see `ProcessSpec::wake_after_ms`.
    pub fn with_heartbeat<B, F>(&self, every_ms: u64, beat: B) -> Io
    where
        B: Fn() -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let heartbeat = Heartbeat { every_ms, beat: Rc::new(move || Box::pin(beat())) };
        Io { heartbeat: Some(heartbeat), ..self.clone() }
    }

    /// A handle that writes results as notes, for a verb that another verb calls.
    pub fn with_results_as_notes(&self) -> Io {
        Io { results: Results::Notes, ..self.clone() }
    }

    /// A handle for a program that asks nothing, as without a terminal.
    pub fn unattended(&self) -> Io {
        let mut start = (*self.start).clone();
        start.terminal.stdin = false;
        Io { start: Rc::new(start), ..self.clone() }
    }

    /// A handle whose processes are found by the `PATH` that `find` returns, and find others by it. `find` is
    /// called when the first one starts; `None`: `PATH` as it is.
    pub fn with_search_path<F>(&self, find: impl Fn(Io) -> F + 'static) -> Io
    where
        F: Future<Output = Option<String>> + 'static,
    {
        let find = Rc::new(move |io| -> Pin<Box<dyn Future<Output = _>>> { Box::pin(find(io)) });
        Io { path: Some(SearchPath { find, found: Rc::default() }), ..self.clone() }
    }

    /// A handle for a program in `folder`, which is absolute.
    pub fn in_folder(&self, folder: &str) -> Io {
        let start = Start { cwd: folder.to_owned(), ..(*self.start).clone() };
        Io { start: Rc::new(start), folder: Some(folder.into()), ..self.clone() }
    }

    /// A handle for a program that runs in the background; its locks say so.
    pub fn in_background(&self) -> Io {
        let start = Start { role: Some(ProcessRole::Background), ..(*self.start).clone() };
        Io { start: Rc::new(start), ..self.clone() }
    }

    /// `path` in a form that the caller of the program can use, whose folder may differ.
    pub fn caller_path(&self, path: &str) -> String {
        self.folder.as_ref().map_or_else(|| path.to_owned(), |folder| absolute(folder, path))
    }

    /// The start of the program.
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

    /// `text` without the values of secret environment variables. Process output, messages and
    /// answers of people are redacted already. Redact everything else that is stored or sent.
    pub fn redacted(&self, text: &str) -> String {
        self.redaction.text(text).into_owned()
    }

    /// Time of the last reply.
    pub fn now(&self) -> Timestamp {
        self.slot.borrow().now
    }

    /// Reports the progress of a run to the host.
    pub fn report_progress(&self, progress: Progress) {
        self.slot.borrow_mut().progress = Some(progress);
    }

    /// Makes any request. Files created in the state home are readable for their owner only.
    ///
    /// # Panics
    ///
    /// If an earlier request has no reply yet: a program makes one request at a time.
    pub async fn request(&self, mut request: Request) -> Result<Outcome, Failure> {
        if let Some(folder) = &self.folder {
            request = rooted(request, folder);
        }
        request.keep_private(|path| self.private.contains(path));
        if let Request::Git(request) = &mut request {
            request.validate_names()?;
        }
        self.slot.borrow_mut().exchange.ask(request);
        poll_fn(|_| self.slot.borrow_mut().exchange.poll()).await
    }

    /// A request whose reply has no value.
    async fn done(&self, request: Request) -> Result<(), Failure> {
        answer!(self.request(request), Outcome::Done => ())
    }

    /// [`Request::Http`].
    pub async fn http(&self, spec: HttpSpec) -> Result<HttpAnswer, Failure> {
        answer!(self.request(Request::Http(spec)), Outcome::Http(answer) => answer)
    }

    /// [`Request::Ask`], with any text as the answer.
    pub async fn ask(&self, question: impl Into<String>) -> Result<String, Failure> {
        let answer = self.put_question(question.into(), Vec::new(), None).await?;
        answer.ok_or_else(|| unexpected(&Outcome::Changed { changed: true }))
    }

    /// As [`Io::ask`]; the question ends with these choices, as in `(yes/no)`.
    pub async fn ask_choice(&self, question: &str, choices: &[&str]) -> Result<String, Failure> {
        let answer = self.ask_choice_unless(question, choices, None).await?;
        answer.ok_or_else(|| unexpected(&Outcome::Changed { changed: true }))
    }

    /// As [`Io::ask_choice`] or, without choices, as [`Io::ask`]. `None`: the size of the file
    /// `unless_changed` is another one, and the question is closed.
    pub async fn ask_choice_unless(
        &self,
        question: &str,
        choices: &[&str],
        unless_changed: Option<FileSize>,
    ) -> Result<Option<String>, Failure> {
        let question = match choices {
            [] => question.to_owned(),
            _ => format!("{question} ({}) ", choices.join("/")),
        };
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        self.put_question(question, choices, unless_changed).await
    }

    async fn put_question(
        &self,
        question: String,
        choices: Vec<String>,
        unless_changed: Option<FileSize>,
    ) -> Result<Option<String>, Failure> {
        let request = Request::Ask { question: self.redacted(&question), choices, unless_changed };
        match self.request(request).await? {
            Outcome::Answer { answer } => Ok(Some(self.redacted(&answer))),
            Outcome::Changed { .. } => Ok(None),
            other => Err(unexpected(&other)),
        }
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

    /// [`Say::Result`]. If the reader of standard output is gone, the work continues.
    pub async fn result(&self, text: impl Into<String>) {
        match self.results {
            Results::Output => {
                let text = self.redacted(&text.into());
                let _ = self.done(Request::Say(Say::Result(text))).await;
            }
            Results::Notes => self.note(text).await,
        }
    }

    /// [`Say::Note`] wrapped at spaces; further lines begin with `indent` spaces.
    pub async fn note_wrapped(&self, words: &str, indent: usize) {
        self.note(text::wrapped(words, text::COLUMNS, indent)).await;
    }

    /// [`Say::Note`], with a line break at its end. Messages in it are wrapped.
    pub async fn note(&self, words: impl Into<String>) {
        let mut text = text::messages_wrapped(&self.redacted(&words.into()));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = self.done(Request::Say(Say::Note(text))).await;
    }
}
