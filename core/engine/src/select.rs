//! Which run is meant, and its record.

use crate::elsewhere::is_fleets;
use crate::find_run::{FoundRecord, find_all, foreign_copy, is_of, is_own};
use crate::foreign::{read_foreign, refuse_foreign};
use crate::rebuild;
use crate::store::{Paths, StateHome, Store, StoreError};
use onloop_effect::{Exit, Io};
use onloop_run::{Run, is_run_id};
use onloop_syntax::text;

/// Opens a record; failures are said.
pub async fn open(io: &Io, wanted: Option<&str>) -> Result<Store, Exit> {
    let Selected { id, store } = select(io, wanted).await?;
    if let Some(store) = store {
        return Ok(*store);
    }
    match Store::open(io, &id).await {
        Ok(store) => Ok(store),
        Err(error) => Err(refuse(io, &id, &error).await),
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
/// chooses among several, and never a foreign one.
pub(crate) async fn select(io: &Io, wanted: Option<&str>) -> Result<Selected, Exit> {
    let wanted = wanted.or_else(|| io.env("ONLOOP_RUN_ID")).or_else(|| io.env("HOTL_RUN_ID"));
    if let Some(id) = wanted.filter(|wanted| is_run_id(wanted)) {
        match is_own(io, id).await {
            Ok(true) => return Ok(Selected { id: id.to_owned(), store: None }),
            Ok(false) => {}
            Err(error) => return Err(refuse(io, id, &error).await),
        }
        if let Some((root, path)) = foreign_copy(io, id).await {
            return Err(match read_foreign(io, &root, id).await {
                Ok(_) => refuse_foreign(io, id, &path).await,
                // Damaged, or of a newer onloop: it could not be adopted either.
                Err(error) => {
                    io.note(format!("error: run {id}: {error}")).await;
                    (&error).into()
                }
            });
        }
    }
    let file = match wanted {
        Some(name) if io.stat(name).await.is_ok() => {
            Some(io.canonical(name).await.unwrap_or_else(|_| name.to_owned()))
        }
        Some(name) if is_handed_over(io, name).await => {
            io.note(format!(
                "error: run {name} was handed over to a fleet, and no worker has begun it yet\n  \
                 How it stands:\n    onloop fleet status"
            ))
            .await;
            return Err(Exit::Refused);
        }
        Some(name) => {
            let name = text::one_line(name);
            io.note(format!("ERROR: No HOTL run found for run_id: {name}")).await;
            io.note("  `onloop list` shows the runs that can be found from here.").await;
            return Err(Exit::Refused);
        }
        None => None,
    };
    let mut candidates = Vec::new();
    let mut foreign = Vec::new();
    for found in find_all(io).await {
        let meant =
            |run: &Run| !run.is_over() && file.as_deref().is_none_or(|file| is_of(run, file));
        match found.record {
            FoundRecord::Own(store) if meant(store.run()) => candidates.push(store),
            FoundRecord::Own(_) => {}
            FoundRecord::Foreign(Ok(record)) if meant(&record.run) => {
                foreign.push((found.id, record.path));
            }
            FoundRecord::Foreign(Ok(_)) => {}
            // A record that cannot be read may be the one that is meant.
            FoundRecord::Broken(error) | FoundRecord::Foreign(Err(error)) => {
                io.note(format!("warning: run {}: {error}", found.id)).await;
            }
        }
    }
    let one = if candidates.len() == 1 { candidates.pop() } else { None };
    if let Some(store) = one {
        return Ok(Selected { id: store.run().id.clone(), store: Some(store) });
    }
    if candidates.is_empty() {
        if let [(id, path)] = foreign.as_slice() {
            return Err(refuse_foreign(io, id, path).await);
        }
        io.note("ERROR: No active HOTL run found in .hotl/state/").await;
        for (id, _) in &foreign {
            io.note(format!("  foreign: {id}; take it over with: onloop adopt {id}")).await;
        }
        return Err(Exit::Refused);
    }
    let mut text = String::from(
        "ERROR: Multiple HOTL runs found in .hotl/state/. Select one with --run-id <run-id> or \
         HOTL_RUN_ID.\n",
    );
    for store in &candidates {
        let run = store.run();
        let (status, file) = (run.status.as_str(), &run.place.workflow_path);
        text += &format!("  - {} [{status}] workflow={file}\n", run.id);
    }
    io.note(text).await;
    Err(Exit::Refused)
}

/// Says why the record of run `id` cannot be used, and how to go on where it is damaged.
pub(crate) async fn refuse(io: &Io, id: &str, error: &StoreError) -> Exit {
    io.note(format!("error: run {id}: {error}")).await;
    if let StoreError::Unreadable(_) = error {
        io.note(rebuild::advice(id)).await;
    }
    error.into()
}
