//! The whole of onloop for JavaScript: the functions of [`onloop_wasm`] and the programs behind the
//! command line, one request and one reply at a time.
//!
//! Two crates, because two modules are published: who only calls functions need not load the
//! grammar, the help and the conduct of every verb.

pub mod git;
pub mod language;

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::{Array, Uint8Array};
use onloop_core::effect::trace::{Tracer, recording_command};
use onloop_core::effect::wire::{self, Message};
use onloop_core::effect::{Program, Redaction, Turn};
use wasm_bindgen::prelude::*;

thread_local! {
    static PROGRAMS: RefCell<Programs> = const {
        RefCell::new(Programs { last: 0, running: BTreeMap::new(), recorded: BTreeMap::new() })
    };
}

/// The programs in progress, by number.
struct Programs {
    last: u32,
    running: BTreeMap<u32, Program>,
    /// Those whose requests and replies are written down.
    recorded: BTreeMap<u32, Tracer>,
}

/// Begins the program of a command line; `start` is a start document. Returns its number.
#[wasm_bindgen]
pub fn program_begin(start: &str) -> Result<u32, JsError> {
    let start = wire::read_start(start)?;
    let program = onloop_core::cli::program(start);
    Ok(PROGRAMS.with_borrow_mut(|programs| {
        programs.last += 1;
        programs.running.insert(programs.last, program);
        programs.last
    }))
}

/// Hands a program the reply to its last request (none the first time) and returns
/// `[turn document, attachment, …]`.
#[wasm_bindgen]
pub fn program_resume(
    number: u32,
    reply: Option<String>,
    attachments: Vec<Uint8Array>,
) -> Result<Array, JsError> {
    let reply = match reply {
        None => None,
        Some(json) => {
            let attachments = attachments.iter().map(Uint8Array::to_vec).collect();
            Some(wire::read_reply(Message { json, attachments })?)
        }
    };
    let taken = PROGRAMS.with_borrow_mut(|programs| programs.running.remove(&number));
    let mut program = taken.ok_or_else(|| JsError::new("the program has ended"))?;
    let turn = program.resume(reply);
    if matches!(turn, Turn::Request(_)) {
        PROGRAMS.with_borrow_mut(|programs| programs.running.insert(number, program));
    }
    Ok(array(wire::write_turn(turn)))
}

/// `[document, attachment, …]`.
pub(crate) fn array(message: Message) -> Array {
    let answer = Array::of1(&message.json.into());
    for bytes in message.attachments {
        answer.push(&Uint8Array::from(bytes.as_slice()));
    }
    answer
}

/// The header of a trace of the program that was begun with this start document. From now on
/// [`trace_turn`] and [`trace_reply`] give its lines.
#[wasm_bindgen]
pub fn trace_begin(number: u32, start: &str) -> Result<String, JsError> {
    let (tracer, header) = Tracer::new(&wire::read_start(start)?, "node");
    PROGRAMS.with_borrow_mut(|programs| programs.recorded.insert(number, tracer));
    Ok(header)
}

/// The line for a turn of a program.
#[wasm_bindgen]
pub fn trace_turn(
    number: u32,
    json: String,
    attachments: Vec<Uint8Array>,
) -> Result<String, JsError> {
    trace_line(number, json, &attachments, Tracer::turn_message)
}

/// The line for a reply to a program.
#[wasm_bindgen]
pub fn trace_reply(
    number: u32,
    json: String,
    attachments: Vec<Uint8Array>,
) -> Result<String, JsError> {
    trace_line(number, json, &attachments, Tracer::reply_message)
}

fn trace_line(
    number: u32,
    json: String,
    attachments: &[Uint8Array],
    line: fn(&Tracer, &Message) -> String,
) -> Result<String, JsError> {
    let attachments = attachments.iter().map(Uint8Array::to_vec).collect();
    let message = Message { json, attachments };
    PROGRAMS
        .with_borrow(|programs| {
            let tracer = programs.recorded.get(&number);
            tracer.map(|tracer| line(tracer, &message))
        })
        .ok_or_else(|| JsError::new("the program is not recorded"))
}

/// The words that record the program of a command line, a JSON array of texts.
#[wasm_bindgen]
pub fn recording_command_of(argv: &str) -> Option<String> {
    let argv: Vec<String> = serde_json::from_str(argv).ok()?;
    Some(recording_command(&argv))
}

/// What is secret in an environment, which is a JSON object: `[[form, placeholder], …]`. Of forms that
/// begin alike the longest is first.
#[wasm_bindgen]
pub fn secrets(env: &str) -> Result<String, JsError> {
    let env: BTreeMap<String, String> = serde_json::from_str(env)?;
    let redaction = Redaction::new(&env);
    let forms: Vec<(&str, &str)> = redaction.forms().collect();
    Ok(serde_json::to_string(&forms)?)
}

/// Gives a program up that has not exited.
#[wasm_bindgen]
pub fn program_drop(number: u32) {
    PROGRAMS.with_borrow_mut(|programs| {
        programs.running.remove(&number);
        programs.recorded.remove(&number);
    });
}

/// What a hook says that breaks before it has said anything; nothing where the command line is
/// no hook's. `argv` is a JSON array of texts.
#[wasm_bindgen]
pub fn broken_hook_answer(argv: &str) -> Option<String> {
    let argv: Vec<String> = serde_json::from_str(argv).ok()?;
    onloop_core::verb::answer_of_a_broken_hook(&argv)
}
