//! Where a session began: its checkout, and the folder whose configuration decides about its calls.
//!
//! A client may call a hook from any folder that the agent has changed to. There the agent can have
//! written a configuration, and a repository whose settings run.

use crate::git::checkout::{self, Checkout};
use crate::session::workspace::is_project;
use crate::state::session_places;
use onloop_effect::{Io, is_within};
use onloop_sessions::handsoff::SessionId;

/// Where a session began, as far as it is known.
#[derive(Clone, Debug)]
pub struct SessionOrigin {
    /// The checkout that the agent works in.
    pub checkout: Option<Checkout>,
    /// The folder whose configuration decides, with what is above it.
    pub top: String,
    /// The checkout is below another one, and it is not known that the session began in it: an agent
    /// may have made it.
    pub is_nested: bool,
}

impl SessionOrigin {
    /// A session that began in `folder`.
    pub async fn at(io: &Io, folder: &str) -> SessionOrigin {
        let checkout = checkout::own(io, folder).await;
        let top = folder.trim_end_matches('/').to_owned();
        SessionOrigin { checkout, top, is_nested: false }
    }

    /// A session whose hook runs in `folder`; the client does not say where it began.
    pub async fn around(io: &Io, folder: &str, session: Option<&SessionId>) -> SessionOrigin {
        let Some(checkout) = checkout::own(io, folder).await else {
            let top = folder.trim_end_matches('/').to_owned();
            return SessionOrigin { checkout: None, top, is_nested: false };
        };
        let outermost = outermost(io, &checkout).await;
        let top = outermost.as_ref().map_or(&checkout.root, |outer| &outer.root).clone();
        if top == folder.trim_end_matches('/') {
            return SessionOrigin { checkout: Some(checkout), top, is_nested: false };
        }
        if let Some(began) = began_in(io, session).await.filter(|began| is_within(began, &top)) {
            return SessionOrigin::at(io, &began).await;
        }
        let is_nested = match &outermost {
            Some(outer) => !checkout.has_settings_of(io, outer).await,
            None => false,
        };
        SessionOrigin { checkout: Some(checkout), top, is_nested }
    }
}

/// The top of the outermost checkout around `folder`, or `folder` itself.
pub async fn top_folder(io: &Io, folder: &str) -> String {
    SessionOrigin::around(io, folder, None).await.top
}

/// The outermost checkout around another one; not one around homes, in which everything would be.
async fn outermost(io: &Io, checkout: &Checkout) -> Option<Checkout> {
    let mut found: Option<Checkout> = None;
    loop {
        let root = &found.as_ref().unwrap_or(checkout).root;
        let above = root.rsplit_once('/').map(|(above, _)| above).filter(|at| !at.is_empty())?;
        let Some(outer) = checkout::own(io, above).await else { return found };
        if !is_project(&outer.root, io.env("HOME")) {
            return found;
        }
        found = Some(outer);
    }
}

/// Where the record of the session says that it began.
async fn began_in(io: &Io, session: Option<&SessionId>) -> Option<String> {
    let session = session?;
    let places = session_places::all(io).await;
    places.into_iter().find(|place| place.id == *session).map(|place| place.cwd)
}
