//! `onloop mcp`: the programs of the command line as tools of the Model Context Protocol.
//!
//! This program drives other programs, as a host does. Most of what they ask for it asks its own
//! host for. It collects what they print for the answer, and sends their questions to the client.
//! Calls take turns between two requests, and while a process runs, which there is one of at a
//! time, the client's messages are still read.

mod call;
mod folders;
mod job;
mod notifications;
mod process;
mod program;
mod progress;
mod watcher;

use onloop_engine::error::CommandError;
use serde_json::Value;

use crate::mcp::{ClientAnswer, Connection, Id, Reaction, ServerRequest};
use folders::Folders;
use job::{Job, NewJob, State};
use onloop_effect::rooted::rooted;
use onloop_effect::{Exit, FailureKind, InputUnit, Io, Outcome, Request, Say, Turn};
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;
use process::Followed;
use watcher::RunWatcher;

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
        watcher: RunWatcher::default(),
        roots_until: None,
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
    /// What clients subscribe to.
    watcher: RunWatcher,
    /// How long calls wait for the client to say where it works.
    roots_until: Option<Timestamp>,
}

impl Server {
    async fn serve(mut self) -> Exit {
        loop {
            self.advance().await;
            if let Some(exit) = self.closing.filter(|_| self.jobs.is_empty()) {
                for message in self.connection.end_streams() {
                    self.send(&message).await;
                }
                return exit;
            }
            self.run_timers().await;
            if self.jobs.iter().any(Job::can_resume) {
                continue;
            }
            let wait_ms = self.wait_ms();
            // While a process runs, its end or a message comes first.
            match self.follow_process(wait_ms).await {
                Followed::Ended => {}
                Followed::Runs => self.listen(Some(0)).await,
                Followed::None => self.listen(wait_ms).await,
            }
        }
    }

    /// Runs what is due by now.
    async fn run_timers(&mut self) {
        let now = self.io.now();
        if self.awaits_roots() {
            let until = now.later(limits::MCP_ROOTS_WAIT_MS);
            if *self.roots_until.get_or_insert(until) <= now {
                self.connection.stop_waiting_for_roots();
                self.begin_waiting().await;
            }
        }
        if !self.awaits_roots() {
            self.roots_until = None;
        }
        for job in &mut self.jobs {
            job.wake(now);
        }
        self.send_heartbeats().await;
        self.report_changes().await;
    }

    /// How long nothing is due; `None`: without end.
    fn wait_ms(&self) -> Option<u64> {
        let jobs = self.jobs.iter().filter_map(Job::due);
        let due = jobs.chain(self.roots_until).chain(self.watcher.due()).min()?;
        // After a clock was set back this waits no longer than the bounds above.
        Some(due.millis_since(self.io.now()))
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
                Ok(Outcome::Input { bytes }) if bytes.is_empty() => self.close(Exit::Done).await,
                Ok(Outcome::Input { bytes }) => self.receive(&bytes).await,
                Ok(Outcome::NoInput) => {}
                Err(failure) if failure.kind == FailureKind::TooLarge => {
                    let reaction = self.connection.receive_too_long();
                    self.handle(reaction).await;
                    // What came with the end of that line has been read already.
                    wait_ms = Some(0);
                    continue;
                }
                Err(failure) if failure.is_interrupted() => self.close(Exit::Interrupted).await,
                Ok(_) => self.close(Exit::Bug).await,
                Err(failure) => {
                    let exit = CommandError::from(failure).report(&self.io).await;
                    self.close(exit).await;
                }
            }
            return;
        }
    }

    async fn receive(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Some(reaction) = self.connection.receive(line) {
                self.handle(reaction).await;
            }
            // Many short calls may come at once, and few may be open.
            self.advance().await;
        }
    }

    async fn handle(&mut self, reaction: Reaction) {
        match reaction {
            Reaction::Send(message) => {
                // What changes after a subscription was confirmed must not be missed.
                self.report_changes().await;
                self.send(&message).await;
            }
            Reaction::Perform { id, work, progress, client } => {
                self.begun += 1;
                let request = NewJob { id, work, progress, client };
                self.jobs.push(Job::new(self.begun, request, self.io.now()));
                self.begin_waiting().await;
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
        let is_it = |job: &&mut Job| matches!(job.state, State::Asking(asked) if asked == question);
        if let Some(job) = self.jobs.iter_mut().find(is_it) {
            job.answered(self.io.now(), answer);
        }
    }

    /// Runs every call until it waits for something, and answers those that are finished.
    async fn advance(&mut self) {
        let mut at = 0;
        while at < self.jobs.len() {
            if !self.jobs.iter().any(|job| job.has_process)
                && let Some(spec) = self.jobs[at].take_wanted_process()
            {
                self.start_process(at, spec).await;
            }
            while let Some(turn) = self.jobs[at].resume() {
                self.send_progress(at).await;
                match turn {
                    Turn::Exit(exit) => self.end_job(at, exit).await,
                    Turn::Request(request) => self.perform(at, request).await,
                }
            }
            if matches!(self.jobs[at].state, State::Finished(_)) {
                let job = self.jobs.remove(at);
                self.answer_job(job).await;
                // What has ended may have been what others waited for.
                at = 0;
            } else {
                at += 1;
            }
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
        let now = self.io.now();
        let job = &mut self.jobs[at];
        let outcome = match request {
            Request::Say(say) => {
                job.record(&say);
                if let Say::Note(note) = &say {
                    self.log(at, note).await;
                }
                Ok(Outcome::Done)
            }
            // What the client sends is not for a program behind a tool.
            Request::ReadInput { .. } => Ok(Outcome::Input { bytes: Vec::new().into() }),
            Request::Ask { .. } | Request::Process(_) | Request::Sleep { .. } if job.cancelled => {
                Err(job::interrupted())
            }
            Request::Ask { question, choices, unless_changed: _ } if job.asks() => {
                return self.ask(at, &question, &choices).await;
            }
            Request::Ask { .. } => Err(job::no_answer()),
            Request::Sleep { duration_ms } if duration_ms > 0 => {
                job.state = State::Sleeps(now.later(duration_ms));
                return;
            }
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
                self.jobs[at].locks.retain(|lock| *lock != path);
                self.io.unlock(&path).await.map(|()| Outcome::Done)
            }
            other => self.io.request(other).await,
        };
        self.jobs[at].reply(self.io.now(), outcome);
    }

    async fn cancel(&mut self, id: &Id) {
        if let Some(at) = self.jobs.iter().position(|job| job.id.as_ref() == Some(id)) {
            self.interrupt(at).await;
        }
    }

    /// Ends a call as Ctrl-C ends a command: it saves what it has.
    async fn interrupt(&mut self, at: usize) {
        self.jobs[at].cancelled = true;
        if let State::Asking(question) = self.jobs[at].state
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
