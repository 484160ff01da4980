#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod classify;
mod command;
mod depends_on;
pub mod duration;
mod field;
mod finding;
mod format;
mod frontmatter;
pub mod graph;
mod heredoc;
pub mod implied;
mod line;
mod markdown;
mod name;
pub mod named;
mod parallel;
mod parse;
pub mod part;
mod place;
mod plan;
mod rule;
pub mod runner;
mod security;
mod step;
pub mod suggest;
mod task;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod verify;

use std::num::NonZeroU32;

use onloop_syntax::diagnostic::{Diagnostic, Span};
use onloop_syntax::form::{given, is_default};
use onloop_syntax::text::words;
use serde::{Deserialize, Serialize};

pub use classify::{FileClass, classify};
pub use format::{FIELDS, Field, Section};
pub use name::slug;
pub use onloop_effect::{BranchName, Network, OperatingSystem, Shell};
pub use onloop_syntax::diagnostic;
pub use onloop_syntax::money::Money;
pub use parse::{parse, same_meaning, too_large};
pub use place::{FieldPlace, PlaceKind};
pub use plan::{Plan, PlanParts};
pub use rule::{LintRule, RULES};
pub use task::Task;
pub use template::{TemplateKind, quoted, template};

/// The content of a workflow file, and the findings about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The plan. It exists exactly when no diagnostic is an error.
    pub plan: Option<Plan>,
    /// The findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The checkboxes of the steps, in the order of the file.
    pub checkboxes: Vec<Checkbox>,
    /// The positions of its parts.
    pub outline: Outline,
}

impl Parsed {
    fn unreadable(diagnostic: Diagnostic) -> Parsed {
        Parsed {
            plan: None,
            diagnostics: vec![diagnostic],
            checkboxes: Vec::new(),
            outline: Outline::default(),
        }
    }
}

/// The positions of the parts of a file, including a file with errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The lines between `---` and `---`, without the marks.
    pub frontmatter: Option<Span>,
    /// The steps, in the order of the file.
    pub steps: Vec<StepPlace>,
    /// Fields and items of `verify`, in the order of the file.
    pub fields: Vec<FieldPlace>,
    /// Fenced blocks and multi-line comments outside values.
    pub blocks: Vec<Block>,
}

/// Lines that the parser does not read as Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The construct that encloses them.
    pub kind: BlockKind,
    /// From the start of the opening line to the end of the closing line.
    pub span: Span,
}

/// The construct that hides lines from the Markdown parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A fenced block.
    Fence,
    /// A multi-line HTML comment.
    Comment,
}

/// The position of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// Position from 1, which is its number in a run.
    pub number: u32,
    /// Title, without line breaks or control characters.
    pub name: String,
    /// Its title in the file, or its whole header if it has no title.
    pub title: Span,
    /// Its number as written, which may be invalid.
    pub id: Span,
    /// From its header to the start of the next section.
    pub span: Span,
}

/// The checkbox of a step: `[ ]` or `[x]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkbox {
    /// Number of the step as written in the file.
    pub step: u32,
    /// Offset of the byte between the brackets. Ticking a checkbox moves no offset.
    pub offset: usize,
    /// Whether that byte is `x` or `X`.
    pub ticked: bool,
}

words! {
    /// How `finish` commits verified work that is not committed yet.
    #[derive(Default)]
    pub enum CommitWhen {
        /// In one commit.
        #[default]
        End = "end",
        /// In one commit for each step.
        Step = "step",
        /// Not at all; `finish` refuses uncommitted work.
        Never = "never",
    }
}

words! {
    /// The author's estimate of risk. Human gates of a `High` plan always ask a person.
    pub enum Risk {
        /// Nothing of value can break.
        Low = "low",
        /// A mistake costs time.
        Medium = "medium",
        /// A mistake costs more than time.
        High = "high",
    }
}

/// The isolation of a run's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// A linked git worktree of its own (`worktree: true`).
    Worktree,
    /// A branch of its own in the current checkout (`worktree: false`).
    Branch,
    /// The checkout and branch that the client prepared (`worktree: host`).
    Host,
}

/// Upper bounds on a whole run; `None` is unbounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// Attempts over all steps.
    #[serde(deserialize_with = "given")]
    pub total_attempts: Option<u64>,
    /// Starts of agents.
    #[serde(deserialize_with = "given")]
    pub agents: Option<u64>,
    /// Money.
    #[serde(rename = "cost_usd", with = "onloop_syntax::money::usd")]
    pub cost: Option<Money>,
    /// Tokens read and written by agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Active time without pauses.
    #[serde(deserialize_with = "given")]
    pub elapsed_minutes: Option<u64>,
}

/// What has to prove that the work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRules {
    /// A step that no check, checkpoint review or person verifies is an error.
    #[serde(default, skip_serializing_if = "is_default")]
    pub require_checks: bool,
    /// All checks pass on a clean checkout before the run completes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_clean: bool,
    /// How often the findings of a review that says "not ready" go back to the agent;
    /// `None`: [`limits::REVIEW_ROUNDS`](onloop_syntax::limits::REVIEW_ROUNDS) times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_review_rounds: Option<u32>,
}

impl EvidenceRules {
    /// How often the findings of a review go back to the agent before a person decides.
    pub fn review_rounds(&self) -> u32 {
        self.max_review_rounds.unwrap_or(onloop_syntax::limits::REVIEW_ROUNDS)
    }
}

/// Whether `text` can name a model on the command line of a client: one word of at most 200 bytes
/// that is not an option.
pub fn is_model(text: &str) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !c.is_control() && c != ',';
    (1..=200).contains(&text.len()) && !text.starts_with('-') && text.chars().all(is_part)
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Position from 1; equal to the number in the file.
    pub number: u32,
    /// Title, without line breaks or control characters.
    pub name: String,
    /// The instructions for the agent.
    pub action: String,
    /// The step's own fenced `sh` or `bash` block, which the `script` agent runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// Whether a failed attempt is repeated.
    #[serde(rename = "loop")]
    pub repeat: Loop,
    /// The checks, in the author's order. An empty list verifies nothing.
    #[serde(rename = "verify", default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The approval that the finished step needs.
    pub gate: Option<Gate>,
    /// The numbers of the earlier steps that it needs, sorted, as the file lists them; `None`: the
    /// file does not say it. [`Step::depends_on`] has the meaning of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<u32>>,
    /// Whether the checks run once before the first turn of the agent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub baseline: bool,
    /// Patterns of files that checks depend on and that this step is meant to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<String>,
    /// The network of the confined agent and checks; `None`: that of the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The model of the agent, in the words of its client; `None`: the client's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the step names a security topic: auth, encrypt, secret, key, password, token,
    /// permission, role or billing, in any inflection. Its human gate then always asks a person.
    #[serde(rename = "security_sensitive")]
    pub sensitive: bool,
}

impl Step {
    /// The numbers of the earlier steps that have to be done before it begins, sorted. A step that
    /// does not say it needs the step before.
    pub fn depends_on(&self) -> Vec<u32> {
        let before = self.number.saturating_sub(1);
        self.depends_on
            .clone()
            .unwrap_or_else(|| (before > 0).then_some(before).into_iter().collect())
    }
}

/// A fenced block inside a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Interpreter named by the fence.
    pub shell: Shell,
    /// Text between the fences, without the block's indentation.
    pub text: String,
}

/// Whether a failed attempt is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// One attempt.
    Never,
    /// Attempts until the checks pass, at most `limit`.
    Until {
        /// The author's words, for people and prompts. The checks decide.
        condition: String,
        /// Highest number of attempts (`max_iterations`, default 3).
        limit: NonZeroU32,
    },
}

impl Loop {
    /// The text in the record: `false` or `until …`.
    pub fn text(&self) -> String {
        match self {
            Loop::Never => "false".to_owned(),
            Loop::Until { condition, .. } => format!("until {condition}"),
        }
    }
}

words! {
    /// The approver of a finished step.
    pub enum Gate {
        /// A person, unless `auto_approve` and the risk rules let it pass.
        Human = "human",
        /// onloop itself, which records the approval.
        Auto = "auto",
    }
}

/// One item of `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Check {
    /// Run a command and look at its exit code.
    Shell(ShellCheck),
    /// Look at a page. A person does it if no checker is configured.
    Browser {
        /// Page to open.
        url: String,
        /// The expectation.
        check: String,
    },
    /// A person reviews the work.
    HumanReview {
        /// The question to the person.
        prompt: String,
    },
    /// A file or folder satisfies an assertion.
    Artifact {
        /// Path below the execution root.
        path: String,
        /// The assertion.
        #[serde(rename = "assert")]
        assertion: Assertion,
    },
}

/// A command that onloop runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellCheck {
    /// The command line as written, without matching quotes around it.
    pub command: String,
    /// The result that passes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expect: Expectation,
    /// Time limit in milliseconds, in place of the run's limit for verification commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Folder below the execution root to run in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Environment additions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// The shell that runs the line; default `bash`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shell: Shell,
    /// The operating system that the line is written for; `None`: every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<OperatingSystem>,
    /// The network of the confined command; `None`: that of its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Whether it passes although its test runner says that no test ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_no_tests: bool,
}

impl ShellCheck {
    /// Whether a `!` in front of the command turns its result round.
    pub fn is_negated(&self) -> bool {
        self.negated().is_some()
    }

    /// The command behind a `!` that turns its result round.
    pub fn negated(&self) -> Option<&str> {
        self.command.trim_start().strip_prefix("! ").map(str::trim)
    }

    /// Why the command does not run on `system`, for which it is not written. An unknown system runs every
    /// command.
    pub fn not_for(&self, system: Option<OperatingSystem>) -> Option<String> {
        let (wanted, system) = (self.platform?, system?);
        let (name, here) = (wanted.as_str(), system.as_str());
        (wanted != system)
            .then(|| format!("it is written for {name}, and this machine runs {here}"))
    }

    /// A command that must exit 0, with every other field at its default.
    pub fn new(command: impl Into<String>) -> Self {
        ShellCheck {
            command: command.into(),
            expect: Expectation::Pass,
            timeout_ms: None,
            cwd: None,
            env: Vec::new(),
            shell: Shell::Bash,
            platform: None,
            network: None,
            allow_no_tests: false,
        }
    }
}

/// The result of a command that passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// Exit code 0.
    #[default]
    Pass,
    /// The command ran, and the code failed it: any exit code but 0, 126, 127 and deaths by signal,
    /// unless its output says that no test ran or that the command line is wrong.
    Fail,
}

/// An assertion about an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "kebab-case")]
pub enum Assertion {
    /// The file or folder exists.
    Exists,
    /// The file contains this text.
    Contains(String),
    /// The folder directly contains a file whose name matches this pattern.
    MatchesGlob(String),
}

pub mod language;
