//! Signs of life: they extend the leases, and bring back what the server wants.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Worker;
use crate::engine::{Beat, Standing};
use crate::leash::Word;

/// Between two signs of life where nothing is worked on.
const IDLE_PAUSE: Duration = Duration::from_secs(5);
/// How many signs of life there are while a lease holds.
const BEATS_PER_LEASE: u64 = 4;

/// Gives signs of life until the process ends.
pub(super) fn begin(worker: &Arc<Worker>) {
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        loop {
            let pause = beat(&worker);
            // A lease that has just begun may be shorter than a pause without one.
            worker.table.wait_for_more(pause);
        }
    });
}

/// One sign of life; how long until the next one.
fn beat(worker: &Worker) -> Duration {
    let leases = worker.table.leases();
    let lasts: BTreeMap<_, _> =
        leases.iter().map(|lease| ((&lease.run_id, lease.epoch), lease.lasts_ms)).collect();
    let beat = Beat {
        offer: worker.offer(),
        leases: leases.iter().map(|lease| (lease.run_id.clone(), lease.epoch)).collect(),
    };
    // A lease is counted from before it was asked for.
    let asked = Instant::now();
    let shortest = lasts.values().min().copied();
    if let Ok(renewals) = worker.calls.renew(&beat) {
        let took_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
        for renewal in renewals {
            let lasts_ms = lasts.get(&(&renewal.run_id, renewal.epoch)).copied();
            let left_ms = lasts_ms.unwrap_or_default().saturating_sub(took_ms);
            let tell = |word| worker.table.tell(&renewal.run_id, renewal.epoch, word);
            match renewal.standing {
                Standing::Held => tell(Word::Holds(left_ms)),
                Standing::Recalled => {
                    tell(Word::Holds(left_ms));
                    tell(Word::Recalled);
                }
                Standing::Lost => tell(Word::Lost),
            }
        }
    }
    shortest
        .map_or(IDLE_PAUSE, |lasts_ms| Duration::from_millis((lasts_ms / BEATS_PER_LEASE).max(50)))
}
