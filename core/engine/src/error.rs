//! The error of every verb: one value, rendered in one place for every screen.
//!
//! A verb returns a [`CommandError`]; [`exit_of`] prints it and gives its exit code.

use crate::state::store::{Paths, StateHome, StoreError};
use onloop_documents::ledger;
use onloop_effect::{Exit, Failure, FailureFix, Io, ProcessEnd, ProcessStatus, Program, Start};
use onloop_run::{FinishRefusal, Refusal};
use onloop_syntax::limits;
use onloop_syntax::text::{self, COLUMNS};

/// Why a verb did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    kind: ErrorKind,
    /// A full clause in lower case; empty where the person knows, as after Ctrl-C.
    message: String,
    /// What is printed above the message: diagnostics with their source lines.
    findings: Option<Box<str>>,
    /// What the message is about, one item a line.
    items: Vec<String>,
    /// The reason, where it adds something.
    cause: Option<String>,
    /// The ways out, best first.
    hints: Vec<Hint>,
}

/// What kind of error it is. The exit codes are in [`ErrorKind::exit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The work failed, or a verb that drives a run step by step was refused.
    Failed,
    /// The command line or a file is invalid; nothing was changed.
    Usage,
    /// A person has to decide; resumable.
    Paused,
    /// The host or the state of things does not allow it.
    Refused,
    /// A bug in onloop.
    Bug,
    /// The person pressed Ctrl-C.
    Interrupted,
    /// A verb with its own table of exit codes.
    Custom(u8),
}

/// One way out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hint {
    /// An instruction.
    text: String,
    /// The command that carries it out, as a shell reads it.
    command: Option<String>,
}

impl ErrorKind {
    /// The exit code.
    pub fn exit(self) -> Exit {
        match self {
            ErrorKind::Failed => Exit::Failed,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Paused => Exit::Paused,
            ErrorKind::Refused => Exit::Refused,
            ErrorKind::Bug => Exit::Bug,
            ErrorKind::Interrupted => Exit::Interrupted,
            ErrorKind::Custom(code) => Exit::Custom(code),
        }
    }
}

impl CommandError {
    /// An error of `kind`; control characters are taken out of `message`.
    pub fn new(kind: ErrorKind, message: impl AsRef<str>) -> CommandError {
        CommandError {
            kind,
            message: clean(message),
            findings: None,
            items: Vec::new(),
            cause: None,
            hints: Vec::new(),
        }
    }

    /// The work failed.
    pub fn failed(message: impl AsRef<str>) -> CommandError {
        CommandError::new(ErrorKind::Failed, message)
    }

    /// The command line or a file is invalid.
    pub fn usage(message: impl AsRef<str>) -> CommandError {
        CommandError::new(ErrorKind::Usage, message)
    }

    /// A person has to decide.
    pub fn paused(message: impl AsRef<str>) -> CommandError {
        CommandError::new(ErrorKind::Paused, message)
    }

    /// The host or the state of things does not allow it.
    pub fn refused(message: impl AsRef<str>) -> CommandError {
        CommandError::new(ErrorKind::Refused, message)
    }

    /// The person pressed Ctrl-C, and needs to be told nothing.
    pub fn interrupted() -> CommandError {
        CommandError::new(ErrorKind::Interrupted, "")
    }

    /// `failed` with what the process said, if it did not do its work.
    ///
    /// # Errors
    ///
    /// The process failed or was interrupted.
    pub fn unless_done(end: &ProcessEnd, failed: CommandError) -> Result<(), CommandError> {
        match end.status {
            ProcessStatus::Exited(0) => Ok(()),
            ProcessStatus::Interrupted => Err(CommandError::interrupted()),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
                Err(failed.because(end.stderr.text()))
            }
        }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, cause: impl AsRef<str>) -> CommandError {
        self.cause = Some(clean(cause));
        self
    }

    /// Makes `message` the message, and what was the message the first line of its reason.
    #[must_use]
    pub fn context(self, message: impl AsRef<str>) -> CommandError {
        let lines = [Some(self.message).filter(|before| !before.is_empty()), self.cause];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        let cause = (!lines.is_empty()).then(|| lines.join("\n"));
        CommandError { message: clean(message), cause, ..self }
    }

    /// Adds what the message is about, one item a line.
    #[must_use]
    pub fn listing(mut self, items: impl IntoIterator<Item = String>) -> CommandError {
        self.items.extend(items.into_iter().map(clean));
        self
    }

    /// Adds diagnostics as they are printed, which may have styles.
    #[must_use]
    pub fn with_findings(mut self, findings: String) -> CommandError {
        self.findings = Some(findings.into());
        self
    }

    /// Adds an instruction that has no command.
    #[must_use]
    pub fn fix(mut self, instruction: impl AsRef<str>) -> CommandError {
        self.hints.push(Hint { text: clean(instruction), command: None });
        self
    }

    /// Adds an instruction, and the command that carries it out.
    #[must_use]
    pub fn fix_by(
        mut self,
        instruction: impl AsRef<str>,
        command: impl AsRef<str>,
    ) -> CommandError {
        let command = Some(text::typed(command.as_ref()));
        self.hints.push(Hint { text: clean(instruction), command });
        self
    }

    /// The same error of another kind; an interruption stays one.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> CommandError {
        if self.kind != ErrorKind::Interrupted {
            self.kind = kind;
        }
        self
    }

    /// The error as a verb that drives a run step by step has it: its callers know one exit code for
    /// everything that goes wrong.
    #[must_use]
    pub fn step_by_step(self) -> CommandError {
        self.of_kind(ErrorKind::Failed)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The error as people read it; empty where there is nothing to tell.
    pub fn render(&self) -> String {
        if self.message.is_empty() {
            return String::new();
        }
        let mut out = self.findings.as_deref().unwrap_or_default().to_owned();
        out += &labelled("error: ", &self.message);
        for item in &self.items {
            out += &labelled("  ", item);
        }
        if let Some(cause) = &self.cause {
            out += &labelled("  cause: ", cause);
        }
        for Hint { text, command } in &self.hints {
            match command {
                Some(command) => {
                    out += &labelled("  fix: ", &format!("{text}:"));
                    // On a line of its own and never wrapped: it is copied.
                    out += &format!("    {command}\n");
                }
                None => out += &labelled("  fix: ", text),
            }
        }
        out
    }

    /// Prints the error to standard error.
    pub async fn report(&self, io: &Io) -> Exit {
        let text = self.render();
        if !text.is_empty() {
            io.note(text).await;
        }
        self.kind.exit()
    }
}

/// How a program ends that a verb's `result` is the end of; an error is printed.
pub async fn exit_of(io: &Io, result: Result<Exit, CommandError>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) => error.report(io).await,
    }
}

/// A program that is one verb, and prints its error.
pub fn verb_program<F>(start: Start, verb: impl FnOnce(Io) -> F + 'static) -> Program
where
    F: Future<Output = Result<Exit, CommandError>>,
{
    Program::new(start, async move |io: Io| {
        let result = verb(io.clone()).await;
        exit_of(&io, result).await
    })
}

/// Text without control characters and without blank lines at its end.
fn clean(text: impl AsRef<str>) -> String {
    text::printable(text.as_ref()).trim_end().to_owned()
}

/// `text` behind its label, wrapped; further lines are as far to the right as the first.
fn labelled(label: &str, text: &str) -> String {
    let width = label.len();
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = match number {
            0 => format!("{label}{line}"),
            _ => format!("{:width$}{line}", ""),
        };
        out += &text::wrapped(&line, COLUMNS, width);
        out.push('\n');
    }
    out
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> CommandError {
        let kind = match failure.is_interrupted() {
            true => ErrorKind::Interrupted,
            false => ErrorKind::Refused,
        };
        let error = CommandError::new(kind, failure.message);
        match failure.fix.map(|fix| *fix) {
            Some(FailureFix { text, command: Some(command) }) => error.fix_by(text, command),
            Some(FailureFix { text, command: None }) => error.fix(text),
            None => error,
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        match error {
            StoreError::Failed(failure) => failure.into(),
            StoreError::Missing | StoreError::Unreadable(_) | StoreError::Overtaken(_) => {
                CommandError::refused(error.to_string())
            }
            StoreError::Changed { why, saved } => {
                let adopt = format!("onloop adopt {}", text::shell_word(&saved));
                CommandError::refused("something other than onloop changed the ledger of the run")
                    .because(why)
                    .fix_by(
                        "find out who wrote to the state home, then adopt what was saved",
                        adopt,
                    )
            }
        }
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> CommandError {
        let error = CommandError::refused(refusal.to_string());
        match refusal {
            Refusal::Finish(FinishRefusal::Settled { .. }) => {
                error.fix("add `--force` to replace it")
            }
            Refusal::Finish(FinishRefusal::UnderWay { command, .. }) => {
                error.fix_by("finish that first", command)
            }
            Refusal::Finish(
                FinishRefusal::TooEarly { .. }
                | FinishRefusal::Unproven { .. }
                | FinishRefusal::Discarded
                | FinishRefusal::Merged
                | FinishRefusal::NotIntended { .. },
            )
            | Refusal::NoSuchStep { .. }
            | Refusal::WrongRunStatus { .. }
            | Refusal::WrongStepStatus { .. }
            | Refusal::EarlierStepUnsettled { .. }
            | Refusal::AttemptsExhausted { .. }
            | Refusal::IncompleteVerification { .. }
            | Refusal::HumanGateRequired { .. }
            | Refusal::BudgetExceeded { .. }
            | Refusal::NotDue { .. }
            | Refusal::Unfinished(_) => error,
        }
    }
}

/// Why the record of run `id` cannot be used, and how to continue where it is damaged.
pub async fn unusable_record(io: &Io, id: &str, error: StoreError) -> CommandError {
    let is_damaged = matches!(error, StoreError::Unreadable(_));
    let error =
        CommandError::from(error).context(format!("the record of run `{id}` cannot be used"));
    if !is_damaged {
        return error;
    }
    let file = workflow_of(io, id).await;
    let file = file.map_or("FILE".into(), |file| text::shell_word(&file));
    error.fix_by(
        "keep it aside and begin anew from the workflow file; ticked steps are verified first",
        format!("onloop resume {id} --rebuild {file}"),
    )
}

/// The workflow file that the first line of a damaged ledger names.
async fn workflow_of(io: &Io, id: &str) -> Option<String> {
    let path = Paths::new(&StateHome::of(io).ok()?, "", id).ledger();
    let (bytes, _) = io.read(&path, limits::RECORD_BYTES).await.ok()?;
    let run = ledger::read_until(&bytes, 1, None).ok()?.run;
    let place = &run.place;
    let file = place.source_workflow_path.as_ref().unwrap_or(&place.workflow_path).clone();
    (!file.is_empty()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_commands_stand_alone() {
        let error =
            CommandError::refused("something with a rather long name `a b c` was not done at all")
                .listing(["a/file".to_owned()])
                .because("first\x1b[2J line\nsecond line")
                .fix("try again")
                .fix_by("or look", "onloop status --all");
        let expected = "error: something with a rather long name `a b c` was not done at all\n  \
             a/file\n  cause: first line\n         second line\n  fix: try again\n  \
             fix: or look:\n    onloop status --all\n";
        assert_eq!(error.render(), expected);
        let long = CommandError::usage("word ".repeat(40)).because("another ".repeat(30)).render();
        assert!(long.lines().all(|line| line.chars().count() <= COLUMNS), "{long}");
        assert!(long.lines().count() > 4, "{long}");
    }

    #[test]
    fn context_keeps_the_reason_and_an_interruption_stays_one() {
        let failure = Failure::new(onloop_effect::FailureKind::Denied, "no permission");
        let error = CommandError::from(failure).context("nothing was written").step_by_step();
        assert_eq!(error.kind().exit(), Exit::Failed);
        assert_eq!(error.render(), "error: nothing was written\n  cause: no permission\n");
        let interrupted = CommandError::interrupted().step_by_step();
        assert_eq!(
            (interrupted.kind().exit(), interrupted.render()),
            (Exit::Interrupted, String::new())
        );
    }
}
