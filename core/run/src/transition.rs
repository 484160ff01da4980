//! The transition table: which event is accepted when, and what it changes.

mod changes;
mod endings;
mod finish;
mod forks;
mod gates;
mod judgement;
mod moves;
mod pull_request;
mod steps;

use super::event::*;
use super::record::*;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

pub use finish::FinishRefusal;

/// What events do that a person knows no word for.
const CHANGE: &str = "change in this way";

/// Why an event was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no step with that number.
    #[error("the run has no step {step}")]
    NoSuchStep {
        /// The number.
        step: u32,
    },
    /// The run does not accept that event in its present state.
    #[error("the run is `{status}` and cannot {deed} now")]
    WrongRunStatus {
        /// Its state.
        status: &'static str,
        /// What the event does, as a person says it after "cannot".
        deed: &'static str,
    },
    /// The step does not accept that event in its present state.
    #[error("step {step} is `{status}`, expected {expected}")]
    WrongStepStatus {
        /// Number of the step, from 1.
        step: u32,
        /// Its state.
        status: &'static str,
        /// The states that would accept it.
        expected: &'static str,
    },
    /// A step before it is not settled.
    #[error("step {earlier} must be done before step {step} can start")]
    EarlierStepUnsettled {
        /// The step before.
        earlier: u32,
        /// The step that was to start.
        step: u32,
    },
    /// The step had as many attempts as it may have.
    #[error("step {step} has used {}", text::counted((*limit).into(), "attempt"))]
    AttemptsExhausted {
        /// Number of the step, from 1.
        step: u32,
        /// The limit.
        limit: u32,
    },
    /// Results are missing: a step is never done by fewer checks than it has.
    #[error("step {step} has checks without a result")]
    IncompleteVerification {
        /// Number of the step, from 1.
        step: u32,
    },
    /// The rules ask for a person at this gate.
    #[error("the gate of step {step} needs a human decision")]
    HumanGateRequired {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A bound on the whole run is reached.
    #[error("the budget `{name}` is used up")]
    BudgetExceeded {
        /// Its name.
        name: &'static str,
    },
    /// The event belongs to another moment.
    #[error("{what}")]
    NotDue {
        /// Why, as a clause.
        what: String,
    },
    /// Something is still to be done before the run can end.
    #[error("the run cannot be finalized: {0}")]
    Unfinished(Missing),
    /// What is to become of the work cannot be settled in this way now.
    #[error("{0}")]
    Finish(FinishRefusal),
}

/// What a run still needs before it can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Steps are not done.
    #[error("it has {}", text::counted(*remaining as u64, "unfinished step"))]
    Steps {
        /// How many.
        remaining: usize,
    },
    /// A gate is not decided.
    #[error("the gate of step {step} is not decided")]
    Gate {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A review blocks the run, or the final one has not taken place.
    #[error("its last review has not passed")]
    Review,
    /// The machine checks have not been repeated.
    #[error("its checks were not repeated")]
    Checks,
}

impl StepStatus {
    /// The word in the record.
    pub fn as_str(&self) -> &'static str {
        match self {
            StepStatus::Pending => "pending",
            StepStatus::InProgress(_) => "in_progress",
            StepStatus::Done => "done",
            StepStatus::Failed { .. } => "failed",
            StepStatus::Blocked(_) => "blocked",
        }
    }
}

impl Run {
    /// Applies `event`, which happened at `at`.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when the event is not possible now; the run is as it was.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), Refusal> {
        let was_running = self.status == RunStatus::Running;
        self.demand_nothing_settled(event)?;
        match event {
            Event::StepStarted { step } => self.start_step(at, *step)?,
            Event::WorkStarted(acting) => self.work_started(acting)?,
            Event::WorktreeSetUp(done) => self.worktree_set_up(at, *done)?,
            Event::AgentEnded(turn) => self.agent_ended(at, turn)?,
            Event::AgentWaits(wait) => self.agent_waits(at, wait)?,
            Event::StepActed { step } => self.acted(at, *step)?,
            Event::ActionFailed { step, reason, output } => {
                self.action_failed(at, *step, reason, output)?;
            }
            Event::StepForked { step, run, base } => self.fork_step(at, *step, run, base)?,
            Event::ForkMerged(merge) => self.merge_fork(at, merge)?,
            Event::ForkDropped { step, reason, used } => {
                self.drop_fork(at, *step, reason, used)?;
            }
            Event::BaselineTaken { step, passed } => self.baseline_taken(at, *step, passed)?,
            Event::StepVerified { step, results } => self.verified(at, *step, results)?,
            Event::StepBlocked { step, reason } => self.block_step(at, *step, reason)?,
            Event::GateDecided { step, decision, mode } => {
                self.decide_gate(at, *step, *decision, *mode)?;
            }
            Event::StepRedone { step, reason } => self.redo(at, *step, reason)?,
            Event::StepReopened { step, reason } => self.reopen(at, *step, reason)?,
            Event::ReviewFinished { step, verdict, findings, base } => {
                self.reviewed(at, *step, *verdict, findings, base.clone())?;
            }
            Event::FindingsReturned { step } => self.return_findings(at, *step)?,
            Event::VerdictAccepted => self.accept_verdict(at)?,
            Event::ChecksRepeated { repeated, failures, warnings, clean } => {
                self.repeated(at, *repeated, failures, *clean)?;
                self.warning(at, warnings);
            }
            Event::RunPaused { reason, interrupted } => self.pause(at, reason, *interrupted)?,
            Event::RunResumed => self.resume(at)?,
            Event::TakenOver { reason } => self.take_over(at, reason)?,
            Event::PlanAdopted(adoption) => self.adopt(at, adoption)?,
            Event::RecordRebuilt { ticked } => self.rebuild(at, ticked)?,
            Event::UsageReported(usage) => self.report_usage(*usage)?,
            Event::BudgetsChanged(budgets) => self.change_budgets(at, budgets)?,
            Event::RunFinalized => self.finalize(at)?,
            Event::RunAbandoned { reason } => self.abandon(at, reason)?,
            Event::RunMoved { execution_root, checkout, started_in, lost_checkpoints } => {
                self.relocate(at, execution_root, *checkout, started_in.as_deref());
                if started_in.is_some() {
                    self.leave_behind(at, lost_checkpoints);
                }
            }
            Event::CopyChanged { path, what } => {
                self.log(at, "copy_changed", None, format!("Copy restored: {path} {what}"), "");
            }
            Event::CheckpointTaken(checkpoint) => self.checkpoint_taken(at, checkpoint)?,
            Event::CheckpointMissed { moment, reason } => {
                self.checkpoint_missed(at, *moment, reason)?;
            }
            Event::WorkRestored { to } => self.work_restored(at, to)?,
            Event::FinishIntended { act, notes, replace } => {
                self.intend_finish(at, act, notes.clone(), *replace)?;
            }
            Event::FinishRecorded { outcome, replace } => {
                self.record_finish(at, outcome, *replace)?;
            }
            Event::FinishAbandoned { reason } => self.abandon_finish(at, reason)?,
            Event::PullRequestFollowed { url, repair_limit } => {
                self.follow_pull_request(at, url, *repair_limit)?;
            }
            Event::PullRequestSeen { state, reason } => {
                self.see_pull_request(at, *state, reason)?;
            }
            Event::PullRequestReturned { step, repair, output } => {
                self.return_pull_request(at, *step, repair, output)?;
            }
            Event::PullRequestLeft { reason } => self.leave_pull_request(at, reason)?,
        }
        // The time between a crash and the resumption was not spent on the run.
        if was_running && *event != Event::RunResumed {
            self.0.active_ms += at.millis_since(self.last_update);
        }
        self.forget_outdated_finish();
        self.0.revision += 1;
        self.0.last_update = at;
        Ok(())
    }

    fn log(&mut self, at: Timestamp, event: &str, step: Option<u32>, text: String, detail: &str) {
        let text = text::one_line(&text);
        let detail = detail.to_owned();
        self.0.events.push(LogEntry { at, event: event.to_owned(), step, text, detail });
    }

    fn demand_running(&self, deed: &'static str) -> Result<(), Refusal> {
        match self.status {
            RunStatus::Running => Ok(()),
            RunStatus::Paused
            | RunStatus::Blocked
            | RunStatus::ReadyToFinish
            | RunStatus::Completed
            | RunStatus::Abandoned => {
                Err(Refusal::WrongRunStatus { status: self.status.as_str(), deed })
            }
        }
    }

    fn demand_unfinished(&self, deed: &'static str) -> Result<(), Refusal> {
        if self.status.is_finished() {
            return Err(Refusal::WrongRunStatus { status: self.status.as_str(), deed });
        }
        Ok(())
    }

    fn demand_step(&self, step: u32) -> Result<&StepRecord, Refusal> {
        self.step(step).ok_or(Refusal::NoSuchStep { step })
    }

    fn demand_in_progress(&self, step: u32) -> Result<&StepRecord, Refusal> {
        let record = self.demand_step(step)?;
        match record.status {
            StepStatus::InProgress(_) => Ok(record),
            StepStatus::Pending
            | StepStatus::Done
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(_) => Err(Refusal::WrongStepStatus {
                step,
                status: record.status.as_str(),
                expected: "`in_progress`",
            }),
        }
    }
}
