//! `onloop lsp` as a process: with an editor that we did not write, and with what none should send.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::confine::has;
use crate::workspace::{Workspace, program, source_root};

const URI: &str = "file:///srv/repo/hotl-workflow-a.md";

/// The server, and a client that writes and reads messages.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
}

impl Server {
    fn start(workspace: &Workspace) -> Server {
        let mut command = workspace.command_at(".", program());
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        Server { child, stdin, stdout }
    }

    fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(&framed(message));
    }

    /// The next message.
    fn read(&mut self) -> Value {
        let mut header = Vec::new();
        while !header.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stdout.read_exact(&mut byte).unwrap();
            header.push(byte[0]);
        }
        let header = String::from_utf8(header).unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").expect(&header);
        let mut body = vec![0; length.parse().unwrap()];
        self.stdout.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Ends the input, and returns the exit code, what was said and what was noted.
    fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let (mut said, mut noted) = (String::new(), String::new());
        self.stdout.read_to_string(&mut said).unwrap();
        let code = self.child.wait().unwrap().code();
        self.child.stderr.take().unwrap().read_to_string(&mut noted).unwrap();
        (code, said, noted)
    }
}

fn framed(message: &Value) -> Vec<u8> {
    let message = message.to_string();
    format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes()
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn open(text: &str) -> Value {
    let document = json!({ "uri": URI, "version": 1, "languageId": "markdown", "text": text });
    notification("textDocument/didOpen", json!({ "textDocument": document }))
}

#[test]
fn a_conversation_may_come_byte_by_byte() {
    let workspace = Workspace::plain();
    let mut server = Server::start(&workspace);
    let hello = request(1, "initialize", json!({ "capabilities": {} }));
    for byte in framed(&hello) {
        server.write(&[byte]);
    }
    assert_eq!(server.read()["result"]["serverInfo"]["name"], "onloop");
    server.send(&open("---\nintent: 😀\n---\n"));
    let findings = server.read();
    assert_eq!(findings["params"]["version"], 1);
    assert_eq!(findings["params"]["diagnostics"].as_array().map(Vec::len), Some(3));
    server.send(&request(2, "shutdown", Value::Null));
    assert_eq!(server.read()["id"], 2);
    server.send(&notification("exit", Value::Null));
    assert_eq!(server.end(), (Some(0), String::new(), String::new()));
}

#[test]
fn many_changes_at_once_are_answered_once() {
    let workspace = Workspace::plain();
    let mut server = Server::start(&workspace);
    let mut all = framed(&request(1, "initialize", json!({ "capabilities": {} })));
    all.extend(framed(&open("---\n")));
    for version in 2..500 {
        let document = json!({ "uri": URI, "version": version });
        let change = json!({ "text": format!("---\nintent: {version}\n---\n") });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        all.extend(framed(&notification("textDocument/didChange", params)));
    }
    server.write(&all);
    assert_eq!(server.read()["id"], 1);
    let mut count = 0;
    loop {
        let findings = server.read();
        count += 1;
        if findings["params"]["version"] == 499 {
            break;
        }
    }
    // The pipe may give the flood in a few pieces.
    assert!(count < 100, "{count} messages for 499 texts");
    let (code, said, _) = server.end();
    assert_eq!((code, said.as_str()), (Some(1), ""), "the editor is gone without a word");
}

#[test]
fn broken_frames_end_the_conversation_and_wrong_ones_do_not() {
    let workspace = Workspace::plain();
    let broken = [
        ("Content-Length: -5\r\n\r\n", "`Content-Length` is `-5`; expected a number of bytes"),
        ("{}\n\n", "`{}` is not a header line"),
        ("Content-Type: x\r\n\r\n{}", "the header has no `Content-Length`"),
    ];
    for (bytes, why) in broken {
        let mut server = Server::start(&workspace);
        server.write(bytes.as_bytes());
        assert_eq!(server.read()["error"]["message"], why);
        let expected = format!("error: the conversation with the editor ended\n  cause: {why}\n");
        assert_eq!(server.end(), (Some(1), String::new(), expected));
    }
    let mut server = Server::start(&workspace);
    let length = 17 * 1024 * 1024;
    server.write(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    let answer = server.read();
    assert_eq!(answer["error"]["message"], "the message has 17825792 bytes; the limit is 16777216");
    server.write(&vec![b'['; length]);
    let deep = "[".repeat(1_000_000);
    server.write(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert_eq!(server.read()["error"]["code"], -32700);
    server.write(b"Content-Length: 2\r\n\r\n\xff\xfe");
    assert_eq!(server.read()["error"]["message"], "the message cannot be read: it is not UTF-8");
    server.send(&request(1, "initialize", Value::Null));
    assert_eq!(server.read()["id"], 1);
}

const MESSY: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n\
    - [ ] **Step 1: One**\naction: before step 2\nloop: sometimes\n\n\
    - [ ] **Step 2: Two**\n  Action:  after step 1\n  loop:   false\n  gate: boss\n";

#[test]
fn neovim_shows_findings_and_applies_what_is_offered() {
    assert!(has("nvim"), "Neovim is not on PATH; `./test test` installs it as root");
    let workspace = Workspace::plain();
    workspace.write("hotl-workflow-a.md", MESSY);
    let report = workspace.path("report.json");
    let script = source_root().join("tests/it/lsp/neovim.lua");
    let mut command: Command = workspace.command_at(".", "nvim");
    command.args(["--headless", "-n", "-u", "NONE", "-i", "NONE", "-c"]);
    command.arg(format!("luafile {}", script.display()));
    command.env("ONLOOP", program()).env("REPORT", &report).env("WORKFLOW", "hotl-workflow-a.md");
    let output = command.output().unwrap();
    let seen = std::fs::read_to_string(&report)
        .unwrap_or_else(|_| panic!("no report: {}", String::from_utf8_lossy(&output.stderr)));
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let text = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n\
        - [ ] **Step 1: Two**\naction: after step 2\nloop: false\ngate: human\n\n\
        - [ ] **Step 2: One**\naction: before step 1\nloop: false\nverify: make\n";
    let expected = json!({
        "findings": ["invalid-gate", "invalid-loop"],
        "after_typing": ["invalid-gate"],
        "hover": "**`action`** (field of a step)",
        "completion": ["human", "auto"],
        "symbols": ["Frontmatter", "Step 1: One", "Step 2: Two"],
        "folds": 3,
        "fix": "Write `human`",
        "text": text.trim_end(),
        "clean": true,
        "exit": 0,
    });
    assert_eq!(seen, expected, "{seen:#}");
}
