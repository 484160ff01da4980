//! Events as JSON documents.

use super::document::{self, DocumentError};
use onloop_run::Event;
use onloop_syntax::syntax::strict_json;

/// Reads one event; members that it does not know are ignored.
///
/// # Errors
///
/// The text is not a JSON object, or does not describe an event.
pub fn read(json: &str) -> Result<Event, DocumentError> {
    document::read(&strict_json::parse(json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_run::{GateDecision, Mode};

    #[test]
    fn every_event_is_written_as_it_was_read() {
        let lines = include_str!("../../../tests/fuzz/seeds/events/every-event.jsonl");
        let mut names = std::collections::BTreeSet::new();
        for line in lines.lines() {
            let event = read(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let written = serde_json::to_value(event).expect("an event");
            assert_eq!(written.to_string(), line);
            names.insert(written["event"].to_string());
        }
        assert_eq!(names.len(), Event::names().len(), "{names:?}");
    }

    #[test]
    fn an_event_is_read_and_what_is_wrong_with_one_is_said() {
        let event =
            Event::GateDecided { step: 2, decision: GateDecision::Approved, mode: Mode::Human };
        let bare = r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"human"}"#;
        assert_eq!(read(bare), Ok(event.clone()));
        assert_eq!(serde_json::to_string(&event).expect("an event"), bare);
        let more = r#"{"later":[1],"event":"run_resumed","step":2}"#;
        assert_eq!(read(more), Ok(Event::RunResumed));
        let table = [
            (
                r#"{"event":"gate_decided","step":2,"decision":"maybe","mode":"human"}"#,
                "unknown variant `maybe`, expected `approved` or `rejected`",
            ),
            (
                r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"me"}"#,
                "unknown variant `me`, expected `auto` or `human`",
            ),
            (r#"{"step":2}"#, "missing field `event`"),
            (r#"{"event":"step_started"}"#, "missing field `step`"),
            (
                r#"{"event":"review_finished","verdict":"READY","findings":"","base":null}"#,
                "missing field `step`",
            ),
            (
                r#"{"event":"usage_reported","agents":1,"tokens":1}"#,
                "missing field `cost_usd_micros`",
            ),
            (
                r#"{"event":"finish_recorded","target_branch":null,"replace":false}"#,
                "missing field `disposition`",
            ),
            ("", "EOF while parsing a value at line 1 column 0"),
        ];
        for (json, expected) in table {
            assert_eq!(read(json).unwrap_err().to_string(), expected);
        }
        let error = read(r#"{"event":"step_flew","step":2}"#).unwrap_err().to_string();
        assert!(error.starts_with("`event`: unknown variant `step_flew`, expected"), "{error}");
    }
}
