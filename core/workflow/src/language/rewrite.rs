//! Edits without a finding: inserting and moving steps.

use super::{Reading, arranged, inserted};
use crate::StepPlace;
use onloop_syntax::diagnostic::{Edit, Fix};

const STEP: &str = "- [ ] **Step {number}: New step**\naction: what to do\nloop: false\n";

/// Edits for the step whose header is at `offset`: insert a step before or after it, move it, or
/// renumber all steps. No edits at other positions.
pub fn rewrites(reading: Reading<'_>, offset: usize) -> Vec<Fix> {
    let steps = reading.steps();
    let is_here =
        |step: &StepPlace| step.span.start <= offset && offset <= step.title.end.max(step.id.end);
    let Some(at) = steps.iter().position(is_here) else { return Vec::new() };
    let number = at + 1;
    let mut found = Vec::new();
    let mut add = |title: String, edits: Vec<Edit>| found.push(Fix { title, edits });
    add(format!("Insert a step before step {number}"), inserted(reading, at, STEP));
    add(format!("Insert a step after step {number}"), inserted(reading, at + 1, STEP));
    let order: Vec<usize> = (0..steps.len()).collect();
    let mut swapped = |first: usize, title: String| {
        // A step stays below those that it lists.
        let above = steps[first].number;
        let lower = reading.parsed.plan.as_ref().and_then(|plan| plan.steps.get(first + 1));
        let listed = lower.and_then(|step| step.depends_on.as_ref());
        if listed.is_some_and(|numbers| numbers.contains(&above)) {
            return;
        }
        let mut order = order.clone();
        order.swap(first, first + 1);
        if let Ok(edits) = arranged(reading, &order) {
            add(title, edits);
        }
    };
    if at > 0 {
        swapped(at - 1, format!("Move step {number} up"));
    }
    if at + 1 < steps.len() {
        swapped(at, format!("Move step {number} down"));
    }
    let renumbered = arranged(reading, &order).unwrap_or_default();
    if !renumbered.is_empty() {
        add("Number the steps 1, 2, 3, … and what mentions them".to_owned(), renumbered);
    }
    found
}
