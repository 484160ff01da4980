//! Random plans as workflow files.

use crate::Random;

const RISKS: [&str; 3] = ["low", "medium", "high"];

/// A plan, in as much detail as the claims about it need.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) risk: &'static str,
    pub(super) auto_approve: bool,
    /// `max_total_attempts`.
    pub(super) attempts: Option<u64>,
    /// Actions so long that the record is journalled.
    pub(super) large: bool,
    /// `verify_clean`, which needs a repository.
    pub(super) clean: bool,
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub(super) struct PlannedStep {
    /// `None`: no loop.
    pub(super) limit: Option<u32>,
    /// Shell checks.
    pub(super) checks: u32,
    /// A person looks as well.
    pub(super) review: bool,
    pub(super) gate: Option<&'static str>,
}

impl Plan {
    pub(super) fn random(random: &mut Random) -> Plan {
        let steps = (0..1 + random.below(4)).map(|_| PlannedStep::random(random)).collect();
        Plan {
            steps,
            risk: RISKS[random.below(3) as usize],
            auto_approve: random.chance(30),
            attempts: random.chance(20).then(|| 1 + random.below(6)),
            large: random.chance(30),
            clean: random.chance(30),
        }
    }

    /// Somebody edits the file: another check, another step, or one step less.
    pub(super) fn edit(&mut self, random: &mut Random) {
        match random.below(3) {
            0 => {
                let index = random.below(self.steps.len() as u64) as usize;
                self.steps[index].checks = self.steps[index].checks % 3 + 1;
            }
            1 => self.steps.push(PlannedStep::random(random)),
            _ if self.steps.len() > 1 => drop(self.steps.pop()),
            _ => self.steps[0].review = !self.steps[0].review,
        }
    }

    /// The workflow file.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "---\nintent: Try it\nsuccess_criteria: It works\nrisk_level: {}\nauto_approve: {}\n",
            self.risk, self.auto_approve
        );
        if let Some(attempts) = self.attempts {
            text += &format!("max_total_attempts: {attempts}\n");
        }
        if self.clean {
            text += "verify_clean: true\n";
        }
        text += "---\n\n## Steps\n\n";
        for (index, step) in self.steps.iter().enumerate() {
            text += &step.text(index + 1, self.large && index == 0);
        }
        text
    }
}

impl PlannedStep {
    fn random(random: &mut Random) -> PlannedStep {
        let step = PlannedStep {
            limit: random.chance(60).then(|| 1 + random.below(4) as u32),
            checks: random.below(3) as u32,
            review: random.chance(20),
            gate: *random.pick(&[None, None, Some("human"), Some("auto")]),
        };
        // What is repeated, and what nobody approves, has to be verified.
        match (step.checks, step.review, step.gate, step.limit) {
            (0, false, None, _) | (0, _, _, Some(_)) => PlannedStep { checks: 1, ..step },
            _ => step,
        }
    }

    fn text(&self, number: usize, large: bool) -> String {
        let mut text = format!("- [ ] **Step {number}: Part {number}**\n");
        if large {
            let line = format!("  {}\n", "x".repeat(1000));
            let lines = onloop_core::limits::RECORD_REWRITE_BYTES / 1000 + 2;
            text += &format!("action: |\n{}", line.repeat(lines));
        } else {
            text += "action: do it\n";
        }
        text += &match self.limit {
            None => "loop: false\n".to_owned(),
            Some(limit) => format!("loop: until it holds\nmax_iterations: {limit}\n"),
        };
        if self.checks > 0 || self.review {
            text += "verify:\n";
        }
        for check in 1..=self.checks {
            // What must not be there when the run ends, as well as what must.
            let bang = if check == 2 { "! " } else { "" };
            text += &format!("  - type: shell\n    command: {bang}check-{number}-{check}\n");
        }
        if self.review {
            text += &format!("  - type: human-review\n    prompt: look at {number}\n");
        }
        if let Some(gate) = self.gate {
            text += &format!("gate: {gate}\n");
        }
        text + "\n"
    }
}
