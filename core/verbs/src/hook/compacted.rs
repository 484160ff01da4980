//! After a conversation was compacted: the agent is told its goal, and how far it has come.

use super::driving::{Driven, driven};
use super::files::{cached_plan, template};
use super::{HookContext, log};
use onloop_engine::run::instruction::instruction;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_sessions::handsoff::prompt::{self, PromptFacts, RunAdvice, naming};
use onloop_sessions::handsoff::{Session, SessionState};
use onloop_sessions::hooks::HookAnswer;

pub(super) async fn compacted(context: &HookContext) -> HookAnswer {
    let Some(id) = &context.session else { return HookAnswer::Nothing };
    let sessions = context.sessions(id).await;
    match reminder(context, &sessions, sessions.load(id).await).await {
        Ok(Some(text)) => {
            log::debug(context, "told the goal again").await;
            let program = context.program_line().await;
            HookAnswer::AdditionalContext(naming(&text, program.as_deref()))
        }
        Ok(None) => HookAnswer::Nothing,
        Err(error) => {
            log::debug(context, &format!("the goal cannot be told again: {error}")).await;
            HookAnswer::SystemMessage(format!(
                "onloop cannot tell the agent its goal again: {error}"
            ))
        }
    }
}

async fn reminder(
    context: &HookContext,
    sessions: &Sessions,
    session: Result<Option<Session>, SessionError>,
) -> Result<Option<String>, SessionError> {
    let Some(session) = session? else { return Ok(None) };
    if !matches!(session.state, SessionState::Open(_)) || session.pause.is_some() {
        return Ok(None);
    }
    let plan = cached_plan(context, &session, sessions).await;
    let file = sessions.file(&session.id);
    let resume = context.host.resume_command(session.id.as_str());
    let facts = PromptFacts {
        number: session.continuation_count,
        maximum: context.loaded.config.max_continuations,
        file: &file,
        resume: &resume,
        plan: plan.as_ref().map(|(path, plan)| (path.as_str(), plan.as_str())),
    };
    let run = match driven(context, sessions, &session).await? {
        Driven::Run(run) => Some(run),
        Driven::Nothing | Driven::ByProcess | Driven::Over | Driven::TakenOver { .. } => None,
    };
    let Some(run) = run else {
        if session.workflow == Session::RUN {
            return Ok(None);
        }
        let template = template(context, &session.workflow).await;
        return Ok(Some(prompt::reminder(&session, facts, template.as_deref())));
    };
    let next = instruction(&run);
    let body = match prompt::run_advice(&run, next.action, next.command()) {
        RunAdvice::Continue(body) | RunAdvice::Message(body) => body,
        RunAdvice::Over => return Ok(None),
    };
    let of = prompt::run_title(&run);
    Ok(Some(prompt::retold(&session, facts, &of, &body)))
}
