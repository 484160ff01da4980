//! `verify`: a line, an indented object or a list of either becomes checks.

use crate::diagnostic::{Edit, Span};
use crate::limits;
use crate::text;

use super::finding::{self, Findings};
use super::line::{Cursor, Line};
use super::value::{self, Kind, Style, Value};
use super::{Assertion, Check, Expectation, Shell, ShellCheck};
use super::{command, duration, heredoc, suggest};

/// Fields of a check that is an object, in the order of the documentation.
const FIELDS: [&str; 13] = [
    "type", "command", "expect", "timeout", "cwd", "env", "shell", "url", "check", "prompt",
    "path", "assert", "kind",
];

const TYPES: [&str; 4] = ["shell", "browser", "human-review", "artifact"];
const ASSERT_KINDS: [&str; 3] = ["exists", "contains", "matches-glob"];

/// Reads the checks of one step. The cursor has left `line`, which holds `verify:`.
pub(super) struct Reader<'r, 'c> {
    pub cursor: &'r mut Cursor<'c>,
    pub findings: &'r mut Findings,
    /// Indentation of the step's fields.
    pub indent: usize,
    /// Name of the step, for older sentences.
    pub step: &'r str,
}

/// The fields of a check as written.
#[derive(Default)]
struct Draft<'c> {
    fields: Vec<Field<'c>>,
    env: Vec<(String, String)>,
    /// Where the first field begins, and its indentation.
    start: usize,
    indent: usize,
}

struct Field<'c> {
    name: &'static str,
    name_span: Span,
    value: Value<'c>,
}

impl<'c> Draft<'c> {
    fn get(&self, name: &str) -> Option<&Field<'c>> {
        self.fields.iter().find(|field| field.name == name)
    }

    fn value(&self, name: &str) -> Option<&Value<'c>> {
        self.get(name).map(|field| &field.value).filter(|value| !value.is_empty())
    }
}

impl<'c> Reader<'_, 'c> {
    /// The checks behind `verify:` and on the lines below; `from` is the offset after the
    /// colon, `key_span` the key.
    pub(super) fn read(mut self, line: Line<'c>, from: usize, key_span: Span) -> Vec<Check> {
        let indent = self.indent;
        let errors_before = self.findings.error_count();
        let inline = Value::inline(line, from);
        let mut checks = Vec::new();
        if inline.is_empty() || inline.text.starts_with('#') {
            self.block(indent, &mut checks);
        } else {
            let command = Value::read(self.cursor, line, from, indent, Kind::Command);
            checks.extend(self.bare_command(&command));
        }
        if checks.is_empty() && self.findings.error_count() == errors_before {
            self.findings.push(finding::check::empty(key_span, self.step));
        }
        self.look_at_order(&checks, key_span);
        checks
    }

    fn block(&mut self, field_indent: usize, checks: &mut Vec<Check>) {
        self.skip_blank();
        let Some(first) = self.cursor.peek() else {
            return;
        };
        let indent = first.indent();
        let list = is_item(first) && super::markdown::header(first).is_none();
        if indent < field_indent || (indent == field_indent && !list) {
            return;
        }
        if list {
            self.list(indent, checks);
        } else if value::key(first.trimmed()).is_some() {
            let mut draft = Draft { start: first.start + indent, indent, ..Draft::default() };
            self.object(&mut draft, indent);
            checks.extend(self.finish(&draft));
        }
        self.rest(field_indent);
    }

    /// Whatever is still indented below `verify` fits nowhere.
    fn rest(&mut self, field_indent: usize) {
        let mut reported = false;
        while let Some(line) = self.cursor.peek() {
            if !line.is_blank() && line.indent() <= field_indent {
                return;
            }
            if !line.is_blank() && !line.trimmed().starts_with('#') && !reported {
                self.findings.push(finding::check::layout(line.span()));
                reported = true;
            }
            self.cursor.advance();
        }
    }

    fn skip_blank(&mut self) {
        while let Some(line) = self.cursor.peek() {
            let comment = line.indent() > 0 && line.trimmed().starts_with('#');
            if !line.is_blank() && !comment {
                return;
            }
            self.cursor.advance();
        }
    }

    fn list(&mut self, dash_indent: usize, checks: &mut Vec<Check>) {
        let mut count = 0;
        loop {
            self.skip_blank();
            let Some(line) = self.cursor.peek() else {
                return;
            };
            if line.indent() != dash_indent
                || !is_item(line)
                || super::markdown::header(line).is_some()
            {
                return;
            }
            count += 1;
            let check = self.item(line, dash_indent);
            if count == limits::CHECKS_PER_STEP + 1 {
                self.findings.push(finding::check::too_many(line.span()));
            }
            if count <= limits::CHECKS_PER_STEP {
                checks.extend(check);
            }
        }
    }

    fn item(&mut self, line: Line<'c>, dash_indent: usize) -> Option<Check> {
        self.cursor.advance();
        let after_dash = &line.text[dash_indent + 1..];
        let content = after_dash.trim_start();
        let column = line.text.len() - content.len();
        if content.is_empty() || content.starts_with('#') {
            self.skip_blank();
            let first = self.cursor.peek().filter(|next| next.indent() > dash_indent);
            let Some(first) = first else {
                self.findings.push(finding::check::empty(line.span(), self.step));
                return None;
            };
            let indent = first.indent();
            let mut draft = Draft { start: first.start + indent, indent, ..Draft::default() };
            self.object(&mut draft, indent);
            return self.finish(&draft);
        }
        let is_field = value::key(content).is_some_and(|(key, length)| {
            let separated = matches!(content.as_bytes().get(length), None | Some(b' ' | b'\t'));
            separated && (FIELDS.contains(&key) || suggest::nearest(key, &FIELDS).is_some())
        });
        if !is_field {
            let from = line.start + column;
            let command = Value::read(self.cursor, line, from, dash_indent, Kind::Command);
            return self.bare_command(&command);
        }
        let mut draft = Draft { start: line.start + column, indent: column, ..Draft::default() };
        let rest = Line { text: &line.text[column..], start: line.start + column };
        self.field(&mut draft, rest, column);
        self.object(&mut draft, column);
        self.finish(&draft)
    }

    /// The fields that stand at `indent`.
    fn object(&mut self, draft: &mut Draft<'c>, indent: usize) {
        while let Some(line) = self.cursor.peek() {
            if line.is_blank() || (line.indent() > 0 && line.trimmed().starts_with('#')) {
                self.cursor.advance();
                continue;
            }
            if line.indent() != indent {
                return;
            }
            let rest = Line { text: &line.text[indent..], start: line.start + indent };
            if value::key(rest.text).is_none() {
                return;
            }
            self.cursor.advance();
            self.field(draft, rest, indent);
        }
    }

    /// One `key: value`; `line` begins with the key and has been left behind.
    fn field(&mut self, draft: &mut Draft<'c>, line: Line<'c>, indent: usize) {
        let Some((key, length)) = value::key(line.text) else {
            return;
        };
        let name_span = Span::new(line.start, line.start + key.len());
        let from = line.start + length;
        let known = FIELDS.iter().chain(&["value"]).find(|name| name.eq_ignore_ascii_case(key));
        let Some(&name) = known else {
            Value::read(self.cursor, line, from, indent, Kind::Prose);
            if super::step::is_field(key) {
                self.indented_field(name_span);
            } else if !matches!(key, "name" | "description" | "note" | "id") {
                let suggestion = suggest::nearest(key, &FIELDS);
                self.findings.push(finding::check::unknown_field(name_span, key, suggestion));
            }
            return;
        };
        if draft.get(name).is_some() {
            self.findings.push(finding::check::duplicate_field(name_span, name));
        }
        let value = match name {
            "command" => Value::read(self.cursor, line, from, indent, Kind::Command),
            "check" | "prompt" | "value" => {
                Value::read(self.cursor, line, from, indent, Kind::Prose)
            }
            "env" | "assert" => self.nested(draft, name, line, from, indent),
            _ => self.word(name, line, from, indent),
        };
        if matches!(name, "kind" | "value") {
            self.findings.push(finding::check::flattened_assert(name_span, name));
        }
        self.report_value(&value);
        draft.fields.push(Field { name, name_span, value });
    }

    fn word(&mut self, name: &str, line: Line<'c>, from: usize, indent: usize) -> Value<'c> {
        let value = Value::read(self.cursor, line, from, indent, Kind::Word);
        if value.style != Style::Inline && !value.is_empty() {
            self.findings.push(finding::step::unexpected_lines(value.span, name));
        }
        value
    }

    /// The lines below `env:` or `assert:`.
    fn nested(
        &mut self,
        draft: &mut Draft<'c>,
        name: &'static str,
        line: Line<'c>,
        from: usize,
        indent: usize,
    ) -> Value<'c> {
        let inline = Value::inline(line, from);
        if !inline.is_empty() && !inline.text.starts_with('#') {
            self.inline_nested(draft, name, &inline, indent);
        }
        let inner_indent = loop {
            match self.cursor.peek() {
                Some(next) if next.is_blank() => self.cursor.advance(),
                Some(next) if next.indent() > indent => break next.indent(),
                Some(_) | None => return inline,
            }
        };
        while let Some(next) = self.cursor.peek().filter(|next| next.indent() == inner_indent) {
            let rest = Line { text: &next.text[inner_indent..], start: next.start + inner_indent };
            let Some((key, length)) = value::key(rest.text) else {
                break;
            };
            self.cursor.advance();
            let name_span = Span::new(rest.start, rest.start + key.len());
            let value_from = rest.start + length;
            let value = Value::read(self.cursor, rest, value_from, inner_indent, Kind::Prose);
            match name {
                "env" => self.environment(draft, key, name_span, &value),
                _ => self.assertion_part(draft, key, name_span, value),
            }
        }
        inline
    }

    fn inline_nested(
        &mut self,
        draft: &mut Draft<'c>,
        name: &str,
        inline: &Value<'c>,
        indent: usize,
    ) {
        let text = inline.trimmed();
        if text.starts_with(['{', '[']) {
            self.findings.push(finding::check::flow(inline.span, name));
        } else if name == "assert" && ASSERT_KINDS.contains(&text) {
            self.findings.push(finding::check::inline_assert(inline.span, text, indent));
            let (name_span, value) = (inline.span, inline.clone());
            draft.fields.push(Field { name: "kind", name_span, value });
        } else {
            let expected = "indented lines below it";
            let found = finding::check::invalid_value(inline.span, name, text, expected);
            self.findings.push(found);
        }
    }

    fn environment(&mut self, draft: &mut Draft<'c>, key: &str, span: Span, value: &Value<'c>) {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !key.bytes().all(is_name) {
            let expected = "a name of letters, digits and `_`";
            self.findings.push(finding::check::invalid_value(span, "env", key, expected));
        } else if draft.env.iter().any(|(name, _)| name == key) {
            self.findings.push(finding::check::duplicate_field(span, key));
        } else {
            let text = value::unquoted(value.trimmed()).to_owned();
            draft.env.push((key.to_owned(), text));
        }
    }

    fn assertion_part(&mut self, draft: &mut Draft<'c>, key: &str, span: Span, value: Value<'c>) {
        let name = match key {
            "kind" => "kind",
            "value" => "value",
            _ => {
                let suggestion = suggest::nearest(key, &["kind", "value"]);
                self.findings.push(finding::check::unknown_field(span, key, suggestion));
                return;
            }
        };
        if draft.get(name).is_some() {
            self.findings.push(finding::check::duplicate_field(span, name));
        }
        self.report_value(&value);
        draft.fields.push(Field { name, name_span: span, value });
    }

    fn report_value(&mut self, value: &Value<'c>) {
        if let Some(span) = value.open_fence {
            self.findings.push(finding::unterminated_fence(span));
        }
        for span in &value.field_like {
            self.indented_field(*span);
        }
    }

    /// A field of the step that stands among those of a check.
    fn indented_field(&mut self, span: Span) {
        let line_start = self.cursor.source()[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = " ".repeat(self.indent);
        self.findings.push(finding::step::indented_field(span, line_start, &indent));
    }

    fn bare_command(&mut self, value: &Value<'c>) -> Option<Check> {
        self.report_value(value);
        let text = value.trimmed();
        if text.is_empty() {
            return None;
        }
        let flow = ["{type", "{ type", "{\"type", "[\"", "['", "[{"];
        if value.style != Style::Block && flow.iter().any(|start| text.starts_with(start)) {
            self.findings.push(finding::check::flow(value.span, "verify"));
            return None;
        }
        let check = ShellCheck::new(text);
        if value.field_like.is_empty() {
            command::look_at(&check, value, "verify", self.findings);
        }
        Some(Check::Shell(check))
    }

    fn finish(&mut self, draft: &Draft<'c>) -> Option<Check> {
        let Some(kind) = draft.get("type").filter(|field| !field.value.is_empty()) else {
            self.missing_type(draft);
            return None;
        };
        let written = value::unquoted(value::without_comment(kind.value.trimmed()));
        match written {
            "shell" => self.shell(draft),
            "browser" => self.browser(draft),
            "human-review" => self.human_review(draft),
            "artifact" => self.artifact(draft),
            _ => {
                let nearest = suggest::nearest(written, &TYPES);
                let (span, step) = (kind.value.span, self.step);
                self.findings.push(finding::check::unknown_type(span, step, written, nearest));
                None
            }
        }
    }

    fn missing_type(&mut self, draft: &Draft<'c>) {
        let Some(first) = draft.fields.first() else {
            return;
        };
        let tells = [
            ("command", "shell"),
            ("url", "browser"),
            ("prompt", "human-review"),
            ("path", "artifact"),
        ];
        let guess = tells.iter().find(|(field, _)| draft.get(field).is_some());
        let guess = guess.filter(|_| draft.get("type").is_none()).map(|(_, kind)| {
            let text = format!("type: {kind}\n{}", " ".repeat(draft.indent));
            (*kind, Edit::insert(draft.start, text))
        });
        let span = first.name_span;
        self.findings.push(finding::check::missing_type(span, self.step, guess));
    }

    /// Reports fields that a check of this type does not have.
    fn only(&mut self, draft: &Draft<'c>, kind: &str, allowed: &[&str]) {
        for field in &draft.fields {
            if field.name != "type" && !allowed.contains(&field.name) {
                let found = finding::check::foreign_field(field.name_span, field.name, kind);
                self.findings.push(found);
            }
        }
    }

    /// The text of a field that the type requires.
    fn required(&mut self, draft: &Draft<'c>, kind: &str, name: &str) -> Option<String> {
        let value = draft.value(name);
        if value.is_none() {
            let parent = draft.get("assert").filter(|_| name == "kind");
            let anchor = draft.get(name).or(parent).or_else(|| draft.get("type"));
            let span = anchor.map_or(Span::at(draft.start), |field| field.name_span);
            self.findings.push(finding::check::missing_field(span, self.step, kind, name));
        }
        value.map(|value| value.trimmed().to_owned())
    }

    fn shell(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "shell", &["command", "expect", "timeout", "cwd", "env", "shell"]);
        let command = self.required(draft, "shell", "command")?;
        let mut check = ShellCheck { env: draft.env.clone(), ..ShellCheck::new(command) };
        let word = |name: &str| draft.value(name).map(|value| (plain_word(value), value.span));
        if let Some((text, span)) = word("expect") {
            match text {
                "pass" => check.expect = Expectation::Pass,
                "fail" => check.expect = Expectation::Fail,
                _ => self.invalid(span, "expect", text, "`pass` or `fail`"),
            }
        }
        if let Some((text, span)) = word("timeout") {
            check.timeout_ms = duration::parse_ms(text);
            if check.timeout_ms.is_none() {
                self.invalid_timeout(span, text);
            }
        }
        if let Some((text, span)) = word("shell") {
            match shell_named(text) {
                Some(shell) => check.shell = shell,
                None => self.invalid(span, "shell", text, "`bash`, `sh`, `pwsh` or `cmd`"),
            }
        }
        if let Some((text, span)) = word("cwd") {
            check.cwd = self.path_below("cwd", text, span);
        }
        if let Some(value) = draft.value("command") {
            command::look_at(&check, value, "command", self.findings);
        }
        Some(Check::Shell(check))
    }

    fn invalid(&mut self, span: Span, field: &str, found: &str, expected: &str) {
        self.findings.push(finding::check::invalid_value(span, field, found, expected));
    }

    fn invalid_timeout(&mut self, span: Span, text: &str) {
        let in_seconds = duration::parse_ms(&format!("{text}s")).is_some();
        if in_seconds && text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.findings.push(finding::check::timeout_without_unit(span, text));
        } else {
            self.invalid(span, "timeout", text, "a duration up to a week, such as `90s` or `5m`");
        }
    }

    fn browser(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "browser", &["url", "check"]);
        let (url, check) =
            (self.required(draft, "browser", "url"), self.required(draft, "browser", "check"));
        let url = text::one_line(value::unquoted(&url?));
        if !url.contains("://")
            && let Some(value) = draft.value("url")
        {
            self.findings.push(finding::check::url_without_scheme(value.span, &url));
        }
        Some(Check::Browser { url, check: text::printable(&check?) })
    }

    fn human_review(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "human-review", &["prompt", "check"]);
        if draft.value("prompt").is_none()
            && let Some(check) = draft.get("check").filter(|field| !field.value.is_empty())
        {
            self.findings.push(finding::check::review_check_alias(check.name_span));
            return Some(Check::HumanReview { prompt: text::printable(check.value.trimmed()) });
        }
        let prompt = self.required(draft, "human-review", "prompt")?;
        Some(Check::HumanReview { prompt: text::printable(&prompt) })
    }

    fn artifact(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "artifact", &["path", "assert", "kind", "value"]);
        let path = self.required(draft, "artifact", "path");
        let kind = self.required(draft, "artifact", "kind");
        let path_span = draft.value("path").map_or(Span::at(draft.start), |value| value.span);
        let path = self.path_below("path", value::unquoted(&path?), path_span)?;
        let assertion = self.assertion(draft, &kind?)?;
        Some(Check::Artifact { path, assertion })
    }

    fn assertion(&mut self, draft: &Draft<'c>, kind: &str) -> Option<Assertion> {
        let kind_span = draft.value("kind").map_or(Span::at(draft.start), |value| value.span);
        let value = draft.value("value");
        let expected = value.map(|value| value::unquoted(value.trimmed()).to_owned());
        let expected = expected.filter(|text| !text.is_empty());
        match (value::unquoted(value::without_comment(kind)), expected) {
            ("exists", _) => {
                if let Some(value) = value {
                    self.findings.push(finding::check::unused_assert_value(value.span));
                }
                Some(Assertion::Exists)
            }
            (kind @ ("contains" | "matches-glob"), None) => {
                self.findings.push(finding::check::missing_assert_value(kind_span, kind));
                None
            }
            ("contains", Some(text)) => Some(Assertion::Contains(text)),
            ("matches-glob", Some(glob)) => {
                if !glob.contains('/') {
                    return Some(Assertion::MatchesGlob(glob));
                }
                let span = value.map_or(kind_span, |value| value.span);
                self.findings.push(finding::check::glob_with_folder(span, &glob));
                None
            }
            (unknown, _) => {
                let nearest = suggest::nearest(unknown, &ASSERT_KINDS);
                self.findings.push(finding::check::unknown_kind(kind_span, unknown, nearest));
                None
            }
        }
    }

    /// `path` if it names something below the folder in which the run works.
    fn path_below(&mut self, field: &str, path: &str, span: Span) -> Option<String> {
        if text::printable(path) != path {
            self.findings.push(finding::step::hidden_character(span, field));
            return None;
        }
        if is_below(path) {
            return Some(path.to_owned());
        }
        self.findings.push(finding::check::path_outside(span, field, path));
        None
    }

    fn look_at_order(&mut self, checks: &[Check], key_span: Span) {
        let is_review = |check: &Check| matches!(check, Check::HumanReview { .. });
        let first_review = checks.iter().position(is_review);
        if first_review.is_some_and(|at| checks[at..].iter().any(|check| !is_review(check))) {
            self.findings.push(finding::check::review_before_checks(key_span));
        }
    }
}

fn is_item(line: Line<'_>) -> bool {
    let trimmed = line.trimmed();
    trimmed == "-" || trimmed.starts_with("- ") || trimmed.starts_with("-\t")
}

fn plain_word<'v>(value: &'v Value<'_>) -> &'v str {
    value::unquoted(value::without_comment(value.trimmed()))
}

/// The shell that `name` means in a `shell:` field or behind a fence.
pub(super) fn shell_named(name: &str) -> Option<Shell> {
    match name {
        "bash" => Some(Shell::Bash),
        "sh" => Some(Shell::Sh),
        "pwsh" => Some(Shell::Pwsh),
        "cmd" => Some(Shell::Cmd),
        _ => None,
    }
}

/// Whether `path` is relative and never climbs above where it starts.
fn is_below(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if path.is_empty() || drive || path.starts_with(['/', '\\', '~']) {
        return false;
    }
    let mut depth = 0_usize;
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

/// The text of `command` that a heredoc leaves open, if the shell knows heredocs.
pub(super) fn open_heredoc(check: &ShellCheck) -> Option<String> {
    match check.shell {
        Shell::Bash | Shell::Sh => heredoc::unterminated(&check.command),
        Shell::Pwsh | Shell::Cmd => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn paths_stay_below_their_root() {
        for path in ["a", "a/b", ".hidden/x", "a/../b", "./a", ".", "a b/日本", "..a"] {
            assert!(is_below(path), "{path}");
        }
        for path in
            ["", "/a", "..", "../a", "a/../../b", "~/x", "C:\\x", "\\\\h\\s", "a\\..\\..\\b"]
        {
            assert!(!is_below(path), "{path}");
        }
    }
}
