//! Where the hands-off sessions of this machine are: a file for each in the state home.

use crate::state::store::StateHome;
use onloop_documents::session_place::{self, SessionPlace};
use onloop_effect::{Durability, Expect, Io};
use onloop_syntax::limits;

/// Remembers where a session is. Where that fails it can be found in its folder alone.
pub(crate) async fn remember(io: &Io, place: &SessionPlace) {
    let Ok(home) = StateHome::of(io) else { return };
    let path = home.session(&place.folder, place.id.as_str());
    let bytes = session_place::write(place);
    let _ = io.write(&path, bytes, Expect::Any, Durability::Durable).await;
}

/// Forgets where the session `id` is whose file lay below `folder`.
pub async fn forget(io: &Io, folder: &str, id: &str) {
    if let Ok(home) = StateHome::of(io) {
        let _ = io.remove(&home.session(folder, id)).await;
    }
}

/// Whether the session `id` is remembered, whose file lies below `folder`.
pub async fn is_known(io: &Io, folder: &str, id: &str) -> bool {
    let Ok(home) = StateHome::of(io) else { return false };
    let folder = io.canonical(folder).await.unwrap_or_else(|_| folder.to_owned());
    io.stat(&home.session(&folder, id)).await.is_ok()
}

/// Forgets the same, and says whether it was known.
pub async fn forget_known(io: &Io, folder: &str, id: &str) -> bool {
    let is_known = is_known(io, folder, id).await;
    if is_known {
        forget(io, folder, id).await;
    }
    is_known
}

/// The places that are remembered, the newest first. What is beyond [`limits::SESSION_PLACES`] is
/// forgotten: those sessions are found in their folders alone.
pub async fn all(io: &Io) -> Vec<SessionPlace> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let mut places = Vec::new();
    let names = io.list(&home.sessions()).await.unwrap_or_default();
    for name in names.iter().filter(|name| name.ends_with(".json")) {
        let path = format!("{}/{name}", home.sessions());
        let Ok((bytes, _)) = io.read(&path, limits::SESSION_BYTES).await else { continue };
        places.extend(session_place::read(&bytes));
    }
    places.sort_by(|a, b| b.began_at.cmp(&a.began_at).then_with(|| a.id.cmp(&b.id)));
    for place in places.split_off(places.len().min(limits::SESSION_PLACES)) {
        forget(io, &place.folder, place.id.as_str()).await;
    }
    places
}
