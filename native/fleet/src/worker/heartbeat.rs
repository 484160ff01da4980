//! Heartbeats: they renew leases, send watched logs, and return what the server asks for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Worker, log_tail};
use crate::engine::{Heartbeat, LeaseStatus, LogTail, Renewal};
use crate::watchdog::LeaseMessage;

/// Pause between two heartbeats of a worker without a run.
const IDLE_PAUSE: Duration = Duration::from_secs(5);
/// Heartbeats while one lease holds.
const HEARTBEATS_PER_LEASE: u64 = 4;
/// Longest pause while a person watches a run.
const WATCHED_PAUSE: Duration = Duration::from_secs(1);
/// An unchanged log is sent again after this time, because the server may have restarted without it.
const AGAIN: Duration = Duration::from_secs(30);

/// The last tail that was sent for each watched run.
type Watched = BTreeMap<String, Option<(LogTail, Instant)>>;

/// Sends heartbeats until the process ends.
pub(super) fn begin(worker: &Arc<Worker>) {
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        let mut watched = Watched::new();
        loop {
            let pause = send(&worker, &mut watched);
            // A new lease may be shorter than the pause without a run.
            worker.active.wait_for_more(pause);
        }
    });
}

/// Sends one heartbeat; returns the pause before the next one.
fn send(worker: &Worker, watched: &mut Watched) -> Duration {
    let leases = worker.active.leases();
    let lasts: BTreeMap<_, _> =
        leases.iter().map(|lease| ((&lease.run_id, lease.epoch), lease.lasts_ms)).collect();
    let heartbeat = Heartbeat {
        offer: worker.offer(),
        leases: leases.iter().map(|lease| (lease.run_id.clone(), lease.epoch)).collect(),
        logs: changed_logs(worker, watched),
    };
    // A lease counts from before its request.
    let asked = Instant::now();
    if let Ok(renewals) = worker.client.call(&heartbeat) {
        let took_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
        for tail in heartbeat.logs {
            watched.insert(tail.run_id.clone(), Some((tail, asked)));
        }
        watched.retain(|run, _| renewals.iter().any(|it| it.is_watched && it.run_id == *run));
        for Renewal { run_id, epoch, status, is_watched } in renewals {
            let lasts_ms = lasts.get(&(&run_id, epoch)).copied();
            let left_ms = lasts_ms.unwrap_or_default().saturating_sub(took_ms);
            let tell = |word| worker.active.tell(&run_id, epoch, word);
            match status {
                LeaseStatus::Held => tell(LeaseMessage::Renewed(left_ms)),
                LeaseStatus::Recalled => {
                    tell(LeaseMessage::Renewed(left_ms));
                    tell(LeaseMessage::Recalled);
                }
                LeaseStatus::Lost => tell(LeaseMessage::Lost),
            }
            if is_watched {
                watched.entry(run_id).or_default();
            }
        }
    }
    let shortest_ms = lasts.values().min().copied();
    let pause = shortest_ms.map_or(IDLE_PAUSE, |lasts_ms| {
        Duration::from_millis((lasts_ms / HEARTBEATS_PER_LEASE).max(50))
    });
    if watched.is_empty() { pause } else { pause.min(WATCHED_PAUSE) }
}

/// Returns the tails of watched logs that the server does not have.
fn changed_logs(worker: &Worker, watched: &Watched) -> Vec<LogTail> {
    let tails = watched.iter().filter_map(|(run, sent)| {
        let tail = log_tail::of_run(worker, run)?;
        let is_sent = |(before, at): &(LogTail, Instant)| *before == tail && at.elapsed() < AGAIN;
        (!sent.as_ref().is_some_and(is_sent)).then_some(tail)
    });
    tails.collect()
}
