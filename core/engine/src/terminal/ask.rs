//! Asking the person at the terminal what only a person may decide.

use crate::run::advice::{blocking_verdict, budget_words};
use crate::run::decider::{name_to_type, names_step};
use crate::run::gate::{Change, Form, facts, patch};
use crate::state::store::Store;
use crate::{notify, terminal::pager};
use onloop_effect::{Failure, Io};
use onloop_run::{BlockingReview, Event, GateDecision, Mode, Question, Run, StepRecord};
use onloop_syntax::text;
use onloop_workflow::Budgets;

/// What came of asking a person.
#[allow(clippy::large_enum_variant, reason = "an answer is taken apart where it arrives")]
pub enum Consulted {
    /// The person decided.
    Decided(Event),
    /// There is no terminal, or no answer was understood.
    Nobody,
    /// The decision came through another channel while the question was open.
    Settled,
    /// The person pressed Ctrl-C.
    Interrupted,
}

impl Consulted {
    fn unanswered(failure: &Failure) -> Consulted {
        match failure.is_interrupted() {
            true => Consulted::Interrupted,
            false => Consulted::Nobody,
        }
    }
}

/// What a person can say to a yes-or-no question.
enum Understood {
    Yes,
    No,
    Details,
    Unclear,
}

/// Unclear answers after which the run pauses instead of asking on.
const TRIES: usize = 5;

/// Whether a person can be asked.
pub fn is_attended(io: &Io) -> bool {
    let terminal = io.start().terminal;
    terminal.stdin && terminal.stderr
}

/// Asks the person at the terminal, if there is one.
pub async fn person(io: &Io, store: &Store, question: &Question) -> Consulted {
    if !is_attended(io) {
        return Consulted::Nobody;
    }
    tell(io, store, question).await;
    notify::deliver(io, store).await;
    if let Some(last) = run_review(store.run(), question) {
        let findings = text::printable(last.findings.trim());
        io.note(format!("\nReview: {}\n{findings}", last.verdict.as_str())).await;
    }
    let text = words(store.run(), question);
    let mut unclear = 0;
    while unclear < TRIES {
        let choices = ["yes", "no", "show-details"];
        let line = match io.ask_choice_unless(&text, &choices, store.watched_ledger()).await {
            Ok(Some(line)) => line,
            Ok(None) => return Consulted::Settled,
            Err(failure) => return Consulted::unanswered(&failure),
        };
        match understand(&line) {
            Understood::Yes => match confirm(io, store, question).await {
                Ok(true) => return Consulted::Decided(consent(question)),
                Ok(false) => unclear += 1,
                Err(unanswered) => return unanswered,
            },
            Understood::No => match dissent(io, store, question).await {
                Ok(Some(event)) => return Consulted::Decided(event),
                Ok(None) => {}
                Err(unanswered) => return unanswered,
            },
            Understood::Details => show(io, store, Some(question)).await,
            Understood::Unclear => {
                unclear += 1;
                io.note("Please answer yes, no or show-details.").await;
            }
        }
    }
    io.note(format!("No clear answer {TRIES} times; the run waits.")).await;
    Consulted::Nobody
}

/// Whether a person who says yes means it: where the risk is high, a word that is typed without
/// looking approves nothing.
async fn confirm(io: &Io, store: &Store, question: &Question) -> Result<bool, Consulted> {
    let run = store.run();
    let (Question::Gate { step } | Question::Review { step, .. }) = question else {
        return Ok(true);
    };
    let Some(name) = name_to_type(io, run, *step) else { return Ok(true) };
    io.note(format!("The risk is high. To approve step {step}, type its name: {name}")).await;
    let typed = io.ask_choice_unless("Name of the step: ", &[], store.watched_ledger()).await;
    let typed = typed.map_err(|failure| Consulted::unanswered(&failure))?;
    let typed = typed.ok_or(Consulted::Settled)?;
    let is_meant = names_step(io, run, *step, &typed);
    if !is_meant {
        io.note(format!("That is not the name of step {step}; nothing is approved.")).await;
    }
    Ok(is_meant)
}

/// What the review has found that was made for this decision.
fn run_review<'r>(run: &'r Run, question: &Question) -> Option<&'r BlockingReview> {
    let last = run.reviews.last.as_ref()?;
    let of_question = match question {
        Question::Verdict { step } => last.step == *step,
        // Of a step it is among the facts.
        Question::Gate { .. }
        | Question::Review { .. }
        | Question::Interrupted { .. }
        | Question::Budget { .. } => false,
    };
    of_question.then_some(last)
}

fn understand(line: &str) -> Understood {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "approve" | "approved" | "continue" | "ok" => Understood::Yes,
        "n" | "no" | "reject" | "rejected" | "stop" => Understood::No,
        "s" | "d" | "show" | "details" | "show-details" | "show details" => Understood::Details,
        _ => Understood::Unclear,
    }
}

fn words(run: &Run, question: &Question) -> String {
    match question {
        Question::Gate { step } => format!("Gate reached at Step {step}. Continue?"),
        Question::Review { step, prompt } if prompt.is_empty() => {
            format!("Step {step} needs a human review. Continue?")
        }
        Question::Review { step, prompt } => {
            let review = format!("Step {step} needs a human review: {prompt}");
            format!("{}\nContinue?", text::wrapped(&review, text::COLUMNS, 2))
        }
        Question::Verdict { step } => {
            let review = match step {
                Some(step) => format!("Review before the gate of step {step}"),
                None => "Final review".to_owned(),
            };
            format!("{review}: {}. Continue anyway?", blocking_verdict(run).problem())
        }
        Question::Interrupted { step } => format!(
            "Step {step} was in progress when the session ended, and no check can tell how far \
             it got.\nTake it as done?"
        ),
        Question::Budget { step } => format!(
            "{} before Step {step}.\nLift all bounds of this run and continue?",
            budget_words(run)
        ),
    }
}

fn decided(step: u32, decision: GateDecision) -> Event {
    Event::GateDecided { step, decision, mode: Mode::Human }
}

fn consent(question: &Question) -> Event {
    match question {
        Question::Gate { step } | Question::Review { step, .. } => {
            decided(*step, GateDecision::Approved)
        }
        Question::Verdict { .. } => Event::VerdictAccepted,
        Question::Interrupted { step } => Event::StepActed { step: *step },
        Question::Budget { .. } => Event::BudgetsChanged(Budgets::default()),
    }
}

/// What a no means. `Ok(None)`: nothing is decided, and the question comes again.
async fn dissent(io: &Io, store: &Store, question: &Question) -> Result<Option<Event>, Consulted> {
    match question {
        Question::Gate { step } | Question::Review { step, .. } => reject(io, store, *step).await,
        Question::Interrupted { step } => Ok(Some(Event::StepStarted { step: *step })),
        Question::Verdict { .. } | Question::Budget { .. } => Err(Consulted::Nobody),
    }
}

/// A rejection ends the run, so that the person is asked first whether the step can be done otherwise.
async fn reject(io: &Io, store: &Store, step: u32) -> Result<Option<Event>, Consulted> {
    let rejected = decided(step, GateDecision::Rejected);
    if !store.run().may_redo(step) {
        return Ok(Some(rejected));
    }
    let asked =
        format!("To request changes to step {step}, type them. To end the run, type `end`: ");
    let typed = io.ask_choice_unless(&asked, &[], store.watched_ledger()).await;
    let typed = typed.map_err(|failure| Consulted::unanswered(&failure))?;
    let typed = text::one_line(&typed.ok_or(Consulted::Settled)?);
    match typed.trim() {
        "" => {
            io.note("Nothing is decided.").await;
            Ok(None)
        }
        "end" => Ok(Some(rejected)),
        reason => Ok(Some(Event::StepRedone { step, reason: reason.to_owned() })),
    }
}

/// What the person should know before the question.
async fn tell(io: &Io, store: &Store, question: &Question) {
    let facts = match question {
        Question::Gate { step } | Question::Review { step, .. } => {
            facts(io, store.run(), *step).await
        }
        Question::Verdict { .. } | Question::Interrupted { .. } | Question::Budget { .. } => None,
    };
    match facts {
        Some(facts) => {
            let report = text::one_line(&store.paths().report());
            io.note(format!("\n{facts}  Report: {report}")).await;
        }
        None => {
            let warnings = store.run().warning_lines(None);
            if !warnings.is_empty() {
                let lines = warnings.iter().map(|line| text::wrapped(&format!("⚠ {line}"), 80, 2));
                io.note(format!("\n{}", lines.collect::<Vec<_>>().join("\n"))).await;
            }
        }
    }
}

/// Shows what a person may want to know about a question, page by page; without one, everything
/// that the run has changed.
pub async fn show(io: &Io, store: &Store, question: Option<&Question>) {
    let shown = match question {
        Some(question) => details(io, store, question).await,
        None => changes(io, store.run()).await,
    };
    pager::page(io, store, &shown).await;
}

/// Everything that a run has changed.
async fn changes(io: &Io, run: &Run) -> String {
    let Some((from, to)) = run.checkpoints_around(None) else {
        return "Nothing is known of what changed: the work is in no repository.\n".to_owned();
    };
    let shown = match Change::between(io, run, (from, to)).await {
        Ok(Some(change)) => change.show(io, Form::Patch).await,
        Ok(None) => return "No file changed since the run began.\n".to_owned(),
        Err(failure) => Err(failure),
    };
    match shown {
        Ok(patch) => text::colored_patch(&patch),
        Err(failure) => {
            format!("The changes cannot be shown: {}\n", text::one_line(&failure.message))
        }
    }
}

async fn details(io: &Io, store: &Store, question: &Question) -> String {
    let run = store.run();
    let mut out = String::new();
    if let Some(review) = &run.reviews.blocking {
        out += &format!("Review: {}\n{}\n", review.verdict.as_str(), review.findings);
    }
    let step = match question {
        Question::Gate { step }
        | Question::Review { step, .. }
        | Question::Interrupted { step }
        | Question::Budget { step } => Some(*step),
        Question::Verdict { step } => *step,
    };
    if let Some(record) = step.and_then(|step| run.step(step)) {
        out += &step_details(store, record);
    }
    out = text::printable(&out);
    match patch(io, run).await {
        Ok(patch) if patch.is_empty() => {}
        Ok(patch) => out += &format!("Changes:\n{}\n", text::colored_patch(&patch)),
        Err(failure) => {
            let why = text::one_line(&failure.message);
            out += &format!("The changes cannot be shown: {why}\n");
        }
    }
    out + &format!("Report: {}\n", text::one_line(&store.paths().report()))
}

fn step_details(store: &Store, record: &StepRecord) -> String {
    let number = record.step.number;
    let mut out = format!("Step {number}: {}\n{}\n", record.step.name, record.step.action);
    for result in &record.results {
        for text in [&result.stdout, &result.stderr] {
            if !text.is_empty() {
                out += &format!("{}\n", text.trim_end());
            }
        }
    }
    let log = store.paths().log(&format!("{number}-{}", record.attempts));
    out += &format!("Log of the attempt, if the agent has one: {log}\n");
    out
}
