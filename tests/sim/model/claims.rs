//! What must hold, said without the program's own tables.

use std::collections::BTreeMap;

use onloop_core::effect::Say;
use onloop_core::run::{GateDecision, LogEntry, Mode, Run, RunStatus, StepStatus, render_report};

use super::ledgers::Record;
use super::plan::Plan;
use super::world::World;
use crate::{Disk, SimHost};

/// What is remembered from one look at the machine to the next.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// The events of each run so far, without their times, which lose their milliseconds on disk.
    logs: BTreeMap<String, Vec<Logged>>,
    /// Decisions that people have typed, by step.
    pub(super) decisions: BTreeMap<u32, usize>,
    /// How much of what the machine has said is counted in `promises`.
    heard: usize,
    /// How often each event was said to be recorded; see [`promised`].
    promises: BTreeMap<String, usize>,
}

#[derive(Debug, PartialEq)]
struct Logged {
    event: String,
    step: Option<u32>,
    text: String,
}

impl Logged {
    fn of(entry: &LogEntry) -> Logged {
        Logged { event: entry.event.clone(), step: entry.step, text: entry.text.clone() }
    }

    fn is(&self, entry: &LogEntry) -> bool {
        self.event == entry.event && self.step == entry.step && self.text == entry.text
    }
}

impl Claims {
    /// Looks at the machine and its records after programs have ended.
    pub(super) fn look(
        &mut self,
        host: &SimHost,
        world: &World,
        records: &[Record],
    ) -> Result<(), String> {
        if let Some(broken) = world.broken.first() {
            return Err(broken.clone());
        }
        let runs: Vec<&Run> = records.iter().map(|record| &record.run).collect();
        for run in &runs {
            self.history_only_grows(run)?;
            attempts_within_limits(run)?;
            if world.adoptions == 0 {
                attempts_are_logged(run)?;
            }
        }
        self.nothing_invented(&runs)?;
        self.nothing_said_is_lost(host, &runs)
    }

    fn history_only_grows(&mut self, run: &Run) -> Result<(), String> {
        let before = self.logs.entry(run.id.clone()).or_default();
        let same = before.iter().zip(&run.events).filter(|(logged, entry)| logged.is(entry));
        if same.count() < before.len() {
            let log: Vec<Logged> = run.events.iter().map(Logged::of).collect();
            return Err(format!("{}: history changed\nfrom {before:#?}\nto {log:#?}", run.id));
        }
        before.extend(run.events[before.len()..].iter().map(Logged::of));
        Ok(())
    }

    fn nothing_invented(&self, runs: &[&Run]) -> Result<(), String> {
        let mut recorded = BTreeMap::new();
        for entry in runs.iter().flat_map(|run| &run.events) {
            if entry.event == "gate_decided" && entry.text.contains("(human)") {
                *recorded.entry(entry.step.unwrap_or_default()).or_insert(0) += 1;
            }
        }
        for (step, times) in recorded {
            let typed = self.decisions.get(&step).copied().unwrap_or_default();
            if times > typed {
                return Err(format!("{times} decisions on step {step}, {typed} were made"));
            }
        }
        Ok(())
    }

    /// Every line that says that something was recorded has an event.
    fn nothing_said_is_lost(&mut self, host: &SimHost, runs: &[&Run]) -> Result<(), String> {
        for say in &host.said[self.heard..] {
            let (Say::Result(text) | Say::Note(text)) = say;
            for line in onloop_core::text::printable(text).lines() {
                if let Some(event) = promised(line, matches!(say, Say::Result(_))) {
                    *self.promises.entry(event).or_insert(0) += 1;
                }
            }
        }
        self.heard = host.said.len();
        let log = || runs.iter().flat_map(|run| &run.events).map(|entry| entry.text.as_str());
        for (event, times) in &self.promises {
            let prefixes: Vec<&str> = event.split('|').collect();
            let is_it = |text: &&str| prefixes.iter().any(|prefix| text.starts_with(prefix));
            let recorded = log().filter(is_it).count();
            if *times > recorded {
                let log: Vec<&str> = log().collect();
                return Err(format!(
                    "{event} was said {times} times, recorded {recorded}: {log:#?}"
                ));
            }
        }
        Ok(())
    }
}

fn attempts_within_limits(run: &Run) -> Result<(), String> {
    // What was before an edited plan was adopted had other limits.
    let adopted = run.events.iter().rposition(|entry| entry.event == "plan_adopted");
    let events = &run.events[adopted.unwrap_or(0)..];
    for record in &run.steps {
        let (step, limit) = (record.step.number, record.limit());
        let counted = record.attempts.saturating_sub(record.uncounted);
        if counted > limit && events.iter().any(|entry| is_start(entry, step)) {
            return Err(format!("step {step} had {counted} attempts, {limit} are allowed"));
        }
    }
    // Without anybody continuing the run in between, not even uncounted ones are more.
    let mut since = BTreeMap::new();
    for entry in events {
        match (entry.event.as_str(), entry.step) {
            ("run_resumed", _) => since.clear(),
            ("step_started", Some(step)) => {
                let times = since.entry(step).or_insert(0);
                *times += 1;
                let limit = run.step(step).map_or(u32::MAX, |record| record.limit());
                // One more may be the answer to an interruption before.
                if *times > limit.saturating_add(1) {
                    return Err(format!("step {step} started {times} times, limit {limit}"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn attempts_are_logged(run: &Run) -> Result<(), String> {
    for record in &run.steps {
        let step = record.step.number;
        let started = |entry: &&_| is_start(entry, step);
        let logged = run.events.iter().filter(started).count();
        if logged != record.attempts as usize {
            return Err(format!("step {step}: {} attempts, {logged} logged", record.attempts));
        }
    }
    Ok(())
}

fn is_start(entry: &LogEntry, step: u32) -> bool {
    entry.event == "step_started" && entry.step == Some(step)
}

/// Beginnings of the events of which one is in the log if this line was said.
fn promised(line: &str, result: bool) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches(':').to_owned();
    match (words.as_slice(), result) {
        (["✗" | "→" | "↻", "Step", step, ..], false) => {
            Some(format!("{} Step {}: ", words[0], number(step)))
        }
        (["✓" | "⚡", "Step", step, ..], false) => {
            let step = number(step);
            Some(format!(
                "✓ Step {step}: |⚡ Auto-approved: Step {step}|Gate Step {step}: |\
                 Human review for Step {step}: "
            ))
        }
        (["started", "step", step], true) => {
            let step = number(step);
            Some(format!("→ Step {step}: |↻ Step {step}: "))
        }
        (["gate", step, word, "(human)"], true) => {
            Some(format!("Gate Step {}: {word} (human)", number(step)))
        }
        (["human-review", step, word, "(human)"], true) => {
            // The second of two who say yes at once decides about a step that is done by then.
            let step = number(step);
            Some(format!(
                "Human review for Step {step}: {word} (human)|Gate Step {step}: {word} (human)"
            ))
        }
        (["blocked", "step", step, reason], true) => {
            Some(format!("✗ Step {}: Blocked — {reason}", number(step)))
        }
        _ => None,
    }
}

/// A run is completed only by checks that hold on the work that it ends with, on a clean checkout
/// where it is asked for, and by people who said yes.
pub(super) fn completed_rightly(
    run: &Run,
    plan: &Plan,
    world: &World,
    disk: &Disk,
) -> Result<(), String> {
    if plan.clean != run.verified_clean {
        return Err(format!("completed, and verified on a clean checkout: {}", run.verified_clean));
    }
    if let Some(left) = disk.files("/tmp").first() {
        return Err(format!("{left} is left"));
    }
    if run.steps.len() != plan.steps.len() {
        return Err(format!("{} steps, {} were planned", run.steps.len(), plan.steps.len()));
    }
    for (index, (record, planned)) in run.steps.iter().zip(&plan.steps).enumerate() {
        let step = index + 1;
        if record.status != StepStatus::Done {
            return Err(format!("completed, but step {step} is {:?}", record.status));
        }
        let holds = |check: &u32| world.holds(step, *check, disk, plan.clean);
        if let Some(check) = (1..=planned.checks).find(|check| !holds(check)) {
            return Err(format!("completed, but check {check} of step {step} does not hold"));
        }
        let asks = planned.gate == Some("human") && (plan.risk == "high" || !plan.auto_approve);
        let person = record.gate.is_some_and(|gate| {
            gate.decision == GateDecision::Approved && gate.mode == Mode::Human
        });
        if (asks || planned.review) && !person {
            return Err(format!("completed, but nobody approved step {step}: {:?}", record.gate));
        }
    }
    Ok(())
}

/// What is made from the record says what the record says.
pub(super) fn mirrors_agree(host: &SimHost, run: &Run, file: &str) -> Result<(), String> {
    let report = format!("/demo/.hotl/reports/{}.md", run.id);
    let (found, expected) = (host.disk.get(&report), render_report(run));
    if found.is_none_or(|found| *found != *expected.as_bytes()) {
        let found = found.map(|found| String::from_utf8_lossy(found).into_owned());
        return Err(format!(
            "{report} is not a rendering of the record\n--- found\n{found:?}\n--- \
             expected\n{expected:?}"
        ));
    }
    if run.status == RunStatus::Running {
        return Err("a program ended and left the run running".to_owned());
    }
    let text = host.disk.text(file);
    for record in &run.steps {
        let step = record.step.number;
        let ticked = text.contains(&format!("- [x] **Step {step}:"));
        if ticked != (record.status == StepStatus::Done) {
            return Err(format!("the box of step {step} is not what the record says\n{text}"));
        }
    }
    Ok(())
}
