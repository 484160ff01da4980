//! Giving up a run that nobody has begun to work on: it has no journal yet, in which that could be written.

use std::sync::Arc;
use std::time::Duration;

use onloop_core::effect::Exit;

use super::home::{PATIENCE, claim, demand_person, meant, refuse};
use crate::calls::{Calls, patiently};
use crate::engine::{EngineError, Release, Rest};

/// How a run stands that was given up.
const ABANDONED: &str = "abandoned";

/// Gives up the run that the command line names where it has no journal. `None`: it has one, or is none of
/// the fleet's; the ordinary verb knows what to do.
pub(super) fn give_up(argv: &[String], server: &str, calls: &Arc<dyn Calls>) -> Option<Exit> {
    let mark = meant(argv, server, calls.as_ref())?;
    let look = || patiently(PATIENCE, || calls.lines(&mark.run_id, 0, Duration::ZERO));
    let view = match look() {
        Ok(lines) => lines.view,
        Err(EngineError::NotFound { .. }) => return None,
        Err(error) => return Some(refuse(&error.to_string())),
    };
    if view.head.is_some() {
        return None;
    }
    if let Rest::Over { how } = view.rest {
        eprintln!("Run {} is {how} already.", mark.run_id);
        return Some(if how == ABANDONED { Exit::Done } else { Exit::Failed });
    }
    if let Err(exit) = demand_person("abandoning a run") {
        return Some(exit);
    }
    let lease = match claim(&mark, calls.as_ref()) {
        Ok(lease) => lease,
        Err(error) => return Some(refuse(&error.to_string())),
    };
    let rest = match look() {
        Ok(lines) if lines.view.head.is_none() => Rest::Over { how: ABANDONED.to_owned() },
        // Whoever was asked to stop had begun.
        Ok(_) | Err(_) => Rest::Ready,
    };
    let is_begun = rest == Rest::Ready;
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, rest };
    if let Err(error) = patiently(PATIENCE, || calls.release(&release)) {
        return Some(refuse(&error.to_string()));
    }
    if is_begun {
        return None;
    }
    eprintln!("Run {} is abandoned; nobody had begun to work on it.", mark.run_id);
    Some(Exit::Done)
}
