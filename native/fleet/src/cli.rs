//! The command line of `onloop fleet`: one file for each verb.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use onloop_core::effect::Exit;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::driver::drive;
use crate::engine::EngineError;
use crate::status::{StatusArgs, status};
use crate::up::{UpArgs, up};
use crate::worker::{WorkerArgs, worker};
use crate::{submit, verbs, watchdog};

/// Run workflows on several machines, with a server of your own.
#[derive(Debug, Parser)]
#[command(
    name = "onloop-fleet",
    bin_name = "onloop fleet",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    disable_help_flag = true,
    max_term_width = 90,
    after_help = "Examples:
  onloop fleet up                   a server and a worker on this machine
  onloop run FILE --on fleet        submit a run; returns at once
  onloop fleet status               show runs, workers and open decisions"
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpLong, display_order = 100)]
    help: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start the fleet's server and a worker on this machine
    #[command(
        after_help = "The engine is Restate. If it is missing, the message contains the command that
installs it. It listens only on sockets in the data folder.

Examples:
  onloop fleet up                              for this machine alone
  onloop fleet up --listen 0.0.0.0:9400        in a container, behind a proxy with TLS
  onloop fleet up --no-worker                  a server without a worker
  onloop fleet up --limit claude=2             at most two runs use Claude at once
  onloop fleet up --data /srv/onloop --repos /srv/repositories"
    )]
    Up(UpArgs),
    /// Show runs, workers and open decisions
    #[command(after_help = "Examples:
  onloop fleet status
  onloop fleet status --all      with finished runs, except archived ones
  onloop fleet status --json")]
    Status(StatusArgs),
    /// Take runs from the fleet and drive them on this machine
    #[command(
        after_help = "A worker accepts only repositories that --allow or the file `repositories` of its
folder names. Agents are confined as in any run.

Examples:
  onloop fleet worker --server https://fleet.example.org --repos ~/fleet \\
    --allow 'https://github.com/example/*'
  onloop fleet worker --repos ~/fleet --slots 4    for the fleet of this machine"
    )]
    Worker(WorkerArgs),
    /// Become a program that ends together with its parent
    #[command(hide = true)]
    Guard {
        /// The process that it ends with
        parent: u32,
        /// The signal that ends it: `kill` or `term`
        signal: crate::guard::Ending,
        /// The program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        line: Vec<OsString>,
    },
    /// Run a driver while standard input says that its lease holds
    #[command(hide = true)]
    Watchdog {
        /// How long it holds from now on, in milliseconds
        lasts_ms: u64,
        /// The program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        line: Vec<OsString>,
    },
    /// Drive one run
    #[command(hide = true)]
    Drive {
        /// The file with the task
        task: PathBuf,
    },
}

/// Verbs of this program alone; they need no `fleet` before them.
const OWN: [&str; 8] = ["up", "worker", "guard", "watchdog", "drive", "-h", "--help", "--version"];

/// Runs the program as `onloop fleet`, as a submission, or as any verb of `onloop` on a machine with a
/// fleet.
pub fn main() -> ExitCode {
    if let Some(exit) = onloop::enter_sandbox() {
        return exit;
    }
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let verb = args.get(1).map(|verb| verb.to_string_lossy().into_owned());
    match verb.as_deref() {
        Some("fleet") => {
            args.remove(1);
        }
        Some(verb) if OWN.contains(&verb) => {}
        None => {}
        Some(_) => {
            let words: Vec<String> =
                args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            return match submit::is_meant(&words) {
                true => submit::submit(&words),
                false => verbs::onloop(),
            };
        }
    }
    let verb = Cli::parse_from(args).verb;
    if matches!(verb, Verb::Up(_) | Verb::Worker(_) | Verb::Drive { .. }) {
        log_to_stderr();
    }
    match verb {
        Verb::Up(args) => ExitCode::from(up(&args).code()),
        Verb::Status(args) => ExitCode::from(status(&args).code()),
        Verb::Worker(args) => worker(&args),
        Verb::Guard { parent, signal, line } => {
            ExitCode::from(refuse(crate::guard::become_guarded(parent, signal, &line)).code())
        }
        Verb::Watchdog { lasts_ms, line } => guard_driver(lasts_ms, &line),
        Verb::Drive { task } => drive(&task),
    }
}

/// Logs this program and the warnings of its libraries to standard error.
fn log_to_stderr() {
    let targets = Targets::new().with_default(Level::WARN).with_target("onloop_fleet", Level::INFO);
    let format = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(false);
    tracing_subscriber::registry().with(format).with(targets).init();
}

fn guard_driver(lasts_ms: u64, line: &[OsString]) -> ExitCode {
    let (program, arguments) = line.split_first().expect("the grammar asks for a program");
    let mut driver = Command::new(program);
    driver.args(arguments);
    match watchdog::watch(driver, lasts_ms) {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(refuse(format!("{}: {error}", program.display())).code()),
    }
}

/// Why a verb ends without a result.
pub(crate) struct Refusal {
    /// The reason and the fix; `None`: a program of core has printed them.
    why: Option<String>,
    exit: Exit,
}

impl Refusal {
    /// The command line or a file is invalid.
    pub(crate) fn usage(why: impl Display) -> Refusal {
        Refusal { why: Some(why.to_string()), exit: Exit::Usage }
    }

    /// The state of things does not allow it.
    pub(crate) fn refused(why: impl Display) -> Refusal {
        Refusal { why: Some(why.to_string()), exit: Exit::Refused }
    }

    /// A program of core did not succeed.
    pub(crate) fn ended(exit: Exit) -> Refusal {
        Refusal { why: None, exit }
    }

    /// Prints it for a person.
    pub(crate) fn report(self) -> Exit {
        if let Some(why) = self.why {
            say(format!("error: {why}"));
        }
        self.exit
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Refusal {
        Refusal::refused(error)
    }
}

/// Prints an error for a person.
pub(crate) fn refuse(why: impl Display) -> Exit {
    Refusal::refused(why).report()
}

/// Prints a message for a person.
pub(crate) fn say(text: impl Display) {
    // A closed terminal does not stop the program.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_is_sound_and_its_help_fits_a_terminal() {
        let mut command = Cli::command().term_width(80);
        command.clone().debug_assert();
        let mut pages = vec![command.render_long_help().to_string()];
        pages.extend(command.get_subcommands_mut().map(|verb| verb.render_long_help().to_string()));
        for line in pages.iter().flat_map(|page| page.lines()) {
            assert!(line.chars().count() <= 90, "{line}");
        }
    }
}
