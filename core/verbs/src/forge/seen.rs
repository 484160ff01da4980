//! What servers tell, in one form for all of them.

use std::collections::BTreeSet;

/// An issue as its server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssueText {
    pub(crate) number: u64,
    pub(crate) title: String,
    /// Its address.
    pub(crate) url: String,
    /// Its text, in Markdown.
    pub(crate) body: String,
    /// Who wrote each comment, and its text.
    pub(crate) comments: Vec<(String, String)>,
}

/// Whether a pull request can still be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Openness {
    Open,
    Merged,
    Closed,
}

/// A pull request as its server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) openness: Openness,
    /// The last commit of its branch.
    pub(crate) commit: String,
    /// Whether it conflicts with its target. `None`: the server has not found out yet.
    pub(crate) conflicts: Option<bool>,
    /// Whether the server refuses the merge for another reason than a conflict or a review: a check that it
    /// needs may not be listed yet.
    pub(crate) is_blocked: bool,
    pub(crate) checks: Vec<ServerCheck>,
}

/// A check that runs on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerCheck {
    pub(crate) name: String,
    pub(crate) result: ServerResult,
    /// Where people read about it; empty: nowhere.
    pub(crate) url: String,
    /// The number of its job, where the server keeps a log of it.
    pub(crate) job: Option<u64>,
    /// Whether the server says that a merge does not need it.
    pub(crate) is_optional: bool,
}

impl Sighting {
    /// The checks with this result that a merge needs.
    pub(crate) fn required(&self, result: ServerResult) -> impl Iterator<Item = &ServerCheck> {
        self.checks.iter().filter(move |check| check.result == result && !check.is_optional)
    }

    /// The checks with this result that a merge does not need.
    pub(crate) fn optional(&self, result: ServerResult) -> impl Iterator<Item = &ServerCheck> {
        self.checks.iter().filter(move |check| check.result == result && check.is_optional)
    }

    /// Whether it matters which of its checks are required.
    pub(super) fn has_unpassed(&self) -> bool {
        self.checks.iter().any(|check| check.result != ServerResult::Passed)
    }

    /// Marks every check as optional whose name is not among `required`. A name stands for all checks
    /// that have it, as in the rules of a branch.
    pub(super) fn with_required(mut self, required: &BTreeSet<String>) -> Sighting {
        for check in &mut self.checks {
            check.is_optional = !required.contains(&check.name);
        }
        self
    }
}

/// How a check on the server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerResult {
    Pending,
    Passed,
    Failed,
}

/// A request for changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerReview {
    /// Its name on the server.
    pub(crate) id: String,
    /// Who wrote it, as people write it.
    pub(crate) login: String,
    /// The same as the server is asked about it.
    pub(crate) account: String,
    /// What it says, with the place of each remark.
    pub(crate) text: String,
}
