//! Assignments, redirections and the heads of here-documents.

use super::reader::{Parse, PendingDocument, ShellReader};
use super::word::{Builder, ends_word};
use super::{AssignmentForm, Redirection, RedirectionKind, ShellAssignment, Simple, Word};

impl ShellReader<'_> {
    /// `NAME=value`, if one stands here.
    pub(super) fn assignment(&mut self, simple: &mut Simple) -> Parse<bool> {
        let start = self.position;
        let name = self.name().to_owned();
        if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
            self.position = start;
            return Ok(false);
        }
        let mut form = AssignmentForm::Plain;
        let mut subscript = None;
        if self.peek() == Some(b'[') {
            subscript = Some(self.subscript()?);
            form = AssignmentForm::Array;
        }
        if self.eat("+=") {
            if form == AssignmentForm::Plain {
                form = AssignmentForm::Append;
            }
        } else if !self.eat("=") {
            self.position = start;
            return Ok(false);
        }
        if let Some(subscript) = subscript {
            self.evaluated(&subscript)?;
        }
        let mut value = Word::default();
        if self.eat("(") {
            form = AssignmentForm::Array;
            value = self.array()?;
        } else if self.peek().is_some_and(|b| !ends_word(b)) || self.at_process_substitution() {
            value = self.read_word()?;
        }
        simple.assignments.push(ShellAssignment { name, form, value });
        Ok(true)
    }

    /// The text between `[` and `]`. The shell takes quotes, blanks and operators as parts of it.
    fn subscript(&mut self) -> Parse<String> {
        let rest = self.raw_word();
        let text = rest.find(']').map(|end| rest[1..end].to_owned());
        let Some(text) = text.filter(|text| !text.contains(['\'', '"', '\\', '[', '`'])) else {
            return Err("a subscript is not understood");
        };
        self.position += text.len() + 2;
        Ok(text)
    }

    fn array(&mut self) -> Parse<Word> {
        let mut elements = Builder::default();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                // What stands behind it is part of the same word, and shells differ about it.
                if self.peek().is_some_and(|b| !ends_word(b)) {
                    return Err("text stands directly behind an array");
                }
                return Ok(elements.finish());
            }
            if self.peek().is_none_or(ends_word) {
                return Err("an array is not closed");
            }
            if !elements.pieces.is_empty() {
                elements.text(" ");
            }
            if self.peek() == Some(b'[') {
                let start = self.position;
                let subscript = self.subscript()?;
                if self.starts_with("=") || self.starts_with("+=") {
                    self.evaluated(&subscript)?;
                }
                self.position = start;
            }
            match self.read_word()? {
                Word::Literal(text) => elements.text(&text),
                Word::Pieces(pieces) => elements.pieces.extend(pieces),
            }
        }
    }

    /// A redirection, if one stands here.
    pub(super) fn redirection(&mut self, simple: &mut Simple) -> Parse<bool> {
        let start = self.position;
        let mut named = None;
        if self.eat("{") {
            named = Some(self.name().to_owned()).filter(|name| !name.is_empty());
            // In front of a redirection, it evaluates the subscript and writes the element.
            if named.is_some() && self.peek() == Some(b'[') {
                return Err("a subscript stands in braces");
            }
            if named.is_none() || !self.eat("}") || !matches!(self.peek(), Some(b'<' | b'>')) {
                self.position = start;
                return Ok(false);
            }
        }
        let number = self.position;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.position += 1;
        }
        let digits = self.position - number;
        let is_input = match &self.text[number..self.position] {
            "" => named.is_none() && self.peek() == Some(b'<'),
            digits => digits.bytes().all(|b| b == b'0'),
        };
        let kind = match (self.peek(), self.peek_at(1)) {
            (Some(b'<' | b'>'), Some(b'(')) => None,
            (Some(b'<'), _) => Some(self.input_operator()?),
            (Some(b'>'), _) => Some(self.output_operator()),
            (Some(b'&'), Some(b'>')) if self.position == start => {
                self.position += 2;
                self.eat(">");
                Some(RedirectionKind::Write)
            }
            _ => None,
        };
        let Some(kind) = kind else {
            self.position = start;
            return Ok(false);
        };
        // To others, `&` ends the command, and braces and more than one digit are words.
        self.script.only_bash |= self.text[start..].starts_with(['&', '{']) || digits > 1;
        // The shell writes the number of the descriptor to the variable.
        self.script.volatile.extend(named);
        self.skip_blanks();
        let target = match kind {
            RedirectionKind::Document(_) => Word::default(),
            _ => {
                if self.peek().is_none_or(ends_word) && !self.at_process_substitution() {
                    return Err("a redirection has no target");
                }
                self.read_word()?
            }
        };
        simple.redirections.push(Redirection { kind, target, is_input });
        Ok(true)
    }

    fn input_operator(&mut self) -> Parse<RedirectionKind> {
        if self.eat("<<<") {
            return Ok(RedirectionKind::Text);
        }
        if self.eat("<<") {
            let strip_tabs = self.eat("-");
            return self.document_head(strip_tabs);
        }
        if self.eat("<>") {
            return Ok(RedirectionKind::ReadWrite);
        }
        if self.eat("<&") {
            return Ok(RedirectionKind::Duplicate);
        }
        self.position += 1;
        Ok(RedirectionKind::Read)
    }

    fn output_operator(&mut self) -> RedirectionKind {
        if self.eat(">&") {
            return RedirectionKind::Duplicate;
        }
        if !self.eat(">>") && !self.eat(">|") {
            self.position += 1;
        }
        RedirectionKind::Write
    }

    /// The delimiter of a here-document: quotes are removed, nothing is expanded.
    fn document_head(&mut self, strip_tabs: bool) -> Parse<RedirectionKind> {
        self.skip_blanks();
        let mut delimiter = String::new();
        let mut literal = false;
        while let Some(byte) = self.peek() {
            if ends_word(byte) {
                break;
            }
            match byte {
                b'\'' | b'"' => {
                    literal = true;
                    self.position += 1;
                    let rest = &self.text[self.position..];
                    let Some(end) = rest.find(char::from(byte)) else {
                        return Err("a quote is not closed");
                    };
                    if rest[..end].contains(['\\', '\n']) {
                        return Err("a here-document has an unusual delimiter");
                    }
                    delimiter.push_str(&rest[..end]);
                    self.position += end + 1;
                }
                b'\\' if self.peek_at(1) != Some(b'\n') => {
                    literal = true;
                    self.position += 1;
                    delimiter.extend(self.take_char());
                }
                b'\\' | b'$' | b'`' => {
                    return Err("a here-document has an unusual delimiter");
                }
                _ => delimiter.extend(self.take_char()),
            }
        }
        if delimiter.is_empty() && !literal {
            return Err("a here-document has no delimiter");
        }
        let slot = self.script.documents.len();
        self.script.documents.push(Word::default());
        self.pending.push(PendingDocument { delimiter, strip_tabs, literal, slot });
        Ok(RedirectionKind::Document(slot))
    }
}
