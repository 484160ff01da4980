//! Diagnostics for the author of a file: location, finding, reason and fix.

mod fix;
pub mod human;
pub mod json;
pub mod lines;
mod position;

pub use fix::apply_fixes;
pub use position::{LineIndex, Position};

use crate::text::words;

words! {
    /// The severity of a diagnostic.
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
    /// The replaced bytes; empty to insert.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// A change that resolves a diagnostic without changing anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The effect of the change, as an imperative sentence without a full stop.
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
    /// Its location, in bytes of the file as it is on disk.
    pub span: Span,
    /// The key or field that is missing, where a quick fix adds it.
    pub subject: Option<&'static str>,
    /// The finding and the expectation, in lower case, names in backticks.
    pub message: String,
    /// Advice: how to fix the file.
    pub help: Option<String>,
    /// A safe change, if one exists.
    pub fix: Option<Fix>,
    /// The sentence that hotl-rt prints for the same finding. Agents match on it.
    pub hotl_text: Option<String>,
}

impl Diagnostic {
    /// A finding without advice, fix or hotl-rt sentence.
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

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a change that resolves the finding.
    #[must_use]
    pub fn with_fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        debug_assert!(edits.is_sorted_by(|a, b| a.span.end <= b.span.start));
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }

    /// Adds the sentence of hotl-rt, with its quotations made printable.
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

    /// Whether it covers no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
