//! Records of runs survive the removal of the worktree that they lie in.

use crate::state::store::{Paths, StateHome};
use onloop_effect::{Durability, Expect, Failure, FailureKind, FileKind, Io, OptionalExt};
use onloop_run::is_run_id;
use onloop_syntax::limits;

/// Copies what runs recorded in the worktree `from` to the checkout `to`, except for record
/// and report of the run `except`. Copying again what was copied before changes nothing. Of a run
/// whose ledger is here, record and report are copies, so the present ones replace earlier ones.
///
/// # Errors
///
/// Those of the host; or `to` has a file of that name with other content.
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
                FileKind::File => {
                    let is_copy = has_ledger(io, &relative).await?;
                    rescue_file(io, &source, &format!("{to}/{relative}"), is_copy).await?;
                }
                // Never ours.
                FileKind::Link | FileKind::Other => {}
            }
        }
    }
    Ok(())
}

async fn rescue_file(io: &Io, source: &str, target: &str, is_copy: bool) -> Result<(), Failure> {
    let (bytes, _) = io.read(source, limits::RECORD_BYTES).await?;
    let expect = if is_copy { Expect::Any } else { Expect::Absent };
    match io.write(target, bytes.clone(), expect, Durability::Durable).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_exists() => {
            let (present, _) = io.read(target, limits::RECORD_BYTES).await?;
            if present == bytes {
                return Ok(());
            }
            let message = format!(
                "`{target}` exists with other content; move it away, then run the command again"
            );
            Err(Failure::new(FailureKind::Exists, message))
        }
        Err(failure) => Err(failure),
    }
}

/// Names of a run's record and report, before and after its id.
const RECORDS: [(&str, &str); 3] =
    [(".hotl/state/", ".json"), (".hotl/state/", ".journal"), (".hotl/reports/", ".md")];

/// The run whose record or report this is, by its name.
fn run_of(relative: &str) -> Option<&str> {
    let id = |(start, end): &(&str, &str)| relative.strip_prefix(start)?.strip_suffix(end);
    RECORDS.iter().find_map(id)
}

fn is_record_of(id: &str, relative: &str) -> bool {
    run_of(relative) == Some(id)
}

/// Whether this is the record or report of a run whose ledger is here.
async fn has_ledger(io: &Io, relative: &str) -> Result<bool, Failure> {
    let Some(id) = run_of(relative).filter(|id| is_run_id(id)) else { return Ok(false) };
    let Ok(home) = StateHome::of(io) else { return Ok(false) };
    let ledger = Paths::new(&home, "", id).ledger();
    Ok(io.stat(&ledger).await.optional()?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Exit;
    use onloop_testing::MemoryHost;

    #[test]
    fn copies_of_records_are_replaced_and_other_files_are_not() {
        let report = ".hotl/reports/x-1.md";
        let state = ".hotl/state/x-1.json";
        let mut host = MemoryHost::with_files([
            ("/state/runs/x-1/ledger.jsonl".to_owned(), "{}"),
            (format!("work/{report}"), "new"),
            (format!("work/{state}"), "new"),
            (format!("main/{report}"), "old"),
        ]);
        let rescued = async |io: Io| match rescue_records(&io, "work", "main", None).await {
            Ok(()) => Exit::Done,
            Err(failure) => {
                io.note(failure.message).await;
                Exit::Refused
            }
        };
        assert_eq!(host.run(rescued), Exit::Done, "{}", host.stderr);
        assert_eq!(host.files[&format!("main/{report}")], b"new");
        assert_eq!(host.files[&format!("main/{state}")], b"new");
        // Without a ledger it may be the only record of its run.
        host.files.remove("/state/runs/x-1/ledger.jsonl");
        host.files.insert(format!("work/{report}"), b"newer".to_vec());
        assert_eq!(host.run(rescued), Exit::Refused);
        assert!(host.stderr.contains("`main/.hotl/reports/x-1.md` exists"), "{}", host.stderr);
        assert_eq!(host.files[&format!("main/{report}")], b"new");
    }
}
