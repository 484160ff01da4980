//! Redacted texts. The Node host's tests use the same table.

use serde_json::Value;

use super::*;
use crate::ProcessStatus;

fn redaction(env: &Value) -> Redaction {
    let env = env.as_object().expect("names and values").iter();
    Redaction::new(&env.map(|(name, value)| (name.clone(), text(value).to_owned())).collect())
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn one(value: &str) -> Redaction {
    redaction(&serde_json::json!({ "A_KEY": value }))
}

#[test]
fn secrets_are_replaced_in_texts_and_in_streams_of_any_chunk_size() {
    let table: Vec<Value> = serde_json::from_str(include_str!("table.json")).unwrap();
    assert!(!table.is_empty());
    for case in table {
        let redaction = Arc::new(redaction(&case["env"]));
        let (dirty, clean) = (text(&case["text"]), text(&case["clean"]));
        assert_eq!(redaction.text(dirty), clean, "{}", case["what"]);
        assert_eq!(redaction.text(clean), clean, "{}: twice", case["what"]);
        for chunk in [1, 2, 3, 7, 64, 4096] {
            let mut stream = RedactedStream::new(redaction.clone());
            let mut out = Vec::new();
            dirty.as_bytes().chunks(chunk).for_each(|bytes| out.extend(&*stream.push(bytes)));
            out.extend(stream.finish());
            assert_eq!(String::from_utf8(out).unwrap(), clean, "{}: {chunk}", case["what"]);
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let clean = one("hush42-hush42").bytes(b"\xffhush42-hush42\xfe").into_owned();
    assert_eq!(clean, b"\xff[redacted A_KEY]\xfe");
}

#[test]
fn the_ends_of_a_long_output_show_no_part_of_a_secret() {
    let table = [
        // Contiguous, across the border.
        ("a hush42", "-hush42 b", 17, "a [redacted A_KEY] b"),
        ("a hush42-hush42 b", "", 17, "a [redacted A_KEY] b"),
        // Cut in the middle of one, with nothing or too little of it left.
        ("a hush42-hu", "h42 b", 100, "a [redacted A_KEY]\n[… 84 bytes not kept …]\nh42 b"),
        ("a hus", "-hush42 b", 100, "a hus\n[… 86 bytes not kept …]\n[redacted A_KEY] b"),
    ];
    for (head, tail, total_bytes, expected) in table {
        let stdout = Capture { head: head.into(), tail: tail.into(), total_bytes };
        let stderr = Capture::default();
        let status = ProcessStatus::Exited(0);
        let mut end = ProcessEnd {
            status,
            stdout,
            stderr,
            duration_ms: 0,
            confined: None,
            opened: None,
            refused: Vec::new(),
        };
        one("hush42-hush42").end(&mut end);
        assert_eq!(end.stdout.text(), expected, "{head}|{tail}");
    }
}

#[test]
fn a_variable_is_named_whose_value_has_a_secret() {
    let env = [
        ("AZURE", "AccountName=a;AccountKey=0123456789abcdef"),
        ("DATABASE_URL", "postgres://me:pw@db/app"),
        ("EDITOR", "vi"),
        ("GIT_CONFIG_KEY_0", "http.extraheader"),
        ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic 0123456789abcdef"),
        ("HTTP_PROXY", "http://proxy:3128"),
        ("MY_TOKEN", "x"),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let names: Vec<&str> = names_with_secrets(&env).map(String::as_str).collect();
    assert_eq!(names, ["AZURE", "DATABASE_URL", "GIT_CONFIG_VALUE_0", "MY_TOKEN"]);
}

#[test]
fn nothing_shows_a_secret_while_debugging() {
    assert_eq!(format!("{:?}", one("hush42-hush42")), "Redaction { secrets: 1, .. }");
}
