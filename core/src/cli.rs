//! The command line: one grammar, compiled into every host.

mod grammar;
pub mod help;
mod old_name;
mod refusal;

use std::future::ready;

use clap::{CommandFactory, FromArgMatches};

use grammar::{Cli, FleetArgs, PermitVerb, ReceiptVerb, SessionVerb, Verb};

use onloop_effect::{Exit, Io, Program, Start};
use onloop_engine::error::{CommandError, ErrorKind, exit_of};
use onloop_servers::lsp::lsp;
use onloop_servers::mcp::mcp;
use onloop_servers::watch::{WatchArgs, watch};
use onloop_servers::web::web;
use onloop_verbs::auto::with_argument_last;
use onloop_verbs::{
    FinishArgs, Performed, ReceiptArgs, RunArgs, abandon, adopt, approve, auto, batch,
    called_as_hook, compile, confine, cost, demo, diff, do_task, doctor, explain_call, fetch,
    finalize, finish, gate, hook, init, install, lint, list, locate, new, next, no_fleet,
    normalize, notify, plan, prepare, push, receipt, receipt_key, receipt_verify, reject, relocate,
    replay, report, resume, run, schema, session_clear, session_done, session_list, session_log,
    session_show, session_stop, session_undo, status, step, stop, summary, trust, undo, uninstall,
};

/// The grammar, for documentation and completions.
pub fn command() -> clap::Command {
    help::with_help(Cli::command())
}

/// The command line as the grammar reads it; otherwise what to print instead.
fn parse(argv: &[String]) -> Result<Cli, clap::Error> {
    let mut grammar = command();
    let mut matches = grammar.try_get_matches_from_mut(argv)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut grammar))
}

/// The program for a command line: `start.argv` with the program's name first.
pub fn program(start: Start) -> Program {
    Program::new(start, main)
}

/// What `onloop watch` is asked to show, where that is what the command line says: a host with a
/// screen performs it itself.
pub fn watch_args(argv: &[String]) -> Option<WatchArgs> {
    // Building the grammar takes longer than most verbs do.
    if argv.get(1).is_none_or(|verb| verb != "watch") {
        return None;
    }
    match parse(argv).ok()?.verb {
        Verb::Watch(args) => Some(args),
        _ => None,
    }
}

/// What `onloop run` is told, where that is what the command line says and it is understood: for a host
/// that has the run conducted elsewhere.
pub fn run_args(argv: &[String]) -> Option<RunArgs> {
    match parse(argv).ok()?.verb {
        Verb::Run(args) => Some(args),
        _ => None,
    }
}

/// Runs the verb that the command line names, and returns its error unprinted.
///
/// # Errors
///
/// Those of the verb, and a command line that the grammar refuses.
pub async fn run_verb(io: &Io) -> Result<Exit, CommandError> {
    match parse(&io.start().argv) {
        Ok(cli) => perform(io, &cli.verb).await,
        Err(error) => Err(CommandError::usage(error.to_string().trim_start_matches("error: "))),
    }
}

/// Runs the verb named by the command line.
pub async fn main(io: Io) -> Exit {
    if let Some(args) = called_as_hook(&io.start().argv) {
        return exit_of(&io, hook(&io, &args).await).await;
    }
    if io.start().argv.len() < 2 {
        return exit_of(&io, help::help(&io, &help::HelpArgs::default()).await).await;
    }
    let is_old_name = old_name::is_called(&io.start().argv);
    let (verb, no_input) = match parse(&with_argument_last(&io.start().argv)) {
        Ok(cli) => (cli.verb, cli.no_input),
        Err(error) => {
            let exit = explain(&io, &error, io.start().argv.get(1..).unwrap_or_default()).await;
            return if is_old_name { old_name::exit(exit) } else { exit };
        }
    };
    let verb = match verb {
        // Callers of the old name read JSON.
        Verb::Finish(args) if is_old_name => Verb::Finish(FinishArgs { json: true, ..args }),
        verb => verb,
    };
    let io = if no_input { io.unattended() } else { io };
    let exit = exit_of(&io, perform(&io, &verb).await).await;
    if is_old_name && old_name::knows(&verb) { old_name::exit(exit) } else { exit }
}

/// How a verb ends.
type Ended = Result<Exit, CommandError>;

/// The part of the program that is the verb's own. What each of them needs while it waits is put
/// aside here, so that a verb does not carry the room that all the others would need.
fn perform<'a>(io: &'a Io, verb: &'a Verb) -> Performed<'a> {
    match verb {
        Verb::Do(args) => do_task(io, args),
        Verb::Plan(args) => plan(io, args),
        Verb::Demo(args) => demo(io, args),
        Verb::Run(args) => run(io, args),
        Verb::Resume(args) => resume(io, args),
        Verb::Lint(args) => lint(io, args),
        Verb::New(args) => new(io, args),
        Verb::Normalize(args) => normalize(io, args),
        Verb::Compile(args) => compile(io, args),
        Verb::Status(args) => status(io, args),
        Verb::List(args) => list(io, args),
        Verb::Watch(args) => Box::pin(watch(io, args)),
        Verb::Next(args) => next(io, args),
        Verb::Report(args) => report(io, args),
        Verb::Summary(args) => summary(io, args),
        Verb::Step(args) => step(io, args),
        Verb::Gate(args) => gate(io, args),
        Verb::Init(args) => init(io, args),
        Verb::Prepare(args) => prepare(io, args),
        Verb::Locate(args) => locate(io, args),
        Verb::Finalize(args) => finalize(io, args),
        Verb::Finish(args) => finish(io, args),
        Verb::Diff(args) => diff(io, args),
        Verb::Cost(args) => cost(io, args),
        Verb::Undo(args) => undo(io, args),
        Verb::Receipt { verb, args } => Box::pin(receipt_or(io, verb.as_ref(), args)),
        Verb::Adopt(args) => adopt(io, args),
        Verb::Relocate(args) => relocate(io, args),
        Verb::Push(args) => push(io, args),
        Verb::Fetch(args) => fetch(io, args),
        Verb::Abandon(args) => abandon(io, args),
        Verb::Notify(args) => notify(io, args),
        Verb::Confine(args) => confine(io, args),
        Verb::Auto(args) => auto(io, args),
        Verb::Permit { verb: PermitVerb::Explain(args) } => explain_call(io, args),
        Verb::Permit { verb: PermitVerb::Batch(args) } => batch(io, args),
        Verb::Permit { verb: PermitVerb::Trust(args) } => trust(io, args),
        Verb::Hook(args) => hook(io, args),
        Verb::Session { verb } => Box::pin(session(io, verb)),
        Verb::Approve(args) => approve(io, args),
        Verb::Reject(args) => reject(io, args),
        Verb::Stop(args) => stop(io, args),
        Verb::Install(args) => install(io, args),
        Verb::Uninstall(args) => uninstall(io, args),
        Verb::Doctor(args) => doctor(io, args),
        Verb::Mcp => Box::pin(async { Ok(mcp(io).await) }),
        Verb::Lsp => Box::pin(lsp(io)),
        Verb::Web(args) => Box::pin(web(io, args)),
        // A host that has the fleet's program does not come here.
        Verb::Fleet(FleetArgs { words: _ }) => Box::pin(ready(Err(no_fleet()))),
        Verb::Replay(args) => Box::pin(replay(io, args, program)),
        Verb::Schema(args) => schema(io, args),
        Verb::Completions(args) => Box::pin(completions(io, args.shell)),
        Verb::Man => Box::pin(man(io)),
        Verb::Help(args) => Box::pin(help::help(io, args)),
    }
}

async fn receipt_or(io: &Io, verb: Option<&ReceiptVerb>, args: &ReceiptArgs) -> Ended {
    match verb {
        Some(ReceiptVerb::Verify(args)) => receipt_verify(io, args).await,
        Some(ReceiptVerb::Key) => receipt_key(io).await,
        None => receipt(io, args).await,
    }
}

async fn session(io: &Io, verb: &SessionVerb) -> Ended {
    match verb {
        SessionVerb::List(args) => session_list(io, args).await,
        SessionVerb::Show(args) => session_show(io, args).await,
        SessionVerb::Log(args) => session_log(io, args).await,
        SessionVerb::Undo(args) => session_undo(io, args).await,
        SessionVerb::Done(args) => session_done(io, args).await,
        SessionVerb::Stop(args) => session_stop(io, args).await,
        SessionVerb::Clear(args) => session_clear(io, args).await,
    }
}

/// Help and version are results; everything else is a usage error, which ends with an example of the
/// verb in `words`.
async fn explain(io: &Io, error: &clap::Error, words: &[String]) -> Exit {
    let text = error.render().to_string();
    if !error.use_stderr() {
        io.result(text).await;
        return Exit::Done;
    }
    if let Some(unknown) = help::unknown_verb(words, error) {
        return exit_of(io, Err(unknown)).await;
    }
    io.note(refusal::in_our_words(&text, help::example(words))).await;
    Exit::Usage
}

async fn completions(io: &Io, shell: clap_complete::Shell) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "onloop", &mut script);
    io.result(String::from_utf8_lossy(&script).into_owned()).await;
    Ok(Exit::Done)
}

async fn man(io: &Io) -> Ended {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command()).render(&mut page);
    rendered.map_err(|error| CommandError::new(ErrorKind::Bug, error.to_string()))?;
    io.result(String::from_utf8_lossy(&page).into_owned()).await;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
