//! What becomes of the work of a run that has ended: intended, done, recorded.

use super::Refusal;
use crate::event::Event;
use crate::finish::*;
use crate::record::*;
use onloop_syntax::time::Timestamp;

/// Why it cannot be settled now, or not in this way, what becomes of the work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FinishRefusal {
    /// The run has not ended, or not well enough for this.
    #[error(
        "the work cannot be {} while the run is `{status}`, expected a {} run",
        disposition.as_str(),
        needed(*disposition)
    )]
    TooEarly {
        /// What was to become of the work.
        disposition: Disposition,
        /// The run's state.
        status: &'static str,
    },
    /// The record does not prove that the work is done.
    #[error(
        "the work cannot be {}: the record does not prove that it is complete ({})",
        disposition.as_str(),
        missing.join(", ")
    )]
    Unproven {
        /// What was to become of the work.
        disposition: Disposition,
        /// What is missing, in the words of the receipt.
        missing: Vec<&'static str>,
    },
    /// The work was thrown away.
    #[error("the work was discarded, and nothing of it is left")]
    Discarded,
    /// The work was merged, and the worktree removed: its place is the checkout of a person.
    #[error("the work was merged, and its worktree is gone; only git can take it back")]
    Merged,
    /// It is settled already.
    #[error("the outcome `{}` is already recorded", disposition.as_str())]
    Settled {
        /// How.
        disposition: Disposition,
    },
    /// Something was begun with the work and has to end first.
    #[error("the work is being {}, and that has not ended", disposition.as_str())]
    UnderWay {
        /// What.
        disposition: Disposition,
        /// The command that does so.
        command: String,
    },
    /// An outcome without the intention that has to come first.
    #[error("the outcome `{}` has no recorded intention", disposition.as_str())]
    NotIntended {
        /// The outcome.
        disposition: Disposition,
    },
}

impl Run {
    pub(super) fn intend_finish(
        &mut self,
        at: Timestamp,
        act: &FinishAct,
        notes: Option<String>,
        replace: bool,
    ) -> Result<(), Refusal> {
        let disposition = act.disposition();
        self.demand_finishable(disposition, replace)?;
        self.log(at, "finish_intended", None, describe(act, self.place.branch.as_deref()), "");
        self.0.finish_intent = Some(FinishIntent { act: act.clone(), since: at, notes });
        Ok(())
    }

    pub(super) fn record_finish(
        &mut self,
        at: Timestamp,
        outcome: &FinishOutcome,
        replace: bool,
    ) -> Result<(), Refusal> {
        let disposition = outcome.disposition;
        match (&self.finish_intent, disposition) {
            (Some(intent), _) if intent.act.disposition() == disposition => {}
            (Some(_), _) => return Err(self.under_way()),
            (None, Disposition::Kept) => self.demand_finishable(disposition, replace)?,
            (None, Disposition::Merged | Disposition::Published | Disposition::Discarded) => {
                return Err(FinishRefusal::NotIntended { disposition }.into());
            }
        }
        self.0.finish = Some(Finish { outcome: outcome.clone(), recorded_at: at });
        let intent = self.0.finish_intent.take();
        self.0.finished_commit = match disposition {
            Disposition::Merged | Disposition::Published => {
                intent.and_then(|intent| intent.act.commit().map(str::to_owned))
            }
            Disposition::Kept | Disposition::Discarded => None,
        };
        if self.status == RunStatus::ReadyToFinish {
            self.0.status = RunStatus::Completed;
            self.0.completed_at = self.completed_at.or(Some(at));
        }
        let text = format!("Finish recorded: {}", disposition.as_str());
        self.log(at, "finish_recorded", None, text, "");
        Ok(())
    }

    pub(super) fn abandon_finish(&mut self, at: Timestamp, reason: &str) -> Result<(), Refusal> {
        if self.0.finish_intent.take().is_none() {
            return Err(Refusal::NotDue { what: "nothing is being done with the work".to_owned() });
        }
        self.log(at, "finish_abandoned", None, format!("Finish failed: {reason}"), "");
        Ok(())
    }

    /// While something is done with the work nothing else may happen to the run, and nothing
    /// at all once it has been thrown away.
    pub(super) fn demand_nothing_settled(&self, event: &Event) -> Result<(), Refusal> {
        // Every other event, also one that is added later, has to wait.
        if matches!(
            event,
            Event::FinishIntended { .. }
                | Event::FinishRecorded { .. }
                | Event::FinishAbandoned { .. }
                | Event::RunMoved { .. }
                | Event::CopyChanged { .. }
        ) {
            return Ok(());
        }
        if self.finish_intent.is_some() {
            return Err(self.under_way());
        }
        if self.is_discarded() {
            return Err(FinishRefusal::Discarded.into());
        }
        match (event, self.has_no_files()) {
            (Event::CheckpointTaken(_) | Event::WorkRestored { .. }, Some(why)) => Err(why.into()),
            (_, _) => Ok(()),
        }
    }

    /// Why the run has no files of its own any more; `None`: it has.
    pub fn has_no_files(&self) -> Option<FinishRefusal> {
        match self.finish.as_ref()?.outcome.disposition {
            Disposition::Discarded => Some(FinishRefusal::Discarded),
            Disposition::Merged => Some(FinishRefusal::Merged),
            Disposition::Kept | Disposition::Published => None,
        }
    }

    /// A blocked run whose work was kept can be resumed; then its outcome is open again.
    pub(super) fn forget_outdated_finish(&mut self) {
        match self.status {
            RunStatus::Running | RunStatus::Paused => self.0.finish = None,
            RunStatus::Blocked
            | RunStatus::ReadyToFinish
            | RunStatus::Completed
            | RunStatus::Abandoned => {}
        }
    }

    fn demand_finishable(&self, disposition: Disposition, replace: bool) -> Result<(), Refusal> {
        if self.finish_intent.is_some() {
            return Err(self.under_way());
        }
        // Lost work cannot be delivered, even by force. Kept work waits for another outcome.
        if let Some(finish) = &self.finish
            && ((!replace && finish.outcome.disposition != Disposition::Kept)
                || self.is_discarded())
        {
            return Err(match finish.outcome.disposition {
                Disposition::Discarded => FinishRefusal::Discarded,
                disposition
                @ (Disposition::Kept | Disposition::Merged | Disposition::Published) => {
                    FinishRefusal::Settled { disposition }
                }
            }
            .into());
        }
        if !self.accepts(disposition) {
            let status = self.status.as_str();
            return Err(FinishRefusal::TooEarly { disposition, status }.into());
        }
        let completed = matches!(self.status, RunStatus::Completed | RunStatus::ReadyToFinish);
        let missing = self.missing_for_finish();
        // Throwing away what is unproven needs no proof.
        if completed && disposition != Disposition::Discarded && !missing.is_empty() {
            return Err(FinishRefusal::Unproven { disposition, missing }.into());
        }
        Ok(())
    }

    fn under_way(&self) -> Refusal {
        let intent = self.finish_intent.as_ref().expect("asked only while there is one");
        Refusal::Finish(FinishRefusal::UnderWay {
            disposition: intent.act.disposition(),
            command: intent.act.command(&self.id),
        })
    }
}

fn describe(act: &FinishAct, branch: Option<&str>) -> String {
    let branch = branch.unwrap_or("the work");
    match act {
        FinishAct::Merge { commit, target, pull_request: None } => {
            format!("About to merge {branch} ({commit}) into {target}")
        }
        FinishAct::Merge { commit, pull_request: Some(url), .. } => {
            format!("About to remove {branch} ({commit}), which {url} merged")
        }
        FinishAct::Publish { commit, remote, .. } => {
            format!("About to publish {branch} ({commit}) to {remote}")
        }
        FinishAct::Discard { commit: Some(commit) } => {
            format!("About to discard {branch} ({commit})")
        }
        FinishAct::Discard { commit: None } => format!("About to discard {branch}"),
    }
}

impl From<FinishRefusal> for Refusal {
    fn from(refusal: FinishRefusal) -> Refusal {
        Refusal::Finish(refusal)
    }
}

/// The state of a run of which the work can be disposed of in this way.
fn needed(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Merged | Disposition::Published => "completed",
        Disposition::Kept | Disposition::Discarded => "finalized",
    }
}
