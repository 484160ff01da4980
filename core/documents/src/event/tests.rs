//! Events as documents.

use super::*;
use onloop_run::{GateDecision, Mode};

/// A line as versions wrote it that kept a journal.
fn journal_line(revision: u64, event: &Event) -> String {
    let mut line = Map::new();
    line.insert("revision".to_owned(), Value::from(revision));
    line.insert("at_ms".to_owned(), Value::from(0));
    write_members(event, &mut line);
    Value::Object(line).to_string() + "\n"
}

#[test]
fn an_event_is_read_with_and_without_what_a_journal_adds() {
    let event = Event::GateDecided { step: 2, decision: GateDecision::Approved, mode: Mode::Human };
    assert_eq!(read(&journal_line(7, &event)), Ok(event.clone()));
    let bare = r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"human"}"#;
    assert_eq!(read(bare), Ok(event));
    let table = [
        (
            r#"{"event":"gate_decided","step":2,"decision":"maybe","mode":"human"}"#,
            "`decision` is \"maybe\", expected `approved` or `rejected`",
        ),
        (
            r#"{"event":"gate_decided","step":2,"decision":"approved","mode":"me"}"#,
            "`mode` is \"me\", expected `auto` or `human`",
        ),
        (r#"{"event":"step_started"}"#, "missing field `step`"),
        (
            r#"{"event":"review_finished","verdict":"READY","findings":"","base":null}"#,
            "missing field `step`",
        ),
        (r#"{"event":"usage_reported","agents":1,"tokens":1}"#, "missing field `cost_usd_micros`"),
        (
            r#"{"event":"finish_recorded","finish":{"disposition":"kept"},"replace":false}"#,
            "`finish.recorded_at` is missing",
        ),
        ("", "EOF while parsing a value at line 1 column 0"),
    ];
    for (json, expected) in table {
        assert_eq!(read(json).unwrap_err().to_string(), expected);
    }
    let error = read(r#"{"event":"step_flew","step":2}"#).unwrap_err().to_string();
    assert!(error.starts_with("unknown variant `step_flew`, expected"), "{error}");
}

#[test]
fn the_names_of_events_are_those_that_are_read() {
    let members = [(TAG.to_owned(), Value::from("?"))].into_iter().collect();
    let error = read_members(members).unwrap_err().to_string();
    let names = NAMES.map(|name| format!("`{name}`")).join(", ");
    assert_eq!(error, format!("unknown variant `?`, expected one of {names}"));
}

#[test]
fn only_the_last_line_may_be_torn() {
    let lines = (1..=3).map(|revision| journal_line(revision, &Event::RunResumed));
    let journal = lines.collect::<String>().into_bytes();
    let whole = journal.len();
    let (events, understood) = read_lines(&journal).unwrap();
    assert_eq!((events.len(), understood), (3, whole));
    let torn = [&journal[..], b"{\"revision\":4,\"at"].concat();
    assert_eq!(read_lines(&torn), Ok((events, whole)));
    let lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    let table: [(&[u8], &str); 5] = [
        (b"\n", "EOF while parsing a value at line 1 column 0"),
        (b"[]\n", "it is not a JSON object"),
        (
            b"{\"at_ms\":0,\"event\":\"run_resumed\"}\n",
            "`revision` is missing or not a number from 0",
        ),
        (
            b"{\"revision\":2,\"event\":\"run_resumed\"}\n",
            "`at_ms` is missing or not a whole number",
        ),
        (b"\xff\n", "it is not UTF-8"),
    ];
    for (line, why) in table {
        let error = read_lines(&[lines[0], line, lines[2]].concat()).unwrap_err();
        assert_eq!(error.to_string(), format!("line 2: {why}"));
    }
}
