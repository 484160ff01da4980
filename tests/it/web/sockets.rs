//! The real program, over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use onloop_core::effect::WebCall;

use super::*;
use crate::workspace::{Workspace, program, report_facts};

/// `onloop web` in a project.
struct Served {
    child: Child,
    stdout: BufReader<ChildStdout>,
    browser: Browser,
    /// Where it listens.
    address: String,
}

impl Served {
    fn start(workspace: &Workspace, words: &[&str]) -> Served {
        let mut command = workspace.command_at(".", program());
        command
            .arg("web")
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("onloop starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut link = String::new();
        stdout.read_line(&mut link).expect("it says the link");
        let mut browser = Browser::default();
        browser.hear(&link);
        let address = browser.host.clone();
        Served { child, stdout, browser, address }
    }

    /// The answer to a call, as the browser sees it.
    fn send(&mut self, call: &WebCall) -> CallAnswer {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it has one");
        let mut sent = format!("{} {} HTTP/1.1\r\n", call.method, call.target);
        for (name, value) in &call.headers {
            sent += &format!("{name}: {value}\r\n");
        }
        sent += &format!("content-length: {}\r\n\r\n", call.body.len());
        stream.write_all(&[sent.as_bytes(), &call.body].concat()).expect("it is sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it is answered");
        let text = String::from_utf8(bytes).expect("pages are UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let pairs = lines.filter_map(|line| line.split_once(": "));
        let answer = CallAnswer {
            status: status.expect("it has a status"),
            headers: pairs.map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned())).collect(),
            body: body.as_bytes().to_vec().into(),
            open: false,
        };
        self.browser.see(&answer);
        answer
    }

    fn get(&mut self, path: &str) -> CallAnswer {
        let call = self.browser.get(path);
        self.send(&call)
    }

    fn submit(&mut self, action: &str, fields: &[(&str, &str)]) -> CallAnswer {
        let call = self.browser.submit(action, fields);
        self.send(&call)
    }

    fn sign_in(&mut self) {
        let call = self.browser.enter();
        assert_eq!(self.send(&call).status, 200);
        assert_eq!(self.submit("/in", &[]).status, 303);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A project whose run waits at a gate, and its id.
fn at_a_gate() -> (Workspace, String) {
    let workspace = Workspace::git().with_env("USER", "ann");
    let steps = "- [ ] **Step 1: Write it**\naction: write it\nloop: false\nverify: test -s out.txt\ngate: human\n";
    workspace.write("hotl-workflow-w.md", workflow("", steps));
    workspace.commit("Plan");
    let run = ["run", "hotl-workflow-w.md", "--agent-command", "echo hello > out.txt"];
    workspace.onloop(&run).expect_exit(3);
    let listed = workspace.onloop(&["list", "--everywhere", "--json"]).expect_exit(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("it is JSON");
    let id = listed[0]["run_id"].as_str().expect("it has an id").to_owned();
    (workspace, id)
}

#[test]
fn a_person_approves_with_a_browser_and_no_recording_lets_anybody_in() {
    let (workspace, id) = at_a_gate();
    let trace = workspace.path("../trace.jsonl");
    let traced = workspace.with_env("ONLOOP_TRACE", &trace.to_string_lossy());
    let mut served = Served::start(&traced, &[]);
    assert!(served.browser.host.starts_with("127.0.0.1:"));
    served.sign_in();
    let board = facts_of(&body(&served.get("/data")));
    let root = served.browser.root.clone();
    assert_eq!(board["board"]["runs"][0]["state"], "waits");
    let of_run = format!("/data/run/{id}");
    for of in ["unapproved", "run", "1", "1-1"] {
        let diff = body(&served.get(&format!("{of_run}/diff?of={of}")));
        assert!(diff.contains("+hello"), "{of}: {diff}");
    }
    let attempts = facts_of(&body(&served.get(&format!("{of_run}/attempts?step=1"))));
    let check = &attempts[0]["checks"][0];
    assert_eq!((&attempts[0]["number"], &attempts[0]["result"]), (&json!(1), &json!("passed")));
    assert_eq!(
        (&check["what"], &check["exit_code"]),
        (&json!("command test -s out.txt"), &json!(0))
    );
    let prompt = body(&served.get(&format!("{of_run}/prompt?attempt=1-1")));
    assert!(prompt.contains("write it"), "{prompt}");
    served.get(&of_run);
    let approved = served.submit(&format!("/run/{id}"), &[("action", "approve")]);
    assert_eq!(approved.status, 200, "{}", body(&approved));
    let after = body(&served.get(&of_run));
    assert!(after.contains(&format!("onloop resume {id}")), "{after}");
    let report = report_facts(&traced.onloop(&["report", &id, "--html"]).expect_exit(0).stdout);
    for (path, place) in report["places"].as_object().expect("it has paths") {
        let found = &report["values"][place.as_u64().expect("a number") as usize];
        if *path != of_run {
            assert_eq!(*found, facts_of(&body(&served.get(path))), "{path}");
        } else {
            let [mut page, mut own] = [facts_of(&after), found.clone()];
            for facts in [&mut page, &mut own] {
                // The page has a server, which knows what can be done.
                let members = facts.as_object_mut().expect("members");
                members.retain(|name, _| {
                    !["now", "seen", "out", "token", "advice"].contains(&name.as_str())
                });
                members["run"]["actions"] = json!([]);
            }
            assert_eq!(page, own);
        }
    }
    let summary = body(&served.get(&format!("{of_run}/summary")));
    assert!(summary.contains("Gate: approved by ann, web, "), "{summary}");
    served.get(&of_run);
    let out = served.submit("/out", &[]);
    assert_eq!((out.status, served.get("/data").status), (200, 401));
    drop(served);
    let recorded = std::fs::read_to_string(trace).expect("it was recorded");
    assert!(recorded.contains("\"serve\":\"answer\""), "it is a recording of the server");
    for secret in recorded.split("olw_").skip(1) {
        assert!(secret.starts_with("[redacted]"), "{}", &secret[..40.min(secret.len())]);
    }
    // The path is no secret by itself, and without the cookie it opens nothing.
    assert!(!root.is_empty());
}

#[test]
fn a_person_merges_a_completed_run() {
    let workspace = Workspace::git().with_env("USER", "ann");
    let steps =
        "- [ ] **Step 1: Write it**\naction: write it\nloop: false\nverify: test -s out.txt\n";
    workspace.write("hotl-workflow-w.md", workflow("", steps));
    workspace.commit("Plan");
    let run = [
        "run",
        "hotl-workflow-w.md",
        "--mode",
        "worktree",
        "--agent-command",
        "echo hello > out.txt",
    ];
    workspace.onloop(&run).expect_exit(0);
    let listed = workspace.onloop(&["list", "--everywhere", "--json"]).expect_exit(0).stdout;
    let id = facts_of(&listed)[0]["run_id"].as_str().expect("it has an id").to_owned();
    let mut served = Served::start(&workspace, &[]);
    served.sign_in();
    let of_run = format!("/data/run/{id}");
    let facts = facts_of(&body(&served.get(&of_run)));
    assert_eq!(facts["run"]["actions"], json!(["merge", "pr", "discard"]));
    let unknown = served.submit(&format!("/run/{id}"), &[("action", "push")]);
    assert_eq!(unknown.status, 400);
    served.get(&of_run);
    let merged = served.submit(&format!("/run/{id}"), &[("action", "merge")]);
    assert_eq!(merged.status, 200, "{}", body(&merged));
    assert!(body(&merged).contains("Merged hotl/w into "), "{}", body(&merged));
    assert!(workspace.path("out.txt").exists());
    assert_eq!(facts_of(&body(&served.get(&of_run)))["run"]["actions"], json!([]));
}

#[test]
fn a_person_undoes_what_came_after_an_attempt() {
    let (workspace, id) = at_a_gate();
    let mut served = Served::start(&workspace, &[]);
    served.sign_in();
    let facts = facts_of(&body(&served.get(&format!("/data/run/{id}"))));
    assert_eq!(facts["run"]["actions"], json!(["approve", "redo", "reject", "undo"]));
    let folder = facts["run"]["card"]["folder"].as_str().expect("it works somewhere");
    let file = std::path::Path::new(folder).join("out.txt");
    std::fs::write(&file, "something else").expect("it is written");
    let undone = served.submit(&format!("/run/{id}"), &[("action", "undo"), ("to", "1-1")]);
    assert_eq!(undone.status, 200, "{}", body(&undone));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "hello\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_stops_a_run_and_resumes_it() {
    let workspace = Workspace::plain().with_env("ONLOOP_CONTINUE", "auto");
    let steps = "- [ ] **Step 1: Write it**\naction: write it\nloop: false\nverify: test -e go\n";
    workspace.write("hotl-workflow-w.md", workflow("", steps));
    let agent = "until test -e go; do sleep 0.05; done";
    let run = ["run", "hotl-workflow-w.md", "--mode", "none", "--detach", "--agent-command", agent];
    workspace.onloop(&run).expect_exit(0);
    let id = workspace.kept_ids().pop().expect("there is a run");
    let mut served = Served::start(&workspace, &[]);
    served.sign_in();
    let (of_run, action) = (format!("/data/run/{id}"), format!("/run/{id}"));
    let offers = |served: &mut Served, wanted: &[&str]| {
        eventually(|| {
            let facts = facts_of(&body(&served.get(&of_run)));
            (facts["run"]["actions"] == json!(wanted)).then_some(())
        });
    };
    offers(&mut served, &["stop"]);
    let stopped = served.submit(&action, &[("action", "stop")]);
    assert_eq!(stopped.status, 200, "{}", body(&stopped));
    offers(&mut served, &["resume"]);
    workspace.write("go", "");
    let resumed = served.submit(&action, &[("action", "resume")]);
    assert_eq!(resumed.status, 200, "{}", body(&resumed));
    assert!(body(&resumed).contains("The run continues in the background."), "{}", body(&resumed));
    offers(&mut served, &[]);
}

#[test]
fn a_browser_that_waits_is_told_within_moments() {
    let (workspace, id) = at_a_gate();
    let mut served = Served::start(&workspace, &[]);
    served.sign_in();
    served.get("/data");
    let call = served.browser.listen();
    let mut stream = TcpStream::connect(&served.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it has one");
    let cookie = call.header("cookie").expect("it is signed in");
    let host = &served.browser.host;
    let sent = format!("GET {} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n\r\n", call.target);
    stream.write_all(sent.as_bytes()).expect("it is sent");
    let mut events = BufReader::new(stream).lines();
    let mut next = |wanted: &str| events.any(|line| line.is_ok_and(|line| line.contains(wanted)));
    assert!(next("retry: 2000"));
    workspace.onloop(&["gate", "1", "approved", "--run-id", &id]).expect_exit(0);
    let since = Instant::now();
    assert!(next("event: changed"));
    // Without any notice it is looked at every fifteen seconds.
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn a_taken_port_is_said_and_so_is_what_is_no_address() {
    let workspace = Workspace::plain();
    let served = Served::start(&workspace, &[]);
    let port = served.browser.host.rsplit(':').next().expect("it has a port").to_owned();
    let second = workspace.onloop(&["web", "--port", &port]).expect_exit(4);
    let expected =
        format!("error: cannot listen on port {port} of 127.0.0.1: another program does\n");
    assert_eq!((second.stdout.as_str(), second.stderr), ("", expected));
    let wrong = workspace.onloop(&["web", "--proxy", "box.example"]).expect_exit(2);
    assert_eq!(
        wrong.stderr,
        "error: `box.example` is not an address such as https://NAME[:PORT]\n"
    );
}

#[test]
fn a_proxy_in_front_of_it_is_let_through_under_its_name_alone() {
    let workspace = Workspace::plain();
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = free.expect("a port is free").port().to_string();
    let mut served =
        Served::start(&workspace, &["--port", &port, "--proxy", "https://box.example/"]);
    assert_eq!(served.browser.host, "box.example");
    served.address = format!("127.0.0.1:{port}");
    let table = [("box.example", 200), ("evil.example", 403), ("box.example:444", 403)];
    for (host, expected) in table {
        let mut call = served.browser.enter();
        browser::set(&mut call, "host", host);
        assert_eq!(served.send(&call).status, expected, "{host}");
    }
    let call = served.browser.enter();
    served.send(&call);
    let mut call = served.browser.submit("/in", &[]);
    browser::set(&mut call, "origin", "https://box.example");
    let answer = served.send(&call);
    assert!(header(&answer, "set-cookie").is_some_and(|cookie| cookie.ends_with("; Secure")));
}

#[cfg(target_os = "linux")]
#[test]
fn open_gives_the_browser_a_file_of_our_own_and_never_the_link() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Workspace::plain();
    let opener = workspace.path("../bin/xdg-open");
    // It stays until its browser is closed, as some do.
    let script = "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n\
                  until test -e \"$HOME/close\"; do sleep 0.05; done\ntouch \"$HOME/closed\"\n";
    std::fs::write(&opener, script).expect("it is written");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    let mut served = Served::start(&workspace, &["--open"]);
    let read = |name: &str| std::fs::read_to_string(workspace.path(&format!("../home/{name}")));
    let opened = eventually(|| read("opened").ok().filter(|found| !found.is_empty()));
    assert!(!opened.contains("olw_"), "{opened}");
    let metadata = std::fs::metadata(&opened).expect("it is there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let page = std::fs::read_to_string(&opened).expect("it is ours");
    assert!(page.contains(&format!("http://{}/in/olw_", served.browser.host)), "{page}");
    served.sign_in();
    assert!(!std::path::Path::new(&opened).exists(), "it has done its work");
    let mut rest = String::new();
    let _ = served.child.kill();
    served.stdout.read_to_string(&mut rest).expect("it has ended");
    assert_eq!(rest, "");
    // The browser is the person's, and stays.
    std::fs::write(workspace.path("../home/close"), "").expect("it is written");
    eventually(|| read("closed").ok());
}

/// What is found at last.
#[cfg(target_os = "linux")]
fn eventually<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < until, "it was not found in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}
