//! One request of the client: a program, what it waits for, and what it has said.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::effect::{
    Exit, Failure, FailureKind, Io, Outcome, ProcessEnd, ProcessRole, ProcessSpec, ProcessStatus,
    Program, Progress, Reply, Say, Start, Terminal, Turn,
};
use crate::limits;
use crate::mcp::{
    Capped, ClientAnswer, ClientRequest, Id, Resource, ResourceKind, RpcError, ServerRequest, Tool,
    ToolCall, ToolProgram, error_result, listed, tool_result,
};
use crate::text;
use crate::time::Timestamp;
use crate::verb::gate::gate_for_agent;
use crate::verb::permit::explain_call;
use crate::verb::status::record;
use crate::verb::{ReportArgs, StatusArgs, lint, next, report, resume, run, status, step};

/// A request of the client that takes effects.
pub(super) struct Job {
    pub(super) id: Id,
    number: u64,
    pub(super) state: State,
    /// Its folder, absolute.
    pub(super) cwd: String,
    /// Locks that it holds.
    pub(super) locks: Vec<String>,
    /// The process that runs is its own.
    pub(super) has_process: bool,
    /// Nobody wants its answer any more.
    pub(super) cancelled: bool,
    token: Option<Value>,
    last_progress: Option<(f64, String)>,
    program: Option<Program>,
    form: Form,
    said: Capped,
    notes: Capped,
    /// Notes since the last question to a person.
    notes_since: String,
}

/// What a job waits for.
pub(super) enum State {
    /// Its beginning.
    New(ClientRequest),
    /// Nothing.
    Ready(Option<Reply>),
    /// That no other process runs.
    WantsProcess(ProcessSpec),
    /// The end of its process.
    InProcess {
        /// When the program wants to be woken before that.
        wake_after_ms: Option<u64>,
    },
    /// A person.
    Asks(ServerRequest),
    /// That its answer is sent.
    Over(Result<Value, RpcError>),
}

/// The form of the answer.
#[derive(Clone, Debug)]
enum Form {
    Tool(Tool),
    List,
    Resource(Resource),
}

impl Job {
    /// The `number`th request of its conversation.
    pub(super) fn new(id: Id, number: u64, token: Option<Value>, work: ClientRequest) -> Job {
        let form = match &work {
            ClientRequest::CallTool(tool, _) => Form::Tool(*tool),
            ClientRequest::ListResources => Form::List,
            ClientRequest::Read(resource) => Form::Resource(resource.clone()),
        };
        let most_bytes = match form {
            Form::Tool(_) => limits::MCP_RESULT_BYTES,
            Form::List | Form::Resource(_) => limits::MCP_RESOURCE_BYTES,
        };
        Job {
            id,
            number,
            state: State::New(work),
            cwd: String::new(),
            locks: Vec::new(),
            has_process: false,
            cancelled: false,
            token,
            last_progress: None,
            program: None,
            form,
            said: Capped::new(most_bytes),
            notes: Capped::new(limits::MCP_NOTES_BYTES),
            notes_since: String::new(),
        }
    }

    /// What a new job is for, once.
    pub(super) fn take_work(&mut self) -> Option<ClientRequest> {
        match std::mem::replace(&mut self.state, State::Ready(None)) {
            State::New(work) => Some(work),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Starts the program.
    pub(super) fn begin(&mut self, io: &Io, work: ClientRequest, cwd: String, attended: bool) {
        self.cwd.clone_from(&cwd);
        let outer = io.start();
        let mut random = Sha256::new();
        random.update(outer.random);
        random.update(self.number.to_le_bytes());
        let mut start = Start {
            argv: vec!["onloop".to_owned()],
            program: outer.program.clone(),
            env: outer.env.clone(),
            cwd,
            now: io.now(),
            terminal: Terminal { stdin: attended, stdout: false, stderr: attended, columns: 80 },
            process: outer.process.clone(),
            role: Some(ProcessRole::Server),
            random: [0; 16],
        };
        start.random.copy_from_slice(&random.finalize()[..16]);
        self.program = Some(program(start, work));
        self.state = State::Ready(None);
    }

    /// No program is started.
    pub(super) fn refuse(&mut self, why: &str) {
        self.state = State::Over(match &self.form {
            Form::Tool(_) => Ok(error_result(why)),
            Form::List | Form::Resource(_) => Err(RpcError::new(RpcError::NO_RESOURCE, why)),
        });
    }

    /// The program's next turn, if it waits for nothing.
    pub(super) fn resume(&mut self) -> Option<Turn> {
        let State::Ready(reply) = &mut self.state else { return None };
        let reply = reply.take();
        Some(self.program.as_mut()?.resume(reply))
    }

    pub(super) fn reply(&mut self, at: Timestamp, outcome: Result<Outcome, Failure>) {
        self.state = State::Ready(Some(Reply { at, outcome }));
    }

    /// How far it has come, under the name that the client gave. It only grows.
    pub(super) fn take_progress(&mut self) -> Option<(Value, Progress)> {
        const LEAST: f64 = 0.001;
        let mut progress = self.program.as_mut()?.take_progress()?;
        let token = self.token.clone().filter(|_| !self.cancelled)?;
        progress.words = text::one_line(&progress.words);
        if let Some((done, words)) = &self.last_progress
            && progress.done <= *done
        {
            progress.done = done + LEAST;
            if *words == progress.words || progress.done >= progress.steps as f64 {
                return None;
            }
        }
        self.last_progress = Some((progress.done, progress.words.clone()));
        Some((token, progress))
    }

    pub(super) fn keep(&mut self, say: &Say) {
        match say {
            Say::Result(text) => self.said.push(text),
            Say::Note(text) => {
                self.notes.push(text);
                self.notes_since.push_str(text);
                let kept = text::suffix(&self.notes_since, limits::MCP_QUESTION_BYTES);
                self.notes_since = kept.to_owned();
            }
        }
    }

    /// A question to a person with what was said since the last one.
    pub(super) fn question(&mut self, question: &str) -> String {
        let notes = std::mem::take(&mut self.notes_since);
        let notes = text::printable(&notes);
        let question = text::printable(question);
        format!("{}\n\n{}", notes.trim(), question.trim()).trim().to_owned()
    }

    /// Goes on with what a person said.
    pub(super) fn hear(&mut self, at: Timestamp, answer: ClientAnswer) {
        let outcome = match answer {
            ClientAnswer::Words(words) => Ok(Outcome::Answer { answer: words }),
            ClientAnswer::Nobody | ClientAnswer::Roots(_) => Err(nobody()),
        };
        self.reply(at, outcome);
    }

    /// The process that it waits to start, once.
    pub(super) fn take_wanted_process(&mut self) -> Option<ProcessSpec> {
        match std::mem::replace(&mut self.state, State::Ready(None)) {
            State::WantsProcess(spec) => Some(spec),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Whatever it waits for is interrupted.
    pub(super) fn interrupt(&mut self, at: Timestamp) {
        match &self.state {
            State::New(_) => {
                let error = RpcError::new(RpcError::BUSY, "the server ends");
                self.state = State::Over(Err(error));
            }
            State::Ready(_) | State::Over(_) => {}
            State::WantsProcess(_) | State::Asks(_) => self.reply(at, Err(interrupted())),
            State::InProcess { .. } => {
                let status = ProcessStatus::Interrupted;
                let (stdout, stderr) = Default::default();
                let end = ProcessEnd { status, stdout, stderr, duration_ms: 0, confined: None };
                self.reply(at, Ok(Outcome::Process(end)));
            }
        }
    }

    /// The program has ended.
    pub(super) fn end(&mut self, exit: Exit) {
        self.program = None;
        self.state = State::Over(match &self.form {
            Form::Tool(tool) => Ok(tool_result(*tool, exit, &self.said, &self.notes)),
            Form::List => match self.said.whole().map(serde_json::from_str) {
                Some(Ok(runs)) => Ok(listed(&runs)),
                Some(Err(_)) => Err(self.unreadable()),
                None => Err(RpcError::new(RpcError::BUSY, "there are too many runs to list")),
            },
            Form::Resource(resource) => match self.said.whole() {
                Some(text) if exit == Exit::Done => Ok(resource.contents(text)),
                Some(_) => Err(self.unreadable()),
                None => Err(resource.too_large(self.said.total_bytes())),
            },
        });
    }

    fn unreadable(&self) -> RpcError {
        let why = text::one_line(self.notes.whole().unwrap_or_default());
        RpcError::new(RpcError::NO_RESOURCE, text::ellipsis(&why, 1000))
    }
}

/// The program of a request.
fn program(start: Start, work: ClientRequest) -> Program {
    Program::new(start, |io| async move {
        match work {
            ClientRequest::CallTool(_, Ok(ToolCall { program, directory: _ })) => {
                perform(&io, program).await
            }
            // Refused before a program was made.
            ClientRequest::CallTool(_, Err(_)) => Exit::Usage,
            ClientRequest::ListResources => {
                status(&io, &StatusArgs { run_id: None, all: true, json: true }).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Record }) => {
                record(&io, &run_id).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Report }) => {
                report(&io, &ReportArgs { run_id, ..ReportArgs::default() }).await
            }
        }
    })
}

async fn perform(io: &Io, program: ToolProgram) -> Exit {
    match program {
        ToolProgram::Run(args) => run(io, &args).await,
        ToolProgram::Resume(args) => resume(io, &args).await,
        ToolProgram::Status(args) => status(io, &args).await,
        ToolProgram::Next(args) => next(io, &args).await,
        ToolProgram::Step(args) => step(io, &args).await,
        ToolProgram::Gate(args) => gate_for_agent(io, &args).await,
        ToolProgram::Lint(args) => lint(io, &args).await,
        ToolProgram::Explain(args) => explain_call(io, &args).await,
        ToolProgram::Report(args) => report(io, &args).await,
    }
}

/// What a question can be answered with, where it ends with `(yes/no)` or the like.
pub(super) fn choices(question: &str) -> Vec<&str> {
    let list = question.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let Some((_, list)) = list else { return Vec::new() };
    let choices: Vec<&str> = list.split('/').collect();
    let is_word = |word: &&str| !word.is_empty() && !word.contains(char::is_whitespace);
    if choices.len() > 1 && choices.iter().all(is_word) { choices } else { Vec::new() }
}

/// The program has none.
pub(super) fn no_process() -> Failure {
    Failure::new(FailureKind::NotFound, "no program was left running")
}

/// Nobody answers.
pub(super) fn nobody() -> Failure {
    Failure::new(FailureKind::Closed, "nobody answers")
}

/// The client does not want it any more.
pub(super) fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted")
}
