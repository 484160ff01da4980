//! Tools that list or search below a folder.

use serde_json::Value;

use super::{Tool, malformed, members, rules};
use crate::expand::{Arg, Shape};
use crate::judge::Judge;
use crate::paths::{Access, PathClass, file_name, goes_up};
use crate::target::Target;
use crate::verdict::{PathRule, Rule, Worst};

/// Members with patterns for names of files, as the tools of the clients name them.
pub(super) const GLOB_KEYS: [&str; 12] = [
    "glob",
    "globs",
    "pattern",
    "query",
    "include",
    "includes",
    "includePattern",
    "include_pattern",
    "filePattern",
    "file_pattern",
    "globPattern",
    "glob_pattern",
];

/// Members with what is searched for, with what is left out, and with notes for people.
pub(super) const TEXT_KEYS: [&str; 8] = [
    "pattern",
    "query",
    "regex",
    "exclude",
    "excludePattern",
    "exclude_pattern",
    "explanation",
    "description",
];

/// Judges one call.
pub(super) fn judge(tool: &str, kind: Tool, input: &Value, judge: &mut Judge<'_>) {
    let mut worst = Worst::default();
    let paths = members::paths(input);
    let lists = kind == Tool::List;
    for path in &paths {
        let is_git = judge.places.class(path) == PathClass::Git;
        // The folder itself is listed without its settings.
        let is_top = file_name(path.trim_end_matches('/')).eq_ignore_ascii_case(".git");
        let access = if lists && is_git && is_top { Access::List } else { Access::Read };
        members::judge_path(path, access, judge, &mut worst);
        // Without a pattern, or with one that only leaves files out, everything is searched.
        if is_git && !lists {
            worst.consider(judge.places.judge_text(&format!("{path}/config"), Access::Read));
        }
    }
    let mut found = Vec::new();
    for key in GLOB_KEYS {
        let names_files = match key {
            "pattern" => !tool.to_lowercase().contains("grep"),
            "query" => tool == "file_search",
            _ => true,
        };
        let globs = match input.get(key).filter(|_| names_files) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(globs)) => globs.as_slice(),
            Some(glob) => std::slice::from_ref(glob),
        };
        for glob in globs {
            match glob.as_str() {
                Some(glob) => {
                    found.push(glob);
                    judge_glob(lists, glob, &paths, judge, &mut worst);
                }
                None => worst.add(malformed(tool)),
            }
        }
    }
    members::judge_secrets(input, &TEXT_KEYS, judge);
    let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
    rules(tool, &targets(pattern, &paths, &found, judge), worst, judge);
}

/// What a search is about: `pattern=… path=…` for each folder and each pattern of names.
fn targets(pattern: &str, paths: &[&str], globs: &[&str], judge: &Judge<'_>) -> Vec<Target> {
    let file = |path: &&str| Target::file(path, &judge.places);
    let mut targets: Vec<Target> = paths.iter().flat_map(file).collect();
    if targets.is_empty() {
        targets.push(Target::text(""));
    }
    for glob in globs {
        let is_whole = glob.starts_with(['/', '~']);
        for target in file(glob) {
            // A pattern below the folders is one more way to name a file that is asked about or denied.
            let to_allow = match is_whole {
                true => target.to_allow,
                false => targets[0].to_allow.clone(),
            };
            let elsewhere = [target.to_forbid, target.elsewhere].concat();
            targets.push(Target { to_allow, elsewhere, ..Target::default() });
        }
    }
    // A pattern of names may go up or elsewhere in a part of it, and a text may pretend to be a path.
    let leaves = |glob: &&str| {
        let parts = glob.split(|c: char| c.is_whitespace() || c == ',' || c == '{');
        goes_up(&glob.replace(['{', '}', ',', ' '], "/"))
            || parts.skip(1).any(|part| part.starts_with(['/', '~']))
    };
    let is_uncertain = pattern.contains("path=") || globs.iter().any(leaves);
    if is_uncertain {
        targets.iter_mut().for_each(|target| target.to_allow.clear());
    }
    let prefix = format!("pattern={pattern} path=");
    targets.into_iter().map(|target| target.behind(&prefix)).collect()
}

/// Judges a pattern as a whole and, because some clients take it for several, in its parts.
fn judge_glob(lists: bool, glob: &str, folders: &[&str], judge: &Judge<'_>, worst: &mut Worst) {
    let mut depth = 0_usize;
    let parts = glob.split(|c: char| {
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        c.is_whitespace() || c == ',' && depth == 0
    });
    for pattern in std::iter::once(glob).chain(parts.filter(|part| !part.is_empty())) {
        let arg = Arg { shape: Shape::Pattern, ..Arg::exact(pattern) };
        if lists {
            let stands_for_anything = |rule: &Rule| *rule == Rule::Path(PathRule::Pattern);
            // Names alone show no secret.
            worst.consider(match judge.places.judge(&arg, Access::Read) {
                Some(found) if stands_for_anything(&found.rule) => {
                    judge.places.judge(&arg, Access::List)
                }
                read => read,
            });
            continue;
        }
        worst.consider(judge.places.judge_chosen(&arg));
        for folder in folders {
            // The name of a folder is no pattern: `app/[...id]`.
            let folder = folder.replace(['*', '?', '[', ']', '{', '}'], "_");
            let text = format!("{folder}/{pattern}");
            worst.consider(judge.places.judge(&Arg { text, ..arg.clone() }, Access::Read));
        }
    }
}
