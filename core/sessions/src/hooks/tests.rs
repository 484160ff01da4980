use super::*;
use serde_json::json;

fn read(host: Host, document: Value) -> HookInput {
    host.read(document.to_string().as_bytes()).unwrap()
}

/// What each host gets for a decision about a tool call.
fn decided(host: Host, decision: Decision) -> Value {
    let answer = HookAnswer::Decided(decision, "`rm` destroys".to_owned());
    let text = host.write(AnswerForm::ToolCall, &answer);
    if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
}

#[test]
fn each_host_gets_a_decision_in_its_own_form() {
    let claude = |word: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": "`rm` destroys",
        } })
    };
    let cursor = |word: &str| {
        json!({
            "permission": word, "user_message": "`rm` destroys", "agent_message": "`rm` destroys",
        })
    };
    let opencode = |word: &str| json!({ "decision": word, "reason": "`rm` destroys" });
    let copilot = |word: &str| json!({ "permissionDecision": word, "permissionDecisionReason": "`rm` destroys" });
    let go_on = json!({ "cancel": false });
    let cancelled = json!({ "cancel": true, "errorMessage": "`rm` destroys" });
    let (allow, ask, deny) = (Decision::Allow, Decision::Ask, Decision::Deny);
    let table = [
        (Host::Claude, claude("allow"), claude("ask"), claude("deny")),
        (Host::Codex, Value::Null, Value::Null, claude("deny")),
        (Host::Cursor, json!({ "permission": "allow" }), cursor("ask"), cursor("deny")),
        (Host::VsCode, claude("allow"), claude("ask"), claude("deny")),
        (Host::OpenCode, opencode("allow"), opencode("ask"), opencode("deny")),
        (Host::Cline, go_on.clone(), go_on, cancelled),
        (Host::Copilot, copilot("allow"), copilot("ask"), copilot("deny")),
    ];
    for (host, allowed, asked, denied) in table {
        assert_eq!(decided(host, allow), allowed, "{host:?}");
        assert_eq!(decided(host, ask), asked, "{host:?}");
        assert_eq!(decided(host, deny), denied, "{host:?}");
    }
}

#[test]
fn the_last_settings_in_the_transcript_tell_whether_codex_has_a_sandbox() {
    let turn = |policy: &str| {
        let payload = json!({ "approval_policy": "never", "sandbox_policy": { "type": policy } });
        json!({ "type": "turn_context", "payload": payload }).to_string()
    };
    let said = json!({ "type": "response_item", "payload": { "content": turn("read-only") } });
    let (full, write, said) =
        (&*turn("danger-full-access"), &*turn("workspace-write"), &*said.to_string());
    for (lines, expected) in [
        (&[][..], false),
        (&[said], false),
        (&[full, write, said], true),
        (&[&turn("read-only")], true),
        (&[write, full, said], false),
        (&[&write[4..], said], false),
        (&[&turn("external-sandbox")], false),
    ] {
        let transcript = lines.join("\n");
        assert_eq!(Host::Codex.is_sandboxed(transcript.as_bytes()), expected, "{lines:?}");
        assert!(!Host::Claude.is_sandboxed(transcript.as_bytes()));
    }
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {},
        "permission_mode": "bypassPermissions" });
    assert_eq!(read(Host::Codex, event).mode, PermissionMode::BypassPermissions);
}

#[test]
fn each_host_is_sent_on_in_its_own_form() {
    let go_on = HookAnswer::Continue("on".to_owned());
    let table = [
        (Host::Claude, json!({ "decision": "block", "reason": "on" })),
        (Host::Codex, json!({ "decision": "block", "reason": "on" })),
        (Host::Cursor, json!({ "followup_message": "on" })),
        (
            Host::VsCode,
            json!({ "hookSpecificOutput": {
                "hookEventName": "Stop", "decision": "block", "reason": "on",
            } }),
        ),
        (Host::OpenCode, json!({ "continue": true, "prompt": "on" })),
        (Host::Copilot, json!({ "decision": "block", "reason": "on" })),
    ];
    for (host, expected) in table {
        let text = host.write(AnswerForm::Stop, &go_on);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{host:?}");
        assert_eq!(host.write(AnswerForm::Stop, &HookAnswer::Nothing), "");
        assert_eq!(host.write(AnswerForm::Other, &go_on), "", "{host:?}");
    }
    let message = HookAnswer::SystemMessage("x".to_owned());
    assert_eq!(Host::Claude.write(AnswerForm::Stop, &message), "{\"systemMessage\":\"x\"}\n");
    assert_eq!(
        Host::Cursor.write(AnswerForm::Prompt, &HookAnswer::Nothing),
        "{\"continue\":true}\n"
    );
}

#[test]
fn d20_a_permission_request_is_never_answered_with_ask() {
    for host in [Host::Claude, Host::Codex] {
        let say = |decision| {
            host.write(
                AnswerForm::PermissionRequest,
                &HookAnswer::Decided(decision, "no".to_owned()),
            )
        };
        assert_eq!(say(Decision::Ask), "");
        let deny: Value = serde_json::from_str(&say(Decision::Deny)).unwrap();
        let expected = json!({ "behavior": "deny", "message": "no" });
        assert_eq!(deny["hookSpecificOutput"]["decision"], expected);
        let allow: Value = serde_json::from_str(&say(Decision::Allow)).unwrap();
        let expected = json!({ "behavior": "allow" });
        assert_eq!(allow["hookSpecificOutput"]["decision"], expected);
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let table: [(Host, &[u8], &str); 15] = [
        (Host::Claude, b"", "the input is not JSON: EOF while parsing a value at line 1 column 0"),
        (Host::Claude, b"\xff", "the input is not UTF-8"),
        (Host::Claude, b"[]", "the input is not a JSON object"),
        (Host::Claude, b"{}", "`hook_event_name` is missing"),
        (Host::Claude, b"{\"hook_event_name\":\"PreToolUse\"}", "`tool_name` is missing"),
        (
            Host::Claude,
            b"{\"hook_event_name\":\"PreToolUse\",\"a\":1,\"a\":2}",
            "the input is not JSON: `a` is given twice at line 1 column 44",
        ),
        (
            Host::Codex,
            b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"\"}",
            "`tool_name` is missing",
        ),
        (Host::Cursor, b"{\"hook_event_name\":\"beforeShellExecution\"}", "`command` is missing"),
        (
            Host::Cursor,
            b"{\"tool_name\":\"t\",\"tool_input\":\"{\"}",
            "`tool_input` is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (Host::VsCode, b"{}", "`hookEventName` is missing"),
        (Host::OpenCode, b"{\"event\":\"tool.execute.before\"}", "`tool` is missing"),
        (Host::Cline, b"{}", "`hookName` is missing"),
        (Host::Cline, b"{\"hookName\":\"PreToolUse\"}", "`toolName` is missing"),
        (Host::Copilot, b"{}", "it is not an event of this host"),
        (
            Host::Copilot,
            b"{\"toolName\":\"a\",\"toolArgs\":\"{\"}",
            "`toolArgs` is not JSON: EOF while parsing an object at line 1 column 1",
        ),
    ];
    for (host, input, expected) in table {
        let error = host.read(input).unwrap_err().to_string();
        assert_eq!(error, expected, "{host:?}");
    }
}

#[test]
fn an_event_with_malformed_strings_gets_its_own_answer() {
    let stop = "\"hook_event_name\":\"Stop\",\"session_id\":\"s\"";
    let inputs: [Vec<u8>; 3] = [
        [format!("{{{stop},\"last_assistant_message\":\"").as_bytes(), b"\xff\xfe\"}"].concat(),
        format!("{{{stop},\"m\":\"a \u{1} c\"}}").into_bytes(),
        format!("\u{feff}{{{stop}}}").into_bytes(),
    ];
    for host in [Host::Claude, Host::Codex] {
        for input in &inputs {
            let event = host.read(input).unwrap().event;
            assert!(matches!(event, HookEvent::Stop(_)), "{event:?}");
        }
        // Cut off: nobody knows what else was said, and no answer is one about a call.
        let cut = format!("{{{stop}");
        assert!(host.read(cut.as_bytes()).is_err());
        assert_eq!(host.refusal(cut.as_bytes(), "why"), "{\"systemMessage\":\"why\"}\n");
        // A call is judged as it was sent, or not at all.
        let call = |command: &[u8]| {
            let start =
                b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":\
                {\"command\":\"";
            [start, command].concat()
        };
        let controls = call(b"ls \x01\"}}");
        let HookEvent::ToolCall(judged) = host.read(&controls).unwrap().event else { panic!() };
        assert_eq!(judged, Call::shell("ls \u{1}"));
        for input in [call(b"ls \xff\"}}"), call(b"ls"), b"{\"hook_event_name\":\"Pre".to_vec()] {
            assert!(host.read(&input).is_err());
            assert_eq!(host.refusal(&input, "why"), host.safe_answer("why"));
        }
        let asked = b"{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"\xff\"}";
        assert_eq!(host.refusal(asked, "why"), "", "the person is asked");
    }
}

#[test]
fn an_event_whose_name_is_in_another_case_is_that_event() {
    for (host, key) in [
        (Host::Codex, "hook_event_name"),
        (Host::Claude, "hook_event_name"),
        (Host::VsCode, "hookEventName"),
    ] {
        let document = json!({ key: "preToolUse", "tool_name": "Bash",
            "tool_input": { "command": "rm -rf /" } });
        let event = read(host, document).event;
        assert!(matches!(event, HookEvent::ToolCall(_)), "{host:?}: {event:?}");
    }
    let request = json!({ "hook_event_name": "permissionrequest", "tool_name": "Bash" });
    assert!(matches!(read(Host::Codex, request).event, HookEvent::PermissionRequest(_)));
}

#[test]
fn the_safe_answer_runs_nothing() {
    for host in Host::ALL {
        let safe: Value = serde_json::from_str(&host.safe_answer("why\u{1b}[2J\n not")).unwrap();
        let text = safe.to_string();
        let stops = ["deny", "ask", "\"cancel\":true"];
        assert!(stops.iter().any(|word| text.contains(word)), "{text}");
        assert!(text.contains("why  not"), "{text}");
        assert!(!text.contains("allow"), "{text}");
        assert!(host.safe_answer("").contains("gives no reason"));
    }
}

#[test]
fn a_claude_hook_inside_vs_code_has_no_opinion() {
    let documents = [
        json!({ "hookEventName": "PreToolUse", "sessionId": "s", "tool_name": "create_file",
            "tool_input": { "filePath": "/etc/passwd" } }),
        json!({ "hookEventName": "Stop", "sessionId": "s" }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "create_file",
            "tool_input": { "filePath": "/a" } }),
    ];
    for document in documents {
        let input = read(Host::Claude, document);
        assert_eq!((input.event, input.session), (HookEvent::Other, None));
    }
    let call = json!({ "hookEventName": "PreToolUse", "sessionId": "s",
        "tool_name": "create_file", "tool_input": { "filePath": "/a" } });
    let input = read(Host::VsCode, call);
    let HookEvent::ToolCall(call) = input.event else { panic!("{:?}", input.event) };
    assert_eq!((call.tool.as_str(), input.session.as_deref()), ("create_file", Some("s")));
}

#[test]
fn cursor_names_its_events_or_shows_them() {
    let shell = json!({ "command": "git status", "conversation_id": "c", "cwd": "/r" });
    let HookEvent::ToolCall(call) = read(Host::Cursor, shell).event else { panic!() };
    assert_eq!(call, Call::shell("git status"));
    let prompt = json!({ "prompt": "/ultra-planner x", "generation_id": "g" });
    let input = read(Host::Cursor, prompt);
    assert_eq!(input.session.as_deref(), Some("g"));
    assert_eq!(input.event.answer_form(), AnswerForm::Prompt);
    let stop = json!({ "hook_event_name": "stop", "status": "aborted", "conversation_id": "c" });
    let HookEvent::Stop(stop) = read(Host::Cursor, stop).event else { panic!() };
    assert!(stop.broken_off);
    let mcp = json!({ "hook_event_name": "beforeMCPExecution", "tool_name": "search",
        "tool_input": "{\"q\": 1}" });
    let HookEvent::ToolCall(call) = read(Host::Cursor, mcp).event else { panic!() };
    assert_eq!(call, Call { tool: "mcp__cursor__search".to_owned(), input: json!({ "q": 1 }) });
}

#[test]
fn an_event_without_its_name_is_known_by_its_members() {
    let call =
        |tool: &str, input: Value| HookEvent::ToolCall(Call { tool: tool.to_owned(), input });
    let mcp = json!({ "tool_name": "search", "tool_input": {}, "command": "npx server" });
    let table = [
        (Host::Cursor, mcp, call("mcp__cursor__search", json!({}))),
        (
            Host::Cursor,
            json!({ "tool_name": "Shell", "command": "ls", "tool_input": { "command": "rm -r /" } }),
            call("mcp__cursor__Shell", json!({ "command": "rm -r /" })),
        ),
        (Host::Cursor, json!({ "file_path": "/a", "edits": [] }), HookEvent::Other),
        (Host::Cursor, json!({ "file_path": "/a" }), call("Read", json!({ "file_path": "/a" }))),
        (
            Host::Cursor,
            json!({ "command": "ls", "output": "x" }),
            HookEvent::ToolDone { call: Call::shell("ls"), output: "x".to_owned() },
        ),
        (Host::Cursor, json!({ "loop_count": 0 }), HookEvent::Stop(StopInput::default())),
        (Host::Claude, json!({ "stop_hook_active": false }), HookEvent::Stop(StopInput::default())),
        (Host::Codex, json!({ "tool_name": "t" }), call("t", Value::Null)),
        (Host::VsCode, json!({ "stop_hook_active": true }), HookEvent::Stop(StopInput::default())),
        (Host::Cline, json!({ "preToolUse": { "tool": "t" } }), call("t", Value::Null)),
    ];
    for (host, document, expected) in table {
        assert_eq!(read(host, document.clone()).event, expected, "{host:?} {document}");
    }
    for host in [Host::Claude, Host::Codex, Host::Cursor] {
        let named = br#"{"hook_event_name":true,"tool_name":"Bash","command":"ls"}"#;
        assert_eq!(host.read(named), Err(MalformedInput::UnknownEvent), "{host:?}");
    }
}

#[test]
fn text_that_javascript_cut_inside_a_character_is_read() {
    let stop = br#"{"hook_event_name":"Stop","last_assistant_message":"cut \ud83d"}"#;
    let HookEvent::Stop(stop) = Host::Claude.read(stop).unwrap().event else { panic!() };
    assert_eq!(stop.message.as_deref(), Some("cut \u{fffd}"));
    let call = br#"{"toolName":"bash","toolArgs":"{\"command\":\"ls \\ud83d\"}","timestamp":1}"#;
    let HookEvent::ToolCall(call) = Host::Copilot.read(call).unwrap().event else { panic!() };
    assert_eq!(call.input["command"], "ls \u{fffd}");
}

#[test]
fn claude_says_what_a_person_typed_and_what_a_command_stands_for() {
    let typed = |source: Value| {
        let document = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "x",
            "session_id": "s", "source": source });
        let HookEvent::Prompt { typed, .. } = read(Host::Claude, document).event else { panic!() };
        typed
    };
    assert!(typed(Value::Null) && typed(json!("user")) && typed(json!("sdk")));
    assert!(!typed(json!("system")) && !typed(json!("schedule_wakeup")));
    let expansion = json!({ "hook_event_name": "UserPromptExpansion", "session_id": "s",
        "command_name": "agentize:issue-to-impl", "command_args": "42", "prompt_id": "p" });
    let HookEvent::Prompt { text, id, .. } = read(Host::Claude, expansion).event else { panic!() };
    assert_eq!((text.as_str(), id.as_deref()), ("/agentize:issue-to-impl 42", Some("p")));
}

#[test]
fn cline_puts_the_event_below_its_name() {
    let call = json!({ "clineVersion": "3", "hookName": "PreToolUse", "taskId": "t",
        "workspaceRoots": ["/r"], "preToolUse": { "toolName": "execute_command",
            "parameters": { "command": "git status" } } });
    let input = read(Host::Cline, call);
    assert_eq!((input.session.as_deref(), input.cwd.as_deref()), (Some("t"), Some("/r")));
    let HookEvent::ToolCall(call) = input.event else { panic!("{:?}", input.event) };
    assert_eq!(
        (call.tool.as_str(), &call.input["command"]),
        ("execute_command", &json!("git status"))
    );
    let other = read(Host::Cline, json!({ "hookName": "TaskStart", "taskId": "t" }));
    assert_eq!(other.event, HookEvent::Other);
}

#[test]
fn copilot_does_not_name_its_events() {
    let event = |mut document: Value| {
        document["timestamp"] = json!(1);
        read(Host::Copilot, document).event
    };
    let arguments = json!({ "path": "/r/a" });
    let HookEvent::ToolCall(call) = event(json!({ "toolName": "view", "toolArgs": arguments }))
    else {
        panic!()
    };
    assert_eq!(call, Call { tool: "Read".to_owned(), input: arguments.clone() });
    let text = json!({ "toolName": "bash", "toolArgs": "{\"command\":\"ls\"}" });
    let HookEvent::ToolCall(call) = event(text) else { panic!() };
    assert_eq!((call.tool.as_str(), &call.input["command"]), ("bash", &json!("ls")));
    let done = json!({ "toolName": "view", "toolArgs": arguments,
        "toolResult": { "resultType": "success", "textResultForLlm": "x" } });
    assert!(matches!(event(done), HookEvent::ToolDone { output, .. } if output == "x"));
    assert!(matches!(event(json!({ "stopReason": "end_turn" })), HookEvent::Stop(_)));
    assert_eq!(event(json!({ "stopReason": "end_turn", "agentName": "a" })), HookEvent::Other);
    assert_eq!(event(json!({ "prompt": "/x" })).answer_form(), AnswerForm::Prompt);
    let of_vscode = json!({ "hookEventName": "PreToolUse", "tool_name": "read_file" });
    assert_eq!(event(of_vscode), HookEvent::Other);
}

#[test]
fn cursor_works_for_the_open_folder_around_the_one_of_the_call() {
    let table = [
        (json!(["/a", "/b"]), "/b/src", Some("/b"), "/b/src"),
        (json!(["/b", "/b/c/"]), "/b/c", Some("/b/c"), "/b/c"),
        (json!(["/a", "/b"]), "/opt", Some("/a"), "/opt"),
        (json!(["/a"]), "", Some("/a"), "/a"),
        (json!(null), "/opt", None, "/opt"),
    ];
    for (roots, cwd, project, works_in) in table {
        let document = json!({ "hook_event_name": "beforeShellExecution", "command": "ls",
            "workspace_roots": roots, "cwd": cwd });
        let input = read(Host::Cursor, document);
        let found = (input.project.as_deref(), input.cwd.as_deref());
        assert_eq!(found, (project, Some(works_in)), "{cwd}");
    }
}
