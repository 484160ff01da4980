//! Listening to an agent's client: its stream is folded as it comes, and what people read of it is
//! written to a log that grows.

use super::log_times::LogTimes;
use onloop_agents::AgentState;
use onloop_effect::{Capture, Durability, Io, ProcessEnd};
use onloop_sessions::handsoff::config::Prices;
use onloop_syntax::money::Money;
use onloop_syntax::{limits, text};

/// Bytes of a transcript that are kept for the record.
const KEPT_BYTES: usize = 2 * limits::RECORDED_OUTPUT_BYTES;

/// A client that is listened to.
pub struct Listener {
    io: Io,
    /// What its stream comes to.
    pub state: AgentState,
    /// The end of what was said and done, for people.
    pub(crate) transcript: String,
    log: Log,
    /// Bytes of the stream that have been read.
    read_bytes: u64,
    is_verbose: bool,
}

impl Listener {
    /// For a client that has written nothing yet, whose transcript goes to the end of the file `log`
    /// and, where that is wanted, to the terminal.
    pub async fn new(io: &Io, state: AgentState, log: String, is_verbose: bool) -> Listener {
        let size_bytes = io.stat(&log).await.map_or(0, |stat| stat.size_bytes);
        let log = Log { path: log, size_bytes, times: None, is_broken: false };
        Listener {
            io: io.clone(),
            state,
            transcript: String::new(),
            log,
            read_bytes: 0,
            is_verbose,
        }
    }

    /// Writes to the file `path` when the log grows.
    pub(crate) fn with_times(mut self, path: String) -> Listener {
        self.log.times = Some(LogTimes::new(path));
        self
    }

    /// Takes what the client wrote; returns what that adds to the transcript.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.read_bytes += bytes.len() as u64;
        self.state.set_time(self.io.now());
        self.state.push(bytes)
    }

    /// Takes what is only in the capture: what came last, and all of it where the host hands no lines
    /// over. Returns what that adds to the transcript.
    pub fn finish(&mut self, end: Option<&ProcessEnd>) -> String {
        let mut said = String::new();
        self.state.set_time(self.io.now());
        if let Some(end) = end {
            for part in unread(&end.stdout, self.read_bytes) {
                said += &self.state.push(&part);
            }
        }
        said += &self.state.finish();
        said
    }

    /// Adds to the transcript.
    pub async fn write(&mut self, said: String) {
        if said.is_empty() {
            return;
        }
        let said = self.io.redacted(&said);
        self.log.add(&self.io, &said).await;
        if self.is_verbose {
            self.io.note(text::printable(said.trim_end())).await;
        }
        self.transcript += &said;
        if self.transcript.len() > 2 * KEPT_BYTES {
            self.transcript = text::suffix(&self.transcript, KEPT_BYTES).to_owned();
        }
    }

    /// What the agent does now: `Bash: cargo test · 18k tokens · $0.42`; `cost` with the date of
    /// the prices by which it was estimated, if it was.
    pub fn activity(&self, cost: Option<(Money, Option<&str>)>) -> String {
        let state = &self.state;
        let doing = match state.current_call() {
            Some(call) => call.line(),
            None if state.retrying().is_some() => "tries again".to_owned(),
            None => text::one_line(state.said()),
        };
        let doing = self.io.redacted(&text::ellipsis(&doing, 120));
        let parts = [doing].into_iter().chain(self.used(cost));
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    }

    /// What it has used, as far as that is known: `18k tokens`, `$0.42`.
    pub fn used(&self, cost: Option<(Money, Option<&str>)>) -> Vec<String> {
        let tokens = self.state.tokens().map(|tokens| text::tokens(tokens.total()));
        let cost = cost.map(|(cost, as_of)| {
            let about = if as_of.is_some() { "~" } else { "" };
            format!("{about}${cost}")
        });
        tokens.into_iter().chain(cost).collect()
    }
}

/// What a turn has cost, as its client says, else by the user's prices, whose date comes with it;
/// `None`: unknown.
pub fn cost<'a>(
    state: &AgentState,
    prices: Option<&'a Prices>,
) -> Option<(Money, Option<&'a str>)> {
    if let Some(cost) = state.cost() {
        return Some((cost, None));
    }
    let prices = prices?;
    let cost = prices.cost(state.model()?, state.tokens()?)?;
    Some((cost, Some(&prices.as_of)))
}

/// A file that grows by what people read.
struct Log {
    path: String,
    size_bytes: u64,
    /// When it grows, if somebody wants to know.
    times: Option<LogTimes>,
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
        if let Some(times) = self.times.as_mut().filter(|_| !self.is_broken) {
            times.mark(io, self.size_bytes).await;
        }
        self.size_bytes = size_bytes;
    }
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
pub fn noted(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("# {}\n", text::ellipsis(line.trim_end(), 1000))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
