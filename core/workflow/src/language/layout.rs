//! Formatting: fields in the first column, nested fields two blanks deeper, one blank after colons,
//! one empty line between steps.
//!
//! A layout is first a proposal. It is parsed again, and parts that would change the meaning of the
//! file stay as written.

use super::Reading;
use super::reading::is_container;
use crate::{FieldPlace, PlaceKind, parse, same_meaning};
use onloop_syntax::diagnostic::{Edit, Span};

/// Most attempts before the file stays as it is. Each attempt leaves out some refused parts;
/// ordinary files have none.
const READINGS: usize = 64;

/// The edits that format the file, in its order. Empty if it is not a readable workflow, or if a
/// second formatting would change more: formatting is idempotent.
pub fn layout(reading: Reading<'_>) -> Vec<Edit> {
    let edits = proposed(reading);
    if edits.is_empty() {
        return edits;
    }
    let after = applied(reading.text, &edits);
    let parsed = parse("", after.as_bytes());
    let is_final = proposed(Reading::new(&after, &parsed)).is_empty();
    if is_final { edits } else { Vec::new() }
}

/// The edits of one layout that keep the meaning.
fn proposed(reading: Reading<'_>) -> Vec<Edit> {
    if reading.steps().is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<Vec<Edit>> = Vec::new();
    if reading.parsed.outline.frontmatter.is_some() {
        parts.push(Part::new(reading).fields(reading.frontmatter()));
    }
    for (at, step) in reading.steps().iter().enumerate() {
        let mut part = Part::new(reading);
        part.header(at);
        parts.push(part.fields(reading.fields_in(step.span)));
    }
    parts.push(file_end(reading));
    parts.retain(|part| !part.is_empty());
    let mut left = READINGS;
    let mut accepted = Vec::new();
    if !accept(reading, &parts, &mut accepted, &mut left) {
        return Vec::new();
    }
    accepted
}

/// Accepts the parts that keep the meaning; `false` if too many do not.
fn accept(
    reading: Reading<'_>,
    parts: &[Vec<Edit>],
    accepted: &mut Vec<Edit>,
    left: &mut usize,
) -> bool {
    if parts.is_empty() {
        return true;
    }
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let before = accepted.len();
    accepted.extend(parts.iter().flatten().cloned());
    if same_meaning(reading.text, &applied(reading.text, accepted)) {
        return true;
    }
    accepted.truncate(before);
    if parts.len() == 1 {
        return true;
    }
    let (first, second) = parts.split_at(parts.len() / 2);
    accept(reading, first, accepted, left) && accept(reading, second, accepted, left)
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut from = 0;
    for edit in edits {
        out.push_str(&text[from..edit.span.start]);
        out.push_str(&edit.text);
        from = edit.span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The edits of one part of the file.
struct Part<'t> {
    reading: Reading<'t>,
    edits: Vec<Edit>,
}

impl<'t> Part<'t> {
    fn new(reading: Reading<'t>) -> Part<'t> {
        Part { reading, edits: Vec::new() }
    }

    /// Replaces a range, unless its text is equal.
    fn set(&mut self, span: Span, text: &str) {
        if self.reading.slice(span) != text {
            self.edits.push(Edit::replace(span, text));
        }
    }

    /// One empty line before a header, and the header in its usual form.
    fn header(&mut self, at: usize) {
        let step = &self.reading.steps()[at];
        let text = self.reading.text;
        let before = text[..step.span.start].trim_end_matches([' ', '\t', '\r', '\n']);
        let end = self.reading.line(before.len()).end;
        let line_break = self.reading.line_break();
        // A header on the first line has nothing before it, or a byte-order mark.
        if !before.is_empty() && end <= step.span.start {
            self.set(Span::new(end, step.span.start), &line_break.repeat(2));
        }
        let line = self.reading.line(step.span.start);
        let written = self.reading.slice(line);
        if let Some(mark) = written.strip_prefix("- [").and_then(|rest| rest.get(..1)) {
            let (id, title) = (self.reading.slice(step.id), self.reading.slice(step.title));
            let after = self.reading.slice(Span::new(step.title.end, line.end)).trim();
            if step.title.start > step.id.end && matches!(after, "" | "**") {
                let usual = format!("- [{mark}] **Step {id}: {title}**");
                return self.set(line, &usual);
            }
        }
        self.set(line, written.trim_end());
    }

    fn fields(mut self, places: &[FieldPlace]) -> Vec<Edit> {
        // The containers of a position: where they end, and their columns.
        let mut open: Vec<(&FieldPlace, usize)> = Vec::new();
        for place in places {
            open.retain(|(around, _)| place.key.start < around.value.end);
            let around = open.last().copied();
            let column = around.map_or(0, |(_, column)| column + 2);
            let line = self.reading.line(place.key.start);
            let before = Span::new(line.start, place.key.start);
            match around.filter(|(around, _)| around.key.start >= line.start) {
                None => self.set(before, &" ".repeat(column)),
                // The first field of an item, after its dash.
                Some((item, _)) => self.set(Span::new(item.key.end, place.key.start), " "),
            }
            self.name(place);
            if is_container(place, self.reading.text) && self.has_parts(place, places) {
                self.trim_line_end(place.key.end);
                open.push((place, column));
            } else {
                self.value(place, column);
            }
        }
        self.edits
    }

    fn has_parts(&self, place: &FieldPlace, places: &[FieldPlace]) -> bool {
        let next = places.partition_point(|other| other.key.start <= place.key.start);
        places.get(next).is_some_and(|next| next.key.start < place.value.end)
    }

    /// Writes known names in lower case.
    fn name(&mut self, place: &FieldPlace) {
        if let PlaceKind::Field(_, name) = place.what
            && self.reading.slice(place.key).eq_ignore_ascii_case(name)
        {
            self.set(place.key, name);
        }
    }

    /// Puts one blank before the value, and its other lines two blanks deeper than its name.
    fn value(&mut self, place: &FieldPlace, column: usize) {
        let colon = usize::from(place.what != PlaceKind::Item);
        let from = place.key.end + colon;
        let line = self.reading.line(from);
        if from > line.end {
            return;
        }
        let rest = self.reading.slice(Span::new(from, line.end));
        let inline = rest.trim();
        let text = if inline.is_empty() { String::new() } else { format!(" {inline}") };
        self.set(Span::new(from, line.end), &text);
        if place.value.end > line.end {
            self.lines_below(Span::new(line.end, place.value.end), column);
        }
    }

    /// Moves the lines of a value together. If they may contain a heredoc, they stay unchanged.
    fn lines_below(&mut self, span: Span, column: usize) {
        let text = self.reading.slice(span);
        if text.contains("<<") || self.reading.slice(self.reading.line(span.start)).contains("<<") {
            return;
        }
        let mut lines = Vec::new();
        let mut start = span.start;
        for line in text.split_inclusive('\n') {
            lines.push((start, line.trim_end_matches(['\n', '\r'])));
            start += line.len();
        }
        let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        // The first piece is the end of the name's line.
        let body = || lines.iter().skip(1).filter(|(_, line)| !line.trim().is_empty());
        let Some(written) = body().map(|(_, line)| blanks(line)).next() else { return };
        let wanted = column + 2;
        for (start, line) in body() {
            let own = blanks(line);
            let strip = own.min(written);
            self.set(Span::new(*start, start + strip), &" ".repeat(wanted));
            let content = line.trim_end_matches([' ', '\t']);
            self.set(Span::new(start + content.len(), start + line.len()), "");
        }
        for (start, line) in lines.iter().skip(1).filter(|(_, line)| line.trim().is_empty()) {
            self.set(Span::new(*start, start + line.len()), "");
        }
        self.edits.sort_by_key(|edit| edit.span);
    }

    /// Removes blanks at the end of a line with only a name.
    fn trim_line_end(&mut self, key_end: usize) {
        let line = self.reading.line(key_end);
        let rest = self.reading.slice(Span::new(key_end, line.end));
        if rest.trim() == ":" {
            self.set(Span::new(key_end, line.end), ":");
        }
    }
}

/// Puts one line break at the end.
fn file_end(reading: Reading<'_>) -> Vec<Edit> {
    let end = reading.line(reading.text.trim_end().len()).end;
    let rest = Span::new(end, reading.text.len());
    match reading.slice(rest) == reading.line_break() {
        true => Vec::new(),
        false => vec![Edit::replace(rest, reading.line_break())],
    }
}

#[cfg(test)]
pub(super) fn laid_out(text: &str) -> String {
    let parsed = parse("hotl-workflow-a.md", text.as_bytes());
    applied(text, &layout(Reading::new(text, &parsed)))
}
