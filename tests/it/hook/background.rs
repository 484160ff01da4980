//! An agent that stops while its background tasks run.

use onloop_core::effect::Exit;
use onloop_tests::{Ended, SimHost};
use serde_json::{Value, json};

/// A machine with a session `s1`.
fn machine() -> SimHost {
    let mut host = SimHost::new();
    host.env.insert("HANDSOFF_AUTO_PERMISSION".to_owned(), "0".to_owned());
    prompt(&mut host, "/issue-to-impl 42", "user");
    host
}

fn prompt(host: &mut SimHost, text: &str, source: &str) {
    let prompt = json!({ "session_id": "s1", "hook_event_name": "UserPromptSubmit",
        "prompt": text, "source": source });
    assert_eq!(hook(host, &prompt, &[]).0, Ended::Exit(Exit::Done));
}

/// What a hook ends with, and what it prints.
fn hook(host: &mut SimHost, input: &Value, options: &[&str]) -> (Ended, String) {
    host.input = input.to_string().into_bytes();
    let before = host.results().len();
    let argv = [&["onloop", "hook", "claude", "--timeout", "2160"], options].concat();
    let ended = host.run(&argv);
    (ended, host.results()[before..].to_owned())
}

fn stopped(message: &str, running: &[&str]) -> Value {
    let task = |id: &&str| {
        json!({ "id": id, "type": "shell", "status": "running", "command": "pytest -q tests/slow",
            "description": "slow tests" })
    };
    let ended = json!({ "id": "b0", "type": "shell", "status": "completed", "command": "make" });
    let tasks: Vec<Value> = running.iter().map(task).chain([ended]).collect();
    json!({ "session_id": "s1", "hook_event_name": "Stop", "last_assistant_message": message,
        "background_tasks": tasks, "session_crons": [] })
}

fn session(host: &SimHost) -> Value {
    serde_json::from_str(host.disk.text("/demo/.tmp/hooked-sessions/s1.json")).unwrap()
}

#[test]
fn a_running_task_is_waited_for_without_a_word() {
    let mut host = machine();
    for _ in 0..5 {
        let said = hook(&mut host, &stopped("I wait for the tests.", &["b1"]), &[]);
        assert_eq!(said, (Ended::Exit(Exit::Done), String::new()));
    }
    assert_eq!(session(&host)["continuation_count"], 0);
    assert!(
        host.disk.text("/state/audit.jsonl").contains("background tasks: pytest -q tests/slow")
    );
    // Once it has ended, the next stop counts like every other one.
    let (_, said) = hook(&mut host, &stopped("The tests pass.", &[]), &[]);
    assert!(said.contains("continuation 1/8"), "{said}");
    assert_eq!(session(&host)["tasks_since"], Value::Null);
}

#[test]
fn a_task_that_never_ends_does_not_hold_the_session() {
    let mut host = machine();
    let began = host.now();
    hook(&mut host, &stopped("The server runs.", &["b1"]), &[]);
    let (ended, _) = hook(&mut host, &stopped("The server runs.", &["b1"]), &["--background"]);
    assert_eq!(ended, Ended::Exit(Exit::Usage));
    let minutes = host.now().millis_since(began) / 60_000;
    assert!((29..=31).contains(&minutes), "{minutes}");
    assert!(host.notes().contains("continuation 1/8"), "{}", host.notes());
    // It had its time, so it holds no later stop either.
    let (_, said) = hook(&mut host, &stopped("Next part.", &["b1"]), &[]);
    assert!(said.contains("continuation 2/8"), "{said}");
}

#[test]
fn an_agent_that_has_work_again_is_not_woken() {
    for source in ["system", "user"] {
        let mut host = machine();
        let stop = stopped("I wait for the tests.", &["b1"]);
        hook(&mut host, &stop, &[]);
        let mut looks = 0;
        host.beside(move |disk| {
            looks += 1;
            if looks == 40 {
                let path = "/demo/.tmp/hooked-sessions/s1.json";
                let mut session: Value = serde_json::from_str(disk.text(path)).unwrap();
                session.as_object_mut().unwrap().remove("tasks_since").expect("it waits");
                disk.put(path, session.to_string());
            }
        });
        assert_eq!(hook(&mut host, &stop, &["--background"]).0, Ended::Exit(Exit::Done));
        assert_eq!(session(&host)["continuation_count"], 0);
        let mut host = machine();
        hook(&mut host, &stop, &[]);
        prompt(&mut host, "<task-notification>b1 failed</task-notification>", source);
        assert_eq!(session(&host)["tasks_since"], Value::Null);
    }
}
