//! The files that a check names, or that its programs take their rules from.

use std::collections::BTreeSet;

use super::Changed;
use super::rules::rules_there;
use onloop_effect::{FileKind, Io};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_workflow::implied::implied_by;
use onloop_workflow::{Check, named};

/// Changed files that a check depends on by their names, relative to the top folder.
#[derive(Debug, Default)]
pub(super) struct NamedFiles {
    pub(super) found: BTreeSet<String>,
    /// Those that a script of the repository runs.
    pub(super) run_by_scripts: BTreeSet<String>,
}

impl Changed {
    pub(super) async fn named(&self, io: &Io, run: &Run, check: &Check) -> NamedFiles {
        let named = named::named_by(check);
        let implied = implied_by(check);
        let rules = implied.iter().flat_map(|implied| &implied.paths);
        let mut found: BTreeSet<String> =
            named.iter().chain(rules).filter_map(|path| self.have(path)).collect();
        // What a script of the repository runs may have been begun for it.
        let mut run_by_scripts = BTreeSet::new();
        for (path, script) in scripts(io, run, check, &named).await {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let named = named::named_in(&script, &["", folder]);
            found.extend(self.have(&path));
            found.extend(named.iter().filter_map(|path| self.have(path)));
            let ran = named::run_in_script(&script, folder);
            run_by_scripts.extend(ran.iter().filter_map(|path| self.have(path)));
        }
        for (path, lines) in rules_there(io, run, &implied).await {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let ran = named::run_in_script(&lines, folder);
            found.extend(ran.iter().filter_map(|path| self.have(path)));
        }
        NamedFiles { found, run_by_scripts }
    }
}

/// The files that the check names and that are text, each with its content. Their paths are real ones,
/// seen from the execution root.
async fn scripts(
    io: &Io,
    run: &Run,
    check: &Check,
    named: &BTreeSet<String>,
) -> Vec<(String, String)> {
    let root = &run.place.execution_root;
    let Ok(top) = io.canonical(root).await else { return Vec::new() };
    let run_by = named::run_by(check);
    let likely = named.iter().filter(|path| path.contains(['/', '.']) && !run_by.contains(*path));
    let mut found = Vec::new();
    for path in run_by.iter().chain(likely).take(limits::CHANGED_CHECK_FILES) {
        let Ok(real) = io.canonical(&format!("{root}/{path}")).await else { continue };
        let Some(below) = real.strip_prefix(&format!("{top}/")) else { continue };
        let is_file = io.stat(&real).await.is_ok_and(|stat| stat.kind == FileKind::File);
        if is_file && let Ok((bytes, _)) = io.read(&real, limits::CHANGED_CHECK_BYTES).await {
            found.push((below.to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}
