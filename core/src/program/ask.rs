//! Asking the person at the terminal what only a person may decide.

use super::conduct::Stop;
use super::store::Store;
use super::{FailureKind, Io};
use crate::run::{Decision, Event, Mode, Next, StepRecord};
use crate::text;

/// What came of asking.
pub(super) enum Answer {
    /// The person decided.
    Event(Event),
    /// Nobody is there, or nobody answers sensibly.
    Nobody,
}

/// What a person can say to a yes-or-no question.
enum Reply {
    Yes,
    No,
    Details,
    Unclear,
}

/// Unclear answers after which the run pauses instead of asking on.
const TRIES: usize = 5;

/// Asks about `next`, which must be one of the `Ask…` cases.
pub(super) async fn person(io: &Io, store: &Store, next: &Next) -> Result<Answer, Stop> {
    let terminal = io.start().terminal;
    if !terminal.stdin || !terminal.stderr {
        return Ok(Answer::Nobody);
    }
    let question = format!("{} (yes/no/show-details) ", question(next));
    for _ in 0..TRIES {
        let line = match io.ask(question.as_str()).await {
            Ok(line) => line,
            Err(failure) if failure.kind == FailureKind::Interrupted => {
                return Err(Stop::Interrupted);
            }
            Err(_) => return Ok(Answer::Nobody),
        };
        match understand(&line) {
            Reply::Yes => return Ok(consent(next).map_or(Answer::Nobody, Answer::Event)),
            Reply::No => return Ok(dissent(next).map_or(Answer::Nobody, Answer::Event)),
            Reply::Details => io.note(details(store, next)).await,
            Reply::Unclear => io.note("Please answer yes, no or show-details.").await,
        }
    }
    Ok(Answer::Nobody)
}

fn understand(line: &str) -> Reply {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "approve" | "approved" | "continue" | "ok" => Reply::Yes,
        "n" | "no" | "reject" | "rejected" | "stop" => Reply::No,
        "s" | "d" | "show" | "details" | "show-details" | "show details" => Reply::Details,
        _ => Reply::Unclear,
    }
}

fn question(next: &Next) -> String {
    match next {
        Next::AskGate { step } => format!("Gate reached at Step {step}. Continue?"),
        Next::AskReview { step, prompt } if prompt.is_empty() => {
            format!("Step {step} needs a human review. Continue?")
        }
        Next::AskReview { step, prompt } => {
            format!("Step {step} needs a human review: {prompt}\nContinue?")
        }
        Next::AskVerdict { step: Some(step) } => {
            format!("The review before the gate of Step {step} holds the run up. Continue anyway?")
        }
        Next::AskVerdict { step: None } => {
            "The final review holds the run up. Continue anyway?".to_owned()
        }
        Next::AskInterrupted { step } => format!(
            "Step {step} was in progress when the session ended, and no check can tell how far \
             it got.\nTake it as done?"
        ),
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Blocked(_)
        | Next::Finished => "Continue?".to_owned(),
    }
}

/// What the run waits for, on one line for the record.
pub(super) fn reason(next: &Next) -> String {
    match next {
        Next::AskGate { step } => format!("the gate of step {step} needs a human decision"),
        Next::AskReview { step, .. } => format!("step {step} needs a human review"),
        Next::AskVerdict { .. } => "a review holds the run up".to_owned(),
        Next::AskInterrupted { step } => {
            format!("step {step} was interrupted and no check can tell how far it got")
        }
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Blocked(_)
        | Next::Finished => "a person is needed".to_owned(),
    }
}

fn consent(next: &Next) -> Option<Event> {
    let approved = |step: &u32| {
        Some(Event::GateDecided { step: *step, decision: Decision::Approved, mode: Mode::Human })
    };
    match next {
        Next::AskGate { step } | Next::AskReview { step, .. } => approved(step),
        Next::AskVerdict { .. } => Some(Event::VerdictAccepted),
        Next::AskInterrupted { step } => Some(Event::StepActed { step: *step }),
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Blocked(_)
        | Next::Finished => None,
    }
}

/// `None`: the run waits.
fn dissent(next: &Next) -> Option<Event> {
    let rejected = |step: &u32| {
        Some(Event::GateDecided { step: *step, decision: Decision::Rejected, mode: Mode::Human })
    };
    match next {
        Next::AskGate { step } | Next::AskReview { step, .. } => rejected(step),
        Next::AskInterrupted { step } => Some(Event::StepStarted { step: *step }),
        Next::AskVerdict { .. }
        | Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Blocked(_)
        | Next::Finished => None,
    }
}

fn details(store: &Store, next: &Next) -> String {
    let run = store.run();
    let mut out = String::new();
    if let Some(standing) = &run.reviews.standing {
        out += &format!("Review: {}\n{}\n", standing.verdict.words(), standing.findings);
    }
    let step = match next {
        Next::AskGate { step }
        | Next::AskReview { step, .. }
        | Next::AskInterrupted { step }
        | Next::AskVerdict { step: Some(step) } => run.step(*step),
        Next::AskVerdict { step: None }
        | Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Blocked(_)
        | Next::Finished => None,
    };
    if let Some(record) = step {
        out += &step_details(store, record);
    }
    out += &format!("Report: {}\n", store.paths().report());
    text::printable(&out)
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
