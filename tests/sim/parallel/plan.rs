//! Plans whose steps need some of the steps before.

use std::collections::BTreeSet;

use crate::Random;

/// Such a plan.
#[derive(Clone, Debug)]
pub struct ParallelPlan {
    /// How many steps may work at once.
    pub most: u32,
    /// How many attempts there may be; `None`: any number.
    pub attempts: Option<u32>,
    /// The steps in order.
    pub all: Vec<ParallelStep>,
}

/// One of its steps.
#[derive(Clone, Debug)]
pub struct ParallelStep {
    /// The steps that it needs; `None`: the step before.
    pub depends_on: Option<Vec<u32>>,
    /// Whether it changes a file that others change, too.
    pub shares: bool,
    /// Whether a person decides about it.
    pub gate: bool,
}

impl ParallelPlan {
    /// A step, some beside each other after it, and one that needs all.
    pub fn diamond(most: u32, beside: u32, shares: bool) -> ParallelPlan {
        let step = |depends_on, shares| ParallelStep { depends_on, shares, gate: false };
        let first = step(None, false);
        let between = (0..beside).map(|_| step(Some(vec![1]), shares));
        let last = step(Some((2..=beside + 1).collect()), false);
        let all = [first].into_iter().chain(between).chain([last]).collect();
        ParallelPlan { most, attempts: None, all }
    }

    /// Any plan.
    pub fn random(random: &mut Random) -> ParallelPlan {
        let count = 2 + random.below(4) as u32;
        let step = |number: u32, random: &mut Random| {
            let needs = (1..number).filter(|_| random.chance(30)).collect();
            let depends_on = random.chance(75).then_some(needs);
            ParallelStep { depends_on, shares: random.chance(45), gate: random.chance(20) }
        };
        let all = (1..=count).map(|number| step(number, random)).collect();
        let most = 1 + random.below(4) as u32;
        let attempts = random.chance(25).then(|| count + random.below(4) as u32);
        ParallelPlan { most, attempts, all }
    }

    pub(super) fn steps(&self) -> u32 {
        self.all.len() as u32
    }

    pub(super) fn shares(&self, step: u32) -> bool {
        self.all[step as usize - 1].shares
    }

    /// The steps that change the shared file.
    pub(super) fn sharing(&self) -> impl Iterator<Item = u32> {
        (1..=self.steps()).filter(|step| self.shares(*step))
    }

    /// Everything that a step needs, through others as well.
    pub(super) fn needs(&self, step: u32) -> BTreeSet<u32> {
        let direct = match &self.all[step as usize - 1].depends_on {
            Some(steps) => steps.clone(),
            None => (1..step).next_back().into_iter().collect(),
        };
        let through = direct.iter().flat_map(|needed| self.needs(*needed));
        through.chain(direct.iter().copied()).collect()
    }

    /// The workflow file.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "---\nintent: Try it\nsuccess_criteria: It works\nrisk_level: low\nworktree: true\n\
             max_parallel: {}\n",
            self.most
        );
        if let Some(attempts) = self.attempts {
            text += &format!("max_total_attempts: {attempts}\n");
        }
        text += "---\n\n";
        for (number, step) in (1..).zip(&self.all) {
            text += &format!(
                "- [ ] **Step {number}: Part {number}**\naction: do it\nloop: until it is there\n\
                 max_iterations: 30\nverify: check-{number}\n"
            );
            if let Some(needed) = &step.depends_on {
                text += &format!("depends_on: {needed:?}\n");
            }
            if step.gate {
                text += "gate: human\n";
            }
            text.push('\n');
        }
        text
    }
}
