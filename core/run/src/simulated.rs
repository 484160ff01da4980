//! A run in a simulation: what happens when every attempt succeeds at once and every person agrees.

use super::budget::{Exceeded, exceeded};
use super::event::*;
use super::gate::{AutomaticReason, GateRule, HumanReason, gate_rule};
use super::next::{Next, Question};
use super::record::{Run, StepRecord};
use super::verdict::Verdict;
use onloop_syntax::money::Money;
use onloop_workflow::Check;
use onloop_workflow::graph::{is_sequence, step_groups, step_list};

/// Something that happens in a run, in the order in which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulatedEvent {
    /// The agent acts.
    Act {
        /// Number of the step, from 1.
        step: u32,
    },
    /// The step's checks are evaluated.
    Verify {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A person looks at the step's result.
    Look {
        /// Number of the step, from 1.
        step: u32,
        /// At what.
        prompt: String,
    },
    /// The review agent looks.
    Review {
        /// The step whose gate waits; `None`: the whole work.
        step: Option<u32>,
    },
    /// The gate approves itself.
    Approve {
        /// Number of the step, from 1.
        step: u32,
        /// Why no person is asked.
        reason: AutomaticReason,
    },
    /// A person decides the gate.
    Decide {
        /// Number of the step, from 1.
        step: u32,
        /// Why the rules do not.
        reason: HumanReason,
    },
    /// The machine checks of all steps are repeated.
    Repeat,
    /// A bound stops the run before this step; a person may raise it.
    Stop {
        /// The step that does not start.
        step: u32,
        /// The bounds.
        bounds: Vec<Exceeded>,
    },
}

/// What pages are looked at with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChecks {
    /// A command.
    Command,
    /// A person.
    Person,
}

/// Everything that happens from now on until `run` is completed, or a bound stops it. An agent
/// counts where `counts_agents`, and then uses nothing.
pub fn simulated_events(run: &Run, pages: PageChecks, counts_agents: bool) -> Vec<SimulatedEvent> {
    let mut run = run.clone();
    let mut moments = Vec::new();
    // Five events finish a step; more mean an endless loop.
    for _ in 0..run.steps.len() * 8 + 8 {
        let Some((moment, events)) = turn(&run, pages, counts_agents) else { break };
        moments.extend(moment);
        let at = run.last_update;
        if events.is_empty() || events.iter().any(|event| run.apply(at, event).is_err()) {
            break;
        }
    }
    moments
}

/// What happens now, and the events that it leaves behind; none where the run stops.
fn turn(
    run: &Run,
    pages: PageChecks,
    counts: bool,
) -> Option<(Option<SimulatedEvent>, Vec<Event>)> {
    let gate = |step, decision, mode| Event::GateDecided { step, decision, mode };
    let approved = GateDecision::Approved;
    Some(match run.next() {
        Next::Start { step, .. } => (None, vec![Event::StepStarted { step }]),
        Next::Act { step } => {
            let usage = Usage { agents: 1, cost: Amount::Known(Money::ZERO), ..Usage::default() };
            let mut events = vec![Event::StepActed { step }];
            if counts {
                events.insert(0, Event::UsageReported(usage));
            }
            (Some(SimulatedEvent::Act { step }), events)
        }
        Next::Verify { step } => {
            let results = passing(run, step, pages);
            (Some(SimulatedEvent::Verify { step }), vec![Event::StepVerified { step, results }])
        }
        Next::Approve { step, reason } => {
            (Some(SimulatedEvent::Approve { step, reason }), vec![gate(step, approved, Mode::Auto)])
        }
        Next::Review { step } => {
            let (verdict, findings) = (Verdict::Ready, String::new());
            let event = Event::ReviewFinished { step, verdict, findings, base: None };
            (Some(SimulatedEvent::Review { step }), vec![event])
        }
        Next::Ask(Question::Gate { step }) => {
            let GateRule::Human(reason) = gate_rule(run, run.step(step)?) else { return None };
            (Some(SimulatedEvent::Decide { step, reason }), vec![gate(step, approved, Mode::Human)])
        }
        Next::Ask(Question::Review { step, prompt }) => {
            (Some(SimulatedEvent::Look { step, prompt }), vec![gate(step, approved, Mode::Human)])
        }
        Next::Ask(Question::Budget { step }) => {
            (Some(SimulatedEvent::Stop { step, bounds: exceeded(run) }), Vec::new())
        }
        Next::Repeat => {
            let (failures, warnings) = (Vec::new(), Vec::new());
            let clean = run.settings.evidence.verify_clean;
            let event = Event::ChecksRepeated { repeated: 0, failures, warnings, clean };
            (Some(SimulatedEvent::Repeat), vec![event])
        }
        Next::Finalize => (None, vec![Event::RunFinalized]),
        // None of these comes of a run in which everything succeeds.
        Next::Ask(Question::Verdict { .. } | Question::Interrupted { .. })
        | Next::Block { .. }
        | Next::Blocked(_)
        | Next::Finished => return None,
    })
}

/// Results with which the step is done, or waits for the person who has to look.
fn passing(run: &Run, step: u32, pages: PageChecks) -> Vec<CheckResult> {
    let checks = run.step(step).map(|record| &record.step.checks);
    let verdict = |check: &Check| match check {
        Check::HumanReview { prompt } => CheckVerdict::NeedsHuman { prompt: prompt.clone() },
        Check::Browser { url, check } if pages == PageChecks::Person => {
            CheckVerdict::NeedsHuman { prompt: format!("{url}: {check}") }
        }
        Check::Shell(_) | Check::Artifact { .. } | Check::Browser { .. } => CheckVerdict::Passed,
    };
    let results = (0..).zip(checks.into_iter().flatten()).map(|(index, check)| CheckResult {
        check: index,
        verdict: verdict(check),
        stdout: String::new(),
        stderr: String::new(),
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    });
    results.collect()
}

/// The numbers of the steps in groups that can run at the same time; `None`: no two can.
pub fn parallel_groups(run: &Run) -> Option<Vec<Vec<u32>>> {
    let steps = || run.steps.iter().map(|record| &record.step);
    let is_parallel = run.settings.max_parallel > 1 && !is_sequence(steps());
    is_parallel.then(|| step_groups(steps()))
}

/// `after steps 2 and 3`: what a step of a graph waits for; `None`: it can begin at once, or the steps
/// are one after the other.
pub fn after_steps(run: &Run, record: &StepRecord) -> Option<String> {
    let needed = record.depends_on();
    let is_graph = !is_sequence(run.steps.iter().map(|record| &record.step));
    (is_graph && !needed.is_empty()).then(|| format!("after {}", step_list(&needed)))
}

/// The most that a run may take, as far as anything bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtMost {
    /// Attempts of all steps.
    pub attempts: u64,
    /// Time in which agents and checks work; a person's time is not part of it.
    pub work_ms: u64,
    /// `None`: nothing bounds it.
    pub cost: Option<Money>,
    /// `None`: nothing bounds it.
    pub tokens: Option<u64>,
}

/// The most that `run` may take, where an attempt may take `agent_ms`, and a check that has no
/// time limit of its own `check_ms`.
pub fn at_most(run: &Run, agent_ms: u64, check_ms: u64) -> AtMost {
    let budgets = &run.settings.budgets;
    let time = |check: &Check| match check {
        Check::Shell(shell) => shell.timeout_ms.unwrap_or(check_ms),
        Check::Browser { .. } => check_ms,
        Check::HumanReview { .. } | Check::Artifact { .. } => 0,
    };
    let (mut attempts, mut work_ms, mut repeated_ms) = (0u64, 0u64, 0u64);
    for record in &run.steps {
        let limit = u64::from(record.limit());
        let checks_ms = record.step.checks.iter().map(time).fold(0, u64::saturating_add);
        attempts = attempts.saturating_add(limit);
        work_ms = work_ms.saturating_add(limit.saturating_mul(agent_ms.saturating_add(checks_ms)));
        let machine =
            record.step.checks.iter().filter(|check| run.is_repeated(record.step.number, check));
        repeated_ms = machine.map(time).fold(repeated_ms, u64::saturating_add);
    }
    if run.settings.options.reverify || run.settings.evidence.verify_clean {
        work_ms = work_ms.saturating_add(repeated_ms);
    }
    let bounds = [budgets.total_attempts, budgets.agents];
    AtMost {
        attempts: bounds.into_iter().flatten().fold(attempts, u64::min),
        work_ms,
        cost: budgets.cost,
        tokens: budgets.tokens,
    }
}
