//! A turn as people read it: what was said, each call with how it ended, and what went wrong.

use super::super::event::{AgentEvent, CallEnd, TurnEnd};
use super::AgentState;
use onloop_syntax::text;

/// Lines that are shown of what a tool said when it failed.
const FAILED_LINES: usize = 12;

/// What an event adds to a transcript of the turn `state`, which has taken it already.
pub(super) fn line(event: &AgentEvent, state: &AgentState) -> String {
    match event {
        AgentEvent::SessionBegun { session, model, version } => {
            let model = model.as_ref().map_or_else(String::new, |model| format!(", {model}"));
            let version = version.as_ref().map_or_else(String::new, |v| format!(" {v}"));
            format!("— {}{version}{model}, session {session}\n", state.client().as_str())
        }
        AgentEvent::Said(text) | AgentEvent::SaidPart(text) | AgentEvent::SaidAside(text) => {
            format!("{}\n", text.trim_end())
        }
        AgentEvent::CallBegun(call) => format!("→ {}\n", call.line()),
        AgentEvent::CallEnded { id, end, output } => ended(id, *end, output, state),
        AgentEvent::ModelNamed(_)
        | AgentEvent::Used(_)
        | AgentEvent::Cost(_)
        | AgentEvent::Working => String::new(),
        AgentEvent::Limited(limit) => {
            let what = if limit.is_reached { "reached" } else { "near" };
            let window = match limit.window.as_str() {
                "" => String::new(),
                window => format!(" ({window})"),
            };
            let until = limit
                .resets_at
                .map_or_else(String::new, |at| format!(", until {}", at.to_rfc3339()));
            format!("! the limit on usage is {what}{window}{until}\n")
        }
        AgentEvent::Retrying { error, wait_ms } => {
            let wait =
                wait_ms.map_or_else(String::new, |ms| format!(" in {} s", ms.div_ceil(1000)));
            format!("! again{wait}: {}\n", text::one_line(&error.message))
        }
        AgentEvent::Erred(error) => format!("! {}\n", error.message),
        AgentEvent::Ended(TurnEnd::Completed) => String::new(),
        AgentEvent::Ended(TurnEnd::Failed(error)) => format!("! ended: {}\n", error.message),
        AgentEvent::Noted(note) => format!("# {}\n", text::one_line(note)),
    }
}

fn ended(id: &str, end: CallEnd, output: &str, state: &AgentState) -> String {
    let name = state.open_call(id).map_or("a call", |call| call.tool.as_str());
    let said = |lines: usize| -> String {
        let shown = output.lines().filter(|line| !line.trim().is_empty());
        let shown: Vec<&str> = shown.take(lines).collect();
        shown.iter().map(|line| format!("  | {}\n", text::ellipsis(line, 400))).collect()
    };
    match end {
        CallEnd::Done => String::new(),
        CallEnd::Failed => format!("✗ {name} failed\n{}", said(FAILED_LINES)),
        CallEnd::Denied => format!("✗ {name} denied\n{}", said(FAILED_LINES)),
    }
}
