//! What rw-auto reads, and whole runs of it over made-up workspaces.

use onloop_core::auto::progress::{self, TaskRow, TaskStatus, TaskTable, Tasks};
use onloop_core::auto::route::{Profile, RoutingFacts};
use onloop_core::auto::task::TasksLeft;
use onloop_core::auto::token::Token;
use onloop_core::auto::{UnknownName, feature, named, route as routing};
use onloop_core::effect::{Outcome, Reply, Request, Say, Start, Turn};
use onloop_core::engine::error::verb_program;
use onloop_core::time::Timestamp;
use onloop_core::verb::auto::{RehearseArgs, rehearse as play};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// The task table of a progress file: `{"rows", "tasks", "next", "finished"}`.
#[wasm_bindgen]
pub fn read_progress(text: &str) -> String {
    let progress = TaskTable::parse(text);
    let tasks = match progress.tasks() {
        Tasks::None => "none",
        Tasks::Settled => "settled",
        Tasks::Active => "active",
    };
    let (next, finished) = match progress.left() {
        TasksLeft::Task(row) => (Some(task(row)), false),
        TasksLeft::Finished => (None, true),
        TasksLeft::Unclear => (None, false),
    };
    let rows: Vec<Value> = progress.rows.iter().map(task).collect();
    json!({ "rows": rows, "tasks": tasks, "next": next, "finished": finished }).to_string()
}

fn task(row: &TaskRow) -> Value {
    json!({ "id": row.id, "title": row.title, "status": row.status.as_str() })
}

/// The progress file with another status, and perhaps another commit, in the rows of a task;
/// nothing when no row of it can be edited.
#[wasm_bindgen]
pub fn with_task_status(
    text: &str,
    id: &str,
    status: &str,
    commit: Option<String>,
) -> Result<Option<String>, JsError> {
    let status = match status {
        "pending" => TaskStatus::Pending,
        "in-progress" => TaskStatus::InProgress,
        "completed" => TaskStatus::Completed,
        "blocked" => TaskStatus::Blocked,
        other => {
            let other = onloop_core::text::one_line(other);
            let known = "`pending`, `in-progress`, `completed` or `blocked`";
            return Err(JsError::new(&format!("found status `{other}`, expected {known}")));
        }
    };
    Ok(progress::with_status(text, id, &status, commit.as_deref()))
}

/// What a feature file declares: `{"status", "ready"}`.
#[wasm_bindgen]
pub fn read_feature(text: &str) -> String {
    json!({ "status": feature::status(text), "ready": feature::is_ready(text) }).to_string()
}

/// Where a workspace leads: `{"child", "marker", "reason"}`. `facts` is `{"context", "tasks",
/// "ready_feature", "artifacts", "summary"}`, with null for `tasks` where there is no progress
/// file.
#[wasm_bindgen]
pub fn route(profile: &str, facts: &str) -> Result<String, JsError> {
    let facts: Value = serde_json::from_str(facts)?;
    let unknown =
        |error: UnknownName| JsError::new(&onloop_core::text::one_line(&error.to_string()));
    let profile: Profile = named("profile", profile).map_err(unknown)?;
    let flag = |name: &str| {
        let expected = || JsError::new(&format!("`{name}` is missing; expected true or false"));
        facts[name].as_bool().ok_or_else(expected)
    };
    let tasks = match &facts["tasks"] {
        Value::Null => None,
        Value::String(word) if word == "none" => Some(Tasks::None),
        Value::String(word) if word == "settled" => Some(Tasks::Settled),
        Value::String(word) if word == "active" => Some(Tasks::Active),
        _ => return Err(JsError::new("`tasks` is not `none`, `settled`, `active` or null")),
    };
    let found = routing::route(
        profile,
        RoutingFacts {
            context: flag("context")?,
            tasks,
            ready_feature: flag("ready_feature")?,
            artifacts: flag("artifacts")?,
            summary: flag("summary")?,
        },
    );
    let answer = json!({
        "child": found.target().map(routing::Target::as_str),
        "marker": Token::announcing(found, profile).map(|marker| marker.to_string()),
        "reason": found.as_str(),
    });
    Ok(answer.to_string())
}

/// What `onloop auto rehearse` answers to one scenario.
#[wasm_bindgen]
pub fn rehearse(scenario: &str) -> String {
    let start = Start::example(["onloop", "auto", "rehearse"]);
    let args = RehearseArgs { file: "-".to_owned() };
    let mut program = verb_program(start, |io| play(io, args));
    let mut input = Some(scenario.as_bytes().to_vec());
    let mut said = String::new();
    let mut reply = None;
    loop {
        let outcome = match program.resume(reply) {
            Turn::Exit(_) => return said,
            Turn::Request(Request::ReadInput { .. }) => {
                Outcome::Input { bytes: input.take().unwrap_or_default().into() }
            }
            Turn::Request(Request::Say(Say::Result(text))) => {
                said.push_str(&text);
                Outcome::Done
            }
            Turn::Request(other) => unreachable!("a rehearsal touches nothing real: {other:?}"),
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(outcome) });
    }
}
