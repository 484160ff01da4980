//! What a person who is not watching a run is notified of: that it waits for them, is
//! blocked or is finished. Notices, the list of what waits and screens all ask this.

use super::next::{Blocker, Next, Question};
use super::pull_request::PullRequestState;
use super::record::{Run, RunStatus};
use super::wait::WaitReason;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;

words! {
    /// What kind of news something is.
    #[derive(PartialOrd, Ord)]
    pub enum NoticeKind {
        /// A person has to decide or do something.
        Waits = "waits",
        /// A step cannot continue.
        Blocked = "blocked",
        /// Everything is done.
        Completed = "completed",
        /// The provider of an agent does not serve it because of a limit on usage.
        Limit = "limit",
        /// A bound on the whole run is reached.
        Budget = "budget",
        /// A session is not continued any more.
        Session = "session",
        /// The checks of a pull request passed.
        PrGreen = "pr_green",
        /// A pull request needs changes that onloop does not make.
        PrRed = "pr_red",
        /// A pull request is merged.
        PrMerged = "pr_merged",
    }
}

/// The reason why a person should look at a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Only a person can decide.
    Asks(Question),
    /// It stopped for another reason, on one line.
    Paused {
        /// Why.
        reason: String,
    },
    /// An agent's usage limit is reached.
    Limit {
        /// The step that waits, from 1.
        step: u32,
        /// The agent, by its name on the command line.
        agent: String,
        /// When the first of its refusals in a row came.
        since: Timestamp,
        /// When it is tried again.
        until: Timestamp,
    },
    /// A step cannot continue.
    Blocked(Blocker),
    /// Everything is done.
    Completed,
    /// Everything is done, and onloop does not follow its pull request any more.
    PullRequest {
        /// How it stands.
        state: PullRequestState,
        /// Its address.
        url: String,
        /// Why it is not followed, on one line.
        reason: String,
    },
}

impl Attention {
    /// What kind of news it is.
    pub fn kind(&self) -> NoticeKind {
        match self {
            Attention::Asks(Question::Budget { .. }) => NoticeKind::Budget,
            Attention::Asks(
                Question::Gate { .. }
                | Question::Review { .. }
                | Question::Verdict { .. }
                | Question::Interrupted { .. },
            )
            | Attention::Paused { .. } => NoticeKind::Waits,
            Attention::Limit { .. } => NoticeKind::Limit,
            Attention::Blocked(_) => NoticeKind::Blocked,
            Attention::Completed => NoticeKind::Completed,
            Attention::PullRequest { state, .. } => match state {
                PullRequestState::Green => NoticeKind::PrGreen,
                PullRequestState::Red | PullRequestState::Closed => NoticeKind::PrRed,
                PullRequestState::Merged => NoticeKind::PrMerged,
                PullRequestState::Pending => NoticeKind::Waits,
            },
        }
    }

    /// The step that it is about, from 1; `None`: the run as a whole.
    pub fn step(&self) -> Option<u32> {
        match self {
            Attention::Asks(
                Question::Gate { step }
                | Question::Review { step, .. }
                | Question::Interrupted { step }
                | Question::Budget { step },
            )
            | Attention::Limit { step, .. } => Some(*step),
            Attention::Asks(Question::Verdict { step }) => *step,
            Attention::Blocked(blocker) => Some(blocker.step),
            Attention::Paused { .. } | Attention::Completed | Attention::PullRequest { .. } => None,
        }
    }

    /// Whether it is what `before` was, so that no new notice is due: the same limit is
    /// run into again and again until it is lifted.
    pub fn continues(&self, before: &Attention) -> bool {
        match (self, before) {
            (
                Attention::Limit { step, agent, since, until },
                Attention::Limit { step: step_before, agent: agent_before, since: s, until: u },
            ) => (step, agent) == (step_before, agent_before) && (since == s || until == u),
            _ => self == before,
        }
    }

    /// Whether it lasts while an agent is tried again.
    fn outlasts_tries(&self) -> bool {
        matches!(self, Attention::Limit { .. })
    }
}

/// Since when a person is waited for, as the events of a run show it one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttentionTracker {
    last: Option<(u64, Attention)>,
    stands: bool,
}

impl AttentionTracker {
    /// Looks at `run` as it is after the line `seq` of its ledger.
    pub fn look(&mut self, seq: u64, run: &Run) {
        let Some(now) = run.attention() else {
            self.stands = false;
            return;
        };
        let lasts =
            |before: &Attention| (self.stands || before.outlasts_tries()) && now.continues(before);
        let since = match &self.last {
            Some((since, before)) if lasts(before) => *since,
            Some(_) | None => seq,
        };
        self.last = Some((since, now));
        self.stands = true;
    }

    /// What a person should be told of now, and the line of the ledger with which that began.
    pub fn current(&self) -> Option<(u64, &Attention)> {
        let (since, attention) = self.last.as_ref().filter(|_| self.stands)?;
        Some((*since, attention))
    }
}

impl Run {
    /// Why somebody should look at the run now; `None`: it continues by itself, or the person who should know
    /// does.
    pub fn attention(&self) -> Option<Attention> {
        match (&self.status, self.next()) {
            (RunStatus::Completed | RunStatus::ReadyToFinish, _) => self.end_attention(),
            (RunStatus::Abandoned, _) => None,
            (_, Next::Ask(question)) => Some(Attention::Asks(question)),
            (_, Next::Blocked(blocker)) => Some(Attention::Blocked(blocker)),
            (status, _) => self.usage_limit().or_else(|| {
                match status {
                    RunStatus::Paused if !self.is_interrupted() => self.pause_reason.as_ref(),
                    _ => None,
                }
                .map(|reason| Attention::Paused { reason: reason.clone() })
            }),
        }
    }

    fn end_attention(&self) -> Option<Attention> {
        let Some(tracked) = &self.pull_request else { return Some(Attention::Completed) };
        let (state, url) = (tracked.state, tracked.url.clone());
        let reason = tracked.left.clone()?;
        Some(Attention::PullRequest { state, url, reason })
    }

    fn usage_limit(&self) -> Option<Attention> {
        let record = self.steps.iter().find(|record| self.waits_for_provider(record))?;
        let turn = self.turns.last()?;
        let wait = self.wait_of(&turn.agent).filter(|wait| wait.why == WaitReason::Limited)?;
        let (step, agent) = (record.step.number, wait.agent.clone());
        Some(Attention::Limit { step, agent, since: wait.since, until: wait.until })
    }
}
