//! Git requests for a host in JavaScript, one step and one reply at a time.

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::{Array, Uint8Array};
use onloop_core::effect::wire::Message;
use onloop_core::git::{Task, TaskTurn, wire};
use wasm_bindgen::prelude::*;

thread_local! {
    static TASKS: RefCell<Tasks> = const { RefCell::new(Tasks { last: 0, running: BTreeMap::new() }) };
}

/// The tasks in progress, by number.
struct Tasks {
    last: u32,
    running: BTreeMap<u32, Task>,
}

/// Begins the task of a request, which is in a document with where it is performed. Returns its
/// number.
#[wasm_bindgen]
pub fn git_begin(json: String, attachments: Vec<Uint8Array>) -> Result<u32, JsError> {
    let (request, surroundings) = wire::read_beginning(message(json, &attachments))?;
    let task = Task::new(request, surroundings);
    Ok(TASKS.with_borrow_mut(|tasks| {
        tasks.last += 1;
        tasks.running.insert(tasks.last, task);
        tasks.last
    }))
}

/// Hands a task the reply to its last step (none the first time) and returns
/// `[turn document, attachment, …]`.
#[wasm_bindgen]
pub fn git_resume(
    number: u32,
    reply: Option<String>,
    attachments: Vec<Uint8Array>,
) -> Result<Array, JsError> {
    let reply = reply.map(|json| wire::read_reply(message(json, &attachments))).transpose()?;
    let taken = TASKS.with_borrow_mut(|tasks| tasks.running.remove(&number));
    let mut task = taken.ok_or_else(|| JsError::new("the task has ended"))?;
    let turn = task.resume(reply);
    if matches!(turn, TaskTurn::Step(_)) {
        TASKS.with_borrow_mut(|tasks| tasks.running.insert(number, task));
    }
    Ok(crate::array(wire::write_turn(turn)))
}

fn message(json: String, attachments: &[Uint8Array]) -> Message {
    Message { json, attachments: attachments.iter().map(Uint8Array::to_vec).collect() }
}
