//! Lives in which every command that `onloop next` names is performed as it stands.

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::effect::{Exit, Say};
use onloop_core::run::Run;
use serde_json::Value;

use super::plan::Plan;
use super::world::World;
use crate::{Ended, Kill, Moment, PowerLoss, Random, SimHost};

const FILE: &str = "/demo/hotl-workflow-w.md";
/// Trouble comes in the first rounds; from then on only what `next` names is done.
const ROUNDS_OF_TROUBLE: u32 = 12;
const ROUNDS: u32 = 70;

struct Followed {
    host: SimHost,
    world: Rc<RefCell<World>>,
    random: Random,
    plan: Plan,
    /// Whether an agent drives the run with `init`, `step` and `finalize`.
    by_verbs: bool,
    /// What was named, each as `ACTION: COMMAND` without numbers and ids.
    named: Vec<String>,
}

/// Lives the life of `seed` up to the end of its run. Returns what was named, each as
/// `ACTION: COMMAND` without numbers and ids.
///
/// # Errors
///
/// A command that was named and refused, or that changed nothing; or no end.
pub fn follow(seed: u64) -> Result<Vec<String>, String> {
    let mut host = SimHost::new();
    host.only_count_requests();
    let mut random = Random::new(seed);
    let plan = Plan { large: false, clean: false, ..Plan::random(&mut random) };
    host.disk.put(FILE, plan.text());
    let world = World::around(&mut host, Random::new(random.number()));
    let by_verbs = random.chance(50);
    let mut life = Followed { host, world, random, plan, by_verbs, named: Vec::new() };
    match life.live() {
        Ok(()) => Ok(life.named),
        Err(why) => {
            let said = format!("{}\n{}", life.host.notes(), life.host.results());
            let events = life.run().map_or_else(Vec::new, |run| run.events.clone());
            let said = format!("{said}{:#?}", &events[events.len().saturating_sub(9)..]);
            Err(format!("seed {seed}: {why}\n--- plan\n{:?}\n--- said\n{said}", life.plan))
        }
    }
}

impl Followed {
    fn live(&mut self) -> Result<(), String> {
        for round in 0..ROUNDS {
            self.world.borrow_mut().stable = round >= 2 * ROUNDS_OF_TROUBLE;
            match self.run() {
                None => self.trouble(),
                Some(run) if run.is_over() => return Ok(()),
                Some(run) if round < ROUNDS_OF_TROUBLE && self.random.chance(50) => {
                    self.meddle(&run);
                }
                Some(run) => self.follow(&run, round < ROUNDS_OF_TROUBLE)?,
            }
        }
        Err("the run did not end".to_owned())
    }

    fn run(&self) -> Option<Run> {
        let records = self.world.borrow_mut().records(&self.host.disk);
        records.first().map(|record| record.run.clone())
    }

    /// Begins the run; it may be cut short.
    fn trouble(&mut self) {
        let words = match self.by_verbs {
            true => format!("init {FILE}"),
            false => "run --mode none --agent-command the-agent".to_owned(),
        };
        self.cut(&words);
    }

    /// Something that people and agents do without asking what comes next; it may be cut short.
    fn meddle(&mut self, run: &Run) {
        let id = &run.id;
        let step = 1 + self.random.below(run.steps.len() as u64);
        let words = match self.random.below(9) {
            0 => format!("step {step} start --run-id {id}"),
            1 => format!("step {step} verify --run-id {id}"),
            2 => format!("step {step} block --reason why --run-id {id}"),
            3 => format!("gate {step} rejected --run-id {id}"),
            4 => {
                self.plan.edit(&mut self.random);
                self.host.disk.put(FILE, self.plan.text());
                format!("resume {id} --adopt --agent-command the-agent")
            }
            5 => format!("finalize --run-id {id}"),
            _ => format!("resume {id} --agent-command the-agent"),
        };
        self.cut(&words);
    }

    fn cut(&mut self, words: &str) {
        let soon = self.host.request_count() + self.random.below(120) as usize;
        let moment = *self.random.pick(&[Moment::Before, Moment::Within, Moment::After]);
        match self.random.below(4) {
            0 => self.host.interrupt_at(soon),
            1 => self.host.kill(Kill { at_request: soon, moment, leaves_processes: false }),
            2 => {
                self.host.lose_power(PowerLoss { at_request: soon, moment, lose_relaxed: false });
            }
            _ => {}
        }
        self.perform(&format!("onloop {words}"));
        let never = usize::MAX;
        self.host.interrupt_at(never);
        self.host.kill(Kill { at_request: never, moment, leaves_processes: false });
        self.host.lose_power(PowerLoss { at_request: never, moment, lose_relaxed: false });
    }

    /// Performs one of the commands that `onloop next` names.
    fn follow(&mut self, before: &Run, any: bool) -> Result<(), String> {
        let since = self.host.said.len();
        let asked = self.perform(&format!("onloop next --json --run-id {}", before.id));
        let said = self.host.said[since..].iter().rev().find_map(|say| match say {
            Say::Result(text) => serde_json::from_str::<Value>(text).ok(),
            Say::Note(_) => None,
        });
        let next = said.ok_or_else(|| format!("`next` ended with {asked:?}"))?;
        let commands: Vec<&str> =
            next["commands"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if commands.is_empty() {
            return Err(format!("nothing is named: {next}"));
        }
        let command = if any { *self.random.pick(&commands) } else { commands[0] };
        let shape = command.replace(&before.id, "ID").replace(|c: char| c.is_ascii_digit(), "N");
        self.named.push(format!("{}: {shape}", next["action"].as_str().unwrap_or_default()));
        let mut command = command.replace("TEXT", "why");
        if command.starts_with("onloop resume ") && !self.by_verbs {
            // The refusal of a run without an agent names it.
            command += " --agent-command the-agent";
        }
        let ended = self.perform(&command);
        if ![Exit::Done, Exit::Failed, Exit::Paused].map(Ended::Exit).contains(&ended) {
            return Err(format!("`{command}` ended with {ended:?}"));
        }
        let after = self.run().ok_or("the run is gone")?;
        if after.revision == before.revision {
            return Err(format!("`{command}` for {next} changed nothing"));
        }
        Ok(())
    }

    fn perform(&mut self, command: &str) -> Ended {
        let words = words(command);
        self.host.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// The words of a command, as a shell reads blanks, single quotes and backslashes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for character in command.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\'' => {
                is_quoted = !is_quoted;
                continue;
            }
            '\\' if !is_quoted => {
                is_escaped = true;
                continue;
            }
            ' ' if !is_quoted => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        words.last_mut().expect("there is always one").push(character);
    }
    words
}
