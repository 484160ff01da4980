//! The person or program that called: results, notes, questions, a live status line.

mod fit;
mod input;
mod meanwhile;
mod status;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind, FileSize, InputUnit, Say, Start, WorkLine};

use super::{Interrupts, Progress, Root, failure};
#[cfg(unix)]
pub(crate) use fit::cut;
use input::{Lines, WatchedFile};
pub use meanwhile::Meanwhile;
use status::StatusLine;

/// Standard input, output and error.
#[derive(Debug)]
pub struct OsTerminal {
    attended: bool,
    root: Root,
    style: Style,
    input: Lines,
    interrupts: Interrupts,
    lost: LostOutput,
}

/// How notes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// A terminal with color and a moving status line.
    Live,
    /// A terminal without color, or with few capabilities.
    Terminal,
    /// A file or a pipe.
    Plain,
}

impl Style {
    /// `NO_COLOR`, `CI` and `TERM=dumb` are honored.
    fn of(on_terminal: bool, env: &BTreeMap<String, String>) -> Style {
        let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        if !on_terminal || set("CI") {
            Style::Plain
        } else if set("NO_COLOR") || env.get("TERM").is_some_and(|term| term == "dumb") {
            Style::Terminal
        } else {
            Style::Live
        }
    }
}

/// Remembers that a result could not be written. Programs ignore whether output succeeded; the
/// exit code must not.
#[derive(Clone, Debug, Default)]
pub struct LostOutput(std::sync::Arc<std::sync::OnceLock<Failure>>);

impl LostOutput {
    /// Returns the first failure to write a result. A closed pipe is not a failure.
    pub fn failure(&self) -> Option<&Failure> {
        self.0.get()
    }
}

impl OsTerminal {
    /// The standard streams of this process, as `start` describes them.
    pub fn new(start: &Start, interrupts: &Interrupts) -> OsTerminal {
        OsTerminal {
            attended: start.terminal.stdin,
            root: Root::new(&start.cwd),
            style: Style::of(start.terminal.stderr, &start.env),
            input: Lines::default(),
            interrupts: interrupts.clone(),
            lost: LostOutput::default(),
        }
    }

    /// Returns a handle that tells after the end whether all results were written.
    pub fn lost_output(&self) -> LostOutput {
        self.lost.clone()
    }

    fn watched(&self, file: &FileSize) -> Result<WatchedFile, Failure> {
        Ok(WatchedFile { path: self.root.resolve(&file.path)?, size_bytes: file.size_bytes })
    }

    fn note(&self, text: &str) -> io::Result<()> {
        let choice = match self.style {
            Style::Live => anstream::ColorChoice::Always,
            Style::Terminal | Style::Plain => anstream::ColorChoice::Never,
        };
        // Styles are removed in pieces, and the text is written at once.
        let mut plain = anstream::AutoStream::new(Vec::with_capacity(text.len()), choice);
        plain.write_all(text.as_bytes())?;
        let mut stderr = io::stderr().lock();
        stderr.write_all(&plain.into_inner())?;
        stderr.flush()
    }

    /// Performs `Request::Say`.
    pub fn say(&mut self, say: &Say) -> Result<(), Failure> {
        match say {
            Say::Result(text) => result(text).map_err(|error| {
                let failure = failure::of(&error, "cannot write the result");
                if failure.kind != FailureKind::Closed {
                    let _ = self.lost.0.set(failure.clone());
                }
                failure
            }),
            Say::Note(text) => {
                self.note(text).map_err(|error| failure::of(&error, "cannot write a note"))
            }
        }
    }

    /// Performs `Request::Ask`; `None`: the file has another size.
    pub fn ask(
        &mut self,
        question: &str,
        unless_changed: Option<&FileSize>,
    ) -> Result<Option<String>, Failure> {
        if !self.attended {
            return Err(input::no_person());
        }
        self.interrupts.check()?;
        let watched = unless_changed.map(|file| self.watched(file)).transpose()?;
        if watched.as_ref().is_some_and(WatchedFile::has_changed) {
            return Ok(None);
        }
        self.input.forget_typed();
        self.note(question).map_err(|error| failure::of(&error, "cannot ask"))?;
        let answer = self.input.next(&self.interrupts, watched.as_ref());
        if !matches!(answer, Ok(Some(_))) {
            // The cursor is still behind the question.
            let _ = self.note("\n");
        }
        answer
    }

    /// Performs `Request::ReadInput`; `None`: no complete line, or not one byte, has arrived in time.
    pub fn read_input(
        &mut self,
        limit_bytes: u64,
        wait_ms: Option<u64>,
        unit: InputUnit,
    ) -> Result<Option<Vec<u8>>, Failure> {
        match unit {
            InputUnit::Lines => self.input.next_chunk(limit_bytes, wait_ms, &self.interrupts),
            InputUnit::Bytes => self.input.next_bytes(limit_bytes, wait_ms, &self.interrupts),
        }
    }

    /// Shows `words` while the host works for more than a moment, until the result is dropped.
    pub fn meanwhile(&mut self, words: &'static str) -> Meanwhile {
        Meanwhile::new(words, self.style == Style::Live)
    }

    /// Shows a line for each of these programs on a terminal that wants them, until the result is dropped.
    pub fn working(&mut self, lines: Vec<WorkLine>) -> Meanwhile {
        match self.style {
            Style::Live if !lines.is_empty() => Meanwhile::beside(lines),
            Style::Live | Style::Terminal | Style::Plain => Meanwhile::silent(),
        }
    }

    /// Shows a live status line for the process `label`, which has run for `elapsed`, on a terminal
    /// that wants one. It disappears when it is dropped.
    pub fn progress(&mut self, label: Option<&str>, elapsed: Duration) -> Box<dyn Progress + '_> {
        match label {
            Some(label) if self.style == Style::Live => Box::new(StatusLine::new(label, elapsed)),
            Some(_) | None => Box::new(Quiet(self)),
        }
    }
}

fn result(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// No status line; warnings still arrive.
struct Quiet<'a>(&'a OsTerminal);

impl Progress for Quiet<'_> {
    fn tick_every_ms(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self) {}

    fn output(&mut self, _bytes: &[u8]) {}

    fn warn(&mut self, message: &str) {
        let _ = self.0.note(&format!("warning: {message}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_and_movement_only_where_a_person_wants_them() {
        type Environment = &'static [(&'static str, &'static str)];
        let table: [(bool, Environment, Style); 7] = [
            (true, &[("TERM", "xterm")], Style::Live),
            (true, &[("NO_COLOR", "1")], Style::Terminal),
            (true, &[("NO_COLOR", "")], Style::Live),
            (true, &[("TERM", "dumb")], Style::Terminal),
            (true, &[("CI", "true")], Style::Plain),
            (false, &[("TERM", "xterm")], Style::Plain),
            (false, &[], Style::Plain),
        ];
        for (on_terminal, env, expected) in table {
            let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            assert_eq!(Style::of(on_terminal, &env), expected, "{on_terminal} {env:?}");
        }
    }
}
