//! `onloop resume`: continue a run that was interrupted, paused or blocked.

use onloop_effect::{Exit, Io};
use onloop_engine::resume_run::resume_run;
pub use onloop_engine::resume_run::{Interrupted, ResumeArgs};

/// `onloop resume`.
pub async fn resume(io: &Io, args: &ResumeArgs) -> Exit {
    resume_run(io, args).await
}
