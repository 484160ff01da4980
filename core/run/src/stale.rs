//! Steps that are done by checks which have passed on other files than those that are there now.

use super::fork::ForkState;
use super::next::{Next, Question};
use super::record::{BlockReason, Phase, Run, StepRecord, StepStatus};
use onloop_syntax::text::words;
use onloop_workflow::graph::StepGraph;

words! {
    /// Why the checks of a step that is done have to be evaluated again.
    pub enum Stale {
        /// Another step is done again, or was merged.
        Again = "again",
        /// A person went back to a checkpoint, so that the work of the step may be gone.
        Undone = "undone",
    }
}

impl StepRecord {
    /// Whether it is done by checks that have to be evaluated again.
    pub fn is_stale(&self) -> bool {
        self.stale.is_some() && self.status == StepStatus::Done && self.has_machine_checks()
    }
}

impl Run {
    /// The checks of steps that are done have passed on other content than what there is now, or soon is.
    pub(super) fn make_stale(&mut self, why: Stale) {
        for record in self.0.steps.iter_mut().filter(|r| r.status == StepStatus::Done) {
            if record.stale != Some(Stale::Undone) {
                record.stale = Some(why);
            }
        }
        self.0.reverified = false;
    }

    /// Files are those of an earlier moment: what was done may be gone, and what was under way or waits
    /// for a person is verified before anything builds on it.
    pub(super) fn go_back(&mut self) {
        self.make_stale(Stale::Undone);
        self.outdate_forks(None);
        for record in &mut self.0.steps {
            match &record.status {
                StepStatus::InProgress(Phase::Acting | Phase::Acted)
                | StepStatus::Blocked(BlockReason::HumanReview { .. }) => {
                    record.status = StepStatus::InProgress(Phase::Interrupted);
                    record.uncounted = record.attempts.min(record.uncounted + 1);
                }
                StepStatus::Pending
                | StepStatus::InProgress(Phase::Interrupted)
                | StepStatus::Done
                | StepStatus::Failed { .. }
                | StepStatus::Blocked(_) => {}
            }
            // What the merge would put into the checkout is what the person went back from.
            if let Some(fork) = &mut record.fork
                && matches!(fork.state, ForkState::Merging | ForkState::Merged)
            {
                fork.state = ForkState::Merged;
                fork.resolved = !fork.conflicts.is_empty();
            }
        }
    }

    /// The first step whose checks have to be evaluated again before a person is asked and before the
    /// run ends.
    pub fn stale_step(&self) -> Option<u32> {
        self.stale_steps().next()
    }

    /// Every such step.
    pub fn stale_steps(&self) -> impl Iterator<Item = u32> {
        self.steps.iter().filter(|record| record.is_stale()).map(|record| record.step.number)
    }

    /// The step whose checks are evaluated before `next` happens, since the work that `next` builds on
    /// may be gone.
    pub(super) fn undone_before(&self, next: &Next) -> Option<u32> {
        let (Next::Start { step, .. }
        | Next::Verify { step }
        | Next::Ask(Question::Interrupted { step })) = next
        else {
            return None;
        };
        let is_undone =
            |record: &&StepRecord| record.is_stale() && record.stale == Some(Stale::Undone);
        let mut undone =
            self.steps.iter().filter(is_undone).map(|record| record.step.number).peekable();
        undone.peek()?;
        let graph = StepGraph::of(self.steps.iter().map(|record| &record.step));
        undone.find(|needed| graph.needs(*step, *needed))
    }
}
