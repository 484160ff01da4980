//! A parsed file, and queries about positions in it.

use crate::line::line_break;
use crate::{FieldPlace, Parsed, PlaceKind, Section, StepPlace};
use onloop_syntax::diagnostic::Span;

/// A text and its parse result.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'t> {
    /// The text.
    pub text: &'t str,
    /// The result of [`workflow::parse`](crate::parse) for this text.
    pub parsed: &'t Parsed,
}

impl<'t> Reading<'t> {
    /// `parsed` must be the parse result of `text`.
    pub fn new(text: &'t str, parsed: &'t Parsed) -> Reading<'t> {
        Reading { text, parsed }
    }

    pub(super) fn fields(self) -> &'t [FieldPlace] {
        &self.parsed.outline.fields
    }

    pub(super) fn steps(self) -> &'t [StepPlace] {
        &self.parsed.outline.steps
    }

    /// The text of a span; empty outside of the file.
    pub(super) fn slice(self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The line of the byte at `offset`, without its line break.
    pub(super) fn line(self, offset: usize) -> Span {
        let offset = offset.min(self.text.len());
        let bytes = self.text.as_bytes();
        let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |at| offset + at);
        let has_return = end > start && bytes[end - 1] == b'\r';
        Span::new(start, if has_return { end - 1 } else { end })
    }

    /// The lines of a span, with the line break of the last.
    pub(super) fn whole_lines(self, span: Span) -> Span {
        let end = self.line(span.end.max(span.start)).end;
        let rest = &self.text[end..];
        let ends = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
        Span::new(self.line(span.start).start, end + ends)
    }

    /// The number of bytes before the span on its line.
    pub(super) fn column(self, offset: usize) -> usize {
        offset - self.line(offset).start
    }

    /// The line break of this file.
    pub(super) fn line_break(self) -> &'static str {
        line_break(self.text)
    }

    /// The step of a span, by its position from 0.
    pub(super) fn step_index(self, offset: usize) -> Option<usize> {
        let steps = self.steps();
        let after = steps.partition_point(|step| step.span.start <= offset);
        let at = after.checked_sub(1)?;
        let step = &steps[at];
        (offset < step.span.end || step.span.end == self.text.len()).then_some(at)
    }

    /// The fields inside a range.
    pub(super) fn fields_in(self, span: Span) -> &'t [FieldPlace] {
        let fields = self.fields();
        let from = fields.partition_point(|field| field.key.start < span.start);
        let to = fields.partition_point(|field| field.key.start < span.end);
        &fields[from..to.max(from)]
    }

    /// The field of a step by its name.
    pub(super) fn step_field(self, step: &StepPlace, name: &str) -> Option<&'t FieldPlace> {
        self.fields_in(step.span).iter().find(|field| field.is(Section::Step, name))
    }

    /// The fields of the frontmatter.
    pub(super) fn frontmatter(self) -> &'t [FieldPlace] {
        self.parsed.outline.frontmatter.map_or(&[], |span| self.fields_in(span))
    }

    /// Whether a span is inside a fenced block or a comment between the fields.
    pub(super) fn is_hidden(self, offset: usize) -> bool {
        let blocks = &self.parsed.outline.blocks;
        let after = blocks.partition_point(|block| block.span.start <= offset);
        after > 0 && offset <= blocks[after - 1].span.end
    }

    /// The end of the text between `span.start` and `span.end`, without blanks.
    pub(super) fn trimmed_end(self, span: Span) -> usize {
        span.start + self.slice(span).trim_end().len()
    }
}

/// Whether the value consists of other fields.
pub(super) fn is_container(place: &FieldPlace, text: &str) -> bool {
    match place.what {
        PlaceKind::Field(Section::Check, "env" | "assert") => true,
        PlaceKind::Field(Section::Step, "verify") | PlaceKind::Item => {
            let between = text.get(place.key.end..place.value.start).unwrap_or_default();
            place.what == PlaceKind::Item || between.contains('\n')
        }
        PlaceKind::Field(..) | PlaceKind::Variable | PlaceKind::Unknown(_) => false,
    }
}
