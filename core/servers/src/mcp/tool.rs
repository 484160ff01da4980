//! What we offer: tools over the programs of the command line.

mod parameter;
mod program;

use serde_json::{Map, Value, json};

use onloop_agents as agent;
use onloop_run::preflight::IsolationMode;
use onloop_syntax::limits;
use onloop_syntax::text::{ellipsis, one_line, words};
use onloop_verbs::permit::ExplainArgs;
use onloop_verbs::{
    BeginArgs, DiffArgs, FinalizeArgs, GateArgs, LintArgs, NextArgs, ReceiptArgs, ReportArgs,
    ResumeArgs, RunArgs, StatusArgs, StepArgs, SummaryArgs,
};
use parameter::{CheckedArguments, Parameter, ParameterKind, needed, optional};

words! {
    /// A tool, named after the verb behind it.
    pub enum Tool {
        /// Run a workflow, or resume a run.
        Run = "run",
        /// Pause a run in the background.
        Stop = "stop",
        /// Begin a run that the agent drives.
        Begin = "begin",
        /// Look at runs.
        Status = "status",
        /// What should happen now.
        Next = "next",
        /// Report on a step that the agent does itself.
        Step = "step",
        /// Decide at a gate.
        Gate = "gate",
        /// End a run that the agent drives.
        Finalize = "finalize",
        /// The final summary of a run.
        Summary = "summary",
        /// The report of a run.
        Report = "report",
        /// What a run has changed.
        Diff = "diff",
        /// What the record of a run proves.
        Receipt = "receipt",
        /// Check workflow files.
        Lint = "lint",
        /// Judge a tool call.
        PermitExplain = "permit_explain",
    }
}

/// A call whose input was checked.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The folder to work in, absolute or relative to the client's first.
    pub directory: Option<String>,
    /// The program that answers it.
    pub program: ToolProgram,
    /// Whether it is answered when the run has begun, and the run continues.
    pub background: bool,
    /// The tool and its input as it came.
    pub given: (Tool, Map<String, Value>),
}

/// A program and its arguments.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a call is moved once")]
pub enum ToolProgram {
    /// `onloop run`.
    Run(RunArgs),
    /// `onloop resume`.
    Resume(ResumeArgs),
    /// Pause that run, and `onloop status` of it.
    Stop(String),
    /// `onloop prepare` and `onloop init`.
    Begin(BeginArgs),
    /// `onloop status`.
    Status(StatusArgs),
    /// `onloop next`.
    Next(NextArgs),
    /// `onloop step`.
    Step(StepArgs),
    /// `onloop gate`, for a caller who is not a person.
    Gate(GateArgs),
    /// `onloop lint`.
    Lint(LintArgs),
    /// `onloop permit explain`.
    Explain(ExplainArgs),
    /// `onloop report`.
    Report(ReportArgs),
    /// `onloop finalize`.
    Finalize(FinalizeArgs),
    /// `onloop summary`.
    Summary(SummaryArgs),
    /// `onloop diff`.
    Diff(DiffArgs),
    /// `onloop receipt`.
    Receipt(ReceiptArgs),
}

/// Why the input of a call is refused; for the model that wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The tool has no such argument.
    #[error(
        "there is no argument `{}`; expected `{}`",
        short(.name),
        .tool.parameter_names().map(|(name, _)| name).collect::<Vec<_>>().join("`, `")
    )]
    Unknown {
        /// The name that was given.
        name: String,
        /// The tool.
        tool: Tool,
    },
    /// An argument that must be given.
    #[error("the argument `{0}` is missing")]
    Missing(&'static str),
    /// An argument of another type, or out of its bounds.
    #[error("the argument `{name}` is `{}`, expected {expected}", short(.found))]
    Invalid {
        /// Its name.
        name: &'static str,
        /// Its value as JSON.
        found: String,
        /// What fits.
        expected: String,
    },
    /// An argument that only fits where no run is named.
    #[error("`{0}` is for a new run; with `run_id` an existing one is resumed")]
    ForNewRuns(&'static str),
    /// `permit_explain` takes one of the two.
    #[error("expected either `command`, or `tool` and `input`")]
    CommandOrTool,
}

fn short(text: &str) -> String {
    ellipsis(&one_line(text), 100)
}

const WORD: ParameterKind = ParameterKind::Text(limits::MCP_WORD_CHARS);
const RUN_ID: Parameter =
    optional("run_id", WORD, "The run; left out: the only unfinished one here");
/// Every tool has it.
const DIRECTORY: Parameter = optional(
    "directory",
    WORD,
    "Folder to work in, inside the client's folders; left out: the project",
);

const RUN: Parameter = needed("run_id", WORD, "The run");

const RUN_A_WORKFLOW: &[Parameter] = &[
    optional("file", WORD, "Workflow file; left out: the only one of the project"),
    optional("run_id", WORD, "Resume this run instead of beginning one"),
    optional(
        "agent",
        ParameterKind::Choice(agent::UNATTENDED),
        "The agent; `script` runs the steps' own scripts. Left out: `script` if every step has \
         one, else the first agent that is installed",
    ),
    optional(
        "mode",
        ParameterKind::Choice(IsolationMode::WORDS),
        "Where to work, instead of what the file says",
    ),
    optional("branch", WORD, "Branch to work on, instead of what the file says"),
    optional(
        "fresh",
        ParameterKind::Flag,
        "Begin anew although an unfinished run of the file exists",
    ),
    optional("review", ParameterKind::Choice(agent::READERS), "Agent that reviews the work"),
    optional("agent_timeout", WORD, "Longest time for one attempt, such as 20m or 1h30m"),
    optional("verify_timeout", WORD, "Longest time for one verification command"),
    optional(
        "background",
        ParameterKind::Flag,
        "Answer when the run has begun, and continue it: it pauses at gates. `status` shows its \
         state, `stop` pauses it",
    ),
];
const STOP: &[Parameter] = &[RUN];
const BEGIN: &[Parameter] = &[
    optional("file", WORD, "Workflow file; left out: the only one of the project"),
    optional(
        "mode",
        ParameterKind::Choice(IsolationMode::WORDS),
        "Where to work, instead of what the file says: ask the person where neither says it",
    ),
    optional("branch", WORD, "Branch to work on, instead of what the file says"),
];
const STATUS: &[Parameter] = &[
    optional("run_id", WORD, "Show this run in detail; left out: a list"),
    optional("all", ParameterKind::Flag, "List finished runs as well"),
];
const NEXT: &[Parameter] = &[RUN_ID];
const STEP: &[Parameter] = &[
    needed("step", ParameterKind::Step, "Number of the step"),
    needed(
        "action",
        ParameterKind::Choice(&["start", "verify", "retry", "block"]),
        "`start`: an attempt begins. `verify`: run the step's checks and record the result. \
         `retry`: is another attempt allowed? `block`: the step cannot continue",
    ),
    optional("reason", ParameterKind::Text(limits::MCP_REASON_CHARS), "Why the step is blocked"),
    RUN_ID,
];
const GATE: &[Parameter] = &[
    needed("step", ParameterKind::Step, "Number of the step"),
    needed("decision", ParameterKind::Choice(&["approved", "rejected"]), "What is proposed"),
    RUN_ID,
];
const LINT: &[Parameter] = &[
    optional("files", ParameterKind::List, "Workflow files; left out: the only one of the project"),
    optional("deny_warnings", ParameterKind::Flag, "Treat warnings as errors"),
];
const PERMIT_EXPLAIN: &[Parameter] = &[
    optional("command", ParameterKind::Text(limits::SHELL_BYTES), "A line of shell"),
    optional("tool", WORD, "Name of a tool, instead of a line of shell"),
    optional("input", ParameterKind::Object, "The input of that tool"),
];
const REPORT: &[Parameter] = &[RUN];
const FINALIZE: &[Parameter] = &[RUN_ID];
const SUMMARY: &[Parameter] = &[
    RUN,
    optional(
        "platform",
        ParameterKind::Choice(PLATFORMS),
        "As Markdown that this client shows well",
    ),
];
const PLATFORMS: &[&str] = &["claude", "codex", "cline"];
const DIFF: &[Parameter] = &[
    RUN,
    optional("step", WORD, "A step, or one attempt at it (2-1); left out: the whole run"),
    optional("stat", ParameterKind::Flag, "Only how many lines of which file"),
];
const RECEIPT: &[Parameter] = &[RUN];

impl Tool {
    /// What clients show to people.
    fn title(self) -> &'static str {
        match self {
            Tool::Run => "Run a workflow",
            Tool::Stop => "Pause a run",
            Tool::Begin => "Begin a run that you drive",
            Tool::Status => "Show runs",
            Tool::Next => "What comes next",
            Tool::Step => "Record or verify a step",
            Tool::Gate => "Decide at a gate",
            Tool::Finalize => "End a run that you drive",
            Tool::Summary => "Summarize a run",
            Tool::Report => "Show the report of a run",
            Tool::Diff => "Show what a run has changed",
            Tool::Receipt => "Show what a run proves",
            Tool::Lint => "Check workflow files",
            Tool::PermitExplain => "Judge a tool call",
        }
    }

    /// What it does and when to use it, for models.
    pub fn description(self) -> &'static str {
        match self {
            Tool::Run => {
                "Runs a workflow file step by step until it is completed, blocked or paused: an \
                 agent works, onloop verifies, retries within limits and keeps the record. With \
                 `run_id` it resumes a run. Runs the file's commands. With `background` it \
                 answers at once and continues."
            }
            Tool::Stop => {
                "Pauses a run that this server runs in the background, and shows its state. \
                 `run` with its `run_id` resumes it."
            }
            Tool::Begin => {
                "Begins a run of a workflow file that you drive yourself: prepares the \
                 workspace and writes the record. Work in the `execution_root` that it names; \
                 continue with `next` and `step`."
            }
            Tool::Status => "Lists the runs of this project, or shows one with all its steps.",
            Tool::Next => {
                "Says what should happen now in a run, and the command line that does it."
            }
            Tool::Step => {
                "For a run that you drive yourself: records that a step begins or is blocked, or \
                 runs its checks. Only a passed check makes a step done."
            }
            Tool::Gate => {
                "Proposes a decision at a gate or a human review. The rules decide if they \
                 may; otherwise the client asks a person. If it cannot, the call is refused, and \
                 you tell the person which command decides."
            }
            Tool::Finalize => {
                "For a run that you drive yourself, when every step is done: repeats every check \
                 and ends the run. Shows its summary."
            }
            Tool::Summary => "The summary of a run; with `platform` as text to be shown unchanged.",
            Tool::Report => "The report of a run, as Markdown.",
            Tool::Diff => "What a run, or one of its steps, has changed: a patch.",
            Tool::Receipt => "What the record of a run proves, without any output text.",
            Tool::Lint => "Says what is wrong with workflow files, and where. Changes nothing.",
            Tool::PermitExplain => {
                "Says whether a tool call of an agent would be allowed, denied or asked about, \
                 how it is understood and by which rule. Runs nothing."
            }
        }
    }

    /// Whether a run or a file of the project may be different afterwards.
    pub fn is_read_only(self) -> bool {
        match self {
            Tool::Run | Tool::Stop | Tool::Begin | Tool::Step | Tool::Gate | Tool::Finalize => {
                false
            }
            Tool::Status
            | Tool::Next
            | Tool::Summary
            | Tool::Report
            | Tool::Diff
            | Tool::Receipt
            | Tool::Lint
            | Tool::PermitExplain => true,
        }
    }

    /// Whether it starts commands of the workflow.
    fn runs_commands(self) -> bool {
        match self {
            Tool::Run | Tool::Begin | Tool::Step | Tool::Finalize => true,
            Tool::Stop
            | Tool::Status
            | Tool::Next
            | Tool::Gate
            | Tool::Summary
            | Tool::Report
            | Tool::Diff
            | Tool::Receipt
            | Tool::Lint
            | Tool::PermitExplain => false,
        }
    }

    /// Whether exit code 1 of its program says something about what was looked at, rather than
    /// that the work failed.
    pub(super) fn failure_is_an_answer(self) -> bool {
        match self {
            Tool::Lint | Tool::PermitExplain => true,
            Tool::Run
            | Tool::Stop
            | Tool::Begin
            | Tool::Status
            | Tool::Next
            | Tool::Step
            | Tool::Gate
            | Tool::Finalize
            | Tool::Summary
            | Tool::Report
            | Tool::Diff
            | Tool::Receipt => false,
        }
    }

    fn parameters(self) -> &'static [Parameter] {
        match self {
            Tool::Run => RUN_A_WORKFLOW,
            Tool::Stop => STOP,
            Tool::Begin => BEGIN,
            Tool::Status => STATUS,
            Tool::Next => NEXT,
            Tool::Step => STEP,
            Tool::Gate => GATE,
            Tool::Finalize => FINALIZE,
            Tool::Summary => SUMMARY,
            Tool::Report => REPORT,
            Tool::Diff => DIFF,
            Tool::Receipt => RECEIPT,
            Tool::Lint => LINT,
            Tool::PermitExplain => PERMIT_EXPLAIN,
        }
    }

    fn all_parameters(self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters().iter().chain(std::iter::once(&DIRECTORY))
    }

    /// Names and descriptions of its parameters, for documents; `true`: it must be given.
    pub fn parameter_names(self) -> impl Iterator<Item = (&'static str, bool)> {
        self.all_parameters().map(|parameter| (parameter.name, parameter.needed))
    }

    /// Its entry in `tools/list`; all tools answer in the same form.
    pub(super) fn describe(self, output_schema: &Value) -> Value {
        let mut properties = Map::new();
        for parameter in self.all_parameters() {
            properties.insert(parameter.name.to_owned(), parameter.schema());
        }
        let needed: Vec<&str> = self
            .all_parameters()
            .filter(|parameter| parameter.needed)
            .map(|parameter| parameter.name)
            .collect();
        let mut input = json!({
            "type": "object", "properties": properties, "additionalProperties": false,
        });
        if !needed.is_empty() {
            input["required"] = json!(needed);
        }
        let read_only = self.is_read_only();
        json!({
            "name": self.as_str(),
            "title": self.title(),
            "description": self.description(),
            "inputSchema": input,
            "outputSchema": output_schema,
            "annotations": {
                "title": self.title(),
                "readOnlyHint": read_only,
                "destructiveHint": self.runs_commands(),
                "idempotentHint": read_only,
                "openWorldHint": self.runs_commands(),
            },
        })
    }

    /// Checks the input of a call.
    ///
    /// # Errors
    ///
    /// The first argument that does not fit.
    pub(super) fn read(self, given: &Map<String, Value>) -> Result<ToolCall, InputError> {
        for name in given.keys() {
            if !self.all_parameters().any(|parameter| parameter.name == name) {
                return Err(InputError::Unknown { name: name.clone(), tool: self });
            }
        }
        for parameter in self.all_parameters() {
            match given.get(parameter.name) {
                None if parameter.needed => return Err(InputError::Missing(parameter.name)),
                None => {}
                Some(value) => parameter.check(value)?,
            }
        }
        let read = CheckedArguments(given);
        Ok(ToolCall {
            directory: read.text("directory"),
            program: self.program(&read)?,
            background: read.flag("background"),
            given: (self, given.clone()),
        })
    }
}
