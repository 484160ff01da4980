//! `onloop watch`: what a full screen asks of core besides the [board](onloop_engine::board). The screen
//! itself belongs to the host that has one.

use onloop_effect::{Exit, Io, LockHolder, ProcessRole};
use onloop_engine::ask;
use onloop_engine::conduct_args::remembered_options;
use onloop_engine::decide::demand_person;
use onloop_engine::select::open;
use onloop_engine::sessions::Sessions;
use onloop_run::{Attention, Door};
use onloop_sessions::handsoff::SessionId;
use onloop_verbs::gate::decide_as_seen;
use onloop_verbs::{SeenDecision, SeenRun, session};

/// Arguments of `onloop watch`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WatchArgs {
    /// Run id; left out: everything on this machine
    pub run_id: Option<String>,
}

/// `onloop watch` where the host has no screen to draw on.
pub async fn watch(io: &Io, args: &WatchArgs) -> Exit {
    if let Err(exit) = demand_screen(io, args).await {
        return exit;
    }
    io.note(
        "error: only the native onloop draws on a whole terminal; this one does not.\n  Install it \
         (`cargo install onloop`) and call it the same way. Here there are:\n    onloop web       \
         the same in a browser\n    onloop status    what is unfinished here",
    )
    .await;
    Exit::Refused
}

/// The run that alone is to be shown, where one is named. Refuses a screen where nobody could see it,
/// or of a run that is not there.
///
/// # Errors
///
/// `Usage` without a terminal, `Refused` where it cannot draw or there is no such run; it has been
/// explained.
pub async fn demand_screen(io: &Io, args: &WatchArgs) -> Result<Option<String>, Exit> {
    const INSTEAD: &str = "These print what there is:\n    onloop status                what is \
                           unfinished here\n    onloop list --everywhere     every run on this \
                           machine";
    let terminal = io.start().terminal;
    if !(terminal.stdin && terminal.stdout) {
        let why = "`onloop watch` needs a terminal; standard input or output is none.";
        io.note(format!("error: {why}\n  {INSTEAD}")).await;
        return Err(Exit::Usage);
    }
    if io.env("TERM").is_none_or(|term| term == "dumb") {
        let why = "this terminal cannot draw (TERM is not set, or `dumb`).";
        io.note(format!("error: {why}\n  {INSTEAD}")).await;
        return Err(Exit::Refused);
    }
    match &args.run_id {
        Some(wanted) => Ok(Some(open(io, Some(wanted)).await?.run().id.clone())),
        None => Ok(None),
    }
}

/// Records the decision of a person at a screen; what they have not seen they have not decided about.
pub async fn decide_on_screen(io: &Io, seen: SeenRun<'_>, decision: &SeenDecision) -> Exit {
    decide_as_seen(io, seen, decision, Door::Terminal).await
}

/// Shows, page by page, what a person may want to know before they decide; where nothing is asked,
/// everything that the run has changed.
pub async fn show_on_screen(io: &Io, run_id: &str) -> Exit {
    let store = match open(io, Some(run_id)).await {
        Ok(store) => store,
        Err(exit) => return exit,
    };
    let attention = store.run().attention();
    let question = match &attention {
        Some(Attention::Asks(question)) => Some(question),
        Some(_) | None => None,
    };
    ask::show(io, &store, question).await;
    Exit::Done
}

/// The process on this machine that drives a run, for whoever wants to interrupt it.
///
/// # Errors
///
/// Nobody drives it here, its process does not drive it alone, or an agent asks; it has been explained.
pub async fn stop_driver(io: &Io, run_id: &str) -> Result<u32, Exit> {
    demand_person(io, "stopping a run").await?;
    let store = open(io, Some(run_id)).await?;
    match io.holder(&store.paths().driver_lock()).await {
        Ok(Some(LockHolder { process, live: true, role })) => match role.map(ProcessRole::place) {
            None => Ok(process.pid),
            // A signal would end whatever else is done there.
            Some(place) => {
                io.note(format!(
                    "It is driven by {place} (process {}); stop it there.",
                    process.pid
                ))
                .await;
                Err(Exit::Failed)
            }
        },
        Ok(_) | Err(_) => {
            io.note("No process on this machine drives it.").await;
            Err(Exit::Failed)
        }
    }
}

/// The options with which a run was conducted, as a shell reads them behind `onloop resume ID`.
///
/// # Errors
///
/// There is no such run, or an agent asks; it has been explained.
pub async fn resume_options(io: &Io, run_id: &str) -> Result<String, Exit> {
    demand_person(io, "resuming a run from its screen").await?;
    let store = open(io, Some(run_id)).await?;
    Ok(remembered_options(io, store.paths()).await)
}

/// Stops sending on the agent of a session whose file lies below `folder`.
pub async fn stop_session_of(io: &Io, id: &str, folder: &str) -> Exit {
    if demand_person(io, "stopping a session").await.is_err() {
        return Exit::Failed;
    }
    match SessionId::new(id) {
        Some(id) => {
            let sessions = Sessions::below(io, folder).unwrap_or_else(|| Sessions::new(io));
            session::stop(io, &sessions, &id).await
        }
        None => {
            io.note("error: this is not the id of a session").await;
            Exit::Failed
        }
    }
}
