//! The loop between a program and its host.

use onloop_core::effect::{Exit, Program, Turn};

use crate::host::Host;

/// Performs what `program` asks for until it exits.
pub fn drive(host: &mut dyn Host, mut program: Program) -> Exit {
    let mut reply = None;
    loop {
        match program.resume(reply.take()) {
            Turn::Request(request) => reply = Some(host.perform(request)),
            Turn::Exit(exit) => return exit,
        }
    }
}
