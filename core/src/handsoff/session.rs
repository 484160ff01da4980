//! What is remembered about an agent session.

use serde_json::{Map, Value};

use super::command::Started;
use crate::limits;
use crate::run::Run;
use crate::text::words;
use crate::time::Timestamp;

/// Name of a session, fit for a file name and for a shell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// `None` unless `text` is `[A-Za-z0-9_-]{1,128}`.
    pub fn new(text: &str) -> Option<SessionId> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let fits = (1..=limits::SESSION_ID_BYTES).contains(&text.len());
        (fits && text.bytes().all(plain)).then(|| SessionId(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

words! {
    /// How a session ended.
    pub enum SessionEnding {
        /// The goal is reached.
        Done = "done",
        /// The goal is reached, as older generations wrote it.
        Completed = "completed",
        /// It went wrong.
        Error = "error",
        /// It went wrong, as older generations wrote it.
        Failed = "failed",
        /// Somebody stopped it.
        Stopped = "stopped",
    }
}

impl SessionEnding {
    /// Whether it says that the goal is reached.
    pub fn is_done(self) -> bool {
        matches!(self, SessionEnding::Done | SessionEnding::Completed)
    }
}

/// Whether a session still goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It does. The word is `initial`, or whatever else somebody wrote into the file.
    Open(String),
    /// It does not.
    Ended(SessionEnding),
}

impl SessionState {
    /// As `state` in the session's file has it.
    pub fn as_str(&self) -> &str {
        match self {
            SessionState::Open(word) => word,
            SessionState::Ended(ending) => ending.as_str(),
        }
    }
}

impl From<&str> for SessionState {
    /// Every word that is not [`SessionEnding::as_str`] of an ending means that it is open.
    fn from(word: &str) -> SessionState {
        word.parse().map_or_else(|_| SessionState::Open(word.to_owned()), SessionState::Ended)
    }
}

/// What is remembered about an agent session that continues unattended.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The host's name for it, and the name of its file.
    pub id: SessionId,
    /// What it works on: a workflow of the table, one of the user's own, or
    /// [`Session::RUN`].
    pub workflow: String,
    /// Whether it still goes on.
    pub state: SessionState,
    /// How many times the agent was continued.
    pub continuation_count: u32,
    /// The issue it is about.
    pub issue_no: Option<u64>,
    /// The pull request it was started for.
    pub pr_no: Option<u64>,
    /// The pull request it made.
    pub pr_number: Option<u64>,
    /// The run of ours that it drives.
    pub run_id: Option<String>,
    /// Revision of that run's record when it was last looked at.
    pub run_revision: Option<u64>,
    /// A person has asked for something else since, so the agent may stop.
    pub paused: bool,
    /// Continuations since the agent last used a tool; some hosts limit these.
    pub in_a_row: u32,
    /// Stops in a row that showed no progress.
    pub stalled: u32,
    /// Where in the conversation the last stop was that counted, and how many hooks have been
    /// called for it besides the first.
    pub stop: Option<CountedStop>,
    /// Digest of what the agent said when it last stopped.
    pub last_message: Option<String>,
    /// Digest of the last continuation prompt: some hosts report it as a person's prompt.
    pub last_prompt: Option<String>,
    /// The host's id of the prompt that started it.
    pub prompt_id: Option<String>,
    /// Why it was last not continued, on one line.
    pub reason: Option<String>,
    /// Receivers of notices that have not been told yet that it is not continued.
    pub untold: Vec<String>,
    /// When something about it last changed; `None` in files of older generations.
    pub updated_at: Option<Timestamp>,
    /// Members that this version does not know; they survive a rewrite.
    pub unknown: Map<String, Value>,
}

/// The last stop that was answered with a continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedStop {
    /// The place in the conversation, as [`Evidence::place`](super::transcript::Evidence) names it.
    pub place: String,
    /// How many more hooks were called for the same stop: those of another scope, or of a host
    /// that reads the files of two.
    pub echoes: u32,
}

/// A prompt that is submitted in a session.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'p> {
    /// Its text.
    pub text: &'p str,
    /// The host's id of it.
    pub id: Option<&'p str>,
}

/// Prompts that mean "go on" and nothing else.
const GO_ON: [&str; 5] = ["continue", "go on", "keep going", "resume", "proceed"];

impl Session {
    /// What [`Session::workflow`] says when the session drives a run.
    pub const RUN: &'static str = "onloop-run";

    /// A session whose workflow was just started at `at`.
    pub fn begin(id: SessionId, started: Started, at: Timestamp) -> Session {
        Session {
            id,
            workflow: started.workflow,
            state: SessionState::Open("initial".to_owned()),
            continuation_count: 0,
            issue_no: started.issue_no,
            pr_no: started.pr_no,
            pr_number: None,
            run_id: None,
            run_revision: None,
            paused: false,
            in_a_row: 0,
            stalled: 0,
            stop: None,
            last_message: None,
            last_prompt: None,
            prompt_id: None,
            reason: None,
            untold: Vec::new(),
            updated_at: Some(at),
            unknown: Map::new(),
        }
    }

    /// A session that is not of a workflow, but drives a run.
    pub fn of_run(id: SessionId, at: Timestamp) -> Session {
        let workflow = Session::RUN.to_owned();
        Session::begin(id, Started { workflow, issue_no: None, pr_no: None }, at)
    }

    /// A person submitted a prompt that starts no workflow; it pauses or resumes the session.
    /// Returns whether the session changed.
    pub fn prompted(&mut self, at: Timestamp, prompt: Prompt<'_>) -> bool {
        let ours = self.last_prompt.as_deref() == Some(digest(prompt.text).as_str());
        let expanded = prompt.id.is_some() && self.prompt_id.as_deref() == prompt.id;
        if ours || expanded || matches!(self.state, SessionState::Ended(_)) {
            return false;
        }
        let text = prompt.text.trim().trim_end_matches(['.', '!']).to_lowercase();
        let pause = !GO_ON.contains(&text.as_str());
        let changed = self.paused != pause || !pause;
        self.paused = pause;
        self.in_a_row = 0;
        self.stalled = 0;
        if changed {
            self.updated_at = Some(at);
        }
        changed
    }

    /// Whether its agent works on `run`: it did before and nobody has asked for something
    /// else, or the run has changed since the session last did.
    pub fn works_on(&self, run: &Run) -> bool {
        let bound = self.run_id.as_deref() == Some(run.id.as_str());
        let stopped = matches!(self.state, SessionState::Ended(ending) if !ending.is_done());
        !stopped && ((bound && !self.paused) || self.moved(run))
    }

    fn moved(&self, run: &Run) -> bool {
        match self.run_revision {
            Some(seen) if self.run_id.as_deref() == Some(run.id.as_str()) => run.revision > seen,
            // Records keep whole seconds, so an equal time may be later.
            Some(_) | None => self.updated_at.is_some_and(|touched| run.last_update >= touched),
        }
    }

    /// Notes the present revision of the record of `run`.
    pub fn saw(&mut self, run: &Run) {
        self.run_id = Some(run.id.clone());
        self.run_revision = Some(run.revision);
    }

    /// Binds it to `run`. A run that changed after the session was paused was changed on
    /// request, so the pause is over.
    pub fn drive(&mut self, run: &Run, at: Timestamp) {
        let moved = self.moved(run);
        if self.run_id.as_deref() != Some(run.id.as_str()) {
            self.run_id = Some(run.id.clone());
            self.run_revision = None;
        }
        if self.paused && moved {
            self.paused = false;
            self.stalled = 0;
            self.in_a_row = 0;
        }
        // Only the record says that a run is done.
        if matches!(self.state, SessionState::Ended(ending) if ending.is_done()) {
            self.state = SessionState::Open("initial".to_owned());
            self.updated_at = Some(at);
        }
    }

    /// Notes the prompt with which the agent is continued.
    pub fn sent_on(&mut self, prompt: &str) {
        self.last_prompt = Some(digest(prompt));
    }

    /// Ends it, with the reason for people. Returns whether that changed anything.
    pub fn end(&mut self, at: Timestamp, ending: SessionEnding, reason: Option<&str>) -> bool {
        if self.state == SessionState::Ended(ending) {
            return false;
        }
        self.state = SessionState::Ended(ending);
        self.reason = reason.map(crate::text::one_line);
        self.updated_at = Some(at);
        true
    }

    /// `open`, `paused` or how it ended, for people.
    pub fn status(&self) -> &str {
        match (&self.state, self.paused) {
            (SessionState::Ended(ending), _) => ending.as_str(),
            (SessionState::Open(_), true) => "paused",
            (SessionState::Open(_), false) => "open",
        }
    }
}

/// The first half of the SHA-256 digest of a text, without white space around it, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};

    crate::text::hex(&Sha256::digest(text.trim())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handsoff::command::detect;

    fn session() -> Session {
        let started = detect("/ultra-planner x", &[]).unwrap();
        Session::begin(SessionId::new("s1").unwrap(), started, Timestamp::EPOCH)
    }

    fn prompt(text: &str) -> Prompt<'_> {
        Prompt { text, id: None }
    }

    #[test]
    fn ids_are_plain_words() {
        for good in ["a", "0b7e-AZ_9", &"x".repeat(128)] {
            assert_eq!(SessionId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "../x", "a/b", "a b", "a\n", "ü", "a.json", &"x".repeat(129)] {
            assert_eq!(SessionId::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn another_request_pauses_and_going_on_resumes() {
        let mut session = session();
        assert!(session.prompted(Timestamp::EPOCH, prompt("what is this?")));
        assert!(session.paused);
        assert!(!session.prompted(Timestamp::EPOCH, prompt("and that?")));
        assert!(session.prompted(Timestamp::EPOCH, prompt(" Continue. ")));
        assert!(!session.paused);
        session.end(Timestamp::EPOCH, SessionEnding::Done, None);
        assert!(!session.prompted(Timestamp::EPOCH, prompt("what is this?")));
        assert_eq!(session.status(), "done");
    }

    #[test]
    fn our_own_words_and_the_expanded_command_are_no_new_request() {
        let mut session = session();
        session.last_prompt = Some(digest("go on, 1/10\n"));
        session.prompt_id = Some("p1".to_owned());
        assert!(!session.prompted(Timestamp::EPOCH, prompt("go on, 1/10")));
        let expanded = Prompt { text: "You are a planner.", id: Some("p1") };
        assert!(!session.prompted(Timestamp::EPOCH, expanded));
        assert!(!session.paused);
    }

    #[test]
    fn every_word_for_an_end_ends() {
        for word in ["done", "completed", "error", "failed", "stopped"] {
            assert!(matches!(SessionState::from(word), SessionState::Ended(_)), "{word}");
            assert_eq!(SessionState::from(word).as_str(), word);
        }
        assert_eq!(SessionState::from("reviewing").as_str(), "reviewing");
    }
}
