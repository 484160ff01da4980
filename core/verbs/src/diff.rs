//! `onloop diff`: what a run, or one of its steps, has changed.

use onloop_effect::{DiffShown, Exit, FailureKind, Io};
use onloop_engine::board::fork_of_attempt;
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::checkpoint::unknown_checkpoint;
use onloop_engine::run::gate::checkout;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop diff`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DiffArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// A step, or one attempt at it (2-1) [default: the whole run]
    #[arg(value_name = "STEP[-ATTEMPT]")]
    pub step: Option<String>,
    /// Only how many lines of which file
    #[arg(long)]
    pub stat: bool,
}

/// `onloop diff`: prints a patch.
pub(crate) async fn diff(io: &Io, args: &DiffArgs) -> Result<Exit, CommandError> {
    let (name, step) = match (args.run.run.as_deref(), args.step.as_deref()) {
        (Some(word), None) if is_step(word) => (args.run.run_id.as_deref(), Some(word)),
        (_, step) => (args.run.as_deref(), step),
    };
    let store = open(io, name, Fitting::Latest).await?;
    let fork = match step {
        Some(step) => fork_of_attempt(io, store.home(), store.run(), step).await,
        None => None,
    };
    let (run, step) = match &fork {
        Some((fork, attempt)) => (fork, Some(attempt.as_str())),
        None => (store.run(), step),
    };
    let Some((from, to)) = run.checkpoints_around(step) else {
        return Err(unknown_checkpoint(run, step.unwrap_or_default()));
    };
    let cwd = &checkout(io, run).await;
    let ends = (from.commit.as_str(), to.commit.as_str());
    let shown = if args.stat { DiffShown::Stat } else { DiffShown::Patch };
    match io.git_diff(cwd, ends, shown, limits::CHECKPOINT_DIFF_BYTES).await {
        Ok(bytes) => {
            let patch = String::from_utf8_lossy(&bytes);
            // What a file holds must not steer a terminal; a pipe gets what it holds.
            let is_shown = io.start().terminal.stdout;
            io.result(if is_shown { text::printable(&patch) } else { patch.into_owned() }).await;
            Ok(Exit::Done)
        }
        Err(failure) => {
            let (kind, is_commit) = (failure.kind, is_about_commit(&failure.message, ends));
            let error = CommandError::from(failure);
            Err(match (kind, args.stat) {
                (FailureKind::TooLarge, false) => error.fix("see which files it is about: --stat"),
                (FailureKind::NotFound, _) if is_commit => error
                    .because("it was removed, or has not come yet from the machine that runs it")
                    .fix("where another machine works on the run, try again in a moment"),
                _ => error,
            })
        }
    }
}

/// Whether `word` names a step or an attempt at one, and so not a run.
fn is_step(word: &str) -> bool {
    !word.is_empty() && word.split('-').all(|number| number.parse::<u32>().is_ok())
}

/// Whether one of the commits is what was not found.
fn is_about_commit(message: &str, (from, to): (&str, &str)) -> bool {
    message.contains(from) || message.contains(to)
}
