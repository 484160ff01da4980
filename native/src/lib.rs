//! The native host: performs the requests of core with the operating system.

mod acp;
mod drive;
mod fleet;
mod hook;
pub mod host;
mod start;
mod trace;
#[cfg(unix)]
mod watch;

use std::io::Write;
use std::process::ExitCode;

use onloop_core::effect::trace::recording_command;
use onloop_core::effect::{Exit, Program, Start};

pub use drive::drive;
use host::git::OsGit;
use host::{Interrupts, Orphans, OsClock, OsHost, OsLocks, OsProcesses, OsTerminal, Root};

/// Runs the command line as the whole process.
pub fn main() -> ExitCode {
    if let Some(exit) = enter_sandbox() {
        return exit;
    }
    if let Some(exit) = acp::delegate() {
        return exit_code(exit);
    }
    if let Some(exit) = fleet::delegate() {
        return exit;
    }
    exit_code(as_process(onloop_core::cli::program, |_, host| host, true))
}

/// Becomes the confined program if the host started this process to enter a sandbox; `None`: it did
/// not.
///
/// A program that uses [`main_on`] calls this first. Otherwise its host refuses networks that are
/// lists of names, because it starts this same program inside.
pub fn enter_sandbox() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    if host::egress::is_entry() {
        return Some(exit_code(refuse(&host::egress::enter(), Exit::Custom(127))));
    }
    None
}

/// Runs a program on a host that `adapt` makes from this machine's, for a program that stores
/// records in another place, too. `begin` makes the program from its start. This takes over the
/// process as [`main_with`] does; the caller passes on the exit.
pub fn main_on(
    begin: impl FnOnce(Start) -> Program,
    adapt: impl FnOnce(&Start, OsHost) -> OsHost,
) -> Exit {
    as_process(begin, adapt, true)
}

/// Runs the program that `begin` makes of its start as the whole process.
///
/// This takes over the process: signal handlers, a panic hook, adopted orphans. Embedders
/// use [`drive`] with an [`OsHost`] of their own.
pub fn main_with(begin: impl FnOnce(Start) -> Program) -> ExitCode {
    if let Some(exit) = enter_sandbox() {
        return exit;
    }
    exit_code(as_process(begin, |_, host| host, false))
}

/// `has_screen` says whether `onloop watch` may draw.
fn as_process(
    begin: impl FnOnce(Start) -> Program,
    adapt: impl FnOnce(&Start, OsHost) -> OsHost,
    has_screen: bool,
) -> Exit {
    std::panic::set_hook(Box::new(report_bug));
    let (start, frozen) = match start::gather() {
        Ok(gathered) => gathered,
        Err(error) => return refuse(&error.to_string(), error.exit()),
    };
    #[cfg(unix)]
    close_state_home(&start);
    let interrupts = match Interrupts::new() {
        Ok(interrupts) => interrupts,
        Err(error) => return refuse(&format!("cannot start: {error}"), Exit::Refused),
    };
    let root = Root::new(&start.cwd);
    let locks = OsLocks::new(root, &start.process, &interrupts);
    let terminal = OsTerminal::new(&start, &interrupts);
    let (held, lost) = (locks.held(), terminal.lost_output());
    let processes = OsProcesses::new(&start, &interrupts, Orphans::End).beside(held.clone());
    let running = processes.running();
    // Most hooks and many verbs end before a signal thread would start. For them the system's
    // default action on a signal is right.
    interrupts.before_first_wait(move |interrupts| {
        interrupts.listen(move || {
            running.end_for_good();
            held.release_all();
            restore_screen();
        })
    });
    let host = OsHost {
        locks: Box::new(locks),
        git: Box::new(OsGit::new().among(&interrupts, &processes.running())),
        processes,
        clock: OsClock::new(frozen, &interrupts),
        terminal,
        ..OsHost::new(&start, &interrupts)
    };
    let mut host = adapt(&start, host);
    #[cfg(unix)]
    if let Some(args) = onloop_core::cli::watch_args(&start.argv).filter(|_| has_screen) {
        return watch::watch(&mut host, &start, &interrupts, args);
    }
    #[cfg(not(unix))]
    let _ = has_screen;
    let exit = match trace::Recording::begin(&start) {
        None => drive(&mut host, begin(start)),
        Some(recording) => trace::drive_recorded(&mut host, begin(start), recording),
    };
    match lost.failure() {
        // The reader must not take a truncated result for a complete one.
        Some(failure) if exit == Exit::Done => {
            complain(&failure.message);
            // An agent host treats a partial answer as none, and exit code 2 as a refusal.
            if hook::is_one() { Exit::Usage } else { Exit::Refused }
        }
        Some(_) | None => exit,
    }
}

/// Closes the state home to other users and says so.
#[cfg(unix)]
fn close_state_home(start: &Start) {
    let Some(home) = start.state_home() else { return };
    if let Ok(true) = host::tighten(home.as_ref()) {
        let message = format!(
            "warning: the state home `{home}` was open to other users; it is for its owner alone now"
        );
        let _ = writeln!(std::io::stderr(), "{message}");
    }
}

fn exit_code(exit: Exit) -> ExitCode {
    ExitCode::from(exit.code())
}

/// Ends a process whose program could not be started.
fn refuse(message: &str, exit: Exit) -> Exit {
    complain(message);
    if hook::answer() { Exit::Done } else { exit }
}

fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

/// Returns the path of this trace, or the command that records one.
fn how_to_record() -> String {
    match std::env::var(trace::VARIABLE) {
        Ok(path) if !path.is_empty() => format!("This one is in:\n  {path}"),
        Ok(_) | Err(_) => format!("To record one:\n  {}", recording_command(&hook::argv())),
    }
}

/// Restores the terminal if a screen uses it.
fn restore_screen() {
    #[cfg(unix)]
    watch::restore();
}

/// Prints how to report a bug and ends the process at once: after a panic no state in memory can be
/// trusted, and durable state is on disk. The next process takes over the locks.
fn report_bug(panic: &std::panic::PanicHookInfo<'_>) {
    restore_screen();
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    let _ = writeln!(
        std::io::stderr(),
        "error: internal error in onloop {version}{place}: {message}\n\
         The record is safe. Please report this at {repository}/issues\n\
         with a trace ({repository}/blob/main/docs/traces.md). {trace}",
        trace = how_to_record(),
        version = env!("CARGO_PKG_VERSION"),
        repository = env!("CARGO_PKG_REPOSITORY"),
    );
    let exit = if hook::answer() { Exit::Done } else { Exit::Bug };
    std::process::exit(i32::from(exit.code()));
}
