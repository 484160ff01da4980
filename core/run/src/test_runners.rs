//! What known test runners say in their output: how many tests ran, and whether they were misused.
//!
//! The words come from a command of the repository, so they can only fail a check, never pass one.

mod table;
mod tally;

use onloop_syntax::text;
use onloop_workflow::runner::test_runners;
use serde_json::Value;
use table::{PHRASES, Phrase};
use tally::Tally;

/// More tests than any project has: a larger count is not believed.
const MOST: u64 = 10_000_000;

/// What the runners in one output say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerReport {
    /// How many tests ran, skipped ones excluded; `None`: no known runner says it.
    pub ran: Option<u64>,
    /// How many of them passed; `None`: no known runner says it.
    pub passed: Option<u64>,
    /// How many of them failed, or suites if no test has a line of its own.
    pub failed: u64,
    /// How many of `ran` and how many of `passed` a runner counts itself. Others are lines of single
    /// tests, suites or packages.
    pub counted: Option<(u64, u64)>,
    /// The line with which a program says that it was called with a wrong option, or that a target,
    /// file or module of the command line does not exist.
    pub misuse: Option<String>,
    /// Whether `node --test` counts whole files as its only tests. A file counts as one if it ends with
    /// 0, whether or not there is a test in it.
    pub only_files: bool,
}

impl RunnerReport {
    /// Whether a runner says that it ran no test.
    pub fn ran_none(&self) -> bool {
        self.ran == Some(0)
    }
}

/// What the runners that `command` started say in `outputs`.
pub fn runner_report(command: &str, outputs: &[&str]) -> RunnerReport {
    let mut tally = Tally::default();
    for output in outputs {
        for line in text::printable(output).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let line = words.join(" ");
            let line = line.trim_matches('=').trim();
            if let Some((phrase, found)) = PHRASES.iter().find_map(|p| Some((p, p.read(line)?))) {
                tally.add(phrase.says, &found, command, line);
            }
        }
    }
    let mut report = tally.report();
    let runners = test_runners(command);
    if !runners.is_empty() && runners.iter().all(|runner| runner.lists.is_some()) {
        (report.ran, report.passed, report.counted) = (Some(0), None, None);
    }
    report
}

/// How many tests passed, by what a runner says in these outputs; `None`: no known runner says it.
pub(crate) fn passed_tests(outputs: &[&str]) -> Option<u64> {
    runner_report("", outputs).passed.filter(|count| (1..=MOST).contains(count))
}

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
            || word.starts_with(&format!("{found}::"))
    })
}

/// The words of a command line that may be modules with a dotted name; values of options are none.
fn modules(command: &str) -> impl Iterator<Item = &str> {
    let words = command.split(|c: char| c.is_whitespace() || "'\"`;|&()<>".contains(c));
    words.filter(|word| !word.is_empty() && !word.contains(['=', '/']))
}

/// What a place for a name stands for.
#[derive(Clone, Copy, Debug)]
enum Name<'l> {
    /// A target, an option or a file.
    Thing(&'l str),
    /// A module of Python: also the package of one that the command line names.
    Module(&'l str),
    /// A part of the name of a module of Python.
    Attribute(&'l str),
}

impl Name<'_> {
    /// Whether the command line has it.
    fn is_in(self, command: &str) -> bool {
        match self {
            Name::Thing(name) => names(command, name),
            Name::Module(name) => {
                let below = format!("{name}.");
                modules(command).any(|word| word == name || word.starts_with(&below))
            }
            Name::Attribute(name) => {
                modules(command).any(|word| word.split('.').skip(1).any(|part| part == name))
            }
        }
    }
}

/// What the places of a phrase stand for in one line.
#[derive(Clone, Copy, Debug, Default)]
struct Found<'l> {
    ran: u64,
    passed: Option<u64>,
    /// How many of `ran` failed.
    failed: u64,
    skipped: u64,
    /// Tests that a line with a letter for each has run.
    dots: u64,
    name: Option<Name<'l>>,
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
        // A number ends where its digits do.
        ("", _) => (0..=line.len()).rev().filter(|at| line.is_char_boundary(*at)).collect(),
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
            "skipped" => {
                number().map(|count| self.skipped = self.skipped.saturating_add(count)).is_some()
            }
            "failed" => number().map(|count| self.fail(count)).is_some(),
            "failures" => {
                number().map(|count| self.failed = self.failed.saturating_add(count)).is_some()
            }
            "word" => is_word(text),
            "file" => is_word(text) && is_script(text),
            "secs" => text.parse::<f64>().is_ok(),
            "name" => {
                self.name = Some(Name::Thing(text));
                is_word(text)
            }
            "module" => {
                self.name = Some(Name::Module(text));
                is_word(text)
            }
            "attribute" => {
                self.name = Some(Name::Attribute(text));
                is_word(text)
            }
            "dots" => {
                self.dots = text.chars().filter(|c| !"sx".contains(*c)).count() as u64;
                !text.is_empty() && text.chars().all(|c| ".sFExuX".contains(c))
            }
            "results" => self.results(text).is_some(),
            "list" => self.list(text, 0),
            // A list whose writer leaves out what there is none of.
            "parts" => self.list(text, 1),
            _ => unreachable!("no phrase has the place {place}"),
        }
    }

    /// Counts tests that ran and failed.
    fn fail(&mut self, count: u64) {
        self.ran = self.ran.saturating_add(count);
        self.failed = self.failed.saturating_add(count);
    }

    /// Takes the JSON that Jest and Vitest write: the state of each test, since some versions count
    /// skipped tests as passed.
    fn results(&mut self, json: &str) -> Option<()> {
        let read: Value = serde_json::from_str(json).ok()?;
        let files = read["testResults"].as_array()?.iter();
        let tests = files.filter_map(|file| file["assertionResults"].as_array()).flatten();
        let states: Vec<&Value> = tests.map(|test| &test["status"]).collect();
        let count = |state: &str| states.iter().filter(|found| **found == state).count() as u64;
        self.fail(count("failed"));
        self.passed = Some(count("passed"));
        Some(())
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
                "failed" | "error" | "errors" | "timed" => self.fail(count),
                "xpassed" => self.ran = self.ran.saturating_add(count),
                // A test that is expected to fail shows nothing.
                "xfailed" | "skipped" | "ignored" | "deselected" | "todo" | "total"
                | "measured" | "filtered" | "pending" | "warning" | "warnings" | "rerun"
                | "subtests" => {}
                _ => return false,
            }
        }
        true
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(' ')
}

/// Whether a name is that of a file that Node runs.
fn is_script(name: &str) -> bool {
    const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_have_known_places() {
        for phrase in PHRASES {
            let places = phrase.line.split('{').skip(1);
            for place in places.map(|rest| rest.split_once('}').expect(phrase.line).0) {
                let known = "* n ran passed skipped failed failures word file secs name module attribute dots \
                             results list parts";
                let known = known.split(' ').any(|known| known == place);
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
            ("node calc.test.js", "Error: Cannot find module './calc'", false),
            ("node calc.js", "Error: Cannot find module '/p/calc.js'", true),
            ("python3 run.py --source=calc", "ModuleNotFoundError: No module named 'calc'", false),
            ("python3 -m tests.a", "python3: No module named tests.a", true),
            (
                "python3 -m unittest test_a.TestA.test_b",
                "AttributeError: type object 'TestA' has no attribute 'test_b'",
                true,
            ),
            (
                "python3 -m unittest test_a.TestA.test_b",
                "AttributeError: module 'calc' has no attribute 'add'",
                false,
            ),
            ("python3 calc.py --new", "calc.py: error: unrecognized arguments: --new", false),
            ("! no-such-tool --all", "bash: line 1: no-such-tool: command not found", true),
            ("grep -q TODO src/a.rs", "grep: src/a.rs: No such file or directory", true),
            (
                "env -C nope make",
                "env: cannot change directory to 'nope': No such file or directory",
                true,
            ),
            ("node -e 'require(1'", "    at makeContextifyScript (node:internal/vm:185:14)", true),
            ("node -e 'f()'", "    at runScriptInThisContext (node:internal/vm:209:10)", false),
            ("sh ci/test.sh", "cat: out/result.txt: No such file or directory", false),
        ];
        for (command, line, expected) in table {
            let report = runner_report(command, &[line]);
            assert_eq!(report.misuse.is_some(), expected, "{command}: {line}");
        }
    }
}
