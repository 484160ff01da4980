//! Whether the run changed what verifies it: files that a check names, and those that such a file
//! names; also those that a program takes its rules from unasked. Compared is the work at the beginning with the work now; what an agent says does not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::check_inputs::{Between, joins_others, rules_there};
use crate::run::checkpoint::{forget_snapshot, snapshot_work};
use crate::state::store::Store;
use onloop_effect::{DiffShown, FileKind, Io};
use onloop_run::{
    ChangedFile, CheckpointKind, CheckpointMoment, Run, Warning, begins_file, changed_lines,
    is_machine_check,
};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::implied::{Implied, implied_by};
use onloop_workflow::{Check, named};

/// What the run has changed by now.
#[derive(Debug)]
pub(crate) enum Changes {
    /// Nothing, or there are no checkpoints.
    None,
    /// These files.
    Some(Changed),
    /// It cannot be told: why, on one line.
    Unseen(String),
}

/// Files that differ between two commits.
#[derive(Debug)]
pub(crate) struct Changed {
    from: String,
    to: String,
    /// Paths relative to the top folder of the checkout.
    paths: BTreeSet<String>,
    /// The execution root relative to that, with a slash behind it, or nothing.
    prefix: String,
}

impl Changes {
    /// What has changed before the checks of the present attempt at `step` are evaluated.
    pub(crate) async fn before(io: &Io, store: &Store, step: u32) -> Changes {
        let run = store.run();
        let attempt = run.step(step).map_or(0, |record| record.attempts);
        let acted = CheckpointMoment::Acted { step, attempt };
        match run.last_checkpoint() {
            Some(last) if last.moment == acted => {
                let (commit, tree) = (last.commit.clone(), last.tree.clone());
                Changes::until(io, run, commit, &tree).await
            }
            Some(_) => Changes::now(io, store).await,
            None => Changes::None,
        }
    }

    /// What has changed by now, whatever was kept last.
    pub(crate) async fn now(io: &Io, store: &Store) -> Changes {
        let Some(last) = store.run().last_checkpoint() else { return Changes::None };
        match snapshot_work(io, store).await {
            Ok(kept) if kept.tree == last.tree => {
                forget_snapshot(io, store, kept.commit).await;
                Changes::until(io, store.run(), last.commit.clone(), &last.tree).await
            }
            Ok(kept) => Changes::until(io, store.run(), kept.commit, &kept.tree).await,
            Err(failure) => Changes::Unseen(text::one_line(&failure.message)),
        }
    }

    async fn until(io: &Io, run: &Run, to: String, tree: &str) -> Changes {
        let first = run.checkpoints.first();
        let Some(first) = first.filter(|first| first.moment.kind() == CheckpointKind::Begun) else {
            return Changes::Unseen("the work was not kept when the run began".to_owned());
        };
        if first.tree == tree {
            return Changes::None;
        }
        let root = &run.place.execution_root;
        match io.git_changed_paths(root, &first.commit, &to).await {
            Ok(paths) => Changes::Some(Changed {
                from: first.commit.clone(),
                to,
                paths: paths.into_iter().collect(),
                prefix: run.place.prefix(),
            }),
            Err(failure) => Changes::Unseen(text::one_line(&failure.message)),
        }
    }

    /// What there is to warn about a check before it is evaluated.
    pub(crate) async fn warnings(&self, io: &Io, run: &Run, check: &Check) -> Vec<Warning> {
        if !is_machine_check(check) {
            return Vec::new();
        }
        match self {
            Changes::None => Vec::new(),
            Changes::Unseen(reason) => vec![Warning::CheckUnseen { reason: reason.clone() }],
            Changes::Some(changed) => changed.warnings(io, run, check).await,
        }
    }
}

impl Changed {
    async fn warnings(&self, io: &Io, run: &Run, check: &Check) -> Vec<Warning> {
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
        let mut warnings = Vec::new();
        let mut steps = None;
        for path in found {
            let root = &run.place.execution_root;
            let (ends, shown) =
                ((&*self.from, &*self.to), DiffShown::PatchOf(std::slice::from_ref(&path)));
            let patch = io.git_diff(root, ends, shown, limits::CHANGED_CHECK_BYTES).await;
            let patch = patch.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let patch = patch.unwrap_or_default();
            if begins_file(&patch)
                && !run_by_scripts.contains(&path)
                && !self.joins(io, run, &implied, &path).await
            {
                continue;
            }
            if steps.is_none() {
                steps = Some(paths_by_step(io, run).await);
            }
            let changed_in =
                |(step, paths): (&u32, &BTreeSet<String>)| paths.contains(&path).then_some(*step);
            warnings.push(Warning::CheckChanged(ChangedFile {
                steps: steps.iter().flatten().filter_map(changed_in).collect(),
                lines: changed_lines(&patch),
                path: text::one_line(&path),
            }));
        }
        warnings
    }

    /// Whether a file that was begun is one more from which a program takes its rules.
    async fn joins(&self, io: &Io, run: &Run, implied: &[Implied], path: &str) -> bool {
        let Some(path) = path.strip_prefix(&self.prefix) else { return false };
        let differs = |path: &str| self.have(path).is_some();
        let between = Between { from: &self.from, to: &self.to, differs: &differs };
        joins_others(io, run, between, implied, path).await
    }

    /// The path from the top folder of one that is seen from the execution root, if it changed.
    fn have(&self, path: &str) -> Option<String> {
        let path = format!("{}{path}", self.prefix);
        self.paths.contains(&path).then_some(path)
    }
}

/// The files that a check names and that are text, each with its content. Their paths are real ones,
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

/// Which files changed in which step, by the checkpoints on both sides.
async fn paths_by_step(io: &Io, run: &Run) -> BTreeMap<u32, BTreeSet<String>> {
    let mut by_step: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for pair in run.checkpoints.windows(2).rev().take(limits::CHANGED_CHECK_CHECKPOINTS) {
        let [before, after] = pair else { continue };
        let Some(step) = after.moment.step().filter(|_| before.tree != after.tree) else {
            continue;
        };
        let root = &run.place.execution_root;
        let paths = io.git_changed_paths(root, &before.commit, &after.commit).await;
        by_step.entry(step).or_default().extend(paths.unwrap_or_default());
    }
    by_step
}
