//! What a turn used. Clients count in different ways; reports say which, and the sum of any
//! reports in any order, repeated or not, never counts a token twice.

use std::collections::BTreeMap;

use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::tokens::Tokens;

/// One report of a client about tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageReport {
    /// What it is about.
    pub scope: UsageScope,
    /// The tokens.
    pub tokens: Tokens,
    /// What they cost; `None` where the client does not say.
    pub cost: Option<Money>,
}

/// What a report of tokens is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageScope {
    /// One request to the model, which is named; a later report of it has the larger numbers.
    Request(String),
    /// A whole turn, which is named, with everything that requests reported of it and perhaps
    /// more.
    Turn(String),
    /// Everything since the conversation began, earlier turns included.
    Session,
}

/// The sum of reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedTokens {
    requests: BTreeMap<String, Used>,
    turns: BTreeMap<String, Used>,
    session: Option<Tokens>,
    /// What the turn cost, where the client says it apart from the tokens.
    cost: Option<Money>,
    /// More things were named than are kept apart.
    is_beyond_counting: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    tokens: Tokens,
    cost: Option<Money>,
}

impl Used {
    fn raise(&mut self, report: &UsageReport) {
        self.tokens = self.tokens.max(report.tokens);
        self.cost = self.cost.max(report.cost);
    }
}

impl UsedTokens {
    /// Takes a report.
    pub fn add(&mut self, report: &UsageReport) {
        let (named, name) = match &report.scope {
            UsageScope::Request(name) => (&mut self.requests, name),
            UsageScope::Turn(name) => (&mut self.turns, name),
            UsageScope::Session => {
                self.session = Some(self.session.unwrap_or_default().max(report.tokens));
                return;
            }
        };
        if let Some(used) = named.get_mut(name) {
            used.raise(report);
        } else if named.len() < limits::AGENT_REQUESTS {
            named.insert(name.clone(), Used { tokens: report.tokens, cost: report.cost });
        } else {
            self.is_beyond_counting = true;
        }
    }

    /// The turn has cost this much so far.
    pub fn cost_of_turn(&mut self, cost: Money) {
        self.cost = self.cost.max(Some(cost));
    }

    /// The tokens of this turn, where `before` had been used in the conversation when it began.
    /// `None`: unknown.
    pub fn tokens(&self, before: Tokens) -> Option<Tokens> {
        if self.is_beyond_counting {
            return None;
        }
        let sum = |named: &BTreeMap<String, Used>| {
            named.values().fold(Tokens::default(), |sum, used| sum.plus(used.tokens))
        };
        let counted = !self.requests.is_empty() || !self.turns.is_empty();
        let session = self.session.map(|session| session.since(before));
        match (counted, session) {
            (false, session) => session,
            (true, session) => {
                let counted = sum(&self.requests).max(sum(&self.turns));
                Some(counted.max(session.unwrap_or_default()))
            }
        }
    }

    /// What this turn cost. `None`: the client does not say, or not yet.
    pub fn cost(&self) -> Option<Money> {
        if self.is_beyond_counting {
            return None;
        }
        let sum = |named: &BTreeMap<String, Used>| {
            named.values().try_fold(Money::ZERO, |sum, used| Some(sum.saturating_add(used.cost?)))
        };
        if self.cost.is_some() {
            return self.cost;
        }
        match (self.turns.is_empty(), self.requests.is_empty()) {
            (true, true) => None,
            (true, false) => sum(&self.requests),
            // A request after the last turn that was reported may have cost more; who reports
            // turns does not say what requests cost.
            (false, _) => sum(&self.turns),
        }
    }

    /// Everything since the conversation began, where the client counts so.
    pub fn of_session(&self) -> Option<Tokens> {
        self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(scope: UsageScope, input: u64, output: u64, micros: Option<u64>) -> UsageReport {
        let tokens = Tokens { input, cached_input: 0, output };
        UsageReport { scope, tokens, cost: micros.map(Money::from_micros) }
    }

    fn request(name: &str, input: u64, output: u64, micros: Option<u64>) -> UsageReport {
        report(UsageScope::Request(name.to_owned()), input, output, micros)
    }

    fn turn(name: &str, input: u64, micros: u64) -> UsageReport {
        report(UsageScope::Turn(name.to_owned()), input, 0, Some(micros))
    }

    fn used(reports: &[UsageReport]) -> (Option<u64>, Option<u64>) {
        let mut used = UsedTokens::default();
        reports.iter().for_each(|report| used.add(report));
        let before = Tokens { input: 1000, ..Tokens::default() };
        (used.tokens(before).map(Tokens::total), used.cost().map(Money::micros))
    }

    #[test]
    fn no_token_counts_twice() {
        let session = |input| report(UsageScope::Session, input, 0, None);
        type Sum = (Option<u64>, Option<u64>);
        let table: [(&[UsageReport], Sum); 8] = [
            (&[], (None, None)),
            (&[request("a", 10, 1, Some(5)), request("a", 10, 3, Some(6))], (Some(13), Some(6))),
            (&[request("a", 10, 1, Some(5)), request("b", 10, 1, Some(5))], (Some(22), Some(10))),
            (&[request("a", 10, 1, Some(5)), request("b", 10, 1, None)], (Some(22), None)),
            (&[request("a", 10, 1, None), turn("t", 30, 9)], (Some(31), Some(9))),
            (&[turn("t", 30, 9), turn("t", 30, 9), turn("u", 5, 1)], (Some(35), Some(10))),
            (&[session(1000)], (Some(0), None)),
            (&[session(1400), session(1400), session(1200)], (Some(400), None)),
        ];
        for (reports, expected) in table {
            assert_eq!(used(reports), expected, "{reports:?}");
        }
    }

    #[test]
    fn more_requests_than_are_kept_apart_are_not_guessed() {
        let mut used = UsedTokens::default();
        for number in 0..=limits::AGENT_REQUESTS {
            used.add(&request(&number.to_string(), 1, 0, Some(1)));
        }
        assert_eq!(used.tokens(Tokens::default()), None);
        assert_eq!(used.cost(), None);
    }
}
