//! Files that no agent may change.

use std::collections::BTreeSet;

use super::record::Run;
use onloop_workflow::implied::{Implied, implied_by};
use onloop_workflow::{Risk, named};

/// Files that no agent may change, by their paths relative to the execution root.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    patterns: Vec<glob::Pattern>,
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
        self.patterns.is_empty() && self.run_by_checks.is_empty() && self.implied.is_empty()
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
        let patterns = self.patterns.iter().map(glob::Pattern::as_str);
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

impl Run {
    /// Which files no agent of this run may change.
    pub fn protection(&self) -> Protection {
        let written = &self.settings.protect;
        if !written.is_empty() {
            let pattern = |text: &String| {
                let text = text.trim_start_matches("./").trim_end_matches('/');
                // An invalid pattern still counts as a name.
                glob::Pattern::new(text).unwrap_or_else(|_| {
                    glob::Pattern::new(&glob::Pattern::escape(text))
                        .expect("an escaped text is a pattern")
                })
            };
            let patterns = written.iter().map(pattern).collect();
            return Protection { patterns, ..Protection::default() };
        }
        if self.settings.risk != Risk::High {
            return Protection::default();
        }
        let checks = || self.steps.iter().flat_map(|record| &record.step.checks);
        Protection {
            run_by_checks: checks().flat_map(named::run_by).collect(),
            implied: checks().flat_map(implied_by).collect(),
            patterns: Vec::new(),
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
