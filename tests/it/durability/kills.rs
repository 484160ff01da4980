//! `kill -9` at any moment of any verb, then on with it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use onloop_tests::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{OnDisk, ballast};
use crate::rounds::rounds;
use crate::run::{begin, output_of, project};
use crate::scenario::{essence, waiting_for};
use crate::workspace::{Run, Workspace};

/// Step 1 takes two turns, step 2 has a gate, step 3 is looked at by a person. Every turn of
/// the agent leaves a line that names its step and attempt.
const STEPS: &str = "\
- [ ] **Step 1: Build**
action: build it
loop: until it is built
max_iterations: 9
verify: test $(grep -c '^1\\.' acted) -ge 2

- [ ] **Step 2: Ship**
action: ship it
loop: until it is shipped
max_iterations: 9
verify: grep -q '^2\\.' acted
gate: human

- [ ] **Step 3: Tell**
action: tell everybody
loop: until they know
max_iterations: 9
verify:
  - type: human-review
    prompt: read it
  - type: shell
    command: grep -q '^3\\.' acted
";

const AGENT: [&str; 2] = ["--agent-command", "echo $ONLOOP_STEP.$ONLOOP_ATTEMPT >> acted"];

/// Kills in one round before the run is left in peace.
const KILLS: u32 = 8;

/// One project that is worked on until its run is completed.
struct Round {
    project: Workspace,
    random: Random,
    about: String,
    kills: u32,
    /// Everything that any of its programs said.
    said: Vec<Run>,
}

impl Round {
    fn new(seed: u64) -> Round {
        let mut random = Random::new(seed);
        let large = random.chance(30);
        let mut steps = STEPS.to_owned();
        if large {
            // Several actions, since one line has its bounds.
            let ballast = ballast();
            let lines: Vec<&str> = ballast
                .as_bytes()
                .chunks(1000)
                .map(|line| std::str::from_utf8(line).unwrap())
                .collect();
            steps =
                steps.replace("action: build it", &format!("action: |\n  {}", lines.join("\n  ")));
        }
        let about = format!("seed {seed}{}", if large { " (large)" } else { "" });
        Round { project: project("", &steps), random, about, kills: 0, said: Vec::new() }
    }

    fn record(&self) -> Option<Value> {
        (!self.project.kept_ids().is_empty()).then(|| OnDisk::of(&self.project).snapshot())
    }

    /// What somebody could type now.
    fn words(&mut self) -> Vec<String> {
        let Some(record) = self.record() else {
            return line(&["run", "--mode", "none"], &AGENT);
        };
        if let Some(step) = waiting_for(&record) {
            return line(&["gate", &step.to_string(), "approved"], &[]);
        }
        let current = record["current_step"].to_string();
        match self.random.below(10) {
            0 => line(&["step", &current, "start"], &[]),
            1 => line(&["step", &current, "verify"], &[]),
            2 => line(&["finalize"], &[]),
            _ => line(&["resume"], &AGENT),
        }
    }

    /// Runs one program, and kills it at a random moment unless there were kills enough.
    fn program(&mut self, typical: Duration) {
        let words = self.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = begin(&self.project, &words);
        if self.kills < KILLS {
            let moment = typical.mul_f64(self.random.below(1000) as f64 / 1000.0);
            std::thread::sleep(moment);
            // It may be over already.
            let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        }
        let run = output_of(child);
        if run.exit.is_none() {
            self.kills += 1;
        }
        let allowed = [None, Some(0), Some(1), Some(3)];
        assert!(allowed.contains(&run.exit), "{}: {words:?}: {run:?}", self.about);
        self.said.push(run);
        if self.record().is_some() {
            self.nothing_said_is_lost();
        }
    }

    /// Every line that says that something was recorded has its event.
    fn nothing_said_is_lost(&self) {
        let record = self.record().expect("callers looked");
        let log: Vec<&str> = record["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|e| e["text"].as_str())
            .collect();
        let logged = |prefix: &str| log.iter().filter(|text| text.starts_with(prefix)).count();
        for step in 1..=3 {
            for symbol in ["✓", "✗", "→", "↻"] {
                let prefix = format!("{symbol} Step {step}: ");
                let lines = self.said.iter().flat_map(|run| run.stderr.lines());
                let said = lines.filter(|line| line.starts_with(&prefix)).count();
                // An approved step is said once more, with a line of another form in the log.
                let gates = logged(&format!("Gate Step {step}: approved"))
                    + logged(&format!("Human review for Step {step}: approved"));
                let extra = if symbol == "✓" { gates } else { 0 };
                assert!(
                    said <= logged(&prefix) + extra,
                    "{}: {said} × `{prefix}` were said\n{log:#?}\n{:#?}",
                    self.about,
                    self.said
                );
            }
        }
    }

    /// The end is that of an undisturbed run, and nothing happened twice.
    fn finished_well(&self, undisturbed: &str) {
        let record = self.record().unwrap();
        let about = &self.about;
        assert_eq!(essence(&record), undisturbed, "{about}: {:#?}", self.said);
        let tally = OnDisk::of(&self.project).tally();
        for (event, times) in [
            ("gate_decided 2 approved", 1),
            ("gate_decided 3 approved", 1),
            ("run_finalized 0 completed", 1),
        ] {
            assert_eq!(tally.get(event), Some(&times), "{about}: {event} in {tally:#?}");
        }
        for step in 1..=3u64 {
            let started = tally[&format!("step_started {step}")] as u64;
            let attempts = &record["steps"][step as usize - 1]["attempts"];
            assert_eq!(attempts.as_u64(), Some(started), "{about}: step {step} in {tally:#?}");
        }
        let acted = self.project.read("acted");
        let turns: BTreeSet<&str> = acted.lines().collect();
        assert_eq!(turns.len(), acted.lines().count(), "{about}: an attempt acted twice: {acted}");
        // Boxes and report lag behind a program that was killed after its last transition, and
        // the verbs that end a run one by one look only at what they change.
        let id = record["run_id"].as_str().unwrap();
        let nothing = self.project.onloop(&["resume", id]).expect_exit(0);
        assert!(crate::flat(&nothing.stderr).contains("nothing to resume"), "{about}: {nothing:?}");
        let file = self.project.read(crate::run::FILE);
        let boxes: Vec<&str> = file.lines().filter(|line| line.starts_with("- [")).collect();
        let ticked = boxes.iter().all(|line| line.starts_with("- [x]"));
        assert!(ticked && boxes.len() == 3, "{about}: {boxes:?}\n{:#?}", self.said);
        let report = record["report_path"].as_str().unwrap();
        assert!(self.project.read(report).contains("**Status:** completed"), "{about}");
    }

    fn carry_on(&mut self, typical: Duration) {
        for _ in 0..60 {
            self.program(typical);
            if self.record().is_some_and(|record| record["status"] == "completed") {
                return;
            }
        }
        panic!("{}: sixty programs did not finish the run: {:#?}", self.about, self.said);
    }
}

fn line(words: &[&str], more: &[&str]) -> Vec<String> {
    words.iter().chain(more).map(|&word| word.to_owned()).collect()
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let mut peace = Round::new(1);
    peace.kills = KILLS;
    let started = Instant::now();
    peace.carry_on(Duration::ZERO);
    // Programs differ in length; the longest are killed most.
    let typical = started.elapsed() / peace.said.len() as u32;
    let undisturbed = essence(&peace.record().unwrap());
    peace.finished_well(&undisturbed);
    let first = std::env::var("ONLOOP_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let mut kills = 0;
    for seed in first..first + rounds(2, 100) {
        let mut round = Round::new(seed);
        round.carry_on(typical * 2);
        round.finished_well(&undisturbed);
        kills += round.kills;
    }
    println!("{kills} programs were killed");
    assert!(kills > 0, "programs end before they can be killed");
}
