//! Linux: which mechanism, and what of each.

use std::io;
use std::process::Command as OsCommand;

use onloop_core::effect::{Confinement, Failure, Mechanism, Network, ProcessStatus};

use super::filter::{self, Wanted};
use super::kept::Kept;
use super::places::Places;
use super::restrict::Restrictions;
use super::{bubblewrap, impossible, landlock, sockets};
use crate::host::failure;

/// A program that was started confined.
pub(in crate::host) struct Confined {
    mechanism: Mechanism,
    status: Option<bubblewrap::Status>,
    kept: Kept,
    restrictions: Option<Restrictions>,
}

/// Confines `command`, which has to be started with the [`Restrictions`] that come with it.
pub(in crate::host) fn confine(
    command: OsCommand,
    confinement: &Confinement,
) -> Result<(OsCommand, Confined), Failure> {
    let places = Places::of(confinement);
    let network = confinement.network;
    match mechanism(confinement)? {
        Chosen::Bubblewrap(program) => {
            if !bubblewrap::is_there(&command) {
                return Err(failure::of(&io::ErrorKind::NotFound.into(), "cannot run a program"));
            }
            let rules = landlock::scopes();
            let wanted = Wanted {
                network,
                // Abstract sockets are those of the network, which is shared then.
                no_local_sockets: rules.is_none() && network == Network::All,
                no_shared_memory: false,
            };
            let filter = filter::program(wanted)?;
            let sockets = sockets::with_a_path();
            let kept = Kept::unheld(&places)?;
            let bubblewrap::Wrapped { command, inherited, status } =
                bubblewrap::wrap(program, &command, &places, network, &sockets)?;
            let restrictions = Restrictions {
                inherited,
                empty_environment: true,
                no_capabilities: false,
                rules,
                filter,
            };
            let confined = Confined {
                mechanism: Mechanism::Bubblewrap,
                status: Some(status),
                kept,
                restrictions: Some(restrictions),
            };
            Ok((command, confined))
        }
        Chosen::Landlock => {
            let rules = Some(landlock::files(&places)?);
            let no_local_sockets = true;
            let wanted = Wanted { network, no_local_sockets, no_shared_memory: true };
            let filter = filter::program(wanted)?;
            let kept = Kept::all(&places)?;
            let restrictions = Restrictions {
                inherited: Vec::new(),
                empty_environment: false,
                no_capabilities: true,
                rules,
                filter,
            };
            let confined = Confined {
                mechanism: Mechanism::Landlock,
                status: None,
                kept,
                restrictions: Some(restrictions),
            };
            Ok((command, confined))
        }
    }
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
            Err(why) if confinement.network == Network::Loopback => {
                return Err(impossible(format_args!("a loopback of its own takes `bwrap`: {why}")));
            }
            Err(_) => {}
        }
    }
    if confinement.network == Network::Loopback {
        return Err(impossible("Landlock cannot tell one network from another"));
    }
    Ok(Chosen::Landlock)
}

impl Confined {
    /// What the program has to be started with; to be dropped once it runs, or what it inherits
    /// stays open here.
    pub(in crate::host) fn take_restrictions(&mut self) -> Option<Restrictions> {
        self.restrictions.take()
    }

    /// Puts right what could not be held, after the program and everything that it has started
    /// have ended. The names of what was put right, for people.
    pub(in crate::host) fn finish(
        self,
        status: ProcessStatus,
    ) -> Result<(Mechanism, Vec<String>), Failure> {
        let changed = self.kept.put_right()?;
        let by_itself = matches!(status, ProcessStatus::Exited(_));
        if by_itself && self.status.is_some_and(|status| !status.was_started()) {
            return Err(impossible("`bwrap` could not start it; see what it wrote"));
        }
        Ok((self.mechanism, changed))
    }
}
