//! What is going on with a run: since when, and what comes next. `status` and every screen say it.

use super::attention::Attention;
use super::budget::exceeded;
use super::event::{Acting, Worker};
use super::next::{Blocker, Next, Question};
use super::record::{Run, RunStatus, StepRecord, StepStatus};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::graph::step_list;

/// How a run stands, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusSummary {
    /// What is going on, as a clause on one line.
    pub now: String,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// What comes next, as a clause on one line; `None`: nothing, or it depends on a person.
    pub then: Option<String>,
}

impl Run {
    /// What is going on.
    pub fn status_summary(&self) -> StatusSummary {
        match self.attention() {
            Some(attention) => self.waiting(&attention),
            None => self.working(),
        }
    }

    /// What a driver does first when the run is resumed; `None`: a person has to decide, or nothing is
    /// left.
    pub fn next_words(&self) -> Option<String> {
        match self.next() {
            Next::Start { step, .. }
            | Next::Act { step }
            | Next::Verify { step }
            | Next::Approve { step, .. }
            | Next::Block { step, .. } => self.named(step),
            Next::Review { .. } | Next::Repeat => Some(self.end()),
            Next::Finalize => Some("the run ends".to_owned()),
            Next::Ask(_) | Next::Blocked(_) | Next::Finished => None,
        }
    }

    /// What a person who is waited for reads in a list.
    pub fn waits_for(&self, question: &Question) -> String {
        match question {
            Question::Gate { step } => format!("the gate of step {step} waits for you"),
            Question::Review { step, .. } => format!("step {step} waits for your review"),
            Question::Verdict { .. } => "a review holds it up".to_owned(),
            Question::Interrupted { step } => {
                format!("step {step} was interrupted, and no check can tell how far it got")
            }
            Question::Budget { .. } => {
                let names: Vec<&str> = exceeded(self).into_iter().map(|bound| bound.name).collect();
                format!("{} is reached", names.join(" and "))
            }
        }
    }

    fn waiting(&self, attention: &Attention) -> StatusSummary {
        let last = self.events.last().map(|entry| entry.at);
        let (now, since, then) = match attention {
            Attention::Asks(question) => {
                let step = attention.step().and_then(|step| self.step(step));
                let since = match question {
                    Question::Gate { .. } => step.and_then(|record| record.completed_at),
                    Question::Review { .. }
                    | Question::Verdict { .. }
                    | Question::Interrupted { .. }
                    | Question::Budget { .. } => None,
                };
                let then = match question {
                    Question::Budget { step } => self.named(*step),
                    Question::Gate { step } | Question::Review { step, .. } => {
                        Some(self.after(*step))
                    }
                    Question::Verdict { .. } | Question::Interrupted { .. } => None,
                };
                (self.waits_for(question), since.or(last), then)
            }
            Attention::Paused { reason } => (format!("paused: {reason}"), last, self.next_words()),
            Attention::Limit { step, agent, since, until } => {
                let now =
                    format!("{agent} waits for its usage limit, until {}", until.to_rfc3339());
                (now, Some(*since), self.named(*step))
            }
            Attention::Blocked(Blocker { step, reason, .. }) => {
                // There a reason names its step.
                let what = match self.is_driven_by_verbs() {
                    true => "blocked".to_owned(),
                    false => format!("step {step} is blocked"),
                };
                (format!("{what}: {reason}"), last, None)
            }
            Attention::Completed => {
                let outcome = self.finish.as_ref().map(|finish| finish.outcome.words());
                (outcome.unwrap_or_else(|| "completed".to_owned()), self.completed_at, None)
            }
            Attention::PullRequest { state, reason, .. } => {
                let since = self.pull_request.as_ref().map(|tracked| tracked.since);
                (state.clause(reason), since, None)
            }
        };
        StatusSummary { now: text::one_line(&now), since, then }
    }

    fn working(&self) -> StatusSummary {
        let followed = self.pull_request.as_ref().filter(|_| self.pull_request_is_due());
        if let Some(tracked) = followed {
            let now = format!("its pull request is {}", tracked.line());
            return StatusSummary { now, since: Some(tracked.since), then: None };
        }
        if self.is_interrupted() || self.status == RunStatus::Abandoned {
            let now = match self.status {
                RunStatus::Abandoned => "abandoned",
                _ => "a person has interrupted it",
            };
            return StatusSummary {
                now: now.to_owned(),
                since: Some(self.last_update),
                then: self.next_words(),
            };
        }
        let started = |step: u32| self.step(step).and_then(|record| record.started_at);
        let (now, since, then) = match (self.next(), &self.acting) {
            (_, Some(acting)) => return self.acted_on(acting),
            (Next::Start { step, .. }, None) => {
                let then =
                    self.step(step).map(|record| format!("its agent, {}", checks_of(record)));
                (format!("step {step} is about to start"), Some(self.last_update), then)
            }
            (Next::Act { step }, None) => {
                let then = self.step(step).map(checks_of);
                (self.worked_on(step), started(step), then)
            }
            (Next::Verify { step }, None) => {
                let now = format!("step {step} is to be verified");
                (now, Some(self.last_update), Some(self.after(step)))
            }
            (Next::Approve { step, .. }, None) => {
                (format!("the gate of step {step} approves itself"), None, Some(self.after(step)))
            }
            (Next::Block { step, .. }, None) => (format!("step {step} has failed"), None, None),
            (Next::Review { .. }, None) => ("a review is due".to_owned(), None, None),
            (Next::Repeat, None) => ("all steps are done".to_owned(), None, Some(self.end())),
            (Next::Finalize, None) => {
                ("everything is done".to_owned(), None, Some("the run ends".to_owned()))
            }
            // Of these a person is told, or the run is given up.
            (Next::Ask(_) | Next::Blocked(_) | Next::Finished, None) => {
                (self.status.as_str().to_owned(), self.completed_at, None)
            }
        };
        StatusSummary { now, since: since.or(Some(self.last_update)), then }
    }

    /// `step 2 is worked on`, with the steps beside it.
    fn worked_on(&self, step: u32) -> String {
        match self.current_steps() {
            steps if steps.len() > 1 => {
                format!("{} are worked on side by side", step_list(&steps))
            }
            _ => format!("step {step} is worked on"),
        }
    }

    /// The activity of its processes.
    fn acted_on(&self, acting: &Acting) -> StatusSummary {
        let step = acting.step;
        let record = self.step(step);
        let attempt = record.filter(|record| record.limit() > 1);
        let attempt = attempt.map(|record| format!(" (attempt {})", record.attempt_of_limit()));
        let (now, then) = match acting.worker {
            Worker::Agent => (
                format!("the agent works on step {step}{}", attempt.unwrap_or_default()),
                record.map(checks_of),
            ),
            Worker::Check => (format!("step {step} is verified"), Some(self.after(step))),
            Worker::Review => ("a review agent looks at the work".to_owned(), None),
            Worker::SetUp => ("the worktree is made ready".to_owned(), self.named(step)),
        };
        let since = match acting.worker {
            Worker::Agent => record.and_then(|record| record.started_at),
            Worker::Check | Worker::Review | Worker::SetUp => Some(self.last_update),
        };
        StatusSummary { now, since, then }
    }

    /// The next action once nothing blocks `step`.
    fn after(&self, step: u32) -> String {
        let open =
            |record: &&StepRecord| record.step.number > step && record.status != StepStatus::Done;
        let following = self.steps.iter().find(open);
        let named = following.and_then(|record| self.named(record.step.number));
        match following.filter(|record| record.is_forked()).and(named.as_ref()) {
            // Its own agent works already, or is done.
            Some(named) => format!("the merge of {named}"),
            None => named.unwrap_or_else(|| self.end()),
        }
    }

    fn end(&self) -> String {
        let mut parts = Vec::new();
        if self.settings.options.review_agent.is_some() && !self.reviews.finally_reviewed {
            parts.push("the final review");
        }
        if self.repeat_is_due() {
            parts.push(match self.settings.evidence.verify_clean {
                true => "all checks once more on a clean checkout",
                false => "all checks once more",
            });
        }
        parts.push("the end");
        parts.join(", ")
    }

    fn named(&self, step: u32) -> Option<String> {
        let record = self.step(step)?;
        Some(format!("step {step}: {}", text::ellipsis(&text::one_line(&record.step.name), 100)))
    }
}

fn checks_of(record: &StepRecord) -> String {
    match record.step.checks.len() as u64 {
        0 => "no check".to_owned(),
        count => format!("its {}", text::counted(count, "check")),
    }
}
