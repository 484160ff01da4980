//! `verify`: a line, an indented object or a list of either becomes checks.

use onloop_syntax::diagnostic::Span;
use onloop_syntax::limits;

use super::field::is_field;
use super::finding::{self, Findings};
use super::format::Section;
use super::line::{Cursor, Line};
use super::place::PlaceKind;
use super::value::{self, Kind, Style, Value};
use super::{Check, OperatingSystem, Shell, ShellCheck, command, suggest};

/// Fields of a check that is an object, in the order of the documentation.
pub(super) const FIELDS: [&str; 16] = [
    "type",
    "command",
    "expect",
    "timeout",
    "cwd",
    "env",
    "shell",
    "platform",
    "network",
    "allow_no_tests",
    "url",
    "check",
    "prompt",
    "path",
    "assert",
    "kind",
];

const TYPES: [&str; 4] = ["shell", "browser", "human-review", "artifact"];
const ASSERT_KINDS: [&str; 3] = ["exists", "contains", "matches-glob"];

mod check;

/// Reads the checks of one step. The cursor has passed `line`, which holds `verify:`.
pub(super) struct CheckReader<'r, 'c> {
    pub cursor: &'r mut Cursor<'c>,
    pub findings: &'r mut Findings,
    /// Indentation of the step's fields.
    pub indent: usize,
    /// Name of the step, for the sentences of hotl-rt.
    pub step: &'r str,
    /// What commands have that do not say otherwise.
    pub defaults: CommandDefaults,
}

/// What the frontmatter says about the commands of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandDefaults {
    pub shell: Shell,
    pub platform: Option<OperatingSystem>,
}

impl CommandDefaults {
    fn check(self, command: String) -> ShellCheck {
        let CommandDefaults { shell, platform } = self;
        ShellCheck { shell, platform, ..ShellCheck::new(command) }
    }
}

/// The fields of a check as written.
#[derive(Default)]
struct Draft<'c> {
    fields: Vec<Field<'c>>,
    env: Vec<(String, String)>,
    /// The start of the first field, and its indentation.
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

impl<'c> CheckReader<'_, 'c> {
    /// The checks after `verify:` and on the lines below; `from` is the offset after the colon,
    /// `key_span` the key.
    pub(super) fn read(mut self, line: Line<'c>, from: usize, key_span: Span) -> Vec<Check> {
        let indent = self.indent;
        let errors_before = self.findings.error_count();
        let inline = Value::inline(line, from);
        let what = PlaceKind::Field(Section::Step, "verify");
        let place = self.findings.places.note(what, key_span, Span::at(from));
        let mut checks = Vec::new();
        if inline.is_empty() || inline.text.starts_with('#') {
            self.block(indent, &mut checks);
            self.findings.places.enclose(place);
        } else {
            let command = Value::read(self.cursor, line, from, indent, Kind::Command);
            self.findings.places.set_value(place, command.span);
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

    /// Reports lines that are still indented below `verify`.
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
        let dash = Span::new(line.start + dash_indent, line.start + dash_indent + 1);
        let place = self.findings.places.note(PlaceKind::Item, dash, Span::at(dash.end));
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
            self.findings.places.enclose(place);
            return self.finish(&draft);
        }
        let is_field = value::key(content).is_some_and(|(key, length)| {
            let separated = matches!(content.as_bytes().get(length), None | Some(b' ' | b'\t'));
            separated && (FIELDS.contains(&key) || suggest::nearest(key, &FIELDS).is_some())
        });
        if !is_field {
            let from = line.start + column;
            let command = Value::read(self.cursor, line, from, dash_indent, Kind::Command);
            self.findings.places.set_value(place, command.span);
            return self.bare_command(&command);
        }
        let mut draft = Draft { start: line.start + column, indent: column, ..Draft::default() };
        let rest = Line { text: &line.text[column..], start: line.start + column };
        self.field(&mut draft, rest, column);
        self.object(&mut draft, column);
        self.findings.places.enclose(place);
        self.finish(&draft)
    }

    /// The fields at the indentation `indent`.
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

    /// One `key: value`; `line` begins with the key, and the cursor has passed it.
    fn field(&mut self, draft: &mut Draft<'c>, line: Line<'c>, indent: usize) {
        let Some((key, length)) = value::key(line.text) else {
            return;
        };
        let name_span = Span::new(line.start, line.start + key.len());
        let from = line.start + length;
        let known = FIELDS.iter().chain(&["value"]).find(|name| name.eq_ignore_ascii_case(key));
        let Some(&name) = known else {
            let value = Value::read(self.cursor, line, from, indent, Kind::Prose);
            let what = PlaceKind::Unknown(Section::Check);
            self.findings.places.note(what, name_span, value.span);
            if is_field(key) {
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
        let section =
            if matches!(name, "kind" | "value") { Section::Assert } else { Section::Check };
        let what = PlaceKind::Field(section, name);
        let place = self.findings.places.note(what, name_span, Span::at(from));
        let value = match name {
            "command" => Value::read(self.cursor, line, from, indent, Kind::Command),
            "check" | "prompt" | "value" => {
                Value::read(self.cursor, line, from, indent, Kind::Prose)
            }
            "env" | "assert" => self.nested(draft, name, line, from, indent),
            // A list may be on the lines below.
            "network" => Value::read(self.cursor, line, from, indent, Kind::Word),
            _ => self.word(name, line, from, indent),
        };
        self.findings.places.set_value(place, value.span);
        if matches!(name, "env" | "assert") && value.is_empty() {
            self.findings.places.enclose(place);
        }
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
            let what = match (name, key) {
                ("env", _) => PlaceKind::Variable,
                (_, "kind") => PlaceKind::Field(Section::Assert, "kind"),
                (_, "value") => PlaceKind::Field(Section::Assert, "value"),
                (_, _) => PlaceKind::Unknown(Section::Assert),
            };
            self.findings.places.note(what, name_span, value.span);
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
            draft.env.push((key.to_owned(), value.plain().into_owned()));
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

    /// A field of the step among those of a check.
    fn indented_field(&mut self, span: Span) {
        let line_start = self.cursor.source()[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = " ".repeat(self.indent);
        self.findings.push(finding::step::indented_field(span, line_start, &indent));
    }

    fn bare_command(&mut self, value: &Value<'c>) -> Option<Check> {
        self.report_value(value);
        if command::does_nothing(&value.plain()) {
            return None;
        }
        let text = value.trimmed();
        let flow = ["{type", "{ type", "{\"type", "[\"", "['", "[{"];
        // `[a, b]` is a list. `[` with a blank after it is the shell's `test`.
        let list = text.ends_with(']')
            && text.strip_prefix('[').is_some_and(|rest| !rest.starts_with([' ', '[', ':']));
        if value.style != Style::Block && (list || flow.iter().any(|start| text.starts_with(start)))
        {
            self.findings.push(finding::check::flow(value.span, "verify"));
            return None;
        }
        let check = self.defaults.check(value.plain().into_owned());
        if value.field_like.is_empty() {
            command::look_at(&check, value, "verify", self.findings);
        }
        Some(Check::Shell(check))
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
