//! What can happen to a run, in the past tense.

pub use super::decision::*;

use super::checkpoint::{Checkpoint, CheckpointMoment};
use super::finish::{FinishAct, FinishOutcome};
use super::fork::{ForkMerge, ForkUse};
use super::pull_request::{PullRequestState, Repair};
use super::sandboxes::SandboxStatus;
use super::tool_call::ToolCall;
use super::verdict::Verdict;
use super::wait::{TurnEnding, Wait};
use super::warning::{ChangedInputs, CheckWarnings, Warning};
use onloop_effect::ProcessGroup;
use onloop_syntax::form::{given, is_default};
use onloop_syntax::money::Money;
use onloop_syntax::text::{self, words};
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;
use onloop_workflow::{Budgets, PlanParts};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Something that happened. [`super::Run::apply`] says when it may.
///
/// Its form of serde is the line of a ledger: every later version reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "event", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Event {
    /// An attempt at a step began.
    StepStarted {
        /// Number of the step, from 1.
        step: u32,
    },
    /// The agent of an attempt, a check, a review or a line of `setup` was started.
    WorkStarted(Acting),
    /// A fresh worktree is ready for the first step.
    WorktreeSetUp(SetUp),
    /// The turn of a client whose stream is understood ended, however it ended.
    AgentEnded(TurnRecord),
    /// The provider of an agent does not serve it for now; the attempt continues afterwards.
    AgentWaits(Wait),
    /// The agent said that the action is done.
    StepActed {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A step began to work beside others, in a run of its own.
    StepForked {
        /// Number of the step, from 1.
        step: u32,
        /// Id of the run.
        run: String,
        /// The commit at which it began.
        base: String,
    },
    /// The work of a fork was merged with that of the run. Durable before any file changes.
    ForkMerged(Box<ForkMerge>),
    /// A fork was given up; its step begins anew.
    ForkDropped {
        /// Number of the step, from 1.
        step: u32,
        /// Why, on one line.
        reason: String,
        /// What it had used.
        used: Box<ForkUse>,
    },
    /// The agent could not do the action, or did what it must not do.
    ActionFailed {
        /// Number of the step, from 1.
        step: u32,
        /// Why, on one line.
        reason: String,
        /// The end of what it said; the next prompt repeats as much of it as
        /// [`onloop_syntax::limits::PROMPT_OUTPUT_BYTES`] allows.
        output: String,
    },
    /// The step's checks were evaluated before the first turn of its agent.
    BaselineTaken {
        /// Number of the step, from 1.
        step: u32,
        /// The checks that passed already, from 0.
        passed: Vec<u32>,
    },
    /// The step's checks were evaluated, up to the first that failed.
    StepVerified {
        /// Number of the step, from 1.
        step: u32,
        /// One for each check, in their order; those after a failed one are missing.
        results: Vec<CheckResult>,
    },
    /// Somebody declared that the step cannot go on.
    StepBlocked {
        /// Number of the step, from 1.
        step: u32,
        /// Why, on one line.
        reason: String,
    },
    /// A gate, or a human review, was decided.
    GateDecided {
        /// Number of the step, from 1.
        step: u32,
        /// Whether the run may go on.
        decision: GateDecision,
        /// Whether a person or the rules decided; the rules decide no human review.
        mode: Mode,
    },
    /// A person wants a step acted again, with a reason for its agent.
    StepRedone {
        /// Number of the step, from 1.
        step: u32,
        /// What is to be done otherwise, on one line.
        reason: String,
    },
    /// A person has a step that had failed or was blocked tried again.
    StepReopened {
        /// Number of the step, from 1.
        step: u32,
        /// What its agent is told, on one line.
        reason: String,
    },
    /// A review agent gave its verdict.
    ReviewFinished {
        /// The step at whose gate it took place; `None`: the final review.
        #[serde(deserialize_with = "given")]
        step: Option<u32>,
        /// What the reviewer said; one that does not pass pauses the run.
        verdict: Verdict,
        /// The reviewer's words, capped.
        findings: String,
        /// The commit up to which everything has been reviewed now.
        #[serde(deserialize_with = "given")]
        base: Option<String>,
    },
    /// The findings of a review that said "not ready" went back to the agent of a step.
    FindingsReturned {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A person accepted a verdict that blocked the run.
    VerdictAccepted,
    /// All machine checks were repeated after the last step.
    ChecksRepeated {
        /// How many checks were repeated.
        repeated: u32,
        /// Those that no longer hold, each with the number of its step; any blocks the run.
        failures: Vec<(u32, CheckResult)>,
        /// What there is to warn about those that were repeated.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<CheckWarnings>,
        /// Whether they ran on a clean checkout.
        #[serde(default, skip_serializing_if = "is_default")]
        clean: bool,
    },
    /// The run stopped to wait for a person.
    RunPaused {
        /// For what, on one line.
        reason: String,
        /// A person interrupted it, and needs no notification.
        #[serde(default, skip_serializing_if = "is_default")]
        interrupted: bool,
    },
    /// Somebody continued the run.
    RunResumed,
    /// Somebody continued the run although another process may still work on it.
    TakenOver {
        /// Why, on one line.
        reason: String,
    },
    /// The edited workflow file replaced the plan that the run began with.
    PlanAdopted(Box<PlanParts>),
    /// The record was damaged and begun anew from the workflow file.
    RecordRebuilt {
        /// Steps whose box was ticked; they are verified before anything is done again.
        ticked: Vec<u32>,
    },
    /// An agent was used.
    UsageReported(Usage),
    /// A person changed the bounds on the run.
    BudgetsChanged(Budgets),
    /// The run ended, with the status that its steps give it.
    RunFinalized,
    /// A person gave the run up.
    RunAbandoned {
        /// Why, on one line.
        reason: String,
    },
    /// The run continues in another folder, to which its checkout or its record was moved.
    RunMoved {
        /// Absolute path of the folder in which agents and checks work from now on.
        execution_root: String,
        /// The whole checkout was moved, with the workflow file.
        checkout: bool,
        /// The checkout around which it works from now on, where it came to another repository: its files
        /// are those of the last checkpoint, and nothing else came along.
        #[serde(skip_serializing_if = "Option::is_none")]
        started_in: Option<String>,
        /// Names of the checkpoints that did not come along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost_checkpoints: Vec<String>,
    },
    /// The copy of the record in the worktree was not as onloop had written it, and was put
    /// right.
    CopyChanged {
        /// The file.
        path: String,
        /// What was found, as a clause.
        what: String,
    },
    /// The work was kept as a commit that no branch shows.
    CheckpointTaken(Checkpoint),
    /// The work could not be kept; the run continues.
    CheckpointMissed {
        /// When it should have been.
        #[serde(flatten)]
        moment: CheckpointMoment,
        /// Why not, on one line.
        reason: String,
    },
    /// The files of the execution root are those of a checkpoint again.
    WorkRestored {
        /// Name of the checkpoint.
        to: String,
    },
    /// Something is about to be done with the work of a run that has ended. Durable before it
    /// is done, so that a crash leaves a trace of it.
    FinishIntended {
        /// What is about to be done.
        #[serde(flatten)]
        act: FinishAct,
        /// What somebody has to say about it.
        notes: Option<String>,
        /// An outcome that is recorded already may be replaced.
        replace: bool,
    },
    /// What became of the work. Anything but `kept` was intended first.
    FinishRecorded {
        /// The outcome; its time is that of the event.
        #[serde(flatten)]
        outcome: FinishOutcome,
        /// An outcome that is recorded already may be replaced.
        replace: bool,
    },
    /// What was intended did not happen and will not.
    FinishAbandoned {
        /// Why, on one line.
        reason: String,
    },
    /// onloop follows the pull request of the published work.
    PullRequestFollowed {
        /// Its address.
        url: String,
        /// How often failing checks and conflicts may go back to the agent.
        repair_limit: u32,
    },
    /// The pull request was seen in another state than before.
    PullRequestSeen {
        /// How it stands.
        state: PullRequestState,
        /// Why it needs changes, on one line; empty otherwise.
        #[serde(default, skip_serializing_if = "is_default")]
        reason: String,
    },
    /// Work went back to the agent because of its pull request.
    PullRequestReturned {
        /// Number of the last step, which is acted again.
        step: u32,
        /// Why.
        #[serde(flatten)]
        repair: Repair,
        /// What its agent is shown, capped.
        output: String,
    },
    /// onloop does not follow the pull request any more.
    PullRequestLeft {
        /// Why, on one line.
        reason: String,
    },
}

words! {
    /// What runs in the processes that a run has started.
    pub enum Worker {
        /// An agent, or the script of the step.
        Agent = "agent",
        /// A check.
        Check = "check",
        /// An agent that reviews.
        Review = "review",
        /// A line of `setup`.
        SetUp = "setup",
    }
}

/// Processes that work for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acting {
    /// What runs in them.
    pub worker: Worker,
    /// Number of the step that they work on; a final review has that of the last one, and what
    /// makes a worktree ready that of the first.
    pub step: u32,
    /// The process group that they were started in.
    #[serde(flatten)]
    pub group: ProcessGroup,
    /// The machine that they were started on, as
    /// [`ProcessIdentity::host`](onloop_effect::ProcessIdentity).
    pub host: String,
    /// Their sandbox; `None`: it was not said.
    #[serde(rename = "confined", skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxStatus>,
}

/// What made a fresh worktree ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUp {
    /// Files that git ignores and that were copied into it.
    pub copied: u64,
    /// Lines of `setup` that were run, all of them to their end.
    pub commands: u64,
}

/// What one turn of a client came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Number of the step, from 1.
    pub step: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The agent, by its name on the command line.
    pub agent: String,
    /// The version of its client, where that told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// The conversation, with which it can be resumed.
    pub session: Option<String>,
    /// The model, where the client said it.
    pub model: Option<String>,
    /// Tokens of this turn; `None` where nobody can tell.
    pub tokens: Option<Tokens>,
    /// Tokens of the whole conversation, where the client counts so: the next turn in it is the
    /// difference.
    pub session_tokens: Option<Tokens>,
    /// What this turn cost; `None` where nobody can tell.
    #[serde(rename = "cost_usd_micros")]
    pub cost: Option<Money>,
    /// The date of the user's prices by which the cost was estimated; `None`: the client said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices_as_of: Option<String>,
    /// Calls that were refused, by us or by the client.
    pub denied: u64,
    /// How it ended, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<TurnEnding>,
    /// The model had neither said nor done anything.
    #[serde(rename = "idle")]
    pub is_idle: bool,
    /// When it ended, to the second. The record has it from the line of its event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The calls of tools, the first [`limits::TURN_CALLS`](onloop_syntax::limits::TURN_CALLS). The
    /// event has them, the record does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_calls: u64,
}

impl Event {
    /// The names of all events.
    pub fn names() -> &'static [&'static str] {
        Event::VARIANTS
    }
}

impl TurnRecord {
    /// Whether it counts as an agent that was started: one that its provider did not serve does
    /// not.
    pub fn counts(&self) -> bool {
        !self.ending.is_some_and(TurnEnding::is_refusal)
    }
}

/// Settings that `--auto-approve` and `--raise` change for one run, as the workflow file has them.
/// An edit of the file is told from such a change by comparing with this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// `auto_approve`.
    pub auto_approve: bool,
    /// Bounds on the whole run.
    #[serde(rename = "limits", default, skip_serializing_if = "is_default")]
    pub budgets: Budgets,
}

impl Written {
    /// What the file of `plan` says.
    pub(super) fn of(plan: &PlanParts) -> Written {
        Written { auto_approve: plan.auto_approve, budgets: plan.budgets.clone() }
    }
}

/// What agents used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Agents started.
    pub agents: u64,
    /// What they cost.
    #[serde(rename = "cost_usd_micros")]
    pub cost: Amount<Money>,
    /// Tokens read and written, as the agents count them.
    pub tokens: Amount<u64>,
}

/// An amount that an agent may or may not report; `null` where one is stored as unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount<T> {
    /// That much.
    Known(T),
    /// At least one agent did not say; nobody can tell whether a limit holds.
    Unknown,
}

impl<T: Default> Default for Amount<T> {
    fn default() -> Amount<T> {
        Amount::Known(T::default())
    }
}

impl<T> Amount<T> {
    /// What `sum` makes of both; unknown when either is.
    pub fn plus(self, other: Amount<T>, sum: fn(T, T) -> T) -> Amount<T> {
        match (self, other) {
            (Amount::Known(a), Amount::Known(b)) => Amount::Known(sum(a, b)),
            (Amount::Unknown, _) | (_, Amount::Unknown) => Amount::Unknown,
        }
    }

    /// The amount, where it is known.
    pub fn known(self) -> Option<T> {
        match self {
            Amount::Known(amount) => Some(amount),
            Amount::Unknown => None,
        }
    }
}

/// What came of evaluating one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Which of the step's checks, from 0.
    pub check: u32,
    /// Whether it holds.
    #[serde(flatten)]
    pub verdict: CheckVerdict,
    /// What it wrote to standard output, capped.
    pub stdout: String,
    /// What it wrote to standard error, capped.
    pub stderr: String,
    /// How its command ended and how long that took, where it is one and the event says it.
    #[serde(flatten)]
    pub measured: Option<Measured>,
    /// When it was evaluated, where the event says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What a person may want to know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The files that were opened while it ran and that the run had changed; `None`: not observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<ChangedInputs>,
}

impl CheckResult {
    /// `opened 2 changed files: src/a.rs (step 1), src/b.rs (step 2)`; `None`: it opened none, or
    /// that was not observed.
    pub fn opened_line(&self) -> Option<String> {
        let inputs = self.inputs.as_ref().filter(|inputs| !inputs.files.is_empty())?;
        let count = inputs.files.len() as u64 + inputs.more;
        Some(format!("opened {}: {inputs}", text::counted(count, "changed file")))
    }
}

/// How the command of a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Its exit code; `None`: it was ended by a signal, or by us when its time was over.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
}

/// Whether a check holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum CheckVerdict {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed {
        /// Why, on one line.
        #[serde(default)]
        reason: String,
    },
    /// A person has to look.
    NeedsHuman {
        /// At what.
        #[serde(default, rename = "reason")]
        prompt: String,
    },
    /// It can be neither confirmed nor refuted here.
    CannotEvaluate {
        /// Why, on one line.
        #[serde(default)]
        reason: String,
    },
}

/// One line of the record's event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When.
    pub at: Timestamp,
    /// Name of the event, such as `step_started`.
    pub event: String,
    /// The step it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What the report shows, on one line.
    pub text: String,
    /// Output that belongs to it, capped; empty where there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub detail: String,
}
