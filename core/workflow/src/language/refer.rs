//! Mentions of steps by number: in `depends_on`, and in what people and agents read, such as `as in
//! step 3` and `steps 2 and 4`.

use std::collections::BTreeMap;

use super::{Reading, dependency};
use crate::{PlaceKind, Section};
use onloop_syntax::diagnostic::Span;

/// A step number in prose or in `depends_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepMention {
    /// The number.
    pub number: u32,
    /// The span of its digits.
    pub span: Span,
}

/// Every mention of a step, in the order of the file. Shell commands, paths, fenced blocks and code
/// in backticks contain no mentions, and headers only in their titles.
pub fn mentions(reading: Reading<'_>) -> Vec<StepMention> {
    let silent = silent_places(reading);
    let mut found = Vec::new();
    let mut in_fence = false;
    let mut start = 0;
    for line in reading.text.split_inclusive('\n') {
        let begins = line.trim_start();
        if begins.starts_with("```") || begins.starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence {
            scan_line(line, start, &mut found);
        }
        start += line.len();
    }
    found.retain(|mention: &StepMention| {
        let after = silent.partition_point(|span| span.start <= mention.span.start);
        after == 0 || silent[after - 1].end <= mention.span.start
    });
    found.extend(dependency::listed(reading));
    found.sort_by_key(|mention| mention.span);
    found
}

/// Step positions, from 0, by their written numbers. A number of two steps is ambiguous and left
/// out.
pub fn steps_by_number(reading: Reading<'_>) -> BTreeMap<u32, usize> {
    let mut numbers: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for (at, step) in reading.steps().iter().enumerate() {
        if let Ok(number) = reading.slice(step.id).parse() {
            numbers.entry(number).and_modify(|at| *at = None).or_insert(Some(at));
        }
    }
    numbers.into_iter().filter_map(|(number, at)| Some((number, at?))).collect()
}

/// The mentions of the step at `position`, from 0 in the order of the file.
pub fn mentions_of(reading: Reading<'_>, position: usize) -> Vec<Span> {
    let numbers = steps_by_number(reading);
    let found = mentions(reading).into_iter();
    let own = found.filter(|mention| numbers.get(&mention.number) == Some(&position));
    own.map(|mention| mention.span).collect()
}

/// The ranges without mentions, in the order of the file and without overlap.
fn silent_places(reading: Reading<'_>) -> Vec<Span> {
    let mut silent: Vec<Span> = Vec::new();
    for step in reading.steps() {
        silent.push(Span::new(step.span.start, step.title.start.max(step.id.end)));
    }
    for block in &reading.parsed.outline.blocks {
        silent.push(block.span);
    }
    for (at, place) in reading.fields().iter().enumerate() {
        let has_parts = || {
            let next = reading.fields().get(at + 1);
            next.is_some_and(|next| next.key.start < place.value.end)
        };
        let is_prose = match place.what {
            PlaceKind::Field(Section::Step, "verify") | PlaceKind::Item => has_parts(),
            PlaceKind::Field(Section::Check, "command" | "path" | "url" | "cwd")
            | PlaceKind::Field(Section::Assert, _)
            | PlaceKind::Field(Section::Step, "may_change")
            | PlaceKind::Field(_, "network" | "model")
            | PlaceKind::Field(Section::Frontmatter, "setup" | "allow" | "protect" | "branch")
            | PlaceKind::Variable => false,
            PlaceKind::Field(..) | PlaceKind::Unknown(_) => true,
        };
        if !is_prose {
            silent.push(place.value);
        }
    }
    silent.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    silent.retain(|span| {
        let is_new = span.end > end;
        end = end.max(span.end);
        is_new
    });
    silent
}

fn scan_line(line: &str, start: usize, found: &mut Vec<StepMention>) {
    let bytes = line.as_bytes();
    for at in memchr::memmem::find_iter(bytes, b"tep") {
        let Some(word) = at.checked_sub(1) else { continue };
        let begins = matches!(bytes[word], b's' | b'S')
            && !line[..word].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
        let in_code = bytes[..word].iter().filter(|byte| **byte == b'`').count() % 2 == 1;
        if !begins || in_code {
            continue;
        }
        let after = at + "tep".len();
        let is_plural = bytes.get(after) == Some(&b's');
        let mut next = after + usize::from(is_plural);
        let mut separators: &[&str] = &[" ", " #", "\u{a0}"];
        while let Some((digits, span)) = number_after(line, next, separators) {
            next = span.end;
            let span = Span::new(start + span.start, start + span.end);
            found.extend(digits.parse().ok().map(|number| StepMention { number, span }));
            if !is_plural {
                break;
            }
            separators = &[", and ", ", ", " and ", " or ", " to ", "-", "–", "/", " & "];
        }
    }
}

/// A whole number after one of the separators.
fn number_after<'l>(line: &'l str, at: usize, separators: &[&str]) -> Option<(&'l str, Span)> {
    let rest = line.get(at..)?;
    let separator = separators.iter().find(|separator| {
        let digits = rest.strip_prefix(**separator);
        digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
    })?;
    let from = at + separator.len();
    let count = line[from..].bytes().take_while(u8::is_ascii_digit).count();
    let after = &line[from + count..];
    // `step 2b` and `step 1.5` are not step numbers.
    let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        || after
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!goes_on).then(|| (&line[from..from + count], Span::new(from, from + count)))
}
