//! How long an editor waits for `onloop lsp` while somebody types in a workflow of 2,000 lines: a
//! change, the findings, and what editors ask for after each key. The goal is one frame, 16 ms.

mod measured;

use std::hint::black_box;
use std::time::{Duration, Instant};

use divan::Bencher;
use measured::assert_near_goal;
use onloop_core::lsp::{Conversation, Handled};
use serde_json::{Value, json};

const GOAL: Duration = Duration::from_millis(16);
const URI: &str = "file:///srv/repo/hotl-workflow-a.md";
const LINES: usize = 2000;

fn main() {
    divan::main();
    report();
}

/// A workflow of [`LINES`] lines.
fn text() -> String {
    let mut text = String::from(
        "---\nintent: Replace the session store\nsuccess_criteria: Sessions survive a restart\n\
         risk_level: medium\n---\n",
    );
    for number in 1.. {
        let action = "Update `src/store.rs` and its callers so that reads go through the cache; as in step 1.";
        let step = format!(
            "\n- [ ] **Step {number}: Move part {number} behind the cache**\naction: {action}\n\
             loop: until the tests pass\nverify:\n  - cargo test -p store\n  - type: artifact\n    \
             path: docs/store.md\n    assert:\n      kind: exists\n"
        );
        if text.lines().count() + step.lines().count() > LINES {
            return text;
        }
        text.push_str(&step);
    }
    text
}

/// A conversation in which the workflow is open.
fn conversation() -> Conversation {
    let mut conversation = Conversation::default();
    let document = json!({ "uri": URI, "version": 1, "text": text() });
    say(&mut conversation, 1, "initialize", json!({ "capabilities": {} }));
    tell(&mut conversation, "textDocument/didOpen", json!({ "textDocument": document }));
    conversation.settle();
    conversation
}

fn say(conversation: &mut Conversation, id: u64, method: &str, params: Value) -> Option<Handled> {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    conversation.receive(message.to_string().as_bytes());
    conversation.handle_next()
}

fn tell(conversation: &mut Conversation, method: &str, params: Value) {
    let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    conversation.receive(message.to_string().as_bytes());
    conversation.handle_next();
}

/// A key in the action of a step in the middle.
fn change(conversation: &mut Conversation, version: u64) {
    let at = json!({ "line": 1007, "character": 12 });
    let change = json!({ "range": { "start": at, "end": at }, "text": "x" });
    let document = json!({ "uri": URI, "version": version });
    let params = json!({ "textDocument": document, "contentChanges": [change] });
    tell(conversation, "textDocument/didChange", params);
}

/// One key, its findings, and everything that is asked about the new text.
fn key(conversation: &mut Conversation, version: u64) {
    change(conversation, version);
    black_box(conversation.settle());
    ask_everything(conversation);
}

fn ask_everything(conversation: &mut Conversation) {
    let document = json!({ "uri": URI });
    let range = json!({ "start": { "line": 1007, "character": 0 }, "end": { "line": 1007, "character": 1 } });
    for (id, method) in [
        "textDocument/completion",
        "textDocument/hover",
        "textDocument/documentSymbol",
        "textDocument/foldingRange",
        "textDocument/semanticTokens/full",
        "textDocument/codeAction",
        "textDocument/documentLink",
    ]
    .into_iter()
    .enumerate()
    {
        let params = json!({
            "textDocument": document,
            "position": { "line": 1007, "character": 13 },
            "range": range,
            "context": { "diagnostics": [] },
        });
        black_box(say(conversation, id as u64 + 10, method, params));
    }
}

#[divan::bench]
fn a_change_and_its_findings(bencher: Bencher<'_, '_>) {
    let mut conversation = conversation();
    bencher.bench_local(|| {
        change(&mut conversation, 2);
        black_box(conversation.settle())
    });
}

#[divan::bench]
fn a_key_and_all_questions(bencher: Bencher<'_, '_>) {
    let mut conversation = conversation();
    bencher.bench_local(|| key(&mut conversation, 2));
}

#[divan::bench]
fn formatting(bencher: Bencher<'_, '_>) {
    let mut conversation = conversation();
    let params = json!({ "textDocument": { "uri": URI }, "options": {} });
    bencher.bench_local(|| {
        black_box(say(&mut conversation, 9, "textDocument/formatting", params.clone()))
    });
}

/// Prints the slowest of many keys beside the goal.
fn report() {
    let mut conversation = conversation();
    let slowest = (0..200)
        .map(|version| {
            let start = Instant::now();
            key(&mut conversation, version + 2);
            start.elapsed()
        })
        .max()
        .unwrap_or_default();
    println!("the slowest of 200 keys: {slowest:?}, goal {GOAL:?}");
    assert_near_goal("seconds of the slowest key", slowest.as_secs_f64(), GOAL.as_secs_f64());
}
