//! Folding ranges: the frontmatter, whole steps, values of several lines, hidden blocks.

use super::Reading;
use crate::BlockKind;
use onloop_syntax::diagnostic::Span;
use onloop_syntax::text::words;

/// Lines that fold into the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// From the first line to the end of the last.
    pub span: Span,
    /// Their kind.
    pub kind: FoldKind,
}

words! {
    /// The kind of a folding range.
    pub enum FoldKind {
        /// The frontmatter.
        Frontmatter = "frontmatter",
        /// A step.
        Step = "step",
        /// A field with its value, or a fenced block.
        Lines = "lines",
        /// A comment.
        Comment = "comment",
    }
}

/// All folding ranges, in the order of the file.
pub fn folds(reading: Reading<'_>) -> Vec<Fold> {
    let outline = &reading.parsed.outline;
    let mut found = Vec::new();
    let mut add = |start: usize, end: usize, kind: FoldKind| {
        let span = Span::new(start, end.max(start));
        if reading.slice(span).contains('\n') {
            found.push(Fold { span, kind });
        }
    };
    if let Some(front) = outline.frontmatter {
        let opening = reading.line(front.start.saturating_sub(1)).start;
        add(opening, reading.trimmed_end(front), FoldKind::Frontmatter);
    }
    for step in &outline.steps {
        add(step.span.start, reading.trimmed_end(step.span), FoldKind::Step);
    }
    for field in &outline.fields {
        add(field.key.start, field.span().end, FoldKind::Lines);
    }
    for block in &outline.blocks {
        let kind = match block.kind {
            BlockKind::Fence => FoldKind::Lines,
            BlockKind::Comment => FoldKind::Comment,
        };
        add(block.span.start, block.span.end, kind);
    }
    found.sort_by_key(|fold| (fold.span.start, std::cmp::Reverse(fold.span.end)));
    found
}
