//! The programs behind the requests of clients.

use crate::mcp::{ClientRequest, Resource, ResourceKind, ToolProgram};
use onloop_effect::{Exit, Io, Program, Start};
use onloop_engine::error::{CommandError, verb_program};
use onloop_engine::session::judged_paths::refuse_unreadable;
use onloop_verbs::gate::gate_for_agent;
use onloop_verbs::permit::explain_call;
use onloop_verbs::status::record;
use onloop_verbs::{
    ReportArgs, StatusArgs, begin_driven, diff, finalize, lint, next, receipt, report, resume, run,
    status, step, summary,
};

/// The program of a request.
pub(super) fn program(start: Start, work: ClientRequest) -> Program {
    verb_program(start, |io| async move {
        match work {
            ClientRequest::CallTool(_, Ok(call)) => perform(&io, call.program).await,
            // Refused, or handed to another job, before a program was made.
            ClientRequest::CallTool(_, Err(_)) | ClientRequest::Continue { .. } => Ok(Exit::Usage),
            ClientRequest::ListResources | ClientRequest::Complete(_) => {
                status(&io, &StatusArgs { run_id: None, all: true, json: true }).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Record }) => {
                record(&io, &run_id).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Report }) => {
                report(&io, &ReportArgs { run_id, ..ReportArgs::default() }).await
            }
        }
    })
}

/// The files that a program reads because the agent names them.
fn named_files(program: &ToolProgram) -> Vec<&str> {
    match program {
        ToolProgram::Run(args) => args.file.iter().map(String::as_str).collect(),
        ToolProgram::Begin(args) => args.file.iter().map(String::as_str).collect(),
        ToolProgram::Lint(args) => args.files.iter().map(String::as_str).collect(),
        ToolProgram::Resume(_)
        | ToolProgram::Stop(_)
        | ToolProgram::Status(_)
        | ToolProgram::Next(_)
        | ToolProgram::Step(_)
        | ToolProgram::Gate(_)
        | ToolProgram::Explain(_)
        | ToolProgram::Report(_)
        | ToolProgram::Finalize(_)
        | ToolProgram::Summary(_)
        | ToolProgram::Diff(_)
        | ToolProgram::Receipt(_) => Vec::new(),
    }
}

async fn perform(io: &Io, program: ToolProgram) -> Result<Exit, CommandError> {
    refuse_unreadable(io, &named_files(&program)).await?;
    match program {
        ToolProgram::Run(args) => run(io, &args).await,
        ToolProgram::Resume(args) => resume(io, &args).await,
        ToolProgram::Stop(run_id) => {
            status(io, &StatusArgs { run_id: Some(run_id), all: false, json: true }).await
        }
        ToolProgram::Begin(args) => begin_driven(io, &args).await,
        ToolProgram::Status(args) => status(io, &args).await,
        ToolProgram::Next(args) => next(io, &args).await,
        ToolProgram::Step(args) => step(io, &args).await,
        ToolProgram::Gate(args) => gate_for_agent(io, &args).await,
        ToolProgram::Lint(args) => lint(io, &args).await,
        ToolProgram::Explain(args) => explain_call(io, &args).await,
        ToolProgram::Report(args) => report(io, &args).await,
        ToolProgram::Finalize(args) => finalize(io, &args).await,
        ToolProgram::Summary(args) => summary(io, &args).await,
        ToolProgram::Diff(args) => diff(io, &args).await,
        ToolProgram::Receipt(args) => receipt(io, &args).await,
    }
}
