//! The stages: their order in `ci` and what each of them does.
//!
//! Those that finish in a second come first, so that a slip costs a second.

use crate::cargo::Cargo;
use crate::command::target_folder;
use crate::sources::Sources;
use crate::tally::Tally;
use crate::{apt, browser, deny, fleet, hosts, links, npm, purity, release, site, sizes, vscode};

/// One thing that the build checks.
#[derive(Debug)]
pub(crate) struct Stage {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// One line for the list of stages.
    pub(crate) about: &'static str,
    /// Does it; the tally is empty where no tests are run.
    pub(crate) run: fn() -> Result<Tally, Stop>,
}

/// Why a stage failed.
#[derive(Debug)]
pub(crate) struct Stop {
    /// For people; may have many lines.
    pub(crate) why: String,
    /// Tests that were run before it failed.
    pub(crate) tests: Tally,
}

impl Stop {
    /// What fits into the summary.
    pub(crate) fn headline(&self) -> String {
        self.why.lines().next().unwrap_or_default().to_owned()
    }
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop { why, tests: Tally::default() }
    }
}

/// The stages of `ci`, in order.
pub(crate) const CI: &[Stage] = &[
    Stage { name: "fmt", about: "the code is formatted", run: fmt },
    Stage { name: "sizes", about: "no source file is too long to read", run: file_sizes },
    Stage { name: "links", about: "links between documents lead somewhere", run: document_links },
    Stage { name: "site", about: "the documents make a site", run: site::build },
    Stage { name: "purity", about: "core asks for effects and performs none", run: pure_core },
    Stage {
        name: "deny",
        about: "nothing is built from what has other terms, sources or known vulnerabilities",
        run: deny::check,
    },
    Stage {
        name: "core-alone",
        about: "core passes its tests, and builds without its feature",
        run: core_alone,
    },
    Stage { name: "wasm", about: "core builds for WebAssembly", run: wasm },
    Stage {
        name: "npm-package",
        about: "the npm package builds and is small enough",
        run: npm::package,
    },
    Stage {
        name: "npm",
        about: "the npm package does what the native program does",
        run: npm::test,
    },
    Stage {
        name: "npm-browser",
        about: "the npm package works in a page and its worker",
        run: browser::test,
    },
    Stage { name: "clippy", about: "no lint complains, natively and for WebAssembly", run: clippy },
    Stage {
        name: "generated",
        about: "documents made from code say what the code says",
        run: generated,
    },
    Stage {
        name: "test",
        about: "every test of the workspace passes; `core-alone` runs those of core",
        run: test,
    },
    Stage {
        name: "fleet",
        about: "runs on a fleet of real processes end well, whatever is broken meanwhile",
        run: fleet::test,
    },
    Stage { name: "hosts", about: "real clients of agent hosts obey our hooks", run: hosts::test },
    Stage {
        name: "vscode",
        about: "the extension works in real extension hosts of VS Code",
        run: vscode::test,
    },
    Stage {
        name: "release",
        about: "the release workflow does what it says, against stand-ins",
        run: release::rehearse,
    },
    Stage { name: "bench", about: "every benchmark still runs, once and untimed", run: bench },
    Stage {
        name: "public-api",
        about: "what core offers to other crates is what is written down",
        run: public_api,
    },
    Stage { name: "docs", about: "the API documentation builds without a warning", run: docs },
];

/// Stages that only run when they are asked for.
pub(crate) const ON_DEMAND: &[Stage] =
    &[Stage { name: "generate", about: "writes the documents made from code", run: generate }];

/// The stage of that name.
pub(crate) fn find(name: &str) -> Option<&'static Stage> {
    CI.iter().chain(ON_DEMAND).find(|stage| stage.name == name)
}

const WASM_TARGET: &str = "wasm32-unknown-unknown";

fn fmt() -> Result<Tally, Stop> {
    Cargo::new("fmt --all --check").run()
}

fn file_sizes() -> Result<Tally, Stop> {
    let found = sizes::check(&Sources::of_workspace().read("rs")?);
    for remark in &found.remarks {
        println!("note: {remark}");
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

/// Tests over random input see the same input in every build, so that a red build can be
/// repeated; `cargo test` by hand goes on looking elsewhere.
fn seeded(arguments: &str) -> Cargo {
    Cargo::new(arguments).env("PROPTEST_RNG_SEED", "20260320")
}

/// With its feature there is more to test and nothing less; without it, it has to compile.
fn core_alone() -> Result<Tally, Stop> {
    tested(seeded("test --locked --no-fail-fast -p onloop-core").test()?)
}

fn wasm() -> Result<Tally, Stop> {
    Cargo::new("build --locked -p onloop-core --target").arg(WASM_TARGET).run()
}

fn clippy() -> Result<Tally, Stop> {
    Cargo::new("clippy --locked --workspace --all-targets -- -D warnings").run()?;
    // With the tests that `wasm-pack` runs, which no other target has.
    Cargo::new("clippy --locked -p onloop-core -p onloop-wasm -p onloop-wasm-programs")
        .args("--lib --test node --target")
        .arg(WASM_TARGET)
        .args("-- -D warnings")
        .run()
}

fn generated() -> Result<Tally, Stop> {
    Cargo::new("run --locked --quiet -p onloop-generate -- check").run()
}

fn generate() -> Result<Tally, Stop> {
    Cargo::new("run --locked --quiet -p onloop-generate -- write").run()?;
    public_api_tool("write")
}

fn test() -> Result<Tally, Stop> {
    apt::demand_programs()?;
    let rest = "test --locked --no-fail-fast --workspace --exclude onloop-core";
    tested(seeded(rest).test()?)
}

/// A test that is not run says nothing.
fn tested(tests: Tally) -> Result<Tally, Stop> {
    if tests.passed == 0 {
        return Err(Stop { why: "no test was run".to_owned(), tests });
    }
    if tests.ignored > 0 {
        let why = format!("{} tests are ignored; run them or remove them", tests.ignored);
        return Err(Stop { why, tests });
    }
    Ok(tests)
}

/// Benchmarks that are given no `--bench` run each case once, small. That shows that they work;
/// what they measure is only worth something on a quiet machine, with `cargo bench`.
fn bench() -> Result<Tally, Stop> {
    Cargo::new("test --locked -p onloop-tests --benches").test()?;
    Ok(Tally::default())
}

/// Rustdoc's JSON is for tools of one release of Rust, so it has to be asked for like this.
fn rustdoc_json() -> Result<String, Stop> {
    Cargo::new("rustdoc --locked -p onloop-core --lib --all-features -- -Z unstable-options")
        .args("--output-format json")
        .env("RUSTC_BOOTSTRAP", "1")
        .run()?;
    Ok(target_folder().join("doc/onloop_core.json").display().to_string())
}

fn public_api_tool(verb: &str) -> Result<Tally, Stop> {
    let json = rustdoc_json()?;
    Cargo::new("run --locked --quiet -p onloop-public-api --")
        .arg(&json)
        .arg(verb)
        .arg("core/public-api.txt")
        .run()
}

fn public_api() -> Result<Tally, Stop> {
    public_api_tool("check")
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
