//! Records of runs survive the removal of the worktree that they lie in.

use onloop_effect::{Durability, Expect, Failure, FailureKind, FileKind, Io, OptionalExt};
use onloop_syntax::limits;

/// Copies what runs recorded in the worktree `from` to the checkout `to`, except for record
/// and report of the run `except`. Copying again what was copied before changes nothing.
pub async fn rescue_records(
    io: &Io,
    from: &str,
    to: &str,
    except: Option<&str>,
) -> Result<(), Failure> {
    let mut folders: Vec<String> = ["state", "reports", "logs", "evidence"]
        .iter()
        .map(|name| format!(".hotl/{name}"))
        .collect();
    while let Some(folder) = folders.pop() {
        let names = io.list(&format!("{from}/{folder}")).await.optional()?.unwrap_or_default();
        for name in names {
            let relative = format!("{folder}/{name}");
            if except.is_some_and(|id| is_record_of(id, &relative)) {
                continue;
            }
            let source = format!("{from}/{relative}");
            match io.stat(&source).await?.kind {
                FileKind::Folder => folders.push(relative),
                FileKind::File => rescue_file(io, &source, &format!("{to}/{relative}")).await?,
                // Never ours.
                FileKind::Link | FileKind::Other => {}
            }
        }
    }
    Ok(())
}

async fn rescue_file(io: &Io, source: &str, target: &str) -> Result<(), Failure> {
    let (bytes, _) = io.read(source, limits::RECORD_BYTES).await?;
    match io.write(target, bytes.clone(), Expect::Absent, Durability::Durable).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_exists() => {
            let (present, _) = io.read(target, limits::RECORD_BYTES).await?;
            if present == bytes {
                return Ok(());
            }
            let message = format!("`{target}` exists with other content");
            Err(Failure::new(FailureKind::Exists, message))
        }
        Err(failure) => Err(failure),
    }
}

fn is_record_of(id: &str, relative: &str) -> bool {
    [".hotl/state/{}.json", ".hotl/state/{}.journal", ".hotl/reports/{}.md"]
        .iter()
        .any(|pattern| pattern.replace("{}", id) == relative)
}
