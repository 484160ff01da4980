//! What a run is made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::place::Place;

use super::checkpoint::Checkpoint;
use super::event::{
    Acting, CheckResult, GateDecision, LogEntry, Mode, SetUp, TurnRecord, Usage, Written,
};
use super::finish::{Disposition, Finish, FinishIntent};
use super::fork::{Fork, ForkOf, ForkState};
use super::last_failure::IDLE_ATTEMPTS;
pub use super::last_failure::LastFailure;
use super::preflight::IsolationMode;
use super::pull_request::TrackedPullRequest;
use super::sandboxes::WorkerSandbox;
use super::stale::Stale;
use super::verdict::Verdict;
use super::wait::Wait;
use onloop_effect::Network;
use onloop_syntax::form::{self, is_default};
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Budgets, Check, CommitWhen, EvidenceRules, Loop, Risk, Step};

/// One execution of one plan, readable as a [`Record`].
///
/// [`Run::begin`] makes one, [`Run::apply`] alone changes it, and [`Run::restore`] takes back
/// what was stored. Code outside this crate cannot write to its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Run(pub(super) Record);

impl std::ops::Deref for Run {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.0
    }
}

/// Everything that is known about one execution of one plan.
///
/// The steps and their checks are copied from the plan when the run begins: an agent that
/// edits the workflow file in the middle of a run does not change what is verified.
///
/// Its form of serde is most of the document that files have; the members that it skips have
/// another form there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// `<slug>-<YYYYMMDDTHHMMSSZ>`, with `-2`, `-3`, … on collision.
    #[serde(rename = "run_id")]
    pub id: String,
    /// Where the plan came from and where the work happens.
    #[serde(flatten)]
    pub place: Place,
    /// What the plan says about the run as a whole.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// State of the whole run.
    pub status: RunStatus,
    /// Why the run is paused, on one line; `None`: it is not paused, or a question says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_reason: Option<String>,
    /// Whether a person's interrupt paused it last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// State of each step, in order.
    #[serde(skip)]
    pub steps: Vec<StepRecord>,
    /// What happened, oldest first.
    pub events: Vec<LogEntry>,
    /// Number of changes so far.
    pub revision: u64,
    /// When the run began.
    pub started_at: Timestamp,
    /// When the record last changed.
    pub last_update: Timestamp,
    /// When the run ended, if it has.
    pub completed_at: Option<Timestamp>,
    /// Time during which the run was running, up to the last change.
    #[serde(skip)]
    pub active_ms: u64,
    /// What agents used so far.
    #[serde(skip)]
    pub usage: Usage,
    /// Reviews by an agent, where they were asked for.
    pub reviews: Reviews,
    /// Whether all machine checks have passed again after the last step.
    pub reverified: bool,
    /// Whether they passed on a clean checkout then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verified_clean: bool,
    /// What became of the work once the run had ended, if that is settled.
    pub finish: Option<Finish>,
    /// What is being done with the work at the moment, or was when the power went.
    pub finish_intent: Option<FinishIntent>,
    /// The pull request of the published work, once onloop has followed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<TrackedPullRequest>,
    /// The turns of agents whose streams are understood, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnRecord>,
    /// The last wait of each agent whose provider did not serve it, until it does again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// How the worktree was made ready for the first step; `None`: it was not, or not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_up: Option<SetUp>,
    /// The processes of the agent that acts now, or did when onloop was killed.
    pub acting: Option<Acting>,
    /// How what has worked for it was confined, in the order in which it first worked.
    #[serde(rename = "confined", default, skip_serializing_if = "Vec::is_empty")]
    pub sandboxes: Vec<WorkerSandbox>,
    /// The commit that was merged or pushed in the end.
    pub finished_commit: Option<String>,
    /// The work at certain moments, oldest first; none outside a repository.
    pub checkpoints: Vec<Checkpoint>,
    /// The run that this one is a fork of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<ForkOf>,
    /// Members that this version does not know, where they stand; they survive a rewrite. The
    /// places in a list are members named `0`, `1`, ….
    #[serde(skip)]
    pub unknown: Map<String, Value>,
}

/// What the plan says about the run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// One sentence: what this builds.
    pub intent: String,
    /// How to know that it is done.
    pub success_criteria: String,
    /// The author's estimate of risk.
    #[serde(rename = "risk_level")]
    pub risk: Risk,
    /// Whether human gates below high risk approve themselves.
    pub auto_approve: bool,
    /// Bounds on the whole run.
    #[serde(skip)]
    pub budgets: Budgets,
    /// Lines of shell that the agent may use although no rule decides about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Patterns of files that no agent may change, relative to the root of the checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// When verified work is committed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commit: CommitWhen,
    /// Most steps that run at the same time.
    #[serde(default = "form::one", skip_serializing_if = "form::is_one")]
    pub max_parallel: u32,
    /// Lines of shell that make a fresh worktree ready, before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Digest of the plan; empty in records of older generations.
    pub plan_digest: String,
    /// What a person can change for this run alone, as the file has it; unknown in records of
    /// older generations.
    pub written: Option<Written>,
    /// Whether agents and checks have to be confined.
    #[serde(default, skip_serializing_if = "is_default", with = "form::on")]
    pub confine: bool,
    /// The network of confined agents, checks and lines of `setup`; `None`: the default of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// What has to prove that the work is done.
    #[serde(flatten)]
    pub evidence: EvidenceRules,
    /// What a person can choose for one run.
    pub options: RunOptions,
}

/// What a person can choose for one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Print the whole step list at every transition.
    pub progress_verbose: bool,
    /// Put the output of passed checks into the report as well.
    pub report_full: bool,
    /// Whether machine checks are repeated before completion.
    #[serde(rename = "no_reverify", with = "form::negated")]
    pub reverify: bool,
    /// Agent that reviews at checkpoints.
    pub review_agent: Option<String>,
    /// Address of the issue that the work is to close.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// What the issue says, for prompts; empty where the workflow itself quotes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub issue_text: String,
    /// How often failures of the pull request may go back to the agent, which is opened when the run
    /// completes; `None`: none is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_repairs: Option<u32>,
}

words! {
    /// State of a whole run.
    pub enum RunStatus {
        /// Steps are being worked on.
        Running = "running",
        /// Waits for a person; can be resumed.
        Paused = "paused",
        /// Cannot go on by itself; a person may resume it.
        Blocked = "blocked",
        /// Older generations: verified, waiting for its disposition.
        ReadyToFinish = "ready_to_finish",
        /// Every step is done and every required approval is there.
        Completed = "completed",
        /// Given up.
        Abandoned = "abandoned",
    }
}

impl RunStatus {
    /// Whether nothing more will happen to the run by itself or by `resume`.
    pub fn is_finished(&self) -> bool {
        match self {
            RunStatus::Running | RunStatus::Paused | RunStatus::Blocked => false,
            RunStatus::ReadyToFinish | RunStatus::Completed | RunStatus::Abandoned => true,
        }
    }
}

/// One step and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// The step as the plan had it when the run began.
    pub step: Step,
    /// Where it stands.
    pub status: StepStatus,
    /// How often it was started.
    pub attempts: u32,
    /// Attempts that do not count towards the limit: interrupted ones, and all before a
    /// person resumed a blocked run.
    pub uncounted: u32,
    /// When it was last started.
    pub started_at: Option<Timestamp>,
    /// When it was done.
    pub completed_at: Option<Timestamp>,
    /// Results of its last verification, in the order of the checks.
    pub results: Vec<CheckResult>,
    /// What the last failed attempt failed with; the next attempt's prompt repeats it.
    pub last_failure: Option<LastFailure>,
    /// Approval, once there is one.
    pub gate: Option<GateRecord>,
    /// The checks that passed before the first turn of the agent, from 0; `None`: none was evaluated
    /// then.
    pub baseline: Option<Vec<u32>>,
    /// Why its checks have to be evaluated again, although they have passed; `None`: they have not.
    pub stale: Option<Stale>,
    /// The fork in which it works or worked, beside other steps.
    pub fork: Option<Fork>,
}

/// Where a step stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress(Phase),
    /// Verified, or nothing to verify.
    Done,
    /// The last attempt failed.
    Failed {
        /// Why, on one line.
        reason: String,
    },
    /// Waits for a person, or cannot be verified.
    Blocked(BlockReason),
}

words! {
    /// What is going on in a step in progress.
    pub enum Phase {
        /// The agent was started and has not been seen to end.
        Acting = "acting",
        /// The agent ended; verification is due.
        Acted = "acted",
        /// The run was resumed while the agent may have been half-way: verify before acting.
        Interrupted = "interrupted",
    }
}

/// Why a step is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// Every machine check passed; a person has to look.
    HumanReview {
        /// What to look at; empty when the file does not say.
        prompt: String,
    },
    /// A person looked and said no.
    ReviewRejected,
    /// Anything else, on one line.
    Other(String),
}

impl BlockReason {
    /// The text in the record. Agents match on its beginning.
    pub fn text(&self) -> String {
        match self {
            BlockReason::HumanReview { prompt } if prompt.is_empty() => {
                "human review required".to_owned()
            }
            BlockReason::HumanReview { prompt } => format!("human review required: {prompt}"),
            BlockReason::ReviewRejected => "human review rejected".to_owned(),
            BlockReason::Other(text) => text.clone(),
        }
    }
}

/// A recorded approval or rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateRecord {
    /// What was decided.
    pub decision: GateDecision,
    /// By whom.
    pub mode: Mode,
}

/// Reviews by an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviews {
    /// Commit up to which everything has been reviewed; `None` without git.
    pub base: Option<String>,
    /// Step up to which everything has been reviewed; 0: nothing yet.
    pub reviewed_step: u32,
    /// Whether the whole run has had its final review.
    pub finally_reviewed: bool,
    /// The verdict that blocks the run.
    pub blocking: Option<BlockingReview>,
    /// The verdict of the last review, whether it blocks the run or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<BlockingReview>,
    /// How often findings went back to the agent since a review passed or a person decided.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rounds: u32,
}

/// What a review came to. One that does not pass blocks the run until it is reviewed again or a
/// person accepts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingReview {
    /// The step at whose gate the review took place; `None`: the final review.
    pub step: Option<u32>,
    /// What the reviewer said.
    pub verdict: Verdict,
    /// The reviewer's words, capped.
    pub findings: String,
}

impl Run {
    /// Whether nothing more can happen to the steps: the run has ended, or its work was
    /// thrown away.
    pub fn is_over(&self) -> bool {
        self.status.is_finished() || self.is_discarded()
    }

    /// Whether an agent drives the run with `onloop init`, `step` and `finalize`, so that no agent is
    /// started for it. `onloop run` notes how it keeps the work apart, the verbs the agent's own word.
    pub fn is_driven_by_verbs(&self) -> bool {
        let mode = self.place.executor_mode.as_str();
        !mode.is_empty() && mode != "rebuilt" && mode.parse::<IsolationMode>().is_err()
    }

    /// Whether the work is done, and nothing but keeping it was done with it.
    pub fn may_be_handed_on(&self) -> bool {
        let kept = |finish: &Finish| finish.outcome.disposition == Disposition::Kept;
        self.status == RunStatus::Completed
            && self.finish_intent.is_none()
            && self.finish.as_ref().is_none_or(kept)
    }

    /// Whether preflight made the branch of the run for it.
    pub fn owns_branch(&self) -> bool {
        let Place { branch, source_branch, worktree_path, executor_mode, .. } = &self.place;
        let is_elsewhere = source_branch.is_some() && source_branch != branch;
        let has_branch = branch.is_some() && executor_mode != IsolationMode::None.as_str();
        worktree_path.is_some() || (has_branch && is_elsewhere)
    }

    /// Whether the work was thrown away.
    pub fn is_discarded(&self) -> bool {
        let disposition = self.finish.as_ref().map(|finish| finish.outcome.disposition);
        disposition == Some(Disposition::Discarded)
    }

    /// Whether a person has interrupted it, and nothing else blocks it.
    pub fn is_interrupted(&self) -> bool {
        self.status == RunStatus::Paused && self.interrupted
    }

    /// Whether a run in this state may be disposed of in this way.
    pub fn accepts(&self, disposition: Disposition) -> bool {
        match (&self.status, disposition) {
            (RunStatus::Completed | RunStatus::ReadyToFinish, _) => true,
            (
                RunStatus::Blocked | RunStatus::Abandoned,
                Disposition::Kept | Disposition::Discarded,
            ) => true,
            (
                RunStatus::Blocked | RunStatus::Abandoned,
                Disposition::Merged | Disposition::Published,
            )
            | (RunStatus::Running | RunStatus::Paused, _) => false,
        }
    }

    /// Number of the first step: that of a fork has the number that it has in the run that it belongs to.
    pub fn first_step(&self) -> u32 {
        self.fork_of.as_ref().map_or(1, |fork_of| fork_of.step)
    }

    /// Number of the last step.
    pub fn last_step(&self) -> u32 {
        self.first_step() + self.steps.len() as u32 - 1
    }

    /// How many steps the whole plan has.
    pub fn plan_steps(&self) -> usize {
        self.fork_of.as_ref().map_or(self.steps.len(), |fork_of| fork_of.steps as usize)
    }

    /// How many turns of this attempt have ended.
    pub fn turns_of(&self, step: u32, attempt: u32) -> usize {
        self.turns.iter().filter(|turn| turn.step == step && turn.attempt == attempt).count()
    }

    /// The step with this number.
    pub fn step(&self, number: u32) -> Option<&StepRecord> {
        let index = usize::try_from(number.checked_sub(self.first_step())?).ok()?;
        self.steps.get(index)
    }

    pub(super) fn step_mut(&mut self, number: u32) -> Option<&mut StepRecord> {
        let index = usize::try_from(number.checked_sub(self.first_step())?).ok()?;
        self.0.steps.get_mut(index)
    }

    /// Number of the first step that is in progress, else of the first that is not settled,
    /// else of the last.
    pub fn current_step(&self) -> u32 {
        let unsettled = |s: &&StepRecord| !self.is_settled(s.step.number);
        self.steps
            .iter()
            .find(|record| record.is_current())
            .or_else(|| self.steps.iter().find(unsettled))
            .or(self.steps.last())
            .map_or(1, |s| s.step.number)
    }
}

impl StepRecord {
    /// A step that has not begun.
    pub fn pending(step: Step) -> StepRecord {
        StepRecord {
            step,
            status: StepStatus::Pending,
            attempts: 0,
            uncounted: 0,
            started_at: None,
            completed_at: None,
            results: Vec::new(),
            last_failure: None,
            gate: None,
            baseline: None,
            stale: None,
            fork: None,
        }
    }

    /// Whether it begins from nothing: it was never started, or what was done is given up.
    pub fn is_new(&self) -> bool {
        self.status == StepStatus::Pending && self.last_failure.is_none()
    }

    /// Whether an attempt was started in the worktree of the run.
    pub(super) fn has_begun(&self) -> bool {
        self.attempts > 0 && !self.is_new()
    }

    /// Whether it has begun and not ended, beside other steps or in the worktree of the run.
    pub(super) fn is_current(&self) -> bool {
        matches!(self.status, StepStatus::InProgress(_)) || self.is_forked()
    }

    /// Whether it is worked on beside other steps.
    pub fn is_forked(&self) -> bool {
        self.fork.as_ref().is_some_and(|fork| fork.state == ForkState::Working)
    }

    /// Whether its fork works, or its merge is not in the checkout yet.
    pub fn has_unmerged_fork(&self) -> bool {
        self.fork.as_ref().is_some_and(|fork| fork.state != ForkState::Merged)
    }

    /// The numbers of the earlier steps that have to be done before it begins, sorted.
    pub fn depends_on(&self) -> Vec<u32> {
        self.step.depends_on()
    }

    /// Highest number of attempts.
    pub fn limit(&self) -> u32 {
        match &self.step.repeat {
            Loop::Never => 1,
            Loop::Until { limit, .. } => limit.get(),
        }
    }

    /// The attempts that count towards the limit, which is how people count them: one that a crash
    /// or an interruption cut short was none, and after a person resumed a blocked run the count
    /// begins anew.
    pub fn counted_attempts(&self) -> u32 {
        self.attempts.saturating_sub(self.uncounted)
    }

    /// The number of the last attempt that there can be: attempts that do not count, as one that was cut
    /// short, move the limit.
    pub fn last_attempt(&self) -> u32 {
        self.uncounted.saturating_add(self.limit())
    }

    /// `2/3`: the number of the present attempt, and that of the last one that there can be.
    pub fn attempt_of_limit(&self) -> String {
        format!("{}/{}", self.attempts.max(1), self.last_attempt())
    }

    /// Why another attempt at a failed step is not worth its cost: the last ones changed no file and
    /// failed in the same way.
    pub fn repeats(&self) -> Option<String> {
        let failure = self.last_failure.as_ref().filter(|failure| failure.idle >= IDLE_ATTEMPTS)?;
        let StepStatus::Failed { .. } = self.status else { return None };
        let LastFailure { idle, reason, .. } = failure;
        Some(format!("{idle} attempts in a row changed no file and failed the same way: {reason}"))
    }

    /// Whether another attempt is allowed after a failed one.
    pub fn may_retry(&self) -> bool {
        self.counted_attempts() < self.limit()
    }

    /// Whether its checks are evaluated before the agent of the present attempt runs for the first time.
    pub fn baseline_is_due(&self) -> bool {
        self.step.baseline
            && self.baseline.is_none()
            && self.attempts == 1
            && self.status == StepStatus::InProgress(Phase::Acting)
            && self.has_machine_checks()
    }

    /// Whether a machine can verify any part of the step.
    pub fn has_machine_checks(&self) -> bool {
        self.step.checks.iter().any(is_machine_check)
    }
}

/// Whether onloop itself can evaluate the check.
pub fn is_machine_check(check: &Check) -> bool {
    match check {
        Check::Shell(_) | Check::Artifact { .. } => true,
        Check::Browser { .. } | Check::HumanReview { .. } => false,
    }
}
