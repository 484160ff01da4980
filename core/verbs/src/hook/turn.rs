//! A hook in the turn of a run's agent: every call gets a clear answer, because no person sits at the
//! agent, and each is written down, because not every client tells of calls that were refused.
//!
//! The run hands its agent a hook for the turn. Hooks that the user has installed are asked about the
//! same calls, and answer with what the run knows, too: the same rules for both, one question to a
//! person, and one call where calls are counted.

use serde_json::json;

use super::confined::{self, Confined};
use super::{HookContext, judge};
use onloop_documents::turn_policy::{self, JudgedCall, TURN_POLICY_VARIABLE, TurnGuard};
use onloop_effect::{Durability, Failure, FailureKind, Io, OptionalExt};
use onloop_permission::{Call, Decision, OnAsk, Ruling};
use onloop_sessions::handsoff::digest;
use onloop_sessions::hooks::{HookAnswer, HookEvent, HookInput, Host};
use onloop_syntax::{limits, text};
use serde_json::Value;

/// How often a line is tried to be added to the log while other hooks add theirs.
const TRIES: u32 = 50;
/// Bytes of a line's texts.
const ABOUT_BYTES: usize = 400;

/// How a hook learned that it works in the turn of a run's agent.
pub(super) struct TurnPolicyFile {
    /// File with what the run says.
    policy: String,
    /// It is installed, and the run's own hook is asked as well.
    is_installed: bool,
}

impl TurnPolicyFile {
    /// From the option, else from the environment that the run gave its agent; `None`: no run
    /// started the agent.
    pub(super) fn of(io: &Io, option: Option<&str>) -> Option<TurnPolicyFile> {
        let is_installed = option.is_none();
        let policy = option.or_else(|| io.env(TURN_POLICY_VARIABLE))?.to_owned();
        Some(TurnPolicyFile { policy, is_installed })
    }
}

pub(super) async fn respond(
    io: &Io,
    host: Host,
    input: HookInput,
    timeout_ms: u64,
    channel: &TurnPolicyFile,
) -> HookAnswer {
    let (HookEvent::ToolCall(call) | HookEvent::PermissionRequest(call)) = input.event.clone()
    else {
        return HookAnswer::Nothing;
    };
    let read = io.read(&channel.policy, limits::HOOK_INPUT_BYTES).await;
    let policy = read.map_err(|failure| failure.to_string());
    let policy = policy.and_then(|(bytes, _)| {
        turn_policy::read(&bytes).map_err(|error| format!("what the run says is damaged: {error}"))
    });
    let guard = match policy {
        Ok(read) => read,
        Err(why) => {
            let why = format!("onloop (run): {}", text::one_line(&why));
            return HookAnswer::Decided(Decision::Deny, why);
        }
    };
    let id = identity(&input, &call);
    let is_before_call = matches!(input.event, HookEvent::ToolCall(_));
    let mut context = HookContext::new(io, host, input, timeout_ms, guard.rules.as_ref()).await;
    context.state_home = Some(guard.state_home.clone());
    context.temporary.clone_from(&guard.temporary);
    context.confined = guard.policy.confined && guard.policy.on_ask == OnAsk::Contained;
    let (ruling, input) = settled(&context, &call, &guard, (id.as_deref(), is_before_call)).await;
    let line = line(&context, &call, &ruling, id, channel);
    if let Err(failure) = log(&context, &line, &guard.calls).await {
        // A call that cannot be logged does not run.
        let why = format!("onloop (run): the call cannot be written down: {failure}");
        return HookAnswer::Decided(Decision::Deny, text::one_line(&why));
    }
    match input {
        Some(input) => judge::rewritten(&context, &call, input, &ruling.ruling).await,
        None => judge::decided(&context, &call, &ruling.ruling).await,
    }
}

/// What tells a call from every other one, the same for all hooks that are asked about it. `None`:
/// the client does not name its calls.
fn identity(input: &HookInput, call: &Call) -> Option<String> {
    let (session, id) = (input.session.as_deref()?, input.call_id.as_deref()?);
    // Models choose the names of calls, so the name alone is not the call.
    Some(digest(&json!([session, id, call.tool, call.input]).to_string()))
}

/// A ruling, and whether somebody made it.
struct Settled {
    ruling: Ruling,
    decided: bool,
}

/// By rules, by confining it, by a reviewer or a person, and else by the options of the run; with the input
/// that it runs with where that is another.
async fn settled(
    context: &HookContext,
    call: &Call,
    guard: &TurnGuard,
    (id, is_before_call): (Option<&str>, bool),
) -> (Settled, Option<Value>) {
    let policy = &guard.policy;
    let (ruling, judged_in) = judge::ruled(context, call).await;
    let known = policy.settle(call, ruling.clone());
    if ruling.decision != Decision::Ask || known.decision == Decision::Allow {
        return (Settled { ruling: known, decided: true }, None);
    }
    let ruling = match policy.on_ask == OnAsk::Contained && is_before_call {
        true => match confined::rewrite(context, call, judged_in, ruling).await {
            Confined::Runs(input, ruling) => {
                return (Settled { ruling, decided: true }, Some(input));
            }
            Confined::Open(ruling) => ruling,
        },
        false => ruling,
    };
    let ruling = match (context.is_asked_by_us(), id) {
        (true, _) => ruling,
        (false, None) => judge::escalated(context, call, ruling).await,
        (false, Some(id)) => escalated_once(context, call, ruling, &guard.calls, id).await,
    };
    let decided = ruling.decision != Decision::Ask;
    (Settled { ruling: policy.settle(call, ruling), decided }, None)
}

/// Asks a reviewer or a person, unless another hook has asked about the same call.
async fn escalated_once(
    context: &HookContext,
    call: &Call,
    ruling: Ruling,
    calls: &str,
    id: &str,
) -> Ruling {
    if !judge::can_escalate(context) {
        return judge::escalated(context, call, ruling).await;
    }
    // The second hook waits for the answer. The end of the program gives the lock back.
    if context.io.lock(&format!("{calls}.{id}.lock"), context.time_left_ms()).await.is_err() {
        let reason = "another hook still asks about this call".to_owned();
        return Ruling { decision: Decision::Deny, reason, ..ruling };
    }
    if let Some(answered) = judge::recalled(context, id).await {
        return answered;
    }
    let answered = judge::escalated(context, call, ruling).await;
    judge::remember(context, id, &answered).await;
    answered
}

/// What is written down about a call.
fn line(
    context: &HookContext,
    call: &Call,
    settled: &Settled,
    id: Option<String>,
    channel: &TurnPolicyFile,
) -> JudgedCall {
    let short = |words: &str| text::ellipsis(&text::one_line(words), ABOUT_BYTES);
    let about = context.io.redacted(&turn_policy::told(&call.input));
    JudgedCall {
        tool: short(&call.tool),
        about: short(&about),
        decision: settled.ruling.decision.as_str().to_owned(),
        decided: settled.decided,
        reason: short(&settled.ruling.reason),
        id,
        by_installed: channel.is_installed,
    }
}

/// Adds a line to the log of the turn.
async fn log(context: &HookContext, line: &JudgedCall, path: &str) -> Result<(), Failure> {
    let mut tries = 0;
    loop {
        let size = context.io.stat(path).await.optional()?.map_or(0, |stat| stat.size_bytes);
        match context.io.append(path, line.line(), size, Durability::Relaxed).await {
            Err(failure) if failure.is_conflict() && tries < TRIES => tries += 1,
            Err(failure) if failure.is_conflict() => {
                return Err(Failure::new(FailureKind::Busy, "other hooks write to the log"));
            }
            done => return done,
        }
    }
}
