//! Conversations as text. `>` is a message of the editor: `ID METHOD PARAMS` for a request,
//! `- METHOD PARAMS` for a notification, anything else as it is. `<` is what is said to it, and `=`
//! stands where nothing waits any more. `URI` is the address of a workflow.

use serde_json::{Value, json};

use crate::short_messages::written_short;

use super::*;

const URI: &str = "file:///srv/repo/hotl-workflow-a.md";
const HELLO: &str = r#"
> 0 initialize {"capabilities":{}}
< result 0
> - initialized {}
"#;

/// Compares a conversation with what the machine says.
#[track_caller]
fn check(script: &str) {
    let mut conversation = Conversation::default();
    let mut found = String::new();
    for line in script.lines() {
        if line == "=" {
            found += "=\n";
            conversation
                .settle()
                .iter()
                .for_each(|message| found += &format!("< {}\n", shown(message)));
        }
        let Some(said) = line.strip_prefix("> ") else { continue };
        found += &format!("{line}\n");
        conversation.receive(message(said).as_bytes());
        while conversation.has_waiting() {
            found += &match conversation.handle_next() {
                Some(Handled::Send(message)) => format!("< {}\n", shown(&message)),
                Some(Handled::Exit(exit)) => format!("< exit {}\n", exit.code()),
                None => continue,
            };
        }
    }
    let lines = script.lines().filter(|line| !line.is_empty());
    let expected: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(found, expected, "\n{found}");
}

fn message(said: &str) -> String {
    written_short(&said.replace("URI", URI))
}

fn shown(message: &Value) -> String {
    let params = &message["params"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match message["method"].as_str() {
        Some("textDocument/publishDiagnostics") => {
            let found = params["diagnostics"].as_array().expect("a list");
            let codes: Vec<String> = found.iter().map(|found| text(&found["code"])).collect();
            format!("findings {} of {} [{}]", params["version"], params["uri"], codes.join(" "))
                .replace(URI, "URI")
        }
        Some(method) => format!("{method} {}", text(&params["message"])),
        None => match message.get("error") {
            Some(error) => {
                format!("error {} {} {}", message["id"], error["code"], text(&error["message"]))
            }
            None if message["result"].is_null() => format!("nothing {}", message["id"]),
            None => format!("result {}", message["id"]),
        },
    }
}

#[test]
fn first_comes_the_agreement_and_last_the_end() {
    check(
        r#"
> 1 textDocument/hover {"textDocument":{"uri":"URI"},"position":{"line":0,"character":0}}
< error 1 -32002 `initialize` comes first
> 2 shutdown {}
< error 2 -32002 `initialize` comes first
> - textDocument/didOpen {"textDocument":{"uri":"URI","version":1,"text":""}}
=
> {"jsonrpc":"2.0","id":3,"method":"initialize","params":null}
< result 3
> 4 initialize {}
< error 4 -32600 `initialize` was answered before
> - $/setTrace {"value":"off"}
> 5 workspace/symbol {"query":""}
< error 5 -32601 there is no method `workspace/symbol`
> {"jsonrpc":"2.0","id":6,"method":"shutdown"}
< nothing 6
> 7 textDocument/hover {}
< error 7 -32600 after `shutdown` only `exit` is expected
> - exit {}
< exit 0
"#,
    );
    check("> - exit {}\n< exit 1\n");
    check(&format!("{HELLO}> - exit {{}}\n< exit 1\n"));
}

#[test]
fn what_cannot_be_read_is_answered_and_the_conversation_goes_on() {
    check(&format!(
        "{HELLO}{}",
        r#"
> {
< error null -32700 the message cannot be read: EOF while parsing an object at line 1 column 1
> {"a":1,"a":2}
< error null -32700 the message cannot be read: `a` is given twice at line 1 column 13
> []
< error null -32600 a message must be an object
> {"jsonrpc":"2.0","id":1,"method":"shutdown","params":[]}
< error 1 -32602 `params` must be an object
> {"jsonrpc":"2.0","id":9,"result":null}
> 1 textDocument/hover {}
< error 1 -32602 `textDocument` needs a `uri`
> 2 textDocument/hover {"textDocument":{"uri":"URI"}}
< error 2 -32602 the document is not open
> - textDocument/didChange {"textDocument":{"uri":"URI"},"contentChanges":[]}
< window/logMessage `textDocument/didChange` is ignored: the document is not open
> - textDocument/didOpen {"textDocument":{"uri":"URI"}}
< window/logMessage `textDocument/didOpen` is ignored: `textDocument` needs a `text`
> - textDocument/didClose {"textDocument":{"uri":"URI"}}
> - textDocument/didClose {}
> - textDocument/didOpen {"textDocument":{"uri":"URI","version":1,"text":"x"}}
> 3 textDocument/hover {"textDocument":{"uri":"URI"},"position":{"line":-1,"character":0}}
< error 3 -32602 `position` must have a `line` and a `character`
> 4 textDocument/hover {"textDocument":{"uri":"URI"},"position":{"line":99999999999,"character":99999999999}}
< nothing 4
> 5 textDocument/codeAction {"textDocument":{"uri":"URI"},"range":7}
< error 5 -32602 `range` must be an object
"#
    ));
    let mut conversation = Conversation::default();
    for bytes in [&"[".repeat(100_000).into_bytes()[..], &[0xff, b'{'], b"", b"\0"] {
        conversation.receive(bytes);
        let reaction = conversation.handle_next();
        let Some(Handled::Send(answer)) = &reaction else { panic!("{reaction:?}") };
        assert_eq!(answer["error"]["code"], -32700);
    }
    conversation.receive_refused("the message has 9 bytes; the limit is 8");
    assert!(matches!(conversation.handle_next(), Some(Handled::Send(_))));
    assert_eq!(conversation.handle_next(), None);
}

#[test]
fn findings_are_those_of_the_last_text() {
    check(&format!(
        "{HELLO}{}",
        r####"
> - textDocument/didOpen {"textDocument":{"uri":"URI","version":1,"text":"---\nintent: a\n---\n"}}
=
< findings 1 of "URI" [missing-key missing-key no-steps]
> - textDocument/didChange {"textDocument":{"uri":"URI","version":2},"contentChanges":[{"range":{"start":{"line":1,"character":8},"end":{"line":1,"character":9}},"text":"b\nrisk_level: low"}]}
> - textDocument/didChange {"textDocument":{"uri":"URI","version":3},"contentChanges":[{"range":{"start":{"line":2,"character":0},"end":{"line":2,"character":0}},"text":"success_criteria: c\n"}]}
=
< findings 3 of "URI" [no-steps]
=
> - textDocument/didChange {"textDocument":{"uri":"URI","version":4},"contentChanges":[{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":1}},"text":"x"},{"range":"all","text":""}]}
< window/logMessage `textDocument/didChange` is ignored: `range` must be an object
=
> - textDocument/didChange {"textDocument":{"uri":"URI","version":5},"contentChanges":[{"text":"---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n### 1. A\naction: b\nloop: false\nverify: make\n"}]}
=
< findings 5 of "URI" []
> - textDocument/didClose {"textDocument":{"uri":"URI"}}
=
> - textDocument/didOpen {"textDocument":{"uri":"URI","version":1,"text":"x"}}
=
< findings 1 of "URI" [missing-frontmatter no-steps]
> - textDocument/didClose {"textDocument":{"uri":"URI"}}
< findings null of "URI" []
"####
    ));
}

#[test]
fn what_is_no_workflow_is_never_spoken_of() {
    check(&format!(
        "{HELLO}{}",
        r####"
> - textDocument/didOpen {"textDocument":{"uri":"file:///srv/README.md","version":1,"text":"# Hello\n"}}
> - textDocument/didOpen {"textDocument":{"uri":"untitled:Untitled-1","version":1,"text":"x"}}
=
> 1 textDocument/documentSymbol {"textDocument":{"uri":"file:///srv/README.md"}}
< nothing 1
> - textDocument/didChange {"textDocument":{"uri":"file:///srv/README.md","version":2},"contentChanges":[{"text":"---\nintent: a\n---\n### 1. A\naction: b\n"}]}
=
< findings 2 of "file:///srv/README.md" [missing-key missing-key missing-loop]
> - textDocument/didChange {"textDocument":{"uri":"file:///srv/README.md","version":3},"contentChanges":[{"text":"# Hello\n"}]}
=
< findings 3 of "file:///srv/README.md" []
> - textDocument/didOpen {"textDocument":{"uri":"file:///srv/.ai/workflows/a.md","version":1,"text":"x"}}
> - textDocument/didOpen {"textDocument":{"uri":"file:///srv/docs/plans/2026-01-01-a-workflow.md","version":1,"text":"x"}}
=
< findings 1 of "file:///srv/.ai/workflows/a.md" [missing-frontmatter no-steps]
< findings 1 of "file:///srv/docs/plans/2026-01-01-a-workflow.md" [missing-frontmatter no-steps]
"####
    ));
}

#[test]
fn a_request_that_is_taken_back_while_it_waits_is_not_performed() {
    let mut conversation = Conversation::default();
    for said in [
        r#"0 initialize {}"#,
        r#"1 shutdown {}"#,
        r#"2 shutdown {}"#,
        r#"- $/cancelRequest {"id":1}"#,
        r#"- $/cancelRequest {"id":77}"#,
        r#"- $/cancelRequest {}"#,
    ] {
        conversation.receive(message(said).as_bytes());
    }
    let mut found = Vec::new();
    while conversation.has_waiting() {
        if let Some(Handled::Send(message)) = conversation.handle_next() {
            found.push(shown(&message));
        }
    }
    assert_eq!(found, ["result 0", "error 1 -32800 the request was taken back", "nothing 2"]);
}

/// An editor that takes everything, with an open workflow of `text`.
fn editor(text: &str) -> Conversation {
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
        "textDocument": {
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "publishDiagnostics": { "relatedInformation": true },
            "codeAction": { "codeActionLiteralSupport": {} },
        },
    });
    let folders = json!([{ "uri": "file:///srv/repo/", "name": "repo" }]);
    let hello = json!({ "capabilities": capabilities, "workspaceFolders": folders });
    let open = json!({ "textDocument": { "uri": URI, "version": 7, "text": text } });
    let mut conversation = Conversation::default();
    conversation.receive(message(&format!("0 initialize {hello}")).as_bytes());
    conversation.receive(message(&format!("- textDocument/didOpen {open}")).as_bytes());
    while conversation.has_waiting() {
        conversation.handle_next();
    }
    conversation
}

#[track_caller]
fn asked(conversation: &mut Conversation, method: &str, params: Value) -> Value {
    let mut params = params;
    params["textDocument"] = json!({ "uri": URI });
    conversation.receive(message(&format!("1 textDocument/{method} {params}")).as_bytes());
    let reaction = conversation.handle_next();
    let Some(Handled::Send(mut answer)) = reaction else { panic!("{reaction:?}") };
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

const FILE: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n\
    - [ ] **Step 1: 😀 One**\naction: before step 2\nloop: sometimes\n\n\
    - [ ] **Step 2: Two**\nAction: after step 1\nloop: false\nverify:\n  type: artifact\n  \
    path: out/a.txt\n  assert:\n    kind: exists\n";

fn at(line: usize, character: usize) -> Value {
    json!({ "position": { "line": line, "character": character } })
}

#[test]
fn places_are_counted_as_was_agreed() {
    let mut conversation = editor(FILE);
    let symbols = asked(&mut conversation, "documentSymbol", json!({}));
    let range =
        json!({ "start": { "line": 6, "character": 16 }, "end": { "line": 6, "character": 22 } });
    assert_eq!(symbols[1]["selectionRange"], range);
    assert_eq!(symbols[1]["children"][0]["name"], "action");
    let offers = [
        (json!(["utf-8", "utf-16"]), "utf-8"),
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-16"),
        (json!("utf-8"), "utf-16"),
        (Value::Null, "utf-16"),
    ];
    for (offer, expected) in offers {
        let hello = json!({ "capabilities": { "general": { "positionEncodings": offer } } });
        let mut conversation = Conversation::default();
        conversation.receive(message(&format!("0 initialize {hello}")).as_bytes());
        let Some(Handled::Send(answer)) = conversation.handle_next() else { panic!("no answer") };
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], expected, "{offer}");
    }
}

#[test]
fn changes_name_the_text_that_they_are_for() {
    let mut conversation = editor(FILE);
    let line = |line: usize| json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 6 } });
    let params = json!({ "range": line(8), "context": { "diagnostics": [] } });
    let actions = asked(&mut conversation, "codeAction", params);
    assert_eq!(actions[0]["title"], "Write `false`");
    assert_eq!(actions[0]["isPreferred"], false);
    assert_eq!(
        actions[0]["edit"],
        json!({ "documentChanges": [{
            "textDocument": { "uri": URI, "version": 7 },
            "edits": [{
                "range": { "start": { "line": 8, "character": 6 }, "end": { "line": 8, "character": 15 } },
                "newText": "false",
            }],
        }] })
    );
    let params = json!({ "range": line(6), "context": { "diagnostics": [] } });
    let titles: Vec<Value> = asked(&mut conversation, "codeAction", params)
        .as_array()
        .expect("a list")
        .iter()
        .map(|action| action["title"].clone())
        .collect();
    let expected =
        ["Insert a step before step 1", "Insert a step after step 1", "Move step 1 down"];
    assert_eq!(titles, expected);
    let only =
        json!({ "range": line(6), "context": { "diagnostics": [], "only": ["source.fixAll"] } });
    assert_eq!(asked(&mut conversation, "codeAction", only), json!([]), "nothing is safe to fix");
    let formatted = asked(&mut conversation, "formatting", json!({ "options": {} }));
    assert_eq!(formatted[0]["newText"], "action");
    assert_eq!(formatted.as_array().map(Vec::len), Some(1));
}

#[test]
fn everything_that_can_be_fixed_is_fixed_at_once() {
    let mut conversation = editor(&FILE.replace("sometimes", "never"));
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let only =
        json!({ "range": whole, "context": { "diagnostics": [], "only": ["source.fixAll"] } });
    let actions = asked(&mut conversation, "codeAction", only);
    assert_eq!(actions[0]["kind"], "source.fixAll.onloop");
    let edit = &actions[0]["edit"]["documentChanges"][0]["edits"];
    assert_eq!(
        *edit,
        json!([{
            "range": { "start": { "line": 8, "character": 6 }, "end": { "line": 8, "character": 11 } },
            "newText": "false",
        }])
    );
}

#[test]
fn steps_are_found_and_renamed() {
    let mut conversation = editor(FILE);
    let header =
        json!({ "start": { "line": 10, "character": 16 }, "end": { "line": 10, "character": 19 } });
    let definition = asked(&mut conversation, "definition", at(7, 20));
    assert_eq!(definition, json!({ "uri": URI, "range": header }));
    let mut params = at(10, 13);
    params["context"] = json!({ "includeDeclaration": true });
    let found = asked(&mut conversation, "references", params);
    let lines: Vec<u64> = found
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|l| l["range"]["start"]["line"].as_u64())
        .collect();
    assert_eq!(lines, [10, 7]);
    assert_eq!(asked(&mut conversation, "definition", at(7, 2)), Value::Null);
    let prepared = asked(&mut conversation, "prepareRename", at(10, 17));
    assert_eq!(prepared, json!({ "range": header, "placeholder": "Two" }));
    let mut params = at(10, 17);
    params["newName"] = json!("Deux");
    let renamed = asked(&mut conversation, "rename", params);
    assert_eq!(renamed["documentChanges"][0]["edits"][0]["newText"], "Deux");
    let mut params = at(7, 20);
    params["newName"] = json!("1");
    let moved = asked(&mut conversation, "rename", params);
    let text = moved["documentChanges"][0]["edits"][0]["newText"].as_str().unwrap();
    assert!(text.starts_with("- [ ] **Step 1: Two**\nAction: after step 2\n"), "{text}");
    for (line, character, name, why) in [
        (1, 0, "x", "only steps can be renamed: their names and numbers"),
        (10, 17, " ", "the name of a step is text on one line, without `**`"),
        (10, 17, "a\nb", "the name of a step is text on one line, without `**`"),
        (10, 13, "3", "the number of a step is from 1 to 2 here"),
        (10, 13, "x", "the number of a step is from 1 to 2 here"),
    ] {
        let mut params = at(line, character);
        params["newName"] = json!(name);
        params["textDocument"] = json!({ "uri": URI });
        conversation.receive(message(&format!("1 textDocument/rename {params}")).as_bytes());
        let Some(Handled::Send(answer)) = conversation.handle_next() else { panic!("no answer") };
        assert_eq!(answer["error"]["message"], why);
        assert_eq!(answer["error"]["code"], -32803);
    }
}

#[test]
fn proposals_have_the_form_that_the_editor_takes() {
    let mut conversation = editor(FILE);
    let proposals = asked(&mut conversation, "completion", at(9, 0));
    let first = &proposals["items"][0];
    assert_eq!(first["label"], "max_iterations");
    assert_eq!(first["insertTextFormat"], 2);
    assert_eq!(first["textEdit"]["newText"], "max_iterations: $0");
    let mut conversation = Conversation::default();
    let open = json!({ "textDocument": { "uri": URI, "version": 7, "text": FILE } });
    for said in ["0 initialize {}".to_owned(), format!("- textDocument/didOpen {open}")] {
        conversation.receive(message(&said).as_bytes());
        conversation.handle_next();
    }
    let proposals = asked(&mut conversation, "completion", at(9, 0));
    assert_eq!(proposals["items"][0]["insertTextFormat"], 1);
    assert_eq!(proposals["items"][0]["textEdit"]["newText"], "max_iterations: ");
    let symbols = asked(&mut conversation, "documentSymbol", json!({}));
    assert_eq!(symbols[1]["location"]["uri"], URI);
    let params = json!({ "newName": "Deux", "position": { "line": 10, "character": 17 } });
    let renamed = asked(&mut conversation, "rename", params);
    assert_eq!(renamed["changes"][URI][0]["newText"], "Deux");
}

#[test]
fn paths_begin_in_the_folder_that_is_open() {
    let mut conversation = editor(FILE);
    let target = |conversation: &mut Conversation| {
        asked(conversation, "documentLink", json!({}))[0]["target"].as_str().map(str::to_owned)
    };
    assert_eq!(target(&mut conversation).as_deref(), Some("file:///srv/repo/out/a.txt"));
    let event = json!({ "event": {
        "added": [{ "uri": "file:///srv", "name": "srv" }],
        "removed": [{ "uri": "file:///srv/repo", "name": "repo" }],
    } });
    let said = format!("- workspace/didChangeWorkspaceFolders {event}");
    conversation.receive(message(&said).as_bytes());
    assert_eq!(conversation.handle_next(), None);
    assert_eq!(target(&mut conversation).as_deref(), Some("file:///srv/out/a.txt"));
    let event =
        json!({ "event": { "added": [], "removed": [{ "uri": "file:///srv", "name": "" }] } });
    let said = format!("- workspace/didChangeWorkspaceFolders {event}");
    conversation.receive(message(&said).as_bytes());
    conversation.handle_next();
    assert_eq!(target(&mut conversation).as_deref(), Some("file:///srv/repo/out/a.txt"));
}

#[test]
fn tokens_are_counted_from_the_one_before() {
    let mut conversation = editor(FILE);
    let whole = asked(&mut conversation, "semanticTokens/full", json!({}));
    let data = whole["data"].as_array().unwrap();
    assert_eq!(data.len() % 5, 0);
    // `intent`, then `success_criteria` on the next line.
    assert_eq!(data[..10], [1, 0, 6, 1, 0, 1, 0, 16, 1, 0].map(Value::from));
    let range =
        json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 9 } });
    let part = asked(&mut conversation, "semanticTokens/range", json!({ "range": range }));
    assert_eq!(part["data"], json!([1, 0, 6, 1, 0]));
}
