//! What was said and done in the present attempt of a run.

use super::FileStamp;
use crate::run::turn::attempt_name;
use crate::state::store::Paths;
use onloop_documents::board::LoggedLine;
use onloop_effect::Io;
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// The last line of a log, as of the last look.
#[derive(Debug, Default)]
pub(super) struct KnownLog {
    path: String,
    seen: Option<FileStamp>,
    last: Option<LoggedLine>,
}

impl KnownLog {
    /// What was said or done last; `None`: nothing yet.
    pub(super) async fn last(&mut self, io: &Io, paths: &Paths, run: &Run) -> Option<LoggedLine> {
        let path = path_of(paths, run)?;
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
pub(super) async fn lines(io: &Io, paths: &Paths, run: &Run) -> Vec<String> {
    match path_of(paths, run) {
        Some(path) => tail(io, &path, limits::BOARD_LOG_BYTES).await,
        None => Vec::new(),
    }
}

/// The log of the attempt that a person would ask about; `None`: the step has not begun.
fn path_of(paths: &Paths, run: &Run) -> Option<String> {
    let step = run.attention().and_then(|attention| attention.step());
    let record = run.step(step.unwrap_or_else(|| run.current_step()))?;
    (record.attempts > 0).then(|| paths.log(&attempt_name(record)))
}

/// The last lines of a file, fit for a screen.
pub(super) async fn tail(io: &Io, path: &str, limit_bytes: u64) -> Vec<String> {
    let Ok((bytes, size_bytes)) = io.read_tail(path, limit_bytes).await else {
        return Vec::new();
    };
    let said = String::from_utf8_lossy(&bytes);
    // A line that was cut in the middle is no line, unless nothing else is there.
    let whole = match said.split_once('\n') {
        Some((_, rest)) if size_bytes > bytes.len() as u64 && !rest.is_empty() => rest,
        Some(_) | None => &said,
    };
    let said = text::printable(&io.redacted(whole)).replace('\t', "    ");
    let shown = |line: &str| text::ellipsis(line.trim_end(), limits::BOARD_LINE_BYTES);
    said.lines().map(shown).collect()
}
