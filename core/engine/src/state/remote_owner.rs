//! Runs that a fleet conducts, as this machine knows them.

use crate::state::store::Paths;
use onloop_documents::fleet_run;
use onloop_effect::Io;
use onloop_syntax::limits;

/// Whether a fleet conducts the run.
pub(crate) async fn is_fleets(io: &Io, paths: &Paths) -> bool {
    io.stat(&paths.fleet()).await.is_ok()
}

/// The checkout of a fleet's run on this machine; `None`: there is none, or it is no fleet's.
pub(crate) async fn submitted_from(io: &Io, paths: &Paths) -> Option<String> {
    let (bytes, _) = io.read(&paths.fleet(), limits::RECORD_BYTES).await.ok()?;
    fleet_run::read(&bytes)?.root
}
