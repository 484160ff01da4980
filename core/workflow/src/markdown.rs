//! Classifies lines of Markdown: step header, heading, fence or comment.

use onloop_syntax::diagnostic::Span;

use super::line::Line;

/// The line that begins a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    /// The whole line without its terminator.
    pub line: Line<'a>,
    /// Step number as written; not always a number.
    pub id: &'a str,
    /// Offset of `id` in the file.
    pub id_start: usize,
    /// Title as written.
    pub name: &'a str,
    /// Offset of `name` in the file.
    pub name_start: usize,
    /// Offset of the mark between `[` and `]`.
    pub checkbox: Option<usize>,
    /// Whether every reader of the format understands the form.
    pub form: HeaderForm,
    /// Text after the closing `**`.
    pub trailing: &'a str,
}

/// The form of a step header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderForm {
    /// `- [ ] **Step 1: Name**`.
    Checkbox,
    /// `### 1. Name`.
    Legacy,
    /// Has `Step` and a checkbox in another form: certainly meant as a header.
    Misspelt,
    /// A header or prose; the lines below it decide.
    Doubtful,
}

impl Header<'_> {
    /// The span of the title, or of the whole header without one.
    pub(super) fn span(&self) -> Span {
        if self.name.is_empty() {
            return self.line.span();
        }
        Span::new(self.name_start, self.name_start + self.name.len())
    }
}

/// Reads a step header in any form that people write.
pub(super) fn header(line: Line<'_>) -> Option<Header<'_>> {
    let text = line.text;
    let rest = text.trim_start_matches([' ', '\t']);
    match rest.bytes().next()? {
        b'-' | b'*' | b'+' | b'0'..=b'9' => bullet_header(line, rest),
        b'#' => heading_header(line, rest),
        _ => None,
    }
}

/// `- [ ] **Step 1: Name**` and its misspellings.
fn bullet_header<'a>(line: Line<'a>, rest: &'a str) -> Option<Header<'a>> {
    let bullet_end = rest.find([' ', '\t'])?;
    let (bullet, after_bullet) = rest.split_at(bullet_end);
    let numbered = bullet.ends_with(['.', ')'])
        && bullet[..bullet.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
    if !numbered && !matches!(bullet, "-" | "*" | "+") {
        return None;
    }
    let mut body = after_bullet.trim_start();
    let (mut checkbox, mut is_marked) = (None, false);
    if let Some(inside) = body.strip_prefix('[') {
        let (mark, after) = inside.split_once(']')?;
        // More is a name in brackets.
        if mark.chars().count() > 4 {
            return None;
        }
        is_marked = true;
        // Other marks (`~`, `✓`, nothing) are no state of the format, so there is nothing to tick.
        checkbox = matches!(mark, " " | "x" | "X").then(|| offset(line, inside));
        body = after.trim_start();
    }
    let bold = body.starts_with("**");
    let body = body.strip_prefix("**").unwrap_or(body);
    let after_word = body.strip_prefix("Step ").or_else(|| body.strip_prefix("step "))?;
    let colon = after_word.find(':')?;
    let id = after_word[..colon].trim();
    if !is_id(id) {
        return None;
    }
    let (name, trailing, closed) = bold_name(&after_word[colon + 1..]);
    let canonical = bold && closed && line.text.starts_with("- [") && is_plain(line, id, checkbox);
    let form = match (canonical, is_marked || bold) {
        (true, _) => HeaderForm::Checkbox,
        (false, true) => HeaderForm::Misspelt,
        (false, false) => HeaderForm::Doubtful,
    };
    Some(made(line, id, name, checkbox, form, trailing))
}

/// Whether the bytes between the bullet and the number are exactly those of the format.
fn is_plain(line: Line<'_>, id: &str, checkbox: Option<usize>) -> bool {
    checkbox == Some(line.start + 3) && line.text[5..].starts_with(" **Step ") && {
        let id_at = offset(line, id) - line.start;
        id_at == "- [ ] **Step ".len() && line.text[id_at + id.len()..].starts_with(':')
    }
}

/// Splits the text after `Step 1:` into the title, the rest, and whether the bold face is closed
/// after the title.
fn bold_name(rest: &str) -> (&str, &str, bool) {
    let rest = rest.trim_end();
    if let Some(outside) = rest.strip_prefix("**") {
        return (outside.trim(), "", false);
    }
    match rest.rfind("**") {
        Some(close) => (rest[..close].trim(), rest[close + 2..].trim(), true),
        None => (rest.trim(), "", false),
    }
}

/// `### 1. Name` and headings that resemble it.
fn heading_header<'a>(line: Line<'a>, rest: &'a str) -> Option<Header<'a>> {
    let level = rest.bytes().take_while(|&byte| byte == b'#').count();
    if level > 6 {
        return None;
    }
    let body = rest[level..].strip_prefix([' ', '\t'])?.trim_start();
    if let Some(after_word) = body.strip_prefix("Step ").or_else(|| body.strip_prefix("step ")) {
        let colon = after_word.find([':', '.'])?;
        let id = after_word[..colon].trim();
        let name = after_word[colon + 1..].trim();
        return is_id(id).then(|| made(line, id, name, None, HeaderForm::Doubtful, ""));
    }
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let (id, after) = body.split_at(digits);
    let name = after.strip_prefix('.')?.trim();
    let legacy = line.text.starts_with("### ") && offset(line, id) == line.start + 4;
    let form = if legacy { HeaderForm::Legacy } else { HeaderForm::Doubtful };
    Some(made(line, id, name, None, form, ""))
}

fn made<'a>(
    line: Line<'a>,
    id: &'a str,
    name: &'a str,
    checkbox: Option<usize>,
    form: HeaderForm,
    trailing: &'a str,
) -> Header<'a> {
    let (id_start, name_start) = (offset(line, id), offset(line, name));
    Header { line, id, id_start, name, name_start, checkbox, form, trailing }
}

/// Whether `text` is a number as people write it after `Step`: `3`, `A1`, `2b`.
fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 12
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-')
        && (id.bytes().any(|byte| byte.is_ascii_digit()) || id.len() == 1)
}

/// Offset in the file of `part`, which is a slice of the line.
fn offset(line: Line<'_>, part: &str) -> usize {
    let within = part.as_ptr() as usize - line.text.as_ptr() as usize;
    line.start + within
}

/// Level of an ATX heading at the beginning of the line.
pub(super) fn heading_level(text: &str) -> Option<usize> {
    let level = text.bytes().take_while(|&byte| byte == b'#').count();
    let after = text.as_bytes().get(level);
    (1..=6).contains(&level).then_some(level).filter(|_| matches!(after, None | Some(b' ' | b'\t')))
}

/// `---`, `***`, `___` and their longer forms.
pub(super) fn is_thematic_break(trimmed: &str) -> bool {
    let mut bytes = trimmed.bytes().filter(|byte| *byte != b' ');
    let Some(mark @ (b'-' | b'*' | b'_')) = bytes.next() else {
        return false;
    };
    let mut count = 1;
    bytes.all(|byte| {
        count += 1;
        byte == mark
    }) && count >= 3
}

/// The opening line of a fenced block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence<'a> {
    mark: u8,
    length: usize,
    /// First word after the fence.
    pub language: &'a str,
}

impl<'a> Fence<'a> {
    /// Reads the opening line of a fenced block.
    pub(super) fn open(trimmed: &'a str) -> Option<Fence<'a>> {
        let mark = trimmed.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = trimmed.bytes().take_while(|&byte| byte == mark).count();
        let info = trimmed[length..].trim();
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        let language = info.split([' ', '\t', '{', ',']).next().unwrap_or("");
        Some(Fence { mark, length, language })
    }

    /// Whether `trimmed` ends the block.
    pub(super) fn is_closed_by(&self, trimmed: &str) -> bool {
        trimmed.len() >= self.length && trimmed.bytes().all(|byte| byte == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(text: &str) -> String {
        let line = Line { text, start: 0 };
        match header(line) {
            None => "none".to_owned(),
            Some(found) => format!(
                "{:?} {}|{}|{}|{}",
                found.form,
                found.id,
                found.name,
                found.checkbox.map_or(String::new(), |at| text[at..=at].to_owned()),
                found.trailing,
            ),
        }
    }

    #[test]
    fn step_headers_in_every_form() {
        let table = [
            ("- [ ] **Step 1: Write tests**", "Checkbox 1|Write tests| |"),
            ("- [x] **Step 12: Write tests**  ", "Checkbox 12|Write tests|x|"),
            ("- [X] **Step 1: a **b** c**", "Checkbox 1|a **b** c|X|"),
            ("- [ ] **Step 1: a** (optional)", "Checkbox 1|a| |(optional)"),
            ("- [ ] **Step A1: a**", "Checkbox A1|a| |"),
            ("- [ ] **Step 1: a", "Misspelt 1|a| |"),
            ("- [ ] **Step 1:** a", "Misspelt 1|a| |"),
            ("- [ ] Step 1: a", "Misspelt 1|a| |"),
            ("* [ ] **Step 1: a**", "Misspelt 1|a| |"),
            ("  - [ ] **Step 1: a**", "Misspelt 1|a| |"),
            ("1. [ ] **Step 1: a**", "Misspelt 1|a| |"),
            ("- **Step 1: a**", "Misspelt 1|a||"),
            ("- Step 1: a", "Doubtful 1|a||"),
            ("### 1. Write tests", "Legacy 1|Write tests||"),
            ("### 1.Write", "Legacy 1|Write||"),
            ("#### 1. Write", "Doubtful 1|Write||"),
            ("### Step 1: Write", "Doubtful 1|Write||"),
            ("### Phase 1: Write", "none"),
            ("- [ ] Write tests", "none"),
            ("- [y] **Step 1: a**", "Misspelt 1|a||"),
            ("- [~] **Step 1: a**", "Misspelt 1|a||"),
            ("- [-] **Step 1: a**", "Misspelt 1|a||"),
            ("- [✓] Step 1: a", "Misspelt 1|a||"),
            ("- [] **Step 1: a**", "Misspelt 1|a||"),
            ("- [ x] **Step 1: a**", "Misspelt 1|a||"),
            ("- [WIP] **Step 1: a**", "Misspelt 1|a||"),
            ("- [a link] **Step 1: a**", "none"),
            ("- [ ] **Step one: a**", "none"),
            ("- [", "none"),
            ("- [日] **Step 1: a**", "Misspelt 1|a||"),
            ("-", "none"),
            ("", "none"),
        ];
        for (text, expected) in table {
            assert_eq!(describe(text), expected, "{text}");
        }
    }

    #[test]
    fn fences_close_only_with_their_own_mark() {
        let fence = Fence::open("````sh title=x").unwrap();
        assert_eq!(fence.language, "sh");
        assert!(!fence.is_closed_by("```"));
        assert!(!fence.is_closed_by("~~~~"));
        assert!(fence.is_closed_by("`````"));
        assert!(Fence::open("```not `a` fence").is_none());
        assert!(Fence::open("``").is_none());
    }

    #[test]
    fn headings_and_breaks() {
        assert_eq!(heading_level("## Steps"), Some(2));
        assert_eq!(heading_level("#tag"), None);
        assert_eq!(heading_level("####### seven"), None);
        assert!(is_thematic_break("- - -"));
        assert!(!is_thematic_break("--"));
        assert!(!is_thematic_break("--- a"));
    }
}
