//! Going on with a run whose ledger is here and whose work is in a remote repository: what a fleet's
//! worker does before it resumes a run that another one has left.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::git::import::{Arrival, arrive};
use onloop_engine::git::remote_refs::{Remote, RemoteLedger, demand_home, own_ledger};
use onloop_engine::state::store::Store;
use onloop_syntax::text;

/// Makes the checkout of run `id` in the repository around the current folder, as the run's last checkpoint
/// has it, from what `remote` has, and records that the run is here now. Where its checkout is here and the
/// run's already, nothing is done.
pub async fn settle(io: &Io, id: &str, remote: &str) -> Result<Exit, CommandError> {
    let store = Store::open(io, id).await?;
    let cwd = io.start().cwd.clone();
    let stopped =
        |failure| CommandError::from(failure).context(format!("run `{id}` cannot continue here"));
    let survey = io.git_survey(&cwd, "").await.map_err(stopped)?;
    let Some(repository) = survey.repository else {
        let what = format!("`{}` is not in a checkout of a repository", text::one_line(&cwd));
        return Err(CommandError::refused(what));
    };
    let root = &store.run().place.execution_root;
    let is_ours = async |root: &str| {
        let found = io.git_survey(root, "").await.ok().and_then(|survey| survey.repository);
        found.is_some_and(|found| found.main_root == repository.main_root)
    };
    if is_ours(root).await {
        return Ok(Exit::Done);
    }
    demand_home(io, &repository.main_root).await.map_err(stopped)?;
    let there = Remote::ask(io, &cwd, remote, id).await.map_err(stopped)?;
    let bytes = own_ledger(io, &store).await?;
    let ledger = RemoteLedger::known(id, bytes).map_err(|error| {
        CommandError::from(error).context(format!("the record of run `{id}` cannot be used"))
    })?;
    drop(store);
    let arrival = Arrival { id, there: &there, ledger: &ledger, repository: &repository };
    Box::pin(arrive(io, &arrival)).await?;
    Ok(Exit::Done)
}
