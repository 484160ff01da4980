//! The agent wants to stop: by the record of a run, or by the session's workflow.

use super::driving::{Driven, driven};
use super::files::{cached_plan, template};
use super::{HookContext, background, log};
use crate::pull_request::of_session;
use onloop_engine::notify;
use onloop_engine::notify::session::NotificationContext;
use onloop_engine::run::instruction::instruction;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_engine::session::supervisor::{self, Supervision};
use onloop_engine::state::session_places;
use onloop_run::Run;
use onloop_sessions::handsoff::config::Provider;
use onloop_sessions::handsoff::prompt::{self, PromptFacts, RunAdvice};
use onloop_sessions::handsoff::transcript::{self, Evidence};
use onloop_sessions::handsoff::{
    HostCap, Session, SessionEnding, SessionId, SessionState, StopFacts, StopVerdict,
};
use onloop_sessions::hooks::{HookAnswer, Host, StopInput};
use onloop_syntax::limits;

/// Continuations in a row after which Claude Code ends a turn, unless its variable says otherwise.
const CLAUDE_CAP: u32 = 8;
const CLAUDE_CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// Follow-up messages that Cursor sends, unless the hook's entry says otherwise.
const CURSOR_CAP: u32 = 5;

pub(super) async fn stopped(context: &HookContext, stop: &StopInput) -> HookAnswer {
    let Some(id) = &context.session else { return HookAnswer::Nothing };
    if stop.broken_off {
        return HookAnswer::Nothing;
    }
    let sessions = context.sessions(id).await;
    let answer = match sessions.load(id).await {
        Ok(session) => decide(context, &sessions, id, session, stop).await,
        Err(error) => Err(error),
    };
    tell_person(context, &sessions, id).await;
    match answer {
        Ok(answer) => answer,
        Err(error) => {
            log::debug(context, &format!("not continued: {error}")).await;
            HookAnswer::SystemMessage(format!("onloop cannot continue this session: {error}"))
        }
    }
}

/// Tells a person that the session is not continued, where that is so and they were not told.
pub(super) async fn tell_person(context: &HookContext, sessions: &Sessions, id: &SessionId) {
    let resume = context.host.resume_command(id.as_str());
    let place = NotificationContext {
        folder: &context.cwd,
        resume: &resume,
        time_left_ms: Some(context.time_left_ms()),
    };
    let config = &context.loaded.config;
    if let Err(error) = notify::session::deliver(&context.io, config, sessions, id, place).await {
        log::debug(context, &format!("nobody was told: {error}")).await;
    }
}

pub(super) async fn decide(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    session: Option<Session>,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    // Nothing that this conversation did has anything to do with a run or a workflow.
    let Some(session) = session else {
        note_removed_file(context, sessions, id).await;
        return Ok(HookAnswer::Nothing);
    };
    let ended = matches!(session.state, SessionState::Ended(_));
    if ended && !session.is_of_run() {
        note_edited_end(context, sessions, &session).await?;
        return Ok(HookAnswer::Nothing);
    }
    if background::waits(context, sessions, &session, stop).await?.is_some() {
        return Ok(HookAnswer::Nothing);
    }
    match driven(context, sessions, &session).await? {
        Driven::Run(run) if session.works_on(&run) => {
            return by_record(context, sessions, id, &run, stop).await;
        }
        Driven::ByProcess if session.is_of_run() => return Ok(HookAnswer::Nothing),
        Driven::TakenOver { run, by } => {
            let told = let_go(context, sessions, id, (&run, &by)).await?;
            if session.is_of_run() {
                return Ok(told);
            }
        }
        Driven::Over if session.is_of_run() && !ended => {
            end(sessions, id, SessionEnding::Done, "its run is over, or gone").await?;
            return Ok(HookAnswer::Nothing);
        }
        // The rest of the session's work continues.
        Driven::Run(_) | Driven::ByProcess | Driven::Over | Driven::Nothing => {}
    }
    if session.begins_run_at.is_some() {
        expect_nothing(sessions, id).await?;
    }
    match session {
        session if ended || session.pause.is_some() || session.is_of_run() => {
            Ok(HookAnswer::Nothing)
        }
        session => by_workflow(context, sessions, &session, stop).await,
    }
}

/// Logs once that somebody ended the session by editing its file: every end of ours has a reason.
async fn note_edited_end(
    context: &HookContext,
    sessions: &Sessions,
    session: &Session,
) -> Result<(), SessionError> {
    if session.reason.is_some() {
        return Ok(());
    }
    let reason = "its file says so";
    sessions.change_known(&session.id, |session| session.ended_by_edit(reason)).await?;
    log::debug(context, &format!("ended as {}: {reason}", session.state.as_str())).await;
    Ok(())
}

/// Logs once that somebody ended the session by removing its file: it leaves the overview.
async fn note_removed_file(context: &HookContext, sessions: &Sessions, id: &SessionId) {
    let io = &context.io;
    if let Ok(folder) = io.canonical(sessions.home()).await
        && session_places::forget_known(io, &folder, id.as_str()).await
    {
        log::debug(context, "ended: its file was removed").await;
    }
}

/// What the turn has begun would be there by now; what somebody else begins later is not meant.
async fn expect_nothing(sessions: &Sessions, id: &SessionId) -> Result<(), SessionError> {
    let at = sessions.now();
    sessions.change_known(id, |session| session.begins_no_run(at)).await
}

/// Another conversation drives the run now. A person is told once.
async fn let_go(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    (run, by): (&str, &SessionId),
) -> Result<HookAnswer, SessionError> {
    let at = sessions.now();
    let reason = format!("run {run} is driven by session {by} now");
    sessions
        .change_known(id, |session| {
            session.lets_go(at, &reason);
            if session.is_of_run() {
                session.end(at, SessionEnding::Done, Some(&reason));
            }
        })
        .await?;
    log::debug(context, &reason).await;
    Ok(HookAnswer::SystemMessage(format!("onloop: {reason}")))
}

async fn end(
    sessions: &Sessions,
    id: &SessionId,
    ending: SessionEnding,
    reason: &str,
) -> Result<(), SessionError> {
    let at = sessions.now();
    sessions.change_known(id, |session| session.end(at, ending, Some(reason))).await.map(drop)
}

async fn by_record(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    run: &Run,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    let next = instruction(run);
    let body = match prompt::run_advice(run, next.action, next.command()) {
        RunAdvice::Continue(body) => body,
        RunAdvice::Message(message) => {
            log::debug(context, &message).await;
            return Ok(HookAnswer::SystemMessage(format!("onloop: {message}")));
        }
        RunAdvice::Over => return Ok(HookAnswer::Nothing),
    };
    let facts = StopFacts { run_revision: Some(run.revision), ..facts(context, stop).await };
    let at = context.io.now();
    let (of, program) = (prompt::run_title(run), context.program_line().await);
    let said = sessions
        .change(id, |session| {
            let mut stopped = session.clone().unwrap_or_else(|| Session::of_run(id.clone(), at));
            stopped.drive(run, at);
            let before = stopped.reason.clone();
            let verdict = stopped.stopped(at, &facts);
            if verdict == StopVerdict::Rest {
                return Said::Nothing;
            }
            let stopped = session.insert(stopped);
            settle(context, sessions, (stopped, before), verdict, |session, facts| {
                prompt::naming(&prompt::framed(session, facts, &of, &body), program.as_deref())
            })
        })
        .await?;
    Ok(tell(context, said).await)
}

async fn by_workflow(
    context: &HookContext,
    sessions: &Sessions,
    before: &Session,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    let id = &before.id;
    if let Some(answer) = by_pull_request(context, sessions, before).await? {
        return Ok(answer);
    }
    let facts = facts(context, stop).await;
    let plan = cached_plan(context, before, sessions).await;
    let template = template(context, &before.workflow).await;
    let (at, program) = (context.io.now(), context.program_line().await);
    let mut said = sessions
        .change_known(id, |session| {
            let before = session.reason.clone();
            let verdict = session.stopped(at, &facts);
            settle(context, sessions, (session, before), verdict, |session, facts| {
                let plan = plan.as_ref().map(|(path, plan)| (path.as_str(), plan.as_str()));
                let facts = PromptFacts { plan, ..facts };
                let prompt = prompt::continuation(session, facts, template.as_deref());
                prompt::naming(&prompt, program.as_deref())
            })
        })
        .await?;
    if let Said::Continue { prompt, number, maximum } = &mut said
        && let Some(words) = supervised(context, before, (*number, *maximum), prompt).await
    {
        let resume = context.host.resume_command(id.as_str());
        let file = sessions.file(id);
        let (number, maximum) = (*number, *maximum);
        let facts = PromptFacts { number, maximum, file: &file, resume: &resume, plan: None };
        let words = prompt::supervised(before, facts, &words);
        *prompt = prompt::naming(&words, program.as_deref());
        sent_on(sessions, id, prompt).await?;
    }
    Ok(tell(context, said).await)
}

/// Ends a session whose goal is a pull request, once that says that the work is done. Otherwise the
/// words and limits of the workflow hold.
async fn by_pull_request(
    context: &HookContext,
    sessions: &Sessions,
    session: &Session,
) -> Result<Option<HookAnswer>, SessionError> {
    let timeout_ms = limits::SESSION_REQUEST_MS.min(context.time_left_ms() / 2);
    let found = of_session(&context.io, &context.cwd, session, timeout_ms).await;
    let Some(request) = found else { return Ok(None) };
    let reason = request.clause();
    if !request.is_done() {
        log::debug(context, &format!("not ended: {reason}")).await;
        return Ok(None);
    }
    let at = sessions.now();
    sessions
        .change_known(&session.id, |session| {
            if session.end(at, SessionEnding::Done, Some(&reason)) {
                notify::session::enqueue(session, &context.loaded.config);
            }
        })
        .await?;
    let message = format!("session {} is done: {reason}", session.id);
    log::debug(context, &message).await;
    Ok(Some(HookAnswer::SystemMessage(format!("onloop: {message}"))))
}

/// Remembers what the agent is told in the end.
async fn sent_on(sessions: &Sessions, id: &SessionId, prompt: &str) -> Result<(), SessionError> {
    sessions.change_known(id, |session| session.sent_on(prompt)).await
}

/// What the supervisor would say, if there is one. The count is on disk by now, so that
/// nothing waits for it.
async fn supervised(
    context: &HookContext,
    session: &Session,
    (number, most): (u32, u32),
    own_prompt: &str,
) -> Option<String> {
    if context.loaded.config.supervisor.provider == Provider::None {
        return None;
    }
    let (tail, whole) = context.transcript().await;
    let conversation = transcript::conversation(&tail, whole);
    let about = Supervision {
        session: session.id.as_str(),
        cwd: &context.cwd,
        workflow: &session.workflow,
        number,
        most,
        own_prompt,
        conversation: &conversation,
        time_left_ms: context.time_left_ms(),
    };
    supervisor::prompt(&context.io, &context.loaded.config, &about).await
}

/// What came of a stop.
#[derive(Default)]
enum Said {
    #[default]
    Nothing,
    Continue {
        prompt: String,
        number: u32,
        maximum: u32,
    },
    Over(String),
}

/// The session after `verdict`, which had not been continued because of `before`, and what is said.
fn settle(
    context: &HookContext,
    sessions: &Sessions,
    (session, before): (&mut Session, Option<String>),
    verdict: StopVerdict,
    render: impl FnOnce(&Session, PromptFacts<'_>) -> String,
) -> Said {
    match verdict {
        StopVerdict::Rest => Said::Nothing,
        StopVerdict::End(why) => {
            if session.reason != before {
                notify::session::enqueue(session, &context.loaded.config);
            }
            Said::Over(format!("session {} is not continued: {why}", session.id))
        }
        StopVerdict::Continue { number, maximum } => {
            let file = sessions.file(&session.id);
            let resume = context.host.resume_command(session.id.as_str());
            let facts = PromptFacts { number, maximum, file: &file, resume: &resume, plan: None };
            let prompt = render(session, facts);
            session.sent_on(&prompt);
            Said::Continue { prompt, number, maximum }
        }
    }
}

async fn tell(context: &HookContext, said: Said) -> HookAnswer {
    match said {
        Said::Nothing => HookAnswer::Nothing,
        Said::Continue { prompt, number, maximum } => {
            log::debug(context, &format!("continued {number}/{maximum}")).await;
            HookAnswer::Continue(prompt)
        }
        Said::Over(mut message) => {
            log::debug(context, &message).await;
            if context.loaded.config.max_continuations == 0 {
                context.loaded.config.notes.iter().for_each(|note| message += &format!("; {note}"));
            }
            HookAnswer::SystemMessage(format!("onloop: {message}"))
        }
    }
}

/// What is known about the agent's turn, and what host and configuration allow.
async fn facts(context: &HookContext, stop: &StopInput) -> StopFacts {
    let mut evidence = evidence(context, stop).await;
    if stop.is_cut {
        // The error in the transcript says that; the answer stands before it.
        evidence.api_error = None;
    }
    let message = stop.message.clone().or_else(|| evidence.message.clone());
    let cap = match context.host {
        Host::Claude => {
            let told = context.io.env(CLAUDE_CAP_VARIABLE).and_then(|cap| cap.trim().parse().ok());
            HostCap::InARow(told.filter(|&cap| cap > 0).unwrap_or(CLAUDE_CAP))
        }
        Host::Cursor => HostCap::Total(context.loop_limit.unwrap_or(CURSOR_CAP)),
        Host::Codex | Host::VsCode | Host::OpenCode | Host::Cline | Host::Copilot => HostCap::None,
    };
    StopFacts {
        configured: context.loaded.config.max_continuations,
        cap,
        evidence: Evidence { message, ..evidence },
        run_revision: None,
    }
}

/// What the transcript shows, once the agent's last words have reached it.
async fn evidence(context: &HookContext, stop: &StopInput) -> Evidence {
    let mut waited_ms = 0;
    loop {
        let (tail, whole) = context.transcript().await;
        let evidence = transcript::read(&tail, whole);
        if !stop.message.as_deref().is_some_and(|message| evidence.is_behind(message)) {
            return evidence;
        }
        let sleeps = waited_ms < limits::TRANSCRIPT_LAG_MS;
        if !sleeps || context.io.sleep(limits::TRANSCRIPT_POLL_MS).await.is_err() {
            return evidence.late();
        }
        waited_ms += limits::TRANSCRIPT_POLL_MS;
    }
}
