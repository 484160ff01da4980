//! What becomes of the work once a run has ended.

use serde::{Deserialize, Serialize};

use onloop_syntax::text;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;

words! {
    /// What becomes of the work.
    pub enum Disposition {
        /// It stays where it is.
        Kept = "kept",
        /// Its branch is merged into another.
        Merged = "merged",
        /// Its branch is pushed to a remote.
        Published = "published",
        /// It is thrown away.
        Discarded = "discarded",
    }
}

impl Disposition {
    /// The word on the command line.
    pub fn imperative(self) -> &'static str {
        match self {
            Disposition::Kept => "keep",
            Disposition::Merged => "merge",
            Disposition::Published => "publish",
            Disposition::Discarded => "discard",
        }
    }
}

/// Something that is done with the work and that a crash can interrupt. Each names the commit
/// that the run's branch was at, so that what happened can be found out afterwards. Keeping
/// the work is no act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "disposition")]
pub enum FinishAct {
    /// The run's branch is merged; then its worktree and the branch itself are removed.
    #[serde(rename = "merged")]
    Merge {
        /// The commit that is merged.
        commit: String,
        /// The branch that takes it in.
        #[serde(rename = "target_branch")]
        target: String,
        /// Address of the pull request that merged it on its server; `None`: it is merged here.
        #[serde(rename = "pr_url", default, skip_serializing_if = "Option::is_none")]
        pull_request: Option<String>,
    },
    /// The run's branch is pushed.
    #[serde(rename = "published")]
    Publish {
        /// The commit that is pushed.
        commit: String,
        /// The remote.
        remote: String,
        /// The pull request that belongs to it.
        #[serde(flatten)]
        pull_request: PullRequest,
    },
    /// Worktree and branch of the run are removed.
    #[serde(rename = "discarded")]
    Discard {
        /// The commit that is lost; `None`: the branch had gone before.
        commit: Option<String>,
    },
}

/// A pull request for a published branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "pull_request", rename_all = "snake_case")]
pub enum PullRequest {
    /// None is asked for.
    NotAsked {
        /// The target branch of the work, if a person named one.
        #[serde(rename = "target_branch")]
        target: Option<String>,
    },
    /// One is opened.
    Create {
        /// The branch it is for.
        #[serde(rename = "target_branch")]
        target: String,
    },
    /// Another person opened one.
    Existing {
        /// Its address.
        #[serde(rename = "pr_url")]
        url: String,
        /// Its target branch, if a person named one.
        #[serde(rename = "target_branch")]
        target: Option<String>,
    },
}

impl PullRequest {
    /// The branch that the work is meant for.
    pub fn target(&self) -> Option<&str> {
        match self {
            PullRequest::NotAsked { target } | PullRequest::Existing { target, .. } => {
                target.as_deref()
            }
            PullRequest::Create { target } => Some(target),
        }
    }
}

impl FinishAct {
    /// What becomes of the work by this.
    pub fn disposition(&self) -> Disposition {
        match self {
            FinishAct::Merge { .. } => Disposition::Merged,
            FinishAct::Publish { .. } => Disposition::Published,
            FinishAct::Discard { .. } => Disposition::Discarded,
        }
    }

    /// The commit that the run's branch was at.
    pub fn commit(&self) -> Option<&str> {
        match self {
            FinishAct::Merge { commit, .. } | FinishAct::Publish { commit, .. } => Some(commit),
            FinishAct::Discard { commit } => commit.as_deref(),
        }
    }

    /// The command line of `onloop finish` that brings this to an end for run `id`.
    pub fn command(&self, id: &str) -> String {
        if let FinishAct::Merge { pull_request: Some(_), .. } = self {
            return format!("onloop finish {id} pr --watch");
        }
        let verb = self.disposition().imperative();
        let mut command = format!("onloop finish {id} {verb}");
        let mut flag = |name: &str, value: &str| {
            command += &format!(" --{name} {}", text::shell_word(value));
        };
        match self {
            FinishAct::Merge { target, .. } => flag("target-branch", target),
            FinishAct::Publish { remote, pull_request, .. } => {
                flag("remote", remote);
                if let Some(target) = pull_request.target() {
                    flag("target-branch", target);
                }
                match pull_request {
                    PullRequest::NotAsked { .. } => {}
                    PullRequest::Create { .. } => command += " --create-pr",
                    PullRequest::Existing { url, .. } => flag("pr-url", url),
                }
            }
            FinishAct::Discard { .. } => flag("confirm", verb),
        }
        command
    }
}

/// What is being done with the work, or was when a crash interrupted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishIntent {
    /// What.
    #[serde(flatten)]
    pub act: FinishAct,
    /// Since when.
    pub since: Timestamp,
    /// A person's comment on it.
    pub notes: Option<String>,
}

/// What became of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishOutcome {
    /// In one word.
    pub disposition: Disposition,
    /// The branch it was merged into or meant for.
    pub target_branch: Option<String>,
    /// The remote it was pushed to.
    pub remote: Option<String>,
    /// Address of its pull request.
    pub pr_url: Option<String>,
    /// What was done with its branch: `kept`, `pushed` or `deleted`.
    pub branch_action: Option<String>,
    /// What was done with its worktree: `kept` or `removed`; `None`: it had none of its own.
    pub worktree_action: Option<String>,
    /// The folder that holds record and report since its worktree is gone.
    pub artifacts_preserved_at: Option<String>,
    /// A person's comment on it.
    pub notes: Option<String>,
}

impl FinishOutcome {
    /// An outcome of which nothing but the word is known.
    pub fn new(disposition: Disposition) -> FinishOutcome {
        FinishOutcome {
            disposition,
            target_branch: None,
            remote: None,
            pr_url: None,
            branch_action: None,
            worktree_action: None,
            artifacts_preserved_at: None,
            notes: None,
        }
    }

    /// What became of the work, as a clause.
    pub fn words(&self) -> String {
        let target = self.target_branch.as_deref().unwrap_or("another branch");
        let remote = self.remote.as_deref().unwrap_or("a remote");
        match (self.disposition, &self.pr_url) {
            (Disposition::Kept, _) => "kept".to_owned(),
            (Disposition::Merged, _) => format!("merged into {target}"),
            (Disposition::Published, Some(url)) => format!("pushed to {remote}: {url}"),
            (Disposition::Published, None) => format!("pushed to {remote}"),
            (Disposition::Discarded, _) => "discarded".to_owned(),
        }
    }
}

/// A recorded outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// What became of the work.
    #[serde(flatten)]
    pub outcome: FinishOutcome,
    /// When that was recorded.
    pub recorded_at: Timestamp,
}
