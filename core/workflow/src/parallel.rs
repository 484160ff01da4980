//! Warnings about steps that can run at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{self, Findings};
use super::graph::{StepGraph, is_sequence};
use super::named::{each_command, joined, run_by};
use super::part::{CheckScope, Part};
use super::{Check, Section, Step, StepPlace};

/// Looks at the steps of a file without errors, of which at most `max_parallel` run at the same time.
pub(super) fn check(
    steps: &[Step],
    places: &[StepPlace],
    max_parallel: u32,
    findings: &mut Findings,
) {
    if max_parallel < 2 {
        return;
    }
    if is_sequence(steps) {
        let place = findings.places.of(Section::Frontmatter, "max_parallel");
        let found = place.map(|place| finding::frontmatter::unused_max_parallel(place.key));
        found.into_iter().for_each(|found| findings.push(found));
        return;
    }
    let graph = StepGraph::of(steps.iter());
    if let (Some(last), Some(place)) = (steps.last(), places.last()) {
        let unneeded = unneeded_by(last, steps, &graph);
        if !unneeded.is_empty() {
            findings.push(finding::step::unneeded_steps(place.title, last.number, &unneeded));
        }
    }
    for ((one, other), files) in shared_files(steps, &graph) {
        let title = places[other as usize - 1].title;
        findings.push(finding::step::shared_files(title, one, other, &files));
    }
}

/// The steps that no step needs, if the last step needs other steps. A last step that needs none is
/// not a final check.
pub(super) fn unneeded_by(last: &Step, steps: &[Step], graph: &StepGraph) -> Vec<u32> {
    if last.depends_on().is_empty() {
        return Vec::new();
    }
    let needed: BTreeSet<u32> = steps.iter().flat_map(Step::depends_on).collect();
    let unneeded = |number: &u32| !needed.contains(number) && !graph.needs(last.number, *number);
    (1..last.number).filter(unneeded).collect()
}

/// The files that two steps name that can run at the same time, by the numbers of the two. Of several
/// steps that name a file, each is compared with the one before it.
pub(super) fn shared_files(steps: &[Step], graph: &StepGraph) -> BTreeMap<(u32, u32), Vec<String>> {
    let mut named: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for step in steps {
        for file in files_of(step) {
            named.entry(file).or_default().push(step.number);
        }
    }
    let mut shared: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for (file, numbers) in named {
        let pairs = numbers.windows(2).map(|pair| (pair[0], pair[1]));
        for pair in pairs.filter(|(one, other)| !graph.needs(*other, *one)) {
            shared.entry(pair).or_default().push(file.clone());
        }
    }
    shared
}

/// The files that a step names in `may_change` and in its checks. Scripts and configuration of checks
/// are left out: steps share them, and agents do not change them.
fn files_of(step: &Step) -> BTreeSet<String> {
    let is_name = |text: &&String| !text.contains(['*', '?', '[']);
    let mut files: BTreeSet<String> =
        step.may_change.iter().filter(is_name).filter_map(|path| joined("", path)).collect();
    for check in &step.checks {
        match check {
            Check::Artifact { path, .. } => files.extend(joined("", path)),
            Check::Shell(shell) => {
                let folder = shell.cwd.as_deref().unwrap_or_default();
                let (scripts, scope) = (run_by(check), CheckScope::of(check));
                each_command(&shell.command, folder, 1, &mut |folder, _, words| {
                    let arguments = words.iter().skip(1).filter(|word| is_file(word));
                    let paths = arguments.filter_map(|word| joined(folder, word));
                    files.extend(paths.filter(|path| {
                        let part = scope.part_of(path, false);
                        !scripts.contains(path)
                            && !matches!(part, Some(Part::Configuration | Part::Tool))
                    }));
                });
            }
            Check::Browser { .. } | Check::HumanReview { .. } => {}
        }
    }
    files
}

/// Whether a word of a command looks like the path of a file: plain, with an ending.
fn is_file(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '@' | '+');
    let name = word.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    !word.starts_with(['-', '/'])
        && word.chars().all(is_plain)
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
}
