//! Programs other than cargo, run in plain view.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::cargo::pass_on;
use crate::stage::Stop;
use crate::tally::Tally;
use crate::{runner, sources};

/// Where cargo puts what it builds, and where stages keep what they would otherwise fetch anew.
pub(crate) fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| sources::workspace_root().join("target"), PathBuf::from)
}

/// Keeps other stages from installing anything until the returned file is closed.
pub(crate) fn lock_installations() -> Result<File, String> {
    let folder = target_folder();
    let path = folder.join("installing.lock");
    std::fs::create_dir_all(&folder)
        .and_then(|()| File::create(&path))
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a program to its end.
pub(crate) fn run(mut command: Command) -> Result<Tally, Stop> {
    let shown = shown(&command);
    println!("$ {shown}");
    let status = command.status().map_err(|error| format!("could not run {shown}: {error}"))?;
    if status.success() { Ok(Tally::default()) } else { Err(format!("failed: {shown}").into()) }
}

/// Runs tests and counts what they report.
pub(crate) fn test(mut command: Command) -> Result<Tally, Stop> {
    let shown = shown(&command);
    println!("$ {shown}");
    let failed = |error: std::io::Error| Stop::from(format!("could not run {shown}: {error}"));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let output = child.stdout.take().expect("the output is piped");
    let tests = pass_on(output).map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(format!("failed: {shown}").into());
    }
    tests.judged(runner::is_long()).map_err(|why| format!("{why}: {shown}").into())
}

/// The command as people would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
