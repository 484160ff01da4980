//! The saved record of a run.

use serde::{Deserialize, Deserializer, Serialize};

use crate::arguments::Arguments;
use crate::child::{ChildAnswer, Review};
use crate::one_line::OneLine;
use crate::record::{
    Assignment, Auto, AutoPhase, CycleEnd, Dispatch, HealthStep, LockBefore, OnStall, Options,
    SummaryUse,
};
use crate::{UnknownName, named};

/// A run as it is stored: everything that [`Auto::next`] depends on. Every member must be
/// there, also one that may be null.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AutoDocument {
    v: u32,
    run: String,
    profile: String,
    argument: String,
    stop_on_stall: bool,
    summary_once: bool,
    can_dispatch: bool,
    summary_left: bool,
    #[serde(deserialize_with = "required")]
    previous: Option<CycleDocument>,
    phase: PhaseDocument,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CycleDocument {
    fingerprint: String,
    target: String,
    next: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
enum PhaseDocument {
    HealthCheck {},
    HealthRepair {},
    Probing {},
    TakingNew {},
    TakingStale {},
    Refreshing {
        cycle: u8,
    },
    Observing {
        cycle: u8,
    },
    Waiting {
        dispatch: PendingDocument,
    },
    Inspecting {
        dispatch: PendingDocument,
        next: String,
        #[serde(deserialize_with = "required")]
        review: Option<ReviewDocument>,
    },
    Releasing {
        ending: String,
    },
    Stopped {
        ending: String,
    },
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
    #[serde(deserialize_with = "required")]
    reason: Option<String>,
    #[serde(deserialize_with = "required")]
    file: Option<String>,
    #[serde(deserialize_with = "required")]
    hint: Option<String>,
}

/// A member that may be null, but not absent: serde takes an absent one for null unless it is
/// read by a function.
fn required<'de, D, T>(member: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(member)
}

/// Why bytes are not the stored record of a run.
#[derive(Debug, thiserror::Error)]
pub enum InvalidState {
    /// They are not JSON, or a member is missing or of another type. For people: which.
    #[error("it is not a stored run: {0}")]
    Form(String),
    /// Another version than ours.
    #[error("found version {}, expected {}", .0, AutoDocument::VERSION)]
    Version(u32),
    /// A name that this version does not have.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// A cycle beyond the most that the argument allows.
    #[error("found cycle {found}, expected 1 to {most}")]
    Cycle {
        /// The cycle.
        found: u8,
        /// The most cycles.
        most: u8,
    },
}

impl AutoDocument {
    const VERSION: u32 = 1;

    /// The document of a run.
    pub fn new(auto: &Auto) -> AutoDocument {
        let assignment = &auto.assignment;
        AutoDocument {
            v: AutoDocument::VERSION,
            run: assignment.run.clone(),
            profile: assignment.profile.as_str().to_owned(),
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
            phase: PhaseDocument::new(&auto.phase),
        }
    }

    /// The run that a document describes.
    ///
    /// # Errors
    ///
    /// [`InvalidState`], where the bytes do not describe a run.
    pub fn read(bytes: &[u8]) -> Result<Auto, InvalidState> {
        // The version first: another one may have other members.
        #[derive(Deserialize)]
        struct Versioned {
            v: u32,
        }
        let form = |error: serde_json::Error| InvalidState::Form(error.to_string());
        let Versioned { v } = serde_json::from_slice(bytes).map_err(form)?;
        if v != AutoDocument::VERSION {
            return Err(InvalidState::Version(v));
        }
        serde_json::from_slice::<AutoDocument>(bytes).map_err(form)?.restore()
    }

    fn restore(self) -> Result<Auto, InvalidState> {
        let stall = if self.stop_on_stall { OnStall::Stop } else { OnStall::GoOn };
        let summary = if self.summary_once { SummaryUse::Once } else { SummaryUse::EveryCycle };
        let arguments = Arguments::parse(&self.argument);
        let previous = match self.previous {
            None => None,
            Some(end) => Some(CycleEnd {
                target: named("agent", &end.target)?,
                next: named("next command", &end.next)?,
                fingerprint: end.fingerprint,
            }),
        };
        let phase = self.phase.restore(arguments.max_cycles.get())?;
        Ok(Auto {
            assignment: Assignment {
                run: self.run,
                argument: self.argument,
                profile: named("profile", &self.profile)?,
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
    fn new(phase: &AutoPhase) -> PhaseDocument {
        match phase {
            AutoPhase::Health(HealthStep::Check) => PhaseDocument::HealthCheck {},
            AutoPhase::Health(HealthStep::Repair) => PhaseDocument::HealthRepair {},
            AutoPhase::Probing => PhaseDocument::Probing {},
            AutoPhase::Taking(LockBefore::Nothing) => PhaseDocument::TakingNew {},
            AutoPhase::Taking(LockBefore::StaleLock) => PhaseDocument::TakingStale {},
            AutoPhase::Refreshing { cycle } => PhaseDocument::Refreshing { cycle: *cycle },
            AutoPhase::Observing { cycle } => PhaseDocument::Observing { cycle: *cycle },
            AutoPhase::Waiting(dispatch) => {
                PhaseDocument::Waiting { dispatch: PendingDocument::new(dispatch) }
            }
            AutoPhase::Inspecting { dispatch, answer } => PhaseDocument::Inspecting {
                dispatch: PendingDocument::new(dispatch),
                next: answer.next.as_str().to_owned(),
                review: answer.review.as_ref().map(ReviewDocument::new),
            },
            AutoPhase::Releasing(ending) => {
                PhaseDocument::Releasing { ending: ending.as_str().to_owned() }
            }
            AutoPhase::Stopped(ending) => {
                PhaseDocument::Stopped { ending: ending.as_str().to_owned() }
            }
        }
    }

    fn restore(self, most: u8) -> Result<AutoPhase, InvalidState> {
        Ok(match self {
            PhaseDocument::HealthCheck {} => AutoPhase::Health(HealthStep::Check),
            PhaseDocument::HealthRepair {} => AutoPhase::Health(HealthStep::Repair),
            PhaseDocument::Probing {} => AutoPhase::Probing,
            PhaseDocument::TakingNew {} => AutoPhase::Taking(LockBefore::Nothing),
            PhaseDocument::TakingStale {} => AutoPhase::Taking(LockBefore::StaleLock),
            PhaseDocument::Refreshing { cycle: found } => {
                AutoPhase::Refreshing { cycle: cycle(found, most)? }
            }
            PhaseDocument::Observing { cycle: found } => {
                AutoPhase::Observing { cycle: cycle(found, most)? }
            }
            PhaseDocument::Waiting { dispatch } => AutoPhase::Waiting(dispatch.restore(most)?),
            PhaseDocument::Inspecting { dispatch, next, review } => AutoPhase::Inspecting {
                dispatch: dispatch.restore(most)?,
                answer: ChildAnswer {
                    next: named("next command", &next)?,
                    review: review.map(ReviewDocument::restore),
                },
            },
            PhaseDocument::Releasing { ending } => AutoPhase::Releasing(named("ending", &ending)?),
            PhaseDocument::Stopped { ending } => AutoPhase::Stopped(named("ending", &ending)?),
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

    fn restore(self, most: u8) -> Result<Dispatch, InvalidState> {
        Ok(Dispatch {
            cycle: cycle(self.cycle, most)?,
            target: named("agent", &self.target)?,
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

fn cycle(found: u8, most: u8) -> Result<u8, InvalidState> {
    if (1..=most).contains(&found) { Ok(found) } else { Err(InvalidState::Cycle { found, most }) }
}
