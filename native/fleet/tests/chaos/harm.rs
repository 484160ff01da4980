//! Faults of a fleet and their repairs.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::Kind;
use crate::random::Random;
use crate::world::World;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harm {
    KillWorker,
    KillGuard,
    KillDriver,
    KillAgent,
    KillEngine,
    KillServer,
    /// Kills the server, its engine and every worker at once.
    KillEverything,
    FreezeWorker,
    FreezeDriver,
    RemoteAway,
    /// From now on two persons decide each gate at once.
    TwoPersons,
    /// A person abandons a run.
    Abandon,
}

/// The weight of each fault. A fault with a slow recovery is rarer.
const WEIGHTS: [(Harm, u64); 12] = [
    (Harm::KillWorker, 4),
    (Harm::KillGuard, 4),
    (Harm::KillDriver, 5),
    (Harm::KillAgent, 4),
    (Harm::KillEngine, 2),
    (Harm::KillServer, 2),
    (Harm::KillEverything, 1),
    (Harm::FreezeWorker, 3),
    (Harm::FreezeDriver, 3),
    (Harm::RemoteAway, 3),
    (Harm::TwoPersons, 3),
    (Harm::Abandon, 2),
];

/// The repair of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    Thaw(Pid),
    RemoteBack,
}

impl Harm {
    pub(crate) fn draw(random: &mut Random) -> Harm {
        let all: u64 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut at = random.below(all);
        for (harm, weight) in WEIGHTS {
            match at.checked_sub(weight) {
                Some(rest) => at = rest,
                None => return harm,
            }
        }
        unreachable!("what is drawn is below the sum")
    }

    /// Injects the fault; returns its repair if it does not recover by itself. `Err`: it has no target
    /// now.
    pub(crate) fn strike(self, world: &World, random: &mut Random) -> Result<Option<Remedy>, ()> {
        match self {
            Harm::KillWorker => signal(world, random, Kind::Worker, Signal::KILL).map(|_| None),
            Harm::KillGuard => signal(world, random, Kind::Guard, Signal::KILL).map(|_| None),
            Harm::KillDriver => signal(world, random, Kind::Driver, Signal::KILL).map(|_| None),
            Harm::KillAgent => signal(world, random, Kind::Agent, Signal::KILL).map(|_| None),
            Harm::KillEngine => signal(world, random, Kind::Engine, Signal::KILL).map(|_| None),
            Harm::KillServer => signal(world, random, Kind::Up, Signal::KILL).map(|_| None),
            Harm::KillEverything => {
                let kinds = [Kind::Up, Kind::Engine, Kind::Worker];
                world
                    .processes()
                    .iter()
                    .filter(|process| kinds.contains(&process.kind))
                    .for_each(|process| process.signal(Signal::KILL));
                Ok(None)
            }
            Harm::FreezeWorker => {
                signal(world, random, Kind::Worker, Signal::STOP).map(Remedy::Thaw).map(Some)
            }
            Harm::FreezeDriver => {
                signal(world, random, Kind::Driver, Signal::STOP).map(Remedy::Thaw).map(Some)
            }
            Harm::RemoteAway => {
                fs::rename(world.path("shop.git"), world.path("away.git")).map_err(|_| ())?;
                Ok(Some(Remedy::RemoteBack))
            }
            Harm::TwoPersons | Harm::Abandon => Ok(None),
        }
    }
}

impl Remedy {
    pub(crate) fn apply(self, world: &World) {
        match self {
            // Another fault may have killed the process.
            Remedy::Thaw(pid) => drop(kill_process(pid, Signal::CONT)),
            Remedy::RemoteBack => {
                fs::rename(world.path("away.git"), world.path("shop.git")).expect("moved back");
            }
        }
    }
}

fn signal(world: &World, random: &mut Random, kind: Kind, signal: Signal) -> Result<Pid, ()> {
    let there: Vec<Pid> = world
        .processes()
        .iter()
        .filter(|process| process.kind == kind)
        .map(|process| process.pid)
        .collect();
    let pid = random.pick(&there).ok_or(())?;
    kill_process(pid, signal).map_err(|_| ())?;
    Ok(pid)
}
