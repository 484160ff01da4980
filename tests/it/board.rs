//! What screens show of a machine: the same however often and from whenever somebody looks, and
//! cheap where nothing has changed.

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::documents::board::{Board, RunState, RunView};
use onloop_core::effect::{Exit, Program, Request};
use onloop_core::engine::board::ChangeWatcher;
use onloop_tests::{Ended, SimHost, SimProcess};

use crate::run::workflow;

const FILE: &str = "/demo/hotl-workflow-w.md";
const RUN: &[&str] = &["onloop", "run", FILE, "--mode", "none", "--agent-command", "the-agent"];
const STEPS: &str = "\
- [ ] **Step 1: Build \u{1b}[31mit\u{202e}**
action: build it
loop: false
verify: check-built

- [ ] **Step 2: Ship**
action: ship it
loop: false
verify: check-shipped
gate: human
";

fn machine() -> SimHost {
    let mut machine = SimHost::new();
    machine.disk.put(FILE, workflow("", STEPS));
    for line in ["the-agent", "check-built", "check-shipped"] {
        machine.on(line, move |_, _| SimProcess::exit(0, "did \u{1b}]0;it\u{7} all\u{202e}\n"));
    }
    machine
}

/// Looks at the machine, and at the run `id`.
fn look(
    machine: &mut SimHost,
    watcher: &Rc<RefCell<ChangeWatcher>>,
    id: &str,
) -> (Board, Option<RunView>) {
    let seen = Rc::new(RefCell::new(None));
    let (by, to, id) = (watcher.clone(), seen.clone(), id.to_owned());
    let program = Program::new(machine.start(&["look"]), |io| async move {
        let mut watcher = by.take();
        let board = watcher.look(&io).await;
        let view = watcher.run(&io, &id).await;
        *by.borrow_mut() = watcher;
        *to.borrow_mut() = Some((board, view));
        Exit::Done
    });
    assert_eq!(machine.run_program(program), Ended::Exit(Exit::Done));
    seen.take().expect("it has looked")
}

fn only_id(machine: &mut SimHost) -> String {
    let (board, _) = look(machine, &Rc::default(), "");
    board.runs[0].id.clone()
}

/// Ledgers that were read, whole or in part, since the machine had done `since` requests.
fn ledgers_read(machine: &SimHost, since: usize) -> Vec<u64> {
    let size = |request: &Request| match request {
        Request::Read { path, limit_bytes } | Request::ReadTail { path, limit_bytes }
            if path.ends_with("/ledger.jsonl") =>
        {
            Some(*limit_bytes)
        }
        _ => None,
    };
    machine.requests[since..].iter().filter_map(size).collect()
}

#[test]
fn a_run_at_its_gate_waits_with_the_facts() {
    let mut machine = machine();
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&mut machine);
    let (board, view) = look(&mut machine, &Rc::default(), &id);
    let view = view.expect("it is there");
    let [card] = &board.runs[..] else { panic!("{board:?}") };
    assert_eq!(view.card, *card);
    assert_eq!(card.state, RunState::Waits);
    assert_eq!(card.now, "the gate of step 2 waits for you");
    assert_eq!((card.step, card.steps, card.done, card.attempts), (2, 2, 1, 2));
    assert_eq!((card.folder.as_str(), card.agent.as_deref()), ("/demo", Some("command line")));
    let choice = view.choice.expect("something is asked");
    assert_eq!((choice.step, choice.is_gate, choice.type_name), (Some(2), true, None));
    let facts = view.facts.expect("a gate has facts");
    // The very words of a terminal.
    let text = facts.text.trim_end();
    assert!(machine.notes().contains(text), "{text}\n{}", machine.notes());
    assert_eq!(facts.checks[0].result, "passed");
    let steps: Vec<_> = view.steps.iter().map(|s| (s.symbol, s.name.as_str())).collect();
    assert_eq!(steps, [("✓", "Build it"), ("⏸", "Ship")]);
    assert_eq!(view.log, ["did  all"]);
    assert_eq!(view.commands[0], format!("onloop gate 2 approved --run-id {id}"));
    let json = serde_json::to_string(&(&board, &view.steps)).expect("plain values");
    assert!(json.starts_with(r#"[{"schema":"onloop.board/v1","at":"2026-"#), "{json}");
    assert!(json.contains(r#""state":"waits","news":"waits""#), "{json}");
    assert!(!json.contains("\\u"), "{json}");
}

#[test]
fn a_killed_rw_auto_is_on_the_board() {
    let mut machine = machine();
    let note = r#"{"run":"rw-1","folder":"/demo\n","target":"rw-loop","cycle":2,
        "since":"2026-03-20T09:00:00Z","host":"example","group":null}"#;
    machine.disk.put("/state/auto/a.json", note);
    machine.disk.put("/state/auto/b.json", "not a note");
    let (board, _) = look(&mut machine, &Rc::default(), "");
    let [auto] = &board.autos[..] else { panic!("{board:?}") };
    assert_eq!((auto.id.as_str(), auto.state), ("rw-1", RunState::Interrupted));
    assert_eq!(auto.now, "its process is gone; it waited for rw-loop in cycle 2");
    assert!(auto.folder.starts_with("/demo") && !auto.folder.contains('\n'), "{}", auto.folder);
    assert_eq!(auto.stop, "onloop stop rw-1");
}

#[test]
fn whoever_has_looked_before_sees_what_a_newcomer_sees() {
    let mut machine = machine();
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&mut machine);
    let watcher: Rc<RefCell<ChangeWatcher>> = Rc::default();
    let acts: [&[&str]; 4] = [
        &["onloop", "status"],
        &["onloop", "gate", "2", "rejected"],
        &["onloop", "gate", "2", "approved"],
        &["onloop", "resume", "--agent-command", "the-agent"],
    ];
    let mut states = Vec::new();
    for act in acts {
        machine.run(act);
        let (mut board, view) = look(&mut machine, &watcher, &id);
        let (fresh, fresh_view) = look(&mut machine, &Rc::default(), &id);
        board.at = fresh.at;
        assert_eq!((&board, &view), (&fresh, &fresh_view), "{act:?}");
        states.push(board.runs[0].state);
    }
    assert_eq!(
        states,
        [RunState::Waits, RunState::Blocked, RunState::Idle, RunState::Completed],
        "{}",
        machine.notes()
    );
}

#[test]
fn what_has_not_changed_is_not_read_again_and_of_what_has_grown_only_the_end() {
    let mut machine = machine();
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&mut machine);
    let watcher: Rc<RefCell<ChangeWatcher>> = Rc::default();
    look(&mut machine, &watcher, &id);
    let before = machine.requests.len();
    look(&mut machine, &watcher, &id);
    assert_eq!(ledgers_read(&machine, before), [] as [u64; 0]);
    let ledger = format!("/state/runs/{id}/ledger.jsonl");
    let size = machine.disk.get(&ledger).map_or(0, <[u8]>::len);
    assert_eq!(machine.run(&["onloop", "gate", "2", "approved"]), Ended::Exit(Exit::Done));
    let added = machine.disk.get(&ledger).map_or(0, <[u8]>::len) - size;
    let before = machine.requests.len();
    look(&mut machine, &watcher, &id);
    assert_eq!(ledgers_read(&machine, before), [added as u64]);
}

#[test]
fn a_ledger_that_was_changed_is_shown_as_such_and_hides_no_other() {
    let mut machine = machine();
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&mut machine);
    let watcher: Rc<RefCell<ChangeWatcher>> = Rc::default();
    look(&mut machine, &watcher, &id);
    let ledger = format!("/state/runs/{id}/ledger.jsonl");
    let forged = [machine.disk.get(&ledger).unwrap_or_default(), b"{\"seq\":99}\n"].concat();
    machine.disk.put(&ledger, forged);
    machine.disk.put("/state/runs/other-20260320T094640Z/ledger.jsonl", "\u{1b}[2Jno ledger\n");
    for by in [watcher, Rc::default()] {
        let (board, view) = look(&mut machine, &by, &id);
        let states: Vec<_> = board.runs.iter().map(|card| card.state).collect();
        assert_eq!(states, [RunState::Unreadable; 2]);
        let now = &board.runs.iter().find(|card| card.id == id).expect("it is there").now;
        assert!(now.contains("damaged ledger: line "), "{now}");
        assert_eq!(view.expect("it is there").choice, None);
    }
}

#[test]
fn only_what_is_a_name_of_a_run_is_looked_at() {
    let mut machine = machine();
    for id in ["", "../x", "a/b", "..", "no-such-20260320T094640Z"] {
        let (board, view) = look(&mut machine, &Rc::default(), id);
        assert_eq!((board.runs.len(), view), (0, None), "{id}");
    }
}
