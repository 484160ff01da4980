//! A scenario for `onloop auto rehearse`, and the answer to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DispatchDocument;
use crate::Profile;
use crate::child::ChildOutcome;
use crate::record::Health;
use onloop_syntax::time::Timestamp;

/// A made-up workspace and how the children of a run in it come back. Unknown members are
/// ignored.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Comes back with the answer.
    #[serde(default)]
    pub id: Value,
    /// Name of a [`Profile`].
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Time at the start, RFC 3339.
    pub now: String,
    /// The argument as on the command line; null is an empty one.
    #[serde(default)]
    pub argument: Option<String>,
    /// What the host can do.
    #[serde(default)]
    pub env: EnvironmentDocument,
    /// Path → file.
    #[serde(default)]
    pub tree: BTreeMap<String, EntryDocument>,
    /// What the health check and its repair find.
    #[serde(default)]
    pub health: Option<HealthDocument>,
    /// Files that the repair changes; null removes one.
    #[serde(default)]
    pub health_patch: BTreeMap<String, Option<EntryDocument>>,
    /// How the children come back, in the order in which they are started.
    #[serde(default)]
    pub children: Vec<ChildDocument>,
}

fn default_profile() -> String {
    Profile::default().as_str().to_owned()
}

/// What the host of a scenario can do.
#[derive(Clone, Debug, Deserialize)]
pub struct EnvironmentDocument {
    /// Start child agents.
    pub run_subagent: bool,
}

impl Default for EnvironmentDocument {
    fn default() -> EnvironmentDocument {
        EnvironmentDocument { run_subagent: true }
    }
}

/// A file of a scenario: a string, `{"content", "mtime"}` or `{"unreadable", "mtime"}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub struct EntryDocument {
    /// What reading the file gives.
    pub content: EntryContent,
    /// Last change, where the scenario names one.
    pub modified: Option<Timestamp>,
}

/// What reading a file of a scenario gives.
#[derive(Clone, Debug)]
pub enum EntryContent {
    /// This text.
    Text(String),
    /// A failure with this message.
    Unreadable(String),
}

impl TryFrom<Value> for EntryDocument {
    type Error = &'static str;

    fn try_from(mut value: Value) -> Result<EntryDocument, &'static str> {
        let modified = match value.get_mut("mtime").map(Value::take) {
            None | Some(Value::Null) => None,
            Some(Value::String(mtime)) => {
                Some(Timestamp::parse(&mtime).ok_or("the `mtime` of an entry is not RFC 3339")?)
            }
            Some(_) => return Err("the `mtime` of an entry is not a text"),
        };
        if let Value::String(text) = value {
            return Ok(EntryDocument { content: EntryContent::Text(text), modified });
        }
        let mut member = |name| value.get_mut(name).map(Value::take);
        let content = match (member("content"), member("unreadable")) {
            (Some(Value::String(text)), _) => EntryContent::Text(text),
            (None, Some(Value::String(why))) => EntryContent::Unreadable(why),
            _ => return Err("an entry is a text, or has `content` or `unreadable`"),
        };
        Ok(EntryDocument { content, modified })
    }
}

/// What a health check finds: one word for both halves, or a list of words.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub struct HealthDocument(Vec<Health>);

impl TryFrom<Value> for HealthDocument {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<HealthDocument, &'static str> {
        let health = |value: &Value| value.as_str().map(Health::from_word);
        let found = match &value {
            Value::Array(words) => words.iter().map(health).collect(),
            word => health(word).map(|health| vec![health; 2]),
        };
        found.map(HealthDocument).ok_or("`health` is a word or a list of words")
    }
}

impl HealthDocument {
    /// What the check and its repair find, in the order in which they are made.
    pub fn outcomes(self) -> Vec<Health> {
        self.0
    }
}

/// How a child of a scenario comes back.
#[derive(Clone, Debug, Deserialize)]
pub struct ChildDocument {
    /// Its answer. Anything but a text counts as an empty one.
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<ChildError>,
    /// Files that it changes before it answers; null removes one.
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
    /// How long it takes, in milliseconds.
    pub fn takes_ms(&self) -> i64 {
        (self.takes_s * 1000.0) as i64
    }

    /// How it comes back.
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

/// What the run of a scenario has said and done.
#[derive(Clone, Debug, Serialize)]
pub struct Rehearsal {
    /// The scenario's.
    pub id: Value,
    /// The token stream.
    pub lines: Vec<String>,
    /// The children that were started.
    pub dispatches: Vec<DispatchDocument>,
    /// Whether a lock is left behind, the run's own or another's.
    pub lock_present: bool,
}

/// The error that stops the simulation of a line.
#[derive(Clone, Debug, Serialize)]
pub struct RehearsalError {
    /// The scenario's, or null.
    pub id: Value,
    /// What was found and what was expected.
    pub error: String,
}
