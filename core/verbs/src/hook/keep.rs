//! Keeps uncommitted files of the checkout before a call that removes or overwrites them.

use super::HookContext;
use onloop_engine::session::kept_files::{Keeping, keep};
use onloop_permission::{Call, Context, Decision, Losses, Ruling, losses, names_secret};
use onloop_sessions::handsoff::SessionId;
use onloop_sessions::handsoff::approval::message;

/// The checkout whose files are kept, and the session for which.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    root: &'p str,
    session: &'p SessionId,
}

/// Where the files of this call are kept; `None` outside a repository whose settings are known, and for a
/// call without a session.
pub(super) fn place<'p>(hook_context: &'p HookContext, context: &Context) -> Option<Place<'p>> {
    let root = hook_context.checkout.as_ref().map(|checkout| checkout.root.as_str())?;
    let is_project = context.places.root.as_deref() == Some(root);
    let session = hook_context.session.as_ref()?;
    (is_project && !context.places.is_nested).then_some(Place { root, session })
}

/// Keeps what an allowed call overwrites. The call is asked about if that cannot be kept.
pub(super) async fn before_allowed(
    hook_context: &HookContext,
    call: &Call,
    context: &Context,
    ruling: Ruling,
) -> Ruling {
    let lost = losses(call, context);
    let Some(place) = place(hook_context, context) else { return ruling };
    if lost.overwritten.is_empty() && !lost.edits {
        return ruling;
    }
    // What it removes is in git, else it would not be allowed.
    let lost = Losses { removed: Default::default(), ..lost };
    match before(hook_context, call, context, place, &lost, false).await {
        Ok(number) => named(ruling, place, number),
        Err(why) => unkept(Ruling { decision: Decision::Ask, lasting: true, ..ruling }, &why),
    }
}

/// Keeps what the call loses, and with `everything` other uncommitted files as well. Returns the
/// number of the kept state.
///
/// # Errors
///
/// Why something that the call certainly loses cannot be kept.
pub(super) async fn before(
    hook_context: &HookContext,
    call: &Call,
    context: &Context,
    place: Place<'_>,
    losses: &Losses,
    everything: bool,
) -> Result<Option<usize>, String> {
    let keeping = Keeping {
        root: place.root,
        session: place.session,
        losses,
        everything,
        about: &message::whole(&call.input),
        is_secret: &|path| names_secret(path, context),
    };
    keep(&hook_context.io, keeping).await
}

/// The ruling, and how to bring back what was kept.
pub(super) fn named(ruling: Ruling, place: Place<'_>, number: Option<usize>) -> Ruling {
    let Some(number) = number else { return ruling };
    let session = place.session;
    let reason = format!(
        "{}; uncommitted files are kept, to undo: onloop session undo {session} {number}",
        ruling.reason
    );
    Ruling { reason, ..ruling }
}

/// The ruling about a call whose losses cannot be kept.
pub(super) fn unkept(ruling: Ruling, why: &str) -> Ruling {
    let reason = format!("{}; onloop cannot keep what would be lost: {why}", ruling.reason);
    Ruling { reason, ..ruling }
}
