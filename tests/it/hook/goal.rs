//! What keeps a goal through a night: answers, long turns, compaction.

use std::fs::File;

use serde_json::{Value, json};

use super::{calls, claude, prompt, say, state, stop};
use crate::run::{FILE, project};
use crate::workspace::{Workspace, program};

#[test]
fn an_answer_is_no_pause() {
    let project = Workspace::plain();
    prompt(&project, "/issue-to-impl 42");
    for text in [
        "yes, use option 2",
        "continue please",
        "/compact",
        "/cost",
        "2",
        "use postgres, and keep the migrations apart",
        "no, use mysql",
        "<task-notification>What now?</task-notification>",
    ] {
        assert_eq!(prompt(&project, text), Value::Null, "{text}");
        assert!(stop(&project, text).is_some(), "{text}");
    }
    let said = prompt(&project, "no, stop - why is it editing the schema?");
    assert_eq!(
        said["systemMessage"],
        "onloop: `/issue-to-impl` pauses to answer you.\n  Your next prompt that is not a question \
         or an objection resumes it; `continue` is enough.\n  To end it: onloop session stop s1"
    );
    assert_eq!(stop(&project, "It was for the index."), None);
    prompt(&project, "leave the schema alone");
    assert!(stop(&project, "c").is_some());
    let said = prompt(&project, "pause please");
    assert_eq!(
        said["systemMessage"],
        "onloop: `/issue-to-impl` pauses until you say `continue`.\n  To end it: onloop session \
         stop s1"
    );
    prompt(&project, "use mysql");
    assert_eq!(stop(&project, "a"), None);
    assert_eq!(state(&project, "s1")["paused_by"], "person");
    prompt(&project, "ok, continue");
    assert!(stop(&project, "b").is_some());
}

#[test]
fn where_nobody_would_hear_of_a_pause_there_is_none() {
    let project = Workspace::plain();
    let cursor = |text: &str| {
        let input = json!({ "hook_event_name": "beforeSubmitPrompt", "conversation_id": "c1",
            "prompt": text });
        assert_eq!(say(&project, "cursor", &input), json!({ "continue": true }), "{text}");
    };
    cursor("/issue-to-impl 42");
    cursor("what does this function do?");
    let stopped = json!({ "hook_event_name": "stop", "conversation_id": "c1", "status": "completed",
        "loop_count": 0 });
    assert!(say(&project, "cursor", &stopped)["followup_message"].is_string());
    // What a person says themselves, they know.
    cursor("pause");
    assert_eq!(say(&project, "cursor", &stopped), Value::Null);
}

#[test]
fn the_limit_in_the_entry_of_cursor_is_what_counts() {
    let project = Workspace::plain();
    let begin = json!({ "hook_event_name": "beforeSubmitPrompt", "conversation_id": "c1",
        "prompt": "/issue-to-impl 42" });
    for (option, expected) in [(None, " 1/5 "), (Some("7"), " 1/7 "), (Some("30"), " 1/10 ")] {
        say(&project, "cursor", &begin);
        let stopped = json!({ "hook_event_name": "stop", "conversation_id": "c1",
            "status": "completed", "loop_count": 0 });
        project.write("input.json", stopped.to_string());
        let mut command = project.command_at(".", program());
        command.args(["hook", "cursor"]).stdin(File::open(project.path("input.json")).unwrap());
        if let Some(limit) = option {
            command.args(["--loop-limit", limit]);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(expected), "{option:?}: {said}");
    }
}

#[test]
fn a_number_that_is_not_read_is_said() {
    let project = Workspace::plain();
    let said = prompt(&project, "/issue-to-impl #42");
    assert_eq!(
        said["systemMessage"],
        "onloop: no number was taken from `#42`; `/issue-to-impl` takes it as `42`"
    );
    assert_eq!(state(&project, "s1")["issue_no"], Value::Null);
}

#[test]
fn a_turn_of_days_is_alive_while_tools_are_called() {
    let at = |project: Workspace, day: &str| project.with_env("ONLOOP_NOW", day);
    let project = at(Workspace::plain(), "2026-03-20T10:00:00Z");
    prompt(&project, "/issue-to-impl 42");
    let mut project = at(project, "2026-03-20T10:30:00Z");
    calls(&project, "s1", "ls");
    assert_eq!(state(&project, "s1")["updated_at"], "2026-03-20T10:00:00+00:00");
    for day in ["2026-03-21T09:00:00Z", "2026-03-22T08:00:00Z", "2026-03-23T07:00:00Z"] {
        project = at(project, day);
        calls(&project, "s1", "ls");
    }
    let project = at(project, "2026-03-23T08:00:00Z");
    assert!(stop(&project, "It took a while.").is_some());
    let project = at(project, "2026-03-24T09:00:00Z");
    let said = claude(&project, "Stop", json!({ "last_assistant_message": "Still here." }));
    assert!(said["systemMessage"].as_str().unwrap().contains("more than a day"), "{said}");
}

#[test]
fn after_compaction_the_goal_is_told_again() {
    let start = |project: &Workspace, source: &str| {
        let said = claude(project, "SessionStart", json!({ "source": source }));
        said["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    };
    let plain = Workspace::plain();
    assert_eq!(start(&plain, "compact"), None);
    prompt(&plain, "/issue-to-impl 42");
    stop(&plain, "a");
    let told = start(&plain, "compact").expect("the goal");
    let first = told.lines().next().unwrap();
    assert_eq!(
        first,
        "onloop: this conversation was compacted. It still works on `/issue-to-impl`, after 1 of 10 \
         automatic continuations. Nobody typed this."
    );
    assert!(told.contains("issue #42") && told.contains("onloop session done s1"), "{told}");
    assert_eq!(start(&plain, "startup"), None);
    assert_eq!(state(&plain, "s1")["continuation_count"], 1);
    let codex = json!({ "session_id": "s1", "hook_event_name": "SessionStart", "source": "compact",
        "cwd": plain.path("."), "model": "m", "permission_mode": "default", "transcript_path": null });
    let said = say(&plain, "codex", &codex);
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], "SessionStart");
    let opencode = json!({ "session_id": "s1", "event": "session.compacting" });
    assert!(
        say(&plain, "opencode", &opencode)["context"].as_str().unwrap().starts_with("onloop: ")
    );
    prompt(&plain, "what is this?");
    assert_eq!(start(&plain, "compact"), None, "a paused goal waits");

    let steps = "- [ ] **Step 1: Make the thing**\naction: Create `thing`.\nloop: false\n\
        verify: test -e thing\n";
    let project = project("", steps);
    calls(&project, "s1", &format!("onloop init {FILE}"));
    project.onloop(&["init", FILE]).expect_exit(0);
    let told = start(&project, "compact").expect("the run");
    assert!(told.lines().next().unwrap().contains("step 1 of 1: Make the thing"), "{told}");
    assert!(
        told.contains("onloop step 1 start --run-id ") && told.contains("Create `thing`."),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn a_cached_plan_is_not_followed_by_a_link() {
    use std::os::unix::fs::symlink;

    let secret = "-----BEGIN OPENSSH PRIVATE KEY-----";
    let project = Workspace::plain();
    project.write("../keys/plan-of-issue-42.md", secret);
    project.write("keys/inside.md", secret);
    let begun = || {
        prompt(&project, "/issue-to-impl 42");
        stop(&project, "a").unwrap()
    };
    project.write(".tmp/plan-of-issue-42.md", "the plan itself");
    assert!(begun().contains("the plan itself"));
    let plan = project.path(".tmp/plan-of-issue-42.md");
    for target in ["../../keys/plan-of-issue-42.md", "../keys/inside.md"] {
        std::fs::remove_file(&plan).unwrap();
        symlink(target, &plan).unwrap();
        assert!(std::fs::read_to_string(&plan).unwrap().contains(secret));
        let said = begun();
        assert!(!said.contains("PRIVATE KEY") && !said.contains("The plan is in"), "{said}");
    }
    // A folder above it may be the link.
    let home = Workspace::plain();
    let project = project.with_env("AGENTIZE_HOME", home.path(".").to_str().unwrap());
    std::fs::create_dir_all(home.path("real")).unwrap();
    std::fs::write(home.path("real/plan-of-issue-42.md"), secret).unwrap();
    symlink("real", home.path(".tmp")).unwrap();
    prompt(&project, "/issue-to-impl 42");
    let said = claude(&project, "Stop", json!({ "last_assistant_message": "b" }));
    assert!(!said.to_string().contains("PRIVATE KEY"), "{said}");
}

#[test]
fn the_plan_is_read_in_the_project_first() {
    let home = Workspace::plain();
    let project = Workspace::plain();
    let project = project.with_env("AGENTIZE_HOME", home.path(".").to_str().unwrap());
    let begun = || {
        prompt(&project, "/issue-to-impl 42");
        stop(&project, "a").unwrap()
    };
    assert!(begun().contains("`.tmp/plan-of-issue-42.md`"), "it says where to write the plan");
    home.write(".tmp/plan-of-issue-42.md", "the plan at home");
    assert!(begun().contains("the plan at home"));
    project.write(".tmp/plan-of-issue-42.md", "the plan here");
    assert!(begun().contains("the plan here"));
}

#[test]
fn an_agent_without_the_program_on_its_path_is_told_where_it_is_and_may_call_it() {
    let project = Workspace::plain().with_env("PATH", "/nowhere");
    prompt(&project, "/issue-to-impl 42");
    let said = stop(&project, "a").unwrap();
    let end = " session done s1";
    let line = said.lines().find(|line| line.ends_with(end)).expect("the command that ends it");
    assert!(line.starts_with('/'), "{line}");
    assert_eq!(super::bash(&project, line).0, "allow");
    assert_eq!(super::bash(&project, &line.replace("s1", "s2")).0, "ask");
    assert_eq!(super::bash(&project, &format!("{line}; rm -rf /")).0, "deny");
}
