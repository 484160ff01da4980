//! `onloop watch`: what a full screen asks of core besides the [board](onloop_engine::board). The screen
//! itself belongs to the host that has one.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::background::resume_in_background;
use onloop_engine::run::decider::demand_person;
use onloop_engine::session::files::Sessions;
use onloop_engine::terminal::ask;
use onloop_run::{Attention, DecisionChannel};
use onloop_sessions::handsoff::SessionId;
use onloop_verbs::gate::decide_as_displayed;
use onloop_verbs::{DisplayedDecision, DisplayedRun, interrupt, session};

/// Arguments of `onloop watch`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WatchArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
}

/// `onloop watch` where the host has no screen to draw on.
///
/// # Errors
///
/// Always.
pub async fn watch(io: &Io, args: &WatchArgs) -> Result<Exit, CommandError> {
    demand_screen(io, args).await?;
    let what = "only the native onloop draws on a whole terminal; this one does not";
    Err(CommandError::refused(what)
        .fix_by("install it, in a checkout of onloop", "cargo install --locked --path native")
        .fix_by("see the same in a browser", "onloop web")
        .fix_by("print what is unfinished here", "onloop status"))
}

/// The run that alone is to be shown, where one is named.
///
/// # Errors
///
/// There is no terminal, it cannot draw, or there is no such run.
pub async fn demand_screen(io: &Io, args: &WatchArgs) -> Result<Option<String>, CommandError> {
    let instead = |error: CommandError| {
        error
            .fix_by("print what is unfinished here", "onloop status")
            .fix_by("print every run on this machine", "onloop list --everywhere")
    };
    let terminal = io.start().terminal;
    if !(terminal.stdin && terminal.stdout) {
        let what = "`onloop watch` needs a terminal, and standard input or output is not one";
        return Err(instead(CommandError::usage(what)));
    }
    if io.env("TERM").is_none_or(|term| term == "dumb") {
        let what = "this terminal cannot draw (TERM is not set, or `dumb`)";
        return Err(instead(CommandError::refused(what)));
    }
    match args.run.as_deref() {
        Some(wanted) => Ok(Some(open(io, Some(wanted), Fitting::Latest).await?.run().id.clone())),
        None => Ok(None),
    }
}

/// Records the decision of a person at a screen.
///
/// # Errors
///
/// The run changed since they saw it, or the decision does not fit.
pub async fn decide_on_screen(
    io: &Io,
    seen: DisplayedRun<'_>,
    decision: &DisplayedDecision,
) -> Result<Exit, CommandError> {
    decide_as_displayed(io, seen, decision, DecisionChannel::Terminal).await?;
    Ok(Exit::Done)
}

/// Shows, page by page, what a person may want to know before they decide; where nothing is asked,
/// everything that the run has changed.
///
/// # Errors
///
/// There is no such run.
pub async fn show_on_screen(io: &Io, run_id: &str) -> Result<Exit, CommandError> {
    let store = open(io, Some(run_id), Fitting::Latest).await?;
    let attention = store.run().attention();
    let question = match &attention {
        Some(Attention::Asks(question)) => Some(question),
        Some(_) | None => None,
    };
    ask::show(io, &store, question).await;
    Ok(Exit::Done)
}

/// Interrupts the driver of a run, as `onloop stop` does, and does not wait for its end.
///
/// # Errors
///
/// No process drives it here, its process does not drive it alone, or an agent asks.
pub async fn stop_on_screen(io: &Io, run_id: &str) -> Result<Exit, CommandError> {
    demand_person(io, "stopping a run").await?;
    let store = open(io, Some(run_id), Fitting::Latest).await?;
    interrupt(io, &store, false).await?;
    io.note("The run was told to stop; it saves its state first.").await;
    Ok(Exit::Done)
}

/// Resumes a run in the background, with its own options.
///
/// # Errors
///
/// There is no such run, no driver may be started, or an agent asks.
pub async fn resume_on_screen(io: &Io, run_id: &str) -> Result<Exit, CommandError> {
    demand_person(io, "resuming a run from its screen").await?;
    let store = open(io, Some(run_id), Fitting::Latest).await?;
    resume_in_background(io, &store).await?;
    Ok(Exit::Done)
}

/// Stops sending on the agent of a session whose file lies below `folder`.
///
/// # Errors
///
/// There is no such session, or an agent asks.
pub async fn stop_session_of(io: &Io, id: &str, folder: &str) -> Result<Exit, CommandError> {
    demand_person(io, "stopping a session").await.map_err(CommandError::step_by_step)?;
    let unknown = || CommandError::failed("this is not the id of a session");
    let id = SessionId::new(id).ok_or_else(unknown)?;
    let sessions = Sessions::below(io, folder).unwrap_or_else(|| Sessions::new(io));
    session::stop(io, &sessions, &id).await
}
