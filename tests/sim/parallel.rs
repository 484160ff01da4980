//! Runs whose steps work side by side, on a machine that fails while any of their drivers works.

mod plan;
mod world;

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::effect::{Exit, Say};
use onloop_core::run::{ForkState, Run, RunStatus, StepStatus};
use onloop_core::text;

pub use plan::ParallelPlan;
use world::World;

use crate::{Ended, Random, SimHost, SimRepository};

const FILE: &str = "/demo/hotl-workflow-w.md";

/// A machine with a repository and one run in it.
pub struct ParallelLife {
    /// The machine.
    pub host: SimHost,
    plan: ParallelPlan,
    repository: Rc<RefCell<SimRepository>>,
    world: Rc<RefCell<World>>,
    random: Random,
}

impl ParallelLife {
    /// A machine on which nothing has run. `seed` decides whose turn it is, and how agents fare.
    pub fn new(plan: ParallelPlan, seed: u64) -> ParallelLife {
        let mut host = SimHost::new();
        let mut random = Random::new(seed);
        host.disk.put(FILE, plan.text());
        let repository = SimRepository::around(&mut host, "/demo");
        let world = World::around(&mut host, &plan, Random::new(random.number()));
        ParallelLife { host, plan, repository, world, random }
    }

    /// From now on agents succeed at once.
    pub fn calm(&mut self) {
        self.world.borrow_mut().stable = true;
    }

    /// The run, once it has begun.
    pub fn run(&self) -> Option<Run> {
        let records = self.world.borrow_mut().records(&self.host.disk);
        let own = records.iter().find(|record| record.run.fork_of.is_none());
        own.map(|record| record.run.clone())
    }

    /// What begins or continues the run, with the drivers that it launches, to their ends.
    ///
    /// # Errors
    ///
    /// What does not hold afterwards.
    pub fn drive(&mut self) -> Result<Ended, String> {
        let line = match self.run() {
            // The program before may have made a worktree and then ended.
            None => format!("onloop run {FILE} --on-existing recreate --agent-command the-agent"),
            Some(run) => format!("onloop resume {} --agent-command the-agent", run.id),
        };
        self.program(&line)
    }

    /// One command line, with the drivers that it launches, to their ends.
    ///
    /// # Errors
    ///
    /// What does not hold afterwards.
    pub fn program(&mut self, line: &str) -> Result<Ended, String> {
        let line: Vec<&str> = line.split(' ').collect();
        let random = &mut self.random;
        let ended = self.host.run_with_drivers(&line, |count| random.below(count as u64) as usize);
        let records = self.world.borrow_mut().records(&self.host.disk);
        // What a program left that ended before it recorded a fork has nobody who drives it.
        let is_known = |run: &Run| {
            run.fork_of.is_none() || self.run().is_some_and(|whole| {
                whole.forked_steps().any(|(_, fork)| fork.run == run.id)
            })
        };
        let driven = records
            .iter()
            .find(|record| record.run.status == RunStatus::Running && is_known(&record.run));
        if ended.contains(&Ended::Exit(Exit::Bug)) {
            return Err(format!("a bug was reported\n{}", self.said()));
        }
        let by_itself = ended.iter().all(|ended| matches!(ended, Ended::Exit(_)));
        if let Some(record) = driven.filter(|_| by_itself) {
            return Err(format!("all have ended, and {} runs\n{}", record.run.id, self.said()));
        }
        match self.world.borrow().broken.first() {
            Some(broken) => Err(format!("{broken}\n{}", self.said())),
            None => Ok(ended[0]),
        }
    }

    /// Continues the run until it is completed.
    ///
    /// # Errors
    ///
    /// What does not hold then, or no end.
    pub fn complete(&mut self) -> Result<(), String> {
        for _ in 0..8 {
            if self.run().is_some_and(|run| run.is_over()) {
                return self.is_whole();
            }
            let ended = self.drive()?;
            if !matches!(ended, Ended::Exit(Exit::Done | Exit::Paused | Exit::Failed)) {
                return Err(format!("it ended with {ended:?}\n{}", self.said()));
            }
        }
        Err(format!("eight programs did not complete the run\n{}", self.said()))
    }

    /// The work of every step is in the worktree of the run, and nothing else is left.
    fn is_whole(&self) -> Result<(), String> {
        let run = self.run().expect("callers have looked");
        let fail = |what: String| Err(format!("{what}\n{}", self.said()));
        if run.status != RunStatus::Completed {
            return fail(format!("the run is {:?}", run.status));
        }
        for record in &run.steps {
            let fork = record.fork.as_ref().map(|fork| fork.state);
            if record.status != StepStatus::Done || fork.is_some_and(|f| f != ForkState::Merged) {
                return fail(format!("step {}: {:?}, {fork:?}", record.step.number, record.status));
            }
        }
        let root = &run.place.execution_root;
        for step in 1..=self.plan.steps() {
            let file = format!("{root}/step-{step}.txt");
            if self.host.disk.get(&file).is_none() {
                return fail(format!("{file} is not there"));
            }
        }
        let shared = self.host.disk.get(&format!("{root}/shared.txt")).unwrap_or_default();
        let shared = String::from_utf8_lossy(shared);
        let mut lines: Vec<&str> = shared.lines().collect();
        lines.sort_unstable();
        let expected: Vec<String> = self.plan.sharing().map(|step| format!("{step}")).collect();
        if lines != expected {
            return fail(format!("shared.txt has {lines:?}, not {expected:?}"));
        }
        let repository = self.repository.borrow();
        let (worktrees, branches) = (repository.worktrees(), repository.branches());
        if worktrees != [root] || branches.len() != 2 {
            return fail(format!("left: {worktrees:?}, {branches:?}"));
        }
        Ok(())
    }

    /// Everything that was said, and the plan.
    pub fn said(&self) -> String {
        let words = |say: &Say| match say {
            Say::Result(words) | Say::Note(words) => text::printable(words),
        };
        let said: String = self.host.said.iter().map(words).collect();
        let by_drivers: String = self.host.said_by_drivers.iter().map(words).collect();
        format!("{}\n--- said\n{said}\n--- said by drivers\n{by_drivers}", self.plan.text())
    }
}
