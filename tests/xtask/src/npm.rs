//! The npm package: core compiled to WebAssembly, its binding, the TypeScript around them, and
//! the tests that run the package beside the native program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::Cargo;
use crate::command::{self, run, target_folder};
use crate::sources;
use crate::stage::Stop;
use crate::tally::Tally;

/// Most bytes that the module may have, compressed as registries and servers send it. What it
/// has at present and a little more: whoever needs more room says for what.
const MODULE_GZIP_BYTES: usize = 1520 * 1024;
/// The oldest major version that the package promises to run on.
const OLDEST_NODE: u32 = 20;
const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// Makes `npm/dist` from a clean checkout.
pub(crate) fn package() -> Result<Tally, Stop> {
    let folder = folder();
    need_node()?;
    Cargo::new("build --locked -p onloop-wasm --profile wasm --target")
        .arg(WASM_TARGET)
        .args("--config")
        .arg(&without_places())
        .run()?;
    let module = target_folder().join(WASM_TARGET).join("wasm/onloop_wasm.wasm");
    bind(&module, &folder.join("build/bound"))?;
    install(&folder)?;
    optimise()?;
    run(npm(&["run", "--silent", "build"]))?;
    within_budget(&folder.join("dist/onloop.wasm"))
}

/// Panics name the file that they come from. What is published says nothing about the machine that
/// built it, and is the same wherever it is built.
fn without_places() -> String {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let home = home.unwrap_or_default().display().to_string();
    format!("target.{WASM_TARGET}.rustflags=[{:?}]", format!("--remap-path-prefix={home}=cargo"))
}

/// What the lock file of `folder` names, unless it is there: npm keeps a copy of what it has
/// installed.
pub(crate) fn install(folder: &Path) -> Result<(), Stop> {
    let modified = |path: &str| {
        let metadata = std::fs::metadata(folder.join(path));
        metadata.and_then(|metadata| metadata.modified()).ok()
    };
    let installed = modified("node_modules/.package-lock.json");
    if installed.is_some() && installed >= modified("package-lock.json") {
        return Ok(());
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    run(command).map(drop)
}

/// Runs the package's tests beside the native program, which has to be built.
pub(crate) fn test() -> Result<Tally, Stop> {
    Cargo::new("build --locked -p onloop -p onloop-tests --bins").run()?;
    let program = |name: &str| target_folder().join("debug").join(name);
    let mut command = npm(&["test", "--silent"]);
    command
        .env("ONLOOP_TEST_NATIVE", program("onloop"))
        .env("ONLOOP_TEST_PROBE", program("host-probe"));
    command::test(command)
}

/// Installs a bundler from the registry and opens what it makes in a browser: Chromium, by that
/// name on `PATH` or in `ONLOOP_TEST_BROWSER`.
pub(crate) fn browser() -> Result<Tally, Stop> {
    run(npm(&["run", "--silent", "test:browser"]))
}

/// Says so before minutes are spent on building what cannot be run.
fn need_node() -> Result<(), Stop> {
    let output = Command::new("node").arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    match version {
        Ok(version) if is_new_enough(&version) => Ok(()),
        Ok(version) => {
            Err(format!("Node {OLDEST_NODE} or newer is needed; `node --version` says `{version}`")
                .into())
        }
        Err(error) => Err(format!("Node {OLDEST_NODE} or newer is needed: {error}").into()),
    }
}

/// `v20.1.0` and its like.
fn is_new_enough(version: &str) -> bool {
    let major = version.strip_prefix('v').and_then(|rest| rest.split('.').next());
    major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= OLDEST_NODE)
}

fn folder() -> PathBuf {
    sources::workspace_root().join("npm")
}

/// The binding generator is a workspace of its own, with its own lock file.
fn bind(module: &Path, to: &Path) -> Result<(), Stop> {
    let target = target_folder().join("wasm-package");
    Cargo::new("run --locked --quiet --manifest-path tests/xtask/wasm-package/Cargo.toml")
        .args("--target-dir")
        .arg(&target.to_string_lossy())
        .arg("--")
        .arg(&module.to_string_lossy())
        .arg(&to.to_string_lossy())
        .run()?;
    Ok(())
}

/// From `build/bound` to `build`. That takes most of a minute, so it is left out when the module is
/// the one that it was made of last.
///
/// No feature is named on the command line: the optimiser reads from the module what it may use,
/// and what it is told besides makes modules that older engines refuse.
fn optimise() -> Result<(), Stop> {
    let build = folder().join("build");
    let failed = |error: std::io::Error| Stop::from(format!("{}: {error}", build.display()));
    for name in ["onloop.js", "onloop.d.ts"] {
        std::fs::copy(build.join("bound").join(name), build.join(name)).map_err(failed)?;
    }
    let bound = std::fs::read(build.join("bound/onloop_bg.wasm")).map_err(failed)?;
    let (optimised, made_of) = (build.join("onloop_bg.wasm"), build.join("made-of.wasm"));
    if optimised.exists() && std::fs::read(&made_of).is_ok_and(|made_of| made_of == bound) {
        return Ok(());
    }
    let mut command = Command::new("node");
    command.arg(folder().join("node_modules/binaryen/bin/wasm-opt"));
    command.arg("-Oz").arg(build.join("bound/onloop_bg.wasm"));
    command.arg("-o").arg(&optimised).current_dir(folder());
    run(command)?;
    std::fs::write(made_of, bound).map_err(failed)
}

fn within_budget(module: &Path) -> Result<Tally, Stop> {
    let bytes = std::fs::read(module).map_err(|error| format!("{}: {error}", module.display()))?;
    let compressed = gzipped_len(&bytes)?;
    println!(
        "the module has {} KiB, {} KiB compressed; {} KiB are allowed",
        bytes.len() / 1024,
        compressed / 1024,
        MODULE_GZIP_BYTES / 1024
    );
    if compressed > MODULE_GZIP_BYTES {
        return Err("the module is larger than its budget".to_owned().into());
    }
    Ok(Tally::default())
}

fn gzipped_len(bytes: &[u8]) -> Result<usize, Stop> {
    let failed = |error: std::io::Error| Stop::from(format!("could not run gzip: {error}"));
    let mut child = Command::new("gzip")
        .arg("-9c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().expect("the input is piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output()
    });
    Ok(output.map_err(failed)?.stdout.len())
}

fn npm(words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(folder());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_node_and_no_node_are_told_apart_from_a_new_one() {
        for version in ["v20.0.0", "v24.1.2", "v100.0.0-nightly"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in ["v18.19.1", "20.0.0", "", "v", "vx.1"] {
            assert!(!is_new_enough(version), "{version}");
        }
    }

    #[test]
    fn what_compresses_well_is_small() {
        assert!(gzipped_len(&[0; 100_000]).unwrap() < 1000);
    }
}
