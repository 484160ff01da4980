//! Agents that speak the Agent Client Protocol: scripts that keep to it, and one that does not.

use crate::rounds::sampled;
use crate::run::{project, run, standing};
use crate::workspace::Workspace;

const STEP: &str = "- [ ] **Step 1: Make it**\naction: make it\nloop: until it is there\n\
                    max_iterations: 2\nverify: test -e made\n";

/// The functions with which an agent of shell answers.
const ANSWERS: &str = r#"say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":$2}"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":$1}}"; }
next() { IFS= read -r line || exit 9; printf '%s\n' "$line" >> heard; }
"#;

/// An agent that asks about a line of shell, runs it if it may, and says so.
fn agent(project: &Workspace, line: &str) -> String {
    let agent = format!(
        r#"{ANSWERS}printf %s "$TRACEPARENT" > parent
next
answer 1 '{{"protocolVersion":1,"agentCapabilities":{{"loadSession":true}},"agentInfo":{{"name":"small","version":"0.1"}}}}'
next
answer 2 '{{"sessionId":"s-1","configOptions":[{{"id":"model","category":"model","type":"select","currentValue":"a","options":[{{"value":"a","name":"A"}},{{"value":"b","name":"B"}}]}}]}}'
next
prompt=3
case "$line" in *set_config_option*) answer 3 '{{}}'; next; prompt=4;; esac
update '{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"I run a line."}}}}'
say '{{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{{"sessionId":"s-1","toolCall":{{"toolCallId":"c","kind":"execute","title":"a line","rawInput":{{"command":"{line}"}}}},"options":[{{"optionId":"always","name":"","kind":"allow_always"}},{{"optionId":"yes","name":"","kind":"allow_once"}},{{"optionId":"no","name":"","kind":"reject_once"}}]}}}}'
next
case "$line" in *'"optionId":"yes"'*) {line}; update '{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}';; esac
answer $prompt '{{"stopReason":"end_turn","usage":{{"totalTokens":5,"inputTokens":3,"outputTokens":2}}}}'
cat > /dev/null
"#
    );
    project.write("agent.sh", agent);
    "acp:sh agent.sh".to_owned()
}

fn unconfined(project: &Workspace, agent: &str, more: &[&str]) -> crate::workspace::Run {
    run(project, &[&["--confine", "off", "--agent", agent], more].concat())
}

#[test]
fn an_agent_works_on_a_step_and_asks_our_engine() {
    let project = project("", STEP);
    let agent = agent(&project, "touch made");
    let run = unconfined(&project, &agent, &["--verbose"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    assert!(run.stderr.contains("— acp small 0.1, a, session s-1"), "{}", run.stderr);
    assert!(run.stderr.contains("I run a line.\n→ execute: touch made"), "{}", run.stderr);
    let record = project.record();
    let turn = &record["turns"][0];
    assert_eq!((&turn["agent"], &turn["session"]), (&agent.into(), &"s-1".into()), "{record}");
    assert_eq!(turn["denied"], 0, "{record}");
    let heard = project.read("heard");
    assert!(heard.contains("Make it") && heard.contains(r#""optionId":"yes""#), "{heard}");
    assert!(!heard.contains("always"), "{heard}");
}

#[test]
fn an_agent_learns_the_span_of_its_turn_where_spans_are_exported() {
    let plain = project("", STEP);
    let agent_of = |project: &Workspace| agent(project, "touch made");
    unconfined(&plain, &agent_of(&plain), &[]).expect_exit(0);
    assert_eq!(plain.read("parent"), "");

    let traced = project("", STEP).with_env("ONLOOP_OTLP_FILE", "otlp.jsonl");
    unconfined(&traced, &agent_of(&traced), &[]).expect_exit(0);
    let file = traced.read("otlp.jsonl");
    let traces: serde_json::Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    let spans = &traces["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let named = |name: &str| {
        let mut spans = spans.as_array().unwrap().iter();
        spans.find(|span| span["name"].as_str().unwrap().starts_with(name)).expect(name)
    };
    let (turn, call) = (named("invoke_agent acp:"), named("execute_tool execute"));
    let id = |span: &serde_json::Value, name: &str| span[name].as_str().unwrap().to_owned();
    let parent = format!("00-{}-{}-01", id(turn, "traceId"), id(turn, "spanId"));
    assert_eq!(traced.read("parent"), parent);
    assert_eq!(id(call, "parentSpanId"), id(turn, "spanId"));
    assert!(!file.contains("touch made"), "{file}");
}

#[test]
fn a_call_that_the_engine_refuses_is_refused_for_once() {
    let project = project("", STEP);
    let agent = agent(&project, "rm -rf /tmp/onloop-none");
    unconfined(&project, &agent, &[]).expect_exit(1);
    let heard = project.read("heard");
    assert!(heard.contains(r#""optionId":"no""#), "{heard}");
    // The retry continues the conversation as the agent can.
    assert!(heard.contains(r#""method":"session/load""#), "{heard}");
    assert_eq!(project.record()["turns"][0]["denied"], 1);
}

#[test]
fn a_model_is_chosen_by_step_and_by_option() {
    for (front, more, wanted) in [
        ("model: b\n", &[][..], Some("b")),
        ("model: b\n", &["--model", "A"][..], None),
        ("", &["--model", "B"][..], Some("b")),
    ] {
        let project = project(front, STEP);
        let agent = agent(&project, "touch made");
        unconfined(&project, &agent, more).expect_exit(0);
        let set =
            format!(r#""configId":"model","value":"{}","sessionId":"s-1""#, wanted.unwrap_or("a"));
        let heard = project.read("heard");
        assert_eq!(heard.contains(&set), wanted.is_some(), "{front} {more:?}: {heard}");
    }
    let project = project("", STEP);
    let agent = agent(&project, "touch made");
    let run = unconfined(&project, &agent, &["--model", "c"]).expect_exit(3);
    let said = crate::flat(&run.stderr);
    assert!(said.contains("the agent offers no model `c`; it offers a, b"), "{said}");
}

#[test]
fn a_model_that_an_agent_cannot_take_is_refused_before_anything_is_made() {
    let table = [
        (
            "",
            &["--agent", "script", "--model", "m"][..],
            "--model is `m`, and the agent `script` takes no model",
        ),
        (
            "model: m\n",
            &["--agent-command", "true"][..],
            "step 1 has the model `m`, and the agent `true` takes no model",
        ),
        (
            "",
            &["--agent-command", "true", "--model", "a b"][..],
            "--model is `a b`, expected the name of a model",
        ),
        ("", &["--agent", "claude:-x"][..], "there is no agent `claude:-x`"),
    ];
    for (front, words, why) in table {
        let project = project(front, STEP);
        let said = crate::flat(&run(&project, words).expect_exit(2).stderr);
        assert!(said.contains(why), "{said}");
        assert!(!project.path(".hotl").exists(), "{words:?}");
    }
}

#[test]
fn without_a_sandbox_it_is_refused_unless_the_command_line_says_otherwise() {
    let project = project("", STEP);
    let agent = agent(&project, "touch made");
    let refused = run(&project, &["--agent", &agent]).expect_exit(4);
    let said = crate::flat(&refused.stderr);
    assert!(said.contains("`acp:sh agent.sh` runs only in a sandbox"), "{said}");
    assert!(said.contains("--confine off"), "{said}");
    assert!(!project.path(".hotl").exists() && !project.path("heard").exists());
}

#[test]
fn a_hostile_agent_fails_its_turn_and_nothing_else() {
    let opened =
        r#"next; answer 1 '{"protocolVersion":1}'; next; answer 2 '{"sessionId":"s-1"}'; next"#;
    let table = [
        // It ends at once, with and without a word.
        ("exit 3".to_owned(), "exit status: 3"),
        ("echo hello; next".to_owned(), "before it answered `initialize`"),
        // It answers everything before it is asked, and twice.
        (
            "for id in 1 2 3 1 2 3; do answer $id '{\"stopReason\":\"end_turn\"}'; done".to_owned(),
            "speaks version null",
        ),
        // It floods its output with what is no message, and then with one endless line.
        (format!("{opened}; yes"), "does not keep to the protocol"),
        (format!("{opened}; tr '\\0' x < /dev/zero"), "wrote more than 512 MiB"),
        // It says that the turn ended in a way that there is not.
        (
            format!("{opened}; answer 3 '{{\"stopReason\":\"whatever\"}}'"),
            "for the reason whatever",
        ),
    ];
    for (agent, why) in sampled(3, table) {
        let project = project("", &STEP.replace("max_iterations: 2", "max_iterations: 1"));
        project.write("agent.sh", format!("{ANSWERS}{agent}\n"));
        let run = unconfined(&project, "acp:sh agent.sh", &[]).expect_exit(1);
        assert_eq!(standing(&project), "blocked: blocked");
        let failure = project.record()["steps"][0]["last_failure"].to_string();
        assert!(failure.contains(why), "{agent}: {failure}\n{}", run.stderr);
    }
}
