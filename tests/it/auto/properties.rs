//! What holds of every run, whatever files, children and hosts do.

use std::collections::BTreeMap;

use onloop_core::auto::child::{ChildAnswer, ChildOutcome};
use onloop_core::auto::documents::AutoDocument;
use onloop_core::auto::progress::{TaskStatus, TaskTable, Tasks, with_status};
use onloop_core::auto::record::{
    Assignment, Auto, AutoEvent, AutoNext, Health, LockSight, LockWritten, OnStall, Options, Probe,
    Snapshot, SummaryUse,
};
use onloop_core::auto::route::Target;
use onloop_core::auto::token::NextCommand;
use onloop_core::auto::workspace_file::{Presence, WorkspaceFile};
use onloop_core::auto::{Profile, arguments, feature, lock};
use onloop_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::vectors::rehearsed;
use crate::rounds::cases;

fn profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(Profile::ALL.to_vec())
}

fn argument() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        Just("--auto".to_owned()),
        Just("--no-hitl".to_owned()),
        Just("--hitl".to_owned()),
        Just("\"".to_owned()),
        Just("--json".to_owned()),
        "--max-cycles=-?[0-9]{0,3}",
    ];
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn presence() -> impl Strategy<Value = Presence> {
    prop_oneof![
        8 => Just(Presence::Readable),
        1 => Just(Presence::Missing),
        1 => Just(Presence::Unreadable),
    ]
}

/// Answers made of lines that mean something, in any order and with noise in between.
fn answer() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => Just("NEXT_COMMAND=rw-loop".to_owned()),
        1 => Just("NEXT_COMMAND=done".to_owned()),
        1 => Just("NEXT_COMMAND=<x>".to_owned()),
        1 => Just("FEATURE_REVIEW_REQUIRED".to_owned()),
        1 => "FEATURE_FILE=\\PC{0,12}",
        1 => Just("FEATURE_REVIEW_HINT=a\u{2028}NEXT_COMMAND=done\u{85}b".to_owned()),
        2 => "\\PC{0,20}",
        1 => any::<String>(),
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
}

fn outcome() -> impl Strategy<Value = ChildOutcome> {
    prop_oneof![
        12 => answer().prop_map(ChildOutcome::Answered),
        1 => Just(ChildOutcome::Failed("it threw".to_owned())),
        1 => Just(ChildOutcome::TimedOut),
        1 => Just(ChildOutcome::Cancelled),
        1 => Just(ChildOutcome::Unavailable),
    ]
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let tasks = prop::option::weighted(
        0.9,
        prop::sample::select(vec![Tasks::Active, Tasks::Settled, Tasks::None]),
    );
    (prop::bool::weighted(0.05), presence(), tasks, any::<bool>(), any::<bool>(), "[ab]").prop_map(
        |(paused, context, tasks, ready_feature, artifacts, fingerprint)| Snapshot {
            paused,
            context,
            tasks,
            ready_feature,
            artifacts,
            fingerprint,
        },
    )
}

fn written() -> impl Strategy<Value = LockWritten> {
    prop_oneof![
        12 => Just(LockWritten::Ours),
        1 => Just(LockWritten::Lost),
        1 => Just(LockWritten::Failed("disk full".to_owned())),
    ]
}

/// Any event. Whether it fits is the record's business.
fn event() -> impl Strategy<Value = AutoEvent> {
    let health = prop::sample::select(vec![Health::Passed, Health::Failed, Health::Unavailable]);
    let sight = prop_oneof![
        6 => Just(LockSight::Absent),
        1 => Just(LockSight::Alive),
        1 => prop::option::of(0_i64..2_000_000)
            .prop_map(|at| LockSight::Present(at.map(Timestamp::from_millis))),
    ];
    let probe =
        prop_oneof![1 => Just(Probe::ProgressUnreadable), 12 => sight.prop_map(Probe::Lock)];
    prop_oneof![
        health.prop_map(AutoEvent::HealthChecked),
        probe.prop_map(AutoEvent::Probed),
        written().prop_map(AutoEvent::LockWritten),
        snapshot().prop_map(AutoEvent::Observed),
        (1_u8..21, outcome())
            .prop_map(|(cycle, outcome)| AutoEvent::ChildFinished { cycle, outcome }),
        (presence(), prop::option::of("\\PC{0,10}"))
            .prop_map(|(context, latest_feature)| AutoEvent::Inspected { context, latest_feature }),
        Just(AutoEvent::LockReleased),
    ]
}

/// Makes an event fit where only its number does not.
fn fitting(auto: &Auto, event: AutoEvent) -> AutoEvent {
    match (auto.next(), event) {
        (AutoNext::Dispatch(dispatch), AutoEvent::ChildFinished { outcome, .. }) => {
            AutoEvent::ChildFinished { cycle: dispatch.cycle, outcome }
        }
        (_, event) => event,
    }
}

fn begin(profile: Profile, argument: String, flags: (bool, bool, bool)) -> Auto {
    let (stops_on_stall, once, can_dispatch) = flags;
    Auto::begin(Assignment {
        run: "run".to_owned(),
        argument,
        profile,
        options: Options {
            stall: if stops_on_stall { OnStall::Stop } else { OnStall::Continue },
            summary: if once { SummaryUse::Once } else { SummaryUse::EveryCycle },
            routes_by: None,
        },
        can_dispatch,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(60, 1000)) })]

    /// Random events, fitting or not, against the record and against its stored copy.
    #[test]
    fn the_record_keeps_its_promises(
        profile in profile(),
        argument in argument(),
        flags in (any::<bool>(), any::<bool>(), prop::bool::weighted(0.9)),
        events in prop::collection::vec(event(), 0..400),
    ) {
        let at = Timestamp::from_millis(1_000_000);
        let most = arguments::Arguments::parse(&argument).max_cycles.get();
        let mut auto = begin(profile, argument.clone(), flags);
        let mut stream = Stream::new(&argument, most);
        for event in events {
            let stored = serde_json::to_vec(&AutoDocument::new(&auto)).unwrap();
            let restored = AutoDocument::read(&stored).unwrap();
            prop_assert_eq!(&restored, &auto);
            let event = fitting(&auto, event);
            let before = auto.clone();
            match auto.apply(at, event.clone()) {
                Err(_) => prop_assert_eq!(&auto, &before, "a refused event changes nothing"),
                Ok(step) => {
                    prop_assert_eq!(&restored.apply(at, event.clone()), &Ok(step.clone()));
                    stream.take(&before, &event, &step.tokens.iter().map(ToString::to_string).collect::<Vec<_>>());
                    auto = step.auto;
                    stream.check(&auto);
                }
            }
        }
        if let AutoNext::Stop(_) = auto.next() {
            prop_assert!(auto.apply(at, AutoEvent::Aborted).is_err(), "nothing comes after the end");
        }
    }

    /// An abort ends every run within two steps, and never leaves the lock behind.
    #[test]
    fn an_abort_releases_what_is_held(
        profile in profile(),
        argument in argument(),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let at = Timestamp::from_millis(1_000_000);
        let mut auto = begin(profile, argument, (false, false, true));
        for event in events {
            if let Ok(step) = auto.apply(at, fitting(&auto, event)) {
                auto = step.auto;
            }
        }
        if let Ok(step) = auto.apply(at, AutoEvent::Aborted) {
            let ended = match step.auto.next() {
                AutoNext::ReleaseLock => step.auto.apply(at, AutoEvent::LockReleased).unwrap(),
                AutoNext::Stop(_) => step,
                next => panic!("{next:?}"),
            };
            prop_assert_eq!(ended.tokens.last().unwrap().to_string(), "NEXT_COMMAND=rw-auto");
        }
    }

    /// Bytes from anywhere are read without a panic, and no value becomes a second line.
    #[test]
    fn any_text_is_read(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for text in [text.clone(), answer_like(&text), String::from_utf8_lossy(&bytes).into_owned()] {
            let _ = arguments::Arguments::parse(&text);
            let _ = TaskTable::parse(&text).tasks();
            let _ = feature::status(&text);
            let _ = lock::stamp(&text, None);
            if let Ok(ChildAnswer { review: Some(review), .. }) = ChildAnswer::parse(&text) {
                for value in [review.reason, review.file, review.hint].into_iter().flatten() {
                    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
                    prop_assert!(!value.as_str().contains(breaks));
                    prop_assert!(!value.is_empty());
                }
            }
        }
        let _ = WorkspaceFile::from_bytes(bytes).presence();
    }

    /// Whatever a table looks like: after a change the task has its new status in every row,
    /// every other row has its old one, and what was there is still there.
    #[test]
    fn a_changed_status_is_read_back(
        lines in prop::collection::vec(
            prop_oneof![
                "\\|( ?TASK-[12] ?\\|)( ?[a-z]{0,4} ?\\|){0,4}",
                Just("| Task | Commit | Status |".to_owned()),
                Just("## Task Status".to_owned()),
                Just("## Log".to_owned()),
                Just("```".to_owned()),
                "\\PC{0,10}",
            ],
            0..12,
        ),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let text = lines.join(end);
        let before = TaskTable::parse(&text).rows;
        match with_status(&text, "TASK-1", &TaskStatus::Completed, None) {
            None => {
                // There is no such row, or it has no cell for a status.
                let has_status = |status: &TaskStatus| *status != TaskStatus::Other(String::new());
                let editable = before.iter().any(|row| row.id == "TASK-1" && has_status(&row.status));
                prop_assert!(!editable || text.contains("<!--"));
            }
            Some(changed) => {
                let after = TaskTable::parse(&changed).rows;
                prop_assert_eq!(before.len(), after.len());
                for (before, after) in before.iter().zip(&after) {
                    prop_assert_eq!(&before.id, &after.id);
                    match before.id.as_str() {
                        "TASK-1" if after.status == TaskStatus::Completed => {}
                        "TASK-1" => {
                            prop_assert_eq!(&before.status, &TaskStatus::Other(String::new()));
                            prop_assert_eq!(&after.status, &before.status);
                        }
                        _ => prop_assert_eq!(&before.status, &after.status),
                    }
                }
                prop_assert_eq!(text.split(end).count(), changed.split(end).count());
            }
        }
    }

    /// Whole runs over random workspaces, through the verb itself.
    #[test]
    fn every_rehearsal_ends_well(
        profile in profile(),
        argument in argument(),
        tree in tree(),
        children in prop::collection::vec((answer(), tree()), 0..12),
    ) {
        let children: Vec<Value> = children
            .iter()
            .map(|(answer, tree)| json!({"result": answer, "tree_patch": tree, "takes_s": 700}))
            .collect();
        let scenario = json!({
            "id": 1, "profile": profile.as_str(), "now": "2026-02-24T01:00:00Z",
            "argument": argument, "tree": tree, "children": children,
        });
        let found = rehearsed(&format!("{scenario}\n"));
        prop_assert_eq!(&found, &rehearsed(&format!("{scenario}\n")), "same in, same out");
        let lines: Vec<String> = serde_json::from_value(found[0]["lines"].clone()).unwrap();
        let last = lines.last().unwrap();
        let next = last.strip_prefix("NEXT_COMMAND=").and_then(|next| next.parse::<NextCommand>().ok());
        prop_assert!(next.is_some(), "{last}");
        prop_assert_eq!(lines.iter().filter(|line| line.starts_with("NEXT_COMMAND=")).count(), 1);
        let cycles = lines.iter().filter(|line| line.starts_with("AUTO_CYCLE=")).count();
        prop_assert_eq!(found[0]["dispatches"].as_array().unwrap().len(), cycles);
        prop_assert_eq!(&found[0]["lock_present"], &json!(false));
    }
}

fn answer_like(text: &str) -> String {
    format!(
        "FEATURE_REVIEW_REQUIRED\nFEATURE_FILE={text}\nFEATURE_REVIEW_HINT={text}\nNEXT_COMMAND=done\n"
    )
}

/// A few of the files that matter, in states that matter.
fn tree() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let content = prop_oneof![
        Just(json!("## Task Status\n| TASK-1 | x | pending | - |\n")),
        Just(json!("## Task Status\n| TASK-1 | x | completed | - |\n")),
        Just(json!("Status: READY_FOR_PLAN\n")),
        Just(json!(" \n")),
        Just(json!({"unreadable": "permission"})),
        any::<String>().prop_map(Value::String),
    ];
    let path = prop::sample::select(vec![
        ".ai/CONTEXT.md",
        ".ai/CONTEXT.md",
        ".ai/PROGRESS.md",
        ".ai/PROGRESS.md",
        ".ai/features/a.md",
        ".ai/features/README.md",
        ".ai/runtime/rw-active-plan-id.txt",
        ".ai/PAUSE.md",
    ]);
    prop::collection::btree_map(path.prop_map(str::to_owned), content, 0..5)
}

/// Follows the lines of a run and holds them against the contract.
struct Stream {
    arguments: arguments::Arguments,
    most: u8,
    lines: Vec<String>,
    cycles: u8,
    dispatches: u8,
    holds_lock: bool,
}

impl Stream {
    fn new(argument: &str, most: u8) -> Stream {
        Stream {
            arguments: arguments::Arguments::parse(argument),
            most,
            lines: Vec::new(),
            cycles: 0,
            dispatches: 0,
            holds_lock: false,
        }
    }

    fn take(&mut self, before: &Auto, event: &AutoEvent, lines: &[String]) {
        assert!(!self.is_over(), "no line comes after the last one");
        match event {
            AutoEvent::LockWritten(LockWritten::Ours) => self.holds_lock = true,
            AutoEvent::LockWritten(LockWritten::Lost) | AutoEvent::LockReleased => {
                self.holds_lock = false
            }
            AutoEvent::LockWritten(LockWritten::Failed(_))
            | AutoEvent::HealthChecked(_)
            | AutoEvent::Probed(_)
            | AutoEvent::Observed(_)
            | AutoEvent::ChildFinished { .. }
            | AutoEvent::Inspected { .. }
            | AutoEvent::Aborted => {}
        }
        for line in lines {
            assert!(!line.contains(|c: char| c.is_control() || c == '\u{2028}'), "{line:?}");
            if let Some(number) = line.strip_prefix("AUTO_CYCLE=") {
                self.cycles += 1;
                assert_eq!(number, self.cycles.to_string(), "cycles count from 1 without gaps");
                assert!(self.cycles <= self.most);
            }
            if line.starts_with("NEXT_COMMAND=") {
                assert!(!self.holds_lock, "the lock goes before the last line: {before:?}");
            }
            self.lines.push(line.clone());
        }
    }

    fn check(&mut self, auto: &Auto) {
        match auto.next() {
            AutoNext::Dispatch(dispatch) => {
                self.dispatches += 1;
                assert_eq!(self.dispatches, self.cycles, "one dispatch a cycle");
                let [.., cycle, target] = self.lines.as_slice() else { panic!("two lines") };
                assert_eq!(*cycle, format!("AUTO_CYCLE={}", dispatch.cycle));
                assert_eq!(*target, format!("AUTO_ROUTE_TARGET={}", dispatch.target.as_str()));
                let argument = &dispatch.argument;
                match dispatch.target {
                    Target::Planner => {
                        assert!(argument.is_empty() || *argument == self.arguments.summary);
                    }
                    Target::Loop => assert_eq!(*argument, self.arguments.loop_argument()),
                }
            }
            AutoNext::Stop(ending) => {
                assert!(self.is_over());
                let last = format!("NEXT_COMMAND={}", ending.next_command().as_str());
                assert_eq!(self.lines.last(), Some(&last));
                let count = self.lines.iter().filter(|l| l.starts_with("NEXT_COMMAND=")).count();
                assert_eq!(count, 1, "exactly one");
            }
            AutoNext::CheckHealth(_)
            | AutoNext::Probe
            | AutoNext::TakeLock(_)
            | AutoNext::RefreshLock
            | AutoNext::Observe
            | AutoNext::Inspect
            | AutoNext::ReleaseLock => assert!(!self.is_over()),
        }
    }

    fn is_over(&self) -> bool {
        self.lines.last().is_some_and(|line| line.starts_with("NEXT_COMMAND="))
    }
}
