//! How calls begin, ask and are answered.

use serde_json::Value;

use super::{Server, State, job};
use crate::mcp::{ClientAnswer, ClientRequest, Era, ToolCall, ToolProgram, started_result};
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
            if self.connection.waits_for_roots() && self.jobs[at].terms.era == Era::Conversation {
                continue;
            }
            let Some(work) = self.jobs[at].take_work() else { continue };
            if let ClientRequest::GoOn { state, call, answer } = work {
                self.go_on(at, &state, &call, answer);
                continue;
            }
            let directory = match &work {
                ClientRequest::CallTool(_, Err(why)) => {
                    self.jobs[at].refuse(&why.to_string());
                    continue;
                }
                ClientRequest::CallTool(_, Ok(call)) => {
                    if let Err(why) = self.make_room(at, call).await {
                        self.jobs[at].refuse(&why);
                        continue;
                    }
                    call.directory.as_deref()
                }
                ClientRequest::ListResources
                | ClientRequest::Read(_)
                | ClientRequest::Complete(_)
                | ClientRequest::GoOn { .. } => None,
            };
            match self.folders.find(&self.io, directory).await {
                Ok(folder) => {
                    let io = self.io.clone();
                    self.jobs[at].begin(&io, work, folder);
                }
                Err(why) => self.jobs[at].refuse(&why.to_string()),
            }
        }
    }

    /// What must be over or in order before a call begins.
    async fn make_room(&mut self, at: usize, call: &ToolCall) -> Result<(), String> {
        if let ToolProgram::Stop(run_id) = &call.program {
            let conducts =
                |job: &super::Job| job.is_background && job.run_id.as_ref() == Some(run_id);
            let Some(conducting) = self.jobs.iter().position(conducts) else {
                let run_id = onloop_syntax::text::one_line(run_id);
                return Err(format!(
                    "this server conducts no run `{run_id}` in the background; `status` says where \
                     it stands"
                ));
            };
            self.interrupt(conducting).await;
        }
        if call.background
            && self.jobs.iter().filter(|job| job.is_background).count()
                >= limits::MCP_BACKGROUND_RUNS
        {
            return Err(format!(
                "{} runs go on in the background already; `stop` pauses one",
                limits::MCP_BACKGROUND_RUNS
            ));
        }
        if !call.given.0.is_read_only() {
            // Whoever calls anew has given the question of an earlier call up, and the run that waits
            // there must not be in the way.
            let now = self.io.now();
            for job in self.jobs.iter_mut().take(at) {
                if matches!(job.state, State::Parked { .. }) {
                    job.hear(now, ClientAnswer::Nobody);
                }
            }
        }
        Ok(())
    }

    /// Hands a call that comes with an answer to the job that has asked.
    fn go_on(&mut self, at: usize, state: &str, call: &ToolCall, answer: Option<ClientAnswer>) {
        let now = self.io.now();
        let Some(waits) = self.jobs.iter().position(|job| job.waits_for(state, call)) else {
            return self.jobs[at].refuse(
                "`requestState` belongs to no open question of this call; call again without it",
            );
        };
        let Some(answer) = answer else {
            // The question is asked again.
            let question = match &self.jobs[waits].state {
                State::Parked { question, .. } => question.clone(),
                _ => return,
            };
            self.jobs[at].state = State::Over(Ok(question));
            return;
        };
        let id = self.jobs[at].id.take();
        let (token, terms) = (self.jobs[at].told.token(), self.jobs[at].terms);
        let job = &mut self.jobs[waits];
        (job.id, job.terms) = (id, terms);
        job.told.to(token, now);
        job.hear(now, answer);
        self.jobs[at].state = State::Over(Ok(Value::Null));
    }

    /// Asks the person behind the client of a call.
    pub(super) async fn ask(&mut self, at: usize, question: &str) {
        let now = self.io.now();
        let job = &mut self.jobs[at];
        let words = job.question(question);
        let choices = job::choices(question.trim_end());
        match job.terms.era {
            Era::Conversation => {
                let (question, message) = self.connection.ask(&words, &choices);
                job.state = State::Asks(question);
                self.send(&message).await;
            }
            Era::Request => {
                let random = self.io.start().random;
                let asked = job.park(&random, &words, &choices, now);
                if let Some(id) = job.id.take()
                    && let Some(answer) = self.connection.finish(&id, Ok(asked))
                {
                    self.send(&answer).await;
                }
            }
        }
    }

    /// Answers the request of a job that is over, where somebody still waits.
    pub(super) async fn answer_job(&mut self, job: super::Job) {
        let (Some(id), State::Over(outcome)) = (job.id, job.state) else { return };
        if let Some(answer) = self.connection.finish(&id, outcome) {
            self.send(&answer).await;
        }
    }

    /// Answers a call whose run has begun and goes on without it.
    pub(super) async fn answer_begun(&mut self, at: usize) {
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
