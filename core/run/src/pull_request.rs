//! The pull request of a run's work: how it stands, and what went back to the agent because of it.

use super::finish::Disposition;
use super::record::{Run, RunStatus};
use onloop_syntax::form::is_default;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;
use serde::{Deserialize, Serialize};

words! {
    /// How a pull request stands.
    pub enum PullRequestState {
        /// Checks run, or it is not known yet how it stands.
        Pending = "pending",
        /// Its checks passed.
        Green = "green",
        /// A check failed, a reviewer asks for changes, or it conflicts with its target.
        Red = "red",
        /// It is merged.
        Merged = "merged",
        /// It was closed without being merged.
        Closed = "closed",
    }
}

impl PullRequestState {
    /// What a person reads.
    pub fn as_words(self) -> &'static str {
        match self {
            PullRequestState::Pending => "waiting for checks",
            PullRequestState::Green => "checks passed",
            PullRequestState::Red => "needs changes",
            PullRequestState::Merged => "merged",
            PullRequestState::Closed => "closed",
        }
    }

    /// Why onloop follows it no more, where nothing but the state is the reason.
    pub fn as_reason(self) -> &'static str {
        match self {
            PullRequestState::Pending => "its checks have not ended",
            PullRequestState::Green => "its checks passed",
            PullRequestState::Red => "it needs changes",
            PullRequestState::Merged => "it is merged",
            PullRequestState::Closed => "it was closed without being merged",
        }
    }

    /// `pull request checks passed`, with the reason where it says more than that.
    pub fn clause(self, reason: &str) -> String {
        let words = self.as_words();
        match reason == self.as_reason() {
            true => format!("pull request {words}"),
            false => format!("pull request {words}: {reason}"),
        }
    }
}

words! {
    /// Why work went back to the agent.
    pub enum RepairCause {
        /// A check of the pull request failed.
        Checks = "checks",
        /// The branch conflicts with its target.
        Conflict = "conflict",
        /// A reviewer asked for changes.
        Review = "review",
    }
}

/// One time that work went back to the agent because of its pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Why.
    pub cause: RepairCause,
    /// The same in a sentence, on one line.
    pub reason: String,
    /// The commit of the branch that it was about.
    pub commit: String,
    /// The reviews that were handed to the agent, by the names that the server gives them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reviews: Vec<String>,
}

/// The pull request of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedPullRequest {
    /// Its address.
    pub url: String,
    /// The remote that has its branch.
    pub remote: String,
    /// The branch that it is for, where that is known.
    pub target_branch: Option<String>,
    /// How it was seen last.
    pub state: PullRequestState,
    /// Since when it is so.
    pub since: Timestamp,
    /// How often failing checks and conflicts may go back to the agent.
    pub repair_limit: u32,
    /// What went back, oldest first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repairs: Vec<Repair>,
    /// Why onloop does not follow it any more, on one line; `None`: it does.
    pub left: Option<String>,
}

impl TrackedPullRequest {
    /// How often failing checks and conflicts went back to the agent. Reviews are not counted.
    pub fn repairs_used(&self) -> u32 {
        let counts = |repair: &&Repair| repair.cause != RepairCause::Review;
        self.repairs.iter().filter(counts).count() as u32
    }

    /// `waiting for checks`, and how often it was repaired.
    pub fn line(&self) -> String {
        let state = self.state.as_words();
        match (self.repairs_used(), self.repair_limit) {
            (0, _) => state.to_owned(),
            (used, limit) => format!("{state}, repair {used} of {limit}"),
        }
    }
}

impl Run {
    /// The address of the pull request that has the work, if there is one.
    pub fn pull_request_url(&self) -> Option<&str> {
        let tracked = self.pull_request.as_ref().map(|tracked| tracked.url.as_str());
        let recorded = || self.finish.as_ref().and_then(|finish| finish.outcome.pr_url.as_deref());
        tracked.or_else(recorded)
    }

    /// Whether a driver may still have something to do: the run is not over, or its pull request is
    /// followed.
    pub fn is_open(&self) -> bool {
        !self.is_over() || self.pull_request_is_due()
    }

    /// Whether the pull request of the completed run is to be opened, or followed further, before
    /// a person decides.
    pub fn pull_request_is_due(&self) -> bool {
        if self.status != RunStatus::Completed {
            return false;
        }
        match &self.pull_request {
            Some(tracked) => tracked.left.is_none(),
            None => {
                let finish = self.finish.as_ref().map(|finish| &finish.outcome);
                let is_open = finish.is_none_or(|outcome| match outcome.disposition {
                    Disposition::Kept => true,
                    Disposition::Published => outcome.pr_url.is_some(),
                    Disposition::Merged | Disposition::Discarded => false,
                });
                self.settings.options.pr_repairs.is_some() && is_open
            }
        }
    }
}
