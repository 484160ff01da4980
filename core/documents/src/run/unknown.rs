//! Visits every document inside a record: for the members that a record should have and does not,
//! and for those that this version does not know. The run keeps the latter by their place, because
//! its own types have no room for what nobody understands.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{CheckDocument, RunDocument};
use crate::document::{Generation, Lacks};

type Members = Map<String, Value>;

/// Called for every document: what says its place, the members that it lacks, and its unknown
/// members, unless a type of the run itself has room for them. Most documents have none, so the
/// place is only put into words on demand.
type See<'s> = dyn FnMut(&dyn Fn() -> String, Lacks, Option<&mut Members>) + 's;

/// The path of a member that a record of `generation` should have and does not.
pub(super) fn missing(document: &mut RunDocument, generation: Generation) -> Option<String> {
    let mut found = None;
    visit(document, &mut |place, lacks, _| {
        if found.is_none()
            && let Some(name) = lacks.of(generation)
        {
            let place = place();
            let dot = if place.is_empty() { "" } else { "." };
            found = Some(format!("{place}{dot}{name}"));
        }
    });
    found
}

/// The unknown members of `document`, by place.
pub(super) fn gather(document: &mut RunDocument) -> BTreeMap<String, Members> {
    let mut found = BTreeMap::new();
    visit(document, &mut |place, _, members| {
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            found.insert(place(), std::mem::take(members));
        }
    });
    found
}

/// Puts back what was gathered, where its place still exists.
pub(super) fn restore(document: &mut RunDocument, found: &BTreeMap<String, Members>) {
    if found.is_empty() {
        return;
    }
    visit(document, &mut |place, _, members| {
        if let Some(members) = members
            && let Some(kept) = found.get(&place())
        {
            members.clone_from(kept);
        }
    });
}

fn visit(document: &mut RunDocument, see: &mut See<'_>) {
    let RunDocument { budgets, options, reviews, .. } = document;
    let fixed = [
        ("", document.lacks, None),
        ("budgets", budgets.lacks, Some(&mut budgets.unknown)),
        ("budgets.limits", budgets.limits.lacks, Some(&mut budgets.limits.unknown)),
        ("budgets.observed", budgets.observed.lacks, Some(&mut budgets.observed.unknown)),
        ("options", options.lacks, Some(&mut options.unknown)),
        ("reviews", reviews.lacks, Some(&mut reviews.unknown)),
    ];
    for (place, lacks, members) in fixed {
        see(&|| place.to_owned(), lacks, members);
    }
    if let Some(written) = &mut document.written {
        see(&|| "written".to_owned(), written.lacks, Some(&mut written.unknown));
        if let Some(limits) = &mut written.limits {
            see(&|| "written.limits".to_owned(), limits.lacks, Some(&mut limits.unknown));
        }
    }
    let found = [("standing", &mut reviews.standing), ("last", &mut reviews.last)];
    for (name, verdict) in found {
        if let Some(verdict) = verdict {
            see(&|| format!("reviews.{name}"), verdict.lacks, Some(&mut verdict.unknown));
        }
    }
    if let Some(finish) = &document.finish {
        // Where nothing is settled, nothing else has to be there.
        let [always, ..] = finish.lacks.0;
        let lacks = if finish.is_settled() { finish.lacks } else { Lacks([always, None, None]) };
        see(&|| "finish".to_owned(), lacks, None);
    }
    if let Some(intent) = &mut document.finish_intent {
        see(&|| "finish_intent".to_owned(), intent.lacks, Some(&mut intent.unknown));
    }
    for (index, turn) in document.turns.iter_mut().flatten().enumerate() {
        see(&|| format!("turns[{index}]"), turn.lacks, Some(&mut turn.unknown));
    }
    for (index, wait) in document.waits.iter_mut().flatten().enumerate() {
        see(&|| format!("waits[{index}]"), wait.lacks, Some(&mut wait.unknown));
    }
    for (index, step) in document.steps.iter_mut().enumerate() {
        see(&|| format!("steps[{index}]"), step.lacks, None);
        if let Some(script) = &mut step.script {
            let place = || format!("steps[{index}].script");
            see(&place, script.lacks, Some(&mut script.unknown));
        }
        if let Some(failure) = &mut step.last_failure {
            let place = || format!("steps[{index}].last_failure");
            see(&place, failure.lacks, Some(&mut failure.unknown));
        }
        if let Some(check) = &mut step.verify {
            visit_check(check, &|| format!("steps[{index}].verify"), see);
        }
    }
    for (index, event) in document.events.iter_mut().enumerate() {
        see(&|| format!("events[{index}]"), event.lacks, Some(&mut event.unknown));
    }
}

fn visit_check(check: &mut CheckDocument, place: &dyn Fn() -> String, see: &mut See<'_>) {
    see(place, check.lacks, Some(&mut check.unknown));
    if let Some(assert) = &mut check.assert {
        see(&|| format!("{}.assert", place()), assert.lacks, Some(&mut assert.unknown));
    }
    // A `multi` inside a `multi` is refused.
    for (index, inner) in check.checks.iter_mut().flatten().enumerate() {
        let place = || format!("{}.checks[{index}]", place());
        see(&place, inner.lacks, Some(&mut inner.unknown));
        if let Some(assert) = &mut inner.assert {
            see(&|| format!("{}.assert", place()), assert.lacks, Some(&mut assert.unknown));
        }
    }
}
