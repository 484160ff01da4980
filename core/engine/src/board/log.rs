//! What was said and done in the present attempt of a run.

use super::FileStamp;
use crate::run::log_times;
use crate::run::turn::attempt_name;
use crate::state::store::{Paths, StateHome, read_ledger_of};
use onloop_documents::board::{LoggedLine, TextLine};
use onloop_documents::ledger::Ledger;
use onloop_effect::Io;
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The last line of a log, as of the last look.
#[derive(Debug, Default)]
pub(super) struct KnownLog {
    path: String,
    seen: Option<FileStamp>,
    last: Option<LoggedLine>,
}

impl KnownLog {
    /// What was said or done last; `None`: nothing yet.
    pub(super) async fn last(
        &mut self,
        io: &Io,
        home: &StateHome,
        run: &Run,
    ) -> Option<LoggedLine> {
        let path = path_of(io, home, run).await?;
        if path != self.path {
            *self = KnownLog { path, ..KnownLog::default() };
        }
        let stat = io.stat(&self.path).await.ok()?;
        let stamp = FileStamp::from(&stat);
        if self.seen != Some(stamp) {
            let tail = tail(io, &self.path, limits::BOARD_LINE_BYTES as u64 * 4).await;
            let last = tail.into_iter().rfind(|line| !line.trim().is_empty());
            self.last = last.map(|text| LoggedLine { at: stat.modified, text });
            self.seen = Some(stamp);
        }
        self.last.clone()
    }
}

/// The end of the log of the present attempt.
pub(super) async fn lines(io: &Io, home: &StateHome, run: &Run) -> Vec<String> {
    match path_of(io, home, run).await {
        Some(path) => tail(io, &path, limits::BOARD_LOG_BYTES).await,
        None => Vec::new(),
    }
}

/// The log of the attempt that a person would ask about; `None`: the step has not begun.
async fn path_of(io: &Io, home: &StateHome, run: &Run) -> Option<String> {
    let step = run.attention().and_then(|attention| attention.step());
    let record = run.step(step.unwrap_or_else(|| run.current_step()))?;
    if let Some(fork) = record.fork.as_ref().filter(|_| record.is_forked()) {
        let fork = read_ledger_of(io, home, &fork.run).await.ok()?.run;
        let record = fork.steps.first().filter(|record| record.attempts > 0)?;
        return Some(Paths::new(home, "", &fork.id).log(&attempt_name(record)));
    }
    if record.attempts == 0 {
        return None;
    }
    let (paths, attempt) = place_of(io, home, run, &attempt_name(record)).await;
    Some(paths.log(&attempt))
}

/// Where an attempt left its texts, such as `2-1`, and what they are called there: one of a fork has left
/// them in the folder of the fork, under the number that it has there.
pub(crate) async fn place_of(
    io: &Io,
    home: &StateHome,
    run: &Run,
    attempt: &str,
) -> (Paths, String) {
    match fork_of_attempt(io, home, run, attempt).await {
        Some((fork, attempt)) => (Paths::new(home, "", &fork.id), attempt),
        None => (Paths::new(home, &run.place.execution_root, &run.id), attempt.to_owned()),
    }
}

/// The fork that made an attempt, such as `2-1`, and what it is called there; `None`: the run itself
/// made it, or there is none of this name.
pub async fn fork_of_attempt(
    io: &Io,
    home: &StateHome,
    run: &Run,
    attempt: &str,
) -> Option<(Run, String)> {
    // An agent that has resolved the conflicts of the merge has worked in the run.
    let own = Paths::new(home, &run.place.execution_root, &run.id);
    match io.stat(&own.log(attempt)).await {
        Ok(_) => None,
        Err(_) => fork_with(io, home, run, attempt).await,
    }
}

/// As [`fork_of_attempt`], also where the run itself has worked on the attempt afterwards.
pub(super) async fn fork_with(
    io: &Io,
    home: &StateHome,
    run: &Run,
    attempt: &str,
) -> Option<(Run, String)> {
    let (step, number) = attempt.split_once('-')?;
    let (step, number): (u32, u32) = (step.parse().ok()?, number.parse().ok()?);
    let mut before = 0;
    for id in run.forks_of(step) {
        let Ok(Ledger { run: fork, .. }) = read_ledger_of(io, home, &id).await else { continue };
        let attempts = fork.steps.first().map_or(0, |record| record.attempts);
        if (before + 1..=before + attempts).contains(&number) {
            return Some((fork, format!("{step}-{}", number - before)));
        }
        before += attempts;
    }
    None
}

/// The last lines of a file, fit for a screen.
pub(super) async fn tail(io: &Io, path: &str, limit_bytes: u64) -> Vec<String> {
    let (lines, _) = timed_tail(io, path, None, limit_bytes).await;
    lines.into_iter().map(|line| line.text).collect()
}

/// The same, with the times that the file `times` has of them, and whether the file has more lines.
pub(super) async fn timed_tail(
    io: &Io,
    path: &str,
    times: Option<&str>,
    limit_bytes: u64,
) -> (Vec<TextLine>, bool) {
    let Ok((bytes, size_bytes)) = io.read_tail(path, limit_bytes).await else {
        return (Vec::new(), false);
    };
    let marks = match times {
        Some(times) => log_times::read(io, times).await,
        None => Vec::new(),
    };
    let mut start = size_bytes.saturating_sub(bytes.len() as u64);
    let mut whole: &[u8] = &bytes;
    // A line that was cut in the middle is no line, unless nothing else is there.
    let first = whole.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    if let Some(first) = first.filter(|first| start > 0 && *first < whole.len()) {
        (start, whole) = (start + first as u64, &whole[first..]);
    }
    let said = text::printable(&io.redacted(&String::from_utf8_lossy(whole))).replace('\t', "    ");
    let mut times = times_of(whole, start, &marks);
    // A secret of several lines is one word when it is redacted: then no line is known by its number.
    if times.len() != said.lines().count() {
        times.fill(None);
    }
    let times = times.into_iter().chain(std::iter::repeat(None));
    let shown = |line: &str| text::ellipsis(line.trim_end(), limits::BOARD_LINE_BYTES);
    let lines = said.lines().zip(times).map(|(line, at)| TextLine { at, text: shown(line) });
    (lines.collect(), start > 0)
}

/// For each line of `bytes`, which begin at `start` in their file, when it was written: the first line
/// behind each mark has a time.
fn times_of(bytes: &[u8], start: u64, marks: &[(u64, Timestamp)]) -> Vec<Option<Timestamp>> {
    let mut marks = marks.iter().peekable();
    let mut offset = start;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let mut at = None;
        while let Some((_, time)) = marks.next_if(|(mark, _)| *mark <= offset) {
            at = Some(*time);
        }
        offset += line.len() as u64;
        at
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_behind_each_mark_has_its_time() {
        let marks = [(0, 1), (4, 2), (5, 3), (90, 4)];
        let marks = marks.map(|(offset, at)| (offset, Timestamp::from_millis(at)));
        let cases: [(&str, u64, &[Option<i64>]); 5] = [
            ("", 0, &[]),
            ("one\ntwo\nthree", 0, &[Some(1), Some(2), Some(3)]),
            // What lies before is not shown, and its last time holds for the first line.
            ("two\nthree\n", 4, &[Some(2), Some(3)]),
            ("three\n", 8, &[Some(3)]),
            ("x\ny\n", 2, &[Some(1), Some(2)]),
        ];
        for (text, start, expected) in cases {
            let found = times_of(text.as_bytes(), start, &marks);
            let found: Vec<Option<i64>> =
                found.into_iter().map(|at| at.map(Timestamp::as_millis)).collect();
            assert_eq!(found, expected, "{text:?} at {start}");
        }
    }
}
