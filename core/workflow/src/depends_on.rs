//! `depends_on`: the earlier steps that a step needs.

use std::collections::{BTreeMap, BTreeSet};

use onloop_syntax::diagnostic::{Edit, Span};

use super::finding::{self, Findings};
use super::value;

/// The list of one step as written.
pub(super) struct DependsOn {
    /// The position of the step from 1.
    step: u32,
    /// The numbers and their positions, in the order of the file.
    items: Vec<(Span, u32)>,
}

impl DependsOn {
    /// Reads the value at `span` of the step with the position `step`; `None` if it is not a list.
    /// An item that is not a number is left out with a finding.
    pub(super) fn read(
        step: u32,
        key: Span,
        span: Span,
        source: &str,
        findings: &mut Findings,
    ) -> Option<DependsOn> {
        let text = &source[span.start..span.end];
        let Some(items) = value::list(text) else {
            findings.push(not_a_list(key, span, text));
            return None;
        };
        let place = |item: &str| {
            let start = item.as_ptr() as usize - source.as_ptr() as usize;
            Span::new(start, start + item.len())
        };
        let mut read = Vec::new();
        for item in items {
            let is_number = item.bytes().all(|byte| byte.is_ascii_digit());
            match item.parse::<u32>().ok().filter(|_| is_number) {
                Some(number) => read.push((place(item), number)),
                None => findings.push(finding::step::invalid_depends_on(place(item), item)),
            }
        }
        Some(DependsOn { step, items: read })
    }

    /// The numbers, sorted.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.items.iter().map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        numbers
    }
}

fn not_a_list(key: Span, span: Span, text: &str) -> onloop_syntax::diagnostic::Diagnostic {
    let bare = value::without_comment(text.lines().next().unwrap_or_default().trim_end());
    if bare.is_empty() {
        return finding::step::invalid_depends_on(key, bare);
    }
    let place = Span::new(span.start, span.start + bare.len());
    let found = finding::step::invalid_depends_on(place, bare);
    let is_list = |byte: u8| byte.is_ascii_digit() || matches!(byte, b',' | b' ');
    let list = match bare {
        "none" => "[]".to_owned(),
        numbers if numbers.bytes().all(is_list) => format!("[{numbers}]"),
        _ => return found,
    };
    found.with_fix(format!("write `{list}`"), vec![Edit::replace(place, list)])
}

/// Reports what the lists name that is not an earlier step. `numbers` are those of the headers, in
/// the order of the file.
pub(super) fn check(lists: &[DependsOn], numbers: &[Option<u32>], findings: &mut Findings) {
    let mut positions = BTreeMap::new();
    for (position, number) in (1u32..).zip(numbers) {
        number.map(|number| positions.entry(number).or_insert(position));
    }
    for list in lists {
        let mut seen = BTreeSet::new();
        for (span, number) in &list.items {
            let message = match positions.get(number) {
                None => format!("there is no step {number}"),
                Some(position) if *position == list.step => "the step depends on itself".to_owned(),
                Some(position) if *position > list.step => {
                    format!("step {number} comes after this one")
                }
                Some(_) if !seen.insert(number) => format!("step {number} is listed twice"),
                Some(_) => continue,
            };
            findings.push(finding::step::unusable_dependency(*span, message));
        }
    }
}

/// The edits that make the lists name the positions of the steps whose `numbers` they name. A number
/// of two steps stays as it is.
pub(super) fn renumbered(lists: &[DependsOn], numbers: &[Option<u32>]) -> Vec<Edit> {
    let mut positions: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    for (position, number) in (1u32..).zip(numbers) {
        let Some(number) = number else { continue };
        positions.entry(*number).and_modify(|at| *at = None).or_insert(Some(position));
    }
    let items = lists.iter().flat_map(|list| &list.items);
    let edits = items.filter_map(|(span, number)| {
        let position = (*positions.get(number)?)?;
        (position != *number).then(|| Edit::replace(*span, position.to_string()))
    });
    edits.collect()
}
