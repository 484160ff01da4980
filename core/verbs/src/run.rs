//! `onloop run`: begin a run of a workflow file, drive it, and ask what becomes of its work.

use crate::completion::complete;
use crate::issue::Issue;
use crate::pull_request::demand_forge;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::start::{FoundIssue, run_workflow};
pub use onloop_engine::run::start::{RunArgs, RunsOn, no_fleet};
use onloop_syntax::text;

/// `onloop run`.
///
/// # Errors
///
/// The run cannot begin or continue, or what becomes of its work cannot be carried out.
pub(crate) async fn run(io: &Io, args: &RunArgs) -> Result<Exit, CommandError> {
    let mut args = args.clone();
    if let Some(name) = &args.issue {
        let issue = Issue::read(io, name).await?;
        io.note(format!("Issue: {}", text::one_line(issue.url()))).await;
        let (url, text) = (issue.url().to_owned(), issue.material());
        args.found_issue = Some(FoundIssue { url, text });
    }
    if args.pr {
        demand_forge(io).await?;
    }
    let end = run_workflow(io, &args).await?;
    match args.detach {
        true => Ok(end.exit),
        false => complete(io, end, &args.drive).await,
    }
}
