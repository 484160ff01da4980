//! Conversations as text. `>` is a line of the client: `ID METHOD PARAMS` for a request,
//! `- METHOD PARAMS` for a notification, anything else as it is. `<` is what comes of it.

use onloop_engine::error::CommandError;
use serde_json::{Value, json};

use crate::short_messages::written_short as message;

use super::*;

mod stateless;

/// Requests after which the machine may be asked anything.
const HELLO: &str = r#"
> 0 initialize {"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}}}
< result 0
> - notifications/initialized {}
"#;

/// Compares a conversation with what the machine says.
#[track_caller]
fn check(conversation: &str) {
    let mut connection = Connection::default();
    let mut found = String::new();
    for line in conversation.lines() {
        let Some(said) = line.strip_prefix("> ") else { continue };
        found += &format!("{line}\n");
        if let Some(reaction) = connection.receive(message(said).as_bytes()) {
            found += &format!("< {}\n", shown(&reaction));
        }
    }
    let expected: String = conversation
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(found, expected);
}

fn shown(reaction: &Reaction) -> String {
    match reaction {
        Reaction::Send(message) => shown_message(message),
        Reaction::Perform { id, work, progress, client: _ } => {
            let progress = progress.as_ref().map_or(String::new(), |token| format!(" ({token})"));
            let work = match work {
                ClientRequest::CallTool(tool, Ok(asked)) => {
                    let call = format!("{:?}", asked.program);
                    let program = call.split('(').next().unwrap_or_default();
                    format!("{} by {program} in {:?}", tool.as_str(), asked.directory)
                }
                ClientRequest::CallTool(tool, Err(why)) => format!("{}: {why}", tool.as_str()),
                ClientRequest::ListResources => "list".to_owned(),
                ClientRequest::Read(resource) => {
                    format!("{:?} of {}", resource.kind, resource.run_id)
                }
                ClientRequest::Complete(completion) => format!("{completion:?}"),
                ClientRequest::Continue { state, answer, .. } => {
                    format!("continue {state} {answer:?}")
                }
            };
            format!("perform {} {work}{progress}", id.to_value())
        }
        Reaction::Cancel(id) => format!("cancel {}", id.to_value()),
        Reaction::Answered(ServerRequest(number), answer) => {
            format!("answered {number} {answer:?}")
        }
    }
}

fn shown_message(message: &Value) -> String {
    let id = &message["id"];
    if message.get("method").is_some() && message.get("id").is_none() {
        return format!(
            "tell {} {}",
            message["method"].as_str().unwrap_or_default(),
            message["params"]
        );
    }
    if message.get("method").is_some() {
        return format!("ask {id} {}", message["method"].as_str().unwrap_or_default());
    }
    match message.get("error") {
        Some(error) => {
            format!(
                "error {id} {} {}",
                error["code"],
                error["message"].as_str().unwrap_or_default()
            )
        }
        None => format!("result {id}"),
    }
}

#[test]
fn what_is_no_request_is_refused_and_answered_where_somebody_asked() {
    check(
        r#"
> {
< error null -32700 the message cannot be read: EOF while parsing an object at line 1 column 1
> {"a":1,"a":2}
< error null -32700 the message cannot be read: `a` is given twice at line 1 column 13
> 7
< error null -32600 a message must be an object
> []
< error null -32600 a message must be an object
> {}
< error null -32600 `jsonrpc` must be `2.0`
> {"jsonrpc":"2.0"}
< error null -32600 a message needs a `method`, or the `id` that it answers
> {"jsonrpc":"1.0","id":1,"method":"ping"}
< error 1 -32600 `jsonrpc` must be `2.0`
> {"jsonrpc":"2.0","id":null,"method":"ping"}
< error null -32600 `id` must be a string or an integer
> {"jsonrpc":"2.0","id":1.5,"method":"ping"}
< error null -32600 `id` must be a string or an integer
> {"jsonrpc":"2.0","id":1,"method":7}
< error 1 -32600 `method` must be a string
> {"jsonrpc":"2.0","id":1,"method":"ping","params":[]}
< error 1 -32602 `params` must be an object
> {"jsonrpc":"2.0","id":"a","method":"ping"}
< result "a"
> {"jsonrpc":"2.0","id":9,"result":{}}
> {"jsonrpc":"2.0","id":"x","error":{"code":1}}
> - notifications/what {}
"#,
    );
    let deep = "[".repeat(100_000);
    assert!(matches!(Connection::default().receive(deep.as_bytes()), Some(Reaction::Send(_))));
    let bytes = [0xff, b'{'];
    assert!(matches!(Connection::default().receive(&bytes), Some(Reaction::Send(_))));
}

#[test]
fn first_comes_the_agreement() {
    check(
        r#"
> 1 server/discover {}
< error 1 -32602 `_meta` needs `io.modelcontextprotocol/protocolVersion`, which is a string
> 2 tools/list {}
< error 2 -32602 `initialize` comes first, or `_meta` says that the request is one of version 2026-07-28
> 3 ping {}
< result 3
> 4 initialize {}
< error 4 -32602 `protocolVersion` must be a string
> 5 initialize {"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}
< result 5
> 6 initialize {"protocolVersion":"2025-11-25"}
< error 6 -32600 `initialize` was answered before
> - notifications/initialized {}
< ask 1 roots/list
> - notifications/roots/list_changed {}
> {"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"},{"name":"b"},{"uri":"file:///c"}]}}
< answered 1 Roots(["file:///a", "file:///c"])
> {"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///evil"}]}}
> - notifications/roots/list_changed {}
< ask 2 roots/list
> {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}
< answered 2 Roots([])
"#,
    );
    let mut patient = Connection::default();
    for line in [
        r#"1 initialize {"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}"#,
        "- notifications/initialized {}",
    ] {
        patient.receive(message(line).as_bytes());
    }
    assert!(patient.waits_for_roots());
    patient.stop_waiting_for_roots();
    let late = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///late"}]}}"#;
    assert!(patient.receive(late.as_bytes()).is_none());
    let table = [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1", "2025-11-25"),
    ];
    for (wanted, expected) in table {
        let line = message(&format!("1 initialize {{\"protocolVersion\":\"{wanted}\"}}"));
        let reaction = Connection::default().receive(line.as_bytes());
        let Some(Reaction::Send(answer)) = &reaction else { panic!("{reaction:?}") };
        assert_eq!(answer["result"]["protocolVersion"], expected);
    }
}

#[test]
fn people_are_asked_only_where_the_client_can_show_a_form() {
    let table = [
        ("2025-06-18", r#"{"elicitation":{}}"#, true),
        ("2025-11-25", r#"{"elicitation":{"form":{},"url":{}}}"#, true),
        ("2025-11-25", r#"{"elicitation":{"url":{}}}"#, false),
        ("2025-11-25", r#"{"elicitation":true}"#, false),
        ("2025-11-25", "{}", false),
    ];
    for (version, capabilities, expected) in table {
        let mut connection = Connection::default();
        let line = format!(
            "1 initialize {{\"protocolVersion\":\"{version}\",\"capabilities\":{capabilities}}}"
        );
        connection.receive(message(&line).as_bytes());
        let reaction = connection.receive(message(r#"2 tools/call {"name":"next"}"#).as_bytes());
        let Some(Reaction::Perform { client, .. }) = &reaction else { panic!("{reaction:?}") };
        assert_eq!(client.elicits, expected, "{line}");
    }
    let mut connection = Connection::default();
    let (question, asked) = connection.ask("Go on?", &["yes", "no"].map(str::to_owned));
    assert_eq!(
        asked["params"],
        json!({
            "message": "Go on?",
            "requestedSchema": {
                "type": "object",
                "required": ["answer"],
                "properties": {
                    "answer": { "type": "string", "title": "Answer", "enum": ["yes", "no"] },
                },
            },
        })
    );
    let answers = [
        (r#"{"action":"accept","content":{"answer":"yes"}}"#, "Words(\"yes\")"),
        (r#"{"action":"accept","content":{}}"#, "Words(\"\")"),
        (r#"{"action":"accept","content":{"answer":["yes"]}}"#, "NoAnswer"),
        (r#"{"action":"decline"}"#, "NoAnswer"),
        (r#"{"action":"decline","content":{"answer":"yes"}}"#, "NoAnswer"),
        (r#"{"action":"cancel"}"#, "NoAnswer"),
        ("{}", "NoAnswer"),
        ("7", "NoAnswer"),
    ];
    let mut number = question.0;
    for (result, expected) in answers {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{result}}}"#);
        let reaction = connection.receive(line.as_bytes());
        let Some(Reaction::Answered(_, answer)) = &reaction else { panic!("{reaction:?}") };
        assert_eq!(format!("{answer:?}"), expected, "{result}");
        number = connection.ask("Go on?", &[]).0.0;
    }
    assert!(connection.withdraw(ServerRequest(number)).is_some());
    assert!(connection.withdraw(ServerRequest(number)).is_none());
}

#[test]
fn calls_are_checked_before_anything_happens() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 tools/call {"name":"drop"}
< error 1 -32602 there is no tool `drop`
> 2 tools/call {"name":"status","arguments":[]}
< error 2 -32602 `arguments` must be an object
> 3 tools/call {"name":"status"}
< perform 3 status by Status in None
> 4 tools/call {"name":"status","arguments":{"json":true}}
< perform 4 status: there is no argument `json`; expected `run_id`, `all`, `directory`
> 5 tools/call {"name":"step","arguments":{"action":"start"}}
< perform 5 step: the argument `step` is missing
> 6 tools/call {"name":"step","arguments":{"step":0,"action":"start"}}
< perform 6 step: the argument `step` is `0`, expected a number from 1 to 10000
> 7 tools/call {"name":"step","arguments":{"step":1,"action":"done"}}
< perform 7 step: the argument `action` is `"done"`, expected one of `start`, `verify`, `retry`, `block`
> 8 tools/call {"name":"run","arguments":{"agent":"you"}}
< perform 8 run: the argument `agent` is `"you"`, expected one of `claude`, `codex`, `opencode`, `cursor`, `gemini`, `copilot`, `cline`, `goose`, `qwen`, `script`
> 9 tools/call {"name":"run","arguments":{"agent_command":"rm -rf /"}}
< perform 9 run: there is no argument `agent_command`; expected `file`, `run_id`, `agent`, `mode`, `branch`, `fresh`, `review`, `agent_timeout`, `verify_timeout`, `background`, `directory`
> 10 tools/call {"name":"run","arguments":{"run_id":"x","fresh":true}}
< perform 10 run: `fresh` is for a new run; with `run_id` an existing one is resumed
> 11 tools/call {"name":"run","arguments":{"run_id":"x","directory":"a"},"_meta":{"progressToken":"p"}}
< perform 11 run by Resume in Some("a") ("p")
> 12 tools/call {"name":"permit_explain","arguments":{"command":"ls","tool":"Bash"}}
< perform 12 permit_explain: expected either `command`, or `tool` and `input`
> 13 tools/call {"name":"permit_explain","arguments":{"tool":"Bash","input":{"command":"ls"}}}
< perform 13 permit_explain by Explain in None
> 14 tools/call {"name":"lint","arguments":{"files":["a",""]}}
< perform 14 lint: the argument `files` is `["a",""]`, expected an array of at most 100 strings
> 15 tools/call {"name":"report","arguments":{"run_id":"a\u0000"}}
< perform 15 report: the argument `run_id` is `"a\u0000"`, expected a string of 1 to 1024 characters
"#
    ));
}

#[test]
fn resources_have_addresses() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 resources/list {}
< perform 1 list
> 2 resources/list {"cursor":"x"}
< error 2 -32602 unknown `cursor`; there is one page only
> 3 resources/templates/list {}
< result 3
> 4 resources/read {"uri":"onloop://runs/demo-20260320T212315Z/report"}
< perform 4 Report of demo-20260320T212315Z
> 5 resources/read {"uri":"onloop://runs/demo-20260320T212315Z/record"}
< perform 5 Record of demo-20260320T212315Z
> 6 resources/read {"uri":"onloop://runs/../../etc/record"}
< error 6 -32002 there is no resource `onloop://runs/../../etc/record`; expected `onloop://runs/RUN_ID/report` or `onloop://runs/RUN_ID/record`
> 7 resources/read {}
< error 7 -32602 `uri` must be a string
"#
    ));
}

#[test]
fn an_open_request_keeps_its_id_until_it_is_cancelled() {
    check(&format!(
        "{HELLO}{}",
        r#"
> 1 tools/call {"name":"status"}
< perform 1 status by Status in None
> 1 ping {}
< error null -32600 a request with this `id` is still open
> - notifications/cancelled {"requestId":2}
> - notifications/cancelled {}
> - notifications/cancelled {"requestId":1}
< cancel 1
> - notifications/cancelled {"requestId":1}
> 1 ping {}
< result 1
"#
    ));
    let mut connection = Connection::default();
    for line in HELLO.lines().filter_map(|line| line.strip_prefix("> ")) {
        connection.receive(message(line).as_bytes());
    }
    for id in 0..100 {
        let line = message(&format!("{id} tools/call {{\"name\":\"next\"}}"));
        let reaction = connection.receive(line.as_bytes());
        let is_taken = matches!(reaction, Some(Reaction::Perform { .. }));
        assert_eq!(is_taken, id < onloop_syntax::limits::MCP_CALLS as i64, "{reaction:?}");
    }
    assert!(connection.finish(&Id::Number(3), Ok(json!({}))).is_some());
    assert!(connection.finish(&Id::Number(3), Ok(json!({}))).is_none());
}

#[test]
fn every_tool_describes_itself_within_bounds() {
    for tool in Tool::ALL {
        let described = tool.describe(&output::schema(tool));
        let schema = &described["inputSchema"];
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema["properties"]["directory"].is_object());
        for (name, property) in schema["properties"].as_object().unwrap() {
            let is_bounded = match property["type"].as_str().unwrap() {
                "string" => property.get("maxLength").is_some() || property.get("enum").is_some(),
                "array" => property.get("maxItems").is_some(),
                "integer" => property.get("maximum").is_some(),
                "boolean" | "object" => true,
                other => panic!("{other}"),
            };
            assert!(is_bounded, "{name} of {}", tool.as_str());
            assert!(property["description"].as_str().is_some_and(|about| about.len() > 3));
        }
        let hints = &described["annotations"];
        assert_eq!(hints["readOnlyHint"], tool.is_read_only());
        let changes = ["run", "stop", "begin", "step", "gate", "finalize"].contains(&tool.as_str());
        assert_eq!(tool.is_read_only(), !changes);
        assert!(!(hints["readOnlyHint"] == true && hints["destructiveHint"] == true));
    }
}

#[test]
fn answers_are_cut_where_they_are_told_to_be() {
    let mut said = Capped::new(5);
    said.push("12日本");
    said.push("x");
    assert_eq!((said.whole(), said.total_bytes()), (None, 9));
    let result = tool_result(Tool::Report, onloop_effect::Exit::Done, &said, &Capped::default());
    assert_eq!(result["structuredContent"]["result"], "12日\n[… 4 bytes omitted …]\n");
    let failed = error_result(&CommandError::usage("no\u{1b}[31m"));
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["content"][0]["text"], "error: no");
}

#[test]
fn the_skill_names_a_tool_and_its_arguments_for_every_command_line_of_a_run() {
    let skills = onloop_install::offer::SKILLS;
    let skill = skills.iter().find(|skill| skill.name == "onloop-loop").expect("it is offered");
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut named = Vec::new();
    for row in skill.instructions.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.trim_end_matches(" |").rsplit_once(" | ").expect("two cells").1;
        let [tool, arguments @ ..] = &quoted(cell)[..] else { panic!("no tool in {row}") };
        let tool: Tool = tool.parse().unwrap_or_else(|_| panic!("no tool `{tool}`"));
        for argument in arguments {
            assert!(tool.parameter_names().any(|(name, _)| name == argument), "{row}");
        }
        named.push(tool.as_str());
    }
    let expected =
        ["lint", "begin", "next", "step", "gate", "diff", "report", "finalize", "summary"];
    assert_eq!(named, expected);
}
