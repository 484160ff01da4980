//! The conversation with agents that keep to the protocol, and with agents that do not.

use serde_json::{Value, json};

use super::*;
use crate::{AgentState, Client, TurnOutcome};
use onloop_effect::ProcessStatus;

/// A conversation, and what onloop did in it.
struct Turn {
    dialog: AcpDialog,
    sent: Vec<Value>,
    stream: String,
    asked: Vec<PermissionRequest>,
    ended: Option<bool>,
}

impl Turn {
    fn begin(session: Option<&str>, model: Option<&str>) -> Turn {
        let settings = AcpSettings {
            cwd: "/w".to_owned(),
            prompt: "do it".to_owned(),
            session: session.map(str::to_owned),
            model: model.map(str::to_owned),
        };
        let (dialog, first) = AcpDialog::begin(settings, "1.0.0");
        let (sent, asked) = (Vec::new(), Vec::new());
        let mut turn = Turn { dialog, sent, stream: String::new(), asked, ended: None };
        turn.perform(first);
        turn
    }

    /// A turn whose prompt was sent, in the session `s`.
    fn prompted() -> Turn {
        let mut turn = Turn::begin(None, None);
        turn.initialized(json!({}));
        turn.answer(json!({ "sessionId": "s" }));
        assert_eq!(turn.method(), "session/prompt");
        turn
    }

    fn perform(&mut self, actions: Vec<AcpAction>) {
        for action in actions {
            assert_eq!(self.ended, None, "nothing follows the end: {action:?}");
            match action {
                AcpAction::Send(line) => {
                    assert!(!line.contains('\n'));
                    self.sent.push(serde_json::from_str(&line).unwrap());
                }
                AcpAction::Tell(line) => self.stream += &format!("{line}\n"),
                AcpAction::Judge(request) => self.asked.push(request),
                AcpAction::End { is_well } => self.ended = Some(is_well),
            }
        }
    }

    fn push(&mut self, message: &Value) {
        let actions = self.dialog.push(format!("{message}\n").as_bytes());
        self.perform(actions);
    }

    fn last(&self) -> &Value {
        self.sent.last().unwrap()
    }

    fn method(&self) -> &str {
        self.last()["method"].as_str().unwrap_or_default()
    }

    /// The id of our last request.
    fn id(&self) -> Value {
        let request = self.sent.iter().rfind(|sent| sent["method"].is_string());
        request.unwrap()["id"].clone()
    }

    /// The agent answers our last request.
    fn answer(&mut self, result: Value) {
        let id = self.id();
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&mut self, error: Value) {
        let id = self.id();
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    fn initialized(&mut self, abilities: Value) {
        self.answer(json!({
            "protocolVersion": 1,
            "agentCapabilities": abilities,
            "agentInfo": { "name": "x", "title": "X", "version": "2.0" },
        }));
    }

    fn update(&mut self, update: Value) {
        let params = json!({ "sessionId": "s", "update": update });
        self.push(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn permission(&mut self, id: Value, call: Value, kinds: &[&str]) {
        let option =
            |kind: &&str| json!({ "optionId": format!("id-{kind}"), "name": kind, "kind": kind });
        let options: Vec<Value> = kinds.iter().map(option).collect();
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        let method = "session/request_permission";
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn judge(&mut self, key: u64, is_allowed: bool) {
        let verdict = AcpVerdict { is_allowed, reason: "no".to_owned() };
        let actions = self.dialog.judged(key, &verdict);
        self.perform(actions);
    }

    /// What the stream comes to, and the turn's outcome by it.
    fn read(&self) -> (AgentState, String, TurnOutcome) {
        let mut state = AgentState::new(Client::Acp, Tokens::default());
        let mut said = state.push(self.stream.as_bytes());
        said += &state.finish();
        let exit = ProcessStatus::Exited(i32::from(self.ended != Some(true)));
        let outcome = state.outcome(exit);
        (state, said, outcome)
    }

    /// Why the turn failed.
    fn failure(&self) -> String {
        assert_eq!(self.ended, Some(false), "{}", self.stream);
        match self.read().2 {
            TurnOutcome::Failed(error) => error.message,
            other => panic!("{other:?}"),
        }
    }
}

const ONCE: [&str; 4] = ["allow_always", "allow_once", "reject_always", "reject_once"];

#[test]
fn a_turn_in_order_becomes_a_stream() {
    let mut turn = Turn::begin(None, None);
    assert_eq!(turn.method(), "initialize");
    assert_eq!(turn.last()["params"]["clientCapabilities"]["terminal"], false);
    turn.initialized(json!({ "loadSession": true }));
    assert_eq!(turn.method(), "session/new");
    assert_eq!(turn.last()["params"], json!({ "cwd": "/w", "mcpServers": [] }));
    turn.answer(json!({ "sessionId": "s", "models": {
        "currentModelId": "m1", "availableModels": [{ "modelId": "m1", "name": "One" }],
    }}));
    assert_eq!(turn.last()["params"]["prompt"], json!([{ "type": "text", "text": "do it" }]));
    let text = |text: &str| json!({ "type": "text", "text": text });
    turn.update(json!({ "sessionUpdate": "agent_thought_chunk", "content": text("hm") }));
    for (id, part) in [("1", "I "), ("1", "run it."), ("2", "Then I am done.")] {
        let content = text(part);
        turn.update(
            json!({ "sessionUpdate": "agent_message_chunk", "messageId": id, "content": content }),
        );
    }
    turn.update(json!({ "sessionUpdate": "plan", "entries": [
        { "content": "a", "status": "completed" }, { "content": "b", "status": "in_progress" },
    ]}));
    // The call is told of once more is known than its name.
    turn.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "bash",
        "kind": "execute", "status": "pending", "rawInput": {} }));
    turn.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "in_progress", "rawInput": { "command": "make" } }));
    turn.update(
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
        "content": [{ "type": "content", "content": text("no rule") }] }),
    );
    turn.update(json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100,
        "cost": { "amount": 0.25, "currency": "USD" } }));
    turn.answer(json!({ "stopReason": "end_turn", "usage": { "totalTokens": 18, "inputTokens": 5,
        "outputTokens": 3, "thoughtTokens": 2, "cachedReadTokens": 7, "cachedWriteTokens": 1 } }));
    assert_eq!(turn.ended, Some(true));
    let (state, said, outcome) = turn.read();
    assert_eq!(outcome, TurnOutcome::Completed);
    assert_eq!(
        (state.session(), state.model(), state.version()),
        (Some("s"), Some("m1"), Some("X 2.0"))
    );
    let used = Tokens { input: 13, cached_input: 7, output: 5 };
    assert_eq!((state.tokens(), state.cost()), (Some(used), Money::from_usd(0.25)));
    assert_eq!(
        said,
        "— acp X 2.0, m1, session s\nI run it.\nThen I am done.\n# plan: 1 of 2 done, now: b\n\
         → execute: make\n✗ execute failed\n  | no rule\n"
    );
}

#[test]
fn a_conversation_continues_as_the_agent_can() {
    let resume = json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } });
    for (abilities, method) in
        [(resume, "session/resume"), (json!({ "loadSession": true }), "session/load")]
    {
        let mut turn = Turn::begin(Some("s"), None);
        turn.initialized(abilities);
        assert_eq!((turn.method(), &turn.last()["params"]["sessionId"]), (method, &json!("s")));
        // What is told again is not of this turn, and the cost counts from here.
        let content = json!({ "type": "text", "text": "earlier" });
        turn.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
        turn.update(
            json!({ "sessionUpdate": "usage_update", "cost": { "amount": 2, "currency": "USD" } }),
        );
        turn.answer(Value::Null);
        turn.update(json!({ "sessionUpdate": "usage_update", "cost": { "amount": 2.5, "currency": "USD" } }));
        turn.answer(json!({ "stopReason": "end_turn" }));
        let (state, said, _) = turn.read();
        assert!(!said.contains("earlier"), "{said}");
        assert_eq!((state.cost(), state.tokens()), (Money::from_usd(0.5), None));
    }
    let mut turn = Turn::begin(Some("s"), None);
    turn.initialized(json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } }));
    turn.refuse(json!({ "code": -32601, "message": "Method not found" }));
    assert_eq!(turn.method(), "session/load", "what is announced and not there is done otherwise");
    let mut turn = Turn::begin(Some("s"), None);
    turn.initialized(json!({}));
    assert_eq!(turn.failure(), "the agent cannot continue a conversation");
    assert!(turn.read().0.is_idle(), "a new conversation can begin");
    // Without a beginning the cost of the turn is unknown.
    let mut turn = Turn::begin(Some("s"), None);
    turn.initialized(json!({ "loadSession": true }));
    turn.answer(Value::Null);
    turn.update(
        json!({ "sessionUpdate": "usage_update", "cost": { "amount": 9, "currency": "USD" } }),
    );
    assert_eq!(turn.read().0.cost(), None);
}

#[test]
fn a_model_is_set_in_the_way_that_the_agent_offers() {
    let grouped = json!({ "sessionId": "s", "configOptions": [
        { "id": "mode", "category": "mode", "options": [{ "value": "m", "name": "M" }] },
        { "id": "llm", "category": "model", "currentValue": "a", "options": [
            { "group": "g", "name": "G", "options": [{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }] },
        ]},
    ]});
    let listed = json!({ "sessionId": "s", "models": { "currentModelId": "a", "availableModels": [
        { "modelId": "a", "name": "A" }, { "modelId": "b", "name": "B" },
    ]}});
    let option = json!({ "sessionId": "s", "configId": "llm", "value": "b" });
    let method = json!({ "sessionId": "s", "modelId": "b" });
    for (session, name, params) in
        [(&grouped, "session/set_config_option", &option), (&listed, "session/set_model", &method)]
    {
        for wanted in ["b", "B"] {
            let mut turn = Turn::begin(None, Some(wanted));
            turn.initialized(json!({}));
            turn.answer(session.clone());
            assert_eq!((turn.method(), &turn.last()["params"]), (name, params));
            turn.answer(json!({}));
            assert_eq!(turn.method(), "session/prompt");
        }
        let mut turn = Turn::begin(None, Some("A"));
        turn.initialized(json!({}));
        turn.answer(session.clone());
        assert_eq!(turn.method(), "session/prompt", "it has this model already");
        let mut turn = Turn::begin(None, Some("c"));
        turn.initialized(json!({}));
        turn.answer(session.clone());
        assert_eq!(turn.failure(), "the agent offers no model `c`; it offers a, b");
    }
    let mut turn = Turn::begin(None, Some("c"));
    turn.initialized(json!({}));
    turn.answer(json!({ "sessionId": "s" }));
    assert_eq!(turn.failure(), "the agent offers no model `c`: it has no choice of models");
}

#[test]
fn permissions_hold_once_and_what_is_unknown_is_refused() {
    let mut turn = Turn::prompted();
    turn.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute",
        "title": "x", "rawInput": { "command": ["make", "a b"] } }));
    // The request itself need not describe the call.
    turn.permission(json!("p1"), json!({ "toolCallId": "c" }), &ONCE);
    let asked = turn.asked.pop().unwrap();
    let line = JudgedTool { tool: "Bash".to_owned(), input: json!({ "command": "make 'a b'" }) };
    assert_eq!(asked.parts, [line]);
    turn.judge(asked.key, true);
    let selected =
        |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
    assert_eq!(
        (&turn.last()["id"], &turn.last()["result"]),
        (&json!("p1"), &selected("id-allow_once"))
    );
    turn.permission(
        json!(7),
        json!({ "toolCallId": "d", "kind": "edit", "title": "Edit",
        "locations": [{ "path": "/w/a" }],
        "content": [{ "type": "diff", "path": "/w/b", "newText": "" }] }),
        &ONCE,
    );
    let asked = turn.asked.pop().unwrap();
    let edit =
        |path: &str| JudgedTool { tool: "Edit".to_owned(), input: json!({ "file_path": path }) };
    assert_eq!(asked.parts, [edit("/w/a"), edit("/w/b")]);
    turn.judge(asked.key, false);
    assert_eq!(
        (&turn.last()["id"], &turn.last()["result"]),
        (&json!(7), &selected("id-reject_once"))
    );
    turn.judge(asked.key, true);
    assert_eq!(turn.last()["id"], 7, "a second verdict does nothing");
    let unknown = [
        json!({ "toolCallId": "e", "kind": "edit", "title": "Edit something" }),
        json!({ "toolCallId": "f", "kind": "switch_mode", "title": "Leave the plan" }),
        json!({ "toolCallId": "g", "kind": "execute", "title": " " }),
        json!({ "toolCallId": "h", "kind": "execute", "rawInput": { "command": "x".repeat(100_000) } }),
        json!({}),
    ];
    for (number, call) in unknown.into_iter().enumerate() {
        turn.permission(json!(number + 100), call, &ONCE);
        assert_eq!(turn.last()["result"], selected("id-reject_once"), "{number}");
    }
    // Without an option for this call alone nothing is selected.
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    for (is_allowed, kinds) in
        [(true, ["allow_always", "reject_once"]), (false, ["allow_once", "reject_always"])]
    {
        let id = json!(format!("{is_allowed}"));
        turn.permission(
            id.clone(),
            json!({ "toolCallId": "i", "kind": "read", "rawInput": { "path": "/w/x" } }),
            &kinds,
        );
        let key = turn.asked.pop().unwrap().key;
        turn.judge(key, is_allowed);
        assert_eq!((&turn.last()["id"], &turn.last()["result"]), (&id, &cancelled));
    }
    turn.answer(json!({ "stopReason": "end_turn" }));
    // Two verdicts, and one call of which nothing is known; each call counts once.
    assert_eq!(turn.read().0.denied(), 7, "{}", turn.stream);
}

#[test]
fn what_onloop_does_not_offer_is_refused_by_name() {
    let mut turn = Turn::prompted();
    for method in ["fs/read_text_file", "terminal/create", "elicitation/create", "x/y"] {
        turn.push(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": {} }));
        let error = &turn.last()["error"];
        assert_eq!((&turn.last()["id"], &error["code"]), (&json!(method), &json!(-32601)));
    }
    turn.push(&json!({ "jsonrpc": "2.0", "method": "x/told", "params": {} }));
    turn.answer(json!({ "stopReason": "end_turn" }));
    assert_eq!(turn.ended, Some(true));
}

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
