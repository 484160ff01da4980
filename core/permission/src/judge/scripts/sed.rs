//! Reads sed scripts and accepts those that only edit the stream.

/// Whether `script` is one line of which every command is known and neither runs commands, names files nor
/// has text to its end: where such a text or a line ends depends on the options around it.
pub(super) fn is_plain(script: &str) -> bool {
    if script.contains('\n') {
        return false;
    }
    let mut reader = Reader { bytes: script.as_bytes(), at: 0 };
    reader.script().is_some()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, set: &[u8]) {
        while self.peek().is_some_and(|b| set.contains(&b)) {
            self.at += 1;
        }
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(b" \t;{}");
            if self.peek().is_none() {
                return Some(());
            }
            self.address()?;
            self.skip(b" \t!");
            self.command()?;
        }
    }

    fn address(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(b'0'..=b'9' | b'$' | b'~' | b'+') => self.at += 1,
                Some(b',' | b' ') => self.at += 1,
                Some(b'/') => {
                    self.at += 1;
                    self.until(b'/')?;
                    self.skip(b"IM");
                }
                Some(b'\\') => {
                    let delimiter = *self.bytes.get(self.at + 1)?;
                    self.at += 2;
                    self.until(delimiter)?;
                    self.skip(b"IM");
                }
                _ => return Some(()),
            }
        }
    }

    /// Moves past the next unescaped `delimiter`. Implementations of sed disagree on delimiters in
    /// brackets and on escapes that stand for a bracket or for a character before one, so those are
    /// not accepted.
    fn until(&mut self, delimiter: u8) -> Option<()> {
        if matches!(delimiter, b'\\' | b'[' | b']') {
            return None;
        }
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'\\' => self.escaped()?,
                byte if byte == delimiter => return Some(()),
                b'[' => self.bracket(delimiter)?,
                _ => {}
            }
        }
    }

    /// Moves past the character behind a backslash.
    fn escaped(&mut self) -> Option<()> {
        let is_plain = match self.peek()? {
            b'c' | b'd' | b'o' => false,
            b'x' => !matches!(self.bytes.get(self.at + 1), Some(b'5')),
            _ => true,
        };
        self.at += 1;
        is_plain.then_some(())
    }

    /// Moves past the end of a list in brackets. A `]` in front belongs to the list.
    fn bracket(&mut self, delimiter: u8) -> Option<()> {
        if self.peek() == Some(b'^') {
            self.at += 1;
        }
        if self.peek() == Some(b']') {
            return None;
        }
        loop {
            let byte = self.peek().filter(|&byte| byte != delimiter)?;
            self.at += 1;
            match byte {
                b']' => return Some(()),
                b'\\' if matches!(self.peek(), Some(b'[' | b']')) => return None,
                b'\\' => self.escaped()?,
                b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => {
                    let rest = &self.bytes[self.at + 1..];
                    let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                    let is_class = self.peek() == Some(b':') && rest[letters..].starts_with(b":]");
                    if !is_class || delimiter == b':' || delimiter.is_ascii_alphabetic() {
                        return None;
                    }
                    self.at += letters + 3;
                }
                _ => {}
            }
        }
    }

    /// A label. It ends at a blank, and versions disagree whether a brace ends it and where the script
    /// continues, so that nothing but the end of the command may follow.
    fn label(&mut self, command: u8) -> Option<()> {
        self.skip(b" \t");
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        if command != b':' {
            self.skip(b"}");
        }
        self.skip(b" \t");
        matches!(self.peek(), None | Some(b';')).then_some(())
    }

    fn command(&mut self) -> Option<()> {
        let command = self.peek()?;
        self.at += 1;
        match command {
            b'{' => return Some(()),
            b'p' | b'd' | b'D' | b'P' | b'n' | b'N' | b'g' | b'G' | b'h' | b'H' | b'x' | b'='
            | b'}' | b'z' => {}
            b'q' | b'Q' | b'l' => self.skip(b" 0123456789"),
            b's' => {
                let delimiter = self.peek()?;
                self.at += 1;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.skip(b"gpiImM0123456789");
            }
            b'y' => {
                let delimiter = self.peek()?;
                self.at += 1;
                self.until(delimiter)?;
                self.until(delimiter)?;
            }
            b'b' | b't' | b'T' | b':' => return self.label(command),
            _ => return None,
        }
        self.skip(b" \t");
        matches!(self.peek(), None | Some(b';' | b'}')).then_some(())
    }
}
