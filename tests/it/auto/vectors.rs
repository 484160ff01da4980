//! Scenarios of the contract, played through `onloop auto rehearse`.

use std::collections::BTreeMap;

use onloop_core::effect::{Exit, Outcome, Reply, Request, Say, Start, Turn};
use onloop_core::engine::error::verb_program;
use onloop_core::time::Timestamp;
use onloop_core::verb::auto::{RehearseArgs, rehearse};
use serde_json::Value;

const VECTORS: &str = include_str!("../../vectors/auto.jsonl");

/// What `onloop auto rehearse` prints for `input`, given to it a few lines at a time.
pub(super) fn rehearsed(input: &str) -> Vec<Value> {
    let start = Start::example(["onloop", "auto", "rehearse"]);
    let args = RehearseArgs { file: "-".to_owned() };
    let mut program = verb_program(start, |io| rehearse(io, args));
    let lines: Vec<&str> = input.split_inclusive('\n').collect();
    let mut chunks = lines.chunks(3);
    let mut printed = String::new();
    let mut reply = None;
    loop {
        let outcome = match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                assert_eq!(exit, Exit::Done);
                break;
            }
            Turn::Request(Request::ReadInput { .. }) => {
                let bytes = chunks.next().map_or(Vec::new(), |lines| lines.concat().into());
                Outcome::Input { bytes: bytes.into() }
            }
            Turn::Request(Request::Say(Say::Result(text))) => {
                printed.push_str(&text);
                Outcome::Done
            }
            Turn::Request(other) => panic!("a rehearsal touches nothing real: {other:?}"),
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(outcome) });
    }
    printed.lines().map(|line| serde_json::from_str(line).expect("JSON Lines")).collect()
}

#[test]
fn every_scenario_ends_as_expected() {
    let expected: Vec<Value> =
        VECTORS.lines().map(|line| serde_json::from_str(line).expect("a vector")).collect();
    let found = rehearsed(VECTORS);
    assert_eq!(found.len(), expected.len());
    let mut wrong = Vec::new();
    let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
    for (vector, found) in expected.iter().zip(&found) {
        assert_eq!(vector["id"], found["id"]);
        let kind = if vector["ambiguous"] == true { "our reading" } else { "unambiguous" };
        *by_kind.entry(kind).or_default() += 1;
        let want = &vector["expected"];
        let same =
            ["lines", "dispatches", "lock_present"].iter().all(|key| want[*key] == found[*key]);
        if !same {
            wrong.push(format!(
                "{} ({kind}) {}\n  want {want}\n  got  {found}",
                vector["id"], vector["title"]
            ));
        }
    }
    eprintln!("scenarios: {by_kind:?}");
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), found.len(), wrong.join("\n"));
}

#[test]
fn an_invalid_scenario_does_not_stop_the_rest() {
    let input = "{\"id\":1}\nnot json\n\n{\"id\":\"x\",\"now\":\"noon\"}\n\
        {\"id\":2,\"now\":\"2026-02-24T01:00:00Z\",\"profile\":\"v9\"}\n\
        {\"id\":4,\"now\":\"2026-02-24T01:00:00Z\",\"tree\":{\"a\":{\"content\":\"\",\"mtime\":\"noon\"}}}\n\
        {\"id\":3,\"now\":\"2026-02-24T01:00:00Z\"}";
    let mut found = rehearsed(input);
    let last = found.pop().expect("an answer");
    let expected = [
        (Value::from(1), "missing field `now` at line 1 column 8"),
        (Value::Null, "expected ident at line 1 column 2"),
        (Value::from("x"), "found `noon` as `now`, expected an RFC 3339 time"),
        (Value::from(2), "found profile `v9`, expected `v1`, `v2`, `v3` or `route`"),
        (Value::from(4), "the `mtime` of an entry is not RFC 3339 at line 1 column 79"),
    ]
    .map(|(id, error)| serde_json::json!({ "id": id, "error": error }));
    assert_eq!(found, expected);
    assert_eq!(last["id"], 3);
    // An empty workspace, and the scenario has no child that could fill it.
    assert_eq!(
        last["lines"],
        serde_json::json!([
            "AUTO_RECOVERY_CONTEXT_BOOTSTRAP",
            "AUTO_CYCLE=1",
            "AUTO_ROUTE_TARGET=rw-planner",
            "AUTO_SUBAGENT_RESULT_INVALID",
            "NEXT_COMMAND=rw-auto"
        ])
    );
}
