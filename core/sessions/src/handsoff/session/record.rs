//! What is remembered about an agent session.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Pause, SessionId, SessionState};
use onloop_syntax::time::Timestamp;

/// What is remembered about an agent session that continues unattended: the members of its file, in
/// their order. The first generation wrote `workflow`, `state`, `continuation_count`, and `issue_no`,
/// `pr_no` and `pr_number` where they were known; tools that edit the file write numbers as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The host's name for it, and the name of its file.
    #[serde(skip)]
    pub id: SessionId,
    /// What it works on: a workflow of the table, one of the user's own, or
    /// [`Session::RUN`](super::Session::RUN).
    pub workflow: String,
    /// Whether it is still active.
    pub state: SessionState,
    /// The pull request it was started for.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub pr_no: Option<u64>,
    /// The issue it is about.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub issue_no: Option<u64>,
    /// How many times the agent was continued.
    #[serde(deserialize_with = "count")]
    pub continuation_count: u32,
    /// The pull request it made.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<u64>,
    /// The run of ours that it drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Revision of that run's record when it was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_revision: Option<u64>,
    /// When it did what begins a run that is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begins_run_at: Option<Timestamp>,
    /// Why the agent may stop although the session is open.
    #[serde(rename = "paused_by", skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// Continuations since the agent last used a tool; some hosts limit these.
    #[serde(default)]
    pub in_a_row: u32,
    /// Continuations in a row that brought no progress.
    #[serde(default)]
    pub stalled: u32,
    /// Where in the conversation the last stop was that counted, and how many hooks have been
    /// called for it besides the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<CountedStop>,
    /// Digest of what the agent said when it last stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// Digest of the last continuation prompt: some hosts report it as a person's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_prompt: Option<String>,
    /// The host's id of the prompt that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// Why it was last not continued, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Until when the provider of its agent does not serve it, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_until: Option<Timestamp>,
    /// Since when that is so, over several refusals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_since: Option<Timestamp>,
    /// Since when its agent, which has stopped, waits for background tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_since: Option<Timestamp>,
    /// Background tasks that had their time: their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Receivers of notices that have not been told yet that it is not continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_notifications: Vec<String>,
    /// When something about it last changed; `None` in files of the first generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Members that this version does not know; they survive a rewrite.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The last stop that was answered with a continuation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedStop {
    /// The place in the conversation, as [`Evidence::place`](crate::handsoff::transcript::Evidence) names it.
    pub place: String,
    /// How many more hooks were called for the same stop: those of another scope, or of a host
    /// that reads the files of two.
    pub echoes: u32,
}

/// A whole number, or the digits of one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a whole number from 0")]
enum Digits {
    Number(u64),
    Text(String),
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let digits = |text: String| text.trim().parse().map_err(serde::de::Error::custom);
    match Option::<Digits>::deserialize(from)? {
        Some(Digits::Number(number)) => Ok(Some(number)),
        Some(Digits::Text(text)) => digits(text).map(Some),
        None => Ok(None),
    }
}

/// A number that is clamped to what a counter can hold, so that no limit is passed by a large one.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = number(from)?.ok_or_else(|| serde::de::Error::custom("it is `null`"))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}
