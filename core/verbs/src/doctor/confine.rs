//! `onloop doctor confine`: whether commands can be confined here, tried.

mod attempts;

use attempts::attempt_escapes;
use onloop_effect::{Exit, Io, Mechanism, Network, NetworkName, ProcessSpec, ProcessStatus, Shell};
use onloop_engine::error::CommandError;
use onloop_engine::sandbox::confinement::Confined;
use onloop_syntax::text::{alternatives, one_line};

/// `onloop doctor confine`: tries each mechanism, and escapes from the strongest.
pub(super) async fn examine_confinement(io: &Io) -> Exit {
    let mut strongest = None;
    for mechanism in Mechanism::ALL {
        let line = match attempt(io, mechanism).await {
            Ok(networks) => {
                strongest = strongest.or(Some(mechanism));
                format!("  ✓ {}: works; network {}", mechanism.as_str(), alternatives(&networks))
            }
            Err(error) => {
                format!("  · {}: {}", mechanism.as_str(), one_line(&error.to_string()))
            }
        };
        io.result(format!("{line}\n")).await;
    }
    let Some(mechanism) = strongest else {
        let fix = "go to a checkout; install bubblewrap, or use Linux 6.12 or newer";
        io.result(format!("This machine has no sandbox.\n      fix: {fix}\n")).await;
        return Exit::Failed;
    };
    io.note("note: trying to change protected files; a warning says what is put back").await;
    io.result(format!("Tried inside {}:\n", mechanism.as_str())).await;
    match attempt_escapes(io, mechanism).await {
        Ok((lines, all_held)) => {
            io.result(format!("{}\n", lines.join("\n"))).await;
            if all_held {
                io.result("Commands can be confined here.\n").await;
                return Exit::Done;
            }
            io.result("This sandbox does not hold what it should.\n").await;
        }
        Err(error) => {
            let why = one_line(&error.to_string());
            io.result(format!("  ✗ not tried: {why}\n")).await;
        }
    }
    Exit::Failed
}

/// The networks that it can offer.
async fn attempt(io: &Io, mechanism: Mechanism) -> Result<Vec<&'static str>, CommandError> {
    let names = Network::Names(vec![NetworkName::Registries]);
    let all = [
        ("all", Network::All),
        ("loopback", Network::Loopback),
        ("none", Network::None),
        ("names", names),
    ];
    let mut networks = Vec::new();
    let mut why = None;
    for (word, network) in all {
        match attempt_network(io, mechanism, network).await {
            Ok(()) => networks.push(word),
            // The first is what is asked for most.
            Err(error) => why = why.or(Some(error)),
        }
    }
    match why {
        Some(error) if !networks.contains(&"all") => Err(error),
        Some(_) | None => Ok(networks),
    }
}

/// Runs something that must work, and something that must not.
pub(super) async fn attempt_network(
    io: &Io,
    mechanism: Mechanism,
    network: Network,
) -> Result<(), CommandError> {
    let cwd = &io.start().cwd;
    let confined = Confined::prepare(io, cwd, None, network, Some(mechanism)).await;
    let confined = confined.map_err(|error| CommandError::refused(error.to_string()))?;
    let witness = confined.beside();
    let line = format!(": > \"$TMPDIR/a\" || exit 1; (: > '{witness}') 2>/dev/null || true");
    let spec = ProcessSpec::shell(Shell::Sh, line).in_folder(cwd.clone());
    let ended = io.process(confined.apply(io, spec)).await;
    confined.remove(io).await;
    if io.stat(&witness).await.is_ok() {
        let _ = io.remove(&witness).await;
        let message = "it did not hold: a file was written outside";
        return Err(CommandError::refused(message));
    }
    match ended {
        Err(failure) => Err(failure.into()),
        Ok(end) if end.status != ProcessStatus::Exited(0) => {
            let said = end.stderr.text();
            Err(CommandError::refused(format!("what it must allow failed: {said}")))
        }
        Ok(end) if end.confined != Some(mechanism) => Err(CommandError::refused("it was not used")),
        Ok(_) => Ok(()),
    }
}
