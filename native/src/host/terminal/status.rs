//! The live status line of a running process: its name, how long it has run, its last output.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use onloop_core::effect::WorkLine;
use onloop_core::text;

use super::fit::{StatusParts, fit};
use crate::host::Progress;
use crate::start;

/// Time between two frames.
const TICK_MS: u64 = 100;
/// Bytes of an output chunk searched for its last line.
const LAST_LINE_BYTES: usize = 1024;
/// Columns of the spinner, the blank behind it, and the last column, where a terminal may wrap.
const TAKEN_COLUMNS: u16 = 3;

/// A line on standard error that is redrawn in place and gone when dropped.
pub(super) struct StatusLine {
    bar: ProgressBar,
    label: String,
    activity: String,
}

impl StatusLine {
    pub(super) fn new(label: &str, elapsed: Duration) -> StatusLine {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        StatusLine::on(ProgressBar::with_draw_target(None, target), label, elapsed)
    }

    /// A line for each of these programs, one below the other.
    pub(super) fn all(working: &[WorkLine]) -> Vec<StatusLine> {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let line = |one: &WorkLine| {
            let elapsed = Duration::from_millis(one.elapsed_ms);
            let mut line = StatusLine::on(all.add(ProgressBar::no_length()), &one.label, elapsed);
            line.activity = text::one_line(&one.activity);
            line
        };
        working.iter().map(line).collect()
    }

    fn on(bar: ProgressBar, label: &str, elapsed: Duration) -> StatusLine {
        let bar = bar.with_elapsed(elapsed);
        let style = ProgressStyle::with_template("{spinner:.cyan} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        StatusLine { bar, label: text::one_line(label), activity: String::new() }
    }
}

impl Progress for StatusLine {
    fn tick_every_ms(&self) -> Option<u64> {
        Some(TICK_MS)
    }

    fn tick(&mut self) {
        let elapsed = self.bar.elapsed();
        // The line is delayed, because it would only flash for a fast command.
        if elapsed <= Duration::from_millis(2 * TICK_MS) {
            return;
        }
        // The window may have a new width.
        let columns = start::columns().saturating_sub(TAKEN_COLUMNS);
        let elapsed = text::span(elapsed.as_secs() * 1000);
        let parts = StatusParts { label: &self.label, elapsed: &elapsed, activity: &self.activity };
        let (label, rest) = fit(&parts, usize::from(columns));
        let dim = anstyle::Style::new().dimmed();
        self.bar.set_message(format!("{label} {dim}{rest}{dim:#}"));
        self.bar.tick();
        // Behind a full line, the `^C` that a terminal shows would begin another one, and what is cleared
        // later would be a line too low.
        let _ = io::stderr().write_all(b"\r");
    }

    fn output(&mut self, bytes: &[u8]) {
        if let Some(line) = last_line(bytes) {
            self.activity = line;
        }
    }

    fn warn(&mut self, message: &str) {
        self.bar.println(format!("warning: {message}"));
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The last line that is not blank, printable.
fn last_line(bytes: &[u8]) -> Option<String> {
    let start = bytes.len().saturating_sub(LAST_LINE_BYTES);
    let end = text::printable(&String::from_utf8_lossy(&bytes[start..]));
    let line = end.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(text::one_line(line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_visible_line_is_shown_without_what_could_steer_the_terminal() {
        let table: [(&[u8], Option<&str>); 6] = [
            (b"one\ntwo\n", Some("two")),
            (b"one\n \n\n", Some("one")),
            (b"10%\r20%\r", Some("20%")),
            (b"\x1b[2J\x1b[31mred\x1b[0m\x07", Some("red")),
            (b"\n\n", None),
            (b"\xff\xfe ok", Some("\u{fffd}\u{fffd} ok")),
        ];
        for (bytes, expected) in table {
            assert_eq!(last_line(bytes).as_deref(), expected, "{bytes:?}");
        }
    }
}
