//! The conversation with agents that keep to the protocol.

mod hostile;

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
fn an_agent_that_would_decide_itself_is_made_to_ask_before_it_gets_the_prompt() {
    let session = json!({ "sessionId": "s", "modes": { "currentModeId": "auto", "availableModes": [
        { "id": "default", "name": "Manual" }, { "id": "auto", "name": "Auto" },
    ]}, "models": { "currentModelId": "a", "availableModels": [
        { "modelId": "a", "name": "A" }, { "modelId": "b", "name": "B" },
    ]}});
    let mode = json!({ "sessionId": "s", "modeId": "default" });
    let begun = || {
        let mut turn = Turn::begin(None, Some("b"));
        turn.initialized(json!({}));
        turn.answer(session.clone());
        assert_eq!((turn.method(), &turn.last()["params"]), ("session/set_mode", &mode));
        turn
    };
    let mut turn = begun();
    turn.answer(json!({}));
    assert_eq!(turn.method(), "session/set_model");
    turn.answer(json!({}));
    assert_eq!(turn.method(), "session/prompt");
    // It has announced the mode, so whatever keeps it from asking is not worked around.
    let mut turn = begun();
    turn.refuse(json!({ "code": -32601, "message": "no" }));
    assert_eq!(turn.failure(), "no, in answer to `session/set_mode`");
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
