//! What people and hosts change about a run from outside: its plan, its bounds, its owner.

use super::{CHANGE, Refusal};
use crate::checkpoint::{Checkpoint, CheckpointMoment};
use crate::event::*;
use crate::record::*;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Budgets, PlanParts, Step};

impl Run {
    pub(super) fn take_over(&mut self, at: Timestamp, reason: &str) -> Result<(), Refusal> {
        self.demand_unfinished(CHANGE)?;
        self.log(at, "taken_over", None, format!("Taken over: {reason}"), "");
        Ok(())
    }

    pub(super) fn abandon(&mut self, at: Timestamp, reason: &str) -> Result<(), Refusal> {
        self.demand_unfinished("be abandoned")?;
        self.0.status = RunStatus::Abandoned;
        self.0.completed_at = Some(at);
        self.log(at, "run_abandoned", None, format!("Abandoned: {reason}"), "");
        Ok(())
    }

    /// The checks of an attempt are looked at after its agent has ended: of two checkpoints of one
    /// attempt git keeps the name of the later one.
    pub(super) fn checkpoint_taken(
        &mut self,
        at: Timestamp,
        taken: &Checkpoint,
    ) -> Result<(), Refusal> {
        if let Some(step) = taken.moment.step() {
            self.demand_step(step)?;
        }
        let same = |before: &Checkpoint| before.moment.name() == taken.moment.name();
        self.0.checkpoints.retain(|before| !same(before));
        self.0.checkpoints.push(taken.clone());
        if !taken.complete {
            let count = text::counted(taken.left_out_count, "file");
            let first = taken.left_out.first().map_or("", |left| &left.path);
            let name = taken.moment.name();
            let what = format!("Checkpoint {name} is not complete: {count} left out ({first}, …)");
            self.log(at, "checkpoint_taken", taken.moment.step(), what, "");
        }
        Ok(())
    }

    pub(super) fn checkpoint_missed(
        &mut self,
        at: Timestamp,
        moment: CheckpointMoment,
        reason: &str,
    ) -> Result<(), Refusal> {
        if let Some(step) = moment.step() {
            self.demand_step(step)?;
        }
        let text = format!("Checkpoint {} was not taken: {reason}", moment.name());
        self.log(at, "checkpoint_missed", moment.step(), text, "");
        Ok(())
    }

    pub(super) fn work_restored(&mut self, at: Timestamp, to: &str) -> Result<(), Refusal> {
        if !self.checkpoints.iter().any(|checkpoint| checkpoint.moment.name() == to) {
            return Err(Refusal::NotDue { what: format!("there is no checkpoint {to}") });
        }
        if !self.status.is_finished() {
            self.go_back();
        }
        let text = format!("Files are those of checkpoint {to} again");
        self.log(at, "work_restored", None, text, "");
        Ok(())
    }

    /// A worktree is made ready once.
    pub(super) fn worktree_set_up(&mut self, at: Timestamp, done: SetUp) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        if self.set_up.is_some() {
            return Err(Refusal::NotDue { what: "the worktree is ready already".to_owned() });
        }
        self.0.set_up = Some(done);
        self.0.acting = None;
        let (files, lines) =
            (text::counted(done.copied, "file"), text::counted(done.commands, "command"));
        let text = format!("Worktree made ready: {files} copied, {lines} run");
        self.log(at, "worktree_set_up", None, text, "");
        Ok(())
    }

    /// Steps keep their state as far as it still means the same: a finished step whose checks
    /// and gate are unchanged stays finished, any other step only when nothing about it
    /// changed. A finished step with other checks is verified before it is done again.
    pub(super) fn adopt(&mut self, at: Timestamp, plan: &PlanParts) -> Result<(), Refusal> {
        self.demand_unfinished("take over another plan")?;
        let mut old: Vec<Option<StepRecord>> =
            std::mem::take(&mut self.0.steps).into_iter().map(Some).collect();
        for (index, step) in plan.steps.iter().enumerate() {
            let before = old.get_mut(index).and_then(Option::take);
            self.0.steps.push(carry_over(before, step));
        }
        self.outdate_forks(None);
        let old = &self.settings;
        let mut new = RunSettings::of(plan, old.options.clone());
        // What the file says counts where it was edited; where it was not, what a person said for
        // this run stays.
        let written = old.written.as_ref();
        if written.is_some_and(|written| written.auto_approve == plan.auto_approve) {
            new.auto_approve = old.auto_approve;
        }
        if written.is_none_or(|written| written.budgets == plan.budgets) {
            new.budgets.clone_from(&old.budgets);
        }
        if old.setup != new.setup {
            self.0.set_up = None;
        }
        self.0.settings = new;
        // What was said about checks need not be about the same checks any more.
        self.0.unknown.remove("steps");
        self.0.reverified = false;
        self.0.reviews.blocking = None;
        let done = self.steps.iter().filter(|s| s.status == StepStatus::Done).count();
        let text = format!("Adopted the edited workflow: {done} finished steps kept");
        self.log(at, "plan_adopted", None, text, "");
        Ok(())
    }

    pub(super) fn rebuild(&mut self, at: Timestamp, ticked: &[u32]) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        for step in ticked {
            self.demand_step(*step)?;
        }
        for step in ticked {
            let record = self.step_mut(*step).expect("looked up above");
            record.status = StepStatus::InProgress(Phase::Interrupted);
            record.attempts = 1;
            record.uncounted = 1;
        }
        let text = format!("Record rebuilt; {} ticked steps are verified first", ticked.len());
        self.log(at, "record_rebuilt", None, text, "");
        Ok(())
    }

    pub(super) fn report_usage(&mut self, usage: Usage) -> Result<(), Refusal> {
        self.demand_unfinished(CHANGE)?;
        self.add_usage(usage);
        Ok(())
    }

    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.0.usage.agents = self.usage.agents.saturating_add(usage.agents);
        self.0.usage.cost = self.usage.cost.plus(usage.cost, Money::saturating_add);
        self.0.usage.tokens = self.usage.tokens.plus(usage.tokens, u64::saturating_add);
    }

    pub(super) fn change_budgets(&mut self, at: Timestamp, to: &Budgets) -> Result<(), Refusal> {
        self.demand_unfinished("change its limits")?;
        self.0.settings.budgets.clone_from(to);
        self.log(at, "budgets_changed", None, "Budgets changed by a person".to_owned(), "");
        Ok(())
    }
}

fn carry_over(before: Option<StepRecord>, step: &Step) -> StepRecord {
    let Some(before) = before else { return StepRecord::pending(step.clone()) };
    let fork = before.fork.clone();
    let same_evidence = before.step.checks == step.checks && before.step.gate == step.gate;
    match before.status {
        StepStatus::Done if same_evidence => StepRecord { step: step.clone(), ..before },
        StepStatus::Done => StepRecord {
            status: StepStatus::InProgress(Phase::Interrupted),
            attempts: before.attempts,
            uncounted: before.attempts,
            fork,
            ..StepRecord::pending(step.clone())
        },
        StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Failed { .. }
        | StepStatus::Blocked(_) => {
            if before.step == *step {
                before
            } else {
                StepRecord { fork, ..StepRecord::pending(step.clone()) }
            }
        }
    }
}
