//! Which run is meant, and its record.

use crate::error::{CommandError, unusable_record};
use crate::lookup::runs::{FoundRecord, find_all, is_of, is_own, untrusted_copy};
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, StateHome, Store};
use crate::state::untrusted::{read_untrusted, untrusted_run};
use onloop_effect::Io;
use onloop_run::{Run, is_run_id};
use onloop_syntax::text;

/// Opens the record of the run that is meant.
pub async fn open(io: &Io, wanted: Option<&str>) -> Result<Store, CommandError> {
    let Selected { id, store } = select(io, wanted).await?;
    match store {
        Some(store) => Ok(*store),
        None => Store::open(io, &id).await.map_err(|error| unusable_record(&id, error)),
    }
}

/// The run that is meant.
pub(crate) struct Selected {
    /// Its id.
    pub(crate) id: String,
    /// Its record, where that had to be read in order to tell.
    pub(crate) store: Option<Box<Store>>,
}

/// Whether this machine has handed a run of this name over to a fleet.
async fn is_handed_over(io: &Io, name: &str) -> bool {
    let Some(home) = StateHome::of(io).ok().filter(|_| is_run_id(name)) else { return false };
    is_fleets(io, &Paths::new(&home, "", name)).await
}

/// The one run that is meant: by id, by workflow file, or the only unfinished one. Never
/// chooses among several, and never a untrusted one.
pub(crate) async fn select(io: &Io, wanted: Option<&str>) -> Result<Selected, CommandError> {
    let wanted = wanted.or_else(|| io.env("ONLOOP_RUN_ID")).or_else(|| io.env("HOTL_RUN_ID"));
    if let Some(id) = wanted.filter(|wanted| is_run_id(wanted)) {
        match is_own(io, id).await {
            Ok(true) => return Ok(Selected { id: id.to_owned(), store: None }),
            Ok(false) => {}
            Err(error) => return Err(unusable_record(id, error)),
        }
        if let Some((root, path)) = untrusted_copy(io, id).await {
            return Err(match read_untrusted(io, &root, id).await {
                Ok(_) => untrusted_run(id, &path),
                // Damaged, or of a newer onloop: it could not be adopted either.
                Err(error) => {
                    CommandError::from(error).context(format!("run `{id}` cannot be read"))
                }
            });
        }
    }
    let file = match wanted {
        Some(name) if io.stat(name).await.is_ok() => {
            Some(io.canonical(name).await.unwrap_or_else(|_| name.to_owned()))
        }
        Some(name) if is_handed_over(io, name).await => {
            let what =
                format!("run `{name}` was handed over to a fleet, and no worker has begun it yet");
            return Err(
                CommandError::refused(what).fix_by("see how it stands", "onloop fleet status")
            );
        }
        Some(name) => {
            let what = format!("no HOTL run found for run_id: `{}`", text::one_line(name));
            return Err(CommandError::refused(what)
                .fix_by("list the runs that can be found from here", "onloop list"));
        }
        None => None,
    };
    let mut candidates = Vec::new();
    let mut untrusted = Vec::new();
    for found in find_all(io).await {
        let meant =
            |run: &Run| !run.is_over() && file.as_deref().is_none_or(|file| is_of(run, file));
        match found.record {
            FoundRecord::Own(store) if meant(store.run()) => candidates.push(store),
            FoundRecord::Own(_) => {}
            FoundRecord::Untrusted(Ok(record)) if meant(&record.run) => {
                untrusted.push((found.id, record.path));
            }
            FoundRecord::Untrusted(Ok(_)) => {}
            // A record that cannot be read may be the one that is meant.
            FoundRecord::Broken(error) | FoundRecord::Untrusted(Err(error)) => {
                io.note(format!("warning: run {}: {error}", found.id)).await;
            }
        }
    }
    let one = if candidates.len() == 1 { candidates.pop() } else { None };
    if let Some(store) = one {
        return Ok(Selected { id: store.run().id.clone(), store: Some(store) });
    }
    if candidates.is_empty() {
        if let [(id, path)] = untrusted.as_slice() {
            return Err(untrusted_run(id, path));
        }
        let none = CommandError::refused("no active HOTL run found in .hotl/state/");
        return Err(untrusted.iter().fold(none, |error, (id, _)| {
            error
                .fix_by(format!("take over the untrusted run `{id}`"), format!("onloop adopt {id}"))
        }));
    }
    let lines = candidates.iter().map(|store| {
        let run = store.run();
        let (status, file) = (run.status.as_str(), &run.place.workflow_path);
        format!("- {} [{status}] workflow={file}", run.id)
    });
    Err(CommandError::refused("multiple HOTL runs found in .hotl/state/")
        .listing(lines)
        .fix("select one with --run-id <run-id> or HOTL_RUN_ID"))
}
