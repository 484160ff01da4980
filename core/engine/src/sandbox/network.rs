//! The network of a process: what the check, the step, the workflow or the developer says, else the
//! default of its kind.

use onloop_agents::confine::agent_network;
use onloop_effect::{Mechanism, Network};
use onloop_run::{Run, Worker};
use onloop_workflow::{Check, Step};

/// The network that a process is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NetworkRequest {
    /// What is asked for; `None`: nothing.
    asked: Option<Network>,
    /// What `run.network` is asked before; `None`: the network does not depend on it.
    default: Option<Network>,
}

/// A list was asked for where it cannot be enforced.
pub(crate) struct NamesRefused;

/// Why a list of names is refused.
pub(crate) const NAMES_NEED: &str = "a list of names in `network` needs bubblewrap";

impl NetworkRequest {
    /// This network, whatever is configured.
    pub(crate) fn exactly(network: Network) -> NetworkRequest {
        NetworkRequest { asked: Some(network), default: None }
    }

    /// What a worker of a step asks for; `check` is what its check says.
    pub(crate) fn of_work(
        run: &Run,
        (worker, step): (Worker, u32),
        check: Option<Network>,
    ) -> NetworkRequest {
        let of_step = || match worker {
            Worker::Agent | Worker::Check => run.step(step)?.step.network.clone(),
            Worker::SetUp | Worker::Review => None,
        };
        let asked = check.or_else(of_step).or_else(|| run.settings.network.clone());
        let default = match worker {
            Worker::Agent | Worker::Review => agent_network(),
            Worker::Check | Worker::SetUp => Network::All,
        };
        NetworkRequest { asked, default: Some(default) }
    }

    /// The network, where `run.network` is `configured` and `mechanism` enforces it; `None`: the
    /// strongest one, which refuses what it cannot enforce.
    ///
    /// # Errors
    ///
    /// The mechanism cannot enforce the list that was asked for.
    pub(crate) fn decide(
        self,
        configured: Option<&Network>,
        mechanism: Option<Mechanism>,
    ) -> Result<Network, NamesRefused> {
        let has_names = matches!(mechanism, None | Some(Mechanism::Bubblewrap));
        let configured = configured.filter(|_| self.default.is_some()).cloned();
        match (self.asked.or(configured), self.default) {
            (Some(network), _) if network.is_list() && !has_names => Err(NamesRefused),
            (Some(network), _) => Ok(network),
            (None, Some(network)) if has_names || !network.is_list() => Ok(network),
            (None, _) => Ok(Network::All),
        }
    }
}

/// Whether a workflow, one of its steps or one of their checks asks for a list of names.
pub(crate) fn asks_for_names<'s>(
    network: Option<&Network>,
    steps: impl Iterator<Item = &'s Step>,
) -> bool {
    let of_check = |check: &Check| match check {
        Check::Shell(shell) => shell.network.as_ref().is_some_and(Network::is_list),
        Check::Browser { .. } | Check::HumanReview { .. } | Check::Artifact { .. } => false,
    };
    let of_step = |step: &Step| {
        step.network.as_ref().is_some_and(Network::is_list) || step.checks.iter().any(of_check)
    };
    network.is_some_and(Network::is_list) || { steps }.any(of_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_decides_and_a_default_gives_way() {
        let names: Network = "a.example".parse().unwrap();
        let agent = NetworkRequest { asked: None, default: Some(agent_network()) };
        let check = NetworkRequest { asked: None, default: Some(Network::All) };
        let asked = NetworkRequest { asked: Some(names.clone()), ..check.clone() };
        let (bubblewrap, landlock) = (Some(Mechanism::Bubblewrap), Some(Mechanism::Landlock));
        let table = [
            (&agent, None, bubblewrap, Some(agent_network())),
            (&agent, None, landlock, Some(Network::All)),
            (&agent, Some(&names), bubblewrap, Some(names.clone())),
            (&agent, Some(&names), landlock, None),
            (&agent, Some(&Network::None), landlock, Some(Network::None)),
            (&check, None, bubblewrap, Some(Network::All)),
            (&check, Some(&names), bubblewrap, Some(names.clone())),
            (&asked, Some(&Network::None), bubblewrap, Some(names.clone())),
            (&asked, None, landlock, None),
            (&asked, None, None, Some(names.clone())),
        ];
        for (request, configured, mechanism, expected) in table {
            let found = request.clone().decide(configured, mechanism).ok();
            assert_eq!(found, expected, "{request:?} {configured:?} {mechanism:?}");
        }
        let own = NetworkRequest::exactly(Network::None);
        assert_eq!(own.decide(Some(&Network::All), bubblewrap).ok(), Some(Network::None));
    }
}
