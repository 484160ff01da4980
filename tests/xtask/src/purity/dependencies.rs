//! What core is made of, and who in the workspace may know whom.

use crate::cargo::Cargo;
use crate::stage::Stop;

/// Crates that reach outside the process, or exist to.
const FORBIDDEN_CRATES: &[&str] = &[
    "async-std",
    "core",
    "futures-executor",
    "getrandom",
    "git2",
    "js-sys",
    "libc",
    "mio",
    "nix",
    "rand",
    "rand_core",
    "rayon",
    "reqwest",
    "rustix",
    "smol",
    "socket2",
    "tempfile",
    "tokio",
    "ureq",
    "walkdir",
    "wasm-bindgen",
    "web-sys",
    "web-time",
    "windows-sys",
    "windows-targets",
];

/// The crates below `core/`.
const CORE: &[&str] = &[
    "onloop-agents",
    "onloop-auto",
    "onloop-core",
    "onloop-documents",
    "onloop-effect",
    "onloop-engine",
    "onloop-git",
    "onloop-install",
    "onloop-permission",
    "onloop-run",
    "onloop-servers",
    "onloop-sessions",
    "onloop-syntax",
    "onloop-testing",
    "onloop-verbs",
    "onloop-workflow",
];

/// The targets whose dependency trees are looked at: the one that hosts run natively and the
/// one that ships inside packages.
const TARGETS: &[&str] = &["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"];

/// Every breach, as text for people.
pub(crate) fn faults() -> Result<Vec<String>, Stop> {
    let mut faults = Vec::new();
    for target in TARGETS {
        let tree =
            Cargo::new("tree --locked -p onloop-core -e normal --prefix none --all-features")
                .args("--format {p} --target")
                .arg(target)
                .output()?;
        faults.extend(forbidden_crates(&tree).map(|name| {
            format!("onloop-core depends on `{name}` ({target}), which reaches outside; see `cargo tree -p onloop-core -i {name}`")
        }));
    }
    let members =
        Cargo::new("tree --locked --workspace --depth 0 --prefix none --format {p}").output()?;
    let members: Vec<&str> = members.lines().filter_map(package_name).collect();
    for member in &members {
        let tree =
            Cargo::new("tree --locked --depth 1 -e normal,build,dev --prefix none --all-features")
                .args("--format {p} -p")
                .arg(member)
                .output()?;
        let known = tree.lines().filter_map(package_name).filter(|name| members.contains(name));
        faults.extend(
            known.filter(|name| name != member && !may_know(member, name)).map(|name| {
                format!("`{member}` depends on `{name}`, which the layers do not allow")
            }),
        );
    }
    Ok(faults)
}

/// The one place that says which package of the workspace may depend on which.
fn may_know(member: &str, dependency: &str) -> bool {
    match member {
        "onloop" | "onloop-wasm" => is_core(dependency),
        "onloop-fleet" => is_core(dependency) || dependency == "onloop",
        "onloop-wasm-programs" => is_core(dependency) || dependency == "onloop-wasm",
        _ if is_core(member) => is_core(dependency),
        // The fleet is a separate program, so no crate depends on it, tests included.
        _ if dependency == "onloop-fleet" => false,
        // Tests and tools are not published and may use everything.
        _ => true,
    }
}

/// Whether the package is one of core's crates, whose order among themselves Cargo keeps.
fn is_core(package: &str) -> bool {
    CORE.contains(&package)
}

fn forbidden_crates(tree: &str) -> impl Iterator<Item = &str> {
    tree.lines().filter_map(package_name).filter(|name| FORBIDDEN_CRATES.contains(name))
}

/// The name in `name v1.2.3 (/path)`; `None` for blank lines and section headings.
fn package_name(line: &str) -> Option<&str> {
    let (name, rest) = line.trim().split_once(' ')?;
    rest.starts_with('v').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_reach_outside_are_found_in_a_tree() {
        let tree = "onloop-core v0.1.0 (/somewhere)\nserde v1.0.229\n\n[dev-dependencies]\n\
                    getrandom v0.3.1\nlibcaca v1.0.0\ngetrandom v0.3.1 (*)\n";
        let found: Vec<&str> = forbidden_crates(tree).collect();
        assert_eq!(found, ["getrandom", "getrandom"]);
    }

    #[test]
    fn dependencies_point_at_core_and_never_away_from_it() {
        let members =
            ["onloop-core", "onloop-wasm", "onloop", "onloop-wasm-programs", "onloop-fleet"];
        let allowed = |from: &str| -> Vec<&str> {
            members.into_iter().filter(|to| *to != from && may_know(from, to)).collect()
        };
        assert_eq!(allowed("onloop-core"), [""; 0]);
        assert!(may_know("onloop-run", "onloop-workflow"));
        assert!(!may_know("onloop-run", "onloop"));
        assert_eq!(allowed("onloop-wasm"), ["onloop-core"]);
        assert_eq!(allowed("onloop"), ["onloop-core"]);
        assert_eq!(allowed("onloop-wasm-programs"), ["onloop-core", "onloop-wasm"]);
        assert_eq!(allowed("onloop-fleet"), ["onloop-core", "onloop"]);
        assert!(members[..4].iter().all(|member| may_know("onloop-tests", member)));
        assert!(!may_know("onloop-tests", "onloop-fleet"));
    }
}
