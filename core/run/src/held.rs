//! The sandbox of every process of a run, as its ledger records it.

use super::event::{Acting, Worker};
use super::hold::Hold;
use serde::{Deserialize, Serialize};

/// The least that has ever held the processes of a worker of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkHold {
    /// Who worked.
    pub worker: Worker,
    /// Number of the step, as [`Acting::step`].
    pub step: u32,
    /// What held them.
    #[serde(flatten)]
    pub hold: Hold,
}

impl WorkHold {
    /// The one of processes that were started; `None` in ledgers that do not say it.
    pub(super) fn of(acting: &Acting) -> Option<WorkHold> {
        let hold = acting.hold.clone()?;
        Some(WorkHold { worker: acting.worker, step: acting.step, hold })
    }

    /// Adds it to what is known. Attempts and checks of a step can be held differently: nobody should
    /// take the whole for safer than its weakest part.
    pub(super) fn put(self, holds: &mut Vec<WorkHold>) {
        let is_same =
            |known: &&mut WorkHold| (known.worker, known.step) == (self.worker, self.step);
        match holds.iter_mut().find(is_same) {
            Some(known) if known.hold.rank() > self.hold.rank() => *known = self,
            Some(_) => {}
            None => holds.push(self),
        }
    }
}

/// The sandbox of every process of a run, on one line; `None` if unknown.
pub fn hold_line(holds: &[WorkHold]) -> Option<String> {
    let mut kinds: Vec<(&Hold, Vec<String>)> = Vec::new();
    for WorkHold { worker, step, hold } in holds {
        let who = match worker {
            Worker::SetUp => "setup".to_owned(),
            Worker::Agent | Worker::Check | Worker::Review => {
                format!("{} of step {step}", worker.as_str())
            }
        };
        match kinds.iter_mut().find(|(known, _)| *known == hold) {
            Some((_, workers)) => workers.push(who),
            None => kinds.push((hold, vec![who])),
        }
    }
    match kinds.as_slice() {
        [] => None,
        [(hold, _)] => Some(hold.to_string()),
        several => {
            let part =
                |(hold, workers): &(&Hold, Vec<String>)| format!("{hold}: {}", workers.join(", "));
            Some(several.iter().map(part).collect::<Vec<_>>().join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::{Mechanism, Network};

    fn confined(network: Network) -> Hold {
        Hold::Confined { by: Mechanism::Bubblewrap, network }
    }

    #[test]
    fn what_held_least_is_what_is_told() {
        let free = Hold::Unconfined { why: "`--confine off`".to_owned() };
        let mut holds = Vec::new();
        let table = [
            (Worker::Agent, 1, confined(Network::All)),
            (Worker::Check, 1, confined(Network::None)),
            (Worker::Check, 1, confined(Network::All)),
            (Worker::Check, 1, confined(Network::Loopback)),
        ];
        for (worker, step, hold) in table {
            WorkHold { worker, step, hold }.put(&mut holds);
        }
        assert_eq!(hold_line(&holds).as_deref(), Some("bubblewrap"));
        WorkHold { worker: Worker::Agent, step: 2, hold: free.clone() }.put(&mut holds);
        WorkHold { worker: Worker::Agent, step: 2, hold: confined(Network::All) }.put(&mut holds);
        WorkHold { worker: Worker::SetUp, step: 1, hold: free }.put(&mut holds);
        assert_eq!(
            hold_line(&holds).as_deref(),
            Some(
                "bubblewrap: agent of step 1, check of step 1; not confined (`--confine off`): \
                 agent of step 2, setup"
            )
        );
        assert_eq!(hold_line(&[]), None);
    }
}
