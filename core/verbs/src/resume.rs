//! `onloop resume`: continue a run that was interrupted, paused or blocked.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::resume::resume_run;
pub use onloop_engine::run::resume::{Interrupted, ResumeArgs};

/// `onloop resume`.
///
/// # Errors
///
/// The run cannot begin or continue.
pub async fn resume(io: &Io, args: &ResumeArgs) -> Result<Exit, CommandError> {
    resume_run(io, args).await
}
