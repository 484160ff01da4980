//! `notices.json` beside a ledger: what which receiver was told last; and a notice as
//! receivers get it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document;
use onloop_run::NoticeKind;
use onloop_syntax::time::Timestamp;

/// Name and version of the file's format.
const SCHEMA: &str = "onloop.notices/v1";

/// The line of the ledger with which that began what each receiver was told last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told(BTreeMap<String, u64>);

#[derive(Serialize, Deserialize)]
struct ToldDocument {
    schema: String,
    told: BTreeMap<String, u64>,
}

impl Told {
    /// Reads the file. One that is damaged or of another version says nothing: somebody is told
    /// again rather than not at all.
    pub fn read(bytes: &[u8]) -> Told {
        let document: Option<ToldDocument> = serde_json::from_slice(bytes).ok();
        let document = document.filter(|document| document.schema == SCHEMA);
        Told(document.map(|document| document.told).unwrap_or_default())
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let document = ToldDocument { schema: SCHEMA.to_owned(), told: self.0.clone() };
        document::line(&document)
    }

    /// Whether what `receiver` was told last began with the line `seq`. A ledger that was begun anew has
    /// lower numbers again.
    pub fn knows(&self, receiver: &str, seq: u64) -> bool {
        self.0.get(receiver) == Some(&seq)
    }

    /// Remembers that it was.
    pub fn tell(&mut self, receiver: &str, seq: u64) {
        self.0.insert(receiver.to_owned(), seq);
    }
}

/// Something that a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The same for the same news, so that a receiver can drop what it has had.
    pub id: String,
    /// What kind of news it is.
    pub kind: NoticeKind,
    /// When it was told.
    pub at: Timestamp,
    /// On one line.
    pub title: String,
    /// What there is to know, line by line.
    pub facts: String,
    /// How to go on: commands, each below what it does; empty where there is nothing to do.
    pub advice: String,
    /// The run.
    pub run_id: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The step that it is about, from 1, and its name.
    pub step: Option<(u32, String)>,
    /// The folder with the work.
    pub folder: String,
    /// The branch that the work is on.
    pub branch: Option<String>,
}

impl Notice {
    /// The notice as `onloop.notice/v1`.
    pub fn document(&self) -> Value {
        let (step, step_name) = self.step.clone().unzip();
        json!({
            "schema": "onloop.notice/v1",
            "id": self.id,
            "event": self.kind.as_str(),
            "at": self.at.to_rfc3339(),
            "title": self.title,
            "text": self.facts,
            "advice": self.advice,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "step": step,
            "step_name": step_name,
            "folder": self.folder,
            "branch": self.branch,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_remembered_and_what_is_damaged_says_nothing() {
        let mut told = Told::default();
        told.tell("webhook", 7);
        let bytes = told.write();
        let text = "{\"schema\":\"onloop.notices/v1\",\"told\":{\"webhook\":7}}\n";
        assert_eq!(String::from_utf8_lossy(&bytes), text);
        let told = Told::read(&bytes);
        assert!(told.knows("webhook", 7));
        assert!(!told.knows("webhook", 8) && !told.knows("webhook", 2));
        assert!(!told.knows("command", 7));
        for damaged in ["", "{}", "{\"schema\":\"x\",\"told\":{\"webhook\":7}}", &text[..20]] {
            assert_eq!(Told::read(damaged.as_bytes()), Told::default(), "{damaged}");
        }
    }
}
