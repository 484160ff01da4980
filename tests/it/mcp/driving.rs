//! An agent without a shell: whole runs with tools alone, and runs that outlive their call.

use super::*;

#[test]
fn an_agent_drives_a_run_from_its_beginning_to_its_end_with_tools_alone() {
    with_time(async {
        let workspace = Workspace::git();
        workspace.write("hotl-workflow-hello.md", workflow("low", GATE, HELLO));
        workspace.commit("Plan");
        let asks = json!({ "elicitation": {} });
        let reactions = [Reaction::Answer("yes")];
        let mut session = Session::begin(&workspace, asks, &reactions).await;
        let begun = session.call("begin", json!({ "mode": "branch" })).await;
        let begun = Session::expect(&begun, "done")["result"].clone();
        let id = begun["run_id"].as_str().unwrap().to_owned();
        assert_eq!(
            begun["execution_root"],
            workspace.path(".").canonicalize().unwrap().to_str().unwrap()
        );
        for step in 1..=2 {
            let next = session.call("next", json!({ "run_id": id })).await;
            assert_eq!(Session::expect(&next, "done")["result"]["action"], "start");
            let start = json!({ "step": step, "action": "start", "run_id": id });
            Session::expect(&session.call("step", start).await, "done");
            workspace.write("hello.txt", "hi\n");
            let verify = json!({ "step": step, "action": "verify", "run_id": id });
            Session::expect(&session.call("step", verify).await, "done");
            if step == 1 {
                let gate = json!({ "step": 1, "decision": "approved", "run_id": id });
                Session::expect(&session.call("gate", gate).await, "done");
                assert!(session.question().contains("An agent proposes that step 1 is approved"));
            }
        }
        let stat = session.call("diff", json!({ "run_id": id, "stat": true })).await;
        let stat = Session::expect(&stat, "done")["result"].clone();
        assert!(stat.as_str().unwrap().contains("hello.txt"), "{stat}");
        let end = session.call("finalize", json!({ "run_id": id })).await;
        assert_eq!(Session::expect(&end, "done")["result"]["status"], "completed");
        let shown = session.call("summary", json!({ "run_id": id, "platform": "codex" })).await;
        let shown = Session::expect(&shown, "done")["result"].clone();
        assert!(shown.as_str().unwrap().contains("Step 1: Write"), "{shown}");
        let receipt = session.call("receipt", json!({ "run_id": id })).await;
        let receipt = Session::expect(&receipt, "done")["result"].clone();
        assert_eq!(receipt["sufficiency"]["sufficient"], true, "{receipt:#}");
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn what_only_a_person_may_decide_is_no_tool() {
    let names = onloop_core::mcp::Tool::WORDS;
    for verb in ["finish", "approve", "adopt", "abandon", "undo", "install", "relocate"] {
        assert!(!names.contains(&verb), "{verb}");
    }
    for tool in onloop_core::mcp::Tool::ALL {
        for (name, _) in tool.parameter_names() {
            assert!(!["auto_approve", "take_over", "accept", "confine"].contains(&name), "{name}");
        }
    }
}

/// A script that continues when there is a file `go`.
const WAITS: &str = "until test -e go; do sleep 0.01; done; echo hi > hello.txt";

#[test]
fn a_run_in_the_background_is_answered_at_once_and_stopped_on_request() {
    with_time(async {
        let workspace = project("low", "", WAITS);
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let background = json!({ "mode": "none", "agent": "script", "background": true });
        let begun = session.call("run", background).await;
        let begun = Session::expect(&begun, "begun");
        let id = begun["result"]["run_id"].as_str().unwrap().to_owned();
        assert_eq!(begun["result"]["status"], "running");
        let status = session.call("status", json!({ "run_id": id })).await;
        assert_eq!(Session::expect(&status, "done")["result"]["status"], "running");
        let none = session.call("stop", json!({ "run_id": "none-20260320T212315Z" })).await;
        let none = Session::expect(&none, "usage");
        assert_eq!(
            none["notes"],
            "error: this server does not run `none-20260320T212315Z` in the background; \
             see\n       `status`\n"
        );
        let stopped = session.call("stop", json!({ "run_id": id })).await;
        assert_eq!(Session::expect(&stopped, "done")["result"]["status"], "paused");
        workspace.write("go", "");
        let on = json!({ "run_id": id, "agent": "script" });
        assert_eq!(
            Session::expect(&session.call("run", on).await, "done")["result"]["status"],
            "completed"
        );
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn a_run_in_the_background_pauses_with_the_server() {
    with_time(async {
        let workspace = project("low", "", "exec sleep 1000");
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let background = json!({ "mode": "none", "agent": "script", "background": true });
        Session::expect(&session.call("run", background).await, "begun");
        assert_eq!(session.end().await, Some(0));
        assert_eq!(workspace.record()["status"], "paused");
    });
}

#[test]
#[ignore = "only with --all"]
fn whoever_waits_for_a_long_step_hears_every_ten_seconds_that_it_goes_on() {
    with_time(async {
        let workspace = project("low", "", WAITS);
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let options = rmcp::service::PeerRequestOptions::no_options();
        let request = rmcp::model::ClientRequest::CallToolRequest(
            rmcp::model::CallToolRequest::new(call("run", &here())),
        );
        let run = session.client.send_cancellable_request(request, options).await.unwrap();
        let mut last = 0.0;
        loop {
            let (done, total, words) = session.progress.recv().await.expect("progress");
            assert!(done > last && total == Some(2.0), "{done} after {last}");
            last = done;
            // Nothing else has happened for that long.
            if words.starts_with("→ Step 1: Write (1") {
                break;
            }
        }
        workspace.write("go", "");
        let answer = serde_json::to_value(run.await_response().await.unwrap()).unwrap();
        assert_eq!(answer["structuredContent"]["outcome"], "done", "{answer:#}");
    });
}

#[test]
fn a_client_that_wants_a_log_gets_the_notes_as_they_come() {
    use std::io::{BufRead, BufReader, Write};

    let workspace = project("low", "", HELLO);
    let mut command = workspace.command_at(".", program());
    command.arg("mcp").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut server = command.spawn().unwrap();
    let meta = |level: Option<&str>| {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if let Some(level) = level {
            meta["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        meta
    };
    let run = |id: u64, level: Option<&str>| {
        let params = json!({ "name": "run", "arguments": { "mode": "none", "agent": "script", "fresh": true }, "_meta": meta(level) });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let mut stdin = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut said_for = |request: Value| {
        writeln!(stdin, "{request}").unwrap();
        let mut said = Vec::new();
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if message["id"] == request["id"] {
                return said;
            }
            said.push(message);
        }
    };
    let said = said_for(run(1, Some("info")));
    assert!(said.iter().all(|message| message["method"] == "notifications/message"));
    assert_eq!(said[0]["params"]["logger"], "onloop");
    assert_eq!(said[0]["params"]["level"], "info");
    assert!(said.iter().any(|message| message["params"]["data"] == "→ Step 1: Write"), "{said:#?}");
    assert_eq!(said_for(run(2, Some("error"))), Vec::<Value>::new());
    assert_eq!(said_for(run(3, None)), Vec::<Value>::new());
    drop(stdin);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}
