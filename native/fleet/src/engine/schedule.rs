//! The schedule in memory: which run the next worker takes, and when leases end. It follows from the
//! records and the heartbeats, so a restarted server rebuilds it. A restarted server counts each lease
//! from its start, which is later than the holder's count.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::{
    AccountView, Lease, LeaseStatus, Offer, Overview, QueueState, Renewal, RunRecord, WorkerView,
};
use crate::allow_list::covers;

/// Most runs at once, by agent.
pub type Limits = BTreeMap<String, u32>;

/// Workers without a heartbeat for this long are not shown.
const FORGET_WORKER_MS: u64 = 24 * 60 * 60 * 1000;

/// The present by the wall clock and by a monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Milliseconds since 1970.
    pub(super) wall_ms: u64,
    /// The monotonic time, for leases.
    pub(super) steady: Instant,
}

#[derive(Debug)]
pub(super) struct Schedule {
    lease: Duration,
    limits: Limits,
    entries: BTreeMap<String, Entry>,
    /// Unfinished runs, the oldest first.
    open: BTreeSet<(u64, String)>,
    workers: BTreeMap<String, WorkerView>,
    /// Ends of rate limits, by agent.
    served_ms: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Entry {
    record: RunRecord,
    /// The end of the lease.
    ends: Option<Instant>,
    is_recalled: bool,
    /// A caller is about to get it.
    is_reserved: bool,
}

/// The answer to a claim.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// The run has no lease.
    Free,
    /// The caller has its lease.
    Own(Lease),
    /// Another holder has it.
    Busy(String),
    /// The lease with this number has ended, and the end is not stored yet.
    Ended(u64),
    /// Another caller is about to get it.
    Soon,
}

impl Schedule {
    pub(super) fn new(lease: Duration, limits: Limits) -> Schedule {
        Schedule {
            lease,
            limits,
            entries: BTreeMap::new(),
            open: BTreeSet::new(),
            workers: BTreeMap::new(),
            served_ms: BTreeMap::new(),
        }
    }

    /// Takes the record of a run, unless a newer one is known.
    pub(super) fn put(&mut self, record: RunRecord, now: Now) {
        let mut agents: Vec<(String, u64)> = Vec::new();
        if let Some(unserved) = &record.unserved {
            agents.push((unserved.agent.clone(), unserved.until_ms));
        }
        if let QueueState::RateLimited { at_ms, agent } = &record.state {
            agents.push((agent.clone(), *at_ms));
        }
        for (agent, until_ms) in agents.into_iter().filter(|(_, at)| *at > now.wall_ms) {
            let known = self.served_ms.entry(agent).or_default();
            *known = until_ms.max(*known);
        }
        let before = self.entries.remove(&record.run_id);
        let before = match before {
            Some(entry) if entry.record.version > record.version => {
                self.entries.insert(record.run_id.clone(), entry);
                return;
            }
            before => before,
        };
        let same = before.filter(|entry| entry.record.epoch == record.epoch);
        let ends = match &same {
            _ if record.holder.is_none() => None,
            Some(Entry { ends: Some(ends), .. }) => Some(*ends),
            Some(_) | None => Some(now.steady + self.lease),
        };
        let key = (record.queued_ms, record.run_id.clone());
        if record.is_finished() {
            self.open.remove(&key);
        } else {
            self.open.insert(key);
        }
        let is_recalled = ends.is_some() && same.is_some_and(|entry| entry.is_recalled);
        let run_id = record.run_id.clone();
        self.entries.insert(run_id, Entry { record, ends, is_recalled, is_reserved: false });
    }

    pub(super) fn record(&self, run_id: &str) -> Option<&RunRecord> {
        self.entries.get(run_id).map(|entry| &entry.record)
    }

    /// Reserves the oldest run that matches the offer and whose agent is below its limit. The
    /// reservation ends with [`Schedule::put`] or [`Schedule::cancel_reservation`].
    pub(super) fn choose(&mut self, offer: &Offer, now: Now) -> Option<String> {
        let (_, run_id) = self.open.iter().find(|(_, run_id)| {
            self.entries.get(run_id).is_some_and(|entry| self.fits(entry, offer, now))
        })?;
        let run_id = run_id.clone();
        self.entries.get_mut(&run_id)?.is_reserved = true;
        Some(run_id)
    }

    fn fits(&self, entry: &Entry, offer: &Offer, now: Now) -> bool {
        let is_due = match &entry.record.state {
            QueueState::Ready => true,
            QueueState::RateLimited { at_ms, .. } | QueueState::Retry { at_ms, .. } => {
                *at_ms <= now.wall_ms
            }
            QueueState::NeedsPerson { .. }
            | QueueState::Finished { .. }
            | QueueState::Local { .. } => false,
        };
        is_due
            && entry.record.holder.is_none()
            && !entry.is_reserved
            && offer.repositories.iter().any(|wanted| covers(wanted, &entry.record.repository))
            && entry.record.agents.first().is_none_or(|agent| self.has_room(agent, now))
    }

    fn has_room(&self, agent: &str, now: Now) -> bool {
        self.served_ms.get(agent).is_none_or(|until_ms| *until_ms <= now.wall_ms)
            && self.limits.get(agent).is_none_or(|parallel| self.busy(agent) < *parallel)
    }

    /// Returns the number of runs with a lease or a reservation whose first choice is `agent`.
    fn busy(&self, agent: &str) -> u32 {
        let has = |entry: &&Entry| {
            (entry.record.holder.is_some() || entry.is_reserved)
                && entry.record.agents.first().is_some_and(|first| first == agent)
        };
        let open = self.open.iter().filter_map(|(_, run_id)| self.entries.get(run_id));
        u32::try_from(open.filter(has).count()).unwrap_or(u32::MAX)
    }

    /// Ends a reservation without a change.
    pub(super) fn let_go(&mut self, run_id: &str) {
        if let Some(entry) = self.entries.get_mut(run_id) {
            entry.is_reserved = false;
        }
    }

    /// Returns finished runs that were submitted before this time.
    pub(super) fn finished_before(&self, queued_ms: u64) -> Vec<String> {
        let old = self.entries.values().map(|entry| &entry.record);
        let old = old.filter(|record| record.is_finished() && record.queued_ms < queued_ms);
        old.map(|record| record.run_id.clone()).collect()
    }

    /// Reserves a finished run until [`Schedule::put`], [`Schedule::cancel_reservation`] or
    /// [`Schedule::remove`]; returns whether it could.
    pub(super) fn reserve_finished(&mut self, run_id: &str) -> bool {
        let is_free = |entry: &&mut Entry| entry.record.is_finished() && !entry.is_reserved;
        match self.entries.get_mut(run_id).filter(is_free) {
            Some(entry) => {
                entry.is_reserved = true;
                true
            }
            None => false,
        }
    }

    /// Removes a run.
    pub(super) fn remove(&mut self, run_id: &str) {
        if let Some(Entry { record, .. }) = self.entries.remove(run_id) {
            self.open.remove(&(record.queued_ms, record.run_id));
        }
    }

    /// Returns the next time at which a run becomes ready without an event.
    pub(super) fn next_due_ms(&self, now: Now) -> Option<u64> {
        let rests = self.open.iter().filter_map(|(_, run_id)| {
            match self.entries.get(run_id).map(|entry| &entry.record.state) {
                Some(QueueState::RateLimited { at_ms, .. } | QueueState::Retry { at_ms, .. }) => {
                    Some(*at_ms)
                }
                _ => None,
            }
        });
        rests.chain(self.served_ms.values().copied()).filter(|at| *at > now.wall_ms).min()
    }

    /// Returns leases that have ended, by run and number.
    pub(super) fn ended(&self, now: Now) -> Vec<(String, u64)> {
        self.leases()
            .filter(|(_, ends)| *ends <= now.steady)
            .map(|(record, _)| (record.run_id.clone(), record.epoch))
            .collect()
    }

    /// Returns the end of the next lease.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.leases().map(|(_, ends)| ends).min()
    }

    fn leases(&self) -> impl Iterator<Item = (&RunRecord, Instant)> {
        let open = self.open.iter().filter_map(|(_, run_id)| self.entries.get(run_id));
        open.filter_map(|entry| Some((&entry.record, entry.ends?)))
    }

    /// Answers a claim of a run; `None`: there is no such run.
    pub(super) fn claim(
        &mut self,
        run_id: &str,
        holder: &str,
        recall: bool,
        now: Now,
    ) -> Option<Claimed> {
        let lease = self.lease;
        let entry = self.entries.get_mut(run_id)?;
        Some(match (&entry.record.holder, entry.ends) {
            _ if entry.is_reserved => Claimed::Soon,
            (Some(_), Some(ends)) if ends <= now.steady => Claimed::Ended(entry.record.epoch),
            (Some(own), _) if own == holder => {
                entry.ends = Some(now.steady + lease);
                Claimed::Own(lease_of(&entry.record, lease))
            }
            (Some(other), _) => {
                entry.is_recalled |= recall;
                Claimed::Busy(other.clone())
            }
            (None, _) => {
                entry.is_reserved = true;
                Claimed::Free
            }
        })
    }

    /// Returns the lease of a run.
    pub(super) fn lease(&self, record: &RunRecord) -> Lease {
        lease_of(record, self.lease)
    }

    /// Records a heartbeat and renews the leases.
    pub(super) fn renew(
        &mut self,
        offer: &Offer,
        leases: &[(String, u64)],
        now: Now,
    ) -> Vec<Renewal> {
        self.hear(offer, now);
        let renewals = leases.iter().map(|(run_id, epoch)| {
            let held = self.entries.get_mut(run_id).filter(|entry| {
                let is_its_own = entry.record.holder.as_ref() == Some(&offer.worker);
                is_its_own && entry.record.epoch == *epoch
            });
            let status = match held {
                None => LeaseStatus::Lost,
                // It has ended, and another worker is about to get the run.
                Some(Entry { ends: Some(ends), .. }) if *ends <= now.steady => LeaseStatus::Lost,
                Some(entry) => {
                    entry.ends = Some(now.steady + self.lease);
                    if entry.is_recalled { LeaseStatus::Recalled } else { LeaseStatus::Held }
                }
            };
            Renewal { run_id: run_id.clone(), epoch: *epoch, status, is_watched: false }
        });
        renewals.collect()
    }

    /// Records the offer of a worker.
    pub(super) fn hear(&mut self, offer: &Offer, now: Now) {
        let view = WorkerView { offer: offer.clone(), seen_ms: now.wall_ms };
        self.workers.insert(offer.worker.clone(), view);
        self.workers.retain(|_, worker| worker.seen_ms + FORGET_WORKER_MS > now.wall_ms);
    }

    /// Returns the status of the fleet.
    pub(super) fn overview(&self, now: Now) -> Overview {
        let mut records: Vec<&RunRecord> =
            self.entries.values().map(|entry| &entry.record).collect();
        records.sort_by_key(|record| std::cmp::Reverse((record.queued_ms, &record.run_id)));
        let first = records.iter().filter_map(|record| record.agents.first());
        let agents: BTreeSet<&String> =
            self.limits.keys().chain(self.served_ms.keys()).chain(first).collect();
        let accounts = agents.into_iter().map(|agent| AccountView {
            agent: agent.clone(),
            parallel: self.limits.get(agent).copied(),
            busy: self.busy(agent),
            until_ms: self.served_ms.get(agent).copied().filter(|until| *until > now.wall_ms),
        });
        let is_worth_a_line = |account: &AccountView| {
            account.parallel.is_some() || account.busy > 0 || account.until_ms.is_some()
        };
        // The offer of a worker is some seconds old.
        let at_work = |worker: &WorkerView| {
            let is_its_own =
                |record: &&&RunRecord| record.holder.as_ref() == Some(&worker.offer.worker);
            let busy = u32::try_from(records.iter().filter(is_its_own).count()).unwrap_or(u32::MAX);
            WorkerView { offer: Offer { busy, ..worker.offer.clone() }, ..worker.clone() }
        };
        Overview {
            runs: records.iter().map(|record| record.view()).collect(),
            workers: self.workers.values().map(at_work).collect(),
            accounts: accounts.filter(is_worth_a_line).collect(),
        }
    }
}

/// Returns the lease as its holder sees it. The holder counts from before its request, and stops after
/// two thirds of the time.
fn lease_of(record: &RunRecord, lease: Duration) -> Lease {
    let lasts_ms = u64::try_from(lease.as_millis() * 2 / 3).unwrap_or(u64::MAX);
    let holder = record.holder.clone().unwrap_or_default();
    Lease { run_id: record.run_id.clone(), epoch: record.epoch, holder, lasts_ms }
}
