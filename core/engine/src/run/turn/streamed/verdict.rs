//! What came of a turn, from what the client said, how its process ended and why we ended it.

use super::cause::{Cause, wait_reason};
use super::watch::Watch;
use super::{ActionOutcome, Turn};
use crate::run::turn::{Ended, why_ended};
use onloop_agents::{AgentError, AgentErrorKind, TurnOutcome};
use onloop_documents::turn_policy::JudgedCall;
use onloop_effect::ProcessStatus;
use onloop_permission::OnAsk;
use onloop_run::{Refused, TurnEnding, WaitReason};
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};

/// What came of a turn.
pub(super) struct TurnVerdict {
    /// For the record.
    pub(super) ending: TurnEnding,
    /// For the attempt.
    pub(super) outcome: ActionOutcome,
}

impl Turn<'_> {
    /// Why it was ended, on one line.
    pub(super) fn told(&self, cause: &Cause) -> String {
        match cause {
            Cause::Unguarded => format!(
                "agent failed: `{}` used tools without asking onloop; its hooks are switched off \
                 or broken",
                self.agent
            ),
            Cause::Bound(why) | Cause::Stalled(why) => why.clone(),
            Cause::TooLong => {
                "agent ended: its conversation does not fit into its model any more".to_owned()
            }
            Cause::Rejected(error) => failed_with(error),
            Cause::NotServed { why, .. } => format!("agent ended: {}", why.clause()),
        }
    }

    /// The verdict on a turn that was ended.
    pub(super) fn of_cause(&self, cause: Cause, watch: &Watch<'_>) -> TurnVerdict {
        let ending = match cause {
            Cause::NotServed { why, resets_at } => return self.refused(why, resets_at, watch),
            Cause::Bound(_) => {
                let (ending, outcome) = (TurnEnding::OverBudget, ActionOutcome::OverBudget);
                return TurnVerdict { ending, outcome };
            }
            Cause::Unguarded => TurnEnding::Ended,
            Cause::Stalled(_) => TurnEnding::Stalled,
            Cause::TooLong => TurnEnding::TooLong,
            Cause::Rejected(_) => TurnEnding::Failed,
        };
        self.failed(ending, self.told(&cause), watch)
    }

    /// The verdict on a turn whose client ended by itself.
    pub(super) fn of_end(
        &self,
        status: ProcessStatus,
        judged: &[JudgedCall],
        watch: &Watch<'_>,
    ) -> TurnVerdict {
        if status == ProcessStatus::Interrupted {
            return self.interrupted();
        }
        if judged.is_empty() && self.is_unguarded(&watch.heard.state) {
            return self.of_cause(Cause::Unguarded, watch);
        }
        if let Some(call) = judged.iter().rev().find(|call| !call.decided && call.is_denied())
            && self.options.on_ask == OnAsk::Pause
        {
            let what = format!("`{}: {}`: {}", call.tool, call.about, call.reason);
            return TurnVerdict {
                ending: TurnEnding::Completed,
                outcome: ActionOutcome::Undecided(what),
            };
        }
        let failed = |reason: String| self.failed(TurnEnding::Failed, reason, watch);
        let outcome = watch.heard.state.outcome(status);
        // A client that is told of its budget ends by itself when that is spent.
        if matches!(outcome, TurnOutcome::Failed(_) | TurnOutcome::NoFinalEvent)
            && let Some(why) = watch.passed_bound()
        {
            return self.of_cause(Cause::Bound(why), watch);
        }
        match outcome {
            TurnOutcome::Completed => {
                TurnVerdict { ending: TurnEnding::Completed, outcome: ActionOutcome::Done }
            }
            TurnOutcome::Limited(limit) => {
                self.refused(WaitReason::Limited, limit.resets_at, watch)
            }
            TurnOutcome::Failed(error) => match wait_reason(error.kind) {
                Some(why) => self.refused(why, None, watch),
                None if error.kind == AgentErrorKind::TooLong => {
                    self.failed(TurnEnding::TooLong, failed_with(&error), watch)
                }
                None => failed(failed_with(&error)),
            },
            TurnOutcome::NoFinalEvent => {
                failed(match why_ended(status, "agent", self.options.timeout_ms) {
                    Ended::Badly(reason) => reason,
                    Ended::Well | Ended::Interrupted => {
                        "agent failed: it ended without saying how its turn ended".to_owned()
                    }
                })
            }
        }
    }

    pub(super) fn interrupted(&self) -> TurnVerdict {
        TurnVerdict { ending: TurnEnding::Interrupted, outcome: ActionOutcome::Interrupted }
    }

    fn refused(
        &self,
        why: WaitReason,
        resets_at: Option<Timestamp>,
        watch: &Watch<'_>,
    ) -> TurnVerdict {
        let refused = Refused {
            step: self.record.step.number,
            attempt: self.record.attempts,
            agent: self.agent.to_owned(),
            why,
            resets_at,
        };
        let had_started = !watch.heard.state.is_idle();
        let outcome = ActionOutcome::Refused { refused, had_started };
        TurnVerdict { ending: TurnEnding::Refused(why), outcome }
    }

    /// A failed attempt, with the end of its transcript.
    fn failed(&self, ending: TurnEnding, reason: String, watch: &Watch<'_>) -> TurnVerdict {
        let output =
            text::suffix(&watch.heard.transcript, limits::RECORDED_OUTPUT_BYTES).to_owned();
        let outcome = ActionOutcome::Failed { reason: self.io.redacted(&reason), output };
        TurnVerdict { ending, outcome }
    }
}

fn failed_with(error: &AgentError) -> String {
    format!("agent failed: {}", text::ellipsis(&text::one_line(&error.message), 300))
}
