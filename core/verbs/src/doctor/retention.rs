//! How much the files of runs take in the state home, and which of them are old enough to go.

use onloop_effect::{Failure, FileKind, Io, OptionalExt};
use onloop_engine::lookup::runs::find_everywhere;
use onloop_engine::state::store::StateHome;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// What goes of the folder of a run. Its ledger, its evidence and what names it stay.
const LOGS: [&str; 5] = ["logs", "hooks", "prompts", "index", "driver.log"];

/// Whether something of the time `at` is kept no longer.
pub(super) fn is_over(now: Timestamp, at: Timestamp, days: u32) -> bool {
    now.millis_since(at) > u64::from(days) * 24 * 60 * 60 * 1000
}

/// Removes the logs of runs that have been finished for `days`.
pub(super) async fn remove_logs(io: &Io, days: u32) -> Result<(), Failure> {
    let mut removed_bytes = 0;
    let mut runs = 0;
    for folder in old_runs(io, days).await {
        let mut is_one = false;
        for name in LOGS {
            let path = format!("{folder}/{name}");
            let bytes = size_bytes(io, path.clone()).await;
            if io.remove(&path).await.optional()?.is_some() {
                removed_bytes += bytes;
                is_one = true;
            }
        }
        runs += u64::from(is_one);
    }
    if runs > 0 {
        let (size, runs) = (size(removed_bytes), text::counted(runs, "finished run"));
        io.result(format!("Removed the logs of {runs} older than {days} days: {size}\n")).await;
    }
    Ok(())
}

/// How much the runs of the state home take, on one line; `None`: there are none.
pub(super) async fn line(io: &Io, days: u32) -> Option<String> {
    let home = StateHome::of(io).ok()?;
    let count = io.list(&home.runs()).await.ok()?.len() as u64;
    let mut old_bytes = 0;
    for folder in old_runs(io, days).await {
        for name in LOGS {
            old_bytes += size_bytes(io, format!("{folder}/{name}")).await;
        }
    }
    let (total, runs) = (size(size_bytes(io, home.runs()).await), text::counted(count, "run"));
    let rest = match old_bytes {
        0 => String::new(),
        bytes => format!("; `onloop doctor --prune` removes logs of {}", size(bytes)),
    };
    (count > 0).then(|| format!("{total} are in use by {runs}{rest}"))
}

/// The folders of runs that have been finished for `days`.
async fn old_runs(io: &Io, days: u32) -> Vec<String> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let mut folders = Vec::new();
    for found in find_everywhere(io).await {
        if let Ok(run) = found.run()
            && run.is_over()
            && is_over(io.now(), run.last_update, days)
        {
            folders.push(format!("{}/{}", home.runs(), run.id));
        }
    }
    folders
}

/// The bytes of a file, or of all files below a folder.
async fn size_bytes(io: &Io, path: String) -> u64 {
    let (mut total, mut rest) = (0_u64, vec![path]);
    while let Some(path) = rest.pop() {
        let Ok(stat) = io.stat(&path).await else { continue };
        match stat.kind {
            FileKind::Folder => {
                let names = io.list(&path).await.unwrap_or_default();
                rest.extend(names.iter().map(|name| format!("{path}/{name}")));
            }
            FileKind::File => total = total.saturating_add(stat.size_bytes),
            FileKind::Link | FileKind::Other => {}
        }
    }
    total
}

/// `12.3 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}
