//! Documents of rw-auto: the lock, the saved record, scenarios, and the lines for hosts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod state;

pub use state::AutoDocument;

use crate::auto::Profile;
use crate::auto::child::ChildOutcome;
use crate::auto::document::Document;
use crate::auto::record::{Dispatch, Ending, Health};
use crate::time::Timestamp;

/// What we write into `.ai/runtime/rw-auto.lock`: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockPayload {
    v: u32,
    owner: String,
    /// Which run holds the lock.
    pub run: String,
    acquired_at: String,
    refreshed_at: String,
}

impl LockPayload {
    const VERSION: u32 = 1;
    const OWNER: &str = "rw-auto";

    /// The payload of `run`, which took the lock at one time and stamped it again at another.
    pub fn new(run: &str, acquired_at: Timestamp, refreshed_at: Timestamp) -> LockPayload {
        LockPayload {
            v: LockPayload::VERSION,
            owner: LockPayload::OWNER.to_owned(),
            run: run.to_owned(),
            acquired_at: acquired_at.to_rfc3339(),
            refreshed_at: refreshed_at.to_rfc3339(),
        }
    }

    /// A payload of ours; `None` for everything that we did not write, or not completely.
    pub fn parse(content: &str) -> Option<LockPayload> {
        let payload: LockPayload = serde_json::from_str(content).ok()?;
        (payload.v == LockPayload::VERSION && payload.owner == LockPayload::OWNER)
            .then_some(payload)
    }

    /// When the lock was taken.
    pub fn acquired_at(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.acquired_at)
    }

    /// The line, with its end.
    pub fn to_line(&self) -> String {
        to_line(self)
    }
}

/// A made-up run for `onloop auto rehearse`; fields that we do not know are left alone.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Comes back with the answer.
    #[serde(default)]
    pub id: Value,
    /// Whose rules apply.
    #[serde(default)]
    pub profile: ProfileName,
    /// Time at the start, RFC 3339.
    pub now: String,
    /// The argument as it is given; null is none.
    #[serde(default)]
    pub argument: Option<String>,
    /// What the host can do.
    #[serde(default)]
    pub env: EnvironmentDocument,
    /// Path → what is there.
    #[serde(default)]
    pub tree: BTreeMap<String, EntryDocument>,
    /// What the health check finds, in order.
    #[serde(default)]
    pub health: Option<HealthDocument>,
    /// What the repair of the health check changes.
    #[serde(default)]
    pub health_patch: BTreeMap<String, Option<EntryDocument>>,
    /// How the children come back, in order.
    #[serde(default)]
    pub children: Vec<ChildDocument>,
}

/// The name of a profile.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProfileName(pub String);

impl Default for ProfileName {
    fn default() -> ProfileName {
        Profile::default().into()
    }
}

impl From<Profile> for ProfileName {
    fn from(profile: Profile) -> ProfileName {
        ProfileName(profile.as_str().to_owned())
    }
}

impl TryFrom<ProfileName> for Profile {
    type Error = String;

    fn try_from(ProfileName(name): ProfileName) -> Result<Profile, String> {
        Profile::parse(&name)
            .ok_or_else(|| format!("found profile `{name}`, expected `v1`, `v2`, `v3` or `route`"))
    }
}

/// What a made-up host can do.
#[derive(Clone, Debug, Deserialize)]
pub struct EnvironmentDocument {
    /// Start children.
    pub run_subagent: bool,
}

impl Default for EnvironmentDocument {
    fn default() -> EnvironmentDocument {
        EnvironmentDocument { run_subagent: true }
    }
}

/// What is at a path of a made-up workspace.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum EntryDocument {
    /// A file with this content.
    Text(String),
    /// A file with this content and, perhaps, a time of its last change.
    File {
        /// The content.
        content: String,
        /// Last change, RFC 3339.
        mtime: Option<String>,
    },
    /// Something that cannot be read.
    Unreadable {
        /// Why: `permission`, `is_directory`, `invalid_utf8` or anything else.
        unreadable: String,
        /// Last change, RFC 3339.
        mtime: Option<String>,
    },
}

impl TryFrom<Value> for EntryDocument {
    type Error = &'static str;

    fn try_from(mut value: Value) -> Result<EntryDocument, &'static str> {
        const EXPECTED: &str = "an entry is a text, or has `content` or `unreadable`";
        let mtime = match value.get_mut("mtime").map(Value::take) {
            None | Some(Value::Null) => None,
            Some(Value::String(mtime)) => Some(mtime),
            Some(_) => return Err("the `mtime` of an entry is not a text"),
        };
        if let Value::String(text) = value {
            return Ok(EntryDocument::Text(text));
        }
        match (value.get_mut("content").map(Value::take), value.get_mut("unreadable")) {
            (Some(Value::String(content)), _) => Ok(EntryDocument::File { content, mtime }),
            (None, Some(Value::String(why))) => {
                Ok(EntryDocument::Unreadable { unreadable: std::mem::take(why), mtime })
            }
            _ => Err(EXPECTED),
        }
    }
}

impl EntryDocument {
    /// The file as a run sees it.
    pub fn document(&self) -> Document {
        match self {
            EntryDocument::Text(content) | EntryDocument::File { content, .. } => {
                Document::from_bytes(content.clone().into_bytes())
            }
            EntryDocument::Unreadable { unreadable, .. } => {
                Document::Unreadable(unreadable.clone())
            }
        }
    }

    /// Last change, where the scenario names one.
    pub fn modified(&self) -> Option<Timestamp> {
        match self {
            EntryDocument::Text(_) => None,
            EntryDocument::File { mtime, .. } | EntryDocument::Unreadable { mtime, .. } => {
                Timestamp::parse(mtime.as_deref()?)
            }
        }
    }
}

/// What a health check finds: one word, or a list of words.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum HealthDocument {
    /// The same each time.
    Always(String),
    /// One after the other.
    Each(Vec<String>),
}

impl TryFrom<Value> for HealthDocument {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<HealthDocument, &'static str> {
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let found = match &value {
            Value::Array(words) => words.iter().map(word).collect::<Option<_>>().map(Self::Each),
            other => word(other).map(Self::Always),
        };
        found.ok_or("`health` is a word or a list of words")
    }
}

impl HealthDocument {
    /// The outcomes of check and repair.
    pub fn outcomes(self) -> Vec<Health> {
        match self {
            HealthDocument::Always(word) => vec![health(&word); 2],
            HealthDocument::Each(words) => words.iter().map(|word| health(word)).collect(),
        }
    }
}

/// What a health check means that says `word`. Success has to be said.
pub fn health(word: &str) -> Health {
    match word.to_ascii_uppercase().as_str() {
        "PASS" | "FIXED" => Health::Passed,
        "UNAVAILABLE" => Health::Unavailable,
        _ => Health::Failed,
    }
}

/// How a made-up child comes back.
#[derive(Clone, Debug, Deserialize)]
pub struct ChildDocument {
    /// A text. Whatever else a host may call a result has no lines to read.
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<ChildError>,
    /// What it changes before it answers; null removes.
    #[serde(default)]
    pub tree_patch: BTreeMap<String, Option<EntryDocument>>,
    #[serde(default)]
    takes_s: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ChildError {
    Threw,
    Timeout,
    Cancelled,
    Unavailable,
}

impl ChildDocument {
    /// How long it takes.
    pub fn takes_ms(&self) -> i64 {
        (self.takes_s * 1000.0) as i64
    }

    /// How it comes back. One that answers nothing answers with an empty text.
    pub fn outcome(self) -> ChildOutcome {
        match self.error {
            None => ChildOutcome::Answered(self.result.as_str().unwrap_or_default().to_owned()),
            Some(ChildError::Threw) => ChildOutcome::Failed("the call threw".to_owned()),
            Some(ChildError::Timeout) => ChildOutcome::TimedOut,
            Some(ChildError::Cancelled) => ChildOutcome::Cancelled,
            Some(ChildError::Unavailable) => ChildOutcome::Unavailable,
        }
    }
}

/// What a made-up run has said and done.
#[derive(Clone, Debug, Serialize)]
pub struct Rehearsal {
    /// The scenario's.
    pub id: Value,
    /// The token stream.
    pub lines: Vec<String>,
    /// The children it started.
    pub dispatches: Vec<DispatchDocument>,
    /// Whether a lock is there afterwards, ours or another's.
    pub lock_present: bool,
}

/// Why a line could not be rehearsed.
#[derive(Clone, Debug, Serialize)]
pub struct RehearsalError {
    /// The scenario's, or null.
    pub id: Value,
    /// What was found and what was expected.
    pub error: String,
}

/// A child that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchDocument {
    /// Which child.
    pub target: String,
    /// Its argument.
    pub argument: String,
}

impl DispatchDocument {
    /// What others need to know of a dispatch.
    pub fn new(dispatch: &Dispatch) -> DispatchDocument {
        DispatchDocument {
            target: dispatch.target.as_str().to_owned(),
            argument: dispatch.argument.clone(),
        }
    }
}

/// The last line for a host that starts the children itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostLine {
    /// Start this child, write its answer into the file, and resume with the file.
    Dispatch {
        /// Which child.
        target: String,
        /// Its argument.
        argument: String,
        /// Where its answer belongs.
        result_file: String,
    },
    /// The run is over.
    Stop {
        /// The exit code that goes with the ending.
        exit: u8,
        /// The command that comes after the run.
        next_command: String,
    },
}

impl HostLine {
    /// The line for a child to start.
    pub fn dispatch(dispatch: &Dispatch, result_file: String) -> HostLine {
        let DispatchDocument { target, argument } = DispatchDocument::new(dispatch);
        HostLine::Dispatch { target, argument, result_file }
    }

    /// The line for the end.
    pub fn stop(ending: Ending) -> HostLine {
        HostLine::Stop {
            exit: ending.exit_code(),
            next_command: ending.next_command().as_str().to_owned(),
        }
    }
}

/// Any document of ours as one line of JSON.
pub(crate) fn to_line(document: &impl Serialize) -> String {
    let mut line = serde_json::to_string(document).expect("our documents have text keys");
    line.push('\n');
    line
}
