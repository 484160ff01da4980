//! A host whose ledgers are copies of the engine's journals.
//!
//! A program knows a ledger as a file with one writer at a time. This host first adds the lines to the
//! journal, after the last line of the copy, and then to the copy. If another writer was faster, the
//! host updates the copy and returns a conflict. The program handles it like a conflict with another
//! process of its machine.

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

/// Longest time that a person's command retries an unreachable server.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// The writer of journals.
pub enum Writer {
    /// The driver of one run. The remote must contain its work before the journal records it.
    Driver {
        /// The lease of the run.
        lease: Lease,
        /// What pushes the work; `None`: there is nothing to push.
        pusher: Option<Pusher>,
    },
    /// A person, for any run.
    Person {
        /// Name of the machine, as holder of leases.
        holder: String,
    },
}

/// Returns a host on which the ledgers of the fleet's runs are their journals.
pub fn on_journal(host: OsHost, runs: &str, client: Client, writer: Writer) -> OsHost {
    let OsHost { files, locks, .. } = host;
    let holder = match &writer {
        Writer::Driver { .. } => None,
        Writer::Person { holder } => Some(holder.clone()),
    };
    let leases = locks::Leases::default();
    let locks: Box<dyn onloop::host::Locks> = match holder {
        // A driver already has its lease.
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

/// Returns the run whose file `name` is at `path`, below the folder of all runs.
fn run_of<'p>(runs: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(runs)?.strip_prefix('/')?;
    let id = rest.strip_suffix(name)?.strip_suffix('/')?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

/// Returns the failure that a program gets for an error of the engine.
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
