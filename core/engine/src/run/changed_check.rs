//! Whether the run changed what a check depends on. The work at the beginning is compared with the
//! work now; what an agent says does not count.
//!
//! Where the host observes which files are opened while a check runs, those count. Files that the
//! check names count everywhere, since a name also finds what is only looked for.

mod named;
mod patches;
mod rules;

pub(crate) use rules::{Between, joins_others};

use std::collections::{BTreeMap, BTreeSet};

use crate::run::checkpoint::{forget_snapshot, snapshot_work};
use crate::state::store::Store;
use named::NamedFiles;
use onloop_effect::{FileKind, Io};
use onloop_run::{
    ChangedFile, ChangedInputs, CheckResult, CheckpointKind, CheckpointMoment, FileChange, FoundBy,
    Run, StepRecord, Warning, changed_lines, is_machine_check,
};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::Check;
use onloop_workflow::implied::{Implied, implied_by};
use onloop_workflow::part::{CheckScope, Part};
use patches::{patches, paths_by_step};

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

/// What is known of a check before it is evaluated.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    named: NamedFiles,
    /// The top folder of the checkout in which it runs.
    top: String,
    /// Absolute paths of the files that the run changed, those that matter most first.
    pub(crate) observe: Vec<String>,
    /// How many of the first of them are to be renewed, so that no build cache hides their opening.
    pub(crate) renew: u64,
    /// Those that the same check has opened before in this run, relative to the top folder. An
    /// execution that does not open them again rests on what the earlier one made of them.
    opened_before: BTreeSet<String>,
    /// Whether files that matter are not among them, because there are too many.
    is_cut: bool,
}

/// What is known of a check after it was evaluated.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) warnings: Vec<Warning>,
    /// The changed files that were opened; `None`: not observed.
    pub(crate) inputs: Option<ChangedInputs>,
}

impl Changes {
    /// What has changed before the checks of the present attempt at `step` are evaluated.
    pub(crate) async fn before(io: &Io, store: &mut Store, step: u32) -> Changes {
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

    /// What the check names, and the files to observe while it runs in `root`, which stands for the
    /// folder in which the run works.
    pub(crate) async fn expected(&self, io: &Io, run: &Run, check: &Check, root: &str) -> Expected {
        match self {
            Changes::Some(changed) if is_machine_check(check) => {
                changed.expected(io, run, check, root).await
            }
            Changes::Some(_) | Changes::None | Changes::Unseen(_) => Expected::default(),
        }
    }

    /// What there is to warn about a check that was evaluated, and which changed files it opened.
    /// `opened` are those of [`Expected::observe`]; `None`: not observed.
    pub(crate) async fn found(
        &self,
        io: &Io,
        run: &Run,
        check: &Check,
        expected: &Expected,
        opened: Option<Vec<String>>,
    ) -> Found {
        match self {
            _ if !is_machine_check(check) => Found::default(),
            Changes::None => {
                let is_observed = matches!(check, Check::Shell(_));
                let inputs = is_observed.then(ChangedInputs::default);
                Found { warnings: Vec::new(), inputs }
            }
            Changes::Unseen(reason) => Found {
                warnings: vec![Warning::CheckUnseen { reason: reason.clone() }],
                inputs: None,
            },
            Changes::Some(changed) => changed.found(io, run, check, expected, opened).await,
        }
    }
}

impl Changed {
    async fn expected(&self, io: &Io, run: &Run, check: &Check, root: &str) -> Expected {
        let scope = CheckScope::of(check);
        let matters = |path: &&String| {
            let seen = self.seen(path);
            scope.part_of(seen, false).is_some() || scope.hides(seen, true)
        };
        let (first, rest): (Vec<&String>, Vec<&String>) = self.paths.iter().partition(matters);
        let is_cut = first.len() > limits::OBSERVED_FILES;
        let opened_before = self.opened_before(run, check);
        let (known, new): (Vec<&String>, Vec<&String>) =
            first.into_iter().partition(|path| opened_before.contains(*path));
        let renew = new.len() as u64;
        let top = match self.prefix.trim_end_matches('/') {
            "" => root,
            prefix => root.strip_suffix(prefix).map_or(root, |top| top.trim_end_matches('/')),
        };
        let observed = new.into_iter().chain(known).chain(rest).take(limits::OBSERVED_FILES);
        Expected {
            named: self.named(io, run, check).await,
            observe: observed.map(|path| format!("{top}/{path}")).collect(),
            renew,
            opened_before,
            top: top.to_owned(),
            is_cut,
        }
    }

    /// The files that still differ and that this check has opened before, in any step.
    fn opened_before(&self, run: &Run, check: &Check) -> BTreeSet<String> {
        let same = |record: &StepRecord, result: &CheckResult| {
            record.step.checks.get(result.check as usize) == Some(check)
        };
        let results = run
            .steps
            .iter()
            .flat_map(|record| record.results.iter().filter(|result| same(record, result)));
        let known: BTreeSet<&str> = results
            .flat_map(|result| {
                let inputs = result.inputs.iter().flat_map(|inputs| &inputs.files);
                let warned = result.warnings.iter().filter_map(Warning::changed_file);
                inputs.chain(warned).filter(|file| file.found == FoundBy::Opened)
            })
            .map(|file| file.path.as_str())
            .collect();
        let differs = |path: &&String| known.contains(text::one_line(path).as_str());
        self.paths.iter().filter(differs).cloned().collect()
    }

    async fn found(
        &self,
        io: &Io,
        run: &Run,
        check: &Check,
        expected: &Expected,
        opened: Option<Vec<String>>,
    ) -> Found {
        let (scope, implied) = (CheckScope::of(check), implied_by(check));
        let observed = opened.is_some();
        let opened = opened.unwrap_or_default();
        let below_top =
            |path: &String| Some(path.strip_prefix(&expected.top)?.strip_prefix('/')?.to_owned());
        let mut opened: BTreeSet<String> = opened.iter().filter_map(below_top).collect();
        opened.extend(expected.opened_before.iter().cloned());
        let paths: BTreeSet<String> = opened.union(&expected.named.found).cloned().collect();
        let mut paths: Vec<String> = paths.into_iter().collect();
        // What is warned about comes first, since a list may be cut.
        paths.sort_by_key(|path| scope.part_of(self.seen(path), false).is_none());
        let patches = patches(io, run, (&self.from, &self.to), &paths).await;
        let by_step = match paths.is_empty() {
            true => BTreeMap::new(),
            false => paths_by_step(io, run).await,
        };
        let begins_rules = self.begins_rules(io, run, &scope, &implied, &patches).await;
        let (mut warnings, mut inputs) = (Vec::new(), ChangedInputs::default());
        for path in paths {
            let patch = patches.get(&path).map(String::as_str).unwrap_or_default();
            let file = ChangedFile {
                found: match opened.contains(&path) {
                    true => FoundBy::Opened,
                    false => FoundBy::Named,
                },
                change: FileChange::of_patch(patch),
                hides: false,
                expected: is_expected(run, &by_step, &path, self.seen(&path)),
                steps: steps_of(&by_step, &path),
                lines: changed_lines(patch),
                path: text::one_line(&path),
            };
            let judged = Judged { scope: &scope, implied: &implied, begins_rules, expected };
            let (is_warning, hides) = self.judge(io, run, &judged, &path, &file).await;
            let file = ChangedFile { hides, ..file };
            // Of a missing source file a check can only have read the folder.
            let is_listed = file.change != FileChange::Removed || is_warning || file.expected;
            if file.found == FoundBy::Opened && is_listed {
                match inputs.files.len() < limits::CHECK_INPUTS {
                    true => inputs.files.push(file.clone()),
                    false => inputs.more += 1,
                }
            }
            if is_warning && !file.expected {
                warnings.push(Warning::CheckChanged(file));
            }
        }
        if observed && expected.is_cut {
            let reason = format!("more than {} such files changed", limits::OBSERVED_FILES);
            warnings.push(Warning::CheckUnseen { reason });
        }
        Found { warnings, inputs: observed.then_some(inputs) }
    }

    /// Whether a changed file is worth a warning, and whether it hides a module or a tool.
    async fn judge(
        &self,
        io: &Io,
        run: &Run,
        judged: &Judged<'_>,
        path: &str,
        file: &ChangedFile,
    ) -> (bool, bool) {
        let Judged { scope, implied, begins_rules, expected } = judged;
        let seen = self.seen(path);
        let joins = async || self.joins(io, run, implied, path).await;
        if expected.named.found.contains(path)
            && (file.change != FileChange::Created
                || expected.named.run_by_scripts.contains(path)
                || joins().await)
        {
            return (true, false);
        }
        if file.found != FoundBy::Opened {
            return (false, false);
        }
        let stat = match file.change {
            FileChange::Removed => None,
            FileChange::Changed | FileChange::Created => {
                io.stat(&format!("{}/{path}", expected.top)).await.ok()
            }
        };
        let executable = stat.as_ref().is_some_and(|stat| stat.executable);
        let is_folder = stat.is_some_and(|stat| stat.kind == FileKind::Folder);
        let part = scope.part_of(seen, executable);
        match file.change {
            FileChange::Changed | FileChange::Removed => (part.is_some(), false),
            FileChange::Created if scope.hides(seen, executable || is_folder) => (true, true),
            FileChange::Created if part == Some(Part::Configuration) => {
                (!begins_rules && (!scope.is_usual(seen) || joins().await), false)
            }
            FileChange::Created => (false, false),
        }
    }

    /// Whether the run begins the usual configuration of a program of the check: then everything
    /// around it is new as well.
    async fn begins_rules(
        &self,
        io: &Io,
        run: &Run,
        scope: &CheckScope,
        implied: &[Implied],
        patches: &BTreeMap<String, String>,
    ) -> bool {
        for (path, patch) in patches {
            let is_usual = scope.is_usual(self.seen(path));
            if is_usual
                && FileChange::of_patch(patch) == FileChange::Created
                && !self.joins(io, run, implied, path).await
            {
                return true;
            }
        }
        false
    }

    /// Whether a file that was begun is one more from which a program takes its rules.
    async fn joins(&self, io: &Io, run: &Run, implied: &[Implied], path: &str) -> bool {
        let Some(path) = path.strip_prefix(&self.prefix) else { return false };
        let differs = |path: &str| self.have(path).is_some();
        let between = Between { from: &self.from, to: &self.to, differs: &differs };
        joins_others(io, run, between, implied, path).await
    }

    /// A path as it is seen from the folder in which the run works, where it is below that.
    fn seen<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(&self.prefix).unwrap_or(path)
    }

    /// The path from the top folder of one that is seen from the execution root, if it changed.
    fn have(&self, path: &str) -> Option<String> {
        let path = format!("{}{path}", self.prefix);
        self.paths.contains(&path).then_some(path)
    }
}

/// What a changed file is judged by.
struct Judged<'a> {
    scope: &'a CheckScope,
    implied: &'a [Implied],
    begins_rules: bool,
    expected: &'a Expected,
}

/// The steps in which a file changed, ascending.
fn steps_of(by_step: &BTreeMap<u32, BTreeSet<String>>, path: &str) -> Vec<u32> {
    by_step.iter().filter(|(_, paths)| paths.contains(path)).map(|(step, _)| *step).collect()
}

/// Whether `may_change` of every step that changed the file names it.
fn is_expected(
    run: &Run,
    by_step: &BTreeMap<u32, BTreeSet<String>>,
    path: &str,
    seen: &str,
) -> bool {
    let steps = steps_of(by_step, path);
    let may = |step: &u32| run.step(*step).is_some_and(|record| record.may_change(seen));
    !steps.is_empty() && steps.iter().all(may)
}
