//! Every request, paired with the one kind of outcome that answers it.

use super::git::{GitRequest, GitSurvey, WorktreeEntry};
use super::http::{HttpAnswer, HttpSpec};
use super::process::{ProcessEnd, ProcessSpec};
use super::request::*;

/// A request whose answer is an `R`.
pub(super) struct Ask<R> {
    pub(super) request: Request,
    pub(super) answer: Answer<R>,
}

/// Reads the outcome that answers the request.
#[derive(Clone, Copy)]
pub(super) struct Answer<R>(fn(Outcome) -> Result<R, Failure>);

/// How far a process has come.
pub(super) enum ProcessTurn {
    Running,
    Ended(ProcessEnd),
}

impl<R> Answer<R> {
    /// What the host's reply says.
    pub(super) fn read(self, reply: Result<Outcome, Failure>) -> Result<R, Failure> {
        reply.and_then(self.0)
    }
}

/// A host that replies with another kind of outcome is broken; that is a failure, not a panic,
/// because hosts are written by others too.
fn unexpected(outcome: &Outcome) -> Failure {
    Failure::new(FailureKind::Other, format!("the host answered with {outcome:?}"))
}

/// The only outcomes that answer `request`, and what they say.
macro_rules! ask {
    ($request:expr, $($outcome:pat => $answer:expr),+) => {
        Ask {
            request: $request,
            answer: Answer(|outcome| match outcome {
                $($outcome => Ok($answer),)+
                other => Err(unexpected(&other)),
            }),
        }
    };
}

/// A request that is answered by its success alone.
pub(super) fn done(request: Request) -> Ask<()> {
    ask!(request, Outcome::Done => ())
}

pub(super) fn read(path: String, limit_bytes: u64) -> Ask<(Vec<u8>, Version)> {
    ask!(Request::Read { path, limit_bytes },
        Outcome::File { bytes, version } => (bytes.into(), version))
}

pub(super) fn read_tail(path: String, limit_bytes: u64) -> Ask<(Vec<u8>, u64)> {
    ask!(Request::ReadTail { path, limit_bytes },
        Outcome::Tail { bytes, size_bytes } => (bytes.into(), size_bytes))
}

pub(super) fn write(
    path: String,
    bytes: Vec<u8>,
    expect: Expect,
    durability: Durability,
) -> Ask<Version> {
    ask!(Request::Write { path, bytes: bytes.into(), expect, durability, private: false },
        Outcome::Written { version } => version)
}

pub(super) fn list(path: String) -> Ask<Vec<String>> {
    ask!(Request::List { path }, Outcome::Names { names } => names)
}

pub(super) fn stat(path: String) -> Ask<Stat> {
    ask!(Request::Stat { path }, Outcome::Stat(stat) => stat)
}

pub(super) fn canonical(path: String) -> Ask<String> {
    ask!(Request::Canonical { path }, Outcome::Path { path } => path)
}

pub(super) fn process(spec: ProcessSpec) -> Ask<ProcessTurn> {
    ask!(Request::Process(spec),
        Outcome::Process(end) => ProcessTurn::Ended(end),
        Outcome::Running => ProcessTurn::Running)
}

pub(super) fn wait(wake_after_ms: Option<u64>) -> Ask<ProcessTurn> {
    ask!(Request::Wait { wake_after_ms, wake_on_input: false },
        Outcome::Process(end) => ProcessTurn::Ended(end),
        Outcome::Running => ProcessTurn::Running)
}

pub(super) fn survey(cwd: String, branch: String) -> Ask<GitSurvey> {
    ask!(Request::Git(GitRequest::Survey { cwd, branch }), Outcome::Survey(survey) => survey)
}

pub(super) fn worktrees(cwd: String) -> Ask<Vec<WorktreeEntry>> {
    ask!(Request::Git(GitRequest::Worktrees { cwd }),
        Outcome::Worktrees { worktrees } => worktrees)
}

pub(super) fn head(cwd: String) -> Ask<Option<String>> {
    ask!(Request::Git(GitRequest::Head { cwd }), Outcome::Commit { commit } => commit)
}

pub(super) fn merge_base(cwd: String, commit: String, branch: String) -> Ask<Option<String>> {
    ask!(Request::Git(GitRequest::MergeBase { cwd, commit, branch }),
        Outcome::Commit { commit } => commit)
}

pub(super) fn remote_branch(cwd: String, remote: String, branch: String) -> Ask<Option<String>> {
    ask!(Request::Git(GitRequest::RemoteBranch { cwd, remote, branch }),
        Outcome::Commit { commit } => commit)
}

pub(super) fn http(spec: HttpSpec) -> Ask<HttpAnswer> {
    ask!(Request::Http(spec), Outcome::Http(answer) => answer)
}

pub(super) fn person(question: String) -> Ask<String> {
    ask!(Request::Ask { question }, Outcome::Answer { answer } => answer)
}

pub(super) fn input(limit_bytes: u64) -> Ask<Vec<u8>> {
    ask!(Request::ReadInput { limit_bytes, wait_ms: None }, Outcome::Input { bytes } => bytes.into())
}
