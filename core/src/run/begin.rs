//! How a run begins.

use std::collections::BTreeMap;

use serde_json::Map;

use super::event::Usage;
use super::record::*;
use crate::time::Timestamp;
use crate::workflow::Plan;

/// What a run needs to know besides its plan.
#[derive(Clone, Debug)]
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
}

/// The id of a run of `slug` that begins at `at`: the first of `<slug>-<stamp>`,
/// `<slug>-<stamp>-2`, … that `taken` does not know. Characters that other tools refuse in
/// an id become `-`.
pub fn unique_id(slug: &str, at: Timestamp, taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = slug.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    let name = crate::text::prefix(name.trim_start_matches(['-', '.', '_']), 100);
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

impl Run {
    /// The record of a run that is about to start its first step.
    pub fn begin(plan: &Plan, beginning: Beginning) -> Run {
        let reviews = Reviews { base: beginning.place.source_head.clone(), ..Reviews::default() };
        Run {
            id: beginning.id,
            place: beginning.place,
            terms: Terms {
                intent: plan.intent.clone(),
                success_criteria: plan.success_criteria.clone(),
                risk: plan.risk,
                auto_approve: plan.auto_approve || beginning.auto_approve,
                progress_verbose: plan.progress_verbose,
                report_full: plan.report_full,
                budgets: plan.budgets.clone(),
                plan_digest: plan.digest.clone(),
                written: Some(Written::of(plan)),
                reverify: beginning.reverify,
                review_agent: beginning.review_agent,
            },
            status: RunStatus::Running,
            steps: plan.steps.iter().cloned().map(StepRecord::pending).collect(),
            events: Vec::new(),
            revision: 0,
            started_at: beginning.at,
            last_update: beginning.at,
            completed_at: None,
            active_ms: 0,
            usage: Usage::default(),
            reviews,
            reverified: false,
            finish: None,
            finish_intent: None,
            unknown: Map::new(),
            unknown_inside: BTreeMap::new(),
        }
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
