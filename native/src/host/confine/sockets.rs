//! Sockets with a path, wherever they lie.

use std::path::PathBuf;

use super::places::is_closed;

/// Every socket of this machine that has a path, is there, and is not closed to us anyway. A mount that cannot be written does
/// not keep anybody from connecting.
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
