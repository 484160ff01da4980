//! Compares outputs with the document, apart from ids, times and paths.

use std::collections::BTreeMap;

/// The time in all run ids of the document.
const MOMENT: &str = "20260320T212315Z";
/// The same time as a timestamp.
const TIME: &str = "2026-03-20T21:23:15";

/// The replacements.
#[derive(Default)]
pub(super) struct Words {
    /// Text of this machine and its replacement in the document; the longest comes first.
    pub(super) places: Vec<(String, String)>,
    /// The time in the id of each workflow's run.
    runs: BTreeMap<String, String>,
}

impl Words {
    /// Returns a command of the document as it is executed here.
    pub(super) fn typed(&self, command: &str) -> String {
        let mut text = command.to_owned();
        for (slug, moment) in &self.runs {
            text = text.replace(&format!("{slug}-{MOMENT}"), &format!("{slug}-{moment}"));
        }
        text
    }

    /// Returns an output as the document has it.
    pub(super) fn said(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (here, there) in &self.places {
            text = text.replace(here, there);
        }
        for (slug, moment) in runs_in(&text) {
            text = text.replace(&moment, MOMENT);
            self.runs.insert(slug, moment);
        }
        let text = times_in(&text).iter().fold(text, |text, time| text.replace(time, TIME));
        text.lines().map(|line| format!("{}\n", narrow(line))).collect()
    }
}

/// Narrows the columns of a table, whose width depends on the paths of this machine.
fn narrow(line: &str) -> String {
    if let (Some(id), true) = (line.strip_prefix("     "), !runs_in(line).is_empty()) {
        return format!("    {}", id.trim_start());
    }
    match line.split_once("  ") {
        Some((place, rest)) if place.starts_with('/') => format!("{place}  {}", rest.trim_start()),
        _ => line.to_owned(),
    }
}

/// Returns the workflow and the time of each run id.
fn runs_in(text: &str) -> Vec<(String, String)> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = text.split(|c| !is_of_id(c));
    let run = |word: &str| {
        let (slug, moment) = word.split("-r").next()?.rsplit_once('-')?;
        is_like(moment, MOMENT).then(|| (slug.to_owned(), moment.to_owned()))
    };
    words.filter_map(run).collect()
}

fn times_in(text: &str) -> Vec<String> {
    let starts = text.char_indices().map(|(at, _)| at);
    let time = |at: usize| text.get(at..at + TIME.len()).filter(|found| is_like(found, TIME));
    starts.filter_map(time).map(str::to_owned).collect()
}

/// Whether `text` differs from `sample` only in digits.
fn is_like(text: &str, sample: &str) -> bool {
    let same = |(a, b): (char, char)| a == b || (a.is_ascii_digit() && b.is_ascii_digit());
    text.len() == sample.len() && text.chars().zip(sample.chars()).all(same)
}

#[test]
fn ids_and_times_are_those_of_the_document() {
    let mut words = Words::default();
    words.places.push(("/tmp/x/desk".to_owned(), "/home/you".to_owned()));
    let said =
        words.said("in /tmp/x/desk: add-it-20261125T142938Z since 2026-11-25T14:29:40+00:00");
    assert_eq!(said, "in /home/you: add-it-20260320T212315Z since 2026-03-20T21:23:15+00:00\n");
    let typed = words.typed("onloop resume add-it-20260320T212315Z other-20260320T212315Z");
    assert_eq!(typed, "onloop resume add-it-20261125T142938Z other-20260320T212315Z");
    let table = "/srv/git/one      completed\n                  licence-20261125T142938Z-r1";
    let narrow = "/srv/git/one  completed\n    licence-20260320T212315Z-r1\n";
    assert_eq!(words.said(table), narrow);
}
