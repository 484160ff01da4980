//! What `onloop doctor` says of the machine: git, the sandbox, and where records are kept.

use super::confine::attempt_network;
use super::{Findings, Version, version_of};
use onloop_effect::{Io, Mechanism, Network};
use onloop_engine::state::store::StateHome;

pub(super) async fn examine_machine(io: &Io, findings: &mut Findings) {
    match version_of(io, "git").await {
        Some(Version::Known(version)) => findings.good(version),
        Some(Version::NoAnswer { path, why }) => findings.bad(
            format!("`{path}` does not answer `--version`: {why}"),
            "install git; runs record their work with it",
        ),
        None => findings.bad("git is not on PATH", "install git; runs record their work with it"),
    }
    match mechanism(io).await {
        Some(mechanism) => findings.good(format!("sandbox: {}", mechanism.as_str())),
        None => findings.bad(
            "no sandbox: agents and checks run unconfined",
            "`onloop doctor confine` says what is missing",
        ),
    }
    match StateHome::of(io) {
        Ok(home) => findings.good(format!("records: {}", home.folder())),
        Err(error) => findings.bad(error.to_string(), "set ONLOOP_STATE_HOME to a folder"),
    }
}

/// The mechanism that a run would choose here.
async fn mechanism(io: &Io) -> Option<Mechanism> {
    for mechanism in Mechanism::ALL {
        if attempt_network(io, mechanism, Network::All).await.is_ok() {
            return Some(mechanism);
        }
    }
    None
}
