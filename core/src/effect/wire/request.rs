//! [`Request`] as hosts receive it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Attachment, attach};
use crate::effect::{
    Command, Durability, Expect, GitRequest, HttpSpec, ProcessSpec, Request, Say, Version,
};

#[derive(Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Document {
    Read { path: String, limit_bytes: u64 },
    ReadTail { path: String, limit_bytes: u64 },
    Write { path: String, bytes: Attachment, expect: ExpectDocument, durable: bool },
    Append { path: String, bytes: Attachment, expect_len_bytes: u64, unchanged: Unchanged },
    Patch { path: String, offset_bytes: u64, old: Attachment, new: Attachment },
    Remove { path: String },
    List { path: String },
    Stat { path: String },
    Canonical { path: String },
    Lock { path: String, wait_ms: u64 },
    Unlock { path: String },
    Process(ProcessDocument),
    Wait { wake_after_ms: Option<u64>, wake_on_input: bool },
    End,
    Git(GitDocument),
    Http(HttpDocument),
    ReadInput { limit_bytes: u64, wait_ms: Option<u64> },
    Ask { question: String },
    Sleep { duration_ms: u64 },
    Say { to: &'static str, text: String },
}

/// `"any"`, `"absent"` or `{"version": "…"}`.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExpectDocument {
    Any,
    Absent,
    Version(String),
}

#[derive(Serialize)]
pub(super) struct Unchanged {
    path: String,
    version: String,
}

#[derive(Serialize)]
pub(super) struct ProcessDocument {
    command: CommandDocument,
    cwd: String,
    env_remove: Vec<String>,
    /// In the order of the names; a later value for a name replaces an earlier one.
    env_set: BTreeMap<String, String>,
    stdin: Option<Attachment>,
    timeout_ms: Option<u64>,
    capture_bytes: usize,
    stream_to: Option<String>,
    label: Option<String>,
    interactive: bool,
    wake_after_ms: Option<u64>,
    wake_on_input: bool,
}

/// `{"argv": […]}` or `{"shell": "bash", "line": "…"}`.
#[derive(Serialize)]
#[serde(untagged)]
enum CommandDocument {
    Argv { argv: Vec<String> },
    Shell { shell: &'static str, line: String },
}

#[derive(Serialize)]
pub(super) struct HttpDocument {
    method: &'static str,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<Attachment>,
    timeout_ms: u64,
    limit_bytes: u64,
}

#[derive(Serialize)]
#[serde(tag = "git", rename_all = "snake_case")]
pub(super) enum GitDocument {
    Survey { cwd: String, branch: String },
    Worktrees { cwd: String },
    Head { cwd: String },
    CreateWorktree { cwd: String, path: String, branch: String, create_at: Option<String> },
    RemoveWorktree { cwd: String, path: String },
    Switch { cwd: String, branch: String, create: bool },
    DeleteBranch { cwd: String, branch: String },
    MergeBase { cwd: String, commit: String, branch: String },
    RemoteBranch { cwd: String, remote: String, branch: String },
    Merge { cwd: String, branch: String, commit: String, into: String },
    Push { cwd: String, remote: String, branch: String },
    Stash { cwd: String, message: String, paths: Vec<String> },
}

pub(super) fn to_document(request: Request, attachments: &mut Vec<Vec<u8>>) -> Document {
    match request {
        Request::Read { path, limit_bytes } => Document::Read { path, limit_bytes },
        Request::ReadTail { path, limit_bytes } => Document::ReadTail { path, limit_bytes },
        Request::Write { path, bytes, expect, durability } => Document::Write {
            path,
            bytes: attach(attachments, bytes),
            expect: match expect {
                Expect::Any => ExpectDocument::Any,
                Expect::Absent => ExpectDocument::Absent,
                Expect::Version(Version(version)) => ExpectDocument::Version(version),
            },
            durable: match durability {
                Durability::Durable => true,
                Durability::Relaxed => false,
            },
        },
        Request::Append { path, bytes, expect_len_bytes, unchanged: (guard, version) } => {
            Document::Append {
                path,
                bytes: attach(attachments, bytes),
                expect_len_bytes,
                unchanged: Unchanged { path: guard, version: version.0 },
            }
        }
        Request::Patch { path, offset_bytes, old, new } => Document::Patch {
            path,
            offset_bytes,
            old: attach(attachments, old),
            new: attach(attachments, new),
        },
        Request::Remove { path } => Document::Remove { path },
        Request::List { path } => Document::List { path },
        Request::Stat { path } => Document::Stat { path },
        Request::Canonical { path } => Document::Canonical { path },
        Request::Lock { path, wait_ms } => Document::Lock { path, wait_ms },
        Request::Unlock { path } => Document::Unlock { path },
        Request::Process(spec) => Document::Process(process(spec, attachments)),
        Request::Wait { wake_after_ms, wake_on_input } => {
            Document::Wait { wake_after_ms, wake_on_input }
        }
        Request::End => Document::End,
        Request::Git(request) => Document::Git(git(request)),
        Request::Http(spec) => Document::Http(http(spec, attachments)),
        Request::ReadInput { limit_bytes, wait_ms } => Document::ReadInput { limit_bytes, wait_ms },
        Request::Ask { question } => Document::Ask { question },
        Request::Sleep { duration_ms } => Document::Sleep { duration_ms },
        Request::Say(Say::Result(text)) => Document::Say { to: "result", text },
        Request::Say(Say::Note(text)) => Document::Say { to: "note", text },
    }
}

fn process(spec: ProcessSpec, attachments: &mut Vec<Vec<u8>>) -> ProcessDocument {
    ProcessDocument {
        command: match spec.command {
            Command::Argv(argv) => CommandDocument::Argv { argv },
            Command::Shell { shell, line } => {
                CommandDocument::Shell { shell: shell.as_str(), line }
            }
        },
        cwd: spec.cwd,
        env_remove: spec.env_remove,
        env_set: spec.env_set,
        stdin: spec.stdin.map(|bytes| attach(attachments, bytes)),
        timeout_ms: spec.timeout_ms,
        capture_bytes: spec.capture_bytes,
        stream_to: spec.stream_to,
        label: spec.label,
        interactive: spec.interactive,
        wake_after_ms: spec.wake_after_ms,
        wake_on_input: spec.wake_on_input,
    }
}

fn http(spec: HttpSpec, attachments: &mut Vec<Vec<u8>>) -> HttpDocument {
    let HttpSpec { method, url, headers, body, timeout_ms, limit_bytes } = spec;
    HttpDocument {
        method: method.as_str(),
        url,
        headers,
        body: body.map(|bytes| attach(attachments, bytes)),
        timeout_ms,
        limit_bytes,
    }
}

fn git(request: GitRequest) -> GitDocument {
    match request {
        GitRequest::Survey { cwd, branch } => GitDocument::Survey { cwd, branch },
        GitRequest::Worktrees { cwd } => GitDocument::Worktrees { cwd },
        GitRequest::Head { cwd } => GitDocument::Head { cwd },
        GitRequest::CreateWorktree { cwd, path, branch, create_at } => {
            GitDocument::CreateWorktree { cwd, path, branch, create_at }
        }
        GitRequest::RemoveWorktree { cwd, path } => GitDocument::RemoveWorktree { cwd, path },
        GitRequest::Switch { cwd, branch, create } => GitDocument::Switch { cwd, branch, create },
        GitRequest::DeleteBranch { cwd, branch } => GitDocument::DeleteBranch { cwd, branch },
        GitRequest::MergeBase { cwd, commit, branch } => {
            GitDocument::MergeBase { cwd, commit, branch }
        }
        GitRequest::RemoteBranch { cwd, remote, branch } => {
            GitDocument::RemoteBranch { cwd, remote, branch }
        }
        GitRequest::Merge { cwd, branch, commit, into } => {
            GitDocument::Merge { cwd, branch, commit, into }
        }
        GitRequest::Push { cwd, remote, branch } => GitDocument::Push { cwd, remote, branch },
        GitRequest::Stash { cwd, message, paths } => GitDocument::Stash { cwd, message, paths },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::wire::{Message, write_turn};
    use crate::effect::{HttpMethod, Shell, Turn};

    fn spec(command: Command) -> ProcessSpec {
        ProcessSpec {
            command,
            cwd: ".".to_owned(),
            env_remove: vec!["A".to_owned()],
            env_set: BTreeMap::from([("B".to_owned(), "2".to_owned())]),
            stdin: Some(b"in".to_vec()),
            timeout_ms: None,
            capture_bytes: 10,
            stream_to: None,
            label: Some("l".to_owned()),
            interactive: false,
            wake_after_ms: None,
            wake_on_input: false,
        }
    }

    #[test]
    fn every_request_has_its_document() {
        let text = |text: &str| text.to_owned();
        let survey = GitRequest::Survey { cwd: text("/w"), branch: text("b") };
        let argv = Command::Argv(vec![text("ls")]);
        let line = Command::Shell { shell: Shell::Bash, line: text("true") };
        let rest = r#""cwd":".","env_remove":["A"],"env_set":{"B":"2"},"stdin":0,"timeout_ms":null,"capture_bytes":10,"stream_to":null,"label":"l","interactive":false,"wake_after_ms":null,"wake_on_input":false"#;
        let append = Request::Append {
            path: text("j"),
            bytes: b"x".to_vec(),
            expect_len_bytes: 4,
            unchanged: (text("r"), Version(text("v"))),
        };
        let patch = Request::Patch {
            path: text("p"),
            offset_bytes: 3,
            old: b" ".to_vec(),
            new: b"x".to_vec(),
        };
        let http = HttpSpec {
            method: HttpMethod::Post,
            url: text("https://h/p"),
            headers: vec![(text("a"), text("b"))],
            body: Some(b"q".to_vec()),
            timeout_ms: 9,
            limit_bytes: 8,
        };
        let table: [(Request, String, &[&[u8]]); 10] = [
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
                    r#"{"do":"append","path":"j","bytes":0,"expect_len_bytes":4,"unchanged":{"path":"r","version":"v"}}"#,
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
            (
                Request::Git(survey),
                text(r#"{"do":"git","git":"survey","cwd":"/w","branch":"b"}"#),
                &[],
            ),
            (
                Request::Say(Say::Note(text("hi\n"))),
                text(r#"{"do":"say","to":"note","text":"hi\n"}"#),
                &[],
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
}
