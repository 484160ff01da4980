//! Following a run that a driver in the background drives, until it ends or waits.

use crate::error::CommandError;
use crate::run::driver_lock::driver_of;
use crate::run::ending::exit_of_run;
use crate::state::store::Store;
use onloop_effect::{Exit, Io, LockHolder, OptionalExt, ProcessRole};
use onloop_syntax::limits;

/// A driver that is killed changes no file, so its lock is looked at in this interval.
const LOOK_MS: u64 = 5_000;

/// The driver in the background that drives the run, if one does.
pub(super) async fn background_driver(io: &Io, store: &Store) -> Option<LockHolder> {
    let holder = driver_of(io, store.paths()).await?;
    (holder.role == Some(ProcessRole::Background)).then_some(holder)
}

/// Shows what `driver` writes from now on, and ends as the run does. An interrupt ends this program alone.
///
/// # Errors
///
/// The record of the run cannot be read.
pub(super) async fn attach(
    io: &Io,
    store: &Store,
    driver: &LockHolder,
) -> Result<Exit, CommandError> {
    let (id, paths) = (&store.run().id, store.paths());
    let log = paths.driver_log();
    io.note(format!(
        "Run {id} is driven in the background by process {}.\nIts output follows; Ctrl-C leaves it running, \
         and this ends it:\n  onloop stop {id}",
        driver.process.pid
    ))
    .await;
    let mut shown = io.stat(&log).await.optional()?.map_or(0, |stat| stat.size_bytes);
    loop {
        let is_driven = driver_of(io, paths).await.is_some();
        if let Some((bytes, size)) =
            io.read_tail(&log, limits::LOG_TAIL_BYTES as u64).await.optional()?
        {
            let new = usize::try_from(size.saturating_sub(shown)).unwrap_or(usize::MAX);
            let new = &bytes[bytes.len() - new.min(bytes.len())..];
            // The rest of a line comes later.
            let end = match is_driven {
                true => new.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1),
                false => new.len(),
            };
            if end > 0 {
                io.note(String::from_utf8_lossy(&new[..end]).into_owned()).await;
            }
            shown = size - (new.len() - end) as u64;
        }
        if !is_driven {
            break;
        }
        match io.changes(vec![paths.folder().to_owned()], LOOK_MS).await {
            Ok(_) => {}
            Err(failure) if failure.is_interrupted() => {
                io.note(format!("Run {id} is still driven in the background")).await;
                return Err(CommandError::interrupted());
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    let ended = Store::open(io, id).await?;
    Ok(if ended.run().is_interrupted() { Exit::Interrupted } else { exit_of_run(ended.run()) })
}
