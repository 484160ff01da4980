use serde_json::{Value, json};

use super::message::{ApprovalSubject, CallPlace, messages, send_question};
use super::*;

const NONCE: &str = "00112233445566778899aabbccddeeff";

fn question() -> ChatQuestion {
    ChatQuestion {
        nonce: NONCE.to_owned(),
        chat_id: -100,
        allowed_user_ids: vec![7, 8],
        message_ids: vec![41, 42],
        bot: "GateBot".to_owned(),
        until_ms: 1000,
        complete: true,
        call: None,
        repeated: false,
    }
}

fn press(chat: i64, user: i64, message: i64, data: &str) -> Value {
    json!({"update_id": 1, "callback_query": {
        "id": "cb", "from": {"id": user}, "data": data,
        "message": {"message_id": message, "chat": {"id": chat}},
    }})
}

fn text(chat: i64, user: i64, reply_to: Option<i64>, text: &str) -> Value {
    let mut message = json!({
        "message_id": 50, "chat": {"id": chat}, "from": {"id": user}, "text": text,
    });
    if let Some(id) = reply_to {
        message["reply_to_message"] = json!({"message_id": id, "chat": {"id": chat}});
    }
    json!({"update_id": 1, "message": message})
}

/// What an update leads to, in a few words.
fn acts(update: Value, questions: &[ChatQuestion], now_ms: i64, is_decided: bool) -> String {
    let body = json!({"ok": true, "result": [update]}).to_string();
    let incoming = updates::read(body.as_bytes()).expect("an answer to getUpdates");
    let acts = judge(&incoming[0], questions, now_ms, |_| is_decided);
    let words = acts.iter().map(|act| match act {
        ChatReaction::Decide { nonce, choice, by, name: _ } => {
            assert_eq!(nonce, NONCE);
            format!("{} by {by}", choice.as_str())
        }
        ChatReaction::Acknowledge { callback_id, text } => {
            assert_eq!(callback_id, "cb");
            format!("shows `{text}`")
        }
        ChatReaction::Confirm { chat_id, reply_to, text } => {
            assert_eq!((*chat_id, *reply_to), (-100, 50));
            format!("replies `{text}`")
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn only_the_right_press_decides() {
    let allow = format!("allow:{NONCE}");
    let (allow, deny) = (allow.as_str(), format!("deny:{NONCE}"));
    let other = "allow:ffffffffffffffffffffffffffffffff";
    let table = [
        ("allowed", press(-100, 7, 42, allow), "shows `✅ Allowed`, allow by 7"),
        ("denied", press(-100, 8, 42, &deny), "shows `❌ Denied`, deny by 8"),
        ("a stranger", press(-100, 9, 42, allow), "shows `You may not answer this.`"),
        ("another chat", press(-101, 7, 42, allow), ""),
        ("another question", press(-100, 7, 42, other), "shows `This question is over.`"),
        (
            "the button of another message",
            press(-100, 7, 40, allow),
            "shows `This question is over.`",
        ),
        ("no number", press(-100, 7, 42, "allow:42"), ""),
        ("another word", press(-100, 7, 42, &format!("Allow:{NONCE}")), ""),
        ("nothing", press(-100, 7, 42, ""), ""),
    ];
    for (name, update, expected) in table {
        assert_eq!(acts(update, &[question()], 0, false), expected, "{name}");
    }
}

#[test]
fn a_question_is_answered_once_in_time_and_only_when_all_of_it_was_shown() {
    let allow = || press(-100, 7, 42, &format!("allow:{NONCE}"));
    let deny = || press(-100, 7, 42, &format!("deny:{NONCE}"));
    let over = "shows `This question is over.`";
    assert_eq!(acts(allow(), &[question()], 0, true), over);
    assert_eq!(acts(allow(), &[question()], 1000, false), over);
    assert_eq!(acts(allow(), &[], 0, false), "");
    let cut = ChatQuestion { complete: false, ..question() };
    assert!(acts(allow(), std::slice::from_ref(&cut), 0, false).starts_with("shows `The call is"));
    assert!(acts(deny(), std::slice::from_ref(&cut), 0, false).ends_with("deny by 7"));
    let sending = ChatQuestion { message_ids: Vec::new(), ..question() };
    assert!(acts(allow(), &[sending], 0, false).ends_with("allow by 7"));
    // The chat has shown it twice, and only one of the messages is known.
    let twice = ChatQuestion { message_ids: vec![99], repeated: true, ..question() };
    assert!(acts(allow(), &[twice], 0, false).ends_with("allow by 7"));
}

#[test]
fn only_a_reply_to_our_message_is_a_command() {
    let table = [
        ("a reply", text(-100, 7, Some(42), "/allow"), "allow by 7, replies `✅ Allowed`"),
        ("to a part", text(-100, 7, Some(41), "/deny now"), "deny by 7, replies `❌ Denied`"),
        (
            "with our name",
            text(-100, 7, Some(42), "/allow@gatebot"),
            "allow by 7, replies `✅ Allowed`",
        ),
        ("with another name", text(-100, 7, Some(42), "/allow@otherbot"), ""),
        ("no reply", text(-100, 7, None, "/allow"), ""),
        ("a reply to something else", text(-100, 7, Some(43), "/allow"), ""),
        ("a stranger", text(-100, 9, Some(42), "/allow"), ""),
        ("another chat", text(-101, 7, Some(42), "/allow"), ""),
        ("other words", text(-100, 7, Some(42), "allow"), ""),
        ("a longer word", text(-100, 7, Some(42), "/allowed"), ""),
        ("in the middle", text(-100, 7, Some(42), "please /allow"), ""),
    ];
    for (name, update, expected) in table {
        assert_eq!(acts(update, &[question()], 0, false), expected, "{name}");
    }
    let late = text(-100, 7, Some(42), "/allow");
    assert_eq!(acts(late, &[question()], 2000, false), "replies `This question is over.`");
    let mut across = text(-100, 7, Some(42), "/allow");
    across["message"]["reply_to_message"]["chat"]["id"] = json!(-5);
    assert_eq!(acts(across, &[question()], 0, false), "");
}

#[test]
fn every_question_gets_its_own_answer() {
    let second = ChatQuestion {
        nonce: "ff".repeat(16),
        message_ids: vec![43],
        allowed_user_ids: vec![9],
        ..question()
    };
    let both = [second, question()];
    assert_eq!(
        acts(text(-100, 7, Some(42), "/allow"), &both, 0, false),
        "allow by 7, replies `✅ Allowed`"
    );
    assert_eq!(acts(text(-100, 7, Some(43), "/allow"), &both, 0, false), "");
}

#[test]
fn what_is_no_answer_of_the_interface_is_none() {
    for body in [
        "",
        "null",
        "[]",
        "{\"ok\":false,\"result\":[]}",
        "{\"ok\":true}",
        "{\"ok\":true,\"result\":{}}",
        "\u{0}",
        "<html>",
    ] {
        assert_eq!(updates::read(body.as_bytes()), None, "{body}");
    }
    let odd = r#"{"ok":true,"result":[1,{},{"update_id":"x"},{"update_id":5,"poll":{}}]}"#;
    let read = updates::read(odd.as_bytes()).expect("one of them has a number");
    assert_eq!((read.len(), read[0].update_id), (1, 5));
    assert_eq!(read[0].action, updates::ChatAction::Nothing);
    let busy = br#"{"ok":false,"parameters":{"retry_after":3}}"#;
    assert_eq!(updates::retry_after_ms(busy), Some(3000));
    assert_eq!(updates::retry_after_ms(b"{}"), None);
}

#[test]
fn people_are_called_as_they_call_themselves() {
    let table = [
        (json!({"first_name": "Ann", "last_name": "Lee", "username": "al"}), "Ann Lee"),
        (json!({"first_name": "A\u{202e}nn\n"}), "Ann"),
        (json!({"username": "al"}), "@al"),
        (json!({"first_name": " ", "username": "al"}), "@al"),
        (json!({"first_name": 7}), ""),
        (json!(null), ""),
    ];
    for (from, expected) in table {
        let update = json!({"update_id": 1, "callback_query": {"from": from}});
        let body = json!({"ok": true, "result": [update]}).to_string();
        assert_eq!(updates::read(body.as_bytes()).unwrap()[0].user_name, expected);
    }
}

fn subject(target: &str) -> ApprovalSubject {
    ApprovalSubject {
        tool: "Bash".to_owned(),
        target: target.to_owned(),
        session_id: "0123456789".to_owned(),
        reason: "no rule decides".to_owned(),
        place: CallPlace::default(),
    }
}

#[test]
fn a_question_says_where_the_call_would_run() {
    let place = CallPlace {
        repository: Some("https://github.com/me/shop".to_owned()),
        folder: "/srv/shop".to_owned(),
        branch: Some("issue-42".to_owned()),
    };
    let question = messages(&ApprovalSubject { place, ..subject("make") }).question;
    for line in [
        "Repository: <code>https://github.com/me/shop</code>\n",
        "Folder: <code>/srv/shop</code>\n",
        "Branch: <code>issue-42</code>\n",
    ] {
        assert!(question.contains(line), "{question}");
    }
    assert!(!messages(&subject("make")).question.contains("Branch"));
}

#[test]
fn the_whole_call_is_shown_and_nothing_hides_in_it() {
    let short = messages(&subject("echo '<b>' && rm\u{202e}x\u{7}\nls"));
    assert!(short.complete && short.parts.is_empty());
    assert!(
        short.question.contains("<pre>echo '&lt;b&gt;' &amp;&amp; rm\\u{202e}x\\u{7}\nls</pre>")
    );
    assert!(short.question.contains("Session: <code>01234567</code>"));
    let long = "日x😀".repeat(2000);
    let sent = messages(&subject(&long));
    assert!(sent.complete);
    let all: String = sent
        .parts
        .iter()
        .chain([&sent.question])
        .map(|html| {
            assert!(html.encode_utf16().count() < 4000);
            html.split_once("<pre>").unwrap().1.split_once("</pre>").unwrap().0
        })
        .collect();
    assert_eq!(all, long);
}

#[test]
fn what_cannot_be_shown_cannot_be_allowed() {
    let sent = messages(&subject(&"x".repeat(100_000)));
    assert!(!sent.complete);
    assert_eq!(sent.parts.len() + 1, onloop_syntax::limits::APPROVAL_MESSAGES);
    let payload = send_question(5, &sent, NONCE).to_string();
    assert!(!payload.contains("allow:") && payload.contains(&format!("deny:{NONCE}")));
    let payload = send_question(5, &messages(&subject("ls")), NONCE).to_string();
    assert!(payload.contains(&format!("allow:{NONCE}")));
}

#[test]
fn a_call_is_shown_with_all_its_fields() {
    let table = [
        (json!({"command": "ls"}), "ls"),
        (json!({"timeout": 5, "command": "ls"}), "ls\ntimeout: 5"),
        (
            json!({"file_path": "/etc/x", "content": "a\nb", "more": {"k": [1]}}),
            "/etc/x\ncontent:\na\nb\nmore: {\"k\":[1]}",
        ),
        (json!({"command": 7, "to": "x"}), "command: 7\nto: x"),
        (json!([1]), "[1]"),
        (json!({}), ""),
    ];
    for (input, expected) in table {
        assert_eq!(super::message::whole(&input), expected);
    }
}

#[test]
fn numbers_and_seals_differ() {
    assert_eq!(nonce([0; 16], 0).len(), 32);
    assert_ne!(nonce([0; 16], 0), nonce([0; 16], 1));
    assert_ne!(nonce([0; 16], 0), nonce([1; 16], 0));
    let token = |text: &str| BotToken::new(text).unwrap();
    let right = seal(&token("1:a"), NONCE, ApprovalChoice::Allow, (7, "Ann"));
    let long = format!("1:{}", "a".repeat(100));
    for other in [
        seal(&token("1:b"), NONCE, ApprovalChoice::Allow, (7, "Ann")),
        seal(&token("1:a"), NONCE, ApprovalChoice::Deny, (7, "Ann")),
        seal(&token("1:a"), NONCE, ApprovalChoice::Allow, (8, "Ann")),
        seal(&token("1:a"), NONCE, ApprovalChoice::Allow, (7, "Bob")),
        seal(&token("1:a"), "00", ApprovalChoice::Allow, (7, "Ann")),
        seal(&token(&long), NONCE, ApprovalChoice::Allow, (7, "Ann")),
    ] {
        assert_ne!(other, right);
    }
}

#[test]
fn the_seal_is_an_hmac() {
    // RFC 4231 has no vector for this message; this one was computed with OpenSSL:
    // printf 'onloop answer\n00\nallow\n7\nAnn' | openssl dgst -sha256 -hmac '1:a'
    let token = BotToken::new("1:a").unwrap();
    assert_eq!(seal(&token, "00", ApprovalChoice::Allow, (7, "Ann")), EXPECTED_SEAL);
}

const EXPECTED_SEAL: &str = "31ccff528508a4248de33f7b3dc882e483390cf5f19be9c636a757fdcd54a00a";
