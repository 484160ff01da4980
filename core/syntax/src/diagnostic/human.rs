//! Findings for people: the source line with carets below it.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Diagnostic, LineIndex, Severity};
use crate::text;

/// Message width on a very narrow terminal.
const LEAST_COLUMNS: usize = 20;

/// Renders the findings of one file in lines of at most `columns` characters, broken between words,
/// with ANSI colors if `styled`. A finding that occurs on several lines is shown once, with the
/// numbers of the other lines.
pub fn render(
    path: &str,
    source: &[u8],
    diagnostics: &[Diagnostic],
    styled: bool,
    columns: usize,
) -> String {
    let index = LineIndex::new(source);
    let path = text::one_line(path);
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(columns).decor_style(DecorStyle::Ascii);
    let mut lines_of: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let lines = lines_of.entry(said_by(diagnostic)).or_default();
        lines.push(index.first_line(diagnostic.span).0);
        lines.dedup();
    }
    let mut out = String::new();
    for diagnostic in diagnostics {
        if let Some(lines) = lines_of.remove(&said_by(diagnostic)) {
            out.push_str(&one(&renderer, &path, &index, diagnostic, &lines[1..], columns));
            out.push_str("\n\n");
        }
    }
    out
}

/// What a person reads of a finding, apart from its line.
fn said_by(diagnostic: &Diagnostic) -> (&str, Severity, &str, Option<&str>) {
    let Diagnostic { code, severity, message, help, .. } = diagnostic;
    (code, *severity, message, help.as_deref())
}

fn one(
    renderer: &Renderer,
    path: &str,
    index: &LineIndex<'_>,
    diagnostic: &Diagnostic,
    other_lines: &[usize],
    columns: usize,
) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    // The renderer prints messages unchanged, after a label.
    let lines = |message: &str, label: usize| {
        text::wrapped(&text::one_line(message), columns.saturating_sub(label).max(LEAST_COLUMNS), 0)
    };
    let title_label = diagnostic.severity.as_str().len() + diagnostic.code.len() + "[]: ".len();
    let (line, bytes, span) = index.first_line(diagnostic.span);
    let message = lines(&diagnostic.message, title_label);
    let margin = line.to_string().len();
    let title = level.primary_title(message).id(diagnostic.code);
    let mut group = match std::str::from_utf8(bytes) {
        Ok(shown) => title.element(
            Snippet::source(visible(shown))
                .line_start(line)
                .path(path)
                .annotation(AnnotationKind::Primary.span(span.start..span.end)),
        ),
        // The renderer cannot show bytes that are not text; the message names their position.
        Err(_) => title.element(annotate_snippets::Origin::path(path).line(line)),
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(lines(help, margin + " = help: ".len())));
    }
    if let Some(fix) = &diagnostic.fix {
        let note = format!("`--fix` can {}", fix.title);
        group = group.element(Level::NOTE.message(lines(&note, margin + " = note: ".len())));
    }
    if !other_lines.is_empty() {
        let numbers: Vec<String> = other_lines.iter().map(usize::to_string).collect();
        let noun = if numbers.len() == 1 { "line" } else { "lines" };
        let note = format!("the same on {noun} {}", numbers.join(", "));
        group = group.element(Level::NOTE.message(lines(&note, margin + " = note: ".len())));
    }
    renderer.render(&[group])
}

/// The line with terminal control characters replaced by visible ones of the same length in bytes,
/// so that the carets keep their position.
fn visible(line: &str) -> String {
    let replaced = |c: char| match c.len_utf8() {
        1 => '?',
        2 => '·',
        3 => '\u{fffd}',
        _ => '\u{1f7e6}',
    };
    let hides = |c: char| c != '\t' && (c.is_control() || text::is_invisible(c));
    line.chars().map(|c| if hides(c) { replaced(c) } else { c }).collect()
}
