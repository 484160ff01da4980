//! Steps that work side by side: each in a run of its own, a fork, in a worktree of its own. What forks
//! did is merged into the work of the run in the order of the steps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::attention::Attention;
use super::checkpoint::CheckpointMoment;
use super::event::LogEntry;
use super::event::{CheckResult, CheckVerdict, GateDecision, TurnRecord, Usage};
use super::gate::{GateRule, gate_rule};
use super::next::Question;
use super::record::*;
use super::sandboxes::WorkerSandbox;
use onloop_syntax::form::is_default;
use onloop_syntax::text::{self, words};
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Budgets, CommitWhen, EvidenceRules, Step};

/// The fork in which a step works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// Id of its run.
    pub run: String,
    /// The commit at which it began: a checkpoint of this run.
    pub base: String,
    /// How far it is.
    pub state: ForkState,
    /// The commit that holds its work merged with that of this run, once it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// What git could not decide in the merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// Whether its step was verified since the merge, or a person has continued it after the conflicts
    /// blocked it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resolved: bool,
    /// Why it was given up; `None`: its checks passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<ForkFailure>,
}

/// Why the step of a fork was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkFailure {
    /// On one line.
    pub reason: String,
    /// The end of what its agent or its check said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The results of its last attempt up to the check that failed, with the numbers that the checks have
    /// in the run; none: no check has failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<CheckResult>,
}

/// Changes of a step and of the steps before that git cannot bring together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The files that take part, relative to the top of the worktree. Only a conflict about lines leaves
    /// both sides in its file; others leave one.
    pub paths: Vec<String>,
    /// What git says about it, on one line.
    pub what: String,
}

words! {
    /// How far a fork is.
    pub enum ForkState {
        /// Its agent works, or it waits to be merged.
        Working = "working",
        /// The merge is recorded, and its files are being put into the checkout of the run.
        Merging = "merging",
        /// Its work is part of the run.
        Merged = "merged",
        /// What it was based on is not there any more: it is to be dropped.
        Outdated = "outdated",
    }
}

/// The run that a fork belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOf {
    /// Its id.
    pub run: String,
    /// Number of its step, here and there.
    pub step: u32,
    /// How many steps that run has.
    pub steps: u32,
}

/// What a fork used. The run that it belongs to counts it as its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkUse {
    /// Its attempts.
    pub attempts: u32,
    /// Those of them that do not count towards the limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uncounted: u32,
    /// As [`StepRecord::baseline`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Vec<u32>>,
    /// Its turns. Their conversations belong to another folder and are not continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnRecord>,
    /// What its agents used.
    pub usage: Usage,
    /// How what worked for it was confined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandboxes: Vec<WorkerSandbox>,
}

/// A fork whose work was merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkMerge {
    /// Number of the step, from 1.
    pub step: u32,
    /// The commit of the merge.
    pub commit: String,
    /// As [`Fork::conflicts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// As [`Fork::failure`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<ForkFailure>,
    /// What it used.
    pub used: ForkUse,
}

/// What counts of the work that has begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// Nothing.
    Nothing,
    /// Each attempt, where no agent is counted.
    Attempts,
    /// Each attempt, and its agent.
    Agents,
}

/// What a forked run begins with besides its step.
#[derive(Clone, Debug)]
pub struct ForkBeginning {
    /// See [`Run::fork_id`].
    pub id: String,
    /// Number of the step, from 1.
    pub step: u32,
    /// The worktree, its branch and the workflow file in it.
    pub place: Place,
    /// The commit that is checked out in it.
    pub base: String,
    /// When.
    pub at: Timestamp,
}

impl Fork {
    /// Conflicts of a merge that is in the checkout, or on its way there, and that stand yet.
    pub fn open_conflicts(&self) -> &[Conflict] {
        match self.resolved {
            true => &[],
            false => &self.conflicts,
        }
    }
}

impl StepRecord {
    /// How the work of its fork comes into the run; `None`: it has no fork.
    pub fn fork_line(&self) -> Option<String> {
        let fork = self.fork.as_ref()?;
        Some(match (fork.state, &fork.merged) {
            (ForkState::Working, _) => "in a worktree of its own".to_owned(),
            (ForkState::Merging | ForkState::Merged, Some(commit)) => {
                format!("merged as {}", text::prefix(commit, 12))
            }
            (_, _) => "to begin anew".to_owned(),
        })
    }
}

impl Run {
    /// Whether steps may work side by side.
    pub fn may_fork(&self) -> bool {
        self.settings.max_parallel > 1 && self.place.worktree_path.is_some()
    }

    /// The steps that can begin now in forks, besides those that work already: what they depend on is
    /// done and decided.
    pub fn ready_to_fork(&self) -> Vec<u32> {
        let is_new = |record: &&StepRecord| record.is_new() && record.fork.is_none();
        let ready = self.steps.iter().filter(is_new).map(|record| record.step.number);
        ready.filter(|step| self.depends_on_settled(*step)).collect()
    }

    /// The steps that are done, and of whose last attempt there is no checkpoint after its verification.
    /// What is there now may not be the work of one that is stale.
    pub fn done_without_checkpoint(&self) -> Vec<u32> {
        let has_none = |record: &&StepRecord| {
            let (step, attempt) = (record.step.number, record.attempts);
            let verified = CheckpointMoment::Verified { step, attempt };
            record.status == StepStatus::Done
                && record.stale.is_none()
                && !self.checkpoints.iter().any(|taken| taken.moment == verified)
        };
        self.steps.iter().filter(has_none).map(|record| record.step.number).collect()
    }

    /// Whether a step that is not done has changed the worktree of this run, or does so now.
    pub fn is_changing_its_worktree(&self) -> bool {
        self.steps.iter().any(|record| {
            let is_begun = record.has_begun() && record.status != StepStatus::Done;
            is_begun && !record.is_forked()
        })
    }

    /// Whether all steps that `step` depends on are done and decided.
    pub(super) fn depends_on_settled(&self, step: u32) -> bool {
        let Some(record) = self.step(step) else { return false };
        record.depends_on().into_iter().all(|needed| self.is_settled(needed))
    }

    /// How many steps are done and decided.
    pub fn settled_steps(&self) -> usize {
        self.steps.iter().filter(|record| self.is_settled(record.step.number)).count()
    }

    /// Whether a step is done and its gate open.
    pub(super) fn is_settled(&self, step: u32) -> bool {
        let Some(record) = self.step(step) else { return false };
        let is_open = match (record.gate, gate_rule(self, record)) {
            (Some(gate), _) => gate.decision == GateDecision::Approved,
            (None, GateRule::Open) => true,
            (None, GateRule::Automatic(_) | GateRule::Human(_)) => false,
        };
        record.status == StepStatus::Done && is_open
    }

    /// The steps whose forks work or wait to be merged.
    pub fn forked_steps(&self) -> impl Iterator<Item = (u32, &Fork)> {
        self.steps.iter().filter_map(|record| {
            let fork = record.fork.as_ref()?;
            let is_open = matches!(fork.state, ForkState::Working | ForkState::Outdated);
            is_open.then_some((record.step.number, fork))
        })
    }

    /// Whether what a fork of this run used is counted in this run, because it was merged or dropped.
    pub fn counts_fork(&self, id: &str) -> bool {
        !self.forked_steps().any(|(_, fork)| fork.run == id)
    }

    /// Why the fork of a step is outdated: what has happened last to what it was based on.
    pub fn outdated_reason(&self, step: u32) -> &'static str {
        let is_fork = |entry: &&LogEntry| entry.event == "step_forked" && entry.step == Some(step);
        let since = self.events.iter().rev().take_while(|entry| !is_fork(entry));
        let reasons = since.filter_map(|entry| match entry.event.as_str() {
            "plan_adopted" => Some("the workflow was edited"),
            "work_restored" => Some("what it was based on was undone"),
            _ => None,
        });
        reasons.into_iter().next().unwrap_or("what it was based on was done again")
    }

    /// Every step that is worked on now, the smallest number first.
    pub fn current_steps(&self) -> Vec<u32> {
        let numbers =
            self.steps.iter().filter(|record| record.is_current()).map(|record| record.step.number);
        match numbers.collect::<Vec<_>>() {
            none if none.is_empty() => vec![self.current_step()],
            steps => steps,
        }
    }

    /// Whether a step works in a worktree of its own, as far as the record knows: the driver of the run
    /// ends it with the run.
    pub(super) fn has_at_work(&self, record: &StepRecord) -> bool {
        self.status == RunStatus::Running && record.is_forked()
    }

    /// Whether a step works in a worktree of its own, or is done there, while the run waits for a person:
    /// then its driver continues alone.
    pub(super) fn leaves_at_work(&self, record: &StepRecord) -> bool {
        let is_left = match self.attention() {
            Some(Attention::Asks(question)) => !matches!(question, Question::Budget { .. }),
            Some(Attention::Blocked(_)) => true,
            Some(_) | None => false,
        };
        record.is_forked() && is_left
    }

    /// The run as people see it where no process drives it although its record says that it runs.
    pub fn stopped(&self) -> Run {
        let mut stopped = self.clone();
        stopped.0.status = RunStatus::Paused;
        stopped
    }

    /// The id of the next fork of a step.
    pub fn fork_id(&self, step: u32) -> String {
        self.nth_fork_id(step, self.forks_of(step).len() + 1)
    }

    /// Why a fork of this run was given up, with everything that it says about it.
    pub fn failure_of(&self, fork: &Run, reason: String) -> Option<ForkFailure> {
        let record = fork.steps.first()?;
        let checks = &self.step(record.step.number)?.step.checks;
        // Checks by persons are those of the run alone.
        let machine: Vec<u32> = (0..)
            .zip(checks)
            .filter(|(_, check)| is_machine_check(check))
            .map(|(n, _)| n)
            .collect();
        let number = |result: &CheckResult| {
            let check = *machine.get(result.check as usize)?;
            Some(CheckResult { check, ..result.clone() })
        };
        let is_failure = |result: &CheckResult| match result.verdict {
            CheckVerdict::Failed { .. } | CheckVerdict::CannotEvaluate { .. } => true,
            CheckVerdict::Passed | CheckVerdict::NeedsHuman { .. } => false,
        };
        let has_failed = record.results.last().is_some_and(is_failure);
        let results = record.results.iter().filter(|_| has_failed).map_while(number).collect();
        Some(match record.last_failure.clone().filter(|_| !record.may_retry()) {
            Some(LastFailure { reason, output, .. }) => ForkFailure { reason, output, results },
            None => ForkFailure { reason, output: String::new(), results },
        })
    }

    /// The ids of the forks that a step has had, oldest first.
    pub fn forks_of(&self, step: u32) -> Vec<String> {
        let count = self.forks_begun().filter(|begun| *begun == step).count();
        (1..=count).map(|nth| self.nth_fork_id(step, nth)).collect()
    }

    /// The ids of all forks that the run has had.
    pub fn fork_ids(&self) -> Vec<String> {
        let mut counts = BTreeMap::new();
        let mut next = |step: u32| {
            let count = counts.entry(step).or_insert(0);
            *count += 1;
            self.nth_fork_id(step, *count)
        };
        self.forks_begun().map(&mut next).collect()
    }

    /// The ids of the forks whose work is part of the run.
    pub fn merged_forks(&self) -> Vec<String> {
        let forks = self.steps.iter().filter_map(|record| record.fork.as_ref());
        let merged = forks.filter(|fork| fork.state == ForkState::Merged);
        merged.map(|fork| fork.run.clone()).collect()
    }

    /// The steps of all forks that the run has had, in their order.
    fn forks_begun(&self) -> impl Iterator<Item = u32> {
        let begun = self.events.iter().filter(|entry| entry.event == "step_forked");
        begun.filter_map(|entry| entry.step)
    }

    fn nth_fork_id(&self, step: u32, nth: usize) -> String {
        let again = if nth == 1 { String::new() } else { format!("-{nth}") };
        format!("{}.step-{step}{again}", self.id)
    }

    /// The record of a fork: one step, which no person is asked about. The run that it belongs to does
    /// what concerns the whole work: gates, reviews, commits, and its checks once more.
    ///
    /// # Panics
    ///
    /// The run has no such step.
    pub fn fork(&self, beginning: ForkBeginning) -> Run {
        let ForkBeginning { id, step: number, place, base, at } = beginning;
        let step = &self.step(number).expect("callers name steps that exist").step;
        let checks = step.checks.iter().filter(|check| is_machine_check(check)).cloned().collect();
        let forked = Step { gate: None, depends_on: Some(Vec::new()), checks, ..step.clone() };
        let settings = RunSettings {
            auto_approve: false,
            budgets: self.budgets_of_fork(0),
            commit: CommitWhen::default(),
            max_parallel: 1,
            options: RunOptions {
                reverify: false,
                review_agent: None,
                issue: None,
                pr_repairs: None,
                ..self.settings.options.clone()
            },
            evidence: EvidenceRules { verify_clean: false, ..self.settings.evidence },
            ..self.settings.clone()
        };
        let steps = vec![StepRecord::pending(forked)];
        let fork_of = ForkOf { run: self.id.clone(), step: number, steps: self.steps.len() as u32 };
        let begun = Record::begun((id, place), settings, steps, Some(base), at);
        Run(Record { fork_of: Some(fork_of), ..begun })
    }

    /// The bounds on a fork that has worked for `active_ms`: those of the run, which hold for all steps
    /// together. Only its time is its own.
    pub fn budgets_of_fork(&self, active_ms: u64) -> Budgets {
        let limits = &self.settings.budgets;
        let left = |limit: u64| limit.saturating_sub(self.active_ms / 60_000);
        let elapsed_minutes = limits.elapsed_minutes.map(|limit| left(limit) + active_ms / 60_000);
        Budgets { elapsed_minutes, ..limits.clone() }
    }

    /// The run as if what these forks of it have used counted already, and of what is under way so much.
    pub fn counting<'f>(
        &self,
        forks: impl IntoIterator<Item = (u32, &'f Run)>,
        under_way: UnderWay,
    ) -> Run {
        let mut whole = self.clone();
        for (step, fork) in forks {
            let is_begun = |record: &StepRecord| matches!(record.status, StepStatus::InProgress(_));
            let of_fork = fork.steps.iter().map(|record| {
                let is_left_out = under_way == UnderWay::Nothing && is_begun(record);
                record.attempts - u32::from(is_left_out)
            });
            if let Some(record) = whole.step_mut(step) {
                // Its attempt in the run is the first one of its fork.
                record.attempts -= u32::from(is_begun(record));
                record.attempts += of_fork.sum::<u32>();
            }
            whole.add_usage(fork.usage);
            if under_way == UnderWay::Agents {
                let agents = u64::from(fork.has_agent_under_way());
                whole.0.usage.agents = whole.usage.agents.saturating_add(agents);
            }
        }
        whole
    }

    /// The run as if this was used as well.
    pub fn with_usage(mut self, usage: Usage) -> Run {
        self.add_usage(usage);
        self
    }

    /// Whether an agent works, or is to work, on the conflicts of a merge.
    pub fn is_resolving(&self) -> bool {
        self.steps
            .iter()
            .filter_map(|record| record.fork.as_ref())
            .any(|fork| fork.state == ForkState::Merging && !fork.open_conflicts().is_empty())
    }

    /// Whether an attempt has begun whose agent is not counted yet.
    fn has_agent_under_way(&self) -> bool {
        self.steps.iter().any(|record| {
            record.status == StepStatus::InProgress(Phase::Acting)
                && !self.has_counted_turn(record.step.number, record.attempts)
        })
    }

    fn has_counted_turn(&self, step: u32, attempt: u32) -> bool {
        let of_attempt = |turn: &&TurnRecord| turn.step == step && turn.attempt == attempt;
        self.turns.iter().filter(of_attempt).any(TurnRecord::counts)
    }

    /// What this fork has used, as the run that it belongs to counts it.
    pub fn used_as_fork(&self) -> ForkUse {
        let record = &self.steps[0];
        let turn = |turn: &TurnRecord| TurnRecord { session: None, ..turn.clone() };
        ForkUse {
            attempts: record.attempts,
            uncounted: record.uncounted,
            baseline: record.baseline.clone(),
            turns: self.turns.iter().map(turn).collect(),
            usage: self.usage,
            sandboxes: self.sandboxes.clone(),
        }
    }
}
