//! The messages of all findings about workflow files.

use onloop_syntax::diagnostic::{Diagnostic, Edit, Severity, Span};
use onloop_syntax::limits;
use onloop_syntax::text;

use super::place::FieldPlaces;
use super::rule;

/// Findings with fixed messages: name, rule, message and advice.
macro_rules! fixed {
    ($($name:ident $rule:ident $message:literal $help:literal)*) => {
        $(pub(crate) fn $name(span: Span) -> Diagnostic {
            rule::$rule.at(span, $message).with_help($help)
        })*
    };
}

pub(super) mod check;
pub(super) mod frontmatter;
pub(super) mod step;

/// Longest quotation of the file in a message.
const QUOTED_BYTES: usize = 80;

/// What a model is expected to be.
pub(crate) const MODEL_EXPECTED: &str =
    "one word that names a model, such as `opus`, and does not begin with `-`";
/// Advice about an invalid network.
const NETWORK_HELP: &str =
    "write `all`, `loopback`, `none`, or a list such as `[\"@registries\", api.example.com]`";

/// `found`, with `known` as what the author meant by the word at `span`; `verb`: what to do with it.
fn meant(found: Diagnostic, span: Span, verb: &str, known: &str) -> Diagnostic {
    found
        .with_help(format!("did you mean `{known}`?"))
        .with_fix(format!("{verb} `{known}`"), vec![Edit::replace(span, known)])
}

/// Text from the file, safe for a message.
fn shown(text: &str) -> String {
    text::ellipsis(&text::one_line(text::prefix(text, 4 * QUOTED_BYTES)), QUOTED_BYTES)
}

/// The results of reading one file: at most [`limits::DIAGNOSTICS_PER_FILE`] findings, and the
/// positions of its fields.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The positions of fields.
    pub(super) places: FieldPlaces,
    kept: Vec<Diagnostic>,
    errors: usize,
    not_kept: usize,
    errors_not_kept: usize,
}

impl Findings {
    /// Whether one more finding fits. Callers check it before they compute an expensive one.
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < limits::DIAGNOSTICS_PER_FILE
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        self.errors += usize::from(is_error);
        if self.has_room() {
            self.kept.push(diagnostic);
        } else {
            self.not_kept += 1;
            self.errors_not_kept += usize::from(is_error);
        }
    }

    pub(super) fn error_count(&self) -> usize {
        self.errors
    }

    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether every finding of `later` is here as well, at least as often.
    pub(super) fn contain(&self, later: &Findings) -> bool {
        let said = |findings: &Findings| {
            let mut said: Vec<(&'static str, String)> =
                findings.kept.iter().map(|found| (found.code, found.message.clone())).collect();
            said.sort();
            said
        };
        let (mut here, later_said) = (said(self).into_iter(), said(later));
        self.not_kept == later.not_kept
            && later_said.iter().all(|found| here.any(|known| known == *found))
    }

    /// The findings in the order of the file. The last one counts those that did not fit.
    pub(super) fn into_sorted(mut self, file_end: usize) -> Vec<Diagnostic> {
        self.kept.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.severity));
        if self.not_kept > 0 {
            let more = text::counted(self.not_kept as u64, "more finding");
            let errors = text::counted(self.errors_not_kept as u64, "error");
            let message = format!("{more} ({errors}) in this file");
            let mut rest = rule::TOO_MANY_FINDINGS.at(Span::at(file_end), message);
            if self.errors_not_kept == 0 {
                rest.severity = Severity::Warning;
            }
            self.kept.push(rest.with_help("fix the findings above, then run lint again"));
        }
        self.kept
    }
}

fixed! {
    unterminated_fence UNTERMINATED_FENCE "unterminated fenced block: the rest of the file belongs to it"
        "close it with a line of at least as many of the same characters"
    unterminated_comment UNTERMINATED_COMMENT "unterminated comment: the rest of the file belongs to it"
        "close it with `-->`"
}

pub(super) fn file_too_large(bytes: u64) -> Diagnostic {
    rule::FILE_TOO_LARGE.at(
        Span::at(0),
        format!("the file has {bytes} bytes; the limit is {}", limits::WORKFLOW_BYTES),
    )
}

pub(super) fn not_utf8(valid_up_to: usize) -> Diagnostic {
    rule::NOT_UTF8
        .at(Span::at(valid_up_to), format!("byte {valid_up_to} of the file is not UTF-8"))
        .with_help("save the file as UTF-8")
}

pub(super) fn not_text(offset: usize) -> Diagnostic {
    rule::NOT_TEXT
        .at(Span::new(offset, offset + 1), "found a NUL byte; a workflow file is text")
        .with_help("if an editor saved it as UTF-16, save it as UTF-8")
}

pub(super) fn line_too_long(span: Span) -> Diagnostic {
    rule::LINE_TOO_LONG.at(
        span,
        format!(
            "the line has {} bytes; the limit is {}",
            span.end - span.start,
            limits::WORKFLOW_LINE_BYTES
        ),
    )
}
