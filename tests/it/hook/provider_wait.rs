//! An overload or a usage limit is not the end of a session.

use onloop_core::effect::{Exit, ProcessIdentity};
use onloop_core::time::Timestamp;
use onloop_tests::{Ended, SimHost};
use serde_json::{Value, json};

const LIMIT: &str = "You've hit your limit · resets 12:16pm (UTC)";

/// A machine with a session `s1`.
fn machine() -> SimHost {
    let mut host = SimHost::new();
    host.env.insert("HANDSOFF_AUTO_PERMISSION".to_owned(), "0".to_owned());
    let begin = json!({ "session_id": "s1", "hook_event_name": "UserPromptSubmit",
        "prompt": "/issue-to-impl 42" });
    assert_eq!(hook(&mut host, &begin), Ended::Exit(Exit::Done));
    host
}

fn hook(host: &mut SimHost, input: &Value) -> Ended {
    host.input = input.to_string().into_bytes();
    host.run(&["onloop", "hook", "claude", "--timeout", "21660"])
}

/// The client has given up.
fn failed(error: &str, message: &str) -> Value {
    json!({ "session_id": "s1", "hook_event_name": "StopFailure", "error": error,
        "last_assistant_message": message, "transcript_path": "/demo/t.jsonl" })
}

fn session(host: &SimHost) -> Value {
    serde_json::from_str(host.disk.text("/demo/.tmp/hooked-sessions/s1.json")).unwrap()
}

fn listed(host: &mut SimHost) -> String {
    let before = host.results().len();
    assert_eq!(host.run(&["onloop", "session", "list", "--everywhere"]), Ended::Exit(Exit::Done));
    host.results()[before..].to_owned()
}

#[test]
fn a_limit_is_waited_out_and_the_client_woken() {
    let mut host = machine();
    let began = host.now();
    let lifted = began.as_millis() / 1000 + 3600;
    let entry = json!({ "type": "assistant", "isApiErrorMessage": true,
        "error": { "rate_limit_info": { "resetsAt": lifted } } });
    host.disk.put("/demo/t.jsonl", format!("{entry}\n"));
    // The exit code 2 is what wakes it.
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Usage));
    let waited_ms = host.now().millis_since(began);
    assert!((3_605_000..3_640_000).contains(&waited_ms), "{waited_ms}");
    assert!(host.notes().contains("Go on where you were: the goal of `issue-to-impl`"));
    let session = session(&host);
    assert_eq!((&session["continuation_count"], &session["reason"]), (&json!(0), &Value::Null));
    let audit_log = host.disk.text("/state/audit.jsonl");
    assert!(
        audit_log.contains("waits until") && audit_log.contains("continues after 1 h"),
        "{audit_log}"
    );
    assert!(listed(&mut host).starts_with("→ s1  works\n"));
}

#[test]
fn overloads_are_tried_again_with_growing_pauses_and_not_for_ever() {
    let mut host = machine();
    let began = host.now();
    let overloaded = failed("server_error", "API Error: 529 Overloaded.");
    let mut woken = 0;
    while hook(&mut host, &overloaded) == Ended::Exit(Exit::Usage) {
        woken += 1;
        assert!(woken < 60);
    }
    let hours = host.now().millis_since(began) as f64 / 3_600_000.0;
    assert!((5.5..6.5).contains(&hours) && woken < 35, "{hours} {woken}");
    // Then a person has to look, who is told.
    host.jump_clock(3_600_000);
    let said = listed(&mut host);
    assert!(
        said.starts_with("⏸ s1  waits for you: ") && said.contains("longer than 6 h"),
        "{said}"
    );
}

#[test]
fn what_does_not_pass_waits_for_a_person() {
    for (error, message) in [
        ("authentication_failed", "Please run /login"),
        ("billing_error", "Credit balance is too low"),
        ("invalid_request", "Prompt is too long"),
        ("unknown", "something else"),
    ] {
        let mut host = machine();
        let began = host.now();
        assert_eq!(hook(&mut host, &failed(error, message)), Ended::Exit(Exit::Done));
        assert!(host.now().millis_since(began) < 1000);
        let why = format!("the model's service refused it: {message}");
        assert_eq!(session(&host)["reason"], json!(why));
        assert!(host.disk.text("/state/audit.jsonl").contains(&why));
        let said = listed(&mut host);
        assert!(said.starts_with(&format!("⏸ s1  waits for you: {why}\n")), "{said}");
    }
}

#[test]
fn an_answer_that_was_cut_is_continued_and_counted() {
    let mut host = machine();
    let cut = failed("max_output_tokens", "the response exceeded the output token maximum");
    for number in 1..=5 {
        let text = json!({ "type": "assistant",
            "message": { "content": [{ "type": "text", "text": format!("part {number}") },
                { "type": "tool_use", "name": "Write", "input": {} }] } });
        let error = json!({ "type": "assistant", "isApiErrorMessage": true,
            "message": { "content": [{ "type": "text", "text": "output token maximum" }] } });
        host.disk.put("/demo/t.jsonl", format!("{text}\n{error}\n"));
        let before = host.notes().len();
        assert_eq!(hook(&mut host, &cut), Ended::Exit(Exit::Usage));
        let said = host.notes()[before..].to_owned();
        assert!(said.contains(&format!("continuation {number}/")), "{said}");
        assert_eq!(session(&host)["continuation_count"], number);
    }
    // Where nothing moves, it ends like every other stop.
    let mut host = machine();
    let ended = (0..20).position(|_| hook(&mut host, &cut) == Ended::Exit(Exit::Done));
    assert!(ended.is_some_and(|ended| ended < 10), "{ended:?}");
    assert!(session(&host)["reason"].is_string());
}

#[test]
fn an_answer_that_was_cut_waits_for_a_person_where_its_client_has_exited() {
    let mut host = machine();
    host.ancestors =
        vec![ProcessIdentity { pid: 7, host: "sim".to_owned(), started: "70".to_owned() }];
    let leaves = host.now().as_millis() + 1000;
    host.client_leaves_at = Some(Timestamp::from_millis(leaves));
    assert_eq!(hook(&mut host, &failed("max_output_tokens", "cut")), Ended::Exit(Exit::Done));
    assert_eq!(session(&host)["continuation_count"], 0);
    let said = listed(&mut host);
    let why = "⏸ s1  waits for you: its answer was cut at the output limit, and its client";
    assert!(said.starts_with(why), "{said}");
}

#[test]
fn each_end_is_in_the_log_also_without_the_file() {
    let stop = json!({ "session_id": "s1", "hook_event_name": "Stop",
        "last_assistant_message": "I have done a part of it." });
    for clears in [true, false] {
        let mut host = machine();
        let why = match clears {
            true => {
                assert_eq!(
                    host.run(&["onloop", "session", "clear", "s1"]),
                    Ended::Exit(Exit::Done)
                );
                "forgotten by `onloop session clear`"
            }
            false => {
                host.disk.remove("/demo/.tmp/hooked-sessions/s1.json").unwrap();
                "ended: its file was removed"
            }
        };
        assert_eq!(hook(&mut host, &stop), Ended::Exit(Exit::Done));
        assert_eq!(hook(&mut host, &stop), Ended::Exit(Exit::Done));
        let log = host.disk.text("/state/audit.jsonl");
        assert_eq!(log.matches(why).count(), 1, "{log}");
        assert_eq!(log.matches("its file was removed").count(), usize::from(!clears), "{log}");
    }
}

#[test]
fn what_a_person_has_ended_is_not_waited_for() {
    let mut host = machine();
    host.run(&["onloop", "session", "stop", "s1"]);
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Done));
    // A conversation that is no session of ours is left alone.
    let mut host = SimHost::new();
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Done));
    assert!(host.disk.get("/state/audit.jsonl").is_none());
}

#[test]
fn a_session_that_a_person_takes_up_meanwhile_is_not_woken() {
    let mut host = machine();
    let mut looks = 0;
    host.beside(move |disk| {
        looks += 1;
        if looks == 40 {
            let path = "/demo/.tmp/hooked-sessions/s1.json";
            let text = disk.text(path).replace("\"state\": \"initial\"", "\"state\": \"stopped\"");
            disk.put(path, text);
        }
    });
    let lifted = host.now().as_millis() / 1000 + 3600;
    host.disk.put("/demo/t.jsonl", json!({ "resetsAt": lifted }).to_string());
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Done));
}

#[test]
fn a_limit_that_comes_later_in_the_night_is_another_one() {
    let mut host = machine();
    let overloaded = failed("server_error", "API Error: 529 Overloaded.");
    assert_eq!(hook(&mut host, &overloaded), Ended::Exit(Exit::Usage));
    let stop = json!({ "session_id": "s1", "hook_event_name": "Stop",
        "last_assistant_message": "I have done a part of it." });
    assert_eq!(hook(&mut host, &stop), Ended::Exit(Exit::Done));
    host.jump_clock(7 * 3_600_000);
    let began = host.now();
    assert_eq!(hook(&mut host, &overloaded), Ended::Exit(Exit::Usage));
    assert!(host.now().millis_since(began) < 20_000);
}

#[test]
fn nobody_wakes_a_client_that_is_gone() {
    let mut host = machine();
    host.ancestors =
        vec![ProcessIdentity { pid: 7, host: "sim".to_owned(), started: "70".to_owned() }];
    let leaves = host.now().as_millis() + 1_800_000;
    host.client_leaves_at = Some(Timestamp::from_millis(leaves));
    let lifted = host.now().as_millis() / 1000 + 3600;
    host.disk.put("/demo/t.jsonl", json!({ "resetsAt": lifted }).to_string());
    let began = host.now();
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Done));
    let waited_ms = host.now().millis_since(began);
    assert!((1_800_000..1_860_000).contains(&waited_ms), "{waited_ms}");
    let audit_log = host.disk.text("/state/audit.jsonl");
    assert!(audit_log.contains("the client has exited; nobody can wake it"), "{audit_log}");
}

#[test]
fn nobody_waits_for_a_week() {
    let mut host = machine();
    let lifted = host.now().as_millis() / 1000 + 7 * 3600;
    host.disk.put("/demo/t.jsonl", json!({ "resetsAt": lifted }).to_string());
    let began = host.now();
    assert_eq!(hook(&mut host, &failed("rate_limit", LIMIT)), Ended::Exit(Exit::Done));
    assert!(host.now().millis_since(began) < 1000);
    let said = listed(&mut host);
    assert!(
        said.starts_with("⏳ s1  is not served: the model's service does not serve it: "),
        "{said}"
    );
    assert!(said.contains("    resume    claude -r s1\n"), "{said}");
}
