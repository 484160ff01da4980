//! Changing a record, and saying so when the change is refused.

use crate::effect::{Exit, Io};
use crate::engine::store::{Store, StoreError};
use crate::run::Event;

/// Changes the run; durable after the next [`Store::commit`]. A refusal is said.
pub(crate) async fn apply(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    if let Err(refusal) = store.apply(event) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(())
}

/// Applies one event and makes it durable; a refusal is said in the words that agents match.
pub(crate) async fn change(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    let why = match store.apply(event) {
        Err(refusal) => refusal.to_string(),
        Ok(()) => match store.commit().await {
            Ok(()) => return Ok(()),
            Err(StoreError::Overtaken(refusal)) => refusal.to_string(),
            Err(error) => error.to_string(),
        },
    };
    io.note(format!("ERROR: {why}")).await;
    Err(Exit::Failed)
}
