//! Which paths of a call are symbolic links, or lie behind one.

use std::collections::BTreeSet;

use onloop_effect::{FailureKind, Io};
use onloop_permission::paths::{Link, Places};
use onloop_permission::{Call, Context, classified_paths};
use onloop_syntax::limits;

/// Bytes of a path beyond which systems follow no link in it.
const LONGEST_PATH: usize = 4_000;

/// How often paths are looked at again that start where a link leads.
const ROUNDS: usize = 4;

/// Adds to `context` where the call's paths really lead, if that differs from their text. Returns
/// whether anything was added.
pub async fn resolve(io: &Io, call: &Call, context: &mut Context) -> bool {
    // Where the project itself lies behind a link, everything in it does.
    let root = match context.places.root.clone() {
        Some(root) => Some((io.canonical(&root).await.unwrap_or_else(|_| root.clone()), root)),
        None => None,
    };
    let mut known = BTreeSet::new();
    let mut found = false;
    for _ in 0..ROUNDS {
        let paths = classified_paths(call, context);
        let places = &mut context.places;
        // No system follows a longer path, but a command gets there step by step.
        let is_too_long = |path: &String| path.len() >= LONGEST_PATH;
        places.has_unfollowed =
            paths.len() > limits::RESOLVED_PATHS || paths.iter().any(is_too_long);
        found |= places.has_unfollowed;
        let mut goes_up = false;
        for path in paths.into_iter().take(limits::RESOLVED_PATHS) {
            if !known.insert(path.clone()) {
                continue;
            }
            let link = match real_path(io, &below_home(&path, places)).await {
                Some(Link::To(real)) => Link::To(below_root(real, root.as_ref())),
                Some(Link::Dangling) => Link::Dangling,
                None => continue,
            };
            if link != Link::To(path.clone()) {
                // The call may change to this folder and name what is in it.
                goes_up |= path.contains("/..") && link != Link::To(places.absolute(&path));
                places.links.insert(path, link);
                found = true;
            }
        }
        if !goes_up {
            break;
        }
    }
    found
}

/// `path` with the person's home folder for `~`.
fn below_home(path: &str, places: &Places) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", places.home()),
        None => path.to_owned(),
    }
}

/// `real` as a path below the project's root under the name that the call uses for the root.
/// `root` is its real path, then that name.
pub(crate) fn below_root(real: String, root: Option<&(String, String)>) -> String {
    let inside = root.and_then(|(real_root, root)| Some((real.strip_prefix(real_root)?, root)));
    match inside {
        Some((rest, root)) if rest.is_empty() || rest.starts_with('/') => format!("{root}{rest}"),
        Some(_) | None => real,
    }
}

/// What `path` leads to or, if it does not exist yet, where it would be created. `None` when
/// that cannot be found out.
pub(crate) async fn real_path(io: &Io, path: &str) -> Option<Link> {
    if !path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let path = without_parents(io, path).await;
    let mut missing = String::new();
    let mut there = path.as_str();
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

/// `path` without `..`, each of which leads above the folder that is really there.
async fn without_parents(io: &Io, path: &str) -> String {
    let mut walked = String::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            let folder = if walked.is_empty() { "/" } else { &walked };
            walked = io.canonical(folder).await.unwrap_or(walked);
            walked.truncate(walked.rfind('/').unwrap_or(0));
        } else {
            walked = format!("{walked}/{part}");
        }
    }
    walked
}
