//! `onloop-public-api RUSTDOC_JSON write|check FILE`: the public interface of a crate, a line for
//! each item, as a file that a change of the interface has to change, too.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [json, "write", file] => listing(json).and_then(|text| {
            std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))
        }),
        [json, "check", file] => listing(json).and_then(|text| check(file, &text)),
        _ => Err("usage: onloop-public-api RUSTDOC_JSON write|check FILE".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn listing(json: &str) -> Result<String, String> {
    let api = public_api::Builder::from_rustdoc_json(Path::new(json))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map_err(|error| format!("{json}: {error}"))?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

fn check(file: &str, expected: &str) -> Result<(), String> {
    let found = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let found = found.replace("\r\n", "\n");
    let changes = changes(&found, expected);
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public interface is not the one in {file}; if that is meant, write it down with \
         `cargo xtask generate`:\n{}",
        changes.join("\n")
    ))
}

/// Lines that are gone, then lines that are new.
fn changes(found: &str, expected: &str) -> Vec<String> {
    let only_in = |lines: &str, other: &str, mark: char| -> Vec<String> {
        let other: std::collections::BTreeSet<&str> = other.lines().collect();
        let lines = lines.lines().filter(|line| !other.contains(line));
        lines.map(|line| format!("{mark} {line}")).collect()
    };
    [only_in(found, expected, '-'), only_in(expected, found, '+')].concat()
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn what_went_and_what_came_is_named() {
        assert_eq!(changes("a\nb\n", "a\nb\n"), [""; 0]);
        assert_eq!(changes("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
    }
}
