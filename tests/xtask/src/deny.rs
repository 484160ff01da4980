//! What the programs and packages are built from: licences, sources, known vulnerabilities.

use std::path::PathBuf;
use std::process::Command;

use crate::command::run;
use crate::prebuilt;
use crate::sources;
use crate::stage::Stop;
use crate::tally::Tally;

/// The release that is installed where there is none; `cargo-deny.txt` beside the manifest has its
/// digests.
const VERSION: &str = "0.20.2";

/// Lock files of what is published or builds it. The clients in `tests/hosts` and the engine in
/// `tests/fleet` are other people's products, under terms of their own.
const NPM_LOCKS: [&str; 5] = [
    "npm/package-lock.json",
    "npm/test/browser/bundler/package-lock.json",
    "npm/vscode/package-lock.json",
    "tests/release/package-lock.json",
    "tests/vscode/package-lock.json",
];

/// Checks Rust's dependencies against `deny.toml` and npm's against `npm/licences.mjs`.
pub(crate) fn check() -> Result<Tally, Stop> {
    same_rust_everywhere()?;
    let program = prebuilt::program("cargo-deny", VERSION)?;
    let deny = |options: &[&str], checks: &[&str]| {
        let mut command = Command::new(&program);
        command.args(options).args(["check", "--hide-inclusion-graph"]).args(checks);
        command.current_dir(sources::workspace_root());
        run(command)
    };
    deny(&["--locked"], &["licenses", "bans", "sources"])?;
    if has_advisories() {
        deny(&["--locked", "--offline"], &["advisories"])?;
    } else {
        println!(
            "note: vulnerabilities are not checked: there is no copy of the RustSec database; \
             `cargo deny fetch` makes one"
        );
    }
    let mut npm = Command::new("node");
    npm.arg("npm/licences.mjs").args(NPM_LOCKS).current_dir(sources::workspace_root());
    run(npm)
}

/// The oldest Rust that we promise to build with is the one that everything is tested with.
fn same_rust_everywhere() -> Result<(), Stop> {
    let read = |name: &str| {
        let path = sources::workspace_root().join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))
    };
    let promised = value(&read("Cargo.toml")?, "rust-version").map(str::to_owned);
    let tested = value(&read("rust-toolchain.toml")?, "channel").map(str::to_owned);
    match (promised, tested) {
        (Some(promised), Some(tested)) if is_release_of(&tested, &promised) => Ok(()),
        (promised, tested) => Err(format!(
            "Cargo.toml promises `rust-version` {promised:?}, rust-toolchain.toml tests {tested:?}"
        )
        .into()),
    }
}

/// The text behind `key = "`, on a line of its own.
fn value<'a>(toml: &'a str, key: &str) -> Option<&'a str> {
    toml.lines().find_map(|line| {
        line.strip_prefix(key)?
            .trim_start()
            .strip_prefix('=')?
            .trim()
            .strip_prefix('"')?
            .split('"')
            .next()
    })
}

fn is_release_of(version: &str, minor: &str) -> bool {
    version.strip_prefix(minor).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether `cargo deny fetch` has left a copy of the database in cargo's folder.
fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let copies = home.and_then(|home| std::fs::read_dir(home.join("advisory-dbs")).ok());
    copies.into_iter().flatten().flatten().any(|copy| copy.path().join(".git").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_rust_is_the_tested_one() {
        assert!(same_rust_everywhere().is_ok());
        assert_eq!(value("a = \"1\"\nrust-version = \"1.95\"\n", "rust-version"), Some("1.95"));
        assert_eq!(value("rust-version.workspace = true\n", "rust-version"), None);
        let table = [("1.95.0", "1.95", true), ("1.95", "1.95", true), ("1.950.0", "1.95", false)];
        for (tested, promised, expected) in table {
            assert_eq!(is_release_of(tested, promised), expected, "{tested} {promised}");
        }
    }
}
