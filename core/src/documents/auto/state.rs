//! The saved record of a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ProfileName;
use crate::auto::arguments::Arguments;
use crate::auto::child::{Answer, Review};
use crate::auto::record::{
    Assignment, Auto, CycleEnd, Dispatch, Ending, HealthStep, LockBefore, OnStall, Options, Phase,
    SummaryUse,
};
use crate::auto::route::Target;
use crate::auto::token::{NextCommand, OneLine};
use crate::documents::tagged;

/// The member that names a phase.
const TAG: &str = "name";

/// A run as it is stored: everything that [`Auto::next`] depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AutoDocument {
    v: u32,
    run: String,
    profile: ProfileName,
    argument: String,
    stop_on_stall: bool,
    summary_once: bool,
    can_dispatch: bool,
    summary_left: bool,
    previous: Option<CycleDocument>,
    /// A [`PhaseDocument`], named by its member [`TAG`].
    phase: Map<String, Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CycleDocument {
    fingerprint: String,
    target: String,
    next: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PhaseDocument {
    HealthCheck {},
    HealthRepair {},
    Probing {},
    TakingNew {},
    TakingStale {},
    Refreshing { cycle: u8 },
    Observing { cycle: u8 },
    Waiting { dispatch: PendingDocument },
    Inspecting { dispatch: PendingDocument, next: String, review: Option<ReviewDocument> },
    Releasing { ending: String },
    Stopped { ending: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PendingDocument {
    cycle: u8,
    target: String,
    argument: String,
    is_recovery: bool,
    fingerprint: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReviewDocument {
    reason: Option<String>,
    file: Option<String>,
    hint: Option<String>,
}

impl AutoDocument {
    const VERSION: u32 = 1;

    /// The document of a run.
    pub fn new(auto: &Auto) -> AutoDocument {
        let assignment = &auto.assignment;
        let mut phase = Map::new();
        tagged::write(TAG, &PhaseDocument::new(&auto.phase), &mut phase);
        AutoDocument {
            v: AutoDocument::VERSION,
            run: assignment.run.clone(),
            profile: assignment.profile.into(),
            argument: assignment.argument.clone(),
            stop_on_stall: assignment.options.stall == OnStall::Stop,
            summary_once: assignment.options.summary == SummaryUse::Once,
            can_dispatch: assignment.can_dispatch,
            summary_left: auto.summary_left,
            previous: auto.previous.as_ref().map(|end| CycleDocument {
                fingerprint: end.fingerprint.clone(),
                target: end.target.as_str().to_owned(),
                next: end.next.as_str().to_owned(),
            }),
            phase,
        }
    }

    /// The run that a document describes.
    ///
    /// # Errors
    ///
    /// What was found and what was expected, where the bytes are no such document.
    pub fn read(bytes: &[u8]) -> Result<Auto, String> {
        let document: AutoDocument = serde_json::from_slice(bytes)
            .map_err(|error| format!("it holds no stored run: {error}"))?;
        if document.v != AutoDocument::VERSION {
            return Err(format!("found version {}, expected 1", document.v));
        }
        document.restore()
    }

    fn restore(self) -> Result<Auto, String> {
        let stall = if self.stop_on_stall { OnStall::Stop } else { OnStall::GoOn };
        let summary = if self.summary_once { SummaryUse::Once } else { SummaryUse::EveryCycle };
        let arguments = Arguments::parse(&self.argument);
        let previous = match self.previous {
            None => None,
            Some(end) => Some(CycleEnd {
                target: target(&end.target)?,
                next: next_command(&end.next)?,
                fingerprint: end.fingerprint,
            }),
        };
        let phase: PhaseDocument = tagged::read(TAG, self.phase)
            .map_err(|error| format!("it holds no stored run: phase: {error}"))?;
        let phase = phase.restore(arguments.max_cycles.get())?;
        Ok(Auto {
            assignment: Assignment {
                run: self.run,
                argument: self.argument,
                profile: self.profile.try_into()?,
                options: Options { stall, summary },
                can_dispatch: self.can_dispatch,
            },
            arguments,
            summary_left: self.summary_left,
            previous,
            phase,
        })
    }
}

impl PhaseDocument {
    fn new(phase: &Phase) -> PhaseDocument {
        match phase {
            Phase::Health(HealthStep::Check) => PhaseDocument::HealthCheck {},
            Phase::Health(HealthStep::Repair) => PhaseDocument::HealthRepair {},
            Phase::Probing => PhaseDocument::Probing {},
            Phase::Taking(LockBefore::Nothing) => PhaseDocument::TakingNew {},
            Phase::Taking(LockBefore::StaleLock) => PhaseDocument::TakingStale {},
            Phase::Refreshing { cycle } => PhaseDocument::Refreshing { cycle: *cycle },
            Phase::Observing { cycle } => PhaseDocument::Observing { cycle: *cycle },
            Phase::Waiting(dispatch) => {
                PhaseDocument::Waiting { dispatch: PendingDocument::new(dispatch) }
            }
            Phase::Inspecting { dispatch, answer } => PhaseDocument::Inspecting {
                dispatch: PendingDocument::new(dispatch),
                next: answer.next.as_str().to_owned(),
                review: answer.review.as_ref().map(ReviewDocument::new),
            },
            Phase::Releasing(ending) => {
                PhaseDocument::Releasing { ending: ending.as_str().to_owned() }
            }
            Phase::Stopped(ending) => PhaseDocument::Stopped { ending: ending.as_str().to_owned() },
        }
    }

    fn restore(self, max_cycles: u8) -> Result<Phase, String> {
        Ok(match self {
            PhaseDocument::HealthCheck {} => Phase::Health(HealthStep::Check),
            PhaseDocument::HealthRepair {} => Phase::Health(HealthStep::Repair),
            PhaseDocument::Probing {} => Phase::Probing,
            PhaseDocument::TakingNew {} => Phase::Taking(LockBefore::Nothing),
            PhaseDocument::TakingStale {} => Phase::Taking(LockBefore::StaleLock),
            PhaseDocument::Refreshing { cycle: number } => {
                Phase::Refreshing { cycle: cycle(number, max_cycles)? }
            }
            PhaseDocument::Observing { cycle: number } => {
                Phase::Observing { cycle: cycle(number, max_cycles)? }
            }
            PhaseDocument::Waiting { dispatch } => Phase::Waiting(dispatch.restore(max_cycles)?),
            PhaseDocument::Inspecting { dispatch, next, review } => Phase::Inspecting {
                dispatch: dispatch.restore(max_cycles)?,
                answer: Answer {
                    next: next_command(&next)?,
                    review: review.map(ReviewDocument::restore),
                },
            },
            PhaseDocument::Releasing { ending: name } => Phase::Releasing(ending(&name)?),
            PhaseDocument::Stopped { ending: name } => Phase::Stopped(ending(&name)?),
        })
    }
}

impl PendingDocument {
    fn new(dispatch: &Dispatch) -> PendingDocument {
        PendingDocument {
            cycle: dispatch.cycle,
            target: dispatch.target.as_str().to_owned(),
            argument: dispatch.argument.clone(),
            is_recovery: dispatch.is_recovery,
            fingerprint: dispatch.fingerprint.clone(),
        }
    }

    fn restore(self, max_cycles: u8) -> Result<Dispatch, String> {
        Ok(Dispatch {
            cycle: cycle(self.cycle, max_cycles)?,
            target: target(&self.target)?,
            argument: self.argument,
            is_recovery: self.is_recovery,
            fingerprint: self.fingerprint,
        })
    }
}

impl ReviewDocument {
    fn new(review: &Review) -> ReviewDocument {
        let text = |value: &Option<OneLine>| value.as_ref().map(|v| v.as_str().to_owned());
        ReviewDocument {
            reason: text(&review.reason),
            file: text(&review.file),
            hint: text(&review.hint),
        }
    }

    /// A stored value is only text again, and is made one line like any other.
    fn restore(self) -> Review {
        let line = |value: Option<String>| {
            value.map(|text| OneLine::from(text.as_str())).filter(|line| !line.is_empty())
        };
        Review { reason: line(self.reason), file: line(self.file), hint: line(self.hint) }
    }
}

fn cycle(number: u8, max_cycles: u8) -> Result<u8, String> {
    if (1..=max_cycles).contains(&number) {
        return Ok(number);
    }
    Err(format!("found cycle {number}, expected 1 to {max_cycles}"))
}

fn target(name: &str) -> Result<Target, String> {
    Target::parse(name).ok_or_else(|| format!("found `{name}`, expected `rw-planner` or `rw-loop`"))
}

fn next_command(name: &str) -> Result<NextCommand, String> {
    NextCommand::parse(name).ok_or_else(|| format!("found `{name}`, expected a next command"))
}

fn ending(name: &str) -> Result<Ending, String> {
    Ending::ALL
        .into_iter()
        .find(|ending| ending.as_str() == name)
        .ok_or_else(|| format!("found `{name}`, expected the name of an ending"))
}
