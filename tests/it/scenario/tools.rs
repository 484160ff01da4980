//! A conversation with `onloop mcp` on a machine that loses power, and with somebody who
//! interrupts.

use onloop_core::effect::Exit;
use onloop_tests::{Ended, Moment, PowerLoss, SimHost, SimProcess};
use serde_json::{Value, json};

use crate::rounds::sampled;

use super::{
    act, assert_finished_well, assert_nothing_said_was_lost, assert_unlocked, carry_on, machine,
    records,
};

const MCP: &[&str] = &["onloop", "mcp"];

/// What the client of an agent writes that has worked.
const SAID: &str = concat!(
    r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m"}"#,
    "\n",
    r#"{"type":"result","is_error":false,"terminal_reason":"completed","uuid":"r-1"}"#,
    "\n",
);

/// A machine on which a client wants a run, looks at it, and proposes to approve its gate.
fn machine_with_a_client() -> SimHost {
    let mut machine = machine();
    machine.env.insert("PATH".to_owned(), "/bin".to_owned());
    machine.disk.put_executable("/bin/claude", "");
    machine.on("claude --version", |_, _| SimProcess::exit(0, "3.0.0\n"));
    machine.on("claude -p", |disk, spec| {
        let acted = act(disk, spec);
        SimProcess { stdout: SAID.into(), ..acted }
    });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": 1 } });
    let messages = [
        ("initialize", hello),
        ("tools/call", call("run", json!({ "agent": "claude", "mode": "none" }))),
        ("tools/call", call("status", json!({}))),
        ("tools/call", call("gate", json!({ "step": 2, "decision": "approved" }))),
    ];
    for (id, (method, params)) in messages.into_iter().enumerate() {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        machine.input.extend_from_slice(format!("{message}\n").as_bytes());
    }
    machine
}

/// What was said, without the envelope.
fn said(machine: &SimHost) -> Vec<Value> {
    let results = machine.results();
    results.lines().map(|line| serde_json::from_str(line).expect("only messages")).collect()
}

/// Whoever heard that a step is done, or has begun, finds that in the record.
fn assert_progress_is_durable(machine: &SimHost, about: &str) {
    let logged = |part: &str| {
        let events = records(machine).into_iter().map(|record| record["events"].to_string());
        events.into_iter().any(|events| events.contains(part))
    };
    for message in said(machine) {
        let words = message["params"]["message"].as_str().unwrap_or_default();
        if let Some(step) = words.strip_prefix("✓ ").or_else(|| words.strip_prefix("→ ")) {
            assert!(logged(step), "{about}: `{words}` was lost");
        }
    }
}

#[test]
fn a_conversation_comes_to_its_end() {
    let mut machine = machine_with_a_client();
    assert_eq!(machine.run(MCP), Ended::Exit(Exit::Done));
    let said = said(&machine);
    let outcomes: Vec<(u64, &str)> = said
        .iter()
        .filter_map(|message| {
            let outcome = message["result"]["structuredContent"]["outcome"].as_str()?;
            Some((message["id"].as_u64()?, outcome))
        })
        .collect();
    // The run waits for a person, and nobody else decides; what came later was answered
    // while the run went on, when there was no gate yet.
    assert!(outcomes.contains(&(1, "paused")), "{outcomes:?}");
    assert!(outcomes.contains(&(2, "done")), "{outcomes:?}");
    assert!(!outcomes.contains(&(3, "done")), "{outcomes:?}");
    assert_unlocked(&machine, "undisturbed");
    assert_progress_is_durable(&machine, "undisturbed");
    carry_on(&mut machine);
    assert_finished_well(&machine, "undisturbed");
}

#[test]
fn a_run_of_a_client_survives_a_power_cut_at_every_moment() {
    let mut whole = machine_with_a_client();
    whole.run(MCP);
    let length = whole.requests.len();
    assert!(length > 60, "the conversation is long enough to be interesting: {length}");
    let losses = (0..length)
        .flat_map(|at_request| [false, true].map(|lose_relaxed| (at_request, lose_relaxed)));
    for (at_request, lose_relaxed) in sampled(23, losses) {
        let loss = PowerLoss { at_request, moment: Moment::After, lose_relaxed };
        let about = format!("{loss:?}");
        let mut machine = machine_with_a_client();
        machine.lose_power(loss);
        assert_eq!(machine.run(MCP), Ended::PowerCut, "{about}");
        assert_progress_is_durable(&machine, &about);
        carry_on(&mut machine);
        assert_finished_well(&machine, &about);
        assert_nothing_said_was_lost(&machine, &about);
    }
}

#[test]
fn an_interrupt_at_any_moment_leaves_a_run_that_goes_on() {
    let mut whole = machine_with_a_client();
    whole.run(MCP);
    for at_request in sampled(17, 0..whole.requests.len()) {
        let about = format!("interrupted at {at_request}");
        let mut machine = machine_with_a_client();
        machine.interrupt_at(at_request);
        let ended = machine.run(MCP);
        assert!(matches!(ended, Ended::Exit(Exit::Done | Exit::Interrupted)), "{about}: {ended:?}");
        assert_unlocked(&machine, &about);
        carry_on(&mut machine);
        assert_finished_well(&machine, &about);
    }
}
