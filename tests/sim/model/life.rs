//! One life: chaos first, then stable.

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::effect::{Exit, FailureKind, Request, Say};
use onloop_core::run::{BlockReason, Next, Question, Run, RunStatus, StepStatus};

use super::claims::{Claims, completed_rightly, mirrors_agree};
use super::ledgers::Record;
use super::plan::Plan;
use super::repository;
use super::world::World;
use crate::{Ended, Kill, Moment, PowerLoss, Random, SimHost};

const FILE: &str = "/demo/hotl-workflow-w.md";

/// What a life was like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Programs that ran.
    pub programs: u32,
    /// Times an agent changed the copies in the worktree.
    pub meddled: u32,
    /// Times the power went.
    pub power_cuts: u32,
    /// Programs that were killed.
    pub kills: u32,
    /// Whether the record was large enough to be journalled.
    pub large: bool,
    /// Whether the checks of the completed run passed on a clean checkout.
    pub clean: bool,
}

/// What works for a run takes less, unless it hangs.
const QUICK_MS: u64 = 15;

struct Life {
    host: SimHost,
    world: Rc<RefCell<World>>,
    random: Random,
    plan: Plan,
    edited: bool,
    claims: Claims,
    trace: Trace,
    /// Output before this request is lost.
    mute_until: usize,
}

/// Lives the life of `seed`.
///
/// # Errors
///
/// What did not hold, with everything that was said up to then.
pub fn live(seed: u64) -> Result<Trace, String> {
    let mut host = SimHost::new();
    host.only_count_requests();
    lived(seed, host).map(|life| life.trace)
}

/// Every request of a life, everything said and every file at the end, for comparing it with
/// another one of the same seed.
///
/// # Errors
///
/// As [`live`].
pub fn history(seed: u64) -> Result<String, String> {
    let Life { host, .. } = lived(seed, SimHost::new())?;
    let files = host.disk.files("/");
    let files = files.iter().map(|path| format!("{path}: {:?}\n", host.disk.get(path)));
    Ok(format!("{:?}\n{:?}\n{}", host.requests, host.said, files.collect::<String>()))
}

fn lived(seed: u64, mut host: SimHost) -> Result<Life, String> {
    // As on a fleet, whose records are far away.
    host.quick_ms = if seed.is_multiple_of(3) { QUICK_MS } else { 0 };
    let mut random = Random::new(seed);
    let plan = Plan::random(&mut random);
    host.disk.put(FILE, plan.text());
    if plan.clean {
        repository::set_up(&mut host);
    }
    let world = World::around(&mut host, Random::new(random.number()));
    let trace = Trace { large: plan.large, ..Trace::default() };
    let claims = Claims::default();
    let mut life = Life { host, world, random, plan, edited: false, claims, trace, mute_until: 0 };
    let ended = life.chaos().and_then(|()| life.stable());
    if let Err(why) = ended {
        let said = format!("{}\n{}", life.host.notes(), life.host.results());
        return Err(format!("seed {seed}: {why}\n--- plan\n{:?}\n--- said\n{said}", life.plan));
    }
    life.trace.meddled = life.world.borrow().meddled;
    Ok(life)
}

impl Life {
    fn chaos(&mut self) -> Result<(), String> {
        for _ in 0..3 + self.random.below(12) {
            self.trouble();
            if self.random.chance(35) {
                self.two()?;
            } else {
                let words = self.words();
                self.one(&words)?;
            }
        }
        Ok(())
    }

    fn trouble(&mut self) {
        let soon = self.host.request_count() + self.random.below(80) as usize;
        if self.random.chance(25) {
            let moment = *self.random.pick(&[Moment::Before, Moment::Within, Moment::After]);
            let lose_relaxed = self.random.chance(50);
            self.host.lose_power(PowerLoss { at_request: soon, moment, lose_relaxed });
        }
        if self.random.chance(15) {
            let moment = *self.random.pick(&[Moment::Before, Moment::Within, Moment::After]);
            let leaves_processes = self.random.chance(50);
            self.host.kill(Kill { at_request: soon, moment, leaves_processes });
        }
        if self.random.chance(15) {
            let kinds = [FailureKind::Full, FailureKind::Denied, FailureKind::Unknown];
            let kind = *self.random.pick(&kinds);
            let until = soon + 1 + self.random.below(20) as usize;
            let world = Rc::clone(&self.world);
            self.host.refuse(move |number, request| {
                let now = (soon..until).contains(&number) && !world.borrow().stable;
                (now && is_write(request)).then_some(kind)
            });
        }
        if self.random.chance(8) {
            let until = soon + 1 + self.random.below(20) as usize;
            // An earlier silence that lasts longer is not over.
            self.mute_until = self.mute_until.max(until);
            let world = Rc::clone(&self.world);
            self.host.refuse(move |number, request| {
                let now = (soon..until).contains(&number) && !world.borrow().stable;
                (now && matches!(request, Request::Say(_))).then_some(FailureKind::Closed)
            });
        }
        if self.random.chance(10) {
            self.host.interrupt_at(soon);
        }
        if self.random.chance(15) {
            let day_ms = 86_400_000;
            self.host.jump_clock(self.random.below(2 * day_ms) as i64 - day_ms as i64);
        }
        if self.random.chance(8) {
            self.plan.edit(&mut self.random);
            self.host.disk.put(FILE, self.plan.text());
            self.edited = true;
        }
    }

    fn records(&self) -> Vec<Record> {
        self.world.borrow_mut().records(&self.host.disk)
    }

    /// What somebody may type now, sensible or not.
    fn words(&mut self) -> Vec<String> {
        let records = self.records();
        let mut runs = records.iter().map(|record| &record.run);
        let Some(run) = runs.find(|run| !run.status.is_finished()) else { return run_words() };
        let step = 1 + self.random.below(run.steps.len() as u64) as u32;
        match self.random.below(12) {
            0 => run_words(),
            1 => line(&format!("step {step} start --run-id {}", run.id)),
            2 => line(&format!("step {step} verify --run-id {}", run.id)),
            3 => line(&format!("step {step} retry --run-id {}", run.id)),
            4 => {
                let reason = self.random.below(1000);
                line(&format!("step {step} block --reason r{reason} --run-id {}", run.id))
            }
            5 => {
                let word = *self.random.pick(&["approved", "rejected"]);
                self.gate(run, step, word)
            }
            6 => line(&format!("finalize --run-id {}", run.id)),
            7 => line(&format!("next --run-id {}", run.id)),
            8 => self.sensible(run),
            _ => resume_words(run, self.random.chance(50)),
        }
    }

    /// What a person types who reads what is printed.
    fn sensible(&mut self, run: &Run) -> Vec<String> {
        let rejected = |record: &&onloop_core::run::StepRecord| {
            let review = record.status == StepStatus::Blocked(BlockReason::ReviewRejected);
            let gate = record
                .gate
                .is_some_and(|gate| gate.decision == onloop_core::run::GateDecision::Rejected);
            review || gate && record.status == StepStatus::Done
        };
        match run.next() {
            Next::Ask(Question::Gate { step } | Question::Review { step, .. }) => {
                self.gate(run, step, "approved")
            }
            Next::Blocked(_) if run.steps.iter().any(|record| rejected(&record)) => {
                let record = run.steps.iter().find(rejected).expect("just seen");
                self.gate(run, record.step.number, "approved")
            }
            _ => resume_words(run, true),
        }
    }

    fn gate(&mut self, run: &Run, step: u32, word: &str) -> Vec<String> {
        *self.claims.decisions.entry(step).or_insert(0) += 1;
        line(&format!("gate {step} {word} --run-id {}", run.id))
    }

    fn one(&mut self, words: &[String]) -> Result<Ended, String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let quiet = self.host.said.len();
        let mute = self.host.request_count() < self.mute_until && !self.world.borrow().stable;
        self.before(&words);
        let ended = self.host.run(&words);
        self.after(&[ended])?;
        let conducted = words[1] == "resume" || words[1] == "run";
        // Lost output was not shown to a person.
        if mute {
            return Ok(ended);
        }
        if let (true, Ended::Exit(Exit::Failed | Exit::Paused)) = (conducted, ended) {
            self.shows_a_way_on(quiet)?;
        }
        if let ("resume", Ended::Exit(Exit::Done | Exit::Failed | Exit::Paused)) = (words[1], ended)
        {
            self.rests(words[2], quiet)?;
        }
        Ok(ended)
    }

    fn two(&mut self) -> Result<(), String> {
        let (first, second) = (self.words(), self.words());
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let second: Vec<&str> = second.iter().map(String::as_str).collect();
        self.before(&first);
        self.before(&second);
        // Sometimes one gets far ahead, sometimes they take turns.
        let percent = *self.random.pick(&[5, 50, 95]);
        let random = &mut self.random;
        let ended = self.host.run_two([&first, &second], || random.chance(percent));
        self.after(&ended)
    }

    fn before(&mut self, words: &[&str]) {
        self.trace.programs += 1;
        self.world.borrow_mut().adoptions += u32::from(self.edited && words.contains(&"--adopt"));
    }

    fn after(&mut self, ended: &[Ended]) -> Result<(), String> {
        for ended in ended {
            match ended {
                Ended::PowerCut => self.trace.power_cuts += 1,
                Ended::Killed => self.trace.kills += 1,
                Ended::Exit(Exit::Bug) => return Err("a bug was reported".to_owned()),
                Ended::Exit(_) => {}
            }
        }
        let records = self.records();
        self.claims.look(&self.host, &self.world.borrow(), &records)
    }

    fn shows_a_way_on(&self, since: usize) -> Result<(), String> {
        let command = |say: &Say| {
            let (Say::Note(text) | Say::Result(text)) = say;
            text.contains("  onloop ")
        };
        if self.host.said[since..].iter().any(command) {
            return Ok(());
        }
        Err(format!("no way on is shown: {:?}", &self.host.said[since..]))
    }

    fn rests(&self, id: &str, since: usize) -> Result<(), String> {
        let warned = |say: &Say| matches!(say, Say::Note(text) if text.contains("warning: "));
        let records = self.records();
        let found = records.iter().find(|record| record.run.id == id);
        let run = &found.ok_or("the run is gone")?.run;
        // Two runs of one file tick the same boxes, and what an agent has started changes the copy
        // again. What could not be written was said.
        let changes = self.edited || self.world.borrow().meddles();
        if records.len() > 1 || changes || self.host.said[since..].iter().any(warned) {
            return Ok(());
        }
        mirrors_agree(&self.host, run, FILE)
    }

    /// Agents and checks succeed, and a person follows the printed advice.
    fn stable(&mut self) -> Result<(), String> {
        self.world.borrow_mut().stable = true;
        let never = usize::MAX;
        self.host.interrupt_at(never);
        let moment = Moment::Before;
        self.host.lose_power(PowerLoss { at_request: never, moment, lose_relaxed: false });
        self.host.kill(Kill { at_request: never, moment, leaves_processes: false });
        for _ in 0..40 {
            let records = self.records();
            let mut runs = records.iter().map(|record| &record.run);
            let words = match runs.find(|run| run.status != RunStatus::Completed) {
                Some(run) => self.sensible(run),
                None if records.is_empty() => run_words(),
                None => return self.completed(&records),
            };
            let ended = self.one(&words)?;
            let allowed = [Exit::Done, Exit::Failed, Exit::Paused].map(Ended::Exit);
            if !allowed.contains(&ended) {
                return Err(format!("in stable, {words:?} ended with {ended:?}"));
            }
        }
        Err("forty programs in stable did not complete the run".to_owned())
    }

    fn completed(&mut self, records: &[Record]) -> Result<(), String> {
        self.world.borrow().ledgers_hold(&self.host.disk)?;
        // An edit that came after the end, or between two runs, is nobody's plan.
        if self.edited || records.len() > 1 {
            return Ok(());
        }
        completed_rightly(&records[0].run, &self.plan, &self.world.borrow(), &self.host.disk)?;
        self.trace.clean = self.plan.clean;
        Ok(())
    }
}

pub(crate) fn is_write(request: &Request) -> bool {
    matches!(request, Request::Write { .. } | Request::Append { .. } | Request::Patch { .. })
}

fn run_words() -> Vec<String> {
    line("run --mode none --agent-command the-agent")
}

fn resume_words(run: &Run, generous: bool) -> Vec<String> {
    let more = match generous {
        true => " --adopt --raise max_total_attempts=unlimited --interrupted redo",
        false => "",
    };
    line(&format!("resume {} --agent-command the-agent{more}", run.id))
}

fn line(words: &str) -> Vec<String> {
    ["onloop"].into_iter().chain(words.split(' ')).map(str::to_owned).collect()
}
