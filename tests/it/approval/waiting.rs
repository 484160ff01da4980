//! Several processes wait, some of them die, and the network is not what it should be.

use std::fs;

use crate::rounds::sampled;
use crate::run::wait_until;

use super::server::{BotApi, CHAT, Sent, USER};
use super::{IN_TIME, ask, begin, finish, project};

#[test]
fn trouble_on_the_way_is_waited_out() {
    let too_many = r#"{"ok":false,"error_code":429,"parameters":{"retry_after":1}}"#;
    let all = [
        &[(409, "{\"ok\":false}"), (500, "<html>")][..],
        &[(429, too_many)],
        &[(200, "<html>garbage"), (200, "{\"ok\":true,\"result\":7}"), (200, "")],
    ];
    for faults in sampled(3, all) {
        let api = BotApi::start();
        let project = project(&api, "  timeout_sec: 30\n");
        api.fail_after_question(faults);
        api.react(|sent| vec![sent.press("allow", USER, CHAT)]);
        assert_eq!(ask(&project, "make"), "allow");
    }
}

#[test]
#[ignore = "only with --all"]
fn trouble_that_stays_is_endured_until_the_time_is_over() {
    let api = BotApi::start();
    let project = project(&api, "  timeout_sec: 4\n");
    api.fail_after_question(&[(500, ""); 100]);
    let said = ask(&project, "make");
    assert_eq!(
        said,
        "no answer: asking through Telegram: not reached until the time was over: Telegram refused \
         with status 500"
    );
    assert!(super::last_edit(&api).contains("No longer asked here"));
}

/// Everything that is asked, and nobody answers.
fn collect(api: &BotApi) -> std::sync::Arc<std::sync::Mutex<Vec<Sent>>> {
    let all = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = all.clone();
    api.react(move |sent| {
        kept.lock().unwrap().push(sent.clone());
        Vec::new()
    });
    all
}

fn about(all: &std::sync::Mutex<Vec<Sent>>, what: &str) -> Sent {
    let all = all.lock().unwrap();
    all.iter().find(|sent| sent.text.contains(what)).expect("it was asked").clone()
}

#[test]
fn processes_that_wait_together_each_get_their_own_answer() {
    let api = BotApi::start();
    let project = project(&api, "  timeout_sec: 60\n");
    let asked = collect(&api);
    let children: Vec<_> =
        ["one", "two", "three"].map(|word| begin(&project, word, &format!("make {word}"))).into();
    wait_until("all have asked", || asked.lock().unwrap().len() == 3);
    // A reply is known by the id of its message, which the process stores after the server has it.
    let questions = project.path("../home/.tmp/hooked-sessions/approvals/123456/questions");
    let is_stored = |entry: &fs::DirEntry| {
        let stored = fs::read_to_string(entry.path()).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&stored).is_ok_and(|question| {
            question["message_ids"].as_array().is_some_and(|ids| !ids.is_empty())
        })
    };
    wait_until("all have stored it", || {
        fs::read_dir(&questions).unwrap().flatten().filter(is_stored).count() == 3
    });
    api.happen(about(&asked, "make three").press("deny", USER, CHAT));
    api.happen(about(&asked, "make one").press("allow", USER, CHAT));
    api.happen(about(&asked, "make two").reply("/deny", USER));
    let said: Vec<String> = children.into_iter().map(|child| finish(&project, child)).collect();
    let denied = "deny: a person denied it through Telegram";
    assert_eq!(said, ["allow", denied, denied]);
    assert!(!api.was_fought_over());
}

#[test]
fn the_others_go_on_when_the_one_who_reads_is_killed() {
    let api = BotApi::start();
    let project = project(&api, "  timeout_sec: 60\n  poll_interval_sec: 20\n");
    let yaml = project.read(".agentize.local.yaml").replacen("  poll_interval_sec: 1\n", "", 1);
    project.write(".agentize.local.yaml", yaml);
    let asked = collect(&api);
    let mut reader = begin(&project, "one", "make one");
    wait_until("the first reads", || api.readers() == 1);
    let other = begin(&project, "two", "make two");
    wait_until("both have asked", || asked.lock().unwrap().len() == 2);
    reader.kill().expect("it runs");
    reader.wait().expect("it is over");
    api.happen(about(&asked, "make two").press("allow", USER, CHAT));
    assert_eq!(finish(&project, other), "allow");
}

#[test]
fn an_answer_that_somebody_else_left_does_not_count() {
    let api = BotApi::start();
    let project = project(&api, "  timeout_sec: 2\n");
    let answers = project.path("../home/.tmp/hooked-sessions/approvals/123456/answers");
    api.react(move |sent| {
        let nonce = sent.buttons[0].split(':').nth(1).expect("a number");
        fs::create_dir_all(&answers).unwrap();
        let forged =
            format!(r#"{{"choice":"allow","by":{USER},"name":"","seal":"{}"}}"#, "0".repeat(64));
        fs::write(answers.join(format!("{nonce}.json")), forged).unwrap();
        Vec::new()
    });
    assert_eq!(ask(&project, "make"), IN_TIME);
}

#[test]
fn nothing_is_left_behind() {
    let api = BotApi::start();
    let project = project(&api, "");
    api.react(|sent| vec![sent.press("allow", USER, CHAT)]);
    assert_eq!(ask(&project, "make"), "allow");
    let folder = project.path("../home/.tmp/hooked-sessions/approvals/123456");
    for name in ["questions", "answers"] {
        let left: Vec<_> = fs::read_dir(folder.join(name)).unwrap().collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}
