//! Signed receipts: made, kept beside the commit, and verified by us and by others.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::Finished;

/// Verifies with the cryptography of Node, which shares nothing with ours, and prints what is signed.
const VERIFIER: &str = "
const { createPublicKey, verify } = require('node:crypto');
const { readFileSync } = require('node:fs');
const [file, key] = process.argv.slice(1);
const envelope = JSON.parse(readFileSync(file, 'utf8'));
const payload = Buffer.from(envelope.payload, 'base64');
const type = envelope.payloadType;
const signed = Buffer.concat([
  Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload,
]);
const sig = Buffer.from(envelope.signatures[0].sig, 'base64');
if (!verify(null, signed, createPublicKey(readFileSync(key)), sig)) process.exit(3);
process.stdout.write(payload);
";

fn by_others(file: &Path, key: &Path) -> (Option<i32>, Vec<u8>) {
    let done = Command::new("node")
        .args(["--eval", VERIFIER])
        .args([file, key])
        .stderr(Stdio::inherit())
        .output()
        .expect("`./test` needs Node");
    (done.status.code(), done.stdout)
}

/// What a receipt states, once others have verified it.
pub(crate) fn statement_of(file: &Path, key: &Path) -> Value {
    let (exit, payload) = by_others(file, key);
    assert_eq!(exit, Some(0));
    serde_json::from_slice(&payload).unwrap()
}

#[test]
fn a_receipt_is_signed_and_others_can_verify_it_without_our_state() {
    let run = Finished::new("worktree");
    let workspace = &run.workspace;
    let (id, file, key) = (&run.id, workspace.path("../x.dsse"), workspace.path("../onloop.pub"));
    let printed = workspace.onloop(&["receipt", "key"]).expect_exit(0).stdout;
    assert!(printed.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{printed}");
    fs::write(&key, &printed).unwrap();
    run.done(&["merge"]);
    let words = ["receipt", id, "--format", "intoto", "--out", "../x.dsse"];
    let said = workspace.onloop(&words).expect_exit(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let statement = statement_of(&file, &key);
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    let merged = workspace.git_says(&["rev-parse", "main^2"]);
    assert_eq!(statement["subject"][0]["digest"], json!({ "gitCommit": merged }));
    let predicate = &statement["predicate"];
    assert_eq!(predicate["passedTests"], json!(["step 1, check 1"]));
    assert_eq!(predicate["onloop"]["checks"][0]["exit_code"], 0);
    // It is kept beside the commit.
    let note = workspace.git_says(&["notes", "--ref", "onloop", "show", &merged]);
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), note);
    let verified = workspace.onloop(&["receipt", "verify", "../x.dsse"]).expect_exit(0).stdout;
    assert!(verified.starts_with(&format!("ok: it is as it was signed\n  run      {id}\n")));
    // The key is for its owner, and in nothing that is said.
    let private = fs::read_to_string(workspace.path("../state/receipt-key.pem"));
    let private = private.or_else(|_| {
        let state = workspace.kept(id, "ledger.jsonl");
        fs::read_to_string(state.ancestors().nth(3).unwrap().join("receipt-key.pem"))
    });
    let private = private.unwrap();
    let body = private.lines().nth(1).unwrap();
    assert!(!printed.contains(body) && !verified.contains(body));
    // Whoever has nothing but the file and the public key.
    let stranger = run.workspace.with_env("ONLOOP_STATE_HOME", "/nonexistent/state");
    let words = ["receipt", "verify", "../x.dsse", "--key", "../onloop.pub"];
    stranger.onloop(&words).expect_exit(0);
    let said = stranger.onloop(&words[..3]).expect_exit(1).stderr;
    assert!(crate::flat(&said).contains("there is no key here to verify it with"), "{said}");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("payload\":\"e", "payload\":\"f", 1)).unwrap();
    let said = stranger.onloop(&words).expect_exit(1).stderr;
    let expected = "error: the receipt `../x.dsse` was not verified\n  cause: the signature does not \
                    fit: it was changed after it was signed\n";
    assert_eq!(said, expected);
    assert_eq!(by_others(&file, &key).0, Some(3));
}

#[test]
fn nothing_is_signed_that_is_not_done_or_in_a_trace() {
    let blocked = super::WORKFLOW.replace("test -f work.txt", "test -f other.txt");
    let run = Finished::of("worktree", &blocked, 1);
    let words = ["receipt", &run.id, "--format", "intoto"];
    let said = run.workspace.onloop(&words).expect_exit(4).stderr;
    assert_eq!(said, format!("error: run `{}`: it is not completed\n", run.id));
    let run = Finished::new("worktree");
    let id = run.id.clone();
    let traced = run.workspace.with_env("ONLOOP_TRACE", "../trace.jsonl");
    let said = traced.onloop(&["receipt", &id, "--format", "intoto"]).expect_exit(4).stderr;
    let expected = "no key is made while a trace is written; try again without ONLOOP_TRACE\n";
    assert!(said.ends_with(expected), "{said}");
}
