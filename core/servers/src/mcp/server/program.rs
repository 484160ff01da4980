//! The programs behind the requests of clients.

use std::pin::Pin;

use crate::mcp::{ClientRequest, Resource, ResourceKind, ToolProgram};
use onloop_effect::{Exit, Io, Program, Start};
use onloop_engine::error::{CommandError, verb_program};
use onloop_engine::lookup::select::RunName;
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

/// The future of a tool: on the heap, so that the stack holds none of them.
fn perform<'a>(
    io: &'a Io,
    program: &'a ToolProgram,
) -> Pin<Box<dyn Future<Output = Result<Exit, CommandError>> + 'a>> {
    match program {
        ToolProgram::Run(args) => Box::pin(run(io, args)),
        ToolProgram::Resume(args) => Box::pin(resume(io, args)),
        ToolProgram::Stop(run_id) => Box::pin(async {
            let run = Some(run_id.clone()).into();
            status(io, &StatusArgs { run, all: false, json: true }).await
        }),
        ToolProgram::Begin(args) => Box::pin(begin_driven(io, args)),
        ToolProgram::Status(args) => Box::pin(status(io, args)),
        ToolProgram::Next(args) => Box::pin(next(io, args)),
        ToolProgram::Step(args) => Box::pin(step(io, args)),
        ToolProgram::Gate(args) => Box::pin(gate_for_agent(io, args)),
        ToolProgram::Lint(args) => Box::pin(lint(io, args)),
        ToolProgram::Explain(args) => Box::pin(explain_call(io, args)),
        ToolProgram::Report(args) => Box::pin(report(io, args)),
        ToolProgram::Finalize(args) => Box::pin(finalize(io, args)),
        ToolProgram::Summary(args) => Box::pin(summary(io, args)),
        ToolProgram::Diff(args) => Box::pin(diff(io, args)),
        ToolProgram::Receipt(args) => Box::pin(receipt(io, args)),
    }
}
