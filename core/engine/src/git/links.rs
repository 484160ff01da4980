//! Which paths of a call are symbolic links, or lie behind one.

use std::collections::BTreeSet;

use onloop_effect::{FailureKind, Io};
use onloop_permission::paths::{Link, Places};
use onloop_permission::{Call, shell};
use onloop_syntax::limits;

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

/// Adds to `places` where the call's paths really lead, if that differs from their text. Returns
/// whether anything was added.
pub async fn resolve(io: &Io, call: &Call, places: &mut Places) -> bool {
    // Where the project itself lies behind a link, everything in it does.
    let root = match places.root.clone() {
        Some(root) => Some((io.canonical(&root).await.unwrap_or_else(|_| root.clone()), root)),
        None => None,
    };
    let mut found = false;
    for path in paths(call, places) {
        let link = match real_path(io, &path).await {
            Some(Link::To(real)) => Link::To(below_root(real, root.as_ref())),
            Some(Link::Dangling) => Link::Dangling,
            None => continue,
        };
        if link != Link::To(path.clone()) {
            places.links.insert(path, link);
            found = true;
        }
    }
    found
}

/// `real` as a path below the project's root under the name that the call uses for the root.
/// `root` is its real path, then that name.
fn below_root(real: String, root: Option<&(String, String)>) -> String {
    let inside = root.and_then(|(real_root, root)| Some((real.strip_prefix(real_root)?, root)));
    match inside {
        Some((rest, root)) if rest.is_empty() || rest.starts_with('/') => format!("{root}{rest}"),
        Some(_) | None => real,
    }
}

/// Absolute paths in a call: members that hold one, words of commands and targets of
/// redirections.
fn paths(call: &Call, places: &Places) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut add_from = |places: &Places, word: &str| {
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        let fits = !word.is_empty() && !word.starts_with(['-', '~']) && word.len() < 4096;
        if fits && !word.contains('\0') && found.len() < limits::RESOLVED_PATHS {
            let path = places.absolute(word);
            if seen.insert(path.clone()) {
                found.push(path);
            }
        }
    };
    let folders = folders(call, places);
    let mut add = |word: &str| {
        for folder in &folders {
            add_from(folder, word);
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

/// The call's folder, and those that its line changes to.
fn folders(call: &Call, places: &Places) -> Vec<Places> {
    let mut found = vec![places.clone()];
    let commands = call.input["command"].as_str().map(|line| shell::read(line).commands);
    for command in commands.unwrap_or_default() {
        let mut words = command.words.iter().filter_map(|word| word.as_literal());
        if !words.any(|word| matches!(word, "cd" | "pushd" | "chdir")) {
            continue;
        }
        for target in words.filter(|word| !word.starts_with('-')) {
            for at in 0..found.len() {
                let cwd = found[at].absolute(target);
                let known = found.iter().any(|folder| folder.cwd == cwd);
                if !known && found.len() < limits::SHELL_FOLDERS {
                    found.push(Places { cwd, ..places.clone() });
                }
            }
        }
    }
    found
}

/// What `path` leads to or, if it does not exist yet, where it would be created. `None` when
/// that cannot be found out.
async fn real_path(io: &Io, path: &str) -> Option<Link> {
    let mut missing = String::new();
    let mut there = path;
    loop {
        match io.canonical(if there.is_empty() { "/" } else { there }).await {
            Ok(real) => {
                return Some(Link::To(format!("{}{missing}", real.trim_end_matches('/'))));
            }
            Err(failure) if failure.kind == FailureKind::NotFound => {
                let (folder, name) = there.rsplit_once('/')?;
                if io.stat(there).await.is_ok() {
                    return Some(Link::Dangling);
                }
                missing = format!("/{name}{missing}");
                there = folder;
            }
            Err(_) => return None,
        }
    }
}
