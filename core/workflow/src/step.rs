//! One step: its header, its fields, its script.

use std::num::NonZeroU32;

use onloop_syntax::diagnostic::{Diagnostic, Edit, Span};
use onloop_syntax::limits;
use onloop_syntax::text;

use super::depends_on::DependsOn;
use super::field::FIELDS;
use super::finding::{self, Findings};
use super::format::Section;
use super::frontmatter::names_files;
use super::line::{Cursor, Line};
use super::markdown::{Header, HeaderForm};
use super::place::PlaceKind;
use super::security::{self, Topic};
use super::value::{self, Kind, Style, Value};
use super::verify::{self, CommandDefaults};
use super::{Check, Gate, Loop, Script, Step, is_model, suggest};
use onloop_effect::{Network, Shell};

mod settings;

/// A field and the position of its key.
struct Field<'a> {
    key: Span,
    value: Value<'a>,
}

/// The state while the lines of a step are read.
pub(super) struct Draft<'a> {
    pub header: Header<'a>,
    name: String,
    indent: Option<usize>,
    /// The indentation of the last field.
    last_indent: usize,
    mixed: bool,
    action: Option<Field<'a>>,
    repeat: Option<Field<'a>>,
    until: Option<Field<'a>>,
    /// The step has several `until` lines, which are ambiguous.
    until_repeated: bool,
    max_iterations: Option<Field<'a>>,
    gate: Option<Field<'a>>,
    depends_on: Option<Field<'a>>,
    baseline: Option<Field<'a>>,
    may_change: Option<Field<'a>>,
    network: Option<Field<'a>>,
    command: CommandDefaults,
    model: Option<Field<'a>>,
    verify: Option<(Span, Vec<Check>)>,
    script: Option<Script>,
    last_is_action: bool,
    in_prose: bool,
    /// End of the last line that belongs to a field.
    end: usize,
}

/// What the frontmatter demands of each step.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    /// `risk_level: high`.
    pub high_risk: bool,
    /// `require_checks: true`.
    pub checks: bool,
    /// `baseline: true`, which a step may say otherwise.
    pub baseline: bool,
    /// `shell` and `platform`, which a check may say otherwise.
    pub command: CommandDefaults,
    /// `model`, which a step may say otherwise.
    pub model: Option<String>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(header: Header<'a>, command: CommandDefaults) -> Self {
        Draft {
            header,
            command,
            name: display_name(header.name),
            indent: None,
            last_indent: 0,
            mixed: false,
            action: None,
            repeat: None,
            until: None,
            until_repeated: false,
            max_iterations: None,
            gate: None,
            depends_on: None,
            baseline: None,
            may_change: None,
            network: None,
            model: None,
            verify: None,
            script: None,
            last_is_action: false,
            in_prose: false,
            end: header.line.end(),
        }
    }

    /// Whether more than prose belongs to the step.
    pub(super) fn has_fields(&self) -> bool {
        self.indent.is_some()
    }

    /// Whether findings about the lines below the header are useful.
    fn is_certain(&self) -> bool {
        self.header.form != HeaderForm::Doubtful || self.has_fields()
    }

    /// Reads a line that is not blank and not a header, a heading, a fence or a comment.
    pub(super) fn line(
        &mut self,
        line: Line<'a>,
        cursor: &mut Cursor<'a>,
        findings: &mut Findings,
    ) {
        let indent = line.indent();
        let rest = Line { text: &line.text[indent..], start: line.start + indent };
        match value::key(rest.text) {
            Some((key, length)) if is_known(key) => {
                self.in_prose = false;
                self.note_indent(indent, rest, findings);
                self.field(key, length, rest, indent, cursor, findings);
            }
            Some((key, length))
                if self.is_certain() && is_separated(rest.text, length) && is_identifier(key) =>
            {
                self.unknown_field(key, rest, indent, length, cursor, findings);
            }
            Some(_) | None => self.prose(rest, findings),
        }
    }

    fn note_indent(&mut self, indent: usize, line: Line<'a>, findings: &mut Findings) {
        self.last_indent = indent;
        let expected = *self.indent.get_or_insert(indent);
        if indent != expected && !self.mixed {
            self.mixed = true;
            findings.push(finding::step::mixed_indentation(line.span()));
        }
    }

    fn field(
        &mut self,
        key: &str,
        length: usize,
        line: Line<'a>,
        indent: usize,
        cursor: &mut Cursor<'a>,
        findings: &mut Findings,
    ) {
        let key_span = Span::new(line.start, line.start + key.len());
        let from = line.start + length;
        let name = key.to_ascii_lowercase();
        self.last_is_action = name == "action";
        if name == "verify" {
            let (step, defaults) = (self.name.as_str(), self.command);
            let reader = verify::CheckReader { cursor, findings, indent, step, defaults };
            let checks = reader.read(line, from, key_span);
            if self.verify.is_some() {
                findings.push(finding::step::duplicate_field(key_span, "verify"));
            } else {
                self.verify = Some((key_span, checks));
            }
        } else {
            let kind = if self.last_is_action { Kind::Prose } else { Kind::Word };
            let value = Value::read(cursor, line, from, indent, kind);
            let known = FIELDS.iter().find(|field| **field == name);
            let what = known.map_or(PlaceKind::Unknown(Section::Step), |field| {
                PlaceKind::Field(Section::Step, field)
            });
            findings.places.note(what, key_span, value.span);
            self.report_value(&name, &value, cursor.source(), findings);
            let slot = match name.as_str() {
                "action" => &mut self.action,
                "loop" => &mut self.repeat,
                "until" => &mut self.until,
                "max_iterations" => &mut self.max_iterations,
                "depends_on" => &mut self.depends_on,
                "baseline" => &mut self.baseline,
                "may_change" => &mut self.may_change,
                "network" => &mut self.network,
                "model" => &mut self.model,
                _ => &mut self.gate,
            };
            if slot.is_some() {
                self.until_repeated |= name == "until";
                findings.push(finding::step::duplicate_field(key_span, &name));
            } else {
                *slot = Some(Field { key: key_span, value });
            }
        }
        self.end = cursor.position();
    }

    fn report_value(&self, name: &str, value: &Value<'a>, source: &str, findings: &mut Findings) {
        if let Some(span) = value.open_fence {
            findings.push(finding::unterminated_fence(span));
        }
        for span in &value.field_like {
            if name == "action" {
                findings.push(finding::step::indented_key_in_text(*span));
                continue;
            }
            let line_start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let indent = " ".repeat(self.indent.unwrap_or(0));
            findings.push(finding::step::indented_field(*span, line_start, &indent));
        }
        let has_lines = value.style != Style::Inline && value.field_like.is_empty();
        let may_have_lines =
            matches!(name, "action" | "loop" | "until" | "depends_on" | "may_change" | "network");
        if has_lines && !may_have_lines {
            findings.push(finding::step::unexpected_lines(value.span, name));
        }
    }

    fn unknown_field(
        &mut self,
        key: &str,
        line: Line<'a>,
        indent: usize,
        length: usize,
        cursor: &mut Cursor<'a>,
        findings: &mut Findings,
    ) {
        let found = match suggest::nearest(key, &FIELDS) {
            Some(known) => {
                self.indent.get_or_insert(indent);
                let span = Span::new(line.start, line.start + length);
                finding::step::misspelt_field(span, known)
            }
            None => {
                let span = Span::new(line.start, line.start + key.len());
                finding::step::unknown_field(span, key)
            }
        };
        findings.push(found);
        self.last_is_action = false;
        let value = Value::read(cursor, line, line.start + length, indent, Kind::Prose);
        let key_span = Span::new(line.start, line.start + key.len());
        findings.places.note(PlaceKind::Unknown(Section::Step), key_span, value.span);
    }

    fn prose(&mut self, line: Line<'a>, findings: &mut Findings) {
        self.last_is_action = false;
        if let Some((decorated, known)) = decorated_field(line.text).filter(|_| self.is_certain()) {
            let span = Span::new(line.start, line.start + decorated);
            findings.push(finding::step::misspelt_field(span, known));
            self.indent.get_or_insert(0);
            return;
        }
        self.between_fields(line, findings);
    }

    /// Reads a line that is not a field.
    fn between_fields(&mut self, line: Line<'a>, findings: &mut Findings) {
        self.last_is_action = false;
        if super::markdown::is_thematic_break(line.trimmed()) {
            return;
        }
        if !self.is_certain() {
            return;
        }
        if !std::mem::replace(&mut self.in_prose, true) {
            findings.push(finding::step::prose(line.span()));
        }
    }

    /// Reads a fenced block between the fields. A shell block is the script; any other belongs to
    /// the action above it.
    pub(super) fn fence(
        &mut self,
        opening: Line<'a>,
        language: &str,
        lines: &[Line<'a>],
        findings: &mut Findings,
    ) {
        let shell = match language {
            "sh" => Some(Shell::Sh),
            "bash" => Some(Shell::Bash),
            _ => None,
        };
        let strip = opening.indent();
        match (shell, &mut self.action) {
            (Some(_), _) if self.script.is_some() => {
                findings.push(finding::step::several_scripts(opening.span()));
            }
            (Some(shell), _) => {
                let mut text = String::new();
                lines.iter().for_each(|line| push_line(&mut text, line.text, strip));
                self.script = Some(Script { shell, text });
            }
            (None, Some(action)) if self.last_is_action => {
                let text = action.value.text.to_mut();
                text.push('\n');
                push_line(text, opening.text, strip);
                lines.iter().for_each(|line| push_line(text, line.text, strip));
                text.push_str(opening.trimmed().trim_end_matches(|c| c != '`' && c != '~'));
            }
            // A line that starts a block is not a field.
            (None, _) => self.between_fields(opening, findings),
        }
    }

    /// The step, if enough of it is valid.
    pub(super) fn finish(
        self,
        number: u32,
        depends_on: Option<&DependsOn>,
        demands: &Demands,
        source: &str,
        findings: &mut Findings,
    ) -> Option<Step> {
        let action = self.finish_action(findings);
        let repeat = self.finish_loop(source, findings);
        let gate = self.finish_gate(findings);
        let topics = self.security_topics(action.as_deref().unwrap_or(""));
        if demands.high_risk && gate != Some(Gate::Human) && !topics.is_empty() {
            let words: Vec<_> = topics.iter().map(|topic| topic.as_str()).collect();
            let certain = topics.iter().any(|topic| topic.is_certain());
            let span = self.header.span();
            let found = finding::step::security_without_gate(span, &self.name, &words, certain);
            findings.push(found);
        }
        // A loop without checks, and a gate or a loop that cannot be read, are findings of their own.
        let has_gate = self.gate.is_some() && gate != Some(Gate::Auto);
        if self.verify.is_none() && !has_gate && repeat == Some(Loop::Never) {
            findings.push(finding::step::unchecked(self.header.span(), demands.checks));
        }
        let checks = self.verify.as_ref().map(|(_, checks)| checks.as_slice()).unwrap_or_default();
        let cannot_fail =
            |check: &Check| matches!(check, Check::Shell(shell) if shell.cannot_fail().is_some());
        if demands.checks && !has_gate && !checks.is_empty() && checks.iter().all(cannot_fail) {
            findings.push(finding::step::unchecked_by_vacuous(self.header.span()));
        }
        Some(Step {
            number,
            action: action?,
            repeat: repeat?,
            gate,
            depends_on: depends_on.map(DependsOn::numbers),
            baseline: self.finish_baseline(findings).unwrap_or(demands.baseline),
            may_change: self.finish_may_change(findings),
            network: self.finish_network(findings),
            model: self.finish_model(findings).or_else(|| demands.model.clone()),
            sensitive: !topics.is_empty(),
            checks: self.verify.map(|(_, checks)| checks).unwrap_or_default(),
            script: self.script,
            name: self.name,
        })
    }

    fn finish_action(&self, findings: &mut Findings) -> Option<String> {
        let Some(action) = self.action.as_ref().filter(|field| !field.value.is_empty()) else {
            let span = self.action.as_ref().map_or(self.header.span(), |field| field.key);
            findings.push(finding::step::missing_action(span, &self.name));
            return None;
        };
        Some(text::printable(&action.value.plain()))
    }

    fn finish_loop(&self, source: &str, findings: &mut Findings) -> Option<Loop> {
        let limit = self.finish_limit(findings);
        let Some(field) = &self.repeat else {
            findings.push(self.missing_loop(source));
            return None;
        };
        let text = field.value.plain();
        let word = value::without_comment(&text);
        if word.eq_ignore_ascii_case("false") {
            if let Some(unused) = &self.max_iterations {
                findings.push(finding::step::unused_max_iterations(unused.key));
            }
            if let Some(until) = &self.until {
                findings.push(self.lone_until(until, Some(field), source));
            }
            return Some(Loop::Never);
        }
        if let Some(until) = &self.until {
            findings.push(self.lone_until(until, Some(field), source));
            return None;
        }
        let Some(condition) = condition_of(&text) else {
            findings.push(invalid_loop(field.value.span, word));
            return None;
        };
        if condition.is_empty() {
            findings.push(finding::step::empty_condition(field.value.span));
            return None;
        }
        if self.verify.is_none() {
            let span = field.value.span;
            findings.push(finding::step::until_without_verify(span, &self.name));
        }
        Some(Loop::Until { condition: text::one_line(condition), limit: limit? })
    }

    fn missing_loop(&self, source: &str) -> Diagnostic {
        if let Some(until) = &self.until {
            return self.lone_until(until, None, source);
        }
        let at =
            self.action.as_ref().map_or(self.header.line.end(), |_| self.end.min(source.len()));
        let at_line_start = at > 0 && source.as_bytes()[at - 1] == b'\n';
        // At least the indentation of the following text, which would otherwise continue the value.
        let follows = source[at..].trim_start_matches(['\r', '\n']);
        let columns = follows.len() - follows.trim_start_matches(' ').len();
        // At most the indentation of the field above, whose value it would otherwise continue.
        let indent = match self.mixed {
            true => self.last_indent,
            false => self.indent.unwrap_or(columns),
        };
        let indent = " ".repeat(indent);
        let text = match at_line_start {
            true => format!("{indent}loop: false\n"),
            false => format!("\n{indent}loop: false"),
        };
        finding::step::missing_loop(self.header.span(), &self.name, Edit::insert(at, text))
    }

    /// A separate `until:` line, whose condition moves to `loop` if there is only one.
    fn lone_until(
        &self,
        until: &Field<'a>,
        repeat: Option<&Field<'a>>,
        source: &str,
    ) -> Diagnostic {
        let found = self.moved_until(until, repeat, source);
        let fix = if self.until_repeated { None } else { found.fix };
        Diagnostic { fix, ..found }
    }

    fn moved_until(
        &self,
        until: &Field<'a>,
        repeat: Option<&Field<'a>>,
        source: &str,
    ) -> Diagnostic {
        let condition = text::one_line(until.value.trimmed());
        let condition = value::unquoted(&condition);
        let condition = if condition.is_empty() { "the checks pass" } else { condition };
        let Some(repeat) = repeat else {
            let end = until.value.span.end.max(until.key.end + 1);
            let whole = Span::new(until.key.start, end);
            let edit = Edit::replace(whole, format!("loop: until {condition}"));
            return finding::step::lone_until(until.key, vec![edit]);
        };
        let line_start = source[..until.key.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[until.value.span.end..]
            .find('\n')
            .map_or(source.len(), |at| until.value.span.end + at + 1);
        let remove = Edit::replace(Span::new(line_start, line_end), "");
        let set = Edit::replace(repeat.value.span, format!("until {condition}"));
        let mut edits = vec![set, remove];
        edits.sort_by_key(|edit| edit.span);
        finding::step::lone_until(until.key, edits)
    }

    /// Security words anywhere in the step: name, action, script, checks, condition.
    fn security_topics(&self, action: &str) -> Vec<Topic> {
        let mut topics = Vec::new();
        let mut add = |text: &str| {
            security::scan(text, |topic| {
                if !topics.contains(&topic) {
                    topics.push(topic);
                }
            });
        };
        add(self.header.name);
        add(action);
        if let Some(script) = &self.script {
            add(&script.text);
        }
        if let Some(field) = &self.repeat {
            add(&field.value.text);
        }
        let checks = self.verify.as_ref().map(|(_, checks)| checks.as_slice());
        for check in checks.unwrap_or_default() {
            match check {
                Check::Shell(shell) => add(&shell.command),
                Check::Browser { url, check } => {
                    add(url);
                    add(check);
                }
                Check::HumanReview { prompt } => add(prompt),
                Check::Artifact { path, assertion: _ } => add(path),
            }
        }
        topics.sort_unstable();
        topics
    }
}

fn is_known(key: &str) -> bool {
    FIELDS.iter().chain(&["until"]).any(|field| field.eq_ignore_ascii_case(key))
}

/// `key: value` or `key:`, as opposed to `http://…` or `foo:bar`.
fn is_separated(text: &str, length: usize) -> bool {
    matches!(text.as_bytes().get(length), None | Some(b' ' | b'\t'))
}

/// Field names are lower case; `Note: …` is prose.
fn is_identifier(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'\\'))
}

/// The condition after `until`, with or without a colon.
fn condition_of(text: &str) -> Option<&str> {
    let word = text.get(..5).filter(|word| word.eq_ignore_ascii_case("until"))?;
    let rest = &text[word.len()..];
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    (rest.is_empty() || rest.starts_with([' ', '\t', '\n'])).then(|| rest.trim())
}

fn invalid_loop(span: Span, found: &str) -> Diagnostic {
    let diagnostic = finding::step::invalid_loop(span, found);
    match found.to_ascii_lowercase().as_str() {
        "true" | "yes" => diagnostic.with_fix(
            "write `until the checks pass`",
            vec![Edit::replace(span, "until the checks pass")],
        ),
        "no" | "never" | "none" | "off" | "0" | "1" => {
            diagnostic.with_fix("write `false`", vec![Edit::replace(span, "false")])
        }
        _ => diagnostic,
    }
}

/// A field written as a list item or in bold: `- action:`, `**action:**`, `* **Action**:`. Returns
/// the length of the decorated key, and the field.
fn decorated_field(text: &str) -> Option<(usize, &'static str)> {
    let is_dress = |c: char| matches!(c, '-' | '*' | '+' | '_' | ' ' | '`');
    let bare = text.trim_start_matches(is_dress);
    let known = FIELDS.iter().find(|field| {
        bare.get(..field.len()).is_some_and(|start| start.eq_ignore_ascii_case(field))
    })?;
    let after = &bare[known.len()..];
    let rest = after.trim_start_matches(['*', '_', '`']).strip_prefix(':')?;
    let rest = rest.trim_start_matches(['*', '_', '`']);
    (bare.len() < text.len()).then_some((text.len() - rest.len(), *known))
}

fn push_line(text: &mut String, line: &str, strip: usize) {
    let blanks = line.bytes().take(strip).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.push_str(&line[blanks..]);
    text.push('\n');
}

/// A step's name as screens show it.
pub(super) fn display_name(name: &str) -> String {
    text::ellipsis(&text::one_line(name), limits::STEP_NAME_BYTES)
}
