//! Which jobs a plan becomes: steps up to the next decision of a person are one, the decision is
//! one.

use onloop_run::{Beginning, GateRule, Place, Run, StepRecord, gate_rule};
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Check, Plan};

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompiledJob {
    /// The steps that wait for no later decision, by their numbers.
    Steps(Vec<u32>),
    /// A person decides about a step.
    Gate {
        /// Its number.
        step: u32,
    },
    /// Nothing but the end of the run is left.
    End,
}

impl CompiledJob {
    /// What other jobs call it.
    pub(super) fn key(&self) -> String {
        match self {
            CompiledJob::Steps(steps) => match (steps.as_slice(), is_range(steps)) {
                ([step], _) => format!("step-{step}"),
                ([from, .., to], true) => format!("steps-{from}-{to}"),
                // No other job has its first step.
                (steps, _) => format!("steps-from-{}", steps.first().unwrap_or(&1)),
            },
            CompiledJob::Gate { step } => format!("gate-{step}"),
            CompiledJob::End => "end".to_owned(),
        }
    }
}

/// Whether the steps follow each other without a gap.
pub(super) fn is_range(steps: &[u32]) -> bool {
    steps.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// The jobs of `plan`, in order; the last of them ends the run. A decision blocks the steps that
/// need the step that it is about: all later ones where steps run one after the other.
///
/// Each job hands the record of the run to the next, so jobs never run at the same time; the steps of
/// one job may.
pub(super) fn jobs(plan: &Plan) -> Vec<CompiledJob> {
    let beginning = Beginning {
        id: "compiled".to_owned(),
        place: Place::default(),
        at: Timestamp::EPOCH,
        auto_approve: false,
        reverify: true,
        review_agent: None,
        issue: None,
        issue_text: String::new(),
        pr_repairs: None,
    };
    let run = Run::begin(plan, beginning);
    let is_decided = |record: &StepRecord| {
        let mut checks = record.step.checks.iter();
        checks.any(|check| matches!(check, Check::HumanReview { .. }))
            || matches!(gate_rule(&run, record), GateRule::Human(_))
    };
    // For each step, the decisions on the longest way to it.
    let mut rounds: Vec<usize> = Vec::new();
    for (at, record) in run.steps.iter().enumerate() {
        let needed = match run.settings.max_parallel {
            0 | 1 => (1..=at as u32).last().into_iter().collect(),
            _ => record.depends_on(),
        };
        let after = needed.into_iter().map(|number| number as usize - 1);
        let round =
            after.map(|needed| rounds[needed] + usize::from(is_decided(&run.steps[needed])));
        rounds.push(round.max().unwrap_or(0));
    }
    let mut jobs = Vec::new();
    for round in 0..=rounds.iter().copied().max().unwrap_or(0) {
        let records = || run.steps.iter().zip(&rounds).filter(|(_, of)| **of == round);
        let number = |(record, _): (&StepRecord, &usize)| record.step.number;
        jobs.push(CompiledJob::Steps(records().map(number).collect()));
        let decided = records().filter(|(record, _)| is_decided(record));
        jobs.extend(decided.map(number).map(|step| CompiledJob::Gate { step }));
    }
    if matches!(jobs.last(), Some(CompiledJob::Gate { .. })) {
        jobs.push(CompiledJob::End);
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_workflow as workflow;

    fn keys(frontmatter: &str, steps: &[&str]) -> String {
        let mut file = format!("---\nintent: a\nsuccess_criteria: b\n{frontmatter}---\n");
        for (at, step) in steps.iter().enumerate() {
            file += &format!("### {0}. S{0}\naction: do\nloop: false\n{step}\n", at + 1);
        }
        let parsed = workflow::parse("hotl-workflow-a.md", file.as_bytes());
        let plan = parsed.plan.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        jobs(&plan).iter().map(CompiledJob::key).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_job_goes_up_to_the_next_decision() {
        let (low, high) = ("risk_level: low\n", "risk_level: high\n");
        let by_itself = "risk_level: low\nauto_approve: true\n";
        let looks = "verify:\n  type: human-review\n  prompt: look";
        for (frontmatter, steps, expected) in [
            (low, &[""][..], "step-1"),
            (low, &["", ""], "steps-1-2"),
            (low, &["gate: human"], "step-1 gate-1 end"),
            (low, &["gate: auto", "", "gate: human", ""], "steps-1-3 gate-3 step-4"),
            (low, &["gate: human", "gate: human"], "step-1 gate-1 step-2 gate-2 end"),
            (by_itself, &["gate: human", ""], "steps-1-2"),
            (high, &["gate: human", ""], "step-1 gate-1 step-2"),
            (by_itself, &[looks, ""], "step-1 gate-1 step-2"),
        ] {
            assert_eq!(keys(frontmatter, steps), expected, "{frontmatter} {steps:?}");
        }
    }

    #[test]
    fn a_decision_blocks_the_steps_that_need_it() {
        let parallel = "risk_level: low\nworktree: true\nmax_parallel: 3\n";
        let gate = "gate: human";
        for (frontmatter, steps, expected) in [
            (
                parallel,
                &["", gate, "depends_on: [1]", "depends_on: [2, 3]"][..],
                "steps-1-3 gate-2 step-4",
            ),
            (
                parallel,
                &[gate, "depends_on: []\ngate: human", "depends_on: [1]", "depends_on: []", ""],
                "steps-from-1 gate-1 gate-2 step-3",
            ),
            (
                parallel,
                &["", gate, "depends_on: [2]", gate],
                "steps-1-2 gate-2 steps-3-4 gate-4 end",
            ),
            ("risk_level: low\n", &["", gate, "depends_on: [1]"], "steps-1-2 gate-2 step-3"),
        ] {
            assert_eq!(keys(frontmatter, steps), expected, "{frontmatter} {steps:?}");
        }
    }
}
