//! A decision through a screen or a page: of a person who has seen a run, about what they have seen.

use super::waiting::of_person;
use super::{GateArgs, decide_in, demand_unchanged};
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, open};
use onloop_engine::run::decider::{demand_person, names_step};
use onloop_run::{DecisionChannel, GateDecision, rejected_at};

/// What a person decides about the step that waits for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayedDecision {
    /// Continue.
    Approve {
        /// The name of the step as they typed it; needed where the risk is high.
        typed: String,
    },
    /// Do not: the run ends, and its work is kept.
    Reject,
    /// Have it done again.
    Redo {
        /// What its agent is to do otherwise.
        reason: String,
    },
}

/// What a person has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayedRun<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The step that waited.
    pub step: u32,
    /// The record as it was: [`RunView::seen`](onloop_documents::board::RunView::seen).
    pub record: &'a str,
}

/// Records the decision of a person, unless the run has changed since they looked, or what they typed
/// is not what a decision needs: that is said, and nothing is decided.
pub async fn decide_as_displayed(
    io: &Io,
    seen: DisplayedRun<'_>,
    decision: &DisplayedDecision,
    channel: DecisionChannel,
) -> Result<(), CommandError> {
    demand_person(io, "the decision at a gate").await?;
    let mut store = open(io, Some(seen.run_id), Fitting::OnlyUnfinished).await?;
    demand_unchanged(&mut store, seen.record)?;
    let step = seen.step;
    let is_redo = matches!(decision, DisplayedDecision::Redo { .. });
    let (word, reason) = match decision {
        DisplayedDecision::Approve { typed } if !names_step(io, store.run(), step, typed) => {
            let what = format!("that is not the name of step {step}; nothing is approved");
            return Err(CommandError::failed(what));
        }
        DisplayedDecision::Approve { .. } => (GateDecision::Approved, None),
        DisplayedDecision::Reject => (GateDecision::Rejected, Some(rejected_at(step))),
        DisplayedDecision::Redo { reason } if reason.trim().is_empty() => {
            return Err(CommandError::failed("the reason is empty; nothing is decided")
                .fix("say what is to be done otherwise"));
        }
        DisplayedDecision::Redo { reason } => (GateDecision::Rejected, Some(reason.clone())),
    };
    let args = GateArgs { redo: is_redo, reason, ..of_person(step, word, false) };
    decide_in(io, &mut store, &args, channel).await
}
