//! Files of the checkout that git runs as hooks.

use crate::git::{checkout, hardened};
use onloop_effect::{Failure, FileKind, Io, OptionalExt, is_within};
use onloop_permission::Context;
use onloop_permission::paths::Places;

/// The hooks that git runs, by githooks(5) of git 2.51.
const HOOKS: &str = "applypatch-msg commit-msg fsmonitor-watchman p4-changelist \
    p4-post-changelist p4-pre-submit p4-prepare-changelist post-applypatch post-checkout post-commit \
    post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc \
    pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive \
    push-to-checkout reference-transaction sendemail-validate update";

/// Adds to `context` the files of the checkout that git runs as hooks. Whether there are any.
///
/// # Errors
///
/// As [`files`].
pub(super) async fn learn(io: &Io, context: &mut Context) -> Result<bool, Failure> {
    if let Some(root) = context.places.root.clone() {
        context.places.git_hooks.extend(files(io, &root).await?);
    }
    Ok(!context.places.git_hooks.is_empty())
}

/// The folder of `core.hooksPath` where it lies in the checkout at `root`, and files of the checkout that
/// hooks are links to.
///
/// # Errors
///
/// When git does not answer.
pub(crate) async fn files(io: &Io, root: &str) -> Result<Vec<String>, Failure> {
    let Some(checkout) = checkout::own(io, root).await else { return Ok(Vec::new()) };
    checkout.demand_repository(io).await?;
    let configured = configured(io, root).await?;
    let folder = configured.clone().unwrap_or_else(|| format!("{root}/.git/hooks"));
    let folder = io.canonical(&folder).await.unwrap_or(folder);
    let mut found: Vec<String> = configured.into_iter().collect();
    // In the top of the checkout not everything is a hook.
    match folder == root {
        true => found.extend(HOOKS.split(' ').map(|name| format!("{root}/{name}"))),
        false => found.push(folder.clone()),
    }
    // The hooks of husky in `.husky/_` start those in `.husky`.
    let called = folder.strip_suffix("/_").filter(|above| *above != root);
    found.extend(called.map(str::to_owned));
    for name in io.list(&folder).await.unwrap_or_default() {
        let path = format!("{folder}/{name}");
        if io.stat(&path).await.is_ok_and(|stat| stat.kind == FileKind::Link) {
            found.extend(io.canonical(&path).await);
        }
    }
    // A git folder may have another name.
    for folder in [checkout.common_folder(io).await, checkout.git_folder] {
        found.extend(["hooks", "config"].map(|name| format!("{folder}/{name}")));
    }
    let git = format!("{root}/.git");
    found.retain(|path| path != root && is_within(path, root) && !is_within(path, &git));
    found.sort();
    found.dedup();
    Ok(found)
}

/// The folder of `core.hooksPath`, absolute.
async fn configured(io: &Io, root: &str) -> Result<Option<String>, Failure> {
    let words = ["config", "-z", "--type=path", "--get-all", "core.hooksPath"];
    // Without git nothing runs hooks.
    let said = hardened::text(io, root, &words).await.optional()?.unwrap_or_default();
    // The last value turns hooks off for this question.
    let folder = said.split_terminator('\0').rev().nth(1);
    Ok(folder.map(|folder| Places::new(root).absolute(folder)))
}
