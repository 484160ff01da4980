//! Which paths of a call are symbolic links, or lie behind one.

use std::collections::BTreeSet;

use crate::effect::{FailureKind, Io};
use crate::limits;
use crate::permission::paths::Places;
use crate::permission::{Call, shell};

/// Members of a tool's input that hold a path.
const PATH_KEYS: [&str; 8] = [
    "file_path",
    "notebook_path",
    "path",
    "filePath",
    "dirPath",
    "file",
    "directory",
    "target_file",
];

/// Adds what the call's paths really are, where that is something else than their text says.
/// Whether there was anything to add.
pub(crate) async fn resolve(io: &Io, call: &Call, places: &mut Places) -> bool {
    // Where the project itself lies behind a link, everything in it does.
    let real_root = match io.canonical(&places.root).await {
        Ok(root) => root,
        Err(_) => places.root.clone(),
    };
    let mut found = false;
    for path in paths(call, places) {
        let Some(real) = real_path(io, &path).await else { continue };
        let real = match real.strip_prefix(&real_root) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", places.root)
            }
            Some(_) | None => real,
        };
        if real != path {
            places.links.insert(path, real);
            found = true;
        }
    }
    found
}

/// Absolute paths in a call: members that hold one, words of commands and targets of
/// redirections.
fn paths(call: &Call, places: &Places) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut add = |word: &str| {
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        let fits = !word.is_empty() && !word.starts_with(['-', '~']) && word.len() < 4096;
        if fits && !word.contains('\0') && found.len() < limits::RESOLVED_PATHS {
            let path = places.absolute(word);
            if seen.insert(path.clone()) {
                found.push(path);
            }
        }
    };
    for key in PATH_KEYS {
        if let Some(path) = call.input[key].as_str() {
            add(path);
        }
    }
    let words = call.input["command"].as_array().map_or(&[][..], Vec::as_slice);
    words.iter().filter_map(|word| word.as_str()).for_each(&mut add);
    if let Some(line) = call.input["command"].as_str() {
        for command in shell::read(line).commands {
            command.words.iter().skip(1).filter_map(|word| word.as_literal()).for_each(&mut add);
            let targets = command.redirections.iter().filter_map(|r| r.target.as_literal());
            targets.for_each(&mut add);
        }
    }
    found
}

/// What `path` leads to; of something that is not there yet, where it would appear. `None`:
/// nothing can be known.
async fn real_path(io: &Io, path: &str) -> Option<String> {
    let mut missing = String::new();
    let mut there = path;
    loop {
        match io.canonical(if there.is_empty() { "/" } else { there }).await {
            Ok(real) => return Some(format!("{}{missing}", real.trim_end_matches('/'))),
            Err(failure) if failure.kind == FailureKind::NotFound => {
                let (folder, name) = there.rsplit_once('/')?;
                // A link that leads nowhere leads somewhere once it is written to.
                if io.stat(there).await.is_ok() {
                    return Some("/dev/null/a link that leads nowhere".to_owned());
                }
                missing = format!("/{name}{missing}");
                there = folder;
            }
            Err(_) => return None,
        }
    }
}
