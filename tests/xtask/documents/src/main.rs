//! `onloop-generate write|check`: documents made from code.
//!
//! A new one is one line in [`DOCUMENTS`].

mod cli;
mod config;
mod exit_codes;
mod limits;
mod messages;
mod rust_docs;
mod transitions;
mod vocabulary;

use std::path::Path;
use std::process::ExitCode;

/// A file and the function that says what belongs in it.
struct Document {
    /// Below the root of the workspace.
    path: &'static str,
    content: fn() -> String,
}

/// A module of the npm package with types of core.
macro_rules! types {
    ($module:literal) => {
        Document {
            path: concat!("npm/src/", $module, ".ts"),
            content: || vocabulary::module($module),
        }
    };
}

const DOCUMENTS: &[Document] = &[
    Document { path: "docs/cli.md", content: cli::document },
    Document { path: "docs/config.md", content: config::document },
    Document { path: "docs/exit-codes.md", content: exit_codes::document },
    Document { path: "docs/limits.md", content: limits::document },
    Document { path: "docs/messages.md", content: messages::document },
    Document { path: "docs/transitions.md", content: transitions::document },
    types!("failure_vocabulary"),
    types!("file_vocabulary"),
    types!("git_vocabulary"),
    types!("git_steps"),
    types!("process_vocabulary"),
    types!("serve_vocabulary"),
    types!("start_vocabulary"),
    types!("vocabulary"),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["write"] => each(write),
        ["check"] => each(check),
        _ => {
            eprintln!("usage: onloop-generate write|check");
            ExitCode::from(2)
        }
    }
}

/// Does it for every document, so that all faults are seen at once.
fn each(act: fn(&Path, &str) -> Result<(), String>) -> ExitCode {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("three folders deep");
    let mut code = ExitCode::SUCCESS;
    for document in DOCUMENTS {
        if let Err(why) = act(&root.join(document.path), &(document.content)()) {
            eprintln!("{}: {why}", document.path);
            code = ExitCode::FAILURE;
        }
    }
    code
}

fn write(path: &Path, content: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    let folder = path.parent().expect("documents lie in a folder");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, content))
        .map_err(|error| error.to_string())
}

fn check(path: &Path, content: &str) -> Result<(), String> {
    let found = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    // A checkout may have turned the line breaks into its platform's own.
    match first_difference(&found.replace("\r\n", "\n"), content) {
        None => Ok(()),
        Some(line) => Err(format!("out of date from line {line}; run `cargo xtask generate`")),
    }
}

/// The first line, counted from 1, in which two texts differ.
fn first_difference(found: &str, expected: &str) -> Option<usize> {
    if found == expected {
        return None;
    }
    let same = found.lines().zip(expected.lines()).take_while(|(left, right)| left == right);
    Some(same.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_difference_is_found_wherever_it_is() {
        let table = [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\nb\n", "a\n", Some(2)),
            ("a", "a\n", Some(2)),
            ("", "a\n", Some(1)),
        ];
        for (found, expected, line) in table {
            assert_eq!(first_difference(found, expected), line, "{found:?} {expected:?}");
        }
    }
}
