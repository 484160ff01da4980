//! The stages: what each of them checks and which others it builds on.
//!
//! The runner starts them in this order. Those that finish in a second come first, then those that
//! others wait for.

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::Cargo;
use crate::command::{run, target_folder};
use crate::sources::{self, Sources};
use crate::tally::Tally;
use crate::{
    apt, browser, deny, fleet, hosts, links, npm, purity, release, runner, site, sizes, vscode,
};

/// One thing that the build checks.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// One line for the list of stages.
    pub(crate) about: &'static str,
    /// Stages that must pass before this one starts.
    pub(crate) needs: &'static [&'static str],
    /// Whether it compiles for long in cargo's native target folder, which one cargo locks at a time.
    pub(crate) compiles: bool,
    /// Whether `./test`, `./test --all` or neither runs it.
    pub(crate) when: When,
    /// Performs it; the tally is empty for a stage without tests.
    pub(crate) run: fn() -> Result<Tally, Stop>,
}

/// Which run of all stages contains a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Each run.
    Always,
    /// Runs with `--all`.
    Long,
    /// A run that names it, or a stage that needs it.
    Named,
}

impl Stage {
    const fn new(
        name: &'static str,
        about: &'static str,
        run: fn() -> Result<Tally, Stop>,
    ) -> Stage {
        Stage { name, about, needs: &[], compiles: false, when: When::Always, run }
    }

    const fn needs(self, needs: &'static [&'static str]) -> Stage {
        Stage { needs, ..self }
    }

    const fn compiles(self) -> Stage {
        Stage { compiles: true, ..self }
    }

    const fn when(self, when: When) -> Stage {
        Stage { when, ..self }
    }
}

/// Why a stage failed.
#[derive(Debug)]
pub(crate) struct Stop {
    /// For people; may have many lines.
    pub(crate) why: String,
}

impl Stop {
    /// The line for the summary.
    pub(crate) fn headline(&self) -> String {
        self.why.lines().next().unwrap_or_default().to_owned()
    }
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop { why }
    }
}

/// Every stage, in the order in which the runner starts them.
pub(crate) const STAGES: &[Stage] = &[
    Stage::new("fmt", "the code is formatted", fmt),
    Stage::new("sizes", "no source file is too long to read", file_sizes),
    Stage::new("links", "links between documents lead somewhere", document_links),
    Stage::new("site", "the documents make a site", site::build),
    Stage::new("web", "the embedded page is what its sources make", npm::page),
    Stage::new("purity", "core asks for effects and performs none", pure_core),
    Stage::new("programs", "the programs compile", programs).compiles(),
    Stage::new(QUICK_PACKAGE, "the npm package builds, without the long optimization", npm::quick)
        .when(When::Named),
    Stage::new(WHOLE_PACKAGE, "the npm package builds and keeps its size limits", npm::package)
        .when(When::Long),
    Stage::new("deny", "licenses, sources and known vulnerabilities of dependencies", deny::check),
    Stage::new("test", "the tests of the workspace pass", test).compiles().needs(&["programs"]),
    Stage::new("npm", "the npm package does what the native program does", npm::test)
        .needs(&["programs", QUICK_PACKAGE]),
    Stage::new("vscode", "the extension works in real extension hosts", vscode::test)
        .needs(&[QUICK_PACKAGE]),
    Stage::new("clippy", "clippy reports no warning", clippy).compiles(),
    Stage::new("hosts", "real clients of agent hosts obey our hooks", hosts::test)
        .needs(&["programs", QUICK_PACKAGE]),
    Stage::new("fleet", "runs on a real fleet end well, whatever breaks meanwhile", fleet::test)
        .compiles()
        .needs(&["programs"]),
    Stage::new("npm-browser", "the npm package works in a page and its worker", browser::test)
        .needs(&["programs", QUICK_PACKAGE]),
    Stage::new("release", "the release workflow works, against stand-ins", release::dry_run)
        .needs(&["programs", QUICK_PACKAGE]),
    Stage::new("generated", "documents made from code are up to date", generated)
        .needs(&["programs"]),
    Stage::new("docs", "the API documentation builds without a warning", docs).compiles(),
    Stage::new("clippy-wasm", "clippy reports no warning for WebAssembly", clippy_wasm)
        .when(When::Long),
    Stage::new("bench", "benchmarks stay within their limits", bench).compiles().when(When::Long),
    Stage::new("generate", "writes the documents made from code", generate).when(When::Named),
];

/// The stage of that name.
pub(crate) fn find(name: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|stage| stage.name == name)
}

/// The stages of a whole run.
pub(crate) fn whole_run(is_long: bool) -> Vec<&'static Stage> {
    let is_in = |stage: &&Stage| match stage.when {
        When::Always => true,
        When::Long => is_long,
        When::Named => false,
    };
    with_needs(&STAGES.iter().filter(is_in).collect::<Vec<_>>())
}

/// These stages and those that they need, in order.
pub(crate) fn with_needs(named: &[&'static Stage]) -> Vec<&'static Stage> {
    let mut wanted: Vec<&str> = named.iter().map(|stage| stage.name).collect();
    let mut at = 0;
    while let Some(name) = wanted.get(at).copied() {
        let stage = find(name).expect("a need is the name of a stage");
        for need in stage.needs {
            let need = made_by(need, &wanted);
            if !wanted.contains(&need) {
                wanted.push(need);
            }
        }
        at += 1;
    }
    STAGES.iter().filter(|stage| wanted.contains(&stage.name)).collect()
}

/// The stage that makes what `need` makes: the whole npm package is also the quick one.
pub(crate) fn made_by(need: &'static str, names: &[&str]) -> &'static str {
    if need == QUICK_PACKAGE && names.contains(&WHOLE_PACKAGE) { WHOLE_PACKAGE } else { need }
}

const QUICK_PACKAGE: &str = "npm-build";
const WHOLE_PACKAGE: &str = "npm-package";

const WASM_TARGET: &str = "wasm32-unknown-unknown";

fn fmt() -> Result<Tally, Stop> {
    Cargo::new("fmt --all --check").run()
}

fn file_sizes() -> Result<Tally, Stop> {
    let found = sizes::check(&Sources::of_workspace().read("rs")?);
    for warning in &found.warnings {
        println!("note: {warning}");
    }
    refuse("files too long", found.faults)
}

fn document_links() -> Result<Tally, Stop> {
    let sources = Sources::of_workspace();
    refuse("broken links", links::check(&sources.read("md")?, sources.root()))
}

fn pure_core() -> Result<Tally, Stop> {
    let sources = Sources::of_workspace();
    let mut faults = purity::source_faults(&sources)?;
    faults.extend(purity::dependency_faults()?);
    refuse("core is not pure", faults)
}

/// Tests over random input see the same input in every build, so that a failure repeats. `cargo test`
/// by hand uses other input each time.
pub(crate) fn seeded(arguments: &str) -> Cargo {
    Cargo::new(arguments).env("PROPTEST_RNG_SEED", "20260320")
}

/// What later stages start. Each cargo command of a stage selects the whole workspace, so that all of
/// them choose the same features and share what is compiled.
fn programs() -> Result<Tally, Stop> {
    Cargo::new("build --locked --workspace --bins").run()
}

/// A program that the stage `programs` compiled.
pub(crate) fn program(name: &str) -> PathBuf {
    target_folder().join("debug").join(name)
}

fn clippy() -> Result<Tally, Stop> {
    Cargo::new("clippy --locked --workspace --all-targets -- -D warnings").run()
}

/// With the tests that `wasm-pack` runs, which no other target has.
fn clippy_wasm() -> Result<Tally, Stop> {
    Cargo::new("clippy --locked -p onloop-wasm -p onloop-wasm-programs -p onloop-core --lib --test node --target")
        .arg(WASM_TARGET)
        .args("-- -D warnings")
        .run()
}

fn generated() -> Result<Tally, Stop> {
    let mut documents = Command::new(program("onloop-generate"));
    documents.arg("check").current_dir(sources::workspace_root());
    run(documents)
}

fn generate() -> Result<Tally, Stop> {
    Cargo::new("run --locked --quiet -p onloop-generate -- write").run()
}

fn test() -> Result<Tally, Stop> {
    apt::demand_programs()?;
    seeded("test --locked --no-fail-fast --workspace").tests(runner::is_long())
}

/// Each benchmark fails when it is far from its goal: a shared machine has no better clock.
fn bench() -> Result<Tally, Stop> {
    Cargo::new("bench --locked -p onloop-tests").run()
}

fn docs() -> Result<Tally, Stop> {
    Cargo::new("doc --locked --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings").run()
}

fn refuse(what: &str, faults: Vec<String>) -> Result<Tally, Stop> {
    if faults.is_empty() {
        return Ok(Tally::default());
    }
    Err(format!("{what} ({} found)\n  {}", faults.len(), faults.join("\n  ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(stages: Vec<&'static Stage>) -> Vec<&'static str> {
        stages.iter().map(|stage| stage.name).collect()
    }

    #[test]
    fn a_stage_brings_what_it_needs() {
        let named = |words: &[&str]| {
            let stages: Vec<_> = words.iter().map(|name| find(name).expect("a stage")).collect();
            names(with_needs(&stages))
        };
        assert_eq!(named(&["fmt"]), ["fmt"]);
        assert_eq!(named(&["npm"]), ["programs", "npm-build", "npm"]);
        assert_eq!(named(&["npm-package", "npm"]), ["programs", "npm-package", "npm"]);
    }

    #[test]
    fn each_run_builds_one_package_and_writes_nothing() {
        for (is_long, package) in [(false, QUICK_PACKAGE), (true, WHOLE_PACKAGE)] {
            let run = names(whole_run(is_long));
            assert!(!run.contains(&"generate"), "--all: {is_long}");
            let packages: Vec<_> = run
                .into_iter()
                .filter(|name| [QUICK_PACKAGE, WHOLE_PACKAGE].contains(name))
                .collect();
            assert_eq!(packages, [package], "--all: {is_long}");
        }
    }
}
