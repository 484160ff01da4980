//! The same scenarios once more, with real files: as one run, and one child at a time.

use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use onloop_core::auto::LOCK_PATH;
use onloop_core::effect::{
    Command, Exit, Failure, FailureKind, ProcessEnd, ProcessSpec, ProcessStatus,
};
use onloop_core::time::Timestamp;
use onloop_core::verb::auto::{
    AutoArgs, AutoResumeArgs, AutoRunArgs, AutoVerb, BeginArgs, RuleArgs, auto,
};
use serde_json::{Value, json};

use super::machine::{Machine, exited, nobody, variable};
use crate::rounds::sampled;

const VECTORS: &str = include_str!("../../vectors/auto.jsonl");

fn vectors() -> impl Iterator<Item = Value> {
    VECTORS.lines().map(|line| serde_json::from_str(line).expect("a vector"))
}

/// Puts an entry of a scenario on disk. Files of no particular age are old and equally old.
fn put(machine: &mut Machine, path: &str, entry: &Value) {
    let target = machine.path(path);
    machine.denied.remove(path);
    let _ = fs::remove_dir_all(&target);
    match entry {
        Value::Null => {
            let _ = fs::remove_file(&target);
            return;
        }
        Value::String(text) => machine.put(path, text),
        Value::Object(fields) => match fields.get("unreadable").and_then(Value::as_str) {
            Some("is_directory") => fs::create_dir_all(&target).expect("a folder"),
            Some("invalid_utf8") => machine.put(path, b"\xff\xfe\xfd"),
            Some(_) => {
                machine.put(path, b"secret");
                machine.denied.insert(path.to_owned());
            }
            None => machine.put(path, fields["content"].as_str().expect("text")),
        },
        other => panic!("{path}: {other}"),
    }
    if target.is_file() {
        let mtime = entry["mtime"].as_str().unwrap_or("2026-01-01T00:00:00Z");
        let millis = Timestamp::parse(mtime).expect("a time").as_millis();
        let modified = UNIX_EPOCH + Duration::from_millis(millis.try_into().expect("after 1970"));
        let file = File::options().write(true).open(&target).expect("the file");
        file.set_modified(modified).expect("a time of change");
    }
}

fn patch(machine: &mut Machine, changes: &Value) {
    for (path, entry) in changes.as_object().into_iter().flatten() {
        put(machine, path, entry);
    }
}

fn stage(vector: &Value) -> Machine {
    let mut machine = Machine::new(vector["now"].as_str().expect("now"));
    patch(&mut machine, &vector["tree"]);
    machine
}

/// Lets the next child of a scenario act; its result, or why there is none.
fn act(machine: &mut Machine, child: &Value) -> Result<String, String> {
    let takes_ms = (child["takes_s"].as_f64().unwrap_or(0.0) * 1000.0) as i64;
    machine.now = Timestamp::from_millis(machine.now.as_millis() + takes_ms);
    patch(machine, &child["tree_patch"]);
    match child["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(child["result"].as_str().unwrap_or("").to_owned()),
    }
}

fn end(acted: Result<String, String>) -> Result<ProcessEnd, Failure> {
    let status = match acted {
        Ok(answer) => return Ok(exited(0, &answer)),
        Err(error) if error == "unavailable" => {
            return Err(Failure::new(FailureKind::NotFound, "no such program"));
        }
        Err(error) => match error.as_str() {
            "timeout" => ProcessStatus::TimedOut,
            "cancelled" => ProcessStatus::Interrupted,
            _ => ProcessStatus::Exited(1),
        },
    };
    Ok(ProcessEnd { status, ..exited(0, "NEXT_COMMAND=done\n") })
}

fn rules(vector: &Value) -> RuleArgs {
    let has_health = !vector["health"].is_null() && vector["health"] != "unavailable";
    RuleArgs {
        profile: vector["profile"].as_str().map(str::to_owned),
        health_command: has_health.then(|| "check".to_owned()),
        health_repair_command: has_health.then(|| "repair".to_owned()),
        ..RuleArgs::default()
    }
}

/// Plays health checks and children of a scenario as processes.
struct Cast<'a> {
    vector: &'a Value,
    checks: usize,
    children: usize,
    dispatches: Vec<Value>,
}

impl Cast<'_> {
    fn play(&mut self, machine: &mut Machine, spec: &ProcessSpec) -> Result<ProcessEnd, Failure> {
        let Command::Shell { line, .. } = &spec.command else { panic!("expected a line") };
        if line == "check" || line == "repair" {
            if line == "repair" {
                patch(machine, &self.vector["health_patch"]);
            }
            let word = self.vector["health"][self.checks].as_str().expect("a check").to_owned();
            self.checks += 1;
            let code = i32::from(word == "FAIL");
            return Ok(exited(code, &format!("AI_HEALTH_MODE=x\nAI_HEALTH_STATUS={word}\n")));
        }
        self.dispatches.push(json!({
            "target": variable(spec, "ONLOOP_AUTO_TARGET"),
            "argument": variable(spec, "ONLOOP_AUTO_ARGUMENT"),
        }));
        let child = &self.vector["children"][self.children];
        self.children += 1;
        end(act(machine, child))
    }
}

fn compare(vector: &Value, stdout: &str, dispatches: &[Value], machine: &Machine) {
    let lines: Vec<&str> = stdout.lines().collect();
    let expected = &vector["expected"];
    let title = format!("{} {}", vector["id"], vector["title"]);
    assert_eq!(json!(lines), expected["lines"], "{title}");
    assert_eq!(json!(dispatches), expected["dispatches"], "{title}");
    assert_eq!(json!(machine.path(LOCK_PATH).exists()), expected["lock_present"], "{title}");
}

#[test]
fn every_scenario_ends_as_expected_with_real_files() {
    for vector in sampled(3, vectors()) {
        let mut machine = stage(&vector);
        let can_dispatch = vector["env"]["run_subagent"] != false;
        let args = AutoArgs {
            verb: None,
            run: AutoRunArgs {
                argument: vec![vector["argument"].as_str().expect("argument").to_owned()],
                agent_command: can_dispatch.then(|| "the agent".to_owned()),
                rules: rules(&vector),
                ..AutoRunArgs::default()
            },
        };
        let mut cast = Cast { vector: &vector, checks: 0, children: 0, dispatches: Vec::new() };
        let ended = machine
            .run(|io| auto(io, args), &mut |machine: &mut Machine, spec: &ProcessSpec| {
                cast.play(machine, spec)
            });
        compare(&vector, &ended.stdout, &cast.dispatches, &machine);
        // Nothing but the lock, and our own logs beside it.
        for path in &machine.touched {
            assert!(
                path == LOCK_PATH || path.starts_with(".ai/runtime/logs/"),
                "{}: {path} was touched",
                vector["id"]
            );
        }
    }
}

#[test]
fn every_scenario_ends_as_expected_one_child_at_a_time() {
    for vector in sampled(3, vectors()) {
        let mut machine = stage(&vector);
        let begin = BeginArgs {
            argument: vector["argument"].as_str().expect("argument").to_owned(),
            no_subagents: vector["env"]["run_subagent"] == false,
            rules: rules(&vector),
        };
        let mut cast = Cast { vector: &vector, checks: 0, children: 0, dispatches: Vec::new() };
        let mut stdout = String::new();
        let mut dispatches = Vec::new();
        let mut verb = AutoVerb::Begin(begin);
        loop {
            let args = AutoArgs { verb: Some(verb), run: AutoRunArgs::default() };
            let ended = machine
                .run(|io| auto(io, args), &mut |machine: &mut Machine, spec: &ProcessSpec| {
                    cast.play(machine, spec)
                });
            let (lines, last) = split_last(&ended.stdout);
            stdout.push_str(lines);
            let last: Value = serde_json::from_str(last).expect("a JSON line");
            let dispatch = &last["dispatch"];
            if dispatch.is_null() {
                let next = last["stop"]["next_command"].as_str().expect("a next command");
                assert!(stdout.ends_with(&format!("NEXT_COMMAND={next}\n")));
                assert_eq!(last["stop"]["exit"], json!(ended.exit.code()));
                break;
            }
            assert_eq!(ended.exit, Exit::Done);
            dispatches.push(json!({
                "target": dispatch["target"], "argument": dispatch["argument"],
            }));
            let child = &vector["children"][dispatches.len() - 1];
            verb = AutoVerb::Resume(match act(&mut machine, child) {
                Ok(answer) => {
                    let path = dispatch["result_file"].as_str().expect("a path").to_owned();
                    assert_eq!(machine.text(&path).as_deref(), Some(""), "the file waits");
                    machine.put(&path, answer);
                    AutoResumeArgs { result_file: Some(path), failed: None }
                }
                Err(failed) => AutoResumeArgs { result_file: None, failed: Some(failed) },
            });
        }
        compare(&vector, &stdout, &dispatches, &machine);
        assert!(!machine.path(".ai/runtime/rw-auto.state.json").exists(), "{}", vector["id"]);
        let args = AutoArgs {
            verb: Some(AutoVerb::Resume(AutoResumeArgs::default())),
            run: AutoRunArgs::default(),
        };
        let ended = machine.run(|io| auto(io, args), &mut nobody);
        assert_eq!(ended.exit, Exit::Usage, "after the end there is nothing to resume");
    }
}

fn split_last(text: &str) -> (&str, &str) {
    let body = text.strip_suffix('\n').expect("whole lines");
    let start = body.rfind('\n').map_or(0, |at| at + 1);
    (&text[..start], &body[start..])
}
