//! What is remembered about an agent session.

use serde_json::{Map, Value};

use super::command::Started;
use crate::limits;
use crate::run::Run;
use crate::time::Timestamp;

/// Name of a session, fit for a file name and for a shell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// `[A-Za-z0-9_-]{1,128}`; anything else names no session.
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

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The goal is reached.
    Done,
    /// The same, in the word of an older generation.
    Completed,
    /// It went wrong.
    Error,
    /// It went wrong, in another word.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl Ending {
    const ALL: [Ending; 5] =
        [Ending::Done, Ending::Completed, Ending::Error, Ending::Failed, Ending::Stopped];

    /// Whether somebody claims that the goal is reached.
    pub fn is_done(self) -> bool {
        matches!(self, Ending::Done | Ending::Completed)
    }

    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Completed => "completed",
            Ending::Error => "error",
            Ending::Failed => "failed",
            Ending::Stopped => "stopped",
        }
    }
}

/// Whether a session still goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It does. The word is `initial`, or what somebody wrote there.
    Open(String),
    /// It does not.
    Ended(Ending),
}

impl State {
    /// The state that a word in the file means.
    pub fn from_word(word: &str) -> State {
        match Ending::ALL.iter().find(|ending| ending.word() == word) {
            Some(ending) => State::Ended(*ending),
            None => State::Open(word.to_owned()),
        }
    }

    /// The word in the file.
    pub fn word(&self) -> &str {
        match self {
            State::Open(word) => word,
            State::Ended(ending) => ending.word(),
        }
    }
}

/// What is remembered about an agent session that goes on by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Which one.
    pub id: SessionId,
    /// What it works on: a workflow of the table, one of the user's own, or
    /// [`Session::RUN`].
    pub workflow: String,
    /// Whether it still goes on.
    pub state: State,
    /// How often the agent was sent on.
    pub continuation_count: u32,
    /// The issue it is about.
    pub issue_no: Option<u64>,
    /// The pull request it was started for.
    pub pr_no: Option<u64>,
    /// The pull request it made.
    pub pr_number: Option<u64>,
    /// The run of ours that it drives.
    pub run_id: Option<String>,
    /// Change of that run's record that was seen last.
    pub run_revision: Option<u64>,
    /// A person has asked for something else since.
    pub paused: bool,
    /// Continuations since the agent last used a tool; hosts count these.
    pub in_a_row: u32,
    /// Stops in a row that showed no progress.
    pub stalled: u32,
    /// Where in the conversation the last stop was that counted, and how many hooks have been
    /// called for it besides the first.
    pub stop: Option<CountedStop>,
    /// Digest of what the agent said when it last stopped.
    pub last_message: Option<String>,
    /// Digest of what it was last told: some hosts hand that back as a person's prompt.
    pub last_prompt: Option<String>,
    /// The host's own number of the prompt that began it.
    pub prompt_id: Option<String>,
    /// Why it was not sent on, on one line.
    pub reason: Option<String>,
    /// When something about it last changed; `None` in files of older generations.
    pub updated_at: Option<Timestamp>,
    /// Members that we do not know; they survive a rewrite.
    pub unknown: Map<String, Value>,
}

/// A stop that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedStop {
    /// The place in the conversation, as [`Evidence::place`](super::transcript::Evidence) names it.
    pub place: String,
    /// Hooks that were called for it since: those of another scope, or of a host that reads the
    /// files of two.
    pub echoes: u32,
}

/// A prompt that arrives in a session.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'p> {
    /// Its text.
    pub text: &'p str,
    /// The host's own number of it.
    pub id: Option<&'p str>,
}

/// Prompts that mean "go on" and nothing else.
const GO_ON: [&str; 5] = ["continue", "go on", "keep going", "resume", "proceed"];

impl Session {
    /// What [`Session::workflow`] says when the session drives a run.
    pub const RUN: &'static str = "onloop-run";

    /// A session whose workflow was just started.
    pub fn begin(id: SessionId, started: Started, at: Timestamp) -> Session {
        Session {
            id,
            workflow: started.workflow,
            state: State::Open("initial".to_owned()),
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
            updated_at: Some(at),
            unknown: Map::new(),
        }
    }

    /// A session that turns out to drive a run.
    pub fn of_run(id: SessionId, at: Timestamp) -> Session {
        let workflow = Session::RUN.to_owned();
        Session::begin(id, Started { workflow, issue_no: None, pr_no: None }, at)
    }

    /// Somebody typed something that starts no workflow. Whether that changed the session.
    pub fn prompted(&mut self, at: Timestamp, prompt: Prompt<'_>) -> bool {
        let ours = self.last_prompt.as_deref() == Some(digest(prompt.text).as_str());
        let expanded = prompt.id.is_some() && self.prompt_id.as_deref() == prompt.id;
        if ours || expanded || matches!(self.state, State::Ended(_)) {
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
    /// else, or the run has moved since the session was touched last.
    pub fn works_on(&self, run: &Run) -> bool {
        let bound = self.run_id.as_deref() == Some(run.id.as_str());
        let stopped = matches!(self.state, State::Ended(ending) if !ending.is_done());
        !stopped && ((bound && !self.paused) || self.moved(run))
    }

    fn moved(&self, run: &Run) -> bool {
        match self.run_revision {
            Some(seen) if self.run_id.as_deref() == Some(run.id.as_str()) => run.revision > seen,
            // Records tell whole seconds.
            Some(_) | None => self.updated_at.is_some_and(|touched| run.last_update >= touched),
        }
    }

    /// The record of `run` as it is now has been seen.
    pub fn saw(&mut self, run: &Run) {
        self.run_id = Some(run.id.clone());
        self.run_revision = Some(run.revision);
    }

    /// It works on `run` now. What moved the run after the session was paused was a request to
    /// work on it.
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
        if matches!(self.state, State::Ended(ending) if ending.is_done()) {
            self.state = State::Open("initial".to_owned());
            self.updated_at = Some(at);
        }
    }

    /// The agent is sent on with this prompt.
    pub fn sent_on(&mut self, prompt: &str) {
        self.last_prompt = Some(digest(prompt));
    }

    /// Ends it. Whether that changed anything.
    pub fn end(&mut self, at: Timestamp, ending: Ending, reason: Option<&str>) -> bool {
        if self.state == State::Ended(ending) {
            return false;
        }
        self.state = State::Ended(ending);
        self.reason = reason.map(crate::text::one_line);
        self.updated_at = Some(at);
        true
    }

    /// One word for people.
    pub fn status(&self) -> &str {
        match (&self.state, self.paused) {
            (State::Ended(ending), _) => ending.word(),
            (State::Open(_), true) => "paused",
            (State::Open(_), false) => "open",
        }
    }
}

/// Names a text without keeping it.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write;

    let hash = Sha256::digest(text.trim().as_bytes());
    hash.iter().take(16).fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("a string takes text");
        out
    })
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
        session.end(Timestamp::EPOCH, Ending::Done, None);
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
            assert!(matches!(State::from_word(word), State::Ended(_)), "{word}");
            assert_eq!(State::from_word(word).word(), word);
        }
        assert_eq!(State::from_word("reviewing").word(), "reviewing");
    }
}
