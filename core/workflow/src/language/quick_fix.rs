//! Quick fixes: the linter's own, and choices that only the author can make.

use super::{Reading, dependency};
use crate::command::windows_part;
use crate::graph::{StepGraph, step_list};
use crate::parallel;
use crate::rule::{self, LintRule};
use crate::{FieldPlace, Section, Shell, StepPlace};
use onloop_syntax::diagnostic::{Diagnostic, Edit, Fix, Span};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Changes that resolve a finding: the safe fix of the linter first, then changes that need a
/// decision of the author.
pub fn quick_fixes(reading: Reading<'_>, finding: &Diagnostic) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = finding.fix.iter().cloned().collect();
    fixes.extend(choices(reading, finding));
    fixes
}

/// Whether a finding is about text that does nothing, which editors show faded.
pub fn is_unnecessary(finding: &Diagnostic) -> bool {
    matches!(
        LintRule::of(finding),
        Some(
            rule::IGNORED_TEXT
                | rule::UNUSED_MAX_ITERATIONS
                | rule::UNUSED_ASSERT_VALUE
                | rule::UNUSED_MAX_PARALLEL
                | rule::UNKNOWN_KEY
                | rule::PROSE_IN_STEP
        )
    )
}

/// Other places that a finding is about, with what is there.
pub fn related(reading: Reading<'_>, finding: &Diagnostic) -> Vec<(Span, &'static str)> {
    let at = finding.span.start;
    let Some(broken) = LintRule::of(finding) else { return Vec::new() };
    match broken {
        rule::DUPLICATE_KEY | rule::DUPLICATE_FIELD => {
            first_of_the_same(reading, at).map(|span| (span, "the first one is here"))
        }
        rule::DUPLICATE_STEP_NUMBER => {
            let number = reading.slice(finding.span);
            let first = reading.steps().iter().find(|step| reading.slice(step.id) == number);
            first.map(|step| (step.id, "the first one is here"))
        }
        rule::SECURITY_WITHOUT_GATE => {
            let risk = reading.frontmatter().iter();
            let mut risk = risk.filter(|place| place.is(Section::Frontmatter, "risk_level"));
            risk.next().map(|place| (place.span(), "the risk is high"))
        }
        rule::UNUSED_MAX_ITERATIONS => {
            let repeat = step_at(reading, at).and_then(|step| reading.step_field(step, "loop"));
            repeat.map(|place| (place.span(), "the step is not repeated"))
        }
        _ => None,
    }
    .into_iter()
    .collect()
}

fn choices(reading: Reading<'_>, finding: &Diagnostic) -> Vec<Fix> {
    let span = finding.span;
    let place = place_of(reading, span);
    let Some(broken) = LintRule::of(finding) else { return Vec::new() };
    match broken {
        rule::MISSING_FRONTMATTER => vec![frontmatter(reading)],
        rule::UNTERMINATED_FRONTMATTER => end_of_frontmatter(reading),
        rule::MISSING_KEY if finding.subject == Some("risk_level") => risk_levels(reading, span),
        rule::FRONTMATTER_LINE => {
            vec![fix("turn the line into a comment", Edit::insert(span.start, "# "))]
        }
        rule::UNKNOWN_KEY | rule::UNKNOWN_CHECK_FIELD if finding.fix.is_none() => {
            let one_line = place.is_some_and(|place| !reading.slice(place.span()).contains('\n'));
            let comment = Edit::insert(span.start, "# ");
            if one_line { vec![fix("turn the line into a comment", comment)] } else { Vec::new() }
        }
        rule::DUPLICATE_KEY
        | rule::DUPLICATE_FIELD
        | rule::EMPTY_KEY
        | rule::UNKNOWN_FIELD
        | rule::EMPTY_VERIFY
        | rule::UNUSED_MAX_ITERATIONS
        | rule::UNUSED_MAX_PARALLEL
        | rule::FOREIGN_CHECK_FIELD
        | rule::UNUSED_ASSERT_VALUE => {
            place.and_then(|place| removed(reading, place)).into_iter().collect()
        }
        rule::INVALID_KEY_VALUE
        | rule::INVALID_GATE
        | rule::INVALID_CHECK_VALUE
        | rule::UNKNOWN_CHECK_TYPE
        | rule::UNKNOWN_ASSERT_KIND => words(place, span),
        rule::INVALID_LOOP => match place.filter(|place| place.is(Section::Step, "loop")) {
            Some(place) => word(place, "false"),
            None => Vec::new(),
        },
        rule::UNTIL_WITHOUT_VERIFY => place.map_or(Vec::new(), |place| word(place, "false")),
        rule::INVALID_MAX_ITERATIONS => place.map_or(Vec::new(), |place| {
            let most = limits::ITERATIONS_PER_STEP;
            let found: Option<u32> = reading.slice(place.value).parse().ok();
            let is_more = found.is_some_and(|found| found > most);
            let fitting = if is_more { most } else { limits::DEFAULT_ITERATIONS };
            word(place, &fitting.to_string())
        }),
        rule::TEXT_AFTER_STEP_NAME => step_at(reading, span.start)
            .map(|step| joined_title(reading, step, span))
            .into_iter()
            .collect(),
        rule::HIDDEN_CHARACTER => shown_characters(reading, span),
        rule::SECURITY_WITHOUT_GATE => step_at(reading, span.start)
            .and_then(|step| human_gate(reading, step))
            .into_iter()
            .collect(),
        rule::INVALID_DEPENDS_ON if finding.fix.is_none() => {
            let removed = dependency::without_item(reading, span);
            let title = format!("remove `{}`", text::one_line(reading.slice(span)));
            removed.map(|edit| fix(title, edit)).into_iter().collect()
        }
        rule::PARALLEL_WITHOUT_WORKTREE => own_worktree(reading),
        rule::UNNEEDED_STEP => needs_the_rest(reading, span.start).into_iter().collect(),
        rule::SHARED_FILE => needs_those_with_its_files(reading, span.start).into_iter().collect(),
        rule::PROSE_VERIFY => as_object(reading, place, "ask a person instead", |indent, text| {
            format!("\n{indent}type: human-review\n{indent}prompt: {text}")
        }),
        rule::WINDOWS_COMMAND => {
            let part = windows_part(reading.slice(span)).map(|(_, shell)| shell);
            let shell = part.unwrap_or(Shell::Pwsh).as_str();
            as_object(reading, place, &format!("run it with {shell}"), |indent, text| {
                format!("\n{indent}type: shell\n{indent}command: {text}\n{indent}shell: {shell}")
            })
        }
        rule::LAST_LINE_DECIDES => {
            place.and_then(|place| strict(reading, place)).into_iter().collect()
        }
        rule::URL_WITHOUT_SCHEME => vec![scheme(reading, span)],
        rule::GLOB_WITH_FOLDER => bare_glob(reading, span),
        rule::FLATTENED_ASSERT => {
            vec![fix("indent it below `assert`", Edit::insert(span.start, "  "))]
        }
        _ => Vec::new(),
    }
}

fn fix(title: impl Into<String>, edit: Edit) -> Fix {
    Fix { title: title.into(), edits: vec![edit] }
}

/// The field whose name or value a finding is at.
fn place_of(reading: Reading<'_>, span: Span) -> Option<&FieldPlace> {
    let until = reading.fields().partition_point(|place| place.key.start <= span.start);
    // Values are read before what stands inside of them, and the innermost comes last.
    let mut above = reading.fields()[..until].iter().rev();
    above.find(|place| place.key == span || place.value == span || place.span().end >= span.end)
}

fn step_at(reading: Reading<'_>, offset: usize) -> Option<&StepPlace> {
    reading.step_index(offset).map(|at| &reading.steps()[at])
}

/// The first field with the same name in the same object.
fn first_of_the_same(reading: Reading<'_>, at: usize) -> Option<Span> {
    let fields = reading.fields();
    let index = fields.iter().position(|place| place.key.start == at)?;
    let (second, column) = (&fields[index], reading.column(at));
    let range = step_at(reading, at).map(|step| step.span.start).unwrap_or_default();
    let above = fields[..index].iter().rev().take_while(|place| place.key.start > range);
    let same = above
        .filter(|place| place.what == second.what && reading.column(place.key.start) == column);
    same.last().map(|place| place.key)
}

fn frontmatter(reading: Reading<'_>) -> Fix {
    let start = if reading.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let text = "---\nintent: \nsuccess_criteria: \nrisk_level: low\n---\n\n";
    let text = text.replace('\n', reading.line_break());
    fix("add frontmatter", Edit::insert(start, text))
}

fn end_of_frontmatter(reading: Reading<'_>) -> Vec<Fix> {
    let front = reading.parsed.outline.frontmatter;
    let last = front.map(|front| (front, reading.frontmatter().last()));
    let Some((front, last)) = last else { return Vec::new() };
    let end = last.map_or(front.start, |place| reading.whole_lines(place.span()).end);
    let before = if reading.text[..end].ends_with('\n') { "" } else { reading.line_break() };
    let text = format!("{before}---{}", reading.line_break());
    vec![fix("end the frontmatter after its last key", Edit::insert(end, text))]
}

fn risk_levels(reading: Reading<'_>, opening: Span) -> Vec<Fix> {
    let at = reading.whole_lines(opening).end;
    let line = |risk: &str| {
        let text = format!("risk_level: {risk}{}", reading.line_break());
        fix(format!("add `risk_level: {risk}`"), Edit::insert(at, text))
    };
    ["low", "medium", "high"].map(line).into()
}

/// The lines of a field without it.
fn removed(reading: Reading<'_>, place: &FieldPlace) -> Option<Fix> {
    let lines = reading.whole_lines(place.span());
    let before = reading.slice(Span::new(lines.start, place.key.start));
    // The dash of an item stays where it is.
    let is_alone = before.trim().is_empty();
    let title = format!("remove `{}`", text::one_line(reading.slice(place.key)));
    is_alone.then(|| fix(title, Edit::replace(lines, "")))
}

/// One fix for each word that the field allows.
fn words(place: Option<&FieldPlace>, span: Span) -> Vec<Fix> {
    let place = place.filter(|place| place.value.start <= span.start && !span.is_empty());
    let values = place.and_then(FieldPlace::field).map_or(&[][..], |field| field.values);
    let write = |word: &&str| fix(format!("write `{word}`"), Edit::replace(span, *word));
    values.iter().map(write).collect()
}

fn word(place: &FieldPlace, word: &str) -> Vec<Fix> {
    if place.value.is_empty() {
        return Vec::new();
    }
    vec![fix(format!("write `{word}`"), Edit::replace(place.value, word))]
}

fn joined_title(reading: Reading<'_>, step: &StepPlace, trailing: Span) -> Fix {
    let text = format!("{} {}**", reading.slice(step.title), reading.slice(trailing));
    let whole = Span::new(step.title.start, trailing.end);
    fix("move the text into the name", Edit::replace(whole, text))
}

fn shown_characters(reading: Reading<'_>, span: Span) -> Vec<Fix> {
    let written = reading.slice(span);
    let shown: String = written
        .chars()
        .filter(|c| matches!(c, '\n' | '\r' | '\t') || !(c.is_control() || text::is_invisible(*c)))
        .collect();
    if shown == written {
        return Vec::new();
    }
    vec![fix("remove the invisible characters", Edit::replace(span, shown))]
}

fn human_gate(reading: Reading<'_>, step: &StepPlace) -> Option<Fix> {
    if let Some(gate) = reading.step_field(step, "gate") {
        return word(gate, "human").pop();
    }
    let edit = dependency::with_field(reading, step, "gate", "human")?;
    Some(fix("add `gate: human`", edit))
}

/// The last step needs the steps that nothing needs.
fn needs_the_rest(reading: Reading<'_>, at: usize) -> Option<Fix> {
    let steps = &reading.parsed.plan.as_ref()?.steps;
    let last = steps.get(reading.step_index(at)?)?;
    needs(reading, at, parallel::unneeded_by(last, steps, &StepGraph::of(steps.iter())))
}

/// A step needs those that name the same files.
fn needs_those_with_its_files(reading: Reading<'_>, at: usize) -> Option<Fix> {
    let steps = &reading.parsed.plan.as_ref()?.steps;
    let number = steps.get(reading.step_index(at)?)?.number;
    let shared = parallel::shared_files(steps, &StepGraph::of(steps.iter())).into_keys();
    let others = shared.filter(|(_, other)| *other == number).map(|(one, _)| one);
    needs(reading, at, others.collect())
}

/// The step at `at` needs `more` steps.
fn needs(reading: Reading<'_>, at: usize, more: Vec<u32>) -> Option<Fix> {
    let at = reading.step_index(at)?;
    let step = reading.parsed.plan.as_ref()?.steps.get(at)?;
    let title = format!("let step {} depend on {}", step.number, step_list(&more));
    let mut numbers = [step.depends_on(), more].concat();
    numbers.sort_unstable();
    Some(fix(title, dependency::written(reading, &reading.steps()[at], &numbers)?))
}

/// `worktree: true` in place of another value.
fn own_worktree(reading: Reading<'_>) -> Vec<Fix> {
    let mut places = reading.frontmatter().iter();
    let place = places.find(|place| place.is(Section::Frontmatter, "worktree"));
    place.map_or(Vec::new(), |place| word(place, "true"))
}

/// A command on the line of `verify` as an object below it.
fn as_object(
    reading: Reading<'_>,
    place: Option<&FieldPlace>,
    title: &str,
    object: impl Fn(&str, &str) -> String,
) -> Vec<Fix> {
    let inline = place.filter(|place| place.is(Section::Step, "verify"));
    let Some(place) = inline else { return Vec::new() };
    let value = reading.slice(place.value);
    let before = Span::new(place.key.end + 1, place.value.start);
    if value.contains('\n') || reading.slice(before).contains('\n') {
        return Vec::new();
    }
    let indent = " ".repeat(reading.column(place.key.start) + 2);
    let text = object(&indent, value).replace('\n', reading.line_break());
    let whole = Span::new(before.start, place.value.end);
    vec![fix(title, Edit::replace(whole, text))]
}

/// A block of commands that stops at the first that fails.
fn strict(reading: Reading<'_>, place: &FieldPlace) -> Option<Fix> {
    let between = reading.slice(Span::new(place.key.end, place.value.start));
    let indent = between.rsplit('\n').next().filter(|_| between.contains('|'))?;
    let text = format!("set -e{}{indent}", reading.line_break());
    Some(fix("begin with `set -e`", Edit::insert(place.value.start, text)))
}

fn scheme(reading: Reading<'_>, span: Span) -> Fix {
    let url = reading.slice(span);
    let bare = url.trim_start_matches(['"', '\'']);
    let is_local = ["localhost", "127.", "[::1]", "0.0.0.0"].iter().any(|l| bare.starts_with(l));
    let scheme = if is_local { "http://" } else { "https://" };
    let at = span.start + url.len() - bare.len();
    fix(format!("begin with `{scheme}`"), Edit::insert(at, scheme))
}

fn bare_glob(reading: Reading<'_>, span: Span) -> Vec<Fix> {
    let glob = reading.slice(span);
    let bare = glob.trim_matches(['"', '\'']);
    let quotes = (glob.len() - bare.len()) / 2;
    let name = bare.strip_prefix("**/").or_else(|| bare.strip_prefix("./"));
    let name = name.filter(|name| !name.is_empty() && !name.contains('/'));
    let fixed = name.map(|name| {
        let at = Span::new(span.start + quotes, span.start + quotes + bare.len());
        fix(format!("write `{}`", text::one_line(name)), Edit::replace(at, name))
    });
    fixed.into_iter().collect()
}
