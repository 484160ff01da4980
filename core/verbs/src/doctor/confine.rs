//! `onloop doctor confine`: whether commands can be confined here, tried.

use onloop_effect::{Exit, Io, Mechanism, Network, ProcessSpec, ProcessStatus, Shell};
use onloop_engine::sandbox::confinement::Confined;
use onloop_syntax::text::alternatives;

/// `onloop doctor confine`: tries each mechanism.
pub(super) async fn examine_confinement(io: &Io) -> Exit {
    let mut exit = Exit::Failed;
    for mechanism in Mechanism::ALL {
        let line = match attempt(io, mechanism).await {
            Ok(networks) => {
                exit = Exit::Done;
                format!("  ✓ {}: works; network {}", mechanism.as_str(), alternatives(&networks))
            }
            Err(why) => {
                format!("  · {}: {}", mechanism.as_str(), onloop_syntax::text::one_line(&why))
            }
        };
        io.result(format!("{line}\n")).await;
    }
    if exit == Exit::Done {
        io.result("Commands can be confined here.\n").await;
    } else {
        let fix = "go to a checkout; install bubblewrap, or use Linux 6.12 or newer";
        io.result(format!("This machine has no sandbox.\n      fix: {fix}\n")).await;
    }
    exit
}

/// The networks that it can offer.
async fn attempt(io: &Io, mechanism: Mechanism) -> Result<Vec<&'static str>, String> {
    let mut networks = Vec::new();
    let mut why = String::new();
    for network in Network::ALL {
        match attempt_network(io, mechanism, network).await {
            Ok(()) => networks.push(network.as_str()),
            // The first is what is asked for most.
            Err(refusal) if why.is_empty() => why = refusal,
            Err(_) => {}
        }
    }
    if networks.contains(&Network::All.as_str()) { Ok(networks) } else { Err(why) }
}

/// Runs something that must work, and something that must not.
async fn attempt_network(io: &Io, mechanism: Mechanism, network: Network) -> Result<(), String> {
    let cwd = &io.start().cwd;
    let confined = Confined::prepare(io, cwd, network, Some(mechanism))
        .await
        .map_err(|error| error.to_string())?;
    let witness = confined.beside();
    let line = format!(": > \"$TMPDIR/a\" || exit 1; (: > '{witness}') 2>/dev/null || true");
    let spec = ProcessSpec::shell(Shell::Sh, line).in_folder(cwd.clone());
    let ended = io.process(confined.apply(io, spec)).await;
    confined.remove(io).await;
    if io.stat(&witness).await.is_ok() {
        let _ = io.remove(&witness).await;
        return Err("it did not hold: a file was written outside".to_owned());
    }
    match ended {
        Err(failure) => Err(failure.message),
        Ok(end) if end.status != ProcessStatus::Exited(0) => {
            Err(format!("what it must allow failed: {}", end.stderr.text()))
        }
        Ok(end) if end.confined != Some(mechanism) => Err("it was not used".to_owned()),
        Ok(_) => Ok(()),
    }
}
