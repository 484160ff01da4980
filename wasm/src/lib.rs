//! onloop's core for JavaScript. The npm package wraps this in a typed interface; nobody
//! else calls it.
//!
//! Documents cross the border as JSON text, which measures faster than building objects for
//! anything with tagged variants. Bytes cross as `Uint8Array`s beside the text.
//!
//! Nothing that lives here is handed out: programs are known by number, records are text.
//! After a trap the caller drops the whole instance, and no object is left that could reach
//! into the next one.

mod panic;
pub mod pure;
mod utf16;

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::{Array, Uint8Array};
use onloop_core::program::Program;
use onloop_core::wire::host::{self, Message};
use wasm_bindgen::prelude::*;

thread_local! {
    static PROGRAMS: RefCell<Programs> = const {
        RefCell::new(Programs { last: 0, running: BTreeMap::new() })
    };
}

/// The programs in progress, by number.
struct Programs {
    last: u32,
    running: BTreeMap<u32, Program>,
}

/// Prepares the instance; called once by the loader.
#[wasm_bindgen(start)]
pub fn start() {
    panic::report_to_javascript();
}

/// The version of onloop.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// What a hook says that breaks before it has said anything; nothing where the command line is
/// no hook's. `argv` is a JSON array of texts.
#[wasm_bindgen]
pub fn broken_hook_answer(argv: &str) -> Option<String> {
    let argv: Vec<String> = serde_json::from_str(argv).ok()?;
    onloop_core::program::answer_of_a_broken_hook(&argv)
}

/// Memory of the instance; it only grows.
#[wasm_bindgen]
pub fn memory_bytes() -> f64 {
    #[cfg(target_arch = "wasm32")]
    let pages = core::arch::wasm32::memory_size::<0>();
    // Where this is only compiled to be checked there is no such memory.
    #[cfg(not(target_arch = "wasm32"))]
    let pages = 0_usize;
    (pages * 65_536) as f64
}

/// Begins the program of a command line; `start` is a start document. Returns its number.
#[wasm_bindgen]
pub fn program_begin(start: &str) -> Result<u32, JsError> {
    let start = host::read_start(start)?;
    let program = Program::from_command_line(start);
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
            Some(host::read_reply(Message { json, attachments })?)
        }
    };
    let taken = PROGRAMS.with_borrow_mut(|programs| programs.running.remove(&number));
    let mut program = taken.ok_or_else(|| JsError::new("the program has ended"))?;
    let turn = program.resume(reply);
    if matches!(turn, onloop_core::program::Turn::Request(_)) {
        PROGRAMS.with_borrow_mut(|programs| programs.running.insert(number, program));
    }
    let message = host::write_turn(turn);
    let answer = Array::of1(&message.json.into());
    for bytes in message.attachments {
        answer.push(&Uint8Array::from(bytes.as_slice()));
    }
    Ok(answer)
}

/// Gives a program up that has not exited.
#[wasm_bindgen]
pub fn program_drop(number: u32) {
    PROGRAMS.with_borrow_mut(|programs| programs.running.remove(&number));
}
