//! What onloop tells the author of a file: where, what, why it matters, how to fix it.

mod fix;
pub mod human;
pub mod json;
pub mod lines;
mod position;

pub use fix::apply_fixes;
pub use position::{LineIndex, Position};

use crate::text::words;

words! {
    /// How bad a diagnostic is.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// The file is not usable; a run is refused.
        Error = "error",
        /// The file is usable, but probably does not mean what its author thinks.
        Warning = "warning",
    }
}

/// A range of bytes in a file, `start` inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// First byte after the range.
    pub end: usize,
}

/// Replaces the bytes of `span` with `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What comes in its place.
    pub text: String,
}

/// A change that resolves a diagnostic without changing anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, as an imperative sentence without a full stop.
    pub title: String,
    /// The edits, in ascending order and without overlap.
    pub edits: Vec<Edit>,
}

/// One finding in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name of the rule, such as `missing-loop`. Never reused for another rule.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// Where, in bytes of the file as it is on disk.
    pub span: Span,
    /// The key or field that is missing, where a quick fix adds it.
    pub subject: Option<&'static str>,
    /// What was found and what was expected; lower case, names in backticks.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// A safe change, where there is one.
    pub fix: Option<Fix>,
    /// The sentence older linters print for the same finding; agents match on these.
    pub hotl_text: Option<String>,
}

impl Diagnostic {
    /// A finding without help, fix or older sentence.
    pub fn new(code: &'static str, severity: Severity, span: Span, message: String) -> Self {
        Diagnostic {
            code,
            severity,
            span,
            subject: None,
            message,
            help: None,
            fix: None,
            hotl_text: None,
        }
    }

    /// Names the key or field that is missing.
    #[must_use]
    pub fn about(mut self, subject: &'static str) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a change that resolves it.
    #[must_use]
    pub fn with_fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        debug_assert!(edits.is_sorted_by(|a, b| a.span.end <= b.span.start));
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }

    /// Adds the sentence that older linters print for it. What it quotes is made printable.
    #[must_use]
    pub fn with_hotl_text(mut self, text: impl Into<String>) -> Self {
        self.hotl_text = Some(crate::text::one_line(&text.into()));
        self
    }
}

impl Edit {
    /// Replaces the bytes of `span`.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Edit { span, text: text.into() }
    }

    /// Inserts before the byte at `offset`.
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Edit { span: Span::at(offset), text: text.into() }
    }
}

impl Span {
    /// The range from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Span { start, end }
    }

    /// An empty range.
    pub fn at(offset: usize) -> Self {
        Span { start: offset, end: offset }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
