//! `onloop gate N approved|rejected`: record a decision.

use super::resume::open;
use super::store::{Store, StoreError};
use super::{Exit, Io};
use crate::run::{BlockReason, Decision, Event, Mode, StepStatus};

/// Arguments of `onloop gate`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct GateArgs {
    /// Number of the step
    #[cfg_attr(feature = "cli", arg(value_name = "N"))]
    pub step: u32,
    /// The decision
    #[cfg_attr(feature = "cli", arg(value_enum))]
    pub decision: DecisionWord,
    /// Who decides
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value = "human"))]
    pub mode: ModeWord,
    /// Run id [default: HOTL_RUN_ID, else the only unfinished run]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub run_id: Option<String>,
}

/// A decision as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DecisionWord {
    /// Go on
    Approved,
    /// Do not
    Rejected,
}

/// Who decides, as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ModeWord {
    /// The rules, where they allow it
    Auto,
    /// A person
    Human,
}

/// `onloop gate`.
pub async fn gate(io: &Io, args: &GateArgs) -> Exit {
    match decide(io, args).await {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

async fn decide(io: &Io, args: &GateArgs) -> Result<(), Exit> {
    let mut store = open(io, args.run_id.as_deref()).await.map_err(|_| Exit::Failed)?;
    let decision = match args.decision {
        DecisionWord::Approved => Decision::Approved,
        DecisionWord::Rejected => Decision::Rejected,
    };
    let mode = match args.mode {
        ModeWord::Auto => Mode::Auto,
        ModeWord::Human => Mode::Human,
    };
    let step = args.step;
    let reviewing = store.run().step(step).is_some_and(|record| {
        matches!(
            record.status,
            StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected)
        )
    });
    let event = Event::GateDecided { step, decision, mode };
    change(io, &mut store, event).await?;
    let subject = if reviewing { "human-review" } else { "gate" };
    io.result(format!("{subject} {step}: {} ({})\n", decision.word(), mode.word())).await;
    Ok(())
}

/// Applies one event and makes it durable; a refusal is said in the words that agents match.
pub(super) async fn change(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    if let Err(refusal) = store.apply(event) {
        io.note(format!("ERROR: {refusal}")).await;
        return Err(Exit::Failed);
    }
    match store.commit().await {
        Ok(()) => Ok(()),
        Err(StoreError::Overtaken(refusal)) => {
            io.note(format!("ERROR: {refusal}")).await;
            Err(Exit::Failed)
        }
        Err(error) => {
            io.note(format!("ERROR: {error}")).await;
            Err(Exit::Failed)
        }
    }
}
