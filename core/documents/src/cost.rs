//! What agents have cost, turn by turn, over all runs of a machine.

use std::collections::BTreeMap;

use onloop_run::{Run, TurnRecord};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;

/// What one turn of an agent has cost, or several of which only the sum is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// When the turn ended; for several turns, when their run began.
    pub at: Timestamp,
    /// The agent.
    pub agent: String,
    /// The model; `None`: unknown.
    pub model: Option<String>,
    /// The number of turns.
    pub turns: u64,
    /// What they cost; `None`: unknown.
    pub cost: Option<Money>,
    /// Whether the cost follows from the user's prices.
    pub is_estimated: bool,
    /// Tokens read and written; `None`: unknown.
    pub tokens: Option<u64>,
}

/// The sum of some charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Turns of agents.
    pub turns: u64,
    /// Those among them whose cost is unknown.
    pub unknown: u64,
    /// What the others cost.
    pub cost: Money,
    /// Whether a part of the cost follows from the user's prices.
    pub is_estimated: bool,
    /// Tokens of the turns whose number of tokens is known.
    pub tokens: u64,
}

impl Sum {
    /// Adds a charge.
    pub fn add(&mut self, charge: &Charge) {
        self.turns = self.turns.saturating_add(charge.turns);
        match charge.cost {
            Some(cost) => self.cost = self.cost.saturating_add(cost),
            None => self.unknown = self.unknown.saturating_add(charge.turns),
        }
        self.is_estimated |= charge.is_estimated;
        self.tokens = self.tokens.saturating_add(charge.tokens.unwrap_or_default());
    }

    /// The known cost; `None`: nothing is known.
    pub fn known(&self) -> Option<Money> {
        (self.unknown < self.turns || self.turns == 0).then_some(self.cost)
    }
}

/// The runs without the forks of which a run among them counts what they used, as it does once it has
/// merged or dropped them.
pub fn counted<'a>(runs: &[&'a Run]) -> Vec<&'a Run> {
    let by_id: BTreeMap<&str, &Run> = runs.iter().map(|run| (run.id.as_str(), *run)).collect();
    let owner = |run: &Run| by_id.get(run.fork_of.as_ref()?.run.as_str()).copied();
    let is_own = |run: &&Run| !owner(run).is_some_and(|owner| owner.counts_fork(&run.id));
    runs.iter().copied().filter(is_own).collect()
}

/// The charges of a run: each turn whose stream onloop reads, and the rest of its agents as one.
pub fn charges(run: &Run) -> Vec<Charge> {
    let mut charges: Vec<Charge> = run.turns.iter().map(|turn| charge(run, turn)).collect();
    let counted = run.turns.iter().filter(|turn| turn.counts()).count() as u64;
    let rest = run.usage.agents.saturating_sub(counted);
    if rest > 0 {
        let cost = |total: Money| {
            let known = charges.iter().filter_map(|charge| charge.cost);
            total.saturating_sub(known.fold(Money::ZERO, Money::saturating_add))
        };
        let tokens = |total: u64| {
            let known = charges.iter().filter_map(|charge| charge.tokens);
            total.saturating_sub(known.fold(0, u64::saturating_add))
        };
        let (cost, tokens) =
            (run.usage.cost.known().map(cost), run.usage.tokens.known().map(tokens));
        charges.push(Charge {
            at: run.started_at,
            agent: "command line".to_owned(),
            model: None,
            turns: rest,
            cost,
            is_estimated: false,
            tokens,
        });
    }
    charges
}

fn charge(run: &Run, turn: &TurnRecord) -> Charge {
    Charge {
        at: turn.ended_at.unwrap_or(run.started_at),
        agent: turn.agent.clone(),
        model: turn.model.clone(),
        turns: 1,
        cost: turn.cost,
        is_estimated: turn.prices_as_of.is_some(),
        tokens: turn.tokens.map(|tokens| tokens.total()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::spent;
    use crate::telemetry::tests::forked;
    use onloop_run::{Amount, Event, ForkMerge, Usage};
    use onloop_syntax::time::Timestamp;

    #[test]
    fn a_step_that_works_beside_others_is_counted_once_and_is_not_a_run() {
        let (book, fork) = forked();
        let (mut run, mut fork) = (book.run, fork.run);
        let mut usage = Usage { agents: 1, ..Usage::default() };
        (usage.cost, usage.tokens) = (Amount::Known(Money::from_micros(7)), Amount::Known(5));
        fork.apply(fork.last_update, &Event::UsageReported(usage)).expect("it runs");
        let counts = |runs: &[&Run]| {
            let spent = spent(runs);
            let (_, sum) = spent.agents.first().expect("an agent has worked");
            let runs: u64 = spent.days.iter().map(|(_, day)| day.runs).sum();
            (runs, sum.turns, sum.tokens, sum.cost.micros())
        };
        assert_eq!(counts(&[&run, &fork]), (1, 1, 5, 7), "while it works");
        let merge = ForkMerge {
            step: 1,
            commit: "m".to_owned(),
            conflicts: Vec::new(),
            failure: None,
            used: fork.used_as_fork(),
        };
        let now: Timestamp = fork.last_update;
        for event in [Event::StepStarted { step: 1 }, Event::ForkMerged(Box::new(merge))] {
            run.apply(now, &event).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        assert_eq!(counts(&[&run, &fork]), (1, 1, 5, 7), "once it is merged");
        assert_eq!(counts(&[&fork]), (0, 1, 5, 7), "where its run cannot be read");
    }
}
