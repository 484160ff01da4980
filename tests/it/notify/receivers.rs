//! Commands, desktops, chats and servers, and what they are given.

use super::{Board, gated, webhook};
use crate::approval::server::{BotApi, CHAT, SECRET, TOKEN, USER};
use crate::run::{command_below, run};
use crate::workspace::Workspace;

/// A program in the folder that is first on the PATH.
fn with_program(project: &Workspace, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = format!("../bin/{name}");
    project.write(&path, script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path(&path), mode).unwrap();
}

#[test]
fn a_command_gets_the_facts_and_nothing_of_them_is_taken_for_shell() {
    let line = "cat > told.json; env | grep ^ONLOOP_NOTICE_ | sort > told.env; \
                printf '%s' \"$ONLOOP_NOTICE_TEXT\" > told.txt";
    let project = gated(&format!("notify:\n  command: {line:?}\n"));
    let file = project.read(crate::run::FILE).replace("<!channel>", "$(touch pwned) `touch pwned`");
    project.write(crate::run::FILE, file);
    let paused = run(&project, &[]).expect_exit(3);
    assert!(!paused.stderr.contains("warning"), "{}", paused.stderr);
    let record = project.record();
    let id = record["run_id"].as_str().unwrap();
    let env = project.read("told.env");
    for line in [
        "ONLOOP_NOTICE_EVENT=waits\n".to_owned(),
        "ONLOOP_NOTICE_TITLE=w waits for you\n".to_owned(),
        "ONLOOP_NOTICE_STEP=1\n".to_owned(),
        format!("ONLOOP_NOTICE_RUN_ID={id}\n"),
    ] {
        assert!(env.contains(&line), "{line} in {env}");
    }
    let text = project.read("told.txt");
    let command = command_below(&paused, "Approve and continue");
    assert!(text.contains(&command), "{command} in {text}");
    let json: serde_json::Value = serde_json::from_str(&project.read("told.json")).unwrap();
    assert_eq!(json["step_name"], "Say $(touch pwned) `touch pwned` hello");
    assert!(!project.path("pwned").exists());
}

#[test]
fn a_command_that_fails_is_said_and_tried_again() {
    let line = "test -e ready || { echo no network >&2; exit 7; }; echo x >> told";
    let project = gated(&format!("notify:\n  command: {line:?}\n"));
    let paused = run(&project, &[]).expect_exit(3);
    let warning =
        "warning: `notify.command` was not reached: it ended with exit code 7: no network\n";
    assert!(paused.stderr.contains(warning), "{}", paused.stderr);
    project.write("ready", "");
    project.onloop(&["resume"]).expect_exit(3);
    project.onloop(&["resume"]).expect_exit(3);
    assert_eq!(project.read("told"), "x\n");
}

/// A run with a gate, about which its developer wants to hear in the chat, for a second.
fn in_chat(api: &BotApi, more: &str) -> Workspace {
    in_chat_for(1, api, more)
}

fn in_chat_for(seconds: u32, api: &BotApi, more: &str) -> Workspace {
    let yaml = format!(
        "telegram:\n  enabled: true\n  token: \"{TOKEN}\"\n  chat_id: {CHAT}\n  \
         timeout_sec: {seconds}\n  poll_interval_sec: 1\nnotify:\n  telegram: true\n{more}"
    );
    gated(&yaml).with_env("ONLOOP_TELEGRAM_API", &api.base)
}

#[test]
fn a_gate_is_decided_in_the_chat() {
    for (word, exit, shown, status) in
        [("allow", 0, "✅ Approved", "completed"), ("deny", 1, "❌ Rejected", "abandoned")]
    {
        let api = BotApi::start();
        api.react(move |sent| vec![sent.press(word, USER, CHAT)]);
        let project = in_chat(&api, "");
        let ended = run(&project, &[]).expect_exit(exit);
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
        let asked = &api.payloads("sendMessage")[0];
        let text = asked["text"].as_str().unwrap();
        let title = "⏸ <b>w: the gate of step 1 needs a human decision</b>\n\n<pre>";
        assert!(text.starts_with(title), "{text}");
        // What the terminal shows at a gate, as text.
        for fact in
            ["Step 1 of 2: Say &lt;!channel&gt; hello (risk: low)\n", "  ✓ command test -e first"]
        {
            assert!(text.contains(fact), "{fact} in {text}");
        }
        let buttons = &asked["reply_markup"]["inline_keyboard"][0];
        assert_eq!(
            (&buttons[0]["text"], &buttons[1]["text"]),
            (&"✅ Approve".into(), &"❌ Reject".into())
        );
        let closed = api.payloads("editMessageText")[0]["text"].as_str().unwrap().to_owned();
        assert!(closed.ends_with(&format!("<b>{shown}</b>")), "{closed}");
        let record = project.record();
        assert_eq!(record["status"], status);
        let id = record["run_id"].as_str().unwrap();
        let ledger = std::fs::read_to_string(project.kept(id, "ledger.jsonl")).unwrap();
        let line =
            ledger.lines().find(|line| line.contains("gate_decided")).expect("it is recorded");
        assert!(line.contains("\"telegram\""), "{line}");
    }
}

#[test]
fn a_gate_that_is_decided_elsewhere_is_not_waited_for_in_the_chat() {
    for (word, exit, status) in [("approved", 0, "completed"), ("rejected", 1, "blocked")] {
        let api = BotApi::start();
        let project = in_chat_for(3600, &api, "");
        let ended = std::thread::scope(|scope| {
            let run = scope.spawn(|| run(&project, &[]));
            while api.payloads("sendMessage").is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            project.onloop(&["gate", "1", word]).expect_exit(0);
            run.join().expect("it ended")
        });
        let ended = ended.expect_exit(exit);
        let said = format!("A person {word} step 1 with a command; it continues as it is now.\n");
        assert!(ended.stderr.contains(&said), "{}", ended.stderr);
        assert_eq!(project.record()["status"], status);
        let closed = api.payloads("editMessageText")[0]["text"].as_str().unwrap().to_owned();
        assert!(closed.ends_with("<b>⏹ Settled elsewhere</b>"), "{closed}");
    }
}

#[test]
fn where_the_risk_is_high_the_chat_can_only_reject() {
    let api = BotApi::start();
    api.react(|sent| vec![sent.press("allow", USER, CHAT), sent.reply("/allow", USER)]);
    let project = in_chat(&api, "");
    let file = project.read(crate::run::FILE).replace("risk_level: low", "risk_level: high");
    project.write(crate::run::FILE, file);
    run(&project, &[]).expect_exit(3);
    let asked = &api.payloads("sendMessage")[0];
    let buttons = asked["reply_markup"]["inline_keyboard"][0].as_array().unwrap();
    assert_eq!((buttons.len(), &buttons[0]["text"]), (1, &"❌ Reject".into()));
    let text = asked["text"].as_str().unwrap();
    assert!(text.contains("approve it where the name of the step can be typed"), "{text}");
    assert_eq!(project.record()["status"], "paused");
}

#[test]
fn the_desktop_and_the_chat_show_it() {
    let api = BotApi::start();
    let project = in_chat(&api, "  desktop: true\n");
    with_program(&project, "notify-send", "#!/bin/sh\nprintf '%s\\n' \"$@\" > ../desktop\n");
    let paused = run(&project, &[]).expect_exit(3);
    assert!(!paused.stderr.contains(SECRET), "{}", paused.stderr);
    let shown = project.read("../desktop");
    assert!(shown.starts_with("--app-name=onloop\n--\nw waits for you\n"), "{shown}");
    assert!(shown.contains("Say &lt;!channel&gt; hello"), "{shown}");
    let sent = api.payloads("sendMessage");
    // First it is asked there, and nobody answers.
    assert_eq!((sent.len(), &sent[1]["chat_id"]), (2, &CHAT.into()));
    let text = sent[1]["text"].as_str().unwrap();
    assert!(text.starts_with("w waits for you\nThe gate of step 1 needs"), "{text}");
    assert!(text.contains("onloop approve "), "{text}");
    assert!(sent[1].get("parse_mode").is_none(), "tags in it are text");
}

#[test]
fn a_server_gets_its_form_and_its_token() {
    let board = Board::start();
    let project = gated(&format!("{}    template: ntfy\n    token: tk_1\n", webhook(&board)));
    run(&project, &[]).expect_exit(3);
    let asked = &board.asked()[0];
    assert_eq!(asked.line, "POST /T0/");
    assert!(asked.headers.contains(&"authorization: Bearer tk_1".to_owned()), "{asked:?}");
    assert_eq!(board.notices()[0]["topic"], "s3cretWebhook");
}

#[test]
fn it_can_be_tried() {
    let board = Board::start();
    let project = gated(&format!("{}  command: exit 3\n", webhook(&board)));
    let shown = project.onloop(&["notify"]).expect_exit(0);
    assert_eq!(shown.stdout, "command: set up\nwebhook: set up\n");
    let tried = project.onloop(&["notify", "--test"]).expect_exit(1);
    assert_eq!(tried.stdout, "command: not reached: it ended with exit code 3\nwebhook: reached\n");
    assert_eq!(board.notices()[0]["title"], "onloop: a test");
    let nothing = gated("").onloop(&["notify", "--test"]).expect_exit(2);
    assert!(
        nothing.stderr.starts_with("error: no receiver of notifications is set up"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn an_address_that_others_can_read_is_refused_and_not_repeated() {
    let project = gated("notify:\n  webhook:\n    url: http://hooks.example/s3cret\n");
    let refused = project.onloop(&["notify", "--test"]).expect_exit(2);
    assert!(
        crate::flat(&refused.stderr).starts_with(
            "warning: line 3, column 10: `notify.webhook.url` is a string of another form; expected \
             an address that begins with `https://`, or `http://` on this machine"
        ),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("s3cret"));
}
