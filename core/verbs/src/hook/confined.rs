//! Rewrites a call that no rule decides, so that it runs confined.

use super::{HookContext, keep};
use onloop_agents::confine::line_network;
use onloop_effect::Mechanism;
use onloop_engine::git::{checkout, links};
use onloop_engine::sandbox::choice::Sandbox;
use onloop_engine::sandbox::running;
use onloop_permission::{Call, Context, Decision, Ruling, contained, decide, losses};
use onloop_sessions::hooks::PermissionMode;
use serde_json::Value;

/// What becomes of a call that is not allowed.
pub(super) enum Confined {
    /// It runs confined, with this input.
    Runs(Value, Ruling),
    /// The ruling stands.
    Open(Ruling),
}

/// Whether a call of this host may run confined; whether this machine can confine is another question.
pub(super) fn is_possible(hook_context: &HookContext) -> bool {
    let plans = hook_context.mode == PermissionMode::Plan;
    hook_context.host.rewrites() && !hook_context.confined && !plans
}

/// Confines the call where its effects stay inside a sandbox, the host takes another input and this
/// machine can confine what runs in the folder. What the call loses is kept first.
pub(super) async fn rewrite(
    hook_context: &HookContext,
    call: &Call,
    mut context: Context,
    ruling: Ruling,
) -> Confined {
    if !is_possible(hook_context) {
        return Confined::Open(ruling);
    }
    let unconfined = Context { confines_builds: false, ..context.clone() };
    let keeps = keep::place(hook_context, &context);
    let lost = losses(call, &context);
    let removes = !lost.removed.is_empty();
    if keeps.is_some() && removes {
        context.places.kept.clone_from(&lost.removed);
    } else if ruling.decision == Decision::Deny || (removes && hook_context.checkout.is_some()) {
        return Confined::Open(ruling);
    }
    let judged = match context.places.kept.is_empty() {
        true => ruling.clone(),
        false => {
            links::resolve(&hook_context.io, call, &mut context).await;
            decide(call, &context)
        }
    };
    let program = &hook_context.io.start().program;
    let network = line_network().to_string();
    // A configuration in another checkout may be the agent's.
    let around = checkout::own(&hook_context.io, &hook_context.cwd).await;
    let folder = around.map_or(hook_context.cwd.clone(), |around| around.root);
    let is_usual = folder == hook_context.top;
    let top = ["--settings", hook_context.top.as_str()];
    let settings: &[&str] = if is_usual { &[] } else { &top };
    let names = [&["--network", network.as_str()], settings].concat();
    let Some((mut input, confined)) = contained(call, &context, &judged, program, &names) else {
        return Confined::Open(ruling);
    };
    // A call that cannot run is worse than one that is asked about.
    let Ok(can) = Sandbox::attempt(&hook_context.io, &hook_context.cwd).await else {
        let plain = decide(call, &unconfined);
        return Confined::Open(match plain.decision {
            Decision::Allow => keep::before_allowed(hook_context, call, &unconfined, plain).await,
            Decision::Ask | Decision::Deny => ruling,
        });
    };
    if can.mechanism() != Some(Mechanism::Bubblewrap)
        && let Some((plain, _)) = contained(call, &context, &judged, program, settings)
    {
        input = plain;
    }
    can.end(&hook_context.io).await;
    let confined = match keeps {
        Some(place) => match keep::before(hook_context, call, &context, place, &lost, true).await {
            Ok(number) => keep::named(confined, place, number),
            Err(why) => return Confined::Open(keep::unkept(ruling, &why)),
        },
        None => confined,
    };
    match running::announce(&hook_context.io, &hook_context.cwd).await {
        Ok(()) => Confined::Runs(input, confined),
        Err(_) => Confined::Open(ruling),
    }
}
