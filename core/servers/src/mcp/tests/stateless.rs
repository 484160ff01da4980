//! Stateless requests (version 2026-07-28), and what both protocols have besides tools.

use serde_json::{Value, json};

use super::{HELLO, check, message, shown};
use crate::mcp::{Connection, Id, LogLevel, Protocol, Reaction};

/// A line of a client of version 2026-07-28.
fn alone(id: i64, method: &str, params: Value, capabilities: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn answer(connection: &mut Connection, line: &str) -> Value {
    let reaction = connection.receive(line.as_bytes());
    let Some(Reaction::Send(answer)) = &reaction else { panic!("{reaction:?}") };
    answer.clone()
}

#[test]
fn a_request_that_stands_alone_declares_itself() {
    let meta = |meta: Value| json!({ "_meta": meta });
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let level = "io.modelcontextprotocol/logLevel";
    let table = [
        (
            meta(json!({})),
            "error 1 -32602 `_meta` needs `io.modelcontextprotocol/protocolVersion`, which is a string",
        ),
        (
            meta(json!({ version: 1, capabilities: {} })),
            "error 1 -32602 `_meta` needs `io.modelcontextprotocol/protocolVersion`, which is a string",
        ),
        (
            meta(json!({ version: "2026-07-28" })),
            "error 1 -32602 `_meta` needs `io.modelcontextprotocol/clientCapabilities`, which is an object",
        ),
        (
            meta(json!({ version: "2026-07-28", capabilities: [] })),
            "error 1 -32602 `_meta` needs `io.modelcontextprotocol/clientCapabilities`, which is an object",
        ),
        (
            meta(json!({ version: "2099-01-01", capabilities: {} })),
            "error 1 -32022 protocol version `2099-01-01` is not supported; expected `2026-07-28`, or `initialize` for an earlier one",
        ),
        (
            meta(json!({ version: "2026-07-28", capabilities: {}, level: "loud" })),
            "error 1 -32602 `io.modelcontextprotocol/logLevel` is `\"loud\"`, expected one of debug, info, notice, warning, error, critical, alert, emergency",
        ),
        (meta(json!({ version: "2026-07-28", capabilities: {} })), "result 1"),
    ];
    for (params, expected) in table {
        let line =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params });
        let reaction = Connection::default().receive(line.to_string().as_bytes());
        assert_eq!(reaction.iter().map(shown).collect::<Vec<_>>(), [expected], "{line}");
    }
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": meta(json!({ version: "1900-01-01" })) });
    let refused = answer(&mut Connection::default(), &line.to_string());
    let data = json!({ "supported": ["2026-07-28"], "requested": "1900-01-01" });
    assert_eq!(refused["error"]["data"], data);
}

#[test]
fn results_say_what_they_are_and_how_long_they_hold() {
    let mut connection = Connection::default();
    let discovered = answer(&mut connection, &alone(1, "server/discover", json!({}), json!({})));
    let result = &discovered["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(
        result["capabilities"]["resources"],
        json!({ "subscribe": true, "listChanged": true })
    );
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "onloop");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("public")));
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        let listed = answer(&mut connection, &alone(2, method, json!({}), json!({})));
        assert_eq!(listed["result"]["cacheScope"], "public", "{method}");
    }
    connection.receive(alone(3, "resources/list", json!({}), json!({})).as_bytes());
    let finished = connection.finish(&Id::Number(3), Ok(json!({ "resources": [] }))).unwrap();
    assert_eq!(
        (&finished["result"]["ttlMs"], &finished["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
    connection.receive(alone(4, "tools/call", json!({ "name": "next" }), json!({})).as_bytes());
    let finished = connection.finish(&Id::Number(4), Ok(json!({ "content": [] }))).unwrap();
    assert_eq!(finished["result"]["resultType"], "complete");
    assert_eq!(finished["result"].get("ttlMs"), None);
    // What a conversation had is not there.
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe"] {
        let refused = answer(&mut connection, &alone(5, method, json!({}), json!({})));
        assert_eq!(refused["error"]["code"], -32601, "{method}");
    }
    let unknown = json!({ "uri": "onloop://runs/x" });
    let refused = answer(&mut connection, &alone(6, "resources/read", unknown, json!({})));
    assert_eq!(refused["error"]["code"], -32602);
    // Neither needs the other, and both may come.
    check(HELLO);
}

#[test]
fn what_a_request_declares_counts_for_it_alone() {
    let mut connection = Connection::default();
    let mut declared = |capabilities: Value| {
        let line = alone(1, "tools/call", json!({ "name": "next" }), capabilities);
        let reaction = connection.receive(line.as_bytes());
        let Some(Reaction::Perform { client, .. }) = &reaction else { panic!("{reaction:?}") };
        let client = *client;
        connection.finish(&Id::Number(1), Ok(json!({})));
        client
    };
    assert!(declared(json!({ "elicitation": {} })).elicits);
    assert!(!declared(json!({})).elicits);
    assert!(!declared(json!({ "elicitation": { "url": {} } })).elicits);
    assert_eq!(declared(json!({})).protocol, Protocol::Stateless);
}

#[test]
fn a_call_that_comes_again_brings_the_answer() {
    let mut connection = Connection::default();
    let call = |more: Value| {
        let mut params =
            json!({ "name": "gate", "arguments": { "step": 1, "decision": "approved" } });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        alone(1, "tools/call", params, json!({ "elicitation": {} }))
    };
    let accepted = json!({ "action": "accept", "content": { "answer": "yes" } });
    let table = [
        (
            json!({ "requestState": "s", "inputResponses": { "answer": accepted } }),
            "perform 1 continue s Some(Words(\"yes\"))",
        ),
        (
            json!({ "requestState": "s", "inputResponses": { "answer": { "action": "decline" } } }),
            "perform 1 continue s Some(NoAnswer)",
        ),
        (
            json!({ "requestState": "s", "inputResponses": { "other": 1 } }),
            "perform 1 continue s None",
        ),
        (json!({ "requestState": "s" }), "perform 1 continue s None"),
        (json!({ "inputResponses": { "answer": accepted } }), "perform 1 gate by Gate in None"),
        (json!({ "requestState": 7 }), "error 1 -32602 `requestState` must be a string"),
    ];
    for (more, expected) in table {
        let reaction = connection.receive(call(more.clone()).as_bytes());
        assert_eq!(reaction.iter().map(shown).collect::<Vec<_>>(), [expected], "{more}");
        connection.finish(&Id::Number(1), Ok(json!({})));
    }
}

#[test]
fn streams_are_acknowledged_fed_and_closed() {
    const RUN: &str = "onloop://runs/demo-20260320T212315Z";
    let mut connection = Connection::default();
    let uris =
        [format!("{RUN}/record"), "onloop://runs/x".to_owned(), "file:///etc/passwd".to_owned()];
    let filter = json!({ "toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": uris });
    let line = alone(1, "subscriptions/listen", json!({ "notifications": filter }), json!({}));
    let acknowledged = answer(&mut connection, &line);
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"],
        json!({
            "_meta": { "io.modelcontextprotocol/subscriptionId": 1 },
            "notifications": {
                "resourcesListChanged": true,
                "resourceSubscriptions": [format!("{RUN}/record")],
            },
        })
    );
    assert_eq!(
        connection.watched_runs().into_iter().collect::<Vec<_>>(),
        ["demo-20260320T212315Z"]
    );
    assert!(connection.watches_list());
    let told = connection.run_changed("demo-20260320T212315Z");
    assert_eq!(
        told,
        [json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {
            "_meta": { "io.modelcontextprotocol/subscriptionId": 1 }, "uri": format!("{RUN}/record"),
        } })]
    );
    assert_eq!(connection.run_changed("other-20260320T212315Z"), Vec::<Value>::new());
    assert_eq!(connection.list_changed().len(), 1);
    // Its id is taken as long as it is open.
    let second = answer(&mut connection, &alone(1, "server/discover", json!({}), json!({})));
    assert_eq!(second["error"]["message"], "a request with this `id` is still open");
    let cancel = message(r#"- notifications/cancelled {"requestId":1}"#);
    assert!(connection.receive(cancel.as_bytes()).is_none());
    assert!(connection.watched_runs().is_empty() && !connection.watches_list());
    // Notifications without a subscription are not sent.
    let plain = json!({ "notifications": {} });
    answer(&mut connection, &alone(2, "subscriptions/listen", plain, json!({})));
    assert_eq!(connection.list_changed(), Vec::<Value>::new());
    let ended = connection.end_streams();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["id"], 2);
    assert_eq!(ended[0]["result"]["resultType"], "complete");
    assert_eq!(ended[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
    for filter in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": { "resourceSubscriptions": [1] } }),
    ] {
        let refused = answer(&mut connection, &alone(3, "subscriptions/listen", filter, json!({})));
        assert_eq!(refused["error"]["code"], -32602);
    }
    let many: Vec<String> = (0..65).map(|n| format!("{RUN}{n}/record")).collect();
    let many = json!({ "notifications": { "resourceSubscriptions": many } });
    let refused = answer(&mut connection, &alone(3, "subscriptions/listen", many, json!({})));
    assert_eq!(refused["error"]["message"], "expected at most 16 streams of 64 resources");
}

#[test]
fn a_conversation_subscribes_one_by_one() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 resources/subscribe {"uri":"onloop://runs/demo-20260320T212315Z/record"}
< result 1
> 2 resources/subscribe {"uri":"onloop://runs/x"}
< error 2 -32002 there is no resource `onloop://runs/x`; expected `onloop://runs/RUN_ID/report` or `onloop://runs/RUN_ID/record`
> 3 resources/unsubscribe {"uri":"onloop://runs/demo-20260320T212315Z/record"}
< result 3
> 4 logging/setLevel {"level":"warning"}
< result 4
> 5 logging/setLevel {"level":"loud"}
< error 5 -32602 `level` is `"loud"`, expected one of debug, info, notice, warning, error, critical, alert, emergency
> 6 subscriptions/listen {"notifications":{}}
< error 6 -32602 `_meta` needs `io.modelcontextprotocol/protocolVersion`, which is a string
"#
    ));
    let mut connection = Connection::default();
    for line in HELLO.lines().filter_map(|line| line.strip_prefix("> ")) {
        connection.receive(message(line).as_bytes());
    }
    for n in 0..70 {
        let line = format!(
            "{n} resources/subscribe {{\"uri\":\"onloop://runs/a{n}-20260320T212315Z/record\"}}"
        );
        let answer = answer(&mut connection, &message(&line));
        assert_eq!(answer.get("error").is_some(), n >= 64, "{answer}");
    }
    assert_eq!(connection.run_changed("a1-20260320T212315Z").len(), 1);
    // A conversation is told without asking.
    assert_eq!(connection.list_changed().len(), 1);
}

#[test]
fn prompts_name_the_tools_and_take_their_argument() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 prompts/list {}
< result 1
> 2 prompts/get {"name":"loop","arguments":{"file":"a.md"}}
< result 2
> 3 prompts/get {"name":"drop"}
< error 3 -32602 there is no prompt `drop`; expected `loop`, `resume`, `review`
> 4 prompts/get {"name":"loop","arguments":{"run_id":"a"}}
< error 4 -32602 there is no argument `run_id`; expected `file`
> 5 prompts/get {"name":"loop","arguments":{"file":7}}
< error 5 -32602 the argument `file` must be a string of at most 1024 characters
> 6 prompts/get {"name":"loop","arguments":[]}
< error 6 -32602 `arguments` must be an object
"#
    ));
    let mut connection = Connection::default();
    let mut text = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = answer(&mut connection, &alone(1, "prompts/get", params, json!({})));
        answer["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    assert!(text("loop", json!({ "file": "a.md\n\nIgnore" })).contains("The file: `a.md"));
    assert!(!text("loop", json!({ "file": "a.md\n\nIgnore" })).contains("\n\nIgnore"));
    assert!(text("loop", json!({ "file": "" })).contains("The file: the only workflow file"));
    assert!(text("resume", json!({ "run_id": "a-1" })).contains("The run: `a-1`."));
    for prompt in ["loop", "resume", "review"] {
        let text = text(prompt, json!({}));
        for word in text.split('`').skip(1).step_by(2) {
            let is_ours = crate::mcp::Tool::WORDS.contains(&word);
            let known = [
                "start",
                "verify",
                "retry",
                "block",
                "run_id",
                "stat",
                ".hotl",
                "execution_root",
                "approve",
                "changes needed",
            ];
            assert!(is_ours || known.contains(&word), "{prompt}: `{word}`");
        }
    }
}

#[test]
fn ids_of_runs_are_completed() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 completion/complete {"ref":{"type":"ref/prompt","name":"resume"},"argument":{"name":"run_id","value":"de"}}
< perform 1 Completion { typed: "de" }
> 2 completion/complete {"ref":{"type":"ref/resource","uri":"onloop://runs/{run_id}/report"},"argument":{"name":"run_id","value":""}}
< perform 2 Completion { typed: "" }
> 3 completion/complete {"ref":{"type":"ref/prompt","name":"loop"},"argument":{"name":"file","value":"x"}}
< result 3
> 4 completion/complete {"ref":{"type":"ref/prompt","name":"resume"},"argument":{"name":"file","value":"x"}}
< error 4 -32602 there is no argument `file`; expected `run_id`
> 5 completion/complete {"ref":{"type":"ref/resource","uri":"file:///{x}"},"argument":{"name":"x","value":""}}
< error 5 -32602 there is no template `file:///{x}`
> 6 completion/complete {"ref":{"type":"ref/tool"},"argument":{"name":"x","value":""}}
< error 6 -32602 `ref` must have the `type` `ref/prompt` or `ref/resource`
> 7 completion/complete {}
< error 7 -32602 `argument` needs `name` and `value`, both strings
"#
    ));
    let line = alone(
        1,
        "completion/complete",
        json!({
            "ref": { "type": "ref/prompt", "name": "review" },
            "argument": { "name": "run_id", "value": "a" },
        }),
        json!({}),
    );
    let reaction = Connection::default().receive(line.as_bytes());
    let Some(Reaction::Perform { work: crate::mcp::ClientRequest::Complete(completion), .. }) =
        reaction
    else {
        panic!("expected a completion")
    };
    let runs: Vec<Value> = ["da-1", "a-2", "x-3", "a-4"].map(|id| json!({ "run_id": id })).to_vec();
    let answer = completion.answer(&json!(runs));
    let expected = json!({ "values": ["a-2", "a-4", "da-1"], "total": 3, "hasMore": false });
    assert_eq!(answer["completion"], expected);
    let many: Vec<Value> = (0..101).map(|n| json!({ "run_id": format!("a-{n}") })).collect();
    let answer = completion.answer(&json!(many));
    assert_eq!(answer["completion"]["values"].as_array().unwrap().len(), 100);
    assert_eq!(answer["completion"]["hasMore"], true);
}

#[test]
fn notes_have_levels() {
    let table = [
        ("error: no\n", LogLevel::Error),
        ("ERROR: no", LogLevel::Error),
        ("warning: odd", LogLevel::Warning),
        ("→ Step 1: Write", LogLevel::Info),
        ("", LogLevel::Info),
    ];
    for (note, expected) in table {
        assert_eq!(LogLevel::of_note(note), expected, "{note}");
    }
    assert!(LogLevel::Info.includes(LogLevel::Error) && !LogLevel::Error.includes(LogLevel::Info));
}
