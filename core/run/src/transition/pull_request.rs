//! The pull request of a completed run: followed, seen, and work that goes back because of it.

use super::Refusal;
use crate::finish::Disposition;
use crate::pull_request::*;
use crate::record::*;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

impl Run {
    /// A pull request that was left is followed again; what was tried before stays.
    pub(super) fn follow_pull_request(
        &mut self,
        at: Timestamp,
        url: &str,
        repair_limit: u32,
    ) -> Result<(), Refusal> {
        let outcome = self.finish.as_ref().map(|finish| &finish.outcome);
        let published = outcome.filter(|outcome| {
            outcome.disposition == Disposition::Published && outcome.pr_url.as_deref() == Some(url)
        });
        let Some(published) = published else {
            let what = format!("the work of this run is not published as {url}");
            return Err(Refusal::NotDue { what });
        };
        let remote = published.remote.clone().unwrap_or_default();
        let target_branch = published.target_branch.clone();
        let before = self.0.pull_request.take().filter(|before| before.url == url);
        self.0.pull_request = Some(TrackedPullRequest {
            url: url.to_owned(),
            remote,
            target_branch,
            state: PullRequestState::Pending,
            since: at,
            repair_limit,
            repairs: before.map(|before| before.repairs).unwrap_or_default(),
            left: None,
        });
        self.log(at, "pull_request_followed", None, format!("Pull request: {url}"), "");
        Ok(())
    }

    pub(super) fn see_pull_request(
        &mut self,
        at: Timestamp,
        state: PullRequestState,
        reason: &str,
    ) -> Result<(), Refusal> {
        let tracked = self.demand_followed()?;
        if tracked.state != state {
            tracked.since = at;
        }
        tracked.state = state;
        let reason = match reason {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let text = format!("Pull request: {}{reason}", state.as_words());
        self.log(at, "pull_request_seen", None, text, "");
        Ok(())
    }

    /// The last step is acted again, and its agent is told why. What was published is published again
    /// once the checks of the run pass.
    pub(super) fn return_pull_request(
        &mut self,
        at: Timestamp,
        step: u32,
        repair: &Repair,
        output: &str,
    ) -> Result<(), Refusal> {
        if step != self.last_step() {
            return Err(Refusal::NotDue { what: format!("step {step} is not the last one") });
        }
        let tracked = self.demand_followed()?;
        let counts = repair.cause != RepairCause::Review;
        if counts && tracked.repairs_used() >= tracked.repair_limit {
            let limit = text::counted(tracked.repair_limit.into(), "repair");
            let what = format!("the pull request may go back to the agent for {limit}");
            return Err(Refusal::NotDue { what });
        }
        tracked.repairs.push(repair.clone());
        tracked.state = PullRequestState::Pending;
        tracked.since = at;
        self.0.reviews.rounds = 0;
        self.0.completed_at = None;
        self.0.finished_commit = None;
        self.0.status = RunStatus::Running;
        self.do_again(step, text::one_line(&repair.reason), output.to_owned());
        let text = format!("↻ Step {step}: The pull request goes back: {}", repair.reason);
        self.log(at, "pull_request_returned", Some(step), text, output);
        Ok(())
    }

    pub(super) fn leave_pull_request(
        &mut self,
        at: Timestamp,
        reason: &str,
    ) -> Result<(), Refusal> {
        self.demand_followed()?.left = Some(text::one_line(reason));
        self.log(at, "pull_request_left", None, format!("Pull request: {reason}"), "");
        Ok(())
    }

    fn demand_followed(&mut self) -> Result<&mut TrackedPullRequest, Refusal> {
        if self.status != RunStatus::Completed {
            let (status, deed) = (self.status.as_str(), "follow a pull request");
            return Err(Refusal::WrongRunStatus { status, deed });
        }
        match &mut self.0.pull_request {
            Some(tracked) if tracked.left.is_none() => Ok(tracked),
            Some(_) | None => {
                let what = "no pull request of this run is followed".to_owned();
                Err(Refusal::NotDue { what })
            }
        }
    }
}
