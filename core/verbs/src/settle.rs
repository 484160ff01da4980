//! Going on with a run whose ledger is here and whose work is in a remote repository: what a fleet's
//! worker does before it resumes a run that another one has left.

use onloop_effect::{Exit, Failure, Io};
use onloop_engine::arrive::{Arrival, arrive};
use onloop_engine::exit::refused_by;
use onloop_engine::store::Store;
use onloop_engine::travel::{Remote, RemoteLedger, demand_home, own_ledger};
use onloop_syntax::text;

/// Makes the checkout of run `id` in the repository around the current folder, as the run's last checkpoint
/// has it, from what `remote` has, and records that the run is here now. Where its checkout is here and the
/// run's already, nothing is done.
pub async fn settle(io: &Io, id: &str, remote: &str) -> Exit {
    match bring(io, id, remote).await {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

async fn bring(io: &Io, id: &str, remote: &str) -> Result<(), Exit> {
    let store = match Store::open(io, id).await {
        Ok(store) => store,
        Err(error) => return Err(refused_by(io, &error).await),
    };
    let cwd = io.start().cwd.clone();
    let survey = or_refuse(io, id, io.git_survey(&cwd, "").await).await?;
    let Some(repository) = survey.repository else {
        io.note(format!("error: `{}` is in no checkout of a repository", text::one_line(&cwd)))
            .await;
        return Err(Exit::Refused);
    };
    let root = &store.run().place.execution_root;
    let is_ours = async |root: &str| {
        let found = io.git_survey(root, "").await.ok().and_then(|survey| survey.repository);
        found.is_some_and(|found| found.main_root == repository.main_root)
    };
    if is_ours(root).await {
        return Ok(());
    }
    or_refuse(io, id, demand_home(io, &repository.main_root).await).await?;
    let there = or_refuse(io, id, Remote::ask(io, &cwd, remote, id).await).await?;
    let bytes = match own_ledger(io, &store).await {
        Ok(bytes) => bytes,
        Err(error) => return Err(refused_by(io, &error).await),
    };
    let ledger = match RemoteLedger::known(id, bytes) {
        Ok(ledger) => ledger,
        Err(why) => {
            io.note(format!("error: run {id}: {why}")).await;
            return Err(Exit::Refused);
        }
    };
    drop(store);
    let arrival = Arrival { id, there: &there, ledger: &ledger, repository: &repository };
    arrive(io, &arrival).await.map(|_| ())
}

async fn or_refuse<T>(io: &Io, id: &str, result: Result<T, Failure>) -> Result<T, Exit> {
    match result {
        Ok(value) => Ok(value),
        Err(failure) => {
            let message = text::printable(&failure.message);
            io.note(format!("error: run {id} cannot go on here: {}", message.trim_end())).await;
            Err((&failure).into())
        }
    }
}
