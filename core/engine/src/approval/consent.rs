//! What a person sees of a run of somebody else before onloop may run anything of it.

use crate::error::CommandError;
use crate::terminal::ask::is_attended;
use onloop_effect::Io;
use onloop_run::{Run, StepRecord};
use onloop_syntax::text;
use onloop_workflow::Check;

/// What a person is asked about a run that is not ours yet.
pub struct ConsentQuestion {
    /// The question, without the choices.
    pub words: &'static str,
    /// What happens on yes, as a participle.
    pub done: &'static str,
    /// The command that does it unasked.
    pub command: String,
}

/// Asks the person at the terminal, unless `yes` says that they have agreed.
///
/// # Errors
///
/// The person has not agreed.
pub async fn consent(io: &Io, yes: bool, question: &ConsentQuestion) -> Result<(), CommandError> {
    if yes {
        return Ok(());
    }
    let ConsentQuestion { words, done, command } = question;
    if !is_attended(io) {
        return Err(CommandError::paused(format!("it was not {done}; nothing was changed"))
            .because("a person has to agree, and there is no terminal to ask at")
            .fix_by("agree without being asked", command));
    }
    match io.ask_choice(words, &["yes", "no"]).await.as_deref() {
        Ok(answer) if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) => Ok(()),
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Ok(_) | Err(_) => {
            Err(CommandError::failed(format!("it was not {done}; nothing was changed")))
        }
    }
}

/// What a run would run, for a person.
pub fn would_run(run: &Run) -> String {
    let mut out = String::new();
    out += &format!("It would run, in {}:\n", text::one_line(&run.place.execution_root));
    for line in &run.settings.setup {
        out += &indented("  before the first step", line);
    }
    for record in &run.steps {
        out += &step(record);
    }
    if !run.settings.allow.is_empty() {
        out += "It would let its agent run, unasked:\n";
        for line in &run.settings.allow {
            out += &format!("  {}\n", text::one_line(line));
        }
    }
    out
}

fn step(record: &StepRecord) -> String {
    let step = &record.step;
    let name = text::one_line(&step.name);
    let mut out = format!("  Step {} ({}): {name}\n", step.number, record.status.as_str());
    if let Some(script) = &step.script {
        out += &indented(&format!("{} script", script.shell.as_str()), &script.text);
    } else if !step.action.trim().is_empty() {
        out += &indented("for the agent", &step.action);
    }
    for check in &step.checks {
        out += &match check {
            Check::Shell(shell) => indented("verify", &shell.command),
            Check::Browser { url, check } => indented("browser", &format!("{url}: {check}")),
            Check::HumanReview { prompt } => indented("a person reviews", prompt),
            Check::Artifact { path, .. } => indented("file", path),
        };
    }
    if let Some(gate) = step.gate {
        out += &format!("    gate: {}\n", gate.as_str());
    }
    out
}

/// Foreign text, every line of it, behind what it is.
fn indented(what: &str, foreign: &str) -> String {
    let text = text::printable(foreign.trim_end());
    match text.contains('\n') {
        false => format!("    {what}: {text}\n"),
        true => {
            let lines = text.lines().map(|line| format!("      | {line}\n"));
            format!("    {what}:\n{}", lines.collect::<String>())
        }
    }
}
