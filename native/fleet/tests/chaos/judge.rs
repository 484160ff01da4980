//! Invariants of finished runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use onloop_core::documents::ledger;
use onloop_core::run::Run;
use onloop_fleet::engine::{QueueState, ReadJournal, RunView};
use serde_json::Value;

use crate::world::World;

/// The same workflow without faults and without a fleet.
pub(crate) struct Alone {
    essence: String,
    /// The files of the last checkpoint.
    files: String,
}

impl Alone {
    pub(crate) fn of(world: &World) -> Alone {
        let bytes = world.alone();
        let run = ledger::read(&bytes, None).expect("a sound ledger").run;
        let lines = values(&bytes);
        let last = lines.iter().filter_map(Checkpoint::of).next_back().expect("a checkpoint");
        Alone { essence: essence(&run), files: files(world, "shop", &last.commit) }
    }
}

/// Returns the status of the run, its steps and their gates, without the number of attempts.
fn essence(run: &Run) -> String {
    let mut essence = run.status.as_str().to_owned();
    for step in &run.steps {
        let gate = step.gate.as_ref().map(|gate| gate.decision);
        essence += &format!("\n{} {:?} {gate:?}", step.step.number, step.status);
    }
    essence
}

fn files(world: &World, folder: &str, commit: &str) -> String {
    world.git(folder, &["ls-tree", "-r", "--name-only", commit])
}

fn values(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

struct Checkpoint {
    name: String,
    commit: String,
    is_verified: bool,
}

impl Checkpoint {
    fn of(line: &Value) -> Option<Checkpoint> {
        if line["event"] != "checkpoint_taken" {
            return None;
        }
        let name = match (&line["step"], &line["attempt"]) {
            (Value::Number(step), Value::Number(attempt)) => format!("{step}-{attempt}"),
            _ => "0".to_owned(),
        };
        let is_verified = line["kind"] == "verified";
        Some(Checkpoint { name, commit: line["commit"].as_str()?.to_owned(), is_verified })
    }
}

/// Returns the violations of a run. `is_given_up`: a person was told that it is abandoned; `typed`: how
/// often each person typed a decision.
pub(crate) fn faults(
    world: &World,
    alone: &Alone,
    view: &RunView,
    (is_given_up, typed): (bool, BTreeMap<&str, usize>),
) -> Vec<String> {
    let text = world.ask(|client| client.call(&ReadJournal::now(&view.run_id))).lines;
    if text.is_empty() {
        // The run was abandoned before it began.
        return match is_given_up {
            true => Vec::new(),
            false => vec!["it has no journal".to_owned()],
        };
    }
    let run = match ledger::read(text.as_bytes(), None) {
        Ok(ledger) => ledger.run,
        Err(error) => return vec![format!("its journal is no ledger: {error}")],
    };
    let lines = values(text.as_bytes());
    let mut faults = Faults(Vec::new());
    let said = QueueState::Finished { status: run.status.as_str().to_owned() };
    faults.unless(view.state == said, || format!("{said:?} is said to be {:?}", view.state));
    let is_abandoned = run.status.as_str() == "abandoned";
    faults.unless(is_abandoned == is_given_up, || {
        format!("it ended as {}, given up: {is_given_up}", run.status.as_str())
    });
    if !is_given_up {
        faults.unless(essence(&run) == alone.essence, || {
            format!("it ended otherwise than alone:\n{}\n{}", essence(&run), alone.essence)
        });
    }
    once(&mut faults, &lines, is_given_up, &typed);
    attempts(&mut faults, &lines, &run);
    work(&mut faults, world, alone, &lines, &view.run_id, is_given_up);
    agents(&mut faults, world, &view.run_id);
    let mut faults = faults.0;
    if !faults.is_empty() {
        let told: Vec<String> = run
            .events
            .iter()
            .map(|entry| format!("{} {}", entry.at.to_rfc3339(), entry.text))
            .collect();
        faults.push(told.join("\n"));
        faults.push(world.logs(&[view.run_id.clone()]));
    }
    faults
}

struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.0.push(fault());
        }
    }
}

/// Each event that happens once in a run is there once, and no person has more decisions than they
/// typed.
fn once(faults: &mut Faults, lines: &[Value], is_given_up: bool, typed: &BTreeMap<&str, usize>) {
    let count = |name: &str| lines.iter().filter(|line| line["event"] == name).count();
    let wanted = if is_given_up { (0, 1) } else { (1, 0) };
    let ends = (count("run_finalized"), count("run_abandoned"));
    faults.unless(ends == wanted, || format!("it was finalized and abandoned {ends:?} times"));
    // A person who gets no answer, because the server is down, types the decision again.
    let decided = |line: &&Value| line["event"] == "gate_decided";
    let mut heard: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(decided) {
        *heard.entry(line["by"]["user"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let spoke = |person: &str| typed.get(person).copied().unwrap_or_default();
    let is_heard_twice = heard.iter().any(|(person, count)| *count > spoke(person));
    // A verification counts no more after its work was left behind.
    let is_verified = |line: &Value| line["event"] == "step_verified" && line["step"] == 1;
    let from = lines.iter().rposition(is_verified).unwrap_or_default();
    let is_decided = lines[from..].iter().any(|line| decided(&line));
    faults.unless(!is_heard_twice && (is_decided || is_given_up), || {
        format!("the gate was decided by {heard:?}; who spoke: {typed:?}")
    });
    let begun = lines.iter().filter(|line| !line["schema"].is_null()).count();
    faults.unless(begun == 1, || format!("it begins {begun} times"));
}

/// Each attempt has one turn, one verification and one checkpoint for each. Work that was left behind
/// is verified again.
fn attempts(faults: &mut Faults, lines: &[Value], run: &Run) {
    let mut attempt: BTreeMap<u64, u64> = BTreeMap::new();
    let mut seen: BTreeSet<(u64, u64, String)> = BTreeSet::new();
    let mut is_repeated = false;
    for line in lines {
        let event = line["event"].as_str().unwrap_or_default();
        let step = line["step"].as_u64().unwrap_or_default();
        match event {
            "step_started" => *attempt.entry(step).or_default() += 1,
            "run_moved" => {
                let lost: Vec<&str> = lost(line).collect();
                for (step, now) in &attempt {
                    let kept = |kind: &str| (*step, *now, format!("kept {kind}"));
                    if lost.contains(&format!("{step}-{now}").as_str()) {
                        seen.remove(&kept("acted"));
                        seen.remove(&kept("verified"));
                    }
                    if !seen.contains(&kept("acted")) && !seen.contains(&kept("verified")) {
                        seen.remove(&(*step, *now, "step_verified".to_owned()));
                    }
                }
            }
            // Repeated checks keep their own checkpoint.
            "checks_repeated" => is_repeated = true,
            "step_acted" | "step_verified" => {
                let now = attempt.get(&step).copied().unwrap_or_default();
                let is_new = seen.insert((step, now, event.to_owned()));
                faults.unless(is_new, || format!("{event} twice for attempt {step}-{now}"));
            }
            "checkpoint_taken" => {
                let now = attempt.get(&step).copied().unwrap_or_default();
                let kept = line["attempt"].as_u64().unwrap_or_default();
                faults
                    .unless(kept == now, || format!("attempt {step}-{kept} is kept during {now}"));
                let kind = line["kind"].as_str().unwrap_or_default();
                let is_new = seen.insert((step, now, format!("kept {kind}")));
                faults.unless(is_new || is_repeated, || {
                    format!("attempt {step}-{now} is kept twice as {kind}")
                });
            }
            _ => {}
        }
    }
    for step in &run.steps {
        let number = u64::from(step.step.number);
        let counted = attempt.get(&number).copied().unwrap_or_default();
        faults.unless(counted == u64::from(step.attempts), || {
            format!("step {number} has {} attempts and was started {counted} times", step.attempts)
        });
    }
}

/// Returns the names of the checkpoints that were left behind.
fn lost(line: &Value) -> impl Iterator<Item = &str> {
    line["lost_checkpoints"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The remote has the last checkpoint of each attempt.
fn work(
    faults: &mut Faults,
    world: &World,
    alone: &Alone,
    lines: &[Value],
    run: &str,
    is_given_up: bool,
) {
    let mut kept: BTreeMap<String, Checkpoint> = BTreeMap::new();
    for line in lines {
        kept.extend(Checkpoint::of(line).map(|checkpoint| (checkpoint.name.clone(), checkpoint)));
        lost(line).for_each(|name| drop(kept.remove(name)));
    }
    // Work without a verification is not pushed after the run was abandoned.
    kept.retain(|_, checkpoint| checkpoint.is_verified || !is_given_up);
    let prefix = format!("refs/onloop/{run}/");
    let refs = world.git("shop.git", &["for-each-ref", "--format=%(refname)", &prefix]);
    for Checkpoint { name, commit, .. } in kept.values() {
        let there = format!("{prefix}{name}");
        // A driver that was killed before the event may have pushed a later commit.
        let is_there =
            refs.lines().any(|line| line == there) && world.is_in("shop.git", commit, &there);
        faults.unless(is_there, || format!("{commit} is not in `{there}` of the remote: {refs}"));
    }
    let last = lines.iter().filter_map(Checkpoint::of).rfind(|kept| kept.is_verified);
    match last {
        None => faults.unless(is_given_up, || "nothing of it was verified and kept".to_owned()),
        Some(_) if is_given_up => {}
        Some(Checkpoint { commit, .. }) => {
            let files = files(world, "shop.git", &commit);
            faults.unless(files == alone.files, || {
                format!("the work is {files}, not {}", alone.files)
            });
        }
    }
}

/// No two agents were alive at once, and no attempt had two agents.
fn agents(faults: &mut Faults, world: &World, run: &str) {
    let log = fs::read_to_string(world.path(&format!("agents/{run}"))).unwrap_or_default();
    let mut begun = BTreeSet::new();
    for line in log.lines() {
        faults.unless(!line.starts_with("TWICE"), || format!("two agents at once:\n{log}"));
        if let Some(attempt) = line.strip_prefix("begin ").and_then(|rest| rest.split(' ').nth(1)) {
            faults.unless(begun.insert(attempt.to_owned()), || {
                format!("attempt {attempt} was acted by two:\n{log}")
            });
        }
    }
}
