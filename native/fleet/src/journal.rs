//! The journal as files: a host whose ledgers are copies of what the engine keeps.
//!
//! Programs know a ledger as a file with one writer at a time. Here its lines go to the journal first, behind
//! the last line of the copy, and then into the copy. If another writer was faster, the copy is updated and
//! the program gets a conflict. It handles this conflict as it handles another process of its own machine.

mod files;
mod locks;
mod mirror;

use std::time::Duration;

use onloop::host::OsHost;
use onloop_core::effect::{Failure, FailureKind};

pub use mirror::{Mirror, MirrorError};

use crate::client::Client;
use crate::engine::{EngineError, Lease};
use crate::outbox::Pusher;
use files::JournalledFiles;
use locks::JournalledLocks;

/// How long a person's command waits for a server that cannot be reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who writes to journals.
pub enum Writer {
    /// The driver of one run. Its work must be in the remote before the journal records it.
    Driver {
        /// The permission.
        lease: Lease,
        /// What pushes the work; `None`: there is nothing to push.
        pusher: Option<Pusher>,
    },
    /// A person, about any run; named as the holder of leases.
    Person {
        /// Name of the machine.
        holder: String,
    },
}

/// A host on which the ledgers of the fleet's runs are their journals.
pub fn on_journal(host: OsHost, runs: &str, client: Client, writer: Writer) -> OsHost {
    let OsHost { files, locks, .. } = host;
    let holder = match &writer {
        Writer::Driver { .. } => None,
        Writer::Person { holder } => Some(holder.clone()),
    };
    let leases = locks::Leases::default();
    let locks: Box<dyn onloop::host::Locks> = match holder {
        // A driver has its lease already.
        None => locks,
        Some(holder) => Box::new(JournalledLocks::new(
            locks,
            runs.to_owned(),
            client.clone(),
            holder,
            leases.clone(),
        )),
    };
    OsHost {
        files: Box::new(JournalledFiles::new(files, runs.to_owned(), client, writer, leases)),
        locks,
        ..host
    }
}

/// The run whose file `name` is at `path`, below the folder of all runs.
fn run_of<'p>(runs: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(runs)?.strip_prefix('/')?;
    let id = rest.strip_suffix(name)?.strip_suffix('/')?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

/// What a program is told of an error of the engine.
fn failure(error: &EngineError) -> Failure {
    let kind = match error {
        EngineError::Conflict { .. } => FailureKind::Conflict,
        EngineError::Busy { .. } => FailureKind::Busy,
        EngineError::Exists { .. } => FailureKind::Exists,
        EngineError::NotFound { .. } => FailureKind::NotFound,
        EngineError::Fenced { .. } | EngineError::Denied => FailureKind::Denied,
        EngineError::Invalid { .. } => FailureKind::Invalid,
        EngineError::Internal { .. } => FailureKind::Other,
        EngineError::Unreachable { .. } => FailureKind::Closed,
    };
    Failure::new(kind, error.to_string())
}

fn of_mirror(error: MirrorError) -> Failure {
    match error {
        MirrorError::Engine(error) => failure(&error),
        MirrorError::Files(failure) => failure,
        MirrorError::Different { .. } | MirrorError::Machine(_) => {
            Failure::new(FailureKind::Invalid, error.to_string())
        }
    }
}
