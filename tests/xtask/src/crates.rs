//! The quick loop: format, lints and tests of some crates.

use crate::cargo::Cargo;
use crate::sources::{SourceFile, Sources};
use crate::stage::{Stop, seeded};
use crate::tally::Tally;

/// A crate of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    name: String,
    /// Its folder below the root.
    folder: String,
}

/// The crates of the workspace.
pub(crate) fn all() -> Result<Vec<Package>, String> {
    Ok(packages(&Sources::of_workspace().read("toml")?))
}

/// The names of the crates that `word` means: a crate, or all in a folder such as `core`.
pub(crate) fn named(word: &str, packages: &[Package]) -> Vec<String> {
    let below = format!("{word}/");
    let is_meant = |package: &&Package| {
        package.name == word || package.folder == word || package.folder.starts_with(&below)
    };
    packages.iter().filter(is_meant).map(|package| package.name.clone()).collect()
}

/// Manifests of packages. Those with a workspace of their own are not of ours.
fn packages(manifests: &[SourceFile]) -> Vec<Package> {
    let of = |manifest: &SourceFile| {
        let folder = manifest.path.strip_suffix("/Cargo.toml")?;
        if manifest.text.lines().any(|line| line.trim() == "[workspace]") {
            return None;
        }
        let name = manifest.text.split_once("[package]")?.1.split_once("name = \"")?.1;
        let name = name.split('"').next()?.to_owned();
        Some(Package { name, folder: folder.to_owned() })
    };
    manifests.iter().filter_map(of).collect()
}

/// Checks these crates alone.
pub(crate) fn check(names: &[String], is_long: bool) -> Result<Tally, Stop> {
    let select = |cargo: Cargo| names.iter().fold(cargo, |cargo, name| cargo.arg("-p").arg(name));
    select(Cargo::new("fmt --check")).run()?;
    let clippy = select(Cargo::new("clippy --locked --all-targets --all-features"));
    clippy.args("-- -D warnings").run()?;
    select(seeded("test --locked --no-fail-fast --all-features")).tests(is_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_a_crate_or_a_folder_of_crates() {
        let file =
            |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let found = packages(&[
            file("Cargo.toml", "[workspace]\n"),
            file("core/Cargo.toml", "[package]\nname = \"onloop-core\"\n"),
            file("core/syntax/Cargo.toml", "[package]\nname = \"onloop-syntax\"\n"),
            file("corex/Cargo.toml", "[package]\nname = \"x\"\n"),
            file("deny.toml", "name = \"x\"\n"),
            file("tests/fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n\n[workspace]\n"),
        ]);
        assert_eq!(named("core", &found), ["onloop-core", "onloop-syntax"]);
        assert_eq!(named("onloop-syntax", &found), ["onloop-syntax"]);
        assert_eq!(named("core/syntax", &found), ["onloop-syntax"]);
        for word in ["fuzz", "cor", ""] {
            assert_eq!(named(word, &found), [""; 0], "{word}");
        }
    }
}
