//! Patterns of paths in rules of Claude Code, which are those of `.gitignore` with a few starts of
//! their own: `//` is the root of the file system, `~/` the home folder, `/` the project.

use crate::expand::HOLE;
use crate::paths::{Places, pattern_matches_any};

/// A pattern, with every place that it may start from.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    /// Each absolute, in parts.
    absolute: Vec<Vec<String>>,
    /// One name, which a file or folder at any depth may have.
    name: Option<String>,
}

impl PathPattern {
    /// Reads `pattern`. `folders` are what `/` and a relative pattern may start from.
    pub(super) fn new(pattern: &str, folders: &[&str], home: Option<&str>) -> PathPattern {
        let parts = |path: &str| -> Vec<String> {
            let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
            parts.map(str::to_lowercase).collect()
        };
        if let Some(absolute) = pattern.strip_prefix("//") {
            return PathPattern { absolute: vec![parts(absolute)], name: None };
        }
        if let Some(rest) = pattern.strip_prefix("~/") {
            let homes = home.into_iter().chain(["~"]);
            let absolute = homes.map(|home| [parts(home), parts(rest)].concat()).collect();
            return PathPattern { absolute, name: None };
        }
        let relative = parts(pattern);
        let name = match relative.as_slice() {
            [only] if !pattern.starts_with(['/', '.']) || only == pattern => Some(only.clone()),
            [..] => None,
        };
        let absolute = folders.iter().map(|folder| [parts(folder), relative.clone()].concat());
        PathPattern { absolute: absolute.collect(), name }
    }

    /// Whether it matches `path`, where a link leads that it is, or a folder that holds one of them.
    pub(super) fn matches(&self, path: &str, places: &Places) -> bool {
        places.named(path).iter().any(|absolute| self.matches_absolute(absolute))
    }

    /// Whether a file that the shell pattern `glob` stands for may be one of them. Up to a [`HOLE`] in it,
    /// it may be any folder.
    pub(super) fn may_match(&self, glob: &str, places: &Places) -> bool {
        let behind_hole = glob.rsplit_once(HOLE).map(|(_, rest)| format!("*{rest}"));
        let is_somewhere = behind_hole.is_some();
        let path = behind_hole.unwrap_or_else(|| places.absolute(glob)).to_lowercase();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let may_begin = |pattern: &Vec<String>| {
            let starts = if is_somewhere { pattern.len() } else { 1 };
            (0..starts).any(|at| begins(&pattern[at..], &parts, overlaps))
        };
        self.name.as_ref().is_some_and(|name| parts.iter().any(|part| overlaps(name, part)))
            || self.absolute.iter().any(may_begin)
    }

    fn matches_absolute(&self, absolute: &str) -> bool {
        let absolute = absolute.to_lowercase();
        let parts: Vec<&str> = absolute.split('/').filter(|part| !part.is_empty()).collect();
        let named = |name: &String| parts.iter().any(|part| pattern_matches_any(name, part));
        self.name.as_ref().is_some_and(named)
            || self.absolute.iter().any(|pattern| begins(pattern, &parts, pattern_matches_any))
    }
}

/// Whether `pattern` matches `path` or its beginning, with `matches` for each name.
fn begins(pattern: &[String], path: &[&str], matches: fn(&str, &str) -> bool) -> bool {
    match (pattern, path) {
        ([], _) => true,
        ([only], []) => only == "**",
        ([_, ..], []) => false,
        ([first, rest @ ..], [_, below @ ..]) if first == "**" => {
            begins(rest, path, matches) || begins(pattern, below, matches)
        }
        ([first, rest @ ..], [part, below @ ..]) => {
            matches(first, part) && begins(rest, below, matches)
        }
    }
}

/// Whether two patterns for a name may match the same one, by what is certain at both ends.
fn overlaps(one: &str, other: &str) -> bool {
    const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', ',', '\\'];
    if !other.contains(SPECIAL) && !one.contains(['{', '\\']) {
        return pattern_matches_any(one, other);
    }
    let start = |text: &str| text.find(SPECIAL).unwrap_or(text.len());
    let end = |text: &str| text.rfind(SPECIAL).map_or(0, |at| at + 1);
    let (starts, ends) =
        ((&one[..start(one)], &other[..start(other)]), (&one[end(one)..], &other[end(other)..]));
    (starts.0.starts_with(starts.1) || starts.1.starts_with(starts.0))
        && (ends.0.ends_with(ends.1) || ends.1.ends_with(ends.0))
}
