//! Decides about a tool call: first by rules, then, where no rule decides, by whoever can be asked.

use super::{Scene, driving, log};
use onloop_documents::session::RememberedAnswer;
use onloop_engine::approval::pending::{self, Deferred, WaitedFor};
use onloop_engine::approval::{self, Escalation, Resolution};
use onloop_engine::sandbox::run::Confining;
use onloop_engine::session::files::{SessionChange, Sessions};
use onloop_engine::{git::known_to_git, git::links, session::workspace};
use onloop_permission::{Call, CallingSession, Context, Decision, Rule, Ruling, contained, decide};
use onloop_sessions::handsoff::approval::message;
use onloop_sessions::handsoff::approval::{ApprovalChoice, ApprovalStage, Approver};
use onloop_sessions::handsoff::{Session, SessionState, digest, transcript};
use onloop_sessions::hooks::{HookAnswer, Host};
use onloop_syntax::limits;
use serde_json::Value;

/// Before a tool is used.
pub(super) async fn tool_call(scene: &Scene, call: &Call) -> HookAnswer {
    let answer = judged(scene, call).await;
    driving::called(scene, call, &answer).await;
    answer
}

async fn judged(scene: &Scene, call: &Call) -> HookAnswer {
    let ruling = by_rules(scene, call).await;
    if ruling.decision != Decision::Ask || scene.is_asked_by_us() {
        return decided(scene, call, &ruling).await;
    }
    if let Some((input, ruling)) = confined(scene, call, &ruling).await {
        return rewritten(scene, call, input, &ruling).await;
    }
    if let Some(ruling) = answered_by_hand(scene, call).await {
        return decided(scene, call, &ruling).await;
    }
    let ruling = escalated(scene, call, ruling).await;
    if defers(scene)
        && ruling.decision == Decision::Ask
        && let Some(id) = deferred(scene, call, &ruling).await
    {
        log::deferred(scene, call, &ruling, &id).await;
        let why = format!("{}; answer with: onloop approve {id}", why(&ruling));
        return HookAnswer::Deferred(why);
    }
    // It may have waited before, and somebody else has decided, or the terminal asks now.
    if let Some(id) = call_id(scene, call) {
        pending::forget(&scene.io, &id).await;
    }
    remember(scene, &digest_of(call), &ruling).await;
    decided(scene, call, &ruling).await
}

/// The host is about to ask a person, often because we have just answered "ask". Then nobody is
/// asked a second time.
pub(super) async fn permission_request(scene: &Scene, call: &Call) -> HookAnswer {
    let ruling = by_rules(scene, call).await;
    if ruling.decision != Decision::Ask || scene.is_asked_by_us() {
        return decided(scene, call, &ruling).await;
    }
    let ruling = match recalled(scene, &digest_of(call)).await {
        Some(ruling) => ruling,
        None => escalated(scene, call, ruling).await,
    };
    decided(scene, call, &ruling).await
}

/// The input with which a call that no rule decides runs confined, where the host takes one and this
/// machine can confine what runs in the folder.
pub(super) async fn confined(
    scene: &Scene,
    call: &Call,
    ruling: &Ruling,
) -> Option<(Value, Ruling)> {
    if !scene.host.rewrites() || scene.confined {
        return None;
    }
    let mut context = branched(scene, call).await;
    links::resolve(&scene.io, call, &mut context.places).await;
    let rewritten = contained(call, &context, ruling, &scene.io.start().program)?;
    // A call that cannot run is worse than one that is asked about.
    let can = Confining::attempt(&scene.io, &scene.cwd).await.ok()?;
    can.end(&scene.io).await;
    Some(rewritten)
}

pub(super) async fn decided(scene: &Scene, call: &Call, ruling: &Ruling) -> HookAnswer {
    log::decision(scene, call, ruling).await;
    HookAnswer::Decided(ruling.decision, why(ruling))
}

/// The answer about a call that runs with another input.
pub(super) async fn rewritten(
    scene: &Scene,
    call: &Call,
    input: Value,
    ruling: &Ruling,
) -> HookAnswer {
    log::decision(scene, call, ruling).await;
    HookAnswer::Rewritten { input, why: why(ruling) }
}

fn why(ruling: &Ruling) -> String {
    format!("onloop ({}): {}", ruling.rule, ruling.reason)
}

fn digest_of(call: &Call) -> String {
    digest(&format!("{}\n{}", call.tool, call.input))
}

/// Asks whoever can be asked. Without an answer the decision stays.
pub(super) async fn escalated(scene: &Scene, call: &Call, ruling: Ruling) -> Ruling {
    let (tail, whole) = scene.transcript().await;
    let escalation = Escalation {
        session_id: scene.session.as_ref().map_or("unknown", |id| id.as_str()).to_owned(),
        tool: call.tool.clone(),
        target_text: message::whole(&call.input),
        reason: ruling.reason.clone(),
        context: transcript::conversation(&tail, whole),
        only_a_person: ruling.needs_a_person(),
        time_left_ms: scene.time_left_ms(),
        call_id: call_id(scene, call),
        defers: defers(scene),
    };
    let (decision, by, reason) =
        match approval::escalate(&scene.io, &scene.loaded.config, &escalation).await {
            Resolution::Allow(by) => (Decision::Allow, by, "it was approved".to_owned()),
            Resolution::Deny { by, why } => (Decision::Deny, by, why),
            Resolution::NoAnswer(reason) => return Ruling { reason, ..ruling },
        };
    let ruling = Ruling { decision, rule: Rule::Approval, reason, commands: Vec::new() };
    log::approval(scene, call, &ruling, by).await;
    ruling
}

/// The id under which a call waits, or would.
fn call_id(scene: &Scene, call: &Call) -> Option<String> {
    let session = scene.session.as_ref()?;
    Some(pending::call_id(session.as_str(), &call.tool, &call.input))
}

/// A person's answer about a call that was deferred; it counts once.
async fn answered_by_hand(scene: &Scene, call: &Call) -> Option<Ruling> {
    let id = scene.session.as_ref()?;
    let answer = pending::consume(&scene.io, id.as_str(), &call.tool, &call.input).await;
    let (decision, reason, by) = match answer {
        Ok(None) => return None,
        Ok(Some(WaitedFor { choice: ApprovalChoice::Allow, by })) => {
            (Decision::Allow, "a person approved it".to_owned(), by)
        }
        Ok(Some(WaitedFor { choice: ApprovalChoice::Deny, by })) => {
            (Decision::Deny, "a person denied it".to_owned(), by)
        }
        Err(failure) => (Decision::Ask, failure.message, None),
    };
    let ruling = Ruling { decision, rule: Rule::Approval, reason, commands: Vec::new() };
    if ruling.decision != Decision::Ask {
        let name = by.unwrap_or_else(|| "by hand".to_owned());
        let by = Approver { stage: ApprovalStage::Person, name };
        log::approval(scene, call, &ruling, by).await;
    }
    Some(ruling)
}

/// Whether the host takes for an answer that a call waits: Claude Code without a terminal.
fn defers(scene: &Scene) -> bool {
    scene.host == Host::Claude && scene.session.is_some() && pending::host_defers(&scene.io)
}

/// Defers the call; returns the id under which it waits for a person.
async fn deferred(scene: &Scene, call: &Call, ruling: &Ruling) -> Option<String> {
    let target = message::whole(&call.input);
    let deferred = Deferred {
        session_id: scene.session.as_ref()?.as_str(),
        cwd: &scene.cwd,
        tool: &call.tool,
        input: &call.input,
        target_text: &target,
        reason: &ruling.reason,
    };
    match pending::defer(&scene.io, &deferred).await {
        Ok(id) => Some(id),
        Err(failure) => {
            log::debug(scene, &format!("the call cannot wait: {failure}")).await;
            None
        }
    }
}

/// Whether there is anybody to ask.
pub(super) fn can_escalate(scene: &Scene) -> bool {
    let config = &scene.loaded.config;
    config.auto_permission || config.telegram.is_some()
}

/// The answer that was remembered about what is `asked`; it counts once.
pub(super) async fn recalled(scene: &Scene, asked: &str) -> Option<Ruling> {
    let id = scene.session.as_ref()?;
    let known = scene.sessions(id).await.recall(id, asked).await?;
    let RememberedAnswer { decision, reason, .. } = known;
    Some(Ruling { decision, rule: Rule::Approval, reason, commands: Vec::new() })
}

/// Stores the answer for whoever else asks about the same. If that fails, a person may be asked
/// twice.
pub(super) async fn remember(scene: &Scene, asked: &str, ruling: &Ruling) {
    let Some(id) = &scene.session else { return };
    if !can_escalate(scene) {
        return;
    }
    let answer = RememberedAnswer {
        call: asked.to_owned(),
        decision: ruling.decision,
        reason: ruling.reason.clone(),
        at: scene.io.now(),
    };
    if let Err(error) = scene.sessions(id).await.remember(id, answer).await {
        log::debug(scene, &format!("the answer cannot be kept: {error}")).await;
    }
}

/// The ruling of the permission engine for this session, branch and folder.
pub(super) async fn by_rules(scene: &Scene, call: &Call) -> Ruling {
    let mut context = branched(scene, call).await;
    let ruling = refused_where_unheard(scene, decide(call, &context));
    let ruling = known_to_git::look(&scene.io, call, &mut context, ruling, decide).await;
    // Links can only take a permission away, so only an allowed call is looked at again.
    if ruling.decision == Decision::Allow
        && links::resolve(&scene.io, call, &mut context.places).await
    {
        return decide(call, &context);
    }
    ruling
}

/// Refuses an input that cannot be judged where the host takes a question for a yes.
fn refused_where_unheard(scene: &Scene, ruling: Ruling) -> Ruling {
    let malformed = ruling.rule == Rule::MalformedInput && ruling.decision == Decision::Ask;
    match malformed && scene.host == Host::Codex {
        true => Ruling { decision: Decision::Deny, ..ruling },
        false => ruling,
    }
}

/// The context of a call, with the branch where that matters to it.
async fn branched(scene: &Scene, call: &Call) -> Context {
    let git_branch = workspace::branch(&scene.io, call, scene.checkout.as_ref()).await;
    Context { git_branch, ..context(scene).await }
}

async fn context(scene: &Scene) -> Context {
    let mut context = scene.loaded.context();
    context.confined = scene.confined;
    context.places.own_temporary.clone_from(&scene.temporary);
    workspace::place(&mut context.places, &scene.project, &scene.cwd);
    context.places.state_homes.extend(scene.state_home.clone());
    let Some(id) = &scene.session else { return context };
    let sessions = scene.sessions(id).await;
    if !context.places.state_homes.iter().any(|home| home == sessions.home()) {
        context.places.state_homes.push(sessions.home().to_owned());
    }
    // A session that cannot be read has no rights of a workflow.
    match sessions.load(id).await {
        Ok(Some(session)) if matches!(session.state, SessionState::Open(_)) => {
            show_life(scene, &sessions, &session).await;
            let workflow = session.workflow;
            context.with_session(Some(CallingSession { id: id.to_string(), workflow }))
        }
        Ok(_) | Err(_) => context,
    }
}

/// A session whose tools are called is alive, however long its agent does not stop. It is written
/// down now and then, not with every call.
async fn show_life(scene: &Scene, sessions: &Sessions, session: &Session) {
    let at = scene.io.now();
    let silent_ms = session.updated_at.map_or(0, |then| at.millis_since(then));
    if session.pause.is_some() || silent_ms < limits::SESSION_SIGN_MS {
        return;
    }
    let noted = sessions
        .change(&session.id, |session| match session {
            Some(mut session) => {
                session.updated_at = Some(at);
                (SessionChange::Write(Box::new(session)), ())
            }
            None => (SessionChange::Keep, ()),
        })
        .await;
    if let Err(error) = noted {
        log::debug(scene, &format!("the session's sign of life is not kept: {error}")).await;
    }
}
