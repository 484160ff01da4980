//! Files that no agent may change.

use std::collections::BTreeSet;

use super::record::Run;
use crate::workflow::{Risk, named};

/// Files that no agent may change, by their paths relative to the execution root.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    patterns: Vec<glob::Pattern>,
    /// Files that checks run; a step may begin one of them.
    run_by_checks: BTreeSet<String>,
}

/// Why a file may not be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectedAs {
    /// The workflow file says so. It may not be begun either.
    Written,
    /// A check runs it, and the risk is high.
    RunByCheck,
}

impl Protection {
    /// Whether nothing is protected.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.run_by_checks.is_empty()
    }

    /// Whether the workflow file itself asks for it.
    pub fn is_written(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Why the file may not be changed; `None`: it may be. A pattern that names a folder is about
    /// everything in it.
    pub fn of(&self, path: &str) -> Option<ProtectedAs> {
        const OPTIONS: glob::MatchOptions = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            if self.patterns.iter().any(|pattern| pattern.matches_with(&path[..end], OPTIONS)) {
                return Some(ProtectedAs::Written);
            }
        }
        self.run_by_checks.contains(path).then_some(ProtectedAs::RunByCheck)
    }

    /// What is protected, in the words of the file, or the files that checks run.
    pub fn words(&self) -> Vec<&str> {
        let patterns = self.patterns.iter().map(glob::Pattern::as_str);
        patterns.chain(self.run_by_checks.iter().map(String::as_str)).collect()
    }
}

impl Run {
    /// Which files no agent of this run may change.
    pub fn protection(&self) -> Protection {
        let written = &self.terms.protect;
        if !written.is_empty() {
            let pattern = |text: &String| {
                let text = text.trim_start_matches("./").trim_end_matches('/');
                // What is no pattern is at least a name.
                glob::Pattern::new(text).unwrap_or_else(|_| {
                    glob::Pattern::new(&glob::Pattern::escape(text))
                        .expect("an escaped text is a pattern")
                })
            };
            let patterns = written.iter().map(pattern).collect();
            return Protection { patterns, ..Protection::default() };
        }
        if self.terms.risk != Risk::High {
            return Protection::default();
        }
        let checks = self.steps.iter().flat_map(|record| &record.step.checks);
        Protection { run_by_checks: checks.flat_map(named::run_by).collect(), patterns: Vec::new() }
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
            let pattern = glob::Pattern::new(pattern)
                .unwrap_or_else(|_| glob::Pattern::new(&glob::Pattern::escape(pattern)).unwrap());
            let protection = Protection { patterns: vec![pattern], ..Protection::default() };
            for path in covered {
                assert_eq!(protection.of(path), Some(ProtectedAs::Written), "{path}");
            }
            for path in free {
                assert_eq!(protection.of(path), None, "{path}");
            }
        }
    }
}
