//! Which jobs a plan becomes: steps up to the next decision of a person are one, the decision is
//! one.

use onloop_run::{Beginning, GateRule, Run, gate_rule};
use onloop_workflow::{Check, Plan};

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompiledJob {
    /// Steps, up to the decision about the last of them.
    Steps {
        /// Number of the first.
        from: u32,
        /// Number of the last.
        to: u32,
    },
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
    pub(super) fn key(self) -> String {
        match self {
            CompiledJob::Steps { from, to } if from == to => format!("step-{from}"),
            CompiledJob::Steps { from, to } => format!("steps-{from}-{to}"),
            CompiledJob::Gate { step } => format!("gate-{step}"),
            CompiledJob::End => "end".to_owned(),
        }
    }
}

/// The jobs of `plan`, in order; the last of them ends the run.
pub(super) fn jobs(plan: &Plan) -> Vec<CompiledJob> {
    let beginning = Beginning { id: "compiled".to_owned(), reverify: true, ..Beginning::default() };
    let run = Run::begin(plan, beginning);
    let (mut jobs, mut from) = (Vec::new(), 1);
    for record in &run.steps {
        let to = record.step.number;
        let looks =
            record.step.checks.iter().any(|check| matches!(check, Check::HumanReview { .. }));
        if looks || matches!(gate_rule(&run, record), GateRule::Human(_)) {
            jobs.extend([CompiledJob::Steps { from, to }, CompiledJob::Gate { step: to }]);
            from = to + 1;
        }
    }
    let to = run.last_step();
    jobs.push(if from > to { CompiledJob::End } else { CompiledJob::Steps { from, to } });
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
        jobs(&plan).into_iter().map(CompiledJob::key).collect::<Vec<_>>().join(" ")
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
}
