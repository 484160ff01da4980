//! A client of version 2026-07-28, which asks without a conversation, and what it brought.

use rmcp::model::{CallToolResponse, ProtocolVersion, ServerNotification, SubscriptionFilter};
use rmcp::service::SubscriptionEnd;

use super::*;

/// An answer as JSON.
fn shown(response: &CallToolResponse) -> Value {
    let shown = match response {
        CallToolResponse::Complete(result) => serde_json::to_value(result),
        CallToolResponse::InputRequired(result) => serde_json::to_value(result),
        other => panic!("{other:?}"),
    };
    shown.expect("an answer is JSON")
}

#[test]
fn a_client_of_the_later_protocol_is_served_in_it() {
    with_time(async {
        let workspace = project("low", "", HELLO);
        let session = Session::stateless(&workspace, json!({}), &[]).await;
        let server = session.client.peer_info().unwrap();
        assert_eq!(server.protocol_version, ProtocolVersion::V_2026_07_28);
        let tools = session.client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), onloop_core::mcp::Tool::ALL.len());
        let done = session.call("run", here()).await;
        let answer = Session::expect(&done, "done");
        let id = answer["result"]["run_id"].as_str().unwrap().to_owned();
        let prompts = session.client.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["loop", "resume", "review"]);
        let ids = session.client.complete_prompt_simple("review", "run_id", "hel").await.unwrap();
        assert_eq!(ids, std::slice::from_ref(&id));
        let uri = "onloop://runs/{run_id}/record";
        let ids = session.client.complete_resource_simple(uri, "run_id", "x").await.unwrap();
        assert_eq!(ids, Vec::<String>::new());
        assert_eq!(session.client.list_all_resources().await.unwrap().len(), 2);
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn a_person_is_asked_in_a_result_and_the_call_comes_again() {
    with_time(async {
        let workspace = project("high", GATE, HELLO);
        let asks = json!({ "elicitation": {} });
        let reactions =
            [Reaction::Answer("show-details"), Reaction::Answer("yes"), Reaction::Answer("Write")];
        let mut session = Session::stateless(&workspace, asks, &reactions).await;
        let done = session.call("run", here()).await;
        assert_eq!(Session::expect(&done, "done")["result"]["status"], "completed");
        assert!(session.question().contains("Gate reached at Step 1"));
        assert!(session.question().contains("Gate reached at Step 1"));
        // A step at high risk is not approved by a habit.
        assert!(session.question().contains("type its name: Write"));
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn who_gives_a_question_up_finds_the_run_paused_and_may_go_on() {
    with_time(async {
        let workspace = project("low", GATE, HELLO);
        let asks = json!({ "elicitation": {} });
        let session = Session::stateless(&workspace, asks, &[]).await;
        // The question is left where it is.
        let first = session.client.call_tool_once(call("run", &here())).await.unwrap();
        let first = shown(&first);
        assert_eq!(first["resultType"], "input_required", "{first:#}");
        let question = &first["inputRequests"]["answer"];
        assert_eq!(question["method"], "elicitation/create");
        assert!(question["params"]["message"].as_str().unwrap().contains("Gate reached"));
        // The state belongs to that call alone.
        let state = first["requestState"].as_str().unwrap();
        let mut other =
            serde_json::to_value(call("gate", &json!({ "step": 1, "decision": "approved" })))
                .unwrap();
        other["requestState"] = json!(state);
        other["inputResponses"] =
            json!({ "answer": { "action": "accept", "content": { "answer": "yes" } } });
        let params = serde_json::from_value(other).unwrap();
        let error = session.client.call_tool_once(params).await.unwrap_err();
        let expected =
            "`requestState` belongs to no open question of this call; call again without it";
        assert!(error.to_string().contains(expected), "{error}");
        // Without an answer the question comes again, with it the run continues.
        let again = |answers: Value| {
            let mut params = serde_json::to_value(call("run", &here())).unwrap();
            params["requestState"] = json!(state);
            params["inputResponses"] = answers;
            session.client.call_tool_once(serde_json::from_value(params).unwrap())
        };
        let asked = shown(&again(json!({})).await.unwrap());
        assert_eq!(asked["requestState"], state);
        let declined = json!({ "answer": { "action": "decline" } });
        let paused = shown(&again(declined).await.unwrap());
        assert_eq!(paused["structuredContent"]["outcome"], "paused", "{paused:#}");
        // Whoever calls anew has given the question up; the run waits and is not in the way.
        let id = workspace.record()["run_id"].clone();
        let on = json!({ "run_id": id, "agent": "script" });
        let asked = session.client.call_tool_once(call("run", &on)).await.unwrap();
        assert_eq!(shown(&asked)["resultType"], "input_required");
        let asked = session.client.call_tool_once(call("run", &on)).await.unwrap();
        assert_eq!(shown(&asked)["resultType"], "input_required");
        assert_eq!(session.end().await, Some(0));
        assert_eq!(workspace.record()["status"], "paused");
    });
}

#[test]
fn a_stream_tells_of_runs_and_ends_with_the_server() {
    with_time(async {
        let workspace = project("low", "", HELLO);
        let id = workspace.onloop(&["init", "hotl-workflow-hello.md"]).expect_exit(0).stdout;
        let id = id.trim();
        let session = Session::stateless(&workspace, json!({}), &[]).await;
        let uri = format!("onloop://runs/{id}/record");
        let filter = json!({
            "resourcesListChanged": true, "toolsListChanged": true, "resourceSubscriptions": [uri],
        });
        let filter: SubscriptionFilter = serde_json::from_value(filter).unwrap();
        let mut stream = session.client.listen(filter).await.unwrap();
        let agreed = serde_json::to_value(stream.acknowledged()).unwrap();
        let expected = json!({ "resourcesListChanged": true, "resourceSubscriptions": [uri] });
        assert_eq!(agreed, expected);
        // Somebody else changes it.
        workspace.onloop(&["step", "1", "start", "--run-id", id]).expect_exit(0);
        let told = stream.next().await.unwrap().expect("the stream is open");
        let ServerNotification::ResourceUpdatedNotification(updated) = told else {
            panic!("{told:?}")
        };
        assert_eq!(updated.params.uri, uri);
        workspace.onloop(&["init", "hotl-workflow-hello.md"]).expect_exit(0);
        loop {
            match stream.next().await.unwrap().expect("the stream is open") {
                ServerNotification::ResourceListChangedNotification(_) => break,
                ServerNotification::ResourceUpdatedNotification(_) => {}
                other => panic!("{other:?}"),
            }
        }
        let pid = i32::try_from(session.server.id().unwrap()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        while stream.next().await.unwrap().is_some() {}
        assert!(matches!(stream.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", stream.end());
    });
}
