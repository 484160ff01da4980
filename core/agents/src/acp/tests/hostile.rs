//! The conversation with agents that do not keep to the protocol.

use super::*;

#[test]
fn what_comes_in_the_wrong_order_or_twice_does_not_count() {
    let mut turn = Turn::begin(None, None);
    let done = json!({ "stopReason": "end_turn" });
    // Answers to what was not asked yet, and to nothing.
    for id in [json!(3), json!(99), json!(-1), json!("1"), Value::Null, json!([1])] {
        turn.push(&json!({ "jsonrpc": "2.0", "id": id, "result": done }));
    }
    turn.permission(
        json!(1),
        json!({ "toolCallId": "c", "kind": "read", "rawInput": { "path": "a" } }),
        &ONCE,
    );
    assert_eq!(turn.last()["result"]["outcome"]["optionId"], "id-reject_once");
    assert!(turn.asked.is_empty() && turn.ended.is_none());
    turn.initialized(json!({}));
    let first = json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": 1 } });
    turn.push(&first);
    let requests = |turn: &Turn| turn.sent.iter().filter(|sent| sent["method"].is_string()).count();
    assert_eq!(requests(&turn), 2, "the second answer starts no second session");
    turn.answer(json!({ "sessionId": "s" }));
    let opened = json!({ "jsonrpc": "2.0", "id": 2, "result": { "sessionId": "t" } });
    turn.push(&opened);
    assert_eq!(requests(&turn), 3);
    let params = json!({ "sessionId": "t", "update": { "sessionUpdate": "agent_message_chunk",
        "content": { "type": "text", "text": "of another" } } });
    turn.push(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    let read = json!({ "toolCallId": "c", "kind": "read", "rawInput": { "path": "/w/a" } });
    turn.permission(json!("p"), read.clone(), &ONCE);
    turn.permission(json!("p"), read.clone(), &ONCE);
    assert_eq!(turn.asked.len(), 1);
    let late = turn.asked.pop().unwrap().key;
    turn.answer(done);
    assert_eq!(turn.ended, Some(true));
    let (state, said, _) = turn.read();
    assert!(
        !said.contains("of another\n") && said.contains("# an update of another session\n"),
        "{said}"
    );
    assert_eq!(state.session(), Some("s"));
    // After the end nothing is sent, whatever comes.
    let sent = turn.sent.len();
    turn.permission(json!("q"), read, &ONCE);
    turn.judge(late, true);
    turn.push(&first);
    let (late, closed) = (turn.dialog.late(), turn.dialog.closed("it ended"));
    assert!(late.is_empty() && closed.is_empty());
    assert_eq!(turn.sent.len(), sent);
}

#[test]
fn an_agent_that_never_answers_or_ends_is_given_up() {
    let mut turn = Turn::begin(None, None);
    assert_eq!(turn.dialog.wait_ms(), Some(limits::ACP_ANSWER_MS));
    let late = turn.dialog.late();
    turn.perform(late);
    assert_eq!(turn.failure(), "the agent did not answer `initialize` in 2 min");
    let mut turn = Turn::prompted();
    assert_eq!(turn.dialog.wait_ms(), None, "the turn has a limit of its own");
    assert!(turn.dialog.late().is_empty());
    let closed = turn.dialog.closed("the agent ended (exit status: 3)");
    turn.perform(closed);
    assert_eq!(
        turn.failure(),
        "the agent ended (exit status: 3) before it answered `session/prompt`"
    );
}

#[test]
fn an_agent_that_answers_what_cannot_be_used_fails() {
    let table = [
        (json!({ "protocolVersion": 2 }), "the agent speaks version 2 of the protocol, onloop 1"),
        (json!({}), "the agent speaks version null of the protocol, onloop 1"),
    ];
    for (answer, why) in table {
        let mut turn = Turn::begin(None, None);
        turn.answer(answer);
        assert_eq!(turn.failure(), why);
    }
    for session in [
        json!({}),
        json!({ "sessionId": "" }),
        json!({ "sessionId": "x".repeat(300) }),
        json!({ "sessionId": "a\nb" }),
    ] {
        let mut turn = Turn::begin(None, None);
        turn.initialized(json!({}));
        turn.answer(session);
        assert_eq!(turn.failure(), "the agent did not name its session");
    }
    for (reason, why) in [
        (json!("refusal"), "the agent refused to continue"),
        (json!("max_tokens"), "the answer reached the limit of its length"),
        (json!("odd"), "the turn ended for the reason odd"),
        (Value::Null, "the turn ended for the reason that is missing"),
    ] {
        let mut turn = Turn::prompted();
        turn.answer(json!({ "stopReason": reason }));
        assert_eq!(turn.failure(), why);
    }
}

#[test]
fn errors_of_the_agent_are_told_apart() {
    use crate::AgentErrorKind::{Auth, Limit, Other, TooLong};
    let table = [
        (json!({ "code": -32000, "message": "Sign in first" }), Auth),
        (json!({ "code": 429, "message": "Slow down" }), Limit),
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "details": "quota exceeded" } }),
            Limit,
        ),
        (
            json!({ "code": -32603, "message": "Internal error", "data": "context window is full" }),
            TooLong,
        ),
        (json!("odd"), Other),
    ];
    for (error, kind) in table {
        let mut turn = Turn::prompted();
        turn.refuse(error.clone());
        let (state, ..) = turn.read();
        let Some(TurnEnd::Failed(found)) = state.turn_end() else { panic!("{error}") };
        assert_eq!(found.kind, kind, "{error}");
    }
}

#[test]
fn a_flood_ends_the_turn_in_bounded_memory() {
    let mut turn = Turn::prompted();
    for number in 0..=limits::ACP_FAULTS {
        assert_eq!(turn.ended, None, "{number}");
        let actions = turn.dialog.push(b"\x00 no message\n");
        turn.perform(actions);
    }
    assert!(turn.failure().starts_with("the agent does not keep to the protocol: not a message"));
    let mut turn = Turn::prompted();
    for number in 0..=limits::AGENT_REQUESTS {
        turn.push(&json!({ "jsonrpc": "2.0", "id": number, "method": "fs/read_text_file" }));
    }
    assert_eq!(turn.failure(), "the agent asked onloop too often");
    let mut turn = Turn::prompted();
    for number in 0..2 * limits::ACP_OPEN_REQUESTS {
        turn.permission(
            json!(number),
            json!({ "kind": "read", "rawInput": { "path": "/w/a" } }),
            &ONCE,
        );
    }
    assert_eq!(turn.asked.len(), limits::ACP_OPEN_REQUESTS);
    for number in 0..2 * limits::AGENT_CALLS {
        turn.update(json!({ "sessionUpdate": "tool_call", "toolCallId": format!("{number}"),
            "kind": "read", "rawInput": { "path": "/w/a" } }));
    }
    turn.answer(json!({ "stopReason": "end_turn" }));
    let mut turn = Turn::prompted();
    let chunk = vec![b'x'; 1 << 20];
    while turn.ended.is_none() {
        let actions = turn.dialog.push(&chunk);
        turn.perform(actions);
    }
    assert_eq!(turn.failure(), "the agent wrote more than 512 MiB in one turn");
}

#[test]
fn the_stream_is_read_like_any_other_and_its_texts_are_clean() {
    let mut state = AgentState::new(Client::Acp, Tokens::default());
    let hostile =
        json!({ "type": "call", "id": "1", "tool": "\u{1b}[2J", "about": "a\u{202e}b\nc" });
    let unknown = json!({ "type": "more", "text": 1 });
    let said = state.push(format!("{hostile}\n{unknown}\nnot json\n").as_bytes());
    assert!(!said.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{said:?}");
    assert!(said.contains("# not json\n"), "{said}");
    assert_eq!(state.outcome(ProcessStatus::Exited(1)), TurnOutcome::NoFinalEvent);
}
