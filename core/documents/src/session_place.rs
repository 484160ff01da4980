//! `sessions/<key>.json` in the state home: where a hands-off session is, so that the sessions of all
//! folders can be found from one place. Written once, when a session begins.

use serde::{Deserialize, Serialize};

use super::document;
use onloop_sessions::handsoff::SessionId;
use onloop_sessions::hooks::Host;
use onloop_syntax::time::Timestamp;

/// Name and version of the format.
const SCHEMA: &str = "onloop.session-place/v1";

/// Where a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    /// The session.
    pub id: SessionId,
    /// The folder below which its file lies.
    pub folder: String,
    /// The folder in which its agent was started.
    pub cwd: String,
    /// The program that runs its agent.
    pub host: Host,
    /// When it began.
    pub began_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct PlaceDocument {
    schema: String,
    session_id: String,
    folder: String,
    cwd: String,
    host: String,
    began_at: String,
}

/// A place as a document.
pub fn write(place: &SessionPlace) -> Vec<u8> {
    let document = PlaceDocument {
        schema: SCHEMA.to_owned(),
        session_id: place.id.to_string(),
        folder: place.folder.clone(),
        cwd: place.cwd.clone(),
        host: place.host.as_str().to_owned(),
        began_at: place.began_at.to_rfc3339(),
    };
    document::line(&document)
}

/// The place in a document; `None` if it is damaged or of another version. It only leads to a session,
/// so nothing is lost but the way there.
pub fn read(bytes: &[u8]) -> Option<SessionPlace> {
    let document: PlaceDocument = serde_json::from_slice(bytes).ok()?;
    let is_known = document.schema == SCHEMA && document.folder.starts_with('/');
    Some(SessionPlace {
        id: SessionId::new(&document.session_id).filter(|_| is_known)?,
        folder: document.folder,
        cwd: document.cwd,
        host: document.host.parse().ok()?,
        began_at: Timestamp::parse(&document.began_at)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is() {
        let place = SessionPlace {
            id: SessionId::new("s1").unwrap(),
            folder: "/srv/shop".to_owned(),
            cwd: "/srv/shop/src".to_owned(),
            host: Host::Codex,
            began_at: Timestamp::EPOCH,
        };
        let bytes = write(&place);
        assert_eq!(read(&bytes), Some(place));
        let text = String::from_utf8(bytes).unwrap();
        for damaged in [
            text.replace("v1", "v2"),
            text.replace("codex", "emacs"),
            text.replace("\"s1\"", "\"../s1\""),
            text.replace("/srv/shop\"", "shop\""),
            String::new(),
        ] {
            assert_eq!(read(damaged.as_bytes()), None, "{damaged}");
        }
    }
}
