//! The ledger: what is written is read again, and nothing else is.

mod exhaustive;
mod finish;
mod pull_request;
mod support;

use onloop_documents as documents;
use onloop_documents::ledger::Origin;
use onloop_documents::ledger::{Head, Ledger, LedgerError, append, begin as begin_ledger, read};
use onloop_documents::ledger::{read_until, sha256};
use onloop_effect::{KeptWork, LeftOut, LeftOutReason, ProcessGroup};
use onloop_run::*;
use onloop_syntax::time::Timestamp;
use onloop_workflow::*;
use support::*;

/// The bytes of a small run's ledger, and the run after each of its lines.
fn small() -> (Vec<u8>, Vec<Run>) {
    let mut run = begin(vec![
        Step { gate: Some(Gate::Human), ..step(1) },
        Step { repeat: until(3), ..step(2) },
    ]);
    let at = run.started_at;
    let (mut bytes, mut head) = begin_ledger(at, &run, &Origin::Begun, None);
    let mut lives = vec![run.clone()];
    let by = Decider { user: Some("me".to_owned()), channel: DecisionChannel::Terminal };
    let events = [
        Event::StepStarted { step: 1 },
        Event::StepActed { step: 1 },
        passed(1),
        human(1, GateDecision::Approved),
        Event::StepStarted { step: 2 },
        Event::UsageReported(Usage { agents: 1, ..Usage::default() }),
        Event::AgentEnded(TurnRecord {
            calls: vec![ToolCall {
                tool: "Bash".to_owned(),
                at,
                took_ms: 7,
                ending: ToolCallEnding::Failed,
            }],
            more_calls: 1,
            ..turn(2)
        }),
        Event::AgentEnded(TurnRecord {
            ending: Some(TurnEnding::Refused(WaitReason::Limited)),
            prices_as_of: Some("2026-10-01".to_owned()),
            is_idle: true,
            ..turn(2)
        }),
        Event::AgentWaits(Wait {
            step: 2,
            attempt: 1,
            agent: "codex".to_owned(),
            why: WaitReason::Limited,
            since: at,
            until: Timestamp::from_millis(at.as_millis() + 7_200_001),
            tries: 3,
        }),
        failed(2),
        Event::RunPaused { reason: "\u{1F6D1} \"later\"\n".to_owned(), interrupted: false },
    ];
    for (index, event) in (1i64..).zip(&events) {
        let at = Timestamp::from_millis(at.as_millis() + index * 1001);
        run.apply(at, event).unwrap_or_else(|refusal| panic!("{event:?}: {refusal}"));
        head = append(&mut bytes, &head, at, event, Some(&by));
        lives.push(run.clone());
    }
    (bytes, lives)
}

fn head_of(bytes: &[u8]) -> Head {
    read(bytes, None).expect("a sound ledger").head
}

#[test]
fn the_fold_of_the_lines_is_the_run_that_wrote_them() {
    let (bytes, lives) = small();
    let Ledger { run, head, whole_bytes } = read(&bytes, None).expect("a sound ledger");
    assert_eq!(run, *lives.last().expect("it has lived"));
    assert_eq!((head.seq as usize, whole_bytes), (lives.len(), bytes.len()));
    let text = std::str::from_utf8(&bytes).expect("JSON is UTF-8");
    let mut before = "0".repeat(64);
    for (line, seq) in text.lines().zip(1u64..) {
        let value: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        assert_eq!((value["seq"].as_u64(), value["prev"].as_str()), (Some(seq), Some(&*before)));
        assert!(value["at"].is_string() && value["event"].is_string());
        before = sha256(line.as_bytes());
        let then = read_until(&bytes, seq, None).expect("a sound ledger");
        assert_eq!(then.run, lives[seq as usize - 1]);
    }
    assert!(text.contains(r#""by":{"user":"me","channel":"terminal"}"#));
}

/// What may come of damage: a refusal, or the run as it was before its last line.
fn judge(damaged: &[u8], written: Option<&Head>, lives: &[Run], what: &str) {
    match read(damaged, written) {
        Err(_) => {}
        Ok(ledger) => {
            let before = &lives[lives.len() - 2];
            assert_eq!((&ledger.run, written), (before, None), "{what}");
        }
    }
}

#[test]
fn a_damaged_byte_is_refused_or_takes_the_last_line_away() {
    let (bytes, lives) = small();
    // All values of a byte are tried on the checksum alone, in `documents::ledger`.
    for at in 0..bytes.len() {
        for change in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            judge(&damaged, None, &lives, &format!("byte {at} xor {change}"));
        }
    }
    let mut torn = bytes.clone();
    *torn.last_mut().expect("it has bytes") = b' ';
    judge(&torn, None, &lives, "the last line break");
    judge(&torn, Some(&head_of(&bytes)), &lives, "the last line break of a line that was written");
}

#[test]
fn a_cut_is_refused_or_takes_the_last_line_away() {
    let (bytes, lives) = small();
    let head = head_of(&bytes);
    let last_line = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').expect("lines") + 1;
    for length in 0..bytes.len() {
        let what = format!("{length} of {} bytes", bytes.len());
        judge(&bytes[..length], Some(&head), &lives, &what);
        if length >= last_line {
            let torn = read(&bytes[..length], None).expect("a torn last line");
            assert_eq!(
                (&torn.run, torn.whole_bytes),
                (&lives[lives.len() - 2], last_line),
                "{what}"
            );
        }
    }
    let cut = &bytes[..last_line];
    let (last, written) = (head.seq - 1, head.seq);
    assert_eq!(read(cut, Some(&head)), Err(LedgerError::Cut { last, written }));
}

#[test]
fn lines_that_are_moved_doubled_or_made_up_are_refused() {
    let (bytes, _) = small();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut swapped = lines.clone();
    swapped.swap(2, 3);
    let mut doubled = lines.clone();
    doubled.insert(3, lines[2]);
    let mut missing = lines.clone();
    missing.remove(2);
    let table: [(Vec<&[u8]>, &str); 3] = [
        (swapped, "line 3: `seq` is 4, expected 3"),
        (doubled, "line 4: `seq` is 3, expected 4"),
        (missing, "line 3: `seq` is 4, expected 3"),
    ];
    for (lines, expected) in table {
        let error = read(&lines.concat(), None).expect_err("it is not what was written");
        assert_eq!(error.to_string(), expected);
    }
    // A line with a sound checksum that does not chain, and one that no run allows.
    let stranger = Head { seq: 2, sha256: "f".repeat(64) };
    let mut forged = [lines[0], lines[1]].concat();
    append(&mut forged, &stranger, Timestamp::EPOCH, &Event::StepActed { step: 1 }, None);
    let error = read(&forged, None).expect_err("it does not chain");
    assert_eq!(error.to_string(), "line 3: `prev` is not the digest of the line before it");
    let head = head_of(lines[0]);
    let mut impossible = lines[0].to_vec();
    append(&mut impossible, &head, Timestamp::EPOCH, &Event::RunFinalized, None);
    let error = read(&impossible, None).expect_err("nothing was done");
    assert_eq!(
        error.to_string(),
        "line 2: `run_finalized` does not follow from the lines before it: the run cannot be \
         finalized: it has 2 unfinished steps"
    );
    // Another last line, with everything right but that it is not the one that was written.
    let mut other = lines[..lines.len() - 1].concat();
    let event = Event::RunPaused { reason: "other".to_owned(), interrupted: false };
    let before = head_of(&other);
    append(&mut other, &before, Timestamp::EPOCH, &event, None);
    let error = read(&other, Some(&head_of(&bytes))).expect_err("another line was written");
    assert_eq!(error.to_string(), "line 12: it is not the line that was written");
}

/// A run whose steps may work side by side.
fn side_by_side(steps: Vec<Step>) -> Run {
    let plan = Plan::example("demo", steps).with(|parts| parts.max_parallel = 2);
    begin_plan(plan, |beginning| beginning.place.worktree_path = Some("/w".to_owned()))
}

#[test]
fn every_event_has_a_line() {
    let plan = Plan::example("demo", vec![step(1), Step { gate: Some(Gate::Auto), ..step(2) }]);
    let budgets = Budgets {
        total_attempts: Some(3),
        cost: Some(onloop_syntax::money::Money::from_micros(2_030_000)),
        ..Budgets::default()
    };
    let adopted = PlanParts {
        slug: String::new(),
        risk: Risk::High,
        auto_approve: true,
        budgets: budgets.clone(),
        allow: vec!["make *".to_owned()],
        protect: vec!["ci/**".to_owned()],
        confine: true,
        network: "none".parse().ok(),
        evidence: EvidenceRules {
            require_checks: true,
            verify_clean: true,
            max_review_rounds: Some(3),
        },
        commit: CommitWhen::Step,
        max_parallel: 4,
        setup: vec!["npm ci".to_owned()],
        ..plan.clone().into_parts()
    };
    let group = ProcessGroup { pid: 7, started: "s".to_owned(), boot: "b".to_owned() };
    let host = "h".to_owned();
    let sandbox = SandboxStatus::Unconfined { why: "w".to_owned() };
    let events = [
        Event::StepForked { step: 3, run: "a.step-3".to_owned(), base: "c".to_owned() },
        Event::ForkDropped {
            step: 3,
            reason: "r".to_owned(),
            used: Box::new(ForkUse {
                attempts: 3,
                uncounted: 1,
                baseline: Some(vec![0]),
                turns: vec![turn(3)],
                usage: Usage { agents: 2, ..Usage::default() },
                sandboxes: Vec::new(),
            }),
        },
        Event::WorkStarted(Acting {
            worker: Worker::SetUp,
            step: 1,
            group,
            host,
            sandbox: Some(sandbox),
        }),
        Event::WorktreeSetUp(SetUp { copied: 3, commands: 2 }),
        Event::PlanAdopted(Box::new(adopted)),
        Event::RecordRebuilt { ticked: vec![1] },
        Event::BudgetsChanged(budgets),
        Event::RunMoved {
            execution_root: "/x".to_owned(),
            checkout: true,
            started_in: None,
            lost_checkpoints: Vec::new(),
        },
        Event::RunMoved {
            execution_root: "/y/w".to_owned(),
            checkout: true,
            started_in: Some("/y".to_owned()),
            lost_checkpoints: vec!["1-1".to_owned()],
        },
        Event::CopyChanged { path: "/w/.hotl/state/a.json".to_owned(), what: "gone".to_owned() },
        Event::CheckpointTaken(checkpoint(CheckpointMoment::Begun, Vec::new())),
        Event::CheckpointTaken(checkpoint(
            CheckpointMoment::Verified { step: 1, attempt: 2 },
            vec![
                LeftOut { path: "a".to_owned(), why: LeftOutReason::TooLarge },
                LeftOut { path: "b".to_owned(), why: LeftOutReason::Unreadable },
                LeftOut { path: "c".to_owned(), why: LeftOutReason::NoCommit },
            ],
        )),
        Event::CheckpointTaken(checkpoint(CheckpointMoment::Undone { number: 1 }, Vec::new())),
        Event::CheckpointMissed {
            moment: CheckpointMoment::Acted { step: 2, attempt: 1 },
            reason: "r".to_owned(),
        },
        Event::WorkRestored { to: "1-2".to_owned() },
        Event::RunAbandoned { reason: "r".to_owned() },
    ];
    let free = Step { depends_on: Some(Vec::new()), ..step(3) };
    let mut run = side_by_side(vec![step(1), step(2), free]);
    let (mut bytes, mut head) = begin_ledger(run.started_at, &run, &Origin::Begun, None);
    for event in &events {
        let at = run.last_update;
        apply_at(&mut run, at, event);
        head = append(&mut bytes, &head, at, event, None);
    }
    assert_eq!(read(&bytes, Some(&head)).expect("a sound ledger").run, run);
}

fn checkpoint(moment: CheckpointMoment, left_out: Vec<LeftOut>) -> Checkpoint {
    let (commit, tree, programs) = ("c".to_owned(), "t".to_owned(), "p".to_owned());
    Checkpoint::of(moment, KeptWork { commit, tree, programs, left_out })
}

fn apply_at(run: &mut Run, at: Timestamp, event: &Event) {
    run.apply(at, event).unwrap_or_else(|refusal| panic!("{event:?}: {refusal}"));
}

#[test]
fn an_event_that_is_not_known_was_recorded_by_a_newer_onloop() {
    let (bytes, _) = small();
    let head = head_of(&bytes);
    let mut line = Vec::new();
    append(&mut line, &head, Timestamp::EPOCH, &Event::RunResumed, None);
    let text = String::from_utf8(line).unwrap().replace("run_resumed", "run_sent_away");
    let members = text.split_once(",\"sha256\"").unwrap().0;
    let line = format!("{members},\"sha256\":\"{}\"}}\n", sha256(members.as_bytes()));
    let error = read(&[bytes, line.into_bytes()].concat(), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "line {}: a newer onloop recorded `run_sent_away`, which this one does not know: \
             upgrade onloop",
            head.seq + 1
        )
    );
}

#[test]
fn a_record_of_hotl_rt_is_read() {
    let old =
        br#"{"run_id":"add-auth-20260320T212315Z","workflow_path":"hotl-workflow-add-auth.md",
        "intent":"Add auth","success_criteria":"It works","risk_level":"medium",
        "auto_approve":false,"branch":"hotl/add-auth",
        "source_branch":"null","worktree_path":"null","started_at":"2026-03-20T21:23:15+00:00",
        "last_update":"2026-03-20T21:24:15+00:00","completed_at":null,"status":"running",
        "current_step":1,"total_steps":2,"report_path":".hotl/reports/a.md","driver":"generic",
        "steps":[
        {"number":1,"name":"One","action":"a","status":"done","attempts":2,"max_iterations":3,
         "loop":"until green","started_at":"2026-03-20T21:23:15+00:00","completed_at":null,"verify":{"type":"shell","command":"make","passed":true,
         "stdout":"ok","stderr":""},"gate":"human","gate_result":"approved","gate_mode":"human",
         "block_reason":null,"novel":[1]},
        {"number":2,"name":"Two","action":"b","status":"blocked","attempts":1,"max_iterations":3,
         "loop":"false","started_at":null,"completed_at":null,
         "verify":{"type":"human-review","command":null,"prompt":"look"},
         "gate":null,"gate_result":null,"gate_mode":null,"block_reason":"human review required: look"}]}"#;
    let run = documents::run::read(old).expect("readable");
    assert_eq!(run.place.source_branch, None);
    assert_eq!(run.place.worktree_path, None);
    assert_eq!(run.next(), Next::Ask(Question::Review { step: 2, prompt: "look".to_owned() }));
    let again = String::from_utf8(documents::run::write(&run)).expect("text");
    assert!(again.contains("\"driver\": \"generic\""), "unknown fields survive: {again}");
    assert!(again.contains("\"novel\""), "unknown fields of steps survive: {again}");
}

#[test]
fn what_is_no_record_is_refused_by_name() {
    let table: [(&[u8], &str); 6] = [
        (b"", "damaged record: EOF while parsing a value at line 1 column 0"),
        (b"[]", "damaged record: it is not a JSON object"),
        (
            br#"{"schema":"onloop.run/v9","run_id":"a"}"#,
            "the record has the format `onloop.run/v9`, this onloop knows `onloop.run/v1`: \
             upgrade onloop",
        ),
        (br#"{"status":"running"}"#, "damaged record: missing field `workflow_path`"),
        (br#"{"run_id":"a"}"#, "damaged record: missing field `workflow_path`"),
        (
            br#"{"run_id":"a","status":null}"#,
            "damaged record: `status`: invalid type: null, expected a string",
        ),
    ];
    for (bytes, expected) in table {
        let error = documents::run::read(bytes).expect_err("refused").to_string();
        assert_eq!(error, expected);
    }
}
