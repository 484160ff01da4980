//! `onloop mcp`: the programs of the command line as tools of the Model Context Protocol.
//!
//! This program drives other programs, as a host does. Most of what they ask for it asks its own
//! host for; what they say it keeps for the answer; a question to a person goes to the client.
//! Calls take turns between two requests, and while a process runs, which there is one of at a
//! time, the client's messages are still read.

mod folders;
mod job;

use serde_json::Value;

use crate::effect::rooted::rooted;
use crate::effect::{
    Exit, Failure, FailureKind, InputUnit, Io, Outcome, ProcessSpec, ProcessStatus, Request, Turn,
};
use crate::limits;
use crate::mcp::{ClientAnswer, ClientRequest, Connection, Id, Reaction, ServerRequest};
use folders::Folders;
use job::{Job, State};

/// `onloop mcp`: speaks until its standard input ends.
pub async fn mcp(io: &Io) -> Exit {
    if io.start().terminal.stdin {
        io.note(
            "This speaks the Model Context Protocol with a program. `onloop install` puts it \
             into agent hosts; Ctrl-D ends it.",
        )
        .await;
    }
    // Hosts listen to signals from the first request that waits on. A run must be paused by one
    // before it has started a process, too.
    if io.sleep(0).await.is_err_and(|failure| failure.is_interrupted()) {
        return Exit::Interrupted;
    }
    let server = Server {
        io: io.clone(),
        connection: Connection::default(),
        folders: Folders::of(io).await,
        jobs: Vec::new(),
        begun: 0,
        closing: None,
    };
    server.serve().await
}

struct Server {
    io: Io,
    connection: Connection,
    folders: Folders,
    jobs: Vec<Job>,
    /// How many jobs there have been.
    begun: u64,
    /// Nothing new begins; how it ends when everything has.
    closing: Option<Exit>,
}

impl Server {
    async fn serve(mut self) -> Exit {
        loop {
            self.advance().await;
            if let Some(exit) = self.closing.filter(|_| self.jobs.is_empty()) {
                return exit;
            }
            // While a process runs, its end or a message comes first.
            let wait_ms = match self.follow_process().await {
                Followed::Ended => continue,
                Followed::Runs => Some(0),
                Followed::None if self.awaits_roots() => Some(limits::MCP_ROOTS_WAIT_MS),
                Followed::None => None,
            };
            self.listen(wait_ms).await;
        }
    }

    /// Reads what the client has sent.
    async fn listen(&mut self, mut wait_ms: Option<u64>) {
        loop {
            let request = Request::ReadInput {
                limit_bytes: limits::MCP_LINE_BYTES,
                wait_ms,
                unit: InputUnit::Lines,
            };
            match self.io.request(request).await {
                Ok(Outcome::Input { bytes }) if bytes.is_empty() => {
                    return self.close(Exit::Done).await;
                }
                Ok(Outcome::Input { bytes }) => return self.receive(&bytes).await,
                Ok(Outcome::NoInput) if wait_ms == Some(0) => return,
                Ok(Outcome::NoInput) => {
                    self.connection.stop_waiting_for_roots();
                    return self.begin_waiting().await;
                }
                Err(failure) if failure.kind == FailureKind::TooLarge => {
                    let act = self.connection.receive_too_long();
                    self.act(act).await;
                    // What came with the end of that line has been read already.
                    wait_ms = Some(0);
                }
                Err(failure) if failure.is_interrupted() => {
                    return self.close(Exit::Interrupted).await;
                }
                Ok(_) => return self.close(Exit::Bug).await,
                Err(failure) => {
                    self.io.note(format!("error: {failure}")).await;
                    return self.close(Exit::Refused).await;
                }
            }
        }
    }

    async fn receive(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n') {
            for act in self.connection.receive(line) {
                self.act(act).await;
            }
            // Many short calls may come at once, and few may be open.
            self.advance().await;
        }
    }

    async fn act(&mut self, act: Reaction) {
        match act {
            Reaction::Send(message) => self.send(&message).await,
            Reaction::Perform { id, work, progress } => {
                self.begun += 1;
                self.jobs.push(Job::new(id, self.begun, progress, work));
                if !self.connection.waits_for_roots() {
                    self.begin_waiting().await;
                }
            }
            Reaction::Cancel(id) => self.cancel(&id).await,
            Reaction::Answered(question, answer) => self.answered(question, answer).await,
        }
    }

    async fn send(&self, message: &Value) {
        self.io.result(format!("{message}\n")).await;
    }

    async fn answered(&mut self, question: ServerRequest, answer: ClientAnswer) {
        if let ClientAnswer::Roots(uris) = answer {
            self.folders.set_roots(&self.io, &uris).await;
            return self.begin_waiting().await;
        }
        let is_it = |job: &&mut Job| matches!(job.state, State::Asks(asked) if asked == question);
        if let Some(job) = self.jobs.iter_mut().find(is_it) {
            job.hear(self.io.now(), answer);
        }
    }

    /// Whether a call waits until the client has said where it works.
    fn awaits_roots(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job.state, State::New(_)))
    }

    /// Starts the programs of calls that were not started yet.
    async fn begin_waiting(&mut self) {
        for at in 0..self.jobs.len() {
            let Some(work) = self.jobs[at].take_work() else { continue };
            let directory = match &work {
                ClientRequest::CallTool(_, Err(why)) => {
                    self.jobs[at].refuse(&why.to_string());
                    continue;
                }
                ClientRequest::CallTool(_, Ok(call)) => call.directory.as_deref(),
                ClientRequest::ListResources | ClientRequest::Read(_) => None,
            };
            match self.folders.find(&self.io, directory).await {
                Ok(folder) => {
                    self.jobs[at].begin(&self.io, work, folder, self.connection.elicits());
                }
                Err(why) => self.jobs[at].refuse(&why.to_string()),
            }
        }
    }

    /// Lets every call go on until it waits for something, and answers those that are over.
    async fn advance(&mut self) {
        let mut at = 0;
        while at < self.jobs.len() {
            if !self.jobs.iter().any(|job| job.has_process)
                && let Some(spec) = self.jobs[at].take_wanted_process()
            {
                self.start_process(at, spec).await;
            }
            while let Some(turn) = self.jobs[at].resume() {
                self.tell_progress(at).await;
                match turn {
                    Turn::Exit(exit) => self.end_job(at, exit).await,
                    Turn::Request(request) => self.perform(at, request).await,
                }
            }
            if let State::Over(outcome) = &self.jobs[at].state {
                let answer = self.connection.finish(&self.jobs[at].id, outcome);
                self.jobs.remove(at);
                if let Some(answer) = answer {
                    self.send(&answer).await;
                }
                // What has ended may have been what others waited for.
                at = 0;
            } else {
                at += 1;
            }
        }
    }

    async fn tell_progress(&mut self, at: usize) {
        if let Some((token, progress)) = self.jobs[at].take_progress() {
            let steps = progress.steps as f64;
            let message = self.connection.progress(&token, progress.done, steps, &progress.words);
            self.send(&message).await;
        }
    }

    async fn end_job(&mut self, at: usize, exit: Exit) {
        if self.jobs[at].has_process {
            let _ = self.io.request(Request::End).await;
        }
        for lock in std::mem::take(&mut self.jobs[at].locks) {
            let _ = self.io.unlock(&lock).await;
        }
        self.jobs[at].end(exit);
    }

    /// Does what a program asks for, or notes what it waits for.
    async fn perform(&mut self, at: usize, request: Request) {
        let request = rooted(request, &self.jobs[at].cwd);
        let is_free = !self.jobs.iter().any(|job| job.has_process);
        let elicits = self.connection.elicits();
        let job = &mut self.jobs[at];
        let outcome = match request {
            Request::Say(say) => {
                job.keep(&say);
                Ok(Outcome::Done)
            }
            // What the client sends is not for a program behind a tool.
            Request::ReadInput { .. } => Ok(Outcome::Input { bytes: Vec::new().into() }),
            Request::Ask { .. } | Request::Process(_) | Request::Sleep { .. } if job.cancelled => {
                Err(job::interrupted())
            }
            Request::Ask { question } if elicits => {
                let words = job.question(&question);
                let (question, message) =
                    self.connection.ask(&words, &job::choices(question.trim_end()));
                job.state = State::Asks(question);
                return self.send(&message).await;
            }
            Request::Ask { .. } => Err(job::nobody()),
            Request::Process(spec) if !is_free => {
                job.state = State::WantsProcess(spec);
                return;
            }
            Request::Process(spec) => return self.start_process(at, spec).await,
            Request::Wait { wake_after_ms, .. } if job.has_process => {
                job.state = State::InProcess { wake_after_ms };
                return;
            }
            Request::End if job.has_process => {
                job.has_process = false;
                self.io.request(Request::End).await
            }
            // There may be one, of another call.
            Request::Wait { .. } | Request::End => Err(job::no_process()),
            Request::Lock { ref path, .. } => {
                let path = path.clone();
                let outcome = self.io.request(request).await;
                if outcome.is_ok() {
                    self.jobs[at].locks.push(path);
                }
                outcome
            }
            Request::Unlock { path } => {
                self.jobs[at].locks.retain(|held| *held != path);
                self.io.unlock(&path).await.map(|()| Outcome::Done)
            }
            other => self.io.request(other).await,
        };
        self.jobs[at].reply(self.io.now(), outcome);
    }

    /// Starts a process and lets it run, so that other calls go on before it is waited for.
    async fn start_process(&mut self, at: usize, spec: ProcessSpec) {
        if spec.interactive {
            return self.jobs[at].reply(self.io.now(), Err(job::nobody()));
        }
        let wake_after_ms = spec.wake_after_ms;
        let spec = ProcessSpec {
            wake_after_ms: Some(0),
            wake_on_input: true,
            wake_on_lines: false,
            ..spec
        };
        let outcome = self.io.request(Request::Process(spec)).await;
        let job = &mut self.jobs[at];
        match outcome {
            Ok(Outcome::Running) => {
                job.has_process = true;
                job.state = State::InProcess { wake_after_ms };
            }
            // The program has something to do before it waits.
            Ok(Outcome::Started { group }) => {
                job.has_process = true;
                job.reply(self.io.now(), Ok(Outcome::Started { group }));
            }
            other => self.process_ended(at, other).await,
        }
    }

    /// Waits for the process that runs, or for a message.
    async fn follow_process(&mut self) -> Followed {
        let running = self.jobs.iter().enumerate().find_map(|(at, job)| match job.state {
            State::InProcess { wake_after_ms } => Some((at, wake_after_ms)),
            State::New(_)
            | State::Ready(_)
            | State::WantsProcess(_)
            | State::Asks(_)
            | State::Over(_) => None,
        });
        let Some((at, wake_after_ms)) = running else { return Followed::None };
        let wake_on_input = self.closing.is_none();
        let request = Request::Wait { wake_after_ms, wake_on_input, activity: None };
        match self.io.request(request).await {
            Ok(Outcome::Running) => {
                if wake_after_ms.is_some() {
                    self.jobs[at].reply(self.io.now(), Ok(Outcome::Running));
                }
                Followed::Runs
            }
            other => {
                self.process_ended(at, other).await;
                Followed::Ended
            }
        }
    }

    async fn process_ended(&mut self, at: usize, outcome: Result<Outcome, Failure>) {
        let was_interrupted = match &outcome {
            Ok(Outcome::Process(end)) => end.status == ProcessStatus::Interrupted,
            Ok(_) => false,
            Err(failure) => failure.is_interrupted(),
        };
        self.jobs[at].has_process = false;
        self.jobs[at].reply(self.io.now(), outcome);
        if was_interrupted {
            self.close(Exit::Interrupted).await;
        }
    }

    async fn cancel(&mut self, id: &Id) {
        if let Some(at) = self.jobs.iter().position(|job| job.id == *id) {
            self.interrupt(at).await;
        }
    }

    /// Ends a call as Ctrl-C ends a command: it saves what it has.
    async fn interrupt(&mut self, at: usize) {
        self.jobs[at].cancelled = true;
        if let State::Asks(question) = self.jobs[at].state
            && let Some(message) = self.connection.withdraw(question)
        {
            self.send(&message).await;
        }
        if matches!(self.jobs[at].state, State::InProcess { .. }) {
            let _ = self.io.request(Request::End).await;
            self.jobs[at].has_process = false;
        }
        self.jobs[at].interrupt(self.io.now());
    }

    /// Ends every call, and then this program.
    async fn close(&mut self, exit: Exit) {
        if self.closing.is_none() {
            self.closing = Some(exit);
            for at in 0..self.jobs.len() {
                self.interrupt(at).await;
            }
        }
    }
}

/// What came of waiting for a process.
enum Followed {
    /// None runs.
    None,
    /// It runs on.
    Runs,
    /// It has ended.
    Ended,
}
