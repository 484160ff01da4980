//! The command line of `onloop fleet`: one file for each verb.

#[cfg(unix)]
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use onloop_core::effect::Exit;

use crate::status::{StatusArgs, status};
#[cfg(unix)]
use crate::up::{UpArgs, up};

/// Runs on many machines, kept by a server of yours.
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
  onloop run FILE --on fleet        hand a run over; returns at once
  onloop fleet status               runs, workers and what waits for you"
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpLong)]
    help: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start the fleet's server and a worker on this machine
    #[cfg(unix)]
    #[command(
        after_help = "The server's engine is Restate. Where it is not installed, the message has the one
command that installs it; nothing of it listens anywhere but in the data folder.

Examples:
  onloop fleet up                              for this machine alone
  onloop fleet up --listen 0.0.0.0:9400        for others, behind a proxy with TLS
  onloop fleet up --no-worker                  the server alone
  onloop fleet up --limit claude=2             two runs at once may have Claude
  onloop fleet up --data /srv/onloop --repos /srv/repositories"
    )]
    Up(UpArgs),
    /// Show runs, workers and what waits for a person
    #[command(after_help = "Examples:
  onloop fleet status
  onloop fleet status --all      finished runs, too
  onloop fleet status --json")]
    Status(StatusArgs),
    /// Become a program that ends with whoever started this one
    #[cfg(unix)]
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
}

/// The whole program.
pub fn main() -> ExitCode {
    let exit = match Cli::parse().verb {
        #[cfg(unix)]
        Verb::Up(args) => up(&args),
        Verb::Status(args) => status(&args),
        #[cfg(unix)]
        Verb::Guard { parent, signal, line } => {
            refuse(crate::guard::become_guarded(parent, signal, &line))
        }
    };
    ExitCode::from(exit.code())
}

/// Says why something is not done.
pub(crate) fn refuse(why: impl Display) -> Exit {
    say(format!("error: {why}"));
    Exit::Refused
}

/// Says something to a person.
pub(crate) fn say(text: impl Display) {
    // Nobody there to read it is no reason to stop.
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
