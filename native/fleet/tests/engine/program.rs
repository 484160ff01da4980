//! The server's program, which some tests need.

use std::path::{Path, PathBuf};

use onloop_fleet::engine::restate::find;

/// Returns its path; the panic says how to install it.
pub(crate) fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine");
    find(None, &folder).unwrap_or_else(|missing| panic!("{missing}"))
}
