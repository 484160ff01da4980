//! Files of agent sessions: `.tmp/hooked-sessions` below `AGENTIZE_HOME`, else below the
//! current folder.
//!
//! A file is replaced as a whole while a lock file is held, and the lock only as long as it is
//! read, changed and written. Symbolic links are never followed: an agent may have put them
//! there.

use crate::documents::session as document;
use crate::effect::{Durability, Expect, Failure, FailureKind, FileKind, Io};
use crate::handsoff::{Session, SessionId};
use crate::limits;
use crate::time::Timestamp;

/// The folder of all session files.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    io: Io,
    home: String,
}

/// Why a session's file could not be used, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionError(pub(crate) String);

impl std::fmt::Display for SessionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::text::one_line(&self.0))
    }
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> SessionError {
        SessionError(failure.message)
    }
}

/// What becomes of a session under its lock.
pub(crate) enum SessionChange {
    /// It stays as it is.
    Keep,
    /// This is it now.
    Write(Box<Session>),
}

impl SessionChange {
    /// `session` is written if it has changed.
    pub(crate) fn when(changed: bool, session: Session) -> SessionChange {
        if changed { SessionChange::Write(Box::new(session)) } else { SessionChange::Keep }
    }
}

/// `AGENTIZE_HOME`, if it is set.
fn chosen_home(io: &Io) -> Option<&str> {
    io.env("AGENTIZE_HOME").map(str::trim).filter(|home| !home.is_empty())
}

impl Sessions {
    /// Where new sessions are kept.
    pub(crate) fn new(io: &Io) -> Sessions {
        let home = chosen_home(io).unwrap_or(&io.start().cwd).trim_end_matches('/').to_owned();
        Sessions { io: io.clone(), home }
    }

    /// Those below another folder, unless all are kept in one place.
    pub(crate) fn below(io: &Io, folder: &str) -> Option<Sessions> {
        let home = folder.trim_end_matches('/').to_owned();
        chosen_home(io).is_none().then(|| Sessions { io: io.clone(), home })
    }

    /// Where session `id` is kept: an agent that changes its folder takes its hooks along, so
    /// `others` are looked into as well. Where it is nowhere, as [`Sessions::new`].
    pub(crate) async fn of(io: &Io, id: &SessionId, others: &[&str]) -> Sessions {
        let usual = Sessions::new(io);
        if io.stat(&usual.file(id)).await.is_ok() {
            return usual;
        }
        for sessions in others.iter().filter_map(|other| Sessions::below(io, other)) {
            if sessions.home != usual.home && io.stat(&sessions.file(id)).await.is_ok() {
                return sessions;
            }
        }
        usual
    }

    /// The folder above `.tmp`.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// The time of the last reply.
    pub(crate) fn now(&self) -> Timestamp {
        self.io.now()
    }

    fn folder(&self) -> String {
        format!("{}/.tmp/hooked-sessions", self.home)
    }

    /// The state of a session.
    pub(crate) fn file(&self, id: &SessionId) -> String {
        format!("{}/{id}.json", self.folder())
    }

    /// What leads from an issue to its session.
    pub(crate) fn index(&self, issue: u64) -> String {
        format!("{}/by-issue/{issue}.json", self.folder())
    }

    fn lock_file(&self, id: &SessionId) -> String {
        format!("{}/locks/{id}.lock", self.folder())
    }

    fn answers_file(&self, id: &SessionId) -> String {
        format!("{}/answers/{id}.json", self.folder())
    }

    /// Refuses folders that are links, because what we write in them would lie elsewhere.
    pub(crate) async fn check_folders(&self) -> Result<(), SessionError> {
        for folder in [format!("{}/.tmp", self.home), self.folder()] {
            if !self.check_folder(&folder).await? {
                return Ok(());
            }
        }
        self.check_folder(&format!("{}/locks", self.folder())).await?;
        Ok(())
    }

    /// Whether it is there; anything but a folder is a problem.
    async fn check_folder(&self, folder: &str) -> Result<bool, SessionError> {
        match self.io.stat(folder).await {
            Ok(stat) if stat.kind == FileKind::Folder => Ok(true),
            Ok(_) => Err(SessionError(format!("`{folder}` is not a folder"))),
            Err(failure) if failure.kind == FailureKind::NotFound => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The session, if there is one.
    pub(crate) async fn load(&self, id: &SessionId) -> Result<Option<Session>, SessionError> {
        let file = self.file(id);
        let stat = match self.io.stat(&file).await {
            Ok(stat) if stat.kind == FileKind::File => stat,
            Ok(_) => return Err(SessionError(format!("`{file}` is not a regular file"))),
            Err(failure) if failure.kind == FailureKind::NotFound => return Ok(None),
            Err(failure) => return Err(failure.into()),
        };
        let (bytes, _) = match self.io.read(&file, limits::SESSION_BYTES).await {
            Ok(read) => read,
            // It was cleared just now.
            Err(failure) if failure.kind == FailureKind::NotFound => return Ok(None),
            Err(failure) => return Err(failure.into()),
        };
        let mut session = document::read(id.clone(), &bytes)
            .map_err(|error| SessionError(format!("`{file}` cannot be used: {error}")))?;
        session.updated_at = session.updated_at.or(Some(stat.modified));
        Ok(Some(session))
    }

    /// Reads, changes and writes a session while nobody else does.
    pub(crate) async fn change<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(Option<Session>) -> (SessionChange, T),
    ) -> Result<T, SessionError> {
        self.check_folders().await?;
        let lock = self.lock_file(id);
        self.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await?;
        let changed = self.change_locked(id, act).await;
        let unlocked = self.io.unlock(&lock).await;
        let changed = changed?;
        unlocked?;
        Ok(changed)
    }

    async fn change_locked<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(Option<Session>) -> (SessionChange, T),
    ) -> Result<T, SessionError> {
        let (change, out) = act(self.load(id).await?);
        if let SessionChange::Write(session) = change {
            self.write(&self.file(id), document::write(&session)).await?;
        }
        Ok(out)
    }

    /// A session that begins replaces whatever was there, damaged or not.
    pub(crate) async fn begin(&self, session: &Session) -> Result<(), SessionError> {
        self.check_folders().await?;
        let lock = self.lock_file(&session.id);
        self.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await?;
        let written = self.write(&self.file(&session.id), document::write(session)).await;
        let unlocked = self.io.unlock(&lock).await;
        written?;
        unlocked?;
        self.write_index(session).await
    }

    /// Makes the session findable by its issue; the last writer wins.
    pub(crate) async fn write_index(&self, session: &Session) -> Result<(), SessionError> {
        self.check_folder(&format!("{}/by-issue", self.folder())).await?;
        match session.issue_no {
            Some(issue) => self.write(&self.index(issue), document::write_index(session)).await,
            None => Ok(()),
        }
    }

    /// Atomic against crashes of processes. A power cut may bring the old file back, which
    /// loses a count and nothing else; making it durable would cost more than the whole hook.
    async fn write(&self, file: &str, bytes: Vec<u8>) -> Result<(), SessionError> {
        self.io.write(file, bytes, Expect::Any, Durability::Relaxed).await?;
        Ok(())
    }

    /// Ids of all sessions, sorted.
    pub(crate) async fn ids(&self) -> Result<Vec<SessionId>, SessionError> {
        self.check_folders().await?;
        let names = match self.io.list(&self.folder()).await {
            Ok(names) => names,
            Err(failure) if failure.kind == FailureKind::NotFound => Vec::new(),
            Err(failure) => return Err(failure.into()),
        };
        let id = |name: &String| name.strip_suffix(".json").and_then(SessionId::new);
        Ok(names.iter().filter_map(id).collect())
    }

    /// Removes everything about a session. Whether there was something.
    pub(crate) async fn clear(&self, id: &SessionId) -> Result<bool, SessionError> {
        self.check_folders().await?;
        let lock = self.lock_file(id);
        self.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await?;
        let cleared = self.clear_locked(id).await;
        let unlocked = self.io.unlock(&lock).await;
        let cleared = cleared?;
        unlocked?;
        Ok(cleared)
    }

    async fn clear_locked(&self, id: &SessionId) -> Result<bool, SessionError> {
        for below in ["by-issue", "answers"] {
            self.check_folder(&format!("{}/{below}", self.folder())).await?;
        }
        // A damaged file does not tell its issue; its index then leads nowhere and is replaced.
        let issue = self.load(id).await.ok().flatten().and_then(|session| session.issue_no);
        if let Some(issue) = issue {
            let index = self.index(issue);
            let named = self.io.read(&index, limits::SESSION_BYTES).await.ok();
            if named.and_then(|(bytes, _)| document::read_index(&bytes)).as_ref() == Some(id) {
                self.remove(&index).await?;
            }
        }
        self.remove(&self.answers_file(id)).await?;
        self.remove(&self.file(id)).await
    }

    async fn remove(&self, file: &str) -> Result<bool, SessionError> {
        match self.io.remove(file).await {
            Ok(()) => Ok(true),
            Err(failure) if failure.kind == FailureKind::NotFound => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Remembers what was answered about a call, for the other event of the same call.
    pub(crate) async fn remember(
        &self,
        id: &SessionId,
        answer: document::RememberedAnswer,
    ) -> Result<(), SessionError> {
        self.answers(id, |answers| {
            answers.retain(|known| known.call != answer.call);
            answers.push(answer);
        })
        .await
    }

    /// What was answered about a call a moment ago. It counts once.
    pub(crate) async fn recall(
        &self,
        id: &SessionId,
        call: &str,
    ) -> Option<document::RememberedAnswer> {
        self.io.stat(&self.answers_file(id)).await.ok()?;
        let mut found = None;
        let out = &mut found;
        self.answers(id, move |answers| {
            if let Some(at) = answers.iter().position(|known| known.call == call) {
                *out = Some(answers.remove(at));
            }
        })
        .await
        .ok()?;
        found
    }

    async fn answers(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Vec<document::RememberedAnswer>),
    ) -> Result<(), SessionError> {
        self.check_folders().await?;
        self.check_folder(&format!("{}/answers", self.folder())).await?;
        let lock = self.lock_file(id);
        self.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await?;
        let file = self.answers_file(id);
        let bytes = match self.io.read(&file, limits::SESSION_BYTES).await {
            Ok((bytes, _)) => bytes,
            Err(_) => Vec::new(),
        };
        let mut answers = document::read_answers(&bytes, self.io.now());
        act(&mut answers);
        let written = self.write(&file, document::write_answers(&answers)).await;
        let unlocked = self.io.unlock(&lock).await;
        written?;
        unlocked?;
        Ok(())
    }
}
