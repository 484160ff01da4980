//! People who submit runs, decide gates and abandon runs. They retry a command that fails because of a
//! fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Child;

use onloop_fleet::engine::{Overview, QueueState, RunView};

use crate::world::World;

/// The persons. The second one submits nothing.
const PERSONS: [&str; 2] = ["ada", "ben"];

#[derive(Default)]
pub(crate) struct People {
    submitting: BTreeMap<String, Child>,
    deciding: BTreeMap<String, Vec<Child>>,
    giving_up: BTreeMap<String, Option<Child>>,
    /// How often each person has typed a decision about each run.
    typed: BTreeMap<(String, &'static str), usize>,
    /// Abandoned runs, as far as a person got the answer.
    pub(crate) given_up: BTreeSet<String>,
    /// Both persons decide at once.
    pub(crate) both: bool,
}

impl People {
    pub(crate) fn submit(&mut self, world: &mut World) {
        let (id, words) = world.next_run();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.submitting.insert(id, world.types(PERSONS[0], &words));
    }

    /// Returns the number of open submissions.
    pub(crate) fn submitting(&self) -> usize {
        self.submitting.len()
    }

    pub(crate) fn give_up(&mut self, run: &str) {
        self.giving_up.entry(run.to_owned()).or_default();
    }

    /// Whether no command is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.submitting.is_empty() && self.deciding.is_empty() && self.giving_up.is_empty()
    }

    /// Starts the next commands. Returns runs that wait for something else than a person.
    pub(crate) fn tick(&mut self, world: &World, overview: &Overview) -> Vec<RunView> {
        self.submitting.retain(|_, child| is_running(child));
        self.deciding.retain(|_, children| {
            children.retain_mut(is_running);
            !children.is_empty()
        });
        let mut strange = Vec::new();
        for run in &overview.runs {
            let QueueState::NeedsPerson { reason: what } = &run.state else { continue };
            if run.holder.is_some() || self.giving_up.contains_key(&run.run_id) {
                continue;
            }
            if what.starts_with("the gate of step") {
                self.decide(world, &run.run_id);
            } else {
                strange.push(run.clone());
            }
        }
        self.go_on_giving_up(world, overview);
        strange
    }

    /// Returns how often each person has typed a decision about a run.
    pub(crate) fn typed(&self, run: &str) -> BTreeMap<&'static str, usize> {
        let about = self.typed.iter().filter(|((about, _), _)| about == run);
        about.map(|((_, person), count)| (*person, *count)).collect()
    }

    fn decide(&mut self, world: &World, run: &str) {
        if self.submitting.contains_key(run) || self.deciding.contains_key(run) {
            return;
        }
        let persons = if self.both { &PERSONS[..] } else { &PERSONS[..1] };
        let words = ["gate", "1", "approved", "--run-id", run];
        let typed = &mut self.typed;
        let children = persons.iter().map(|person| {
            *typed.entry((run.to_owned(), *person)).or_default() += 1;
            know(world, person, run);
            world.types(person, &words)
        });
        self.deciding.insert(run.to_owned(), children.collect());
    }

    fn go_on_giving_up(&mut self, world: &World, overview: &Overview) {
        let given_up = &mut self.given_up;
        self.giving_up.retain(|run, child| {
            if let Some(trying) = child {
                match trying.try_wait().expect("a child") {
                    None => return true,
                    Some(status) if status.success() => {
                        given_up.insert(run.clone());
                        return false;
                    }
                    Some(_) => {}
                }
            }
            let is_over = |view: &&RunView| {
                view.run_id == *run && matches!(view.state, QueueState::Finished { .. })
            };
            if overview.runs.iter().any(|view| is_over(&view)) {
                return false;
            }
            know(world, PERSONS[0], run);
            *child =
                Some(world.types(PERSONS[0], &["abandon", run, "--reason", "the shop is closed"]));
            true
        });
    }
}

/// Tracks a run for a person who did not submit it or got no answer.
fn know(world: &World, person: &str, run: &str) {
    let mark =
        |person: &str, run: &str| world.path(&format!("state-{person}/runs/{run}/fleet.json"));
    let there = mark(person, run);
    if there.exists() {
        return;
    }
    let runs = world.path(&format!("state-{}/runs", PERSONS[0]));
    let mut known = fs::read_dir(runs).expect("a state home").flatten();
    let from = known.find_map(|entry| fs::read(entry.path().join("fleet.json")).ok());
    fs::create_dir_all(there.parent().expect("a folder")).expect("a folder");
    fs::write(there, from.expect("a run that was submitted")).expect("a mark");
}

fn is_running(child: &mut Child) -> bool {
    child.try_wait().expect("a child").is_none()
}
