//! `onloop resume`: continue a run that was interrupted, paused or blocked.

use crate::effect::{Exit, Io};
use crate::engine::error::CommandError;
use crate::engine::resume_run::resume_run;
pub use crate::engine::resume_run::{Interrupted, ResumeArgs};

/// `onloop resume`.
///
/// # Errors
///
/// The run cannot begin or continue.
pub async fn resume(io: &Io, args: &ResumeArgs) -> Result<Exit, CommandError> {
    resume_run(io, args).await
}
