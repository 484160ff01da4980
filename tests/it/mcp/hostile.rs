//! What no client should send, and what must not come of it.

use std::io::Write;
use std::process::Stdio;

use super::*;

/// Everything that the server says to these bytes, line by line.
fn answers(workspace: &Workspace, input: &[u8]) -> Vec<Value> {
    let mut command = workspace.command_at(".", program());
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = server.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).expect("only JSON")).collect()
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let workspace = Workspace::plain();
    let mut input = vec![b'x'; 9 * 1024 * 1024];
    input.extend_from_slice(format!("\n{PING}\n").as_bytes());
    let answers = answers(&workspace, &input);
    assert_eq!(answers[0]["error"]["code"], -32700);
    assert_eq!(answers[1]["id"], 1);
    assert_eq!(answers.len(), 2);
}

#[test]
fn a_message_needs_no_line_break_at_the_end_and_may_have_blanks_around() {
    let workspace = Workspace::plain();
    let answers = answers(&workspace, format!("\r\n  {HELLO}\r\n\n{PING}").as_bytes());
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[1]["result"], json!({}));
}

#[test]
fn what_commands_print_never_reaches_the_protocol() {
    let workspace = project("low", "", "echo '{\"evil\": 1}'; echo oops >&2; echo hi > hello.txt");
    let run = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "run", "arguments": here() },
    });
    // The end of input comes at once, and with it the end of the run: whichever is first, what
    // is said is said in messages.
    let answers = answers(&workspace, format!("{HELLO}\n{run}\n").as_bytes());
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{answers:?}");
    assert_eq!(answers.last().unwrap()["id"], 2);
}

#[test]
fn many_short_calls_may_come_at_once() {
    let workspace = Workspace::plain();
    let call = |id: u32| {
        let params = json!({ "name": "status", "arguments": {} });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let calls: Vec<String> = (1..=50).map(|id| call(id).to_string()).collect();
    let answers = answers(&workspace, format!("{HELLO}\n{}\n", calls.join("\n")).as_bytes());
    let outcomes = answers.iter().map(|answer| &answer["result"]["structuredContent"]["outcome"]);
    assert_eq!(outcomes.filter(|outcome| **outcome == "done").count(), 50);
}

#[test]
fn half_a_message_holds_nothing_up() {
    use std::io::{BufRead, BufReader};

    let workspace = project("low", "", "sleep 0.05; echo hi > hello.txt");
    let mut command = workspace.command_at(".", program());
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let (mut stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut said = BufReader::new(stdout).lines();
    // The next answer; that there is a new run is said as well.
    let mut next = || loop {
        let message: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
        if message.get("id").is_some() {
            return message;
        }
        assert_eq!(message["method"], "notifications/resources/list_changed");
    };
    let run = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "run", "arguments": here() },
    });
    let (first, rest) = PING.split_at(20);
    stdin.write_all(format!("{HELLO}\n{run}\n{first}").as_bytes()).unwrap();
    assert_eq!(next()["id"], 0);
    let done = next();
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done:#}");
    stdin.write_all(format!("{rest}\n").as_bytes()).unwrap();
    assert_eq!(next()["id"], 1);
    drop(stdin);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn bytes_of_any_kind_are_answered_with_messages_only() {
    use proptest::prelude::*;

    let workspace = Workspace::plain();
    let pieces = prop_oneof![
        Just(HELLO.to_owned()),
        Just(PING.to_owned()),
        Just(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned()),
        Just(r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#.to_owned()),
        Just(
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status"}}"#
                .to_owned()
        ),
        Just(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#
                .to_owned()
        ),
        Just("\n".to_owned()),
        "[\\[\\]{}\":,0-9a-z]{0,20}",
    ];
    let inputs = proptest::collection::vec(pieces, 0..20);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&inputs, |pieces| {
            for answer in answers(&workspace, pieces.join("\n").as_bytes()) {
                let messages = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
                for message in messages {
                    prop_assert_eq!(&message["jsonrpc"], "2.0");
                }
            }
            Ok(())
        })
        .unwrap();
}
