//! What takes a run further, wherever it is conducted.

use crate::effect::Io;
use crate::engine::advice::{go_on, go_on_in_fleet};
use crate::engine::conduct_args::remembered_options;
use crate::engine::elsewhere::is_fleets;
use crate::engine::store::Paths;
use crate::run::Run;

/// The exact commands, for a person.
pub(crate) async fn what_takes_further(io: &Io, paths: &Paths, run: &Run) -> String {
    match is_fleets(io, paths).await {
        true => go_on_in_fleet(run),
        false => go_on(run, &remembered_options(io, paths).await),
    }
}
