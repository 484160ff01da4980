//! The final summary and the live step lines.

use super::event::{GateDecision, Mode};
use super::record::*;
use super::simulated::after_steps;
use super::tests_passed::tests_passed;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Where a summary is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Platform {
    /// A Markdown table, as Claude Code shows it.
    Claude,
    /// A compact list; wide tables do not fit there.
    Codex,
    /// A Markdown table, as Cline shows it.
    Cline,
}

/// The symbol and the word for where a step stands; an approval beats the status.
pub fn symbol_and_word(run: &Run, record: &StepRecord) -> (&'static str, &'static str) {
    let is_checked = run.is_checked(record);
    if let Some(gate) = record.gate {
        return match (gate.decision, gate.mode) {
            (GateDecision::Approved, Mode::Auto) if is_checked => ("⚡", "Auto-approved"),
            (GateDecision::Approved, Mode::Auto) => ("⚡", "Auto-approved, unchecked"),
            (GateDecision::Approved, Mode::Human) => ("✓", "Approved"),
            (GateDecision::Rejected, Mode::Auto | Mode::Human) => ("✗", "Rejected"),
        };
    }
    match &record.status {
        StepStatus::Pending if run.has_at_work(record) => ("→", "Running"),
        StepStatus::Pending if run.leaves_at_work(record) => ("→", "Running or ready to merge"),
        StepStatus::Pending => ("·", "Pending"),
        StepStatus::InProgress(_) if run.status != RunStatus::Running => ("■", "Interrupted"),
        StepStatus::InProgress(_) => ("→", "Running"),
        StepStatus::Done if run.waits_at_gate(record) => ("⏸", "Waiting for you"),
        StepStatus::Done if is_checked => ("✓", "Done"),
        StepStatus::Done => ("○", "Done, unchecked"),
        StepStatus::Failed { .. } => ("✗", "Failed"),
        StepStatus::Blocked(BlockReason::HumanReview { .. }) => ("⏸", "Waiting for you"),
        StepStatus::Blocked(_) => ("✗", "Blocked"),
    }
}

/// The final summary as `platform` shows it, ending with a line break.
pub fn render_summary(run: &Run, platform: Platform) -> String {
    match platform {
        Platform::Codex => render_list(run),
        Platform::Claude | Platform::Cline => render_table(run),
    }
}

fn render_list(run: &Run) -> String {
    let mut out = String::from("Execution Summary\n\n");
    for record in &run.steps {
        let (symbol, word) = symbol_and_word(run, record);
        let mut attempts = text::counted(u64::from(record.attempts), "attempt");
        // The reason for a blocked step names the limit, which counts anew after a resume.
        if record.uncounted > 0 && matches!(record.status, StepStatus::Blocked(_)) {
            attempts += &format!(", {} counted", record.counted_attempts());
        }
        let details = [Some(attempts), tests_line(record)];
        let details: Vec<String> = details.into_iter().flatten().collect();
        let name = text::one_line(&record.step.name);
        let (number, details) = (record.step.number, details.join(", "));
        out += &format!("{symbol} Step {number}: {name} - {word} ({details})\n");
    }
    out
}

fn render_table(run: &Run) -> String {
    let mut out = String::from(
        "| Step | Name | Status | Iterations |\n|------|------|--------|------------|\n",
    );
    for record in &run.steps {
        let (symbol, word) = symbol_and_word(run, record);
        let attempts = match record.gate {
            Some(_) => "-".to_owned(),
            None => record.attempts.to_string(),
        };
        let (number, name) = (record.step.number, table_cell(&record.step.name));
        let tests = tests_line(record).map_or_else(String::new, |tests| format!(" ({tests})"));
        out += &format!("| {number} | {name} | {symbol} {word}{tests} | {attempts} |\n");
    }
    out
}

/// `12 tests passed`, where the checks of a step that is done say so.
fn tests_line(record: &StepRecord) -> Option<String> {
    tests_passed(record).map(|count| format!("{} passed", text::counted(count, "test")))
}

/// Text for a cell of a Markdown table.
pub(super) fn table_cell(text: &str) -> String {
    text::one_line(text).replace('\\', "\\\\").replace('|', "\\|")
}

/// What agents used and how many of their calls were refused, on one line. `None` where no agent
/// has said anything about that.
pub fn usage_line(run: &Run) -> Option<String> {
    let (tokens, cost) = (run.usage.tokens.known(), run.usage.cost.known());
    if run.usage.agents == 0 || (run.turns.is_empty() && tokens.is_none() && cost.is_none()) {
        return None;
    }
    let tokens = tokens.map_or("tokens not known".to_owned(), text::tokens);
    let cost = cost.map_or("cost not known".to_owned(), |cost| format!("${cost}"));
    let denied = run.turns.iter().fold(0u64, |sum, turn| sum.saturating_add(turn.denied));
    let denied = match denied {
        0 => String::new(),
        count => format!(", {} refused", text::counted(count, "call")),
    };
    Some(format!("{tokens}, {cost}{denied}"))
}

/// The live line that says where a step stands now.
pub fn step_line(run: &Run, record: &StepRecord) -> String {
    let number = record.step.number;
    let name = shown_name(record);
    let attempts = record.attempts;
    match &record.status {
        StepStatus::Pending if run.has_at_work(record) => format!("→ Step {number}: {name}"),
        StepStatus::Pending if run.leaves_at_work(record) => {
            format!("→ Step {number}: {name} (running or ready to merge)")
        }
        StepStatus::Pending => format!("· Step {number}: {name}"),
        StepStatus::InProgress(_) if run.status != RunStatus::Running => {
            format!("■ Step {number}: {name} (interrupted)")
        }
        StepStatus::InProgress(_) if attempts > 1 => {
            format!("↻ Step {number}: {name} (attempt {})", record.attempt_of_limit())
        }
        StepStatus::InProgress(_) => format!("→ Step {number}: {name}"),
        StepStatus::Done => match record.gate {
            Some(GateRecord { decision: GateDecision::Approved, mode: Mode::Auto }) => {
                let unchecked = if run.is_checked(record) { "" } else { ", unchecked" };
                format!("⚡ Step {number}: {name} (auto-approved{unchecked})")
            }
            Some(GateRecord { decision: GateDecision::Rejected, .. }) => {
                format!("✗ Step {number}: {name} (rejected)")
            }
            Some(_) | None => {
                let attempts = (attempts > 1).then(|| text::counted(attempts.into(), "attempt"));
                let unchecked = (!run.is_checked(record)).then(|| "Done, unchecked".to_owned());
                let symbol = if unchecked.is_some() { "○" } else { "✓" };
                let details = [unchecked, attempts, tests_line(record)];
                let details: Vec<String> = details.into_iter().flatten().collect();
                match details.is_empty() {
                    true => format!("{symbol} Step {number}: {name}"),
                    false => format!("{symbol} Step {number}: {name} ({})", details.join(", ")),
                }
            }
        },
        StepStatus::Failed { reason } => format!("✗ Step {number}: {name} ({})", kind_of(reason)),
        StepStatus::Blocked(BlockReason::Other(reason)) => {
            format!("✗ Step {number}: {name} ({})", kind_of(reason))
        }
        StepStatus::Blocked(BlockReason::HumanReview { .. }) => {
            format!("⏸ Step {number}: {name} (waits for you)")
        }
        StepStatus::Blocked(reason @ BlockReason::ReviewRejected) => {
            format!("✗ Step {number}: {name} ({})", text::ellipsis(&reason.text(), 200))
        }
    }
}

/// The part of a reason before its particulars: `verify failed: exit code 1` is a
/// `verify failed`.
fn kind_of(reason: &str) -> String {
    let kind = reason.split_once(": ").map_or(reason, |(kind, _)| kind);
    text::ellipsis(kind, 200)
}

/// The whole list of steps, as verbose progress prints it at each transition.
pub fn step_list(run: &Run) -> String {
    let mut out = String::new();
    for record in &run.steps {
        let looping = record.limit() > 1;
        let line = match &record.status {
            StepStatus::InProgress(_) if looping && run.status == RunStatus::Running => format!(
                "→ Step {}: {} (attempt {})",
                record.step.number,
                shown_name(record),
                record.attempt_of_limit()
            ),
            // The live line before says that its checks have passed.
            StepStatus::Done if run.waits_at_gate(record) => {
                format!("⏸ Step {}: {} (waits for you)", record.step.number, shown_name(record))
            }
            StepStatus::InProgress(_)
            | StepStatus::Pending
            | StepStatus::Done
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(_) => step_line(run, record),
        };
        let after =
            after_steps(run, record).map_or_else(String::new, |after| format!(" ({after})"));
        out += &format!("  {line}{after}\n");
    }
    out
}

/// The name as a live line shows it; the record and the report have all of it.
fn shown_name(record: &StepRecord) -> String {
    text::ellipsis(&text::one_line(&record.step.name), limits::STEP_NAME_BYTES)
}
