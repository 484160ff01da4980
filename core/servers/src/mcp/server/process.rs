//! The one process that runs at a time, and who waits for it.

use super::{Server, State, job};
use onloop_effect::{Exit, Failure, Outcome, ProcessSpec, ProcessStatus, Request};

/// What came of waiting for a process.
pub(super) enum Followed {
    /// None runs.
    None,
    /// It runs on.
    Runs,
    /// It has ended.
    Ended,
}

impl Server {
    /// Starts a process and lets it run, so that other calls continue meanwhile.
    pub(super) async fn start_process(&mut self, at: usize, spec: ProcessSpec) {
        if spec.interactive {
            return self.jobs[at].reply(self.io.now(), Err(job::no_answer()));
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

    /// Waits for the process that runs, or for a message, but no longer than `wait_ms`.
    pub(super) async fn follow_process(&mut self, wait_ms: Option<u64>) -> Followed {
        let running = self.jobs.iter().enumerate().find_map(|(at, job)| match job.state {
            State::InProcess { wake_after_ms } => Some((at, wake_after_ms)),
            State::New(_)
            | State::Ready(_)
            | State::WantsProcess(_)
            | State::Asking(_)
            | State::Parked { .. }
            | State::Sleeps(_)
            | State::Finished(_) => None,
        });
        let Some((at, wake_after_ms)) = running else { return Followed::None };
        let request = Request::Wait {
            wake_after_ms: wake_after_ms.into_iter().chain(wait_ms).min(),
            wake_on_input: self.closing.is_none(),
            activity: None,
        };
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
}
