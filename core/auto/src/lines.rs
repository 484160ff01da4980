//! Lines of text as rw-auto's readers see them.

use std::borrow::Cow;

use memchr::memmem;

/// The lines of `text` without a byte-order mark. LF, CRLF and a lone CR end a line; U+2028
/// and its relatives do not. CRLF yields an empty line in between, which no reader minds.
pub fn raw(text: &str) -> impl Iterator<Item = &str> {
    without_mark(text).split(['\n', '\r'])
}

/// The lines of `text` that a reader of the rendered page would see: outside fenced blocks
/// and with HTML comments taken out. Fences and comments are found in one pass, so that
/// neither can open inside the other.
pub fn visible(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    located(text).map(|(_, line)| line)
}

/// The [`visible`] lines, each with the byte of `text` at which it starts. A line that is
/// borrowed stands there exactly like that; of an owned one, comments were taken out.
pub fn located(text: &str) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let body = without_mark(text);
    let mark = text.len() - body.len();
    let last_close = memmem::rfind(body.as_bytes(), b"-->").unwrap_or(0);
    let mut state = State::Open;
    let mut offset = 0;
    body.split(['\n', '\r']).filter_map(move |line| {
        let start = offset;
        offset += line.len() + 1;
        state.take(line, start, last_close).map(|line| (mark + start, line))
    })
}

/// Whether there is nothing to read: white space and byte-order marks only.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// The title of an ATX heading and its level.
pub fn heading(line: &str) -> Option<(usize, &str)> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let title = unindented.trim_start_matches('#');
    let level = unindented.len() - title.len();
    if !(1..=6).contains(&level) || !(title.is_empty() || title.starts_with([' ', '\t'])) {
        return None;
    }
    let title = title.trim();
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed } else { title };
    Some((level, title.trim_end()))
}

/// `text` without one layer of emphasis or code marks around all of it.
pub fn undecorated(text: &str) -> &str {
    const MARKS: [&str; 6] = ["***", "**", "*", "__", "_", "`"];
    let text = text.trim();
    MARKS
        .iter()
        .find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark).filter(|t| !t.is_empty()))
        .map_or(text, str::trim)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[derive(Clone, Copy)]
enum State {
    Open,
    Fence { mark: char, length: usize },
    Comment,
}

impl State {
    /// What is visible of `line`, which starts at byte `start`.
    fn take<'a>(&mut self, line: &'a str, start: usize, last_close: usize) -> Option<Cow<'a, str>> {
        match *self {
            State::Fence { mark, length } => {
                let run = line.trim();
                if run.len() >= length && run.chars().all(|c| c == mark) {
                    *self = State::Open;
                }
                None
            }
            State::Open => match fence(line) {
                Some((mark, length)) => {
                    *self = State::Fence { mark, length };
                    None
                }
                None => Some(self.without_comments(line, start, last_close)),
            },
            State::Comment => Some(self.without_comments(line, start, last_close)),
        }
    }

    fn without_comments<'a>(
        &mut self,
        line: &'a str,
        start: usize,
        last_close: usize,
    ) -> Cow<'a, str> {
        let in_comment = matches!(self, State::Comment);
        if !in_comment && memmem::find(line.as_bytes(), b"<!--").is_none() {
            return Cow::Borrowed(line);
        }
        let mut out = String::new();
        let mut rest = line;
        if in_comment {
            let Some(close) = rest.find("-->") else {
                return Cow::Borrowed("");
            };
            rest = &rest[close + 3..];
            *self = State::Open;
        }
        while let Some(open) = comment_start(rest) {
            let body = start + (line.len() - rest.len()) + open + 4;
            if last_close < body {
                // Nothing closes it: the marker is text, not the end of the page.
                break;
            }
            out.push_str(&rest[..open]);
            match rest[open + 4..].find("-->") {
                Some(close) => rest = &rest[open + 4 + close + 3..],
                None => {
                    *self = State::Comment;
                    return Cow::Owned(out);
                }
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// Where the first comment of a line opens; a marker inside a code span opens none.
fn comment_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = 0;
    let mut spans_left = true;
    while at < bytes.len() {
        if bytes[at] == b'`' && spans_left {
            match memchr::memchr(b'`', &bytes[at + 1..]) {
                Some(length) => at += length + 1,
                None => spans_left = false,
            }
        } else if bytes[at..].starts_with(b"<!--") {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The mark and length of a fence that opens on this line.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> String {
        visible(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn fences_and_comments_hide_what_they_enclose() {
        for (text, expected) in [
            ("a\n```md\nb\n```\nc", "a\nc"),
            ("a\n~~~\n```\n~~~\nc", "a\nc"),
            ("````\n```\n````\nc", "c"),
            ("a <!-- b --> c", "a  c"),
            ("a <!-- b\nc\nd --> e", "a \n\n e"),
            ("<!-- ``` -->\na", "\na"),
            ("```\n<!--\n```\na -->", "a -->"),
            ("a <!-- b", "a <!-- b"),
            ("a `<!--` b\nc -->", "a `<!--` b\nc -->"),
            ("a ` <!-- b --> c", "a `  c"),
            ("<!-- a --><!-- b --><!--\nc -->d", "\nd"),
            ("<!-->\na -->", "\n"),
            ("```inline``` a", "```inline``` a"),
            ("\u{feff}a", "a"),
        ] {
            assert_eq!(seen(text), expected, "{text:?}");
        }
    }

    #[test]
    fn headings_are_recognised_as_markdown_does() {
        for (line, expected) in [
            ("## Task Status", Some((2, "Task Status"))),
            ("   ## Log ##  ", Some((2, "Log"))),
            ("##", Some((2, ""))),
            ("## C#", Some((2, "C#"))),
            ("##Log", None),
            ("    ## Log", None),
            ("####### x", None),
            ("text", None),
        ] {
            assert_eq!(heading(line), expected, "{line:?}");
        }
    }

    #[test]
    fn one_layer_of_marks_comes_off() {
        for (text, expected) in [
            ("`pending`", "pending"),
            (" **pending** ", "pending"),
            ("***x***", "x"),
            ("``", "``"),
            ("**", "**"),
            ("*a", "*a"),
            ("**`a`**", "`a`"),
        ] {
            assert_eq!(undecorated(text), expected, "{text:?}");
        }
    }

    #[test]
    fn many_unclosed_markers_take_linear_time() {
        let text = "`<!-- ".repeat(200_000);
        assert_eq!(visible(&text).count(), 1);
        let text = "<!-- x --> ` ".repeat(100_000);
        assert_eq!(visible(&text).count(), 1);
    }
}
