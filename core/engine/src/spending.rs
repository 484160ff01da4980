//! What agents have cost, over all runs of this machine.
//!
//! Somebody who looks again remembers what was read: a ledger is read again only when it has changed, and one
//! that has not changed since the time that counts is not read at all.

use std::collections::BTreeMap;

use crate::state::config;
use crate::state::store::{Paths, StateHome, Store};
use onloop_documents::cost::{Charge, Sum, charges};
use onloop_effect::{Durability, Expect, Io, ProcessSpec, ProcessStatus};
use onloop_run::{Amount, Run, Usage, is_run_id};
use onloop_sessions::handsoff::config::MachineBudget;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// A charge, and where it was made.
#[derive(Clone, Debug)]
pub struct PlacedCharge {
    /// The charge.
    pub charge: Charge,
    /// The checkout in which the run was started.
    pub repo: String,
    /// The workflow.
    pub workflow: String,
}

/// The charges of a run.
pub fn placed_charges(run: &Run) -> Vec<PlacedCharge> {
    let place = &run.place;
    let repo = place.repo_root.as_ref().unwrap_or(&place.execution_root);
    let placed = |charge| PlacedCharge { charge, repo: repo.clone(), workflow: place.slug.clone() };
    charges(run).into_iter().map(placed).collect()
}

/// How far local time is ahead of UTC. 0 where the system does not say.
pub async fn utc_offset_ms(io: &Io) -> i64 {
    let spec = ProcessSpec::argv(["date", "+%z"]).capture_bytes(64).timeout_ms(10_000);
    match io.process(spec).await {
        Ok(end) if end.status == ProcessStatus::Exited(0) => {
            offset_ms(end.stdout.text().trim()).unwrap_or(0)
        }
        Ok(_) | Err(_) => 0,
    }
}

/// The milliseconds of `+0200`.
pub fn offset_ms(written: &str) -> Option<i64> {
    let number: i64 = written.strip_prefix('+').unwrap_or(written).parse().ok()?;
    (written.len() == 5).then_some((number / 100 * 60 + number % 100) * 60_000)
}

/// `at`, moved.
pub fn shifted(at: Timestamp, by_ms: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_add(by_ms))
}

/// What is left of a budget of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// How much.
    pub(crate) amount: Money,
    /// The key in the configuration.
    pub(crate) key: &'static str,
    /// The whole budget.
    limit: Money,
    /// Turns of which nobody knows what they cost.
    unknown: u64,
}

impl Left {
    /// Why no turn begins; `None`: something is left.
    pub(crate) fn used_up(&self) -> Option<String> {
        if self.amount > Money::ZERO {
            return None;
        }
        let Left { key, limit, unknown, .. } = self;
        let and = match unknown {
            0 => String::new(),
            count => format!(", and {} of unknown cost", text::counted(*count, "turn")),
        };
        Some(format!(
            "`{key}: {}` of your configuration is used up{and}; raise it there, or wait for the next {}",
            limit.usd(),
            if *key == DAY { "day" } else { "month" },
        ))
    }
}

const DAY: &str = "budget.day_usd";
const MONTH: &str = "budget.month_usd";

/// Somebody who looks again and again at what all runs have cost.
#[derive(Debug)]
pub(crate) struct Spending {
    budget: MachineBudget,
    offset_ms: i64,
    known: BTreeMap<String, Known>,
}

/// What is known of one run.
#[derive(Debug)]
struct Known {
    stamp: (u64, Timestamp),
    charges: Vec<Charge>,
}

impl Spending {
    /// With the budget of the developer who drives `run`; `None`: it has no bound.
    pub(crate) async fn of(io: &Io, run: &Run) -> Option<Spending> {
        // The file beside the checkout: the one in the worktree came with the repository.
        let folder = run.place.repo_root.as_ref().unwrap_or(&run.place.execution_root);
        let budget = config::own(io, folder).await.budget;
        if budget == MachineBudget::default() {
            return None;
        }
        Some(Spending { budget, offset_ms: utc_offset_ms(io).await, known: BTreeMap::new() })
    }

    /// What is left of the budget of which the least is left. `own` is the run that asks, whose turn
    /// under way it counts itself.
    pub(crate) async fn left(&mut self, io: &Io, own: &str) -> Option<Left> {
        let Ok(home) = StateHome::of(io) else { return None };
        let (day, month) = beginnings(io.now(), self.offset_ms);
        let (mut of_day, mut of_month) = (Sum::default(), Sum::default());
        let mut under_way = Money::ZERO;
        for id in io.list(&home.runs()).await.unwrap_or_default() {
            if !is_run_id(&id) {
                continue;
            }
            let paths = Paths::new(&home, "", &id);
            self.refresh(io, &id, &paths, month).await;
            for charge in self.known.get(&id).map(|known| known.charges.as_slice()).unwrap_or(&[]) {
                if charge.at >= month {
                    of_month.add(charge);
                }
                if charge.at >= day {
                    of_day.add(charge);
                }
            }
            if id != own {
                under_way = under_way.saturating_add(turn_under_way(io, &paths, day).await);
            }
        }
        let left = |limit: Option<Money>, spent: Sum, key| {
            let limit = limit?;
            let amount = limit.saturating_sub(spent.cost.saturating_add(under_way));
            Some(Left { amount, key, limit, unknown: spent.unknown })
        };
        let both = [left(self.budget.day, of_day, DAY), left(self.budget.month, of_month, MONTH)];
        both.into_iter().flatten().min_by_key(|left| left.amount)
    }

    /// Reads a ledger that has changed since it was read, and since `month` began.
    async fn refresh(&mut self, io: &Io, id: &str, paths: &Paths, month: Timestamp) {
        let Ok(stat) = io.stat(&paths.ledger()).await else { return };
        let stamp = (stat.size_bytes, stat.modified);
        let is_known = self.known.get(id).is_some_and(|known| known.stamp == stamp);
        if is_known || stat.modified < month {
            return;
        }
        // What cannot be read is said by the commands that show runs.
        let Ok(store) = Store::open(io, id).await else { return };
        let charges = match is_counted(io, store.run()).await {
            true => Vec::new(),
            false => charges(store.run()),
        };
        self.known.insert(id.to_owned(), Known { stamp, charges });
    }
}

/// Whether it is a fork, and the run that it belongs to counts what it used.
async fn is_counted(io: &Io, fork: &Run) -> bool {
    let Some(of) = &fork.fork_of else { return false };
    Store::open(io, &of.run).await.is_ok_and(|owner| owner.run().counts_fork(&fork.id))
}

/// The beginnings of the day and the month of `now`, in local time.
fn beginnings(now: Timestamp, offset_ms: i64) -> (Timestamp, Timestamp) {
    let date = shifted(now, offset_ms).to_date();
    let month = date.get(..8).map_or_else(|| date.clone(), |start| format!("{start}01"));
    let midnight = |date: &str| {
        let at = Timestamp::parse(&format!("{date}T00:00:00Z"));
        at.map_or(now, |at| shifted(at, -offset_ms))
    };
    (midnight(&date), midnight(&month))
}

/// Writes down what the turn under way has used, for other runs.
pub(crate) async fn note_turn(io: &Io, paths: &Paths, cost: Money, tokens: u64) {
    let bytes = format!("{} {tokens}\n", cost.micros()).into_bytes();
    // Without it the others count the turn when it has ended.
    let _ = io.write(&paths.turn_cost(), bytes, Expect::Any, Durability::Relaxed).await;
}

/// The turn has ended, and the ledger says what it cost.
pub(crate) async fn forget_turn(io: &Io, paths: &Paths) {
    let _ = io.remove(&paths.turn_cost()).await;
}

/// What the turn under way of a run has cost; nothing where it was noted before `day`.
async fn turn_under_way(io: &Io, paths: &Paths, day: Timestamp) -> Money {
    let path = paths.turn_cost();
    let Ok(stat) = io.stat(&path).await else { return Money::ZERO };
    if stat.modified < day {
        return Money::ZERO;
    }
    noted_turn(io, paths).await.cost.known().unwrap_or_default()
}

/// What the turn under way of a run has used, if it was noted.
pub(crate) async fn noted_turn(io: &Io, paths: &Paths) -> Usage {
    let Ok((bytes, _)) = io.read(&paths.turn_cost(), 64).await else { return Usage::default() };
    let said = String::from_utf8_lossy(&bytes);
    let mut numbers = said.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let cost = Amount::Known(Money::from_micros(next()));
    Usage { agents: 0, cost, tokens: Amount::Known(next()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_and_a_month_begin_in_local_time() {
        let at = |text: &str| Timestamp::parse(text).expect("a time");
        let table = [
            ("2026-11-01T00:30:00Z", "+0200", "2026-10-31T22:00:00Z", "2026-10-31T22:00:00Z"),
            ("2026-11-27T15:00:00Z", "-0500", "2026-11-27T05:00:00Z", "2026-11-01T05:00:00Z"),
            ("2026-12-31T23:59:59Z", "+0000", "2026-12-31T00:00:00Z", "2026-12-01T00:00:00Z"),
        ];
        for (now, offset, day, month) in table {
            let offset = offset_ms(offset).expect("an offset");
            assert_eq!(beginnings(at(now), offset), (at(day), at(month)), "{now}");
        }
        assert_eq!(offset_ms("UTC"), None);
    }
}
