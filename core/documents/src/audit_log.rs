//! `audit.jsonl` in the state home: what happened in hands-off sessions that a person wants to know in
//! the morning. One line of JSON for each entry.

use serde::{Deserialize, Serialize};

use onloop_permission::Decision;
use onloop_sessions::handsoff::approval::Approver;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::text::words;
use onloop_syntax::time::{Timestamp, millis};

words! {
    /// What an entry is about.
    pub enum AuditEvent {
        /// A call of a tool was decided, by somebody who was asked or against it.
        Decided = "decided",
        /// A call of a tool waits for a person.
        Deferred = "deferred",
        /// A chat or a model could not be reached.
        Outage = "outage",
        /// It could be reached again.
        Restored = "restored",
        /// The supervisor gave no usable answer.
        Supervisor = "supervisor",
        /// The client's provider did not serve it.
        Limit = "limit",
        /// Something else about a session: it began, was sent on, paused or ended.
        Session = "session",
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    #[serde(with = "millis")]
    pub at: Timestamp,
    /// What it is about.
    pub event: AuditEvent,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder in which it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The tool whose call was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call would have done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Who decided.
    #[serde(flatten)]
    pub by: Option<Approver>,
    /// What happened, or why, on one line.
    pub text: String,
}

impl AuditEntry {
    /// An entry about no session in particular.
    pub fn new(at: Timestamp, event: AuditEvent, text: &str) -> AuditEntry {
        AuditEntry {
            at,
            event,
            session: None,
            folder: None,
            tool: None,
            about: None,
            decision: None,
            by: None,
            text: text.to_owned(),
        }
    }

    /// Each text on one line, changed by `change`.
    fn map_texts(self, change: impl Fn(&str) -> String) -> AuditEntry {
        let changed = |words: &str| change(&text::one_line(words));
        let each = |words: Option<String>| words.as_deref().map(changed);
        AuditEntry {
            session: each(self.session),
            folder: each(self.folder),
            tool: each(self.tool),
            about: each(self.about),
            by: self.by.map(|by| Approver { name: changed(&by.name), ..by }),
            text: changed(&self.text),
            ..self
        }
    }

    /// What happened, on one line for people, without the time.
    pub fn line(&self) -> String {
        let Some(decision) = self.decision else { return self.text.clone() };
        let what = match decision {
            Decision::Allow => "allowed",
            Decision::Deny => "denied",
            Decision::Ask => "not decided",
        };
        let by = self.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        let tool = self.tool.as_deref().unwrap_or("a call");
        let about = self.about.as_ref().map_or_else(String::new, |about| format!(" `{about}`"));
        format!("{what}{by}: {tool}{about}")
    }
}

/// An entry as a line, with its line break. Texts are cut to [`limits::AUDIT_LOG_TEXT_BYTES`].
pub fn write_line(entry: &AuditEntry) -> String {
    let short = |words: &str| text::ellipsis(words, limits::AUDIT_LOG_TEXT_BYTES);
    let entry = entry.clone().map_texts(short);
    serde_json::to_string(&entry).expect("an entry has only string keys") + "\n"
}

/// The entries in these lines, in their order. What is damaged, cut or of a later version is left
/// out: nothing is decided by it.
pub fn read_lines(lines: &[u8]) -> Vec<AuditEntry> {
    let lines = String::from_utf8_lossy(lines);
    let entries = lines.lines().filter_map(|line| serde_json::from_str::<AuditEntry>(line).ok());
    entries.map(|entry| entry.map_texts(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_sessions::handsoff::approval::ApprovalStage;

    fn entry() -> AuditEntry {
        AuditEntry {
            session: Some("s1".to_owned()),
            folder: Some("/srv/shop".to_owned()),
            tool: Some("Bash".to_owned()),
            about: Some("make deploy".to_owned()),
            decision: Some(Decision::Allow),
            by: Some(Approver { stage: ApprovalStage::Person, name: "Ann Lee".to_owned() }),
            ..AuditEntry::new(Timestamp::EPOCH, AuditEvent::Decided, "it was approved")
        }
    }

    #[test]
    fn an_entry_is_one_line_and_read_as_it_was_written() {
        let line = write_line(&entry());
        assert_eq!(
            line,
            "{\"at\":\"1970-01-01T00:00:00.000Z\",\"event\":\"decided\",\"session\":\"s1\",\
             \"folder\":\"/srv/shop\",\"tool\":\"Bash\",\"about\":\"make deploy\",\
             \"decision\":\"allow\",\"stage\":\"person\",\"by\":\"Ann Lee\",\
             \"text\":\"it was approved\"}\n"
        );
        assert_eq!(read_lines(line.as_bytes()), [entry()]);
        assert_eq!(entry().line(), "allowed by person Ann Lee: Bash `make deploy`");
        let plain = AuditEntry::new(Timestamp::EPOCH, AuditEvent::Outage, "gone\n\u{1b}[2J");
        let line = write_line(&plain);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(read_lines(line.as_bytes())[0].line(), "gone");
        let long = AuditEntry { about: Some("x".repeat(100_000)), ..entry() };
        assert!(write_line(&long).len() < 1000);
    }

    #[test]
    fn what_is_damaged_hides_no_other() {
        let good = write_line(&entry());
        let lines = format!("{good}{{\n\u{0}\n{}{good}", good.replace("decided", "dreamt"));
        assert_eq!(read_lines(lines.as_bytes()).len(), 2);
        assert_eq!(read_lines(b"\xff\n"), []);
    }
}
