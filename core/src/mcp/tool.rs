//! What we offer: eight tools over the programs of the command line.

use serde_json::{Map, Value, json};

use crate::agent;
use crate::engine::choose_agent::AgentArgs;
use crate::engine::conduct_args::ConductArgs;
use crate::limits;
use crate::preflight::Mode;
use crate::text::{ellipsis, one_line};
use crate::verb::permit::ExplainArgs;
use crate::verb::{
    DecisionWord, GateArgs, LintArgs, LintFormat, ModeWord, NextArgs, ReportArgs, ResumeArgs,
    RunArgs, StatusArgs, StepAction, StepArgs,
};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Run a workflow, or go on with a run.
    Run,
    /// Look at runs.
    Status,
    /// What should happen now.
    Next,
    /// Report on a step that the agent does itself.
    Step,
    /// Decide at a gate.
    Gate,
    /// Check workflow files.
    Lint,
    /// Judge a tool call.
    PermitExplain,
    /// The report of a run.
    Report,
}

/// What a call wants: which program, and where.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The folder to work in, absolute or below the client's.
    pub directory: Option<String>,
    /// The program.
    pub call: Call,
}

/// A program and its arguments.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a call is moved once")]
pub enum Call {
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
    /// `onloop gate`, for a caller who is no person.
    Gate(GateArgs),
    /// `onloop lint`.
    Lint(LintArgs),
    /// `onloop permit explain`.
    Explain(ExplainArgs),
    /// `onloop report`.
    Report(ReportArgs),
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
    /// A text of at most so many characters.
    Text(usize),
    /// One of these.
    Choice(&'static [&'static str]),
    Flag,
    /// Number of a step.
    Step,
    Object,
    /// Texts.
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
const MODES: [Mode; 4] = [Mode::Worktree, Mode::Branch, Mode::Host, Mode::None];

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
        Kind::Choice(&["worktree", "branch", "host", "none"]),
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
    /// All, in the order in which they are listed.
    pub const ALL: [Tool; 8] = [
        Tool::Run,
        Tool::Status,
        Tool::Next,
        Tool::Step,
        Tool::Gate,
        Tool::Lint,
        Tool::PermitExplain,
        Tool::Report,
    ];

    /// Its name in calls.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Run => "run",
            Tool::Status => "status",
            Tool::Next => "next",
            Tool::Step => "step",
            Tool::Gate => "gate",
            Tool::Lint => "lint",
            Tool::PermitExplain => "permit_explain",
            Tool::Report => "report",
        }
    }

    /// Its name for people.
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

    /// What it does, for models.
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

    /// What `tools/list` says of it.
    pub(super) fn describe(self) -> Value {
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
            "name": self.name(),
            "title": self.title(),
            "description": self.description(),
            "inputSchema": input,
            "outputSchema": super::answer::schema(),
            "annotations": {
                "title": self.title(),
                "readOnlyHint": read_only,
                "destructiveHint": self.runs_commands(),
                "idempotentHint": read_only,
                "openWorldHint": self.runs_commands(),
            },
        })
    }

    /// Takes the input of a call.
    ///
    /// # Errors
    ///
    /// What was found and what was expected.
    pub(super) fn read(self, given: &Map<String, Value>) -> Result<Asked, String> {
        for name in given.keys() {
            if !self.all_parameters().any(|parameter| parameter.name == name) {
                let names: Vec<String> =
                    self.all_parameters().map(|known| format!("`{}`", known.name)).collect();
                let name = ellipsis(&one_line(name), 100);
                let names = names.join(", ");
                return Err(format!("there is no argument `{name}`; expected {names}"));
            }
        }
        for parameter in self.all_parameters() {
            match given.get(parameter.name) {
                None if parameter.needed => {
                    return Err(format!("the argument `{}` is missing", parameter.name));
                }
                None => {}
                Some(value) => parameter.check(value)?,
            }
        }
        let given = Given(given);
        Ok(Asked { directory: given.text("directory"), call: self.call(&given)? })
    }

    fn call(self, given: &Given<'_>) -> Result<Call, String> {
        Ok(match self {
            Tool::Run => return run(given),
            Tool::Status => Call::Status(StatusArgs {
                run_id: given.text("run_id"),
                all: given.flag("all"),
                json: true,
            }),
            Tool::Next => Call::Next(NextArgs { run_id: given.text("run_id"), json: true }),
            Tool::Step => Call::Step(StepArgs {
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
            Tool::Gate => Call::Gate(GateArgs {
                step: given.step(),
                decision: match given.text("decision").as_deref() {
                    Some("approved") => DecisionWord::Approved,
                    _ => DecisionWord::Rejected,
                },
                mode: ModeWord::Auto,
                run_id: given.text("run_id"),
            }),
            Tool::Lint => Call::Lint(LintArgs {
                files: given.list("files"),
                format: LintFormat::Json,
                fix: false,
                deny_warnings: given.flag("deny_warnings"),
            }),
            Tool::PermitExplain => return explain(given),
            Tool::Report => {
                Call::Report(ReportArgs { run_id: given.text("run_id").unwrap_or_default() })
            }
        })
    }
}

fn run(given: &Given<'_>) -> Result<Call, String> {
    let conduct = ConductArgs {
        agent: AgentArgs { agent: given.text("agent"), agent_command: None },
        agent_timeout: given.text("agent_timeout"),
        verify_timeout: given.text("verify_timeout"),
        platform: None,
        verbose: false,
        json: true,
    };
    let Some(id) = given.text("run_id") else {
        let mode = given.text("mode");
        return Ok(Call::Run(RunArgs {
            file: given.text("file"),
            conduct,
            mode: MODES.into_iter().find(|known| Some(known.as_str()) == mode.as_deref()),
            branch: given.text("branch"),
            fresh: given.flag("fresh"),
            review: given.text("review"),
            ..RunArgs::default()
        }));
    };
    for name in ["file", "mode", "branch", "fresh", "review"] {
        if given.0.contains_key(name) {
            return Err(format!("`{name}` is for a new run; `run_id` goes on with one"));
        }
    }
    Ok(Call::Resume(ResumeArgs { run: Some(id), conduct, ..ResumeArgs::default() }))
}

fn explain(given: &Given<'_>) -> Result<Call, String> {
    let (tool_or_line, input) = match (given.text("command"), given.text("tool")) {
        (Some(line), None) if !given.0.contains_key("input") => (line, None),
        (None, Some(tool)) => {
            let input = given.0.get("input").cloned().unwrap_or_else(|| json!({}));
            (tool, Some(input.to_string()))
        }
        (Some(_) | None, Some(_) | None) => {
            return Err("expected either `command`, or `tool` and `input`".to_owned());
        }
    };
    Ok(Call::Explain(ExplainArgs { tool_or_line, input, json: true, workflow: None, branch: None }))
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

    fn check(&self, value: &Value) -> Result<(), String> {
        let expected = match self.kind {
            Kind::Text(most) if is_text(value, most) => return Ok(()),
            Kind::Text(most) => format!("a text of 1 to {most} characters"),
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
                Some(_) | None => format!("a list of at most {} texts", limits::MCP_LIST_ITEMS),
            },
        };
        let found = ellipsis(&one_line(&value.to_string()), 100);
        Err(format!("the argument `{}` is `{found}`, expected {expected}", self.name))
    }
}

fn is_text(value: &Value, most_chars: usize) -> bool {
    // A NUL ends texts where the operating system reads them.
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
