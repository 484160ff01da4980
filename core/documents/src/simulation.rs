//! What `onloop run --simulate` says: a run in a simulation, as data and as JSON.

use serde_json::{Value, json};

use super::normalized::check;
use onloop_effect::Command;
use onloop_run::{AtMost, Exceeded, Run, SimulatedEvent, StepRecord, parallel_groups};
use onloop_sessions::handsoff::config::ConfineWhen;
use onloop_syntax::money::Money;

/// A run that has not begun, as far as it can be told.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The workflow file, as it was named.
    pub workflow: String,
    /// Why it would not begin by itself: a question, or a refusal. `None`: it would.
    pub blocked_by: Option<String>,
    /// The record that it would begin with; its place is empty where that is not decided.
    pub run: Run,
    /// Whether agent, checks and setup would be confined.
    pub confine: ConfineWhen,
    /// What would be done to the repository before, as verb phrases.
    pub changes: Vec<String>,
    /// Who would act.
    pub agent: SimulatedAgent,
    /// Who would take over, one after the other, where those before are not served.
    pub successors: Vec<SimulatedAgent>,
    /// The line with which a review would be started.
    pub reviewer: Option<Command>,
    /// Ignored files that a fresh worktree would get a copy of.
    pub copied: Vec<String>,
    /// Whether the lines of `setup` would be run.
    pub sets_up: bool,
    /// What would happen, in this order, when every attempt succeeds at once.
    pub events: Vec<SimulatedEvent>,
    /// The most that it may take.
    pub at_most: AtMost,
}

/// Who would act in a run.
#[derive(Clone, Debug)]
pub struct SimulatedAgent {
    /// Its name on the command line, or the line.
    pub name: String,
    /// The command of its first turn; `None` for a person and for the scripts of the steps.
    pub command: Option<Command>,
    /// Whether its program is on `PATH`; `None` where that is not looked for.
    pub is_found: Option<bool>,
}

/// The document `onloop.simulation/v1`.
pub fn simulation_document(simulation: &Simulation) -> Value {
    let (run, place) = (&simulation.run, &simulation.run.place);
    let at_most = &simulation.at_most;
    let setup: &[String] = if simulation.sets_up { &run.settings.setup } else { &[] };
    let mut document = json!({
        "schema": "onloop.simulation/v1",
        "workflow": simulation.workflow,
        "intent": run.settings.intent,
        "risk_level": run.settings.risk.as_str(),
        "blocked_by": simulation.blocked_by,
        "place": {
            "executor_mode": place.executor_mode,
            "branch": place.branch,
            "repo_root": place.repo_root,
            "execution_root": place.execution_root,
            "worktree_path": place.worktree_path,
            "changes": simulation.changes,
        },
        "confine": simulation.confine.as_str(),
        "agent": agent(&simulation.agent),
        "successors": simulation.successors.iter().map(agent).collect::<Vec<_>>(),
        "setup": { "copied": simulation.copied, "commands": setup },
        "order": simulation.events.iter().map(|event| order(simulation, event)).collect::<Vec<_>>(),
        "at_most": {
            "attempts": at_most.attempts,
            "work_ms": at_most.work_ms,
            "elapsed_minutes": run.settings.budgets.elapsed_minutes,
            "cost_usd": at_most.cost.map(Money::usd),
            "tokens": at_most.tokens,
        },
    });
    if let Some(groups) = parallel_groups(run) {
        let step = |record: &StepRecord| json!({ "step": record.step.number, "depends_on": record.depends_on() });
        document["graph"] = json!({
            "max_parallel": run.settings.max_parallel,
            "groups": groups,
            "steps": run.steps.iter().map(step).collect::<Vec<_>>(),
        });
    }
    document
}

fn agent(agent: &SimulatedAgent) -> Value {
    json!({
        "name": agent.name,
        "command": agent.command.as_ref().map(command),
        "is_found": agent.is_found,
    })
}

/// Words as a list, a line of shell as text.
fn command(command: &Command) -> Value {
    match command {
        Command::Argv(words) => json!(words),
        Command::Shell { line, .. } => json!(line),
    }
}

fn order(simulation: &Simulation, event: &SimulatedEvent) -> Value {
    let record = |step: u32| simulation.run.step(step).expect("events name steps that exist");
    match event {
        SimulatedEvent::Act { step } => {
            let (step, script) = (&record(*step).step, record(*step).step.script.as_ref());
            let is_script = simulation.agent.name == "script";
            let line = match script.filter(|_| is_script) {
                Some(script) => json!(script.text),
                None => simulation.agent.command.as_ref().map_or(Value::Null, command),
            };
            json!({
                "kind": "act", "step": step.number, "name": step.name,
                "attempts": record(step.number).limit(), "command": line,
            })
        }
        SimulatedEvent::Verify { step } => {
            let checks: Vec<Value> = record(*step).step.checks.iter().map(check).collect();
            json!({ "kind": "verify", "step": step, "checks": checks })
        }
        SimulatedEvent::Look { step, prompt } => {
            json!({ "kind": "look", "step": step, "by": "person", "prompt": prompt })
        }
        SimulatedEvent::Review { step } => json!({
            "kind": "review", "step": step, "command": simulation.reviewer.as_ref().map(command),
        }),
        SimulatedEvent::Approve { step, reason } => json!({
            "kind": "gate", "step": step, "by": "rules", "why": reason.as_str(),
        }),
        SimulatedEvent::Decide { step, reason } => json!({
            "kind": "gate", "step": step, "by": "person", "why": reason.as_str(),
        }),
        SimulatedEvent::Repeat => json!({ "kind": "repeat" }),
        SimulatedEvent::Stop { step, bounds } => json!({
            "kind": "stop", "step": step, "bounds": bounds.iter().map(bound).collect::<Vec<_>>(),
        }),
    }
}

fn bound(bound: &Exceeded) -> Value {
    json!({ "name": bound.name, "limit": bound.limit, "observed": bound.observed })
}
