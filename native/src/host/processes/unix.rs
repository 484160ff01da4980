//! One program, from its start to the end of its descendants.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_core::limits::KILL_GRACE_MS;
use rustix::process::{Pid, Signal, kill_process};

use super::child::{Child, Place};
use super::log::Log;
use super::notice::EndNotice;
use super::observe::Observer;
use super::running::Group;
use super::streams::{Streams, Which};
use super::{
    Alarm, Followed, Orphans, OsProcesses, RunningGroup, Unwatched, command, group, orphans, spawn,
    tty,
};
use crate::host::confine::Restrictions;
use crate::host::confine::{self, Confined};
use crate::host::readiness::{self, Want};
use crate::host::{Interrupts, Progress, failure, process_table};

const GRACE: Duration = Duration::from_millis(KILL_GRACE_MS);
/// Longest time for descendants to write after the program's end, and then for pipes that
/// unreachable processes keep open.
const LINGER: Duration = Duration::from_millis(200);
/// How long more lines are collected after the first one.
const LINES_LULL: Duration = Duration::from_millis(50);
/// How often ended orphans are reaped during a long run.
const REAP_EVERY: Duration = Duration::from_secs(5);

/// Starts the program of `spec`.
pub(super) fn start(processes: &OsProcesses, spec: &ProcessSpec) -> Result<Running, Failure> {
    let command = command::prepare(&processes.root, spec)?;
    let (mut command, mut confined) = match &spec.confine {
        None => (command, None),
        Some(confinement) => {
            let records = processes.locks.of_records();
            let (command, confined) = confine::confine(command, confinement, &records)?;
            (command, Some(confined))
        }
    };
    let log = processes.log(spec)?;
    let terminal = spec.interactive.then(|| tty::Lent::to_program(&processes.interrupts));
    let place = match (spec.interactive, &confined) {
        (true, _) => Place::OurGroup,
        (false, None) => Place::OwnGroup,
        (false, Some(_)) => Place::OwnSession,
    };
    let beginning = Beginning {
        place,
        restrictions: confined.as_mut().and_then(Confined::take_restrictions),
        log,
        attention: Attention::Takes(processes.interrupts.clone()),
        group: processes.running.clone(),
        orphans: processes.orphans,
    };
    let observer = Observer::of(&processes.root, &spec.observe, spec.renew.unwrap_or(0));
    let mut running = beginning.start(&mut command, spec).map_err(|unstarted| match unstarted {
        Unstarted::Refused(error) => command::spawn_failure(&error, &processes.root, spec),
        Unstarted::Lost(error) => failure::of(&error, "cannot follow a process"),
    })?;
    running.confined = confined;
    running.observer = observer;
    running._terminal = terminal;
    Ok(running)
}

/// Options of a start that are not in the specification.
pub(super) struct Beginning {
    pub(super) place: Place,
    pub(super) restrictions: Option<Restrictions>,
    pub(super) log: Option<Log>,
    pub(super) attention: Attention,
    pub(super) group: RunningGroup,
    pub(super) orphans: Orphans,
}

/// The effect of an interrupt on a program.
pub(super) enum Attention {
    /// It ends the program and is cleared.
    Takes(Interrupts),
    /// It ends the program and the rest of its request; the caller clears it.
    Shares(Interrupts),
    /// None.
    None,
}

impl Attention {
    fn interrupts(&self) -> Option<&Interrupts> {
        match self {
            Attention::Takes(interrupts) | Attention::Shares(interrupts) => Some(interrupts),
            Attention::None => None,
        }
    }

    /// Whether the host runs the program for a request.
    fn is_shared(&self) -> bool {
        match self {
            Attention::Takes(_) => false,
            Attention::Shares(_) | Attention::None => true,
        }
    }

    /// Whether the program has to end.
    fn is_interrupted(&self) -> bool {
        match self {
            Attention::Takes(interrupts) => interrupts.take(),
            Attention::Shares(interrupts) => interrupts.is_pending(),
            Attention::None => false,
        }
    }
}

/// Why a program does not run.
pub(super) enum Unstarted {
    /// The system did not start it.
    Refused(io::Error),
    /// It could not be supervised, and was killed.
    Lost(io::Error),
}

impl Beginning {
    /// Starts `command` with the streams and the bounds of `spec`.
    pub(super) fn start(
        self,
        command: &mut std::process::Command,
        spec: &ProcessSpec,
    ) -> Result<Running, Unstarted> {
        let Beginning { place, restrictions, log, attention, group, orphans } = self;
        let started = Instant::now();
        let (mut child, scope) = group
            .start(|| {
                let child = spawn::spawn(command, spec, place, restrictions.as_ref())?;
                let leader = child.pid.as_raw_nonzero().get();
                let (scope, group) = match place {
                    Place::OurGroup => (Scope::Process(child.pid), None),
                    Place::OwnGroup | Place::OwnSession => {
                        (Scope::Group(child.pid), Some(Group { leader, has_locks: false }))
                    }
                    Place::OwnSessionForGood => {
                        (Scope::Group(child.pid), Some(Group { leader, has_locks: true }))
                    }
                };
                Ok(((child, scope), group))
            })
            .map_err(Unstarted::Refused)?;
        drop(restrictions);
        let set_up = Streams::new(&mut child, spec, log)
            .and_then(|streams| Ok((streams, EndNotice::of(scope.leader())?)));
        let (streams, notice) = match set_up {
            Ok(set_up) => set_up,
            Err(error) => {
                scope.kill();
                group.ended(scope.leader());
                let _ = child.wait();
                return Err(Unstarted::Lost(error));
            }
        };
        let deadline = spec.timeout_ms.map(Duration::from_millis);
        let deadline = deadline.and_then(|timeout| started.checked_add(timeout));
        Ok(Running {
            child,
            scope,
            streams,
            notice,
            attention,
            group,
            orphans,
            started,
            phase: Phase::Free { deadline },
            reap_at: started.checked_add(REAP_EVERY).filter(|_| orphans == Orphans::End),
            tick_every: None,
            confined: None,
            observer: None,
            waits_for: None,
            _terminal: None,
        })
    }
}

fn own_end(exit: ExitStatus) -> ProcessStatus {
    match (exit.code(), exit.signal()) {
        (Some(code), _) => ProcessStatus::Exited(code),
        (None, signal) => ProcessStatus::Signalled(signal.unwrap_or(0)),
    }
}

/// The target of signals: an interactive program is in our group, because the terminal sends its
/// signals there.
#[derive(Clone, Copy)]
enum Scope {
    Group(Pid),
    Process(Pid),
}

impl Scope {
    fn leader(self) -> Pid {
        match self {
            Scope::Group(leader) | Scope::Process(leader) => leader,
        }
    }

    fn group(self) -> Option<Pid> {
        match self {
            Scope::Group(leader) => Some(leader),
            Scope::Process(_) => None,
        }
    }

    fn ask_to_end(self) {
        match self {
            Scope::Group(group) => group::ask_to_end(group),
            Scope::Process(pid) => {
                let _ = kill_process(pid, Signal::TERM);
                let _ = kill_process(pid, Signal::CONT);
            }
        }
    }

    fn kill(self) {
        match self {
            Scope::Group(group) => group::kill_now(group),
            Scope::Process(pid) => {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Progress of ending the program.
#[derive(Clone, Copy)]
enum Phase {
    /// Not started; the program may run until `deadline`.
    Free { deadline: Option<Instant> },
    /// It was asked to end.
    Asked { why: ProcessStatus, kill_at: Instant },
    /// It was killed; only the kernel can still hold it.
    Killed { why: ProcessStatus, give_up_at: Instant },
}

/// A program that was started and not yet waited for.
pub(super) struct Running {
    child: Child,
    scope: Scope,
    streams: Streams,
    notice: EndNotice,
    attention: Attention,
    group: RunningGroup,
    orphans: Orphans,
    started: Instant,
    phase: Phase,
    reap_at: Option<Instant>,
    tick_every: Option<Duration>,
    confined: Option<Confined>,
    observer: Option<Observer>,
    /// The program that it was waiting for when SIGTERM was sent.
    waits_for: Option<String>,
    _terminal: Option<tty::Lent>,
}

/// Why the wait for a program has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// It has ended.
    Ended,
    /// It cannot be made to end.
    Stuck,
    /// It is still running, and the caller is woken.
    Woken,
}

/// Why a wait returned, apart from output.
#[derive(Default)]
struct Woken {
    ended: bool,
    interrupted: bool,
    input: bool,
}

/// What a wait watches in addition to the streams.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// The end of the program, interrupts and standard input.
    EndInterruptsAndInput,
    /// The end of the program and interrupts.
    EndAndInterrupts,
    /// The end of the program.
    End,
    /// Nothing: the program has ended.
    StreamsOnly,
}

impl Running {
    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// How long it has run.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Follows the program until it ends or the alarm goes off.
    pub(super) fn follow(
        mut self,
        alarm: Alarm,
        progress: &mut dyn Progress,
    ) -> Result<Followed<Running>, Failure> {
        self.tick_every = progress.tick_every_ms().map(Duration::from_millis);
        match self.until(alarm, progress) {
            Halt::Woken if self.streams.has_lines() => {
                let lines = self.streams.take_lines();
                Ok(Followed::Wrote(self, lines))
            }
            Halt::Woken => Ok(Followed::Running(self)),
            halt @ (Halt::Ended | Halt::Stuck) => self.finish(halt, progress).map(Followed::Ended),
        }
    }

    /// Follows the program to its end without progress. Also returns the program that it was
    /// waiting for when SIGTERM was sent.
    pub(super) fn follow_to_its_end(mut self) -> Result<(ProcessEnd, Option<String>), Failure> {
        let halt = self.until(Alarm::default(), &mut Unwatched);
        let waited_for = self.waits_for.take();
        Ok((self.finish(halt, &mut Unwatched)?, waited_for))
    }

    /// Ends the program.
    pub(super) fn end(mut self) {
        self.tick_every = None;
        self.ask(ProcessStatus::Interrupted);
        let halt = self.until(Alarm::default(), &mut Unwatched);
        let _ = self.finish(halt, &mut Unwatched);
    }

    fn finish(mut self, halt: Halt, progress: &mut dyn Progress) -> Result<ProcessEnd, Failure> {
        let duration_ms = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.end_descendants(self.orphans, progress);
        self.group.ended(self.scope.leader());
        let exit = match halt {
            Halt::Ended => Some(self.child.wait()),
            Halt::Stuck | Halt::Woken => None,
        };
        let status = match (self.phase, exit) {
            (Phase::Asked { why, .. } | Phase::Killed { why, .. }, _) => why,
            (Phase::Free { .. }, Some(Ok(exit))) => own_end(exit),
            (Phase::Free { .. }, Some(Err(error))) => {
                return Err(failure::of(&error, "cannot wait"));
            }
            (Phase::Free { .. }, None) => unreachable!("only what was killed gets stuck"),
        };
        let opened = self.observer.and_then(Observer::opened);
        let (stdout, stderr) = self.streams.finish(progress);
        let finished = self.confined.map(|confined| confined.finish(status)).transpose()?;
        for path in finished.iter().flat_map(|finished| &finished.repaired) {
            progress.warn(&format!("put back what was changed at `{path}`"));
        }
        let (confined, refused) =
            finished.map(|finished| (finished.mechanism, finished.refused)).unzip();
        let refused = refused.unwrap_or_default();
        Ok(ProcessEnd { status, stdout, stderr, duration_ms, confined, opened, refused })
    }

    /// Follows the program until it has ended, cannot be made to end, or the alarm goes off.
    fn until(&mut self, alarm: Alarm, progress: &mut dyn Progress) -> Halt {
        let mut lines_due = None;
        loop {
            let alarm_at = [alarm.at, lines_due].into_iter().flatten().min();
            let (watch, deadline, wake_at) = match self.phase {
                Phase::Free { deadline } if alarm.on_input => {
                    (Watch::EndInterruptsAndInput, deadline, alarm_at)
                }
                Phase::Free { deadline } => (Watch::EndAndInterrupts, deadline, alarm_at),
                // A program that is being ended ends soon.
                Phase::Asked { kill_at, .. } => (Watch::End, Some(kill_at), None),
                Phase::Killed { give_up_at, .. } => (Watch::End, Some(give_up_at), None),
            };
            let first = [deadline, wake_at].into_iter().flatten().min();
            let woken = self.wait(watch, first, progress);
            if woken.ended {
                return Halt::Ended;
            }
            if lines_due.is_none() && self.streams.has_lines() {
                lines_due = Instant::now().checked_add(LINES_LULL);
            }
            let has_come = |at: Option<Instant>| at.is_some_and(|at| Instant::now() >= at);
            if woken.interrupted && self.attention.is_interrupted() {
                self.ask(ProcessStatus::Interrupted);
            } else if has_come(deadline) {
                match self.phase {
                    Phase::Free { .. } => self.ask(ProcessStatus::TimedOut),
                    Phase::Asked { why, .. } => {
                        self.scope.kill();
                        self.phase = Phase::Killed { why, give_up_at: Instant::now() + GRACE };
                    }
                    Phase::Killed { .. } => return Halt::Stuck,
                }
            } else if has_come(wake_at) || woken.input {
                return Halt::Woken;
            }
            self.reap_orphans();
        }
    }

    fn ask(&mut self, why: ProcessStatus) {
        if self.attention.is_shared() {
            self.waits_for = process_table::waited_for_by(self.pid());
        }
        self.scope.ask_to_end();
        self.phase = Phase::Asked { why, kill_at: Instant::now() + GRACE };
    }

    fn reap_orphans(&mut self) {
        let now = Instant::now();
        if self.reap_at.is_some_and(|reap_at| now >= reap_at) {
            orphans::reap_ended(self.scope.leader());
            self.reap_at = now.checked_add(REAP_EVERY);
        }
    }

    /// Ends descendants of the program and reads their last output.
    fn end_descendants(&mut self, orphans: Orphans, progress: &mut dyn Progress) {
        self.streams.close_stdin();
        self.drain(progress);
        match orphans {
            Orphans::End => orphans::end(self.scope.leader(), self.scope.group()),
            Orphans::Leave => {
                if let Some(group) = self.scope.group() {
                    self.end_left_in(group);
                }
            }
        }
        self.drain(progress);
    }

    /// Ends what the program left in its group. To look who that is takes longer than most questions to
    /// git, of which hardly one leaves anybody.
    fn end_left_in(&self, group: Pid) {
        match self.attention.is_shared() && self.streams.ended() {
            true => group::kill_now(group),
            false => group::end_left(group),
        }
    }

    /// Reads until both streams end, at most for [`LINGER`].
    fn drain(&mut self, progress: &mut dyn Progress) {
        let end = Instant::now() + LINGER;
        while !self.streams.ended() && Instant::now() < end {
            self.wait(Watch::StreamsOnly, Some(end), progress);
        }
    }

    /// Blocks until an event, `deadline` or the next tick, and serves the streams.
    fn wait(
        &mut self,
        watch: Watch,
        deadline: Option<Instant>,
        progress: &mut dyn Progress,
    ) -> Woken {
        let timeout = self.timeout(deadline);
        let (ready, woken) = self.poll(watch, timeout);
        for which in ready {
            self.streams.serve(which, progress);
        }
        if self.tick_every.is_some() {
            progress.tick();
        }
        woken
    }

    fn timeout(&self, deadline: Option<Instant>) -> Option<Duration> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        [left, self.tick_every].into_iter().flatten().min()
    }

    fn poll(&self, watch: Watch, longest: Option<Duration>) -> (Vec<Which>, Woken) {
        let (interrupts, stdin) = (self.attention.interrupts(), std::io::stdin());
        let (streams, mut files): (Vec<Which>, Vec<(BorrowedFd<'_>, Want)>) = self
            .streams
            .open()
            .map(|(which, fd)| {
                let want = if which == Which::Stdin { Want::Room } else { Want::Input };
                (which, (fd, want))
            })
            .unzip();
        if watch != Watch::StreamsOnly {
            files.push((self.notice.as_fd(), Want::Input));
        }
        if let Some(interrupts) = interrupts
            && matches!(watch, Watch::EndAndInterrupts | Watch::EndInterruptsAndInput)
        {
            files.push((interrupts.fd(), Want::Input));
        }
        if watch == Watch::EndInterruptsAndInput {
            files.push((stdin.as_fd(), Want::Input));
        }
        let Some(found) = readiness::wait(&files, longest) else {
            return (Vec::new(), Woken::default());
        };
        let ready = |index: usize| found.get(index).copied().unwrap_or(false);
        let woken = Woken {
            ended: ready(streams.len()),
            interrupted: ready(streams.len() + 1),
            input: ready(streams.len() + 2),
        };
        (streams.iter().enumerate().filter(|&(i, _)| ready(i)).map(|(_, w)| *w).collect(), woken)
    }
}
