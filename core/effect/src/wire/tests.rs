//! The JSON of every kind of document, as hosts in other languages rely on it.

use super::*;
use crate::{
    CallAnswer, Capture, Command, Durability, FailureKind, FileSize, GitRequest, GitSurvey,
    HttpAnswer, HttpMethod, HttpSpec, KeptFile, KeptWork, LaunchSpec, LeftOut, LeftOutReason,
    LockHolder, NamedCheckpoint, ProcessEnd, ProcessGroup, ProcessIdentity, ProcessRole,
    ProcessSpec, ProcessStatus, RefUpdate, Request, Say, ServeRequest, Shell, Version, WebCall,
    WorkLine,
};
use onloop_syntax::time::Timestamp;
use std::collections::BTreeMap;

const START: &str = r#"{"argv":["onloop","lint"],"program":["/bin/onloop"],"env":{"A":"日本"},"cwd":"/w","now_ms":-1,
    "terminal":{"stdin":true,"stdout":false,"stderr":false,"columns":100},
    "process":{"pid":7,"host":"box","started":"99"},
    "random":"000102030405060708090a0b0c0d0e0f"}"#;

#[test]
fn a_start_is_read_whole() {
    let start = read_start(START).unwrap();
    assert_eq!(start.argv, ["onloop", "lint"]);
    assert_eq!(start.program, ["/bin/onloop"]);
    let without = START.replace("\"program\":[\"/bin/onloop\"],", "");
    assert!(read_start(&without).unwrap().program.is_empty());
    assert_eq!(start.env["A"], "日本");
    assert_eq!(start.now.as_millis(), -1);
    assert_eq!(start.terminal.columns, 100);
    assert_eq!(start.process.started, "99");
    assert_eq!(start.random[..3], [0, 1, 2]);
}

#[test]
fn what_is_no_start_says_why() {
    let table = [
        (START.replace("\"now_ms\":-1", "\"now\":-1"), "unknown field `now`"),
        (START.replace("0001", "01"), "`random` is not 32 hexadecimal digits"),
        (START.replace("0001", "+001"), "`random` is not 32 hexadecimal digits"),
        (START.replace("\"pid\":7", "\"pid\":-7"), "invalid value: integer `-7`"),
        (String::new(), "EOF while parsing"),
    ];
    for (json, expected) in table {
        let error = read_start(&json).unwrap_err().to_string();
        assert!(error.starts_with("the host's start is malformed: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

fn spec(command: Command) -> ProcessSpec {
    ProcessSpec {
        command,
        cwd: ".".to_owned(),
        env_remove: vec!["A".to_owned()],
        env_set: BTreeMap::from([("B".to_owned(), "2".to_owned())]),
        stdin: Some(b"in".to_vec().into()),
        timeout_ms: None,
        capture_bytes: 10,
        stream_to: None,
        private: false,
        label: Some("l".to_owned()),
        interactive: false,
        wake_after_ms: None,
        wake_on_input: false,
        wake_on_lines: false,
        announce: false,
        observe: Vec::new(),
        renew: None,
        confine: None,
    }
}

fn group() -> ProcessGroup {
    ProcessGroup { pid: 7, started: "9".to_owned(), boot: "b".to_owned() }
}

#[test]
fn every_request_has_its_document() {
    let text = |text: &str| text.to_owned();
    let survey = GitRequest::Survey { cwd: text("/w"), branch: text("b") };
    let argv = Command::Argv(vec![text("ls")]);
    let line = Command::Shell { shell: Shell::Bash, line: text("true") };
    let rest = r#""cwd":".","env_remove":["A"],"env_set":{"B":"2"},"stdin":0,"timeout_ms":null,"capture_bytes":10,"stream_to":null,"private":false,"label":"l","interactive":false,"wake_after_ms":null,"wake_on_input":false,"wake_on_lines":false,"announce":false,"observe":[]"#;
    let append = Request::Append {
        path: text("j"),
        bytes: b"x".to_vec().into(),
        expect_len_bytes: 4,
        durability: Durability::Relaxed,
        private: true,
    };
    let append_alone = Request::Append {
        path: text("j"),
        bytes: b"x".to_vec().into(),
        expect_len_bytes: 0,
        durability: Durability::Durable,
        private: false,
    };
    let patch = Request::Patch {
        path: text("p"),
        offset_bytes: 3,
        old: b" ".to_vec().into(),
        new: b"x".to_vec().into(),
    };
    let http = HttpSpec {
        method: HttpMethod::Post,
        url: text("https://h/p"),
        headers: vec![(text("a"), text("b"))],
        body: Some(b"q".to_vec().into()),
        timeout_ms: 9,
        limit_bytes: 8,
    };
    let lock = |role, run| Request::Lock { path: text("l"), wait_ms: 1, private: false, role, run };
    let call_answer = CallAnswer {
        status: 200,
        headers: vec![(text("a"), text("b"))],
        body: b"hi".to_vec().into(),
        open: false,
    };
    let table: [(Request, String, &[&[u8]]); 25] = [
        (
            Request::Http(http),
            text(
                r#"{"do":"http","method":"POST","url":"https://h/p","headers":[["a","b"]],"body":0,"timeout_ms":9,"limit_bytes":8}"#,
            ),
            &[b"q"],
        ),
        (
            Request::Read { path: text("日"), limit_bytes: 5 },
            text(r#"{"do":"read","path":"日","limit_bytes":5}"#),
            &[],
        ),
        (
            Request::ReadTail { path: text("t"), limit_bytes: 6 },
            text(r#"{"do":"read_tail","path":"t","limit_bytes":6}"#),
            &[],
        ),
        (
            append,
            text(
                r#"{"do":"append","path":"j","bytes":0,"expect_len_bytes":4,"durable":false,"private":true}"#,
            ),
            &[b"x"],
        ),
        (
            append_alone,
            text(
                r#"{"do":"append","path":"j","bytes":0,"expect_len_bytes":0,"durable":true,"private":false}"#,
            ),
            &[b"x"],
        ),
        (
            patch,
            text(r#"{"do":"patch","path":"p","offset_bytes":3,"old":0,"new":1}"#),
            &[b" ", b"x"],
        ),
        (
            Request::Process(spec(argv)),
            format!(r#"{{"do":"process","command":{{"argv":["ls"]}},{rest}}}"#),
            &[b"in"],
        ),
        (
            Request::Process(spec(line)),
            format!(r#"{{"do":"process","command":{{"shell":"bash","line":"true"}},{rest}}}"#),
            &[b"in"],
        ),
        (Request::Git(survey), text(r#"{"do":"git","git":"survey","cwd":"/w","branch":"b"}"#), &[]),
        (
            Request::Say(Say::Note(text("hi\n"))),
            text(r#"{"do":"say","to":"note","text":"hi\n"}"#),
            &[],
        ),
        (lock(None, None), text(r#"{"do":"lock","path":"l","wait_ms":1,"private":false}"#), &[]),
        (
            lock(Some(ProcessRole::Embedded), Some(text("r"))),
            text(
                r#"{"do":"lock","path":"l","wait_ms":1,"private":false,"role":"embedded","run":"r"}"#,
            ),
            &[],
        ),
        (Request::Holder { path: text("l") }, text(r#"{"do":"holder","path":"l"}"#), &[]),
        (Request::Ancestors, text(r#"{"do":"ancestors"}"#), &[]),
        (
            Request::EndGroup { group: group(), host: text("h"), mark: None },
            text(
                r#"{"do":"end_group","group":{"pid":7,"started":"9","boot":"b"},"host":"h","mark":null}"#,
            ),
            &[],
        ),
        (
            Request::Launch(LaunchSpec {
                argv: vec![text("onloop"), text("resume")],
                cwd: text("/w"),
                env_remove: vec![text("T")],
                log: Some(text("/s/l")),
                wait_ms: 7,
            }),
            text(
                r#"{"do":"launch","argv":["onloop","resume"],"cwd":"/w","env_remove":["T"],"log":"/s/l","wait_ms":7}"#,
            ),
            &[],
        ),
        (
            Request::Interrupt {
                process: ProcessIdentity { pid: 7, host: text("h"), started: text("9") },
                now: true,
            },
            text(r#"{"do":"interrupt","process":{"pid":7,"host":"h","started":"9"},"now":true}"#),
            &[],
        ),
        (
            Request::Ask {
                question: text("?"),
                choices: Vec::new(),
                unless_changed: Some(FileSize { path: text("l"), size_bytes: 5 }),
            },
            text(r#"{"do":"ask","question":"?","unless_changed":{"path":"l","size_bytes":5}}"#),
            &[],
        ),
        (
            Request::Changes {
                folders: vec![text("a"), text("b")],
                wait_ms: 7,
                working: Vec::new(),
            },
            text(r#"{"do":"changes","folders":["a","b"],"wait_ms":7}"#),
            &[],
        ),
        (
            Request::Changes {
                folders: Vec::new(),
                wait_ms: 7,
                working: vec![WorkLine { label: text("a"), elapsed_ms: 1, activity: text("b") }],
            },
            text(
                r#"{"do":"changes","folders":[],"wait_ms":7,"working":[{"label":"a","elapsed_ms":1,"activity":"b"}]}"#,
            ),
            &[],
        ),
        (
            Request::Serve(ServeRequest::Listen { port: 0 }),
            text(r#"{"do":"serve","serve":"listen","port":0}"#),
            &[],
        ),
        (
            Request::Serve(ServeRequest::Next {
                wait_ms: None,
                folders: vec!["/s/runs".to_owned()],
            }),
            text(r#"{"do":"serve","serve":"next","wait_ms":null,"folders":["/s/runs"]}"#),
            &[],
        ),
        (
            Request::Serve(ServeRequest::Answer { call: 3, answer: call_answer }),
            text(
                r#"{"do":"serve","serve":"answer","call":3,"answer":{"status":200,"headers":[["a","b"]],"body":0,"open":false}}"#,
            ),
            &[b"hi"],
        ),
        (
            Request::Serve(ServeRequest::Push { call: 3, bytes: b"more".to_vec().into() }),
            text(r#"{"do":"serve","serve":"push","call":3,"bytes":0}"#),
            &[b"more"],
        ),
        (Request::Sleep { duration_ms: 7 }, text(r#"{"do":"sleep","duration_ms":7}"#), &[]),
    ];
    for (request, json, attachments) in table {
        let expected = Message {
            json: format!("{{\"request\":{json}}}"),
            attachments: attachments.iter().map(|bytes| bytes.to_vec()).collect(),
        };
        assert_eq!(write_turn(Turn::Request(request)), expected);
    }
}

#[test]
fn files_to_keep_travel_beside_their_document() {
    let file = |name: &str, text: &str| KeptFile { name: name.to_owned(), bytes: text.into() };
    let request = GitRequest::KeepFiles {
        cwd: "/w".to_owned(),
        files: vec![file("a", "one"), file("b", "two")],
        name: None,
        parent: None,
        message: "m".to_owned(),
        at: Timestamp::from_millis(5),
    };
    let json = r#"{"request":{"do":"git","git":"keep_files","cwd":"/w","files":[{"name":"a","bytes":0},{"name":"b","bytes":1}],"name":null,"parent":null,"message":"m","at_ms":5}}"#;
    let attachments = vec![b"one".to_vec(), b"two".to_vec()];
    let expected = Message { json: json.to_owned(), attachments };
    assert_eq!(write_turn(Turn::Request(Request::Git(request))), expected);
}

#[test]
fn every_request_about_checkpoints_has_its_document() {
    let text = |text: &str| text.to_owned();
    let (cwd, index, at) = (text("/w"), text("/i"), Timestamp::from_millis(5));
    let table = [
        (
            GitRequest::Checkpoint {
                cwd: cwd.clone(),
                index: index.clone(),
                name: text("r/0"),
                parent: None,
                message: text("m"),
                at,
                limit_bytes: 9,
                programs: Some(text("p")),
            },
            r#""checkpoint","cwd":"/w","index":"/i","name":"r/0","parent":null,"message":"m","at_ms":5,"limit_bytes":9,"programs":"p""#,
        ),
        (
            GitRequest::Restore {
                cwd: cwd.clone(),
                index: index.clone(),
                commit: text("c"),
                paths: vec![text("a")],
                programs: None,
            },
            r#""restore","cwd":"/w","index":"/i","commit":"c","paths":["a"],"programs":null"#,
        ),
        (
            GitRequest::Diff {
                cwd: cwd.clone(),
                from: text("c"),
                to: text("d"),
                stat: true,
                paths: Vec::new(),
                limit_bytes: 9,
            },
            r#""diff","cwd":"/w","from":"c","to":"d","stat":true,"paths":[],"limit_bytes":9"#,
        ),
        (
            GitRequest::ChangedPaths { cwd: cwd.clone(), from: text("c"), to: text("d") },
            r#""changed_paths","cwd":"/w","from":"c","to":"d""#,
        ),
        (
            GitRequest::CommitKept {
                cwd: cwd.clone(),
                index,
                branch: text("b"),
                head: text("h"),
                kept: text("k"),
                without: vec![text("a")],
                message: text("m"),
            },
            r#""commit_kept","cwd":"/w","index":"/i","branch":"b","head":"h","kept":"k","without":["a"],"message":"m""#,
        ),
        (
            GitRequest::ImportPack {
                cwd: cwd.clone(),
                pack: text("/p"),
                branch: text("b"),
                head: text("h"),
                commit: text("c"),
                tree: text("t"),
            },
            r#""import_pack","cwd":"/w","pack":"/p","branch":"b","head":"h","commit":"c","tree":"t""#,
        ),
        (
            GitRequest::Note { cwd: cwd.clone(), commit: text("c"), text: text("t"), at },
            r#""note","cwd":"/w","commit":"c","text":"t","at_ms":5"#,
        ),
        (GitRequest::Checkpoints { cwd: cwd.clone() }, r#""checkpoints","cwd":"/w""#),
        (
            GitRequest::ForgetCheckpoint { cwd: cwd.clone(), name: text("r/0"), commit: text("c") },
            r#""forget_checkpoint","cwd":"/w","name":"r/0","commit":"c""#,
        ),
        (
            GitRequest::ReadKept {
                cwd: cwd.clone(),
                commit: text("c"),
                name: text("ledger.jsonl"),
                limit_bytes: 9,
            },
            r#""read_kept","cwd":"/w","commit":"c","name":"ledger.jsonl","limit_bytes":9"#,
        ),
        (
            GitRequest::PushRefs {
                cwd: cwd.clone(),
                remote: text("o"),
                updates: vec![
                    RefUpdate { name: text("r/a"), expected: None, commit: Some(text("c")) },
                    RefUpdate { name: text("r/b"), expected: Some(text("d")), commit: None },
                ],
            },
            r#""push_refs","cwd":"/w","remote":"o","updates":[{"name":"r/a","expected":null,"commit":"c"},{"name":"r/b","expected":"d","commit":null}]"#,
        ),
        (
            GitRequest::FetchRefs { cwd, remote: text("o"), prefix: text("r") },
            r#""fetch_refs","cwd":"/w","remote":"o","prefix":"r""#,
        ),
    ];
    for (request, json) in table {
        let expected = Message {
            json: format!("{{\"request\":{{\"do\":\"git\",\"git\":{json}}}}}"),
            attachments: Vec::new(),
        };
        assert_eq!(write_turn(Turn::Request(Request::Git(request))), expected);
    }
}

#[test]
fn what_git_kept_is_read() {
    let text = |text: &str| text.to_owned();
    let left = LeftOut { path: text("a"), why: LeftOutReason::NoCommit };
    let kept =
        KeptWork { commit: text("c"), tree: text("t"), programs: text("p"), left_out: vec![left] };
    let json = r#"{"is":"checkpoint","commit":"c","tree":"t","programs":"p","left_out":[{"path":"a","why":"no_commit"}]}"#;
    assert_eq!(outcome(json, &[]), Outcome::Checkpoint(kept));
    let named =
        NamedCheckpoint { name: text("r/0"), commit: text("c"), at: Timestamp::from_millis(5) };
    let json = r#"{"is":"checkpoints","checkpoints":[{"name":"r/0","commit":"c","at_ms":5}]}"#;
    assert_eq!(outcome(json, &[]), Outcome::Checkpoints { checkpoints: vec![named] });
    let diff = Outcome::Diff { bytes: b"+".to_vec().into() };
    assert_eq!(outcome(r#"{"is":"diff","bytes":0}"#, &[b"+"]), diff);
}

fn reply(json: &str, attachments: &[&[u8]]) -> Result<Reply, Malformed> {
    let attachments = attachments.iter().map(|bytes| bytes.to_vec()).collect();
    read_reply(Message { json: json.to_owned(), attachments })
}

fn outcome(document: &str, attachments: &[&[u8]]) -> Outcome {
    let json = format!(r#"{{"at_ms":5,"outcome":{document}}}"#);
    let reply = reply(&json, attachments).unwrap();
    assert_eq!(reply.at.as_millis(), 5);
    reply.outcome.unwrap()
}

#[test]
fn outcomes_are_read_with_their_attachments() {
    assert_eq!(outcome(r#"{"is":"done"}"#, &[]), Outcome::Done);
    assert_eq!(
        outcome(r#"{"is":"file","bytes":1,"version":"v"}"#, &[b"no", b"\xff\0"]),
        Outcome::File { bytes: b"\xff\0".to_vec().into(), version: Version("v".to_owned()) }
    );
    assert_eq!(
        outcome(r#"{"is":"tail","bytes":0,"size_bytes":9}"#, &[b"end"]),
        Outcome::Tail { bytes: b"end".to_vec().into(), size_bytes: 9 }
    );
    let process = r#"{"is":"process","status":{"signalled":9},"duration_ms":3,
        "stdout":{"head":0,"tail":1,"total_bytes":10},
        "stderr":{"head":2,"tail":3,"total_bytes":0}}"#;
    assert_eq!(
        outcome(process, &[b"abc", b"def", b"", b""]),
        Outcome::Process(ProcessEnd {
            status: ProcessStatus::Signalled(9),
            stdout: Capture {
                head: b"abc".to_vec().into(),
                tail: b"def".to_vec().into(),
                total_bytes: 10
            },
            stderr: Capture::default(),
            duration_ms: 3,
            confined: None,
            opened: None,
            refused: Vec::new(),
        })
    );
    assert_eq!(
        outcome(r#"{"is":"started","group":{"pid":7,"started":"9","boot":"b"}}"#, &[]),
        Outcome::Started { group: group() }
    );
    assert_eq!(outcome(r#"{"is":"ended","survivors":2}"#, &[]), Outcome::Ended { survivors: 2 });
    let process = ProcessIdentity { pid: 7, host: "h".to_owned(), started: "9".to_owned() };
    assert_eq!(
        outcome(r#"{"is":"processes","processes":[{"pid":7,"host":"h","started":"9"}]}"#, &[]),
        Outcome::Processes { processes: vec![process.clone()] }
    );
    let holder = r#"{"process":{"pid":7,"host":"h","started":"9"},"live":true}"#;
    assert_eq!(
        outcome(&format!(r#"{{"is":"holder","holder":{holder}}}"#), &[]),
        Outcome::Holder {
            holder: Some(LockHolder { process: process.clone(), live: true, role: None })
        }
    );
    let holder = r#"{"process":{"pid":7,"host":"h","started":"9"},"live":true,"role":"server"}"#;
    assert_eq!(
        outcome(&format!(r#"{{"is":"holder","holder":{holder}}}"#), &[]),
        Outcome::Holder {
            holder: Some(LockHolder { process, live: true, role: Some(ProcessRole::Server) })
        }
    );
    assert_eq!(outcome(r#"{"is":"holder","holder":null}"#, &[]), Outcome::Holder { holder: None });
    let survey = r#"{"is":"survey","repository":null}"#;
    assert_eq!(outcome(survey, &[]), Outcome::Survey(GitSurvey::default()));
    let http = Outcome::Http(HttpAnswer { status: 404, body: b"no".to_vec().into() });
    assert_eq!(outcome(r#"{"is":"http","status":404,"body":0}"#, &[b"no"]), http);
    let listening = Outcome::Listening { port: 8, secret: b"s".to_vec().into() };
    assert_eq!(outcome(r#"{"is":"listening","port":8,"secret":0}"#, &[b"s"]), listening);
    let call =
        r#"{"is":"call","call":1,"method":"GET","target":"/","headers":[["host","h"]],"body":0}"#;
    assert_eq!(
        outcome(call, &[b""]),
        Outcome::Call(WebCall {
            call: 1,
            method: "GET".to_owned(),
            target: "/".to_owned(),
            headers: vec![("host".to_owned(), "h".to_owned())],
            body: Vec::new().into(),
        })
    );
    assert_eq!(outcome(r#"{"is":"no_call"}"#, &[]), Outcome::NoCall);
    assert_eq!(outcome(r#"{"is":"commit","commit":null}"#, &[]), Outcome::Commit { commit: None });
}

#[test]
fn a_failure_is_an_answer_too() {
    let json = r#"{"at_ms":0,"failure":{"kind":"too_large","message":"m"}}"#;
    let failure = reply(json, &[]).unwrap().outcome.unwrap_err();
    assert_eq!(failure, Failure::new(FailureKind::TooLarge, "m"));
}

#[test]
fn what_is_no_reply_says_why() {
    let table = [
        (r#"{"at_ms":0}"#, "expected either `outcome` or `failure`"),
        (r#"{"at_ms":0,"outcome":{"is":"done"},"failure":{}}"#, "expected either"),
        (r#"{"at_ms":"0","outcome":{"is":"done"}}"#, "`at_ms` is not a whole number"),
        (r#"{"at_ms":0,"outcome":{"is":"dunno"}}"#, "unknown variant `dunno`"),
        (
            r#"{"at_ms":0,"outcome":{"is":"file","bytes":2,"version":""}}"#,
            "attachment 2 is missing; 1 came",
        ),
        (
            r#"{"at_ms":0,"outcome":{"is":"process","status":"timed_out","duration_ms":0,
             "stdout":{"head":0,"tail":0,"total_bytes":0},
             "stderr":{"head":0,"tail":0,"total_bytes":0}}}"#,
            "`total_bytes` is less than what was kept",
        ),
        ("", "EOF"),
    ];
    for (json, expected) in table {
        let error = reply(json, &[b"x"]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
