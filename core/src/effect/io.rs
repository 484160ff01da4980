//! The handle through which a program asks its host for effects.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use super::git::{DiffShown, GitRequest, GitSurvey, KeptWork, NamedCheckpoint, WorktreeEntry};
use crate::effect::request::*;
use crate::effect::start::{ProcessIdentity, Start};
use crate::effect::state_home::PrivateFolder;
use crate::effect::{Exchange, Slot};
use crate::effect::{
    HttpAnswer, HttpSpec, ProcessEnd, ProcessGroup, ProcessSpec, Progress, Redaction,
};
use crate::time::Timestamp;

/// Asks the host. Every method is one [`Request`]; awaiting it is awaiting the reply.
#[derive(Clone, Debug)]
pub struct Io {
    slot: Rc<RefCell<Slot>>,
    start: Rc<Start>,
    redaction: Rc<Redaction>,
    private: Rc<PrivateFolder>,
    pulse: Option<Pulse>,
    results: Results,
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

/// What becomes of a program whose lines were looked at.
pub(crate) enum Watched {
    /// It goes on; what it does now, for the status line.
    GoesOn(Option<String>),
    /// It is ended.
    Ends,
}

/// What the only outcomes that fit a request say. A host that replies with another kind is broken;
/// that is a failure, not a panic, because hosts are written by others too.
macro_rules! answer {
    ($reply:expr, $outcome:pat => $answer:expr) => {
        match $reply.await? {
            $outcome => Ok($answer),
            other => Err(unexpected(&other)),
        }
    };
}

fn unexpected(outcome: &Outcome) -> Failure {
    Failure::new(FailureKind::Other, format!("the host answered with {outcome:?}"))
}

impl Io {
    pub(super) fn new(slot: Rc<RefCell<Slot>>, start: Start) -> Io {
        let redaction = Rc::new(Redaction::new(&start.env));
        let private = Rc::new(PrivateFolder::of(&start));
        let start = Rc::new(start);
        Io { slot, start, redaction, private, pulse: None, results: Results::Output }
    }

    /// A handle that performs `beat` every `every_ms` while one of its processes runs. A beat
    /// may ask for anything that takes no time; see [`ProcessSpec::wake_after_ms`].
    pub(crate) fn with_pulse<B, F>(&self, every_ms: u64, beat: B) -> Io
    where
        B: Fn() -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let pulse = Pulse { every_ms, beat: Rc::new(move || Box::pin(beat())) };
        Io { pulse: Some(pulse), ..self.clone() }
    }

    /// A handle that says results as notes, for a verb that is called by another one.
    pub(crate) fn with_results_as_notes(&self) -> Io {
        Io { results: Results::Notes, ..self.clone() }
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
    pub(crate) fn report_progress(&self, progress: Progress) {
        self.slot.borrow_mut().progress = Some(progress);
    }

    /// Asks for any effect. What it creates in the state home is for its owner alone.
    ///
    /// # Panics
    ///
    /// When the program has not had the reply to an earlier request: there is one at a time.
    pub async fn request(&self, mut request: Request) -> Result<Outcome, Failure> {
        request.keep_private(|path| self.private.contains(path));
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

    /// [`Request::Read`].
    pub async fn read(&self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, Version), Failure> {
        let request = Request::Read { path: path.to_owned(), limit_bytes };
        answer!(self.request(request), Outcome::File { bytes, version } => (bytes.into(), version))
    }

    /// [`Request::ReadTail`]: the last bytes, and the size of the whole file.
    pub async fn read_tail(&self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, u64), Failure> {
        let request = Request::ReadTail { path: path.to_owned(), limit_bytes };
        answer!(self.request(request), Outcome::Tail { bytes, size_bytes } => (bytes.into(), size_bytes))
    }

    /// [`Request::Write`].
    pub async fn write(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Version, Failure> {
        let (path, bytes) = (path.to_owned(), bytes.into());
        let request = Request::Write { path, bytes, expect, durability, private: false };
        answer!(self.request(request), Outcome::Written { version } => version)
    }

    /// [`Request::Write`] of a file for its owner alone, wherever it is.
    pub(crate) async fn write_private(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Version, Failure> {
        let (path, bytes) = (path.to_owned(), bytes.into());
        let request = Request::Write { path, bytes, expect, durability, private: true };
        answer!(self.request(request), Outcome::Written { version } => version)
    }

    /// [`Request::Append`].
    pub async fn append(
        &self,
        path: &str,
        bytes: Vec<u8>,
        expect_len_bytes: u64,
        durability: Durability,
    ) -> Result<(), Failure> {
        let (path, bytes) = (path.to_owned(), bytes.into());
        self.done(Request::Append { path, bytes, expect_len_bytes, durability, private: false })
            .await
    }

    /// [`Request::Patch`].
    pub async fn patch(
        &self,
        path: &str,
        offset_bytes: u64,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Failure> {
        let (old, new) = (old.to_vec().into(), new.to_vec().into());
        self.done(Request::Patch { path: path.to_owned(), offset_bytes, old, new }).await
    }

    /// [`Request::Remove`].
    pub async fn remove(&self, path: &str) -> Result<(), Failure> {
        self.done(Request::Remove { path: path.to_owned() }).await
    }

    /// [`Request::List`].
    pub async fn list(&self, path: &str) -> Result<Vec<String>, Failure> {
        let request = Request::List { path: path.to_owned() };
        answer!(self.request(request), Outcome::Names { names } => names)
    }

    /// [`Request::Stat`].
    pub async fn stat(&self, path: &str) -> Result<Stat, Failure> {
        let request = Request::Stat { path: path.to_owned() };
        answer!(self.request(request), Outcome::Stat(stat) => stat)
    }

    /// [`Request::Canonical`].
    pub async fn canonical(&self, path: &str) -> Result<String, Failure> {
        let request = Request::Canonical { path: path.to_owned() };
        answer!(self.request(request), Outcome::Path { path } => path)
    }

    /// [`Request::Lock`].
    pub async fn lock(&self, path: &str, wait_ms: u64) -> Result<(), Failure> {
        self.done(Request::Lock { path: path.to_owned(), wait_ms, private: false }).await
    }

    /// [`Request::Unlock`].
    pub async fn unlock(&self, path: &str) -> Result<(), Failure> {
        self.done(Request::Unlock { path: path.to_owned() }).await
    }

    /// [`Request::Holder`].
    pub async fn holder(&self, path: &str) -> Result<Option<LockHolder>, Failure> {
        let request = Request::Holder { path: path.to_owned() };
        answer!(self.request(request), Outcome::Holder { holder } => holder)
    }

    /// [`Request::Ancestors`].
    pub async fn ancestors(&self) -> Result<Vec<ProcessIdentity>, Failure> {
        answer!(self.request(Request::Ancestors), Outcome::Processes { processes } => processes)
    }

    /// [`Request::Process`], then [`Request::Wait`] until the process has ended. What it said comes
    /// without the values of secret environment variables.
    pub async fn process(&self, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
        let spec = self.placed(spec);
        let spec = ProcessSpec { announce: false, wake_after_ms: self.pulse_ms(), ..spec };
        let own_secrets = Redaction::new(&spec.env_set);
        self.follow_process(Request::Process(spec), &own_secrets).await
    }

    /// As [`Io::process`], and tells `on_start` which process group runs before it waits for
    /// it. An error there ends the program: nothing acts that nobody knows of.
    ///
    /// # Errors
    ///
    /// Those of [`Io::process`], and the one of `on_start`.
    pub async fn process_announced<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
    ) -> Result<ProcessEnd, E> {
        let own_secrets = Redaction::new(&spec.env_set);
        match self.started(spec, on_start).await? {
            Some(end) => Ok(self.ended(end, &own_secrets)),
            None => {
                let wait = self.wait(None, self.pulse_ms());
                Ok(self.follow_process(wait, &own_secrets).await?)
            }
        }
    }

    /// As [`Io::process_announced`], and hands `on_lines` what the program writes to standard
    /// output while it runs, as it comes, and nothing when `look_every_ms` have gone by without
    /// any. What of it comes last, and on some hosts all of it, is only in the capture. `None`:
    /// `on_lines` had the program ended.
    ///
    /// # Errors
    ///
    /// Those of [`Io::process_announced`].
    pub(crate) async fn process_followed<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        look_every_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
        mut on_lines: impl AsyncFnMut(&[u8]) -> Watched,
    ) -> Result<Option<ProcessEnd>, E> {
        let own_secrets = Redaction::new(&spec.env_set);
        let spec = ProcessSpec { wake_on_lines: true, ..spec };
        if let Some(end) = self.started(spec, on_start).await? {
            return Ok(Some(self.ended(end, &own_secrets)));
        }
        let (mut activity, mut beaten) = (None, self.now());
        let every_ms = self.pulse_ms().map_or(look_every_ms, |pulse| pulse.min(look_every_ms));
        loop {
            let bytes = match self.request(self.wait(activity.clone(), Some(every_ms))).await? {
                Outcome::Process(end) => return Ok(Some(self.ended(end, &own_secrets))),
                Outcome::Lines { bytes } => bytes.into(),
                Outcome::Running => Vec::new(),
                other => return Err(unexpected(&other).into()),
            };
            match on_lines(&bytes).await {
                Watched::GoesOn(doing) => activity = doing,
                Watched::Ends => {
                    self.done(Request::End).await?;
                    return Ok(None);
                }
            }
            // Whoever writes all the time is not woken by the clock.
            if let Some(pulse) = &self.pulse
                && self.now().millis_since(beaten) >= pulse.every_ms
            {
                (pulse.beat)().await;
                beaten = self.now();
            }
        }
    }

    /// Starts a program and tells `on_start` which group it is. Where the host only runs programs
    /// to their end, that end.
    async fn started<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
    ) -> Result<Option<ProcessEnd>, E> {
        let spec = self.placed(spec);
        let spec = ProcessSpec { announce: true, wake_after_ms: self.pulse_ms(), ..spec };
        match self.request(Request::Process(spec)).await? {
            Outcome::Started { group } => match on_start(group).await {
                Ok(()) => Ok(None),
                Err(error) => {
                    self.done(Request::End).await?;
                    Err(error)
                }
            },
            // A host that runs every program to its end has nobody to name.
            Outcome::Process(end) => Ok(Some(end)),
            other => Err(unexpected(&other).into()),
        }
    }

    /// What a program said, without secrets.
    fn ended(&self, mut end: ProcessEnd, own_secrets: &Redaction) -> ProcessEnd {
        self.redaction.end(&mut end);
        own_secrets.end(&mut end);
        end
    }

    /// With a `PWD` that says where the program runs. It inherits ours, which names another folder
    /// unless a shell is in between, and some programs believe it.
    fn placed(&self, mut spec: ProcessSpec) -> ProcessSpec {
        if spec.cwd.starts_with('/') {
            spec.env_set.entry("PWD".to_owned()).or_insert_with(|| spec.cwd.clone());
        }
        spec
    }

    fn pulse_ms(&self) -> Option<u64> {
        self.pulse.as_ref().map(|pulse| pulse.every_ms)
    }

    fn wait(&self, activity: Option<String>, wake_after_ms: Option<u64>) -> Request {
        Request::Wait { wake_after_ms, wake_on_input: false, activity }
    }

    /// Sends `request`, then [`Request::Wait`] until the process has ended.
    async fn follow_process(
        &self,
        mut request: Request,
        own_secrets: &Redaction,
    ) -> Result<ProcessEnd, Failure> {
        loop {
            match (self.request(request).await?, &self.pulse) {
                (Outcome::Process(end), _) => return Ok(self.ended(end, own_secrets)),
                (Outcome::Running, Some(pulse)) => (pulse.beat)().await,
                // Nobody asked to be woken.
                (Outcome::Running, None) => {}
                (other, _) => return Err(unexpected(&other)),
            }
            request = self.wait(None, self.pulse_ms());
        }
    }

    /// [`Request::EndGroup`]: how many processes had survived.
    pub async fn end_group(
        &self,
        group: ProcessGroup,
        host: &str,
        mark: Option<String>,
    ) -> Result<u32, Failure> {
        let request = Request::EndGroup { group, host: host.to_owned(), mark };
        answer!(self.request(request), Outcome::Ended { survivors } => survivors)
    }

    /// [`GitRequest::Survey`].
    pub async fn git_survey(&self, cwd: &str, branch: &str) -> Result<GitSurvey, Failure> {
        let request = GitRequest::Survey { cwd: cwd.to_owned(), branch: branch.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Survey(survey) => survey)
    }

    /// [`GitRequest::Worktrees`].
    pub async fn git_worktrees(&self, cwd: &str) -> Result<Vec<WorktreeEntry>, Failure> {
        let request = GitRequest::Worktrees { cwd: cwd.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Worktrees { worktrees } => worktrees)
    }

    /// [`GitRequest::Head`].
    pub async fn git_head(&self, cwd: &str) -> Result<Option<String>, Failure> {
        let request = GitRequest::Head { cwd: cwd.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::MergeBase`].
    pub async fn git_merge_base(
        &self,
        cwd: &str,
        commit: &str,
        branch: &str,
    ) -> Result<Option<String>, Failure> {
        let (cwd, commit, branch) = (cwd.to_owned(), commit.to_owned(), branch.to_owned());
        let request = GitRequest::MergeBase { cwd, commit, branch };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::RemoteBranch`].
    pub async fn git_remote_branch(
        &self,
        cwd: &str,
        remote: &str,
        branch: &str,
    ) -> Result<Option<String>, Failure> {
        let (cwd, remote, branch) = (cwd.to_owned(), remote.to_owned(), branch.to_owned());
        let request = GitRequest::RemoteBranch { cwd, remote, branch };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::Checkpoint`], as `request`.
    pub async fn git_checkpoint(&self, request: GitRequest) -> Result<KeptWork, Failure> {
        answer!(self.request(Request::Git(request)), Outcome::Checkpoint(kept) => kept)
    }

    /// [`GitRequest::Diff`].
    pub async fn git_diff(
        &self,
        cwd: &str,
        (from, to): (&str, &str),
        shown: DiffShown<'_>,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, Failure> {
        let (cwd, from, to) = (cwd.to_owned(), from.to_owned(), to.to_owned());
        let (stat, paths) = match shown {
            DiffShown::Patch => (false, Vec::new()),
            DiffShown::Stat => (true, Vec::new()),
            DiffShown::PatchOf(paths) => (false, paths.to_vec()),
            DiffShown::StatOf(paths) => (true, paths.to_vec()),
        };
        let request = GitRequest::Diff { cwd, from, to, stat, paths, limit_bytes };
        answer!(self.request(Request::Git(request)), Outcome::Diff { bytes } => bytes.into())
    }

    /// [`GitRequest::ChangedPaths`].
    pub async fn git_changed_paths(
        &self,
        cwd: &str,
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, Failure> {
        let (cwd, from, to) = (cwd.to_owned(), from.to_owned(), to.to_owned());
        let request = GitRequest::ChangedPaths { cwd, from, to };
        answer!(self.request(Request::Git(request)), Outcome::Names { names } => names)
    }

    /// [`GitRequest::CommitKept`], as `request`.
    pub async fn git_commit_kept(&self, request: GitRequest) -> Result<Option<String>, Failure> {
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::Checkpoints`].
    pub async fn git_checkpoints(&self, cwd: &str) -> Result<Vec<NamedCheckpoint>, Failure> {
        let request = GitRequest::Checkpoints { cwd: cwd.to_owned() };
        answer!(
            self.request(Request::Git(request)),
            Outcome::Checkpoints { checkpoints } => checkpoints
        )
    }

    /// Any [`GitRequest`] that changes something.
    pub async fn git(&self, request: GitRequest) -> Result<(), Failure> {
        self.done(Request::Git(request)).await
    }

    /// [`Request::Http`].
    pub async fn http(&self, spec: HttpSpec) -> Result<HttpAnswer, Failure> {
        answer!(self.request(Request::Http(spec)), Outcome::Http(answer) => answer)
    }

    /// [`Request::Ask`].
    pub async fn ask(&self, question: impl Into<String>) -> Result<String, Failure> {
        let request = Request::Ask { question: self.redacted(&question.into()) };
        let answer: Result<String, Failure> =
            answer!(self.request(request), Outcome::Answer { answer } => answer);
        answer.map(|answer| self.redacted(&answer))
    }

    /// [`Request::ReadInput`], without a time limit.
    pub async fn read_input(&self, limit_bytes: u64) -> Result<Vec<u8>, Failure> {
        let request = Request::ReadInput { limit_bytes, wait_ms: None };
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

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;
    use crate::effect::{Capture, Exit, ProcessStatus, Program, Reply, Turn};

    #[test]
    fn an_outcome_of_another_kind_is_a_failure() {
        let mut program = Program::new(Start::example(["onloop"]), |io| async move {
            let failure = io.stat("a").await.unwrap_err();
            assert_eq!(failure, Failure::new(FailureKind::Other, "the host answered with Done"));
            Exit::Done
        });
        assert!(matches!(program.resume(None), Turn::Request(Request::Stat { .. })));
        let reply = Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Done) };
        assert!(matches!(program.resume(Some(reply)), Turn::Exit(Exit::Done)));
    }

    /// Performs what a program asks for with these outcomes, and says what it asked for.
    fn conversation<B, F>(body: B, outcomes: Vec<Outcome>) -> Vec<Request>
    where
        B: FnOnce(Io) -> F,
        F: Future<Output = Exit> + 'static,
    {
        let mut program = Program::new(Start::example(["onloop"]), body);
        let (mut asked, mut reply) = (Vec::new(), None);
        for outcome in outcomes {
            match program.resume(reply.take()) {
                Turn::Request(request) => asked.push(request),
                Turn::Exit(exit) => panic!("it ended early, with {exit:?}"),
            }
            reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(outcome) });
        }
        assert!(matches!(program.resume(reply), Turn::Exit(Exit::Done)));
        asked
    }

    fn agent() -> ProcessSpec {
        ProcessSpec::argv(["agent"])
    }

    fn group() -> ProcessGroup {
        ProcessGroup { pid: 7, started: "9".to_owned(), boot: String::new() }
    }

    fn end() -> ProcessEnd {
        let (stdout, stderr) = (Capture::default(), Capture::default());
        ProcessEnd {
            status: ProcessStatus::Exited(0),
            stdout,
            stderr,
            duration_ms: 1,
            confined: None,
        }
    }

    #[test]
    fn a_group_is_known_before_its_program_is_waited_for() {
        let asked = conversation(
            async |io| {
                let known = async |started| {
                    assert_eq!(started, group());
                    io.sleep(1).await
                };
                assert_eq!(io.process_announced(agent(), known).await, Ok(end()));
                Exit::Done
            },
            vec![
                Outcome::Started { group: group() },
                Outcome::Done,
                Outcome::Running,
                Outcome::Process(end()),
            ],
        );
        let wait = Request::Wait { wake_after_ms: None, wake_on_input: false, activity: None };
        let announced = Request::Process(ProcessSpec { announce: true, ..agent() });
        assert_eq!(asked, [announced, Request::Sleep { duration_ms: 1 }, wait.clone(), wait]);
    }

    #[test]
    fn what_nobody_knows_of_does_not_act() {
        let asked = conversation(
            async |io| {
                let refused = Failure::new(FailureKind::Full, "no room to write it down");
                let unknown = async |_| Err(refused.clone());
                let end = io.process_announced(agent(), unknown).await;
                assert_eq!(end, Err(refused));
                Exit::Done
            },
            vec![Outcome::Started { group: group() }, Outcome::Done],
        );
        assert_eq!(asked[1..], [Request::End]);
    }

    #[test]
    #[should_panic(expected = "before it had the reply to another one")]
    fn two_requests_at_once_are_a_bug() {
        let mut program = Program::new(Start::example(["onloop"]), |io| async move {
            let mut first = Box::pin(io.sleep(1));
            let pending = first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(pending.is_pending());
            let _ = io.sleep(2).await;
            Exit::Done
        });
        program.resume(None);
    }

    #[test]
    #[should_panic(expected = "although the program had asked for nothing")]
    fn a_reply_to_no_request_is_a_bug() {
        let mut program =
            Program::new(Start::example(["onloop"]), |_| std::future::ready(Exit::Done));
        program.resume(Some(Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Done) }));
    }
}
