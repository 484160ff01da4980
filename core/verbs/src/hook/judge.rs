//! Decides about a tool call: first by rules, then, where no rule decides, by a reviewer or a person.

use super::confined::{self, Confined};
use super::{HookContext, client_rules, driving, keep, log};
use onloop_documents::session::RememberedAnswer;
use onloop_engine::approval::pending::{self, Deferred, WaitedFor};
use onloop_engine::approval::{self, Escalation, Resolution};
use onloop_engine::session::files::Sessions;
use onloop_engine::state::session_places;
use onloop_engine::{git::known_to_git, git::links, session::workspace};
use onloop_permission::{
    Call, CallingSession, Context, Decision, Rule, Ruling, decide, is_left_to_opencode,
};
use onloop_sessions::handsoff::approval::message;
use onloop_sessions::handsoff::approval::{ApprovalChoice, ApprovalStage, Approver};
use onloop_sessions::handsoff::{Session, SessionId, SessionState, digest, transcript};
use onloop_sessions::hooks::{HookAnswer, Host, PermissionMode};
use onloop_syntax::limits;
use serde_json::Value;

/// Before a tool is used.
pub(super) async fn tool_call(hook_context: &HookContext, call: &Call) -> HookAnswer {
    let answer = judged(hook_context, call).await;
    driving::called(hook_context, call, &answer).await;
    answer
}

async fn judged(hook_context: &HookContext, call: &Call) -> HookAnswer {
    let (ruling, context) = ruled(hook_context, call).await;
    if is_left_to_the_plan(hook_context, &ruling) {
        return HookAnswer::Nothing;
    }
    let host_asks = match hook_context.host == Host::OpenCode {
        true => ruling.decision != Decision::Ask || is_left_to_opencode(call, &context),
        false => hook_context.mode.asks_a_person(),
    };
    if hook_context.is_asked_by_us() {
        let ruling = refused_unless_asked(hook_context, ruling, host_asks).await;
        return decided(hook_context, call, &ruling).await;
    }
    let ruling = match ruling.decision {
        Decision::Allow => keep::before_allowed(hook_context, call, &context, ruling).await,
        Decision::Ask | Decision::Deny => {
            match confined::rewrite(hook_context, call, context, ruling).await {
                Confined::Runs(input, ruling) => {
                    return rewritten(hook_context, call, input, &ruling).await;
                }
                Confined::Open(ruling) => ruling,
            }
        }
    };
    if ruling.decision != Decision::Ask {
        return decided(hook_context, call, &ruling).await;
    }
    if let Some(ruling) = answered_by_hand(hook_context, call).await {
        return decided(hook_context, call, &ruling).await;
    }
    let ruling = escalated(hook_context, call, ruling).await;
    if defers(hook_context)
        && ruling.decision == Decision::Ask
        && let Some(id) = deferred(hook_context, call, &ruling).await
    {
        log::deferred(hook_context, call, &ruling, &id).await;
        let why = format!("{}; answer with: onloop approve {id}", why(&ruling));
        return HookAnswer::Deferred(why);
    }
    // It may have waited before, and somebody else has decided, or the terminal asks now.
    if let Some(id) = call_id(hook_context, call) {
        pending::forget(&hook_context.io, &id).await;
    }
    remember(hook_context, &digest_of(call), &ruling).await;
    let ruling = refused_unless_asked(hook_context, ruling, host_asks).await;
    decided(hook_context, call, &ruling).await
}

/// Whether the agent plans and the call may change something: then the client refuses it by itself, or
/// asks, and an answer of ours would lift that.
fn is_left_to_the_plan(hook_context: &HookContext, ruling: &Ruling) -> bool {
    hook_context.mode == PermissionMode::Plan && ruling.changes && ruling.decision != Decision::Deny
}

/// Refuses what a person must decide where the host would not ask one. Claude Code has modes in which
/// a model answers or no person is asked; Codex and opencode take a question for a yes.
async fn refused_unless_asked(
    hook_context: &HookContext,
    ruling: Ruling,
    host_asks: bool,
) -> Ruling {
    if ruling.decision != Decision::Ask {
        return ruling;
    }
    let host = hook_context.host;
    let is_codex = host == Host::Codex;
    let is_left_open = match is_codex {
        true => !ruling.lasting && (host_asks || hook_context.is_sandboxed_by_host().await),
        false => host_asks,
    };
    if is_left_open {
        return ruling;
    }
    let why = match is_codex || host == Host::OpenCode {
        true => format!("{} would run it without asking", host.title()),
        false => format!("no person is asked in the mode `{}`", hook_context.mode.as_str()),
    };
    let reason = format!("{}; {why}, so a person has to run or to allow it", ruling.reason);
    Ruling { decision: Decision::Deny, reason, ..ruling }
}

/// The ruling that follows from an answer.
fn answered(decision: Decision, reason: String) -> Ruling {
    let (rule, commands) = (Rule::Approval, Vec::new());
    Ruling { decision, rule, reason, changes: true, lasting: false, commands }
}

/// The host is about to ask a person, often because we have just answered "ask". Then no one is
/// asked a second time.
pub(super) async fn permission_request(hook_context: &HookContext, call: &Call) -> HookAnswer {
    let ruling = by_rules(hook_context, call).await;
    if is_left_to_the_plan(hook_context, &ruling) {
        return HookAnswer::Nothing;
    }
    if ruling.decision != Decision::Ask || hook_context.is_asked_by_us() {
        return decided(hook_context, call, &ruling).await;
    }
    let ruling = match recalled(hook_context, &digest_of(call)).await {
        Some(ruling) => ruling,
        None => escalated(hook_context, call, ruling).await,
    };
    decided(hook_context, call, &ruling).await
}

pub(super) async fn decided(
    hook_context: &HookContext,
    call: &Call,
    ruling: &Ruling,
) -> HookAnswer {
    log::decision(hook_context, call, ruling).await;
    HookAnswer::Decided(ruling.decision, why(ruling))
}

/// The answer about a call that runs with another input.
pub(super) async fn rewritten(
    hook_context: &HookContext,
    call: &Call,
    input: Value,
    ruling: &Ruling,
) -> HookAnswer {
    log::decision(hook_context, call, ruling).await;
    HookAnswer::Rewritten { input, why: why(ruling) }
}

fn why(ruling: &Ruling) -> String {
    format!("onloop ({}): {}", ruling.rule, ruling.reason)
}

fn digest_of(call: &Call) -> String {
    digest(&format!("{}\n{}", call.tool, call.input))
}

/// Asks a reviewer or a person. Without an answer the decision stays.
pub(super) async fn escalated(hook_context: &HookContext, call: &Call, ruling: Ruling) -> Ruling {
    let (tail, whole) = hook_context.transcript().await;
    let escalation = Escalation {
        session_id: hook_context.session.as_ref().map_or("unknown", |id| id.as_str()).to_owned(),
        cwd: hook_context.cwd.clone(),
        tool: call.tool.clone(),
        target_text: message::whole(&call.input),
        reason: ruling.reason.clone(),
        context: transcript::conversation(&tail, whole),
        only_a_person: ruling.needs_a_person(),
        time_left_ms: hook_context.time_left_ms(),
        call_id: call_id(hook_context, call),
        defers: defers(hook_context),
    };
    let (decision, by, reason) = match approval::escalate(
        &hook_context.io,
        &hook_context.loaded.config,
        &escalation,
    )
    .await
    {
        Resolution::Allow(by) => {
            let reason = format!("approved by {by}");
            (Decision::Allow, by, reason)
        }
        Resolution::Deny { by, why } => (Decision::Deny, by, why),
        Resolution::NoAnswer(reason) => return Ruling { reason, ..ruling },
    };
    let ruling = answered(decision, reason);
    log::approval(hook_context, call, &ruling, by).await;
    ruling
}

/// The id under which a call waits, or would.
fn call_id(hook_context: &HookContext, call: &Call) -> Option<String> {
    let session = hook_context.session.as_ref()?;
    Some(pending::call_id(session.as_str(), &call.tool, &call.input))
}

/// A person's answer about a call that was deferred; it counts once.
async fn answered_by_hand(hook_context: &HookContext, call: &Call) -> Option<Ruling> {
    let id = hook_context.session.as_ref()?;
    let answer = pending::consume(&hook_context.io, id.as_str(), &call.tool, &call.input).await;
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
    let ruling = answered(decision, reason);
    if ruling.decision != Decision::Ask {
        let name = by.unwrap_or_else(|| "by hand".to_owned());
        let by = Approver { stage: ApprovalStage::Person, name };
        log::approval(hook_context, call, &ruling, by).await;
    }
    Some(ruling)
}

/// Whether the host takes for an answer that a call waits: Claude Code without a terminal.
fn defers(hook_context: &HookContext) -> bool {
    hook_context.host == Host::Claude
        && hook_context.session.is_some()
        && pending::host_defers(&hook_context.io)
}

/// Defers the call; returns the id under which it waits for a person.
async fn deferred(hook_context: &HookContext, call: &Call, ruling: &Ruling) -> Option<String> {
    let target = message::whole(&call.input);
    let deferred = Deferred {
        session_id: hook_context.session.as_ref()?.as_str(),
        cwd: &hook_context.cwd,
        tool: &call.tool,
        input: &call.input,
        target_text: &target,
        reason: &ruling.reason,
    };
    match pending::defer(&hook_context.io, &deferred).await {
        Ok(id) => Some(id),
        Err(failure) => {
            log::debug(hook_context, &format!("the call cannot wait: {failure}")).await;
            None
        }
    }
}

/// Whether there is anybody to ask.
pub(super) fn can_escalate(hook_context: &HookContext) -> bool {
    let config = &hook_context.loaded.config;
    config.auto_permission || config.telegram.is_some()
}

/// The answer that was remembered about what is `asked`; it counts once.
pub(super) async fn recalled(hook_context: &HookContext, asked: &str) -> Option<Ruling> {
    let id = hook_context.session.as_ref()?;
    let known = hook_context.sessions(id).await.recall(id, asked).await?;
    let RememberedAnswer { decision, reason, .. } = known;
    Some(answered(decision, reason))
}

/// Stores the answer for other hooks that ask about the same call. If that fails, a person may be asked
/// twice.
pub(super) async fn remember(hook_context: &HookContext, asked: &str, ruling: &Ruling) {
    let Some(id) = &hook_context.session else { return };
    if !can_escalate(hook_context) {
        return;
    }
    let answer = RememberedAnswer {
        call: asked.to_owned(),
        decision: ruling.decision,
        reason: ruling.reason.clone(),
        at: hook_context.io.now(),
    };
    if let Err(error) = hook_context.sessions(id).await.remember(id, answer).await {
        log::debug(hook_context, &format!("the answer cannot be kept: {error}")).await;
    }
}

/// The ruling of the permission engine for this session, branch and folder.
pub(super) async fn by_rules(hook_context: &HookContext, call: &Call) -> Ruling {
    ruled(hook_context, call).await.0
}

/// [`by_rules`], and what it was judged against.
pub(super) async fn ruled(hook_context: &HookContext, call: &Call) -> (Ruling, Context) {
    let call = &by_name(hook_context, call);
    let mut context = branched(hook_context, call).await;
    let ruling = refused_where_unheard(hook_context, decide(call, &context));
    let ruling = known_to_git::look(&hook_context.io, call, &mut context, ruling, decide).await;
    // Links can only take a permission away, so what is denied is not looked at again.
    if ruling.decision == Decision::Deny
        || !links::resolve(&hook_context.io, call, &mut context).await
    {
        return (ruling, context);
    }
    let linked = decide(call, &context);
    let is_milder = (linked.decision, linked.lasting) < (ruling.decision, ruling.lasting);
    (if is_milder { ruling } else { linked }, context)
}

/// The call with this program by its name where it has the full path, as our prompts name it to an
/// agent that cannot find it: the rules know the name.
fn by_name(hook_context: &HookContext, call: &Call) -> Call {
    let line = call.input["command"].as_str().zip(hook_context.full_program());
    let Some((line, program)) = line.filter(|(line, program)| line.contains(program.as_str()))
    else {
        return call.clone();
    };
    let mut named = call.clone();
    let rest = line.strip_prefix(&format!("{program} "));
    let line = rest.map_or_else(|| line.to_owned(), |rest| format!("onloop {rest}"));
    named.input["command"] = Value::String(line);
    named
}

/// Refuses an input that cannot be judged where the host takes a question for a yes.
fn refused_where_unheard(hook_context: &HookContext, ruling: Ruling) -> Ruling {
    let malformed = ruling.rule == Rule::MalformedInput && ruling.decision == Decision::Ask;
    match malformed && hook_context.host == Host::Codex {
        true => Ruling { decision: Decision::Deny, ..ruling },
        false => ruling,
    }
}

/// The context of a call, with the branch where that matters to it.
async fn branched(hook_context: &HookContext, call: &Call) -> Context {
    let git_branch =
        workspace::branch(&hook_context.io, call, hook_context.checkout.as_ref()).await;
    Context { git_branch, ..context(hook_context).await }
}

async fn context(hook_context: &HookContext) -> Context {
    let mut context = hook_context.loaded.context();
    context.confined = hook_context.confined;
    context.confines_builds = confined::is_possible(hook_context) && context.rules.may_confine();
    context.places.own_temporary.clone_from(&hook_context.temporary);
    workspace::place(&mut context.places, &hook_context.project, &hook_context.cwd);
    context.places.is_nested = hook_context.is_nested;
    client_rules::own_files(hook_context, &mut context.places);
    client_rules::load(hook_context, &mut context.client).await;
    context.places.state_homes.extend(hook_context.state_home.clone());
    let Some(id) = &hook_context.session else { return context };
    let sessions = hook_context.sessions(id).await;
    if !context.places.state_homes.iter().any(|home| home == sessions.home()) {
        context.places.state_homes.push(sessions.home().to_owned());
    }
    // A session that cannot be read has no rights of a workflow.
    match sessions.load(id).await {
        Ok(Some(session))
            if matches!(session.state, SessionState::Open(_))
                && is_own(hook_context, &sessions, id).await =>
        {
            show_life(hook_context, &sessions, &session).await;
            let workflow = session.workflow.clone();
            context.with_session(Some(CallingSession { id: id.to_string(), workflow }))
        }
        Ok(_) | Err(_) => context,
    }
}

/// Whether hooks have written the session: a confined command can write one, but not in the top folder of
/// the project, and not in the state home.
async fn is_own(hook_context: &HookContext, sessions: &Sessions, id: &SessionId) -> bool {
    let io = &hook_context.io;
    let project = io.canonical_once(&hook_context.project).await;
    project.is_ok_and(|project| project == sessions.home())
        || sessions.home() == hook_context.project
        || io.start().agentize_home().as_deref() == Some(sessions.home())
        || session_places::is_known(io, sessions.home(), id.as_str()).await
}

/// A session whose tools are called is alive, however long its agent does not stop. It is written
/// down now and then, not with every call.
async fn show_life(hook_context: &HookContext, sessions: &Sessions, session: &Session) {
    let at = hook_context.io.now();
    let silent_ms = session.updated_at.map_or(0, |then| at.millis_since(then));
    if session.pause.is_some() || silent_ms < limits::SESSION_SIGN_MS {
        return;
    }
    let noted = sessions.change_known(&session.id, |session| session.works(at)).await;
    if let Err(error) = noted {
        log::debug(hook_context, &format!("the session's sign of life is not kept: {error}")).await;
    }
}
