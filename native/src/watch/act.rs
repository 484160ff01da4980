//! Effects of keys: programs of core, the pager, signals, processes.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::rc::Rc;

use onloop_core::effect::{Exit, Failure, Io, Outcome, Program, Reply, Request, Say};
use onloop_core::engine::error::{CommandError, verb_program};
use onloop_core::text;
use onloop_core::verb::DisplayedRun;
use onloop_core::watch::{
    decide_on_screen, resume_options, show_on_screen, stop_driver, stop_session_of,
};
use rustix::process::{Pid, Signal, kill_current_process_group, kill_process};

use super::Watching;
use super::model::{Action, Model};
use super::screen::Screen;
use crate::drive;
use crate::host::{Host, OsHost};

/// A host that stores messages instead of printing them, because the screen is in use.
struct Quiet<'a> {
    host: &'a mut OsHost,
    said: String,
}

impl Host for Quiet<'_> {
    fn perform(&mut self, request: Request) -> Reply {
        match request {
            Request::Say(Say::Note(words) | Say::Result(words)) => {
                self.said += &words;
                Reply { at: self.host.clock.now(), outcome: Ok(Outcome::Done) }
            }
            Request::Ask { .. } => {
                let no_person = Failure::new(
                    onloop_core::effect::FailureKind::Closed,
                    "a screen is asked with its own questions",
                );
                Reply { at: self.host.clock.now(), outcome: Err(no_person) }
            }
            request => self.host.perform(request),
        }
    }
}

/// Runs a program; returns its exit and the first line of its output.
pub(super) fn quietly(host: &mut OsHost, program: Program) -> (Exit, String) {
    let mut quiet = Quiet { host, said: String::new() };
    let exit = drive(&mut quiet, program);
    let said = text::printable(&quiet.said);
    let first = said.lines().map(str::trim).find(|line| !line.is_empty());
    (exit, first.unwrap_or_default().to_owned())
}

impl Watching {
    /// Runs a verb; returns its exit, and its error or the first line of its output.
    fn quiet_verb<F>(
        &mut self,
        host: &mut OsHost,
        verb: impl FnOnce(Io) -> F + 'static,
    ) -> (Exit, String)
    where
        F: Future<Output = Result<Exit, CommandError>>,
    {
        let failed = Rc::new(RefCell::new(None));
        let to = failed.clone();
        let program = Program::new(self.start_now(host), async move |io: Io| {
            verb(io).await.unwrap_or_else(|error| {
                let exit = error.kind().exit();
                *to.borrow_mut() = Some(error.to_string());
                exit
            })
        });
        let (exit, said) = quietly(host, program);
        (exit, failed.take().unwrap_or(said))
    }

    /// Performs the effect of a key.
    pub(super) fn perform(
        &mut self,
        host: &mut OsHost,
        screen: &mut Screen,
        model: &mut Model,
        action: Action,
    ) -> io::Result<()> {
        match action {
            Action::Quit => {}
            Action::Suspend => {
                screen.leave()?;
                let _ = kill_current_process_group(Signal::TSTP);
                // The shell has continued this process.
                screen.enter_again()?;
            }
            Action::Open { .. } => {}
            Action::Diff { run } => self.show(host, screen, run)?,
            Action::Decide { run, step, decision, seen } => {
                let (exit, said) = self.quiet_verb(host, async move |io: Io| {
                    let seen = DisplayedRun { run_id: &run, step, record: &seen };
                    decide_on_screen(&io, seen, &decision).await
                });
                let is_in_fleet = model.view.as_ref().is_some_and(|view| view.card.in_fleet);
                let further = match is_in_fleet {
                    true => "The fleet continues it.",
                    false => "If it does not run, resume it with r.",
                };
                model.message = Some(match exit {
                    Exit::Done => format!("{said}. {further}"),
                    _ => said,
                });
            }
            Action::StopRun { run } => self.stop(host, model, run),
            Action::StopSession { id, folder } => {
                let stop = async move |io: Io| stop_session_of(&io, &id, &folder).await;
                model.message = Some(self.quiet_verb(host, stop).1);
            }
            Action::Resume { run } => self.resume(host, model, run)?,
        }
        let message = model.message.take();
        self.refresh(host, model);
        model.message = message.or(model.message.take());
        Ok(())
    }

    /// Shows the diff in the pager, or on the terminal.
    fn show(&mut self, host: &mut OsHost, screen: &mut Screen, run: String) -> io::Result<()> {
        screen.leave()?;
        let show = async move |io: Io| show_on_screen(&io, &run).await;
        let program = verb_program(self.start_now(host), show);
        drive(host, program);
        let mut terminal = io::stderr();
        write!(terminal, "\nPress a key to go back. ")?;
        terminal.flush()?;
        self.wait_for_key(screen)?;
        screen.enter_again()
    }

    /// Interrupts the driver of a run, as Ctrl-C does.
    fn stop(&mut self, host: &mut OsHost, model: &mut Model, run: String) {
        let found = Rc::new(RefCell::new(None));
        let to = found.clone();
        let (_, said) = self.quiet_verb(host, async move |io: Io| {
            *to.borrow_mut() = Some(stop_driver(&io, &run).await?);
            Ok(Exit::Done)
        });
        let process = found.take().and_then(|process: u32| i32::try_from(process).ok());
        model.message = Some(match process.and_then(Pid::from_raw) {
            None => said,
            Some(process) => match kill_process(process, Signal::INT) {
                Ok(()) => "It was told to stop; it saves what it has first.".to_owned(),
                Err(error) => format!("It could not be stopped: {error}"),
            },
        });
    }

    /// Resumes a run in the background, with its options.
    fn resume(&mut self, host: &mut OsHost, model: &mut Model, run: String) -> io::Result<()> {
        let found = Rc::new(RefCell::new(None));
        let (to, id) = (found.clone(), run.clone());
        let (_, said) = self.quiet_verb(host, async move |io: Io| {
            *to.borrow_mut() = Some(resume_options(&io, &id).await?);
            Ok(Exit::Done)
        });
        let options: Option<String> = found.take();
        let Some(options) = options else {
            model.message = Some(said);
            return Ok(());
        };
        // The state home stores the options as a shell line.
        let line = format!("exec \"$0\" resume {}{options}", text::shell_word(&run));
        let child = Command::new("sh")
            .args(["-c", &line])
            .arg(std::env::current_exe()?)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C and the end of this terminal must not reach it.
            .process_group(0)
            .spawn();
        model.message = Some(match child {
            Ok(child) => {
                self.resumed.push((run, child));
                "The run continues in the background.".to_owned()
            }
            Err(error) => format!("It could not be resumed: {error}"),
        });
        Ok(())
    }
}
