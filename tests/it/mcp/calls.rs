//! What is offered, and each tool once.

use super::*;
use crate::workspace::source_root;

#[test]
fn server_and_client_agree_and_the_tools_are_listed() {
    with_time(async {
        let workspace = Workspace::plain();
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let server = serde_json::to_value(session.client.peer_info().unwrap()).unwrap();
        assert_eq!(server["protocolVersion"], "2025-11-25");
        assert_eq!(server["serverInfo"]["name"], "onloop");
        let tools = session.client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, onloop_core::mcp::Tool::WORDS);
        assert!(tools.iter().all(|tool| tool.output_schema.is_some() && tool.title.is_some()));
        let templates = session.client.list_all_resource_templates().await.unwrap();
        assert_eq!(templates.len(), 2);
        assert!(session.client.list_all_resources().await.unwrap().is_empty());
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn the_document_names_every_tool_and_parameter() {
    let document = std::fs::read_to_string(source_root().join("docs/mcp.md")).unwrap();
    for tool in onloop_core::mcp::Tool::ALL {
        let start = format!("| `{}` |", tool.as_str());
        let row = document.lines().find(|line| line.starts_with(&start)).unwrap_or(&start);
        for (name, needed) in tool.parameter_names().filter(|(name, _)| *name != "directory") {
            let shown = if needed { format!("**`{name}`**") } else { format!("`{name}`") };
            assert!(row.contains(&shown), "{row} lacks {shown}");
        }
    }
}

#[test]
fn a_run_is_conducted_looked_at_and_read() {
    with_time(async {
        let workspace = project("low", "", HELLO);
        let mut session = Session::begin(&workspace, json!({}), &[]).await;
        let linted = session.call("lint", json!({})).await;
        Session::expect(&linted, "done");
        let done = session.call("run", here()).await;
        let answer = Session::expect(&done, "done");
        assert_eq!(done.is_error, Some(false));
        assert_eq!(answer["result"]["status"], "completed");
        let id = answer["result"]["run_id"].as_str().unwrap().to_owned();

        let mut last = 0.0;
        let mut words = Vec::new();
        while let Ok((progress, total, message)) = session.progress.try_recv() {
            assert!(progress > last && progress <= 2.0, "{progress} after {last}");
            assert_eq!(total, Some(2.0));
            (last, words) = (progress, [words, vec![message]].concat());
        }
        assert!(words.contains(&"→ Step 1: Write".to_owned()), "{words:?}");
        assert_eq!(words.last().map(String::as_str), Some("✓ Step 2: Look"));

        let listed = session.call("status", json!({ "all": true })).await;
        assert_eq!(Session::expect(&listed, "done")["result"][0]["run_id"], id);
        let one = session.call("status", json!({ "run_id": id })).await;
        assert_eq!(Session::expect(&one, "done")["result"]["completed_steps"], 2);
        let next = session.call("next", json!({ "run_id": id })).await;
        assert_eq!(Session::expect(&next, "done")["result"]["action"], "finished");
        let report = session.call("report", json!({ "run_id": id })).await;
        let report = Session::expect(&report, "done");
        assert!(report["result"].as_str().unwrap().starts_with("# Execution Report"));

        let resources = session.client.list_all_resources().await.unwrap();
        assert_eq!(resources.len(), 2);
        for resource in resources {
            let uri = resource.uri.clone();
            let params = serde_json::from_value(json!({ "uri": uri })).unwrap();
            let read = session.client.read_resource(params).await.unwrap();
            let text = serde_json::to_value(&read.contents[0]).unwrap()["text"].to_string();
            assert!(text.contains(&id), "{uri}");
        }
        let unknown = json!({ "uri": "onloop://runs/none-20260320T212315Z/record" });
        let params = serde_json::from_value(unknown).unwrap();
        let error = session.client.read_resource(params).await.unwrap_err();
        assert!(error.to_string().contains("no run `"), "{error}");
        assert_eq!(session.end().await, Some(0));
    });
}

#[test]
fn an_agent_drives_a_run_step_by_step() {
    with_time(async {
        let workspace = project("low", "", HELLO);
        let id = workspace.onloop(&["init", "hotl-workflow-hello.md"]).expect_exit(0).stdout;
        let id = id.trim();
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let next = session.call("next", json!({})).await;
        assert_eq!(Session::expect(&next, "done")["result"]["action"], "start");
        let start = json!({ "step": 1, "action": "start", "run_id": id });
        Session::expect(&session.call("step", start).await, "done");
        let verify = json!({ "step": 1, "action": "verify" });
        let failed = session.call("step", verify.clone()).await;
        assert_eq!(failed.is_error, Some(true));
        let failed = Session::expect(&failed, "failed");
        assert_eq!(failed["result"]["step"]["status"], "failed");
        assert_eq!(failed["result"]["run_id"], id);
        let refused = session.call("step", json!({ "step": 1, "action": "block" })).await;
        let refused = Session::expect(&refused, "failed");
        assert_eq!(refused["notes"], "error: --reason is required for block\n");
        assert_eq!(session.end().await, Some(0));
        let record = workspace.record();
        assert_eq!(record["steps"][0]["status"], "failed", "{record:#}");
    });
}

#[test]
fn a_tool_call_is_judged_and_nothing_runs() {
    with_time(async {
        let workspace = Workspace::plain();
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let command = json!({ "command": "rm -rf / && touch evil" });
        let denied = session.call("permit_explain", command).await;
        assert_eq!(denied.is_error, Some(false));
        assert_eq!(Session::expect(&denied, "failed")["result"]["decision"], "deny");
        let read = json!({ "tool": "Bash", "input": { "command": "ls" } });
        let allowed = session.call("permit_explain", read).await;
        assert_eq!(Session::expect(&allowed, "done")["result"]["decision"], "allow");
        assert!(!workspace.path("evil").exists());
    });
}

#[test]
fn files_that_an_agent_may_not_read_are_not_read_for_it() {
    with_time(async {
        let workspace = Workspace::plain();
        workspace.write("../home/.netrc", "machine a login b password hunter22hunter22");
        workspace.write("hotl-workflow-hello.md", workflow("low", "", HELLO));
        std::os::unix::fs::symlink(
            workspace.path("../home/.netrc"),
            workspace.path("hotl-workflow-link.md"),
        )
        .unwrap();
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let netrc = workspace.path("../home/.netrc").to_str().unwrap().to_owned();
        for file in [netrc.as_str(), "~/.netrc", "hotl-workflow-link.md"] {
            let lint = session.call("lint", json!({ "files": [file] })).await;
            for answer in [lint, session.call("run", json!({ "file": file })).await] {
                let said = Session::expect(&answer, "refused").to_string();
                assert!(said.contains("is not read") && !said.contains("hunter22"), "{said}");
            }
        }
        let own = session.call("lint", json!({ "files": ["hotl-workflow-hello.md"] })).await;
        Session::expect(&own, "done");
    });
}

#[test]
fn a_call_works_in_the_folders_of_the_client_and_nowhere_else() {
    with_time(async {
        let workspace = Workspace::plain();
        workspace.write("a/hotl-workflow-hello.md", workflow("low", "", HELLO));
        workspace.write("b/x", "");
        let root = |below: &str| {
            let path = workspace.path(below);
            json!({ "uri": format!("file://{}", path.display()) })
        };
        let roots = json!([root("a"), { "uri": "file:///does/not/exist" }]);
        let session = Session::with_roots(&workspace, json!({ "roots": {} }), &[], roots).await;
        let done = session.call("run", here()).await;
        Session::expect(&done, "done");
        assert!(workspace.path("a/hello.txt").exists());
        for outside in ["../b", "/", "..", "../none", "hotl-workflow-hello.md"] {
            let refused = session.call("status", json!({ "directory": outside })).await;
            assert_eq!(refused.is_error, Some(true), "{outside}");
            Session::expect(&refused, "usage");
        }
        let inside = json!({ "directory": ".", "all": true });
        let listed = Session::expect(&session.call("status", inside).await, "done");
        assert_eq!(listed["result"].as_array().unwrap().len(), 1);

        let session = Session::begin(&workspace, json!({}), &[]).await;
        let listed = session.call("status", json!({ "directory": "a", "all": true })).await;
        assert_eq!(Session::expect(&listed, "done")["result"].as_array().unwrap().len(), 1);
        let refused = session.call("status", json!({ "directory": "../.." })).await;
        assert!(Session::expect(&refused, "usage")["notes"].as_str().unwrap().contains("inside"));
    });
}
