//! How calls begin, ask and are answered.

use serde_json::Value;

use super::{Server, State};
use crate::mcp::{ClientAnswer, ClientRequest, Protocol, ToolCall, ToolProgram, started_result};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;

impl Server {
    /// Whether a call of a conversation waits until the client has said where it works.
    pub(super) fn awaits_roots(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job.state, State::New(_)))
    }

    /// Starts the programs of calls that were not started yet.
    pub(super) async fn begin_waiting(&mut self) {
        for at in 0..self.jobs.len() {
            // Requests that stand alone say with `directory` where they work.
            if self.connection.waits_for_roots()
                && self.jobs[at].client.protocol == Protocol::Conversation
            {
                continue;
            }
            let Some(work) = self.jobs[at].take_work() else { continue };
            if let ClientRequest::Continue { state, call, answer } = work {
                self.continue_call(at, &state, &call, answer);
                continue;
            }
            let directory = match &work {
                ClientRequest::CallTool(_, Err(why)) => {
                    self.jobs[at].refuse(&CommandError::usage(why.to_string()));
                    continue;
                }
                ClientRequest::CallTool(_, Ok(call)) => {
                    if let Err(error) = self.check_call(at, call).await {
                        self.jobs[at].refuse(&error);
                        continue;
                    }
                    call.directory.as_deref()
                }
                ClientRequest::ListResources
                | ClientRequest::Read(_)
                | ClientRequest::Complete(_)
                | ClientRequest::Continue { .. } => None,
            };
            match self.folders.find(&self.io, directory).await {
                Ok(folder) => {
                    let io = self.io.clone();
                    self.jobs[at].begin(&io, work, folder);
                }
                Err(why) => self.jobs[at].refuse(&CommandError::usage(why.to_string())),
            }
        }
    }

    /// Checks a call before it begins, and ends what stands against it.
    async fn check_call(&mut self, at: usize, call: &ToolCall) -> Result<(), CommandError> {
        if let ToolProgram::Stop(run_id) = &call.program {
            let drives =
                |job: &super::Job| job.is_background && job.run_id.as_ref() == Some(run_id);
            let Some(driving) = self.jobs.iter().position(drives) else {
                let run_id = onloop_syntax::text::one_line(run_id);
                return Err(CommandError::usage(format!(
                    "this server does not run `{run_id}` in the background; see `status`"
                )));
            };
            self.interrupt(driving).await;
        }
        if call.background
            && self.jobs.iter().filter(|job| job.is_background).count()
                >= limits::MCP_BACKGROUND_RUNS
        {
            return Err(CommandError::usage(format!(
                "{} runs are in the background already; `stop` pauses one",
                limits::MCP_BACKGROUND_RUNS
            )));
        }
        if !call.given.0.is_read_only() {
            // A new call gives up the question of an earlier one, whose run must not block it.
            let now = self.io.now();
            for job in self.jobs.iter_mut().take(at) {
                if matches!(job.state, State::Parked { .. }) {
                    job.answered(now, ClientAnswer::NoAnswer);
                }
            }
        }
        Ok(())
    }

    /// Hands a call that comes with an answer to the job that has asked.
    fn continue_call(
        &mut self,
        at: usize,
        state: &str,
        call: &ToolCall,
        answer: Option<ClientAnswer>,
    ) {
        let now = self.io.now();
        let Some(waits) = self.jobs.iter().position(|job| job.waits_for(state, call)) else {
            let error = "`requestState` belongs to no open question of this call; call again \
                         without it";
            return self.jobs[at].refuse(&CommandError::usage(error));
        };
        let Some(answer) = answer else {
            // The question is asked again.
            let question = match &self.jobs[waits].state {
                State::Parked { question, .. } => question.clone(),
                _ => return,
            };
            self.jobs[at].state = State::Finished(Ok(question));
            return;
        };
        let id = self.jobs[at].id.take();
        let (token, client) = (self.jobs[at].reporter.token(), self.jobs[at].client);
        let job = &mut self.jobs[waits];
        (job.id, job.client) = (id, client);
        job.reporter.redirect(token, now);
        job.answered(now, answer);
        self.jobs[at].state = State::Finished(Ok(Value::Null));
    }

    /// Asks the person behind the client of a call.
    pub(super) async fn ask(&mut self, at: usize, question: &str, choices: &[String]) {
        let now = self.io.now();
        let job = &mut self.jobs[at];
        let words = job.question(question);
        match job.client.protocol {
            Protocol::Conversation => {
                let (question, message) = self.connection.ask(&words, choices);
                job.state = State::Asking(question);
                self.send(&message).await;
            }
            Protocol::Stateless => {
                let random = self.io.start().random;
                let asked = job.park(&random, &words, choices, now);
                if let Some(id) = job.id.take()
                    && let Some(answer) = self.connection.finish(&id, Ok(asked))
                {
                    self.send(&answer).await;
                }
            }
        }
    }

    /// Answers the request of a finished job, if the client still waits.
    pub(super) async fn answer_job(&mut self, job: super::Job) {
        let (Some(id), State::Finished(outcome)) = (job.id, job.state) else { return };
        if let Some(answer) = self.connection.finish(&id, outcome) {
            self.send(&answer).await;
        }
    }

    /// Answers a call whose run continues in the background.
    pub(super) async fn answer_started(&mut self, at: usize) {
        let job = &mut self.jobs[at];
        if !job.is_background {
            return;
        }
        let (Some(run_id), Some(id)) = (&job.run_id, job.id.take()) else { return };
        let result = started_result(run_id);
        if let Some(answer) = self.connection.finish(&id, Ok(result)) {
            self.send(&answer).await;
        }
    }
}
