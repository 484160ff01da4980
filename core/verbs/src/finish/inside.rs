//! Repositories inside the worktree of a run. Git hands on which commit they are at, and nothing else.

use super::context::FinishContext;
use super::plan::listed;
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::git::submodules::{WorkInside, only_inside};
use onloop_engine::state::store::Store;
use onloop_run::Disposition;
use onloop_syntax::text;

/// Refuses to hand on `commit` while it names work that only a repository inside the worktree has.
///
/// # Errors
///
/// There is such work, or git cannot say.
pub(super) async fn demand_none(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    (commit, disposition): (&str, Disposition),
) -> Result<(), CommandError> {
    let Some(worktree) = &context.worktree else { return Ok(()) };
    let since = store.run().place.source_head.as_deref();
    let index = format!("{}-inside", store.paths().index());
    let found = only_inside(io, &worktree.path, (since, commit), &index).await?;
    if found.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = found.iter().map(line).collect();
    let what = format!("work in repositories inside `{}` would not be handed on", worktree.path);
    let error = listed(&what, &names);
    let again = format!("onloop finish {} {}", store.run().id, disposition.imperative());
    let fixed = found.iter().fold(error, |error, found| {
        let folder = |path: &str| text::shell_word(&format!("{}/{path}", worktree.path));
        match found {
            WorkInside::Repository { .. } => error.fix("move them away"),
            WorkInside::Files { path } => error.fix_by(
                format!("commit them in `{path}`"),
                format!("git -C {0} add --all && git -C {0} commit", folder(path)),
            ),
            WorkInside::Commit { path, .. } => {
                let main = text::shell_word(&format!("{}/{path}", context.home));
                error.fix_by(
                    format!("fetch the commit of `{path}` into the main checkout"),
                    format!(
                        "git -C {main} fetch {} {}",
                        folder(path),
                        text::shell_word(&format!("HEAD:{}", context.branch))
                    ),
                )
            }
        }
    });
    Err(fixed.fix_by("then run this again", again))
}

fn line(found: &WorkInside) -> String {
    match found {
        WorkInside::Repository { path } => {
            format!("{}: a repository that only this worktree has", text::one_line(path))
        }
        WorkInside::Commit { path, commit } => {
            format!("{}: commit {commit}, which only this worktree has", text::one_line(path))
        }
        WorkInside::Files { path } => format!("{}: uncommitted files", text::one_line(path)),
    }
}
