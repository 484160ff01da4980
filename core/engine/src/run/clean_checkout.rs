//! A clean checkout of the work: the files that git keeps, and what `setup` makes. Files that git
//! ignores and that an agent can write, such as installed packages, are not in it.

use crate::git::submodules;
use crate::run::checkpoint::snapshot_work;
use crate::run::setup::{Readiness, prepare_clean};
use crate::sandbox::choice::Sandbox;
use crate::state::config;
use crate::state::store::{Store, StoreError};
use onloop_documents::ledger::sha256;
use onloop_effect::{GitRequest, Io};
use onloop_run::Run;
use onloop_syntax::text;

/// A linked worktree in the folder for temporary files, on a branch of its own.
pub(crate) struct CleanCheckout {
    /// A folder of the repository.
    repository: String,
    path: String,
    branch: String,
    /// The folder in it that stands for the one in which the run works.
    pub(crate) root: String,
}

/// How making a clean checkout came out.
pub(crate) enum CleanOutcome {
    /// It is there; to be [removed](CleanCheckout::remove).
    Ready(CleanCheckout),
    /// It is not: why, on one line.
    Failed(String),
    /// The person interrupted.
    Interrupted,
}

/// Whether the checks of `run` have to pass on a clean checkout before it completes.
pub(crate) async fn is_wanted(io: &Io, run: &Run) -> bool {
    // The agent cannot write the checkout that a run with a worktree was started in.
    let place = &run.place;
    let started_in = place.repo_root.as_ref().unwrap_or(&place.execution_root);
    run.settings.evidence.verify_clean || config::own(io, started_in).await.verify_clean
}

/// Checks out what is in the checkout of the run now, and makes it ready as its worktree was. What a
/// killed onloop left of an earlier one is removed first.
///
/// # Errors
///
/// When it cannot be recorded which processes work; they have been ended.
pub(crate) async fn check_out(
    io: &Io,
    store: &mut Store,
    sandbox: &Sandbox,
) -> Result<CleanOutcome, StoreError> {
    let place = &store.run().place;
    let Some(started_in) = &place.repo_root else {
        return Ok(CleanOutcome::Failed("the work is in no git repository".to_owned()));
    };
    // Where the agent works in the checkout of the user, it may have written what would be copied.
    let is_apart = place.worktree_path.as_ref().is_some_and(|path| path != started_in);
    let from = is_apart.then(|| started_in.clone());
    let checkout = CleanCheckout::of(io, store.run());
    checkout.remove(io).await;
    let checked_out = async {
        let kept = snapshot_work(io, store).await?;
        io.git(GitRequest::CreateWorktree {
            cwd: checkout.repository.clone(),
            path: checkout.path.clone(),
            branch: checkout.branch.clone(),
            create_at: Some(kept.commit),
        })
        .await?;
        submodules::fill(io, &checkout.path).await
    };
    if let Err(failure) = checked_out.await {
        checkout.remove(io).await;
        return Ok(match failure.is_interrupted() {
            true => CleanOutcome::Interrupted,
            false => CleanOutcome::Failed(text::one_line(&failure.message)),
        });
    }
    let ready = prepare_clean(io, store, (from.as_deref(), &checkout.path), sandbox).await;
    if !matches!(ready, Ok(Readiness::Ready)) {
        checkout.remove(io).await;
    }
    Ok(match ready? {
        Readiness::Ready => CleanOutcome::Ready(checkout),
        Readiness::Failed(error) => CleanOutcome::Failed(text::one_line(&error.to_string())),
        Readiness::Interrupted => CleanOutcome::Interrupted,
    })
}

impl CleanCheckout {
    fn of(io: &Io, run: &Run) -> CleanCheckout {
        let home = io.start().state_home().unwrap_or_default();
        let name = &sha256(format!("clean\n{home}\n{}", run.id).as_bytes())[..16];
        let folder = io.env("TMPDIR").filter(|path| path.starts_with('/')).unwrap_or("/tmp");
        let path = format!("{}/onloop-clean-{name}", folder.trim_end_matches('/'));
        CleanCheckout {
            repository: run.place.execution_root.clone(),
            root: format!("{path}/{}", run.place.prefix()).trim_end_matches('/').to_owned(),
            path,
            branch: format!("onloop/clean-{name}"),
        }
    }

    /// Removes it. What cannot be removed is in a folder that systems clear out.
    pub(crate) async fn remove(&self, io: &Io) {
        let (cwd, path) = (self.repository.clone(), self.path.clone());
        let _ = io.git(GitRequest::RemoveWorktree { cwd: cwd.clone(), path }).await;
        let _ = io.remove(&self.path).await;
        let _ = io.git(GitRequest::DeleteBranch { cwd, branch: self.branch.clone() }).await;
    }
}
