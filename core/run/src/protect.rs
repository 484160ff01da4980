//! Files that no agent may change.

use std::collections::BTreeSet;

use super::record::{Run, StepRecord};
use onloop_workflow::implied::{Implied, implied_by};
use onloop_workflow::{Risk, Step, named};

/// Files that no agent may change, by their paths relative to the execution root.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    patterns: FilePatterns,
    /// Files that checks run; a step may begin one of them.
    run_by_checks: BTreeSet<String>,
    /// What programs of checks take their rules from; likewise.
    implied: Vec<Implied>,
}

/// Why a file may not be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectedAs {
    /// The workflow file says so. It may not be begun either.
    Written,
    /// A check runs it or takes its rules from it, and the risk is high.
    RunByCheck,
}

impl Protection {
    /// Whether nothing is protected.
    pub fn is_empty(&self) -> bool {
        self.patterns.0.is_empty() && self.run_by_checks.is_empty() && self.implied.is_empty()
    }

    /// Whether the workflow file itself asks for it.
    pub fn is_written(&self) -> bool {
        !self.patterns.0.is_empty()
    }

    /// Why the file may not be changed; `None`: it may be.
    pub fn of(&self, path: &str) -> Option<ProtectedAs> {
        if self.patterns.name(path) {
            return Some(ProtectedAs::Written);
        }
        let implied = || self.implied.iter().any(|implied| implied.paths.contains(path));
        (self.run_by_checks.contains(path) || implied()).then_some(ProtectedAs::RunByCheck)
    }

    /// What programs of checks take their rules from, where that is protected.
    pub fn implied(&self) -> &[Implied] {
        &self.implied
    }

    /// What is protected, in the words of the file, or the files that checks run and the usual
    /// ones from which they take their rules.
    pub fn words(&self) -> Vec<&str> {
        let patterns = self.patterns.0.iter().map(glob::Pattern::as_str);
        let named = patterns.chain(self.run_by_checks.iter().map(String::as_str));
        let mut words: Vec<&str> = named.collect();
        for implied in &self.implied {
            if !words.contains(&implied.usual) {
                words.push(implied.usual);
            }
        }
        words
    }
}

/// Patterns of files.
#[derive(Clone, Debug, Default)]
struct FilePatterns(Vec<glob::Pattern>);

impl FilePatterns {
    /// What these texts name. An invalid pattern still counts as a name.
    fn of(texts: &[String]) -> FilePatterns {
        let pattern = |text: &String| {
            let text = text.trim_start_matches("./").trim_end_matches('/');
            glob::Pattern::new(text).unwrap_or_else(|_| {
                glob::Pattern::new(&glob::Pattern::escape(text))
                    .expect("an escaped text is a pattern")
            })
        };
        FilePatterns(texts.iter().map(pattern).collect())
    }

    /// Whether they name a file. A pattern that names a folder is about everything in it.
    fn name(&self, path: &str) -> bool {
        const OPTIONS: glob::MatchOptions = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.any(|end| self.0.iter().any(|pattern| pattern.matches_with(&path[..end], OPTIONS)))
    }
}

/// Whether the step is meant to change a file that checks depend on.
pub fn may_change(step: &Step, path: &str) -> bool {
    FilePatterns::of(&step.may_change).name(path)
}

impl StepRecord {
    /// Whether the step is [meant to change](may_change) a file that checks depend on.
    pub fn may_change(&self, path: &str) -> bool {
        may_change(&self.step, path)
    }
}

impl Run {
    /// Which files no agent of this run may change.
    pub fn protection(&self) -> Protection {
        let written = &self.settings.protect;
        if !written.is_empty() {
            let patterns = FilePatterns::of(written);
            return Protection { patterns, ..Protection::default() };
        }
        if self.settings.risk != Risk::High {
            return Protection::default();
        }
        let checks = || self.steps.iter().flat_map(|record| &record.step.checks);
        Protection {
            run_by_checks: checks().flat_map(named::run_by).collect(),
            implied: checks().flat_map(implied_by).collect(),
            patterns: FilePatterns::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_about_files_and_about_everything_in_a_folder() {
        let table: [(&str, &[&str], &[&str]); 6] = [
            ("ci", &["ci", "ci/check.sh", "ci/a/b"], &["cicd", "a/ci"]),
            ("ci/*.sh", &["ci/check.sh"], &["ci/check.py", "ci/a/check.sh"]),
            ("**/check.sh", &["check.sh", "a/b/check.sh"], &["check.shx"]),
            ("tests/**", &["tests/a", "tests/a/b"], &["test"]),
            (".github", &[".github/workflows/x.yml"], &["github"]),
            ("[", &["["], &["a"]),
        ];
        for (pattern, covered, free) in table {
            let patterns = FilePatterns::of(&[pattern.to_owned()]);
            for path in covered {
                assert!(patterns.name(path), "{path}");
            }
            for path in free {
                assert!(!patterns.name(path), "{path}");
            }
        }
    }
}
