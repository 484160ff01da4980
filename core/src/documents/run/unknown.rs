//! Members of nested documents that this version does not know. The run keeps them by their
//! place, because its own types have no room for what nobody understands.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{CheckDocument, RunDocument};

type Members = Map<String, Value>;

/// Called for every nested document: what says its place, and its unknown members. Most
/// documents have none, so the place is only put into words on demand.
type See<'s> = dyn FnMut(&dyn Fn() -> String, &mut Members) + 's;

/// The unknown members of `document`, by place. Those of the run, of its steps and of their
/// finish are kept elsewhere.
pub(super) fn gather(document: &mut RunDocument) -> BTreeMap<String, Members> {
    let mut found = BTreeMap::new();
    visit(document, &mut |place, members| {
        if !members.is_empty() {
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
    visit(document, &mut |place, members| {
        if let Some(kept) = found.get(&place()) {
            members.clone_from(kept);
        }
    });
}

fn visit(document: &mut RunDocument, see: &mut See<'_>) {
    let fixed = [
        ("budgets", &mut document.budgets.unknown),
        ("budgets.limits", &mut document.budgets.limits.unknown),
        ("budgets.observed", &mut document.budgets.observed.unknown),
        ("options", &mut document.options.unknown),
        ("reviews", &mut document.reviews.unknown),
    ];
    for (place, members) in fixed {
        see(&|| place.to_owned(), members);
    }
    if !document.written.unknown.is_empty() || document.written.auto_approve.is_some() {
        see(&|| "written".to_owned(), &mut document.written.unknown);
    }
    if let Some(standing) = &mut document.reviews.standing {
        see(&|| "reviews.standing".to_owned(), &mut standing.unknown);
    }
    for (index, step) in document.steps.iter_mut().enumerate() {
        if let Some(script) = &mut step.script {
            see(&|| format!("steps.{index}.script"), &mut script.unknown);
        }
        if let Some(failure) = &mut step.last_failure {
            see(&|| format!("steps.{index}.last_failure"), &mut failure.unknown);
        }
        if let Some(check) = &mut step.verify {
            visit_check(check, &|| format!("steps.{index}.verify"), see);
        }
    }
    for (index, event) in document.events.iter_mut().enumerate() {
        see(&|| format!("events.{index}"), &mut event.unknown);
    }
}

fn visit_check(check: &mut CheckDocument, place: &dyn Fn() -> String, see: &mut See<'_>) {
    see(place, &mut check.unknown);
    if let Some(assert) = &mut check.assert {
        see(&|| format!("{}.assert", place()), &mut assert.unknown);
    }
    // A `multi` inside a `multi` is nothing that anybody writes.
    for (index, inner) in check.checks.iter_mut().flatten().enumerate() {
        see(&|| format!("{}.checks.{index}", place()), &mut inner.unknown);
        if let Some(assert) = &mut inner.assert {
            see(&|| format!("{}.checks.{index}.assert", place()), &mut assert.unknown);
        }
    }
}
