//! What a call removes or overwrites in the checkout, so that a host can keep it first.

use std::collections::BTreeSet;

use super::{Call, Context, Decision, Judge, tools};

/// Content of the checkout that a call removes or overwrites, as far as its words name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Absolute paths of files that the call removes, or whose changes it takes back. A path that ends
    /// in a slash is a folder; `**` in it stands for folders, and what follows may be a pattern for names
    /// of files.
    pub removed: BTreeSet<String>,
    /// Absolute paths of files that the call writes.
    pub overwritten: BTreeSet<String>,
    /// Whether the call may take back every change of every tracked file.
    pub edits: bool,
}

/// What `call` removes or overwrites. [`Places::kept`](super::paths::Places::kept) says to a later
/// decision what of it the host keeps.
pub fn losses(call: &Call, context: &Context) -> Losses {
    let mut judge = Judge::recovering(context);
    tools::judge(&call.tool, &call.input, &mut judge);
    judge.losses().unwrap_or_default()
}

/// Absolute paths of the files of the checkout that `call` throws away and that git may have: if it
/// has each of them exactly as it is, the call is allowed, and
/// [`Places::unchanged`](super::paths::Places::unchanged) says so. Empty where that is not what decides.
pub fn recoverable(call: &Call, context: &Context) -> BTreeSet<String> {
    match super::judged(call, context, Judge::recovering(context)) {
        (ruling, losses) if ruling.decision == Decision::Allow => losses.removed,
        _ => BTreeSet::new(),
    }
}
