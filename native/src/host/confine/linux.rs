//! Chooses the mechanism on Linux and its parts.

use std::io;
use std::os::fd::RawFd;
use std::process::Command as OsCommand;

use onloop_core::effect::{Confinement, Failure, Mechanism, Network, ProcessStatus};

use super::bubblewrap::Parts;
use super::filter::{self, Wanted};
use super::guard::Guard;
use super::paths::ConfinedPaths;
use super::read_only::Snapshot;
use super::restrict::Restrictions;
use super::{Finished, bubblewrap, impossible, landlock, no_private_git, private_git, sockets};
use crate::host::egress::Egress;
use crate::host::failure;

/// Why a list of names is refused.
const NAMES_NEED_BWRAP: &str = "a list of names in `network` takes `bwrap`";

/// A confined program.
pub(in crate::host) struct Confined {
    mechanism: Mechanism,
    status: Option<bubblewrap::Status>,
    egress: Option<Egress>,
    snapshot: Snapshot,
    /// Repairs if this process does not.
    _guard: Guard,
    restrictions: Option<Restrictions>,
}

/// Confines `command`, which must start with the returned [`Restrictions`]. What repairs after a kill keeps
/// the locks `records` until it has.
pub(in crate::host) fn confine(
    command: OsCommand,
    confinement: &Confinement,
    records: &[RawFd],
) -> Result<(OsCommand, Confined), Failure> {
    let paths = ConfinedPaths::of(confinement);
    let network = &confinement.network;
    match mechanism(confinement)? {
        Chosen::Bubblewrap(program) => {
            if !bubblewrap::is_there(&command) {
                return Err(failure::of(&io::ErrorKind::NotFound.into(), "cannot run a program"));
            }
            let contents = match &confinement.git {
                Some(git) => private_git::prepare(git)?,
                None => None,
            };
            let rules = landlock::scopes();
            let wanted = Wanted {
                network: network.clone(),
                // Abstract sockets belong to the network namespace, which is shared then.
                no_local_sockets: rules.is_none() && *network == Network::All,
                no_shared_memory: false,
            };
            let filter = filter::program(&wanted)?;
            let sockets = sockets::with_a_path();
            let snapshot = Snapshot::unprotected(&paths)?;
            let way_out = network.is_list().then(|| Egress::start(network)).transpose();
            let (egress, entry) = way_out.map_err(no_way_out)?.unzip();
            let parts = Parts { paths: &paths, contents, sockets: &sockets, entry };
            let bubblewrap::Wrapped { command, inherited, status } =
                bubblewrap::wrap(program, &command, confinement, parts)?;
            let restrictions = Restrictions {
                inherited,
                empty_environment: true,
                no_capabilities: false,
                rules,
                filter,
            };
            let guard =
                Guard::start(&snapshot, Some(status.as_fd()), records).map_err(unguarded)?;
            let confined = Confined {
                mechanism: Mechanism::Bubblewrap,
                status: Some(status),
                egress,
                snapshot,
                _guard: guard,
                restrictions: Some(restrictions),
            };
            Ok((command, confined))
        }
        Chosen::Landlock if confinement.git.is_some() => Err(no_private_git()),
        Chosen::Landlock => {
            let rules = Some(landlock::files(&paths)?);
            let no_local_sockets = true;
            let network = network.clone();
            let wanted = Wanted { network, no_local_sockets, no_shared_memory: true };
            let filter = filter::program(&wanted)?;
            let snapshot = Snapshot::all(&paths)?;
            let restrictions = Restrictions {
                inherited: Vec::new(),
                empty_environment: false,
                no_capabilities: true,
                rules,
                filter,
            };
            let guard = Guard::start(&snapshot, None, records).map_err(unguarded)?;
            let confined = Confined {
                mechanism: Mechanism::Landlock,
                status: None,
                egress: None,
                snapshot,
                _guard: guard,
                restrictions: Some(restrictions),
            };
            Ok((command, confined))
        }
    }
}

/// The failure of a proxy that cannot start.
fn no_way_out(error: io::Error) -> Failure {
    impossible(format_args!("the network of the sandbox: {}", failure::reason(&error)))
}

/// The failure without a process that puts files back.
fn unguarded(error: io::Error) -> Failure {
    impossible(failure::reason(&error))
}

enum Chosen {
    Bubblewrap(&'static bubblewrap::Bubblewrap),
    Landlock,
}

fn mechanism(confinement: &Confinement) -> Result<Chosen, Failure> {
    if confinement.only == Some(Mechanism::Seatbelt) {
        return Err(impossible("this is not macOS"));
    }
    if confinement.only != Some(Mechanism::Landlock) {
        match bubblewrap::usable() {
            Ok(program) => return Ok(Chosen::Bubblewrap(program)),
            Err(why) if confinement.only.is_some() => return Err(impossible(why)),
            Err(why) if confinement.network.is_list() => {
                return Err(impossible(format_args!("{NAMES_NEED_BWRAP}: {why}")));
            }
            Err(why) if confinement.network == Network::Loopback => {
                return Err(impossible(format_args!("a loopback of its own takes `bwrap`: {why}")));
            }
            Err(_) => {}
        }
    }
    if confinement.network.is_list() {
        return Err(impossible(NAMES_NEED_BWRAP));
    }
    if confinement.network == Network::Loopback {
        return Err(impossible("Landlock cannot tell one network from another"));
    }
    Ok(Chosen::Landlock)
}

impl Confined {
    /// Takes the restrictions for the start. Drop them once the program runs, because they hold
    /// descriptors.
    pub(in crate::host) fn take_restrictions(&mut self) -> Option<Restrictions> {
        self.restrictions.take()
    }

    /// Repairs unprotected paths after the program and its descendants have ended.
    pub(in crate::host) fn finish(self, status: ProcessStatus) -> Result<Finished, Failure> {
        let repaired = self.snapshot.repair()?;
        let by_itself = matches!(status, ProcessStatus::Exited(_));
        if by_itself && self.status.is_some_and(|status| !status.was_started()) {
            return Err(impossible("`bwrap` could not start it; see what it wrote"));
        }
        let refused = self.egress.map_or_else(Vec::new, |egress| egress.refused());
        Ok(Finished { mechanism: self.mechanism, repaired, refused })
    }
}
