//! Watching a turn while it runs: its transcript is written as it grows, the status line shows what
//! the agent does, and a turn of which nothing good can come any more is ended.

use super::cause::{Cause, wait_reason};
use super::rollout::Rollout;

use super::{Turn, cost_left, tokens_left};
use crate::agent::{AgentErrorKind, AgentState, Retry};
use crate::effect::{Capture, Durability, Io, ProcessEnd, ProcessSpec, Watched};
use crate::engine::store::Store;
use crate::engine::work::{WorkError, follow_recorded};
use crate::money::Money;
use crate::run::WaitReason;
use crate::time::Timestamp;
use crate::tokens::Tokens;
use crate::{limits, text};

/// A turn that runs, as far as its stream has told of it.
pub(super) struct Watch<'a> {
    turn: &'a Turn<'a>,
    /// What the stream comes to.
    pub(super) state: AgentState,
    /// The end of what was said and done, for people.
    pub(super) transcript: String,
    /// Why it was ended before it had ended itself.
    pub(super) ended: Option<Cause>,
    log: Log,
    /// Bytes of the stream that have been read.
    read_bytes: u64,
    guarded: bool,
    /// What the client writes beside its stream, where it does.
    rollout: Option<Rollout>,
    life: Life,
}

/// Bytes of a transcript that are kept for the record.
const KEPT_BYTES: usize = 2 * limits::RECORDED_OUTPUT_BYTES;

impl<'a> Watch<'a> {
    /// A turn that has not begun, whose transcript goes to the file `log`.
    pub(super) async fn new(
        turn: &'a Turn<'a>,
        state: AgentState,
        session: Option<&str>,
        log: String,
    ) -> Watch<'a> {
        let rollout = Rollout::of(turn.io, turn.client, session).await;
        // An earlier turn of the attempt may have begun it.
        let size_bytes = turn.io.stat(&log).await.map_or(0, |stat| stat.size_bytes);
        let log = Log { path: log, size_bytes, is_broken: false };
        Watch {
            turn,
            state,
            transcript: String::new(),
            ended: None,
            log,
            read_bytes: 0,
            guarded: false,
            rollout,
            life: Life { signs: 0, silent_ms: 0, seen_at: turn.io.now() },
        }
    }

    /// Starts the client and follows it to its end. `None`: it was ended, see `ended`.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or it cannot be recorded which processes act.
    pub(super) async fn follow(
        &mut self,
        spec: ProcessSpec,
        store: &mut Store,
    ) -> Result<Option<ProcessEnd>, WorkError> {
        let io = self.turn.io;
        let step = self.turn.record.step.number;
        let bounds = Bounds { cost: cost_left(store.run()), tokens: tokens_left(store.run()) };
        let on_lines = async |bytes: &[u8]| self.look(bytes, &bounds).await;
        follow_recorded(io, store, step, spec, on_lines).await
    }

    /// Takes what the client wrote, if anything.
    async fn look(&mut self, bytes: &[u8], bounds: &Bounds) -> Watched {
        self.read_bytes += bytes.len() as u64;
        let mut said = self.state.push(bytes);
        said += &self.read_beside().await;
        self.write(said).await;
        if !self.guarded && self.turn.is_unguarded(&self.state) {
            self.guarded = !self.turn.judged().await.is_empty();
            if !self.guarded {
                self.ended = Some(Cause::Unguarded);
            }
        }
        if self.ended.is_none() {
            self.ended =
                bounds.passed(self.turn, &self.state).map(Cause::Bound).or_else(|| self.hopeless());
        }
        match self.ended {
            Some(_) => Watched::Ends,
            None => Watched::GoesOn(Some(activity(self.turn, &self.state))),
        }
    }

    /// Why nothing good can come of the turn any more. No client can be trusted to give up.
    fn hopeless(&mut self) -> Option<Cause> {
        let now = self.turn.io.now();
        self.life.look(self.state.signs(), now);
        if self.state.too_long() >= limits::SAME_ERRORS {
            return Some(Cause::TooLong);
        }
        let retry = self.state.retrying();
        if let Some(cause) = retry.and_then(|retry| given_up(retry, now)) {
            return Some(cause);
        }
        let stall_ms = self.turn.conditions.stall_ms;
        let (works, longest_ms) = match self.state.current_call() {
            Some(call) => (Some(&call.tool), stall_ms.max(limits::TOOL_STALL_TIMEOUT_MS)),
            None => (None, stall_ms),
        };
        if self.life.silent_ms < longest_ms {
            return None;
        }
        if let Some(why) = retry.and_then(|retry| wait_reason(retry.error.kind)) {
            return Some(Cause::NotServed { why, resets_at: None });
        }
        let silence = text::span(longest_ms);
        let while_tool = works.map_or_else(String::new, |tool| format!(" while `{tool}` ran"));
        Some(Cause::Stalled(format!("agent ended: no sign of life for {silence}{while_tool}")))
    }

    /// Takes what is only in the capture: what came last, and all of it where the host hands no
    /// lines over.
    pub(super) async fn finish(&mut self, end: Option<&ProcessEnd>) {
        let mut said = String::new();
        if let Some(end) = end {
            for part in unread(&end.stdout, self.read_bytes) {
                said += &self.state.push(&part);
            }
        }
        said += &self.state.finish();
        if let Some(rollout) = &mut self.rollout {
            rollout.is_due();
        }
        said += &self.read_beside().await;
        if let Some(end) = end {
            said += &noted(&end.stderr.text());
        }
        if let Some(cause) = &self.ended {
            said += &format!("! {}\n", self.turn.told(cause));
        }
        self.write(said).await;
    }

    async fn read_beside(&mut self) -> String {
        let Some(rollout) = &mut self.rollout else { return String::new() };
        match self.state.session() {
            Some(session) => {
                let bytes = rollout.read(self.turn.io, session).await;
                self.state.push_beside(&bytes)
            }
            None => String::new(),
        }
    }

    async fn write(&mut self, said: String) {
        if said.is_empty() {
            return;
        }
        let said = self.turn.io.redacted(&said);
        self.log.add(self.turn.io, &said).await;
        if self.turn.conditions.verbose {
            self.turn.io.note(text::printable(said.trim_end())).await;
        }
        self.transcript += &said;
        if self.transcript.len() > 2 * KEPT_BYTES {
            self.transcript = text::suffix(&self.transcript, KEPT_BYTES).to_owned();
        }
    }
}

/// How long a turn has given no sign of life.
struct Life {
    /// Signs that there were.
    signs: u64,
    silent_ms: u64,
    seen_at: Timestamp,
}

impl Life {
    /// A machine that was asleep has not been waiting: of the time since the last look no more
    /// counts than there can be between two of them.
    fn look(&mut self, signs: u64, now: Timestamp) {
        let since_ms = now.millis_since(self.seen_at).min(5 * limits::TURN_LOOK_MS);
        let is_silent = signs == self.signs;
        self.silent_ms = if is_silent { self.silent_ms + since_ms } else { 0 };
        (self.signs, self.seen_at) = (signs, now);
    }
}

/// Why a client need not try again: its key is refused for good, or it would wait by itself for so
/// long that nobody could tell it from one that hangs.
fn given_up(retry: &Retry, now: Timestamp) -> Option<Cause> {
    if retry.error.kind == AgentErrorKind::Auth {
        return (retry.times >= limits::SAME_ERRORS).then(|| Cause::Rejected(retry.error.clone()));
    }
    let wait_ms = retry.wait_ms.filter(|wait_ms| *wait_ms > limits::CLIENT_PAUSE_MS)?;
    let why = match wait_reason(retry.error.kind) {
        Some(why @ (WaitReason::Limited | WaitReason::Overloaded)) => why,
        Some(WaitReason::Unreachable) | None => return None,
    };
    let wait_ms = i64::try_from(wait_ms).unwrap_or(i64::MAX);
    let at = Timestamp::from_millis(now.as_millis().saturating_add(wait_ms));
    Some(Cause::NotServed { why, resets_at: Some(at) })
}

/// What a turn may use.
struct Bounds {
    cost: Option<Money>,
    tokens: Option<u64>,
}

impl Bounds {
    /// Which bound does not hold any more, on one line.
    fn passed(&self, turn: &Turn<'_>, state: &AgentState) -> Option<String> {
        let tokens = state.tokens().map(Tokens::total);
        if let (Some(limit), Some(used)) = (self.tokens, tokens)
            && used > limit
        {
            return Some(format!("agent ended: it has used {used} tokens, and {limit} were left"));
        }
        let (limit, (cost, as_of)) = (self.cost?, turn.cost(state)?);
        let estimated =
            as_of.map_or_else(String::new, |day| format!(" (estimated, prices of {day})"));
        (cost > limit).then(|| {
            format!(
                "agent ended: this turn has cost {cost} USD{estimated}, and {limit} USD were left"
            )
        })
    }
}

/// A file that grows by what people read.
struct Log {
    path: String,
    size_bytes: u64,
    /// It could not be written; that does not change what is done.
    is_broken: bool,
}

impl Log {
    async fn add(&mut self, io: &Io, said: &str) {
        let size_bytes = self.size_bytes + said.len() as u64;
        // What the client wrote is kept beside it.
        if self.is_broken || size_bytes > limits::LOG_HEAD_BYTES as u64 {
            return;
        }
        let bytes = said.as_bytes().to_vec();
        let added = io.append(&self.path, bytes, self.size_bytes, Durability::Relaxed).await;
        self.is_broken = added.is_err();
        self.size_bytes = size_bytes;
    }
}

/// What the agent does now: `Bash: cargo test · 18k tokens · $0.42`.
fn activity(turn: &Turn<'_>, state: &AgentState) -> String {
    let doing = match state.current_call() {
        Some(call) => call.line(),
        None if state.retrying().is_some() => "tries again".to_owned(),
        None => text::one_line(state.said()),
    };
    let mut parts = vec![turn.io.redacted(&text::ellipsis(&doing, 120))];
    if let Some(tokens) = state.tokens() {
        parts.push(match tokens.total() {
            few @ 0..=9_999 => format!("{few} tokens"),
            many => format!("{}k tokens", many / 1000),
        });
    }
    parts.extend(turn.cost(state).map(|(cost, as_of)| {
        let about = if as_of.is_some() { "~" } else { "" };
        format!("{about}${cost}")
    }));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// What of a capture has not been read, where `read_bytes` have.
fn unread(capture: &Capture, read_bytes: u64) -> Vec<Vec<u8>> {
    let tail_at = capture.total_bytes - capture.tail.len() as u64;
    let from = |bytes: &[u8], at: u64| {
        let skipped = usize::try_from(read_bytes.saturating_sub(at)).unwrap_or(usize::MAX);
        bytes.get(skipped..).unwrap_or_default().to_vec()
    };
    let mut parts = vec![from(&capture.head, 0)];
    if capture.omitted_bytes() > 0 && read_bytes < tail_at {
        // The rest of a line that was cut in the middle is no line.
        parts.push(b"\n".to_vec());
    }
    parts.push(from(&capture.tail, tail_at));
    parts
}

/// What a client wrote to standard error, as notes.
fn noted(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("# {}\n", text::ellipsis(line.trim_end(), 1000))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sleep_of_the_machine_is_no_silence() {
        let at = |s: i64| Timestamp::from_millis(s * 1000);
        let mut life = Life { signs: 0, silent_ms: 0, seen_at: at(0) };
        for (s, signs, silent_s) in
            [(2, 0, 2), (4, 0, 4), (5, 1, 0), (7, 1, 2), (40_000, 1, 12), (39_000, 1, 12)]
        {
            life.look(signs, at(s));
            assert_eq!(life.silent_ms, silent_s * 1000, "{s}");
        }
    }

    #[test]
    fn nothing_of_a_capture_is_read_twice_or_left_out() {
        let all = b"0123456789";
        for limit in 0..=6 {
            let head = all.len().min(limit);
            let tail = (all.len() - head).min(limit);
            let capture = Capture {
                head: all[..head].to_vec().into(),
                tail: all[all.len() - tail..].to_vec().into(),
                total_bytes: all.len() as u64,
            };
            for read in 0..=all.len() {
                let parts = unread(&capture, read as u64).concat();
                let text = String::from_utf8(parts).unwrap();
                let rest = String::from_utf8(all[read..].to_vec()).unwrap();
                let is_whole = 2 * limit >= all.len() || read >= all.len() - tail;
                match is_whole {
                    true => assert_eq!(text, rest, "{limit} {read}"),
                    false => assert!(text.contains('\n'), "{limit} {read}: {text}"),
                }
            }
        }
    }
}
