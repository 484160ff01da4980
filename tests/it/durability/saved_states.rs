//! Records of this release and of `hotl-rt` open, say what is next, and lose nothing
//! when they are written again. The files are in `tests/state`.

use std::path::PathBuf;

use serde_json::Value;

use crate::workspace::{Workspace, source_root};

/// File, first line of `onloop next`, and the words of its steps.
const TABLE: &[(&str, &str, &str)] = &[
    ("v1-completed.json", "finished", "completed: done, done"),
    ("v1-paused.json", "ask-gate (step 1)", "paused: done, pending"),
    ("v1-blocked.json", "blocked (step 1)", "blocked: blocked, pending"),
    ("v1-interrupted.json", "ask-interrupted (step 2)", "running: done, in_progress"),
    ("v1-later-members.json", "start (step 2)", "running: done, pending"),
    ("older-2.6-relative.json", "start (step 2)", "running: done, pending"),
    ("older-2.12-null-words.json", "ask-review (step 1)", "paused: blocked"),
    ("older-2.19-failed.json", "start (step 1)", "running: failed, pending"),
    ("older-unreleased-ready.json", "finished", "ready_to_finish: done"),
    ("older-exhausted.json", "block (step 1)", "running: failed"),
];

fn folder() -> PathBuf {
    source_root().join("tests/state")
}

fn saved(file: &str) -> Value {
    let bytes =
        std::fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A project that holds the record, and its run id.
fn project(record: &Value) -> (Workspace, String) {
    let id = record["run_id"].as_str().expect("a record has an id").to_owned();
    let project = Workspace::plain();
    project.write(&format!(".hotl/state/{id}.json"), serde_json::to_vec_pretty(record).unwrap());
    (project, id)
}

/// As [`project`]; a person has adopted the record, which nothing touched before.
fn adopted(record: &Value) -> (Workspace, String) {
    let (project, id) = project(record);
    let path = format!(".hotl/state/{id}.json");
    let before = project.read(&path);
    let untouched = project.onloop(&["next", "--run-id", &id]).expect_exit(4);
    assert!(untouched.stderr.contains(&format!("onloop adopt {id}")), "{untouched:?}");
    project.onloop(&["adopt", &id]).expect_exit(3);
    assert_eq!(project.read(&path), before);
    project.onloop(&["adopt", &id, "--yes"]).expect_exit(0);
    (project, id)
}

#[test]
fn every_saved_state_is_in_the_table() {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let mut files: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    files.sort_unstable();
    let mut known: Vec<&str> = TABLE.iter().map(|(file, ..)| *file).collect();
    known.sort_unstable();
    assert_eq!(files, known);
}

#[test]
fn every_saved_state_opens_and_says_what_is_next() {
    for (file, next, standing) in TABLE {
        let (project, id) = adopted(&saved(file));
        let said = project.onloop(&["next", "--run-id", &id]).expect_exit(0);
        assert_eq!(said.stdout.lines().next(), Some(*next), "{file}: {said:?}");
        let run = onloop_core::documents::run::read(&std::fs::read(folder().join(file)).unwrap());
        let run = run.unwrap_or_else(|error| panic!("{file}: {error}"));
        let steps: Vec<&str> = run.steps.iter().map(|step| step.status.as_str()).collect();
        assert_eq!(format!("{}: {}", run.status.as_str(), steps.join(", ")), *standing, "{file}");
        project.onloop(&["report", &id]).expect_exit(0);
        project.onloop(&["summary", &id]).expect_exit(0);
    }
}

/// Every member of `before` that this release does not know is in `after`, unchanged.
fn keeps_unknown(file: &str, before: &Value, after: &Value) {
    const UNKNOWN: &[&str] = &[
        "policy",
        "external_actions",
        "policy_pauses",
        "controller",
        "ownership_required",
        "ownership_history",
        "finish",
        "finalized_at",
        "ballast",
        "from_the_future",
        "weight",
    ];
    for name in UNKNOWN {
        if let Some(value) = before.get(name) {
            assert_eq!(after.get(name), Some(value), "{file}: `{name}` was lost");
        }
    }
}

#[test]
fn a_rewrite_keeps_what_it_does_not_know() {
    let mut unknown = 0;
    for (file, _, standing) in TABLE {
        if standing.starts_with("completed") || standing.starts_with("ready_to_finish") {
            continue;
        }
        let before = saved(file);
        let (project, id) = adopted(&before);
        let block = ["step", "1", "block", "--reason", "not now", "--run-id", &id];
        project.onloop(&block).expect_exit(0);
        let after: Value =
            serde_json::from_str(&project.read(&format!(".hotl/state/{id}.json"))).unwrap();
        assert_eq!(after["schema"], "onloop.run/v1", "{file}");
        keeps_unknown(file, &before, &after);
        let steps = |record: &Value| record["steps"].as_array().cloned().unwrap_or_default();
        for (before, after) in steps(&before).iter().zip(steps(&after)) {
            keeps_unknown(file, before, &after);
            unknown += usize::from(before.get("weight").is_some());
        }
        unknown += usize::from(before.get("from_the_future").is_some());
    }
    assert!(unknown >= 2, "some saved state has members that nobody knows");
}

/// Puts a member that nobody knows into every object, and counts them.
fn mark(value: &mut Value) -> usize {
    match value {
        Value::Object(members) => {
            let inside: usize = members.values_mut().map(mark).sum();
            members.insert("from_afar".to_owned(), inside.into());
            inside + 1
        }
        Value::Array(items) => items.iter_mut().map(mark).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[test]
fn a_rewrite_keeps_what_it_does_not_know_at_any_place() {
    for (file, ..) in TABLE {
        if !file.starts_with("v1-") {
            continue;
        }
        let mut before = saved(file);
        let marks = mark(&mut before);
        let run = onloop_core::documents::run::read(before.to_string().as_bytes()).unwrap();
        let after = String::from_utf8(onloop_core::documents::run::write(&run)).unwrap();
        assert_eq!(after.matches("\"from_afar\"").count(), marks, "{file}: {after}");
    }
}

/// `value` without one of its members, once for each member at any place, with its name.
fn without_one_member(value: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, inside) in members {
                let mut less = members.clone();
                less.remove(name);
                all.push((name.clone(), Value::Object(less)));
                for (below, inside) in without_one_member(inside) {
                    let mut less = members.clone();
                    less[name] = inside;
                    all.push((format!("{name}.{below}"), Value::Object(less)));
                }
            }
        }
        Value::Array(items) => {
            for (index, inside) in items.iter().enumerate() {
                for (below, inside) in without_one_member(inside) {
                    let mut less = items.clone();
                    less[index] = inside;
                    all.push((format!("{index}.{below}"), Value::Array(less)));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

#[test]
fn a_record_that_lacks_a_member_is_refused_or_says_the_same_is_next() {
    let read = |record: &Value| onloop_core::documents::run::read(record.to_string().as_bytes());
    for (file, ..) in TABLE {
        let record = saved(file);
        let next = read(&record).unwrap().next();
        let mut refused = 0;
        for (path, less) in without_one_member(&record) {
            match read(&less) {
                Ok(run) => assert_eq!(run.next(), next, "{file} without `{path}`"),
                Err(_) => refused += 1,
            }
        }
        // 14 of the run and 14 of each step that every generation has.
        assert!(refused >= 28, "{file}: {refused}");
    }
}

#[test]
fn a_record_of_a_later_format_is_refused_by_name_and_left_alone() {
    let mut record = saved("v1-paused.json");
    record["schema"] = "onloop.run/v2".into();
    let (project, id) = project(&record);
    let path = format!(".hotl/state/{id}.json");
    let before = project.read(&path);
    let verbs: [&[&str]; 4] =
        [&["resume"], &["gate", "1", "approved"], &["step", "2", "start"], &["finalize"]];
    for verb in verbs {
        let words = match verb {
            ["resume"] => vec!["resume", &id],
            verb => [verb, &["--run-id", &id]].concat(),
        };
        let refused = project.onloop(&words);
        assert!(matches!(refused.exit, Some(1 | 4)), "{refused:?}");
        assert!(crate::flat(&refused.stderr).contains("onloop.run/v2"), "{refused:?}");
        assert!(!refused.stderr.contains("--rebuild"), "it is not damaged: {refused:?}");
    }
    assert_eq!(project.read(&path), before);
}
