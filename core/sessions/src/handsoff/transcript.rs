//! What the end of a transcript shows. Only its end is read: transcripts grow to hundreds of
//! megabytes. Hosts write different entries; those that are not understood are skipped, so they
//! never count as progress.

use serde_json::Value;

/// Entries at the end among which an error of the service is looked for.
const LAST_ENTRIES: usize = 6;

/// Entries at the end that name a place.
const PLACE_ENTRIES: usize = 4;

/// What is known about the agent's last turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// What the agent said last.
    pub message: Option<String>,
    /// Whether it used a tool since it was last spoken to; `None`: unknown.
    pub tools: Option<bool>,
    /// The error message of the model's service, if the transcript ends with one.
    pub api_error: Option<String>,
    /// Digest of the last entries: two stops at one place are one stop.
    pub place: Option<String>,
    /// Whether the transcript lacks the agent's last words, so that [`Evidence::tools`] is about
    /// the entries since the last prompt in it.
    pub is_late: bool,
    /// Whether a tool was used since the last prompt that the transcript has.
    pub since_prompt: bool,
}

impl Evidence {
    /// Nothing is known at all.
    pub fn is_nothing(&self) -> bool {
        self.message.is_none() && self.tools.is_none() && self.api_error.is_none()
    }

    /// The same of a transcript that lacks the agent's last words: what went wrong in it belongs to
    /// an earlier turn.
    pub fn late(self) -> Evidence {
        let tools = self.tools.map(|_| self.since_prompt);
        Evidence { tools, api_error: None, is_late: true, ..self }
    }

    /// Whether the transcript ends before `message`, which the host says was the agent's last:
    /// hosts write it while they call hooks. What is seen in it is about an earlier turn then.
    pub fn is_behind(&self, message: &str) -> bool {
        let message = message.trim();
        if let Some(error) = &self.api_error {
            // An agent that has spoken since was served again.
            return !error.contains(message) && !message.contains(error.trim());
        }
        let seen = self.message.as_deref().map_or("", str::trim_end);
        !self.is_nothing() && !seen.ends_with(message)
    }
}

/// One entry, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    /// The agent spoke, used a tool, or both.
    Agent {
        /// What it said.
        text: Option<String>,
        /// Whether it used a tool.
        tool: bool,
    },
    /// A tool answered.
    ToolAnswered,
    /// A prompt to the agent, from a person or from onloop.
    Spoken,
    /// The model's service failed.
    Failed(String),
    /// Anything else: summaries, snapshots, meta data.
    Aside,
}

/// Reads the last bytes of a transcript. `whole`: they are all of it.
pub fn read(tail: &[u8], whole: bool) -> Evidence {
    let tail = String::from_utf8_lossy(tail);
    let mut lines: Vec<&str> = tail.lines().filter(|line| !line.trim().is_empty()).collect();
    if !whole && !lines.is_empty() {
        // The first line is the end of one that began before.
        lines.remove(0);
    }
    let mut evidence = Evidence { place: place(&lines), ..Evidence::default() };
    let (mut tools, mut is_prompted) = (None, false);
    for (from_end, line) in lines.iter().rev().enumerate() {
        match serde_json::from_str::<Value>(line).map_or(Entry::Aside, |entry| classify(&entry)) {
            Entry::Failed(message) => {
                // An error is over once the agent has spoken again.
                let is_last = evidence.message.is_none() && tools.is_none();
                if from_end < LAST_ENTRIES && is_last && evidence.api_error.is_none() {
                    evidence.api_error = Some(message);
                }
            }
            Entry::Agent { text, tool } => {
                if evidence.message.is_none() {
                    evidence.message = text;
                }
                tools = Some(tools.unwrap_or(false) || tool);
                evidence.since_prompt |= tool && !is_prompted;
            }
            Entry::ToolAnswered => {
                tools = Some(true);
                evidence.since_prompt |= !is_prompted;
            }
            // Before that the agent was on an earlier turn.
            Entry::Spoken if tools.is_some() => {
                evidence.tools = tools;
                return evidence;
            }
            Entry::Spoken => is_prompted = true,
            Entry::Aside => {}
        }
    }
    // Where the turn began is not in sight: then only a tool that was seen proves anything.
    evidence.tools = tools.filter(|&used| used || whole);
    evidence
}

/// What stands last, without what hosts note about hooks: several hooks are called at one place.
fn place(lines: &[&str]) -> Option<String> {
    let is_of_hook = |line: &&str| {
        let entry = serde_json::from_str::<Value>(line).unwrap_or_default();
        let kinds = ["/type", "/subtype", "/attachment/type", "/data/type"];
        kinds.iter().any(|kind| {
            let kind = entry.pointer(kind).and_then(Value::as_str).unwrap_or_default();
            kind.contains("hook")
        })
    };
    let last = lines.iter().rev().filter(|line| !is_of_hook(line)).take(PLACE_ENTRIES);
    let last: Vec<&str> = last.copied().collect();
    (!last.is_empty()).then(|| super::session::digest(&last.join("\n")))
}

/// The conversation in the last bytes of a transcript, as `role: text` lines.
pub fn conversation(tail: &[u8], whole: bool) -> String {
    let tail = String::from_utf8_lossy(tail);
    let mut out = String::new();
    for line in tail.lines().skip(usize::from(!whole)) {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { continue };
        let payload = &entry["payload"];
        let (role, content) = match entry["type"].as_str() {
            Some(role @ ("assistant" | "user")) => (role, &entry["message"]["content"]),
            Some("response_item") => match payload["role"].as_str() {
                Some(role @ ("assistant" | "user")) => (role, &payload["content"]),
                Some(_) | None => continue,
            },
            Some(_) | None => continue,
        };
        if let Some(text) = said(content) {
            out += &format!("{role}: {}\n", onloop_syntax::text::printable(&text));
        }
    }
    out
}

fn classify(entry: &Value) -> Entry {
    if entry["isApiErrorMessage"].as_bool() == Some(true) {
        let message = said(&entry["message"]["content"]).or_else(|| text_of(&entry["error"]));
        return Entry::Failed(message.unwrap_or_else(|| "an error without a message".to_owned()));
    }
    match entry["type"].as_str() {
        Some("assistant") => {
            let content = &entry["message"]["content"];
            Entry::Agent { text: said(content), tool: has_block(content, "tool_use") }
        }
        Some("user") => match has_block(&entry["message"]["content"], "tool_result") {
            true => Entry::ToolAnswered,
            false => Entry::Spoken,
        },
        // Codex wraps its entries.
        Some("response_item" | "event_msg") => classify_payload(&entry["payload"]),
        Some(_) | None => Entry::Aside,
    }
}

fn classify_payload(payload: &Value) -> Entry {
    match (payload["type"].as_str(), payload["role"].as_str()) {
        (Some("message"), Some("assistant")) => {
            Entry::Agent { text: said(&payload["content"]), tool: false }
        }
        (Some("message"), Some("user")) => Entry::Spoken,
        (Some("error" | "stream_error"), _) => {
            let message = text_of(&payload["message"]);
            Entry::Failed(message.unwrap_or_else(|| "an error without a message".to_owned()))
        }
        (Some(kind), _) if kind.ends_with("_call") => Entry::Agent { text: None, tool: true },
        (Some(kind), _) if kind.ends_with("_call_output") => Entry::ToolAnswered,
        _ => Entry::Aside,
    }
}

/// The text in a message's content, which is a string or a list of blocks.
fn said(content: &Value) -> Option<String> {
    if let Some(text) = text_of(content) {
        return Some(text);
    }
    let blocks = content.as_array()?;
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn has_block(content: &Value, kind: &str) -> bool {
    content.as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"type":"user","message":{"role":"user","content":"go on"}}"#;
    const TOOL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}]}}"#;
    const ANSWER: &str =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"ok"}]}}"#;
    const SAYS: &str =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#;
    const FAILS: &str = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"Credit balance is too low"}]}}"#;
    const META: &str = r#"{"type":"system","subtype":"turn_duration"}"#;

    fn shown(lines: &[&str]) -> (Option<&'static str>, Option<bool>, Option<&'static str>) {
        let known = |text: Option<String>| {
            text.map(|text| match text.as_str() {
                "Done." => "Done.",
                "Credit balance is too low" => "Credit balance is too low",
                other => panic!("{other}"),
            })
        };
        let evidence = read(lines.join("\n").as_bytes(), true);
        (known(evidence.message), evidence.tools, known(evidence.api_error))
    }

    #[test]
    fn a_transcript_that_lacks_the_last_words_is_behind() {
        let of = |lines: &[&str]| read(lines.join("\n").as_bytes(), true);
        assert!(!of(&[USER, SAYS]).is_behind("Done."));
        assert!(!of(&[USER, SAYS]).is_behind(" Done.\n"));
        assert!(of(&[USER, SAYS]).is_behind("Done again."));
        assert!(of(&[USER, TOOL, ANSWER]).is_behind("Done."));
        assert!(of(&[USER, FAILS]).is_behind("Done."));
        // Where there is nothing to read, or the service failed just now, nothing is waited for.
        assert!(!of(&[]).is_behind("Done."));
        assert!(!of(&[USER, FAILS]).is_behind("Credit balance is too low, sorry"));
    }

    #[test]
    fn the_last_turn_is_what_counts() {
        let error = Some("Credit balance is too low");
        assert_eq!(shown(&[]), (None, None, None));
        assert_eq!(shown(&["not json", "{}", "[]", "7"]), (None, None, None));
        assert_eq!(shown(&[USER, TOOL, ANSWER, SAYS]), (Some("Done."), Some(true), None));
        assert_eq!(shown(&[USER, TOOL, ANSWER, USER, SAYS]), (Some("Done."), Some(false), None));
        assert_eq!(shown(&[USER, FAILS]), (None, None, error));
        assert_eq!(shown(&[USER, FAILS, META, META]), (None, None, error));
        assert_eq!(shown(&[USER, FAILS, USER, SAYS]), (Some("Done."), Some(false), None));
        assert_eq!(shown(&[SAYS]), (Some("Done."), Some(false), None));
    }

    #[test]
    fn a_late_transcript_shows_the_tools_since_its_last_prompt() {
        let late = |lines: &[&str]| read(lines.join("\n").as_bytes(), true).late().tools;
        assert_eq!(late(&[USER, TOOL, ANSWER, SAYS, USER]), Some(false));
        assert_eq!(late(&[USER, SAYS, USER, TOOL, ANSWER]), Some(true));
        assert_eq!(late(&[USER]), None);
        assert_eq!(read([USER, FAILS].join("\n").as_bytes(), true).late().api_error, None);
    }

    #[test]
    fn codex_says_the_same_in_other_words() {
        let lines = [
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call","name":"shell"}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call_output","output":""}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
        ];
        assert_eq!(shown(&lines), (Some("Done."), Some(true), None));
        let error = r#"{"type":"event_msg","payload":{"type":"error","message":"Credit balance is too low"}}"#;
        assert_eq!(shown(&[error]).2, Some("Credit balance is too low"));
    }

    #[test]
    fn a_conversation_is_what_was_said() {
        let lines = ["half of a line", USER, TOOL, ANSWER, META, SAYS].join("\n");
        assert_eq!(conversation(lines.as_bytes(), false), "user: go on\nassistant: Done.\n");
    }

    #[test]
    fn a_tail_begins_in_the_middle() {
        let tail = format!("{}\n{SAYS}\n", &TOOL[20..]);
        let evidence = read(tail.as_bytes(), false);
        assert_eq!((evidence.message.as_deref(), evidence.tools), (Some("Done."), None));
        assert!(read(b"\xff\xfe\x00", false).is_nothing());
    }
}
