//! What we offer: eight tools over the programs of the command line.

use serde_json::{Map, Value, json};

use crate::agent;
use crate::engine::choose_agent::AgentArgs;
use crate::engine::conduct_args::ConductArgs;
use crate::limits;
use crate::preflight::IsolationMode;
use crate::text::{ellipsis, one_line, words};
use crate::verb::permit::ExplainArgs;
use crate::verb::{
    DecisionWord, GateArgs, LintArgs, LintFormat, ModeWord, NextArgs, ReportArgs, ResumeArgs,
    RunArgs, StatusArgs, StepAction, StepArgs,
};

words! {
    /// A tool, named after the verb behind it.
    pub enum Tool {
        /// Run a workflow, or resume a run.
        Run = "run",
        /// Look at runs.
        Status = "status",
        /// What should happen now.
        Next = "next",
        /// Report on a step that the agent does itself.
        Step = "step",
        /// Decide at a gate.
        Gate = "gate",
        /// Check workflow files.
        Lint = "lint",
        /// Judge a tool call.
        PermitExplain = "permit_explain",
        /// The report of a run.
        Report = "report",
    }
}

/// A call whose input was checked.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The folder to work in, absolute or relative to the client's first.
    pub directory: Option<String>,
    /// The program that answers it.
    pub program: ToolProgram,
}

/// A program and its arguments.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a call is moved once")]
pub enum ToolProgram {
    /// `onloop run`.
    Run(RunArgs),
    /// `onloop resume`.
    Resume(ResumeArgs),
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

/// A parameter of a tool: its schema and its check are made from it.
struct Parameter {
    name: &'static str,
    kind: Kind,
    needed: bool,
    about: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A string of at most so many characters.
    Text(usize),
    /// One of these.
    Choice(&'static [&'static str]),
    Flag,
    /// Number of a step.
    Step,
    Object,
    /// An array of strings.
    List,
}

const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, needed: false, about }
}

const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, needed: true, about }
}

const WORD: Kind = Kind::Text(limits::MCP_WORD_CHARS);
const RUN_ID: Parameter =
    optional("run_id", WORD, "The run; left out: the only unfinished one here");
/// Every tool has it.
const DIRECTORY: Parameter = optional(
    "directory",
    WORD,
    "Folder to work in, inside the client's folders; left out: the project",
);

const RUN: &[Parameter] = &[
    optional("file", WORD, "Workflow file; left out: the only one of the project"),
    optional("run_id", WORD, "Go on with this run instead of beginning one"),
    optional(
        "agent",
        Kind::Choice(agent::UNATTENDED),
        "Who acts; `script` runs the steps' own scripts. Left out: `script` if every step has \
         one, else the first agent that is installed",
    ),
    optional(
        "mode",
        Kind::Choice(IsolationMode::WORDS),
        "Where to work, instead of what the file says",
    ),
    optional("branch", WORD, "Branch to work on, instead of what the file says"),
    optional("fresh", Kind::Flag, "Begin anew although an unfinished run of the file exists"),
    optional("review", Kind::Choice(agent::READERS), "Agent that reviews the work"),
    optional("agent_timeout", WORD, "Longest time for one attempt, such as 20m or 1h30m"),
    optional("verify_timeout", WORD, "Longest time for one verification command"),
];
const STATUS: &[Parameter] = &[
    optional("run_id", WORD, "Show this run in detail; left out: a list"),
    optional("all", Kind::Flag, "List finished runs as well"),
];
const NEXT: &[Parameter] = &[RUN_ID];
const STEP: &[Parameter] = &[
    needed("step", Kind::Step, "Number of the step"),
    needed(
        "action",
        Kind::Choice(&["start", "verify", "retry", "block"]),
        "`start`: an attempt begins. `verify`: run the step's checks and record the result. \
         `retry`: is another attempt allowed? `block`: the step cannot go on",
    ),
    optional("reason", Kind::Text(limits::MCP_REASON_CHARS), "Why the step is blocked"),
    RUN_ID,
];
const GATE: &[Parameter] = &[
    needed("step", Kind::Step, "Number of the step"),
    needed("decision", Kind::Choice(&["approved", "rejected"]), "What is proposed"),
    RUN_ID,
];
const LINT: &[Parameter] = &[
    optional("files", Kind::List, "Workflow files; left out: the only one of the project"),
    optional("deny_warnings", Kind::Flag, "Treat warnings as errors"),
];
const PERMIT_EXPLAIN: &[Parameter] = &[
    optional("command", Kind::Text(limits::SHELL_BYTES), "A line of shell"),
    optional("tool", WORD, "Name of a tool, instead of a line of shell"),
    optional("input", Kind::Object, "The input of that tool"),
];
const REPORT: &[Parameter] = &[needed("run_id", WORD, "The run")];

impl Tool {
    /// What clients show to people.
    fn title(self) -> &'static str {
        match self {
            Tool::Run => "Run a workflow",
            Tool::Status => "Show runs",
            Tool::Next => "What comes next",
            Tool::Step => "Record or verify a step",
            Tool::Gate => "Decide at a gate",
            Tool::Lint => "Check workflow files",
            Tool::PermitExplain => "Judge a tool call",
            Tool::Report => "Show the report of a run",
        }
    }

    /// What it does and when to use it, for models.
    pub fn description(self) -> &'static str {
        match self {
            Tool::Run => {
                "Runs a workflow file step by step until it is completed, blocked or paused: an \
                 agent acts, onloop verifies, retries within limits and keeps the record. With \
                 `run_id` it goes on where a run stopped. Runs the file's commands."
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
                "Proposes a decision at a gate or a human review. The rules decide where they \
                 may; otherwise a person is asked through the client. Where nobody can be asked, \
                 it is refused, and you tell the person which command decides."
            }
            Tool::Lint => "Says what is wrong with workflow files, and where. Changes nothing.",
            Tool::PermitExplain => {
                "Says whether a tool call of an agent would be allowed, denied or asked about, \
                 how it is understood and by which rule. Runs nothing."
            }
            Tool::Report => "The report of a run, as Markdown.",
        }
    }

    /// Whether a run or a file of the project may be different afterwards.
    pub fn is_read_only(self) -> bool {
        match self {
            Tool::Run | Tool::Step | Tool::Gate => false,
            Tool::Status | Tool::Next | Tool::Lint | Tool::PermitExplain | Tool::Report => true,
        }
    }

    /// Whether it starts commands of the workflow.
    fn runs_commands(self) -> bool {
        match self {
            Tool::Run | Tool::Step => true,
            Tool::Status
            | Tool::Next
            | Tool::Gate
            | Tool::Lint
            | Tool::PermitExplain
            | Tool::Report => false,
        }
    }

    /// Whether exit code 1 of its program says something about what was looked at, rather than
    /// that the work failed.
    pub(super) fn failure_is_an_answer(self) -> bool {
        match self {
            Tool::Lint | Tool::PermitExplain => true,
            Tool::Run | Tool::Status | Tool::Next | Tool::Step | Tool::Gate | Tool::Report => false,
        }
    }

    fn parameters(self) -> &'static [Parameter] {
        match self {
            Tool::Run => RUN,
            Tool::Status => STATUS,
            Tool::Next => NEXT,
            Tool::Step => STEP,
            Tool::Gate => GATE,
            Tool::Lint => LINT,
            Tool::PermitExplain => PERMIT_EXPLAIN,
            Tool::Report => REPORT,
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
        let given = Given(given);
        Ok(ToolCall { directory: given.text("directory"), program: self.program(&given)? })
    }

    fn program(self, given: &Given<'_>) -> Result<ToolProgram, InputError> {
        Ok(match self {
            Tool::Run => return run(given),
            Tool::Status => ToolProgram::Status(StatusArgs {
                run_id: given.text("run_id"),
                all: given.flag("all"),
                json: true,
            }),
            Tool::Next => {
                let run_id = given.text("run_id");
                ToolProgram::Next(NextArgs { run_id, json: true, for_agent: true })
            }
            Tool::Step => ToolProgram::Step(StepArgs {
                step: given.step(),
                action: match given.text("action").as_deref() {
                    Some("start") => StepAction::Start,
                    Some("verify") => StepAction::Verify,
                    Some("retry") => StepAction::Retry,
                    _ => StepAction::Block,
                },
                reason: given.text("reason"),
                run_id: given.text("run_id"),
            }),
            Tool::Gate => ToolProgram::Gate(GateArgs {
                step: given.step(),
                decision: match given.text("decision").as_deref() {
                    Some("approved") => DecisionWord::Approved,
                    _ => DecisionWord::Rejected,
                },
                mode: ModeWord::Auto,
                reason: None,
                redo: false,
                seen: None,
                run_id: given.text("run_id"),
            }),
            Tool::Lint => ToolProgram::Lint(LintArgs {
                files: given.list("files"),
                format: LintFormat::Json,
                fix: false,
                deny_warnings: given.flag("deny_warnings"),
            }),
            Tool::PermitExplain => return explain(given),
            Tool::Report => ToolProgram::Report(ReportArgs {
                run_id: given.text("run_id").unwrap_or_default(),
                ..ReportArgs::default()
            }),
        })
    }
}

fn run(given: &Given<'_>) -> Result<ToolProgram, InputError> {
    let conduct = ConductArgs {
        agent: AgentArgs { agent: given.text("agent"), agent_command: None },
        agent_timeout: given.text("agent_timeout"),
        verify_timeout: given.text("verify_timeout"),
        json: true,
        ..ConductArgs::default()
    };
    let Some(id) = given.text("run_id") else {
        let mode = given.text("mode");
        return Ok(ToolProgram::Run(RunArgs {
            file: given.text("file"),
            conduct,
            mode: mode.and_then(|word| word.parse().ok()),
            branch: given.text("branch"),
            fresh: given.flag("fresh"),
            review: given.text("review"),
            ..RunArgs::default()
        }));
    };
    for name in ["file", "mode", "branch", "fresh", "review"] {
        if given.0.contains_key(name) {
            return Err(InputError::ForNewRuns(name));
        }
    }
    Ok(ToolProgram::Resume(ResumeArgs { run: Some(id), conduct, ..ResumeArgs::default() }))
}

fn explain(given: &Given<'_>) -> Result<ToolProgram, InputError> {
    let (tool_or_line, input) = match (given.text("command"), given.text("tool")) {
        (Some(line), None) if !given.0.contains_key("input") => (line, None),
        (None, Some(tool)) => {
            let input = given.0.get("input").cloned().unwrap_or_else(|| json!({}));
            (tool, Some(input.to_string()))
        }
        (Some(_) | None, Some(_) | None) => {
            return Err(InputError::CommandOrTool);
        }
    };
    Ok(ToolProgram::Explain(ExplainArgs {
        confined: false,
        tool_or_line,
        input,
        json: true,
        workflow: None,
        branch: None,
    }))
}

impl Parameter {
    fn schema(&self) -> Value {
        let about = self.about;
        match self.kind {
            Kind::Text(most) => json!({
                "type": "string", "description": about, "minLength": 1, "maxLength": most,
            }),
            Kind::Choice(words) => {
                json!({ "type": "string", "description": about, "enum": words })
            }
            Kind::Flag => json!({ "type": "boolean", "description": about }),
            Kind::Step => json!({
                "type": "integer", "description": about,
                "minimum": 1, "maximum": limits::WORKFLOW_STEPS,
            }),
            Kind::Object => json!({ "type": "object", "description": about }),
            Kind::List => json!({
                "type": "array", "description": about, "maxItems": limits::MCP_LIST_ITEMS,
                "items": { "type": "string", "minLength": 1, "maxLength": limits::MCP_WORD_CHARS },
            }),
        }
    }

    fn check(&self, value: &Value) -> Result<(), InputError> {
        let expected = match self.kind {
            Kind::Text(most) if is_text(value, most) => return Ok(()),
            Kind::Text(most) => format!("a string of 1 to {most} characters"),
            Kind::Choice(words) if value.as_str().is_some_and(|word| words.contains(&word)) => {
                return Ok(());
            }
            Kind::Choice(words) => format!("one of `{}`", words.join("`, `")),
            Kind::Flag if value.is_boolean() => return Ok(()),
            Kind::Flag => "true or false".to_owned(),
            Kind::Step => {
                let most = limits::WORKFLOW_STEPS as u64;
                match value.as_u64() {
                    Some(step) if (1..=most).contains(&step) => return Ok(()),
                    Some(_) | None => format!("a number from 1 to {most}"),
                }
            }
            Kind::Object if value.is_object() => return Ok(()),
            Kind::Object => "an object".to_owned(),
            Kind::List => match value.as_array() {
                Some(items)
                    if items.len() <= limits::MCP_LIST_ITEMS
                        && items.iter().all(|item| is_text(item, limits::MCP_WORD_CHARS)) =>
                {
                    return Ok(());
                }
                Some(_) | None => format!("an array of at most {} strings", limits::MCP_LIST_ITEMS),
            },
        };
        Err(InputError::Invalid { name: self.name, found: value.to_string(), expected })
    }
}

fn is_text(value: &Value, most_chars: usize) -> bool {
    // The operating system reads strings up to a NUL.
    value.as_str().is_some_and(|text| {
        !text.is_empty() && !text.contains('\0') && text.chars().count() <= most_chars
    })
}

/// Arguments that were checked.
struct Given<'a>(&'a Map<String, Value>);

impl Given<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn step(&self) -> u32 {
        let step = self.0.get("step").and_then(Value::as_u64).unwrap_or_default();
        u32::try_from(step).unwrap_or(u32::MAX)
    }

    fn list(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
