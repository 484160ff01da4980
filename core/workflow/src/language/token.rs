//! Semantic tokens for editors.

use super::reading::is_container;
use super::{Document, DocumentPosition, Encoding, Reading, dependency};
use crate::{BlockKind, FieldPlace, PlaceKind, Section};
use onloop_syntax::diagnostic::Span;
use onloop_syntax::text::words;

words! {
    /// The kind of a token, in the vocabulary of editors.
    pub enum TokenKind {
        /// `Step`, `until`.
        Keyword = "keyword",
        /// The name of a field.
        Property = "property",
        /// One of the words that a field allows.
        EnumMember = "enumMember",
        /// A number, with its unit.
        Number = "number",
        /// A command, a path or an address.
        String = "string",
        /// A variable of the environment.
        Variable = "variable",
        /// The title of a step.
        Class = "class",
        /// A comment.
        Comment = "comment",
    }
}

/// A part of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticToken {
    /// Its range, within one line.
    pub span: Span,
    /// Its kind.
    pub kind: TokenKind,
}

/// The tokens in `range`, in the order of the file and without overlap.
pub fn tokens(reading: Reading<'_>, range: Span) -> Vec<SemanticToken> {
    let mut found = Tokens { reading, range, found: Vec::new() };
    for step in reading.steps() {
        // The text before the number is `- [ ] **Step ` or `### `.
        let before = Span::new(step.span.start, step.id.start);
        if let Some(at) = reading.slice(before).find("Step") {
            let start = before.start + at;
            found.add(Span::new(start, start + "Step".len()), TokenKind::Keyword);
        }
        found.add(step.id, TokenKind::Number);
        if step.title.start >= step.id.end {
            found.add(step.title, TokenKind::Class);
        }
    }
    for place in reading.fields() {
        found.place(place);
    }
    for mention in dependency::listed(reading) {
        found.add(mention.span, TokenKind::Number);
    }
    if let Some(front) = reading.parsed.outline.frontmatter {
        found.comment_lines(front);
    }
    for block in &reading.parsed.outline.blocks {
        if block.kind == BlockKind::Comment {
            found.add(block.span, TokenKind::Comment);
        }
    }
    let mut tokens = found.found;
    tokens.sort_by_key(|token| token.span);
    let mut end = 0;
    tokens.retain(|token| {
        let is_free = token.span.start >= end;
        end = if is_free { token.span.end } else { end };
        is_free
    });
    tokens
}

/// Tokens in the encoding of editors: five numbers each, relative to the token before. They are the
/// lines, the characters (from the start of a new line), the length, the index of the kind in
/// [`TokenKind::ALL`], and 0.
pub fn token_data(document: &Document, encoding: Encoding, tokens: &[SemanticToken]) -> Vec<u32> {
    let mut data = Vec::with_capacity(5 * tokens.len());
    let mut last = DocumentPosition { line: 0, character: 0 };
    for token in tokens {
        let start = document.position(token.span.start, encoding);
        let end = document.position(token.span.end, encoding);
        if start.line != end.line {
            // A lone carriage return is a line break for editors, not for the parser.
            continue;
        }
        let same_line = start.line == last.line;
        let character = if same_line { start.character - last.character } else { start.character };
        let kind = TokenKind::ALL.iter().position(|kind| *kind == token.kind).unwrap_or_default();
        let numbers = [start.line - last.line, character, end.character - start.character, kind, 0];
        // A document is far smaller than 4 GiB.
        data.extend(numbers.map(|number| number as u32));
        last = start;
    }
    data
}

struct Tokens<'t> {
    reading: Reading<'t>,
    range: Span,
    found: Vec<SemanticToken>,
}

impl Tokens<'_> {
    /// Adds a token for each line of `span`.
    fn add(&mut self, span: Span, kind: TokenKind) {
        if span.end <= self.range.start || span.start >= self.range.end {
            return;
        }
        let mut start = span.start;
        for line in self.reading.slice(span).split_inclusive('\n') {
            let text = line.trim_end();
            let blanks = text.len() - text.trim_start().len();
            if blanks < text.len() {
                let span = Span::new(start + blanks, start + text.len());
                self.found.push(SemanticToken { span, kind });
            }
            start += line.len();
        }
    }

    fn place(&mut self, place: &FieldPlace) {
        match place.what {
            PlaceKind::Field(..) => self.add(place.key, TokenKind::Property),
            PlaceKind::Variable => self.add(place.key, TokenKind::Variable),
            PlaceKind::Item | PlaceKind::Unknown(_) => {}
        }
        if is_container(place, self.reading.text) && place.what != PlaceKind::Item {
            return;
        }
        match place.what {
            PlaceKind::Field(Section::Step, "loop") => self.condition(place.value),
            PlaceKind::Field(_, "max_iterations" | "timeout") => {
                self.word(place.value, TokenKind::Number)
            }
            PlaceKind::Field(Section::Frontmatter, name) if name.starts_with("max_") => {
                self.word(place.value, TokenKind::Number);
            }
            PlaceKind::Field(Section::Step, "depends_on") => {}
            PlaceKind::Field(Section::Step, "verify")
            | PlaceKind::Field(Section::Check, "command" | "path" | "url" | "cwd")
            | PlaceKind::Field(Section::Step, "may_change")
            | PlaceKind::Field(_, "network" | "model")
            | PlaceKind::Field(Section::Frontmatter, "branch" | "setup" | "allow" | "protect")
            | PlaceKind::Variable => self.add(place.value, TokenKind::String),
            PlaceKind::Item if self.is_command(place) => self.add(place.value, TokenKind::String),
            PlaceKind::Field(..) if place.field().is_some_and(|field| !field.values.is_empty()) => {
                self.word(place.value, TokenKind::EnumMember);
            }
            PlaceKind::Field(..) | PlaceKind::Item | PlaceKind::Unknown(_) => {}
        }
    }

    /// Whether an item is a command rather than an object.
    fn is_command(&self, item: &FieldPlace) -> bool {
        let fields = self.reading.fields();
        let next = fields.partition_point(|field| field.key.start <= item.key.start);
        fields.get(next).is_none_or(|field| field.key.start >= item.value.end)
    }

    fn condition(&mut self, value: Span) {
        let text = self.reading.slice(value);
        let word = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let span = Span::new(value.start, value.start + word);
        if text[..word].eq_ignore_ascii_case("until") {
            self.add(span, TokenKind::Keyword);
        } else {
            self.word(value, TokenKind::EnumMember);
        }
    }

    /// The first word of a value, and the comment behind it.
    fn word(&mut self, value: Span, kind: TokenKind) {
        let text = self.reading.slice(value);
        let length = text.find([' ', '\t', '\n', '\r']).unwrap_or(text.len());
        self.add(Span::new(value.start, value.start + length), kind);
        if let Some(at) = text[length..].find('#') {
            self.add(Span::new(value.start + length + at, value.end), TokenKind::Comment);
        }
    }

    fn comment_lines(&mut self, front: Span) {
        let mut start = front.start;
        for line in self.reading.slice(front).split_inclusive('\n') {
            if line.starts_with('#') {
                self.add(Span::new(start, start + line.len()), TokenKind::Comment);
            }
            start += line.len();
        }
    }
}
