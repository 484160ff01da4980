//! Which checkpoint is meant.

use super::checkpoint::{Checkpoint, CheckpointKind, CheckpointMoment};
use super::record::Run;

impl Run {
    /// The checkpoint that was taken last.
    pub fn last_checkpoint(&self) -> Option<&Checkpoint> {
        self.checkpoints.last()
    }

    /// The last checkpoint at which the checks of a step had passed.
    pub fn verified_checkpoint(&self) -> Option<&Checkpoint> {
        let verified = |c: &&Checkpoint| c.moment.kind() == CheckpointKind::Verified;
        self.checkpoints.iter().rev().find(verified)
    }

    /// What the configuration of the repository named as programs when the run began.
    pub fn trusted_programs(&self) -> Option<&str> {
        self.checkpoints.first().map(|first| first.programs.as_str())
    }

    /// Whether a push runs another hook now than when the run began, by what is said of programs
    /// now. Checkpoints of earlier versions do not tell.
    pub fn has_other_push_hook(&self, now: &str) -> bool {
        let hook = |programs: &str| programs.split_once('+').map(|(_, hook)| hook.to_owned());
        let began = self.trusted_programs().and_then(hook);
        began.is_some() && began != hook(now)
    }

    /// The last checkpoint with this name, or of the step with this number.
    pub fn checkpoint_named(&self, name: &str) -> Option<&Checkpoint> {
        self.position_named(name).map(|at| &self.checkpoints[at])
    }

    /// The two checkpoints between which the step with this number, or one attempt at it, lies;
    /// without a name the first and the last of the run.
    pub fn checkpoints_around(&self, name: Option<&str>) -> Option<(&Checkpoint, &Checkpoint)> {
        let Some(name) = name else {
            return self.checkpoints.first().zip(self.checkpoints.last());
        };
        let to = self.position_named(name)?;
        let of_step = |c: &Checkpoint| name.parse().is_ok_and(|step| c.moment.step() == Some(step));
        let first = self.checkpoints.iter().position(of_step).unwrap_or(to);
        Some((&self.checkpoints[first.saturating_sub(1)], &self.checkpoints[to]))
    }

    /// How the next checkpoint before a return to an earlier one is called.
    pub fn next_undone(&self) -> CheckpointMoment {
        let undone = self.checkpoints.iter().filter(|c| c.moment.kind() == CheckpointKind::Undone);
        CheckpointMoment::Undone { number: undone.count() as u32 + 1 }
    }

    fn position_named(&self, name: &str) -> Option<usize> {
        let named = |c: &Checkpoint| c.moment.name() == name;
        let of_step = |c: &Checkpoint| name.parse().is_ok_and(|step| c.moment.step() == Some(step));
        let all = &self.checkpoints;
        all.iter().rposition(named).or_else(|| all.iter().rposition(of_step))
    }
}
