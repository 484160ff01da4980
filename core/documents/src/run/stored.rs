//! The record of a run in the form in which files have it: one object with the members of the run,
//! of its place and of its settings, in this order.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::step::StoredStep;
use super::{Head, SCHEMA};
use crate::document::DocumentError;
use onloop_effect::Network;
use onloop_run::*;
use onloop_syntax::form::is_default;
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Budgets, CommitWhen, EvidenceRules, Risk};

#[derive(Serialize, Deserialize)]
pub(super) struct StoredRun {
    schema: String,
    run_id: String,
    workflow_path: String,
    source_workflow_path: Option<String>,
    source_branch: Option<String>,
    source_head: Option<String>,
    workflow_slug: String,
    intent: String,
    success_criteria: String,
    risk_level: Risk,
    auto_approve: bool,
    branch: Option<String>,
    repo_root: Option<String>,
    execution_root: String,
    worktree_path: Option<String>,
    executor_mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fork_of: Option<ForkOf>,
    driver: Option<String>,
    host: Option<String>,
    budgets: StoredBudgets,
    revision: u64,
    started_at: Timestamp,
    last_update: Timestamp,
    completed_at: Option<Timestamp>,
    status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_reason: Option<String>,
    /// This one and the next follow from the steps, for readers.
    current_step: u32,
    total_steps: u32,
    report_path: String,
    plan_digest: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    protect: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    commit: CommitWhen,
    /// Above 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_parallel: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    setup: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default", with = "onloop_syntax::form::on")]
    confine: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    #[serde(flatten)]
    evidence: EvidenceRules,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_up: Option<SetUp>,
    written: Option<Written>,
    options: StoredOptions,
    reviews: Reviews,
    reverified: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    verified_clean: bool,
    finish: Option<Finish>,
    finish_intent: Option<FinishIntent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pull_request: Option<TrackedPullRequest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<TurnRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waits: Vec<Wait>,
    acting: Option<Acting>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    confined: Vec<WorkerSandbox>,
    finished_commit: Option<String>,
    checkpoints: Vec<Checkpoint>,
    /// The line of the ledger that a copy shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ledger: Option<Head>,
    steps: Vec<StoredStep>,
    events: Vec<LogEntry>,
}

#[derive(Serialize, Deserialize)]
struct StoredBudgets {
    limits: Budgets,
    observed: StoredUsage,
}

/// What was used; `null` where an agent did not say.
#[derive(Serialize, Deserialize)]
struct StoredUsage {
    agents: u64,
    #[serde(with = "onloop_syntax::money::usd")]
    cost_usd: Option<Money>,
    tokens: Option<u64>,
    active_ms: u64,
    /// The names of what is `null`, for readers.
    unknown_usage: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredOptions {
    progress_verbose: bool,
    report_full: bool,
    no_reverify: bool,
    review_agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    issue: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    issue_text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pr_repairs: Option<u32>,
}

impl StoredRun {
    pub(super) fn of(run: &Run, ledger: Option<&Head>) -> StoredRun {
        let (place, settings) = (run.place.clone(), run.settings.clone());
        StoredRun {
            schema: SCHEMA.to_owned(),
            run_id: run.id.clone(),
            workflow_path: place.workflow_path,
            source_workflow_path: place.source_workflow_path,
            source_branch: place.source_branch,
            source_head: place.source_head,
            workflow_slug: place.slug,
            intent: settings.intent,
            success_criteria: settings.success_criteria,
            risk_level: settings.risk,
            auto_approve: settings.auto_approve,
            branch: place.branch,
            repo_root: place.repo_root,
            execution_root: place.execution_root,
            worktree_path: place.worktree_path,
            executor_mode: place.executor_mode,
            fork_of: run.fork_of.clone(),
            driver: place.driver,
            host: place.host,
            budgets: StoredBudgets {
                limits: settings.budgets,
                observed: StoredUsage::of(run.usage, run.active_ms),
            },
            revision: run.revision,
            started_at: run.started_at,
            last_update: run.last_update,
            completed_at: run.completed_at,
            status: run.status,
            pause_reason: run.pause_reason.clone(),
            current_step: run.current_step(),
            total_steps: run.steps.len() as u32,
            report_path: place.report_path,
            plan_digest: settings.plan_digest,
            allow: settings.allow,
            protect: settings.protect,
            commit: settings.commit,
            max_parallel: (settings.max_parallel > 1).then_some(settings.max_parallel),
            setup: settings.setup,
            confine: settings.confine,
            network: settings.network,
            evidence: settings.evidence,
            set_up: run.set_up,
            written: settings.written,
            options: StoredOptions {
                progress_verbose: settings.progress_verbose,
                report_full: settings.report_full,
                no_reverify: !settings.reverify,
                review_agent: settings.review_agent,
                issue: settings.issue,
                issue_text: settings.issue_text,
                pr_repairs: settings.pr_repairs,
            },
            reviews: run.reviews.clone(),
            reverified: run.reverified,
            verified_clean: run.verified_clean,
            finish: run.finish.clone(),
            finish_intent: run.finish_intent.clone(),
            pull_request: run.pull_request.clone(),
            turns: run.turns.clone(),
            waits: run.waits.clone(),
            acting: run.acting.clone(),
            confined: run.sandboxes.clone(),
            finished_commit: run.finished_commit.clone(),
            checkpoints: run.checkpoints.clone(),
            ledger: ledger.cloned(),
            steps: run.steps.iter().map(StoredStep::of).collect(),
            events: run.events.clone(),
        }
    }

    /// The record, with members that no type has a place for.
    pub(super) fn into_record(self, unknown: Map<String, Value>) -> Result<Record, DocumentError> {
        let StoredBudgets { limits, observed } = self.budgets;
        let first = self.fork_of.as_ref().map_or(1, |fork_of| fork_of.step);
        let steps = (first..).zip(self.steps);
        Ok(Record {
            id: self.run_id,
            place: Place {
                workflow_path: self.workflow_path,
                source_workflow_path: self.source_workflow_path,
                source_branch: self.source_branch,
                source_head: self.source_head,
                branch: self.branch,
                repo_root: self.repo_root,
                execution_root: self.execution_root,
                worktree_path: self.worktree_path,
                executor_mode: self.executor_mode,
                driver: self.driver,
                host: self.host,
                slug: self.workflow_slug,
                report_path: self.report_path,
            },
            settings: RunSettings {
                intent: self.intent,
                success_criteria: self.success_criteria,
                risk: self.risk_level,
                auto_approve: self.auto_approve,
                allow: self.allow,
                protect: self.protect,
                commit: self.commit,
                max_parallel: self.max_parallel.unwrap_or(1),
                setup: self.setup,
                confine: self.confine,
                network: self.network,
                evidence: self.evidence,
                progress_verbose: self.options.progress_verbose,
                report_full: self.options.report_full,
                budgets: limits,
                plan_digest: self.plan_digest,
                written: self.written,
                reverify: !self.options.no_reverify,
                review_agent: self.options.review_agent,
                issue: self.options.issue,
                issue_text: self.options.issue_text,
                pr_repairs: self.options.pr_repairs,
            },
            status: self.status,
            pause_reason: self.pause_reason,
            steps: steps
                .map(|(number, step)| step.into_record(number))
                .collect::<Result<_, _>>()?,
            events: self.events,
            revision: self.revision,
            started_at: self.started_at,
            last_update: self.last_update,
            completed_at: self.completed_at,
            active_ms: observed.active_ms,
            usage: observed.usage(),
            reviews: self.reviews,
            reverified: self.reverified,
            verified_clean: self.verified_clean,
            finish: self.finish,
            finish_intent: self.finish_intent,
            pull_request: self.pull_request,
            turns: self.turns,
            waits: self.waits,
            set_up: self.set_up,
            acting: self.acting,
            sandboxes: self.confined,
            finished_commit: self.finished_commit,
            checkpoints: self.checkpoints,
            fork_of: self.fork_of,
            unknown,
        })
    }
}

impl StoredUsage {
    fn of(usage: Usage, active_ms: u64) -> StoredUsage {
        let (cost_usd, tokens) = (usage.cost.known(), usage.tokens.known());
        let names = [("cost_usd", cost_usd.is_none()), ("tokens", tokens.is_none())];
        let unknown = names.into_iter().filter(|(_, is_unknown)| *is_unknown);
        let unknown_usage = unknown.map(|(name, _)| name.to_owned()).collect();
        StoredUsage { agents: usage.agents, cost_usd, tokens, active_ms, unknown_usage }
    }

    fn usage(&self) -> Usage {
        Usage {
            agents: self.agents,
            cost: self.cost_usd.map_or(Amount::Unknown, Amount::Known),
            tokens: self.tokens.map_or(Amount::Unknown, Amount::Known),
        }
    }
}
