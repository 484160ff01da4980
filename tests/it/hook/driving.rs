//! Which conversation drives a run: the one that did something about it, and no other.

use serde_json::{Value, json};

use super::{calls, claude, claude_input, prompt, say, state, stop};
use crate::run::{FILE, project};
use crate::workspace::Workspace;

const STEPS: &str = "- [ ] **Step 1: Make the thing**\naction: Create `thing`.\nloop: false\n\
    verify: test -e thing\n";

/// A project with a run that somebody began at a terminal, and the run's id.
fn with_run() -> (Workspace, String) {
    let project = project("", STEPS);
    let id = project.onloop(&["init", FILE]).expect_exit(0).stdout.trim().to_owned();
    (project, id)
}

/// A stop in session `id`: whether its agent is sent on.
#[track_caller]
fn is_sent_on(project: &Workspace, id: &str, words: &str) -> bool {
    let stop = json!({ "last_assistant_message": words });
    say(project, "claude", &claude_input(id, "Stop", stop))["decision"] == "block"
}

fn asks(project: &Workspace, id: &str, text: &str) -> Value {
    say(project, "claude", &claude_input(id, "UserPromptSubmit", json!({ "prompt": text })))
}

#[test]
fn an_unrelated_conversation_stays_free() {
    let (project, _) = with_run();
    calls(&project, "s1", "onloop step 1 start");
    assert!(is_sent_on(&project, "s1", "I am done."));
    for text in ["explain the readme to me", "write a poem about it", "continue"] {
        assert_eq!(asks(&project, "s2", text), Value::Null);
        assert!(!is_sent_on(&project, "s2", "Here you are."), "{text}");
    }
    for line in ["cat README.md", "onloop status", "grep -rn 'onloop step 1 start' docs"] {
        calls(&project, "s2", line);
        assert!(!is_sent_on(&project, "s2", "It says so."), "{line}");
    }
    assert!(!project.path(".tmp/hooked-sessions/s2.json").exists());
    assert!(is_sent_on(&project, "s1", "I am done, really."));
}

#[test]
fn a_run_that_no_conversation_drives_takes_none() {
    let (project, id) = with_run();
    let named = project.with_env("HOTL_RUN_ID", &id);
    assert_eq!(stop(&named, "a"), None);
    assert!(!named.path(".tmp").exists());
}

#[test]
fn a_call_of_ours_ties_its_conversation_to_the_run() {
    for line in [
        "onloop step 1 start",
        "cd . && hotl-rt step 1 verify --run-id ID",
        "npx onloop step 1 start | tail -1",
        "HOTL_RUN_ID=ID onloop next --json",
        "node npm/plugin/launch.mjs resume ID",
        "bash -c 'onloop step 1 start'",
    ] {
        let (project, id) = with_run();
        calls(
            &project,
            "s1",
            &line.replace("ID", &id).replace(&format!("HOTL_RUN_{id}"), "HOTL_RUN_ID"),
        );
        assert!(stop(&project, "a").is_some(), "{line}");
        assert_eq!(state(&project, "s1")["run_id"], id.as_str(), "{line}");
    }
    for tool in ["mcp__onloop__step", "mcp__plugin_hotl_onloop__step"] {
        let (project, _) = with_run();
        let call = json!({ "tool_name": tool, "tool_input": { "step": 1, "action": "start" } });
        claude(&project, "PreToolUse", call);
        assert!(stop(&project, "a").is_some(), "{tool}");
    }
}

#[test]
fn what_only_names_us_ties_nothing() {
    for line in [
        "echo onloop step 1 start",
        "onloop report ID",
        "onloop lint hotl-workflow-w.md",
        "cat <<'E'\nonloop step 1 start\nE",
        // Refused, so it does nothing.
        "onloop step 1 start; rm -rf /",
    ] {
        let (project, id) = with_run();
        calls(&project, "s1", &line.replace("ID", &id));
        assert_eq!(stop(&project, "a"), None, "{line}");
        assert!(!project.path(".tmp/hooked-sessions/s1.json").exists(), "{line}");
    }
}

#[test]
#[ignore = "only with --all"]
fn a_prompt_that_goes_on_with_a_run_ties_its_conversation() {
    for text in ["/hotl:resume", "/hotl-resume ID", "go on with ID, please", "execute FILE"] {
        let (project, id) = with_run();
        assert_eq!(
            asks(&project, "s1", &text.replace("ID", &id).replace("FILE", FILE)),
            Value::Null
        );
        assert!(stop(&project, "a").is_some(), "{text}");
    }
    for text in ["what does ID wait for?", "explain FILE", "/hotl:status ID", "go on"] {
        let (project, id) = with_run();
        asks(&project, "s1", &text.replace("ID", &id).replace("FILE", FILE));
        assert_eq!(stop(&project, "a"), None, "{text}");
    }
}

#[test]
fn a_run_that_was_begun_is_found_however_it_began() {
    // A script that the hooks do not see through, after a command that says what is meant.
    let project = project("", STEPS);
    let expansion = json!({ "command_name": "hotl:loop", "command_args": FILE, "prompt_id": "p1" });
    claude(&project, "UserPromptExpansion", expansion);
    let expanded = json!({ "prompt": "Why not begin?", "prompt_id": "p1" });
    assert_eq!(claude(&project, "UserPromptSubmit", expanded), Value::Null);
    calls(&project, "s1", "make begin");
    let id = project.onloop(&["init", FILE]).expect_exit(0).stdout;
    assert!(stop(&project, "begun").is_some());
    assert_eq!(state(&project, "s1")["run_id"], id.trim());
}

#[test]
fn what_a_call_has_begun_is_read_from_what_it_printed() {
    let project = project("", STEPS);
    let line = json!({ "command": format!("onloop init {FILE}") });
    let call = json!({ "tool_name": "Bash", "tool_input": line });
    for id in ["s1", "s2"] {
        say(&project, "claude", &claude_input(id, "PreToolUse", call.clone()));
    }
    // Two conversations begin a run each in one checkout.
    for id in ["s1", "s2"] {
        let run = project.onloop(&["init", FILE]).expect_exit(0).stdout;
        let mut done = call.clone();
        done["tool_response"] = json!({ "stdout": run, "stderr": "" });
        say(&project, "claude", &claude_input(id, "PostToolUse", done));
        assert_eq!(state(&project, id)["run_id"], run.trim());
    }
    assert!(is_sent_on(&project, "s1", "a") && is_sent_on(&project, "s2", "b"));
    assert_ne!(state(&project, "s1")["run_id"], state(&project, "s2")["run_id"]);
}

#[test]
fn what_was_there_before_was_not_begun() {
    let (project, old) = with_run();
    let project = project.with_env("ONLOOP_NOW", "2099-03-20T22:23:15Z");
    let line = format!("onloop list && onloop init {FILE}");
    let mut call = json!({ "tool_name": "Bash", "tool_input": { "command": line } });
    claude(&project, "PreToolUse", call.clone());
    let run = project.onloop(&["init", FILE]).expect_exit(0).stdout;
    call["tool_response"] = json!({ "stdout": format!("{old}\n{run}"), "stderr": "" });
    claude(&project, "PostToolUse", call);
    assert_eq!(state(&project, "s1")["run_id"], run.trim());
}

#[test]
fn who_names_the_file_of_its_own_run_stays_with_it() {
    let (project, id) = with_run();
    calls(&project, "s1", "onloop step 1 start");
    assert!(is_sent_on(&project, "s1", "a"));
    for text in ["keep going with FILE", "implement hotl-workflow-other.md later"] {
        asks(&project, "s1", &text.replace("FILE", FILE));
        assert_eq!(state(&project, "s1")["run_id"], id.as_str(), "{text}");
        assert!(is_sent_on(&project, "s1", text), "{text}");
    }
}

#[test]
fn a_run_that_is_over_takes_nobody_away_from_another() {
    let (project, first) = with_run();
    project.onloop(&["abandon", &first, "--reason", "x"]).expect_exit(0);
    let second = project.onloop(&["init", FILE]).expect_exit(0).stdout;
    calls(&project, "s1", &format!("onloop step 1 start --run-id {}", second.trim()));
    calls(&project, "s1", &format!("onloop finalize --run-id {first}"));
    assert_eq!(state(&project, "s1")["run_id"], second.trim());
    assert!(is_sent_on(&project, "s1", "a"));
}

#[test]
fn what_was_not_begun_in_its_turn_is_somebody_elses() {
    let project = project("", STEPS);
    calls(&project, "s1", "onloop init missing.md");
    assert_eq!(stop(&project, "It is not there."), None);
    project.onloop(&["init", FILE]).expect_exit(0);
    assert_eq!(stop(&project, "Shall I look?"), None);
}

#[test]
fn the_conversation_that_acted_last_drives_and_the_other_one_is_told_once() {
    let (project, id) = with_run();
    calls(&project, "s1", "onloop step 1 start");
    assert!(is_sent_on(&project, "s1", "a"));
    // To ask what is next takes nothing from anybody.
    calls(&project, "s2", "onloop next");
    assert!(!is_sent_on(&project, "s2", "a") && is_sent_on(&project, "s1", "b"));
    // The same conversation under another id, or another one: whoever acts.
    calls(&project, "s2", "onloop step 1 verify");
    assert!(is_sent_on(&project, "s2", "b"));
    let said = claude(&project, "Stop", json!({ "last_assistant_message": "c" }));
    assert_eq!(said["systemMessage"], format!("onloop: run {id} is driven by session s2 now"));
    assert_eq!(claude(&project, "Stop", json!({})), Value::Null);
    calls(&project, "s1", "onloop step 1 start");
    assert!(is_sent_on(&project, "s1", "d"));
}

#[test]
fn of_several_runs_the_one_that_is_named_is_driven() {
    let (project, first) = with_run();
    project.onloop(&["init", FILE]).expect_exit(0);
    calls(&project, "s1", "onloop step 1 start");
    assert_eq!(stop(&project, "It wants to know which."), None);
    let named = project.with_env("HOTL_RUN_ID", &first);
    calls(&named, "s1", "onloop step 1 start");
    assert!(stop(&named, "a").is_some());
    assert_eq!(state(&named, "s1")["run_id"], first.as_str());
}

#[test]
fn a_sub_agent_drives_for_its_conversation_and_ends_nothing() {
    let (project, _) = with_run();
    let call = json!({ "tool_name": "Bash", "agent_id": "a1",
        "tool_input": { "command": "onloop step 1 start" } });
    claude(&project, "PreToolUse", call);
    let before = state(&project, "s1");
    for (event, members) in [
        ("SubagentStop", json!({ "agent_id": "a1", "last_assistant_message": "Done." })),
        ("Stop", json!({ "agent_id": "a1", "last_assistant_message": "Done." })),
        ("UserPromptSubmit", json!({ "agent_id": "a1", "prompt": "What is in src?" })),
        ("PreCompact", json!({ "trigger": "auto" })),
    ] {
        assert_eq!(claude(&project, event, members), Value::Null, "{event}");
    }
    let codex = json!({ "session_id": "s1", "turn_id": "t", "agent_id": "a1", "agent_type": "x",
        "hook_event_name": "UserPromptSubmit", "prompt": "What is in src?" });
    assert_eq!(say(&project, "codex", &codex), Value::Null);
    assert_eq!(state(&project, "s1"), before);
    assert!(stop(&project, "a").is_some());
}

#[test]
fn what_drives_is_nothing_that_an_agent_can_write() {
    let (project, id) = with_run();
    calls(&project, "s1", "onloop step 1 start");
    let kept = std::fs::read_to_string(project.kept(&id, "conversation.json")).unwrap();
    assert_eq!(kept, "{\"session_id\":\"s1\",\"workflow\":\"onloop-run\"}\n");
    // A session's file that names a run of another conversation sends nobody on.
    let forged = json!({ "workflow": "onloop-run", "state": "initial", "continuation_count": 0,
        "run_id": id });
    project.write(".tmp/hooked-sessions/s2.json", forged.to_string());
    assert!(!is_sent_on(&project, "s2", "a") && is_sent_on(&project, "s1", "b"));
}

#[test]
fn a_workflow_of_a_session_may_drive_a_run_and_goes_on_after_it() {
    let (project, id) = with_run();
    prompt(&project, "/issue-to-impl 42");
    calls(&project, "s1", "onloop step 1 start");
    let said = stop(&project, "a").unwrap();
    assert!(said.lines().next().unwrap().contains(&id), "{said}");
    project.write("thing", "");
    for words in [["step", "1", "start"], ["step", "1", "verify"]] {
        project.onloop(&words).expect_exit(0);
    }
    project.onloop(&["finalize"]).expect_exit(0);
    let said = stop(&project, "b").unwrap();
    assert!(said.lines().next().unwrap().contains("`/issue-to-impl`"), "{said}");
}
