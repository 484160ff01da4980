//! Queued runs: no worker has started them, so they have no journal to show or to write.

use onloop_core::effect::Exit;

use super::resume::{RETRY_TIMEOUT, claim, demand_person, meant};
use super::{LOOK_MS, PAUSE};
use crate::cli::Refusal;
use crate::client::Client;
use crate::engine::{EngineError, QueueState, ReadJournal, Release};
use crate::status::described;

/// Shows the queued run that the command line names; `watch` waits until it has a journal. `None`: the
/// ordinary verb shows the run.
pub(super) fn show(argv: &[String], server: &str, client: &Client) -> Option<Exit> {
    let watches = match argv.get(1..)? {
        [verb, _] if verb == "status" => false,
        [verb, _] if verb == "watch" => true,
        _ => return None,
    };
    let mark = meant(argv, server, client)?;
    let mut read = ReadJournal::now(&mark.run_id);
    loop {
        let view = match client.call(&read) {
            Ok(lines) if lines.view.head.is_some() => return None,
            Ok(lines) => lines.view,
            Err(EngineError::Unreachable { .. }) if read.wait_ms > 0 => {
                std::thread::sleep(PAUSE);
                continue;
            }
            Err(_) => return None,
        };
        let is_over = matches!(view.state, QueueState::Finished { .. } | QueueState::Local { .. });
        if read.wait_ms == 0 || is_over {
            print!("{}", described(view));
        }
        if !watches || is_over {
            return Some(Exit::Done);
        }
        if read.wait_ms == 0 {
            eprintln!("Waiting for a worker to start it. Stop: Ctrl-C");
        }
        read.wait_ms = LOOK_MS;
    }
}

/// The status of a run that was abandoned.
const ABANDONED: &str = "abandoned";

/// Abandons the queued run that the command line names. `None`: it has a journal or is not a run of the
/// fleet, so the ordinary verb handles it.
pub(super) fn give_up(
    argv: &[String],
    server: &str,
    client: &Client,
) -> Result<Option<Exit>, Refusal> {
    let Some(mark) = meant(argv, server, client) else { return Ok(None) };
    let look = || client.call_within(RETRY_TIMEOUT, &ReadJournal::now(&mark.run_id));
    let view = match look() {
        Ok(lines) => lines.view,
        Err(EngineError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if view.head.is_some() {
        return Ok(None);
    }
    if let QueueState::Finished { status: how } = view.state {
        eprintln!("Run {} is already {how}.", mark.run_id);
        return Ok(Some(if how == ABANDONED { Exit::Done } else { Exit::Failed }));
    }
    demand_person("abandoning a run")?;
    let lease = claim(&mark, client)?;
    let state = match look() {
        Ok(lines) if lines.view.head.is_none() => {
            QueueState::Finished { status: ABANDONED.to_owned() }
        }
        // A worker started it meanwhile.
        Ok(_) | Err(_) => QueueState::Ready,
    };
    let is_begun = state == QueueState::Ready;
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, state };
    client.call_within(RETRY_TIMEOUT, &release)?;
    if is_begun {
        return Ok(None);
    }
    eprintln!("Run {} is abandoned. No worker had started it.", mark.run_id);
    Ok(Some(Exit::Done))
}
