//! Ties a conversation to the run that it drives, by what it does itself: its calls and the prompts
//! that begin or continue a run. Calls that are not ours cost a look at their text.

use super::{HookContext, log};
use onloop_effect::Io;
use onloop_engine::session::conversation::{
    self, began_since, driver, is_driven_by_process, not_of_others, of_file, only, set_driver,
};
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_engine::state::store::{Store, StoreError};
use onloop_permission::{Call, Context, Decision, explain};
use onloop_run::Run;
use onloop_sessions::handsoff::driving::{
    RunCall, RunPrompt, assigned, ids_in, may_name_us, of_prompt, of_tool, of_words,
};
use onloop_sessions::handsoff::{Session, SessionId};
use onloop_sessions::hooks::HookAnswer;
use onloop_syntax::limits;

/// Before a call of the conversation. One that was refused drives nothing.
pub(super) async fn called(context: &HookContext, call: &Call, answer: &HookAnswer) {
    let is_refused = matches!(answer, HookAnswer::Decided(Decision::Deny, _));
    let Some(id) = context.session.as_ref().filter(|_| !is_refused && !context.is_inner()) else {
        return;
    };
    let Some(driving) = of_call(context, call) else { return };
    if let Err(error) = note(context, id, call, driving).await {
        log::debug(context, &format!("who drives the run is not known: {error}")).await;
    }
}

async fn note(
    context: &HookContext,
    id: &SessionId,
    call: &Call,
    driving: RunCall,
) -> Result<(), SessionError> {
    let sessions = context.sessions(id).await;
    let session = sessions.load(id).await?;
    if session.as_ref().is_some_and(|session| !session.may_drive()) {
        return Ok(());
    }
    let (asks, run) = match driving {
        RunCall::Begins => return begins(&sessions, id).await,
        RunCall::WorksOn(run) => (false, run),
        RunCall::Asks(run) => (true, run),
    };
    let bound = session.as_ref().and_then(|session| session.run_id.as_deref());
    let Some(run) = meant(context, call, run, bound).await else { return Ok(()) };
    // Who asks what comes next takes no run from others, and ends no pause.
    let is_taken =
        session.is_some_and(|session| session.run_id.is_some() || session.pause.is_some());
    if asks && (is_taken || driver(&context.io, &run).await.is_some()) {
        return Ok(());
    }
    tie(context, &sessions, id, &run).await
}

/// What a call does about a run. Lines of shell are read as the permission engine reads them, so
/// that naming our program is not calling it.
fn of_call(context: &HookContext, call: &Call) -> Option<RunCall> {
    if let Some(driving) = of_tool(&call.tool, &call.input) {
        return Some(driving);
    }
    line_of(call)?;
    let explained = explain(call, &Context::new(&context.project));
    let found: Vec<RunCall> =
        explained.commands.iter().filter_map(|command| of_words(&command.words)).collect();
    // `onloop init FILE && onloop next` does both; the one that begins says more.
    let begins = found.iter().find(|driving| **driving == RunCall::Begins);
    let works = found.iter().rfind(|driving| matches!(driving, RunCall::WorksOn(_)));
    begins.or(works).or(found.last()).cloned()
}

/// The line of a call that can name our program.
fn line_of(call: &Call) -> Option<String> {
    let line = match ["command", "cmd"].iter().find_map(|key| call.input.get(*key))? {
        serde_json::Value::String(line) => line.clone(),
        serde_json::Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(serde_json::Value::as_str).collect();
            words.join(" ")
        }
        _ => return None,
    };
    may_name_us(&line).then_some(line)
}

/// The id of the unfinished run that a call works on, as the verbs choose it; without a name, the one
/// that the conversation is `bound` to where that works in this folder, since to look at all of them takes time.
async fn meant(
    context: &HookContext,
    call: &Call,
    named: Option<String>,
    bound: Option<&str>,
) -> Option<String> {
    let io = &context.io;
    let given = || line_of(call).and_then(|line| assigned(&line));
    let of_environment = || io.env("HOTL_RUN_ID").map(str::to_owned);
    if let Some(id) = named.or_else(given).or_else(of_environment) {
        return unfinished_run(io, &id).await.map(|run| run.id.clone());
    }
    if let Some(id) = bound
        && let Some(run) = unfinished_run(io, id).await
    {
        for folder in context.folders() {
            let root = io.canonical(folder).await.unwrap_or_else(|_| folder.to_owned());
            if run.place.roots().any(|of_run| of_run == root) {
                return Some(run.id.clone());
            }
        }
    }
    only(conversation::unfinished(io, &context.folders()).await).map(|run| run.id.clone())
}

/// Run `id`, if the state home has it and it is not over.
async fn unfinished_run(io: &Io, id: &str) -> Option<Run> {
    let store = Store::open(io, id).await.ok()?;
    Some(store.run().clone()).filter(|run| !run.is_over())
}

async fn begins(sessions: &Sessions, id: &SessionId) -> Result<(), SessionError> {
    let at = sessions.now();
    sessions
        .change(id, |session| {
            let session = session.get_or_insert_with(|| Session::of_run(id.clone(), at));
            if session.may_drive() {
                session.begins_run(at);
            }
        })
        .await
}

/// The conversation drives `run` from now on, in place of another one.
async fn tie(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    run: &str,
) -> Result<(), SessionError> {
    let at = sessions.now();
    let session = sessions
        .change(id, |session| {
            let session = session.get_or_insert_with(|| Session::of_run(id.clone(), at));
            if session.may_drive() {
                session.drives(run, at);
            }
            session.clone()
        })
        .await?;
    if session.may_drive() && driver(&context.io, run).await.as_ref() != Some(id) {
        set_driver(&context.io, run, &session).await?;
        log::debug(context, &format!("drives run {run}")).await;
    }
    Ok(())
}

/// After a call of the conversation: what it began has an id now, and is printed.
pub(super) async fn done(context: &HookContext, call: &Call, output: &str) {
    let Some(id) = &context.session else { return };
    if of_call(context, call) != Some(RunCall::Begins) {
        return;
    }
    let sessions = context.sessions(id).await;
    let session = sessions.load(id).await.ok().flatten();
    let Some(since) = session.and_then(|session| session.begins_run_at) else { return };
    for run in ids_in(output).take(limits::RUNS_PRINTED) {
        let Some(run) = unfinished_run(&context.io, run).await else { continue };
        // What was printed may name older runs and those of others as well.
        let is_of_other = driver(&context.io, &run.id).await.is_some_and(|by| by != *id);
        if is_of_other || !began_since(&run, since) {
            continue;
        }
        if let Err(error) = tie(context, &sessions, id, &run.id).await {
            log::debug(context, &format!("who drives run {} is not known: {error}", run.id)).await;
        }
        return;
    }
}

/// Before a prompt is sent that starts no workflow of a session. Whether it is about a run.
pub(super) async fn prompted(
    context: &HookContext,
    id: &SessionId,
    text: &str,
    prompt_id: Option<&str>,
) -> Result<bool, SessionError> {
    let Some(prompt) = of_prompt(text) else { return Ok(false) };
    let (io, folders) = (&context.io, context.folders());
    let run = match &prompt {
        RunPrompt::Begins => None,
        RunPrompt::Continues(Some(id)) => unfinished_run(io, id).await.map(|run| run.id.clone()),
        RunPrompt::Continues(None) => {
            only(conversation::unfinished(io, &folders).await).map(|run| run.id.clone())
        }
        // A name is not much: it takes no run from others.
        RunPrompt::Names(file) => {
            let runs = conversation::unfinished(io, &folders).await;
            let runs = of_file(io, runs, file, &folders).await;
            only(not_of_others(io, runs, id).await).map(|run| run.id.clone())
        }
    };
    let sessions = context.sessions(id).await;
    match (run, prompt) {
        (None, RunPrompt::Continues(_)) => return Ok(false),
        (None, RunPrompt::Begins | RunPrompt::Names(_)) => {
            // One that is bound to a run stays bound until the other one is there.
            let is_new = sessions.load(id).await?.is_none_or(|session| {
                let is_bound = session.run_id.is_some() && session.may_drive();
                session.workflow == Session::RUN && !is_bound
            });
            if is_new {
                let mut session = Session::of_run(id.clone(), sessions.now());
                session.begins_run(sessions.now());
                sessions.begin(&session).await?;
            } else {
                begins(&sessions, id).await?;
            }
        }
        (Some(run), _) => {
            // What a person says goes before how the session ended.
            if sessions.load(id).await?.is_some_and(|session| !session.may_drive()) {
                sessions.begin(&Session::of_run(id.clone(), sessions.now())).await?;
            }
            tie(context, &sessions, id, &run).await?;
        }
    }
    note_prompt(&sessions, id, prompt_id).await?;
    Ok(true)
}

/// Remembers the host's id of the prompt: a command comes again as what it stands for.
async fn note_prompt(
    sessions: &Sessions,
    id: &SessionId,
    prompt_id: Option<&str>,
) -> Result<(), SessionError> {
    let Some(prompt_id) = prompt_id else { return Ok(()) };
    sessions.change_known(id, |session| session.begun_by(Some(prompt_id))).await
}

/// The run that a session drives.
pub(super) enum Driven {
    /// None.
    Nothing,
    /// This one, which is unfinished.
    Run(Box<Run>),
    /// One that a process drives at the moment.
    ByProcess,
    /// One that is over, or gone.
    Over,
    /// One that another conversation drives now.
    TakenOver {
        /// The run.
        run: String,
        /// The other conversation.
        by: SessionId,
    },
}

/// The run that the conversation of `session` drives.
///
/// # Errors
///
/// When its record cannot be read: it may be unfinished.
pub(super) async fn driven(
    context: &HookContext,
    sessions: &Sessions,
    session: &Session,
) -> Result<Driven, SessionError> {
    let io = &context.io;
    let begun = match session.begins_run_at {
        Some(since) => {
            let mut runs = conversation::unfinished(io, &context.folders()).await;
            runs.retain(|run| began_since(run, since));
            only(not_of_others(io, runs, &session.id).await)
        }
        None => None,
    };
    if let Some(run) = &begun {
        tie(context, sessions, &session.id, &run.id).await?;
    }
    let Some(id) = begun.map(|run| run.id.clone()).or_else(|| session.run_id.clone()) else {
        return Ok(Driven::Nothing);
    };
    let store = match Store::open(io, &id).await {
        Ok(store) => store,
        Err(StoreError::Missing) => return Ok(Driven::Over),
        Err(error) => return Err(SessionError::Record { run_id: id, error }),
    };
    if store.run().is_over() {
        return Ok(Driven::Over);
    }
    match driver(io, &id).await {
        Some(by) if by != session.id => Ok(Driven::TakenOver { run: id, by }),
        Some(_) | None if is_driven_by_process(io, &store).await => Ok(Driven::ByProcess),
        Some(_) | None => Ok(Driven::Run(Box::new(store.run().clone()))),
    }
}
