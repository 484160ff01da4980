//! Runs whose steps work side by side, on a machine that fails while any of their drivers works.

mod plan;
mod world;

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::effect::{Exit, FailureKind, Say};
use onloop_core::run::{
    Blocker, ForkState, Next, Question, Run, RunStatus, StepRecord, StepStatus,
};
use onloop_core::text;

pub use plan::ParallelPlan;
use world::World;

use crate::model::is_write;
use crate::{Ended, Kill, Moment, PowerLoss, Random, SimHost, SimRepository};

const FILE: &str = "/demo/hotl-workflow-w.md";

/// Lives the life of `seed`: a random plan, troubles, and at last a person who continues the run.
/// Returns what the run and its drivers did.
///
/// # Errors
///
/// What did not hold, with everything that was said up to then.
pub fn live(seed: u64) -> Result<ParallelTrace, String> {
    let mut random = Random::new(seed);
    let plan = ParallelPlan::random(&mut random);
    let mut life = ParallelLife::new(plan, random.number());
    life.host.only_count_requests();
    let lived = (0..1 + random.below(4)).try_for_each(|_| {
        for _ in 0..random.below(3) {
            life.trouble();
        }
        if random.chance(30) {
            life.meddle()?;
        }
        let over = life.run().map(|run| (run.is_over(), run.id.clone()));
        match over {
            Some((true, _)) => Ok(()),
            Some((false, id)) if random.chance(30) => {
                let verb = *random.pick(&["stop", "status", "resume"]);
                let line = format!("onloop {verb} {id}");
                life.programs(Some((&line, random.below(600)))).map(drop)
            }
            _ => life.drive().map(drop),
        }
    });
    life.calm();
    let ended = lived.and_then(|()| life.complete());
    ended.map_err(|why| format!("seed {seed}: {why}"))?;
    let run = life.run().expect("it was completed");
    let count = |event: &str| run.events.iter().filter(|entry| entry.event == event).count();
    let is_conflict =
        |record: &&StepRecord| record.fork.as_ref().is_some_and(|fork| !fork.conflicts.is_empty());
    Ok(ParallelTrace {
        drivers: life.host.launched.len(),
        merges: count("fork_merged"),
        drops: count("fork_dropped"),
        conflicts: run.steps.iter().filter(is_conflict).count(),
        undone: count("work_restored"),
        again: count("step_redone") + count("step_reopened"),
        adopted: count("plan_adopted"),
        raised: count("budgets_changed"),
    })
}

/// What happened in a life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParallelTrace {
    /// Drivers that were launched.
    pub drivers: usize,
    /// Forks that were merged.
    pub merges: usize,
    /// Forks that were given up.
    pub drops: usize,
    /// Steps whose merge had conflicts.
    pub conflicts: usize,
    /// Returns to a checkpoint.
    pub undone: usize,
    /// Steps that a person had done again.
    pub again: usize,
    /// Edited workflows that were adopted.
    pub adopted: usize,
    /// Limits that were raised.
    pub raised: usize,
}

/// A machine with a repository and one run in it.
pub struct ParallelLife {
    /// The machine.
    pub host: SimHost,
    plan: ParallelPlan,
    repository: Rc<RefCell<SimRepository>>,
    world: Rc<RefCell<World>>,
    random: Random,
    /// For how many requests no other program has its turn while the first one of a drive can go on.
    first_alone: u64,
    /// Whether writes are refused in this life. A driver that cannot write does not record that it ends.
    refuses: bool,
}

impl ParallelLife {
    /// A machine on which nothing has run. `seed` decides whose turn it is, and how agents fare.
    pub fn new(plan: ParallelPlan, seed: u64) -> ParallelLife {
        let mut host = SimHost::new();
        let mut random = Random::new(seed);
        host.disk.put(FILE, plan.text());
        let repository = SimRepository::around(&mut host, "/demo");
        let world = World::around(&mut host, &plan, Random::new(random.number()));
        ParallelLife { host, plan, repository, world, random, first_alone: 0, refuses: false }
    }

    /// From now on agents succeed at once, and the machine does not fail.
    pub fn calm(&mut self) {
        self.world.borrow_mut().stable = true;
        self.repository.borrow_mut().kill_after(None);
        let (at_request, moment) = (usize::MAX, Moment::Before);
        self.host.interrupt_at(at_request);
        self.host.lose_power(PowerLoss { at_request, moment, lose_relaxed: false });
        self.host.kill(Kill { at_request, moment, leaves_processes: false });
    }

    /// In the next drive, the first program runs alone for so many requests: the drivers that it launches
    /// have not begun.
    pub fn let_first_run_alone(&mut self, requests: u64) {
        self.first_alone = requests;
    }

    /// Something will go wrong soon, with any of the programs.
    fn trouble(&mut self) {
        let random = &mut self.random;
        let at_request = self.host.request_count() + random.below(700) as usize;
        let moment = *random.pick(&[Moment::Before, Moment::Within, Moment::After]);
        match random.below(7) {
            6 => self.repository.borrow_mut().kill_after(Some(random.below(80) as u32)),
            0 => self.host.interrupt_at(at_request),
            5 => {
                let kind =
                    *random.pick(&[FailureKind::Full, FailureKind::Denied, FailureKind::Unknown]);
                let until = at_request + 1 + random.below(20) as usize;
                let world = Rc::clone(&self.world);
                self.refuses = true;
                self.host.refuse(move |number, request| {
                    let now = (at_request..until).contains(&number) && !world.borrow().stable;
                    (now && is_write(request)).then_some(kind)
                });
            }
            1 | 2 => {
                let lose_relaxed = random.chance(50);
                self.host.lose_power(PowerLoss { at_request, moment, lose_relaxed });
            }
            _ => {
                let leaves_processes = random.chance(50);
                self.host.kill(Kill { at_request, moment, leaves_processes });
            }
        }
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
        self.programs(None)
    }

    /// As [`ParallelLife::drive`], with another program that begins after so many requests.
    fn programs(&mut self, beside: Option<(&str, u64)>) -> Result<Ended, String> {
        let line = match self.run() {
            // The program before may have made a worktree and then ended.
            None => format!("onloop run {FILE} --on-existing recreate --agent-command the-agent"),
            Some(run) => format!(
                "onloop resume {} --agent-command the-agent --adopt --raise \
                 max_total_attempts=unlimited",
                run.id
            ),
        };
        let lines: Vec<Vec<&str>> = [Some(line.as_str()), beside.map(|(line, _)| line)]
            .into_iter()
            .flatten()
            .map(|line| line.split(' ').collect())
            .collect();
        let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
        let (random, mut turns_left) = (&mut self.random, beside.map_or(0, |(_, turns)| turns));
        let mut alone_left = std::mem::take(&mut self.first_alone);
        let ended = self.host.run_with_drivers(&lines, |count| {
            if alone_left > 0 {
                alone_left -= 1;
                return 0;
            }
            turns_left = turns_left.saturating_sub(1);
            match random.below(count as u64) as usize {
                1 if turns_left > 0 => 0,
                any => any,
            }
        });
        self.holds(&ended)?;
        Ok(ended[0])
    }

    /// Something that a person does between two programs, if it fits.
    fn meddle(&mut self) -> Result<(), String> {
        let Some(run) = self.run().filter(|run| !run.is_over()) else { return Ok(()) };
        let (id, random) = (&run.id, &mut self.random);
        let line = match (run.next(), random.below(3)) {
            (Next::Ask(Question::Gate { .. }), 0) => {
                format!("onloop reject {id} --redo --reason x")
            }
            (Next::Ask(Question::Gate { .. }), 1) => format!("onloop approve {id}"),
            (Next::Blocked(Blocker { step, .. }), 0) => {
                format!("onloop step {step} reopen --reason x --run-id {id}")
            }
            (_, 2) => {
                self.edit(&run);
                return Ok(());
            }
            (_, _) => match run.checkpoints.as_slice() {
                [] => return Ok(()),
                taken => format!("onloop undo {id} {}", random.pick(taken).moment.name()),
            },
        };
        self.person(&line).map(drop)
    }

    /// What a person types, with the drivers that it starts, to their ends.
    fn person(&mut self, line: &str) -> Result<Ended, String> {
        let words: Vec<&str> = line.split(' ').collect();
        let random = &mut self.random;
        let any = |count: usize| random.below(count as u64) as usize;
        let ended = self.host.run_with_drivers(&[&words], any);
        self.is_sound(&ended)?;
        Ok(ended[0])
    }

    /// A person rewrites the action of a step.
    fn edit(&mut self, run: &Run) {
        let file = &run.place.workflow_path;
        let Some(bytes) = self.host.disk.get(file) else { return };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let step = 1 + self.random.below(u64::from(self.plan.steps())) as usize;
        let number = self.random.below(1000);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut actions = lines.iter_mut().filter(|line| line.starts_with("action: "));
        if let Some(action) = actions.nth(step - 1) {
            *action = format!("action: do it as {number}");
        }
        self.host.disk.put(file, lines.join("\n") + "\n");
    }

    /// What must hold after any programs.
    fn is_sound(&self, ended: &[Ended]) -> Result<(), String> {
        if ended.contains(&Ended::Exit(Exit::Bug)) {
            return Err(format!("a bug was reported\n{}", self.said()));
        }
        match self.world.borrow().broken.first() {
            Some(broken) => Err(format!("{broken}\n{}", self.said())),
            None => Ok(()),
        }
    }

    /// What must hold after programs that drive the run have ended.
    fn holds(&self, ended: &[Ended]) -> Result<(), String> {
        self.is_sound(ended)?;
        if self.refuses || !ended.iter().all(|ended| matches!(ended, Ended::Exit(_))) {
            return Ok(());
        }
        let records = self.world.borrow_mut().records(&self.host.disk);
        // A program that ended before it recorded a fork has left one that has no driver.
        let forks = self
            .run()
            .map(|run| run.forked_steps().map(|(_, fork)| fork.run.clone()).collect::<Vec<_>>());
        let is_known = |run: &Run| {
            run.fork_of.is_none() || forks.as_ref().is_some_and(|forks| forks.contains(&run.id))
        };
        let runs = records.iter().map(|record| &record.run).filter(|run| is_known(run));
        match runs.into_iter().find(|run| run.status == RunStatus::Running) {
            Some(run) => Err(format!("all have ended, and {} runs\n{}", run.id, self.said())),
            None => Ok(()),
        }
    }

    /// Continues the run until it is completed.
    ///
    /// # Errors
    ///
    /// What does not hold then, or no end.
    pub fn complete(&mut self) -> Result<(), String> {
        for _ in 0..20 {
            if self.run().is_some_and(|run| run.is_over()) {
                self.person("onloop doctor --prune")?;
                return self.is_whole();
            }
            self.resolve();
            let ended = match self.run().map(|run| (run.next(), run.id.clone())) {
                Some((Next::Ask(Question::Gate { .. }), id)) => {
                    self.person(&format!("onloop approve {id}"))?
                }
                _ => self.drive()?,
            };
            if !matches!(ended, Ended::Exit(Exit::Done | Exit::Paused | Exit::Failed)) {
                return Err(format!("it ended with {ended:?}\n{}", self.said()));
            }
        }
        Err(format!("twenty programs did not complete the run\n{}", self.said()))
    }

    /// A person resolves the conflict that an agent has left.
    fn resolve(&mut self) {
        let Some(run) = self.run() else { return };
        let is_left = |record: &&StepRecord| {
            let has_conflicts = record.fork.as_ref().is_some_and(|fork| !fork.conflicts.is_empty());
            has_conflicts && matches!(record.status, StepStatus::Blocked(_))
        };
        if let Some(record) = run.steps.iter().find(is_left) {
            let (root, step) = (&run.place.execution_root, record.step.number);
            self.world.borrow().share(&mut self.host.disk, root, step);
        }
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
        // A step that was undone keeps the checkpoint that it had.
        let is_kept = !run
            .events
            .iter()
            .any(|entry| ["checkpoint_missed", "work_restored"].contains(&entry.event.as_str()));
        let unkept = run.done_without_checkpoint();
        if is_kept && !unkept.is_empty() {
            return fail(format!("steps {unkept:?} have no checkpoint after their verification"));
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
