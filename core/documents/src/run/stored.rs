//! The document of a record: the members of [`Record`] as they are, and those that have another
//! form in files than in memory.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::StoredStep;
use super::{Head, SCHEMA};
use crate::document::{self, DocumentError};
use onloop_run::*;
use onloop_syntax::money::Money;
use onloop_workflow::Budgets;

/// A record as it is written.
#[derive(Serialize)]
pub(super) struct StoredRun<'r> {
    schema: &'static str,
    #[serde(flatten)]
    record: &'r Record,
    #[serde(flatten)]
    rest: StoredRest,
}

/// The members of a record that have another form in files than in memory.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRest {
    budgets: StoredBudgets,
    /// This one and the next follow from the steps, for readers.
    current_step: u32,
    total_steps: u32,
    /// The line of the ledger that a copy shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ledger: Option<Head>,
    steps: Vec<StoredStep>,
}

#[derive(Serialize, Deserialize)]
struct StoredBudgets {
    limits: Budgets,
    observed: StoredUsage,
}

/// What was used; `null` where an agent did not say.
#[derive(Serialize, Deserialize)]
struct StoredUsage {
    agents: u64,
    #[serde(with = "onloop_syntax::money::usd")]
    cost_usd: Option<Money>,
    tokens: Option<u64>,
    active_ms: u64,
    /// The names of what is `null`, for readers.
    unknown_usage: Vec<String>,
}

impl<'r> StoredRun<'r> {
    pub(super) fn of(run: &'r Run, ledger: Option<&Head>) -> StoredRun<'r> {
        let budgets = StoredBudgets {
            limits: run.settings.budgets.clone(),
            observed: StoredUsage::of(run.usage, run.active_ms),
        };
        StoredRun {
            schema: SCHEMA,
            record: run,
            rest: StoredRest {
                budgets,
                current_step: run.current_step(),
                total_steps: run.steps.len() as u32,
                ledger: ledger.cloned(),
                steps: run.steps.iter().map(StoredStep::of).collect(),
            },
        }
    }

    pub(super) fn value(&self) -> Value {
        serde_json::to_value(self).expect("a document has only string keys")
    }
}

/// The record that a document describes, with members that no type has a place for.
pub(super) fn read(value: &Value) -> Result<Record, DocumentError> {
    let mut record: Record = document::read(value).or_else(|error| {
        // In what is flattened it does not name the member.
        if let DocumentError::Json(_) = error {
            document::read::<Place>(value)?;
            document::read::<RunSettings>(value)?;
        }
        Err(error)
    })?;
    let stored = StoredRun { schema: SCHEMA, record: &record, rest: document::read(value)? };
    let unknown = document::unknown_members(value, &stored.value());
    let StoredRest { budgets, steps, .. } = stored.rest;
    record.unknown = unknown.map_err(DocumentError::missing)?;
    record.settings.budgets = budgets.limits;
    record.usage = budgets.observed.usage();
    record.active_ms = budgets.observed.active_ms;
    let steps = (record.fork_of.as_ref().map_or(1, |fork_of| fork_of.step)..).zip(steps);
    record.steps =
        steps.map(|(number, step)| step.into_record(number)).collect::<Result<_, _>>()?;
    Ok(record)
}

impl StoredUsage {
    fn of(usage: Usage, active_ms: u64) -> StoredUsage {
        let (cost_usd, tokens) = (usage.cost.known(), usage.tokens.known());
        let names = [("cost_usd", cost_usd.is_none()), ("tokens", tokens.is_none())];
        let unknown = names.into_iter().filter(|(_, is_unknown)| *is_unknown);
        let unknown_usage = unknown.map(|(name, _)| name.to_owned()).collect();
        StoredUsage { agents: usage.agents, cost_usd, tokens, active_ms, unknown_usage }
    }

    fn usage(&self) -> Usage {
        Usage {
            agents: self.agents,
            cost: self.cost_usd.map_or(Amount::Unknown, Amount::Known),
            tokens: self.tokens.map_or(Amount::Unknown, Amount::Known),
        }
    }
}
