//! Calls that wait without a process, and the person who answers them later.

use crate::workspace::Workspace;

use super::probe;
use super::server::{BotApi, CHAT, USER};

fn say(project: &Workspace, words: &[&str]) -> String {
    let output = probe(project, words).output().expect("the probe is there");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

#[test]
fn an_answer_is_for_one_call_of_one_session_and_one_time() {
    let project = Workspace::plain();
    let id = say(&project, &["defer", "s1", "make deploy"]);
    assert_eq!(say(&project, &["defer", "s1", "make deploy"]), id);
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "nothing");

    let listed = project.onloop(&["approve"]).expect_exit(0);
    assert!(listed.stdout.starts_with(&format!("⏸ {}  ", &id[..8])), "{}", listed.stdout);
    assert!(listed.stdout.contains("    make deploy\n"));
    let said = project.onloop(&["approve", &id[..8]]).expect_exit(0);
    assert!(said.stderr.contains("allowed, for one time: Bash `make deploy`"), "{}", said.stderr);
    assert!(said.stderr.contains("claude -p --resume s1"));
    project.onloop(&["approve", &id, "--deny"]).expect_exit(2);

    assert_eq!(say(&project, &["consume", "s2", "make deploy"]), "nothing");
    assert_eq!(say(&project, &["consume", "s1", "make deploy "]), "nothing");
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "allow");
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "nothing");
    let listed = project.onloop(&["approve", "--json"]).expect_exit(0);
    assert_eq!(listed.stdout, "[]\n");
}

#[test]
fn a_denial_resumes_the_session_as_well() {
    use std::os::unix::fs::PermissionsExt;
    let project = Workspace::plain();
    project.write("../bin/claude", "#!/bin/sh\nprintf '%s|' \"$@\"\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    let id = say(&project, &["defer", "s1", "make deploy"]);
    let run = project.onloop(&["approve", &id, "--deny", "--resume"]).expect_exit(0);
    assert_eq!(run.stdout, "-p|--resume|s1|");
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "deny");
}

#[test]
fn what_waits_is_asked_about_in_the_chat_and_the_sessions_go_on() {
    use std::os::unix::fs::PermissionsExt;
    let api = BotApi::start();
    api.react(|sent| {
        let word = if sent.text.contains("make deploy") { "allow" } else { "deny" };
        vec![sent.press(word, USER, CHAT)]
    });
    let project = super::project(&api, "");
    project.write("../bin/claude", "#!/bin/sh\nprintf '%s|' \"$@\"\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    say(&project, &["defer", "s1", "make deploy"]);
    say(&project, &["defer", "s2", "make clean"]);
    let run = project.onloop(&["approve", "--telegram", "--resume"]).expect_exit(0);
    assert!(run.stdout.contains("-p|--resume|s1|") && run.stdout.contains("-p|--resume|s2|"));
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "allow");
    assert_eq!(say(&project, &["consume", "s2", "make clean"]), "deny");
    let run = project.onloop(&["approve", "--telegram"]).expect_exit(0);
    assert_eq!(run.stderr, "no call waits for an answer\n");
}

#[test]
fn a_call_nobody_answers_keeps_waiting() {
    let silent = BotApi::start();
    let project = super::project(&silent, "  timeout_sec: 1\n");
    let id = say(&project, &["defer", "s1", "make deploy"]);
    let run = project.onloop(&["approve", "--telegram"]).expect_exit(3);
    assert!(run.stderr.contains(&format!("`{id}` keeps waiting: nobody has answered")), "{run:?}");
    // The next one takes up the question that is open.
    project.onloop(&["approve", "--telegram"]).expect_exit(3);
    assert_eq!(silent.payloads("sendMessage").len(), 1);
    assert!(silent.payloads("editMessageText").is_empty());
    assert!(project.onloop(&["approve"]).stdout.contains(&id[..8]));
    let elsewhere = Workspace::plain();
    say(&elsewhere, &["defer", "s1", "make deploy"]);
    let run = elsewhere.onloop(&["approve", "--telegram"]).expect_exit(3);
    assert!(run.stderr.contains("Telegram is not set up in"), "{run:?}");
    elsewhere.onloop(&["approve", "--resume"]).expect_exit(2);
}

#[test]
fn what_is_answered_by_hand_is_closed_in_the_chat() {
    let api = BotApi::start();
    let project = super::project(&api, "  timeout_sec: 1\n");
    let id = say(&project, &["defer", "s1", "make deploy"]);
    project.onloop(&["approve", "--telegram"]).expect_exit(3);
    project.onloop(&["approve", &id]).expect_exit(0);
    assert!(super::last_edit(&api).ends_with("<b>✅ Allowed</b>"));
    // Whoever presses a button now is too late.
    assert_eq!(say(&project, &["consume", "s1", "make deploy"]), "allow");
}

#[test]
fn only_calls_that_wait_can_be_answered() {
    let project = Workspace::plain();
    project.onloop(&["approve", "0a1b"]).expect_exit(2);
    project.onloop(&["approve", "../x"]).expect_exit(2);
    assert_eq!(say(&project, &["defer", "../x", "make"]), "Invalid");
    let inside = Workspace::plain().with_env("ONLOOP_HOOK_DEPTH", "1");
    let id = say(&inside, &["defer", "s1", "make"]);
    inside.onloop(&["approve", &id]).expect_exit(4);
    assert_eq!(say(&inside, &["consume", "s1", "make"]), "nothing");
}

#[test]
fn one_of_many_fetches_the_answer() {
    let project = Workspace::plain();
    let id = say(&project, &["defer", "s1", "make"]);
    project.onloop(&["approve", &id]).expect_exit(0);
    let words = ["consume", "s1", "make"];
    let children: Vec<_> =
        (0..8).map(|_| probe(&project, &words).spawn().expect("the probe is there")).collect();
    let said: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().expect("it ends");
            String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
        })
        .collect();
    assert_eq!(said.iter().filter(|said| *said == "allow").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| *said == "nothing").count(), 7, "{said:?}");
}

#[test]
fn a_damaged_call_hides_no_other() {
    let project = Workspace::plain();
    let id = say(&project, &["defer", "s1", "make"]);
    project.write("../home/.tmp/hooked-sessions/approvals/pending/0000.json", "{");
    let listed = project.onloop(&["approve"]).expect_exit(0);
    assert!(listed.stdout.contains(&id[..8]), "{}", listed.stdout);
    let said = crate::flat(&listed.stderr);
    let (warning, why) = said.split_once("` is damaged ").unwrap();
    assert!(warning.starts_with("warning: `/") && warning.ends_with("/pending/0000.json"));
    assert_eq!(why, "(EOF while parsing an object at line 1 column 1); remove it");
}
