use super::keys::{KEYS, KeyKind};
use super::*;
use onloop_run::NoticeKind;
use onloop_syntax::money::Money;

fn read(yaml: &str) -> Config {
    Config::read(yaml, "/home/me")
}

/// The example of the documentation, complete.
const ALL: &str = "\
handsoff:
  enabled: true
  max_continuations: 7
  auto_permission: false
  debug: on
  supervisor:
    provider: claude
    model: opus
    flags: --effort high
  workflows:
    - command: /ship:it
      prompt_file: prompts/ship.md
retention: {days: 30}
budget: {day_usd: 20, month_usd: '300.50'}
review_from: [zoe, max]
auto_merge: true
telemetry: {content: true}
telegram:
  enabled: true
  token: \"123456:ABC-DEF_g\"
  chat_id: \"-100200\"
  timeout_sec: 90
  poll_interval_sec: 3
  allowed_user_ids: 123, 456
permissions:
  deny: ['^npm run deploy:prod']
run:
  confine: on
  continue: never
  verify_clean: true
  confine_caches: [~/.cache/zig, /srv/a cache]
  confine_read: [~/.foo]
  network: ['@registries', a.example]
notify:
  events: waits, blocked
  command: tell \"$X\"
  webhook: {url: https://hooks.example/T0/B0, template: Slack, token: tk_1}
  desktop: true
  telegram: true
server: {anything: 1}
";

#[test]
fn a_receiver_of_which_something_is_wrong_is_left_out_and_not_repeated() {
    let table = [
        (
            "{webhook: {url: 'http://ntfy.example/s3cret'}}",
            "line 1, column 25: `notify.webhook.url` \
          is a string of another form; expected an address that begins with `https://`, or \
          `http://` on this machine",
        ),
        (
            "{webhook: {url: 'https://me:s3cret@x/y'}}",
            "line 1, column 25: `notify.webhook.url` is \
          a string of another form; expected an address that begins with `https://`, or `http://` \
          on this machine",
        ),
        (
            "{webhook: {url: 'https://x/y', template: teams}}",
            "line 1, column 50: \
          `notify.webhook.template` is `teams`; expected `json`, `slack`, `ntfy` or `discord`",
        ),
        (
            "{webhook: {url: 'https://x/y', token: 's3cret s3cret'}}",
            "line 1, column 47: \
          `notify.webhook.token` is a string of another form; expected letters, digits and signs \
          without spaces",
        ),
        ("{webhook: https://x/s3cret}", "`notify.webhook` is"),
        (
            "{telegram: true}",
            "`notify.telegram` has no effect: `telegram` is not set up or not \
          switched on",
        ),
        (
            "{command: true, events: [waits, woken]}",
            "line 1, column 19: `notify.command` is `true`; \
          expected a line for a shell",
        ),
    ];
    for (yaml, note) in table {
        let config = read(&format!("notify: {yaml}"));
        assert_eq!(config.notify, None, "{yaml}");
        let notes = config.notes.join("\n");
        assert!(notes.contains(note), "{yaml}: {notes}");
        assert!(!notes.contains("s3cret"), "{notes}");
    }
    assert_eq!(read("notify: {desktop: true, events: [never]}").notify, None);
    let shown = format!("{:?}", read("notify: {webhook: {url: 'https://x/s3cret', token: t0k}}"));
    assert!(!shown.contains("s3cret") && !shown.contains("t0k"), "{shown}");
}

#[test]
fn every_key_is_read() {
    let config = read(ALL);
    let expected = Config {
        enabled: true,
        max_continuations: 7,
        auto_permission: false,
        debug: true,
        supervisor: Supervisor {
            provider: Provider::Claude,
            model: Some("opus".to_owned()),
            flags: vec!["--effort".to_owned(), "high".to_owned()],
        },
        telegram: Some(Telegram {
            token: BotToken::new("123456:ABC-DEF_g").unwrap(),
            chat_id: -100_200,
            timeout_ms: 90_000,
            poll_interval_ms: 3000,
            allowed_user_ids: vec![123, 456],
        }),
        prices: None,
        budget: MachineBudget { day: Money::from_number("20"), month: Money::from_number("300.5") },
        notify: Some(Notify {
            kinds: vec![NoticeKind::Waits, NoticeKind::Blocked],
            receivers: vec![
                Receiver::Command { line: "tell \"$X\"".to_owned(), folder: "/home/me".to_owned() },
                Receiver::Webhook(Webhook {
                    url: "https://hooks.example/T0/B0".to_owned(),
                    template: Template::Slack,
                    token: Some("tk_1".to_owned()),
                }),
                Receiver::Desktop,
                Receiver::Telegram {
                    token: BotToken::new("123456:ABC-DEF_g").unwrap(),
                    chat_id: -100_200,
                },
            ],
        }),
        workflows: vec![CustomWorkflow {
            command: "/ship:it".to_owned(),
            name: "it".to_owned(),
            prompt_file: "/home/me/prompts/ship.md".to_owned(),
        }],
        confine: ConfineWhen::On,
        continue_runs: ContinueWhen::Never,
        verify_clean: true,
        confine_caches: vec!["~/.cache/zig".to_owned(), "/srv/a cache".to_owned()],
        confine_read: vec!["~/.foo".to_owned()],
        network: "@registries,a.example".parse().ok(),
        retention_days: 30,
        review_from: vec!["zoe".to_owned(), "max".to_owned()],
        auto_merge: true,
        telemetry_content: true,
        notes: Vec::new(),
    };
    assert_eq!(config, expected);
}

#[test]
fn without_a_file_the_defaults_of_the_table_hold() {
    let mut yaml = String::from("handsoff:\n");
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        if let Some(name) = key.path.strip_prefix("handsoff.").filter(|name| !name.contains('.')) {
            yaml.push_str(&format!("  {name}: {}\n", key.default));
        }
    }
    yaml.push_str("  supervisor: {provider: none, flags: \"\"}\n");
    assert_eq!(read(&yaml), Config::default());
    assert_eq!(read(""), Config::default());
    assert_eq!(read("handsoff:\ntelegram: null\n"), Config::default());
}

#[test]
fn a_wrong_type_is_named_for_every_key() {
    for key in KEYS.iter().filter(|key| !matches!(key.kind, KeyKind::Rules | KeyKind::Prices)) {
        let names: Vec<&str> = key.path.split('.').collect();
        let mut yaml = String::new();
        for (depth, name) in names.iter().enumerate() {
            yaml.push_str(&format!("{}{name}:\n", "  ".repeat(depth)));
        }
        yaml.push_str(&format!("{}{{wrong: true}}\n", "  ".repeat(names.len())));
        // The rest of a chat is read only where it is switched on.
        if names[0] == "telegram" && names[1] != "enabled" {
            yaml.push_str("  enabled: true\n");
        }
        let config = read(&yaml);
        let place = format!(
            "line {}, column {}: `{}` is a mapping; expected ",
            names.len() + 1,
            2 * names.len() + 1,
            key.path
        );
        assert!(
            config.notes.iter().any(|note| note.starts_with(&place)),
            "{yaml}{:?}",
            config.notes
        );
        let costs = config.telegram.is_some() || config.supervisor.provider != Provider::None;
        assert!(!costs && config.enabled, "{yaml}");
    }
}

#[test]
fn what_cannot_be_used_never_switches_anything_on() {
    type Row = (&'static str, fn(&Config) -> bool, &'static str);
    let table: [Row; 16] = [
        ("handsoff: {auto_permission: \"no\"}", |c| !c.auto_permission, "`no`"),
        ("handsoff: {auto_permission: 0}", |c| !c.auto_permission, ""),
        ("handsoff: {auto_permission: ' Off '}", |c| !c.auto_permission, ""),
        ("handsoff: {max_continuations: many}", |c| c.max_continuations == 0, "`many`"),
        ("handsoff: {max_continuations: -3}", |c| c.max_continuations == 0, "-3; 0 is used"),
        ("handsoff: {max_continuations: 2.5}", |c| c.max_continuations == 0, "number `2.5`"),
        (
            "handsoff: [enabled]",
            |c| c == &Config { retention_days: 90, notes: c.notes.clone(), ..Config::safe() },
            "a list",
        ),
        (
            "handsoff: {enabled: maybe, max_continuations: 5}",
            |c| c.max_continuations == 0 && !c.auto_permission && c.enabled,
            "`maybe`",
        ),
        (
            "handsoff: {supervisor: {provider: gpt}}",
            |c| c.supervisor == Supervisor::default(),
            "`none`, `claude`",
        ),
        (
            "handsoff: {supervisor: {provider: claude, model: --x}}",
            |c| c.supervisor == Supervisor::default(),
            "`--x`",
        ),
        ("retention: {days: soon}", |c| c.retention_days == 36_500, "`soon`"),
        ("budget: {day_usd: -1}", |c| c.budget.day == Some(Money::ZERO), "`budget.day_usd` is"),
        ("retention: {days: 0}", |c| c.retention_days == 1, "0; 1 is used"),
        ("[1]", |c| c.retention_days == 36_500, "is a list and not a mapping"),
        ("a: 1\na: 2", |c| !c.auto_permission, "not YAML"),
        ("handsoff: {enabled: false}", |c| !c.enabled, ""),
    ];
    for (yaml, holds, note) in table {
        let config = read(yaml);
        assert!(holds(&config), "{yaml}: {config:?}");
        let said = config.notes.join("\n");
        assert!(said.contains(note) && said.is_empty() == note.is_empty(), "{yaml}: {said}");
    }
}

#[test]
fn a_chat_is_there_only_when_nobody_else_can_answer() {
    let table: [(&str, Result<&[i64], &str>); 14] = [
        ("chat_id: 5", Ok(&[5])),
        ("chat_id: '5'\n  allowed_user_ids: 7", Ok(&[7])),
        ("chat_id: 5\n  allowed_user_ids: [1, '2']", Ok(&[1, 2])),
        ("chat_id: 5\n  allowed_user_ids: '1, 2,'", Ok(&[1, 2])),
        ("chat_id: 5\n  allowed_user_ids: ''", Ok(&[5])),
        ("chat_id: -5\n  allowed_user_ids: []", Err("anybody in a group")),
        ("chat_id: -5", Err("anybody in a group")),
        ("chat_id: 5\n  allowed_user_ids: '@alice'", Err("`@alice`; expected the ids")),
        ("chat_id: 5\n  allowed_user_ids: [1, x]", Err("a list; expected the ids")),
        ("chat_id: 5\n  allowed_user_ids: -1", Err("the number `-1`")),
        ("chat_id: '@channel'", Err("`@channel`; expected the id")),
        ("chat_id: 0", Err("the number `0`")),
        ("allowed_user_ids: 1", Err("needs `token` and `chat_id`")),
        ("chat_id: 5\n  timeout_sec: soon", Err("`soon`; expected a whole number")),
    ];
    for (rest, expected) in table {
        let yaml = format!("telegram:\n  enabled: true\n  token: 1:a\n  {rest}\n");
        let config = read(&yaml);
        match (expected, &config.telegram) {
            (Ok(users), Some(telegram)) => assert_eq!(telegram.allowed_user_ids, users, "{rest}"),
            (Err(why), None) => {
                assert!(config.notes.join("\n").contains(why), "{rest}: {:?}", config.notes);
            }
            (_, found) => panic!("{rest}: {found:?} {:?}", config.notes),
        }
    }
    for switch in ["enabled: false", "enabled: 0", "poll_interval_sec: 5"] {
        let example = "token: '123456:ABC-DEF...', chat_id: '@nobody', timeout_sec: soon";
        let config = read(&format!("telegram: {{{switch}, {example}}}"));
        assert_eq!((config.telegram, config.notes), (None, Vec::new()), "{switch}");
    }
}

#[test]
fn times_are_brought_into_their_bounds() {
    for (sec, timeout_ms) in [("99999", 7_200_000), ("0", 1000), ("-5", 1000), ("60", 60_000)] {
        let yaml = format!(
            "telegram: {{enabled: 1, token: '1:a', chat_id: 5, timeout_sec: {sec}, poll_interval_sec: {sec}}}"
        );
        let telegram = read(&yaml).telegram.unwrap();
        assert_eq!(telegram.timeout_ms, timeout_ms, "{sec}");
        assert!((1000..=300_000).contains(&telegram.poll_interval_ms), "{sec}");
    }
}

#[test]
fn a_token_is_never_shown() {
    for token in ["1:secret/../x", "secretsecret", "1:secret x", "x:secret"] {
        let yaml = format!("telegram:\n  enabled: true\n  chat_id: 5\n  token: \"{token}\"\n");
        let config = read(&yaml);
        assert!(config.telegram.is_none());
        assert!(!format!("{config:?}").contains("secret"), "{config:?}");
    }
    assert!(!format!("{:?}", BotToken::new("1:secret")).contains("secret"));
}

#[test]
fn unknown_keys_are_named_with_what_was_meant() {
    let table = [
        (
            "handsoff: {max_continuation: 1}",
            "line 1, column 12: `handsoff.max_continuation` is not known; did you mean `max_continuations`?",
        ),
        ("telegramm: {}", "line 1, column 1: `telegramm` is not known; did you mean `telegram`?"),
        (
            "telegram: {chatid: 1}",
            "line 1, column 12: `telegram.chatid` is not known; did you mean `chat_id`?",
        ),
        ("colour: red", "line 1, column 1: `colour` is not known and has no effect"),
        ("1: red", "a key is the number `1`; expected a name"),
        (
            "handsoff: {workflows: [{command: /a, prompt_file: b, nam: c}]}",
            "line 1, column 54: `handsoff.workflows.0.nam` is not known; did you mean `name`?",
        ),
    ];
    for (yaml, expected) in table {
        assert_eq!(read(yaml).notes, [expected], "{yaml}");
    }
    let many: String = (0..50).map(|n| format!("zz{n}: 1\n")).collect();
    let notes = read(&many).notes;
    assert_eq!(notes.len(), onloop_syntax::limits::CONFIG_NOTES + 1);
    assert_eq!(notes.last().unwrap(), "30 more notes about the configuration");
}

#[test]
fn workflows_that_cannot_be_used_are_left_out() {
    let yaml = "handsoff:\n  workflows:\n    - {command: ship, prompt_file: a}\n    - {command: /b}\n    - /c\n    - {command: /d, name: 'x/y', prompt_file: a}\n    - {command: /e, prompt_file: /p.md}\n";
    let config = read(yaml);
    let commands: Vec<&str> = config.workflows.iter().map(|w| w.command.as_str()).collect();
    assert_eq!(commands, ["/e"]);
    assert_eq!(config.workflows[0].prompt_file, "/p.md");
    assert_eq!(config.notes.len(), 4, "{:?}", config.notes);
}

#[test]
fn the_environment_wins_over_the_file() {
    let config = |pairs: &'static [(&'static str, &'static str)]| {
        let find = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, v)| *v);
        read(ALL).with_environment(find)
    };
    let changed = config(&[
        ("HANDSOFF_MODE", "off"),
        ("HANDSOFF_MAX_CONTINUATIONS", "4"),
        ("HANDSOFF_AUTO_PERMISSION", "on"),
        ("HANDSOFF_DEBUG", "false"),
        ("HANDSOFF_SUPERVISOR", "codex"),
        ("HANDSOFF_SUPERVISOR_MODEL", "m"),
    ]);
    assert!(!changed.enabled && changed.auto_permission && !changed.debug);
    assert_eq!(changed.max_continuations, 4);
    let supervisor =
        Supervisor { provider: Provider::Codex, model: Some("m".to_owned()), flags: Vec::new() };
    assert_eq!(changed.supervisor, supervisor);
    assert_eq!(config(&[]), read(ALL));
    assert_eq!(config(&[("HANDSOFF_SUPERVISOR", "claude")]).supervisor, read(ALL).supervisor);

    let wrong = config(&[
        ("HANDSOFF_MAX_CONTINUATIONS", "lots"),
        ("HANDSOFF_AUTO_PERMISSION", "nope"),
        ("HANDSOFF_SUPERVISOR", "hal"),
    ]);
    assert_eq!((wrong.max_continuations, wrong.auto_permission), (0, false));
    assert_eq!(wrong.supervisor, Supervisor::default());
    assert_eq!(wrong.notes.len(), 3);
    let unclear = config(&[("HANDSOFF_MODE", "maybe")]);
    assert!(unclear.enabled && unclear.telegram.is_none() && unclear.max_continuations == 0);
}

#[test]
fn every_variable_of_the_table_is_looked_at() {
    let asked = std::cell::RefCell::new(Vec::new());
    let _ = Config::default().with_environment(|name| {
        asked.borrow_mut().push(name.to_owned());
        None
    });
    for variable in KEYS.iter().filter_map(|key| key.variable) {
        assert!(asked.borrow().iter().any(|name| name == variable), "{variable}");
    }
}

#[test]
fn a_chat_alone_sends_what_is_finished() {
    let chat = "telegram: {enabled: true, token: '123456:ABC-DEF_g', chat_id: 7}\n";
    let notify = |yaml: &str| Config::read(yaml, "/home/me").notify.map(|notify| notify.kinds);
    let finished = vec![NoticeKind::Completed, NoticeKind::Session];
    assert_eq!(notify(chat), Some(finished));
    assert_eq!(notify(&format!("{chat}notify: {{telegram: false}}\n")), None);
    assert_eq!(
        notify(&format!("{chat}notify: {{telegram: true}}\n")),
        Some(NoticeKind::ALL.to_vec())
    );
}
