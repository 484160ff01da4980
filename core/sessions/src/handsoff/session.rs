//! Agent sessions, and what happens to them.

mod record;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::command::Started;
use super::subject::{PromptSubject, subject};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;

pub use record::{CountedStop, SessionRecord};

/// Name of a session, fit for a file name and for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
        /// A person stopped it.
        Stopped = "stopped",
    }
}

impl SessionEnding {
    /// Whether it says that the goal is reached.
    pub fn is_done(self) -> bool {
        matches!(self, SessionEnding::Done | SessionEnding::Completed)
    }
}

/// Whether a session is still active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It is active. The word is `initial`, or another word from the file.
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

impl Default for SessionState {
    fn default() -> SessionState {
        SessionState::Open("initial".to_owned())
    }
}

impl Serialize for SessionState {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SessionState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SessionState, D::Error> {
        Ok(SessionState::from(String::deserialize(from)?.as_str()))
    }
}

impl From<&str> for SessionState {
    /// Every word that is not [`SessionEnding::as_str`] of an ending means that it is open.
    fn from(word: &str) -> SessionState {
        word.parse().map_or_else(|_| SessionState::Open(word.to_owned()), SessionState::Ended)
    }
}

words! {
    /// Why an open session is not continued for now.
    pub enum Pause {
        /// A person asked a question; the next other prompt continues the session.
        Question = "question",
        /// A person paused it, until a person asks to continue.
        Person = "person",
        /// Nothing has happened in it for a long time.
        Silence = "silence",
    }
}

/// An agent session that continues unattended.
///
/// [`Session::begin`] makes one and its methods change it; [`Session::restore`] takes back what was
/// stored. Code outside of this folder cannot write to its record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Session(pub(super) SessionRecord);

impl std::ops::Deref for Session {
    type Target = SessionRecord;

    fn deref(&self) -> &SessionRecord {
        &self.0
    }
}

/// What an agent created on its forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// An issue.
    Issue,
    /// A pull request.
    PullRequest,
}

/// A prompt that is submitted in a session.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'p> {
    /// Its text.
    pub text: &'p str,
    /// The host's id of it.
    pub id: Option<&'p str>,
}

/// What a prompt did to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptEffect {
    /// Nothing that has to be stored.
    Nothing,
    /// It continues as before, with a person present.
    Continues,
    /// It is paused now, and was not before.
    Paused(Pause),
    /// It was paused, and continues.
    Resumed,
}

impl Session {
    /// What [`SessionRecord::workflow`] says when the session drives a run.
    pub const RUN: &'static str = "onloop-run";

    /// A session whose workflow was just started at `at`.
    pub fn begin(id: SessionId, started: Started, at: Timestamp) -> Session {
        Session(SessionRecord {
            id,
            workflow: started.workflow,
            issue_no: started.issue_no,
            pr_no: started.pr_no,
            updated_at: Some(at),
            ..SessionRecord::default()
        })
    }

    /// The session `id`, as it was stored; `modified`: when its file was, where the record has no time.
    pub fn restore(id: SessionId, record: SessionRecord, modified: Option<Timestamp>) -> Session {
        let updated_at = record.updated_at.or(modified);
        Session(SessionRecord { id, updated_at, ..record })
    }

    /// A session that is not of a workflow, but drives a run.
    pub fn of_run(id: SessionId, at: Timestamp) -> Session {
        let workflow = Session::RUN.to_owned();
        Session::begin(id, Started { workflow, issue_no: None, pr_no: None }, at)
    }

    /// A person submitted a prompt that starts no workflow. Only a question pauses the session, or
    /// the wish that it pause; everything else is about the work, and goes on with it.
    pub fn prompted(&mut self, at: Timestamp, prompt: Prompt<'_>) -> PromptEffect {
        let ours = self.last_prompt.as_deref() == Some(digest(prompt.text).as_str());
        let expanded = prompt.id.is_some() && self.prompt_id.as_deref() == prompt.id;
        if ours || expanded || matches!(self.state, SessionState::Ended(_)) {
            return PromptEffect::Nothing;
        }
        let effect = match (subject(prompt.text), self.pause) {
            (PromptSubject::Client, _) => return PromptEffect::Nothing,
            (PromptSubject::Question, Some(_)) | (PromptSubject::Pause, Some(Pause::Person)) => {
                return PromptEffect::Nothing;
            }
            // Only the requested word ends a pause that a person asked for.
            (PromptSubject::Answer | PromptSubject::Instruction, Some(Pause::Person)) => {
                return PromptEffect::Nothing;
            }
            (PromptSubject::Question, None) => PromptEffect::Paused(Pause::Question),
            (PromptSubject::Pause, _) => PromptEffect::Paused(Pause::Person),
            (
                PromptSubject::Continue | PromptSubject::Answer | PromptSubject::Instruction,
                Some(_),
            ) => PromptEffect::Resumed,
            (
                PromptSubject::Continue | PromptSubject::Answer | PromptSubject::Instruction,
                None,
            ) => PromptEffect::Continues,
        };
        self.0.pause = match effect {
            PromptEffect::Paused(pause) => Some(pause),
            PromptEffect::Nothing | PromptEffect::Continues | PromptEffect::Resumed => None,
        };
        // The waiting process has no session to wake any more.
        self.no_longer_limited();
        self.0.tasks_since = None;
        self.0.reason = None;
        self.0.in_a_row = 0;
        self.0.stalled = 0;
        self.0.updated_at = Some(at);
        effect
    }

    /// Whether the record of `run`, which it drives, decides about its stops.
    pub fn works_on(&self, run: &Run) -> bool {
        let is_other = self.run_id.as_ref().is_some_and(|bound| *bound != run.id);
        self.may_drive() && self.pause.is_none() && !is_other
    }

    /// Whether it has not ended otherwise than with a goal that was reached: one that was stopped
    /// stays so, whatever its agent does.
    pub fn may_drive(&self) -> bool {
        !matches!(self.state, SessionState::Ended(ending) if !ending.is_done())
    }

    /// Its agent did what begins a run: which one is found out when it is there.
    pub fn begins_run(&mut self, at: Timestamp) {
        self.0.begins_run_at = Some(at);
        self.open_again(at);
    }

    /// Its conversation drives the run `id`. Returns whether that changed anything.
    pub fn drives(&mut self, id: &str, at: Timestamp) -> bool {
        let is_known = self.run_id.as_deref() == Some(id) && self.begins_run_at.is_none();
        let is_open = matches!(self.state, SessionState::Open(_)) && self.pause.is_none();
        if is_known && is_open {
            return false;
        }
        if self.run_id.as_deref() != Some(id) {
            self.0.run_id = Some(id.to_owned());
            self.0.run_revision = None;
            self.0.last_message = None;
            // Another run is another goal.
            if self.is_of_run() {
                self.0.continuation_count = 0;
            }
        }
        self.0.begins_run_at = None;
        self.open_again(at);
        true
    }

    /// What its agent does about a run ends a pause: it was asked to. Only the record of a run says
    /// that it is done.
    fn open_again(&mut self, at: Timestamp) {
        if !matches!(self.state, SessionState::Open(_)) {
            self.0.state = SessionState::default();
        }
        self.0.pause = None;
        self.0.reason = None;
        self.0.stalled = 0;
        self.0.in_a_row = 0;
        self.0.updated_at = Some(at);
    }

    /// It does not drive its run any more, for `reason`.
    pub fn lets_go(&mut self, at: Timestamp, reason: &str) {
        self.0.run_id = None;
        self.0.run_revision = None;
        self.0.reason = Some(onloop_syntax::text::one_line(reason));
        self.0.updated_at = Some(at);
    }

    /// Whether it drives a run and nothing else.
    pub fn is_of_run(&self) -> bool {
        self.workflow == Session::RUN
    }

    /// Its agent is at work.
    pub fn works(&mut self, at: Timestamp) {
        self.0.updated_at = Some(at);
    }

    /// The host calls the prompt that began it, or a run in it, `prompt_id`.
    pub fn begun_by(&mut self, prompt_id: Option<&str>) {
        self.0.prompt_id = prompt_id.map(str::to_owned);
    }

    /// Its agent has begun no run, although it did what begins one.
    pub fn begins_no_run(&mut self, at: Timestamp) {
        self.0.begins_run_at = None;
        if self.is_of_run() && self.run_id.is_none() {
            self.end(at, SessionEnding::Done, Some("it began no run"));
        }
    }

    /// Somebody has ended it by an edit of its file. Every end has a reason.
    pub fn ended_by_edit(&mut self, reason: &str) {
        self.0.reason.get_or_insert_with(|| reason.to_owned());
    }

    /// Its agent has created the issue or the pull request with this number.
    pub fn created(&mut self, created: Created, number: u64) {
        match created {
            Created::Issue => self.0.issue_no = Some(number),
            Created::PullRequest => self.0.pr_number = Some(number),
        }
    }

    /// These receivers of notices have to be told that it is not continued.
    pub fn must_notify(&mut self, receivers: Vec<String>) {
        self.0.pending_notifications = receivers;
    }

    /// What it works on, for people.
    pub fn goal(&self) -> String {
        match &self.run_id {
            Some(run) => format!("run {}", onloop_syntax::text::one_line(run)),
            None if self.is_of_run() => "the run".to_owned(),
            None => format!("`/{}`", onloop_syntax::text::one_line(&self.workflow)),
        }
    }

    /// Binds it to `run`, whose record decides about it. Only the record says that a run is done.
    pub fn drive(&mut self, run: &Run, at: Timestamp) {
        if self.run_id.as_deref() != Some(run.id.as_str()) {
            self.0.run_id = Some(run.id.clone());
            self.0.run_revision = None;
        }
        self.0.begins_run_at = None;
        if matches!(self.state, SessionState::Ended(ending) if ending.is_done()) {
            self.0.state = SessionState::default();
            self.0.updated_at = Some(at);
        }
    }

    /// The agent's turn failed in a way that does not pass; `why` on one line. Returns whether a
    /// person has to be told.
    pub fn failed(&mut self, at: Timestamp, why: &str) -> bool {
        let is_open = matches!(self.state, SessionState::Open(_)) && self.pause.is_none();
        if !is_open || self.reason.as_deref() == Some(why) {
            return false;
        }
        self.no_longer_limited();
        self.0.stop = None;
        self.0.reason = Some(onloop_syntax::text::one_line(why));
        self.0.updated_at = Some(at);
        true
    }

    /// Notes the prompt with which the agent is continued.
    pub fn sent_on(&mut self, prompt: &str) {
        self.0.last_prompt = Some(digest(prompt));
    }

    /// Ends it, with the reason for people. Returns whether that changed anything.
    pub fn end(&mut self, at: Timestamp, ending: SessionEnding, reason: Option<&str>) -> bool {
        if self.state == SessionState::Ended(ending) {
            return false;
        }
        self.0.state = SessionState::Ended(ending);
        // A hook that waits for its background tasks stops waiting.
        self.0.tasks_since = None;
        self.0.reason = reason.map(onloop_syntax::text::one_line);
        self.0.updated_at = Some(at);
        true
    }

    /// `open`, `paused` or how it ended, for people.
    pub fn status(&self) -> &str {
        match (&self.state, self.pause) {
            (SessionState::Ended(ending), _) => ending.as_str(),
            (SessionState::Open(_), Some(_)) => "paused",
            (SessionState::Open(_), None) => "open",
        }
    }
}

/// The first half of the SHA-256 digest of a text, without white space around it, in hexadecimal.
pub fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};

    onloop_syntax::text::hex(&Sha256::digest(text.trim())[..16])
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
    fn a_question_pauses_and_what_is_said_next_goes_on() {
        use PromptEffect::{Continues, Nothing, Paused, Resumed};
        let mut session = session();
        let table = [
            ("yes, use option 2", Continues, None),
            ("/compact", Nothing, None),
            ("what is this?", Paused(Pause::Question), Some(Pause::Question)),
            ("and that?", Nothing, Some(Pause::Question)),
            ("/cost", Nothing, Some(Pause::Question)),
            ("add a test for it", Resumed, None),
            ("why?", Paused(Pause::Question), Some(Pause::Question)),
            (" Continue. ", Resumed, None),
            ("pause", Paused(Pause::Person), Some(Pause::Person)),
            ("pause!", Nothing, Some(Pause::Person)),
            ("add a test for it", Nothing, Some(Pause::Person)),
            ("what is this?", Nothing, Some(Pause::Person)),
            ("ok, go on", Resumed, None),
        ];
        for (text, expected, pause) in table {
            let effect = session.prompted(Timestamp::EPOCH, prompt(text));
            assert_eq!((effect, session.pause), (expected, pause), "{text}");
        }
        session.end(Timestamp::EPOCH, SessionEnding::Done, None);
        assert_eq!(session.prompted(Timestamp::EPOCH, prompt("what is this?")), Nothing);
        assert_eq!(session.status(), "done");
    }

    #[test]
    fn whoever_waits_for_a_limit_is_not_needed_when_a_person_goes_on() {
        let until = Timestamp::from_millis(3_600_000);
        for text in ["continue", "use option 2", "pause", "what is this?"] {
            let mut session = session();
            session.refused(Timestamp::EPOCH, "limit", Some(until));
            assert!(session.still_waits(session.limited_until.unwrap()));
            session.prompted(Timestamp::EPOCH, prompt(text));
            let left = (session.limited_until, session.limited_since, &session.reason);
            assert_eq!(left, (None, None, &None), "{text}");
        }
    }

    #[test]
    fn our_own_words_and_the_expanded_command_are_no_new_request() {
        let mut session = session();
        session.0.last_prompt = Some(digest("why so slow? 1/10\n"));
        session.0.prompt_id = Some("p1".to_owned());
        let ours = session.prompted(Timestamp::EPOCH, prompt("why so slow? 1/10"));
        let expanded = Prompt { text: "What is a planner?", id: Some("p1") };
        let expanded = session.prompted(Timestamp::EPOCH, expanded);
        assert_eq!((ours, expanded), (PromptEffect::Nothing, PromptEffect::Nothing));
        assert_eq!(session.pause, None);
    }

    #[test]
    fn what_an_agent_does_about_a_run_binds_its_session_and_ends_a_pause() {
        let id = SessionId::new("s1").unwrap();
        let mut session = Session::of_run(id, Timestamp::EPOCH);
        session.begins_run(Timestamp::EPOCH);
        session.0.continuation_count = 4;
        assert!(session.drives("a", Timestamp::EPOCH) && !session.drives("a", Timestamp::EPOCH));
        assert_eq!((session.begins_run_at, session.continuation_count), (None, 0));
        session.0.continuation_count = 4;
        session.0.pause = Some(Pause::Question);
        assert!(session.drives("a", Timestamp::EPOCH));
        assert_eq!((session.pause, session.continuation_count), (None, 4));
        session.end(Timestamp::EPOCH, SessionEnding::Done, None);
        assert!(session.may_drive() && session.drives("b", Timestamp::EPOCH));
        assert_eq!((session.status(), session.goal()), ("open", "run b".to_owned()));
        session.end(Timestamp::EPOCH, SessionEnding::Stopped, None);
        assert!(!session.may_drive());
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
