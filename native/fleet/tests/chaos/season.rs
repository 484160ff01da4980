//! Several rounds of faults and the recovery after them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use onloop_fleet::engine::{Overview, QueueState, ReadJournal, ReadOverview};

use crate::harm::{Harm, Remedy};
use crate::judge::{self, Alone};
use crate::people::People;
use crate::processes::Kind;
use crate::random::Random;
use crate::world::{LONG, World};

/// Open runs.
const OPEN: usize = 7;
/// Pause between two steps of the simulation.
const TICK: Duration = Duration::from_millis(40);

pub(crate) struct Season<'w> {
    world: &'w mut World,
    people: People,
    random: Random,
    /// How to repeat the test.
    about: String,
    /// Runs that had finished before.
    before: Vec<String>,
    overview: Overview,
    remedies: Vec<(Instant, Remedy)>,
    done: Vec<(Duration, Harm)>,
    began: Instant,
}

impl<'w> Season<'w> {
    pub(crate) fn new(world: &'w mut World, random: Random, about: String) -> Season<'w> {
        let overview = world.ask(|client| client.call(&ReadOverview {}));
        let before = overview.runs.iter().map(|run| run.run_id.clone()).collect();
        Season {
            world,
            people: People::default(),
            random,
            about,
            before,
            overview,
            remedies: Vec::new(),
            done: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Injects `rounds` faults.
    pub(crate) fn rage(mut self, rounds: u64) -> Season<'w> {
        for _ in 0..rounds {
            let until = Instant::now() + self.random.time(100, 1500);
            while Instant::now() < until {
                self.keep_busy();
                self.tick();
            }
            self.round();
        }
        self
    }

    fn keep_busy(&mut self) {
        if self.open().len() + self.people.submitting() < OPEN {
            self.people.submit(self.world);
        }
    }

    /// Returns the unfinished runs of these rounds.
    fn open(&self) -> Vec<String> {
        let is_open = |rest: &QueueState| !matches!(rest, QueueState::Finished { .. });
        let runs = self.overview.runs.iter();
        runs.filter(|run| is_open(&run.state)).map(|run| run.run_id.clone()).collect()
    }

    fn round(&mut self) {
        let began = Instant::now();
        loop {
            let harm = Harm::draw(&mut self.random);
            let open = self.open();
            let run = self.random.below(open.len().max(1) as u64);
            let struck = match (harm, open.get(usize::try_from(run).unwrap_or_default())) {
                (Harm::Abandon, Some(run)) => {
                    self.people.give_up(run);
                    Ok(None)
                }
                (Harm::Abandon, None) => Err(()),
                (Harm::TwoPersons, _) => {
                    self.people.both = !self.people.both;
                    Ok(None)
                }
                _ => harm.strike(self.world, &mut self.random),
            };
            if let Ok(remedy) = struck {
                let at = Instant::now() + self.random.time(100, 4000);
                self.remedies.extend(remedy.map(|remedy| (at, remedy)));
                self.done.push((self.began.elapsed(), harm));
                return;
            }
            assert!(began.elapsed() < LONG, "{}: nothing to break\n{}", self.about, self.story());
            self.keep_busy();
            self.tick();
        }
    }

    /// Lets people and restarts happen as they do all the time.
    fn tick(&mut self) {
        std::thread::sleep(TICK);
        let now = Instant::now();
        let (due, later): (Vec<_>, Vec<_>) =
            self.remedies.drain(..).partition(|(at, _)| *at <= now);
        self.remedies = later;
        due.into_iter().for_each(|(_, remedy)| remedy.apply(self.world));
        if self.random.below(8) == 0 {
            self.world.revive();
        }
        if let Ok(overview) = self.world.client().call(&ReadOverview {}) {
            self.overview = overview;
        }
        let strange = self.people.tick(self.world, &self.overview);
        if let Some(run) = strange.first() {
            panic!(
                "{}: run {} waits for what nobody was to decide: {:?}\n{}",
                self.about,
                run.run_id,
                run.state,
                self.story()
            );
        }
    }

    /// Repairs all faults, waits until every run has finished and checks them; returns how many there
    /// were.
    pub(crate) fn come_to_rest(mut self, alone: &Alone) -> usize {
        let began = Instant::now();
        loop {
            self.tick();
            let is_held = self.overview.runs.iter().any(|run| run.holder.is_some());
            if self.remedies.is_empty()
                && self.people.is_idle()
                && !is_held
                && self.open().is_empty()
            {
                break;
            }
            assert!(began.elapsed() < LONG, "{}: no end\n{}", self.about, self.story());
        }
        self.world.revive();
        self.world.wait_for_quiet(|kind| matches!(kind, Kind::Up | Kind::Engine | Kind::Worker));
        // The last overview may be older than the end of a run.
        self.overview = self.world.ask(|client| client.call(&ReadOverview {}));
        let mut faults = BTreeMap::new();
        let mut runs = 0;
        for run in &self.overview.runs {
            if self.before.contains(&run.run_id) {
                continue;
            }
            runs += 1;
            let is_given_up = self.people.given_up.contains(&run.run_id);
            let typed = self.people.typed(&run.run_id);
            let found = judge::faults(self.world, alone, run, (is_given_up, typed));
            if !found.is_empty() {
                faults.insert(run.run_id.clone(), found);
            }
        }
        assert!(faults.is_empty(), "{}: {faults:#?}\n{}", self.about, self.story());
        runs
    }

    /// Returns the faults and their results.
    fn story(&self) -> String {
        let mut story = String::new();
        for (at, harm) in &self.done {
            story += &format!("{:6.2} s {harm:?}\n", at.as_secs_f32());
        }
        let mut named = self.open();
        for run in &self.overview.runs {
            if named.contains(&run.run_id) {
                story += &format!("{run:?}\n");
            }
        }
        for run in named.clone() {
            let lines = self.world.client().call(&ReadJournal::now(&run));
            story += &format!(
                "--- journal of {run}\n{}\n",
                lines.map_or_else(|e| e.to_string(), |l| l.lines)
            );
        }
        named.truncate(3);
        story + &self.world.logs(&named)
    }
}
