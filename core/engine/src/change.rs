//! Changing a record, and saying so when the change is refused.

use crate::instruction::fits_now;
use crate::notify;
use crate::store::{Store, StoreError};
use onloop_effect::{Exit, Io};
use onloop_run::{Decider, Event};

/// Changes the run, as `by` decided; durable after the next [`Store::commit`]. A refusal is said.
pub(crate) async fn apply(
    io: &Io,
    store: &mut Store,
    event: Event,
    by: Option<Decider>,
) -> Result<(), Exit> {
    if let Err(refusal) = store.apply_by(event, by) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(())
}

/// Applies one event and makes it durable; a refusal is said in the words that agents match.
pub async fn change(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    change_by(io, store, event, None).await
}

/// As [`change`], of something that `by` decided.
pub async fn change_by(
    io: &Io,
    store: &mut Store,
    event: Event,
    by: Option<Decider>,
) -> Result<(), Exit> {
    let why = match store.apply_by(event, by) {
        Err(refusal) => refusal.to_string(),
        Ok(()) => match store.commit().await {
            Ok(()) => {
                notify::tell(io, store).await;
                return Ok(());
            }
            Err(StoreError::Overtaken(refusal)) => refusal.to_string(),
            Err(error) => error.to_string(),
        },
    };
    Err(refuse(io, store, &why).await)
}

/// Says why a verb does not do what was asked for, how the run stands, and what fits now.
pub async fn refuse(io: &Io, store: &Store, why: &str) -> Exit {
    io.note(format!("ERROR: {why}\n{}", fits_now(store.run()))).await;
    Exit::Failed
}
