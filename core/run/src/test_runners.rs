//! What known test runners say in their output: how many tests ran, and whether they were misused.
//!
//! The words come from a command of the repository, so they can only fail a check, never pass one.

mod table;

use onloop_syntax::text;
use table::{PHRASES, Phrase, Says};

/// More tests than any project has: a larger count is not believed.
const MOST: u64 = 10_000_000;

/// What the runners in one output say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerReport {
    /// How many tests ran, skipped ones excluded; `None`: no known runner says it.
    pub ran: Option<u64>,
    /// How many of them passed; `None`: no known runner says it.
    pub passed: Option<u64>,
    /// How many of `ran` and how many of `passed` a runner counts itself. Others are lines of single
    /// tests, suites or packages.
    pub counted: Option<(u64, u64)>,
    /// The line with which a program says that it was called with a wrong option, or that a target,
    /// file or module of the command line does not exist.
    pub misuse: Option<String>,
}

impl RunnerReport {
    /// Whether a runner says that it ran no test.
    pub fn ran_none(&self) -> bool {
        self.ran == Some(0)
    }
}

/// What the runners that `command` started say in `outputs`.
pub fn runner_report(command: &str, outputs: &[&str]) -> RunnerReport {
    let mut report = RunnerReport::default();
    let mut skipped = 0u64;
    for output in outputs {
        for line in text::printable(output).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let line = words.join(" ");
            let line = line.trim_matches('=').trim();
            if let Some((phrase, found)) = PHRASES.iter().find_map(|p| Some((p, p.read(line)?))) {
                report.add(phrase, &found, command, line);
                skipped = skipped.saturating_add(found.skipped);
            }
        }
    }
    report.ran = report.ran.map(|ran| ran.saturating_sub(skipped));
    report
}

/// How many tests passed, by what a runner says in these outputs; `None`: no known runner says it.
pub(crate) fn passed_tests(outputs: &[&str]) -> Option<u64> {
    runner_report("", outputs).passed.filter(|count| (1..=MOST).contains(count))
}

impl RunnerReport {
    fn add(&mut self, phrase: &Phrase, found: &Found<'_>, command: &str, line: &str) {
        let plus = |sum: &mut Option<u64>, count| {
            *sum = Some(sum.unwrap_or(0).saturating_add(count));
        };
        match phrase.says {
            Says::Counts => {
                plus(&mut self.ran, found.ran);
                let (ran, passed) = self.counted.unwrap_or_default();
                let newly = found.passed.unwrap_or(0);
                let ran = ran.saturating_add(found.ran).saturating_add(newly);
                self.counted =
                    Some((ran.saturating_sub(found.skipped), passed.saturating_add(newly)));
                if let Some(passed) = found.passed {
                    plus(&mut self.ran, passed);
                    plus(&mut self.passed, passed);
                }
            }
            Says::OneRan => plus(&mut self.ran, 1),
            Says::OnePassed => {
                plus(&mut self.ran, 1);
                plus(&mut self.passed, 1);
            }
            Says::NoTests => plus(&mut self.ran, 0),
            Says::Misused if found.name.is_none_or(|name| names(command, name)) => {
                self.misuse.get_or_insert_with(|| text::ellipsis(line, LINE_BYTES));
            }
            Says::Misused => {}
        }
    }
}

/// Bytes that are kept of a line.
const LINE_BYTES: usize = 200;

/// Whether a word of a command line names `found`, which a message says in full or without its
/// folder.
fn names(command: &str, found: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "'\"`;|&()=<>".contains(c);
    let bare = |word: &str| {
        word.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/').to_owned()
    };
    let found = bare(found);
    command.split(is_end).map(bare).filter(|word| !word.is_empty()).any(|word| {
        found == word
            || found.ends_with(&format!("/{word}"))
            || word.starts_with(&format!("{found}."))
            || word.starts_with(&format!("{found}::"))
    })
}

/// What the places of a phrase stand for in one line.
#[derive(Clone, Copy, Debug, Default)]
struct Found<'l> {
    ran: u64,
    passed: Option<u64>,
    skipped: u64,
    name: Option<&'l str>,
}

impl Phrase {
    /// What the line says, if it is this phrase.
    fn read<'l>(&self, line: &'l str) -> Option<Found<'l>> {
        let mut found = Found::default();
        matches(self.line, line, &mut found).then_some(found)
    }
}

/// Whether `line` is written as `pattern`, in which `{…}` is a place.
fn matches<'l>(pattern: &str, line: &'l str, found: &mut Found<'l>) -> bool {
    let Some((literal, rest)) = pattern.split_once('{') else { return pattern == line };
    let Some(line) = line.strip_prefix(literal) else { return false };
    let (place, rest) = rest.split_once('}').expect("a place ends");
    let next = rest.split('{').next().unwrap_or_default();
    // The last place takes the rest of the line.
    let ends: Vec<usize> = match (next, rest) {
        ("", "") => vec![line.len()],
        ("", _) => (0..=line.len()).filter(|at| line.is_char_boundary(*at)).collect(),
        (next, _) => line.match_indices(next).map(|(at, _)| at).collect(),
    };
    ends.into_iter().any(|end| {
        let mut attempt = *found;
        let fits = attempt.take(place, &line[..end]) && matches(rest, &line[end..], &mut attempt);
        if fits {
            *found = attempt;
        }
        fits
    })
}

impl<'l> Found<'l> {
    /// Takes what stands in a place; false: that cannot stand there.
    fn take(&mut self, place: &str, text: &'l str) -> bool {
        let number = || text.parse::<u64>().ok();
        match place {
            "*" => true,
            "n" => number().is_some(),
            "ran" => number().map(|count| self.ran = count).is_some(),
            "passed" => number().map(|count| self.passed = Some(count)).is_some(),
            "skipped" => number().map(|count| self.skipped = count).is_some(),
            "name" => {
                self.name = Some(text);
                !text.is_empty() && !text.contains(' ')
            }
            "list" => self.list(text, 0),
            // A list whose writer leaves out what there is none of.
            "parts" => self.list(text, 1),
            _ => unreachable!("no phrase has the place {place}"),
        }
    }

    /// Takes `2 failed, 3 passed`: counts of at least `least`, each with a word about tests.
    fn list(&mut self, text: &str, least: u64) -> bool {
        for part in text.split([',', ';', '|']) {
            let Some((count, word)) = part.trim().split_once(' ') else { return false };
            let Ok(count) = count.parse::<u64>() else { return false };
            if count < least {
                return false;
            }
            match word.split(' ').next().unwrap_or_default() {
                "passed" => self.passed = Some(self.passed.unwrap_or(0).saturating_add(count)),
                "failed" | "error" | "errors" | "xfailed" | "xpassed" | "timed" => {
                    self.ran = self.ran.saturating_add(count);
                }
                "skipped" | "ignored" | "deselected" | "todo" | "total" | "measured"
                | "filtered" | "pending" | "warning" | "warnings" | "rerun" | "subtests" => {}
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_have_known_places() {
        for phrase in PHRASES {
            let places = phrase.line.split('{').skip(1);
            for place in places.map(|rest| rest.split_once('}').expect(phrase.line).0) {
                let known = ["*", "n", "ran", "passed", "skipped", "name", "list", "parts"]
                    .contains(&place);
                assert!(known, "{}", phrase.line);
            }
        }
    }

    #[test]
    fn other_output_is_no_report() {
        for output in [
            "",
            "he passed in 3 seconds\nTestsuite 3 passed\nall 5 passed in the end\n",
            "0 errors in 2.3s\nFound 0 errors\n12 files in 3s\n",
            "✔ lint clean\n",
        ] {
            assert_eq!(runner_report("make lint", &[output]), RunnerReport::default(), "{output}");
        }
    }

    #[test]
    fn a_missing_thing_counts_only_where_the_command_line_names_it() {
        let table = [
            ("make test", "make: *** No rule to make target 'test'. Stop.", true),
            (
                "make all",
                "make: *** No rule to make target 'core.c', needed by 'all'. Stop.",
                false,
            ),
            ("make", "make[1]: *** No rule to make target 'sub'. Stop.", false),
            (
                "python3 check.py",
                "python3: can't open file '/p/check.py': [Errno 2] No such file or directory",
                true,
            ),
            (
                "python3 -m unittest tests.test_a",
                "ModuleNotFoundError: No module named 'tests.test_a'",
                true,
            ),
            (
                "python3 -m unittest tests.test_a",
                "ModuleNotFoundError: No module named 'calc'",
                false,
            ),
            ("node test.js", "Error: Cannot find module './calc'", false),
            ("! no-such-tool --all", "bash: line 1: no-such-tool: command not found", true),
            ("grep -q TODO src/a.rs", "grep: src/a.rs: No such file or directory", true),
            ("sh ci/test.sh", "cat: out/result.txt: No such file or directory", false),
        ];
        for (command, line, expected) in table {
            let report = runner_report(command, &[line]);
            assert_eq!(report.misuse.is_some(), expected, "{command}: {line}");
        }
    }
}
