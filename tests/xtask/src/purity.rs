//! Core decides and performs nothing: checks its source and its dependencies.
//!
//! Cargo enforces the direction between crates, and clippy refuses calls by resolved type
//! (core/clippy.toml). This reads the source as text, so it also sees imports and code behind any
//! condition, in tests as well.

mod dependencies;

use crate::sources::{SourceFile, Sources};

pub(crate) use dependencies::faults as dependency_faults;

/// Words that core never contains outside comments, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("std::fs", "files belong to the host"),
    ("std::process", "processes belong to the host"),
    ("std::env", "the environment arrives with `Start`"),
    ("std::net", "the network belongs to the host"),
    ("std::os", "the operating system belongs to the host"),
    ("std::thread", "core has no threads"),
    ("std::path", "paths are text with `/`; `Path` reads the disk and differs between hosts"),
    ("std::io::std", "the terminal belongs to the host"),
    ("std::time::Instant", "time arrives with every reply"),
    ("std::time::SystemTime", "time arrives with every reply"),
    ("HashMap", "its order differs between hosts; use `BTreeMap`"),
    ("HashSet", "its order differs between hosts; use `BTreeSet`"),
    ("RandomState", "randomness arrives with `Start`"),
    ("println!", "say it through `Io`"),
    ("eprint!", "say it through `Io`"),
    (" print!", "say it through `Io`"),
    ("dbg!", "say it through `Io`"),
    ("thread_local!", "core has no threads"),
    ("cfg(unix", "core is the same on every host"),
    ("cfg(windows", "core is the same on every host"),
    ("cfg(target_", "core is the same on every host"),
    ("(target_", "core is the same on every host"),
];

/// Everything in core's source that reaches outside.
pub(crate) fn source_faults(sources: &Sources) -> Result<Vec<String>, String> {
    let files = sources.read("rs")?;
    let core: Vec<&SourceFile> = files.iter().filter(|file| is_core(&file.path)).collect();
    if !core.iter().any(|file| file.path == "core/src/lib.rs") {
        return Err("core/src/lib.rs is not where it was".to_owned());
    }
    Ok(core.into_iter().flat_map(faults_of).collect())
}

fn is_core(path: &str) -> bool {
    path.starts_with("core/")
}

fn faults_of(file: &SourceFile) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (word, why) in FORBIDDEN.iter().filter(|(word, _)| line.contains(word)) {
            faults.push(format!("{}:{}: `{}`: {why}", file.path, index + 1, word.trim()));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_core_is_pure() {
        assert_eq!(source_faults(&Sources::of_workspace()), Ok(Vec::new()));
    }

    #[test]
    fn a_breach_is_named_with_its_place_and_a_comment_is_not_one() {
        let text =
            "//! `std::fs` is not used.\n\nuse std::fs;\n#[cfg(all(target_os = \"linux\"))]\n";
        let file = SourceFile { path: "core/run/src/a.rs".to_owned(), text: text.to_owned() };
        assert_eq!(
            faults_of(&file),
            [
                "core/run/src/a.rs:3: `std::fs`: files belong to the host",
                "core/run/src/a.rs:4: `(target_`: core is the same on every host",
            ]
        );
        assert!(is_core("core/run/src/a.rs") && !is_core("native/src/core.rs"));
    }
}
