//! The server's program, which the tests need that are not about a memory.

use std::path::{Path, PathBuf};

use onloop_fleet::engine::restate::find;

/// Where it is; a message says how to install it.
pub(crate) fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine");
    find(None, &folder).unwrap_or_else(|missing| panic!("{missing}"))
}
