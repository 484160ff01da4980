//! Rulings that depend on what git knows. Git is started where its answer can change the ruling.

use onloop_effect::Io;
use onloop_permission::{Call, Context, Decision, Ruling};
use onloop_syntax::text;

mod folders;
pub(crate) mod hooks;
mod remotes;
mod staged;
mod unchanged;

/// The ruling that `judge` made about a call, made anew where git turns out to have what the call throws
/// away, or would stage a secret with it. What git cannot say never lifts a question, and an allowed
/// call becomes one.
pub async fn look(
    io: &Io,
    call: &Call,
    context: &mut Context,
    mut ruling: Ruling,
    judge: fn(&Call, &Context) -> Ruling,
) -> Ruling {
    if ruling.decision == Decision::Ask && folders::learn(io, call, context).await {
        ruling = judge(call, context);
    }
    if ruling.decision != Decision::Allow && unchanged::learn(io, call, context).await {
        ruling = judge(call, context);
    }
    if ruling.decision != Decision::Deny && ruling.changes && hooks::learn(io, context).await {
        ruling = judge(call, context);
    }
    if ruling.decision == Decision::Deny {
        return ruling;
    }
    let asked = |ruling: Ruling, reason: String| {
        let reason = text::one_line(&reason);
        Ruling { decision: Decision::Ask, lasting: true, reason, ..ruling }
    };
    match staged::learn(io, call, context).await {
        Ok(false) if ruling.decision == Decision::Allow => {
            match remotes::question(io, call, context, &ruling).await {
                Some(reason) => asked(ruling, reason),
                None => ruling,
            }
        }
        Ok(false) => ruling,
        Ok(true) => judge(call, context),
        Err(failure) => asked(ruling, format!("it is not known what this would stage: {failure}")),
    }
}
