//! What each event changes, and what is printed then.

use super::{
    Auto, AutoEnding, AutoEvent, AutoPhase, CycleEnd, Dispatch, Health, HealthStep, LockBefore,
    LockSight, LockWritten, OnStall, Probe, Snapshot, SummaryUse, Transition, UnexpectedEvent,
};
use crate::child::{ChildAnswer, ChildOutcome, Review};
use crate::lock::{self, LockState};
use crate::one_line::OneLine;
use crate::route::{Profile, Reason, RoutingFacts, Target, route};
use crate::token::{NextCommand, Token};
use crate::workspace_file::Presence;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The file that a person edits, if the child names none.
const REVIEW_HINT: &str =
    "Review feature file and set Approval: APPROVED with Approved By/Approved At.";

impl Auto {
    /// Takes what has happened at `at`.
    ///
    /// # Errors
    ///
    /// An event that answers another question than the one [`Auto::next`] asks, or comes
    /// after the end, is refused.
    pub fn apply(&self, at: Timestamp, event: AutoEvent) -> Result<Transition, UnexpectedEvent> {
        match (&self.phase, event) {
            (AutoPhase::Health(step), AutoEvent::HealthChecked(health)) => {
                Ok(self.after_health(*step, health))
            }
            (AutoPhase::Probing, AutoEvent::Probed(probe)) => Ok(self.after_probe(at, probe)),
            (AutoPhase::Taking(_), AutoEvent::LockWritten(written)) => {
                Ok(self.after_taking(written))
            }
            (AutoPhase::Refreshing { cycle }, AutoEvent::LockWritten(written)) => {
                Ok(self.after_refresh(*cycle, written))
            }
            (AutoPhase::Observing { cycle }, AutoEvent::Observed(snapshot)) => {
                Ok(self.after_observation(*cycle, snapshot))
            }
            (AutoPhase::Waiting(dispatch), AutoEvent::ChildFinished { cycle, outcome })
                if dispatch.cycle == cycle =>
            {
                Ok(self.after_child(dispatch, outcome))
            }
            (
                AutoPhase::Inspecting { dispatch, answer },
                AutoEvent::Inspected { context, latest_feature },
            ) => Ok(self.after_inspection(dispatch, answer, context, latest_feature)),
            (AutoPhase::Releasing(ending), AutoEvent::LockReleased) => Ok(self.stopped(*ending)),
            (AutoPhase::Health(_) | AutoPhase::Probing, AutoEvent::Aborted) => {
                Ok(self.stop_without_lock(AutoEnding::Cancelled))
            }
            (
                AutoPhase::Taking(_)
                | AutoPhase::Refreshing { .. }
                | AutoPhase::Observing { .. }
                | AutoPhase::Waiting(_)
                | AutoPhase::Inspecting { .. },
                AutoEvent::Aborted,
            ) => Ok(self.stop(AutoEnding::Cancelled)),
            (_, event) => Err(UnexpectedEvent(event)),
        }
    }
}

/// The transitions.
impl Auto {
    fn after_health(&self, step: HealthStep, health: Health) -> Transition {
        match (step, health) {
            (_, Health::Passed) | (HealthStep::Check, Health::Unavailable) => {
                self.to(AutoPhase::Probing)
            }
            (HealthStep::Check, Health::Failed) => self.to(AutoPhase::Health(HealthStep::Repair)),
            (HealthStep::Repair, Health::Failed | Health::Unavailable) => {
                self.stop_without_lock(AutoEnding::Unhealthy)
            }
        }
    }

    fn after_probe(&self, at: Timestamp, probe: Probe) -> Transition {
        match probe {
            Probe::ProgressUnreadable => self.stop_without_lock(AutoEnding::RootInvalid),
            Probe::Lock(LockSight::Absent) => self.to(AutoPhase::Taking(LockBefore::Nothing)),
            Probe::Lock(LockSight::Alive) => self.stop_without_lock(AutoEnding::LockHeld),
            Probe::Lock(LockSight::Present(stamp)) => match lock::state(stamp, at) {
                LockState::Held => self.stop_without_lock(AutoEnding::LockHeld),
                LockState::Stale => self.to(AutoPhase::Taking(LockBefore::StaleLock)),
            },
        }
    }

    fn after_taking(&self, written: LockWritten) -> Transition {
        match written {
            LockWritten::Ours => match self.assignment.profile {
                Profile::V1 | Profile::V2 | Profile::V3 if !self.assignment.can_dispatch => {
                    self.stop(AutoEnding::Environment)
                }
                Profile::V1 | Profile::V2 | Profile::V3 | Profile::Route => {
                    self.to(AutoPhase::Observing { cycle: 1 })
                }
            },
            LockWritten::Lost => self.stop_without_lock(AutoEnding::LockHeld),
            LockWritten::Failed(why) => {
                self.stop_without_lock(AutoEnding::RootInvalid).with_note(why)
            }
        }
    }

    fn after_refresh(&self, cycle: u8, written: LockWritten) -> Transition {
        match written {
            LockWritten::Ours => self.to(AutoPhase::Observing { cycle }),
            LockWritten::Lost => self
                .stop_without_lock(AutoEnding::LockHeld)
                .with_note("another run has taken the lock while our child was at work"),
            LockWritten::Failed(why) => self.stop(AutoEnding::RootInvalid).with_note(why),
        }
    }

    fn after_observation(&self, cycle: u8, snapshot: Snapshot) -> Transition {
        if snapshot.paused {
            return self.stop(AutoEnding::Paused);
        }
        let profile = self.assignment.profile;
        let facts = RoutingFacts {
            context: snapshot.context == Presence::Readable,
            tasks: snapshot.tasks,
            ready_feature: snapshot.ready_feature,
            artifacts: snapshot.artifacts,
            summary: self.summary_left,
        };
        let rules = self.assignment.options.routes_by.unwrap_or(profile);
        let reason = route(rules, facts);
        match profile {
            Profile::Route => self.say_route(reason, rules),
            Profile::V1 | Profile::V2 | Profile::V3 => match reason.target() {
                Some(target) => self.start(cycle, target, reason, snapshot.fingerprint),
                None => self.stop(AutoEnding::Undecided),
            },
        }
    }

    fn say_route(&self, reason: Reason, rules: Profile) -> Transition {
        let target = reason.target();
        // By its own rules a route without work is done; a run would not know what to do.
        if target.is_none() && rules != Profile::Route {
            let mut step = self.stop(AutoEnding::Undecided);
            step.tokens.insert(0, Token::RouteOnly);
            return step;
        }
        // The route has no line for a recovery.
        let announced = if reason.is_recovery() { Profile::Route } else { rules };
        let mut tokens: Vec<Token> = Token::announcing(reason, announced).into_iter().collect();
        tokens.extend([Token::RouteOnly, Token::RouteTarget(target), Token::RouteReason(reason)]);
        self.stop(AutoEnding::routed(target)).after_saying(tokens)
    }

    fn start(&self, cycle: u8, target: Target, reason: Reason, fingerprint: String) -> Transition {
        let argument = match target {
            Target::Planner if self.summary_left => self.arguments.summary.clone(),
            Target::Planner => String::new(),
            Target::Loop => self.arguments.loop_argument(),
        };
        let is_recovery = reason.is_recovery();
        let dispatch = Dispatch { cycle, target, argument, is_recovery, fingerprint };
        let mut tokens: Vec<Token> =
            Token::announcing(reason, self.assignment.profile).into_iter().collect();
        tokens.extend([Token::Cycle(cycle), Token::RouteTarget(Some(target))]);
        let mut step = self.to(AutoPhase::Waiting(dispatch)).after_saying(tokens);
        let summary = &self.arguments.summary;
        if cycle == 1 && target == Target::Loop && !summary.is_empty() {
            step = step.with_note(format!(
                "`{}` is not planned now: the table has tasks, and they come first. To plan it, start \
                 rw-planner with it, or write a feature file with `Status: READY_FOR_PLAN`",
                text::ellipsis(&text::one_line(summary), 80)
            ));
        }
        step.auto.summary_left &= match (target, self.assignment.options.summary) {
            (Target::Planner, SummaryUse::Once) => false,
            (Target::Planner, SummaryUse::EveryCycle) | (Target::Loop, _) => true,
        };
        step
    }

    fn after_child(&self, dispatch: &Dispatch, outcome: ChildOutcome) -> Transition {
        let text = match outcome {
            ChildOutcome::Answered(text) => text,
            ChildOutcome::Failed(why) => return self.stop(AutoEnding::Invalid).with_note(why),
            ChildOutcome::TimedOut => {
                return self.stop(AutoEnding::Invalid).with_note("the child took too long");
            }
            ChildOutcome::Cancelled => return self.stop(AutoEnding::Cancelled),
            ChildOutcome::Unavailable => return self.stop(AutoEnding::Environment),
        };
        let answer = match ChildAnswer::parse(&text) {
            Ok(answer) => answer,
            Err(invalid) => {
                return self.stop(AutoEnding::Invalid).with_note(invalid.to_string());
            }
        };
        match &answer.review {
            Some(review) if review.file.is_some() => self.ask_for_review(review, None),
            None if !dispatch.is_recovery => self.after_cycle(dispatch, answer.next),
            Some(_) | None => self.to(AutoPhase::Inspecting { dispatch: dispatch.clone(), answer }),
        }
    }

    fn after_inspection(
        &self,
        dispatch: &Dispatch,
        answer: &ChildAnswer,
        context: Presence,
        latest_feature: Option<String>,
    ) -> Transition {
        if let Some(review) = &answer.review {
            return self.ask_for_review(review, latest_feature);
        }
        match context {
            Presence::Readable => self.after_cycle(dispatch, answer.next),
            Presence::Missing | Presence::Unreadable => self.stop(AutoEnding::LanguagePolicy),
        }
    }

    fn ask_for_review(&self, review: &Review, latest_feature: Option<String>) -> Transition {
        let or = |value: &Option<OneLine>, fallback: &str| {
            value.clone().unwrap_or_else(|| OneLine::from(fallback))
        };
        let file = or(&review.file, latest_feature.as_deref().unwrap_or("none"));
        let with = match file.as_str() {
            "none" => String::new(),
            file => format!(" with `{file}`"),
        };
        let next = format!("do what the hint says{with}; then `onloop auto` continues");
        let tokens = vec![
            Token::ReviewRequired,
            Token::ReviewReason(or(&review.reason, "APPROVAL_MISSING")),
            Token::FeatureFile(file),
            Token::ReviewHint(or(&review.hint, REVIEW_HINT)),
        ];
        self.stop(AutoEnding::Review).after_saying(tokens).with_note(next)
    }

    /// The child's request decides whether to continue; the files decide with which agent.
    fn after_cycle(&self, dispatch: &Dispatch, next: NextCommand) -> Transition {
        match next {
            NextCommand::Done => return self.stop(AutoEnding::Done),
            NextCommand::Planner | NextCommand::Loop | NextCommand::Auto => {}
        }
        let end =
            CycleEnd { fingerprint: dispatch.fingerprint.clone(), target: dispatch.target, next };
        let note = (self.previous.as_ref() == Some(&end)).then(|| {
            format!(
                "cycle {} repeated the one before it: same files, same child, same answer",
                dispatch.cycle
            )
        });
        let mut step = match self.assignment.options.stall {
            OnStall::Stop if note.is_some() => self.stop(AutoEnding::Invalid),
            OnStall::Stop | OnStall::Continue => {
                if dispatch.cycle < self.arguments.max_cycles.get() {
                    self.to(AutoPhase::Refreshing { cycle: dispatch.cycle + 1 })
                } else {
                    self.stop(AutoEnding::MaxCycles)
                }
            }
        };
        step.auto.previous = Some(end);
        step.note = note;
        step
    }

    fn to(&self, phase: AutoPhase) -> Transition {
        let auto = Auto { phase, ..self.clone() };
        Transition { auto, tokens: Vec::new(), note: None }
    }

    /// Announces an ending; the lock goes before the last line.
    fn stop(&self, ending: AutoEnding) -> Transition {
        self.to(AutoPhase::Releasing(ending))
            .after_saying(ending.announcement(self.assignment.profile))
    }

    /// Ends a run that has no lock.
    fn stop_without_lock(&self, ending: AutoEnding) -> Transition {
        let mut step = self.stopped(ending);
        step.tokens.splice(0..0, ending.announcement(self.assignment.profile));
        step
    }

    fn stopped(&self, ending: AutoEnding) -> Transition {
        self.to(AutoPhase::Stopped(ending))
            .after_saying(vec![Token::NextCommand(ending.next_command())])
    }
}

impl Transition {
    fn after_saying(mut self, mut tokens: Vec<Token>) -> Transition {
        self.tokens.append(&mut tokens);
        self
    }

    fn with_note(mut self, note: impl Into<String>) -> Transition {
        self.note = Some(note.into());
        self
    }
}
