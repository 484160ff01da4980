//! What traces show, hide and read again.

use super::*;
use crate::{Exit, HttpMethod, HttpSpec, Outcome, ProcessSpec, Request, Say, Version};
use onloop_syntax::time::Timestamp;

const BOT: &str = "123456789:AAbbccddeeffgghhiijjkkllmmnnooppqqr";

fn start(env: &[(&str, &str)]) -> Start {
    let env = env.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    Start { env, ..Start::example(["onloop", "status"]) }
}

fn said(tracer: &Tracer, text: &str) -> String {
    let line = tracer.turn(&Turn::Request(Request::Say(Say::Result(text.to_owned()))));
    let value: Value = serde_json::from_str(&line).unwrap();
    value["request"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn values_of_secret_variables_are_hidden_wherever_they_are() {
    let env = [("MY_API_KEY", "hush42\"hush42"), ("GITHUB_TOKEN", "abc"), ("EDITOR", "vi")];
    let (tracer, header) = Tracer::new(&start(&env), "native");
    let header: Value = serde_json::from_str(&header).unwrap();
    let env = json!({"EDITOR": "vi", "GITHUB_TOKEN": "[redacted]", "MY_API_KEY": "[redacted]"});
    assert_eq!(header["start"]["env"], env);
    assert_eq!(said(&tracer, "key=hush42\"hush42 abc"), "key=[redacted MY_API_KEY] abc");
    // Inside of a JSON text.
    assert_eq!(said(&tracer, r#"{"key":"hush42\"hush42"}"#), r#"{"key":"[redacted MY_API_KEY]"}"#);
    let spec = ProcessSpec::argv(["env"])
        .with_env([("PASSWORD", "x"), ("A", "hush42\"hush42")])
        .with_stdin(*b"\xffhush42\"hush42");
    let line = tracer.turn(&Turn::Request(Request::Process(spec)));
    let value: Value = serde_json::from_str(&line).unwrap();
    let set = json!({"A": "[redacted MY_API_KEY]", "PASSWORD": "[redacted]"});
    assert_eq!(value["request"]["env_set"], set);
    assert_eq!(value["attachments"], json!([{"hex": "ff[redacted MY_API_KEY]"}]));
}

#[test]
fn tokens_are_known_by_their_look() {
    let (tracer, _) = Tracer::new(&start(&[]), "native");
    let table = [
        (format!("token: {BOT}"), "token: 123456789:[redacted]"),
        ("sk-ant-api03-abcdef123456".to_owned(), "sk-[redacted]"),
        ("(ghp_0123456789abcdef)".to_owned(), "(ghp_[redacted])"),
        ("https://me:pw@host/x".to_owned(), "https://me:[redacted]@host/x"),
        (
            "npm_0123456789abcdefABCDEF npm_package_config_port2".to_owned(),
            "npm_[redacted] npm_package_config_port2",
        ),
        (
            "ASIA0123456789ABCDEF ASIA-PACIFIC-REGION-2026".to_owned(),
            "ASIA[redacted] ASIA-PACIFIC-REGION-2026",
        ),
        ("pypi-AgEIcHlwaS5vcmcCJD0123456789".to_owned(), "pypi-AgEI[redacted]"),
        (
            "sk_live_0123456789abcdefgh xapp-1-A0123-456-abcdef78".to_owned(),
            "sk_live_[redacted] xapp-[redacted]",
        ),
        (
            "glrt-t1_0123456789abcdefgh dckr_pat_0123456789abcdef".to_owned(),
            "glrt-[redacted] dckr_pat_[redacted]",
        ),
        (
            "hf_0123456789abcdefABCD hf_hub_download_version2".to_owned(),
            "hf_[redacted] hf_hub_download_version2",
        ),
        ("jwt eyJhbGciOiJ.eyJzdWIiOiIx.c2ln-X, x.eyJz".to_owned(), "jwt [redacted], x.eyJz"),
        (
            "Authorization: Bearer 0123456789.abcdefghij+/ end; bearer of news".to_owned(),
            "Authorization: Bearer [redacted] end; bearer of news",
        ),
        (
            "https://0123456789abcdefghij@h/x https://me@h".to_owned(),
            "https://[redacted]@h/x https://me@h",
        ),
        (
            "https://0123456789abcdefghij:x-oauth-basic@h/x".to_owned(),
            "https://[redacted]:[redacted]@h/x",
        ),
        ("https://host:80/a@b".to_owned(), "https://host:80/a@b"),
        ("sk-learn 日本 12:30:00".to_owned(), "sk-learn 日本 12:30:00"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nx".to_owned(),
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nx",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(said(&tracer, &text), expected);
    }
    let http = HttpSpec {
        method: HttpMethod::Post,
        url: format!("https://h/bot{BOT}/send"),
        headers: [("Authorization", "x"), ("content-type", "y")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        body: None,
        timeout_ms: 1,
        limit_bytes: 1,
    };
    let line = tracer.turn(&Turn::Request(Request::Http(http)));
    let value: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["request"]["url"], "https://h/bot123456789:[redacted]/send");
    let headers = json!([["Authorization", "[redacted]"], ["content-type", "y"]]);
    assert_eq!(value["request"]["headers"], headers);
}

#[test]
fn what_is_written_is_read_again() {
    let (tracer, header) = Tracer::new(&start(&[]), "node");
    let bytes = vec![b'x'; limits::TRACE_BODY_BYTES + 5];
    let outcome = Ok(Outcome::File { bytes: bytes.into(), version: Version("v".to_owned()) });
    let reply = Reply { at: Timestamp::EPOCH, outcome };
    let binary =
        Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Input { bytes: vec![0xff, 0].into() }) };
    let (cut, whole) = (tracer.reply(&reply), tracer.reply(&binary));
    let exit = tracer.turn(&Turn::Exit(Exit::Paused));
    let trace = Trace::read(&format!("{header}{cut}{whole}{exit}{{\"torn")).unwrap();
    assert_eq!((trace.host.as_str(), trace.start.argv.len()), ("node", 2));
    let [(2, TraceLine::Reply(cut)), (3, TraceLine::Reply(whole)), (4, TraceLine::Turn(exit))] =
        &trace.lines[..]
    else {
        panic!("{trace:?}")
    };
    assert!(was_cut(cut) && !was_cut(whole));
    assert!(cut.attachments[0].ends_with(b"xx[cut 5 bytes]"));
    assert_eq!(wire::read_reply(whole.clone()).unwrap().outcome, binary.outcome);
    assert_eq!(*exit, json!({"exit": 3}));
}

#[test]
fn what_is_not_a_trace_says_why() {
    let header = Tracer::new(&start(&[]), "node").1;
    let table = [
        (String::new(), "its first line is not the header of a trace"),
        ("{}\n".to_owned(), "its first line is not the header of a trace"),
        (
            header.replace("\"trace\":1", "\"trace\":2"),
            "it has version 2 of the trace format; this onloop reads version 1",
        ),
        (format!("{header}{{}}\n"), "line 2 is not a request, a reply or an exit"),
    ];
    for (text, expected) in table {
        assert_eq!(Trace::read(&text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn placeholders_match_anything_and_nothing_else_does() {
    let table = [
        ("a", "a", true),
        ("a", "b", false),
        ("[redacted]", "", true),
        ("a [redacted] b [redacted A_KEY]", "a x b y", true),
        ("a [redacted ?]", "a x", false),
        ("a [redacted] b", "a x c", false),
        ("abc[cut 12 bytes]", "abcdef", true),
        ("abc[cut bytes]", "abcdef", false),
        ("a[redacted]a", "a", false),
        ("1[redacted]2[redacted]3", "1 3", false),
    ];
    for (recorded, now, expected) in table {
        assert_eq!(is_same(&json!([recorded]), &json!([now])), expected, "{recorded} {now}");
    }
    assert!(!is_same(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
}

#[test]
fn the_command_that_records_can_be_copied() {
    let argv = ["onloop", "run", "my plan.md"].map(str::to_owned);
    assert_eq!(recording_command(&argv), "ONLOOP_TRACE=trace.jsonl onloop run 'my plan.md'");
}
