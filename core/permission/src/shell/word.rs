//! Words: quotes and escapes removed, expansions marked.

use super::piece::{Piece, Word};
use super::reader::{Parse, ShellReader};

/// Collects pieces, joining neighbouring texts.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) pieces: Vec<Piece>,
    braces: bool,
    /// Where an unquoted name ends that braces behind it may make longer.
    pub(super) open_name: Option<usize>,
    /// It has an unquoted `$` that begins nothing, unless braces do it: `{$,x}HOME`.
    pub(super) lone_dollar: bool,
}

impl Builder {
    pub(super) fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    pub(super) fn char(&mut self, c: char) {
        self.text(c.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn finish(mut self) -> Word {
        match self.pieces.as_mut_slice() {
            [] => Word::default(),
            [Piece::Text(text)] => Word::Literal(std::mem::take(text)),
            _ => Word::Pieces(self.pieces),
        }
    }
}

/// Bytes that neither end a word nor mean anything inside one.
fn is_plain(byte: u8) -> bool {
    matches!(byte,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..
        | b'-' | b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b'^' | b'!' | b'#' | b',')
}

/// Bytes that end an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl ShellReader<'_> {
    /// The word that starts here, which must not be a blank or an operator.
    pub(super) fn read_word(&mut self) -> Parse<Word> {
        let start = self.position;
        while self.peek().is_some_and(is_plain) {
            self.position += 1;
        }
        let next = self.peek();
        let plain = &self.text[start..self.position];
        // A `!` may belong to an extended pattern, and a tilde may follow `=` or `:`.
        if next.is_none_or(|b| ends_word(b) && b != b'(' && b != b'<' && b != b'>') {
            return Ok(Word::Literal(plain.to_owned()));
        }
        let word = self.word_parts(plain)?;
        if self.peek() == Some(b'(') {
            return Err("an extended pattern or array is not understood here");
        }
        Ok(word)
    }

    /// The parts of a word up to a blank or an operator; `start` is already taken.
    pub(super) fn word_parts(&mut self, start: &str) -> Parse<Word> {
        let mut word = Builder::default();
        let begin = self.position;
        if !start.is_empty() {
            word.text(start);
        }
        while let Some(byte) = self.peek() {
            if ends_word(byte) && !self.at_process_substitution() {
                break;
            }
            self.word_part(byte, &mut word)?;
        }
        // Every caller that reads words in a loop relies on this for its end.
        if start.is_empty() && self.position == begin {
            return Err("a word is missing here");
        }
        if word.braces && word.lone_dollar {
            return Err("braces may make a variable of a `$`");
        }
        Ok(word.finish())
    }

    pub(super) fn at_process_substitution(&self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(')
    }

    fn word_part(&mut self, byte: u8, word: &mut Builder) -> Parse<()> {
        match byte {
            b'\\' => self.escape(word)?,
            b'\'' => self.single_quoted(word)?,
            b'"' => self.double_quoted(word)?,
            b'$' => self.dollar(false, word)?,
            b'`' => self.backquoted(false, word)?,
            b'<' | b'>' => {
                self.position += 2;
                self.substitution_body()?;
                word.text("/dev/fd/63");
            }
            b'*' | b'?' | b'[' | b']' => {
                self.position += 1;
                word.pieces.push(Piece::Wildcard(char::from(byte)));
            }
            b'~' if self.tilde_position(word) => self.tilde(word)?,
            // Braces come first: `$a{b,c}` is `$ab $ac`.
            b'{' | b',' | b'}'
                if word.open_name == Some(self.position) && (word.braces || byte == b'{') =>
            {
                return Err("braces stand directly behind a variable");
            }
            b'{' => {
                self.position += 1;
                word.braces = true;
                word.pieces.push(Piece::BraceOpen);
            }
            b'}' if word.braces => {
                self.position += 1;
                word.pieces.push(Piece::BraceClose);
            }
            b',' if word.braces => {
                self.position += 1;
                word.pieces.push(Piece::BraceComma);
                self.script.only_bash = true;
            }
            _ => match self.take_char() {
                Some(c) => word.char(c),
                None => return Err("a word ends within a character"),
            },
        }
        Ok(())
    }

    /// A tilde is a home folder at the start of a word, and in assignments after `=` or `:`.
    fn tilde_position(&self, word: &Builder) -> bool {
        match word.pieces.as_slice() {
            [] => true,
            [.., Piece::Text(text)] => {
                text.ends_with(['=', ':'])
                    && matches!(self.text.as_bytes()[self.position - 1], b'=' | b':')
            }
            _ => false,
        }
    }

    fn tilde(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        let start = self.position;
        while self.peek().is_some_and(|b| is_plain(b) && b != b'/' && b != b':') {
            self.position += 1;
        }
        if self.peek() == Some(b'{') {
            return Err("braces stand directly behind a tilde");
        }
        word.pieces.push(Piece::Tilde(self.text[start..self.position].to_owned()));
        Ok(())
    }

    pub(super) fn escape(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        match self.take_char() {
            Some('\n') => {
                self.note_joint(self.position - 1);
                Ok(())
            }
            Some(c) => {
                word.char(c);
                Ok(())
            }
            None => Err("the command ends in a backslash"),
        }
    }

    pub(super) fn single_quoted(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        let rest = &self.text[self.position..];
        let Some(end) = memchr::memchr(b'\'', rest.as_bytes()) else {
            return Err("a single quote is not closed");
        };
        word.text(&rest[..end]);
        self.position += end + 1;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        word.text("");
        loop {
            match self.peek() {
                None => return Err("a double quote is not closed"),
                Some(b'"') => {
                    self.position += 1;
                    return Ok(());
                }
                Some(_) => self.expanding_part("$`\"\\\n", word)?,
            }
        }
    }

    /// The rest of the text, in which only `$`, backquotes and backslashes mean anything.
    pub(super) fn read_expanded_to_end(&mut self) -> Parse<Word> {
        let mut word = Builder::default();
        while self.peek().is_some() {
            self.expanding_part("$`\\\n", &mut word)?;
        }
        Ok(word.finish())
    }

    pub(super) fn expanding_part(&mut self, escapable: &str, word: &mut Builder) -> Parse<()> {
        match self.peek() {
            Some(b'\\') => {
                self.position += 1;
                match self.take_char() {
                    Some('\n') => self.note_joint(self.position - 1),
                    Some(c) if escapable.contains(c) => word.char(c),
                    Some(c) => {
                        word.text("\\");
                        word.char(c);
                    }
                    None => word.text("\\"),
                }
            }
            Some(b'$') => self.dollar(true, word)?,
            Some(b'`') => self.backquoted(true, word)?,
            _ => {
                let rest = &self.text.as_bytes()[self.position..];
                let end = rest.iter().position(|b| matches!(b, b'\\' | b'$' | b'`' | b'"'));
                let end = end.unwrap_or(rest.len()).max(1);
                word.text(&self.text[self.position..self.position + end]);
                self.position += end;
            }
        }
        Ok(())
    }
}
