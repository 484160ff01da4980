//! core decides and performs nothing: looked for in its source and in what it depends on.
//!
//! Clippy refuses the worst of it as well (core/clippy.toml), by resolved type. Reading the
//! source finds whole modules, imports under other names and code behind any feature.

mod dependencies;
mod direction;
mod drawing;
mod modules;
mod names;
mod source;

use crate::sources::{SourceFile, Sources};

pub(crate) use dependencies::faults as dependency_faults;

/// Everything in core's source that reaches outside.
pub(crate) fn source_faults(sources: &Sources) -> Result<Vec<String>, String> {
    faults_of(&core(sources)?)
}

/// Every import in core against the order of its rooms, and every name that has two meanings.
pub(crate) fn room_faults(sources: &Sources) -> Result<Vec<String>, String> {
    let modules = modules::Modules::read(&core(sources)?)?;
    Ok([direction::faults(&modules), names::faults(&modules)].concat())
}

/// Compares the picture of the rooms in the documents with the code.
pub(crate) fn check_drawing(sources: &Sources) -> Result<(), String> {
    let (found, drawn) = drawn(sources)?;
    if found == drawn {
        return Ok(());
    }
    Err(format!("{}: the rooms are out of date; run `cargo xtask generate`", drawing::DOCUMENT))
}

/// Writes the picture of the rooms into the documents.
pub(crate) fn write_drawing(sources: &Sources) -> Result<(), String> {
    let (found, drawn) = drawn(sources)?;
    if found == drawn {
        return Ok(());
    }
    std::fs::write(sources.root().join(drawing::DOCUMENT), drawn).map_err(|error| error.to_string())
}

/// The document as it is and as it should be.
fn drawn(sources: &Sources) -> Result<(String, String), String> {
    let path = sources.root().join(drawing::DOCUMENT);
    let found = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}", drawing::DOCUMENT))?
        .replace("\r\n", "\n");
    let drawn = drawing::with_drawing(&found, &modules::Modules::read(&core(sources)?)?)?;
    Ok((found, drawn))
}

fn core(sources: &Sources) -> Result<Vec<SourceFile>, String> {
    let files: Vec<SourceFile> =
        sources.read("rs")?.into_iter().filter(|file| file.path.starts_with("core/src/")).collect();
    if !files.iter().any(|file| file.path == "core/src/lib.rs") {
        return Err("core/src/lib.rs is not where it was".to_owned());
    }
    Ok(files)
}

fn faults_of(files: &[SourceFile]) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let mut test_modules = Vec::new();
    let mut readings = Vec::new();
    for file in files {
        let reading = source::read(&file.text, place(&file.path))
            .map_err(|why| format!("{}: {why}", file.path))?;
        test_modules.extend(reading.test_modules.iter().map(|name| module_path(&file.path, name)));
        readings.push((&file.path, reading));
    }
    for (path, reading) in readings {
        if test_modules.iter().any(|module| belongs_to(path, module)) {
            continue;
        }
        for breach in reading.breaches {
            faults.push(format!("{path}:{}: {}", breach.line, breach.message));
        }
    }
    Ok(faults)
}

fn place(path: &str) -> source::Place {
    if ["core/src/documents", "core/src/effect", "core/src/syntax"]
        .iter()
        .any(|room| belongs_to(path, room))
    {
        source::Place::Wire
    } else {
        source::Place::Elsewhere
    }
}

/// Where `mod name;` in the file `path` finds its file, without `.rs`.
fn module_path(path: &str, name: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        Some(_) | None => stem,
    };
    format!("{folder}/{name}")
}

/// Whether the file is the module or lies below it.
fn belongs_to(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        faults_of(&files.iter().map(file).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn this_core_is_pure() {
        assert_eq!(source_faults(&Sources::of_workspace()), Ok(Vec::new()));
        assert_eq!(room_faults(&Sources::of_workspace()), Ok(Vec::new()));
    }

    #[test]
    fn breaches_are_named_with_their_place() {
        let text = "//! Reads.\n\nuse std::fs;\n";
        assert_eq!(
            faults(&[("core/src/a.rs", text)]),
            ["core/src/a.rs:3: `std::fs`: files belong to the host"]
        );
    }

    #[test]
    fn a_file_that_only_tests_see_may_do_anything() {
        let parent = "#[cfg(test)]\nmod tests;";
        let child = "use std::fs;";
        assert_eq!(faults(&[("core/src/a.rs", parent), ("core/src/a/tests.rs", child)]), [""; 0]);
        assert_eq!(faults(&[("core/src/lib.rs", parent), ("core/src/tests.rs", child)]), [""; 0]);
        assert_eq!(
            faults(&[("core/src/a.rs", "mod tests;"), ("core/src/a/tests.rs", child)]).len(),
            1
        );
    }

    #[test]
    fn serde_is_derived_in_wire_only() {
        let text = "#[derive(Clone, Serialize)] struct A;";
        assert_eq!(
            faults(&[("core/src/documents.rs", text), ("core/src/documents/run.rs", text)]),
            [""; 0]
        );
        assert_eq!(faults(&[("core/src/documents_of.rs", text)]).len(), 1);
    }
}
