//! From the input of a tool to the arguments of the program behind it.

use serde_json::json;

use super::parameter::CheckedArguments;
use super::{InputError, Tool, ToolProgram};
use onloop_engine::lookup::agent::AgentArgs;
use onloop_engine::lookup::select::RunName;
use onloop_engine::run::options::DriveArgs;
use onloop_run::{GateDecision, Mode, Platform};
use onloop_verbs::permit::ExplainArgs;
use onloop_verbs::{
    BeginArgs, DiffArgs, FinalizeArgs, GateArgs, LintArgs, LintFormat, NextArgs, ReceiptArgs,
    ReceiptFormat, ReportArgs, ResumeArgs, RunArgs, StatusArgs, StepAction, StepArgs, SummaryArgs,
};

impl Tool {
    pub(super) fn program(self, given: &CheckedArguments<'_>) -> Result<ToolProgram, InputError> {
        let run_id = || given.text("run_id").unwrap_or_default();
        let named = || RunName::from(given.text("run_id"));
        Ok(match self {
            Tool::Run => return run(given),
            Tool::Stop => ToolProgram::Stop(run_id()),
            Tool::Begin => ToolProgram::Begin(BeginArgs {
                file: given.text("file"),
                mode: given.text("mode").and_then(|word| word.parse().ok()),
                branch: given.text("branch"),
            }),
            Tool::Status => {
                ToolProgram::Status(StatusArgs { run: named(), all: given.flag("all"), json: true })
            }
            Tool::Next => ToolProgram::Next(NextArgs { run: named(), json: true, for_agent: true }),
            Tool::Step => ToolProgram::Step(step(given)),
            Tool::Gate => ToolProgram::Gate(gate(given)),
            Tool::Lint => ToolProgram::Lint(LintArgs {
                files: given.list("files"),
                format: LintFormat::Json,
                fix: false,
                deny_warnings: given.flag("deny_warnings"),
            }),
            Tool::PermitExplain => return explain(given),
            Tool::Report => {
                ToolProgram::Report(ReportArgs { run: named(), ..ReportArgs::default() })
            }
            Tool::Finalize => ToolProgram::Finalize(FinalizeArgs { run: named(), json: true }),
            Tool::Summary => ToolProgram::Summary(SummaryArgs {
                run: named(),
                json: false,
                platform: given.text("platform").and_then(|word| platform(&word)),
            }),
            Tool::Diff => ToolProgram::Diff(DiffArgs {
                run: named(),
                step: given.text("step"),
                stat: given.flag("stat"),
            }),
            Tool::Receipt => ToolProgram::Receipt(ReceiptArgs {
                run: named(),
                json: true,
                format: ReceiptFormat::Hotl,
                out: None,
            }),
        })
    }
}

fn step(given: &CheckedArguments<'_>) -> StepArgs {
    StepArgs {
        step: given.step(),
        action: match given.text("action").as_deref() {
            Some("start") => StepAction::Start,
            Some("verify") => StepAction::Verify,
            Some("retry") => StepAction::Retry,
            _ => StepAction::Block,
        },
        reason: given.text("reason"),
        run: given.text("run_id").into(),
        json: true,
    }
}

fn gate(given: &CheckedArguments<'_>) -> GateArgs {
    GateArgs {
        step: given.step(),
        decision: match given.text("decision").as_deref() {
            Some("approved") => GateDecision::Approved,
            _ => GateDecision::Rejected,
        },
        mode: Mode::Auto,
        reason: None,
        redo: false,
        seen: None,
        run: given.text("run_id").into(),
        no_continue: false,
        json: true,
    }
}

fn platform(word: &str) -> Option<Platform> {
    Some(match word {
        "claude" => Platform::Claude,
        "codex" => Platform::Codex,
        "cline" => Platform::Cline,
        _ => return None,
    })
}

fn run(given: &CheckedArguments<'_>) -> Result<ToolProgram, InputError> {
    let drive = DriveArgs {
        agent: AgentArgs { agent: given.text("agent"), ..AgentArgs::default() },
        agent_timeout: given.text("agent_timeout"),
        verify_timeout: given.text("verify_timeout"),
        json: true,
        ..DriveArgs::default()
    };
    let Some(id) = given.text("run_id") else {
        let mode = given.text("mode");
        return Ok(ToolProgram::Run(RunArgs {
            file: given.text("file"),
            drive,
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
    Ok(ToolProgram::Resume(ResumeArgs { run: Some(id).into(), drive, ..ResumeArgs::default() }))
}

fn explain(given: &CheckedArguments<'_>) -> Result<ToolProgram, InputError> {
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
