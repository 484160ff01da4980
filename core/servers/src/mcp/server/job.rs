//! One request of the client: a program, what it waits for, and what it has said.

use onloop_engine::error::CommandError;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::program::program;
use super::progress::ProgressReporter;
use crate::mcp::{
    Capped, ClientAnswer, ClientRequest, ClientSettings, Completion, Id, Resource, RpcError,
    ServerRequest, Tool, ToolCall, error_result, input_required, listed, tool_result,
};
use onloop_effect::{
    Exit, Failure, FailureKind, Io, Outcome, ProcessEnd, ProcessRole, ProcessSpec, ProcessStatus,
    Program, Progress, Reply, Say, Start, Terminal, Turn,
};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// A request of the client that takes effects.
pub(super) struct Job {
    /// The request that it answers. `None` while it runs in the background, or waits for the client
    /// to call again.
    pub(super) id: Option<Id>,
    number: u64,
    pub(super) client: ClientSettings,
    /// Whether it is answered when its run has begun.
    pub(super) is_background: bool,
    /// The run that it drives.
    pub(super) run_id: Option<String>,
    /// The tool and its input.
    given: Option<(Tool, Map<String, Value>)>,
    pub(super) state: State,
    /// Its folder, absolute.
    pub(super) cwd: String,
    /// Locks that it holds.
    pub(super) locks: Vec<String>,
    /// The process that runs is its own.
    pub(super) has_process: bool,
    /// The client canceled the request.
    pub(super) cancelled: bool,
    pub(super) reporter: ProgressReporter,
    program: Option<Program>,
    form: Form,
    said: Capped,
    notes: Capped,
    /// Notes since the last question to a person.
    notes_since: String,
}

/// A request that begins a job.
pub(super) struct NewJob {
    pub(super) id: Id,
    pub(super) work: ClientRequest,
    pub(super) progress: Option<Value>,
    pub(super) client: ClientSettings,
}

/// What a job waits for.
pub(super) enum State {
    /// Its beginning.
    New(Box<ClientRequest>),
    /// Nothing.
    Ready(Option<Reply>),
    /// That no other process runs.
    WantsProcess(ProcessSpec),
    /// The end of its process.
    InProcess {
        /// When the program wants to be woken before that.
        wake_after_ms: Option<u64>,
    },
    /// A person, through a request of ours.
    Asking(ServerRequest),
    /// A person, until the client calls again with this state.
    Parked { state: String, question: Value, until: Timestamp },
    /// That time.
    Sleeps(Timestamp),
    /// That its answer is sent.
    Finished(Result<Value, RpcError>),
}

/// The form of the answer.
#[derive(Clone, Debug)]
enum Form {
    Tool(Tool),
    List,
    Resource(Resource),
    Completion(Completion),
    /// Of no program: another job continues it.
    None,
}

impl Job {
    /// The `number`th request of the client.
    pub(super) fn new(number: u64, request: NewJob, now: Timestamp) -> Job {
        let NewJob { id, work, progress, client } = request;
        let form = match &work {
            ClientRequest::CallTool(tool, _) => Form::Tool(*tool),
            ClientRequest::ListResources => Form::List,
            ClientRequest::Read(resource) => Form::Resource(resource.clone()),
            ClientRequest::Complete(completion) => Form::Completion(completion.clone()),
            ClientRequest::Continue { .. } => Form::None,
        };
        let most_bytes = match form {
            Form::Tool(_) | Form::None => limits::MCP_RESULT_BYTES,
            Form::List | Form::Resource(_) | Form::Completion(_) => limits::MCP_RESOURCE_BYTES,
        };
        Job {
            id: Some(id),
            number,
            client,
            is_background: false,
            run_id: None,
            given: None,
            state: State::New(Box::new(work)),
            cwd: String::new(),
            locks: Vec::new(),
            has_process: false,
            cancelled: false,
            reporter: ProgressReporter::new(progress, now),
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
            State::New(work) => Some(*work),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Starts the program.
    pub(super) fn begin(&mut self, io: &Io, work: ClientRequest, cwd: String) {
        self.cwd.clone_from(&cwd);
        if let ClientRequest::CallTool(_, Ok(call)) = &work {
            self.is_background = call.background;
            self.given = Some(call.given.clone());
        }
        // A client that starts a background run does not wait for questions.
        let attended = self.client.elicits && !self.is_background;
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
            system: outer.system,
            role: Some(ProcessRole::Server),
            quick_ms: outer.quick_ms,
            random: [0; 16],
        };
        start.random.copy_from_slice(&random.finalize()[..16]);
        self.program = Some(program(start, work));
        self.state = State::Ready(None);
    }

    /// No program is started.
    pub(super) fn refuse(&mut self, error: &CommandError) {
        self.state = State::Finished(match &self.form {
            Form::Tool(_) => Ok(error_result(error)),
            Form::List | Form::Resource(_) | Form::Completion(_) => {
                Err(RpcError::new(RpcError::NO_RESOURCE, error.to_string()))
            }
            Form::None => Err(RpcError::new(RpcError::INVALID_PARAMS, error.to_string())),
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

    /// How far it has come, as it says now.
    pub(super) fn take_progress(&mut self) -> Option<Progress> {
        let progress = self.program.as_mut()?.take_progress()?;
        if self.run_id.is_none() {
            self.run_id = Some(progress.run_id.clone());
        }
        Some(progress)
    }

    /// Whether a client waits for it, and its program can run.
    pub(super) fn is_running(&self) -> bool {
        let waits = matches!(self.state, State::Finished(_) | State::Parked { .. } | State::New(_));
        self.id.is_some() && !self.cancelled && !waits
    }

    /// Waits until the client calls again with what a person has said, and returns what says so.
    pub(super) fn park(
        &mut self,
        random: &[u8],
        words: &str,
        choices: &[String],
        now: Timestamp,
    ) -> Value {
        let mut state = Sha256::new();
        state.update(random);
        state.update(self.number.to_le_bytes());
        state.update(now.as_millis().to_le_bytes());
        state.update(words.as_bytes());
        let state: String =
            state.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let question = input_required(&state, words, choices);
        let until = now.later(limits::MCP_ANSWER_WAIT_MS);
        self.state = State::Parked { state, question: question.clone(), until };
        question
    }

    /// Whether it waits for a call with this state, which must be the same call.
    pub(super) fn waits_for(&self, wanted: &str, call: &ToolCall) -> bool {
        matches!(&self.state, State::Parked { state, .. } if state == wanted)
            && self.given.as_ref() == Some(&call.given)
    }

    /// When something is due: it wakes, gives up a question, or sends a heartbeat.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let own = match &self.state {
            State::Sleeps(until) | State::Parked { until, .. } => Some(*until),
            State::New(_)
            | State::Ready(_)
            | State::WantsProcess(_)
            | State::InProcess { .. }
            | State::Asking(_)
            | State::Finished(_) => None,
        };
        own.into_iter().chain(self.reporter.due().filter(|_| self.is_running())).min()
    }

    /// Continues if it has waited long enough.
    pub(super) fn wake(&mut self, now: Timestamp) {
        match &self.state {
            State::Sleeps(until) if *until <= now => self.reply(now, Ok(Outcome::Done)),
            State::Parked { until, .. } if *until <= now => {
                self.answered(now, ClientAnswer::NoAnswer);
            }
            State::Sleeps(_)
            | State::Parked { .. }
            | State::New(_)
            | State::Ready(_)
            | State::WantsProcess(_)
            | State::InProcess { .. }
            | State::Asking(_)
            | State::Finished(_) => {}
        }
    }

    /// Whether it waits for nothing.
    pub(super) fn can_resume(&self) -> bool {
        match self.state {
            State::Ready(_) => self.program.is_some(),
            State::Finished(_) => true,
            State::New(_)
            | State::WantsProcess(_)
            | State::InProcess { .. }
            | State::Asking(_)
            | State::Parked { .. }
            | State::Sleeps(_) => false,
        }
    }

    /// Whether it begins a run, rather than continuing one.
    pub(super) fn begins_run(&self) -> bool {
        self.given.as_ref().is_some_and(|(tool, input)| match tool {
            Tool::Run => !input.contains_key("run_id"),
            Tool::Begin => true,
            Tool::Stop
            | Tool::Status
            | Tool::Next
            | Tool::Step
            | Tool::Gate
            | Tool::Finalize
            | Tool::Summary
            | Tool::Report
            | Tool::Diff
            | Tool::Receipt
            | Tool::Lint
            | Tool::PermitExplain => false,
        })
    }

    /// Whether its questions reach a person.
    pub(super) fn asks(&self) -> bool {
        self.client.elicits && !self.is_background
    }

    pub(super) fn record(&mut self, say: &Say) {
        match say {
            Say::Result(text) => self.said.push(text),
            Say::Note(text) => {
                self.notes.push(text);
                self.notes_since.push_str(text);
                let end = text::suffix(&self.notes_since, limits::MCP_QUESTION_BYTES);
                self.notes_since = end.to_owned();
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

    /// Continues with what a person answered.
    pub(super) fn answered(&mut self, at: Timestamp, answer: ClientAnswer) {
        let outcome = match answer {
            ClientAnswer::Words(words) => Ok(Outcome::Answer { answer: words }),
            ClientAnswer::NoAnswer | ClientAnswer::Roots(_) => Err(no_answer()),
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
                self.state = State::Finished(Err(error));
            }
            State::Ready(_) | State::Finished(_) => {}
            State::WantsProcess(_) | State::Asking(_) | State::Parked { .. } | State::Sleeps(_) => {
                self.reply(at, Err(interrupted()))
            }
            State::InProcess { .. } => {
                let status = ProcessStatus::Interrupted;
                let (stdout, stderr) = Default::default();
                let end = ProcessEnd {
                    status,
                    stdout,
                    stderr,
                    duration_ms: 0,
                    confined: None,
                    opened: None,
                    refused: Vec::new(),
                };
                self.reply(at, Ok(Outcome::Process(end)));
            }
        }
    }

    /// The program has ended.
    pub(super) fn end(&mut self, exit: Exit) {
        self.program = None;
        self.state = State::Finished(match &self.form {
            Form::Tool(tool) => Ok(tool_result(*tool, exit, &self.said, &self.notes)),
            Form::List => match self.said.whole().map(serde_json::from_str) {
                Some(Ok(runs)) => Ok(listed(&runs)),
                Some(Err(_)) => Err(self.unreadable()),
                None => Err(RpcError::new(RpcError::BUSY, "there are too many runs to list")),
            },
            Form::Completion(completion) => match self.said.whole().map(serde_json::from_str) {
                Some(Ok(runs)) => Ok(completion.answer(&runs)),
                Some(Err(_)) | None => Ok(completion.answer(&Value::Null)),
            },
            Form::None => Err(RpcError::new(RpcError::INVALID_PARAMS, "nothing was asked")),
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

/// The program has none.
pub(super) fn no_process() -> Failure {
    Failure::new(FailureKind::NotFound, "no program was left running")
}

/// No person can answer.
pub(super) fn no_answer() -> Failure {
    Failure::new(FailureKind::Closed, "no person can answer")
}

/// The client does not want it any more.
pub(super) fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted")
}
