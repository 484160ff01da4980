//! Unix sockets with a path.

use std::path::PathBuf;

use super::paths::is_closed;

/// Returns every Unix socket with a path that we can access. A read-only mount does not prevent a
/// connection.
pub(super) fn with_a_path() -> Vec<PathBuf> {
    let Ok(table) = std::fs::read("/proc/net/unix") else { return Vec::new() };
    let mut paths: Vec<PathBuf> = in_table(&String::from_utf8_lossy(&table));
    paths.sort();
    paths.dedup();
    paths.retain(|path| path.symlink_metadata().is_ok_and(|found| !is_closed(path, &found)));
    paths
}

/// The eighth column; abstract names begin with `@`.
fn in_table(table: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let start = line.find(" /")? + 1;
        Some(PathBuf::from(&line[start..]))
    };
    table.lines().skip(1).filter_map(path).filter_map(|path| path.canonicalize().ok()).collect()
}
