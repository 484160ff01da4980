//! What agents have cost.

use std::collections::BTreeMap;

use onloop_run::{Run, TurnRecord};
use onloop_syntax::money::Money;

/// What agents have cost, as far as they said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// By the day on which a run began, the latest first.
    pub days: Vec<(String, Sum)>,
    /// By agent, in the order of their names.
    pub agents: Vec<(String, Sum)>,
}

/// What some turns have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Turns of agents.
    pub turns: u64,
    /// Those among them that did not say what they cost.
    pub unknown: u64,
    /// What the others cost.
    pub cost: Money,
    /// Tokens of the turns that said how many they used.
    pub tokens: u64,
}

impl Sum {
    fn add(&mut self, turn: &TurnRecord) {
        self.turns += 1;
        match turn.cost {
            Some(cost) => self.cost = self.cost.saturating_add(cost),
            None => self.unknown += 1,
        }
        let tokens = turn.tokens.map_or(0, |tokens| tokens.total());
        self.tokens = self.tokens.saturating_add(tokens);
    }
}

/// What the agents of `runs` have cost.
pub fn spent<'a>(runs: impl Iterator<Item = &'a Run>) -> Spent {
    let (mut days, mut agents) = (BTreeMap::new(), BTreeMap::new());
    for run in runs {
        for turn in &run.turns {
            let day: &mut Sum = days.entry(run.started_at.to_date()).or_default();
            day.add(turn);
            let agent: &mut Sum = agents.entry(super::line(&turn.agent)).or_default();
            agent.add(turn);
        }
    }
    Spent { days: days.into_iter().rev().collect(), agents: agents.into_iter().collect() }
}
