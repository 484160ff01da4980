//! What happens while a run works: other calls, the end of the call, the end of everything.

use rmcp::model::{CallToolRequest, ClientRequest, PingRequest};
use rmcp::service::PeerRequestOptions;

use super::*;

/// A script that continues when there is a file `go`.
const WAITS: &str = "until test -e go; do sleep 0.01; done; echo hi > hello.txt";
const SLEEPS: &str = "exec sleep 1000";

async fn started(session: &mut Session) {
    loop {
        let (_, _, words) = session.progress.recv().await.expect("progress");
        if words.starts_with("→ Step 1") {
            return;
        }
    }
}

fn request(tool: &str, arguments: &Value) -> ClientRequest {
    ClientRequest::CallToolRequest(CallToolRequest::new(call(tool, arguments)))
}

#[test]
fn other_calls_are_answered_while_a_run_goes_on() {
    with_time(async {
        let workspace = project("low", "", WAITS);
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let options = PeerRequestOptions::no_options();
        let run = session.client.send_cancellable_request(request("run", &here()), options).await;
        started(&mut session).await;
        let ping = ClientRequest::PingRequest(PingRequest::default());
        session.client.send_request(ping).await.unwrap();
        let status = Session::expect(&session.call("status", json!({})).await, "done");
        assert_eq!(status["result"][0]["status"], "running");
        // A second process has to wait for the first one.
        let id = status["result"][0]["run_id"].clone();
        let second = session.call("run", json!({ "run_id": id, "agent": "script" })).await;
        let notes = Session::expect(&second, "refused");
        let notes = notes["notes"].as_str().unwrap();
        assert!(notes.contains("another onloop works on run"), "{notes}");
        // A signal would end the server, and with it everybody's calls.
        assert!(notes.contains("stop it in an MCP server") && !notes.contains("kill"), "{notes}");
        workspace.write("go", "");
        let answer = run.unwrap().await_response().await.unwrap();
        let answer = serde_json::to_value(&answer).unwrap();
        assert_eq!(answer["structuredContent"]["outcome"], "done", "{answer:#}");
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn two_runs_take_turns() {
    with_time(async {
        let workspace = Workspace::plain();
        workspace.write("a/hotl-workflow-hello.md", workflow("low", "", WAITS));
        workspace.write("b/hotl-workflow-hello.md", workflow("low", "", HELLO));
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let at = |folder: &str| json!({ "mode": "none", "agent": "script", "directory": folder });
        let options = PeerRequestOptions::no_options();
        let first = session.client.send_cancellable_request(request("run", &at("a")), options);
        let first = first.await.unwrap();
        started(&mut session).await;
        let options = PeerRequestOptions::no_options();
        let second = session.client.send_cancellable_request(request("run", &at("b")), options);
        let second = second.await.unwrap();
        started(&mut session).await;
        workspace.write("a/go", "");
        for run in [first, second] {
            let answer = serde_json::to_value(run.await_response().await.unwrap()).unwrap();
            assert_eq!(answer["structuredContent"]["outcome"], "done", "{answer:#}");
        }
    });
}

#[test]
fn a_cancelled_run_is_paused_and_goes_on_later() {
    with_time(async {
        let workspace = project("low", "", &format!("test -e go || {SLEEPS}; {HELLO}"));
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let options = PeerRequestOptions::no_options();
        let run = session.client.send_cancellable_request(request("run", &here()), options).await;
        started(&mut session).await;
        run.unwrap().cancel(Some("enough".to_owned())).await.unwrap();
        let status = Session::expect(&session.call("status", json!({})).await, "done");
        assert_eq!(status["result"][0]["status"], "paused", "{status:#}");
        workspace.write("go", "");
        let on = json!({ "run_id": status["result"][0]["run_id"], "agent": "script" });
        Session::expect(&session.call("run", on).await, "done");
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn a_question_that_was_cancelled_is_withdrawn() {
    with_time(async {
        let workspace = project("low", GATE, HELLO);
        let asks = json!({ "elicitation": {} });
        let mut session = Session::begin(&workspace, asks, &[Reaction::Never]).await;
        let options = PeerRequestOptions::no_options();
        let run = session.client.send_cancellable_request(request("run", &here()), options).await;
        session.asked.recv().await.expect("a question");
        run.unwrap().cancel(None).await.unwrap();
        let status = Session::expect(&session.call("status", json!({})).await, "done");
        assert_eq!(status["result"][0]["status"], "paused", "{status:#}");
    });
}

#[test]
fn the_end_of_the_conversation_pauses_a_run() {
    with_time(async {
        let workspace = project("low", "", SLEEPS);
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let options = PeerRequestOptions::no_options();
        let run = session.client.send_cancellable_request(request("run", &here()), options).await;
        started(&mut session).await;
        assert_eq!(session.end().await, Some(0));
        assert!(run.unwrap().await_response().await.is_err());
        assert_eq!(workspace.record()["status"], "paused");
    });
}

#[test]
fn a_signal_pauses_a_run_and_ends_the_server() {
    with_time(async {
        let workspace = project("low", "", SLEEPS);
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let options = PeerRequestOptions::no_options();
        let run = session.client.send_cancellable_request(request("run", &here()), options).await;
        started(&mut session).await;
        let pid = i32::try_from(session.server.id().unwrap()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let answer = run.unwrap().await_response().await.unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!(answer["structuredContent"]["outcome"], "interrupted", "{answer:#}");
        assert_eq!(session.server.wait().await.unwrap().code(), Some(130));
        assert_eq!(workspace.record()["status"], "paused");
    });
}
