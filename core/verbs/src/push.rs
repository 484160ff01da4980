//! `onloop push`: a run goes to a remote repository, its record and its work together.

use onloop_effect::{Exit, Failure, GitRequest, Io, KeptFile, NamedCheckpoint, RefUpdate};
use onloop_engine::decide::demand_person;
use onloop_engine::drive::drive_alone;
use onloop_engine::exit::refused_by;
use onloop_engine::keep;
use onloop_engine::select::open;
use onloop_engine::store::{Known, Store, compare};
use onloop_engine::travel::{BRANCH, LEDGER, LEDGER_FILE, Remote, RemoteLedger, own_ledger};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop push`.
#[derive(Clone, Debug, clap::Args)]
pub struct PushArgs {
    /// Run id
    pub run_id: String,
    /// The remote repository
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
}

/// `onloop push`.
pub async fn push(io: &Io, args: &PushArgs) -> Exit {
    match send(io, args).await {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

async fn send(io: &Io, args: &PushArgs) -> Result<(), Exit> {
    demand_person(io, "pushing a run").await?;
    let mut store = open(io, Some(&args.run_id)).await?;
    // Whoever drives it would go on with a record that is somewhere else, too.
    drive_alone(io, &mut store).await?;
    let driver = store.paths().driver_lock();
    let sent = send_alone(io, &store, &args.remote).await;
    let _ = io.unlock(&driver).await;
    sent
}

async fn send_alone(io: &Io, store: &Store, remote: &str) -> Result<(), Exit> {
    let run = store.run();
    let id = &run.id;
    let cwd = folder(io, run).await?;
    let there = or_refuse(io, id, Remote::ask(io, &cwd, remote, id).await).await?;
    let ours = match own_ledger(io, store).await {
        Ok(ours) => ours,
        Err(error) => return Err(refused_by(io, &error).await),
    };
    let is_known = may_follow(io, id, remote, &ours, there.ledger.as_ref()).await?;
    demand_known_hook(io, store, remote).await?;
    let here = or_refuse(io, id, io.git_checkpoints(&cwd).await).await?;
    let mut updates = checkpoints(run, &there, &here);
    updates.extend(or_refuse(io, id, branch(io, run, &cwd, &there).await).await?);
    if !is_known {
        let before = there.ledger.as_ref().map(|ledger| ledger.commit.clone());
        let kept = keep_ledger(io, id, &cwd, ours, before.clone()).await;
        let commit = or_refuse(io, id, kept).await?;
        let name = format!("{id}/{LEDGER}");
        updates.push(RefUpdate { name, expected: before, commit });
    }
    let count = updates.len() as u64;
    // The ledger goes last: what it speaks of is there then.
    let mut batches: Vec<Vec<RefUpdate>> = Vec::new();
    while updates.len() > limits::PUSHED_NAMES {
        batches.push(updates.drain(..limits::PUSHED_NAMES).collect());
    }
    batches.extend((!updates.is_empty()).then_some(updates));
    for updates in batches {
        let (cwd, remote) = (cwd.clone(), remote.to_owned());
        let pushed = io.git(GitRequest::PushRefs { cwd, remote, updates }).await;
        or_refuse(io, id, pushed).await?;
    }
    let remote = text::one_line(remote);
    io.note(match count {
        0 => format!("Run {id} is at {remote} already, as it is here."),
        count => {
            let names = text::counted(count, "name");
            format!(
                "Pushed run {id} to {remote} ({names} below refs/onloop/{id}/). Elsewhere it goes \
                 on with:\n  onloop fetch {id}{}",
                on(&remote)
            )
        }
    })
    .await;
    Ok(())
}

/// The option that names a remote that is not the usual one.
fn on(remote: &str) -> String {
    match remote {
        "origin" => String::new(),
        remote => format!(" --remote {}", text::shell_word(remote)),
    }
}

/// A folder in the repository of the run.
async fn folder(io: &Io, run: &Run) -> Result<String, Exit> {
    let place = &run.place;
    let (id, root) = (&run.id, place.execution_root.clone());
    let Some(repository) = place.repo_root.clone().filter(|_| place.branch.is_some()) else {
        io.note(format!(
            "error: run {id} works on no branch of a git repository, so that there is nothing in \
             which it could travel; only its record could be copied"
        ))
        .await;
        return Err(Exit::Refused);
    };
    // An address of a remote may be relative to the checkout in which it was configured.
    Ok(if io.stat(&repository).await.is_ok() { repository } else { root })
}

/// Whether the remote has our ledger already; otherwise ours goes on from what it has.
async fn may_follow(
    io: &Io,
    id: &str,
    remote: &str,
    ours: &[u8],
    theirs: Option<&RemoteLedger>,
) -> Result<bool, Exit> {
    let Some(theirs) = theirs else { return Ok(false) };
    let (name, last) = (text::one_line(remote), theirs.last_line());
    let fetch = format!("onloop fetch {id}{}", on(&name));
    let why = match compare(ours, &theirs.bytes) {
        Known::Same => return Ok(true),
        Known::More => return Ok(false),
        Known::Nothing | Known::Beginning => format!(
            "{name} has more of run {id} than there is here: it went on elsewhere, up to line \
             {last}. Bring that here:\n  {fetch}"
        ),
        Known::Other { line } => format!(
            "run {id} went on here and elsewhere: from line {line} of the ledger on, what {name} \
             has ({}) and what is here differ. One of both has to be given up, and nothing decides \
             that by itself; see what the other one did:\n  git show {}:{LEDGER_FILE}",
            theirs.commit, theirs.commit
        ),
    };
    io.note(format!("error: nothing was pushed: {why}")).await;
    Err(Exit::Refused)
}

/// A push runs a hook of the repository, and nobody has looked at one that came with the run.
async fn demand_known_hook(io: &Io, store: &Store, remote: &str) -> Result<(), Exit> {
    let run = store.run();
    let tells = run.trusted_programs().is_some_and(|programs| programs.contains('+'));
    if !tells || io.stat(&run.place.execution_root).await.is_err() {
        return Ok(());
    }
    let id = &run.id;
    let seen = or_refuse(io, id, keep::look(io, store).await).await?;
    keep::forget(io, store, seen.commit).await;
    if !run.has_other_push_hook(&seen.programs) {
        return Ok(());
    }
    io.note(format!(
        "error: nothing was pushed: the hook `pre-push` is another than when the run began, and a \
         push would run it. Look at it and take it away, then:\n  onloop push {id}{}",
        on(&text::one_line(remote))
    ))
    .await;
    Err(Exit::Refused)
}

/// What the remote does not have of the run's checkpoints and git still has here.
fn checkpoints(run: &Run, there: &Remote, here: &[NamedCheckpoint]) -> Vec<RefUpdate> {
    let mut updates = Vec::new();
    for checkpoint in &run.checkpoints {
        let (name, commit) = (checkpoint.moment.name(), &checkpoint.commit);
        let expected = there.commit(&name).map(str::to_owned);
        if expected.as_ref() != Some(commit) && here.iter().any(|named| named.commit == *commit) {
            let name = format!("{}/{name}", run.id);
            updates.push(RefUpdate { name, expected, commit: Some(commit.clone()) });
        }
    }
    updates
}

/// The branch of the run, with what was committed to it.
async fn branch(
    io: &Io,
    run: &Run,
    cwd: &str,
    there: &Remote,
) -> Result<Option<RefUpdate>, Failure> {
    let name = run.place.branch.as_deref().unwrap_or_default();
    let survey = io.git_survey(cwd, name).await?;
    let commit = survey.repository.and_then(|repository| repository.target_commit);
    let expected = there.commit(BRANCH).map(str::to_owned);
    // A branch that was merged and deleted is where it was.
    let moved = commit.is_some() && commit != expected;
    let name = format!("{}/{BRANCH}", run.id);
    Ok(moved.then_some(RefUpdate { name, expected, commit }))
}

async fn keep_ledger(
    io: &Io,
    id: &str,
    cwd: &str,
    ledger: Vec<u8>,
    parent: Option<String>,
) -> Result<Option<String>, Failure> {
    let file = KeptFile { name: LEDGER_FILE.to_owned(), bytes: ledger.into() };
    let request = GitRequest::KeepFiles {
        cwd: cwd.to_owned(),
        files: vec![file],
        parent,
        message: format!("Ledger of {id}\n"),
        at: io.now(),
    };
    io.git_keep_files(request).await
}

async fn or_refuse<T>(io: &Io, id: &str, result: Result<T, Failure>) -> Result<T, Exit> {
    match result {
        Ok(value) => Ok(value),
        Err(failure) => {
            let message = text::printable(&failure.message);
            io.note(format!("error: run {id} was not pushed: {}", message.trim_end())).await;
            Err((&failure).into())
        }
    }
}
