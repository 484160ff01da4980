//! Agents and checks of steps that work side by side, and what must hold whenever one begins.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use onloop_core::effect::ProcessSpec;
use onloop_core::run::{RunStatus, StepStatus};

use super::plan::ParallelPlan;
use crate::model::{Ledgers, Record};
use crate::{Disk, Random, SimHost, SimProcess};

/// What surrounds a run.
pub(super) struct World {
    plan: ParallelPlan,
    random: Random,
    pub(super) stable: bool,
    /// Each attempt that an agent began, by run, step and number.
    turns: BTreeSet<(String, u32, u32)>,
    /// The run that each folder belongs to.
    folders: BTreeMap<String, String>,
    /// Claims that did not hold while a program was running.
    pub(super) broken: Vec<String>,
    ledgers: Ledgers,
}

impl World {
    pub(super) fn around(
        host: &mut SimHost,
        plan: &ParallelPlan,
        random: Random,
    ) -> Rc<RefCell<World>> {
        let world = Rc::new(RefCell::new(World {
            plan: plan.clone(),
            random,
            stable: false,
            turns: BTreeSet::new(),
            folders: BTreeMap::new(),
            broken: Vec::new(),
            ledgers: Ledgers::default(),
        }));
        let agent = Rc::clone(&world);
        host.on("the-agent", move |disk, spec| agent.borrow_mut().act(disk, spec));
        for step in 1..=plan.steps() {
            let checked = Rc::clone(&world);
            let there = move |disk: &mut Disk, spec: &ProcessSpec| {
                checked.borrow_mut().check(disk, &spec.cwd, step);
                let found = disk.get(&format!("{}/step-{step}.txt", spec.cwd));
                SimProcess::exit(i32::from(found.is_none()), "looked\n")
            };
            host.on(&format!("check-{step}"), there);
        }
        world
    }

    pub(super) fn records(&mut self, disk: &Disk) -> Vec<Record> {
        self.ledgers.records(disk)
    }

    fn act(&mut self, disk: &mut Disk, spec: &ProcessSpec) -> SimProcess {
        let variable = |name: &str| spec.env_set.get(name).expect("agents know their place");
        let number = |name: &str| variable(name).parse::<u32>().expect("a number");
        let (run, step) = (variable("ONLOOP_RUN_ID").clone(), number("ONLOOP_STEP"));
        let attempt = number("ONLOOP_ATTEMPT");
        let claims = self.begins_rightly(disk, &spec.cwd, (&run, step, attempt));
        self.broken.extend(claims.err().map(|why| format!("{run}, step {step}.{attempt}: {why}")));
        match self.random.below(10) {
            0 if !self.stable => return SimProcess::exit(1, "no luck\n"),
            1 if !self.stable => return SimProcess::exit(0, "forgot it\n"),
            _ => {}
        }
        disk.put(&format!("{}/step-{step}.txt", spec.cwd), format!("{step}\n"));
        self.share(disk, &spec.cwd, step);
        SimProcess { duration_ms: 1000, ..SimProcess::exit(0, "acted\n") }
    }

    /// Writes the line of a step into the shared file, and resolves a conflict that is there.
    pub(super) fn share(&self, disk: &mut Disk, folder: &str, step: u32) {
        let path = format!("{folder}/shared.txt");
        let found = String::from_utf8_lossy(disk.get(&path).unwrap_or_default()).into_owned();
        let is_plain =
            |line: &&str| !["<<<<<<<", "=======", ">>>>>>>"].iter().any(|m| line.starts_with(m));
        let mut lines: BTreeSet<String> =
            found.lines().filter(is_plain).map(str::to_owned).collect();
        lines.extend(self.plan.shares(step).then(|| step.to_string()));
        if !lines.is_empty() {
            let lines: Vec<String> = lines.into_iter().map(|line| line + "\n").collect();
            disk.put(&path, lines.concat());
        }
    }

    /// A check of a step begins: one that is not done is not verified without what it depends on.
    fn check(&mut self, disk: &Disk, folder: &str, step: u32) {
        let is_here = |record: &&Record| record.run.place.execution_root == folder;
        let records = self.records(disk);
        let Some(run) = records.iter().find(is_here).map(|record| &record.run) else { return };
        if run.step(step).is_none_or(|record| record.status == StepStatus::Done) {
            return;
        }
        let missing = |needed| self.has_work_of(disk, folder, needed).err();
        let broken = self.plan.needs(step).into_iter().find_map(missing);
        self.broken.extend(broken.map(|why| format!("{}, check of step {step}: {why}", run.id)));
    }

    fn has_work_of(&self, disk: &Disk, folder: &str, needed: u32) -> Result<(), String> {
        match disk.get(&format!("{folder}/step-{needed}.txt")) {
            Some(_) => Ok(()),
            None => Err(format!("the work of step {needed} is not there")),
        }
    }

    fn begins_rightly(
        &mut self,
        disk: &Disk,
        folder: &str,
        (run, step, attempt): (&str, u32, u32),
    ) -> Result<(), String> {
        let owner = self.folders.entry(folder.to_owned()).or_insert_with(|| run.to_owned());
        if owner != run {
            return Err(format!("{folder} belongs to {owner}"));
        }
        let records = self.records(disk);
        let of = |id: &str| records.iter().map(|record| &record.run).find(|run| run.id == id);
        let own = of(run).ok_or("there is no record")?;
        if own.step(step).is_none_or(|record| record.attempts < attempt) {
            return Err("the attempt is not recorded".to_owned());
        }
        let whole = own.fork_of.as_ref().map_or(Some(own), |fork| of(&fork.run));
        let whole = whole.ok_or("the run that it belongs to has no record")?;
        for needed in self.plan.needs(step) {
            if whole.step(needed).is_none_or(|record| record.status != StepStatus::Done) {
                return Err(format!("step {needed} is not done"));
            }
            self.has_work_of(disk, folder, needed)?;
        }
        let fork = whole.step(step).and_then(|record| record.fork.as_ref());
        let is_resolving = fork.is_some_and(|fork| !fork.conflicts.is_empty());
        let is_done = |record: &Record| {
            let fork = record.run.fork_of.as_ref();
            fork.is_some_and(|fork| fork.run == whole.id && fork.step == step)
                && record.run.status == RunStatus::Completed
        };
        // The merge is put into the worktree again before an agent resolves its conflicts again.
        if is_resolving {
            return Ok(());
        }
        if !self.turns.insert((run.to_owned(), step, attempt)) {
            return Err("the attempt acts twice".to_owned());
        }
        // What a person undid, asked for anew or described in other words is done again.
        let again = ["work_restored", "step_redone", "step_reopened", "plan_adopted"];
        if whole.events.iter().any(|entry| again.contains(&&*entry.event)) {
            return Ok(());
        }
        match records.iter().find(|record| is_done(record)) {
            Some(record) => Err(format!("{} has done the step", record.run.id)),
            None => Ok(()),
        }
    }
}
