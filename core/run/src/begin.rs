//! How a run begins.

use serde_json::Map;

use super::event::{Usage, Written};
use super::record::*;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Plan, PlanParts};

/// What a run needs to know besides its plan.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// See [`unique_id`].
    pub id: String,
    /// Where the work happens.
    pub place: Place,
    /// When.
    pub at: Timestamp,
    /// `--auto-approve`: as if the file said `auto_approve: true`.
    pub auto_approve: bool,
    /// Whether machine checks are repeated before completion.
    pub reverify: bool,
    /// Agent that reviews at checkpoints.
    pub review_agent: Option<String>,
    /// Address of the issue that the work is to close.
    pub issue: Option<String>,
    /// What the issue says, for prompts; empty where the workflow itself quotes it.
    pub issue_text: String,
    /// As [`RunOptions::pr_repairs`].
    pub pr_repairs: Option<u32>,
}

/// Why a stored record is not that of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Its id cannot name a file: see [`is_run_id`].
    #[error("`run_id` is {:?}", text::ellipsis(.0, 80))]
    BadId(String),
    /// It has no steps; a plan has at least one.
    #[error("`steps` is empty, expected at least one step")]
    NoSteps,
    /// The steps are not numbered 1, 2, 3, …
    #[error("the step at place {expected} has the number {found}")]
    WrongNumber {
        /// The number of the step.
        found: u32,
        /// Its place in the list, from 1.
        expected: u32,
    },
    /// More attempts are uncounted than were made.
    #[error("step {step} has more uncounted attempts than attempts")]
    TooManyUncounted {
        /// Number of the step.
        step: u32,
    },
    /// It needs a step that does not come before it.
    #[error("step {step} depends on a step that does not come before it")]
    BadDependency {
        /// Number of the step.
        step: u32,
    },
    /// `max_parallel` is not from 1 to [`limits::PARALLEL_STEPS`].
    #[error("`max_parallel` is {0}, expected 1 to {most}", most = limits::PARALLEL_STEPS)]
    BadMaxParallel(u32),
    /// The results are not those of the step's checks, in their order.
    #[error("step {step} has results that do not belong to its checks")]
    StrayResult {
        /// Number of the step.
        step: u32,
    },
}

/// The id of a run of `slug` that begins at `at`: the first of `<slug>-<stamp>`,
/// `<slug>-<stamp>-2`, … that `taken` does not know. Characters that other tools refuse in
/// an id become `-`.
pub fn unique_id(slug: &str, at: Timestamp, taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = slug.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    let name = text::prefix(name.trim_start_matches(['-', '.', '_']), 100);
    let name = if name.is_empty() { "run" } else { name };
    let first = format!("{name}-{}", at.to_run_id_stamp());
    if !taken(&first) {
        return first;
    }
    (2u32..)
        .map(|n| format!("{first}-{n}"))
        .find(|id| !taken(id))
        .expect("fewer than four thousand million runs begin in one second")
}

/// Whether `id` may name a run: it becomes a file name.
pub fn is_run_id(id: &str) -> bool {
    id.len() <= 200
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

impl RunSettings {
    /// What `plan` says.
    pub(super) fn of(plan: &PlanParts, options: RunOptions) -> RunSettings {
        RunSettings {
            intent: plan.intent.clone(),
            success_criteria: plan.success_criteria.clone(),
            risk: plan.risk,
            auto_approve: plan.auto_approve,
            budgets: plan.budgets.clone(),
            allow: plan.allow.clone(),
            protect: plan.protect.clone(),
            commit: plan.commit,
            max_parallel: plan.max_parallel,
            setup: plan.setup.clone(),
            confine: plan.confine,
            network: plan.network.clone(),
            evidence: plan.evidence,
            plan_digest: plan.digest.clone(),
            written: Some(Written::of(plan)),
            options,
        }
    }
}

impl Record {
    /// The record of a run in which nothing has happened yet; `base` is the commit from which it is
    /// reviewed.
    pub(super) fn begun(
        (id, place): (String, Place),
        settings: RunSettings,
        steps: Vec<StepRecord>,
        base: Option<String>,
        at: Timestamp,
    ) -> Record {
        Record {
            id,
            place,
            settings,
            status: RunStatus::Running,
            pause_reason: None,
            interrupted: false,
            steps,
            events: Vec::new(),
            revision: 0,
            started_at: at,
            last_update: at,
            completed_at: None,
            active_ms: 0,
            usage: Usage::default(),
            reviews: Reviews { base, ..Reviews::default() },
            reverified: false,
            verified_clean: false,
            finish: None,
            finish_intent: None,
            pull_request: None,
            turns: Vec::new(),
            waits: Vec::new(),
            set_up: None,
            acting: None,
            sandboxes: Vec::new(),
            finished_commit: None,
            checkpoints: Vec::new(),
            fork_of: None,
            unknown: Map::new(),
        }
    }
}

impl Run {
    /// The record of a run that is about to start its first step.
    pub fn begin(plan: &Plan, beginning: Beginning) -> Run {
        let options = RunOptions {
            progress_verbose: plan.progress_verbose,
            report_full: plan.report_full,
            reverify: beginning.reverify,
            review_agent: beginning.review_agent,
            issue: beginning.issue,
            issue_text: beginning.issue_text,
            pr_repairs: beginning.pr_repairs,
        };
        let auto_approve = plan.auto_approve || beginning.auto_approve;
        let settings = RunSettings { auto_approve, ..RunSettings::of(plan, options) };
        let steps = plan.steps.iter().cloned().map(StepRecord::pending).collect();
        let base = beginning.place.source_head.clone();
        Run(Record::begun((beginning.id, beginning.place), settings, steps, base, beginning.at))
    }

    /// Takes back a record that was stored.
    ///
    /// # Errors
    ///
    /// What [`Run::begin`] and [`Run::apply`] never make.
    pub fn restore(record: Record) -> Result<Run, RestoreError> {
        if !is_run_id(&record.id) {
            return Err(RestoreError::BadId(record.id));
        }
        if record.steps.is_empty() {
            return Err(RestoreError::NoSteps);
        }
        let parallel = record.settings.max_parallel;
        if !(1..=limits::PARALLEL_STEPS).contains(&parallel) {
            return Err(RestoreError::BadMaxParallel(parallel));
        }
        let first = record.fork_of.as_ref().map_or(1, |fork_of| fork_of.step);
        for (expected, step) in (first..).zip(&record.steps) {
            let found = step.step.number;
            if found != expected {
                return Err(RestoreError::WrongNumber { found, expected });
            }
            if step.uncounted > step.attempts {
                return Err(RestoreError::TooManyUncounted { step: found });
            }
            if step.depends_on().iter().any(|needed| !(1..found).contains(needed)) {
                return Err(RestoreError::BadDependency { step: found });
            }
            let in_order = step.results.is_sorted_by(|a, b| a.check < b.check);
            let last = step.results.last().map(|result| result.check as usize);
            if !in_order || last.is_some_and(|last| last >= step.step.checks.len()) {
                return Err(RestoreError::StrayResult { step: found });
            }
        }
        Ok(Run(record))
    }

    /// The record works where it lies, also when its folder was moved: `root` is the absolute
    /// path of the folder that holds its `.hotl`.
    pub fn found_at(&mut self, root: &str) {
        root.clone_into(&mut self.0.place.execution_root);
    }

    /// The record continues under another id, because its own is taken.
    pub fn adopted_as(&mut self, id: &str) {
        id.clone_into(&mut self.0.id);
        self.0.place.report_path = format!(".hotl/reports/{id}.md");
    }

    /// The record continues in the folder `root`, an absolute path, with its report below it.
    pub fn move_to(&mut self, root: &str) {
        self.found_at(root);
        self.0.place.report_path = format!(".hotl/reports/{}.md", self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sortable_plain_and_unique() {
        let at = Timestamp::parse("2026-03-20T21:23:15Z").unwrap();
        assert_eq!(unique_id("add-auth", at, |_| false), "add-auth-20260320T212315Z");
        let taken = ["add-auth-20260320T212315Z", "add-auth-20260320T212315Z-2"];
        assert_eq!(
            unique_id("add-auth", at, |id| taken.contains(&id)),
            "add-auth-20260320T212315Z-3"
        );
        assert_eq!(unique_id("日本", at, |_| false), "run-20260320T212315Z");
        assert_eq!(unique_id("../x y", at, |_| false), "x-y-20260320T212315Z");
        assert!(is_run_id("add-auth-20260320T212315Z"));
        for bad in ["", "../x", ".x", "a/b", "a b", "日本"] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
