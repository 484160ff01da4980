//! A run in a simulation, for people. What can be copied stays on its line; the rest fits a terminal.

use super::line;
use onloop_documents::simulation::{SimulatedAgent, Simulation};
use onloop_run::{
    AutomaticReason, HumanReason, SimulatedEvent, StepRecord, after_steps, parallel_groups,
};
use onloop_sessions::handsoff::config::ConfineWhen;
use onloop_syntax::limits;
use onloop_syntax::text::{self, COLUMNS};
use onloop_workflow::{Assertion, Check, Expectation};

/// The whole of it, ending with a line break.
pub(super) fn render(simulation: &Simulation) -> String {
    let intent = text::one_line(&simulation.run.settings.intent);
    let mut out = text::wrapped(&format!("Simulation: {intent}"), COLUMNS, 2) + "\n";
    out += "Nothing is started or changed.\n";
    if let Some(why) = &simulation.blocked_by {
        out += &format!("\nIt would not begin by itself\n{}", indented(why));
    }
    place(simulation, &mut out);
    agents(simulation, &mut out);
    setup(simulation, &mut out);
    graph(simulation, &mut out);
    out += "\nIn this order, when every attempt succeeds at once\n";
    for event in &simulation.events {
        happens(simulation, event, &mut out);
    }
    at_most(simulation, &mut out);
    out
}

/// Foreign text, each line of it below a heading.
fn indented(foreign: &str) -> String {
    text::printable(foreign.trim_end()).lines().map(|line| format!("  {line}\n")).collect()
}

fn place(simulation: &Simulation, out: &mut String) {
    let place = &simulation.run.place;
    if place.execution_root.is_empty() {
        return;
    }
    *out += "\nWhere\n";
    for change in &simulation.changes {
        *out += &format!("  {}\n", text::one_line(change));
    }
    if let Some(branch) = &place.branch {
        *out += &format!("  branch {}\n", text::one_line(branch));
    }
    *out += &format!("  works in {}\n", text::one_line(&place.execution_root));
    *out += match simulation.confine {
        ConfineWhen::Auto => {
            "  confined where this machine can: `onloop doctor confine` tries it\n"
        }
        ConfineWhen::On => "  confined; where that cannot be done, nothing is started\n",
        ConfineWhen::Off => "  not confined: agent, checks and setup may do what you may do\n",
    };
}

fn agents(simulation: &Simulation, out: &mut String) {
    agent(&simulation.agent, "Agent", out);
    for successor in &simulation.successors {
        agent(successor, "Takes over where those before are rate-limited", out);
    }
}

fn agent(agent: &SimulatedAgent, title: &str, out: &mut String) {
    *out += &format!("\n{title}: {}\n", text::one_line(&agent.name));
    if agent.is_found == Some(false) {
        *out += "  it is not on PATH\n";
    }
    if let Some(command) = &agent.command {
        *out += &indented(&line(command));
    }
}

fn setup(simulation: &Simulation, out: &mut String) {
    let lines: &[String] = if simulation.sets_up { &simulation.run.settings.setup } else { &[] };
    if lines.is_empty() && simulation.copied.is_empty() {
        return;
    }
    *out += "\nBefore the first step\n";
    for file in simulation.copied.iter().take(limits::SETUP_FILES_NAMED) {
        *out += &format!("  copy {}\n", text::one_line(file));
    }
    let more = simulation.copied.len().saturating_sub(limits::SETUP_FILES_NAMED);
    if more > 0 {
        *out += &format!("  copy {}\n", text::counted(more as u64, "further file"));
    }
    for line in lines {
        *out += &format!("  run  {}\n", text::printable(line));
    }
}

/// Which steps can run at the same time; nothing where no two can.
fn graph(simulation: &Simulation, out: &mut String) {
    let run = &simulation.run;
    let Some(groups) = parallel_groups(run) else { return };
    if !matches!(run.place.executor_mode.as_str(), "" | "worktree") {
        *out += "\nOne step at a time, because the run has no worktree of its own\n";
        return;
    }
    let most = run.settings.max_parallel;
    *out += &format!(
        "\nAt most {most} steps at the same time, each when the steps that it needs are done\n"
    );
    for group in groups {
        for number in group {
            let after = run.step(number).and_then(|record| after_steps(run, record));
            let line = format!("  Step {number} {}", after.as_deref().unwrap_or("at once"));
            *out += &(text::wrapped(&line, COLUMNS, 4) + "\n");
        }
    }
}

fn happens(simulation: &Simulation, event: &SimulatedEvent, out: &mut String) {
    let record = |step: u32| simulation.run.step(step).expect("events name steps that exist");
    match event {
        SimulatedEvent::Act { step } => acts(simulation, record(*step), out),
        SimulatedEvent::Verify { step } => {
            for check in &record(*step).step.checks {
                *out += &checked(check);
            }
        }
        SimulatedEvent::Look { prompt, .. } => {
            *out += &format!("    a person looks: {}\n", text::one_line(prompt));
        }
        SimulatedEvent::Review { step } => {
            let of = step.map_or("the whole work".to_owned(), |step| format!("up to step {step}"));
            *out += &format!("    review of {of}\n");
            if let Some(command) = &simulation.reviewer {
                *out += &format!("      {}\n", text::printable(&line(command)));
            }
        }
        SimulatedEvent::Approve { reason, .. } => {
            let why = match reason {
                AutomaticReason::GateAuto => "the file says `gate: auto`",
                AutomaticReason::AutoApprove => "`auto_approve`, and the risk is not high",
            };
            *out += &format!("    gate: approves itself ({why})\n");
        }
        SimulatedEvent::Decide { reason, .. } => {
            let why = match reason {
                HumanReason::Asked => "",
                HumanReason::HighRisk => " (the risk is high)",
                HumanReason::Sensitive => " (the step is about security)",
                HumanReason::Unchecked => " (no check verifies the step)",
            };
            *out += &format!("    gate: a person decides{why}\n");
        }
        SimulatedEvent::Repeat => {
            let run = &simulation.run;
            let repeated = |record: &StepRecord| {
                let StepRecord { step, .. } = record;
                step.checks.iter().filter(|check| run.is_repeated(step.number, check)).count()
            };
            let count: usize = run.steps.iter().map(repeated).sum();
            *out += &format!(
                "  All steps\n    {} by a machine, once more\n",
                text::counted(count as u64, "check")
            );
        }
        SimulatedEvent::Stop { step, bounds } => {
            let names: Vec<String> =
                bounds.iter().map(|bound| format!("{} is {}", bound.name, bound.limit)).collect();
            *out += &format!("  Stops before step {step}: {}\n", names.join(", "));
        }
    }
}

fn acts(simulation: &Simulation, record: &StepRecord, out: &mut String) {
    let step = &record.step;
    let name = text::ellipsis(&text::one_line(&step.name), limits::STEP_NAME_BYTES);
    let attempts = text::counted(u64::from(record.limit()), "attempt");
    *out += &format!("  Step {}: {name} (at most {attempts})\n", step.number);
    *out += &match (&step.script, simulation.agent.name.as_str()) {
        (Some(script), "script") => text::printable(script.text.trim_end())
            .lines()
            .map(|line| format!("    | {line}\n"))
            .collect(),
        (None, "script") => "    no script: its checks decide\n".to_owned(),
        (Some(_) | None, name) => format!("    agent: {}\n", text::one_line(name)),
    };
}

fn checked(check: &Check) -> String {
    let (what, foreign) = match check {
        Check::Shell(shell) => match shell.expect {
            Expectation::Pass => ("verify", shell.command.clone()),
            Expectation::Fail => ("verify that this fails", shell.command.clone()),
        },
        Check::Browser { url, check } => ("page", format!("{url}: {check}")),
        // It comes as a event of its own.
        Check::HumanReview { .. } => return String::new(),
        Check::Artifact { path, assertion } => (
            "file",
            match assertion {
                Assertion::Exists => format!("{path} exists"),
                Assertion::Contains(text) => format!("{path} contains {text:?}"),
                Assertion::MatchesGlob(glob) => format!("{path} holds {glob}"),
            },
        ),
    };
    let shown = text::printable(foreign.trim_end());
    match shown.contains('\n') {
        false => format!("    {what}: {shown}\n"),
        true => {
            let lines = shown.lines().map(|line| format!("      | {line}\n"));
            format!("    {what}:\n{}", lines.collect::<String>())
        }
    }
}

fn at_most(simulation: &Simulation, out: &mut String) {
    let (most, budgets) = (&simulation.at_most, &simulation.run.settings.budgets);
    *out += "\nAt most\n";
    *out += &format!("  {}\n", text::counted(most.attempts, "attempt"));
    let minutes = most.work_ms.div_ceil(60_000);
    *out += &format!("  {} of work by agents and checks\n", text::span(minutes * 60_000));
    if let Some(minutes) = budgets.elapsed_minutes {
        *out += &format!("  no attempt begins after {}\n", text::counted(minutes, "minute"));
    }
    *out += &match most.cost {
        Some(cost) => format!("  ${cost}, and what the response under way costs then\n"),
        None => "  money: not bounded (`max_cost_usd` bounds it)\n".to_owned(),
    };
    *out += &match most.tokens {
        Some(count) => {
            format!("  {}, and those of the response under way\n", text::tokens(count))
        }
        None => "  tokens: not bounded (`max_tokens` bounds them)\n".to_owned(),
    };
}
