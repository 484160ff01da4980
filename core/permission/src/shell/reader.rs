//! The position in the text, and what every part of the reader needs.

use super::{ParsedShell, Scope, ScopeKind, Word};
use onloop_syntax::limits;

/// What was read, or why reading stops: what was found and what was expected.
pub(super) type Parse<T> = Result<T, &'static str>;

pub(super) struct ShellReader<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
    pub(super) depth: usize,
    pub(super) scope: usize,
    pub(super) script: ParsedShell,
    /// Here-documents whose bodies start after the next line break: the delimiter, whether
    /// tabs are stripped, whether the body is literal, and where to put it.
    pub(super) pending: Vec<PendingDocument>,
    /// Where the shell joins two lines first; what is around the place must be read without it.
    pub(super) joint: Option<usize>,
}

pub(super) struct PendingDocument {
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    pub(super) literal: bool,
    pub(super) slot: usize,
}

impl<'a> ShellReader<'a> {
    pub(super) fn new(text: &'a str, script: ParsedShell, depth: usize) -> Self {
        ShellReader { text, position: 0, depth, scope: 0, script, pending: Vec::new(), joint: None }
    }

    /// Reads to the end and hands back what was found, also when it stops early, and where the text
    /// has to be joined and read again.
    pub(super) fn read_all(mut self) -> (ParsedShell, Option<usize>) {
        if let Err(unparsed) = self.read_script() {
            self.script.unparsed.get_or_insert(unparsed);
        }
        (self.script, self.joint)
    }

    /// Notes that the backslash before `position` joins two lines within a word or an operator.
    pub(super) fn note_joint(&mut self, position: usize) {
        self.joint.get_or_insert(position - 1);
    }

    /// Fails for a text within the text that has lines to be joined.
    fn without_joints(&self) -> Parse<()> {
        match self.joint {
            Some(_) => Err("a line is continued where that is not understood"),
            None => Ok(()),
        }
    }

    fn read_script(&mut self) -> Parse<()> {
        self.read_list(&[])?;
        if self.peek().is_some() {
            return Err("this cannot stand here");
        }
        if !self.pending.is_empty() {
            return Err("a here-document has no body");
        }
        Ok(())
    }

    /// Reads `text`, which is not part of this reader's text, in a new subshell scope.
    pub(super) fn read_nested(&mut self, text: &str) -> Parse<()> {
        let outer = self.scope;
        self.open_scope(ScopeKind::Subshell);
        self.read_inner(text, |inner| inner.read_script())?;
        self.scope = outer;
        Ok(())
    }

    /// Reads `text`, which is not part of this reader's text, in the scope of this reader.
    fn read_inner<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut ShellReader<'_>) -> Parse<T>,
    ) -> Parse<T> {
        self.spend(text.len())?;
        self.enter()?;
        let script = std::mem::take(&mut self.script);
        let mut inner = ShellReader::new(text, script, self.depth);
        inner.scope = self.scope;
        let found = read(&mut inner);
        let found = inner.without_joints().and(found);
        self.script = inner.script;
        self.leave();
        found
    }

    pub(super) fn enter(&mut self) -> Parse<()> {
        if self.depth >= limits::SHELL_DEPTH {
            return Err("commands are nested too deeply");
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Pays for text that is looked at a second time.
    pub(super) fn spend(&mut self, bytes: usize) -> Parse<()> {
        self.script.work_bytes += bytes;
        if self.script.work_bytes > limits::SHELL_REREAD_BYTES {
            return Err("the command is too intricate to be read");
        }
        Ok(())
    }

    pub(super) fn concern(&mut self, reason: &'static str) {
        self.script.concerns.push(reason);
    }

    pub(super) fn open_scope(&mut self, kind: ScopeKind) -> usize {
        self.script.scopes.push(Scope { parent: Some(self.scope), kind });
        self.scope = self.script.scopes.len() - 1;
        self.scope
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + ahead).copied()
    }

    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.text.as_bytes()[self.position..].starts_with(prefix.as_bytes())
    }

    /// The whole character here.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let c = self.text[self.position..].chars().next()?;
        self.position += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, prefix: &str) -> bool {
        let found = self.starts_with(prefix);
        if found {
            self.position += prefix.len();
        }
        found
    }

    /// Skips blanks, line continuations and, at the start of a word, comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    let before = self.text[..self.position].bytes().next_back();
                    if !matches!(before, None | Some(b' ' | b'\t' | b'\n')) {
                        self.note_joint(self.position + 1);
                    }
                    self.position += 2;
                }
                Some(b'#') => {
                    let rest = &self.text.as_bytes()[self.position..];
                    self.position += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line breaks.
    pub(super) fn skip_lines(&mut self) -> Parse<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.line_break()?;
        }
    }

    /// Takes a line break and the bodies of the here-documents that start after it.
    pub(super) fn line_break(&mut self) -> Parse<()> {
        self.position += 1;
        for document in std::mem::take(&mut self.pending) {
            self.document_body(document)?;
        }
        Ok(())
    }

    fn document_body(&mut self, document: PendingDocument) -> Parse<()> {
        let mut body = String::new();
        loop {
            if self.position >= self.text.len() {
                return Err("a here-document is not terminated");
            }
            let mut line = self.take_line().to_owned();
            // In a body that is expanded, a backslash joins lines before the delimiter is
            // looked for, so a delimiter may be spread over two of them.
            while !document.literal && ends_in_escape(&line) && self.position < self.text.len() {
                line.pop();
                line.push_str(self.take_line());
            }
            let line = match document.strip_tabs {
                true => line.trim_start_matches('\t'),
                false => line.as_str(),
            };
            if line == document.delimiter {
                break;
            }
            let ends = line.strip_prefix(document.delimiter.as_str());
            if self.in_subshell() && ends.is_some_and(|rest| rest.contains(')')) {
                return Err("a parenthesis follows the end of a here-document");
            }
            body.push_str(line);
            body.push('\n');
        }
        let word = if document.literal { Word::Literal(body) } else { self.expand_text(&body)? };
        self.script.documents[document.slot] = word;
        Ok(())
    }

    fn in_subshell(&self) -> bool {
        let mut scopes = self.script.scopes_around(self.scope);
        scopes.any(|at| matches!(self.script.scopes[at].kind, ScopeKind::Subshell))
    }

    fn take_line(&mut self) -> &'a str {
        let rest = &self.text[self.position..];
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        self.position += (end + 1).min(rest.len());
        &rest[..end]
    }

    /// A text in which `$` and backquotes work and quotes do not: the body of an unquoted
    /// here-document.
    pub(super) fn expand_text(&mut self, text: &str) -> Parse<Word> {
        if !text.bytes().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
            return Ok(Word::Literal(text.to_owned()));
        }
        self.read_inner(text, |inner| inner.read_expanded_to_end())
    }
}

/// Whether `line` ends in a backslash that is not itself escaped.
fn ends_in_escape(line: &str) -> bool {
    line.bytes().rev().take_while(|&b| b == b'\\').count() % 2 == 1
}
