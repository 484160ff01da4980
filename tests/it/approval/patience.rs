//! Waiting for a person as long as was configured, whatever becomes of the chat and of the processes
//! that wait.

use std::cell::RefCell;
use std::rc::Rc;

use onloop::host::Host;
use onloop_core::effect::{Exit, Program, Request, Turn};
use onloop_core::engine::approval::{Escalation, Resolution, escalate, pending};
use onloop_core::handsoff::config::Config;
use onloop_core::time::Timestamp;
use onloop_tests::chat::PERSON;
use onloop_tests::{ChatMessage, ChatMood, Ended, Kill, Moment, SimChat, SimHost};
use serde_json::json;

use super::server::TOKEN;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

fn config() -> Config {
    let yaml = format!(
        "handsoff: {{auto_permission: false}}\ntelegram: {{enabled: true, token: '{TOKEN}', \
         chat_id: {PERSON}, timeout_sec: 3600}}"
    );
    Config::read(&yaml, "/demo")
}

type Chat = Rc<RefCell<SimChat>>;

/// A machine whose chat is `mood` so many minutes after the beginning; the person presses `word` so
/// many minutes after a question.
fn machine(
    mut mood: impl FnMut(u64, &str) -> ChatMood + 'static,
    press: Option<(u64, &'static str)>,
) -> (SimHost, Chat) {
    let mut host = SimHost::new();
    let began = host.now();
    let chat = SimChat::on(
        &mut host,
        move |now: Timestamp, method| mood(now.millis_since(began) / MINUTE_MS, method),
        move |_: &ChatMessage| press.iter().map(|(m, word)| (m * MINUTE_MS, *word)).collect(),
    );
    (host, chat)
}

/// Asks about `make`, as a hook whose host waits so long.
fn ask(host: &mut SimHost, time_left_ms: u64, defers: bool) -> Option<Resolution> {
    let said = Rc::new(RefCell::new(None));
    let program = question(host, time_left_ms, defers, Rc::clone(&said));
    host.run_program(program);
    said.take()
}

fn question(
    host: &SimHost,
    time_left_ms: u64,
    defers: bool,
    said: Rc<RefCell<Option<Resolution>>>,
) -> Program {
    Program::new(host.start(&["onloop"]), move |io| async move {
        let escalation = Escalation {
            session_id: "s1".to_owned(),
            cwd: "/demo".to_owned(),
            tool: "Bash".to_owned(),
            target_text: "make".to_owned(),
            reason: "no rule decides".to_owned(),
            context: String::new(),
            only_a_person: false,
            time_left_ms,
            call_id: Some(pending::call_id("s1", "Bash", &json!({ "command": "make" }))),
            defers,
        };
        *said.borrow_mut() = Some(escalate(&io, &config(), &escalation).await);
        Exit::Done
    })
}

fn audit_log(host: &SimHost) -> Vec<String> {
    let text = host.disk.text("/state/audit.jsonl");
    let words = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).expect("an entry");
        format!("{}: {}", entry["event"].as_str().unwrap(), entry["text"].as_str().unwrap())
    };
    text.lines().map(words).collect()
}

#[test]
fn an_outage_does_not_end_an_hours_wait() {
    let down = |minute: u64, _: &str| match minute {
        5..40 => ChatMood::Down,
        45 => ChatMood::Refuses(502),
        _ => ChatMood::Well,
    };
    let (mut host, chat) = machine(down, Some((50, "allow")));
    let began = host.now();
    let Some(Resolution::Allow(by)) = ask(&mut host, 2 * HOUR_MS, false) else {
        panic!("{:?}", audit_log(&host));
    };
    assert_eq!(by.to_string(), "person Ann Lee");
    assert!(host.now().millis_since(began) >= 50 * MINUTE_MS);
    assert_eq!(chat.borrow().messages.len(), 1);
    assert!(chat.borrow().messages[0].text.ends_with("<b>✅ Allowed</b>"));
    let audit_log = audit_log(&host);
    assert_eq!(audit_log[0], "outage: the chat is not reached: no answer from the chat");
    assert!(audit_log[1].starts_with("restored: the chat is back after 3"), "{audit_log:?}");
    assert_eq!(audit_log[2], "outage: the chat is not reached: Telegram refused with status 502");
    assert_eq!(audit_log.len(), 4, "{audit_log:?}");
    // Pauses grow: an outage of half an hour is not asked about four hundred times.
    let polls = host.requests.iter().filter(
        |request| matches!(request, Request::Http(spec) if spec.url.ends_with("getUpdates")),
    );
    assert!(polls.count() < 500);
}

#[test]
fn the_end_of_an_outage_is_noted_by_the_next_hook_that_reaches_the_chat() {
    let (mut host, _) = machine(|_, _| ChatMood::Down, None);
    assert!(matches!(ask(&mut host, 10 * MINUTE_MS, false), Some(Resolution::NoAnswer(_))));
    let (mut later, _) = machine(|_, _| ChatMood::Well, Some((1, "allow")));
    later.disk.put("/state/audit.jsonl", host.disk.text("/state/audit.jsonl"));
    assert!(matches!(ask(&mut later, HOUR_MS, false), Some(Resolution::Allow(_))));
    let audit_log = audit_log(&later);
    let restored = audit_log.iter().filter(|line| line.starts_with("restored: the chat is back"));
    assert_eq!(restored.count(), 1, "{audit_log:?}");
}

#[test]
fn a_chat_that_is_down_from_the_beginning_is_asked_when_it_is_back() {
    let down = |minute: u64, _: &str| if minute < 30 { ChatMood::Down } else { ChatMood::Well };
    let (mut host, chat) = machine(down, Some((1, "deny")));
    let said = ask(&mut host, 2 * HOUR_MS, false);
    assert!(matches!(said, Some(Resolution::Deny { .. })), "{said:?}");
    assert_eq!(chat.borrow().messages.len(), 1);
}

#[test]
fn what_cannot_get_better_ends_the_wait_and_is_named() {
    let table = [
        (400, "it does not take the message; is `chat_id` right?"),
        (401, "the token is not valid any more"),
        (403, "the bot may not write to the chat"),
        (404, "there is no bot with this token"),
    ];
    for (status, why) in table {
        for method in ["getUpdates", "sendMessage"] {
            let mood = move |_: u64, asked: &str| {
                if asked == method { ChatMood::Refuses(status) } else { ChatMood::Well }
            };
            let (mut host, _) = machine(mood, None);
            let began = host.now();
            let said = ask(&mut host, 2 * HOUR_MS, false);
            let expected =
                format!("asking through Telegram: Telegram refused with status {status}: {why}");
            assert_eq!(said, Some(Resolution::NoAnswer(expected)), "{method}");
            assert!(host.now().millis_since(began) < MINUTE_MS);
            assert!(audit_log(&host)[0].starts_with("outage: the chat is given up: "));
        }
    }
}

#[test]
fn a_question_that_the_chat_did_not_confirm_is_asked_again_and_either_message_counts() {
    let deaf = |minute: u64, method: &str| match (minute, method) {
        (0, "sendMessage") => ChatMood::Deaf,
        _ => ChatMood::Well,
    };
    let (mut host, chat) = machine(deaf, Some((3, "allow")));
    let said = ask(&mut host, 2 * HOUR_MS, false);
    assert!(matches!(said, Some(Resolution::Allow(_))), "{said:?}");
    let chat = chat.borrow();
    assert!(chat.messages.len() > 1);
    assert!(chat.messages.iter().all(|message| message.nonce == chat.messages[0].nonce));
    assert_eq!(chat.shown[0], "✅ Allowed", "the press on the first message counted");
}

#[test]
fn where_the_host_waits_less_the_question_stays_open_and_is_taken_up() {
    let (mut host, chat) = machine(|_, _| ChatMood::Well, Some((20, "allow")));
    // As the hook of an entry with a minute.
    let said = ask(&mut host, MINUTE_MS, true);
    let open = "nobody has answered through Telegram yet, where the question stays open";
    assert_eq!(said, Some(Resolution::NoAnswer(open.to_owned())));
    assert_eq!(chat.borrow().messages[0].buttons.len(), 2);
    host.jump_clock(30 * MINUTE_MS.cast_signed());
    // The session is resumed, and its call asked about again: the answer is there.
    let said = ask(&mut host, MINUTE_MS, true);
    assert!(matches!(said, Some(Resolution::Allow(_))), "{said:?}");
    assert_eq!(chat.borrow().messages.len(), 1, "nobody is asked twice");
    // The answer counted once.
    let said = ask(&mut host, MINUTE_MS, true);
    assert!(matches!(said, Some(Resolution::NoAnswer(_))), "{said:?}");
    assert_eq!(chat.borrow().messages.len(), 2);
}

#[test]
fn where_the_host_waits_long_enough_the_question_is_closed_when_the_time_is_over() {
    let (mut host, chat) = machine(|_, _| ChatMood::Well, None);
    let began = host.now();
    let said = ask(&mut host, 2 * HOUR_MS, true);
    let over = "nobody answered through Telegram in time".to_owned();
    assert_eq!(said, Some(Resolution::NoAnswer(over)));
    let took_ms = host.now().millis_since(began);
    assert!((HOUR_MS..HOUR_MS + MINUTE_MS).contains(&took_ms), "{took_ms}");
    assert!(chat.borrow().messages[0].text.ends_with("<b>⏰ Timed Out</b>"));
}

#[test]
fn a_question_whose_asker_was_killed_is_taken_up_wherever_that_was() {
    let (mut whole, _) = machine(|_, _| ChatMood::Well, Some((2, "allow")));
    ask(&mut whole, 2 * HOUR_MS, false);
    let count = whole.requests.len();
    let sent = whole.requests.iter().position(
        |request| matches!(request, Request::Http(spec) if spec.url.ends_with("sendMessage")),
    );
    let sent = sent.expect("it was asked");
    let (mut taken_up, mut again) = (0, 0);
    for at_request in 0..count {
        let (mut host, chat) = machine(|_, _| ChatMood::Well, Some((2, "allow")));
        host.kill(Kill { at_request, moment: Moment::Before, leaves_processes: false });
        let said = Rc::new(RefCell::new(None));
        let program = question(&host, 2 * HOUR_MS, false, Rc::clone(&said));
        assert_eq!(host.run_program(program), Ended::Killed);
        let before = chat.borrow().messages.len();
        let said = ask(&mut host, 2 * HOUR_MS, false);
        assert!(matches!(said, Some(Resolution::Allow(_))), "{at_request}: {said:?}");
        match (before, chat.borrow().messages.len()) {
            (0, 1) => assert!(at_request <= sent),
            (1, 1) => taken_up += 1,
            // Sent and not noted, or answered and not told: nobody can know.
            (1, 2) => again += 1,
            other => panic!("{at_request}: {other:?}"),
        }
    }
    assert!(taken_up > 5 && again <= 6, "{taken_up} {again} of {count}");
}

#[test]
fn an_answer_counts_for_one_of_two_that_ask_the_same_at_once() {
    let (mut host, chat) = machine(|_, _| ChatMood::Well, None);
    let said = [Rc::new(RefCell::new(None)), Rc::new(RefCell::new(None))];
    let mut first = question(&host, 5 * MINUTE_MS, false, Rc::clone(&said[0]));
    // The first one waits while the second one asks.
    let mut reply = None;
    while chat.borrow().messages.is_empty() {
        let Turn::Request(request) = first.resume(reply.take()) else {
            panic!("it waits");
        };
        reply = Some(Host::perform(&mut host, request));
    }
    let Turn::Request(request) = first.resume(reply.take()) else { panic!() };
    Host::perform(&mut host, request);
    host.any_beside(|host| question(host, 2 * MINUTE_MS, false, Rc::clone(&said[1])));
    let chat = chat.borrow();
    assert_eq!(chat.messages.len(), 2);
    assert_ne!(chat.messages[0].nonce, chat.messages[1].nonce);
}
