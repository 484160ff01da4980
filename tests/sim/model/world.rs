//! What surrounds onloop in a simulated life: an agent, checks, and their moods.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use onloop_core::effect::ProcessSpec;

use super::ledgers::{Ledgers, Record};
use crate::{Disk, Random, SimHost, SimProcess};

/// Everything outside onloop that a life shares with its scripts.
#[derive(Debug)]
pub(super) struct World {
    random: Random,
    /// From now on agents and checks succeed, and nothing is refused.
    pub(super) stable: bool,
    /// Adopting an edited plan counts the attempts of changed steps anew.
    pub(super) adoptions: u32,
    turns: BTreeSet<(u32, String, u32, u32)>,
    /// What came of each check when it ran last, by its command.
    verdicts: BTreeMap<String, Verdict>,
    /// How often the agent changed the work.
    changes: u32,
    /// How often the agent changed what is not its own.
    pub(super) meddled: u32,
    /// Whether something that an agent has started goes on at any moment.
    restless: bool,
    /// Claims that did not hold while a program was running.
    pub(super) broken: Vec<String>,
    ledgers: Ledgers,
}

/// What a check said, and about what.
#[derive(Debug)]
struct Verdict {
    passes: bool,
    /// The folder in which it ran.
    folder: String,
    work: Option<Vec<u8>>,
}

/// The work in a checkout.
fn work(disk: &Disk, folder: &str) -> Option<Vec<u8>> {
    disk.get(&format!("{folder}/work.txt")).map(<[u8]>::to_vec)
}

impl World {
    /// Furnishes a machine.
    pub(super) fn around(host: &mut SimHost, mut random: Random) -> Rc<RefCell<World>> {
        let restless = random.chance(40);
        let world = Rc::new(RefCell::new(World {
            random,
            stable: false,
            adoptions: 0,
            turns: BTreeSet::new(),
            verdicts: BTreeMap::new(),
            changes: 0,
            meddled: 0,
            restless,
            broken: Vec::new(),
            ledgers: Ledgers::default(),
        }));
        let agent = Rc::clone(&world);
        host.on("the-agent", move |disk, spec| agent.borrow_mut().act(disk, spec));
        let check = Rc::clone(&world);
        host.on("check-", move |disk, spec| {
            let mut world = check.borrow_mut();
            world.meddle(disk, 25);
            world.check(disk, spec)
        });
        let other = Rc::clone(&world);
        host.beside(move |disk| {
            let mut world = other.borrow_mut();
            if world.meddles() {
                world.meddle(disk, 2);
            }
        });
        world
    }

    /// All records, in the order of their ids.
    ///
    /// # Panics
    ///
    /// When a ledger is damaged.
    pub(super) fn records(&mut self, disk: &Disk) -> Vec<Record> {
        self.ledgers.records(disk)
    }

    /// Whether the records say as a whole what they said in parts.
    pub(super) fn ledgers_hold(&self, disk: &Disk) -> Result<(), String> {
        self.ledgers.hold_as_a_whole(disk)
    }

    /// Whether files of the worktree change at any moment.
    pub(super) fn meddles(&self) -> bool {
        self.restless && !self.stable
    }

    fn act(&mut self, disk: &mut Disk, spec: &ProcessSpec) -> SimProcess {
        self.meddle(disk, 25);
        if self.random.chance(70) {
            self.changes += 1;
            disk.put("/demo/work.txt", format!("{} changes\n", self.changes));
        }
        let variable =
            |wanted: &str| spec.env_set.get(wanted).cloned().expect("an agent is told its place");
        let number = |wanted: &str| variable(wanted).parse::<u32>().expect("a number");
        let (id, step, attempt) =
            (variable("ONLOOP_RUN_ID"), number("ONLOOP_STEP"), number("ONLOOP_ATTEMPT"));
        let turn = (self.adoptions, id.clone(), step, attempt);
        if !self.turns.insert(turn) {
            self.broken.push(format!("attempt {attempt} at step {step} of {id} acted twice"));
        }
        let recorded = self.records(disk).into_iter().find(|record| record.run.id == id);
        let attempts = recorded.and_then(|record| Some(record.run.step(step)?.attempts));
        // An edit by somebody else may have counted anew, never less than it was acted on.
        if attempts.is_none_or(|attempts| attempts < attempt) && self.adoptions == 0 {
            self.broken.push(format!("step {step} of {id} acts before its start is recorded"));
        }
        match self.random.below(20) {
            _ if self.stable => SimProcess::exit(0, "acted\n"),
            0..=2 => SimProcess::exit(1, "no luck\n"),
            3 => SimProcess::forever("thinking\n"),
            _ => SimProcess::exit(0, &"acted\n".repeat(1 + self.random.below(900) as usize)),
        }
    }

    /// What an agent does that wants to be done without doing anything: it changes what it can
    /// reach, which is everything in the worktree.
    fn meddle(&mut self, disk: &mut Disk, percent: u64) {
        if !self.random.chance(percent) {
            return;
        }
        let files = disk.files("/demo/.hotl");
        if files.is_empty() {
            return;
        }
        let path = self.random.pick(&files).clone();
        let text = String::from_utf8_lossy(disk.get(&path).expect("it was listed")).into_owned();
        self.meddled += 1;
        let changed = match self.random.below(7) {
            0 => return disk.remove(&path).expect("it was listed"),
            1 => return disk.remove("/demo/.hotl").expect("it was listed"),
            2 => text.replace("check-", "true #check-"),
            3 => text.replace("\"running\"", "\"completed\"").replace("\"pending\"", "\"done\""),
            4 => text.replace("\"gate_result\": null", "\"gate_result\": \"approved\""),
            5 => text.replace("\"steps\"", "\"stops\""),
            _ => text.chars().take(text.len() / 2).collect(),
        };
        disk.put(&path, changed);
    }

    fn check(&mut self, disk: &Disk, spec: &ProcessSpec) -> SimProcess {
        let passes = self.stable || self.random.chance(65);
        let (folder, work) = (spec.cwd.clone(), work(disk, &spec.cwd));
        self.verdicts.insert(format!("{:?}", spec.command), Verdict { passes, folder, work });
        let words = if self.random.chance(20) { 700 } else { 1 };
        SimProcess::exit(i32::from(!passes), &"looked\n".repeat(words))
    }

    /// Whether the check that is called `check-STEP-N` held when it ran last, on the work that is there
    /// now, and on another checkout if it has to be a clean one.
    pub(super) fn holds(&self, step: usize, check: u32, disk: &Disk, clean: bool) -> bool {
        let name = format!("check-{step}-{check}\"");
        let mut found = self.verdicts.iter().filter(|(line, _)| line.contains(&name));
        found.next().is_some_and(|(_, verdict)| {
            verdict.passes
                && verdict.work == work(disk, "/demo")
                && (verdict.folder != "/demo") == clean
        })
    }
}
