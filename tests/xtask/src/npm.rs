//! The npm package: core compiled to WebAssembly, its binding, the TypeScript around them, and
//! the tests that run the package beside the native program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::Cargo;
use crate::command::{self, lock_installations, run, target_folder};
use crate::sources;
use crate::stage::{Stop, program};
use crate::tally::Tally;

/// A module of the package.
struct Module {
    /// The crate that it is made of.
    package: &'static str,
    /// What cargo calls it.
    built: &'static str,
    /// What the npm package calls it.
    name: &'static str,
    /// Most bytes that it may have, compressed as registries and servers send it. What it has at
    /// present and a little more: whoever needs more room says for what.
    gzip_bytes: usize,
    /// Whether the main thread of a page compiles it at once.
    is_for_pages: bool,
}

const MODULES: [Module; 2] = [
    Module {
        package: "onloop-wasm-programs",
        built: "onloop_wasm_programs.wasm",
        name: "onloop",
        // About 300 KiB of it are what hosts do with git, which was TypeScript before.
        gzip_bytes: 3300 * 1024,
        is_for_pages: false,
    },
    Module {
        package: "onloop-wasm",
        built: "onloop_wasm.wasm",
        name: "onloop-pure",
        gzip_bytes: 1010 * 1024,
        is_for_pages: true,
    },
];

/// The oldest major version that the package promises to run on.
const OLDEST_NODE: u32 = 20;
/// Chromium compiles at most this many bytes at once on the main thread of a page.
const MAIN_THREAD_BYTES: usize = 8 * 1024 * 1024;
const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// Makes `npm/dist` as it is published, which takes minutes.
pub(crate) fn package() -> Result<Tally, Stop> {
    make("wasm", optimise)?;
    for module in &MODULES {
        within_budget(&folder().join("dist"), module)?;
    }
    Ok(Tally::default())
}

/// Makes `npm/dist` for tests: the same code, larger and slower.
pub(crate) fn quick() -> Result<Tally, Stop> {
    make("wasm-quick", leave)?;
    Ok(Tally::default())
}

fn make(profile: &str, finish: fn(&str) -> Result<(), Stop>) -> Result<(), Stop> {
    let folder = folder();
    need_node()?;
    install(&folder)?;
    let mut build = Cargo::new("build --locked --profile").arg(profile);
    for module in &MODULES {
        build = build.arg("-p").arg(module.package);
    }
    build.arg("--target").arg(WASM_TARGET).arg("--config").arg(&without_places()).run()?;
    for module in &MODULES {
        let compiled = target_folder().join(WASM_TARGET).join(profile).join(module.built);
        bind(&compiled, &folder.join("build/bound"), module.name)?;
        finish(module.name)?;
    }
    run(npm(&["run", "--silent", "build"]))?;
    run(npm(&["run", "--silent", "lint"]))?;
    Ok(())
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
    let _others_wait = lock_installations()?;
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

/// Compares the page of `onloop web` that the core embeds with what the bundler makes of its sources.
pub(crate) fn page() -> Result<Tally, Stop> {
    need_node()?;
    install(&folder())?;
    run(npm(&["run", "--silent", "web", "--", "--check"]))?;
    Ok(Tally::default())
}

/// Runs the package's tests beside the native program.
pub(crate) fn test() -> Result<Tally, Stop> {
    let mut command = npm(&["test", "--silent"]);
    command
        .env("ONLOOP_TEST_NATIVE", program("onloop"))
        .env("ONLOOP_TEST_PROBE", program("host-probe"));
    command::test(command)
}

/// Installs a bundler from the registry and opens what it makes in `browser`.
pub(crate) fn test_in_browser(browser: &Path) -> Result<Tally, Stop> {
    let mut command = npm(&["run", "--silent", "test:browser"]);
    command.env("ONLOOP_TEST_BROWSER", browser).env("ONLOOP_TEST_NATIVE", program("onloop"));
    command::test(command)
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
fn bind(module: &Path, to: &Path, name: &str) -> Result<(), Stop> {
    let target = target_folder().join("wasm-package");
    Cargo::new("run --locked --quiet --manifest-path tests/xtask/wasm-package/Cargo.toml")
        .args("--target-dir")
        .arg(&target.to_string_lossy())
        .arg("--")
        .arg(&module.to_string_lossy())
        .arg(&to.to_string_lossy())
        .arg(name)
        .run()?;
    Ok(())
}

/// Copies what was bound from `build/bound` to `build`.
fn leave(name: &str) -> Result<(), Stop> {
    copy(&[format!("{name}.js"), format!("{name}.d.ts"), format!("{name}_bg.wasm")])
}

fn copy(files: &[String]) -> Result<(), Stop> {
    let build = folder().join("build");
    for file in files {
        std::fs::copy(build.join("bound").join(file), build.join(file))
            .map_err(|error| Stop::from(format!("{}: {error}", build.display())))?;
    }
    Ok(())
}

/// From `build/bound` to `build`: less code where that costs nothing, and its functions in the order
/// of their names, which puts those beside each other that were made of the same source.
/// Compressed that is a tenth smaller than what the optimiser makes of the module on its own.
///
/// No feature is named on the command line: the optimiser reads from the module what it may use,
/// and what it is told besides makes modules that older engines refuse.
fn optimise(name: &str) -> Result<(), Stop> {
    let build = folder().join("build");
    let bound = build.join("bound");
    copy(&[format!("{name}.js"), format!("{name}.d.ts")])?;
    let file = format!("{name}_bg.wasm");
    let mut command = Command::new("node");
    command.arg(folder().join("node_modules/binaryen/bin/wasm-opt")).current_dir(folder());
    command.args(["--remove-unused-brs", "--remove-unused-names"]);
    command.args(["--duplicate-function-elimination", "--reorder-functions-by-name"]);
    // It writes no names unless it is told to.
    command.arg("--strip-producers").arg(bound.join(&file)).arg("-o").arg(build.join(&file));
    run(command).map(drop)
}

fn within_budget(dist: &Path, module: &Module) -> Result<(), Stop> {
    let path = dist.join(format!("{}.wasm", module.name));
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let compressed = gzipped_len(&bytes)?;
    println!(
        "`{}.wasm` has {} KiB, {} KiB compressed; {} KiB are allowed",
        module.name,
        bytes.len() / 1024,
        compressed / 1024,
        module.gzip_bytes / 1024
    );
    if compressed > module.gzip_bytes {
        return Err(format!("`{}.wasm` is larger than its budget", module.name).into());
    }
    if module.is_for_pages && bytes.len() > MAIN_THREAD_BYTES {
        let kib = MAIN_THREAD_BYTES / 1024;
        return Err(format!(
            "`{}.wasm` is larger than {kib} KiB: no page can load it at once",
            module.name
        )
        .into());
    }
    Ok(())
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
