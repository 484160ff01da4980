//! Folders for temporary files that a killed onloop has left. The state home, where no agent writes,
//! has a record of each folder and a lock that its process holds.

use crate::state::store::StateHome;
use onloop_effect::{Durability, Expect, Failure, Io};

/// A record of a folder.
pub(super) struct Claim {
    record: String,
    /// What a command that uses the folder may write besides, as far as it is recorded.
    pub(super) writes: Vec<String>,
    /// Files in there that it does not write, with what was in them before.
    pub(super) kept: Vec<String>,
}

impl Claim {
    /// Whether `path` was there before, whatever is in it now.
    pub(super) fn has_kept(&self, path: &str) -> bool {
        self.kept.iter().any(|kept| kept.split_once(' ').is_some_and(|(_, kept)| kept == path))
    }

    /// Whether the program that made it still runs, or what repairs in its place. What cannot be read
    /// counts.
    pub(super) async fn is_held(&self, io: &Io) -> bool {
        let holder = io.holder(&lock_of(&self.record)).await;
        holder.map_or(true, |holder| holder.is_some_and(|holder| holder.live))
    }
}

/// Records that this program uses `folder`, until [`release`], for a command that may write `writes`; `kept`
/// are things in there as they were before. Without a state home nothing is recorded.
///
/// # Errors
///
/// Those of the state home.
pub(crate) async fn claim(
    io: &Io,
    folder: &str,
    writes: &[String],
    kept: &[String],
) -> Result<(), Failure> {
    let Some(record) = record_of(io, folder) else { return Ok(()) };
    // The lock comes first: a sweep removes the folder of a record without one.
    io.lock(&lock_of(&record), 0).await?;
    let words = [folder].into_iter().chain(writes.iter().map(String::as_str));
    let words = words.chain([""]).chain(kept.iter().map(String::as_str));
    let bytes = words.collect::<Vec<_>>().join("\0").into_bytes();
    io.write_private(&record, bytes, Expect::Any, Durability::Relaxed).await.map(drop)
}

/// Takes back [`claim`], once the folder is removed.
pub(crate) async fn release(io: &Io, folder: &str) {
    let Some(record) = record_of(io, folder) else { return };
    if io.stat(&record).await.is_err() || io.stat(folder).await.is_ok() {
        return;
    }
    forget(io, &record).await;
}

/// The records.
///
/// # Errors
///
/// When one that is there cannot be read.
pub(super) async fn claims(io: &Io) -> Result<Vec<Claim>, Failure> {
    let mut claims = Vec::new();
    for record in records(io).await? {
        match io.read(&record, RECORD_BYTES).await {
            Ok((bytes, _)) => {
                let text = String::from_utf8_lossy(&bytes);
                let mut words = text.split('\0').skip(1).map(str::to_owned);
                let writes = words.by_ref().take_while(|word| !word.is_empty()).collect();
                claims.push(Claim { record, writes, kept: words.collect() });
            }
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(claims)
}

/// The folders that are there though the program that made them is not.
pub async fn found(io: &Io) -> Vec<String> {
    let mut left = Vec::new();
    for record in records(io).await.unwrap_or_default() {
        if let Some(folder) = abandoned(io, &record).await {
            left.push(folder);
            let _ = io.unlock(&lock_of(&record)).await;
        }
    }
    left
}

/// Removes what [`found`] finds, and returns it.
pub async fn sweep(io: &Io) -> Vec<String> {
    let mut removed = Vec::new();
    for record in records(io).await.unwrap_or_default() {
        let Some(folder) = abandoned(io, &record).await else { continue };
        match io.remove(&folder).await {
            Ok(()) => {
                forget(io, &record).await;
                removed.push(folder);
            }
            // The next sweep tries again.
            Err(_) => drop(io.unlock(&lock_of(&record)).await),
        }
    }
    removed
}

/// The folder of a record, if it is there and its program is not; its lock is held then.
async fn abandoned(io: &Io, record: &str) -> Option<String> {
    io.lock(&lock_of(record), 0).await.ok()?;
    let bytes = io.read(record, RECORD_BYTES).await.map(|(bytes, _)| bytes);
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let folder = text.and_then(|text| text.split('\0').next().map(str::to_owned));
    // Only what this record is about is ever removed.
    let folder = folder.filter(|folder| record_of(io, folder).as_deref() == Some(record));
    match folder {
        Some(folder) if io.stat(&folder).await.is_ok() => Some(folder),
        Some(_) | None => {
            forget(io, record).await;
            None
        }
    }
}

/// Most bytes of a record.
const RECORD_BYTES: u64 = 1024 * 1024;

async fn records(io: &Io) -> Result<Vec<String>, Failure> {
    let Some(home) = records_folder(io) else { return Ok(Vec::new()) };
    let names = match io.list(&home).await {
        Err(failure) if failure.is_not_found() => Vec::new(),
        names => names?,
    };
    let records = names.iter().filter(|name| is_ours(name));
    Ok(records.map(|name| format!("{home}/{name}")).collect())
}

async fn forget(io: &Io, record: &str) {
    let lock = lock_of(record);
    let _ = io.remove(record).await;
    let _ = io.unlock(&lock).await;
    let _ = io.remove(&lock).await;
}

/// The record of a folder for temporary files; `None`: of others there is none.
fn record_of(io: &Io, folder: &str) -> Option<String> {
    let name = folder.strip_prefix('/')?.rsplit('/').next().filter(|name| is_ours(name))?;
    Some(format!("{}/{name}", records_folder(io)?))
}

/// Where the records are.
pub(super) fn records_folder(io: &Io) -> Option<String> {
    StateHome::of(io).ok().map(|home| format!("{}/temporary", home.folder()))
}

fn lock_of(record: &str) -> String {
    format!("{record}.lock")
}

/// Whether it is a name of `temporary_name`.
fn is_ours(name: &str) -> bool {
    let digits = name.strip_prefix("onloop-").unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
