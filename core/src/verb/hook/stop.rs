//! The agent wants to stop: by the record of a run, or by the session's workflow.

use super::{Scene, log};
use crate::engine::find_run::own_ids;
use crate::engine::instruction::instruction;
use crate::engine::notify;
use crate::engine::notify::session::Whereabouts;
use crate::engine::sessions::{SessionChange, SessionError, Sessions};
use crate::engine::store::{Store, StoreError};
use crate::engine::supervisor::{self, Supervision};
use crate::handsoff::config::Provider;
use crate::handsoff::prompt::{self, PromptFacts, RunAdvice};
use crate::handsoff::transcript::{self, Evidence};
use crate::handsoff::{
    HostCap, Session, SessionEnding, SessionId, SessionState, StopFacts, StopVerdict,
};
use crate::hooks::{HookAnswer, Host, StopInput};
use crate::limits;
use crate::run::Run;
use crate::text;

/// Continuations in a row after which Claude Code ends a turn, unless its variable says otherwise.
const CLAUDE_CAP: u32 = 8;
const CLAUDE_CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// Follow-up messages that Cursor sends, unless the hook's entry says otherwise.
const CURSOR_CAP: u32 = 5;

pub(super) async fn stopped(scene: &Scene, stop: &StopInput) -> HookAnswer {
    let Some(id) = &scene.session else { return HookAnswer::Nothing };
    if stop.broken_off {
        return HookAnswer::Nothing;
    }
    let sessions = scene.sessions(id).await;
    let answer = match sessions.load(id).await {
        Ok(session) => decide(scene, &sessions, id, session, stop).await,
        Err(error) => Err(error),
    };
    tell_person(scene, &sessions, id).await;
    match answer {
        Ok(answer) => answer,
        Err(error) => {
            log::debug(scene, &format!("not continued: {error}")).await;
            HookAnswer::Tell(format!("onloop cannot continue this session: {error}"))
        }
    }
}

/// Tells a person that the session is not continued, where that is so and they were not told.
async fn tell_person(scene: &Scene, sessions: &Sessions, id: &SessionId) {
    let resume = scene.host.resume_command(id.as_str());
    let place = Whereabouts {
        folder: &scene.cwd,
        resume: &resume,
        time_left_ms: Some(scene.time_left_ms()),
    };
    let config = &scene.loaded.config;
    if let Err(error) = notify::session::tell(&scene.io, config, sessions, id, place).await {
        log::debug(scene, &format!("nobody was told: {error}")).await;
    }
}

async fn decide(
    scene: &Scene,
    sessions: &Sessions,
    id: &SessionId,
    session: Option<Session>,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    let ended = |session: &Session| matches!(session.state, SessionState::Ended(_));
    if session.as_ref().is_some_and(ended) && !is_of_run(session.as_ref()) {
        return Ok(HookAnswer::Nothing);
    }
    let bound = session.as_ref().and_then(|session| session.run_id.as_deref());
    if let Some(run) = active_run(scene, bound).await?
        && session.as_ref().is_none_or(|session| session.works_on(&run))
    {
        return by_record(scene, sessions, id, &run, stop).await;
    }
    match session {
        Some(session) if ended(&session) || session.paused => Ok(HookAnswer::Nothing),
        Some(session) if is_of_run(Some(&session)) => {
            end(sessions, id, SessionEnding::Done, "its run is over, or gone").await?;
            Ok(HookAnswer::Nothing)
        }
        Some(session) => by_workflow(scene, sessions, &session, stop).await,
        None => Ok(HookAnswer::Nothing),
    }
}

fn is_of_run(session: Option<&Session>) -> bool {
    session.is_some_and(|session| session.workflow == Session::RUN)
}

async fn end(
    sessions: &Sessions,
    id: &SessionId,
    ending: SessionEnding,
    reason: &str,
) -> Result<(), SessionError> {
    let at = sessions.now();
    sessions
        .change(id, |session| match session {
            Some(mut session) => {
                let changed = session.end(at, ending, Some(reason));
                (SessionChange::when(changed, session), ())
            }
            None => (SessionChange::Keep, ()),
        })
        .await
}

/// The run that is worked on in this checkout: `bound`, or the only unfinished one that has
/// changed lately. A run that another process drives continues without us.
///
/// # Errors
///
/// When the record of a run that is named cannot be read: it may be unfinished.
pub(super) async fn active_run(
    scene: &Scene,
    bound: Option<&str>,
) -> Result<Option<Run>, SessionError> {
    let wanted = bound.or_else(|| scene.io.env("HOTL_RUN_ID"));
    let mut folders = vec![scene.io.start().cwd.as_str()];
    for folder in [scene.project.as_str(), scene.cwd.as_str()] {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let mut found: Vec<Run> = Vec::new();
    for root in folders {
        let root = scene.io.canonical(root).await.unwrap_or_else(|_| root.to_owned());
        for id in own_ids(&scene.io, &root).await {
            if wanted.is_some_and(|wanted| wanted != id) || found.iter().any(|run| run.id == id) {
                continue;
            }
            let store = match Store::open(&scene.io, &id).await {
                Ok(store) => store,
                Err(error) if wanted.is_some() && !matches!(error, StoreError::Missing) => {
                    return Err(SessionError::Record { run_id: id, error });
                }
                Err(_) => continue,
            };
            let run = store.run();
            if run.place.execution_root != root {
                continue;
            }
            let age_ms = scene.io.now().millis_since(run.last_update);
            let lately = wanted.is_some() || age_ms <= limits::SESSION_STALE_MS;
            let driven = scene.io.stat(&store.paths().driver_lock()).await.is_ok();
            if lately && !driven && !run.is_over() {
                found.push(run.clone());
            }
        }
    }
    // Nobody has said which of several is meant.
    Ok(if found.len() == 1 { found.pop() } else { None })
}

async fn by_record(
    scene: &Scene,
    sessions: &Sessions,
    id: &SessionId,
    run: &Run,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    let next = instruction(run);
    let body = match prompt::run_advice(run, next.action, next.command()) {
        RunAdvice::GoOn(body) => body,
        RunAdvice::Tell(message) => {
            log::debug(scene, &message).await;
            return Ok(HookAnswer::Tell(format!("onloop: {message}")));
        }
        RunAdvice::Over => return Ok(HookAnswer::Nothing),
    };
    let facts = StopFacts { run_revision: Some(run.revision), ..facts(scene, stop).await };
    let at = scene.io.now();
    let of = prompt::run_title(run);
    let said = sessions
        .change(id, |session| {
            let mut session = session.unwrap_or_else(|| Session::of_run(id.clone(), at));
            session.drive(run, at);
            let before = session.reason.clone();
            let verdict = session.stopped(at, &facts);
            settle(scene, sessions, (session, before), verdict, |session, facts| {
                prompt::framed(session, facts, &of, &body)
            })
        })
        .await?;
    Ok(tell(scene, said).await)
}

async fn by_workflow(
    scene: &Scene,
    sessions: &Sessions,
    before: &Session,
    stop: &StopInput,
) -> Result<HookAnswer, SessionError> {
    let id = &before.id;
    let facts = facts(scene, stop).await;
    let plan = match plan_of(before, sessions) {
        Some(path) => read_plan(scene, path).await,
        None => None,
    };
    let template = template(scene, &before.workflow).await;
    let at = scene.io.now();
    let mut said = sessions
        .change(id, |session| {
            let Some(mut session) = session else { return (SessionChange::Keep, Said::Nothing) };
            let before = session.reason.clone();
            let verdict = session.stopped(at, &facts);
            settle(scene, sessions, (session, before), verdict, |session, facts| {
                let plan = plan.as_ref().map(|(path, plan)| (path.as_str(), plan.as_str()));
                prompt::continuation(session, PromptFacts { plan, ..facts }, template.as_deref())
            })
        })
        .await?;
    if let Said::GoOn { prompt, number, maximum } = &mut said
        && let Some(words) = supervised(scene, before, (*number, *maximum), prompt).await
    {
        let resume = scene.host.resume_command(id.as_str());
        let file = sessions.file(id);
        let (number, maximum) = (*number, *maximum);
        let facts = PromptFacts { number, maximum, file: &file, resume: &resume, plan: None };
        *prompt = prompt::supervised(before, facts, &words);
        sent_on(sessions, id, prompt).await?;
    }
    Ok(tell(scene, said).await)
}

/// Remembers what the agent is told in the end.
async fn sent_on(sessions: &Sessions, id: &SessionId, prompt: &str) -> Result<(), SessionError> {
    sessions
        .change(id, |session| match session {
            Some(mut session) => {
                session.sent_on(prompt);
                (SessionChange::Write(Box::new(session)), ())
            }
            None => (SessionChange::Keep, ()),
        })
        .await
}

/// What the supervisor would say, if there is one. The count is on disk by now, so that
/// nothing waits for it.
async fn supervised(
    scene: &Scene,
    session: &Session,
    (number, most): (u32, u32),
    own_prompt: &str,
) -> Option<String> {
    if scene.loaded.config.supervisor.provider == Provider::None {
        return None;
    }
    let (tail, whole) = scene.transcript().await;
    let conversation = transcript::conversation(&tail, whole);
    let about = Supervision {
        cwd: &scene.cwd,
        workflow: &session.workflow,
        number,
        most,
        own_prompt,
        conversation: &conversation,
        time_left_ms: scene.time_left_ms(),
    };
    supervisor::prompt(&scene.io, &scene.loaded.config, &about).await
}

/// What came of a stop.
enum Said {
    Nothing,
    GoOn { prompt: String, number: u32, maximum: u32 },
    Over(String),
}

/// The session after `verdict`, which had not been continued because of `before`, and what is said.
fn settle(
    scene: &Scene,
    sessions: &Sessions,
    (mut session, before): (Session, Option<String>),
    verdict: StopVerdict,
    render: impl FnOnce(&Session, PromptFacts<'_>) -> String,
) -> (SessionChange, Said) {
    match verdict {
        StopVerdict::Rest => (SessionChange::Keep, Said::Nothing),
        StopVerdict::End(why) => {
            if session.reason != before {
                notify::session::owe(&mut session, &scene.loaded.config);
            }
            let message = format!("session {} is not continued: {why}", session.id);
            (SessionChange::Write(Box::new(session)), Said::Over(message))
        }
        StopVerdict::Continue { number, maximum } => {
            let file = sessions.file(&session.id);
            let resume = scene.host.resume_command(session.id.as_str());
            let facts = PromptFacts { number, maximum, file: &file, resume: &resume, plan: None };
            let prompt = render(&session, facts);
            session.sent_on(&prompt);
            (SessionChange::Write(Box::new(session)), Said::GoOn { prompt, number, maximum })
        }
    }
}

async fn tell(scene: &Scene, said: Said) -> HookAnswer {
    match said {
        Said::Nothing => HookAnswer::Nothing,
        Said::GoOn { prompt, number, maximum } => {
            log::debug(scene, &format!("continued {number}/{maximum}")).await;
            HookAnswer::Continue(prompt)
        }
        Said::Over(mut message) => {
            log::debug(scene, &message).await;
            if scene.loaded.config.max_continuations == 0 {
                scene.loaded.config.notes.iter().for_each(|note| message += &format!("; {note}"));
            }
            HookAnswer::Tell(format!("onloop: {message}"))
        }
    }
}

/// What is known about the agent's turn, and what host and configuration allow.
async fn facts(scene: &Scene, stop: &StopInput) -> StopFacts {
    let evidence = evidence(scene, stop).await;
    let message = stop.message.clone().or_else(|| evidence.message.clone());
    let cap = match scene.host {
        Host::Claude => {
            let told = scene.io.env(CLAUDE_CAP_VARIABLE).and_then(|cap| cap.trim().parse().ok());
            HostCap::InARow(told.filter(|&cap| cap > 0).unwrap_or(CLAUDE_CAP))
        }
        Host::Cursor => HostCap::Total(CURSOR_CAP),
        Host::Codex | Host::VsCode | Host::OpenCode | Host::Cline | Host::Copilot => HostCap::None,
    };
    StopFacts {
        configured: scene.loaded.config.max_continuations,
        cap,
        evidence: Evidence { message, ..evidence },
        run_revision: None,
    }
}

/// What the transcript shows, once the agent's last words have reached it.
async fn evidence(scene: &Scene, stop: &StopInput) -> Evidence {
    let mut waited_ms = 0;
    loop {
        let (tail, whole) = scene.transcript().await;
        let evidence = transcript::read(&tail, whole);
        if !stop.message.as_deref().is_some_and(|message| evidence.is_behind(message)) {
            return evidence;
        }
        let sleeps = waited_ms < limits::TRANSCRIPT_LAG_MS;
        if !sleeps || scene.io.sleep(limits::TRANSCRIPT_POLL_MS).await.is_err() {
            // The tools in it belong to an earlier turn.
            return Evidence { tools: None, ..evidence };
        }
        waited_ms += limits::TRANSCRIPT_POLL_MS;
    }
}

/// Where the plan of an issue is cached, for the workflow that has one.
fn plan_of(session: &Session, sessions: &Sessions) -> Option<String> {
    let issue = session.issue_no.filter(|_| session.workflow == "issue-to-impl")?;
    Some(format!("{}/.tmp/plan-of-issue-{issue}.md", sessions.home()))
}

async fn read_plan(scene: &Scene, path: String) -> Option<(String, String)> {
    let (bytes, _) = scene.io.read(&path, limits::PLAN_BYTES).await.ok()?;
    Some((path, String::from_utf8_lossy(&bytes).into_owned()))
}

/// The user's own text for a workflow.
async fn template(scene: &Scene, workflow: &str) -> Option<String> {
    let own = scene.loaded.config.workflows.iter().find(|own| own.name == workflow)?;
    match scene.io.read(&own.prompt_file, limits::SESSION_BYTES).await {
        Ok((bytes, _)) => Some(text::printable(&String::from_utf8_lossy(&bytes))),
        Err(failure) => {
            log::debug(scene, &format!("the prompt of `{workflow}`: {failure}")).await;
            None
        }
    }
}
