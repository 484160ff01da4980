//! Completion: proposals at the cursor.

use std::collections::BTreeSet;

use super::Reading;
use super::hover::meaning;
use crate::{FIELDS, Field, FieldPlace, PlaceKind, Section};
use onloop_syntax::diagnostic::Span;
use onloop_syntax::text::{self, words};

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Its name in a list.
    pub label: String,
    /// The text to insert, with snippet syntax: the cursor visits `$0`, `$1` and `${1:word}`, and
    /// `\` escapes `$`, `}` and itself. [`plain`] removes this syntax.
    pub snippet: String,
    /// Its meaning, as Markdown.
    pub about: String,
    /// The range that it replaces: the text typed so far.
    pub span: Span,
    /// Its kind.
    pub kind: ProposalKind,
    /// Whether further proposals follow after it.
    pub goes_on: bool,
}

words! {
    /// The kind of a proposal.
    pub enum ProposalKind {
        /// A field.
        Field = "field",
        /// A value.
        Value = "value",
        /// A step, or a whole file.
        Template = "template",
    }
}

/// Most values taken from other parts of the file.
const REPEATED: usize = 20;

const NEW_STEP: &str =
    "action: ${2:what to do}\nloop: ${3:false}\nverify: ${4:the command that proves it}\n$0";
const NEW_FILE: &str = "---\nintent: ${1:what this builds}\n\
    success_criteria: ${2:how to know that it is done}\nrisk_level: ${3:low}\n---\n\n\
    - [ ] **Step 1: ${4:Name}**\naction: ${5:what to do}\nloop: false\n\
    verify: ${6:the command that proves it}\n$0";

/// The proposals at `offset`, the likeliest first.
pub fn proposals(reading: Reading<'_>, offset: usize) -> Vec<Proposal> {
    let is_empty = reading.steps().is_empty() && reading.fields().is_empty();
    if is_empty && reading.text.trim_matches(['-', '\u{feff}']).trim().is_empty() {
        return vec![Proposal {
            label: "workflow".to_owned(),
            snippet: NEW_FILE.to_owned(),
            about: "Frontmatter and a first step.".to_owned(),
            span: Span::new(0, reading.text.len()),
            kind: ProposalKind::Template,
            goes_on: false,
        }];
    }
    if reading.is_hidden(offset) {
        return Vec::new();
    }
    let dependencies = super::dependency::proposals(reading, offset);
    if !dependencies.is_empty() {
        return dependencies;
    }
    let mut found = match spot(reading, offset) {
        Some(Spot::Name { section, siblings, span }) => names(reading, section, siblings, span),
        Some(Spot::Value { field, span }) => values(reading, field, span),
        None => Vec::new(),
    };
    found.extend(new_step(reading, offset));
    found
}

/// A snippet as text, with the default words of its placeholders.
pub fn plain(snippet: &str) -> String {
    let mut out = String::with_capacity(snippet.len());
    let mut chars = snippet.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' if chars.next_if_eq(&'{').is_some() => {
                while chars.next_if(|c| *c != ':' && *c != '}').is_some() {}
                chars.next();
            }
            '$' => while chars.next_if(char::is_ascii_digit).is_some() {},
            // Ends a placeholder; a brace of the text has a `\` before it.
            '}' => {}
            c => out.push(c),
        }
    }
    out
}

/// The kind of text at the cursor.
enum Spot<'t> {
    /// The name of a field, and the fields that exist already.
    Name { section: Section, siblings: Vec<&'t FieldPlace>, span: Span },
    /// The value of a field.
    Value { field: &'static Field, span: Span },
}

fn spot<'t>(reading: Reading<'t>, offset: usize) -> Option<Spot<'t>> {
    let line = reading.line(offset);
    let text = reading.slice(line);
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let rest = &text[blanks..];
    let front = reading.parsed.outline.frontmatter;
    let in_front = front.is_some_and(|front| line.start >= front.start && line.start < front.end);
    let step = reading.step_index(offset).filter(|_| !in_front);
    let step = step.map(|at| &reading.steps()[at]);
    let range = match (front, step) {
        (Some(front), _) if in_front => front,
        (_, Some(step)) if line.start > step.span.start => step.span,
        (_, _) => return None,
    };
    // The `- ` of an item belongs to the layout.
    let dash = (!in_front && (rest == "-" || rest.starts_with("- "))).then_some(blanks);
    let content = match dash {
        Some(_) => text.len() - rest[1..].trim_start_matches(' ').len(),
        None => blanks,
    };
    let start = line.start + content;
    if offset < start {
        return None;
    }
    let fields = reading.fields_in(range);
    let is_text = |place: &FieldPlace| {
        !super::reading::is_container(place, reading.text)
            && place.value.start < line.start
            && line.start < place.value.end
    };
    if fields.iter().any(is_text) {
        return None;
    }
    let (section, siblings) = match in_front {
        true if content > 0 => return None,
        true => (Section::Frontmatter, fields.iter().collect()),
        false => enclosing_section(reading, fields, line, dash, content)?,
    };
    let written = &text[content..];
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (name, value) = written.split_once(':').unwrap_or((written, ""));
    let name_end = start + name.len();
    if !is_name(name) {
        return None;
    }
    if offset <= name_end {
        return Some(Spot::Name { section, siblings, span: Span::new(start, name_end) });
    }
    let field = FIELDS.iter().find(|field| {
        let fits = field.section == section
            || section == Section::Check && field.section == Section::Assert;
        fits && field.name.eq_ignore_ascii_case(name)
    })?;
    let value_start = name_end + 1 + (value.len() - value.trim_start().len());
    let value_end = value_start.max(line.start + text.trim_end().len()).max(offset);
    let value_start = value_start.min(offset);
    Some(Spot::Value { field, span: Span::new(value_start, value_end) })
}

/// The section of a step's line, and the fields of the same object.
fn enclosing_section<'t>(
    reading: Reading<'t>,
    fields: &'t [FieldPlace],
    line: Span,
    dash: Option<usize>,
    column: usize,
) -> Option<(Section, Vec<&'t FieldPlace>)> {
    let column_of = |place: &FieldPlace| reading.column(place.key.start);
    let above = fields.partition_point(|place| place.key.start < line.start);
    let verify = |place: &FieldPlace| place.is(Section::Step, "verify");
    let encloses = |place: &&FieldPlace| match dash {
        Some(dash) => {
            let same = column_of(place) == dash;
            same && (verify(place) || place.what == PlaceKind::Item) || column_of(place) < dash
        }
        None => column_of(place) < column,
    };
    let parent = fields[..above].iter().rposition(|place| encloses(&place));
    let section = match parent.map(|at| fields[at].what) {
        None if dash.is_some() => return None,
        None => Section::Step,
        Some(PlaceKind::Field(Section::Step, "verify") | PlaceKind::Item) => Section::Check,
        Some(PlaceKind::Field(Section::Check, "assert")) => Section::Assert,
        Some(PlaceKind::Field(..) | PlaceKind::Variable | PlaceKind::Unknown(_)) => return None,
    };
    // The object begins after its container; for a dash, after the dash.
    let from = match (dash, parent) {
        (Some(_), _) => above,
        (None, Some(parent)) => parent + 1,
        (None, None) => 0,
    };
    let inside = fields[from..].iter().take_while(|place| {
        let is_own_dash = dash.is_some() && place.key.start < line.start + column;
        section == Section::Step || is_own_dash || column_of(place) >= column
    });
    let siblings = inside.filter(|place| {
        let known = matches!(place.what, PlaceKind::Field(of, _) if of == section);
        known && (section == Section::Step || column_of(place) == column)
    });
    Some((section, siblings.collect()))
}

fn names(
    reading: Reading<'_>,
    section: Section,
    siblings: Vec<&FieldPlace>,
    span: Span,
) -> Vec<Proposal> {
    let own = |place: &&&FieldPlace| place.key.start != span.start;
    let taken: BTreeSet<&str> = siblings
        .iter()
        .filter(own)
        .filter_map(|place| place.field().map(|field| field.name))
        .collect();
    let of_type = siblings.iter().find(|place| place.is(Section::Check, "type"));
    let of_type = of_type.map(|place| reading.slice(place.value).trim_matches(['"', '\'']));
    let has_colon = reading.text[span.end..].starts_with(':');
    let fits = |field: &&Field| {
        let of_type = of_type.is_none_or(|kind| {
            field.types.is_empty() || field.types.contains(&kind) || kind.is_empty()
        });
        field.section == section && of_type && !taken.contains(field.name)
    };
    let proposal = |field: &'static Field| Proposal {
        label: field.name.to_owned(),
        snippet: match (has_colon, field.name) {
            (true, name) => name.to_owned(),
            (false, name @ ("env" | "assert")) => format!("{name}:\n  $0"),
            (false, name) => format!("{name}: $0"),
        },
        about: meaning(field),
        span,
        kind: ProposalKind::Field,
        goes_on: !has_colon && (!field.values.is_empty() || field.name == "depends_on"),
    };
    FIELDS.iter().filter(fits).map(proposal).collect()
}

fn values(reading: Reading<'_>, field: &'static Field, span: Span) -> Vec<Proposal> {
    let value = |label: String, snippet: String, about: &str| Proposal {
        label,
        snippet,
        about: about.to_owned(),
        span,
        kind: ProposalKind::Value,
        goes_on: false,
    };
    if field.name == "loop" {
        let mut found = vec![value("false".to_owned(), "false".to_owned(), "One attempt.")];
        let usual = ["the tests pass".to_owned(), "every check passes".to_owned()];
        let said = repeated(reading, span, |place| place.is(Section::Step, "loop"));
        let said = said.iter().filter_map(|text| text.strip_prefix("until "));
        let mut seen = BTreeSet::new();
        for condition in said.map(str::to_owned).chain(usual) {
            if seen.insert(condition.clone()) {
                let text = format!("until {condition}");
                found.push(value(text.clone(), escaped(&text), "Attempts until the checks pass."));
            }
        }
        let open = "until ${1:condition}".to_owned();
        found.push(value("until …".to_owned(), open, "Attempts until the checks pass."));
        return found;
    }
    if matches!(field.name, "verify" | "command") {
        let commands = repeated(reading, span, |place| {
            place.is(Section::Check, "command")
                || place.is(Section::Step, "verify")
                || place.what == PlaceKind::Item
        });
        let about = "A command of another step.";
        return commands
            .into_iter()
            .map(|text| value(text.clone(), escaped(&text), about))
            .collect();
    }
    let about = meaning(field);
    field.values.iter().map(|word| value((*word).to_owned(), escaped(word), &about)).collect()
}

/// One-line values in other parts of the file, each once.
fn repeated(
    reading: Reading<'_>,
    span: Span,
    is_wanted: impl Fn(&FieldPlace) -> bool,
) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let fields = reading.fields();
    let has_parts = |at: usize| {
        let end = fields[at].value.end;
        fields.get(at + 1).is_some_and(|next| next.key.start < end)
    };
    let others = fields.iter().enumerate().filter(|(at, place)| {
        is_wanted(place)
            && !has_parts(*at)
            && !(place.value.start <= span.end && span.start <= place.value.end)
    });
    let texts = others.map(|(_, place)| reading.slice(place.value));
    let short = |text: &&str| !text.is_empty() && !text.contains('\n') && text.len() <= 200;
    texts
        .filter(short)
        .map(text::one_line)
        .filter(|text| seen.insert(text.clone()))
        .take(REPEATED)
        .collect()
}

/// Proposals for a step, on a line after the frontmatter that has at most the start of one.
fn new_step(reading: Reading<'_>, offset: usize) -> Option<Proposal> {
    let line = reading.line(offset);
    let text = reading.slice(line);
    let front = reading.parsed.outline.frontmatter?;
    // After the line that ends the frontmatter.
    if line.start <= reading.line(front.end).start {
        return None;
    }
    let written = text.trim_end();
    if text.starts_with([' ', '\t']) {
        return None;
    }
    let begins = ["- [ ] **Step", "step", "Step"].iter().any(|whole| whole.starts_with(written));
    let is_inside = reading.fields().iter().any(|place| {
        let span = place.value;
        span.start < line.start && line.start < span.end
    });
    if !begins || is_inside || offset < line.start + written.len() {
        return None;
    }
    let number = reading.steps().partition_point(|step| step.span.start < line.start) + 1;
    Some(Proposal {
        label: format!("Step {number}"),
        snippet: format!("- [ ] **Step {number}: ${{1:Name}}**\n{NEW_STEP}"),
        about: "A step: what to do, whether it is repeated, and the command that proves it."
            .to_owned(),
        span: line,
        kind: ProposalKind::Template,
        goes_on: false,
    })
}

/// Text with snippet syntax escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}
