//! Effects of keys: programs of core, the pager, signals.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use onloop_core::effect::{Exit, Failure, Io, Outcome, Program, Reply, Request, Say};
use onloop_core::engine::error::{CommandError, verb_program};
use onloop_core::text;
use onloop_core::verb::DisplayedRun;
use onloop_core::watch::{
    decide_on_screen, resume_on_screen, show_on_screen, stop_on_screen, stop_session_of,
};
use rustix::process::{Signal, kill_current_process_group};

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
            Action::StopRun { run } => {
                let stop = async move |io: Io| stop_on_screen(&io, &run).await;
                model.message = Some(self.quiet_verb(host, stop).1);
            }
            Action::StopSession { id, folder } => {
                let stop = async move |io: Io| stop_session_of(&io, &id, &folder).await;
                model.message = Some(self.quiet_verb(host, stop).1);
            }
            Action::Resume { run } => {
                let resume = async move |io: Io| resume_on_screen(&io, &run).await;
                model.message = Some(self.quiet_verb(host, resume).1);
            }
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
}
