//! What a tool answers: the same form for all of them.

use onloop_engine::error::CommandError;
use serde_json::{Value, json};

use super::tool::Tool;
use onloop_effect::Exit;
use onloop_syntax::limits;
use onloop_syntax::text;

/// The beginning of what a program says, up to a bound.
#[derive(Clone, Debug, Default)]
pub struct Capped {
    text: String,
    omitted_bytes: usize,
    limit_bytes: usize,
}

impl Capped {
    /// Nothing yet, and at most `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Capped {
        Capped { limit_bytes, ..Capped::default() }
    }

    /// Adds what fits.
    pub fn push(&mut self, more: &str) {
        let room = if self.omitted_bytes > 0 { 0 } else { self.limit_bytes - self.text.len() };
        let fits = text::prefix(more, room);
        self.text.push_str(fits);
        self.omitted_bytes += more.len() - fits.len();
    }

    /// Everything, if nothing was left out.
    pub fn whole(&self) -> Option<&str> {
        (self.omitted_bytes == 0).then_some(self.text.as_str())
    }

    /// Bytes that were given, omitted ones included.
    pub fn total_bytes(&self) -> usize {
        self.text.len() + self.omitted_bytes
    }

    /// The text, fit for showing, with a line that says how much was omitted.
    fn shown(&self) -> String {
        let shown = text::printable(&self.text);
        match self.omitted_bytes {
            0 => shown,
            omitted => format!("{shown}\n[… {omitted} bytes omitted …]\n"),
        }
    }
}

/// The answer to `tools/call` when the program of the tool has ended.
pub fn tool_result(tool: Tool, exit: Exit, said: &Capped, notes: &Capped) -> Value {
    let (result, notes) = (said.shown(), notes.shown());
    let parsed = said.whole().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let structured = json!({
        "outcome": outcome(exit),
        "exit_code": exit.code(),
        "result": parsed.unwrap_or_else(|| Value::from(result.as_str())),
        "notes": notes,
    });
    let is_error = match exit {
        Exit::Done | Exit::Paused => false,
        Exit::Failed => !tool.failure_is_an_answer() || result.is_empty(),
        Exit::Usage | Exit::Refused | Exit::Bug | Exit::Interrupted | Exit::Custom(_) => true,
    };
    // Results first: clients cut from behind. Failures first where there are any.
    let parts = if is_error { [notes, result] } else { [result, notes] };
    let words: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|p| !p.is_empty()).collect();
    let text = if words.is_empty() { outcome(exit).to_owned() } else { words.join("\n\n") };
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": structured,
        "isError": is_error,
    })
}

/// The answer to `tools/call` when no program could be started.
pub fn error_result(error: &CommandError) -> Value {
    let mut notes = Capped::new(limits::MCP_NOTES_BYTES);
    notes.push(&error.render());
    tool_result(Tool::Run, error.kind().exit(), &Capped::default(), &notes)
}

/// The answer to a `run` that continues in the background.
pub fn started_result(run_id: &str) -> Value {
    let notes = format!(
        "Run {run_id} continues in the background. It pauses at a gate for a person, and when this \
         server ends.\n`status` with this `run_id` shows its state. A subscription to \
         onloop://runs/{run_id}/record reports each change. `stop` pauses it.\n"
    );
    json!({
        "content": [{ "type": "text", "text": notes }],
        "structuredContent": {
            "outcome": "begun",
            "exit_code": 0,
            "result": { "run_id": run_id, "status": "running" },
            "notes": notes,
        },
        "isError": false,
    })
}

fn outcome(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done",
        Exit::Failed => "failed",
        Exit::Usage => "usage",
        Exit::Paused => "paused",
        Exit::Refused => "refused",
        Exit::Bug => "bug",
        Exit::Interrupted => "interrupted",
        Exit::Custom(_) => "ended",
    }
}
