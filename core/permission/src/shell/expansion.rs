//! What stands behind a `$` or between backquotes.

use super::ScopeKind;
use super::piece::Piece;
use super::reader::{Parse, ShellReader};
use super::word::Builder;

impl ShellReader<'_> {
    pub(super) fn dollar(&mut self, quoted: bool, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        match self.peek() {
            Some(b'\'') if !quoted => {
                self.script.only_bash = true;
                self.ansi_quoted(word)
            }
            Some(b'"') if !quoted => {
                self.script.only_bash = true;
                self.concern("a text is translated by a file, and expanded after that");
                self.double_quoted(word)
            }
            Some(b'(') if self.peek_at(1) == Some(b'(') && self.arithmetic_end()?.is_some() => {
                self.position += 2;
                self.arithmetic()?;
                word.pieces.push(Piece::Unknown { name: None, quoted });
                Ok(())
            }
            Some(b'(') => {
                self.position += 1;
                self.substitution_body()?;
                word.pieces.push(Piece::Unknown { name: None, quoted });
                Ok(())
            }
            Some(b'{') => self.braced(quoted, word),
            Some(b'[') => Err("`$[` is not understood"),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let name = self.name().to_owned();
                word.pieces.push(Piece::Variable { name, quoted });
                word.open_name = Some(self.position).filter(|_| !quoted);
                Ok(())
            }
            Some(b @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.position += 1;
                // A number is one word, quoted or not; `"$@"` is as many as there are.
                let number = matches!(b, b'#' | b'?' | b'$' | b'!');
                word.pieces
                    .push(Piece::Unknown { name: None, quoted: number || quoted && b != b'@' });
                Ok(())
            }
            _ => {
                word.text("$");
                word.lone_dollar |= !quoted;
                Ok(())
            }
        }
    }

    /// The longest variable name that starts here; may be empty.
    pub(super) fn name(&mut self) -> &str {
        let start = self.position;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.position += 1;
        }
        &self.text[start..self.position]
    }

    /// The commands up to the closing parenthesis, whose opening one is already taken.
    pub(super) fn substitution_body(&mut self) -> Parse<()> {
        self.enter()?;
        // Shells disagree on whose body comes first.
        if !self.pending.is_empty() {
            return Err("a substitution stands between a here-document and its body");
        }
        let outer = self.scope;
        self.open_scope(ScopeKind::Subshell);
        self.read_list(&[")"])?;
        if !self.eat(")") {
            return Err("a parenthesis is not closed");
        }
        if !self.pending.is_empty() {
            return Err("a here-document has no body");
        }
        self.scope = outer;
        self.leave();
        Ok(())
    }

    pub(super) fn backquoted(&mut self, quoted: bool, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        let mut inner = String::new();
        loop {
            match self.take_char() {
                None => return Err("a backquote is not closed"),
                Some('`') => break,
                Some('\\') => match self.take_char() {
                    Some(c @ ('$' | '`' | '\\')) => inner.push(c),
                    // The shell joins the lines first, also in single quotes and comments.
                    Some('\n') => {}
                    // Between double quotes it is a plain quote, and in a here-document it is not.
                    Some('"') if quoted => {
                        return Err("a quote is escaped between backquotes");
                    }
                    Some(c) => inner.extend(['\\', c]),
                    None => return Err("a backquote is not closed"),
                },
                Some(c) => inner.push(c),
            }
        }
        self.read_nested(&inner)?;
        word.pieces.push(Piece::Unknown { name: None, quoted });
        Ok(())
    }

    /// `${…}`; the position is on the brace.
    fn braced(&mut self, quoted: bool, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|' | b'(' | b'\\' | b'}') | None) {
            return Err("a substitution in `${ }` is not understood");
        }
        let mut bare = true;
        if self.eat("!") {
            bare = false;
            self.concern("an indirect expansion may run code in its subscript");
        } else if self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') {
            bare = false;
            self.position += 1;
        }
        let begin = self.position;
        let counts = self.text[..begin].ends_with("{#");
        let name = self.name().to_owned();
        if name.is_empty() {
            bare = false;
            if self.take_char() == Some('\\') {
                return Err("the name in `${` is not understood");
            }
        }
        if bare && self.eat("}") {
            let piece = match name.as_bytes()[0].is_ascii_digit() {
                true => Piece::Unknown { name: None, quoted },
                false => Piece::Variable { name, quoted },
            };
            word.pieces.push(piece);
            return Ok(());
        }
        // `${name:+x}` tells only whether there is a value.
        let tells = !self.starts_with(":+") && !self.starts_with("+");
        let fails = self.starts_with(":?") || self.starts_with("?");
        let inner = self.braced_rest(&name, quoted)?;
        let inside = &self.text[begin..self.position];
        let names = inside.strip_prefix(&name) == Some("@}");
        let is_list = names || inside.starts_with('@') || inside.contains("[@]");
        let quoted = quoted && (counts || !is_list);
        if fails && !inner.is_empty() {
            self.concern("an expansion that fails prints the variables in its message");
        }
        let own = Some(name).filter(|name| tells && !name.is_empty());
        // Each may become a part of the word, or of a message about it.
        let mut used = own.into_iter().chain(inner);
        word.pieces.push(Piece::Unknown { name: used.next(), quoted });
        word.pieces.extend(used.map(|name| Piece::Unknown { name: Some(name), quoted }));
        Ok(())
    }

    /// What follows the name in `${name…}`, up to and with the brace. Returns the variables in it.
    fn braced_rest(&mut self, name: &str, quoted: bool) -> Parse<Vec<String>> {
        let mut inner = Vec::new();
        self.enter()?;
        if self.starts_with("@P") {
            self.concern("`${name@P}` runs the substitutions in the variable's value");
        }
        if self.starts_with("=") || self.starts_with(":=") {
            self.script.volatile.push(name.to_owned());
        }
        let start = self.position;
        let offset = self.peek() == Some(b':')
            && !matches!(self.peek_at(1), Some(b'-' | b'=' | b'?' | b'+'));
        let subscript = self.peek() == Some(b'[');
        let mut ignored = Builder::default();
        loop {
            match self.peek() {
                None => return Err("`${` is not closed"),
                Some(b'}') => break,
                Some(b'\'') if quoted => self.single_quoted_in_double(&mut ignored)?,
                Some(b'\'') => self.single_quoted(&mut ignored)?,
                Some(b'"') => self.double_quoted(&mut ignored)?,
                Some(b'\\') => self.escape(&mut ignored)?,
                Some(b'<' | b'>') if self.at_process_substitution() => {
                    self.position += 2;
                    self.substitution_body()?;
                }
                Some(b'$') if quoted && self.peek_at(1) == Some(b'\'') => {
                    return Err("shells differ about `$'` in double quotes");
                }
                Some(b'$') => self.dollar(quoted, &mut ignored)?,
                Some(b'`') => self.backquoted(quoted, &mut ignored)?,
                Some(_) => {
                    self.take_char();
                }
            }
            let used = ignored.pieces.drain(..);
            inner.extend(used.filter_map(|piece| piece.variable().map(str::to_owned)));
        }
        let rest = &self.text[start..self.position];
        if subscript && (rest.contains("]=") || rest.contains("]:=")) {
            self.script.volatile.push(name.to_owned());
        }
        let evaluates = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'`');
        if (offset || subscript) && rest.bytes().any(evaluates) {
            self.concern("a subscript or offset is evaluated, and its variables may hold code");
        }
        self.position += 1;
        self.leave();
        Ok(inner)
    }

    /// Single quotes within `"${…}"`: bash takes them as quotes and expands what is between them,
    /// other shells take them as text. Read only where both come to the same end.
    fn single_quoted_in_double(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        let rest = &self.text[self.position..];
        let end = rest.find('\'').map(|end| self.position + end);
        let inner = &rest[..end.map_or(0, |end| end - self.position)];
        while end.is_some_and(|end| self.position < end) && !inner.contains(['"', '}', '\\', '`']) {
            match self.peek() {
                Some(b'$') => self.dollar(true, word)?,
                _ => drop(self.take_char()),
            }
        }
        if end != Some(self.position) {
            return Err("shells differ about a single quote in double quotes");
        }
        self.position += 1;
        Ok(())
    }

    /// Where the arithmetic that starts with `((` here ends, if it is arithmetic: the
    /// parentheses balance and the last two stand together.
    pub(super) fn arithmetic_end(&self) -> Parse<Option<usize>> {
        let bytes = self.text.as_bytes();
        let mut at = self.position + 2;
        let mut open = 0usize;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 1,
                b'\\' | b'\'' | b'"' => return Err("quotes stand behind `((`"),
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return Ok((bytes.get(at + 1) == Some(&b')')).then_some(at)),
                _ => {}
            }
            at += 1;
        }
        Ok(None)
    }

    /// Arithmetic up to its `))`; the position is behind the opening ones.
    pub(super) fn arithmetic(&mut self) -> Parse<()> {
        self.position -= 2;
        let end = self.arithmetic_end()?;
        self.position += 2;
        let Some(end) = end else {
            return Err("arithmetic is not closed");
        };
        self.spend(end - self.position)?;
        let text = self.text[self.position..end].replace("\\\n", "");
        if let Some(joint) = self.text[self.position..end].find("\\\n") {
            self.note_joint(self.position + joint + 1);
        }
        self.position = end + 2;
        self.evaluated(&text)
    }

    /// Text that the shell evaluates as arithmetic: names in it are evaluated in turn, and
    /// a value such as `a[$(id)]` runs a command.
    pub(super) fn evaluated(&mut self, text: &str) -> Parse<()> {
        self.expand_text(text)?;
        let expands = text.bytes().any(|b| matches!(b, b'$' | b'`'));
        if expands || text.bytes().any(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'[') {
            self.concern("arithmetic evaluates what its variables hold, which may be code");
        }
        Ok(())
    }

    fn ansi_quoted(&mut self, word: &mut Builder) -> Parse<()> {
        self.position += 1;
        word.text("");
        loop {
            match self.take_char() {
                None => return Err("a quote is not closed"),
                Some('\'') => return Ok(()),
                Some('\\') => self.ansi_escape(word)?,
                Some(c) => word.char(c),
            }
        }
    }

    fn ansi_escape(&mut self, word: &mut Builder) -> Parse<()> {
        let Some(c) = self.take_char() else {
            return Err("a quote is not closed");
        };
        let plain = match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => c,
            'x' => self.ansi_number("", 2, 16)?,
            'u' => self.ansi_number("", 4, 16)?,
            'U' => self.ansi_number("", 8, 16)?,
            '0'..='7' => self.ansi_number(c.encode_utf8(&mut [0; 4]), 2, 8)?,
            'c' => return Err("a control escape in `$'…'` is not understood"),
            other => {
                word.text("\\");
                other
            }
        };
        word.char(plain);
        Ok(())
    }

    /// The character named by at most `digits` more digits. Bytes above ASCII and NUL, which
    /// cuts the word short in some shells, are not modelled.
    fn ansi_number(&mut self, first: &str, digits: usize, radix: u32) -> Parse<char> {
        let start = self.position;
        while self.position - start < digits
            && self.peek().is_some_and(|b| char::from(b).is_digit(radix))
        {
            self.position += 1;
        }
        let text = format!("{first}{}", &self.text[start..self.position]);
        match u32::from_str_radix(&text, radix).ok().and_then(char::from_u32) {
            Some(c) if c != '\0' && (c.is_ascii() || digits >= 4) => Ok(c),
            _ => Err("an escape in `$'…'` is not understood"),
        }
    }
}
