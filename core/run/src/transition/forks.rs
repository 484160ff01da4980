//! What happens to the forks of a run.

use super::{CHANGE, Refusal};
use crate::checkpoint::CheckpointKind;
use crate::fork::*;
use crate::record::*;
use crate::stale::Stale;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::graph::StepGraph;

impl Run {
    pub(super) fn fork_step(
        &mut self,
        at: Timestamp,
        step: u32,
        run: &str,
        base: &str,
    ) -> Result<(), Refusal> {
        self.demand_unfinished(CHANGE)?;
        self.demand_step(step)?;
        if !self.may_fork() || !self.ready_to_fork().contains(&step) {
            let what = format!("step {step} cannot work beside others now");
            return Err(Refusal::NotDue { what });
        }
        let record = self.step_mut(step).expect("looked up above");
        record.fork = Some(Fork {
            run: run.to_owned(),
            base: base.to_owned(),
            state: ForkState::Working,
            merged: None,
            conflicts: Vec::new(),
            resolved: false,
            failure: None,
        });
        let text = format!("→ Step {step}: {}, in a worktree of its own", record.step.name);
        self.log(at, "step_forked", Some(step), text, "");
        Ok(())
    }

    /// The step has the attempts of its fork now, and everything else that it did.
    pub(super) fn merge_fork(&mut self, at: Timestamp, merge: &ForkMerge) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        let step = merge.step;
        let record = self.demand_in_progress(step)?;
        let is_due = |fork: &Fork| fork.state == ForkState::Working;
        let Some(fork) = record.fork.as_ref().filter(|fork| is_due(fork)) else {
            return Err(Refusal::NotDue { what: format!("step {step} has no fork to merge") });
        };
        let has_moved = self.has_moved_since(&fork.base, step);
        self.take_use(&merge.used)?;
        let record = self.step_mut(step).expect("looked up above");
        record.attempts += merge.used.attempts.saturating_sub(1);
        record.uncounted += merge.used.uncounted;
        record.baseline.clone_from(&merge.used.baseline);
        let fork = record.fork.as_mut().expect("looked at above");
        fork.state = ForkState::Merging;
        fork.merged = Some(merge.commit.clone());
        fork.conflicts.clone_from(&merge.conflicts);
        fork.failure.clone_from(&merge.failure);
        if has_moved {
            self.make_stale(Stale::Again);
        }
        let conflicts = merge.conflicts.len() as u64;
        let with = match conflicts {
            0 => String::new(),
            _ => format!(", with {}", text::counted(conflicts, "conflict")),
        };
        let mark = if conflicts == 0 { "✓" } else { "⚠" };
        let text = format!("{mark} Step {step}: Merged into the work of the run{with}");
        let said: Vec<&str> = merge.conflicts.iter().map(|conflict| &*conflict.what).collect();
        self.log(at, "fork_merged", Some(step), text, &said.join("\n"));
        Ok(())
    }

    /// The step begins anew when its turn comes. What its fork used stays counted.
    pub(super) fn drop_fork(
        &mut self,
        at: Timestamp,
        step: u32,
        reason: &str,
        used: &ForkUse,
    ) -> Result<(), Refusal> {
        self.demand_unfinished(CHANGE)?;
        let record = self.demand_step(step)?;
        let is_open = |fork: &Fork| matches!(fork.state, ForkState::Working | ForkState::Outdated);
        if !record.fork.as_ref().is_some_and(is_open) {
            return Err(Refusal::NotDue { what: format!("step {step} has no fork to drop") });
        }
        self.take_use(used)?;
        let record = self.step_mut(step).expect("looked up above");
        record.fork = None;
        // In the run, the first attempt of a fork begins when it is to be merged.
        let begun = matches!(record.status, StepStatus::InProgress(_));
        record.attempts += used.attempts.saturating_sub(u32::from(begun));
        record.uncounted = record.attempts;
        if begun {
            record.status = StepStatus::Pending;
        }
        let text = format!("· Step {step}: Its own worktree is dropped: {reason}");
        self.log(at, "fork_dropped", Some(step), text, "");
        Ok(())
    }

    fn take_use(&mut self, used: &ForkUse) -> Result<(), Refusal> {
        self.report_usage(used.usage)?;
        self.0.turns.extend(used.turns.iter().cloned());
        for sandbox in &used.sandboxes {
            sandbox.clone().put(&mut self.0.sandboxes);
        }
        Ok(())
    }

    /// Whether other steps have changed the work since the checkpoint `base`.
    fn has_moved_since(&self, base: &str, step: u32) -> bool {
        let others = self.checkpoints.iter().rev().take_while(|taken| taken.commit != base);
        others.into_iter().any(|taken| match taken.moment.kind() {
            CheckpointKind::Acted | CheckpointKind::Verified => {
                taken.moment.step().is_some_and(|other| other != step)
            }
            CheckpointKind::Begun | CheckpointKind::Started | CheckpointKind::Undone => false,
        })
    }

    /// Refuses what follows the work of a step whose fork is not merged.
    pub(super) fn demand_merged(&self, step: u32) -> Result<(), Refusal> {
        match self.forked_steps().any(|(forked, _)| forked == step) {
            false => Ok(()),
            true => {
                let what = format!("the fork of step {step} is not merged yet");
                Err(Refusal::NotDue { what })
            }
        }
    }

    /// The merge is in the checkout.
    pub(super) fn settle_fork(&mut self, step: u32) {
        let fork = self.step_mut(step).and_then(|record| record.fork.as_mut());
        if let Some(fork) = fork.filter(|fork| fork.state == ForkState::Merging) {
            fork.state = ForkState::Merged;
        }
    }

    /// What git could not decide does not stand any more.
    pub(super) fn resolve_conflicts(&mut self, step: u32) {
        let fork = self.step_mut(step).and_then(|record| record.fork.as_mut());
        if let Some(fork) = fork.filter(|fork| !fork.conflicts.is_empty()) {
            fork.resolved = true;
        }
    }

    /// Forks that depend on `step` began with work that is done again; with `None`, all of them.
    pub(crate) fn outdate_forks(&mut self, step: Option<u32>) {
        let forked: Vec<u32> = self.forked_steps().map(|(number, _)| number).collect();
        if forked.is_empty() {
            return;
        }
        let graph = StepGraph::of(self.steps.iter().map(|record| &record.step));
        let is_outdated = |number: &u32| step.is_none_or(|step| graph.needs(*number, step));
        let outdated: Vec<u32> = forked.into_iter().filter(is_outdated).collect();
        for number in outdated {
            if let Some(fork) = self.step_mut(number).and_then(|record| record.fork.as_mut()) {
                fork.state = ForkState::Outdated;
            }
        }
    }
}
