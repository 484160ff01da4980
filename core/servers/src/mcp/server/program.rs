//! The programs behind the requests of clients.

use crate::mcp::{ClientRequest, Resource, ResourceKind, ToolProgram};
use onloop_effect::{Exit, Io, Program, Start};
use onloop_engine::error::verb_program;
use onloop_engine::lookup::select::RunName;
use onloop_engine::session::judged_paths::refuse_unreadable;
use onloop_verbs::status::record;
use onloop_verbs::{
    Performed, ReportArgs, StatusArgs, begin_driven, diff, explain_call, finalize, gate_for_agent,
    lint, next, receipt, report, resume, run, status, step, summary,
};

/// The program of a request.
pub(super) fn program(start: Start, work: ClientRequest) -> Program {
    verb_program(start, |io| async move {
        match work {
            ClientRequest::CallTool(_, Ok(call)) => {
                refuse_unreadable(&io, &named_files(&call.program)).await?;
                perform(&io, &call.program).await
            }
            // Refused, or handed to another job, before a program was made.
            ClientRequest::CallTool(_, Err(_)) | ClientRequest::Continue { .. } => Ok(Exit::Usage),
            ClientRequest::ListResources | ClientRequest::Complete(_) => {
                status(&io, &StatusArgs { run: RunName::default(), all: true, json: true }).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Record }) => {
                record(&io, &run_id).await
            }
            ClientRequest::Read(Resource { run_id, kind: ResourceKind::Report }) => {
                report(&io, &ReportArgs { run: Some(run_id).into(), ..ReportArgs::default() }).await
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

/// The verb of a tool.
fn perform<'a>(io: &'a Io, program: &'a ToolProgram) -> Performed<'a> {
    match program {
        ToolProgram::Run(args) => run(io, args),
        ToolProgram::Resume(args) => resume(io, args),
        ToolProgram::Stop(run_id) => Box::pin(async {
            let run = Some(run_id.clone()).into();
            status(io, &StatusArgs { run, all: false, json: true }).await
        }),
        ToolProgram::Begin(args) => begin_driven(io, args),
        ToolProgram::Status(args) => status(io, args),
        ToolProgram::Next(args) => next(io, args),
        ToolProgram::Step(args) => step(io, args),
        ToolProgram::Gate(args) => gate_for_agent(io, args),
        ToolProgram::Lint(args) => lint(io, args),
        ToolProgram::Explain(args) => explain_call(io, args),
        ToolProgram::Report(args) => report(io, args),
        ToolProgram::Finalize(args) => finalize(io, args),
        ToolProgram::Summary(args) => summary(io, args),
        ToolProgram::Diff(args) => diff(io, args),
        ToolProgram::Receipt(args) => receipt(io, args),
    }
}
