//! What servers tell, in one form for all of them.

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
