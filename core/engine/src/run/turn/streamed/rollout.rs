//! The rollout of a Codex thread: the file in which Codex keeps the conversation, and from which
//! alone it can be learned while it works which model does, what has been used, and when a limit
//! is lifted.

use onloop_agents::Client;
use onloop_effect::Io;
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

/// Most folders in which a rollout is looked for at once.
const FOLDERS: usize = 100;
/// Bytes that are read at once; of a file that has grown by more, only the end is.
const READ_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that are read beyond what has been added: more may be, meanwhile.
const SLACK_BYTES: u64 = 64 * 1024;

/// A rollout that grows.
pub(super) struct Rollout {
    /// Folder of the client's conversations.
    sessions: String,
    path: Option<String>,
    /// Bytes that have been read, or were there before the turn.
    offset: u64,
    read_at: Timestamp,
}

impl Rollout {
    /// That of a turn which continues `session`, from its present end; `None` for other clients.
    pub(super) async fn of(io: &Io, client: Client, session: Option<&str>) -> Option<Rollout> {
        if client != Client::Codex {
            return None;
        }
        let home = match io.env("CODEX_HOME") {
            Some(home) => home.to_owned(),
            None => format!("{}/.codex", io.env("HOME")?),
        };
        let sessions = format!("{}/sessions", home.trim_end_matches('/'));
        let read_at = Timestamp::EPOCH;
        let mut rollout = Rollout { sessions, path: None, offset: 0, read_at };
        if let Some(session) = session {
            rollout.path = rollout.find(io, session).await;
            if let Some(path) = &rollout.path {
                rollout.offset = io.stat(path).await.map_or(0, |stat| stat.size_bytes);
            }
        }
        Some(rollout)
    }

    /// It is read the next time, however recently it was.
    pub(super) fn is_due(&mut self) {
        self.read_at = Timestamp::EPOCH;
    }

    /// What was added since it was last read; nothing where that was a moment ago.
    pub(super) async fn read(&mut self, io: &Io, session: &str) -> Vec<u8> {
        if io.now().millis_since(self.read_at) < limits::TURN_LOOK_MS / 2 {
            return Vec::new();
        }
        self.read_at = io.now();
        if self.path.is_none() {
            self.path = self.find(io, session).await;
        }
        let Some(path) = &self.path else { return Vec::new() };
        let size = io.stat(path).await.map_or(0, |stat| stat.size_bytes);
        let Some(added) = size.checked_sub(self.offset).filter(|added| *added > 0) else {
            return Vec::new();
        };
        let limit_bytes = added.saturating_add(SLACK_BYTES).min(READ_BYTES);
        let Ok((bytes, size)) = io.read_tail(path, limit_bytes).await else {
            return Vec::new();
        };
        let from = size.saturating_sub(bytes.len() as u64);
        let known = usize::try_from(self.offset.saturating_sub(from)).unwrap_or(usize::MAX);
        let is_cut = from > self.offset;
        self.offset = size;
        let added = bytes.get(known..).unwrap_or_default().to_vec();
        // Half a line behind a gap is no line.
        if is_cut { [b"\n".to_vec(), added].concat() } else { added }
    }

    /// The file of a thread, in a folder for the day on which it began.
    async fn find(&self, io: &Io, session: &str) -> Option<String> {
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if session.is_empty() || session.len() > 64 || !session.chars().all(is_id) {
            return None;
        }
        let ending = format!("-{session}.jsonl");
        let mut looked = 0;
        for year in latest(io, &self.sessions).await {
            for month in latest(io, &year).await {
                for day in latest(io, &month).await {
                    looked += 1;
                    if looked > FOLDERS {
                        return None;
                    }
                    let names = io.list(&day).await.unwrap_or_default();
                    if let Some(name) = names.iter().find(|name| name.ends_with(&ending)) {
                        return Some(format!("{day}/{name}"));
                    }
                }
            }
        }
        None
    }
}

/// The folders in `folder`, the one with the highest number first.
async fn latest(io: &Io, folder: &str) -> Vec<String> {
    let names = io.list(folder).await.unwrap_or_default();
    let number = |name: &String| name.parse::<u32>().is_ok();
    names.iter().rev().filter(|name| number(name)).map(|name| format!("{folder}/{name}")).collect()
}
