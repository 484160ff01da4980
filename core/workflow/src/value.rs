//! The value of a key: the rest of its line and the lines below it.

use std::borrow::Cow;

use onloop_effect::{InvalidNetwork, Network};
use onloop_syntax::diagnostic::Span;

use super::heredoc;
use super::line::{Cursor, Line};
use super::markdown::{self, Fence, HeaderForm};

/// The text of a value and its position.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    /// From its first to its last byte in the file; an empty value is after the colon.
    pub span: Span,
    /// Without the block's indentation and without blank lines at its end.
    pub text: Cow<'a, str>,
    /// Its layout.
    pub style: Style,
    /// Lines that look like fields but belong to this value.
    pub field_like: Vec<Span>,
    /// A fenced block inside the value without an end.
    pub open_fence: Option<Span>,
}

/// The layout of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// On the line of its key.
    Inline,
    /// On the line of its key and on indented lines below.
    Lines,
    /// Only on lines below.
    Below,
    /// `|` or `>` and a block.
    Block,
}

/// The content of a value, which decides where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for people: may contain fenced blocks.
    Prose,
    /// Text for a shell: may contain heredocs.
    Command,
    /// One word, or words on one line.
    Word,
    /// Frontmatter.
    Meta,
}

impl<'a> Value<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The value without blanks around it.
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }

    /// The value as text: without blanks around it, and without matching quotes around it if it is
    /// on the line of its key.
    pub(super) fn plain(&self) -> Cow<'_, str> {
        match self.style {
            Style::Inline => without_quotes(self.trimmed()),
            Style::Lines | Style::Below | Style::Block => Cow::Borrowed(self.trimmed()),
        }
    }

    /// A value on its key's line; `from` is the offset after the colon.
    pub(super) fn inline(line: Line<'a>, from: usize) -> Value<'a> {
        let rest = &line.text[from - line.start..];
        let text = rest.trim();
        let start = match text.is_empty() {
            true => from,
            false => from + (rest.len() - rest.trim_start().len()),
        };
        Value {
            span: Span::new(start, start + text.len()),
            text: Cow::Borrowed(text),
            style: Style::Inline,
            field_like: Vec::new(),
            open_fence: None,
        }
    }

    /// Reads the value whose key is on `line`, which the cursor has passed. The value continues
    /// while lines are indented deeper than `parent_indent`, or a fenced block or a heredoc is
    /// open.
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        line: Line<'a>,
        from: usize,
        parent_indent: usize,
        kind: Kind,
    ) -> Value<'a> {
        let mut value = Value::inline(line, from);
        let block = BlockIndicator::parse(&value.text);
        let mut body = Body::default();
        if kind == Kind::Command && block.is_none() {
            body.take_heredocs(cursor, &value.text, None);
        }
        while let Some(next) = cursor.peek() {
            if next.is_blank() {
                cursor.advance();
                body.push(next, 0);
                continue;
            }
            if next.indent() <= parent_indent || (block.is_none() && begins_step(next)) {
                break;
            }
            cursor.advance();
            let strip = *body.indent.get_or_insert(next.indent());
            body.push(next, strip);
            match kind {
                Kind::Prose => body.take_fence(cursor, next, strip, &mut value.open_fence),
                Kind::Command => {
                    body.take_heredocs(cursor, next.text, block.is_some().then_some(strip));
                }
                Kind::Word | Kind::Meta => {}
            }
            let looks_like_field = block.is_none() && kind != Kind::Meta && is_step_key(next);
            if looks_like_field {
                value.field_like.push(next.span());
            }
        }
        body.finish(value, block)
    }
}

fn begins_step(line: Line<'_>) -> bool {
    markdown::header(line).is_some_and(|header| match header.form {
        HeaderForm::Checkbox | HeaderForm::Legacy | HeaderForm::Misspelt => true,
        HeaderForm::Doubtful => false,
    })
}

fn is_step_key(line: Line<'_>) -> bool {
    const KEYS: [&str; 5] = ["action:", "loop:", "max_iterations:", "verify:", "gate:"];
    let trimmed = line.trimmed();
    KEYS.iter().any(|key| trimmed.starts_with(key))
}

/// `|` keeps line breaks, `>` folds them into blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockIndicator {
    Literal,
    Folded,
}

impl BlockIndicator {
    fn parse(text: &str) -> Option<BlockIndicator> {
        let (indicator, rest) = match text.as_bytes().first()? {
            b'|' => (BlockIndicator::Literal, &text[1..]),
            b'>' => (BlockIndicator::Folded, &text[1..]),
            _ => return None,
        };
        let rest = rest.split(" #").next().unwrap_or(rest).trim();
        let is_modifier = |byte: u8| matches!(byte, b'-' | b'+' | b'1'..=b'9');
        (rest.len() <= 2 && rest.bytes().all(is_modifier)).then_some(indicator)
    }
}

/// The lines below a key, and the number of layout blanks of each.
#[derive(Default)]
struct Body<'a> {
    lines: Vec<(Line<'a>, usize)>,
    indent: Option<usize>,
}

impl<'a> Body<'a> {
    fn push(&mut self, line: Line<'a>, strip: usize) {
        self.lines.push((line, strip));
    }

    /// Reads the rest of a fenced block that `line` opens.
    fn take_fence(
        &mut self,
        cursor: &mut Cursor<'a>,
        line: Line<'a>,
        strip: usize,
        open: &mut Option<Span>,
    ) {
        let Some(fence) = Fence::open(line.trimmed()) else {
            return;
        };
        while let Some(next) = cursor.peek() {
            cursor.advance();
            self.push(next, strip);
            if fence.is_closed_by(next.trimmed()) {
                return;
            }
        }
        *open = Some(line.span());
    }

    /// Reads the bodies of the heredocs that `text` opens. The blanks before the delimiter belong
    /// to the layout, unless a block has set them already.
    fn take_heredocs(&mut self, cursor: &mut Cursor<'a>, text: &str, strip: Option<usize>) {
        for heredoc in heredoc::opened_by(text) {
            if !cursor.has_later_line(&heredoc.delimiter) {
                return;
            }
            let first = self.lines.len();
            while let Some(next) = cursor.peek() {
                cursor.advance();
                self.push(next, strip.unwrap_or(0));
                if next.trimmed() == heredoc.delimiter {
                    let layout = strip.unwrap_or(match heredoc.tabs_ignored {
                        true => 0,
                        false => next.indent(),
                    });
                    self.lines[first..].iter_mut().for_each(|(_, strip)| *strip = layout);
                    break;
                }
            }
        }
    }

    fn finish(mut self, value: Value<'a>, block: Option<BlockIndicator>) -> Value<'a> {
        while self.lines.last().is_some_and(|(line, _)| line.is_blank()) {
            self.lines.pop();
        }
        let Some((last, _)) = self.lines.last() else {
            let text = if block.is_some() { Cow::Borrowed("") } else { value.text };
            let style = if block.is_some() { Style::Block } else { value.style };
            return Value { text, style, ..value };
        };
        let end = last.span().end;
        let start = match value.text.is_empty() || block.is_some() {
            true => self.lines.iter().find(|(line, _)| !line.is_blank()).map(|l| l.0.span().start),
            false => Some(value.span.start),
        };
        let style = match (block, value.text.is_empty()) {
            (Some(_), _) => Style::Block,
            (None, true) => Style::Below,
            (None, false) => Style::Lines,
        };
        let mut text = String::with_capacity(end - value.span.start);
        if block.is_none() {
            text.push_str(&value.text);
        }
        self.append_to(&mut text, block);
        let span = Span::new(start.unwrap_or(value.span.start), end);
        Value { text: Cow::Owned(text), span, style, ..value }
    }

    fn append_to(&self, text: &mut String, block: Option<BlockIndicator>) {
        for (line, strip) in &self.lines {
            let content = stripped(line.text, *strip);
            let folded = block == Some(BlockIndicator::Folded);
            match (text.is_empty() || text.ends_with('\n'), folded) {
                (true, true) => {}
                (false, true) if !content.is_empty() => text.push(' '),
                (true, false) if text.is_empty() => {}
                (false, true) | (_, false) => text.push('\n'),
            }
            text.push_str(content);
        }
    }
}

/// `text` without its first `count` blanks and without blanks at its end.
fn stripped(text: &str, count: usize) -> &str {
    let blanks = text.bytes().take(count).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text[blanks..].trim_end_matches([' ', '\t', '\r'])
}

/// A key at the beginning of `trimmed`, and the length of key and colon.
pub(super) fn key(trimmed: &str) -> Option<(&str, usize)> {
    let colon = trimmed.bytes().position(|byte| byte == b':')?;
    let key = &trimmed[..colon];
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'\\');
    let starts_well = key.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    (starts_well && key.len() <= 40 && key.bytes().all(is_key)).then_some((key, colon + 1))
}

/// `text` without one pair of matching quotes around it.
pub(super) fn unquoted(text: &str) -> &str {
    let inner = |quote: char| {
        text.strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            .filter(|inner| !inner.contains(quote))
    };
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// `text` without the quotes around it and with the escapes between them read, as in YAML. A text in
/// quotes that is not valid YAML loses the quotes alone.
pub(super) fn without_quotes(text: &str) -> Cow<'_, str> {
    let is_quoted = ['"', '\'']
        .iter()
        .any(|quote| text.len() > 1 && text.starts_with(*quote) && text.ends_with(*quote));
    let read = is_quoted.then(|| serde_yaml::from_str::<String>(text).ok()).flatten();
    read.map_or(Cow::Borrowed(unquoted(text)), Cow::Owned)
}

/// The items of a list in brackets or on lines of its own, or the only one.
pub(super) fn items(text: &str) -> Vec<&str> {
    let text = if text.contains('\n') { text } else { without_comment(text) };
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let items: Vec<&str> = match list {
        Some(list) => list.split(',').collect(),
        None => text.lines().map(|line| line.trim_start().trim_start_matches("- ")).collect(),
    };
    let items = items.into_iter().map(|item| unquoted(without_comment(item.trim())));
    items.filter(|item| !item.is_empty()).collect()
}

/// The items of a list in brackets or on lines of its own; `None`: `text` is not a list.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    (text.starts_with('[') || text.starts_with("- ")).then(|| items(text))
}

/// A network: a word, or a list of names.
pub(super) fn network(value: &Value<'_>) -> Result<Network, InvalidNetwork> {
    let text = value.trimmed();
    match (list(text), items(text).as_slice()) {
        (None, [word]) => word.parse(),
        (_, names) => Network::of_names(names.iter().copied()),
    }
}

/// `text` without a comment at its end: ` # …`.
pub(super) fn without_comment(text: &str) -> &str {
    if text.starts_with('#') {
        return &text[..0];
    }
    match text.find(" #").or_else(|| text.find("\t#")) {
        Some(at) => text[..at].trim_end(),
        None => text,
    }
}
