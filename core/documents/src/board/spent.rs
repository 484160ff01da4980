//! What agents have cost.

use std::collections::BTreeMap;

use crate::cost::{Sum, charges, counted};
use onloop_run::Run;

/// What agents have cost, as far as they said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// By day, the latest first.
    pub days: Vec<(String, Day)>,
    /// By agent, in the order of their names.
    pub agents: Vec<(String, Sum)>,
}

/// What happened on a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Day {
    /// Runs that began.
    pub runs: u64,
    /// What the turns cost that ended.
    pub cost: Sum,
}

/// What the agents of `runs` have cost, and how many runs began on each day.
pub fn spent(runs: &[&Run]) -> Spent {
    let mut days: BTreeMap<String, Day> = BTreeMap::new();
    let mut agents: BTreeMap<String, Sum> = BTreeMap::new();
    for run in counted(runs) {
        if run.fork_of.is_none() {
            days.entry(run.started_at.to_date()).or_default().runs += 1;
        }
        for charge in charges(run) {
            days.entry(charge.at.to_date()).or_default().cost.add(&charge);
            agents.entry(super::line(&charge.agent)).or_default().add(&charge);
        }
    }
    Spent { days: days.into_iter().rev().collect(), agents: agents.into_iter().collect() }
}
