//! The run continues in another folder, or on another machine.

use crate::checkpoint::{Checkpoint, CheckpointKind};
use crate::event::*;
use crate::record::*;
use onloop_effect::is_within;
use onloop_syntax::time::Timestamp;

impl Run {
    /// A finished run can be moved, too: the worktree that its record speaks of is removed.
    pub(super) fn relocate(
        &mut self,
        at: Timestamp,
        root: &str,
        checkout: bool,
        started_in: Option<&str>,
    ) {
        if checkout {
            let place = &mut self.0.place;
            let before = std::mem::take(&mut place.execution_root);
            let inside = |path: &str| {
                is_within(path, &before).then(|| format!("{root}{}", &path[before.len()..]))
            };
            let paths = [
                Some(&mut place.workflow_path),
                place.source_workflow_path.as_mut(),
                place.repo_root.as_mut(),
                place.worktree_path.as_mut(),
            ];
            for path in paths.into_iter().flatten() {
                if let Some(moved) = inside(path) {
                    *path = moved;
                }
            }
        }
        self.move_to(root);
        if let Some(started_in) = started_in {
            self.arrive(started_in);
            // What git ignores did not come along.
            self.0.set_up = None;
        }
        self.log(at, "run_moved", None, format!("Moved to {root}"), "");
    }

    /// The run came to the repository around `started_in`, where nothing has been made ready for it.
    fn arrive(&mut self, started_in: &str) {
        self.0.set_up = None;
        let place = &mut self.0.place;
        let before = place.repo_root.replace(started_in.to_owned());
        let source = place.source_workflow_path.as_deref().zip(before);
        let rest = source.and_then(|(source, before)| source.strip_prefix(before.as_str()));
        if let Some(rest) = rest.filter(|rest| rest.starts_with('/')) {
            place.source_workflow_path = Some(format!("{started_in}{rest}"));
        }
        let in_worktree = place.execution_root != started_in;
        place.worktree_path = in_worktree.then(|| place.execution_root.clone());
        place.executor_mode = if in_worktree { "worktree" } else { "branch" }.to_owned();
    }

    /// What was said of work that did not come along is said again once it is there again: the checks of the
    /// last attempt that no checkpoint has are evaluated first, and its gate is decided anew.
    pub(super) fn leave_behind(&mut self, at: Timestamp, lost: &[String]) {
        self.0.checkpoints.retain(|checkpoint| !lost.contains(&checkpoint.moment.name()));
        if self.status.is_finished() {
            return;
        }
        let is_left = |record: &&StepRecord| is_claimed(record) && !self.has_work_of(record);
        let left: Vec<u32> = self.steps.iter().filter(is_left).map(|s| s.step.number).collect();
        for step in left {
            let record = self.step_mut(step).expect("it is one of them");
            record.status = StepStatus::InProgress(Phase::Interrupted);
            record.uncounted = record.attempts.min(record.uncounted + 1);
            record.completed_at = None;
            record.results.clear();
            record.gate = None;
            self.0.reverified = false;
            self.0.reviews.blocking = None;
            self.0.reviews.finally_reviewed = false;
            self.0.reviews.reviewed_step = self.reviews.reviewed_step.min(step - 1);
            let text = format!("↻ Step {step}: To be verified again: its work was left behind");
            self.log(at, "run_moved", Some(step), text, "");
        }
    }

    /// Whether a checkpoint has what the last attempt at a step left.
    fn has_work_of(&self, record: &StepRecord) -> bool {
        let (number, attempts) = (record.step.number, record.attempts);
        let name = format!("{number}-{attempts}");
        let is_after = |checkpoint: &Checkpoint| match checkpoint.moment.kind() {
            CheckpointKind::Acted | CheckpointKind::Verified => checkpoint.moment.name() == name,
            CheckpointKind::Begun | CheckpointKind::Started | CheckpointKind::Undone => false,
        };
        self.checkpoints.iter().any(is_after)
    }
}

/// Whether the record says that something has become of the step. What a person has rejected is done
/// again anyway.
fn is_claimed(record: &StepRecord) -> bool {
    match &record.status {
        StepStatus::Done => record.gate.is_none_or(|gate| gate.decision != GateDecision::Rejected),
        StepStatus::InProgress(Phase::Acted)
        | StepStatus::Blocked(BlockReason::HumanReview { .. }) => true,
        StepStatus::Pending
        | StepStatus::InProgress(Phase::Acting | Phase::Interrupted)
        | StepStatus::Failed { .. }
        | StepStatus::Blocked(_) => false,
    }
}
