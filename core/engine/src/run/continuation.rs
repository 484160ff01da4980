//! The commands that continue a run, wherever it is driven.

use crate::run::advice::{next_commands, next_commands_in_fleet};
use crate::state::remote_owner::is_fleets;
use crate::state::store::Paths;
use onloop_effect::Io;
use onloop_run::Run;

/// The exact commands, for a person.
pub async fn what_takes_further(io: &Io, paths: &Paths, run: &Run) -> String {
    match is_fleets(io, paths).await {
        true => next_commands_in_fleet(run),
        false => next_commands(run),
    }
}
