//! Lists, pipelines, compound commands and simple commands.

use super::reader::{Parse, ShellReader};
use super::word::ends_word;
use super::{Function, ScopeKind, Simple, Word};

/// Words that close or divide a compound command and can start none.
const CLOSING_WORDS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

/// Words that start a compound command.
const COMPOUND: [&str; 8] = ["{", "if", "while", "until", "for", "select", "case", "[["];

/// Operators of `[[ ]]` that evaluate their operands as arithmetic or subscripts.
const EVALUATING_TESTS: [&str; 8] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

impl ShellReader<'_> {
    /// Commands up to, and not with, one of `until`.
    pub(super) fn read_list(&mut self, until: &[&str]) -> Parse<()> {
        self.enter()?;
        loop {
            self.skip_lines()?;
            if self.peek().is_none() || self.at_any(until) {
                break;
            }
            let mark = self.mark();
            self.and_or()?;
            self.skip_blanks();
            match self.peek() {
                Some(b'&') => {
                    self.position += 1;
                    self.script.has_background = true;
                    self.mark_uncertain(mark);
                }
                Some(b';') if matches!(self.peek_at(1), Some(b';' | b'&')) => {
                    if self.at_any(until) {
                        break;
                    }
                    return Err("`;;` stands outside `case`");
                }
                Some(b';') => self.position += 1,
                Some(b'\n') => {}
                None => break,
                Some(_) if self.at_any(until) => break,
                Some(_) => return Err("a command ends in something unexpected"),
            }
        }
        self.leave();
        Ok(())
    }

    /// Whether the text continues with one of `words`, as an operator or a whole word.
    fn at_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| match word.as_bytes()[0] {
            b')' | b';' => self.starts_with(word),
            _ => self.raw_word() == *word,
        })
    }

    /// The bytes up to the next operator or blank, quotes and all.
    pub(super) fn raw_word(&self) -> &str {
        let rest = &self.text[self.position..];
        let end = rest.bytes().position(ends_word).unwrap_or(rest.len());
        &rest[..end]
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.raw_word() == word;
        if found {
            self.position += word.len();
        }
        found
    }

    fn expect_word(&mut self, word: &str, missing: &'static str) -> Parse<()> {
        self.skip_lines()?;
        if self.eat_word(word) { Ok(()) } else { Err(missing) }
    }

    fn mark(&self) -> usize {
        self.script.commands.len()
    }

    /// Everything since `mark` may not happen, or not in this shell.
    fn mark_uncertain(&mut self, from: usize) {
        for simple in &mut self.script.commands[from..] {
            simple.certain = false;
        }
    }

    fn and_or(&mut self) -> Parse<()> {
        self.script.lists += 1;
        let list = self.script.lists;
        let mut successes = true;
        let first = self.mark();
        self.pipeline()?;
        self.mark_list(first, list, false);
        loop {
            self.skip_blanks();
            let alternative = self.eat("||");
            if !alternative && !self.eat("&&") {
                return Ok(());
            }
            successes &= !alternative;
            self.skip_lines()?;
            let mark = self.mark();
            self.pipeline()?;
            self.mark_list(mark, list, successes);
            self.mark_uncertain(mark);
        }
    }

    /// Says of the commands since `from` to which list they belong; those of lists within keep
    /// theirs.
    fn mark_list(&mut self, from: usize, list: usize, after_success: bool) {
        for simple in &mut self.script.commands[from..] {
            if simple.list == 0 {
                (simple.list, simple.after_success) = (list, after_success);
            }
        }
    }

    fn pipeline(&mut self) -> Parse<()> {
        let mark = self.mark();
        let (mut stages, mut is_negated) = (1, false);
        loop {
            self.skip_blanks();
            if self.eat_word("!") {
                is_negated = true;
                continue;
            }
            if !self.eat_word("time") {
                break;
            }
            self.skip_blanks();
            if self.eat_word("-p") {
                self.skip_blanks();
            }
            // `time` alone measures nothing and runs nothing.
            if self.peek().is_none_or(|b| matches!(b, b'\n' | b';' | b'&' | b'|' | b')')) {
                return Ok(());
            }
        }
        self.command()?;
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            self.position += 1;
            self.eat("&");
            self.skip_lines()?;
            stages += 1;
            self.command()?;
        }
        if stages > 1 {
            self.mark_uncertain(mark);
        }
        if stages > 1 || is_negated {
            for simple in &mut self.script.commands[mark..] {
                simple.alone = false;
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parse<()> {
        self.enter()?;
        self.skip_blanks();
        let outer = self.scope;
        let compound = match self.peek() {
            None => return Err("a command is missing at the end"),
            Some(b'(') => {
                self.parenthesised()?;
                true
            }
            Some(byte) if ends_word(byte) && !matches!(byte, b'<' | b'>' | b'&') => {
                return Err("a command is missing here");
            }
            Some(_) => self.reserved()?,
        };
        if compound {
            self.scope = outer;
            self.compound_redirections()?;
        } else {
            self.simple()?;
        }
        self.leave();
        Ok(())
    }

    /// A compound command that starts with a reserved word or a function definition;
    /// `false` when a simple command stands here.
    fn reserved(&mut self) -> Parse<bool> {
        let word = self.raw_word();
        if CLOSING_WORDS.contains(&word) {
            return Err("a word that closes a compound command stands alone");
        }
        // Groups and conditions only say which commands run.
        let is_plain = matches!(word, "{" | "if");
        match word {
            "{" => self.group()?,
            "if" => self.conditional_command()?,
            "while" | "until" => self.while_loop()?,
            "for" | "select" => self.for_loop()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            "coproc" => {
                self.position += "coproc".len();
                self.open_scope(ScopeKind::Subshell);
                self.command()?;
                // The shell writes the variable `NAME` of `coproc NAME [[ … ]]`.
                let behind = self.script.commands.last().and_then(|last| last.source.get(1));
                if behind.is_some_and(|word| COMPOUND.contains(&word.as_str())) {
                    return Err("a coprocess has a name");
                }
            }
            "function" => {
                self.position += "function".len();
                self.skip_blanks();
                let name = self.raw_word().to_owned();
                self.position += name.len();
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    if !self.eat(")") {
                        return Err("a function has no `()`");
                    }
                }
                self.function(name)?;
            }
            _ => {
                let Some((name, behind)) = self.function_head() else {
                    return Ok(false);
                };
                self.position = behind;
                self.function(name)?;
            }
        }
        self.script.has_compound |= !is_plain;
        Ok(true)
    }

    /// `name ()`, and where it ends.
    fn function_head(&self) -> Option<(String, usize)> {
        let name = self.raw_word();
        let bytes = self.text.as_bytes();
        let blanks = |mut at: usize| {
            while matches!(bytes.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            at
        };
        let open = blanks(self.position + name.len());
        if name.is_empty() || name.contains('=') || bytes.get(open) != Some(&b'(') {
            return None;
        }
        let close = blanks(open + 1);
        (bytes.get(close) == Some(&b')')).then(|| (name.to_owned(), close + 1))
    }

    fn function(&mut self, name: String) -> Parse<()> {
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b)) {
            return Err("a function has an unusual name");
        }
        self.open_scope(ScopeKind::Function);
        let scope = self.scope;
        self.script.functions.push(Function { name, scope });
        self.skip_lines()?;
        self.command()
    }

    fn parenthesised(&mut self) -> Parse<()> {
        if self.peek_at(1) == Some(b'(') && self.arithmetic_end()?.is_some() {
            self.script.has_compound = true;
            self.position += 2;
            self.script.only_bash = true;
            return self.arithmetic();
        }
        self.position += 1;
        self.substitution_body()
    }

    fn group(&mut self) -> Parse<()> {
        self.position += 1;
        self.open_scope(ScopeKind::Branch);
        self.read_list(&["}"])?;
        self.expect_word("}", "a `{` is not closed")
    }

    fn conditional_command(&mut self) -> Parse<()> {
        self.position += "if".len();
        self.open_scope(ScopeKind::Branch);
        self.read_list(&["then"])?;
        self.expect_word("then", "an `if` has no `then`")?;
        loop {
            self.read_list(&["elif", "else", "fi"])?;
            if self.eat_word("fi") {
                return Ok(());
            }
            if self.eat_word("elif") {
                self.read_list(&["then"])?;
                self.expect_word("then", "an `elif` has no `then`")?;
            } else if !self.eat_word("else") {
                return Err("an `if` is not closed");
            }
        }
    }

    fn while_loop(&mut self) -> Parse<()> {
        self.position += self.raw_word().len();
        self.open_scope(ScopeKind::Loop);
        self.read_list(&["do"])?;
        self.loop_body()
    }

    fn loop_body(&mut self) -> Parse<()> {
        self.expect_word("do", "a loop has no `do`")?;
        self.read_list(&["done"])?;
        self.expect_word("done", "a loop is not closed")
    }

    fn for_loop(&mut self) -> Parse<()> {
        self.position += self.raw_word().len();
        self.skip_blanks();
        if self.starts_with("((") {
            self.position += 2;
            self.arithmetic()?;
            self.open_scope(ScopeKind::Loop);
            self.skip_blanks();
            self.eat(";");
            return self.loop_body();
        }
        let variable = self.name().to_owned();
        if variable.is_empty()
            || !self.peek().is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b';'))
        {
            return Err("a loop has no variable");
        }
        self.skip_lines()?;
        let mut values = None;
        if self.eat_word("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                match self.peek() {
                    None => return Err("a loop has no `do`"),
                    Some(b';' | b'\n') => break,
                    Some(b) if ends_word(b) && b != b'<' && b != b'>' => {
                        return Err("a loop's values end in something unexpected");
                    }
                    Some(_) => words.push(self.read_word()?),
                }
            }
            values = Some(words);
        }
        self.skip_blanks();
        self.eat(";");
        self.open_scope(ScopeKind::For { variable, values });
        self.loop_body()
    }

    fn case(&mut self) -> Parse<()> {
        self.position += "case".len();
        self.skip_blanks();
        self.read_word()?;
        self.expect_word("in", "a `case` has no `in`")?;
        self.open_scope(ScopeKind::Branch);
        loop {
            self.skip_lines()?;
            if self.eat_word("esac") {
                return Ok(());
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                if self.peek().is_none_or(ends_word) {
                    return Err("a pattern of a `case` is missing");
                }
                self.word_parts("")?;
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err("a pattern of a `case` is not closed");
            }
            self.read_list(&[";;", ";&", "esac"])?;
            if self.eat(";;") || self.eat(";") {
                self.eat("&");
            }
        }
    }

    /// `[[ … ]]`. Operators are stepped over: what matters is what its words run.
    fn test(&mut self) -> Parse<()> {
        self.position += 2;
        self.script.only_bash = true;
        let mut words = Vec::new();
        loop {
            let before = self.position;
            self.skip_lines()?;
            // In the parentheses of a pattern it starts no comment.
            if self.text[before..self.position].contains('#') {
                return Err("a `[[` has a comment");
            }
            if self.eat_word("]]") {
                break;
            }
            match self.peek() {
                None => return Err("a `[[` is not closed"),
                Some(b'(' | b')' | b'|' | b'&') => self.position += 1,
                Some(b'<' | b'>') if self.peek_at(1) != Some(b'(') => self.position += 1,
                Some(b';') => return Err("a `[[` is not closed"),
                Some(_) => words.push(self.word_parts("")?),
            }
        }
        let evaluates =
            |word: &Word| word.as_literal().is_some_and(|w| EVALUATING_TESTS.contains(&w));
        let number = |word: &Word| {
            word.as_literal().is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
        };
        if words.iter().any(evaluates) && !words.iter().all(|w| evaluates(w) || number(w)) {
            self.concern("a comparison evaluates its operands, which may hold code");
        }
        Ok(())
    }

    /// Redirections behind a compound command, which hold for everything in it.
    fn compound_redirections(&mut self) -> Parse<()> {
        let mut simple = Simple { scope: self.scope, ..Simple::default() };
        loop {
            self.skip_blanks();
            if !self.redirection(&mut simple)? {
                break;
            }
        }
        if !simple.redirections.is_empty() {
            self.script.commands.push(simple);
        }
        Ok(())
    }

    fn simple(&mut self) -> Parse<()> {
        let mut simple = Simple {
            scope: self.scope,
            certain: self.scope == 0,
            alone: true,
            ..Simple::default()
        };
        loop {
            self.skip_blanks();
            if self.redirection(&mut simple)? {
                continue;
            }
            if self.peek().is_none_or(ends_word) && !self.at_process_substitution() {
                break;
            }
            let start = self.position;
            if simple.words.is_empty() && self.assignment(&mut simple)? {
                simple.source.push(self.text[start..self.position].to_owned());
                continue;
            }
            if self.raw_word() == "}" {
                self.concern("a `}` stands where it closes nothing");
            }
            let word = self.read_word()?;
            simple.words.push(word);
            simple.source.push(self.text[start..self.position].to_owned());
        }
        if simple.words.is_empty()
            && simple.assignments.is_empty()
            && simple.redirections.is_empty()
        {
            return Err("a command is missing here");
        }
        self.script.commands.push(simple);
        Ok(())
    }
}
