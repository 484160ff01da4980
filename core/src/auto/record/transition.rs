//! What each event changes, and what is printed then.

use super::{
    Auto, CycleEnd, Dispatch, Ending, Event, Health, HealthStep, LockBefore, LockSight,
    LockWritten, OnStall, Phase, Probe, Refusal, Snapshot, Step, SummaryUse,
};
use crate::auto::child::{Answer, ChildOutcome, Review};
use crate::auto::document::Presence;
use crate::auto::lock::{self, LockState};
use crate::auto::route::{Destination, Facts, Profile, Reason, Target, route};
use crate::auto::token::{NextCommand, OneLine, Token};
use crate::time::Timestamp;

/// What a person is told to edit when the child does not say.
const REVIEW_HINT: &str =
    "Review feature file and set Approval: APPROVED with Approved By/Approved At.";

impl Auto {
    /// Takes what has happened at `at`.
    ///
    /// # Errors
    ///
    /// An event that answers another question than the one [`Auto::next`] asks, or comes
    /// after the end, is refused.
    pub fn apply(&self, at: Timestamp, event: Event) -> Result<Step, Refusal> {
        match (&self.phase, event) {
            (Phase::Health(step), Event::HealthChecked(health)) => {
                Ok(self.after_health(*step, health))
            }
            (Phase::Probing, Event::Probed(probe)) => Ok(self.after_probe(at, probe)),
            (Phase::Taking(_), Event::LockWritten(written)) => Ok(self.after_taking(written)),
            (Phase::Refreshing { cycle }, Event::LockWritten(written)) => {
                Ok(self.after_refresh(*cycle, written))
            }
            (Phase::Observing { cycle }, Event::Observed(snapshot)) => {
                Ok(self.after_observation(*cycle, snapshot))
            }
            (Phase::Waiting(dispatch), Event::ChildFinished { cycle, outcome })
                if dispatch.cycle == cycle =>
            {
                Ok(self.after_child(dispatch, outcome))
            }
            (
                Phase::Inspecting { dispatch, answer },
                Event::Inspected { context, latest_feature },
            ) => Ok(self.after_inspection(dispatch, answer, context, latest_feature)),
            (Phase::Releasing(ending), Event::LockReleased) => Ok(self.stopped(*ending)),
            (Phase::Health(_) | Phase::Probing, Event::Aborted) => {
                Ok(self.stop_without_lock(Ending::Cancelled))
            }
            (
                Phase::Taking(_)
                | Phase::Refreshing { .. }
                | Phase::Observing { .. }
                | Phase::Waiting(_)
                | Phase::Inspecting { .. },
                Event::Aborted,
            ) => Ok(self.stop(Ending::Cancelled)),
            (_, event) => Err(self.refusal(&event)),
        }
    }

    fn refusal(&self, event: &Event) -> Refusal {
        let found = match event {
            Event::HealthChecked(_) => "a health check".to_owned(),
            Event::Probed(_) => "a probe".to_owned(),
            Event::LockWritten(_) => "a written lock".to_owned(),
            Event::Observed(_) => "an observation".to_owned(),
            Event::ChildFinished { cycle, .. } => format!("the result of cycle {cycle}"),
            Event::Inspected { .. } => "an inspection".to_owned(),
            Event::LockReleased => "a released lock".to_owned(),
            Event::Aborted => "an abort".to_owned(),
        };
        let expected = match &self.phase {
            Phase::Health(_) => "a health check".to_owned(),
            Phase::Probing => "a probe".to_owned(),
            Phase::Taking(_) | Phase::Refreshing { .. } => "a written lock".to_owned(),
            Phase::Observing { .. } => "an observation".to_owned(),
            Phase::Waiting(dispatch) => format!("the result of cycle {}", dispatch.cycle),
            Phase::Inspecting { .. } => "an inspection".to_owned(),
            Phase::Releasing(_) => "a released lock".to_owned(),
            Phase::Stopped(_) => "nothing more".to_owned(),
        };
        Refusal { message: format!("found {found}, expected {expected}") }
    }
}

/// The transitions.
impl Auto {
    fn after_health(&self, step: HealthStep, health: Health) -> Step {
        match (step, health) {
            (_, Health::Passed) | (HealthStep::Check, Health::Unavailable) => {
                self.to(Phase::Probing)
            }
            (HealthStep::Check, Health::Failed) => self.to(Phase::Health(HealthStep::Repair)),
            (HealthStep::Repair, Health::Failed | Health::Unavailable) => {
                self.stop_without_lock(Ending::Unhealthy)
            }
        }
    }

    fn after_probe(&self, at: Timestamp, probe: Probe) -> Step {
        match probe {
            Probe::ProgressUnreadable => self.stop_without_lock(Ending::RootInvalid),
            Probe::Lock(LockSight::Absent) => self.to(Phase::Taking(LockBefore::Nothing)),
            Probe::Lock(LockSight::Alive) => self.stop_without_lock(Ending::LockHeld),
            Probe::Lock(LockSight::Present(stamp)) => match lock::state(stamp, at) {
                LockState::Held => self.stop_without_lock(Ending::LockHeld),
                LockState::Stale => self.to(Phase::Taking(LockBefore::StaleLock)),
            },
        }
    }

    fn after_taking(&self, written: LockWritten) -> Step {
        match written {
            LockWritten::Ours => match self.assignment.profile {
                Profile::V1 | Profile::V2 | Profile::V3 if !self.assignment.can_dispatch => {
                    self.stop(Ending::Environment)
                }
                Profile::V1 | Profile::V2 | Profile::V3 | Profile::Route => {
                    self.to(Phase::Observing { cycle: 1 })
                }
            },
            LockWritten::Lost => self.stop_without_lock(Ending::LockHeld),
            LockWritten::Failed(why) => {
                self.stop_without_lock(Ending::RootInvalid).with_remark(why)
            }
        }
    }

    fn after_refresh(&self, cycle: u8, written: LockWritten) -> Step {
        match written {
            LockWritten::Ours => self.to(Phase::Observing { cycle }),
            LockWritten::Lost => self
                .stop_without_lock(Ending::LockHeld)
                .with_remark("another run has taken the lock while our child was at work"),
            LockWritten::Failed(why) => self.stop(Ending::RootInvalid).with_remark(why),
        }
    }

    fn after_observation(&self, cycle: u8, snapshot: Snapshot) -> Step {
        if snapshot.paused {
            return self.stop(Ending::Paused);
        }
        let profile = self.assignment.profile;
        let facts = Facts {
            context: snapshot.context == Presence::Readable,
            tasks: snapshot.tasks,
            ready_feature: snapshot.ready_feature,
            artifacts: snapshot.artifacts,
            summary: self.summary_left,
        };
        let reason = route(profile, facts);
        match profile {
            Profile::Route => self.say_route(reason),
            Profile::V1 | Profile::V2 | Profile::V3 => match reason.child() {
                Some(target) => self.start(cycle, target, reason, snapshot.fingerprint),
                None => self.stop(Ending::Undecided),
            },
        }
    }

    fn say_route(&self, reason: Reason) -> Step {
        let destination = reason.child().map_or(Destination::Done, Target::destination);
        let mut tokens: Vec<Token> = reason.marker(Profile::Route).into_iter().collect();
        tokens.extend([
            Token::RouteOnly,
            Token::RouteTarget(destination),
            Token::RouteReason(reason),
        ]);
        self.stop(Ending::Routed(destination)).after_saying(tokens)
    }

    fn start(&self, cycle: u8, target: Target, reason: Reason, fingerprint: String) -> Step {
        let argument = match target {
            Target::Planner if self.summary_left => self.arguments.summary.clone(),
            Target::Planner => String::new(),
            Target::Loop => self.arguments.loop_argument(),
        };
        let is_recovery = reason.is_recovery();
        let dispatch = Dispatch { cycle, target, argument, is_recovery, fingerprint };
        let mut tokens: Vec<Token> = reason.marker(self.assignment.profile).into_iter().collect();
        tokens.extend([Token::Cycle(cycle), Token::RouteTarget(target.destination())]);
        let mut step = self.to(Phase::Waiting(dispatch)).after_saying(tokens);
        step.auto.summary_left &= match (target, self.assignment.options.summary) {
            (Target::Planner, SummaryUse::Once) => false,
            (Target::Planner, SummaryUse::EveryCycle) | (Target::Loop, _) => true,
        };
        step
    }

    fn after_child(&self, dispatch: &Dispatch, outcome: ChildOutcome) -> Step {
        let text = match outcome {
            ChildOutcome::Answered(text) => text,
            ChildOutcome::Failed(why) => return self.stop(Ending::Invalid).with_remark(why),
            ChildOutcome::TimedOut => {
                return self.stop(Ending::Invalid).with_remark("the child took too long");
            }
            ChildOutcome::Cancelled => return self.stop(Ending::Cancelled),
            ChildOutcome::Unavailable => return self.stop(Ending::Environment),
        };
        let answer = match Answer::parse(&text) {
            Ok(answer) => answer,
            Err(invalid) => {
                return self.stop(Ending::Invalid).with_remark(invalid.to_string());
            }
        };
        match &answer.review {
            Some(review) if review.file.is_some() => self.ask_for_review(review, None),
            None if !dispatch.is_recovery => self.after_cycle(dispatch, answer.next),
            Some(_) | None => self.to(Phase::Inspecting { dispatch: dispatch.clone(), answer }),
        }
    }

    fn after_inspection(
        &self,
        dispatch: &Dispatch,
        answer: &Answer,
        context: Presence,
        latest_feature: Option<String>,
    ) -> Step {
        if let Some(review) = &answer.review {
            return self.ask_for_review(review, latest_feature);
        }
        match context {
            Presence::Readable => self.after_cycle(dispatch, answer.next),
            Presence::Missing | Presence::Unreadable => self.stop(Ending::LanguagePolicy),
        }
    }

    fn ask_for_review(&self, review: &Review, latest_feature: Option<String>) -> Step {
        let or = |value: &Option<OneLine>, fallback: &str| {
            value.clone().unwrap_or_else(|| OneLine::from(fallback))
        };
        let latest = latest_feature.as_deref().unwrap_or("none");
        self.stop(Ending::Review).after_saying(vec![
            Token::ReviewRequired,
            Token::ReviewReason(or(&review.reason, "APPROVAL_MISSING")),
            Token::FeatureFile(or(&review.file, latest)),
            Token::ReviewHint(or(&review.hint, REVIEW_HINT)),
        ])
    }

    /// What the child asks for decides whether to go on, never where: the files decide that.
    fn after_cycle(&self, dispatch: &Dispatch, next: NextCommand) -> Step {
        match next {
            NextCommand::Done => return self.stop(Ending::Done),
            NextCommand::Planner | NextCommand::Loop | NextCommand::Auto => {}
        }
        let end =
            CycleEnd { fingerprint: dispatch.fingerprint.clone(), target: dispatch.target, next };
        let remark = (self.previous.as_ref() == Some(&end)).then(|| {
            format!(
                "cycle {} repeated the one before it: same files, same child, same answer",
                dispatch.cycle
            )
        });
        let mut step = match self.assignment.options.stall {
            OnStall::Stop if remark.is_some() => self.stop(Ending::Invalid),
            OnStall::Stop | OnStall::GoOn => {
                if dispatch.cycle < self.arguments.max_cycles.get() {
                    self.to(Phase::Refreshing { cycle: dispatch.cycle + 1 })
                } else {
                    self.stop(Ending::MaxCycles)
                }
            }
        };
        step.auto.previous = Some(end);
        step.remark = remark;
        step
    }

    fn to(&self, phase: Phase) -> Step {
        let auto = Auto { phase, ..self.clone() };
        Step { auto, tokens: Vec::new(), remark: None }
    }

    /// Announces an ending; the lock goes before the last line.
    fn stop(&self, ending: Ending) -> Step {
        self.to(Phase::Releasing(ending)).after_saying(ending.announcement(self.assignment.profile))
    }

    /// Ends a run that has no lock.
    fn stop_without_lock(&self, ending: Ending) -> Step {
        let mut step = self.stopped(ending);
        step.tokens.splice(0..0, ending.announcement(self.assignment.profile));
        step
    }

    fn stopped(&self, ending: Ending) -> Step {
        self.to(Phase::Stopped(ending))
            .after_saying(vec![Token::NextCommand(ending.next_command())])
    }
}

impl Step {
    fn after_saying(mut self, mut tokens: Vec<Token>) -> Step {
        self.tokens.append(&mut tokens);
        self
    }

    fn with_remark(mut self, remark: impl Into<String>) -> Step {
        self.remark = Some(remark.into());
        self
    }
}
