//! What agents have cost.

use std::collections::BTreeMap;

use crate::cost::{Sum, charges};
use onloop_run::Run;

/// What agents have cost, as far as they said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// By the day on which a turn ended, the latest first.
    pub days: Vec<(String, Sum)>,
    /// By agent, in the order of their names.
    pub agents: Vec<(String, Sum)>,
}

/// What the agents of `runs` have cost.
pub fn spent<'a>(runs: impl Iterator<Item = &'a Run>) -> Spent {
    let (mut days, mut agents) = (BTreeMap::new(), BTreeMap::new());
    for charge in runs.flat_map(charges) {
        let day: &mut Sum = days.entry(charge.at.to_date()).or_default();
        day.add(&charge);
        let agent: &mut Sum = agents.entry(super::line(&charge.agent)).or_default();
        agent.add(&charge);
    }
    Spent { days: days.into_iter().rev().collect(), agents: agents.into_iter().collect() }
}
