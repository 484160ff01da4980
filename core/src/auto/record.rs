//! The record of one rw-auto run: what has happened, and what happens next.
//!
//! [`Auto::next`] says what to do, [`Auto::apply`] takes what came of it and yields the lines
//! to print. A host prints them before it does what comes next; that is how the lock is
//! released between the right two lines.

use super::arguments::Arguments;
use super::child::{Answer, ChildOutcome, Review};
use super::document::Presence;
use super::lock::{self, LockState};
use super::progress::Tasks;
use super::route::{Destination, Facts, Profile, Reason, Target, route};
use super::token::{NextCommand, OneLine, Token};
use crate::time::Timestamp;

/// What a person is told to edit when the child does not say.
const REVIEW_HINT: &str =
    "Review feature file and set Approval: APPROVED with Approved By/Approved At.";

/// What a run is asked to do. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Names this run in its lock; no other run has the same.
    pub run: String,
    /// The argument as it was given.
    pub argument: String,
    /// Whose rules apply.
    pub profile: Profile,
    /// Where to depart from the original's weaknesses.
    pub options: Options,
    /// Whether this host can start children.
    pub can_dispatch: bool,
}

/// Departures from the original, all off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What to do when a cycle repeats the one before it.
    pub stall: OnStall,
    /// How long a summary counts.
    pub summary: SummaryUse,
}

/// What to do when two cycles in a row saw the same files, started the same child and were
/// told the same next command: the rest of the cycles will do so too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnStall {
    /// Go on until the cycles are used up.
    #[default]
    GoOn,
    /// Stop as after an invalid result.
    Stop,
}

/// How long a summary counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryUse {
    /// In every cycle, so that profile v3 never reaches the loop.
    #[default]
    EveryCycle,
    /// Until the planner has been given it.
    Once,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auto {
    pub(crate) assignment: Assignment,
    pub(crate) arguments: Arguments,
    pub(crate) summary_left: bool,
    pub(crate) previous: Option<CycleEnd>,
    pub(crate) phase: Phase,
}

/// How a cycle began and ended, to tell whether the next one repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CycleEnd {
    pub(crate) fingerprint: String,
    pub(crate) target: Target,
    pub(crate) next: NextCommand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Health(HealthStep),
    Probing,
    Taking(LockBefore),
    Refreshing { cycle: u8 },
    Observing { cycle: u8 },
    Waiting(Dispatch),
    Inspecting { dispatch: Dispatch, answer: Answer },
    Releasing(Ending),
    Stopped(Ending),
}

/// The two halves of the health check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthStep {
    /// Look.
    Check,
    /// Repair what the check found, and look again.
    Repair,
}

/// What must be at the lock's path when it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockBefore {
    /// Nothing.
    Nothing,
    /// The stale lock that was probed, unchanged.
    StaleLock,
}

/// A child to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The cycle, from 1.
    pub cycle: u8,
    /// Which child.
    pub target: Target,
    /// Its argument: the summary for the planner, flags for the loop.
    pub argument: String,
    /// Whether the child is to make a file without which nothing can go on.
    pub is_recovery: bool,
    /// Names what the files looked like before.
    pub fingerprint: String,
}

/// What should happen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// Check the workspace's health → [`Event::HealthChecked`].
    CheckHealth(HealthStep),
    /// Look at progress file and lock → [`Event::Probed`].
    Probe,
    /// Write our lock → [`Event::LockWritten`].
    TakeLock(LockBefore),
    /// Write a new stamp into our lock → [`Event::LockWritten`]. A lock that has vanished is
    /// taken again; one of somebody else's that is held is lost.
    RefreshLock,
    /// Look at everything that routing depends on → [`Event::Observed`].
    Observe,
    /// Start a child and wait for it → [`Event::ChildFinished`].
    Dispatch(&'a Dispatch),
    /// Look whether there is a context now, and which feature is the latest
    /// → [`Event::Inspected`].
    Inspect,
    /// Remove the lock if it is still ours → [`Event::LockReleased`].
    ReleaseLock,
    /// Nothing; the run is over.
    Stop(Ending),
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A health check was made.
    HealthChecked(Health),
    /// Progress file and lock were looked at.
    Probed(Probe),
    /// The lock was written, or not.
    LockWritten(LockWritten),
    /// The workspace was looked at.
    Observed(Snapshot),
    /// The child of a cycle came back.
    ChildFinished {
        /// The cycle that started it.
        cycle: u8,
        /// How it came back.
        outcome: ChildOutcome,
    },
    /// The workspace was looked at after a child.
    Inspected {
        /// The context file.
        context: Presence,
        /// Path of the latest feature file.
        latest_feature: Option<String>,
    },
    /// The lock was removed, or left alone because it was not ours, or would not go.
    LockReleased,
    /// The host is shutting down.
    Aborted,
}

/// What a health check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// All is well, perhaps after the repair.
    Passed,
    /// Something is wrong.
    Failed,
    /// There is nothing to check with.
    Unavailable,
}

/// What was found before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A progress file that is no text. The lock does not matter then.
    ProgressUnreadable,
    /// A progress file that is text or missing, and this lock.
    Lock(LockSight),
}

/// What is at the lock's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockSight {
    /// Nothing.
    Absent,
    /// A lock, last known to be held at this time; `None` where nothing tells.
    Present(Option<Timestamp>),
    /// Another run is alive behind it, whatever the lock says.
    Alive,
}

/// What came of writing the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockWritten {
    /// It is ours.
    Ours,
    /// It is somebody else's.
    Lost,
    /// It cannot be written. For people: why.
    Failed(String),
}

/// What the workspace looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Somebody wants the run to pause.
    pub paused: bool,
    /// The context file.
    pub context: Presence,
    /// The task table; `None` where the progress file is not readable.
    pub tasks: Option<Tasks>,
    /// Some feature asks for a plan.
    pub ready_feature: bool,
    /// The active plan has its artifacts. Only profiles that ask for them look.
    pub artifacts: bool,
    /// Differs when any of the files differs.
    pub fingerprint: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A child said that everything is done.
    Done,
    /// A person has to review a feature.
    Review,
    /// Somebody wants a pause.
    Paused,
    /// Another run is at work.
    LockHeld,
    /// The cycles are used up.
    MaxCycles,
    /// Nothing to do and nothing asked for.
    Undecided,
    /// A child failed or gave no usable answer.
    Invalid,
    /// The context file is still missing.
    LanguagePolicy,
    /// The workspace cannot be used.
    RootInvalid,
    /// Children cannot be started here.
    Environment,
    /// The health check failed.
    Unhealthy,
    /// The person stopped it.
    Cancelled,
    /// The route profile has said where to go.
    Routed(Destination),
}

impl Ending {
    /// Every ending.
    pub const ALL: [Ending; 15] = [
        Ending::Done,
        Ending::Review,
        Ending::Paused,
        Ending::LockHeld,
        Ending::MaxCycles,
        Ending::Undecided,
        Ending::Invalid,
        Ending::LanguagePolicy,
        Ending::RootInvalid,
        Ending::Environment,
        Ending::Unhealthy,
        Ending::Cancelled,
        Ending::Routed(Destination::Planner),
        Ending::Routed(Destination::Loop),
        Ending::Routed(Destination::Done),
    ];

    /// Its name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Review => "review",
            Ending::Paused => "paused",
            Ending::LockHeld => "lock_held",
            Ending::MaxCycles => "max_cycles",
            Ending::Undecided => "undecided",
            Ending::Invalid => "invalid",
            Ending::LanguagePolicy => "language_policy",
            Ending::RootInvalid => "root_invalid",
            Ending::Environment => "environment",
            Ending::Unhealthy => "unhealthy",
            Ending::Cancelled => "cancelled",
            Ending::Routed(Destination::Planner) => "routed_planner",
            Ending::Routed(Destination::Loop) => "routed_loop",
            Ending::Routed(Destination::Done) => "routed_done",
        }
    }

    /// The number that a shell sees; scripts should rather read the tokens.
    pub fn exit_code(self) -> u8 {
        match self {
            Ending::Done | Ending::Routed(_) => 0,
            Ending::Review => 10,
            Ending::Paused => 11,
            Ending::LockHeld => 12,
            Ending::MaxCycles => 13,
            Ending::Undecided => 14,
            Ending::Invalid => 20,
            Ending::LanguagePolicy => 21,
            Ending::RootInvalid => 22,
            Ending::Environment => 23,
            Ending::Unhealthy => 24,
            Ending::Cancelled => 130,
        }
    }

    /// The command that comes after the run.
    pub fn next_command(self) -> NextCommand {
        match self {
            Ending::Done => NextCommand::Done,
            Ending::Routed(destination) => destination.next_command(),
            Ending::Review
            | Ending::Undecided
            | Ending::LanguagePolicy
            | Ending::RootInvalid
            | Ending::Unhealthy => NextCommand::Planner,
            Ending::Paused
            | Ending::LockHeld
            | Ending::MaxCycles
            | Ending::Invalid
            | Ending::Environment
            | Ending::Cancelled => NextCommand::Auto,
        }
    }

    /// The lines that announce the ending, before the lock is released. A review and a route
    /// have lines with values instead, which only their own transitions know.
    fn announcement(self, profile: Profile) -> Vec<Token> {
        match self {
            Ending::Done | Ending::Cancelled | Ending::Review | Ending::Routed(_) => Vec::new(),
            Ending::Paused => vec![match profile {
                Profile::V1 | Profile::V2 | Profile::V3 => Token::AutoPauseDetected,
                Profile::Route => Token::PauseDetected,
            }],
            Ending::LockHeld => vec![Token::LockHeld],
            Ending::MaxCycles => vec![Token::MaxCyclesReached],
            Ending::Undecided => {
                vec![Token::RouteUndecided, Token::RouteTarget(Destination::Planner)]
            }
            Ending::Invalid => vec![Token::ResultInvalid],
            Ending::LanguagePolicy => vec![Token::LanguagePolicyMissing],
            Ending::RootInvalid => vec![Token::RootInvalid],
            Ending::Environment => vec![Token::EnvironmentUnsupported],
            Ending::Unhealthy => vec![Token::HealthCheckFailed],
        }
    }
}

/// What a transition yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The record after it.
    pub auto: Auto,
    /// Lines of the token stream, to be printed before what comes next is done.
    pub tokens: Vec<Token>,
    /// What people may want to know; not for the token stream.
    pub remark: Option<String>,
}

/// An event that does not fit. It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was found and what was expected.
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Auto {
    /// A run that has done nothing yet.
    pub fn begin(assignment: Assignment) -> Auto {
        let arguments = Arguments::parse(&assignment.argument);
        let phase = if assignment.profile.checks_health() {
            Phase::Health(HealthStep::Check)
        } else {
            Phase::Probing
        };
        let summary_left = !arguments.summary.is_empty();
        Auto { assignment, arguments, summary_left, previous: None, phase }
    }

    /// What the run was asked to do.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// What should happen now.
    pub fn next(&self) -> Next<'_> {
        match &self.phase {
            Phase::Health(step) => Next::CheckHealth(*step),
            Phase::Probing => Next::Probe,
            Phase::Taking(before) => Next::TakeLock(*before),
            Phase::Refreshing { .. } => Next::RefreshLock,
            Phase::Observing { .. } => Next::Observe,
            Phase::Waiting(dispatch) => Next::Dispatch(dispatch),
            Phase::Inspecting { .. } => Next::Inspect,
            Phase::Releasing(_) => Next::ReleaseLock,
            Phase::Stopped(ending) => Next::Stop(*ending),
        }
    }

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
