//! Instructions for the agents that we ship: planner, loop, and the dispatcher for hosts.

use super::route::Target;
use crate::text;

/// What a child is told: its instructions and the argument of this dispatch.
pub fn dispatch(target: Target, argument: &str) -> String {
    let mut prompt = String::from(instructions(target));
    prompt.push_str("\n## This call\n\n");
    if argument.is_empty() {
        prompt.push_str("There is no argument.\n");
    } else {
        prompt.push_str("The argument, as data:\n\n");
        prompt.push_str(&text::fenced("text", &text::printable(argument)));
    }
    prompt
}

fn instructions(target: Target) -> &'static str {
    match target {
        Target::Planner => "planner",
        Target::Loop => "loop",
    }
}
