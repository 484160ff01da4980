//! `ledger.jsonl` in the state home: the list of events that decides what a run is. Described in
//! `docs/state-format.md`.
//!
//! One JSON document a line, only ever appended. Each names the line before by its digest and ends
//! with a checksum of itself, so that nothing but a last line without its line break can be taken
//! for something that was never written.

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::document;
pub use super::run::Head;
use super::run::{run_of, value_of};
use onloop_run::{Checkpoint, Decider, Event, Run};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Name and version of the format.
pub const SCHEMA: &str = "onloop.ledger/v1";

/// What the first line names as the digest of the line before it.
const NOTHING_BEFORE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What stands between the members of a line and its checksum.
const CHECKSUM: &str = ",\"sha256\":\"";
/// What stands behind the checksum.
const END: &[u8] = b"\"}";
/// Characters of a digest in hexadecimal.
const DIGEST_CHARS: usize = 64;

/// How a ledger begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// With a run that begins.
    Begun,
    /// With a record from elsewhere that a person adopted.
    Adopted {
        /// The file that was read.
        from: String,
    },
    /// With what was known about a run whose ledger had been changed.
    Saved {
        /// The ledger that was changed.
        from: String,
    },
}

/// A ledger that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The run, as all its lines make it.
    pub run: Run,
    /// Its last whole line.
    pub head: Head,
    /// Bytes of its whole lines; what follows was torn by a power cut.
    pub whole_bytes: usize,
}

/// Why a ledger is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// A line is damaged or does not follow from those before it.
    #[error("line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it, as a clause.
        why: String,
    },
    /// There is no whole line.
    #[error("there is no whole line in it")]
    Empty,
    /// A line that was written is not there any more.
    #[error("line {last}: it is the last one, but line {written} had been written")]
    Cut {
        /// Number of the last line.
        last: u64,
        /// Number of the line that was written.
        written: u64,
    },
    /// It was written by a newer onloop.
    #[error("it has the format `{0}`, this onloop knows `{SCHEMA}`: upgrade onloop")]
    Newer(String),
    /// A line was added by a newer onloop.
    #[error(
        "line {line}: a newer onloop recorded `{event}`, which this one does not know: upgrade onloop"
    )]
    UnknownEvent {
        /// Its number, from 1.
        line: u64,
        /// What happened, which this onloop does not know.
        event: String,
    },
}

impl LedgerError {
    fn newer(schema: &str) -> LedgerError {
        LedgerError::Newer(text::one_line(schema))
    }
}

/// What every line has.
#[derive(Deserialize)]
struct Frame {
    seq: u64,
    at: String,
    prev: String,
}

/// The first line, which has the record besides. It can be long, so it is read once.
#[derive(Deserialize)]
struct FirstLine {
    schema: String,
    seq: u64,
    at: String,
    prev: String,
    event: String,
    record: Value,
}

/// What says whether this onloop knows the rest.
#[derive(Deserialize)]
struct Format {
    schema: String,
}

/// The first line, with its line break, and what it is known by.
pub fn begin(at: Timestamp, run: &Run, origin: &Origin, by: Option<&Decider>) -> (Vec<u8>, Head) {
    let before = Head { seq: 0, sha256: NOTHING_BEFORE.to_owned() };
    let mut members = Map::new();
    members.insert("schema".to_owned(), Value::from(SCHEMA));
    let (event, from) = match origin {
        Origin::Begun => ("run_begun", None),
        Origin::Adopted { from } => ("record_adopted", Some(from)),
        Origin::Saved { from } => ("record_saved", Some(from)),
    };
    members.insert("event".to_owned(), Value::from(event));
    if let Some(from) = from {
        members.insert("from".to_owned(), Value::from(from.as_str()));
    }
    members.insert("record".to_owned(), value_of(run, None));
    let mut bytes = Vec::new();
    let head = write(&mut bytes, &before, at, members, by);
    (bytes, head)
}

/// Adds the line for `event`, with its line break, to `out`; returns what it is known by.
pub fn append(
    out: &mut Vec<u8>,
    before: &Head,
    at: Timestamp,
    event: &Event,
    by: Option<&Decider>,
) -> Head {
    let event = serde_json::to_value(event).expect("an event has only string keys");
    let Value::Object(members) = event else { unreachable!("an event is tagged: {event}") };
    write(out, before, at, members, by)
}

fn write(
    out: &mut Vec<u8>,
    before: &Head,
    at: Timestamp,
    members: Map<String, Value>,
    by: Option<&Decider>,
) -> Head {
    let seq = before.seq + 1;
    let mut line = Map::new();
    line.insert("seq".to_owned(), Value::from(seq));
    line.insert("at".to_owned(), Value::from(at.to_rfc3339_millis()));
    line.extend(members);
    if let Some(by) = by {
        line.insert("by".to_owned(), serde_json::to_value(by).expect("only string keys"));
    }
    line.insert("prev".to_owned(), Value::from(before.sha256.as_str()));
    let start = out.len();
    serde_json::to_writer(&mut *out, &line).expect("a line has only string keys");
    out.pop();
    let checksum = sha256(&out[start..]);
    out.extend_from_slice(CHECKSUM.as_bytes());
    out.extend_from_slice(checksum.as_bytes());
    out.extend_from_slice(END);
    let head = Head { seq, sha256: sha256(&out[start..]) };
    out.push(b'\n');
    head
}

/// Reads a ledger; `written` is a line that is known to have been written to it.
///
/// # Errors
///
/// The first line that is damaged, out of order, or does not follow from those before it. A last
/// line without its line break is as if it had never been written.
pub fn read(bytes: &[u8], written: Option<&Head>) -> Result<Ledger, LedgerError> {
    let ledger = read_until(bytes, u64::MAX, written)?;
    if let Some(written) = written.filter(|written| written.seq > ledger.head.seq) {
        return Err(LedgerError::Cut { last: ledger.head.seq, written: written.seq });
    }
    Ok(ledger)
}

/// The run as it was when the line `last` had been written, with the errors of [`read`] up to
/// there.
pub fn read_until(bytes: &[u8], last: u64, written: Option<&Head>) -> Result<Ledger, LedgerError> {
    walk(bytes, last, written, |_, _| {})
}

/// As [`read_until`]; `see` is shown the run after each line, with the line's number.
///
/// # Errors
///
/// Those of [`read`].
pub fn walk(
    bytes: &[u8],
    last: u64,
    written: Option<&Head>,
    mut see: impl FnMut(u64, &Run),
) -> Result<Ledger, LedgerError> {
    let mut ledger: Option<Ledger> = None;
    let lines = (1u64..).zip(whole_lines(bytes));
    for (number, body) in lines.take_while(|(number, _)| *number <= last) {
        let bad = |why: String| LedgerError::Line { line: number, why };
        let (body, sha256) = sound(body).map_err(|why| bad(why.to_owned()))?;
        if written.is_some_and(|written| written.seq == number && written.sha256 != sha256) {
            return Err(bad("it is not the line that was written".to_owned()));
        }
        let head = Head { seq: number, sha256 };
        match &mut ledger {
            None => {
                let run = read_first(body)?;
                ledger = Some(Ledger { run, head, whole_bytes: body.len() + 1 });
            }
            Some(ledger) => take_next(body, ledger, head)?,
        }
        if let Some(ledger) = &ledger {
            see(number, &ledger.run);
        }
    }
    ledger.ok_or(LedgerError::Empty)
}

/// Takes what was `added` behind the whole lines of a ledger since it was read.
///
/// # Errors
///
/// Those of [`read`]; the lines before the one that is refused are taken.
pub fn extend(ledger: &mut Ledger, added: &[u8]) -> Result<(), LedgerError> {
    for body in whole_lines(added) {
        let seq = ledger.head.seq + 1;
        let bad = |why: &str| LedgerError::Line { line: seq, why: why.to_owned() };
        let (body, sha256) = sound(body).map_err(bad)?;
        take_next(body, ledger, Head { seq, sha256 })?;
    }
    Ok(())
}

/// The whole `lines` that are to stand behind the line `before`, each with what it is known by; `None`:
/// they are the first ones. Whether their events follow from those before them is not looked at: that
/// takes the whole ledger.
///
/// # Errors
///
/// The first line that is damaged, out of order or not behind the one before it, or that has no line
/// break; [`LedgerError::Empty`] where there is no line.
pub fn chain<'b>(
    before: Option<&Head>,
    lines: &'b [u8],
) -> Result<Vec<(Head, &'b str)>, LedgerError> {
    let nothing = Head { seq: 0, sha256: NOTHING_BEFORE.to_owned() };
    let mut chained: Vec<(Head, &str)> = Vec::new();
    let mut read_bytes = 0;
    for body in whole_lines(lines) {
        let before = chained.last().map(|(head, _)| head).or(before).unwrap_or(&nothing);
        let seq = before.seq + 1;
        let bad = |why: String| LedgerError::Line { line: seq, why };
        let (body, sha256) = sound(body).map_err(|why| bad(why.to_owned()))?;
        let frame: Frame = serde_json::from_str(body).map_err(|error| bad(error.to_string()))?;
        check_frame(&frame, before).map_err(bad)?;
        read_bytes += body.len() + 1;
        chained.push((Head { seq, sha256 }, body));
    }
    match chained.last() {
        None => Err(LedgerError::Empty),
        Some((last, _)) if read_bytes < lines.len() => {
            let why = "it has no line break".to_owned();
            Err(LedgerError::Line { line: last.seq + 1, why })
        }
        Some(_) => Ok(chained),
    }
}

/// The checkpoint that a line of a ledger speaks of, where it does. That the line is sound has been found
/// out before.
pub fn checkpoint_of(line: &str) -> Option<Checkpoint> {
    match serde_json::from_str(line).ok()? {
        Event::CheckpointTaken(checkpoint) => Some(checkpoint),
        _ => None,
    }
}

/// The last event that somebody decided, and who did, among these lines at the end of a ledger.
pub fn last_decision(lines: &[u8]) -> Option<(Decider, Event)> {
    #[derive(Deserialize)]
    struct Line {
        by: Option<Decider>,
    }
    let read = |line: &[u8]| {
        let by = serde_json::from_slice::<Line>(line).ok()?.by?;
        Some((by, serde_json::from_slice(line).ok()?))
    };
    lines.rsplit(|&byte| byte == b'\n').find_map(read)
}

/// Name of the checkpoint that the files of the run were last made those of, where nothing has been kept
/// since. That the lines are sound has been found out before.
pub fn restored_to(lines: &[u8]) -> Option<String> {
    let mut restored = None;
    for line in whole_lines(lines) {
        // Most lines are about something else, and few are worth reading twice.
        let speaks_of = |name: &str| memchr::memmem::find(line, name.as_bytes()).is_some();
        if !speaks_of("checkpoint_taken") && !speaks_of("work_restored") {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Event::CheckpointTaken(_)) => restored = None,
            Ok(Event::WorkRestored { to }) => restored = Some(to),
            Ok(_) | Err(_) => {}
        }
    }
    restored
}

/// The checkpoint `name` whose work is `commit`, where these lines speak of it, be it that a later one took
/// its name. That they are sound has been found out before.
pub fn checkpoint_at(lines: &[u8], name: &str, commit: &str) -> Option<Checkpoint> {
    let speaks_of_it = |line: &&[u8]| memchr::memmem::find(line, commit.as_bytes()).is_some();
    let texts =
        whole_lines(lines).filter(speaks_of_it).filter_map(|line| str::from_utf8(line).ok());
    let is_it = |taken: &Checkpoint| taken.moment.name() == name && taken.commit == commit;
    texts.filter_map(checkpoint_of).find(is_it)
}

/// The lines at the beginning of `bytes` that have a line break, without it.
fn whole_lines(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        // The first line can be long.
        let (line, rest) = bytes.split_at(memchr::memchr(b'\n', bytes)?);
        bytes = &rest[1..];
        Some(line)
    })
}

/// Takes a sound line without its line break, which is known by `head`.
fn take_next(body: &str, ledger: &mut Ledger, head: Head) -> Result<(), LedgerError> {
    read_next(body, ledger, head.seq)?;
    ledger.head = head;
    ledger.whole_bytes += body.len() + 1;
    Ok(())
}

fn read_first(line: &str) -> Result<Run, LedgerError> {
    let bad = |why: String| LedgerError::Line { line: 1, why };
    let first: FirstLine =
        serde_json::from_str(line).map_err(|error| match serde_json::from_str::<Format>(line) {
            Ok(Format { schema }) if schema != SCHEMA => LedgerError::newer(&schema),
            Ok(_) | Err(_) => bad(error.to_string()),
        })?;
    if first.schema != SCHEMA {
        return Err(LedgerError::newer(&first.schema));
    }
    if !["run_begun", "record_adopted", "record_saved"].contains(&first.event.as_str()) {
        return Err(bad(format!("`event` is {:?}, expected `run_begun`", first.event)));
    }
    let frame = Frame { seq: first.seq, at: first.at, prev: first.prev };
    check_frame(&frame, &Head { seq: 0, sha256: NOTHING_BEFORE.to_owned() }).map_err(bad)?;
    run_of(first.record).map_err(|error| bad(error.to_string()))
}

fn read_next(line: &str, ledger: &mut Ledger, number: u64) -> Result<(), LedgerError> {
    let bad = |why: String| LedgerError::Line { line: number, why };
    let value: Value = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
    let member = |name: &str| value[name].as_str().unwrap_or_default();
    let frame = Frame {
        seq: value["seq"].as_u64().unwrap_or_default(),
        at: member("at").to_owned(),
        prev: member("prev").to_owned(),
    };
    let at = check_frame(&frame, &ledger.head).map_err(bad)?;
    let name = member("event");
    if !name.is_empty() && !Event::names().contains(&name) {
        return Err(LedgerError::UnknownEvent { line: number, event: text::one_line(name) });
    }
    let event: Event = document::read(&value).map_err(|error| bad(error.to_string()))?;
    ledger.run.apply(at, &event).map_err(|refusal| {
        bad(format!("`{name}` does not follow from the lines before it: {refusal}"))
    })
}

/// Number, time and predecessor of a line.
fn check_frame(frame: &Frame, before: &Head) -> Result<Timestamp, String> {
    if frame.seq != before.seq + 1 {
        return Err(format!("`seq` is {}, expected {}", frame.seq, before.seq + 1));
    }
    if frame.prev != before.sha256 {
        return Err("`prev` is not the digest of the line before it".to_owned());
    }
    Timestamp::parse(&frame.at)
        .ok_or_else(|| format!("`at` is {:?}, expected a time", text::ellipsis(&frame.at, 80)))
}

/// A line whose checksum is that of its content, with its digest. That it is UTF-8 is found out
/// once, not for each of its strings.
fn sound(line: &[u8]) -> Result<(&str, String), &'static str> {
    let digest = digest_of_sound(line)?;
    let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    Ok((line, digest))
}

/// The digest of a line whose checksum is that of its content.
fn digest_of_sound(line: &[u8]) -> Result<String, &'static str> {
    const DAMAGED: &str = "its checksum is not that of its content";
    let end = line.len().wrapping_sub(CHECKSUM.len() + DIGEST_CHARS + END.len());
    let (members, rest) = line.split_at_checked(end).ok_or(DAMAGED)?;
    let checksum = rest.strip_prefix(CHECKSUM.as_bytes()).ok_or(DAMAGED)?;
    let checksum = checksum.strip_suffix(END).ok_or(DAMAGED)?;
    // Both digests begin with the members, which can be long.
    let mut digest = Sha256::new();
    digest.update(members);
    if text::hex(&digest.clone().finalize()).as_bytes() != checksum {
        return Err(DAMAGED);
    }
    digest.update(rest);
    Ok(text::hex(&digest.finalize()))
}

/// SHA-256 in lower case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    text::hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_run::DecisionChannel;

    #[test]
    fn lines_stand_behind_the_one_that_they_name() {
        let first = Head { seq: 6, sha256: NOTHING_BEFORE.to_owned() };
        let event = Event::RunPaused { reason: "later".to_owned(), interrupted: false };
        let mut lines = Vec::new();
        let seventh = append(&mut lines, &first, Timestamp::EPOCH, &event, None);
        let one = lines.len();
        let eighth = append(&mut lines, &seventh, Timestamp::EPOCH, &event, None);

        let heads = |before, lines| {
            let chained = chain(before, lines);
            chained.map(|lines| lines.into_iter().map(|(head, _)| head).collect::<Vec<_>>())
        };
        assert_eq!(heads(Some(&first), &lines), Ok(vec![seventh.clone(), eighth.clone()]));
        assert_eq!(heads(Some(&seventh), &lines[one..]), Ok(vec![eighth.clone()]));
        let why = |before, lines| heads(before, lines).unwrap_err().to_string();
        assert_eq!(why(None, &lines), "line 1: `seq` is 7, expected 1");
        assert_eq!(why(Some(&seventh), &lines), "line 8: `seq` is 7, expected 8");
        let other = Head { seq: 6, ..eighth.clone() };
        assert_eq!(
            why(Some(&other), &lines),
            "line 7: `prev` is not the digest of the line before it"
        );
        assert_eq!(why(Some(&first), &lines[..lines.len() - 1]), "line 8: it has no line break");
        assert_eq!(why(Some(&first), b""), "there is no whole line in it");
    }

    #[test]
    fn the_last_decision_is_found_behind_lines_that_were_cut() {
        let head = Head { seq: 6, sha256: NOTHING_BEFORE.to_owned() };
        let event = Event::RunPaused { reason: "later".to_owned(), interrupted: false };
        let by = |channel| Decider { user: Some("anna".to_owned()), channel };
        let mut lines = Vec::new();
        for channel in [DecisionChannel::Web, DecisionChannel::Telegram] {
            append(&mut lines, &head, Timestamp::EPOCH, &event, Some(&by(channel)));
        }
        append(&mut lines, &head, Timestamp::EPOCH, &event, None);
        assert_eq!(last_decision(&lines[7..]), Some((by(DecisionChannel::Telegram), event)));
        let last = lines[..lines.len() - 1].iter().rposition(|&byte| byte == b'\n');
        assert_eq!(last_decision(&lines[last.expect("three lines")..]), None);
    }

    #[test]
    fn a_bit_of_any_byte_of_a_line_is_noticed() {
        let before = Head { seq: 6, sha256: NOTHING_BEFORE.to_owned() };
        let mut line = Vec::new();
        let event =
            Event::RunPaused { reason: "\u{1F6D1} \"later\"".to_owned(), interrupted: false };
        append(&mut line, &before, Timestamp::EPOCH, &event, None);
        let line = line.strip_suffix(b"\n").expect("a whole line");
        assert_eq!(digest_of_sound(line), Ok(sha256(line)));
        let mut damaged = line.to_vec();
        for at in 0..line.len() {
            damaged[at] ^= 1 << (at % 8);
            assert!(digest_of_sound(&damaged).is_err(), "byte {at}");
            damaged[at] = line[at];
        }
        for length in 0..line.len() {
            assert!(digest_of_sound(&line[..length]).is_err(), "{length} bytes");
        }
    }
}
