//! The hands-off sessions that can be known of: those of which the state home says where they are,
//! those that are kept here, and in the folders in which runs work or were started.

use std::collections::{BTreeMap, BTreeSet};

use super::FileStamp;
use crate::git::checkout;
use crate::session::files::Sessions;
use crate::state::session_places;
use crate::state::store::StateHome;
use onloop_documents::approval::PendingCall;
use onloop_documents::audit_log::{AuditEntry, read_lines};
use onloop_documents::board::{self, RunCard, SessionCard, SessionFacts};
use onloop_documents::session_place::SessionPlace;
use onloop_effect::Io;
use onloop_sessions::handsoff::{Session, SessionId};
use onloop_syntax::limits;

/// Sessions that were looked at, by their files.
#[derive(Debug, Default)]
pub(super) struct KnownSessions {
    known: BTreeMap<String, (FileStamp, KnownSession)>,
    audit_log: KnownAudit,
    folders: Vec<String>,
}

/// What was read of a session.
#[derive(Debug)]
struct KnownSession {
    id: SessionId,
    home: String,
    read: Result<Session, String>,
    place: Option<SessionPlace>,
    links: (Option<String>, Option<String>),
}

impl KnownSession {
    /// Where the agent works: its file may lie in `AGENTIZE_HOME`.
    fn folder(&self) -> &str {
        self.place.as_ref().map_or(&self.home, |place| &place.cwd)
    }
}

/// What else there is on the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surrounding<'a> {
    pub(super) runs: &'a [RunCard],
    pub(super) calls: &'a [PendingCall],
}

impl KnownSessions {
    /// Looks at all of them; `roots` are folders of runs.
    pub(super) async fn look(
        &mut self,
        io: &Io,
        roots: BTreeSet<String>,
        around: Surrounding<'_>,
    ) -> Vec<SessionCard> {
        let remembered = session_places::all(io).await;
        let places = homes(io, roots, &remembered).await;
        let mut before = std::mem::take(&mut self.known);
        self.folders.clear();
        for place in &places {
            let mut found = Vec::new();
            for id in place.ids().await.unwrap_or_default() {
                let file = place.file(&id);
                let Ok(stat) = io.stat(&file).await else { continue };
                found.push((stat.modified, FileStamp::from(&stat), id, file));
            }
            found.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
            for (_, stamp, id, file) in found.into_iter().take(limits::BOARD_RUNS) {
                let known = match before.remove(&file) {
                    Some((seen, known)) if seen == stamp => known,
                    Some(_) | None => read(io, place, id, &remembered).await,
                };
                self.known.insert(file, (stamp, known));
            }
            self.folders.push(place.folder());
        }
        if let Ok(home) = StateHome::of(io) {
            self.folders.extend([home.sessions(), home.folder().to_owned()]);
        }
        self.audit_log.look(io).await;
        let mut cards: Vec<SessionCard> =
            self.known.values().map(|(_, known)| self.card(io, known, around)).collect();
        cards.sort_by(|a, b| {
            let newest = b.changed_at.cmp(&a.changed_at);
            a.activity.cmp(&b.activity).then(newest).then_with(|| a.id.cmp(&b.id))
        });
        cards
    }

    fn card(&self, io: &Io, known: &KnownSession, around: Surrounding<'_>) -> SessionCard {
        let session = match &known.read {
            Ok(session) => session,
            Err(why) => return board::unreadable_session(known.id.as_str(), &known.home, why),
        };
        let waits =
            |call: &&PendingCall| call.answer.is_none() && call.session_id == known.id.as_str();
        let of_run = |run: &&RunCard| session.run_id.as_deref() == Some(run.id.as_str());
        let facts = SessionFacts {
            place: known.place.as_ref(),
            links: (known.links.0.as_deref(), known.links.1.as_deref()),
            calls: around.calls.iter().filter(waits).count(),
            audit_log: &self.audit_log.entries,
            run: around.runs.iter().find(of_run),
        };
        board::session(session, known.folder(), facts, io.now())
    }

    /// The folders of their files, as of the last look.
    pub(super) fn folders(&self) -> impl Iterator<Item = String> {
        self.folders.iter().cloned()
    }
}

/// Every folder in which sessions may be kept, once.
async fn homes(io: &Io, roots: BTreeSet<String>, remembered: &[SessionPlace]) -> Vec<Sessions> {
    let checkout = checkout::find(io, &io.start().cwd).await.map(|checkout| checkout.root);
    let mut places = vec![Sessions::new(io)];
    let others = checkout.into_iter().chain(roots).filter_map(|root| Sessions::below(io, &root));
    let elsewhere = remembered.iter().map(|place| Sessions::kept(io, &place.folder));
    for place in others.chain(elsewhere) {
        if places.iter().all(|known| known.home() != place.home()) {
            places.push(place);
        }
    }
    places
}

async fn read(
    io: &Io,
    place: &Sessions,
    id: SessionId,
    remembered: &[SessionPlace],
) -> KnownSession {
    let read = match place.load(&id).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => Err("it is gone".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let home = place.home().to_owned();
    // Places have the folder that a link leads to.
    let real = io.canonical(&home).await.unwrap_or_else(|_| home.clone());
    let is_meant = |place: &&SessionPlace| place.id == id && place.folder == real;
    let place = remembered.iter().find(is_meant).cloned();
    let mut known = KnownSession { id, home, read, place, links: (None, None) };
    if let Ok(session) = &known.read {
        known.links = links(io, known.folder(), session).await;
    }
    known
}

/// Issue and pull request in a browser.
async fn links(io: &Io, folder: &str, session: &Session) -> (Option<String>, Option<String>) {
    let pull_request = session.pr_number.or(session.pr_no);
    if session.issue_no.is_none() && pull_request.is_none() {
        return (None, None);
    }
    let Some(checkout) = checkout::find(io, folder).await else { return (None, None) };
    let Some(address) = checkout.web_address(io).await else { return (None, None) };
    (
        session.issue_no.map(|number| address.issue(number)),
        pull_request.map(|number| address.pull_request(number)),
    )
}

/// The audit log, of which only what was added is read again.
#[derive(Debug, Default)]
struct KnownAudit {
    size_bytes: u64,
    entries: Vec<AuditEntry>,
}

impl KnownAudit {
    async fn look(&mut self, io: &Io) {
        let Ok(home) = StateHome::of(io) else { return };
        let size_bytes = io.stat(&home.audit_log()).await.map_or(0, |stat| stat.size_bytes);
        let added = size_bytes.saturating_sub(self.size_bytes);
        if size_bytes < self.size_bytes || self.entries.is_empty() {
            (self.entries, self.size_bytes) = crate::state::audit_log::entries(io).await;
        } else if added > 0
            && let Ok((bytes, size)) = io.read_tail(&home.audit_log(), added).await
            // It may have grown meanwhile; then the next look reads all of that.
            && size == size_bytes
        {
            self.entries.extend(read_lines(&bytes));
            self.size_bytes = size_bytes;
        }
    }
}
