//! Every effect may fail, at every place: no failure is ever a yes, and nothing that was
//! not answered is taken for an answer.

use std::cell::RefCell;
use std::rc::Rc;

use onloop::host::Host;
use onloop_core::effect::{
    Exit, Failure, FailureKind, HttpAnswer, HttpSpec, Program, Reply, Request, Turn,
};
use onloop_core::engine::approval::{Escalation, Resolution, escalate, pending};
use onloop_core::handsoff::config::Config;
use onloop_tests::{Moment, PowerLoss, SimHost, SimProcess};
use serde_json::{Value, json};

use super::server::{CHAT, SECRET, TOKEN, USER};

const KINDS: [FailureKind; 6] = [
    FailureKind::NotFound,
    FailureKind::Denied,
    FailureKind::Full,
    FailureKind::Busy,
    FailureKind::Closed,
    FailureKind::Interrupted,
];

fn config(auto_permission: bool) -> Config {
    let yaml = format!(
        "handsoff: {{auto_permission: {auto_permission}}}\ntelegram: {{enabled: true, token: '{TOKEN}', chat_id: {CHAT}}}"
    );
    let config = Config::read(&yaml, "/demo");
    assert_eq!(config.notes, [""; 0]);
    config
}

/// A chat in which somebody presses `word`, or nobody does anything.
fn chat(word: Option<&'static str>) -> impl FnMut(&HttpSpec) -> HttpAnswer {
    let mut pressed: Option<Value> = None;
    move |spec| {
        let payload: Value = serde_json::from_slice(spec.body.as_deref().unwrap()).unwrap();
        let method = spec.url.rsplit('/').next().unwrap();
        let result = match method {
            "getUpdates" if payload["offset"].as_i64() > Some(5) => json!([]),
            "getUpdates" => json!(pressed.iter().collect::<Vec<_>>()),
            "sendMessage" => {
                let buttons = &payload["reply_markup"]["inline_keyboard"][0];
                let data = buttons.as_array().into_iter().flatten();
                let mut data = data.filter_map(|button| button["callback_data"].as_str());
                pressed =
                    word.and_then(|word| data.find(|data| data.starts_with(word))).map(|data| {
                        json!({"update_id": 5, "callback_query": {
                            "id": "cb", "from": {"id": USER}, "data": data,
                            "message": {"message_id": 100, "chat": {"id": CHAT}},
                        }})
                    });
                json!({"message_id": 100, "from": {"username": "b"}})
            }
            _ => json!(true),
        };
        HttpAnswer {
            status: 200,
            body: json!({"ok": true, "result": result}).to_string().into_bytes().into(),
        }
    }
}

fn machine(word: Option<&'static str>) -> SimHost {
    let mut host = SimHost::new();
    let mut chat = chat(word);
    host.tick(500);
    host.on_http(move |_, spec| Ok(chat(spec)));
    host.on("claude", |_, _| SimProcess::exit(0, "ask\n"));
    host
}

type Said = Rc<RefCell<Option<Resolution>>>;

fn ask(host: &mut SimHost, auto_permission: bool) -> Option<Resolution> {
    let verdict = Said::default();
    let program = question(host, auto_permission, verdict.clone());
    host.run_program(program);
    verdict.take()
}

fn question(host: &SimHost, auto_permission: bool, said: Said) -> Program {
    Program::new(host.start(&["onloop"]), move |io| async move {
        let escalation = Escalation {
            session_id: "s".to_owned(),
            cwd: "/demo".to_owned(),
            tool: "Bash".to_owned(),
            target_text: "make".to_owned(),
            reason: "no rule decides".to_owned(),
            context: String::new(),
            only_a_person: false,
            time_left_ms: 600_000,
            call_id: Some("c".to_owned()),
            defers: false,
        };
        *said.borrow_mut() = Some(escalate(&io, &config(auto_permission), &escalation).await);
        Exit::Done
    })
}

#[test]
fn no_failure_is_a_yes_or_hides_a_no() {
    for (word, allowed) in [(None, false), (Some("deny"), false), (Some("allow"), true)] {
        let mut host = machine(word);
        let verdict = ask(&mut host, true).expect("it ended");
        assert_eq!(matches!(verdict, Resolution::Allow(_)), allowed, "{verdict:?}");
        // Further on it is the same question for updates again and again.
        let requests = host.requests.len().min(40);
        for number in 0..requests {
            for kind in KINDS {
                let mut host = machine(word);
                host.refuse_nth(number, kind);
                let verdict = ask(&mut host, true).expect("it ended");
                let is_yes = matches!(verdict, Resolution::Allow(_));
                assert!(allowed || !is_yes, "{word:?} {number} {kind:?}");
                if word == Some("allow") {
                    assert!(
                        !matches!(verdict, Resolution::Deny { .. }),
                        "{number} {kind:?}: {verdict:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn after_a_power_cut_only_what_a_person_said_before_counts() {
    let mut whole = machine(Some("allow"));
    assert!(matches!(ask(&mut whole, false), Some(Resolution::Allow(_))));
    for at_request in 0..whole.requests.len() {
        for moment in [Moment::Before, Moment::After] {
            let mut host = machine(Some("allow"));
            host.lose_power(PowerLoss { at_request, moment, lose_relaxed: true });
            assert_eq!(ask(&mut host, false), None);
            let mut nobody = chat(None);
            host.on_http(move |_, spec| Ok(nobody(spec)));
            let before = host.requests.len();
            let verdict = ask(&mut host, false).expect("it ended");
            let asks = |request: &Request| matches!(request, Request::Http(spec) if spec.url.ends_with("/sendMessage"));
            let is_new = host.requests[before..].iter().any(asks);
            let is_taken_up = matches!(verdict, Resolution::Allow(_)) && !is_new;
            assert!(
                is_taken_up || matches!(verdict, Resolution::NoAnswer(_)),
                "{at_request}: {verdict:?}"
            );
        }
    }
}

#[test]
fn silence_takes_the_configured_time_and_no_more() {
    let mut host = machine(None);
    let before = host.now();
    host.on_http({
        let mut nobody = chat(None);
        move |_, spec| match spec.url.ends_with("getUpdates") {
            true => Err(Failure::new(FailureKind::Closed, "no answer")),
            false => Ok(nobody(spec)),
        }
    });
    // The beginning cannot be known, so nothing is asked; it is tried until the time is over.
    assert!(matches!(ask(&mut host, false), Some(Resolution::NoAnswer(_))));
    let took_ms = host.now().millis_since(before);
    assert!((60_000..90_000).contains(&took_ms), "{took_ms}");

    let mut host = machine(None);
    let before = host.now();
    host.tick(1000);
    assert!(matches!(ask(&mut host, false), Some(Resolution::NoAnswer(_))));
    let took_ms = host.now().millis_since(before);
    assert!((60_000..90_000).contains(&took_ms), "{took_ms}");
}

#[test]
fn the_beginning_is_known_from_whoever_keeps_the_lock() {
    let mut host = machine(None);
    let folder = "/demo/.tmp/hooked-sessions/approvals/123456";
    let offset = format!("{{\"next\":0,\"at_ms\":{}}}", host.now().as_millis());
    let verdict = Rc::new(RefCell::new(None));
    let mut program = question(&host, false, verdict.clone());
    let (mut reply, mut locks) = (None, 0);
    while let Turn::Request(request) = program.resume(reply.take()) {
        let is_lock = matches!(request, Request::Lock { .. });
        locks += usize::from(is_lock);
        reply = Some(if is_lock {
            // Somebody else has it, for ever, and has made the beginning known meanwhile.
            host.disk.put(&format!("{folder}/offset.json"), &offset);
            let failure = Failure::new(FailureKind::Busy, "held");
            Reply { at: host.now(), outcome: Err(failure) }
        } else {
            host.perform(request)
        });
    }
    assert!(locks > 1);
    let asked = |request: &Request| matches!(request, Request::Http(spec) if spec.url.ends_with("/sendMessage"));
    assert!(host.requests.iter().any(asked), "{verdict:?}");
    assert!(matches!(verdict.take(), Some(Resolution::NoAnswer(_))));
}

#[test]
fn the_token_is_in_addresses_and_nowhere_else() {
    let mut host = machine(Some("allow"));
    assert!(matches!(ask(&mut host, true), Some(Resolution::Allow(_))));
    for request in &host.requests {
        assert!(!format!("{request:?}").contains(SECRET), "{request:?}");
        match request {
            Request::Write { bytes, .. } => {
                assert!(!String::from_utf8_lossy(bytes).contains(SECRET));
            }
            Request::Process(spec) => {
                let input = spec.stdin.clone().unwrap_or_default();
                assert!(!String::from_utf8_lossy(&input).contains(SECRET));
            }
            _ => {}
        }
    }
}

#[test]
fn an_answer_that_cannot_be_taken_away_is_not_used() {
    let fetched = |prepare: &dyn Fn(&mut SimHost)| {
        let mut host = SimHost::new();
        let input = json!({ "command": "make" });
        let (kept, result) = (input.clone(), Rc::new(RefCell::new(None)));
        let program = Program::new(host.start(&["onloop"]), move |io| async move {
            let call = pending::Deferred {
                session_id: "s",
                cwd: "/demo",
                tool: "Bash",
                input: &kept,
                target_text: "make",
                reason: "r",
            };
            let id = pending::defer(&io, &call).await.unwrap();
            let choice = onloop_core::handsoff::approval::ApprovalChoice::Allow;
            pending::answer(&io, &id, choice, None).await.unwrap();
            Exit::Done
        });
        host.run_program(program);
        prepare(&mut host);
        let said = result.clone();
        let program = Program::new(host.start(&["onloop"]), move |io| async move {
            *said.borrow_mut() = Some(pending::consume(&io, "s", "Bash", &input).await);
            Exit::Done
        });
        host.run_program(program);
        result.take().expect("it ended")
    };
    assert!(matches!(fetched(&|_| {}), Ok(Some(_))));
    let stuck = fetched(&|host| {
        host.refuse(|_, request| {
            matches!(request, Request::Remove { .. }).then_some(FailureKind::Denied)
        });
    });
    assert_eq!(stuck.map_err(|failure| failure.kind), Err(FailureKind::Denied));
}
