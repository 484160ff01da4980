//! `onloop watch`: the runs, sessions and calls of this machine on one screen, redrawn on each
//! change.
//!
//! The screen shows values of core, and each key runs a program of core. One loop waits for keys,
//! changes of files and signals.

mod act;
mod draw;
mod model;
mod pace;
mod screen;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use onloop_core::documents::board::Board;
use onloop_core::effect::{Exit, Io, Program, Redaction, Start};
use onloop_core::engine::board::ChangeWatcher;
use onloop_core::engine::error::verb_program;
use onloop_core::engine::run::gate::patch;
use onloop_core::text;
use onloop_core::watch::{WatchArgs, demand_screen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::drive;
use crate::host::{Interrupts, LOOK_AGAIN, OsChanges, OsHost, Root};
use draw::Look;
use model::{Action, Evidence, Model, Pane};
use pace::{Pace, REFRESH};
use screen::Screen;

pub(crate) use screen::restore;

/// Runs the verb.
pub(crate) fn watch(
    host: &mut OsHost,
    start: &Start,
    interrupts: &Interrupts,
    args: WatchArgs,
) -> Exit {
    let only = Rc::new(RefCell::new(None));
    let to = only.clone();
    let demand = async move |io: Io| {
        *to.borrow_mut() = demand_screen(&io, &args).await?;
        Ok(Exit::Done)
    };
    let exit = drive(host, verb_program(start.clone(), demand));
    if exit != Exit::Done {
        return exit;
    }
    let is_coloured = start.env.get("NO_COLOR").is_none_or(String::is_empty);
    let mut watching = Watching {
        start: start.clone(),
        interrupts: interrupts.clone(),
        changes: OsChanges::new(Root::new(&start.cwd), interrupts),
        watcher: Rc::default(),
        is_coloured,
        secrets: Redaction::new(&start.env),
    };
    match watching.run(host, only.take()) {
        Ok(exit) => exit,
        Err(error) => {
            restore();
            crate::complain(&format!("the screen cannot be drawn: {error}"));
            Exit::Refused
        }
    }
}

/// State of the loop.
struct Watching {
    start: Start,
    interrupts: Interrupts,
    changes: OsChanges,
    watcher: Rc<RefCell<ChangeWatcher>>,
    is_coloured: bool,
    secrets: Redaction,
}

/// Why the loop continues.
#[derive(Clone, Copy, Debug, Default)]
struct Woken {
    keys: bool,
    signal: bool,
    changed: bool,
    gone: bool,
}

impl Watching {
    fn run(&mut self, host: &mut OsHost, only: Option<String>) -> std::io::Result<Exit> {
        // Signals count from the first wait on.
        if self.interrupts.check().is_err() {
            return Ok(Exit::Interrupted);
        }
        let board = self.board(host);
        let mut model = Model::new(board, only);
        let mut screen = Screen::enter()?;
        model.is_wide = screen.is_wide()?;
        self.look_closer(host, &mut model);
        let mut pace = Pace::new(Instant::now());
        loop {
            if pace.may_draw(Instant::now()) {
                let look = Look { is_coloured: self.is_coloured, secrets: &self.secrets };
                screen.draw(&model, look)?;
                pace.drawn(Instant::now());
            }
            let woken = self.wait(pace.longest(Instant::now()), pace.hears())?;
            if woken.gone || (woken.signal && self.interrupts.check().is_err()) {
                return Ok(Exit::Interrupted);
            }
            if woken.keys {
                // The terminal may have a new size.
                model.is_wide = screen.is_wide()?;
                let before = shown(&model);
                for action in screen.keys(&mut model)? {
                    if action == Action::Quit {
                        return Ok(Exit::Done);
                    }
                    self.perform(host, &mut screen, &mut model, action)?;
                    pace.looked(Instant::now());
                }
                if shown(&model) != before {
                    self.look_closer(host, &mut model);
                }
                pace.is_dirty = true;
            }
            pace.is_stale |= woken.changed;
            if pace.may_look(Instant::now()) {
                self.refresh(host, &mut model);
                pace.looked(Instant::now());
            }
        }
    }

    /// Waits for any key or a signal, with the terminal restored.
    fn wait_for_key(&mut self, screen: &mut Screen) -> std::io::Result<()> {
        screen::without_lines(|| {
            loop {
                let woken = self.wait(REFRESH, false)?;
                if woken.gone || woken.signal || (woken.keys && screen.any_key()?) {
                    return Ok(());
                }
            }
        })
    }

    /// Waits for a key, a signal and, where it `hears`, a change.
    fn wait(&mut self, longest: Duration, hears: bool) -> std::io::Result<Woken> {
        let stdin = std::io::stdin();
        let (keys, signal) = (stdin.as_fd(), self.interrupts.fd());
        let mut fds = vec![PollFd::new(&keys, PollFlags::IN), PollFd::new(&signal, PollFlags::IN)];
        let nobody_tells = !self.changes.is_told();
        let notices = self.changes.fd().filter(|_| hears);
        fds.extend(notices.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let longest = if nobody_tells { longest.min(LOOK_AGAIN) } else { longest };
        let timeout = Timespec::try_from(longest).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            // The terminal may have a new size.
            Err(Errno::INTR) => return Ok(Woken { keys: true, ..Woken::default() }),
            Err(error) => return Err(error.into()),
        }
        let seen = |at: usize| fds.get(at).map_or(PollFlags::empty(), PollFd::revents);
        let woken = Woken {
            keys: seen(0).contains(PollFlags::IN),
            signal: !seen(1).is_empty(),
            changed: hears && (nobody_tells || !seen(2).is_empty()),
            gone: seen(0).intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
        };
        drop(fds);
        let changed = woken.changed && (nobody_tells || self.changes.take());
        Ok(Woken { changed, ..woken })
    }

    /// Reads the state of the machine and watches its files.
    fn refresh(&mut self, host: &mut OsHost, model: &mut Model) {
        model.take(self.board(host));
        self.look_closer(host, model);
    }

    fn board(&mut self, host: &mut OsHost) -> Board {
        // The watch starts first, so a change in between is not missed.
        let folders = self.watcher.borrow().folders().to_vec();
        let _ = self.changes.follow(&folders);
        let _ = self.changes.take();
        let board = self.ask(host, async |watcher, io| watcher.look(io).await);
        let folders = self.watcher.borrow().folders().to_vec();
        let _ = self.changes.follow(&folders);
        board
    }

    /// Reads the shown run, and what its pane needs.
    fn look_closer(&mut self, host: &mut OsHost, model: &mut Model) {
        let Some((id, pane)) = shown(model) else {
            (model.view, model.evidence) = (None, Evidence::default());
            return;
        };
        (model.view, model.evidence) = self.ask(host, async move |watcher, io| {
            let view = watcher.run(io, &id).await;
            let mut evidence = Evidence::default();
            match (pane, &view) {
                (Pane::Steps, Some(view)) => {
                    evidence.attempts = watcher.attempts(io, &id, view.card.step).await;
                }
                (Pane::Diff, Some(_)) => evidence.diff = diff(watcher, io, &id).await,
                (Pane::Gate | Pane::Log | Pane::Events, Some(_)) | (_, None) => {}
            }
            (view, evidence)
        });
    }

    /// Runs one look of the watcher.
    fn ask<T: 'static>(
        &mut self,
        host: &mut OsHost,
        look: impl AsyncFnOnce(&mut ChangeWatcher, &Io) -> T + 'static,
    ) -> T {
        let (watcher, found) = (self.watcher.clone(), Rc::new(RefCell::new(None)));
        let to = found.clone();
        let program = Program::new(self.start_now(host), async move |io: Io| {
            let mut eyes = watcher.take();
            let seen = look(&mut eyes, &io).await;
            (*watcher.borrow_mut(), *to.borrow_mut()) = (eyes, Some(seen));
            Exit::Done
        });
        act::quietly(host, program);
        let found = found.take();
        found.expect("a program that ends has looked")
    }

    fn start_now(&self, host: &mut OsHost) -> Start {
        Start { now: host.clock.now(), ..self.start.clone() }
    }
}

/// The run and the pane that are shown.
fn shown(model: &Model) -> Option<(String, Pane)> {
    model.shown_run().map(|(id, pane, _)| (id.to_owned(), pane))
}

/// The lines of what no person has approved yet. What hides in them is spelled out.
async fn diff(watcher: &ChangeWatcher, io: &Io, id: &str) -> Vec<String> {
    let Some(run) = watcher.record(id) else { return Vec::new() };
    match patch(io, run).await {
        Ok(patch) => {
            let shown = text::visible(&patch, &['\n', '\t']).replace('\t', "    ");
            shown.lines().map(str::to_owned).collect()
        }
        Err(failure) => vec![format!("The change cannot be shown: {failure}")],
    }
}
