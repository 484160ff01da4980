//! `onloop resume`: continue a run that was interrupted, paused or blocked.

use crate::completion::complete;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::resume::resume_run;
pub use onloop_engine::run::resume::{Interrupted, ResumeArgs};

/// `onloop resume`.
///
/// # Errors
///
/// The run cannot continue, or what becomes of its work cannot be carried out.
pub(crate) async fn resume(io: &Io, args: &ResumeArgs) -> Result<Exit, CommandError> {
    let end = resume_run(io, args).await?;
    complete(io, end, &args.drive).await
}
