//! Files of agent sessions: `.tmp/hooked-sessions` below `AGENTIZE_HOME`, else below the
//! current folder.
//!
//! A file is replaced as a whole while a lock file is held, and the lock only as long as it is
//! read, changed and written. Symbolic links are never followed: an agent may have put them
//! there.

use crate::error::CommandError;
use crate::state::session_places;
use crate::state::store::StoreError;
use onloop_documents::session as document;
use onloop_documents::session_place::SessionPlace;
use onloop_effect::{Durability, Expect, Failure, FileKind, Io, OptionalExt};
use onloop_sessions::handsoff::{Session, SessionId, SessionState};
use onloop_sessions::hooks::Host;
use onloop_syntax::limits;
use onloop_syntax::text::one_line;
use onloop_syntax::time::Timestamp;

/// The folder of all session files.
#[derive(Clone, Debug)]
pub struct Sessions {
    io: Io,
    home: String,
    /// Where answers are remembered, if not beside the sessions.
    answers: Option<String>,
    /// Who calls, for a session that begins.
    caller: Option<HookCaller>,
}

/// The agent whose hook we are.
#[derive(Clone, Debug)]
pub struct HookCaller {
    /// The program that runs it.
    pub host: Host,
    /// Where it works.
    pub cwd: String,
}

/// Why a session could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A symbolic link or a file is where a folder should be.
    #[error("`{}` is not a folder", one_line(.0))]
    NotAFolder(String),
    /// A symbolic link or a folder is where a session's file should be.
    #[error("`{}` is not a regular file", one_line(.0))]
    NotAFile(String),
    /// The session's file is damaged.
    #[error("{}", one_line(&format!("`{file}` cannot be used: {damage}")))]
    Damaged {
        /// Its path.
        file: String,
        /// What is wrong with it.
        damage: onloop_documents::DocumentError,
    },
    /// The record of the run that the session drives cannot be read.
    #[error("{}", one_line(&format!("the record of run {run_id} cannot be read: {error}")))]
    Record {
        /// The run.
        run_id: String,
        /// Why its record cannot be read.
        error: StoreError,
    },
    /// The host could not read, write or lock a file.
    #[error("{}", one_line(&.0.message))]
    Failed(Failure),
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> SessionError {
        SessionError::Failed(failure)
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> CommandError {
        CommandError::refused(error.to_string())
    }
}

impl Sessions {
    /// Where new sessions are kept.
    pub fn new(io: &Io) -> Sessions {
        let home = io.start().agentize_home().unwrap_or_else(|| io.start().cwd.clone());
        Sessions::kept(io, &home)
    }

    /// Those below another folder; `None` if all are kept below `AGENTIZE_HOME`.
    pub fn below(io: &Io, folder: &str) -> Option<Sessions> {
        let is_usual = io.start().agentize_home().is_none();
        is_usual.then(|| Sessions::kept(io, folder))
    }

    /// Those below a folder that is remembered, wherever new ones are kept.
    pub fn kept(io: &Io, folder: &str) -> Sessions {
        let home = folder.trim_end_matches('/').to_owned();
        // A confined command can write where sessions are, but not the state home.
        let answers = io.start().state_home().map(|home| format!("{home}/answers"));
        Sessions { io: io.clone(), home, answers, caller: None }
    }

    /// The same, with the answers beside the sessions, for hooks that cannot write the state home.
    pub fn with_answers_beside(self) -> Sessions {
        Sessions { answers: None, ..self }
    }

    /// The same, of which those that begin can be found from everywhere.
    pub fn called_by(self, caller: HookCaller) -> Sessions {
        Sessions { caller: Some(caller), ..self }
    }

    /// Where session `id` is kept: an agent that changes its folder takes its hooks along, so
    /// `others` are looked into as well. Where it is nowhere, as [`Sessions::new`].
    pub async fn of(io: &Io, id: &SessionId, others: &[&str]) -> Sessions {
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
    pub fn home(&self) -> &str {
        &self.home
    }

    /// The time of the last reply.
    pub fn now(&self) -> Timestamp {
        self.io.now()
    }

    /// The folder of their files.
    pub(crate) fn folder(&self) -> String {
        format!("{}/.tmp/hooked-sessions", self.home)
    }

    /// The state of a session.
    pub fn file(&self, id: &SessionId) -> String {
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
        let beside = || format!("{}/answers", self.folder());
        format!("{}/{id}.json", self.answers.clone().unwrap_or_else(beside))
    }

    fn mistakes_file(&self, id: &SessionId) -> String {
        format!("{}/mistakes/{id}", self.folder())
    }

    /// Whether the person at session `id` has not heard of `mistakes` yet; from now on they have.
    ///
    /// # Errors
    ///
    /// When that cannot be stored.
    pub async fn are_new(&self, id: &SessionId, mistakes: &str) -> Result<bool, SessionError> {
        let digest = onloop_sessions::handsoff::digest(mistakes);
        self.check_folders().await?;
        self.check_folder(&format!("{}/mistakes", self.folder())).await?;
        let file = self.mistakes_file(id);
        let known = self.io.read(&file, limits::SESSION_BYTES).await.optional()?;
        if known.is_some_and(|(bytes, _)| bytes == digest.as_bytes()) {
            return Ok(false);
        }
        self.write(&file, digest.into_bytes()).await?;
        self.ignore_ourselves().await;
        Ok(true)
    }

    /// Refuses folders that are symbolic links: what is written in them would lie elsewhere.
    async fn check_folders(&self) -> Result<(), SessionError> {
        for folder in [format!("{}/.tmp", self.home), self.folder()] {
            if !self.check_folder(&folder).await? {
                return Ok(());
            }
        }
        self.check_folder(&format!("{}/locks", self.folder())).await?;
        Ok(())
    }

    /// Whether the folder is there.
    async fn check_folder(&self, folder: &str) -> Result<bool, SessionError> {
        match self.io.stat(folder).await.optional()? {
            Some(stat) if stat.kind == FileKind::Folder => Ok(true),
            Some(_) => Err(SessionError::NotAFolder(folder.to_owned())),
            None => Ok(false),
        }
    }

    /// The session, if there is one.
    ///
    /// # Errors
    ///
    /// When its file is there and cannot be read.
    pub async fn load(&self, id: &SessionId) -> Result<Option<Session>, SessionError> {
        let file = self.file(id);
        let stat = match self.io.stat(&file).await.optional()? {
            Some(stat) if stat.kind == FileKind::File => stat,
            Some(_) => return Err(SessionError::NotAFile(file)),
            None => return Ok(None),
        };
        // What lies elsewhere says nothing about a session, and gives it no rights.
        self.check_folders().await?;
        // Between the two it may have been cleared.
        let Some((bytes, _)) = self.io.read(&file, limits::SESSION_BYTES).await.optional()? else {
            return Ok(None);
        };
        match document::read(id.clone(), &bytes, Some(stat.modified)) {
            Ok(session) => Ok(Some(session)),
            Err(damage) => Err(SessionError::Damaged { file, damage }),
        }
    }

    /// Does `work` while no other process changes the files of the session.
    async fn locked<T>(
        &self,
        id: &SessionId,
        work: impl Future<Output = Result<T, SessionError>>,
    ) -> Result<T, SessionError> {
        self.check_folders().await?;
        let lock = self.lock_file(id);
        self.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await?;
        let done = work.await;
        let unlocked = self.io.unlock(&lock).await;
        let done = done?;
        unlocked?;
        Ok(done)
    }

    /// Reads, changes and writes a session while no other process does. What `act` leaves as it was is
    /// not written.
    pub async fn change<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Option<Session>) -> T,
    ) -> Result<T, SessionError> {
        let work = async {
            let before = self.load(id).await?;
            let mut session = before.clone();
            let out = act(&mut session);
            if let Some(session) =
                session.as_ref().filter(|session| Some(*session) != before.as_ref())
            {
                // An end must survive a power cut; a count may be lost.
                let durability = match session.state {
                    SessionState::Ended(_) => Durability::Durable,
                    SessionState::Open(_) => Durability::Relaxed,
                };
                let bytes = document::write(session);
                self.io.write(&self.file(id), bytes, Expect::Any, durability).await?;
                if before.is_none() {
                    self.ignore_ourselves().await;
                    self.remember_place(session).await;
                }
            }
            Ok(out)
        };
        self.locked(id, Box::pin(work)).await
    }

    /// As [`Sessions::change`]; `T::default()` where there is no such session.
    pub async fn change_known<T: Default>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, SessionError> {
        self.change(id, |session| session.as_mut().map(act).unwrap_or_default()).await
    }

    /// Makes a session that begins findable from everywhere.
    async fn remember_place(&self, session: &Session) {
        let Some(HookCaller { host, cwd }) = self.caller.clone() else { return };
        // A folder that is not known from the root leads nowhere from elsewhere.
        let Ok(folder) = self.io.canonical(&self.home).await else { return };
        let (id, began_at) = (session.id.clone(), self.io.now());
        let place = SessionPlace { id, folder, cwd, host, began_at };
        session_places::remember(&self.io, &place).await;
    }

    /// Stores a session that begins, in place of whatever was there, damaged or not.
    pub async fn begin(&self, session: &Session) -> Result<(), SessionError> {
        let file = self.file(&session.id);
        let work = async {
            // The one write that must survive a power cut: without it there is no session.
            let bytes = document::write(session);
            self.io.write(&file, bytes, Expect::Any, Durability::Durable).await?;
            Ok(())
        };
        self.locked(&session.id, work).await?;
        self.ignore_ourselves().await;
        self.remember_place(session).await;
        self.write_index(session).await
    }

    /// Makes the session findable by its issue; the last writer wins.
    pub async fn write_index(&self, session: &Session) -> Result<(), SessionError> {
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

    /// Keeps the folder out of commits, with everything in it, unless somebody has said otherwise there.
    pub(crate) async fn ignore_ourselves(&self) {
        let ignore = format!("{}/.tmp/.gitignore", self.home);
        // Where it cannot be written, the session is no worse for it.
        let _ = self.io.write(&ignore, b"*\n".to_vec(), Expect::Absent, Durability::Relaxed).await;
    }

    /// Ids of all sessions, sorted.
    pub async fn ids(&self) -> Result<Vec<SessionId>, SessionError> {
        self.check_folders().await?;
        let names = self.io.list(&self.folder()).await.optional()?.unwrap_or_default();
        let id = |name: &String| name.strip_suffix(".json").and_then(SessionId::new);
        Ok(names.iter().filter_map(id).collect())
    }

    /// Removes everything about a session. Returns whether there was a file of it.
    pub async fn clear(&self, id: &SessionId) -> Result<bool, SessionError> {
        self.locked(id, self.clear_locked(id)).await
    }

    async fn clear_locked(&self, id: &SessionId) -> Result<bool, SessionError> {
        for below in ["by-issue", "answers", "mistakes"] {
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
        self.remove(&self.mistakes_file(id)).await?;
        if let Ok(folder) = self.io.canonical(&self.home).await {
            session_places::forget(&self.io, &folder, id.as_str()).await;
        }
        self.remove(&self.file(id)).await
    }

    /// Whether it was there.
    async fn remove(&self, file: &str) -> Result<bool, SessionError> {
        Ok(self.io.remove(file).await.optional()?.is_some())
    }

    /// Remembers the answer about a call, for the other event of the same call.
    pub async fn remember(
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

    /// The answer that was given about a call a moment ago. It is used once, and only where its
    /// removal could be stored.
    pub async fn recall(&self, id: &SessionId, call: &str) -> Option<document::RememberedAnswer> {
        self.io.stat(&self.answers_file(id)).await.ok()?;
        let take = |answers: &mut Vec<document::RememberedAnswer>| {
            let at = answers.iter().position(|known| known.call == call)?;
            Some(answers.remove(at))
        };
        self.answers(id, take).await.ok()?
    }

    async fn answers<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Vec<document::RememberedAnswer>) -> T,
    ) -> Result<T, SessionError> {
        let work = async {
            self.check_folder(&format!("{}/answers", self.folder())).await?;
            let file = self.answers_file(id);
            let read = self.io.read(&file, limits::SESSION_BYTES).await.optional()?;
            let bytes = read.map(|(bytes, _)| bytes).unwrap_or_default();
            if bytes.is_empty() {
                self.ignore_ourselves().await;
            }
            let mut answers = document::read_answers(&bytes, self.io.now());
            let out = act(&mut answers);
            self.write(&file, document::write_answers(&answers)).await?;
            Ok(out)
        };
        self.locked(id, work).await
    }
}
