//! The sandbox status of a run's processes, as its ledger records it.

use std::fmt;

use onloop_effect::{Mechanism, Network};
use onloop_syntax::text;
use serde::{Deserialize, Serialize};

use super::event::{Acting, Worker};

/// What kept the processes of one worker from touching more than they should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SandboxStatus {
    /// The kernel.
    Confined {
        /// By this means.
        by: Mechanism,
        /// The network that they had.
        network: Network,
        /// Caches outside of the worktree that they shared with other processes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caches: Vec<String>,
    },
    /// Nothing.
    Unconfined {
        /// Why not, on one line.
        why: String,
    },
}

impl fmt::Display for SandboxStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxStatus::Confined { by, network: Network::All, .. } => f.write_str(by.as_str()),
            SandboxStatus::Confined { by, network, .. } => {
                write!(f, "{}, network {network}", by.as_str())
            }
            SandboxStatus::Unconfined { why } => {
                write!(f, "not confined ({})", text::one_line(why))
            }
        }
    }
}

impl SandboxStatus {
    /// A stricter sandbox has a higher rank.
    fn rank(&self) -> u8 {
        match self {
            SandboxStatus::Unconfined { .. } => 0,
            SandboxStatus::Confined { network: Network::All, .. } => 1,
            SandboxStatus::Confined { network: Network::Names(_), .. } => 2,
            SandboxStatus::Confined { network: Network::Loopback, .. } => 3,
            SandboxStatus::Confined { network: Network::None, .. } => 4,
        }
    }
}

/// The weakest sandbox that the processes of a worker of a step have had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSandbox {
    /// Who worked.
    pub worker: Worker,
    /// Number of the step, as [`Acting::step`].
    pub step: u32,
    /// The sandbox.
    #[serde(flatten)]
    pub status: SandboxStatus,
}

impl WorkerSandbox {
    /// The one of processes that were started; `None` in ledgers that do not say it.
    pub(super) fn of(acting: &Acting) -> Option<WorkerSandbox> {
        let status = acting.sandbox.clone()?;
        Some(WorkerSandbox { worker: acting.worker, step: acting.step, status })
    }

    /// Adds it to what is known. Attempts and checks of a step can have different sandboxes: nobody
    /// should take the whole for safer than its weakest part.
    pub(super) fn put(self, sandboxes: &mut Vec<WorkerSandbox>) {
        let is_same =
            |known: &&mut WorkerSandbox| (known.worker, known.step) == (self.worker, self.step);
        match sandboxes.iter_mut().find(is_same) {
            Some(known) if known.status.rank() > self.status.rank() => *known = self,
            Some(_) => {}
            None => sandboxes.push(self),
        }
    }
}

/// The sandbox of every process of a run, on one line; `None` if unknown.
pub fn sandbox_line(sandboxes: &[WorkerSandbox]) -> Option<String> {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for WorkerSandbox { worker, step, status } in sandboxes {
        let who = match worker {
            Worker::SetUp => "setup".to_owned(),
            Worker::Agent | Worker::Check | Worker::Review => {
                format!("{} of step {step}", worker.as_str())
            }
        };
        let status = status.to_string();
        match kinds.iter_mut().find(|(known, _)| *known == status) {
            Some((_, workers)) => workers.push(who),
            None => kinds.push((status, vec![who])),
        }
    }
    match kinds.as_slice() {
        [] => None,
        [(status, _)] => Some(status.clone()),
        several => {
            let part = |(status, workers): &(String, Vec<String>)| {
                format!("{status}: {}", workers.join(", "))
            };
            Some(several.iter().map(part).collect::<Vec<_>>().join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined(network: Network) -> SandboxStatus {
        let caches = vec![format!("/caches/{network}")];
        SandboxStatus::Confined { by: Mechanism::Bubblewrap, network, caches }
    }

    #[test]
    fn the_weakest_sandbox_is_what_is_said() {
        let free = SandboxStatus::Unconfined { why: "`--confine off`".to_owned() };
        let mut sandboxes = Vec::new();
        let table = [
            (Worker::Agent, 1, confined(Network::All)),
            (Worker::Check, 1, confined(Network::None)),
            (Worker::Check, 1, confined(Network::All)),
            (Worker::Check, 1, confined(Network::Loopback)),
        ];
        for (worker, step, status) in table {
            WorkerSandbox { worker, step, status }.put(&mut sandboxes);
        }
        assert_eq!(sandbox_line(&sandboxes).as_deref(), Some("bubblewrap"));
        let later = [
            (Worker::Agent, 2, free.clone()),
            (Worker::Agent, 2, confined(Network::All)),
            (Worker::SetUp, 1, free),
        ];
        for (worker, step, status) in later {
            WorkerSandbox { worker, step, status }.put(&mut sandboxes);
        }
        assert_eq!(
            sandbox_line(&sandboxes).as_deref(),
            Some(
                "bubblewrap: agent of step 1, check of step 1; not confined (`--confine off`): \
                 agent of step 2, setup"
            )
        );
        assert_eq!(sandbox_line(&[]), None);
    }
}
