//! Traces: the exchange between a program and its host as lines of JSON. A header has the program's
//! [`Start`]; then come each request and each reply, and the exit at the end.
//!
//! A recording host appends each line before it acts on it, so the last line before a bug is its
//! cause. `onloop replay` reads traces. The format is described in `docs/traces.md`.

mod redact;

use serde_json::{Map, Value, json};

use super::wire::{self, Message};
use super::{Reply, Start, Turn};
use onloop_syntax::{limits, text};
use redact::TraceRedaction;

/// Version of the format.
const FORMAT: u64 = 1;
/// The member that holds the bytes that a document refers to by position.
const ATTACHMENTS: &str = "attachments";

/// Writes the exchange between one program and its host as lines.
#[derive(Debug)]
pub struct Tracer {
    redaction: TraceRedaction,
}

impl Tracer {
    /// A tracer for a program with this start, and the header. `host` names the host that performs
    /// the requests: `native` or `node`.
    pub fn new(start: &Start, host: &str) -> (Tracer, String) {
        let tracer = Tracer { redaction: TraceRedaction::new(&start.env) };
        let mut start = serde_json::to_value(start).expect("the document has only string keys");
        tracer.redaction.environment(&mut start["env"]);
        tracer.redaction.document(&mut start);
        let version = env!("CARGO_PKG_VERSION");
        let header = json!({"trace": FORMAT, "onloop": version, "host": host, "start": start});
        (tracer, format!("{header}\n"))
    }

    /// The line for a program's next request, or for its exit.
    pub fn turn(&self, turn: &Turn) -> String {
        self.turn_message(&wire::write_turn(turn.clone()))
    }

    /// The same for a turn that is already serialized.
    pub fn turn_message(&self, turn: &Message) -> String {
        format!("{}\n", self.line(parsed(&turn.json), &turn.attachments))
    }

    /// The line for a host's answer.
    pub fn reply(&self, reply: &Reply) -> String {
        let mut reply = reply.clone();
        self.redaction.reply(&mut reply);
        self.reply_line(&wire::write_reply(reply))
    }

    /// The same for a reply that is already serialized.
    pub fn reply_message(&self, reply: &Message) -> String {
        match wire::read_reply(reply.clone()) {
            Ok(reply) => self.reply(&reply),
            Err(_) => self.reply_line(reply),
        }
    }

    fn reply_line(&self, reply: &Message) -> String {
        let document = json!({"reply": parsed(&reply.json)});
        format!("{}\n", self.line(document, &reply.attachments))
    }

    fn line(&self, mut document: Value, attachments: &[Vec<u8>]) -> Value {
        self.redaction.document(&mut document);
        if let (false, Value::Object(members)) = (attachments.is_empty(), &mut document) {
            let bytes = attachments.iter().map(|bytes| self.redaction.bytes(bytes)).collect();
            members.insert(ATTACHMENTS.to_owned(), Value::Array(bytes));
        }
        document
    }
}

fn parsed(json: &str) -> Value {
    // Third-party hosts may send anything; the reader of the reply reports what is wrong.
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

/// A trace that was read.
#[derive(Debug)]
pub struct Trace {
    /// Version of onloop that recorded it.
    pub onloop: String,
    /// The host that performed the requests.
    pub host: String,
    /// The start of the program.
    pub start: Start,
    /// The exchange, with the number of each line in the file.
    pub lines: Vec<(usize, TraceLine)>,
}

/// A line of a [`Trace`] after the header.
#[derive(Debug)]
pub enum TraceLine {
    /// A request of the program, or its exit.
    Turn(Value),
    /// A reply of the host.
    Reply(Message),
}

/// Why a file cannot be replayed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATrace {
    /// The first line is not a header.
    #[error("its first line is not the header of a trace")]
    Header,
    /// A later onloop wrote it, in this version of the format.
    #[error("it has version {0} of the trace format; this onloop reads version {FORMAT}")]
    Newer(u64),
    /// The line with this number is neither a request nor a reply nor an exit.
    #[error("line {0} is not a request, a reply or an exit")]
    Line(usize),
}

impl Trace {
    /// Reads a trace. A last line without a line break is left out: the recording stopped in it.
    ///
    /// # Errors
    ///
    /// [`NotATrace`].
    pub fn read(text: &str) -> Result<Trace, NotATrace> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.split('\n').zip(1..);
        let header = lines.next().map_or("", |(line, _)| line);
        let header: Map<String, Value> =
            serde_json::from_str(header).map_err(|_| NotATrace::Header)?;
        match header.get("trace").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(format) if format > FORMAT => return Err(NotATrace::Newer(format)),
            Some(_) | None => return Err(NotATrace::Header),
        }
        let word = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        let start =
            header.get("start").cloned().and_then(|start| serde_json::from_value(start).ok());
        let (Some(onloop), Some(host), Some(start)) = (word("onloop"), word("host"), start) else {
            return Err(NotATrace::Header);
        };
        let lines = lines
            .map(|(line, number)| {
                read_line(line).map(|line| (number, line)).ok_or(NotATrace::Line(number))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Trace { onloop, host, start, lines })
    }
}

fn read_line(line: &str) -> Option<TraceLine> {
    let value: Value = serde_json::from_str(line).ok()?;
    let members = value.as_object()?;
    let Some(reply) = members.get("reply") else {
        let is_turn = members.contains_key("request") || members.contains_key("exit");
        return is_turn.then_some(TraceLine::Turn(value));
    };
    let attachments = members.get(ATTACHMENTS).and_then(Value::as_array);
    let attachments = attachments.into_iter().flatten().map(redact::read_bytes);
    let attachments = attachments.collect::<Option<Vec<_>>>()?;
    Some(TraceLine::Reply(Message { json: reply.to_string(), attachments }))
}

/// Whether a turn can be the recorded one. Redacted or cut parts of the recording match anything.
pub fn is_same(recorded: &Value, now: &Value) -> bool {
    match (recorded, now) {
        (Value::String(recorded), Value::String(now)) => redact::matches(recorded, now),
        (Value::Array(recorded), Value::Array(now)) => {
            recorded.len() == now.len()
                && recorded.iter().zip(now).all(|(recorded, now)| is_same(recorded, now))
        }
        (Value::Object(recorded), Value::Object(now)) => {
            recorded.len() == now.len()
                && recorded
                    .iter()
                    .all(|(name, recorded)| now.get(name).is_some_and(|now| is_same(recorded, now)))
        }
        (recorded, now) => recorded == now,
    }
}

/// A shell command that records a program with this command line, for people to copy.
pub fn recording_command(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| text::shell_word(word)).collect();
    format!("ONLOOP_TRACE=trace.jsonl {}", words.join(" "))
}

/// Whether the recording cut a part of the reply.
pub fn was_cut(reply: &Message) -> bool {
    let cut =
        |bytes: &Vec<u8>| bytes.len() >= limits::TRACE_BODY_BYTES && bytes.ends_with(b" bytes]");
    reply.attachments.iter().any(cut)
}

#[cfg(test)]
mod tests;
